# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Records llama.json: rotary frequencies and logits of small models as transformers computes them.

    pip install torch==2.13.0 transformers==5.24.0 accelerate gguf      # next to this package
    python test/python/references/record_llama.py

The models come from tiny_models.py: their weights are random numbers from a seed, which the tests regenerate.
"""

from __future__ import annotations

import dataclasses
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

HERE = Path(__file__).resolve().parent
# Last, and after transformers, which would otherwise mistake our modules for packages of the same names.
sys.path.append(str(HERE.parent))
from tiny_models import CONFIG, random_weights, write_gguf, write_hugging_face  # noqa: E402

from relax_mlir.models.config import PROJECTIONS  # noqa: E402

LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}
# The fields of config.json for the rotary embedding, in the spellings of its versions.
ROPE: dict[str, dict[str, Any]] = {
    "default": {"rope_theta": 10000.0},
    "large theta": {"rope_theta": 1000000.0, "head_dim": 128},
    "head of 80": {"rope_theta": 5000.0, "head_dim": 80},
    "no scaling": {"rope_theta": 10000.0, "rope_scaling": None},
    "named default": {"rope_parameters": {"rope_type": "default", "rope_theta": 500000.0}},
    "linear": {"rope_theta": 10000.0, "rope_scaling": {"type": "linear", "factor": 4.0}},
    "linear by parameters": {"rope_parameters": {"rope_type": "linear", "factor": 2.5, "rope_theta": 10000.0}},
    "llama3": {"rope_theta": 500000.0, "rope_scaling": LLAMA3, "head_dim": 128},
    "llama3 by parameters": {"rope_parameters": {**LLAMA3, "rope_theta": 500000.0}, "head_dim": 64},
    "llama3 of 3.2": {"rope_theta": 500000.0, "rope_scaling": {**LLAMA3, "factor": 32.0}, "head_dim": 64},
    "llama3 of a short context": {
        "rope_theta": 10000.0,
        "rope_scaling": {**LLAMA3, "factor": 4.0, "high_freq_factor": 3.0, "original_max_position_embeddings": 64},
    },
}
# Models by architecture, with additional fields of config.json.
SHORT = {**LLAMA3, "factor": 4.0, "original_max_position_embeddings": 32}
MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "llama": ("Llama", {}),
    "llama, linear": ("Llama", {"rope_scaling": {"rope_type": "linear", "factor": 4.0}}),
    "llama, llama3": ("Llama", {"rope_scaling": SHORT}),
    "mistral": ("Mistral", {"sliding_window": None}),
    "qwen2": ("Qwen2", {}),
    "qwen3": ("Qwen3", {}),
    "qwen3, theta": (
        "Qwen3",
        {"rope_theta": 1000.0, "rope_parameters": {"rope_type": "default", "rope_theta": 1000.0}},
    ),
}
# GGUF files by architecture. (transformers does not read qwen3's head size; its weights are laid out as in a folder.)
FILES = {"gguf llama": "llama", "gguf qwen2": "qwen2"}
POSITIONS = [0, 17, 59]
TOKENS = np.random.default_rng(1).integers(0, CONFIG.vocab_size, 60).tolist()


def config_of(kind: str) -> Any:
    """The sizes of a model of a kind; Qwen 2 has biases, Qwen 3 norms of queries and keys."""
    biases = PROJECTIONS[:3] if kind == "qwen2" else ()
    return dataclasses.replace(CONFIG, biases=biases, qk_norm=kind == "qwen3")


def frequencies(values: dict[str, Any]) -> dict[str, Any]:
    sizes = {"hidden_size": 512, "num_attention_heads": 8, "max_position_embeddings": 4096}
    config = transformers.LlamaConfig(**{**sizes, **values})
    model = LlamaRotaryEmbedding(config)
    kind = config.rope_parameters["rope_type"]
    if kind in ROPE_INIT_FUNCTIONS:
        found, scale = ROPE_INIT_FUNCTIONS[kind](config, "cpu")
        assert scale == 1.0 and torch.equal(found, model.inv_freq)
    return {"config": values, "frequencies": model.inv_freq.double().tolist()}


def logits(model: Any) -> list[list[float]]:
    with torch.no_grad():
        found = model.eval()(torch.tensor([TOKENS])).logits[0, POSITIONS]
    return [[round(float(value), 6) for value in row] for row in found]


def main() -> None:
    found = {}
    options = {"dtype": torch.float32, "attn_implementation": "eager"}
    with tempfile.TemporaryDirectory() as folder:
        for name, (family, extra) in MODELS.items():
            config = config_of(family.lower())
            path = write_hugging_face(
                Path(folder) / name, random_weights(config), config, architectures=[f"{family}ForCausalLM"],
                model_type=family.lower(), **extra,
            )  # fmt: skip
            found[name] = logits(transformers.AutoModelForCausalLM.from_pretrained(path, **options))
        for name, kind in FILES.items():
            config = config_of(kind)
            path = write_gguf(Path(folder) / f"{kind}.gguf", random_weights(config), config, architecture=kind)
            found[name] = logits(
                transformers.AutoModelForCausalLM.from_pretrained(folder, gguf_file=path.name, **options)
            )
    record = {
        "by": f"record_llama.py with transformers {transformers.__version__}, torch {torch.__version__}",
        "rope": {name: frequencies(values) for name, values in ROPE.items()},
        "models": MODELS,
        "files": FILES,
        "tokens": TOKENS,
        "positions": POSITIONS,
        "logits": found,
    }
    (HERE / "llama.json").write_text(json.dumps(record, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

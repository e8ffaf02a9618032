# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rotary frequencies and logits of small models against transformers (references/)."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
from tiny_models import CONFIG, random_weights, write_gguf, write_hugging_face

from relax_mlir import ModelError, models
from relax_mlir.models import LlamaConfig
from relax_mlir.models.config import PROJECTIONS

pytest.importorskip("gguf")
pytest.importorskip("safetensors")

RECORD = json.loads((Path(__file__).parent / "references" / "llama.json").read_text(encoding="utf-8"))
# For logits around 1, in f32 on both sides; 7e-6 was measured.
TOLERANCE = 2e-5
SIZES = {
    "architectures": ["LlamaForCausalLM"],
    "vocab_size": 32,
    "hidden_size": 512,
    "intermediate_size": 64,
    "num_hidden_layers": 1,
    "num_attention_heads": 8,
    "max_position_embeddings": 4096,
    "rms_norm_eps": 1e-5,
}


# --- rotary frequencies


# transformers computes in f32; ours are f64.
@pytest.mark.parametrize("case", RECORD["rope"].values(), ids=RECORD["rope"].keys())
def test_frequencies(case):
    found = LlamaConfig.from_hugging_face({**SIZES, **case["config"]}).rope_frequencies()
    np.testing.assert_allclose(found, case["frequencies"], rtol=2e-6)


# Unknown kinds are rejected by name, in either spelling, and so are missing parameters.
@pytest.mark.parametrize("kind", ["dynamic", "yarn", "longrope", "su", "mrope", "proportional"])
@pytest.mark.parametrize("place, key", [("rope_scaling", "type"), ("rope_parameters", "rope_type")])
def test_unknown_scaling(kind, place, key):
    config = {**SIZES, place: {key: kind, "factor": 2.0, "original_max_position_embeddings": 1024}}
    with pytest.raises(ModelError, match=f"'{kind}'.* known are default, linear and llama3"):
        LlamaConfig.from_hugging_face(config)


# GGUF has the factor of linear scaling in its metadata, and the divisors of other kinds in a tensor.
def test_frequencies_of_gguf(tmp_path):
    default = RECORD["rope"]["default"]["frequencies"]
    metadata = {
        "general.architecture": "llama",
        "llama.attention.head_count": 8,
        "llama.embedding_length": 512,
        "llama.feed_forward_length": 64,
        "llama.block_count": 1,
        "llama.context_length": 4096,
        "llama.attention.layer_norm_rms_epsilon": 1e-5,
        "llama.rope.freq_base": 10000.0,
    }
    shapes = {"token_embd.weight": (32, 512)}
    found = LlamaConfig.from_gguf(metadata, shapes)
    np.testing.assert_allclose(found.rope_frequencies(), default, rtol=2e-6)
    scaled = {**metadata, "llama.rope.scaling.type": "linear", "llama.rope.scaling.factor": 4.0}
    expected = RECORD["rope"]["linear"]["frequencies"]
    np.testing.assert_allclose(LlamaConfig.from_gguf(scaled, shapes).rope_frequencies(), expected, rtol=2e-6)
    with pytest.raises(ModelError, match="rope.scaling.type is 'yarn'"):
        LlamaConfig.from_gguf({**metadata, "llama.rope.scaling.type": "yarn"}, shapes)
    short, plain = (RECORD["rope"][name] for name in ("llama3 of a short context", "default"))
    factors = np.array(plain["frequencies"]) / np.array(short["frequencies"])
    assert 1 < len(set(factors.round(3))) and 1.0 in factors.round(3) and 4.0 in factors.round(3)
    found = dataclasses.replace(found, rope_factors=tuple(factors.tolist()))
    np.testing.assert_allclose(found.rope_frequencies(), short["frequencies"], rtol=2e-6)


# --- logits


def logits(model):
    """The logits at the recorded positions of the recorded prompt."""
    tokens = np.array([RECORD["tokens"]])
    cache = model.new_cache(1, len(RECORD["tokens"]))
    found = np.from_dlpack(model.executable["forward_all"](tokens, cache.start, cache.keys, cache.values, 0))
    return found[0, RECORD["positions"]]


def compiled(path):
    return models.build(path, functions=("forward", "forward_all")).compile()


def config_of(kind):
    biases = PROJECTIONS[:3] if kind == "qwen2" else ()
    return dataclasses.replace(CONFIG, biases=biases, qk_norm=kind == "qwen3")


def write(folder, name):
    """Writes a recorded model: a folder, or a GGUF file."""
    if name in RECORD["files"]:
        kind = RECORD["files"][name]
        return write_gguf(folder / "x.gguf", random_weights(config_of(kind)), config_of(kind), architecture=kind)
    family, extra = RECORD["models"][name]
    config = config_of(family.lower())
    names = {"architectures": [f"{family}ForCausalLM"]}
    return write_hugging_face(folder / "x", random_weights(config), config, **names, **extra)


@pytest.mark.parametrize("name", [*RECORD["models"], *RECORD["files"]])
def test_logits(tmp_path, name):
    np.testing.assert_allclose(logits(compiled(write(tmp_path, name))), RECORD["logits"][name], atol=TOLERANCE)


# Steps at positions that only the device knows rotate queries and keys in a separate kernel.
@pytest.mark.parametrize("name", ["llama, linear", "llama, llama3", "qwen3", "gguf llama"])
def test_logits_of_steps(tmp_path, name):
    model = models.build(write(tmp_path, name), functions=("forward", "decode")).compile()
    tokens, cache = np.array(RECORD["tokens"]), model.new_cache(1, len(RECORD["tokens"]))
    decode = model.executable["decode"]
    steps = [
        np.from_dlpack(decode(tokens[at : at + 1], np.array([at]), cache.keys, cache.values, at + 1))[0].copy()
        for at in range(len(tokens))
    ]
    found = np.stack([steps[at] for at in RECORD["positions"]])
    np.testing.assert_allclose(found, RECORD["logits"][name], atol=TOLERANCE)


# A qwen3 file has its rows in the same order as a folder.
def test_logits_of_qwen3_in_gguf(tmp_path):
    config = config_of("qwen3")
    path = write_gguf(tmp_path / "x.gguf", random_weights(config), config, architecture="qwen3")
    np.testing.assert_allclose(logits(compiled(path)), RECORD["logits"]["qwen3"], atol=TOLERANCE)


# The angle divisors in a file match the scaling that they represent.
def test_rope_factors_of_gguf(tmp_path):
    _, extra = RECORD["models"]["llama, llama3"]
    folder = LlamaConfig.from_hugging_face({**SIZES, "hidden_size": 64, "num_attention_heads": 4, **extra})
    weights = {**random_weights(), "rope_freqs.weight": np.array(folder.rope_factors, np.float32)}
    # A file stores rows in pairs, a folder in halves.
    for name in weights:
        if name.endswith(("attn_q.weight", "attn_k.weight")):
            rows = weights[name].reshape(-1, 2, 8, CONFIG.hidden_size)
            weights[name] = np.ascontiguousarray(rows.swapaxes(1, 2)).reshape(weights[name].shape)
    path = write_gguf(tmp_path / "x.gguf", weights)
    np.testing.assert_allclose(logits(compiled(path)), RECORD["logits"]["llama, llama3"], atol=TOLERANCE)

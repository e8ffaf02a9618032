# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small checkpoints with random weights, in the formats of real ones; and the path of the real model."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from relax_mlir import MissingPackageError
from relax_mlir.models import LlamaConfig, find_model
from relax_mlir.models.config_gguf import TENSORS
from relax_mlir.models.gguf import hugging_face_name

CONFIG = LlamaConfig(
    vocab_size=100,
    hidden_size=64,
    intermediate_size=96,
    num_layers=2,
    num_heads=4,
    num_kv_heads=2,
    head_dim=16,
    context_length=128,
    rope_layout="interleaved",
    rope_dim=16,
    tie_embeddings=True,
)


def smollm2() -> Path:
    """The file of SmolLM2-135M-Instruct; skips the test if the package is missing."""
    try:
        return find_model("smollm2")
    except MissingPackageError as error:
        pytest.skip(str(error))


def shapes(config: LlamaConfig = CONFIG) -> dict[str, tuple[int, ...]]:
    """The tensors of a model, by their names in GGUF."""
    hidden, inner = config.hidden_size, config.intermediate_size
    queries, keys = config.num_heads * config.head_dim, config.num_kv_heads * config.head_dim
    found: dict[str, tuple[int, ...]] = {"token_embd.weight": (config.vocab_size, hidden)}
    for layer in range(config.num_layers):
        own = {
            "attn_norm.weight": (hidden,),
            "attn_q.weight": (queries, hidden),
            "attn_k.weight": (keys, hidden),
            "attn_v.weight": (keys, hidden),
            "attn_output.weight": (hidden, queries),
            "ffn_norm.weight": (hidden,),
            "ffn_gate.weight": (inner, hidden),
            "ffn_up.weight": (inner, hidden),
            "ffn_down.weight": (hidden, inner),
        }
        own |= {f"{TENSORS[name]}.bias": own[f"{TENSORS[name]}.weight"][:1] for name in config.biases}
        if config.qk_norm:
            own |= {f"attn_{name}_norm.weight": (config.head_dim,) for name in "qk"}
        found |= {f"blk.{layer}.{name}": shape for name, shape in own.items()}
    found["output_norm.weight"] = (hidden,)
    if not config.tie_embeddings:
        found["output.weight"] = (config.vocab_size, hidden)
    return found


def random_weights(config: LlamaConfig = CONFIG, seed: int = 0) -> dict[str, np.ndarray]:
    """Weights by their names in GGUF, scaled to keep activations in range."""
    generator = np.random.default_rng(seed)
    weights = {}
    for name, shape in shapes(config).items():
        values = generator.standard_normal(shape).astype(np.float32)
        weights[name] = 1 + values / 10 if len(shape) == 1 else values / np.sqrt(np.float32(shape[-1]))
    return weights


def write_gguf(
    path: Path,
    weights: dict[str, np.ndarray],
    config: LlamaConfig = CONFIG,
    quantisation: str = "F32",
    architecture: str = "llama",
    metadata: dict[str, object] | None = None,
) -> Path:
    """Writes a GGUF file with quantized matrices. `metadata` has further keys, without the architecture, and values."""
    gguf = pytest.importorskip("gguf")
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_context_length(config.context_length)
    writer.add_vocab_size(config.vocab_size)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_heads)
    writer.add_head_count_kv(config.num_kv_heads)
    writer.add_key_length(config.head_dim)
    writer.add_value_length(config.head_dim)
    writer.add_rope_dimension_count(config.head_dim)
    writer.add_rope_freq_base(config.rope_theta)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    for key, value in (metadata or {}).items():
        kinds = {bool: writer.add_bool, int: writer.add_uint32, float: writer.add_float32, str: writer.add_string}
        kinds.get(type(value), writer.add_array)(f"{architecture}.{key}", value)
    for name, values in weights.items():
        if values.ndim == 2 and quantisation != "F32":
            kind = gguf.GGMLQuantizationType[quantisation]
            writer.add_tensor(name, gguf.quants.quantize(values, kind), raw_dtype=kind)
        else:
            writer.add_tensor(name, values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def write_hugging_face(path: Path, weights: dict[str, np.ndarray], config: LlamaConfig = CONFIG, **extra) -> Path:
    """A folder in Hugging Face's form."""
    numpy = pytest.importorskip("safetensors.numpy")
    path.mkdir(exist_ok=True)
    numpy.save_file({hugging_face_name(name): value for name, value in weights.items()}, path / "model.safetensors")
    settings = {
        "architectures": ["LlamaForCausalLM"],
        "vocab_size": config.vocab_size,
        "hidden_size": config.hidden_size,
        "intermediate_size": config.intermediate_size,
        "num_hidden_layers": config.num_layers,
        "num_attention_heads": config.num_heads,
        "num_key_value_heads": config.num_kv_heads,
        "head_dim": config.head_dim,
        "max_position_embeddings": config.context_length,
        "rms_norm_eps": config.rms_norm_eps,
        "rope_theta": config.rope_theta,
        "tie_word_embeddings": config.tie_embeddings,
        "attention_bias": "o_proj" in config.biases,
        "mlp_bias": "down_proj" in config.biases,
    }
    (path / "config.json").write_text(json.dumps({**settings, **extra}))
    return path

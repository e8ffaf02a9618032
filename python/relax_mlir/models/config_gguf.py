# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The metadata of a GGUF file as a `LlamaConfig`, with the meaning that llama.cpp gives each key."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

from ..errors import ModelError, WeightError
from .config import PROJECTIONS, LlamaConfig
from .fields import Fields


@dataclasses.dataclass(frozen=True)
class _Family:
    """Properties that an architecture fixes. `layout` is the layout of its rotary embedding."""

    layout: str
    biases: tuple[str, ...] = ()
    qk_norm: bool = False


_FAMILIES = {
    "llama": _Family("interleaved"),
    "qwen2": _Family("half_split", PROJECTIONS[:3]),
    "qwen3": _Family("half_split", qk_norm=True),
}

TENSORS = {
    "q_proj": "attn_q",
    "k_proj": "attn_k",
    "v_proj": "attn_v",
    "o_proj": "attn_output",
    "gate_proj": "ffn_gate",
    "up_proj": "ffn_up",
    "down_proj": "ffn_down",
}
"""GGUF's names of the projections of a layer."""

# Namespaces that GGUF's specification defines. Other keys are notes of the programs that wrote the file.
_NAMESPACES = ("general", "tokenizer", "split", "adapter", "clip", "training", *_FAMILIES)
# `general` describes the file, apart from these keys.
_GENERAL = {"general.type": ("model",), "general.quantization_version": (2,)}
# Keys that are supported with one value only: other values would need features that are missing.
_EXPECTED = {
    "attention.causal": (True,),
    "attention.clamp_kqv": (0.0,),
    "attention.max_alibi_bias": (0.0,),
    "use_parallel_residual": (False,),
    "tensor_data_layout": ("Meta AI original pth",),
    "rope.scaling.attn_factor": (1.0,),
    "expert_used_count": (0,),
    "leading_dense_block_count": (0,),
    "nextn_predict_layers": (0,),
}


def read_config(metadata: Mapping[str, Any], shapes: Mapping[str, tuple[int, ...]]) -> LlamaConfig:
    """The configuration in the metadata; some of it follows from the set of tensors.

    Raises:
      ModelError: a key is missing, invalid, or unknown; or the embedding is missing.
    """
    architecture = Fields(metadata, "the GGUF metadata").text("general.architecture")
    if architecture not in _FAMILIES:
        raise ModelError(f"unknown architecture '{architecture}'; known of GGUF are {', '.join(_FAMILIES)}")
    family = _FAMILIES[architecture]
    _check_namespaces(metadata, architecture)
    fields = Fields(metadata, "the GGUF metadata", f"{architecture}.")
    if fields.integer("expert_count", 0):
        raise ModelError(f"'{architecture}' with experts is not known; expected a dense model")
    for key, allowed in _EXPECTED.items():
        fields.expect(key, *allowed)
    heads = fields.integer("attention.head_count", per_layer=True)
    hidden, layers = fields.integer("embedding_length"), fields.integer("block_count")
    head_dim = fields.integer("attention.key_length", hidden // max(heads, 1))
    if (values := fields.integer("attention.value_length", head_dim)) != head_dim:
        raise ModelError(f"keys of {head_dim} elements and values of {values} are not known; expected the same size")
    scale = fields.number("attention.scale", 0.0)
    if scale and not math.isclose(scale, max(head_dim, 1) ** -0.5, rel_tol=1e-5):
        raise ModelError(f"'{architecture}.attention.scale' is {scale}; expected 1 / √{head_dim}")
    result = LlamaConfig(
        vocab_size=_vocabulary(fields, shapes),
        hidden_size=hidden,
        intermediate_size=fields.integer("feed_forward_length", per_layer=True),
        num_layers=layers,
        num_heads=heads,
        num_kv_heads=fields.integer("attention.head_count_kv", heads, per_layer=True),
        head_dim=head_dim,
        context_length=fields.integer("context_length"),
        rms_norm_eps=fields.number("attention.layer_norm_rms_epsilon"),
        rope_theta=fields.number("rope.freq_base", 10000.0),
        rope_layout=family.layout,
        rope_dim=fields.integer("rope.dimension_count", head_dim),
        rope_scale=_rope_scale(fields),
        tie_embeddings="output.weight" not in shapes,
        biases=tuple(name for name in PROJECTIONS if name in family.biases or _has_bias(name, shapes)),
        qk_norm=family.qk_norm,
        # 0 means none.
        sliding_window=fields.integer("attention.sliding_window", 0) or None,
        name=str(metadata.get("general.name", "")),
    )
    fields.finish()
    return result


def _check_namespaces(metadata: Mapping[str, Any], architecture: str) -> None:
    """Rejects GGUF keys that belong to another kind of file, or to another architecture."""
    general = Fields(metadata, "the GGUF metadata")
    for key, allowed in _GENERAL.items():
        general.expect(key, *allowed)
    for key in metadata:
        namespace = key.partition(".")[0]
        if namespace in _NAMESPACES and namespace not in ("general", "tokenizer", "split", architecture):
            raise ModelError(
                f"'{key}' of the GGUF metadata does not belong to a model of architecture '{architecture}'"
            )


def _vocabulary(fields: Fields, shapes: Mapping[str, tuple[int, ...]]) -> int:
    embedding = shapes.get("token_embd.weight")
    if not embedding:
        raise WeightError("the file lacks the tensor 'token_embd.weight', or it is a scalar; expected an embedding")
    if (size := fields.integer("vocab_size", embedding[0])) != embedding[0]:
        raise ModelError(f"the vocabulary has {size} tokens, and 'token_embd.weight' has {embedding[0]} rows")
    return size


def _has_bias(projection: str, shapes: Mapping[str, tuple[int, ...]]) -> bool:
    return any(name.startswith("blk.") and name.endswith(f".{TENSORS[projection]}.bias") for name in shapes)


def _rope_scale(fields: Fields) -> float:
    """The factor of positions. A factor without a type is linear; older files have another name for it."""
    kind = fields.text("rope.scaling.type", "linear")
    factor, older = fields.number("rope.scaling.factor", None), fields.number("rope.scale_linear", None)
    fields.ignore(("rope.scaling.original_context_length", "rope.scaling.finetuned"))
    if kind not in ("none", "linear"):
        raise ModelError(f"rope.scaling.type is '{kind}'; known are none and linear")
    if factor is not None and older is not None and factor != older:
        raise ModelError(f"rope.scaling.factor is {factor}, and rope.scale_linear {older}; expected one of them")
    factor = older if factor is None else factor
    if kind == "none" or not factor:  # 0 means none
        return 1.0
    if not 1e-30 < factor < 1e30:
        raise ModelError(f"rope.scaling.factor is {factor}; expected a positive number")
    return 1.0 / factor

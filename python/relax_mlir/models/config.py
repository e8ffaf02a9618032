# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What there is to know of a decoder of the Llama family, and where GGUF and Hugging Face say it."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import ModelError

# Architectures of GGUF: the layout of their rotary embedding, and whether q, k and v have a bias or a norm.
_GGUF = {
    "llama": ("interleaved", False, False),
    "qwen2": ("half_split", True, False),
    "qwen3": ("half_split", False, True),
}
# Of Hugging Face; rotary embedding is half_split in all of them.
_HUGGING_FACE = {
    "LlamaForCausalLM": (False, False),
    "MistralForCausalLM": (False, False),
    "Qwen2ForCausalLM": (True, False),
    "Qwen3ForCausalLM": (False, True),
}


DTYPES = ("f32", "f16", "bf16")
"""Element types that a decoder can compute with."""


@dataclasses.dataclass(frozen=True)
class LlamaConfig:
    """Sizes and variants of a decoder."""

    vocab_size: int
    hidden_size: int
    intermediate_size: int
    num_layers: int
    num_heads: int
    num_kv_heads: int
    head_dim: int
    context_length: int
    rms_norm_eps: float = 1e-5
    rope_theta: float = 10000.0
    rope_layout: str = "half_split"
    rope_dim: int | None = None
    """How many elements of a head are turned; all unless given."""
    rope_scale: float = 1.0
    """Positions are multiplied by this."""
    rope_factors: tuple[float, ...] | None = None
    """Divisors of the angle of each pair."""
    tie_embeddings: bool = False
    """Whether the output head is the embedding."""
    qkv_bias: bool = False
    qk_norm: bool = False
    dtype: str = "f32"
    """The element type of hidden states, of the cache and of matrices; sums and logits are f32."""
    name: str = ""

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if field.type == "int" and (not isinstance(value, int) or value < 1):
                raise ModelError(f"{field.name} is {value!r}; expected a positive integer")
        if self.dtype not in DTYPES:
            raise ModelError(f"dtype is {self.dtype!r}; expected one of {', '.join(DTYPES)}")
        if self.num_heads % self.num_kv_heads:
            raise ModelError(
                f"num_heads is {self.num_heads}; expected a multiple of num_kv_heads, {self.num_kv_heads}: "
                "each key and value head serves the same number of query heads"
            )
        turned = self.head_dim if self.rope_dim is None else self.rope_dim
        if self.rope_factors is not None and len(self.rope_factors) != turned // 2:
            raise ModelError(f"{len(self.rope_factors)} rope_factors; expected one for each of {turned // 2} pairs")
        if turned % 2 or not 0 < turned <= self.head_dim:
            raise ModelError(f"the rotary embedding turns {turned} of {self.head_dim} elements of a head")

    @property
    def group(self) -> int:
        """Query heads that share a key and value head."""
        return self.num_heads // self.num_kv_heads

    def rope_frequencies(self) -> np.ndarray:
        """By how much the angle of each pair grows from one token to the next: f64."""
        size = self.rope_dim or self.head_dim
        frequencies = self.rope_theta ** (-np.arange(0, size, 2) / size) * self.rope_scale
        return frequencies / np.array(self.rope_factors) if self.rope_factors else frequencies

    @staticmethod
    def from_gguf(metadata: Mapping[str, Any], shapes: Mapping[str, tuple[int, ...]]) -> LlamaConfig:
        """From the metadata of a GGUF file, and the shapes of its tensors."""
        architecture = _get(metadata, "general.architecture", str)
        if architecture not in _GGUF:
            raise ModelError(f"unknown architecture '{architecture}'; known of GGUF are {', '.join(_GGUF)}")
        layout, bias, norm = _GGUF[architecture]

        def get(key: str, kind: type, default: Any = None) -> Any:
            return _get(metadata, f"{architecture}.{key}", kind, default)

        heads, hidden = get("attention.head_count", int), get("embedding_length", int)
        if get("expert_count", int, 0):
            raise ModelError(f"'{architecture}' with experts is not known; expected a dense model")
        scaling = get("rope.scaling.type", str, "none")
        if scaling not in ("none", "linear"):
            raise ModelError(f"rope.scaling.type is '{scaling}'; known are none and linear")
        head_dim = get("attention.key_length", int, hidden // max(heads, 1))
        if get("attention.value_length", int, head_dim) != head_dim:
            raise ModelError("keys and values of different sizes are not known")
        vocab = shapes.get("token_embd.weight", (get("vocab_size", int, 0),))[0]
        return LlamaConfig(
            vocab_size=vocab,
            hidden_size=hidden,
            intermediate_size=get("feed_forward_length", int),
            num_layers=get("block_count", int),
            num_heads=heads,
            num_kv_heads=get("attention.head_count_kv", int, heads),
            head_dim=head_dim,
            context_length=get("context_length", int),
            rms_norm_eps=get("attention.layer_norm_rms_epsilon", float),
            rope_theta=get("rope.freq_base", float, 10000.0),
            rope_layout=layout,
            rope_dim=get("rope.dimension_count", int, head_dim),
            rope_scale=1.0 / get("rope.scaling.factor", float, 1.0) if scaling == "linear" else 1.0,
            tie_embeddings="output.weight" not in shapes,
            qkv_bias=bias or "blk.0.attn_q.bias" in shapes,
            qk_norm=norm or "blk.0.attn_q_norm.weight" in shapes,
            name=str(metadata.get("general.name", "")),
        )

    @staticmethod
    def from_hugging_face(config: Mapping[str, Any]) -> LlamaConfig:
        """From `config.json` of a Hugging Face model."""
        architectures = config.get("architectures") or []
        known = [name for name in architectures if name in _HUGGING_FACE]
        if not known:
            found = ", ".join(map(str, architectures)) or "none"
            raise ModelError(f"unknown architecture: config.json names {found}; known are {', '.join(_HUGGING_FACE)}")
        bias, norm = _HUGGING_FACE[known[0]]
        heads, hidden = _get(config, "num_attention_heads", int), _get(config, "hidden_size", int)
        head_dim = config.get("head_dim") or hidden // max(heads, 1)
        if config.get("use_sliding_window") or (known[0].startswith("Mistral") and config.get("sliding_window")):
            raise ModelError("attention over a sliding window is not known; expected sliding_window null")
        if config.get("mlp_bias"):
            raise ModelError("mlp_bias is not known; expected false")
        if config.get("hidden_act", "silu") != "silu":
            raise ModelError(f"hidden_act is '{config['hidden_act']}'; expected silu")
        # Newer files have theta inside.
        rope = dict(config.get("rope_parameters") or config.get("rope_scaling") or {})
        turned = int(head_dim * config.get("partial_rotary_factor", 1.0))
        theta = float(rope.get("rope_theta") or config.get("rope_theta") or 10000.0)
        scale, factors = _rope(rope, theta, turned)
        return LlamaConfig(
            vocab_size=_get(config, "vocab_size", int),
            hidden_size=hidden,
            intermediate_size=_get(config, "intermediate_size", int),
            num_layers=_get(config, "num_hidden_layers", int),
            num_heads=heads,
            num_kv_heads=config.get("num_key_value_heads") or heads,
            head_dim=head_dim,
            context_length=_get(config, "max_position_embeddings", int),
            rms_norm_eps=_get(config, "rms_norm_eps", float),
            rope_theta=theta,
            rope_dim=turned,
            rope_scale=scale,
            rope_factors=factors,
            tie_embeddings=bool(config.get("tie_word_embeddings", False)),
            qkv_bias=bool(config.get("attention_bias", bias)),
            qk_norm=norm,
            name=str(config.get("_name_or_path", "")),
        )


def _rope(rope: Mapping[str, Any], theta: float, turned: int) -> tuple[float, tuple[float, ...] | None]:
    """The factor of positions, and the divisors of angles."""
    kind = rope.get("rope_type", rope.get("type", "default"))
    if kind == "default":
        return 1.0, None
    if kind == "linear":
        return 1.0 / _get(rope, "factor", float), None
    if kind != "llama3":
        raise ModelError(f"rope_scaling of type '{kind}' is not known; known are default, linear and llama3")
    factor = _get(rope, "factor", float)
    low, high = _get(rope, "low_freq_factor", float), _get(rope, "high_freq_factor", float)
    original = _get(rope, "original_max_position_embeddings", int)
    factors = []
    for pair in range(turned // 2):
        # Waves longer than the trained context are stretched, short ones stay, those between change smoothly.
        wavelength = 2 * math.pi * theta ** (2 * pair / turned)
        smooth = min(max((original / wavelength - low) / (high - low), 0.0), 1.0)
        factors.append(1.0 / ((1 - smooth) / factor + smooth))
    return 1.0, tuple(factors)


def _get(values: Mapping[str, Any], key: str, kind: type, default: Any = None) -> Any:
    value = values.get(key, default)
    if value is None:
        raise ModelError(f"the model's metadata has no '{key}'; expected {_article(kind)}")
    try:
        if isinstance(value, (list, tuple, dict)) or (kind is int and int(value) != value):
            raise ValueError
        return kind(value)
    except (TypeError, ValueError):
        raise ModelError(f"'{key}' of the model's metadata is {value!r}; expected {_article(kind)}") from None


def _article(kind: type) -> str:
    return {int: "an integer", float: "a number", str: "a string"}[kind]

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The configuration of a decoder of the Llama family."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import ModelError

DTYPES = ("f32", "f16", "bf16")
"""Element types that a decoder can compute with."""

PROJECTIONS = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
"""The matrices of a layer."""

ROPE_LAYOUTS = ("half_split", "interleaved")

_LONGEST_HEAD = 1 << 16  # far beyond any model, yet small enough for the tables of a damaged file


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
    """The number of elements of a head that are rotated; all by default."""
    rope_scale: float = 1.0
    """Positions are multiplied by this."""
    rope_factors: tuple[float, ...] | None = None
    """Divisors of the angle of each pair."""
    tie_embeddings: bool = False
    """Whether the output head is the embedding."""
    biases: tuple[str, ...] = ()
    """The `PROJECTIONS` that add a bias, in all layers."""
    qk_norm: bool = False
    sliding_window: int | None = None
    """The number of tokens that a token sees, including itself; all by default. `Llama` needs a window that is not
    shorter than the context."""
    dtype: str = "f32"
    """The element type of hidden states, of the cache and of matrices; sums and logits are f32."""
    name: str = ""

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            holds, expected = _KINDS[str(field.type)]
            if not holds(value):
                raise ModelError(f"{field.name} is {value!r}; expected {expected}")
        if self.dtype not in DTYPES:
            raise ModelError(f"dtype is {self.dtype!r}; expected one of {', '.join(DTYPES)}")
        if self.rope_layout not in ROPE_LAYOUTS:
            raise ModelError(f"rope_layout is {self.rope_layout!r}; expected one of {', '.join(ROPE_LAYOUTS)}")
        if unknown := [name for name in self.biases if name not in PROJECTIONS]:
            raise ModelError(f"biases has {unknown[0]!r}; expected some of {', '.join(PROJECTIONS)}")
        for name in ("rope_theta", "rope_scale"):
            if getattr(self, name) <= 0:
                raise ModelError(f"{name} is {getattr(self, name)!r}; expected a positive number")
        if self.rms_norm_eps < 0:
            raise ModelError(f"rms_norm_eps is {self.rms_norm_eps!r}; expected a number from 0")
        if self.num_heads % self.num_kv_heads:
            raise ModelError(
                f"num_heads is {self.num_heads}; expected a multiple of num_kv_heads, {self.num_kv_heads}: "
                "each key and value head serves the same number of query heads"
            )
        if self.head_dim > _LONGEST_HEAD:
            raise ModelError(f"head_dim is {self.head_dim}; expected at most {_LONGEST_HEAD}")
        turned = self.head_dim if self.rope_dim is None else self.rope_dim
        if turned % 2 or not 0 < turned <= self.head_dim:
            raise ModelError(f"the rotary embedding turns {turned} of {self.head_dim} elements of a head")
        if self.rope_factors is not None:
            if len(self.rope_factors) != turned // 2:
                raise ModelError(f"{len(self.rope_factors)} rope_factors; expected one for each of {turned // 2} pairs")
            if min(self.rope_factors) <= 0:
                raise ModelError(f"rope_factors has {min(self.rope_factors)}; expected positive numbers")

    @property
    def group(self) -> int:
        """Query heads that share a key and value head."""
        return self.num_heads // self.num_kv_heads

    def rope_frequencies(self) -> np.ndarray:
        """The increment of each pair's angle from one token to the next, in f64."""
        size = self.rope_dim or self.head_dim
        frequencies = self.rope_theta ** (-np.arange(0, size, 2) / size) * self.rope_scale
        return frequencies / np.array(self.rope_factors) if self.rope_factors else frequencies

    # --- where configurations come from

    @staticmethod
    def from_gguf(metadata: Mapping[str, Any], shapes: Mapping[str, tuple[int, ...]]) -> LlamaConfig:
        """From the metadata of a GGUF file, and the shapes of its tensors.

        Raises:
          ModelError: a field is missing, invalid, or unknown.
        """
        from .config_gguf import read_config

        return read_config(metadata, shapes)

    @staticmethod
    def from_hugging_face(config: Mapping[str, Any]) -> LlamaConfig:
        """From `config.json` of a Hugging Face model.

        Raises:
          ModelError: a field is missing, invalid, or unknown.
        """
        from .config_hugging_face import read_config

        return read_config(config)

    @staticmethod
    def from_json(values: Mapping[str, Any]) -> LlamaConfig:
        """From the result of `dataclasses.asdict`, after a round trip through JSON.

        Raises:
          ModelError: a field is missing, invalid, or unknown.
        """
        known = {field.name: field for field in dataclasses.fields(LlamaConfig)}
        if unknown := sorted(map(str, values.keys() - known.keys())):
            raise ModelError(f"'{unknown[0]}' is not a field of a configuration")
        if missing := [name for name, f in known.items() if f.default is dataclasses.MISSING and name not in values]:
            raise ModelError(f"the configuration has no '{missing[0]}'")
        given: dict[str, Any] = {key: tuple(v) if isinstance(v, list) else v for key, v in values.items()}
        return LlamaConfig(**given)  # which checks the types


def _is_size(value: Any) -> bool:
    return type(value) is int and 0 < value < 1 << 63


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) < 1e300 and math.isfinite(value)


# The JSON schema of each declared field type.
_KINDS = {
    "int": (_is_size, "a positive integer"),
    "int | None": (lambda value: value is None or _is_size(value), "a positive integer, or none"),
    "float": (_is_number, "a number"),
    "bool": (lambda value: isinstance(value, bool), "true or false"),
    "str": (lambda value: isinstance(value, str), "a string"),
    "tuple[str, ...]": (
        lambda value: isinstance(value, tuple) and all(isinstance(each, str) for each in value),
        "a tuple of strings",
    ),
    "tuple[float, ...] | None": (
        lambda value: value is None or (isinstance(value, tuple) and value != () and all(map(_is_number, value))),
        "a tuple of numbers, or none",
    ),
}

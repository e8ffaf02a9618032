# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The layers that most models share."""

from __future__ import annotations

from .. import op
from ..op.support import Operand
from ..values import Value
from .module import Module, Parameter


class Linear(Module):
    """`x @ transpose(weight) + bias`, with `weight [out, in]` as PyTorch stores it."""

    def __init__(self, in_features: int, out_features: int, bias: bool = False, dtype: str = "f32") -> None:
        self.weight = Parameter((out_features, in_features), dtype)
        self.bias = Parameter((out_features,), dtype) if bias else None

    def forward(self, x: Operand) -> Value:
        return op.linear(x, self.weight.value, self.bias.value if self.bias else None)


class Embedding(Module):
    """Row `i` of `weight [count, features]` for each index `i`."""

    def __init__(self, count: int, features: int, dtype: str = "f32") -> None:
        self.weight = Parameter((count, features), dtype)

    def forward(self, indices: Operand) -> Value:
        return op.take(self.weight.value, indices, axis=0)


class RMSNorm(Module):
    """Normalization of the last dimension by its root mean square."""

    def __init__(self, features: int, epsilon: float = 1e-5, dtype: str = "f32") -> None:
        self.weight = Parameter((features,), dtype)
        self._epsilon = epsilon

    def forward(self, x: Operand) -> Value:
        return op.rms_norm(x, [-1], self.weight.value, self._epsilon)


class LayerNorm(Module):
    """Normalization of the last dimension by its mean and variance."""

    def __init__(self, features: int, epsilon: float = 1e-5, bias: bool = True, dtype: str = "f32") -> None:
        self.weight = Parameter((features,), dtype)
        self.bias = Parameter((features,), dtype) if bias else None
        self._epsilon = epsilon

    def forward(self, x: Operand) -> Value:
        bias = self.bias.value if self.bias else None
        return op.layer_norm(x, axes=[-1], gamma=self.weight.value, beta=bias, epsilon=self._epsilon)

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The layers that most models share, with the parameter names of PyTorch's. They are for inference."""

from __future__ import annotations

from collections.abc import Sequence

from .. import op
from ..errors import fail
from ..op.support import Operand
from ..values import Value
from .module import Buffer, Module, Parameter


class Linear(Module):
    """`x @ transpose(weight) + bias`, with `weight [out, in]` as PyTorch stores it."""

    def __init__(self, in_features: int, out_features: int, bias: bool = False, dtype: str = "f32") -> None:
        self.weight = Parameter((out_features, in_features), dtype)
        self.bias = Parameter((out_features,), dtype) if bias else None

    def forward(self, x: Operand) -> Value:
        return op.linear(x, self.weight, self.bias)


class Embedding(Module):
    """Row `i` of `weight [count, features]` for each index `i`."""

    def __init__(self, count: int, features: int, dtype: str = "f32") -> None:
        self.weight = Parameter((count, features), dtype)

    def forward(self, indices: Operand) -> Value:
        return op.take(self.weight, indices, axis=0)


class RMSNorm(Module):
    """Normalization of the last dimension by its root mean square."""

    def __init__(self, features: int, epsilon: float = 1e-5, dtype: str = "f32") -> None:
        self.weight = Parameter((features,), dtype)
        self._epsilon = epsilon

    def forward(self, x: Operand) -> Value:
        return op.rms_norm(x, [-1], self.weight, self._epsilon)


class LayerNorm(Module):
    """Normalization of the last dimension, or of the last ones, by mean and variance.

    Args:
      features: the size of the last dimension, or the sizes of the last dimensions.
    """

    def __init__(
        self, features: int | Sequence[int], epsilon: float = 1e-5, bias: bool = True, dtype: str = "f32"
    ) -> None:
        self.weight = Parameter(features, dtype)
        self.bias = Parameter(features, dtype) if bias else None
        self._axes = list(range(-self.weight.ndim, 0))
        self._epsilon = epsilon

    def forward(self, x: Operand) -> Value:
        return op.layer_norm(x, axes=self._axes, gamma=self.weight, beta=self.bias, epsilon=self._epsilon)


class GroupNorm(Module):
    """Normalization of groups of channels by mean and variance over a group and all positions.

    `x` is [n, channels, ...]; the number of groups divides that of channels.
    """

    def __init__(
        self, num_groups: int, channels: int, epsilon: float = 1e-5, affine: bool = True, dtype: str = "f32"
    ) -> None:
        _require_multiple("channels", channels, "num_groups", num_groups)
        self.weight = Parameter((channels,), dtype) if affine else None
        self.bias = Parameter((channels,), dtype) if affine else None
        self._groups = num_groups
        self._epsilon = epsilon

    def forward(self, x: Value) -> Value:
        axes = list(range(2, _rank(self, x, least=2)))
        return op.group_norm(x, self._groups, 1, axes, self.weight, self.bias, self._epsilon)


class BatchNorm(Module):
    """Normalization of each channel by the running statistics of training, for `x [n, channels, ...]` of any rank.

    `(x - running_mean) / sqrt(running_var + epsilon) * weight + bias`, as PyTorch's BatchNorm1d, 2d and 3d after
    `eval()`. The number of batches in PyTorch's checkpoints is not needed.
    """

    unused_names = ("num_batches_tracked",)

    def __init__(self, channels: int, epsilon: float = 1e-5, dtype: str = "f32") -> None:
        self.weight = Parameter((channels,), dtype)
        self.bias = Parameter((channels,), dtype)
        self.running_mean = Buffer((channels,), dtype)
        self.running_var = Buffer((channels,), dtype)
        self._epsilon = epsilon

    def forward(self, x: Value) -> Value:
        _rank(self, x, least=2)
        parameters = (self.weight, self.bias, self.running_mean, self.running_var)
        return op.batch_norm(x, *parameters, axis=1, epsilon=self._epsilon)[0]


class _Conv(Module):
    """What convolutions of all ranks share."""

    rank: int

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | Sequence[int],
        strides: int | Sequence[int] = 1,
        padding: int | Sequence[int] = 0,
        dilation: int | Sequence[int] = 1,
        groups: int = 1,
        bias: bool = True,
        dtype: str = "f32",
    ) -> None:
        sizes = [kernel_size] * self.rank if isinstance(kernel_size, int) else list(kernel_size)
        if len(sizes) != self.rank:
            fail(f"kernel_size has {len(sizes)} sizes; expected {self.rank}, or one number for all")
        _require_multiple("in_channels", in_channels, "groups", groups)
        _require_multiple("out_channels", out_channels, "groups", groups)
        self.weight = Parameter((out_channels, in_channels // groups, *sizes), dtype)
        self.bias = Parameter((out_channels,), dtype) if bias else None
        self._strides, self._padding, self._dilation, self._groups = strides, padding, dilation, groups

    def forward(self, x: Operand) -> Value:
        convolve = op.conv1d if self.rank == 1 else op.conv2d
        y = convolve(x, self.weight, self._strides, self._padding, self._dilation, self._groups)
        return y if self.bias is None else y + self.bias.reshape(-1, *[1] * self.rank)


class Conv1d(_Conv):
    """Convolution of `x [n, in_channels, w]` with `weight [out_channels, in_channels / groups, kernel]`.

    Strides, padding and dilation are as in `op.conv1d`. There is a bias unless `bias` is False.
    """

    rank = 1


class Conv2d(_Conv):
    """Convolution of `x [n, in_channels, h, w]` with `weight [out_channels, in_channels / groups, kernel, kernel]`.

    Strides, padding and dilation are as in `op.conv2d`: a number, or one for each axis. There is a bias unless `bias`
    is False.
    """

    rank = 2


class MultiheadAttention(Module):
    """Attention of several heads with its projections, with the parameters of PyTorch's module.

    `in_proj_weight [3 * features, features]` has the projections of queries, keys and values, in this order.

    Args:
      features: the size of the last dimension of all operands and of the result; a multiple of `num_heads`.
      causal: whether a query sees only the keys up to its own position (`"TopLeft"` of `op.attention`).
    """

    def __init__(
        self, features: int, num_heads: int, bias: bool = True, causal: bool = False, dtype: str = "f32"
    ) -> None:
        _require_multiple("features", features, "num_heads", num_heads)
        self.in_proj_weight = Parameter((3 * features, features), dtype)
        self.in_proj_bias = Parameter((3 * features,), dtype) if bias else None
        self.out_proj = Linear(features, features, bias, dtype)
        self._heads, self._size = num_heads, features // num_heads
        self._mask = "TopLeft" if causal else None

    def forward(
        self, query: Value, key: Value | None = None, value: Value | None = None, mask: Operand | None = None
    ) -> Value:
        """The attended values [b, n, features].

        Args:
          query: [b, n, features]; the batch comes first.
          key, value: [b, m, features]; by default the query, and the key.
          mask: broadcast to [b, heads, n, m]: true where a key is seen, or numbers that are added to the scores.
        """
        if key is None and value is None:
            parts = op.split(op.linear(query, self.in_proj_weight, self.in_proj_bias), 3, axis=-1)
        else:
            key = query if key is None else key
            value = key if value is None else value
            weights = op.split(self.in_proj_weight, 3)
            biases = (None,) * 3 if self.in_proj_bias is None else op.split(self.in_proj_bias, 3)
            parts = tuple(map(op.linear, (query, key, value), weights, biases))
        q, k, v = (op.reshape(part, (*part.shape[:2], self._heads, self._size)) for part in parts)
        attended = op.attention(q, k, v, bias=mask, causal_mask=self._mask)
        return self.out_proj(op.reshape(attended, (*attended.shape[:2], self._heads * self._size)))


class Dropout(Module):
    """The identity: dropout leaves elements out in training only. It keeps the positions of modules after it.

    Args:
      p: the share of elements that training leaves out, from 0 to 1.
    """

    def __init__(self, p: float = 0.5) -> None:
        if not 0 <= p <= 1:
            fail(f"p is {p}; expected a number from 0 to 1")

    def forward(self, x: Value) -> Value:
        return x


def _require_multiple(name: str, value: int, of: str, factor: int) -> None:
    if factor < 1 or value % factor:
        fail(f"{name} is {value}, which is not a multiple of {of}, {factor}")


def _rank(module: Module, x: Value, least: int) -> int:
    """The rank of the operand of a module, which must be known."""
    rank = x.ndim
    if rank is None or rank < least:
        found = "unknown rank" if rank is None else f"rank {rank}"
        fail(f"{type(module).__name__} takes a tensor of known rank, at least {least}; got one of {found}")
    return rank

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What convolutions and pools share: strides, dilations, and padding, also that which depends on the size."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from .... import op
from ....symbolic import ExprLike, Sym, ceildiv
from ....values import Value
from ..lowering import Lowering


@dataclasses.dataclass(frozen=True)
class Windows:
    """Windows over the axes behind batch and channels.

    Attributes:
      pads: before and after each axis; numbers, or expressions where they depend on the size (`auto_pad`).
    """

    kernel: list[ExprLike]
    strides: list[int]
    dilations: list[int]
    pads: list[tuple[ExprLike, ExprLike]]

    @property
    def is_padded_by_numbers(self) -> bool:
        """Whether the padding can be an attribute: numbers that are not negative."""
        return all(isinstance(entry, int) and entry >= 0 for pair in self.pads for entry in pair)

    @property
    def padding(self) -> list[int]:
        """All pads before, then all after."""
        return [int(before) for before, _ in self.pads] + [int(after) for _, after in self.pads]

    def span(self, axis: int) -> ExprLike:
        """How far a window reaches."""
        return (self.kernel[axis] - 1) * self.dilations[axis] + 1


def read_windows(ctx: Lowering, sizes: Sequence[ExprLike], kernel: Sequence[ExprLike]) -> Windows:
    """The windows that the attributes of a node describe.

    Args:
      sizes: of the axes that windows slide over.
    """
    count = len(sizes)
    strides, dilations = ctx.ints("strides", [1] * count), ctx.ints("dilations", [1] * count)
    mode = ctx.text("auto_pad", "NOTSET")
    pads = ctx.ints("pads", [0] * 2 * count)
    for name, given, length in (
        ("strides", strides, count),
        ("dilations", dilations, count),
        ("pads", pads, 2 * count),
    ):
        if len(given) != length:
            ctx.fail(f"the attribute '{name}' has {len(given)} numbers; expected {length}")
    found = Windows(list(kernel), strides, dilations, list(zip(pads[:count], pads[count:])))
    if mode in ("NOTSET", ""):
        return found
    if mode == "VALID":
        return dataclasses.replace(found, pads=[(0, 0)] * count)
    if mode not in ("SAME_UPPER", "SAME_LOWER"):
        raise ctx.unsupported(f"the padding '{mode}'", "auto_pad")
    pairs = []
    for axis, size in enumerate(sizes):
        total = _largest(0, (_ceil(size, strides[axis]) - 1) * strides[axis] + found.span(axis) - size)
        half = total // 2
        pairs.append((half, total - half) if mode == "SAME_UPPER" else (total - half, half))
    return dataclasses.replace(found, pads=pairs)


def _ceil(size: ExprLike, divisor: int) -> ExprLike:
    return -(-size // divisor) if isinstance(size, int) else _plain(ceildiv(size, divisor))


def _largest(lhs: ExprLike, rhs: ExprLike) -> ExprLike:
    return max(lhs, rhs) if isinstance(lhs, int) and isinstance(rhs, int) else _plain(Sym.max(lhs, rhs))


def _plain(size: Sym) -> ExprLike:
    return size.value if size.is_constant else size


def padded(x: Value, pads: Sequence[tuple[ExprLike, ExprLike]], value: float | int = 0) -> Value:
    """The tensor with padding behind batch and channels; negative numbers crop."""
    widths: list[ExprLike] = [0, 0, 0, 0]
    for before, after in pads:
        widths += [before, after]
    if all(isinstance(width, int) and width == 0 for width in widths):
        return x
    return op.pad(x, widths, pad_value=value)

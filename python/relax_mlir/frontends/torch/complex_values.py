# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Complex tensors as pairs of real ones.

The dialect has no complex element type. A complex tensor of a program is a `Complex`, two real tensors of one shape,
wherever it is an operand or a result. At the border of the program (inputs, outputs, weights, buffers) it is one real
tensor with a last axis of two, which is how `torch.view_as_real` shows the same memory.

    input [n, 2] f32 ── split_pairs ── Complex(real [n], imag [n]) ── ops ── join_pairs ── output [n, 2] f32
"""

from __future__ import annotations

import dataclasses
from typing import Any

import torch

from ... import op
from ...annotations import ReadDims, ReadRank
from ...values import Value
from . import dtypes


@dataclasses.dataclass(frozen=True)
class Complex:
    """A complex tensor: its real and imaginary parts, which have one shape and one element type."""

    real: Value
    imag: Value

    @property
    def dtype(self) -> str:
        """The complex element type: "c64" or "c128"."""
        return dtypes.COMPLEX_OF[self.real.dtype]

    @property
    def part(self) -> str:
        """The element type of the parts."""
        return self.real.dtype

    @property
    def shape(self) -> ReadDims:
        """The sizes of the tensor."""
        return self.real.shape

    @property
    def ndim(self) -> ReadRank:
        """The rank of the tensor."""
        return self.real.ndim

    def cast(self, part: str) -> Complex:
        """The tensor with parts of that element type."""
        return self if part == self.part else Complex(op.astype(self.real, part), op.astype(self.imag, part))


def as_complex(ctx: Any, value: Any, part: str) -> Complex:
    """A tensor or a number, complex or real, as a complex tensor with parts of that element type.

    Args:
      ctx: the `Lowering`, which makes tensors of numbers.
    """
    if isinstance(value, Complex):
        return value.cast(part)
    if isinstance(value, complex):
        return Complex(ctx.tensor(value.real, part), ctx.tensor(value.imag, part))
    real = ctx.tensor(value, part)
    return Complex(real, op.zeros_like(real))


def split_pairs(pairs: Value) -> Complex:
    """The complex tensor that a real one with a last axis of two shows."""
    axis = pairs.ndim - 1
    real, imag = (op.squeeze(op.strided_slice(pairs, [axis], [part], [part + 1]), [axis]) for part in (0, 1))
    return Complex(real, imag)


def join_pairs(value: Complex) -> Value:
    """The real tensor with a last axis of two that shows a complex one."""
    return op.stack([value.real, value.imag], value.ndim)


def as_pairs(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor of PyTorch at the border of a program: a complex one as the real tensor of its pairs."""
    return torch.view_as_real(tensor.detach().resolve_conj()) if tensor.is_complex() else tensor


def is_complex_node(node: Any) -> bool:
    """Whether an operand or a result of a node is complex."""
    from torch.utils import _pytree as pytree

    values = [operand.meta.get("val") for operand in node.all_input_nodes]
    leaves = pytree.tree_leaves([values, node.meta.get("val")])
    if any(isinstance(leaf, torch.Tensor) and leaf.is_complex() for leaf in leaves):
        return True
    constants = pytree.tree_leaves([list(node.args), dict(node.kwargs)])
    return any(isinstance(constant, complex) for constant in constants)

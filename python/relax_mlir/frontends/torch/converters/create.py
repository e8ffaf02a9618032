# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors that are made from nothing: ranges, constants, grids."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import op
from ....dtypes import is_float
from ....symbolic import Sym
from ....values import Value
from ..lowering import Lowering
from ..registry import register


def _is_whole(value: Any) -> bool:
    return isinstance(value, (int, Sym)) and not isinstance(value, bool)


@register("aten::arange.default")
def arange_to(ctx: Lowering, end: Any, **kwargs: Any) -> Value:
    return arange(ctx, 0, end)


@register("aten::arange.start", "aten::arange.start_step")
def arange(ctx: Lowering, start: Any, end: Any, step: Any = 1, **kwargs: Any) -> Value:
    """Whole numbers directly; others as `start + step * i`, which PyTorch computes in f64, or with whole numbers where
    the elements are."""
    if all(map(_is_whole, (start, end, step))):
        made = op.arange(start, end, step, ctx.dtype if ctx.dtype not in ("f16", "bf16", "bool") else "i64")
        return ctx.cast(made, ctx.dtype)
    count = ctx.shape[0]
    dtype = "f64" if is_float(ctx.dtype) else "i64"
    numbers = op.arange(0, count, 1, dtype)
    made = op.add(ctx.tensor(start, dtype), op.multiply(numbers, ctx.tensor(step, dtype)))
    return ctx.cast(made, ctx.dtype)


@register("aten::linspace")
def linspace(ctx: Lowering, start: Any, end: Any, steps: Any, **kwargs: Any) -> Value:
    """From both ends, so that the last element is exact."""
    count = ctx.shape[0]
    numbers = op.arange(0, count, 1, "f64")
    first, last = ctx.tensor(start, "f64"), ctx.tensor(end, "f64")
    gaps = op.maximum(op.subtract(ctx.tensor(count, "f64"), op.constant(np.float64(1))), op.constant(np.float64(1)))
    step = op.divide(op.subtract(last, first), gaps)
    forward = op.add(first, op.multiply(numbers, step))
    backward = op.subtract(last, op.multiply(op.subtract(gaps, numbers), step))
    is_first = op.less(op.multiply(numbers, op.constant(np.float64(2))), ctx.tensor(count, "f64"))
    return ctx.cast(op.where(is_first, forward, backward), ctx.dtype)


@register(
    *("aten::zeros", "aten::zeros_like", "aten::new_zeros", "aten::empty", "aten::empty_like", "aten::new_empty"),
    *("aten::empty_strided", "aten::new_empty_strided", "aten::empty_permuted"),
)
def zeros(ctx: Lowering, *args: Any, **kwargs: Any) -> Value:
    """What is left open by PyTorch (`empty`) is zero."""
    return op.zeros(ctx.shape, ctx.dtype)


@register("aten::ones", "aten::ones_like", "aten::new_ones")
def ones(ctx: Lowering, *args: Any, **kwargs: Any) -> Value:
    return op.ones(ctx.shape, ctx.dtype)


@register("aten::full", "aten::full_like", "aten::new_full", "aten::fill", "aten::scalar_tensor")
def full(ctx: Lowering, *args: Any, **kwargs: Any) -> Value:
    value = kwargs.get("fill_value", args[-1] if args else None)
    filled = ctx.tensor(value, ctx.dtype)
    return filled if not ctx.shape else op.full(ctx.shape, filled, ctx.dtype)


@register("aten::eye", "aten::eye.m")
def eye(ctx: Lowering, *args: Any, **kwargs: Any) -> Value:
    rows, columns = ctx.shape
    return op.eye(rows, columns, ctx.dtype)


@register("aten::tril")
def tril(ctx: Lowering, x: Value, diagonal: int = 0) -> Value:
    return op.tril(x, diagonal)


@register("aten::triu")
def triu(ctx: Lowering, x: Value, diagonal: int = 0) -> Value:
    return op.triu(x, diagonal)


@register("aten::tril_indices", "aten::triu_indices")
def triangle_indices(ctx: Lowering, row: int, col: int, offset: int = 0, **kwargs: Any) -> Value:
    """Sizes are numbers, so the indices are a constant."""
    function = np.tril_indices if "tril" in ctx.name else np.triu_indices
    return ctx.cast(op.constant(np.stack(function(row, offset, col)).astype(np.int64)), ctx.dtype)


@register("aten::one_hot")
def one_hot(ctx: Lowering, x: Value, num_classes: Any = -1) -> Value:
    ctx.check_not_negative(x, "a class")
    ctx.check(op.less(x, ctx.tensor(num_classes, x.dtype)), "a class is not below num_classes")
    return op.one_hot(x, num_classes, np.int64(1), np.int64(0))


@register("aten::meshgrid", "aten::meshgrid.indexing")
def meshgrid(ctx: Lowering, tensors: list[Value], indexing: str = "ij") -> Any:
    made = op.meshgrid(tensors, indexing)
    return made if isinstance(made, (tuple, list)) else (made,)

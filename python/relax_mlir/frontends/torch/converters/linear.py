# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of matrices and vectors, which stay whole."""

from __future__ import annotations

from typing import Any

from mlir import ir

from .... import op
from ....dtypes import is_float
from ....scope import current_function
from ....values import Value
from ...conditions import compare
from ..lowering import Lowering, wide_type
from ..registry import register


@register("aten::linear")
def linear(ctx: Lowering, x: Value, weight: Value, bias: Value | None = None) -> Value:
    if weight.ndim == 1:
        result = op.matmul(x, weight)
        return result if bias is None else op.add(result, bias)
    if bias is not None and bias.ndim != 1:
        return op.add(op.linear(x, weight), bias)
    return op.linear(x, weight, bias)


@register("aten::matmul", "aten::mm", "aten::bmm", "aten::mv", "aten::dot", "aten::vdot")
def matmul(ctx: Lowering, lhs: Value, rhs: Value) -> Value:
    lhs, rhs = ctx.same(lhs, rhs)
    return _product(lhs, rhs)


def _product(lhs: Value, rhs: Value, dtype: str | None = None) -> Value:
    """A product; a linear map where the second matrix is a transposed one, which is then read where it lies. `dtype` is
    a wider type of the result."""
    weight = _transposed(rhs) if lhs.ndim >= 2 and is_float(rhs.dtype) else None
    return op.matmul(lhs, rhs, dtype) if weight is None else op.linear(lhs, weight, out_dtype=dtype)


def _transposed(x: Value) -> Value | None:
    """The matrix that `x` was transposed from; None if it was not."""
    owner = x.ir.owner
    if x.ndim != 2 or isinstance(owner, ir.Block) or owner.name != "relax.permute_dims":
        return None
    return current_function().wrap(owner.operands[0])


@register("aten::_int_mm")
def int_matmul(ctx: Lowering, lhs: Value, rhs: Value) -> Value:
    return op.matmul(lhs, rhs, ctx.dtype)


@register("aten::addmm", "aten::addmv", "aten::baddbmm")
def product_and_sum(ctx: Lowering, x: Value, lhs: Value, rhs: Value, *, beta: Any = 1, alpha: Any = 1) -> Value:
    lhs, rhs = ctx.same(lhs, rhs)
    product = _product(lhs, rhs, wide_type(ctx.dtype))
    return _sum(ctx, x, product, beta, alpha)


@register("aten::addbmm")
def sum_of_products(ctx: Lowering, x: Value, lhs: Value, rhs: Value, *, beta: Any = 1, alpha: Any = 1) -> Value:
    lhs, rhs = ctx.same(lhs, rhs)
    product = op.sum(op.matmul(lhs, rhs, wide_type(ctx.dtype)), [0])
    return op.broadcast_to(_sum(ctx, x, product, beta, alpha), ctx.shape)


@register("aten::addr")
def outer_and_sum(ctx: Lowering, x: Value, lhs: Value, rhs: Value, *, beta: Any = 1, alpha: Any = 1) -> Value:
    if ctx.dtype == "bool":
        product = op.logical_and(outer(ctx, lhs, rhs), ctx.tensor(bool(alpha), "bool"))
        kept = op.logical_and(ctx.cast(x, "bool"), ctx.tensor(bool(beta), "bool"))
        return product if beta == 0 else op.logical_or(kept, product)
    return _sum(ctx, x, op.outer(*ctx.same(lhs, rhs, dtype=wide_type(ctx.dtype))), beta, alpha)


def _sum(ctx: Lowering, x: Value, product: Value, beta: Any, alpha: Any) -> Value:
    """`beta * x + alpha * product`, rounded once from the type of the product. Where beta is 0, `x` does not count,
    not even its NaNs."""
    made = _scaled(ctx, product, alpha)
    if beta != 0:
        made = op.add(_scaled(ctx, ctx.cast(x, made.dtype), beta), made)
    return ctx.cast(made, ctx.dtype)


def _scaled(ctx: Lowering, value: Value, factor: Any) -> Value:
    if isinstance(factor, (int, float)) and factor == 1:
        return value
    if not is_float(value.dtype):
        return op.multiply(value, ctx.tensor(int(factor), value.dtype))
    return op.multiply(value, ctx.tensor(factor, value.dtype))


@register("aten::outer", "aten::ger")
def outer(ctx: Lowering, lhs: Value, rhs: Value) -> Value:
    lhs, rhs = ctx.same(lhs, rhs)
    if lhs.dtype == "bool":
        return op.logical_and(op.expand_dims(lhs, [1]), op.expand_dims(rhs, [0]))
    return op.outer(lhs, rhs)


@register("aten::einsum")
def einsum(ctx: Lowering, equation: str, operands: list[Value], *, path: Any = None) -> Value:
    return op.einsum(_with_result(equation), ctx.same(*operands))


def _with_result(equation: str) -> str:
    """The equation with its result, which otherwise is of the letters that occur once, capitals first."""
    equation = equation.replace(" ", "")
    if "->" in equation:
        return equation
    letters = equation.replace("...", "").replace(",", "")
    once = sorted(letter for letter in set(letters) if letters.count(letter) == 1)
    return f"{equation}->{'...' if '...' in equation else ''}{''.join(once)}"


@register("aten::trace")
def trace(ctx: Lowering, x: Value) -> Value:
    rows, columns = x.shape
    mask = op.eye(rows, columns, "bool")
    return op.sum(op.where(mask, ctx.cast(x, ctx.dtype), ctx.tensor(0, ctx.dtype)), [0, 1])


@register("transformers::grouped_mm_fallback", "aten::_grouped_mm")
def grouped_matmul(
    ctx: Lowering, x: Value, weight: Value, offsets: Value | None = None, *args: Any, **kwargs: Any
) -> Value:
    """Row `i` of `x [t, k]` times the matrix of its group, of `weight [e, k, n]`.

    Group `g` has the rows from `offsets[g - 1]` to `offsets[g]`. Each row finds its group among the offsets; the
    product is over all groups with rows of others zeroed, so that it is one product of matrices.
    """
    if offsets is None or x.ndim != 2 or weight.ndim != 3:
        raise ctx.unsupported("expected rows, a matrix for each group, and offsets")
    rows, depth = x.shape
    groups, _, columns = weight.shape
    ctx.require(compare("==", depth, weight.shape[1]), "rows and matrices disagree in depth")
    group = op.bucketize(op.arange(0, rows, 1, offsets.dtype), offsets, right=True)
    ids = op.arange(0, groups, 1, group.dtype)
    mask = op.equal(op.expand_dims(group, [1]), op.expand_dims(ids, [0]))  # [t, e]
    spread = op.where(op.expand_dims(mask, [2]), op.expand_dims(x, [1]), ctx.tensor(0.0, x.dtype))  # [t, e, k]
    return op.matmul(op.reshape(spread, (rows, groups * depth)), op.reshape(weight, (groups * depth, columns)))

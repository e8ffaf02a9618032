# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Complex numbers: parts, conversion, arithmetic, comparison, products and reductions.

Ops that do the same to both parts, and products, are lists at the end of this file.
"""

from __future__ import annotations

from typing import Any

from .... import op
from ....values import Value
from ..complex_lifting import (
    convert_part,
    imaginary_part,
    lift,
    lift_product,
    lifted,
    product,
    real_part,
    register_complex,
)
from ..complex_values import Complex, as_complex, join_pairs, split_pairs
from ..dtypes import PART_OF
from ..lowering import Lowering
from ..registry import registry
from .elementwise import length


def part_type(ctx: Lowering) -> str:
    """The element type of the parts of the result."""
    return PART_OF[ctx.dtype]


def both(ctx: Lowering, lhs: Any, rhs: Any) -> tuple[Complex, Complex]:
    """Two operands as complex tensors in the type of the result."""
    part = part_type(ctx)
    return as_complex(ctx, lhs, part), as_complex(ctx, rhs, part)


# --- parts and conversion


@register_complex("aten::real")
def real(ctx: Lowering, x: Complex) -> Value:
    return x.real


@register_complex("aten::imag")
def imag(ctx: Lowering, x: Complex) -> Value:
    return x.imag


@register_complex("aten::view_as_real", "aten::view_as_real_copy")
def view_as_real(ctx: Lowering, x: Complex) -> Value:
    return join_pairs(x)


@register_complex("aten::view_as_complex", "aten::view_as_complex_copy")
def view_as_complex(ctx: Lowering, x: Value) -> Complex:
    return split_pairs(x)


@register_complex("aten::complex")
def complex_(ctx: Lowering, real: Value, imag: Value) -> Complex:
    return Complex(op.broadcast_to(real, ctx.shape), op.broadcast_to(imag, ctx.shape))


@register_complex("aten::polar")
def polar(ctx: Lowering, size: Value, angle: Value) -> Complex:
    return Complex(op.multiply(size, op.cos(angle)), op.multiply(size, op.sin(angle)))


@register_complex("aten::_conj", "aten::conj", "aten::conj_physical", "aten::_conj_physical", "aten::_conj_copy")
def conjugate(ctx: Lowering, x: Complex) -> Complex:
    return Complex(x.real, op.negative(x.imag))


@register_complex("aten::adjoint", "aten::mH", "aten::matrix_H")
def adjoint(ctx: Lowering, x: Complex) -> Complex:
    return conjugate(ctx, lifted(ctx, x))


@register_complex("aten::_to_copy", "aten::to", "aten::type_as", "prims::convert_element_type")
def convert_type(ctx: Lowering, x: Any, *args: Any, **kwargs: Any) -> Any:
    """A real result is the real part, and a Boolean one is whether the number is not zero."""
    if ctx.dtype in PART_OF:
        return as_complex(ctx, x, part_type(ctx))
    return is_nonzero(x) if ctx.dtype == "bool" else ctx.cast(x.real, ctx.dtype)


@register_complex("aten::view.dtype")
def view_as_type(ctx: Lowering, x: Any, dtype: str) -> Any:
    if isinstance(x, Complex) and x.dtype == dtype:
        return x
    raise ctx.unsupported(f"it shows the bytes of complex numbers as {dtype}; use torch.view_as_real")


# --- arithmetic


@register_complex("aten::add")
def add(ctx: Lowering, lhs: Any, rhs: Any, *, alpha: Any = 1) -> Complex:
    lhs, rhs = both(ctx, lhs, rhs)
    return sum_of(lhs, _scaled(ctx, rhs, alpha))


@register_complex("aten::sub")
def subtract(ctx: Lowering, lhs: Any, rhs: Any, *, alpha: Any = 1) -> Complex:
    lhs, rhs = both(ctx, lhs, rhs)
    return difference_of(lhs, _scaled(ctx, rhs, alpha))


@register_complex("aten::rsub")
def reversed_subtract(ctx: Lowering, lhs: Any, rhs: Any, alpha: Any = 1) -> Complex:
    return subtract(ctx, rhs, lhs, alpha=alpha)


@register_complex("aten::mul")
def multiply(ctx: Lowering, lhs: Any, rhs: Any) -> Complex:
    return product_of(*both(ctx, lhs, rhs))


@register_complex("aten::div.Tensor", "aten::div.Scalar", "aten::true_divide")
def divide(ctx: Lowering, lhs: Any, rhs: Any) -> Complex:
    return quotient_of(*both(ctx, lhs, rhs))


@register_complex("aten::reciprocal")
def reciprocal(ctx: Lowering, x: Complex) -> Complex:
    return divide(ctx, 1, x)


@register_complex("aten::square")
def square(ctx: Lowering, x: Complex) -> Complex:
    return product_of(x, x)


@register_complex("aten::addcmul")
def addcmul(ctx: Lowering, x: Any, lhs: Any, rhs: Any, *, value: Any = 1) -> Complex:
    return sum_of(as_complex(ctx, x, part_type(ctx)), _scaled(ctx, multiply(ctx, lhs, rhs), value))


@register_complex("aten::addcdiv")
def addcdiv(ctx: Lowering, x: Any, lhs: Any, rhs: Any, *, value: Any = 1) -> Complex:
    return sum_of(as_complex(ctx, x, part_type(ctx)), _scaled(ctx, divide(ctx, lhs, rhs), value))


def sum_of(lhs: Complex, rhs: Complex) -> Complex:
    """`lhs + rhs`."""
    return Complex(op.add(lhs.real, rhs.real), op.add(lhs.imag, rhs.imag))


def difference_of(lhs: Complex, rhs: Complex) -> Complex:
    """`lhs - rhs`."""
    return Complex(op.subtract(lhs.real, rhs.real), op.subtract(lhs.imag, rhs.imag))


def product_of(lhs: Complex, rhs: Complex) -> Complex:
    """`lhs * rhs`."""
    real = op.subtract(op.multiply(lhs.real, rhs.real), op.multiply(lhs.imag, rhs.imag))
    return Complex(real, op.add(op.multiply(lhs.real, rhs.imag), op.multiply(lhs.imag, rhs.real)))


def quotient_of(lhs: Complex, rhs: Complex) -> Complex:
    """`lhs / rhs` by Smith's method: divided by the greater part of `rhs` first, so that no square overflows."""
    is_real_greater = op.greater_equal(op.abs(rhs.real), op.abs(rhs.imag))
    greater = op.where(is_real_greater, rhs.real, rhs.imag)
    less = op.where(is_real_greater, rhs.imag, rhs.real)
    zero = op.zeros_like(greater)
    # Of a division by zero both parts are divided by zero.
    ratio = op.where(op.equal(greater, zero), zero, op.divide(less, greater))
    scale = op.add(greater, op.multiply(less, ratio))
    first = op.where(is_real_greater, lhs.real, lhs.imag)
    second = op.where(is_real_greater, lhs.imag, lhs.real)
    real = op.divide(op.add(first, op.multiply(second, ratio)), scale)
    imag = op.divide(op.subtract(second, op.multiply(first, ratio)), scale)
    return Complex(real, op.where(is_real_greater, imag, op.negative(imag)))


def _scaled(ctx: Lowering, value: Complex, factor: Any) -> Complex:
    if isinstance(factor, (int, float)):
        if factor == 1:
            return value
        number = ctx.tensor(factor, value.part)
        return Complex(op.multiply(value.real, number), op.multiply(value.imag, number))
    return product_of(value, as_complex(ctx, factor, value.part))


@register_complex("aten::abs")
def absolute(ctx: Lowering, x: Complex) -> Value:
    return length(x.real, x.imag)


@register_complex("aten::angle")
def angle(ctx: Lowering, x: Complex) -> Value:
    return op.atan2(x.imag, x.real)


@register_complex("aten::sgn")
def sign(ctx: Lowering, x: Complex) -> Complex:
    size = length(x.real, x.imag)
    zero, one = op.zeros_like(size), op.ones_like(size)
    is_zero = op.equal(size, zero)
    size = op.where(is_zero, one, size)
    return Complex(op.divide(x.real, size), op.divide(x.imag, size))


# --- comparison and truth


@register_complex("aten::eq")
def equal(ctx: Lowering, lhs: Any, rhs: Any) -> Value:
    lhs, rhs = _comparable(ctx, lhs, rhs)
    return op.logical_and(op.equal(lhs.real, rhs.real), op.equal(lhs.imag, rhs.imag))


@register_complex("aten::ne")
def not_equal(ctx: Lowering, lhs: Any, rhs: Any) -> Value:
    return op.logical_not(equal(ctx, lhs, rhs))


def _comparable(ctx: Lowering, lhs: Any, rhs: Any) -> tuple[Complex, Complex]:
    from ..dtypes import promote

    part = PART_OF[promote(ctx.example(0), ctx.example(1))]
    return as_complex(ctx, lhs, part), as_complex(ctx, rhs, part)


def is_nonzero(x: Any) -> Value:
    """Whether each element is not zero."""
    if not isinstance(x, Complex):
        return x if x.dtype == "bool" else op.astype(x, "bool")
    return op.logical_or(op.astype(x.real, "bool"), op.astype(x.imag, "bool"))


def _test(name: str, combine: Any) -> None:
    def convert(ctx: Lowering, x: Complex) -> Value:
        function = getattr(op, name)
        return combine(function(x.real), function(x.imag))

    convert.__name__ = name
    register_complex(f"aten::{name}")(convert)


_test("isnan", op.logical_or)
_test("isinf", op.logical_or)
_test("isfinite", op.logical_and)


@register_complex(
    *("aten::any", "aten::any.dim", "aten::any.dims", "aten::all", "aten::all.dim", "aten::all.dims"),
    *("aten::logical_not", "aten::logical_and", "aten::logical_or", "aten::logical_xor"),
    *("aten::count_nonzero", "aten::nonzero", "aten::argwhere"),
)
def of_truth(ctx: Lowering, *args: Any, **kwargs: Any) -> Any:
    """Ops that only ask which elements are not zero."""
    convert = registry.find(ctx.name)
    if convert is None:
        raise ctx.unsupported("it has no converter for Boolean tensors")
    return convert(ctx, *(is_nonzero(x) if isinstance(x, (Complex, Value)) else x for x in args), **kwargs)


# --- products


@register_complex("aten::vdot")
def vdot(ctx: Lowering, lhs: Complex, rhs: Complex) -> Complex:
    return product(ctx, [conjugate(ctx, lhs), rhs], {})


@register_complex("aten::linear")
def linear(ctx: Lowering, x: Any, weight: Any, bias: Any = None) -> Complex:
    made = product(ctx, [x, weight], {})
    return made if bias is None else sum_of(made, as_complex(ctx, bias, made.part))


@register_complex("aten::addmm", "aten::addmv", "aten::baddbmm", "aten::addbmm", "aten::addr")
def product_and_sum(ctx: Lowering, x: Any, lhs: Any, rhs: Any, *, beta: Any = 1, alpha: Any = 1) -> Complex:
    """`beta * x + alpha * (lhs @ rhs)`, by the converter for real numbers without `x`."""
    made = _scaled(ctx, product(ctx, [x, lhs, rhs], {"beta": 0}, (1, 2)), alpha)
    made = made if beta == 0 else sum_of(_scaled(ctx, as_complex(ctx, x, made.part), beta), made)
    return Complex(op.broadcast_to(made.real, ctx.shape), op.broadcast_to(made.imag, ctx.shape))


@register_complex("aten::einsum")
def einsum(ctx: Lowering, equation: str, operands: list[Any], *, path: Any = None) -> Complex:
    """The product over all operands of their parts; a term with `k` imaginary parts counts `i ** k`."""
    part = part_type(ctx)
    convert = registry.converters["aten::einsum"]
    totals: list[Value | None] = [None, None]
    for choice in range(2 ** len(operands)):
        chosen = [choice >> index & 1 for index in range(len(operands))]
        if any(bit and not isinstance(operand, Complex) for bit, operand in zip(chosen, operands)):
            continue
        parts = [imaginary_part(x) if bit else real_part(x) for bit, x in zip(chosen, operands)]
        with ctx.parts():
            term = convert(ctx, equation, [ctx.cast(x, part) for x in parts])
        power = sum(chosen) % 4
        term = op.negative(term) if power in (2, 3) else term
        total = totals[power % 2]
        totals[power % 2] = term if total is None else op.add(total, term)
    real, imag = totals
    assert real is not None
    return Complex(real, op.zeros_like(real) if imag is None else imag)


# --- reductions


@register_complex("aten::prod.default")
def prod(ctx: Lowering, x: Any, *, dtype: str | None = None) -> Complex:
    x = as_complex(ctx, x, part_type(ctx))
    return _product_along(ctx, Complex(op.flatten(x.real), op.flatten(x.imag)), 0)[0]


@register_complex("aten::prod.dim_int")
def prod_of_axis(ctx: Lowering, x: Any, dim: int, keepdim: bool = False, *, dtype: str | None = None) -> Complex:
    x = as_complex(ctx, x, part_type(ctx))
    if not x.ndim:
        return x
    axis = ctx.axis(dim, x.ndim)
    made, _ = _product_along(ctx, x, axis)
    return Complex(op.expand_dims(made.real, [axis]), op.expand_dims(made.imag, [axis])) if keepdim else made


@register_complex("aten::cumprod")
def cumprod(ctx: Lowering, x: Any, dim: int, *, dtype: str | None = None) -> Complex:
    x = as_complex(ctx, x, part_type(ctx))
    return _product_along(ctx, x, ctx.axis(dim, x.ndim))[1] if x.ndim else x


def _product_along(ctx: Lowering, x: Complex, axis: int) -> tuple[Complex, Complex]:
    """The product along an axis, and all products up to an element, element by element as eager has them."""
    rank = x.ndim
    order = [axis, *(place for place in range(rank) if place != axis)]
    rows = [op.permute_dims(part, order) for part in (x.real, x.imag)]
    rest = rows[0].shape[1:]

    def body(carry: tuple[Value, Value], row: tuple[Value, Value]) -> Any:
        made = product_of(Complex(*carry), Complex(*row))
        return (made.real, made.imag), (made.real, made.imag)

    start = (op.ones(rest, x.part), op.zeros(rest, x.part))
    total, made = op.scan(body, start, (rows[0], rows[1]))
    back = [order.index(place) for place in range(rank)]
    return Complex(*total), Complex(*(op.permute_dims(part, back) for part in made))


@register_complex("aten::linalg_vector_norm")
def vector_norm(ctx: Lowering, x: Complex, *args: Any, **kwargs: Any) -> Value:
    return registry.converters["aten::linalg_vector_norm"](ctx, length(x.real, x.imag), *args, **kwargs)


@register_complex("aten::var", "aten::var.correction", "aten::std", "aten::std.correction")
def variance(ctx: Lowering, x: Complex, *args: Any, **kwargs: Any) -> Value:
    """The variance is the sum of those of both parts."""
    parts = [registry.converters["aten::var"](ctx, part, *args, **kwargs) for part in (x.real, x.imag)]
    if "std" not in ctx.name:
        return op.add(*parts)
    return length(*parts)


@register_complex("aten::var_mean", "aten::var_mean.correction", "aten::std_mean", "aten::std_mean.correction")
def variance_and_mean(ctx: Lowering, x: Complex, *args: Any, **kwargs: Any) -> tuple[Value, Complex]:
    convert = registry.converters["aten::var_mean"]
    (spread, real), (other, imag) = (convert(ctx, part, *args, **kwargs) for part in (x.real, x.imag))
    return length(spread, other) if "std" in ctx.name else op.add(spread, other), Complex(real, imag)


@register_complex("aten::ones", "aten::ones_like", "aten::new_ones", "aten::eye", "aten::eye.m")
def real_constant(ctx: Lowering, *args: Any, **kwargs: Any) -> Complex:
    real = convert_part(ctx, args, kwargs, real_part)
    return Complex(real, op.zeros_like(real))


@register_complex("aten::linspace")
def linspace(ctx: Lowering, start: Any, end: Any, steps: Any, **kwargs: Any) -> Complex:
    convert = registry.converters["aten::linspace"]
    with ctx.parts():
        parts = [convert(ctx, part(start), part(end), steps) for part in (real_part, imaginary_part)]
    return Complex(*parts)


lift(
    *("aten::clone", "aten::lift_fresh_copy", "aten::contiguous", "aten::resolve_conj", "aten::resolve_neg"),
    *("aten::neg", "aten::positive", "aten::copy", "aten::nan_to_num", "aten::_neg_view", "aten::_unsafe_view"),
    *("aten::cat", "aten::concat", "aten::stack", "aten::flip", "aten::roll", "aten::repeat", "aten::tile"),
    *("aten::repeat_interleave.self_int", "aten::repeat_interleave.self_Tensor", "aten::pad", "aten::constant_pad_nd"),
    *("aten::index.Tensor", "aten::_unsafe_index", "aten::index_select", "aten::take", "aten::gather"),
    *("aten::masked_select", "aten::where", "aten::masked_fill", "aten::masked_scatter", "aten::embedding"),
    *("aten::index_put", "aten::_unsafe_index_put", "aten::index_copy", "aten::index_fill", "aten::index_add"),
    *("aten::scatter.src", "aten::scatter.value", "aten::scatter_add", "aten::put", "aten::select_scatter"),
    *("aten::slice_scatter", "aten::diagonal_scatter", "aten::as_strided_scatter", "aten::tril", "aten::triu"),
    *("aten::trace", "aten::sum", "aten::nansum", "aten::mean", "aten::cumsum", "aten::diff", "aten::reshape"),
    *("aten::zeros", "aten::zeros_like", "aten::new_zeros", "aten::empty", "aten::empty_like", "aten::new_empty"),
    *("aten::empty_strided", "aten::new_empty_strided", "aten::empty_permuted", "aten::full", "aten::full_like"),
    *("aten::new_full", "aten::fill", "aten::scalar_tensor", "aten::flatten", "aten::block_diag"),
    *("aten::reflection_pad1d", "aten::reflection_pad2d", "aten::reflection_pad3d"),
    *("aten::replication_pad1d", "aten::replication_pad2d", "aten::replication_pad3d"),
)
lift_product(
    *("aten::matmul", "aten::mm", "aten::bmm", "aten::mv", "aten::dot", "aten::outer", "aten::ger", "aten::kron"),
)

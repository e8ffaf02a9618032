# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Converters of ops with complex operands or results, many of which are those for real numbers applied to both parts.

An op that only moves elements, or is linear in them with real coefficients, does the same to both parts:

    cat([z, w])  =  Complex(cat([z.real, w.real]), cat([z.imag, w.imag]))

So its converter for real numbers runs twice (`lifted`). What counts as a value is known from the names of the op's
arguments: a real tensor or number among them has the imaginary part zero, while sizes, axes, indices and masks are the
same for both. All views move elements only, which PyTorch's schema of an op tells, so they need no entry. A product of
two operands needs four products of parts (`lift_product`). Everything else has a converter of its own, registered with
`register_complex`, or is an error that names the op.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from ... import op
from ...errors import FrontendError
from ...values import Value
from ..registry import Converter, Registry
from . import dtypes
from .complex_values import Complex
from .lowering import Lowering
from .registry import registry

complex_registry = Registry(
    "complex PyTorch",
    "complex numbers are pairs of real ones, and these ops are not known for pairs: register a converter with "
    "@relax_mlir.frontends.torch.register_complex('namespace::op'), or compute with torch.view_as_real in the model",
)

register_complex = complex_registry.register
"""Registers a function as the converter of ops with a complex operand or result.

Complex tensors are `Complex` values there, complex numbers are Python's. The result is a `Complex` where the result of
the op is complex, else a tensor.
"""

_VALUES = {
    *("self", "input", "tensors", "tensor", "other", "value", "values", "src", "source", "fill_value", "s"),
    *("prepend", "append"),
}
"""Names of arguments that hold elements of the result, in the ops that are lifted."""


def find_complex(name: str, target: Any) -> Converter | None:
    """The converter of an op with complex operands or results; None if there is none."""
    found = complex_registry.find(name)
    if found is not None:
        return found
    return lifted if _moves_elements(target) and registry.find(name) is not None else None


def _moves_elements(target: Any) -> bool:
    """Whether an op is a view of its first argument with the same elements."""
    schema = getattr(target, "_schema", None)
    if schema is None or not schema.arguments or schema.name == "aten::view" and schema.overload_name == "dtype":
        return False
    alias = schema.arguments[0].alias_info
    is_copied_view = torch.Tag.view_copy in getattr(target, "tags", ()) if hasattr(torch.Tag, "view_copy") else False
    return is_copied_view or (alias is not None and not alias.is_write and not schema.is_mutable)


def lift(*names: str) -> None:
    """Registers ops that do the same to the real and to the imaginary part."""
    register_complex(*names)(lifted)


def lifted(ctx: Lowering, *args: Any, **kwargs: Any) -> Any:
    """Runs the converter for real numbers on both parts."""
    if not all(_is_complex(example) for example in ctx.results):
        raise ctx.unsupported("an operand is complex and the result is not; expected both to be")
    real = convert_part(ctx, args, kwargs, real_part)
    imag = convert_part(ctx, args, kwargs, imaginary_part)
    if not isinstance(real, (tuple, list)):
        return Complex(real, imag)
    return [None if part is None else Complex(part, other) for part, other in zip(real, imag)]


def lift_product(*names: str, operands: tuple[int, int] = (0, 1)) -> None:
    """Registers ops that are linear in each of two operands, the arguments at these positions."""

    def convert(ctx: Lowering, *args: Any, **kwargs: Any) -> Complex:
        return product(ctx, args, kwargs, operands)

    register_complex(*names)(convert)


def product(ctx: Lowering, args: Sequence[Any], kwargs: Any, operands: tuple[int, int] = (0, 1)) -> Complex:
    """`(a + bi)(c + di)` for any product: `ac - bd` and `ad + bc`."""

    def parts(first: Callable[[Any], Any], second: Callable[[Any], Any]) -> Value:
        chosen = list(args)
        for position, part in zip(operands, (first, second)):
            chosen[position] = part(chosen[position])
        return _convert_real(ctx, chosen, kwargs)

    is_real = [not isinstance(args[position], Complex) for position in operands]
    real = parts(real_part, real_part)
    if all(is_real):
        return Complex(real, op.zeros_like(real))
    if any(is_real):
        imag = parts(real_part, imaginary_part) if is_real[0] else parts(imaginary_part, real_part)
        return Complex(real, imag)
    real = op.subtract(real, parts(imaginary_part, imaginary_part))
    return Complex(real, op.add(parts(real_part, imaginary_part), parts(imaginary_part, real_part)))


def convert_part(ctx: Lowering, args: Sequence[Any], kwargs: Any, part: Callable[[Any], Any]) -> Any:
    """Runs the converter for real numbers on one part of all values."""
    schema = getattr(ctx.node.target, "_schema", None)
    names = [argument.name for argument in schema.arguments] if schema is not None else []
    positional = [
        _chosen(ctx, value, part, index < len(names) and names[index] in _VALUES) for index, value in enumerate(args)
    ]
    named = {name: _chosen(ctx, value, part, name in _VALUES) for name, value in kwargs.items()}
    return _convert_real(ctx, positional, named)


def _convert_real(ctx: Lowering, args: Sequence[Any], kwargs: Any) -> Any:
    convert = registry.find(ctx.name)
    if convert is None:
        raise ctx.unsupported("it has no converter for real numbers, which both parts need")
    with ctx.parts():
        return convert(ctx, *args, **kwargs)


def _chosen(ctx: Lowering, value: Any, part: Callable[[Any], Any], is_value: bool) -> Any:
    if is_value:
        return [part(entry) for entry in value] if isinstance(value, (list, tuple)) else part(value)
    if isinstance(value, (Complex, complex)):
        raise ctx.unsupported("an argument that is not among its values is complex")
    if isinstance(value, (list, tuple)):
        return [_chosen(ctx, entry, part, False) for entry in value]
    return dtypes.PART_OF.get(value, value) if isinstance(value, str) else value


def real_part(value: Any) -> Any:
    """The real part of an operand; None stays."""
    return value.real if isinstance(value, (Complex, complex)) else value


def imaginary_part(value: Any) -> Any:
    """The imaginary part of an operand: zeros of a real one; None stays."""
    if isinstance(value, (Complex, complex)):
        return value.imag
    if isinstance(value, Value):
        return op.zeros_like(value)
    return value if value is None else type(value)(0) if isinstance(value, (bool, int, float)) else 0


def _is_complex(example: Any) -> bool:
    return isinstance(example, torch.Tensor) and example.is_complex()


def check_complex(made: Any, name: str) -> Complex:
    """The result of a converter whose op has a complex result."""
    if not isinstance(made, Complex):
        raise FrontendError(f"{name}: the converter gives {made!r}, expected a complex tensor (`Complex`)")
    return made

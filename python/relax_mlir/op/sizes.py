# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sizes in compositions of ops: as tensors, from tensors, and what is known of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..annotations import Shape
from ..errors import fail
from ..scope import FunctionScope, current_function
from ..symbolic import ExprLike, Sym
from ..values import Value
from . import support
from ._generated import arange, astype, tensor_to_shape
from .core import constant, match_cast, reshape


def as_value(x: Any, name: str) -> Value:
    """An operand as a value. `name` is for the error of something else, such as "roll: x"."""
    scope = current_function()
    return scope.wrap(support.as_operand(scope, x, "tensor", name=name))


def known_shape(x: Value, name: str) -> tuple[ExprLike, ...]:
    """The sizes of a tensor, which must be known as numbers or expressions."""
    shape = x.shape
    if shape is None or None in shape:
        fail(f"{name} is {x.annotation!r}; expected known sizes: name them with op.match_cast")
    return shape


def checked_axis(axis: int, rank: int, name: str) -> int:
    """An axis that counts from the first."""
    if isinstance(axis, bool) or not hasattr(axis, "__index__"):
        fail(f"{name} is {axis!r}; expected an integer")
    if not -rank <= axis.__index__() < rank:
        fail(f"{name} is {axis}; the tensor has {rank} dimensions")
    return axis.__index__() % rank


def size_tensor(size: ExprLike, dtype: str = "i64") -> Value:
    """A size as a tensor of rank 0."""
    if not isinstance(size, Sym):
        return constant(np.int64(size), dtype)
    number = reshape(arange(size, size + 1, 1, "i64"), ())
    return number if dtype == "i64" else astype(number, dtype)


def size_of(value: Value, name: str) -> Sym:
    """A new symbol for the value of an integer tensor with one element, which must not be negative."""
    symbol = unused_symbol(current_function(), name)
    match_cast(tensor_to_shape(reshape(astype(value, "i64"), (1,))), Shape((symbol,)))
    return symbol


def unused_symbol(scope: FunctionScope, base: str) -> Sym:
    """A symbol that the function does not have yet."""
    used = set().union(*(frame.symbols for frame in scope.frames))
    name, number = base, 2
    while name in used:
        name, number = f"{base}_{number}", number + 1
    return Sym(name, context=scope.context)

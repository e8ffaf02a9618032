# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Python's operators on values and on placeholders for parameters."""

from __future__ import annotations

from typing import Any


def _operator(name: str, reflected: bool = False) -> Any:
    def method(self: Any, other: Any) -> Any:
        from . import op

        lhs, rhs = (other, self) if reflected else (self, other)
        return getattr(op, name)(lhs, rhs)

    method.__doc__ = f"`op.{name}`."
    return method


class Operators:
    """Element-wise arithmetic and comparison, `@`, and slicing.

    A Python number next to a tensor becomes a constant of its dtype. `==` is identity; the element-wise
    comparison is `op.equal`.
    """

    __add__ = _operator("add")
    __radd__ = _operator("add", reflected=True)
    __sub__ = _operator("subtract")
    __rsub__ = _operator("subtract", reflected=True)
    __mul__ = _operator("multiply")
    __rmul__ = _operator("multiply", reflected=True)
    __truediv__ = _operator("divide")
    __rtruediv__ = _operator("divide", reflected=True)
    __floordiv__ = _operator("floor_divide")
    __rfloordiv__ = _operator("floor_divide", reflected=True)
    __mod__ = _operator("floor_mod")
    __rmod__ = _operator("floor_mod", reflected=True)
    __pow__ = _operator("power")
    __rpow__ = _operator("power", reflected=True)
    __matmul__ = _operator("matmul")
    __rmatmul__ = _operator("matmul", reflected=True)
    __lt__ = _operator("less")
    __le__ = _operator("less_equal")
    __gt__ = _operator("greater")
    __ge__ = _operator("greater_equal")

    # Makes NumPy arrays on the left defer to these operators.
    __array_ufunc__ = None

    def __neg__(self) -> Any:
        from . import op

        return op.negative(self)

    def __getitem__(self, key: Any) -> Any:
        from .indexing import index

        return index(self, key)

    def __iter__(self) -> Any:
        raise TypeError("a tensor cannot be iterated over; use op.split, or index its dimensions")

    def __bool__(self) -> bool:
        from .errors import fail

        fail("the value is not known before run time; use bb.if_(condition) to branch on it")

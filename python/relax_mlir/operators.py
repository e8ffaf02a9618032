# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Python's operators, and the methods of NumPy's arrays, on values and on placeholders for parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Union

if TYPE_CHECKING:
    from .dtypes import DTypeLike
    from .op.support import Operand
    from .symbolic import ExprLike
    from .values import Value

Axes = Union[int, "Sequence[int]", None]


def _ops() -> Any:
    from . import op  # which needs the values that have these operators

    return op


def _operator(name: str, reflected: bool = False) -> Callable[[Operators, Operand], Value]:
    def method(self: Any, other: Any) -> Any:
        lhs, rhs = (other, self) if reflected else (self, other)
        return getattr(_ops(), name)(lhs, rhs)

    method.__doc__ = f"`op.{name}`."
    return method


class Operators:
    """Element-wise arithmetic and comparison, `@`, slicing, and the methods of NumPy's arrays.

    A Python number next to a tensor becomes a constant of its dtype. `==` is identity; the element-wise
    comparison is `op.equal`. Methods build the op of their name, or the op that their docstring names.
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
    __and__ = _operator("bitwise_and")
    __rand__ = _operator("bitwise_and", reflected=True)
    __or__ = _operator("bitwise_or")
    __ror__ = _operator("bitwise_or", reflected=True)
    __xor__ = _operator("bitwise_xor")
    __rxor__ = _operator("bitwise_xor", reflected=True)

    # Makes NumPy arrays on the left defer to these operators.
    __array_ufunc__ = None

    def __neg__(self: Any) -> Value:
        return _ops().negative(self)

    def __abs__(self) -> Any:
        return _ops().abs(self)

    def __invert__(self) -> Any:
        return _ops().bitwise_not(self)

    def __getitem__(self, key: Any) -> Value:
        from .indexing import index

        return index(self, key)

    def __iter__(self) -> Iterator[Value]:
        raise TypeError("a tensor cannot be iterated over; use op.split, or index its dimensions")

    def __bool__(self) -> bool:
        from .errors import fail

        fail("the value is not known before run time; use bb.if_(condition) to branch on it")

    # --- shapes

    @property
    def T(self) -> Value:  # noqa: N802 - NumPy's name
        """The tensor with its dimensions reversed: `op.permute_dims(x)`."""
        return _ops().permute_dims(self)

    def transpose(self, *axes: Any) -> Value:
        """The tensor with its dimensions in another order, the reverse one by default: `op.permute_dims`.

        As in NumPy, `axes` are all dimensions in their new order, as one sequence or one by one.
        """
        return _ops().permute_dims(self, _unpacked(axes) if axes else None)

    def reshape(self, *shape: Any) -> Value:
        """The same elements in another shape, as one sequence or size by size: `x.reshape(n, -1)`."""
        return _ops().reshape(self, _unpacked(shape))

    def flatten(self) -> Value:
        """All elements in one dimension."""
        return _ops().flatten(self)

    def squeeze(self, axis: Axes = None) -> Value:
        """The tensor without dimensions of size 1."""
        return _ops().squeeze(self, axis)

    def repeat(self, repeats: int, axis: int | None = None) -> Value:
        """Each element, or each slice along `axis`, several times in a row."""
        return _ops().repeat(self, repeats, axis)

    def take(self, indices: Any, axis: int | None = None) -> Value:
        """The elements or slices at indices."""
        return _ops().take(self, indices, axis)

    # --- elements

    def astype(self, dtype: DTypeLike) -> Value:
        """The elements converted to another type."""
        return _ops().astype(self, dtype)

    def clip(self, min: float | None = None, max: float | None = None) -> Value:
        """The elements, limited to a range."""
        return _ops().clip(self, min, max)

    def round(self) -> Value:
        """The nearest whole numbers; halves become even."""
        return _ops().round(self)

    # --- reductions

    def sum(self, axis: Axes = None, keepdims: bool = False) -> Value:
        """The sum over some dimensions, by default all."""
        return _ops().sum(self, axis, keepdims)

    def prod(self, axis: Axes = None, keepdims: bool = False) -> Value:
        """The product over some dimensions, by default all."""
        return _ops().prod(self, axis, keepdims)

    def mean(self, axis: Axes = None, keepdims: bool = False) -> Value:
        """The mean over some dimensions, by default all."""
        return _ops().mean(self, axis, keepdims)

    def var(self, axis: Axes = None, keepdims: bool = False) -> Value:
        """The variance, the mean of squared distances from the mean: `op.variance`."""
        return _ops().variance(self, axis, keepdims)

    def std(self, axis: Axes = None, keepdims: bool = False) -> Value:
        """The root of the variance."""
        return _ops().std(self, axis, keepdims)

    def max(self, axis: Axes = None, keepdims: bool = False) -> Value:
        """The greatest element over some dimensions, by default all."""
        return _ops().max(self, axis, keepdims)

    def min(self, axis: Axes = None, keepdims: bool = False) -> Value:
        """The least element over some dimensions, by default all."""
        return _ops().min(self, axis, keepdims)

    def any(self, axis: Axes = None, keepdims: bool = False) -> Value:
        """Whether any element is true."""
        return _ops().any(self, axis, keepdims)

    def all(self, axis: Axes = None, keepdims: bool = False) -> Value:
        """Whether all elements are true."""
        return _ops().all(self, axis, keepdims)

    def argmax(self, axis: int | None = None, keepdims: bool = False) -> Value:
        """The index of the greatest element along a dimension, or of the flattened tensor."""
        return _ops().argmax(self, axis, keepdims)

    def argmin(self, axis: int | None = None, keepdims: bool = False) -> Value:
        """The index of the least element along a dimension, or of the flattened tensor."""
        return _ops().argmin(self, axis, keepdims)

    def cumsum(self, axis: int | None = None, dtype: DTypeLike | None = None) -> Value:
        """The running sum along a dimension, or of the flattened tensor."""
        return _ops().cumsum(self, axis, dtype)


def _unpacked(arguments: tuple[Any, ...]) -> ExprLike | Sequence[ExprLike] | Any:
    """`(2, 3)` of both `f((2, 3))` and `f(2, 3)`."""
    return arguments[0] if len(arguments) == 1 else arguments

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a converter is given: the node that it converts, the types that PyTorch found, and conversions of operands."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch

from ... import op
from ...annotations import Tensor
from ...errors import FrontendError, fail
from ...symbolic import ExprLike, Sym
from ...values import Value
from ..conditions import Condition, prove, require
from . import dtypes
from .symbols import SymbolTable

_SCALARS = (bool, int, float)

NARROW = ("f16", "bf16")
"""Floats that PyTorch's kernels compute with in f32."""


class Lowering:
    """The state of one import, and the node that is converted now.

    A converter is called as `convert(ctx, *args, **kwargs)` with the arguments of the node: tensors are `Value`s, sizes
    are integers or `Sym`s, types are our short names, and what only a run knows of Python's numbers (SymFloat) is a
    tensor of rank 0. It gives the value of the node, or a tuple of them. The importer then compares type and shape with
    what PyTorch found, and has the program check where it runs what cannot be proved.
    """

    def __init__(self, symbols: SymbolTable, importer: Any) -> None:
        self.symbols = symbols
        self.importer = importer
        self.node: Any = None
        self._is_part = False
        self._computes_in: str | None = None

    # --- what PyTorch found

    @property
    def result(self) -> Any:
        """The example of the node's result (`meta["val"]`): a fake tensor, a symbolic number, or a tuple of them."""
        return self.node.meta["val"]

    @property
    def results(self) -> list[Any]:
        """The examples of all results."""
        return list(self.result) if isinstance(self.result, (tuple, list)) else [self.result]

    @property
    def dtype(self) -> str:
        """The element type of the first result, or the wider one that it is computed in (`in_f32`); while a part of a
        complex number is computed, that of the part."""
        dtype = self._computes_in or dtypes.from_torch(self.results[0].dtype)
        return dtypes.PART_OF.get(dtype, dtype) if self._is_part else dtype

    @contextlib.contextmanager
    def computing_in(self, dtype: str) -> Iterator[None]:
        """Has `dtype` be another one, for results that are rounded at the end."""
        self._computes_in, before = dtype, self._computes_in
        try:
            yield
        finally:
            self._computes_in = before

    @property
    def shape(self) -> tuple[ExprLike, ...]:
        """The shape of the first result, as expressions."""
        return self.shape_of(self.results[0])

    def shape_of(self, example: Any) -> tuple[ExprLike, ...]:
        """The shape of a fake tensor, as expressions."""
        return tuple(map(self.symbols.expr, example.shape))

    def uses_result(self, index: int) -> bool:
        """Whether the program uses a result; a converter may give None for others."""
        return any(op_name(user).endswith("::getitem") and user.args[1] == index for user in self.node.users)

    @contextlib.contextmanager
    def parts(self) -> Iterator[None]:
        """Lets converters for real numbers compute one part of complex results."""
        outer, self._is_part = self._is_part, True
        try:
            yield
        finally:
            self._is_part = outer

    @property
    def random(self) -> op.Generator:
        """The random number generator of the program; only for converters that `register_random` has registered."""
        state = self.importer.random
        if state is None:
            raise self.unsupported(self.importer.no_random)
        return state

    def example(self, index: int) -> Any:
        """The example of argument `index`: a fake tensor for a tensor, else the argument itself."""
        return _example(self.node.args[index])

    # --- operands

    def tensor(self, value: Any, dtype: str | None = None) -> Value:
        """A tensor, a number or a size as a tensor, of that element type if one is given."""
        if isinstance(value, Sym):
            return self.cast(self.integer(value), dtype or "i64")
        if isinstance(value, (bool, int, float)) and not isinstance(value, Value):
            return _constant(value, dtype or _type_of(value))
        return self.cast(value, dtype or value.dtype)

    def cast(self, value: Value, dtype: str) -> Value:
        """The tensor with elements of that type."""
        return value if value.dtype == dtype else op.astype(value, dtype)

    def integer(self, value: ExprLike) -> Value:
        """A size as a tensor of rank 0, of i64."""
        if not isinstance(value, Sym):
            return op.constant(np.int64(value))
        return op.reshape(op.arange(value, value + 1, 1, "i64"), ())

    def same(self, *values: Any, dtype: str | None = None) -> list[Value]:
        """Operands as tensors of one element type: that of the result unless given."""
        return [self.tensor(value, dtype or self.dtype) for value in values]

    def promoted(self, lhs: Any, rhs: Any) -> list[Value]:
        """Two operands of a comparison, in the type that PyTorch compares them in."""
        dtype = dtypes.promote(self.example(0), self.example(1))
        return [self.tensor(lhs, dtype), self.tensor(rhs, dtype)]

    # --- sizes

    def axis(self, axis: int, rank: int) -> int:
        """An axis that counts from the first; rank 0 counts as rank 1."""
        limit = max(rank, 1)
        if not -limit <= axis < limit:
            fail(f"axis {axis} of a tensor of rank {rank}")
        return axis % limit

    def axes(self, axes: int | Sequence[int] | None, rank: int) -> list[int]:
        """Axes that count from the first; all of them for None or an empty list."""
        if axes is None or (not isinstance(axes, int) and not axes):
            return list(range(rank))
        return [self.axis(axis, rank) for axis in ([axes] if isinstance(axes, int) else axes)]

    def is_one(self, size: ExprLike | None) -> bool:
        """Whether a size is certainly 1."""
        return isinstance(size, int) and size == 1

    def equal(self, lhs: ExprLike, rhs: ExprLike) -> bool:
        """Whether two sizes are certainly equal."""
        return lhs == rhs or bool(self.symbols.facts.equal(lhs, rhs))

    def require(self, condition: Condition, message: str) -> None:
        """Checks a condition on sizes: while importing where it can be decided, else where the program runs."""
        if prove(condition, self.symbols.facts) is False:
            fail(f"{self.name}: {message}")
        require(condition, f"{self.name}: {message}", self.symbols.facts)

    def check(self, condition: Value, message: str) -> None:
        """Has the program check where it runs that all elements of a tensor of bool are true."""
        op.assert_(op.all(condition), f"{self.name}: {message}")

    def check_not_negative(self, index: Value, what: str = "an index") -> None:
        """Has the program refuse negative elements, which our ops count from the end and eager refuses."""
        self.check(op.greater_equal(index, self.tensor(0, index.dtype)), f"{what} is negative")

    @property
    def name(self) -> str:
        """The op that is converted, for messages."""
        return op_name(self.node)

    def unsupported(self, what: str) -> FrontendError:
        """The error for a form of an op that its converter does not know, to be raised."""
        try:
            fail(f"{self.name}: {what}")
        except ValueError as error:
            return FrontendError(str(error), getattr(error, "location", None))
        raise AssertionError


def in_f32(convert: Callable[..., Value]) -> Callable[..., Value]:
    """A converter of several steps that computes f16 and bf16 in f32, as PyTorch's kernels do, and rounds once."""

    @functools.wraps(convert)
    def rounded(ctx: Lowering, *args: Any, **kwargs: Any) -> Value:
        dtype = ctx.dtype
        if dtype not in NARROW:
            return convert(ctx, *args, **kwargs)
        with ctx.computing_in("f32"):
            made = convert(ctx, *map(_widened, args), **{key: _widened(value) for key, value in kwargs.items()})
        return ctx.cast(made, dtype)

    return rounded


def wide_type(dtype: str) -> str:
    """The type to compute several steps in before the result is rounded: f32 for f16 and bf16, else the same."""
    return "f32" if dtype in NARROW else dtype


def _widened(value: Any) -> Any:
    return op.astype(value, "f32") if isinstance(value, Value) and value.dtype in NARROW else value


def op_name(node: Any) -> str:
    """The name of a node's op, as converters have it: `aten::add.Tensor`, `operator::add`, `higher_order::cond`."""
    return target_name(node.target)


def target_name(target: Any) -> str:
    """The name of what a node calls."""
    if isinstance(target, torch._ops.OpOverload):
        return f"{target._schema.name}.{target._overloadname}"
    if isinstance(target, torch._ops.HigherOrderOperator):
        return f"higher_order::{target.name()}"
    module = getattr(target, "__module__", "").lstrip("_").partition(".")[0] or "builtins"
    return f"{module}::{getattr(target, '__name__', target)}"


def _example(argument: Any) -> Any:
    return argument.meta["val"] if isinstance(argument, torch.fx.Node) else argument


def _type_of(value: bool | int | float) -> str:
    if isinstance(value, bool):
        return "bool"
    return "i64" if isinstance(value, int) else "f64"


def _constant(value: bool | int | float, dtype: str) -> Value:
    """A number in an element type, converted as PyTorch does: a float becomes an integer towards zero."""
    if not (dtype.startswith(("f", "bf")) or dtype == "bool") and isinstance(value, float):
        value = int(value)
    if dtype == "bool":
        return op.constant(np.bool_(bool(value)))
    if dtype.startswith(("f", "bf")):
        # Beyond the largest number of a narrow type is infinity.
        return op.constant(torch_float(float(value), dtype), dtype)
    return op.constant(_wrapped(int(value), dtype), dtype)


def torch_float(value: float, dtype: str) -> Any:
    """The nearest number of a float type, infinite beyond its range."""
    from ...dtypes import to_numpy

    with np.errstate(over="ignore"):
        return np.asarray(value, np.float64).astype(to_numpy(dtype))


def _wrapped(value: int, dtype: str) -> int:
    """An integer modulo two to the power of the width."""
    bits = int("".join(filter(str.isdigit, dtype)))
    value %= 1 << bits
    return value - (1 << bits) if dtype.startswith("i") and value >= 1 << (bits - 1) else value


def annotation_of(example: Any, symbols: SymbolTable) -> Tensor:
    """The annotation of a fake tensor whose sizes are known."""
    return Tensor(tuple(map(symbols.expr, example.shape)), dtypes.from_torch(example.dtype))

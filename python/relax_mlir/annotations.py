# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Annotations: what is known about a value before the program runs.

They describe parameters and results, and represent the parameters while a function is built:

>>> n = Sym("n")
>>> x = Tensor((n, 128), "f32")
>>> with bb.function("main", [x]):
...     bb.return_(op.exp(x))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, SupportsIndex, Union

import numpy as np
from mlir import ir

from . import _relax, dtypes, mlir_types
from .errors import fail
from .operators import Operators
from .symbolic import ExprLike, Sym, as_dims, as_expr

DimLike = Union[ExprLike, SupportsIndex, str, None]
"""A number, an expression, the name of a symbol, or the text of an expression; None or "?" if unknown."""
ShapeLike = Union[DimLike, Sequence[DimLike]]
"""A shape, or the only dimension of one."""
Dims = tuple[Union[int, Sym, None], ...]
"""Dimensions: numbers, expressions, and None for unknown ones."""
ReadDims = Union[tuple[Union[int, Sym, Any], ...], Any]
"""Dimensions that are read: None, if the rank is unknown, and `Dims` otherwise.

`Any` stands for None, as where the standard library returns `str | Any`: a program knows most of its shapes, and would
have to check each use for None otherwise.
"""
ReadRank = Union[int, Any]
"""A rank that is read: None, if it is unknown; see `ReadDims`."""


def parse_dim(dim: DimLike, index: int) -> int | Sym | None:
    """One dimension, checked."""
    if dim is None or (isinstance(dim, str) and dim.strip() == "?"):
        return None
    if isinstance(dim, str):
        try:
            dim = Sym.parse(dim)
        except (ValueError, ArithmeticError) as error:
            fail(f"dimension {index}: {error}")
    if isinstance(dim, Sym):
        dim = dim.value if dim.is_constant else dim
    if isinstance(dim, Sym):
        return dim
    if isinstance(dim, (bool, np.bool_)) or not hasattr(dim, "__index__"):
        fail(
            f"dimension {index} is {dim!r} of type {type(dim).__name__}; "
            "expected an integer, a Sym, or None if it is unknown"
        )
    size = dim.__index__()
    if not 0 <= size < 2**63:
        fail(f"dimension {index} is {size}; expected a number from 0 to 2**63 - 1")
    return size


def parse_dims(dims: Any) -> Dims:
    """A shape, checked. A single dimension counts as a shape of rank one."""
    if isinstance(dims, (str, Sym)) or hasattr(dims, "__index__"):
        dims = (dims,)
    try:
        entries = list(dims)
    except TypeError:
        fail(f"expected a shape such as (n, 128), got {dims!r}")
    return tuple(parse_dim(dim, index) for index, dim in enumerate(entries))


def dims_to_mlir(dims: Sequence[int | Sym | None], context: ir.Context) -> list[ir.Attribute | None]:
    return [None if dim is None else as_expr(dim, context) for dim in dims]


class Annotation:
    """What is known about a value. Compare with `==`; `to_mlir` returns the MLIR type."""

    name: str | None = None

    def to_mlir(self, context: ir.Context) -> ir.Type:
        raise NotImplementedError

    @staticmethod
    def from_mlir(type: ir.Type) -> Annotation:
        """The annotation of an MLIR type."""
        if isinstance(type, ir.RankedTensorType):
            dims = _relax.tensor_type_dims(type, type.rank)
            return Tensor._of(as_dims(dims), dtypes.from_mlir(type.element_type))
        if isinstance(type, ir.UnrankedTensorType):
            return Tensor._of(None, dtypes.from_mlir(type.element_type))
        if _relax.is_shape_type(type):
            if not _relax.shape_type_is_ranked(type):
                return Shape(None)
            return Shape(as_dims(_relax.shape_type_dims(type)))
        if isinstance(type, ir.TupleType):
            members = [type.get_type(index) for index in range(type.num_types)]
            return Tuple(*map(Annotation.from_mlir, members))
        if isinstance(type, ir.FunctionType):
            return Callable(
                list(map(Annotation.from_mlir, type.inputs)),
                list(map(Annotation.from_mlir, type.results)),
            )
        if _relax.is_object_type(type):
            return Object()
        return Scalar(type)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._describe()})"

    def _describe(self) -> str:
        return ""

    def _key(self) -> tuple[object, ...]:
        return ()

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash((type(self).__name__, self._key()))


def _show_dims(dims: Sequence[int | Sym | None]) -> str:
    text = ", ".join("?" if dim is None else str(dim) for dim in dims)
    return f"({text},)" if len(dims) == 1 else f"({text})"


class Tensor(Operators, Annotation):
    """A tensor: `Tensor((n, 128), "f32")`.

    A dimension of None is unknown; a shape of None means that not even the rank is known. While a function with this
    annotation as a parameter is built, the annotation represents that parameter.
    """

    shape: ReadDims
    dtype: str

    def __init__(
        self,
        shape: ShapeLike,
        dtype: dtypes.DTypeLike = "f32",
        *,
        name: str | None = None,
    ) -> None:
        try:
            element = dtypes.normalize(dtype)
        except ValueError as error:
            fail(str(error))
        self.shape = None if shape is None else parse_dims(shape)
        self.dtype = element
        self.name = name

    @classmethod
    def _of(cls, shape: Dims | None, dtype: str) -> Tensor:
        """A tensor of checked dimensions, whose element type may be one without a short name."""
        tensor = cls.__new__(cls)
        tensor.shape, tensor.dtype, tensor.name = shape, dtype, None
        return tensor

    @property
    def ndim(self) -> ReadRank:
        """The rank; None if it is unknown."""
        return None if self.shape is None else len(self.shape)

    def to_mlir(self, context: ir.Context) -> ir.Type:
        element = (
            dtypes.to_mlir(self.dtype, context) if self.dtype in dtypes._TABLE else ir.Type.parse(self.dtype, context)
        )
        if self.shape is None:
            return ir.UnrankedTensorType.get(element, loc=ir.Location.unknown(context))
        return _relax.tensor_type(element, dims_to_mlir(self.shape, context))

    def _describe(self) -> str:
        shape = "None" if self.shape is None else _show_dims(self.shape)
        return f'{shape}, "{self.dtype}"'

    def _key(self) -> tuple[object, ...]:
        return (self.shape, self.dtype)


class Shape(Annotation):
    """A shape as a value: `Shape((n, 4))`, `Shape(ndim=2)`, or `Shape()` of unknown rank."""

    def __init__(self, dims: ShapeLike = None, *, ndim: int | None = None, name: str | None = None) -> None:
        if dims is not None and ndim is not None and len(parse_dims(dims)) != ndim:
            fail(f"the shape has {len(parse_dims(dims))} dimensions, ndim is {ndim}")
        if dims is None and ndim is not None:
            dims = (None,) * ndim
        self.dims: ReadDims = None if dims is None else parse_dims(dims)
        self.name = name

    @property
    def ndim(self) -> ReadRank:
        return None if self.dims is None else len(self.dims)

    def to_mlir(self, context: ir.Context) -> ir.Type:
        if self.dims is None:
            return _relax.shape_type_unranked(context)
        return _relax.shape_type(context, dims_to_mlir(self.dims, context))

    def _describe(self) -> str:
        return "" if self.dims is None else _show_dims(self.dims)

    def _key(self) -> tuple[object, ...]:
        return (self.dims,)


class Object(Annotation):
    """A value about which nothing is known."""

    def __init__(self, *, name: str | None = None) -> None:
        self.name = name

    def to_mlir(self, context: ir.Context) -> ir.Type:
        return _relax.object_type(context)


class Tuple(Annotation):
    """A tuple of values: `Tuple(Tensor((n,), "f32"), Shape((n,)))`."""

    def __init__(self, *members: Annotation, name: str | None = None) -> None:
        if len(members) == 1 and isinstance(members[0], (list, tuple)):
            members = tuple(members[0])
        for index, member in enumerate(members):
            if not isinstance(member, Annotation):
                fail(f"member {index} of the tuple is {member!r}; expected an annotation")
        self.members = members
        self.name = name

    def to_mlir(self, context: ir.Context) -> ir.Type:
        return ir.TupleType.get_tuple([member.to_mlir(context) for member in self.members], context=context)

    def _describe(self) -> str:
        return ", ".join(map(repr, self.members))

    def _key(self) -> tuple[object, ...]:
        return self.members


class Callable(Annotation):
    """A function as a value: `Callable([Tensor((n,), "f32")], Tensor((n,), "f32"))`.

    Its symbols are local: they are independent of symbols with the same names outside.
    """

    def __init__(
        self,
        params: Sequence[Annotation],
        results: Annotation | Sequence[Annotation],
        *,
        name: str | None = None,
    ) -> None:
        self.params = tuple(params)
        self.results = (results,) if isinstance(results, Annotation) else tuple(results)
        for index, member in enumerate(self.params + self.results):
            if not isinstance(member, Annotation):
                fail(f"entry {index} of the signature is {member!r}; expected an annotation")
        self.name = name

    def to_mlir(self, context: ir.Context) -> ir.Type:
        return ir.FunctionType.get(
            [param.to_mlir(context) for param in self.params],
            [result.to_mlir(context) for result in self.results],
            context=context,
        )

    def _describe(self) -> str:
        return f"{list(self.params)}, {list(self.results)}"

    def _key(self) -> tuple[object, ...]:
        return (self.params, self.results)


class Scalar(Annotation):
    """A scalar: `Scalar("index")`, `Scalar("bool")`, `Scalar("f32")`."""

    dtype: str

    def __init__(self, type: dtypes.DTypeLike, *, name: str | None = None) -> None:
        if isinstance(type, ir.Type):
            self.dtype = dtypes.from_mlir(type)
        elif isinstance(type, str) and type == "index":
            self.dtype = type
        else:
            try:
                self.dtype = dtypes.normalize(type)
            except ValueError as error:
                fail(str(error))
        self.name = name

    def to_mlir(self, context: ir.Context) -> ir.Type:
        if self.dtype in dtypes._TABLE:
            return dtypes.to_mlir(self.dtype, context)
        return ir.Type.parse(self.dtype, context)

    def _describe(self) -> str:
        return f'"{self.dtype}"'

    def _key(self) -> tuple[object, ...]:
        return (self.dtype,)


TypeLike = Union[Annotation, mlir_types.Type]


def as_type(annotation: TypeLike, context: ir.Context) -> ir.Type:
    """The MLIR type of an annotation or of a type."""
    if isinstance(annotation, Annotation):
        return annotation.to_mlir(context)
    if isinstance(annotation, ir.Type):
        return annotation
    fail(f"expected an annotation such as Tensor((n, 128), 'f32'), got {annotation!r}")


def keep_symbols(annotation: Annotation, visible: set[str]) -> Annotation:
    """A coarser annotation: dimensions that name symbols other than these become unknown."""

    def keep(dims: Dims) -> Dims:
        return tuple(dim if not isinstance(dim, Sym) or visible.issuperset(dim.symbols) else None for dim in dims)

    if isinstance(annotation, Tensor) and annotation.shape is not None:
        return Tensor._of(keep(annotation.shape), annotation.dtype)
    if isinstance(annotation, Shape) and annotation.dims is not None:
        return Shape(keep(annotation.dims))
    if isinstance(annotation, Tuple):
        return Tuple(*(keep_symbols(member, visible) for member in annotation.members))
    return annotation


def join(first: Annotation, second: Annotation) -> Annotation:
    """The finest annotation that holds for values of either."""

    def dims(lhs: Dims, rhs: Dims) -> Dims:
        return tuple(a if a == b else None for a, b in zip(lhs, rhs))

    if first == second:
        return first
    if isinstance(first, Tensor) and isinstance(second, Tensor):
        if first.dtype != second.dtype:
            return Object()
        if first.shape is None or second.shape is None or first.ndim != second.ndim:
            return Tensor._of(None, first.dtype)
        return Tensor._of(dims(first.shape, second.shape), first.dtype)
    if isinstance(first, Shape) and isinstance(second, Shape):
        if first.dims is None or second.dims is None or first.ndim != second.ndim:
            return Shape()
        return Shape(dims(first.dims, second.dims))
    if isinstance(first, Tuple) and isinstance(second, Tuple) and len(first.members) == len(second.members):
        return Tuple(*map(join, first.members, second.members))
    return Object()

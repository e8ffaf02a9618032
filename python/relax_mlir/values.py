# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values of a program, as the builder returns them."""

from __future__ import annotations

import abc
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from . import mlir_types
from .annotations import Annotation, ReadDims, ReadRank, Shape, Tensor, Tuple
from .errors import fail, unpicklable
from .operators import Operators

if TYPE_CHECKING:
    from .scope import FunctionScope


class Value(Operators):
    """The result of an op or a parameter of a function. `ir` is the `mlir` package's value."""

    __slots__ = ("_ir", "_type", "_scope", "_fate")

    def __init__(self, value: mlir_types.Value, scope: FunctionScope) -> None:
        self._ir = value
        # Passes may erase the value; its type stays known.
        self._type = value.type
        self._scope = scope
        self._fate = scope.frame.fate

    def _require_alive(self) -> None:
        if self._scope.failed:
            fail(f"the value belongs to function '{self._scope.name}', which was given up after an error")
        if self._fate.failed:
            fail(f"the value belongs to a {self._fate.kind} that was given up after an error")

    @property
    def ir(self) -> mlir_types.Value:
        """The `mlir` package's value; must not be used after a pass has changed the module."""
        self._require_alive()
        return self._ir

    @property
    def type(self) -> mlir_types.Type:
        """The type that was deduced when the value was created."""
        self._require_alive()
        return self._type

    @property
    def annotation(self) -> Annotation:
        """The annotation of the value, e.g. `Tensor((n, 128), "f32")`."""
        return Annotation.from_mlir(self.type)

    @property
    def shape(self) -> ReadDims:
        """The dimensions of a tensor or of a shape; None if the rank is unknown."""
        annotation = self.annotation
        if isinstance(annotation, Tensor):
            return annotation.shape
        if isinstance(annotation, Shape):
            return annotation.dims
        fail(f"a value of type {self.type} has no shape")

    @property
    def dtype(self) -> str:
        """The short name of a tensor's element type, e.g. "f32"."""
        annotation = self.annotation
        if not isinstance(annotation, Tensor):
            fail(f"a value of type {self.type} has no dtype")
        return annotation.dtype

    @property
    def ndim(self) -> ReadRank:
        """The rank; None if it is unknown."""
        shape = self.shape
        return None if shape is None else len(shape)

    def __len__(self) -> int:
        annotation = self.annotation
        if isinstance(annotation, Tuple):
            return len(annotation.members)
        fail(f"a value of type {self.type} has no length; its size is a dimension of .shape")

    def __iter__(self) -> Iterator[Value]:
        annotation = self.annotation
        if not isinstance(annotation, Tuple):
            fail("only a tuple can be taken apart; use op.split, or index a dimension of the tensor")
        return (self[index] for index in range(len(annotation.members)))

    def __getitem__(self, key: Any) -> Value:
        annotation = self.annotation
        if not isinstance(annotation, Tuple):
            return super().__getitem__(key)
        from . import op

        count = len(annotation.members)
        if not hasattr(key, "__index__") or not -count <= key.__index__() < count:
            fail(f"a tuple of {count} members has no member {key!r}")
        return op.get(self, key.__index__() % count)

    __reduce__ = unpicklable("it belongs to the function that is being built; pickle bb.module() instead")

    def __repr__(self) -> str:
        if self._scope.failed:
            return f"Value(of function '{self._scope.name}', which was given up)"
        if self._fate.failed:
            return f"Value(of a {self._fate.kind} that was given up)"
        return f"Value({self.annotation!r})"


class Deferred(Operators, abc.ABC):
    """A tensor that becomes a value of whichever function uses it, such as a parameter of a model (`nn.Parameter`)."""

    @property
    @abc.abstractmethod
    def shape(self) -> tuple[int, ...]: ...

    @property
    @abc.abstractmethod
    def dtype(self) -> str: ...

    @property
    def ndim(self) -> int:
        """The rank."""
        return len(self.shape)

    @property
    @abc.abstractmethod
    def value(self) -> Value:
        """The tensor as a value of the function that is being built."""

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attributes and types of the relax dialect, one class each, in the style of the `mlir` package."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from .. import _relax
from ..symbolic import ExprLike, Sym, as_expr

SymExprAttr = Sym


def _dims(dims: Sequence[ExprLike | None], context: ir.Context) -> list[Sym | None]:
    return [None if dim is None else as_expr(dim, context) for dim in dims]


def _context(context: ir.Context | None) -> ir.Context:
    return context or ir.Context.current


class ShapeAttr(ir.Attribute):
    """`#relax.shape<[n, 4, ?]>`"""

    @staticmethod
    def get(dims: Sequence[ExprLike | None], context: ir.Context | None = None) -> ShapeAttr:
        context = _context(context)
        return _relax.shape_attr(context, _dims(dims, context))

    @staticmethod
    def isinstance(attr: ir.Attribute) -> bool:
        return _relax.is_shape_attr(attr)

    @property
    def dims(self) -> tuple[Sym | None, ...]:
        """One expression per dimension; None if unknown."""
        return tuple(_relax.shape_attr_dims(self))


class RangeAttr(ir.Attribute):
    """`#relax.range<1, 4096, multiple_of = 16>`"""

    @staticmethod
    def get(
        lower: int,
        upper: int | None = None,
        multiple_of: int = 1,
        context: ir.Context | None = None,
    ) -> RangeAttr:
        return _relax.range_attr(_context(context), lower, upper, multiple_of)

    @staticmethod
    def isinstance(attr: ir.Attribute) -> bool:
        return _relax.is_range_attr(attr)

    @property
    def lower(self) -> int:
        return _relax.range_attr_bounds(self)[0]

    @property
    def upper(self) -> int | None:
        return _relax.range_attr_bounds(self)[1]

    @property
    def multiple_of(self) -> int:
        return _relax.range_attr_bounds(self)[2]


class WeightAttr(ir.Attribute):
    """`#relax.weight<"model.embed_tokens.weight">`"""

    @staticmethod
    def get(name: str, context: ir.Context | None = None) -> WeightAttr:
        return _relax.weight_attr(_context(context), name)

    @staticmethod
    def isinstance(attr: ir.Attribute) -> bool:
        return _relax.is_weight_attr(attr)

    @property
    def name(self) -> str:
        return _relax.weight_attr_name(self)


class ShapeType(ir.Type):
    """`!relax.shape<[n, 4]>`, `!relax.shape<2>` or `!relax.shape<*>`"""

    @staticmethod
    def get(dims: Sequence[ExprLike | None], context: ir.Context | None = None) -> ShapeType:
        context = _context(context)
        return _relax.shape_type(context, _dims(dims, context))

    @staticmethod
    def get_ranked(rank: int, context: ir.Context | None = None) -> ShapeType:
        """A shape of which only the rank is known."""
        return ShapeType.get([None] * rank, context)

    @staticmethod
    def get_unranked(context: ir.Context | None = None) -> ShapeType:
        return _relax.shape_type_unranked(_context(context))

    @staticmethod
    def isinstance(type: ir.Type) -> bool:
        return _relax.is_shape_type(type)

    @property
    def has_rank(self) -> bool:
        return _relax.shape_type_is_ranked(self)

    @property
    def dims(self) -> tuple[Sym | None, ...]:
        """One expression per dimension; None if unknown. Empty if the rank is unknown."""
        return tuple(_relax.shape_type_dims(self))


class ObjectType(ir.Type):
    """`!relax.object`"""

    @staticmethod
    def get(context: ir.Context | None = None) -> ObjectType:
        return _relax.object_type(_context(context))

    @staticmethod
    def isinstance(type: ir.Type) -> bool:
        return _relax.is_object_type(type)


class StorageType(ir.Type):
    """`!relax.storage`"""

    @staticmethod
    def get(context: ir.Context | None = None) -> StorageType:
        return _relax.storage_type(_context(context))

    @staticmethod
    def isinstance(type: ir.Type) -> bool:
        return _relax.is_storage_type(type)


def tensor_type(dims: Sequence[ExprLike | None], element_type: ir.Type) -> ir.RankedTensorType:
    """The builtin tensor type with these dimensions; symbolic dimensions are in its encoding."""
    return _relax.tensor_type(element_type, _dims(dims, element_type.context))


def tensor_dims(type: ir.RankedTensorType) -> tuple[Sym | None, ...]:
    """The dimensions of a ranked tensor type as expressions; None if unknown."""
    return tuple(_relax.tensor_type_dims(type, type.rank))


for _class, _typeid in (
    (ShapeAttr, _relax.shape_attr_typeid),
    (RangeAttr, _relax.range_attr_typeid),
    (WeightAttr, _relax.weight_attr_typeid),
    (ShapeType, _relax.shape_type_typeid),
    (ObjectType, _relax.object_type_typeid),
    (StorageType, _relax.storage_type_typeid),
):
    ir.register_type_caster(_typeid())(_class)


@ir.register_attribute_builder("Relax_SymExprAttr")
def _sym_expr_attr(value: ExprLike, context: ir.Context) -> ir.Attribute:
    return as_expr(value, context or ir.Context.current)


@ir.register_attribute_builder("Relax_ShapeAttr")
def _shape_attr(dims: Sequence[ExprLike | None], context: ir.Context) -> ir.Attribute:
    return ShapeAttr.get(dims, context or ir.Context.current)

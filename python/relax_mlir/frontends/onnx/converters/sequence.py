# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sequences and optionals, which exist while importing: their tensors are values of the program."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import op
from ..data import Data, Operand, Optional_
from ..lowering import Lowering
from ..registry import register_data


def _list(ctx: Lowering, value: Any) -> list:
    if isinstance(value, Optional_):
        value = value.value
    if not isinstance(value, list):
        ctx.fail("an input is not a sequence")
    return value


@register_data("SequenceConstruct")
def construct(ctx: Lowering, *members: Operand) -> list:
    return list(members)


@register_data("SequenceEmpty")
def empty(ctx: Lowering) -> list:
    return []


def _place(ctx: Lowering, position: Data, length: int) -> int:
    place = int(ctx.number(position, "the position in a sequence"))
    if not -length <= place < max(length, 1):
        ctx.fail(f"the position {place} in a sequence of {length}")
    return place + length if place < 0 else place


@register_data("SequenceInsert")
def insert(ctx: Lowering, sequence: Operand, value: Operand, position: Data | None = None) -> list:
    members = list(_list(ctx, sequence))
    place = len(members) if position is None else int(ctx.number(position, "the position in a sequence"))
    if not -len(members) <= place <= len(members):
        ctx.fail(f"the position {place} in a sequence of {len(members)}")
    members.insert(place, value)
    return members


@register_data("SequenceErase")
def erase(ctx: Lowering, sequence: Operand, position: Data | None = None) -> list:
    members = list(_list(ctx, sequence))
    if not members:
        ctx.fail("there is nothing to erase in an empty sequence")
    members.pop(len(members) - 1 if position is None else _place(ctx, position, len(members)))
    return members


@register_data("SequenceAt")
def at(ctx: Lowering, sequence: Operand, position: Data) -> Operand:
    members = _list(ctx, sequence)
    if not members:
        ctx.fail("an empty sequence has no elements")
    return members[_place(ctx, position, len(members))]


@register_data("SequenceLength")
def length(ctx: Lowering, sequence: Operand) -> Data:
    return Data("i64", np.asarray(len(_list(ctx, sequence))))


@register_data("SplitToSequence")
def split_to_sequence(ctx: Lowering, x: Data, lengths: Data | None = None) -> list:
    """Parts of given lengths, or of one length, of which the last may be shorter, or single slices."""
    axis = ctx.axis(ctx.int("axis", 0), x.ndim)
    value, size = ctx.value(x), x.shape[axis]
    if lengths is not None and lengths.ndim == 1:
        sizes = ctx.numbers(lengths, "the lengths")
    else:
        part = 1 if lengths is None else int(ctx.number(lengths, "the length"))
        size = ctx.fixed(size, "the size that is split into a sequence")
        sizes = [min(part, size - start) for start in range(0, size, part)]
    starts = np.cumsum([0, *sizes]).tolist()
    parts = [op.strided_slice(value, [axis], [start], [end]) for start, end in zip(starts, starts[1:])]
    if lengths is None and not ctx.int("keepdims", 1):
        parts = [op.squeeze(part, [axis]) for part in parts]
    return [Data(x.dtype, value=part) for part in parts]


@register_data("ConcatFromSequence")
def concat_from_sequence(ctx: Lowering, sequence: Operand) -> Data:
    members = _list(ctx, sequence)
    if not members:
        ctx.fail("an empty sequence cannot be joined")
    values = [ctx.value(member) for member in members]
    axis = ctx.int("axis")
    if ctx.int("new_axis", 0):
        return Data(members[0].dtype, value=op.stack(values, ctx.axis(axis, values[0].ndim + 1)))
    return Data(members[0].dtype, value=op.concat(values, ctx.axis(axis, values[0].ndim)))


@register_data("SequenceMap")
def sequence_map(ctx: Lowering, first: Operand, *others: Operand) -> tuple[Operand, ...]:
    """The body for each element; what is not a sequence is the same for all."""
    body, members = ctx.graph("body"), _list(ctx, first)
    results: list[list[Operand]] = [[] for _ in body.outputs]
    for index, member in enumerate(members):
        rest = [other[index] if isinstance(other, list) else other for other in others]
        for place, result in zip(results, ctx.importer.run(body, ctx.scope, [member, *rest])):
            place.append(result)
    return tuple(results)


@register_data("Optional")
def optional(ctx: Lowering, value: Operand = None) -> Optional_:
    return Optional_(value)


@register_data("OptionalHasElement")
def has_element(ctx: Lowering, value: Operand = None) -> Data:
    there = value is not None and not (isinstance(value, Optional_) and value.value is None)
    return Data("bool", np.asarray(there))


@register_data("OptionalGetElement")
def get_element(ctx: Lowering, value: Operand) -> Operand:
    found = value.value if isinstance(value, Optional_) else value
    if found is None:
        ctx.fail("the optional is empty; ask OptionalHasElement before")
    return found

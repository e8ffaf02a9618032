# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Branches, loops and scans: ops whose attributes are graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

import numpy as np
from mlir import ir

from .... import op
from ....annotations import Tensor
from ....errors import FrontendError
from ....scope import FunctionScope, current_function, discard
from ....symbolic import Sym
from ....values import Value
from ...conditions import negate
from .. import dtypes
from ..data import Data, Operand, as_branch
from ..errors import UndecidedBranchError, ValueRequiredError
from ..lowering import Lowering
from ..model import Graph, TensorType
from ..registry import register_data

_UNROLLED = 256
"""Loops with at most this many iterations are unrolled where they carry what only exists while importing."""


@register_data("If")
def if_(ctx: Lowering, condition: Data) -> tuple[Operand, ...]:
    """The branch alone where the condition is known; else both, whose results have the sizes that both agree on."""
    branches = [ctx.graph("then_branch"), ctx.graph("else_branch")]
    if condition.is_constant:
        chosen = branches[0 if condition.elements.reshape(-1)[0] else 1]
        return tuple(ctx.importer.run(chosen, ctx.scope))
    index = ctx.importer.count_branch()
    if index in ctx.importer.decisions:
        return _decided(ctx, condition, branches, ctx.importer.decisions[index])
    builder = current_function().builder
    kinds: list[list[str]] = []
    try:
        with builder.if_(as_branch(condition, ctx.weights)) as branch:
            for part, graph in zip((branch.then, branch.else_), branches):
                with part:
                    results = [_tensor(ctx, value) for value in ctx.importer.run(graph, ctx.scope)]
                    kinds.append([result.dtype for result in results])
                    builder.yield_(*(ctx.value(result) for result in results))
    except _NotATensor:
        _require_choice(ctx, condition, index, "the condition of branches that give sequences or optionals")
        raise
    except (ValueRequiredError, UndecidedBranchError):
        raise
    except FrontendError as error:
        # A branch may be valid only where it is taken, as one for another number of axes.
        if condition.origins or condition.elements is not None:
            what = "the condition, since a branch is not valid for all inputs,"
            _require_choice(ctx, condition, index, what, error)
        raise
    if kinds[0] != kinds[1]:
        ctx.fail(f"the branches give elements of {', '.join(kinds[0])} and of {', '.join(kinds[1])}")
    if any(result.shape is None for result in branch.results):
        what = "the condition of branches whose results have different numbers of axes"
        _require_choice(ctx, condition, index, what)
    return tuple(Data(kind, value=result) for kind, result in zip(kinds[0], branch.results))


def _decided(ctx: Lowering, condition: Data, branches: Sequence[Graph], choice: bool) -> tuple[Operand, ...]:
    """The branch that the rest of the model needs; that the condition chooses it is checked where the program runs."""
    wanted = condition.elements.reshape(-1)[0]
    message = f"these sizes choose the {'else' if choice else 'then'} branch, which does not fit the rest of the model"
    ctx.require(wanted if choice else negate(wanted), message)
    return tuple(ctx.importer.run(branches[0 if choice else 1], ctx.scope))


def _require_choice(
    ctx: Lowering, condition: Data, index: int, what: str, cause: FrontendError | None = None
) -> NoReturn:
    """Asks for what decides a branch: for the sizes of a condition both choices are tried before users see that.

    Args:
      cause: why one of the branches is not valid.
    """
    try:
        ctx.elements(condition, what)
        raise AssertionError(what)
    except FrontendError as error:
        if condition.elements is None:
            raise error from cause
        raise UndecidedBranchError(index, error) from cause


class _NotATensor(Exception):
    """A value that exists only while importing: a sequence, an optional, text."""


def _tensor(ctx: Lowering, value: Operand) -> Data:
    if not isinstance(value, Data) or value.dtype == dtypes.STRING:
        raise _NotATensor
    return value


@register_data("Loop")
def loop(ctx: Lowering, limit: Data | None, condition: Data | None, *carried: Operand) -> tuple[Operand, ...]:
    """A loop over tensors; one that carries sequences is unrolled, which needs a known number of rounds."""
    body = ctx.graph("body")
    if any(not isinstance(value, Data) for value in carried):
        return _unrolled(ctx, body, limit, condition, list(carried))
    return _Loop(ctx, body, limit, condition, list(carried)).build()


def _unrolled(
    ctx: Lowering, body: Graph, limit: Data | None, condition: Data | None, carried: list[Operand]
) -> tuple[Operand, ...]:
    rounds = ctx.number(limit, "the number of rounds of a loop over sequences") if limit is not None else _UNROLLED + 1
    going = condition is None or bool(ctx.number(condition, "the condition of a loop over sequences"))
    count, index, rows = len(carried), 0, []
    while going and index < rounds:
        if index >= _UNROLLED:
            raise ctx.unsupported(f"a loop over sequences with more than {_UNROLLED} rounds")
        given = [Data("i64", np.asarray(index)), Data("bool", np.asarray(True)), *carried]
        go, *results = ctx.importer.run(body, ctx.scope, given)
        going = bool(ctx.number(go, "the condition of a loop over sequences"))
        carried, index = results[:count], index + 1
        rows.append(results[count:])
    stacked: list[Operand] = []
    for place in range(len(body.outputs) - 1 - count):
        if not rows:
            raise ctx.unsupported("rows of a loop over sequences without rounds")
        parts = [ctx.value(row[place]) for row in rows]
        stacked.append(Data(rows[0][place].dtype, value=op.stack(parts, 0)))
    return (*carried, *stacked)


class _Loop:
    """A loop over tensors, while it is built.

    The types of what it carries are found first: a size that a round changes is unknown. Rows of results are appended
    to tensors that the loop carries as well; their sizes but the first must not depend on the round.
    """

    def __init__(
        self, ctx: Lowering, body: Graph, limit: Data | None, condition: Data | None, carried: list[Operand]
    ) -> None:
        self.ctx, self.body = ctx, body
        self.scope = current_function()
        self.limit = None if limit is None else op.reshape(op.astype(ctx.value(limit), "i64"), ())
        first = condition if condition is not None else Data("bool", np.asarray(True))
        self.condition = op.reshape(ctx.value(first), ())
        self.inits = [ctx.value(value) for value in carried]  # refuses what is not a tensor
        self.kinds = [value.dtype for value in carried if isinstance(value, Data)]
        self.count = len(carried)
        self.visible = set(self.scope.frame.symbols)
        if len(body.inputs) != self.count + 2:
            ctx.fail(f"the body has {len(body.inputs)} inputs; expected {self.count + 2}")

    def build(self) -> tuple[Operand, ...]:
        types, rows, row_kinds = self._types()
        buffers = [op.zeros((0, *(size for size in row.shape)), row.dtype) for row in rows]
        growing = [Tensor((None, *row.shape), row.dtype) for row in rows]
        inits = [op.constant(np.int64(0)), self.condition, *self.inits, *buffers]
        scalar = [Tensor((), "i64"), Tensor((), "bool")]
        builder = self.scope.builder
        with builder.while_(inits, [*scalar, *types, *growing]) as made:
            with made.condition as (index, going, *_):
                builder.yield_(going if self.limit is None else op.logical_and(going, op.less(index, self.limit)))
            with made.body as (index, going, *values):
                go, results = self._round(index, values[: self.count])
                after = [_shaped(value, type) for value, type in zip(results, [*types, *rows])]
                grown = [
                    op.concat([_sized(self.ctx, buffer), op.expand_dims(row, [0])], 0)
                    for buffer, row in zip(values[self.count :], after[self.count :])
                ]
                builder.yield_(op.add(index, op.constant(np.int64(1))), go, *after[: self.count], *grown)
        final = made.results[2:]
        return tuple(Data(kind, value=value) for kind, value in zip([*self.kinds, *row_kinds], final))

    def _round(self, index: Value, values: Sequence[Value]) -> tuple[Value, list[Value]]:
        """One round of the body: whether to go on, then what it gives."""
        ctx = self.ctx
        carried = [Data(kind, value=_sized(ctx, value)) for kind, value in zip(self.kinds, values)]
        given = [Data("i64", value=index), Data("bool", np.asarray(True)), *carried]
        go, *results = ctx.importer.run(self.body, ctx.scope, given)
        self.results = results
        values = [ctx.value(result) for result in results[: self.count]]
        rows = [self._declared(ctx.value(result), place) for place, result in enumerate(results[self.count :])]
        return op.reshape(ctx.value(go), ()), [*values, *rows]

    def _declared(self, row: Value, place: int) -> Value:
        """A row of results, whose sizes that the round decides are those that the body declares, which is checked."""
        declared = self.body.outputs[1 + self.count + place].type
        shape = declared.shape if isinstance(declared, TensorType) else None
        if shape is None or len(shape) != row.ndim:
            return row
        sizes = [
            want if isinstance(want, int) and isinstance(have, Sym) and set(have.symbols) - self.visible else have
            for have, want in zip(row.shape, shape)
        ]
        return row if sizes == list(row.shape) else op.match_cast(row, Tensor(sizes, row.dtype))

    def _types(self) -> tuple[list[Tensor], list[Tensor], list[str]]:
        """The types of carried values, and of rows; what is built to find them is discarded."""
        types = [Tensor(value.shape, value.dtype) for value in self.inits]
        while True:
            found = self._try(types)
            joined = [_joined(self.ctx, before, after) for before, after in zip(types, found)]
            if joined == types:
                rows = found[self.count :]
                for row in rows:
                    if None in row.shape:
                        raise self.ctx.unsupported("a row of a loop whose size depends on the round")
                kinds = [result.dtype for result in self.results[self.count :]]
                return types, rows, kinds
            types = joined

    def _try(self, types: Sequence[Tensor]) -> list[Tensor]:
        scope: FunctionScope = self.scope
        operation = scope.create("relax.while", [], results=[], regions=2, check=False)
        try:
            inputs = [Tensor((), "i64").to_mlir(scope.context), *(type.to_mlir(scope.context) for type in types)]
            block = ir.Block.create_at_start(operation.regions[1], inputs, [operation.location] * len(inputs))
            with scope.block("loop body", block, shares_symbols=False):
                index, *values = [scope.wrap(argument) for argument in block.arguments]
                _, results = self._round(index, values)
                return [_outside(result, self.visible) for result in results]
        finally:
            discard(operation)


def _sized(ctx: Lowering, value: Value) -> Value:
    """A carried value with a symbol for each size that changes."""
    return ctx.importer.name_sizes(value, "carried")


def _outside(value: Value, visible: set[str]) -> Tensor:
    """The type of a value as it is seen outside of the body."""
    sizes = [None if isinstance(size, Sym) and set(size.symbols) - visible else size for size in value.shape or ()]
    return Tensor(sizes, value.dtype)


def _joined(ctx: Lowering, before: Tensor, after: Tensor) -> Tensor:
    if len(before.shape) != len(after.shape):
        raise ctx.unsupported("a loop that changes the number of axes of what it carries")
    if before.dtype != after.dtype:
        ctx.fail(f"the loop carries elements of {before.dtype}, and its body gives {after.dtype}")
    sizes = [
        a if a is not None and b is not None and ctx.equal(a, b) else None for a, b in zip(before.shape, after.shape)
    ]
    return Tensor(sizes, before.dtype)


def _shaped(value: Value, type: Tensor) -> Value:
    """A result of a round with the sizes that are known of it."""
    if list(value.shape) == list(type.shape):
        return value
    sizes = [have if want is None else want for have, want in zip(value.shape, type.shape)]
    return value if sizes == list(value.shape) else op.match_cast(value, Tensor(sizes, value.dtype))


@register_data("Scan")
def scan(ctx: Lowering, *operands: Data | None) -> tuple[Operand, ...]:
    """The body for each slice of some tensors; before version 9 for each batch of its own."""
    if ctx.version < 9:
        lengths, *scanned = operands
        return _batched_scan(ctx, lengths, *(operand for operand in scanned if operand is not None))
    rows, states = ctx.int("num_scan_inputs"), len(operands) - ctx.int("num_scan_inputs")
    given = [operand for operand in operands if operand is not None]
    axes = ctx.ints("scan_input_axes", [0] * rows)
    directions = ctx.ints("scan_input_directions", [0] * rows)
    xs = []
    for data, axis, direction in zip(given[states:], axes, directions):
        value = _axis_first(ctx.value(data), ctx.axis(axis, data.ndim))
        xs.append(op.flip(value, 0) if direction else value)
    kinds = [data.dtype for data in given]
    final, made, result_kinds = _scanned(ctx, [ctx.value(data) for data in given[:states]], xs, kinds)
    outputs: list[Operand] = [Data(kind, value=value) for kind, value in zip(kinds, final)]
    axes = ctx.ints("scan_output_axes", [0] * len(made))
    directions = ctx.ints("scan_output_directions", [0] * len(made))
    for kind, value, axis, direction in zip(result_kinds, made, axes, directions):
        value = op.flip(value, 0) if direction else value
        place = ctx.axis(axis, value.ndim)
        order = list(range(1, value.ndim))
        order.insert(place, 0)
        outputs.append(Data(kind, value=op.permute_dims(value, order) if place else value))
    return tuple(outputs)


def _axis_first(value: Value, axis: int) -> Value:
    return op.permute_dims(value, [axis, *(place for place in range(value.ndim) if place != axis)]) if axis else value


def _scanned(
    ctx: Lowering, states: Sequence[Value], xs: Sequence[Value], kinds: Sequence[str]
) -> tuple[list[Value], list[Value], list[str]]:
    """The states at the end, the rows of results, and the element types of these."""
    body, count = ctx.graph("body"), len(states)
    found: list[str] = []

    def step(carry: tuple[Value, ...], row: tuple[Value, ...]) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
        given = [Data(kind, value=value) for kind, value in zip(kinds, (*carry, *row))]
        results = ctx.importer.run(body, ctx.scope, given)
        found[:] = [result.dtype for result in results[count:]]
        values = [ctx.value(result) for result in results]
        kept = [_shaped(value, Tensor(old.shape, old.dtype)) for value, old in zip(values, carry)]
        return tuple(kept), tuple(values[count:])

    final, rows = op.scan(step, tuple(states), _same_length(ctx, xs))
    return list(final), list(rows), found


def _same_length(ctx: Lowering, xs: Sequence[Value]) -> tuple[Value, ...]:
    """Tensors whose first sizes are one expression, checked where they may differ."""
    length = xs[0].shape[0]
    return tuple(
        value if value.shape[0] == length else op.match_cast(value, Tensor((length, *value.shape[1:]), value.dtype))
        for value in xs
    )


def _batched_scan(ctx: Lowering, lengths: Data | None, *operands: Data) -> tuple[Operand, ...]:
    """Version 8: all operands have a batch in front, and each batch is scanned by itself."""
    if lengths is not None:
        raise ctx.unsupported("lengths of sequences; convert the model to a newer version of Scan")
    if any(ctx.ints("directions", [])):
        raise ctx.unsupported("a scan backward; convert the model to a newer version of Scan", "directions")
    states = len(operands) - ctx.int("num_scan_inputs")
    kinds = [data.dtype for data in operands]
    result_kinds: list[str] = []

    def one(carry: tuple[Value, ...], row: tuple[Value, ...]) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
        final, rows, found = _scanned(ctx, row[:states], row[states:], kinds)
        result_kinds[:] = found
        return carry, (*final, *rows)

    _, made = op.scan(one, (), _same_length(ctx, [ctx.value(data) for data in operands]))
    return tuple(Data(kind, value=value) for kind, value in zip([*kinds[:states], *result_kinds], made))

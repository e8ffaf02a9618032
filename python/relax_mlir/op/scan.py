# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A loop along the first dimension of tensors, like `jax.lax.scan`.

It is built from `relax.while`. The loop carries two counters: a number, by which the host decides whether to continue,
and a tensor, by which kernels find their row; so the host never waits for a device. Rows of results are written in
place into tensors that the loop carries (`relax-update-in-place`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from mlir import ir

from ..annotations import Tensor
from ..errors import fail
from ..scope import FunctionScope, current_function, discard
from ..symbolic import Sym
from ..values import Value
from . import support
from ._generated import add, expand_dims, index_put, shape_to_tensor, subtract, take, zeros
from .core import reshape

_LESS = 2  # arith's predicate "slt"


def scan(
    body: Callable[..., tuple[Any, Any]],
    init: Any,
    xs: Any = None,
    *,
    length: int | Sym | None = None,
    reverse: bool = False,
) -> tuple[Any, Any]:
    """Calls `body` for each row of tensors, in order, with the values carried from the previous row.

    >>> def body(total, x):
    ...     total = op.add(total, x)
    ...     return total, total
    >>> total, sums = op.scan(body, op.zeros((4,), "f32"), x)  # x: (n, 4); sums: (n, 4)

    It is equivalent to

        carry, ys = init, []
        for x in xs:
            carry, y = body(carry, x)
            ys.append(y)
        return carry, stack(ys)

    Args:
      body: takes the carried values and one row, and returns the carried values, which keep their types, and a row of
        results. It is called twice while the program is built, first to find the types of the results.
      init: the initial carried values: a value, or a tuple of values.
      xs: a tensor, or a tuple of tensors, whose first dimensions are equal. None if `body` takes no rows; it is
        called with None then.
      length: the number of rows; needed without `xs`.
      reverse: whether to go from the last row to the first. Row i of the results always belongs to row i of `xs`.

    Returns:
      The final carried values, and the stacked rows of results, each in the form that `body` returns: a value, a tuple
      of values, or None. Without rows, the carried values are `init`.

    Raises:
      RelaxError: the first dimensions are unknown or differ, `body` does not return a pair, a carried value changes its
        type, or the shape of a result is unknown or depends on the row.
    """
    scope = current_function()
    carried, pack_carry = _flatten(scope, init, "init")
    rows, pack_rows = _flatten(scope, xs, "xs")
    length = _find_length(rows, length)

    def call(state: Sequence[Value], row: Value) -> tuple[list[Value], list[Value], Any]:
        x = pack_rows([take(tensor, row, axis=0, mode="clip") for tensor in rows])
        made = body(pack_carry(list(state)), x)
        if not isinstance(made, tuple) or len(made) != 2:
            fail("the body of a scan gives the carried values and a row of results: `return carry, y`")
        state, _ = _flatten(scope, made[0], "what the body carries on")
        results, pack_results = _flatten(scope, made[1], "the row of results")
        return state, results, pack_results

    types, pack_results = _result_types(scope, carried, length, call)
    buffers = [zeros((length, *type.shape), type.dtype) for type in types]
    counter, limit = _number(scope, 0), _number(scope, length)
    step = 1
    row = support.constant(scope, np.zeros((), np.int64))
    if reverse:
        step = -1
        row = subtract(_as_tensor(scope, length), np.int64(1))
    inits = [counter, row, *carried, *buffers]
    count = len(carried)
    with scope.builder.while_(inits) as loop:
        with loop.condition as (counter, *_):
            scope.builder.yield_(_compare(scope, counter, limit))
        with loop.body as (counter, row, *values):
            state, results, _ = call(values[:count], row)
            _check_carried(values[:count], state)
            at = reshape(row, (1,))
            updated = [
                index_put(buffer, [at], expand_dims(result, [0])) for buffer, result in zip(values[count:], results)
            ]
            scope.builder.yield_(_increment(scope, counter), add(row, np.int64(step)), *state, *updated)
    final = loop.results[2:]
    return pack_carry(list(final[:count])), pack_results(list(final[count:]))


def _flatten(scope: FunctionScope, values: Any, name: str) -> tuple[list[Value], Callable[[list[Value]], Any]]:
    """A value or a tuple of values as a list, and a function that rebuilds the same structure from other values."""
    if values is None:
        return [], lambda flat: None
    if isinstance(values, (tuple, list)):
        kind = type(values)
        flat = [scope.wrap(support.as_operand(scope, value, name=f"{name}[{i}]")) for i, value in enumerate(values)]
        make = kind._make if hasattr(kind, "_make") else kind  # a named tuple takes its members as separate arguments
        return flat, lambda flat: make(flat)
    return [scope.wrap(support.as_operand(scope, values, name=name))], lambda flat: flat[0]


def _find_length(rows: Sequence[Value], length: int | Sym | None) -> int | Sym:
    for index, tensor in enumerate(rows):
        shape = tensor.shape
        if not shape or shape[0] is None:
            fail(f"xs[{index}] is {tensor.annotation!r}; a scan needs to know the first dimension of each")
        if length is None:
            length = shape[0]
        elif isinstance(length, int) and isinstance(shape[0], int) and length != shape[0]:
            fail(f"xs[{index}] has {shape[0]} rows; the scan has {length}")
        elif shape[0] != length and not (isinstance(length, int) and isinstance(shape[0], int)):
            fail(f"xs[{index}] has {shape[0]} rows, which is not known to be {length}; use op.match_cast")
    if length is None:
        fail("a scan without xs needs its length")
    if isinstance(length, int) and length < 0:
        fail(f"length is {length}; expected at least 0")
    return length


def _result_types(scope: FunctionScope, carried: list[Value], length: int | Sym, call: Any) -> tuple[list[Any], Any]:
    """The annotations of one row of results. Ops that are built to find them are discarded."""
    visible = set(scope.frame.symbols)
    operation = scope.create("relax.while", [], results=[], regions=2, check=False)
    try:
        types = [value.type for value in carried]
        row = Tensor((), "i64").to_mlir(scope.context)
        location = operation.location
        block = ir.Block.create_at_start(operation.regions[1], [row, *types], [location] * (1 + len(types)))
        with scope.block("loop body", block, shares_symbols=False):
            at, *state = [scope.wrap(argument) for argument in block.arguments]
            _, results, pack_results = call(state, at)
            found = [result.annotation for result in results]
    finally:
        discard(operation)
    for index, annotation in enumerate(found):
        if not isinstance(annotation, Tensor) or annotation.shape is None or None in annotation.shape:
            fail(f"result {index} of the body is {annotation!r}; a scan needs tensors of known shapes")
        for dim in annotation.shape:
            unknown = sorted(set(dim.symbols) - visible) if isinstance(dim, Sym) else []
            if unknown:
                fail(
                    f"result {index} of the body has the dimension {dim}, but '{unknown[0]}' is known in the body only"
                )
    return found, pack_results


def _check_carried(before: Sequence[Value], after: Sequence[Value]) -> None:
    if len(before) != len(after):
        fail(f"the body of the scan carries on {len(after)} values; init has {len(before)}")
    for index, (old, new) in enumerate(zip(before, after)):
        if old.type != new.type:
            fail(
                f"the body of the scan changes carried value {index} from {old.annotation!r} to {new.annotation!r}; "
                "it keeps its type in each round"
            )


def _number(scope: FunctionScope, value: int | Sym) -> Value:
    return scope.wrap(support.as_operand(scope, value, "index", name="length"))


def _as_tensor(scope: FunctionScope, length: int | Sym) -> Value:
    """A number as a tensor of rank 0."""
    if isinstance(length, int):
        return scope.wrap(support.constant(scope, np.array(length, np.int64)))
    return reshape(shape_to_tensor((length,)), ())


def _compare(scope: FunctionScope, counter: Value, limit: Value) -> ir.Value:
    predicate = ir.IntegerAttr.get(ir.IntegerType.get_signless(64, scope.context), _LESS)
    return scope.create("arith.cmpi", [counter.ir, limit.ir], {"predicate": predicate}).result


def _increment(scope: FunctionScope, counter: Value) -> ir.Value:
    return scope.create("arith.addi", [counter.ir, _number(scope, 1).ir], {}).result

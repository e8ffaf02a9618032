# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Branches, loops and scans: ops whose arguments are graphs."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

import torch

from .... import op
from ....annotations import Annotation, Tensor
from ....scope import current_function
from ....values import Value
from ...conditions import build
from ..dtypes import from_torch
from ..lowering import Lowering, target_name
from ..registry import register


def _call(ctx: Lowering, graph: Any, arguments: Sequence[Any], *, is_inline: bool = False) -> list[Any]:
    """The results of a graph, whose placeholders are these arguments, in order.

    A branch or the body of a loop (one that is not inline) cannot pass on the state of the random number generator.
    """
    placeholders = [node for node in graph.graph.nodes if node.op == "placeholder"]
    inputs = {}
    with ctx.symbols.inner(), nullcontext() if is_inline else ctx.importer.without_random():
        for node, argument in zip(placeholders, arguments):
            example = node.meta.get("val")
            if isinstance(argument, Value) and isinstance(example, torch.Tensor):
                argument = ctx.importer.conform(argument, example, ctx.name)
            elif isinstance(example, torch.SymInt) and example.node.expr.is_Symbol:
                ctx.symbols.values.setdefault(example.node.expr, argument)
            inputs[node] = argument
        return ctx.importer.run(graph, inputs)[0]


@register("higher_order::cond")
def cond(ctx: Lowering, condition: Any, true_graph: Any, false_graph: Any, operands: Sequence[Any] = ()) -> list[Value]:
    builder = current_function().builder
    if isinstance(condition, Value):
        condition = op.reshape(ctx.cast(condition, "bool"), ())
    else:
        condition = build(condition)
    with builder.if_(condition) as branch:
        for part, graph in ((branch.then, true_graph), (branch.else_, false_graph)):
            with part:
                results = [value for value in _call(ctx, graph, operands) if value is not None]
                builder.yield_(*(ctx.tensor(value) for value in results))
    return list(branch.results)


@register("higher_order::while_loop")
def while_loop(
    ctx: Lowering, condition_graph: Any, body_graph: Any, carried: Sequence[Any], additional: Sequence[Any] = ()
) -> list[Value]:
    builder = current_function().builder
    inits = [ctx.tensor(value) for value in carried]
    with builder.while_(inits, _loop_types(ctx, inits)) as loop:
        with loop.condition as values:
            (condition,) = _call(ctx, condition_graph, [*values, *additional])
            if isinstance(condition, Value):
                builder.yield_(op.reshape(ctx.cast(condition, "bool"), ()))
            else:
                builder.yield_(build(condition))
        with loop.body as values:
            builder.yield_(*_call(ctx, body_graph, [*values, *additional]))
    return list(loop.results)


def _loop_types(ctx: Lowering, inits: Sequence[Value]) -> list[Annotation]:
    """The types that hold in every round: a size that the loop changes is not known."""
    types: list[Annotation] = []
    for init, example in zip(inits, ctx.results):
        sizes = [ctx.symbols.known(size) for size in example.shape]
        same = [size if size is not None and ctx.equal(size, have) else None for size, have in zip(sizes, init.shape)]
        types.append(Tensor(same, from_torch(example.dtype)))
    return types


@register("higher_order::scan")
def scan(
    ctx: Lowering, combine: Any, init: Sequence[Value], xs: Sequence[Value], additional: Sequence[Any] = ()
) -> list[Value]:
    """The carried values, then rows of results on top of each other."""
    count = len(init)

    def body(carry: tuple[Value, ...], row: tuple[Value, ...]) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
        results = _call(ctx, combine, [*carry, *row, *additional])
        return tuple(results[:count]), tuple(results[count:])

    carry, rows = op.scan(body, tuple(init), tuple(xs))
    return [*carry, *rows]


@register("higher_order::map_impl")
def map_(ctx: Lowering, function: Any, xs: Sequence[Value], additional: Sequence[Any] = ()) -> list[Value]:
    """The function of each row, on top of each other."""

    def body(carry: tuple[Value, ...], row: tuple[Value, ...]) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
        return carry, tuple(_call(ctx, function, [*row, *additional]))

    _, rows = op.scan(body, (), tuple(xs))
    return list(rows)


@register("higher_order::wrap_with_set_grad_enabled", "higher_order::wrap_with_autocast")
def wrap(ctx: Lowering, *args: Any) -> list[Any]:
    """A graph in a context that has no meaning here."""
    position = next(index for index, argument in enumerate(args) if isinstance(argument, torch.nn.Module))
    return _call(ctx, args[position], args[position + 1 :], is_inline=True)


@register("higher_order::with_effects")
def with_effects(ctx: Lowering, token: None, target: Any, *args: Any, **kwargs: Any) -> list[Any]:
    """An op that is there for its effect, as a check is. The token, an empty tensor, stands for its place in the order
    of such ops, which here is that of the program."""
    name = target_name(target)
    convert = ctx.importer.registry.find(name)
    if convert is None or any(isinstance(result, torch.Tensor) for result in ctx.results[1:]):
        raise ctx.unsupported(f"there is no converter of {name}, an op with effects")
    convert(ctx, *args, **kwargs)
    return [op.zeros(ctx.shape, ctx.dtype), *(None for _ in ctx.results[1:])]

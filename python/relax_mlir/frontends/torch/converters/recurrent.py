# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Recurrent layers, a loop over time that is compiled once for any length."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .... import op
from ....values import Value
from ..lowering import Lowering
from ..registry import register

Step = Callable[[Value, tuple[Value, ...], "_Layer"], tuple[Value, ...]]
"""From projected inputs and the state to the new state, of which the first part is the output."""


class _Layer:
    """The weights of one direction of one layer: of the input and of the state, with biases, and of a projection."""

    def __init__(self, parameters: Sequence[Value], has_biases: bool, has_projection: bool) -> None:
        rest = list(parameters)
        self.of_input, self.of_state = rest.pop(0), rest.pop(0)
        self.input_bias = rest.pop(0) if has_biases else None
        self.state_bias = rest.pop(0) if has_biases else None
        self.projection = rest.pop(0) if has_projection else None


def _lstm_step(x: Value, state: tuple[Value, ...], layer: _Layer) -> tuple[Value, ...]:
    hidden, cell = state
    gates = op.add(x, op.linear(hidden, layer.of_state, layer.state_bias))
    enter, forget, new, out = op.split(gates, 4, 1)
    cell = op.add(op.multiply(op.sigmoid(forget), cell), op.multiply(op.sigmoid(enter), op.tanh(new)))
    hidden = op.multiply(op.sigmoid(out), op.tanh(cell))
    if layer.projection is not None:
        hidden = op.linear(hidden, layer.projection)
    return hidden, cell


def _gru_step(x: Value, state: tuple[Value, ...], layer: _Layer) -> tuple[Value, ...]:
    (hidden,) = state
    reset, update, new = op.split(x, 3, 1)
    of_reset, of_update, of_new = op.split(op.linear(hidden, layer.of_state, layer.state_bias), 3, 1)
    reset, update = op.sigmoid(op.add(reset, of_reset)), op.sigmoid(op.add(update, of_update))
    new = op.tanh(op.add(new, op.multiply(reset, of_new)))
    return (op.add(new, op.multiply(update, op.subtract(hidden, new))),)


def _rnn_step(function: Callable[[Value], Value]) -> Step:
    def step(x: Value, state: tuple[Value, ...], layer: _Layer) -> tuple[Value, ...]:
        return (function(op.add(x, op.linear(state[0], layer.of_state, layer.state_bias))),)

    return step


@register("aten::lstm.input", "relax_mlir::lstm")
def lstm(ctx: Lowering, x: Value, states: Sequence[Value], parameters: Sequence[Value], *options: Any) -> Any:
    return _run(ctx, _lstm_step, x, states, parameters, options)


@register("aten::gru.input", "relax_mlir::gru")
def gru(ctx: Lowering, x: Value, state: Value, parameters: Sequence[Value], *options: Any) -> Any:
    return _run(ctx, _gru_step, x, [state], parameters, options)


@register("aten::rnn_tanh.input", "relax_mlir::rnn_tanh")
def rnn_tanh(ctx: Lowering, x: Value, state: Value, parameters: Sequence[Value], *options: Any) -> Any:
    return _run(ctx, _rnn_step(op.tanh), x, [state], parameters, options)


@register("aten::rnn_relu.input", "relax_mlir::rnn_relu")
def rnn_relu(ctx: Lowering, x: Value, state: Value, parameters: Sequence[Value], *options: Any) -> Any:
    return _run(ctx, _rnn_step(op.relu), x, [state], parameters, options)


def _run(
    ctx: Lowering, step: Step, x: Value, states: Sequence[Value], parameters: Sequence[Value], options: Sequence[Any]
) -> tuple[Value, ...]:
    """All layers, each in one or both directions; the output, then the last states of all."""
    has_biases, layers, dropout, train, bidirectional, batch_first = options
    if train and dropout:
        raise ctx.unsupported("it drops at random; export the model after model.eval()")
    directions = 2 if bidirectional else 1
    has_projection = len(states) > 1 and not ctx.equal(states[0].shape[-1], states[1].shape[-1])
    size = 2 + 2 * bool(has_biases) + has_projection
    x = op.permute_dims(x, [1, 0, 2]) if batch_first else x
    finals: list[list[Value]] = [[] for _ in states]
    for index in range(layers):
        outputs = []
        for direction in range(directions):
            place = index * directions + direction
            layer = _Layer(parameters[place * size : (place + 1) * size], bool(has_biases), has_projection)
            state = tuple(op.squeeze(op.strided_slice(part, [0], [place], [place + 1]), [0]) for part in states)
            final, output = _scan(step, layer, x, state, direction == 1)
            outputs.append(output)
            for parts, part in zip(finals, final):
                parts.append(part)
        x = op.concat(outputs, 2) if directions == 2 else outputs[0]
    x = op.permute_dims(x, [1, 0, 2]) if batch_first else x
    return (x, *(op.stack(parts, 0) for parts in finals))


def _scan(
    step: Step, layer: _Layer, x: Value, state: tuple[Value, ...], reverse: bool
) -> tuple[tuple[Value, ...], Value]:
    """One direction: the product with the input is made for all steps before."""
    projected = op.linear(x, layer.of_input, layer.input_bias)

    def body(state: tuple[Value, ...], row: Value) -> tuple[tuple[Value, ...], Value]:
        state = step(row, state, layer)
        return state, state[0]

    return op.scan(body, state, projected, reverse=reverse)

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""LSTM, GRU and RNN: a loop over time that is compiled once for any length."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from .... import op
from ....annotations import Tensor
from ....symbolic import ExprLike
from ....values import Value
from ..lowering import Lowering
from ..registry import register
from .activation import elu, hard_sigmoid, softplus, softsign, thresholded_relu
from .quantized import dynamically_quantized, integer_product

_DEFAULTS = {
    "affine": (1.0, 0.0),
    "leakyrelu": (0.01, 0.0),
    "thresholdedrelu": (1.0, 0.0),
    "scaledtanh": (1.0, 1.0),
    "hardsigmoid": (0.2, 0.5),
    "elu": (1.0, 0.0),
}
"""Functions with parameters, and what these are unless given."""

Activation = Callable[[Value], Value]
Product = Callable[[Value], Value]
"""The product of rows with a matrix of weights."""


@dataclasses.dataclass(frozen=True)
class _Direction:
    """The weights and functions of one direction; biases of input and state, and peepholes, where there are any.

    `matrix` is that of the state, for layers that multiply with parts of it.
    """

    of_input: Product
    of_state: Product
    matrix: Value | None
    biases: tuple[Value, Value] | None
    peepholes: list[Value] | None
    functions: list[Activation]


Step = Callable[[Lowering, Value, "tuple[Value, ...]", _Direction], "tuple[Value, ...]"]


def _activations(ctx: Lowering, defaults: Sequence[str], directions: int) -> list[list[Activation]]:
    """The functions of each direction; parameters are taken in order by those that have any."""
    names = ctx.attribute("activations", list(defaults) * directions)
    if len(names) != len(defaults) * directions:
        ctx.fail(f"there are {len(names)} activations; expected {len(defaults) * directions}")
    alphas, betas = list(ctx.attribute("activation_alpha", [])), list(ctx.attribute("activation_beta", []))
    made = []
    for name in names:
        kind = name.lower()
        alpha, beta = _DEFAULTS.get(kind, (0.0, 0.0))
        if kind in _DEFAULTS:
            alpha = alphas.pop(0) if alphas else alpha
            if kind in ("affine", "scaledtanh", "hardsigmoid"):
                beta = betas.pop(0) if betas else beta
        made.append(_activation(ctx, kind, alpha, beta))
    count = len(defaults)
    return [made[index * count : (index + 1) * count] for index in range(directions)]


def _activation(ctx: Lowering, kind: str, alpha: float, beta: float) -> Activation:
    def number(value: float, like: Value) -> Value:
        return ctx.scalar(value, like.dtype)

    functions: dict[str, Activation] = {
        "relu": lambda x: op.maximum(x, number(0, x)),
        "tanh": op.tanh,
        "sigmoid": op.sigmoid,
        "affine": lambda x: op.add(op.multiply(x, number(alpha, x)), number(beta, x)),
        "leakyrelu": lambda x: op.where(op.less(x, number(0, x)), op.multiply(x, number(alpha, x)), x),
        "thresholdedrelu": lambda x: thresholded_relu(ctx, x, alpha),
        "scaledtanh": lambda x: op.multiply(number(alpha, x), op.tanh(op.multiply(number(beta, x), x))),
        "hardsigmoid": lambda x: hard_sigmoid(ctx, x, alpha, beta),
        "elu": lambda x: elu(ctx, x, alpha),
        "softsign": lambda x: softsign(ctx, x),
        "softplus": lambda x: softplus(ctx, x),
    }
    if kind not in functions:
        raise ctx.unsupported(f"the function '{kind}'; expected one of {', '.join(functions)}", "activations")
    limit = ctx.float("clip", None)
    if limit is None:
        return functions[kind]
    return lambda x: functions[kind](op.minimum(op.maximum(x, number(-limit, x)), number(limit, x)))


def _biased(x: Value, bias: Value | None) -> Value:
    return x if bias is None else op.add(x, bias)


def _gates(x: Value, hidden: Value, layer: _Direction) -> Value:
    made = op.add(x, layer.of_state(hidden))
    return _biased(made, layer.biases[1] if layer.biases else None)


def _rnn_step(ctx: Lowering, x: Value, state: tuple[Value, ...], layer: _Direction) -> tuple[Value, ...]:
    return (layer.functions[0](_gates(x, state[0], layer)),)


def _lstm_step(ctx: Lowering, x: Value, state: tuple[Value, ...], layer: _Direction) -> tuple[Value, ...]:
    hidden, cell = state
    enter, out, forget, new = op.split(_gates(x, hidden, layer), 4, 1)
    gate, of_new, of_cell = layer.functions
    if layer.peepholes:
        of_enter, of_out, of_forget = layer.peepholes
        enter, forget = op.add(enter, op.multiply(of_enter, cell)), op.add(forget, op.multiply(of_forget, cell))
    enter = gate(enter)
    forget = op.subtract(ctx.scalar(1, x.dtype), enter) if ctx.int("input_forget", 0) else gate(forget)
    cell = op.add(op.multiply(forget, cell), op.multiply(enter, of_new(new)))
    if layer.peepholes:
        out = op.add(out, op.multiply(of_out, cell))
    return op.multiply(gate(out), of_cell(cell)), cell


def _gru_step(ctx: Lowering, x: Value, state: tuple[Value, ...], layer: _Direction) -> tuple[Value, ...]:
    (hidden,) = state
    update, reset, new = op.split(x, 3, 1)
    assert layer.matrix is not None  # a GRU multiplies with parts of it
    of_update, of_reset, of_new = op.split(layer.matrix, 3, 1)
    b_update, b_reset, b_new = op.split(layer.biases[1], 3, 0) if layer.biases else (None, None, None)
    gate, of_hidden = layer.functions
    update = gate(op.add(update, _biased(op.matmul(hidden, of_update), b_update)))
    reset = gate(op.add(reset, _biased(op.matmul(hidden, of_reset), b_reset)))
    if ctx.int("linear_before_reset", 0):
        inner = op.multiply(reset, _biased(op.matmul(hidden, of_new), b_new))
    else:
        inner = _biased(op.matmul(op.multiply(reset, hidden), of_new), b_new)
    new = of_hidden(op.add(new, inner))
    rest = op.subtract(ctx.scalar(1, x.dtype), update)
    return (op.add(op.multiply(rest, new), op.multiply(update, hidden)),)


@register("RNN")
def rnn(ctx: Lowering, x: Value, w: Value, r: Value, *others: Value | None) -> tuple[Value, ...]:
    b, lengths, hidden = [*others, *[None] * 3][:3]
    return _run(ctx, _rnn_step, ("Tanh",), 1, x, w, r, b, lengths, [hidden])


@register("GRU")
def gru(ctx: Lowering, x: Value, w: Value, r: Value, *others: Value | None) -> tuple[Value, ...]:
    b, lengths, hidden = [*others, *[None] * 3][:3]
    return _run(ctx, _gru_step, ("Sigmoid", "Tanh"), 3, x, w, r, b, lengths, [hidden])


@register("LSTM")
def lstm(ctx: Lowering, x: Value, w: Value, r: Value, *others: Value | None) -> tuple[Value, ...]:
    b, lengths, hidden, cell, peepholes = [*others, *[None] * 5][:5]
    defaults = ("Sigmoid", "Tanh", "Tanh")
    return _run(ctx, _lstm_step, defaults, 4, x, w, r, b, lengths, [hidden, cell], peepholes)


@register("com.microsoft::DynamicQuantizeLSTM")
def dynamic_quantize_lstm(ctx: Lowering, x: Value, w: Value, r: Value, *others: Value | None) -> tuple[Value, ...]:
    """An LSTM whose weights are integers, and whose inputs and states become integers before each product."""
    b, lengths, hidden, cell, peepholes, w_scale, w_zero, r_scale, r_zero = [*others, *[None] * 9][:9]
    if w_scale is None or w_zero is None or r_scale is None or r_zero is None:
        ctx.fail("the scales or the zero points of the weights are left out, which the op needs")
    of_input, of_state = (w, w_scale, w_zero), (r, r_scale, r_zero)

    def product(matrices: Value, scales: Value, zeros: Value, index: int) -> Product:
        matrix, scale, zero = (_row(part, index) for part in (matrices, scales, zeros))

        def multiply(rows: Value) -> Value:
            integers, factor, offset = dynamically_quantized(ctx, rows)
            sums = integer_product(ctx, integers, matrix, offset, zero)
            return op.multiply(op.astype(sums, "f32"), op.multiply(factor, scale))

        return multiply

    def products(index: int) -> tuple[Product, Product]:
        return product(*of_input, index), product(*of_state, index)

    defaults, states = ("Sigmoid", "Tanh", "Tanh"), [hidden, cell]
    return _run(ctx, _lstm_step, defaults, 4, x, w, r, b, lengths, states, peepholes, products)


def _run(
    ctx: Lowering,
    step: Step,
    defaults: Sequence[str],
    gates: int,
    x: Value,
    w: Value,
    r: Value,
    b: Value | None,
    lengths: Value | None,
    states: Sequence[Value | None],
    peepholes: Value | None = None,
    products: Callable[[int], tuple[Product, Product]] | None = None,
) -> tuple[Value, ...]:
    """All directions: the output of each step, then the last states.

    Args:
      products: those of input and state of each direction, where they are not simply with `w` and `r`.
    """
    direction, batch_first = ctx.text("direction", "forward"), ctx.int("layout", 0)
    if direction not in ("forward", "reverse", "bidirectional"):
        raise ctx.unsupported(f"the direction '{direction}'", "direction")
    directions = 2 if direction == "bidirectional" else 1
    size = ctx.int("hidden_size", r.shape[-1] if products is None else r.shape[1])
    x = op.permute_dims(x, [1, 0, 2]) if batch_first else x
    time, batch, features = x.shape
    if products is None:
        w = _known(w, (directions, gates * size, features))
        r = _known(r, (directions, gates * size, size))
    b = None if b is None else _known(b, (directions, 2 * gates * size))
    lengths = None if lengths is None else _known(lengths, (batch,))
    peepholes = None if peepholes is None else _known(peepholes, (directions, 3 * size))
    inits = []
    for state in states:
        if state is not None and batch_first:
            state = op.permute_dims(state, [1, 0, 2])
        shape = (directions, batch, size)
        inits.append(op.zeros(shape, x.dtype) if state is None else _known(state, shape))
    outputs, finals = [], []
    for index, functions in enumerate(_activations(ctx, defaults, directions)):
        layer = _layer(index, w, r, b, peepholes, functions, products)
        backward = direction == "reverse" or index == 1
        first = tuple(_row(state, index) for state in inits)
        final, rows = _scan(ctx, step, layer, x, first, lengths, backward, time)
        outputs.append(rows)
        finals.append(final)
    y = op.stack(outputs, 1)  # [time, directions, batch, size]
    last = [op.stack([final[place] for final in finals], 0) for place in range(len(states))]
    if batch_first:
        y = op.permute_dims(y, [2, 0, 1, 3])
        last = [op.permute_dims(state, [1, 0, 2]) for state in last]
    return (y, *last)


def _known(value: Value, shape: Sequence[ExprLike]) -> Value:
    """A tensor of a shape that follows from others, checked where it is not certain."""
    return value if list(value.shape) == list(shape) else op.match_cast(value, Tensor(tuple(shape), value.dtype))


def _row(value: Value, index: int) -> Value:
    return op.squeeze(op.strided_slice(value, [0], [index], [index + 1]), [0])


def _layer(
    index: int,
    w: Value,
    r: Value,
    b: Value | None,
    peepholes: Value | None,
    functions: list[Activation],
    products: Callable[[int], tuple[Product, Product]] | None,
) -> _Direction:
    biases = None
    if b is not None:
        of_input, of_state = op.split(_row(b, index), 2, 0)
        biases = (of_input, of_state)
    parts = None if peepholes is None else list(op.split(_row(peepholes, index), 3, 0))
    if products is not None:
        return _Direction(*products(index), None, biases, parts, functions)
    inputs, matrix = (op.permute_dims(_row(part, index), [1, 0]) for part in (w, r))
    return _Direction(_product_with(inputs), _product_with(matrix), matrix, biases, parts, functions)


def _product_with(matrix: Value) -> Product:
    return lambda rows: op.matmul(rows, matrix)


def _scan(
    ctx: Lowering,
    step: Step,
    layer: _Direction,
    x: Value,
    state: tuple[Value, ...],
    lengths: Value | None,
    backward: bool,
    time: ExprLike,
) -> tuple[tuple[Value, ...], Value]:
    """One direction: the product with the input is made for all steps before.

    Behind the end of a sequence its state stays, and its output is zero. Backward, each sequence begins at its end.
    """
    if lengths is not None and backward:
        x = op.reverse_sequence(x, lengths, 0, 1)
    projected = _biased(layer.of_input(x), layer.biases[0] if layer.biases else None)
    if lengths is None:

        def body(state: tuple[Value, ...], row: Value) -> tuple[tuple[Value, ...], Value]:
            state = step(ctx, row, state, layer)
            return state, state[0]

        return op.scan(body, state, projected, reverse=backward)
    ends = op.astype(lengths, "i64")

    def masked(state: tuple[Value, ...], row: tuple[Value, Value]) -> tuple[tuple[Value, ...], Value]:
        values, place = row
        made = step(ctx, values, state, layer)
        is_inside = op.expand_dims(op.less(place, ends), [1])
        output = op.where(is_inside, made[0], ctx.scalar(0, values.dtype))
        return tuple(op.where(is_inside, new, old) for new, old in zip(made, state)), output

    final, rows = op.scan(masked, state, (projected, op.arange(0, time, 1, "i64")))
    return final, op.reverse_sequence(rows, lengths, 0, 1) if backward else rows

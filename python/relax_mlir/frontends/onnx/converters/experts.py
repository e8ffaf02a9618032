# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mixtures of experts: `MoE` and `QMoE` of `com.microsoft`.

A router chooses for each token the `k` best experts, which are small networks, and the result is their weighted sum. A
loop goes over the experts; each step takes the tokens that chose the expert, so that nothing is computed for others:

    total = 0
    for each expert:
        rows = tokens that chose it
        total[rows] += weight[rows] * network(x[rows])

`QMoE` has the matrices in integers, of which a step dequantizes those of its expert alone.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from .... import op
from ....values import Value
from ...conditions import compare
from ..lowering import Lowering
from ..registry import register
from .index import positions
from .microsoft import unpacked


@dataclasses.dataclass(frozen=True)
class _Layer:
    """The matrices of one layer of all experts, with what dequantizes them.

    Attributes:
      weight: [experts, out, in]; packed along the last axis if `bits` is not 0.
      bias: [experts, out], or None.
      scales, zeros: [experts, out], or [experts, out, blocks], zeros packed like the weight; None if there are none.
      bits: of each number; 0 for floats.
      block: how many columns share a scale; 0 for all.
    """

    weight: Value
    bias: Value | None
    scales: Value | None = None
    zeros: Value | None = None
    bits: int = 0
    block: int = 0

    def apply(self, ctx: Lowering, x: Value, expert: Value) -> Value:
        """The layer of one expert, of [rows, in]."""
        made = op.linear(x, ctx.cast(self._matrix(ctx, expert), x.dtype))
        return made if self.bias is None else op.add(made, ctx.cast(_of_expert(self.bias, expert), x.dtype))

    def _matrix(self, ctx: Lowering, expert: Value) -> Value:
        if self.scales is None:
            return _of_expert(self.weight, expert)
        numbers = op.astype(unpacked(ctx, _of_expert(self.weight, expert), self.bits), "f32")
        rows, width = numbers.shape
        scales = op.astype(_of_expert(self.scales, expert), "f32")
        blocks, block = (scales.shape[1], self.block) if self.block else (1, width)
        scales = op.reshape(scales, (rows, blocks, 1))
        if self.zeros is None:
            zeros = ctx.scalar(1 << (self.bits - 1), "f32")
        else:
            packed = _of_expert(self.zeros, expert)
            packed = op.reshape(packed, (rows, 1)) if packed.ndim == 1 else packed
            zeros = op.astype(op.strided_slice(unpacked(ctx, packed, self.bits), [1], [0], [blocks]), "f32")
            zeros = op.reshape(zeros, (rows, blocks, 1))
        numbers = op.reshape(numbers, (rows, blocks, block))
        return op.reshape(op.multiply(op.subtract(numbers, zeros), scales), (rows, blocks * block))


def _of_expert(values: Value, expert: Value) -> Value:
    """What one expert has of a tensor of all."""
    return op.reshape(op.take(values, op.reshape(expert, (1,)), 0), tuple(values.shape[1:]))


@register("com.microsoft::MoE")
def mixture(
    ctx: Lowering,
    x: Value,
    router: Value,
    first: Value,
    first_bias: Value | None,
    second: Value,
    second_bias: Value | None = None,
    third: Value | None = None,
    third_bias: Value | None = None,
) -> Value:
    gate = None if third is None else _Layer(third, third_bias)
    return _mixed(ctx, x, router, _Layer(first, first_bias), _Layer(second, second_bias), gate)


@register("com.microsoft::QMoE")
def quantized_mixture(ctx: Lowering, x: Value, router: Value, first: Value, *others: Value | None) -> Value:
    padded = [first, *others, *[None] * 13][:13]
    layers, (zeros, router_weights) = [padded[place : place + 3] for place in (0, 3, 6)], (padded[9:12], padded[12])
    bits, block = ctx.int("expert_weight_bits", 4), ctx.int("block_size", 0)
    if bits not in (2, 4, 8):
        raise ctx.unsupported(f"{bits} bits; expected 2, 4 or 8", "expert_weight_bits")
    if ctx.text("quant_type", "int") != "int":
        raise ctx.unsupported("matrices of small floats; expected integers", "quant_type")
    if router_weights is not None:
        raise ctx.unsupported("weights of experts other than those that choose them (router_weights)")
    made: list[Any] = []
    for place, ((weight, scales, bias), zero) in enumerate(zip(layers, zeros), 1):
        if weight is None and place == 3:
            made.append(None)
            continue
        if weight is None or scales is None:
            ctx.fail(f"the matrices or the scales of fc{place} are left out, which the op needs")
        if block:
            _check_blocks(ctx, weight, scales, bits, block, f"fc{place}")
        made.append(_Layer(weight, bias, scales, zero, bits, block))
    return _mixed(ctx, x, router, *made)


def _check_blocks(ctx: Lowering, weight: Value, scales: Value, bits: int, block: int, what: str) -> None:
    """Checks that there is a scale for each block of a matrix."""
    if scales.ndim != 3:
        ctx.fail(f"the scales of {what} have {scales.ndim} axes; expected 3, as 'block_size' is {block}")
    width, covered = weight.shape[2] * (8 // bits), scales.shape[2] * block
    message = f"the scales of {what} are for {covered} columns; the matrix has {width}"
    ctx.require(compare("==", covered, width), message)


def _mixed(ctx: Lowering, x: Value, router: Value, first: _Layer, second: _Layer, third: _Layer | None) -> Value:
    """The weighted sum of what the chosen experts make of each token."""
    if ctx.int("use_sparse_mixer", 0):
        raise ctx.unsupported("the sparse mixer", "use_sparse_mixer")
    tokens, count = router.shape
    hidden = x.shape[-1]
    flat = op.reshape(x, (tokens, hidden))
    shares = _shares(ctx, router)

    def step(state: tuple[Value, ...], expert: Value) -> tuple[tuple[Value, ...], None]:
        (total,) = state
        share = op.reshape(op.take(shares, op.reshape(expert, (1,)), 1), (tokens,))
        rows = positions(ctx, op.not_equal(share, ctx.scalar(0, "f32")), "tokens")
        chosen = op.take(flat, rows, 0)
        made = second.apply(ctx, _activated(ctx, first, third, chosen, expert), expert)
        made = op.multiply(op.astype(made, "f32"), op.expand_dims(op.take(share, rows, 0), [1]))
        at = op.broadcast_to(op.expand_dims(rows, [1]), tuple(made.shape))
        return (op.scatter_elements(total, at, made, 0, "add"),), None

    (total,), _ = op.scan(step, (op.zeros((tokens, hidden), "f32"),), op.arange(0, count, 1, "i64"))
    return op.reshape(ctx.cast(total, x.dtype), tuple(x.shape))


def _shares(ctx: Lowering, router: Value) -> Value:
    """The weight of each expert for each token, [tokens, experts] in f32; 0 for those that are not chosen."""
    k = ctx.int("k", 1)
    tokens, count = router.shape
    if k < 1 or (isinstance(count, int) and k > count):
        ctx.fail(f"the attribute 'k' is {k}; expected a number of the {count} experts")
    weights, chosen = op.topk(op.softmax(op.astype(router, "f32"), -1), k, -1)
    if ctx.int("normalize_routing_weights", 0):
        weights = op.divide(weights, op.sum(weights, [1], True))
    return op.scatter_elements(op.zeros((tokens, count), "f32"), chosen, weights, 1)


def _activated(ctx: Lowering, first: _Layer, third: _Layer | None, x: Value, expert: Value) -> Value:
    """What the second layer takes: the first one with its function, and a gate if there is one."""
    kind, made = ctx.text("activation_type", "relu"), first.apply(ctx, x, expert)
    if kind == "swiglu":
        return _swiglu(ctx, made, None if third is None else third.apply(ctx, x, expert))
    functions: dict[str, Any] = {
        "relu": op.relu,
        "gelu": op.gelu_tanh,
        "silu": op.silu,
        "identity": lambda value: value,
    }
    if kind not in functions:
        raise ctx.unsupported(
            f"the activation '{kind}'; known are {', '.join([*functions, 'swiglu'])}", "activation_type"
        )
    made = functions[kind](made)
    return made if third is None else op.multiply(made, third.apply(ctx, x, expert))


def _swiglu(ctx: Lowering, made: Value, linear: Value | None) -> Value:
    """`gate * sigmoid(alpha * gate) * (linear + beta)`; one layer may have both, alternating or one after the other."""
    fusion = ctx.int("swiglu_fusion", 0)
    rows, width = made.shape
    if linear is not None:
        gate = made
    elif fusion == 1:
        pairs = op.reshape(made, (rows, width // 2, 2))
        gate, linear = (
            op.reshape(op.strided_slice(pairs, [2], [place], [place + 1]), (rows, width // 2)) for place in (0, 1)
        )
    elif fusion == 2:
        gate, linear = (
            op.strided_slice(made, [1], [0], [width // 2]),
            op.strided_slice(made, [1], [width // 2], [width]),
        )
    else:
        raise ctx.unsupported(
            "swiglu without the third matrix; expected 1 or 2 for a first one with both", "swiglu_fusion"
        )
    limit = ctx.float("swiglu_limit", None)
    if limit is not None:
        most, least = ctx.scalar(limit, made.dtype), ctx.scalar(-limit, made.dtype)
        gate, linear = op.minimum(gate, most), op.maximum(op.minimum(linear, most), least)
    alpha, beta = (
        ctx.scalar(ctx.float(f"activation_{name}", default), made.dtype)
        for name, default in (("alpha", 1.0), ("beta", 0.0))
    )
    return op.multiply(op.multiply(gate, op.sigmoid(op.multiply(alpha, gate))), op.add(linear, beta))

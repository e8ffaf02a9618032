# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ops with a state that runs along time: linear attention and causal convolutions."""

from __future__ import annotations

from .... import op
from ....annotations import Tensor
from ....symbolic import ExprLike
from ....values import Value
from ..lowering import Lowering
from ..registry import register


@register("CausalConvWithState")
def causal_convolution(
    ctx: Lowering, x: Value, weight: Value, bias: Value | None = None, past: Value | None = None
) -> tuple[Value, Value]:
    """A convolution of each channel with what is before it; the state is the end of what was read."""
    batch, channels, length = x.shape
    size = weight.shape[2]
    wide = "f32" if x.dtype in ("f16", "bf16") else x.dtype
    before = past if past is not None else op.zeros((batch, channels, size - 1), x.dtype)
    whole = op.concat([before, x], 2)
    if isinstance(size, int):
        made = _weighted(ctx, ctx.cast(whole, wide), ctx.cast(weight, wide), size, length)
    else:
        made = _convolved(ctx.cast(whole, wide), ctx.cast(weight, wide))
    if bias is not None:
        made = op.add(made, op.reshape(ctx.cast(bias, wide), (bias.shape[0], 1)))
    kind = ctx.text("activation", "none")
    if kind in ("silu", "swish"):
        made = op.multiply(made, op.sigmoid(made))
    elif kind != "none":
        raise ctx.unsupported(f"the activation '{kind}'; expected none, silu or swish", "activation")
    state = op.strided_slice(whole, [2], [length], [length + size - 1], assume_inbound=True)
    return ctx.cast(made, x.dtype), state


def _weighted(ctx: Lowering, whole: Value, weight: Value, size: int, length: ExprLike) -> Value:
    """The sum of shifted copies, each times its element of the kernel."""
    made = None
    for step in range(size):
        part = op.strided_slice(whole, [2], [step], [length + step], assume_inbound=True)
        factor = op.squeeze(op.strided_slice(weight, [2], [step], [step + 1]), [1])
        part = op.multiply(part, factor)
        made = part if made is None else op.add(made, part)
    assert made is not None
    return made


def _convolved(whole: Value, weight: Value) -> Value:
    """The same for a kernel whose size only a run knows: windows as an axis of their own."""
    size, count = weight.shape[2], whole.shape[2]
    length = count - size + 1
    places = op.add(
        op.expand_dims(op.arange(0, length, 1, "i64"), [1]), op.expand_dims(op.arange(0, size, 1, "i64"), [0])
    )
    windows = op.take(whole, places, 2)  # [batch, channels, length, size]
    return op.sum(op.multiply(windows, weight), [3])


@register("LinearAttention")
def linear_attention(
    ctx: Lowering,
    q: Value,
    k: Value,
    v: Value,
    past: Value | None = None,
    decay: Value | None = None,
    beta: Value | None = None,
) -> tuple[Value, Value]:
    """A matrix for each head to which each step adds the product of key and value, and which the query reads.

    `gated` lets the matrix decay before; `delta` adds only what the matrix does not give for the key already.
    """
    rule = ctx.text("update_rule", "gated_delta")
    if rule not in ("linear", "gated", "delta", "gated_delta"):
        raise ctx.unsupported(f"the rule '{rule}'", "update_rule")
    heads, groups = ctx.int("q_num_heads"), ctx.int("kv_num_heads")
    batch, length = q.shape[:2]
    wide = "f32" if q.dtype in ("f16", "bf16") else q.dtype
    size = q.shape[2] // heads
    scale = ctx.float("scale", 0.0)
    factor = ctx.scalar(scale, wide) if scale else op.rsqrt(ctx.scalar(size, wide))

    def steps(x: Value, count: int, inner: ExprLike | None = None) -> Value:
        """[batch, length, count * size] as [length, batch, count, size]."""
        shape = (batch, length, count, x.shape[2] // count if inner is None else inner)
        return op.permute_dims(op.reshape(ctx.cast(x, wide), shape), [1, 0, 2, 3])

    rows = [steps(q, heads), steps(k, groups, size), steps(v, groups)]
    if "gated" in rule:
        if decay is None:
            ctx.fail(f"the rule '{rule}' needs a decay")
        rows.append(op.exp(steps(decay, groups)))
    if "delta" in rule:
        if beta is None:
            ctx.fail(f"the rule '{rule}' needs beta")
        rate = _shaped(ctx.cast(beta, wide), (batch, length, beta.shape[2]))  # one for all heads, or one for each
        rows.append(op.expand_dims(op.permute_dims(rate, [1, 0, 2]), [3]))
    width = v.shape[2] // groups
    shape = (batch, groups, size, width)
    state = op.zeros(shape, wide) if past is None else ctx.cast(_shaped(past, shape), wide)

    def body(carried: tuple[Value, ...], row: tuple[Value, ...]) -> tuple[tuple[Value, ...], Value]:
        (matrix,) = carried
        query, key, value, *gates = row
        if "gated" in rule:
            matrix = op.multiply(matrix, op.expand_dims(gates.pop(0), [3]))
        column = op.expand_dims(key, [3])  # [batch, groups, size, 1]
        if "delta" in rule:
            have = op.sum(op.multiply(matrix, column), [2])
            value = op.multiply(gates.pop(0), op.subtract(value, have))
        matrix = _shaped(op.add(matrix, op.multiply(column, op.expand_dims(value, [2]))), shape)
        wanted = op.reshape(query, (batch, groups, heads // groups, size))
        return (matrix,), op.reshape(op.matmul(wanted, matrix), (batch, heads, width))

    (final,), outputs = op.scan(body, (state,), tuple(rows))
    made = op.multiply(op.permute_dims(outputs, [1, 0, 2, 3]), factor)
    made = op.reshape(made, (batch, length, heads * width))
    return ctx.cast(made, q.dtype), ctx.cast(final, past.dtype if past is not None else q.dtype)


def _shaped(value: Value, shape: tuple) -> Value:
    return value if tuple(value.shape) == shape else op.match_cast(value, Tensor(shape, value.dtype))

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Losses over classes."""

from __future__ import annotations

import math

from .... import op
from ....values import Value
from ..lowering import Lowering
from ..registry import register


@register("NegativeLogLikelihoodLoss")
def negative_log_likelihood(ctx: Lowering, scores: Value, target: Value, weight: Value | None = None) -> Value:
    return _loss(ctx, scores, target, weight)


@register("SoftmaxCrossEntropyLoss")
def cross_entropy(ctx: Lowering, scores: Value, target: Value, weight: Value | None = None) -> tuple[Value, Value]:
    logarithms = op.log_softmax(scores, 1)
    return _loss(ctx, logarithms, target, weight), logarithms


def _loss(ctx: Lowering, logarithms: Value, target: Value, weight: Value | None) -> Value:
    """Minus the logarithm of each target's class, times the weight of the class; ignored targets weigh nothing."""
    ignored, reduction = ctx.int("ignore_index", None), ctx.text("reduction", "mean")
    if reduction not in ("none", "sum", "mean"):
        raise ctx.unsupported(f"the reduction '{reduction}'; expected none, sum or mean", "reduction")
    dtype = logarithms.dtype
    index = op.astype(target, "i64")
    counted = None
    if ignored is not None:
        counted = op.not_equal(index, ctx.scalar(ignored, "i64"))
        index = op.where(counted, index, ctx.scalar(0, "i64"))
    found = op.gather_elements(logarithms, op.expand_dims(index, [1]), 1)
    found = op.negative(op.reshape(found, list(target.shape)))
    scale = op.take(weight, index, 0) if weight is not None else None
    if counted is not None:
        ones = op.ones(tuple(target.shape), dtype) if scale is None else scale
        scale = op.where(counted, ones, ctx.scalar(0, dtype))
        found = op.where(counted, found, ctx.scalar(0, dtype))
    found = found if scale is None else op.multiply(found, scale)
    if reduction == "none":
        return found
    total = op.sum(found)
    if reduction == "sum":
        return total
    count = ctx.scalar(math.prod(target.shape), dtype) if scale is None else op.sum(scale)
    return op.divide(total, count)

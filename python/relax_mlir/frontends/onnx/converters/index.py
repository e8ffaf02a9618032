# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reading by indices: gathering, searching, sorting."""

from __future__ import annotations

from .... import op
from ....annotations import Tensor
from ....op.image import left_boxes
from ....symbolic import Sym
from ....values import Value
from ..data import Data
from ..lowering import Lowering
from ..registry import register, register_data


@register_data("Gather")
def gather(ctx: Lowering, x: Data, indices: Data) -> Data:
    return Data(x.dtype, value=op.take(ctx.value(x), ctx.value(indices), ctx.axis(ctx.int("axis", 0), x.ndim)))


@register("GatherElements")
def gather_elements(ctx: Lowering, x: Value, indices: Value) -> Value:
    return op.gather_elements(x, indices, ctx.axis(ctx.int("axis", 0), x.ndim))


@register("GatherND")
def gather_nd(ctx: Lowering, x: Value, indices: Value) -> Value:
    ctx.fixed(indices.shape[-1], "the last size of the indices, which decides how many axes the result has,")
    return op.gather_nd(x, indices, ctx.int("batch_dims", 0))


@register("NonZero")
def nonzero(ctx: Lowering, x: Value) -> Value:
    if x.ndim == 0:
        x = op.reshape(x, (1,))
        return op.strided_slice(op.nonzero(x), [0], [0], [0])
    return op.nonzero(x)


def positions(ctx: Lowering, mask: Value, name: str = "positions") -> Value:
    """Where a mask of one axis is true."""
    found = op.nonzero(mask)
    if not isinstance(found.shape[1], (int, Sym)):
        found = op.match_cast(found, Tensor((1, ctx.importer.symbols.fresh(name)), found.dtype))
    return op.reshape(found, (found.shape[1],))


@register_data("Compress")
def compress(ctx: Lowering, x: Data, condition: Data) -> Data:
    """The slices where the condition is true; it may be shorter than the axis."""
    value, axis = ctx.value(x), ctx.int("axis", None)
    if axis is None:
        value, axis = op.flatten(value), 0
    where = positions(ctx, ctx.value(condition))
    return Data(x.dtype, value=op.take(value, where, ctx.axis(axis, value.ndim)))


@register("Unique")
def unique(ctx: Lowering, x: Value) -> tuple[Value, ...]:
    axis = ctx.int("axis", None)
    options = {"return_index": True, "return_inverse": True, "return_counts": True}
    made = op.unique(x, sorted=bool(ctx.int("sorted", 1)), axis=axis, **options)
    count = ctx.importer.symbols.fresh("unique")
    values, first, inverse, counts = made
    shape = (
        (count,)
        if axis is None
        else tuple(count if place == ctx.axis(axis, x.ndim) else size for place, size in enumerate(x.shape))
    )
    values = op.match_cast(values, Tensor(shape, values.dtype))
    first, counts = (op.match_cast(part, Tensor((count,), part.dtype)) for part in (first, counts))
    return values, first, inverse, counts


@register_data("TopK")
def topk(ctx: Lowering, x: Data, k: Data | None = None) -> tuple[Data, Value]:
    """Sorted in any case, which is right also where the order does not matter."""
    count = ctx.size(k, "k") if k is not None else ctx.int("k")
    axis, largest = ctx.axis(ctx.int("axis", -1), x.ndim), bool(ctx.int("largest", 1))
    values, indices = op.topk(ctx.value(x), count, axis, largest=largest, dtype="i64")
    return Data(x.dtype, value=values), indices


def _extreme(name: str, largest: bool) -> None:
    @register(name)
    def convert(ctx: Lowering, x: Value) -> Value:
        axis, keepdims = ctx.axis(ctx.int("axis", 0), x.ndim), bool(ctx.int("keepdims", 1))
        find = op.argmax if largest else op.argmin
        if x.dtype == "bool":
            x = op.astype(x, "u8")
        if not ctx.int("select_last_index", 0):
            return find(x, axis, keepdims)
        last = op.subtract(ctx.scalar(x.shape[axis], "i64"), ctx.scalar(1, "i64"))
        return op.subtract(last, find(op.flip(x, axis), axis, keepdims))


_extreme("ArgMax", True)
_extreme("ArgMin", False)


@register("ReverseSequence")
def reverse_sequence(ctx: Lowering, x: Value, lengths: Value) -> Value:
    return op.reverse_sequence(x, lengths, ctx.int("time_axis", 0), ctx.int("batch_axis", 1))


@register_data("NonMaxSuppression")
def non_max_suppression(
    ctx: Lowering,
    boxes: Data,
    scores: Data,
    most: Data | None = None,
    overlap: Data | None = None,
    least: Data | None = None,
) -> Value:
    """Boxes in the order of their scores, without those that overlap with one that was taken.

    For each batch and class, a loop over the boxes in the order of their scores marks those that each one suppresses.
    """
    box, score = ctx.value(boxes), ctx.value(scores)
    batches, classes, count = score.shape
    corners = _corners(ctx, box)
    order = op.argsort(score, 2, True, "i64")
    ranked = op.gather_elements(score, order, 2)
    # Boxes in the order of their scores: [batches, classes, count, 4].
    index = op.broadcast_to(op.expand_dims(order, [3]), (batches, classes, count, 4))
    spread = op.broadcast_to(op.expand_dims(corners, [1]), (batches, classes, count, 4))
    sorted_boxes = op.gather_elements(spread, index, 2)
    alive = op.ones((batches, classes, count), "bool")
    if least is not None:
        alive = op.greater(ranked, _threshold(ctx, least, 0.0))
    keep = left_boxes(sorted_boxes, alive, _threshold(ctx, overlap, 0.0))
    limit = op.reshape(op.astype(ctx.value(most), "i64"), ()) if most is not None else ctx.scalar(0, "i64")
    place = op.cumsum(op.astype(keep, "i64"), 2)
    keep = op.logical_and(keep, op.less_equal(place, limit))
    found = op.nonzero(keep)
    if not isinstance(found.shape[1], (int, Sym)):
        found = op.match_cast(found, Tensor((3, ctx.importer.symbols.fresh("boxes")), found.dtype))
    rows = op.permute_dims(found, [1, 0])
    chosen = op.gather_nd(order, rows)
    return op.concat([op.strided_slice(rows, [1], [0], [2]), op.expand_dims(chosen, [1])], 1)


def _threshold(ctx: Lowering, data: Data | None, default: float) -> Value:
    return ctx.scalar(default, "f32") if data is None else op.reshape(ctx.value(data), ())


def _corners(ctx: Lowering, box: Value) -> Value:
    """Boxes as their least and greatest coordinates; either corner may be given first."""
    first, second = op.split(box, 2, 2)
    if ctx.int("center_point_box", 0):
        half = op.multiply(second, ctx.scalar(0.5, box.dtype))
        first, second = op.subtract(first, half), op.add(first, half)
    return op.concat([op.minimum(first, second), op.maximum(first, second)], 2)


@register("ai.onnx.ml::ArrayFeatureExtractor")
def array_feature_extractor(ctx: Lowering, x: Value, indices: Value) -> Value:
    """Columns of the last axis; a vector counts as one row."""
    picked = op.take(x, op.flatten(indices), x.ndim - 1)
    return picked if x.ndim > 1 else op.expand_dims(picked, [0])

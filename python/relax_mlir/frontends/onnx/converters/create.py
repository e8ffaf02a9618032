# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ops that make tensors: constants, ranges, windows, one-hot vectors, random numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .... import op
from ....dtypes import is_float
from ....values import Value
from .. import dtypes
from ..data import Data
from ..lowering import Lowering
from ..registry import register, register_data


@register_data("Constant")
def constant(ctx: Lowering) -> Data:
    """The one attribute that is given; numbers and text become tensors."""
    given = ctx.node.attributes
    if "value" in given:
        return ctx.tensor("value")
    plain = {
        "value_float": ("f32", lambda: np.float32(ctx.float("value_float"))),
        "value_int": ("i64", lambda: np.int64(ctx.int("value_int"))),
        "value_floats": ("f32", lambda: np.asarray(given["value_floats"], np.float32)),
        "value_ints": ("i64", lambda: np.asarray(given["value_ints"], np.int64)),
        "value_string": ("str", lambda: np.asarray(given["value_string"], object)),
        "value_strings": ("str", lambda: np.asarray(given["value_strings"], object)),
    }
    for name, (dtype, make) in plain.items():
        if name in given:
            return Data(dtype, np.asarray(make()))
    raise ctx.unsupported(f"a constant with the attributes {', '.join(given) or 'none'}; expected 'value'")


@register_data("ConstantOfShape")
def constant_of_shape(ctx: Lowering, shape: Data) -> Data:
    value = ctx.tensor("value") if "value" in ctx.node.attributes else Data("f32", np.zeros(1, np.float32))
    sizes = ctx.sizes(shape, "the shape")
    fill = ctx.scalar(value.elements.reshape(-1)[0], dtypes.carrier(value.dtype))
    return Data(value.dtype, value=op.full(tuple(sizes), fill))


@register_data("Range")
def range_(ctx: Lowering, start: Data, limit: Data, delta: Data) -> Data:
    """Numbers from `start` on, `max(ceil((limit - start) / delta), 0)` of them."""
    dtype = start.dtype
    operands = (start, limit, delta)
    if not is_float(dtype) and all(part.elements is not None for part in operands):
        low, high, stride = (ctx.integer(part, "a limit") for part in operands)
        return Data(dtype, value=op.arange(low, high, stride, dtype))
    wide = "f64" if is_float(dtype) else "i64"
    first, last, step = (op.reshape(op.astype(ctx.value(part), wide), ()) for part in operands)
    distance = op.subtract(last, first)
    if is_float(dtype):
        count = op.astype(op.ceil(op.divide(distance, step)), "i64")
    else:
        count = op.negative(op.floor_divide(op.negative(distance), step))
    count = op.maximum(count, op.constant(np.int64(0)))
    size = ctx.size(Data("i64", value=count), "the range")
    steps = op.arange(0, size, 1, wide)
    return Data(dtype, value=op.astype(op.add(first, op.multiply(steps, step)), dtype))


@register("EyeLike")
def eye_like(ctx: Lowering, x: Value) -> Value:
    return op.eye(x.shape[0], x.shape[1], ctx.dtype("dtype", x.dtype), ctx.int("k", 0))


@register_data("OneHot")
def one_hot(ctx: Lowering, indices: Data, depth: Data, values: Data) -> Data:
    """The second of two values where the index is, the first elsewhere; an index may count from the end."""
    size = ctx.size(depth, "the depth")
    index, pair = ctx.value(indices), ctx.value(values)
    rank = index.ndim + 1
    axis = ctx.axis(ctx.int("axis", -1), rank)
    whole = op.astype(index, "i64")
    count = ctx.scalar(size, "i64")
    whole = op.where(op.less(whole, ctx.scalar(0, "i64")), op.add(whole, count), whole)
    places = op.reshape(op.arange(0, size, 1, "i64"), [size if place == axis else 1 for place in range(rank)])
    is_there = op.equal(op.expand_dims(whole, [axis]), places)
    off, on = (op.reshape(op.strided_slice(pair, [0], [place], [place + 1]), ()) for place in (0, 1))
    return Data(values.dtype, value=op.where(is_there, on, off))


def _window(name: str, coefficients: tuple[float, ...]) -> None:
    @register_data(name)
    def convert(ctx: Lowering, size: Data) -> Data:
        """A sum of cosines over one period, or over one that ends with the last element."""
        dtype = ctx.dtype("output_datatype", "f32")
        count = ctx.size(size, "the size")
        periods = count if ctx.int("periodic", 1) else count - 1
        places = op.arange(0, count, 1, "f64")
        angle = op.divide(op.multiply(places, ctx.scalar(2 * math.pi, "f64")), ctx.scalar(periods, "f64"))
        made: Any = ctx.scalar(coefficients[0], "f64")
        for order, factor in enumerate(coefficients[1:], 1):
            wave = op.cos(op.multiply(angle, ctx.scalar(order, "f64")))
            made = op.add(made, op.multiply(wave, ctx.scalar((-1) ** order * factor, "f64")))
        return Data(dtype, value=op.astype(made, dtype))


_window("HannWindow", (0.5, 0.5))
_window("HammingWindow", (25 / 46, 21 / 46))
_window("BlackmanWindow", (0.42, 0.5, 0.08))


@register_data("Dropout")
def dropout(ctx: Lowering, x: Data, ratio: Data | None = None, training: Data | None = None) -> tuple[Data, Data]:
    """The input itself; dropping at random belongs to training."""
    is_training = training is not None and bool(ctx.number(training, "the training mode"))
    share = 0.5 if ratio is None else ctx.number(ratio, "the ratio") if is_training else 0.0
    if is_training and share:
        raise ctx.unsupported("it drops elements at random; export the model for inference")
    if ctx.uses_output(1):
        kind = "bool" if ctx.version >= 10 else x.dtype
        return x, Data(kind, value=op.ones(tuple(x.shape), kind))
    return x, Data("bool", np.ones((), bool))

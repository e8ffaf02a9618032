# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ops of `ai.onnx.ml`: classic models, and what prepares their inputs."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import op
from ....values import Value
from ...conditions import compare
from .. import dtypes
from ..data import Data, Maps
from ..known import rule
from ..lowering import Lowering
from ..model import TensorAttribute
from ..registry import register, register_data

_ML = "ai.onnx.ml::"


def _f32(ctx: Lowering, x: Value) -> Value:
    return ctx.cast(x, "f32")


def floats(ctx: Lowering, name: str, default: Any = None) -> np.ndarray | Any:
    given = ctx.attribute(name, default)
    if isinstance(given, TensorAttribute):
        return given.array
    return None if given is None else np.asarray(given, np.float32)


@register(f"{_ML}Binarizer")
def binarizer(ctx: Lowering, x: Value) -> Value:
    return op.astype(op.greater(x, ctx.scalar(ctx.float("threshold", 0.0), x.dtype)), x.dtype)


@register(f"{_ML}Scaler")
def scaler(ctx: Lowering, x: Value) -> Value:
    offset, scale = floats(ctx, "offset", [0.0]), floats(ctx, "scale", [1.0])
    return op.multiply(op.subtract(_f32(ctx, x), op.constant(offset)), op.constant(scale))


@register(f"{_ML}Normalizer")
def normalizer(ctx: Lowering, x: Value) -> Value:
    """Rows divided by their norm; zeros stay zeros."""
    kind, value = ctx.text("norm", "MAX"), _f32(ctx, x)
    axis, size = [x.ndim - 1], op.abs(value)
    if kind == "MAX":
        norm = op.max(size, axis, True)
    elif kind == "L1":
        norm = op.sum(size, axis, True)
    elif kind == "L2":
        norm = op.sqrt(op.sum(op.multiply(value, value), axis, True))
    else:
        raise ctx.unsupported(f"the norm '{kind}'; expected MAX, L1 or L2", "norm")
    one, zero = ctx.scalar(1, "f32"), ctx.scalar(0, "f32")
    return op.divide(value, op.where(op.equal(norm, zero), one, norm))


@register(f"{_ML}Imputer")
def imputer(ctx: Lowering, x: Value) -> Value:
    """Missing values replaced, one for all columns or one for each."""
    if dtypes.is_float(x.dtype):
        values = floats(ctx, "imputed_value_floats")
        missing = ctx.float("replaced_value_float", 0.0)
    else:
        values = np.asarray(ctx.ints("imputed_value_int64s"), np.int64)
        missing = ctx.int("replaced_value_int64", 0)
    is_missing = op.isnan(x) if missing != missing else op.equal(x, ctx.scalar(missing, x.dtype))
    return op.where(is_missing, op.constant(values, x.dtype), x)


@register(f"{_ML}FeatureVectorizer")
def feature_vectorizer(ctx: Lowering, *parts: Value) -> Value:
    return op.concat([_f32(ctx, part) for part in parts], 1)


@register_data(f"{_ML}ZipMap")
def zip_map(ctx: Lowering, x: Data) -> Maps:
    """A map for each row: its elements under the names of the classes."""
    keys = ctx.attribute("classlabels_int64s", None) or ctx.attribute("classlabels_strings", None)
    if not isinstance(keys, list):
        ctx.fail("it has neither 'classlabels_int64s' nor 'classlabels_strings'")
    value = ctx.value(x)
    rows = value if value.ndim == 2 else op.reshape(value, (-1, len(keys)))
    ctx.require(compare("==", rows.shape[1], len(keys)), f"expected a column for each of {len(keys)} classes")
    return Maps(Data("f32", value=rows), keys)


@register(f"{_ML}OneHotEncoder")
def one_hot_encoder(ctx: Lowering, x: Value) -> Value:
    categories = ctx.ints("cats_int64s", None)
    if categories is None:
        raise ctx.unsupported("categories of text; give them as integers", "cats_strings")
    whole = op.expand_dims(ctx.cast(x, "i64"), [x.ndim])
    found = op.equal(whole, op.constant(np.asarray(categories, np.int64)))
    if not ctx.int("zeros", 1):
        op.assert_(op.all(op.any(found, [x.ndim])), f"{ctx.node}: an element is none of the categories")
    return op.astype(found, "f32")


def _table(ctx: Lowering, part: str) -> tuple[Any, str]:
    """Keys or values of a `LabelEncoder`, with their element type."""
    for kind, dtype in (("int64s", "i64"), ("floats", "f32"), ("strings", "str")):
        given = ctx.attribute(f"{part}_{kind}", None)
        if given is not None:
            return list(given), dtype
    tensor = ctx.tensor(f"{part}_tensor")
    return ctx.elements(tensor, part).reshape(-1).tolist(), tensor.dtype


def _default(ctx: Lowering, dtype: str) -> Any:
    if "default_tensor" in ctx.node.attributes:
        return ctx.elements(ctx.tensor("default_tensor"), "the default").reshape(-1)[0]
    kinds = {"i64": ("default_int64", -1), "f32": ("default_float", -0.0), "str": ("default_string", "_Unused")}
    name, value = kinds.get(dtype, ("default_float", 0))
    return ctx.attribute(name, value)


@rule(f"{_ML}LabelEncoder")
def label_encoder_of_known(ctx: Lowering, x: Data) -> Data | None:
    """Of text, or to text, by a table while importing."""
    (keys, _), (values, dtype) = _table(ctx, "keys"), _table(ctx, "values")
    if dtypes.STRING not in (x.dtype, dtype) or not x.is_constant:
        return None
    table, default = dict(zip(keys, values)), _default(ctx, dtype)
    flat = [table.get(key, default) for key in x.elements.reshape(-1).tolist()]
    made = np.empty(len(flat), object) if dtype == dtypes.STRING else np.asarray(flat, dtypes.to_numpy(dtype))
    made[:] = flat
    return Data(dtype, made.reshape(x.shape))


@register_data(f"{_ML}LabelEncoder")
def label_encoder(ctx: Lowering, x: Data) -> Data:
    (keys, key_type), (values, dtype) = _table(ctx, "keys"), _table(ctx, "values")
    if dtypes.STRING in (key_type, dtype):
        ctx.elements(x, "the labels, which become text or are text,")
    value = ctx.value(x)
    order = np.argsort(np.asarray(keys), kind="stable")
    sorted_keys = np.asarray(keys, dtypes.to_numpy(key_type))[order]
    table = np.asarray(values, dtypes.to_numpy(dtype))[order]
    place = op.bucketize(value, op.constant(sorted_keys))
    place = op.minimum(place, ctx.scalar(len(keys) - 1, place.dtype))
    known = op.equal(op.take(op.constant(sorted_keys), place, 0), value)
    if dtypes.is_float(key_type) and np.isnan(sorted_keys).any():
        is_nan = op.isnan(value)
        known = op.logical_or(known, is_nan)
        place = op.where(is_nan, ctx.scalar(len(keys) - 1, place.dtype), place)
    return Data(
        dtype, value=op.where(known, op.take(op.constant(table), place, 0), ctx.scalar(_default(ctx, dtype), dtype))
    )


def transformed(ctx: Lowering, scores: Value, kind: str) -> Value:
    """What a model does with its scores at the end."""
    if kind == "NONE":
        return scores
    if kind == "SOFTMAX":
        return op.softmax(scores, -1)
    if kind == "LOGISTIC":
        return op.sigmoid(scores)
    if kind == "SOFTMAX_ZERO":
        zero = op.equal(scores, ctx.scalar(0, scores.dtype))
        powers = op.where(zero, ctx.scalar(0, scores.dtype), op.softmax(scores, -1))
        return op.divide(powers, op.sum(powers, [1], True))
    raise ctx.unsupported(f"the transformation '{kind}'", "post_transform")


def _linear(ctx: Lowering, x: Value, rows: int) -> Value:
    weights = floats(ctx, "coefficients")
    if weights is None:
        ctx.fail("it has no attribute 'coefficients', which the op needs")
    matrix = op.constant(np.ascontiguousarray(weights.reshape(rows, -1).T))
    made = op.matmul(_f32(ctx, x), matrix)
    bias = floats(ctx, "intercepts")
    return made if bias is None or not bias.size else op.add(made, op.constant(bias))


@register(f"{_ML}LinearRegressor")
def linear_regressor(ctx: Lowering, x: Value) -> Value:
    return transformed(ctx, _linear(ctx, x, ctx.int("targets", 1)), ctx.text("post_transform", "NONE"))


@register(f"{_ML}LinearClassifier")
def linear_classifier(ctx: Lowering, x: Value) -> tuple[Value, Value]:
    bias = floats(ctx, "intercepts")
    labels = labels_of(ctx)
    scores = _linear(ctx, x, len(bias) if bias is not None and bias.size else len(labels))
    return _classified(ctx, scores, labels)


def labels_of(ctx: Lowering) -> list[int]:
    for name in ("classlabels_ints", "classlabels_int64s"):
        if found := ctx.ints(name, None):
            return found
    raise ctx.unsupported("classes with labels of text; export the model with integers", "classlabels_strings")


def _classified(ctx: Lowering, scores: Value, labels: list[int]) -> tuple[Value, Value]:
    """The label with the best score, and the scores of all; one score alone decides between two labels."""
    kind = ctx.text("post_transform", "NONE")
    table = op.constant(np.asarray(labels, np.int64))
    if scores.shape[1] == 1 and len(labels) == 2:
        positive = op.reshape(scores, (scores.shape[0],))
        chosen = op.astype(op.greater(positive, ctx.scalar(0, "f32")), "i64")
        if kind == "LOGISTIC":
            share = op.sigmoid(scores)
            both = op.concat([op.subtract(ctx.scalar(1, "f32"), share), share], 1)
        else:
            both = op.concat([op.negative(scores), scores], 1)
        return op.take(table, chosen, 0), both
    return op.take(table, op.argmax(scores, 1), 0), transformed(ctx, scores, kind)

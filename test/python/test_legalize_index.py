# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels that gather and scatter, and kernels of quantized tensors, against NumPy.

Invalid indices are errors on the CPU (test_check_indices.py); kernels of all targets are memory-safe regardless.
"""

import contextlib

import numpy as np
import pytest
import targets
from elements import COMMON_FLOATS, DTYPES
from kernel_runner import AssertionFailed, assert_close, random, single
from targets import ALL as RUNS_ON  # noqa: F401


def indices(shape, size, dtype="i64", seed=0):
    """Valid indices, including negative ones."""
    return np.random.default_rng(seed).integers(-size, max(size, 1), shape).astype(DTYPES[dtype])


def same(actual, expected):
    assert actual.dtype == expected.dtype and actual.shape == expected.shape
    np.testing.assert_array_equal(actual, expected)


def clamped(i, size):
    """The positions that kernels read for these indices, some of which are invalid."""
    return np.clip(np.where(i < 0, i.astype(np.int64) + size, i), 0, size - 1)


@contextlib.contextmanager
def fails_on_the_cpu():
    """Expects an IndexError for invalid indices on the CPU, and a result on other targets."""
    if targets.current != "cpu":
        yield
        return
    with pytest.raises(IndexError, match="is out of range for"):
        yield


def without_elements():
    return pytest.raises(IndexError if targets.current == "cpu" else AssertionFailed)


WILD = [-(1 << 31), -100, -6, -5, -1, 0, 4, 5, 100, (1 << 31) - 1]


# `take` along each axis and from the flattened tensor; invalid indices read nothing outside.
@pytest.mark.parametrize("dtype", [*COMMON_FLOATS, "i1", "i64"])
@pytest.mark.parametrize("index_type", ["i32", "i64"])
def test_take(dtype, index_type):
    rows = single("take %0, %1 axis 0", [("n", 3, dtype), ("m", 2, index_type)], ("m", 2, 3, dtype))
    columns = single("take %0, %1 axis -1", [("n", 5, dtype), (index_type,)], ("n", dtype))
    flat = single("take %0, %1", [("n", 3, dtype), ("m", index_type)], ("m", dtype))
    for n, m in ((1, 1), (5, 4), (7, 0), (3, 20)):
        x, i = random((n, 3), dtype), indices((m, 2), n, index_type)
        same(rows("main", x, i)[0], np.take(x, i, 0))
        same(flat("main", x, i[:, 0])[0], np.take(x, i[:, 0]))
        y, j = random((n, 5), dtype), indices((), 5, index_type)
        same(columns("main", y, j)[0], np.take(y, j, -1))
    x, i = random((5, 3), dtype), np.array(WILD, DTYPES[index_type]).reshape(5, 2)
    with fails_on_the_cpu():
        same(rows("main", x, i)[0], x[clamped(i, 5)])
    same(rows("main", random((0, 3), dtype), indices((0, 2), 1, index_type))[0], random((0, 2, 3), dtype))
    with without_elements():
        rows("main", random((0, 3), dtype), indices((1, 2), 1, index_type))


@pytest.mark.parametrize("mode", ["fast", "clip", "wrap"])
@pytest.mark.parametrize("dtype", COMMON_FLOATS)
def test_take_modes(mode, dtype):
    run = single(f'take %0, %1 axis 0 {{mode = "{mode}"}}', [("n", 3, dtype), ("m", "i32")], ("m", 3, dtype))
    for n in (1, 5):
        x, i = random((n, 3), dtype), np.array(WILD, np.int32)
        expected = x[clamped(i, n)] if mode == "fast" else np.take(x, i, 0, mode=mode)
        same(run("main", x, i)[0], expected)


# One element per index; indices may cover only a part of the other dimensions.
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("dtype", COMMON_FLOATS)
def test_gather_elements(axis, dtype):
    run = single(f"gather_elements %0, %1 axis {axis}", [("n", "m", dtype), ("k", 2, "i64")], ("k", 2, dtype))
    x = random((5, 4), dtype)
    for k in (0, 1, 5):
        i = indices((k, 2), x.shape[axis])
        wrapped = np.where(i < 0, i + x.shape[axis], i)
        expected = np.take_along_axis(x[:, :2] if axis == 0 else x[:k], wrapped, axis)
        same(run("main", x, i)[0], expected)
    with fails_on_the_cpu():
        wild = run("main", x, np.array([[100, -100]] * 5))[0]
        same(wild, x[[[-1, 0]] * 5, np.arange(2)] if axis == 0 else x[:, [-1, 0]])
    if axis == 1:
        with pytest.raises(AssertionFailed):
            run("main", x, indices((6, 2), 4))


# Tuples of indices after batch dimensions; each index of a tuple is clamped.
@pytest.mark.parametrize("dtype", COMMON_FLOATS)
def test_gather_nd(dtype):
    plain = single("gather_nd %0, %1", [("n", 4, "k", dtype), ("m", 2, "i64")], ("m", "k", dtype))
    full = single("gather_nd %0, %1", [("n", 4, dtype), ("m", 3, 2, "i32")], ("m", 3, dtype))
    batch = single("gather_nd %0, %1 batch_dims 1", [("n", 4, 3, dtype), ("n", "m", 1, "i64")], ("n", "m", 3, dtype))
    for n, m in ((1, 1), (5, 7), (2, 0)):
        x = random((n, 4, 2), dtype)
        i = np.stack([indices((m,), n), indices((m,), 4, seed=1)], -1)
        same(plain("main", x, i)[0], x[i[:, 0], i[:, 1]])
        x = random((n, 4), dtype)
        i = np.stack([indices((m, 3), n, "i32"), indices((m, 3), 4, "i32", 1)], -1)
        same(full("main", x, i)[0], x[i[..., 0], i[..., 1]])
        x, i = random((n, 4, 3), dtype), indices((n, m, 1), 4)
        same(batch("main", x, i)[0], np.stack([x[b][i[b, :, 0]] for b in range(n)]))
    x = random((5, 4, 2), dtype)
    with fails_on_the_cpu():
        same(plain("main", x, np.array([[9, 1], [-9, 4], [2, -5]]))[0], x[[4, 0, 2], [1, 3, 0]])


def scattered(x, places, updates, reduction):
    result = x.copy()
    combine = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}
    if reduction == "update":
        result[places] = updates
    else:
        combine[reduction].at(result, places, updates)
    return result


REDUCTIONS = ["update", "add", "mul", "max", "min"]


# Updates are combined with the data and with each other; invalid indices write nothing.
@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("dtype", [*COMMON_FLOATS, "i32", "ui8"])
def test_scatter_elements(reduction, dtype):
    run = single(
        f'scatter_elements %0, %1, %2 axis 0 {{reduction = "{reduction}"}}',
        [("n", 3, dtype), ("m", 2, "i64"), ("m", 2, dtype)],
        ("n", 3, dtype),
    )
    for n, m in ((9, 0), (1, 1), (9, 7)):
        x, u = random((n, 3), dtype), random((m, 2), dtype, 1)
        i = indices((m, 2), n)
        if reduction == "update":
            i = np.stack([np.random.default_rng(column).permutation(n)[:m] for column in range(2)], -1).astype(np.int64)
        with np.errstate(all="ignore"):
            expected = scattered(x, (i, np.broadcast_to(np.arange(2), (m, 2))), u, reduction)
        assert_close(run("main", x, i, u)[0], expected, dtype)
    x = random((9, 3), dtype)
    wild = np.array([[-10, 9], [1 << 40, -(1 << 40)]])
    with fails_on_the_cpu():
        same(run("main", x, wild, random((2, 2), dtype))[0], x)
    with without_elements():
        run("main", random((0, 3), dtype), wild, random((2, 2), dtype))


@pytest.mark.parametrize("reduction", ["add", "mul", "max", "min"])
def test_scattered_booleans(reduction):
    run = single(
        f'scatter_elements %0, %1, %2 axis 0 {{reduction = "{reduction}"}}',
        [("n", "i1"), ("m", "i64"), ("m", "i1")],
        ("n", "i1"),
    )
    generator = np.random.default_rng(0)
    for size in (1, 2, 9):
        x, places, updates = generator.random(5) < 0.5, generator.integers(0, 5, size), generator.random(size) < 0.5
        expected = x.copy()
        (np.logical_or if reduction in ("add", "max") else np.logical_and).at(expected, places, updates)
        np.testing.assert_array_equal(run("main", x, places, updates)[0], expected)


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_scatter_nd(reduction):
    slices = single(
        f'scatter_nd %0, %1, %2 {{reduction = "{reduction}"}}',
        [("n", 3, "f32"), ("m", 1, "i64"), ("m", 3, "f32")],
        ("n", 3, "f32"),
    )
    single_elements = single(
        f'scatter_nd %0, %1, %2 {{reduction = "{reduction}"}}',
        [("n", 3, "f16"), ("m", 2, "i32"), ("m", "f16")],
        ("n", 3, "f16"),
    )
    for n, m in ((9, 0), (1, 1), (9, 7)):
        rows = np.random.default_rng(0).permutation(n)[:m].astype(np.int64)
        x, u = random((n, 3)), random((m, 3), seed=1)
        assert_close(slices("main", x, rows[:, None], u)[0], scattered(x, rows, u, reduction), "f32")
        x, u = random((n, 3), "f16"), random((m,), "f16", 1)
        tuples = np.stack([rows, indices((m,), 3)], -1).astype(np.int32)
        expected = scattered(x, (tuples[:, 0], tuples[:, 1]), u, reduction)
        assert_close(single_elements("main", x, tuples, u)[0], expected, "f16")
    x, tuples = random((5, 3), "f16"), np.array([[5, 0], [0, -4], [-6, 1]], np.int32)
    with fails_on_the_cpu():
        same(single_elements("main", x, tuples, random((3,), "f16"))[0], x)


# Index tensors broadcast against each other.
@pytest.mark.parametrize("dtype", COMMON_FLOATS)
def test_index_tensor(dtype):
    run = single("index_tensor %0, %1, %2", [("n", 4, 3, dtype), ("m", 1, "i64"), (2, "i32")], ("m", 2, 3, dtype))
    for n, m in ((1, 1), (5, 7), (2, 0)):
        x, i, j = random((n, 4, 3), dtype), indices((m, 1), n), indices((2,), 4, "i32", 1)
        same(run("main", x, i, j)[0], x[i, j])
    x = random((5, 4, 3), dtype)
    with fails_on_the_cpu():
        wild = run("main", x, np.array([[9], [-9]]), np.array([-5, 3], np.int32))[0]
        same(wild, x[[[4], [0]], [0, 3]])


# Values broadcast to the positions, and are written or added.
@pytest.mark.parametrize("accumulate", [False, True])
@pytest.mark.parametrize("dtype", COMMON_FLOATS)
def test_index_put(accumulate, dtype):
    flag = " accumulate" if accumulate else ""
    rows = single(f"index_put %0 at %1 values %2{flag}", [("n", 3, dtype), ("m", "i64"), (3, dtype)], ("n", 3, dtype))
    places = single(
        f"index_put %0 at %1, %2 values %3{flag}",
        [("n", 4, dtype), ("m", 1, "i64"), (2, "i64"), ("m", 2, dtype)],
        ("n", 4, dtype),
    )
    for n, m in ((9, 0), (1, 1), (9, 7)):
        row = np.random.default_rng(0).permutation(n)[:m].astype(np.int64)
        x, u = random((n, 3), dtype), random((3,), dtype, 1)
        reduction = "add" if accumulate else "update"
        assert_close(rows("main", x, row, u)[0], scattered(x, row, np.broadcast_to(u, (m, 3)), reduction), dtype)
        x, u = random((n, 4), dtype), random((m, 2), dtype, 1)
        columns = np.array([-1, 1])
        expected = scattered(x, (row[:, None], columns), u, reduction)
        assert_close(places("main", x, row[:, None], columns, u)[0], expected, dtype)
    x = random((5, 4), dtype)
    with fails_on_the_cpu():
        wild = places("main", x, np.array([[0], [5]]), np.array([4, -5]), random((2, 2), dtype))[0]
        assert_close(wild, x, dtype)


# Negative indices count from the end; invalid indices set no element.
@pytest.mark.parametrize(
    ("dtype", "on", "off"),
    [
        ("f32", "2.0", "-1.0"),
        ("f16", "2.0", "-1.0"),
        ("bf16", "2.0", "-1.0"),
        ("i64", "1", "0"),
        ("i1", "true", "false"),
    ],
)
@pytest.mark.parametrize("axis", [-1, 0])
def test_one_hot(dtype, on, off, axis):
    suffix = "" if dtype == "i1" else f" : {dtype}"
    dims = ("m", 4) if axis == -1 else (4, "m")
    run = single(f"one_hot %0 depth 4 on {on}{suffix} off {off}{suffix} axis {axis}", [("m", "i64")], (*dims, dtype))
    for i in ([], [0], [3, -1, -4, -5, 4, 1 << 40, 2]):
        i = np.array(i, np.int64)
        hits = np.where(i < 0, i + 4, i)[:, None] == np.arange(4)
        values = {"true": True, "false": False}
        expected = np.where(hits, values.get(on) or float(on), values[off] if dtype == "i1" else float(off)).astype(
            DTYPES[dtype]
        )
        same(run("main", i)[0], expected if axis == -1 else expected.T)


# Quantization rounds to even and clamps, with zero points, for the whole tensor or along an axis.
@pytest.mark.parametrize("out", ["i8", "ui8", "i16", "i32"])
@pytest.mark.parametrize("dtype", COMMON_FLOATS)
@pytest.mark.parametrize("zero", [False, True])
def test_quantize(out, dtype, zero):
    info = np.iinfo(DTYPES[out])
    for own in ((), (5,)):
        operands = [("n", 5, dtype), (*own, dtype)] + [(*own, out)] * zero
        run = single(f"quantize %0, %1{', %2' if zero else ''} {{out_dtype = {out}}}", operands, ("n", 5, out))
        for n in (0, 1, 40):
            x = (random((n, 5)) * 200).astype(DTYPES[dtype])
            if n > 1:
                x[0] = (2.5, 3.5, -0.5, np.inf, -np.inf)
                x[1] = 60000
            scale = np.full(own, 0.5, DTYPES[dtype])
            point = np.full(own, 3, DTYPES[out])
            values = np.round(x.astype(np.float64) / scale.astype(np.float64)) + (point if zero else 0)
            expected = np.clip(values, info.min, info.max).astype(DTYPES[out])
            same(run("main", *[x, scale, point][: len(operands)])[0], expected)


@pytest.mark.parametrize("data", ["i8", "ui8", "i32"])
@pytest.mark.parametrize("out", COMMON_FLOATS)
@pytest.mark.parametrize("zero", [False, True])
def test_dequantize(data, out, zero):
    for own in ((), ("n",)):
        operands = [("n", 5, data), (*own, out)] + [(*own, data)] * zero
        run = single(
            f"dequantize %0, %1{', %2' if zero else ''} {{axis = 0, out_dtype = {out}}}", operands, ("n", 5, out)
        )
        for n in (0, 1, 40):
            q, scale = random((n, 5), data), np.abs(random((n,) if own else (), out, 1))
            point = random((n,) if own else (), data, 2)
            column = (slice(None), None) if own else ()
            difference = q.astype(np.int64) - (point.astype(np.int64)[column] if zero else 0)
            expected = difference * scale.astype(np.float64)[column]
            assert_close(run("main", *[q, scale, point][: len(operands)])[0], expected, out)

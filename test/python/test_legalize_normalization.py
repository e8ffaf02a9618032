# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of normalization and softmax against NumPy."""

import numpy as np
import pytest
from elements import COMMON_FLOATS, FLOATS
from kernel_runner import AssertionFailed, assert_close, random, single
from targets import ALL as RUNS_ON  # noqa: F401

SIZES = [(0, 3), (3, 0), (1, 1), (5, 7), (2, 64)]


def wide(*arrays):
    return [array.astype(np.float64) for array in arrays]


def softmax(x, axis):
    if x.shape[axis] == 0:
        return x
    powers = np.exp(x - x.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


# Softmax along any axis; large numbers do not overflow, and a row of minus infinities is NaN.
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("axis", [-1, 0, 1])
def test_softmax(dtype, axis):
    soft = single(f"softmax %0 axis {axis}", [("n", "m", 3, dtype)], ("n", "m", 3, dtype))
    log = single(f"log_softmax %0 axis {axis}", [("n", "m", 3, dtype)], ("n", "m", 3, dtype))
    for n, m in SIZES:
        x = random((n, m, 3), dtype)
        x += x.dtype.type(200)
        with np.errstate(all="ignore"):
            expected = softmax(*wide(x), axis)
            assert_close(soft("main", x)[0], expected, dtype)
            assert_close(log("main", x)[0], np.log(expected), dtype)
    x = np.array([[[0, -np.inf, 1], [-np.inf] * 3]], x.dtype)
    with np.errstate(all="ignore"):
        assert_close(soft("main", x)[0], softmax(*wide(x), axis), dtype)


def normalized(x, axes, epsilon):
    with np.errstate(all="ignore"):
        return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + epsilon)


def on_axes(x, axes, rank):
    """A tensor broadcastable to `rank` dimensions: dimension i of `x` becomes dimension axes[i]."""
    order = np.argsort(axes)
    shape = [1] * rank
    for axis, size in zip(axes, x.shape, strict=True):
        shape[axis] = size
    return x.transpose(order).reshape(shape)


# Layer norms over the last axis and over several, in any order, with and without gamma and beta.
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("axes", [[-1], [0], [2, 1]])
@pytest.mark.parametrize("affine", ["", "gamma", "beta", "gamma beta"])
def test_layer_norm(dtype, axes, affine):
    dims = ("n", 5, "k")
    own = tuple(dims[axis] for axis in axes)
    names = affine.split()
    operands = " ".join(f"{name} %{index + 1}" for index, name in enumerate(names))
    run = single(
        f"layer_norm %0 {operands} axes {axes} {{epsilon = 1.0e-3}}",
        [(*dims, dtype), *[(*own, dtype)] * len(names)],
        (*dims, dtype),
    )
    for n, k in SIZES:
        x = random((n, 5, k), dtype)
        scales = [random([x.shape[axis] for axis in axes], dtype, seed) for seed in range(1, 1 + len(names))]
        expected = normalized(*wide(x), tuple(axes), 1e-3)
        for name, scale in zip(names, scales, strict=True):
            placed = on_axes(*wide(scale), [axis % 3 for axis in axes], 3)
            expected = expected * placed if name == "gamma" else expected + placed
        assert_close(run("main", x, *scales)[0], expected, dtype)


# The mean square is computed in f32 for all element types.
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("axes", "weight"), [([-1], True), ([-1], False), ([1, 0], True)])
def test_rms_norm(dtype, axes, weight):
    dims = ("n", "k")
    own = tuple(dims[axis] for axis in axes)
    run = single(
        f"rms_norm %0 {'weight %1' if weight else ''} axes {axes}",
        [(*dims, dtype)] + [(*own, dtype)] * weight,
        (*dims, dtype),
    )
    for n, k in SIZES:
        x = random((n, k), dtype)
        w = random([x.shape[axis] for axis in axes], dtype, 1)
        (data,) = wide(x)
        with np.errstate(all="ignore"):
            expected = data / np.sqrt(np.mean(data**2, axis=tuple(axes), keepdims=True) + 1e-5)
        if weight:
            expected = expected * on_axes(*wide(w), [axis % 2 for axis in axes], 2)
        assert_close(run("main", x, w)[0] if weight else run("main", x)[0], expected, dtype)


# Group norms with a known or unknown number of channels; a non-divisible number is an error.
@pytest.mark.parametrize("dtype", COMMON_FLOATS)
@pytest.mark.parametrize("channels", [6, "c"])
@pytest.mark.parametrize("axis", [1, -1])
def test_group_norm(dtype, channels, axis):
    dims = ("n", channels, "k") if axis == 1 else ("n", "k", channels)
    axes = [2] if axis == 1 else [1]
    run = single(
        f"group_norm %0 gamma %1 beta %2 num_groups 3 channel_axis {axis} axes {axes}",
        [(*dims, dtype), (channels, dtype), (channels, dtype)],
        (*dims, dtype),
    )
    for n, k in SIZES:
        shape = (n, 6, k) if axis == 1 else (n, k, 6)
        x, gamma, beta = random(shape, dtype), random((6,), dtype, 1), random((6,), dtype, 2)
        data = np.moveaxis(x.astype(np.float64), axis, 1)
        groups = normalized(data.reshape(n, 3, 2, k), (2, 3), 1e-5).reshape(n, 6, k)
        expected = groups * gamma.astype(float)[:, None] + beta.astype(float)[:, None]
        assert_close(run("main", x, gamma, beta)[0], np.moveaxis(expected, 1, axis), dtype)
    if channels == "c":
        with pytest.raises(AssertionFailed):
            shape = (1, 5, 2) if axis == 1 else (1, 2, 5)
            run("main", random(shape, dtype), random((5,), dtype), random((5,), dtype))


# Instance norms normalize each channel of each instance separately.
@pytest.mark.parametrize("dtype", FLOATS)
def test_instance_norm(dtype):
    run = single(
        "instance_norm %0 gamma %1 beta %2 channel_axis 1 axes [2]",
        [("n", "c", "k", dtype), ("c", dtype), ("c", dtype)],
        ("n", "c", "k", dtype),
    )
    for n, k in SIZES:
        x, gamma, beta = random((n, 4, k), dtype), random((4,), dtype, 1), random((4,), dtype, 2)
        expected = normalized(*wide(x), (2,), 1e-5) * gamma.astype(float)[:, None] + beta.astype(float)[:, None]
        assert_close(run("main", x, gamma, beta)[0], expected, dtype)


# Batch norms use given statistics, which are returned unchanged, or the statistics of the data.
@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("dtype", COMMON_FLOATS)
def test_batch_norm(training, dtype):
    run = single(
        f"batch_norm %0, %1, %2, %3, %4 axis 1{' training' if training else ''} {{momentum = 0.25}}",
        [("n", 4, "k", dtype), *[(4, dtype)] * 4],
        ("n", 4, "k", dtype),
        (4, dtype),
        (4, dtype),
    )
    for n, k in SIZES:
        x = random((n, 4, k), dtype)
        gamma, beta, mean, variance = (random((4,), dtype, seed) for seed in range(4))
        variance = np.abs(variance)
        data, g, b, m, v = wide(x, gamma, beta, mean, variance)
        column = (slice(None), None)
        with np.errstate(all="ignore"):
            if training:
                expected = normalized(data, (0, 2), 1e-5) * g[column] + b[column]
                m, v = m * 0.75 + data.mean((0, 2)) * 0.25, v * 0.75 + data.var((0, 2)) * 0.25
            else:
                expected = (data - m[column]) / np.sqrt(v[column] + 1e-5) * g[column] + b[column]
        for actual, wanted in zip(run("main", x, gamma, beta, mean, variance), (expected, m, v), strict=True):
            assert_close(actual, wanted, dtype)

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions against loops over every product, in Python."""

import itertools

import numpy as np
import pytest
from compiled import check, execute, source_of
from elements import COMMON_DTYPES
from targets import COMPILED as RUNS_ON  # noqa: F401
from test_legalize_pooling import attributes, per_axis

ONE_OF = 4  # combinations of all options of the ops


def reference(x, w, strides=(1,), padding=(0,), dilation=(1,), groups=1) -> np.ndarray:
    """The convolution of data [N, C, axes] and a kernel [O, I, axes]."""
    count = x.ndim - 2
    strides, dilation = per_axis(strides, count), per_axis(dilation, count)
    before = per_axis(padding[:count], count)
    after = per_axis(padding[count:] or padding, count)
    padded = np.pad(x, [(0, 0), (0, 0), *zip(before, after, strict=True)]).astype(np.float64)
    counts = [
        (h - d * (k - 1) - 1) // s + 1
        for h, k, s, d in zip(padded.shape[2:], w.shape[2:], strides, dilation, strict=True)
    ]
    result = np.zeros((x.shape[0], w.shape[0], *counts))
    out, inner = w.shape[0] // groups, w.shape[1]
    for tap in itertools.product(*map(range, w.shape[2:])):
        window = padded[
            (
                slice(None),
                slice(None),
                *(
                    slice(t * d, t * d + (n - 1) * s + 1, s)
                    for t, d, n, s in zip(tap, dilation, counts, strides, strict=True)
                ),
            )
        ]
        for group in range(groups):
            channels = slice(group * out, (group + 1) * out)
            taps = w[(channels, slice(None), *tap)].astype(np.float64)
            result[:, channels] += np.einsum("ni...,oi->no...", window[:, group * inner : (group + 1) * inner], taps)
    return result


def transposed(x, w, strides=(1,), padding=(0,), dilation=(1,), groups=1, output_padding=(0,)) -> np.ndarray:
    """The transposed convolution of [N, C, axes] and [I, O, axes]: each element adds its multiple of the kernel."""
    count = x.ndim - 2
    strides, dilation = per_axis(strides, count), per_axis(dilation, count)
    extra = per_axis(output_padding, count)
    before = per_axis(padding[:count], count)
    after = per_axis(padding[count:] or padding, count)
    whole = [
        (h - 1) * s + d * (k - 1) + 1 + e
        for h, s, d, k, e in zip(x.shape[2:], strides, dilation, w.shape[2:], extra, strict=True)
    ]
    inner, out = w.shape[0] // groups, w.shape[1]
    room = [max(size, 0) + s + p + q for size, s, p, q in zip(whole, strides, before, after, strict=True)]
    result = np.zeros((x.shape[0], out * groups, *room))
    for tap in itertools.product(*map(range, w.shape[2:])):
        window = tuple(
            slice(t * d, t * d + h * s, s) for t, d, h, s in zip(tap, dilation, x.shape[2:], strides, strict=True)
        )
        for group in range(groups):
            channels = slice(group * inner, (group + 1) * inner)
            taps = w[(channels, slice(None), *tap)].astype(np.float64)
            product = np.einsum("ni...,io->no...", x[:, channels].astype(np.float64), taps)
            result[(slice(None), slice(group * out, (group + 1) * out), *window)] += product
    crop = tuple(slice(p, size - q) for p, q, size in zip(before, after, whole, strict=True))
    return result[(slice(None), slice(None), *crop)]


def values(shape: tuple[int, ...], dtype: type = np.float32) -> np.ndarray:
    """Small integers with exact sums."""
    return np.random.default_rng(sum(shape)).integers(-3 if np.dtype(dtype).kind != "u" else 0, 4, shape).astype(dtype)


# Shapes of data and weight, and the rest.
CONVOLUTIONS = [
    ((2, 3, 7), (4, 3, 3), {}),
    ((2, 3, 7), (4, 3, 1), dict(strides=[2])),
    ((2, 4, 9), (6, 2, 3), dict(groups=2, padding=[2, 1], strides=[3])),
    ((2, 4, 9), (4, 1, 3), dict(groups=4, padding=[1])),
    ((2, 3, 5, 7), (5, 3, 3, 3), dict(padding=[1])),
    ((2, 3, 5, 7), (5, 3, 3, 2), dict(padding=[1, 0, 2, 1], strides=[2, 1], dilation=[1, 3])),
    ((1, 6, 5, 5), (9, 2, 3, 3), dict(padding=[2], dilation=[2], groups=3)),
    ((1, 1, 1, 1), (1, 1, 1, 1), {}),
    ((0, 3, 5, 5), (2, 3, 3, 3), dict(padding=[1])),
    ((1, 0, 4, 4), (2, 0, 3, 3), dict(padding=[1])),
    ((1, 2, 4), (0, 2, 3), {}),
    ((1, 2, 0), (3, 2, 2), dict(padding=[1])),
    ((1, 2, 4, 5, 3), (3, 2, 2, 3, 1), dict(padding=[1, 1, 0], strides=[1, 2, 1])),
]
DTYPES = [*COMMON_DTYPES, np.int32]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape,weight,rest", CONVOLUTIONS)
def test_convolution(shape, weight, rest, dtype):
    x, w = values(shape, dtype), values(weight, dtype)
    expected = reference(x, w, **rest).astype(dtype)
    check(f"relax.conv{len(shape) - 2}d %0, %1 {text(rest)}", [x, w], [expected])


def text(rest: dict, **more: object) -> str:
    rest = dict(rest, **more)
    groups = rest.pop("groups", 1)
    plain = attributes(**rest)[1:-1]
    return "{" + ", ".join(filter(None, [plain, f"groups = {groups} : i64"])) + "}"


def test_accumulates_in_the_type_asked_for():
    x, w = values((1, 3, 9), np.int8), values((2, 3, 3), np.int8)
    x[:] = 100
    expected = reference(x, w).astype(np.int32)
    check("relax.conv1d %0, %1 {out_dtype = i32}", [x, w], [expected])
    x, w = values((1, 3, 9), np.uint8) + np.uint8(250), values((2, 3, 3), np.uint8)
    check("relax.conv1d %0, %1 {out_dtype = i32}", [x, w], [reference(x, w).astype(np.int32)])
    # Sums of more than 2048 ones are not exact in f16.
    x, w = np.ones((1, 5000, 1), np.float16), np.ones((1, 5000, 1), np.float16)
    check("relax.conv1d %0, %1", [x, w], [np.full((1, 1, 1), 5000, np.float16)])
    check("relax.conv1d %0, %1 {out_dtype = f32}", [x, w], [np.full((1, 1, 1), 5000, np.float32)])


@pytest.mark.parametrize("groups", [1, 2])
def test_layouts(groups):
    x, w = values((2, 4, 5, 7)), values((6, 4 // groups, 3, 2))
    rest = dict(padding=[1], strides=[2, 1], groups=groups)
    expected = reference(x, w, **rest).astype(np.float32)
    nhwc, hwio = np.ascontiguousarray(x.transpose(0, 2, 3, 1)), np.ascontiguousarray(w.transpose(2, 3, 1, 0))
    op = f"relax.conv2d %0, %1 {text(rest, data_layout='NHWC', kernel_layout='HWIO')}"
    check(op, [nhwc, hwio], [expected.transpose(0, 2, 3, 1)])
    op = f"relax.conv2d %0, %1 {text(rest, data_layout='NHWC', kernel_layout='HWIO', out_layout='CHNW')}"
    check(op, [nhwc, hwio], [expected.transpose(1, 2, 0, 3)])


TRANSPOSED = [
    ((2, 3, 7), (3, 4, 3), {}),
    ((2, 3, 7), (3, 4, 1), dict(strides=[2], output_padding=[1])),
    ((2, 4, 5), (4, 3, 3), dict(groups=2, padding=[2, 1], strides=[3])),
    ((2, 4, 5), (4, 1, 3), dict(groups=4, padding=[1])),
    ((1, 2, 6), (2, 3, 2), dict(padding=[4, 3], strides=[2])),
    ((2, 3, 4, 5), (3, 2, 3, 3), dict(padding=[1], strides=[2], output_padding=[1])),
    ((1, 3, 4, 5), (3, 2, 3, 2), dict(padding=[1, 0, 2, 1], strides=[2, 1], dilation=[1, 3])),
    ((0, 3, 4, 4), (3, 2, 3, 3), {}),
    ((1, 2, 0), (2, 3, 4), dict(strides=[2])),
    ((1, 0, 4), (0, 3, 4), dict(strides=[2])),
    ((1, 2, 3, 2, 3), (2, 3, 2, 3, 1), dict(padding=[1, 1, 0], strides=[2, 3, 1])),
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape,weight,rest", TRANSPOSED)
def test_transposed_convolution(shape, weight, rest, dtype):
    x, w = values(shape, dtype), values(weight, dtype)
    expected = transposed(x, w, **rest).astype(dtype)
    check(f"relax.conv{len(shape) - 2}d_transpose %0, %1 {text(rest)}", [x, w], [expected])


def test_transposed_layouts():
    x, w = values((2, 4, 5, 3)), values((4, 3, 3, 2))
    rest = dict(padding=[1], strides=[2, 1], groups=2)
    expected = transposed(x, w, **rest).astype(np.float32)
    nhwc, hwoi = np.ascontiguousarray(x.transpose(0, 2, 3, 1)), np.ascontiguousarray(w.transpose(2, 3, 1, 0))
    op = f"relax.conv2d_transpose %0, %1 {text(rest, data_layout='NHWC', kernel_layout='HWOI')}"
    check(op, [nhwc, hwoi], [expected.transpose(0, 2, 3, 1)])


# Conditions that the symbols leave undecided are checked at run time.
def test_sizes_that_do_not_fit():
    x, w, y = np.zeros((1, 4, 5), np.float32), np.zeros((2, 4, 3), np.float32), np.zeros((1, 2, 3), np.float32)
    names = [["n", "c", "h"], ["o", "i", "k"]]
    source = source_of("relax.conv1d %0, %1", [x, w], [y], names)
    assert execute(source, x, w)[0].shape == (1, 2, 3)
    with pytest.raises(ValueError, match="channels of data"):
        execute(source, x, w[:, :3].copy())
    with pytest.raises(ValueError, match="does not fit"):
        execute(source, x[:, :, :2].copy(), w)
    with pytest.raises(ValueError, match="kernel is empty"):
        execute(source, x, w[:, :, :0].copy())
    source = source_of("relax.conv1d %0, %1 {groups = 2 : i64}", [x, w], [y], names)
    with pytest.raises(ValueError, match="groups must divide"):
        execute(source, x, np.zeros((3, 2, 3), np.float32))
    source = source_of("relax.conv1d_transpose %0, %1 {padding = array<i64: 3>}", [x, w], [y], names)
    with pytest.raises(ValueError, match="padding removes more"):
        execute(source, np.zeros((1, 2, 1), np.float32), w)

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of attention and rotary embedding against NumPy."""

import math

import numpy as np
import pytest
import targets
from elements import COMMON_FLOATS, FLOATS
from kernel_runner import AssertionFailed, assert_close, random, single
from targets import ALL as RUNS_ON  # noqa: F401

ONE_OF = 4  # combinations of all options of the ops


def attention(q, k, v, bias=None, scale=None, causal=None, window=None):
    (_, n, h, d), m = q.shape, k.shape[1]
    group = h // k.shape[2] if k.shape[2] else 1
    k, v = (np.repeat(x, group, axis=2) for x in (k, v))
    scores = np.einsum("bnhd,bmhd->bhnm", q, k) * (scale if scale is not None else 1 / math.sqrt(d))
    if bias is not None:
        scores = np.where(bias, scores, -np.inf) if bias.dtype == bool else scores + bias
    if causal:
        last = np.arange(n)[:, None] + (m - n if causal == "BottomRight" else 0)
        visible = np.arange(m)[None] <= last
        if window:
            visible &= np.arange(m)[None] > last - window
        scores = np.where(visible, scores, -np.inf)
    if m == 0:
        return np.zeros((*q.shape[:3], v.shape[3]))
    with np.errstate(all="ignore"):
        greatest = scores.max(-1, keepdims=True)
        powers = np.exp(scores - np.where(np.isinf(greatest), 0, greatest))
        sums = powers.sum(-1, keepdims=True)
        weights = np.where(sums == 0, 0, powers / np.where(sums == 0, 1, sums))
    return np.einsum("bhnm,bmhe->bnhe", weights, v)


SIZES = [(2, 3, 5), (1, 1, 1), (1, 7, 7), (2, 4, 0), (0, 2, 3), (1, 0, 3), (1, 5, 3)]


def check(run, dtype, heads, key_heads, bias_shape=None, bias_type=None, **options):
    for b, n, m in SIZES:
        q, k = random((b, n, heads, 8), dtype), random((b, m, key_heads, 8), dtype, 1)
        v = random((b, m, key_heads, 6), dtype, 2)
        values = [q, k, v]
        if bias_shape is not None:
            sizes = {"b": b, "n": n, "m": m}
            shape = [dim if isinstance(dim, int) else sizes[dim] for dim in bias_shape]
            values.append(random(shape, bias_type, 3))
        numbers = [x if x.dtype == bool else x.astype(np.float64) for x in values]
        assert_close(run("main", *values)[0], attention(*numbers, **options), dtype)


def operands(dtype, heads, key_heads):
    return [("b", "n", heads, 8, dtype), ("b", "m", key_heads, 8, dtype), ("b", "m", key_heads, 6, dtype)]


# Each key head has one query head, several, or all of them; lengths may be empty and unequal.
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("heads", "key_heads"), [(4, 4), (6, 2), (3, 1)])
def test_heads(dtype, heads, key_heads):
    run = single("attention %0, %1, %2", operands(dtype, heads, key_heads), ("b", "n", heads, 6, dtype))
    check(run, dtype, heads, key_heads)


# Numbers of heads that are known only at run time; non-divisible numbers are an error.
def test_unknown_heads():
    run = single("attention %0, %1, %2", operands("f32", "h", "g"), ("b", "n", "h", 6, "f32"))
    for heads, key_heads in ((6, 2), (4, 4), (3, 1)):
        check(run, "f32", heads, key_heads)
    with pytest.raises(AssertionFailed):
        check(run, "f32", 5, 2)


# Masks from either corner, with and without a window; a query that sees nothing gives zero.
@pytest.mark.parametrize("causal", ["TopLeft", "BottomRight"])
@pytest.mark.parametrize("window", [None, 1, 2])
@pytest.mark.parametrize("dtype", COMMON_FLOATS)
def test_masks(causal, window, dtype):
    attributes = f'causal_mask = "{causal}"' + (f", window_size = {window}" if window else "")
    run = single(f"attention %0, %1, %2 {{{attributes}}}", operands(dtype, 4, 2), ("b", "n", 4, 6, dtype))
    check(run, dtype, 4, 2, causal=causal, window=window)


# Numeric and Boolean biases of every shape that broadcasts, with a scale.
@pytest.mark.parametrize(
    "bias", [("b", 4, "n", "m"), (1, 1, "n", "m"), ("b", 1, 1, "m"), (4, "n", "m"), ("n", "m"), ("m",), ()]
)
@pytest.mark.parametrize(
    ("dtype", "bias_type"), [("f32", "f32"), ("f32", "i1"), ("f16", "f16"), ("bf16", "bf16"), ("bf16", "i1")]
)
@pytest.mark.parametrize("key_heads", [4, 2])
def test_bias(bias, bias_type, key_heads, dtype):
    run = single(
        "attention %0, %1, %2, %3 {scale = 0.5}",
        [*operands(dtype, 4, key_heads), (*bias, bias_type)],
        ("b", "n", 4, 6, dtype),
    )
    check(run, dtype, 4, key_heads, bias, bias_type, scale=0.5)


def rotary(x, positions, rotary_dim, layout, theta=10000.0, scale=1.0, factors=None, attn_factor=1.0, tables=None):
    pairs = rotary_dim // 2
    if tables:
        cos, sin = (table[positions] for table in tables)
    else:
        angles = positions[..., None] * scale * theta ** (-2 * np.arange(pairs) / rotary_dim)
        if factors is not None:
            angles = angles / factors
        cos, sin = np.cos(angles), np.sin(angles)
    cos, sin = cos[:, :, None] * attn_factor, sin[:, :, None] * attn_factor
    first, second = (
        (np.arange(pairs), np.arange(pairs) + pairs)
        if layout == "half_split"
        else (2 * np.arange(pairs), 2 * np.arange(pairs) + 1)
    )
    result = x.copy()
    result[..., first] = x[..., first] * cos - x[..., second] * sin
    result[..., second] = x[..., first] * sin + x[..., second] * cos
    return result


ROTARY_SIZES = [(2, 5), (1, 1), (0, 3), (2, 0)]


# Rotary embeddings in both layouts, of all or some of the elements, with positions from a symbolic offset.
@pytest.mark.parametrize("layout", ["half_split", "interleaved"])
@pytest.mark.parametrize("rotary_dim", [None, 4])
@pytest.mark.parametrize("dtype", COMMON_FLOATS)
def test_rotary_offset(layout, rotary_dim, dtype):
    attributes = f'layout = "{layout}", offset = #relax.expr<n + 1>, theta = 500.0, attn_factor = 1.5, scale = 0.5'
    if rotary_dim:
        attributes += f", rotary_dim = {rotary_dim}"
    run = single(f"rotary_embedding %0 {{{attributes}}}", [("b", "n", 2, 8, dtype)], ("b", "n", 2, 8, dtype))
    for b, n in ROTARY_SIZES:
        x = random((b, n, 2, 8), dtype)
        positions = np.broadcast_to(np.arange(n) + n + 1, (b, n))
        expected = rotary(x.astype(float), positions, rotary_dim or 8, layout, 500.0, 0.5, attn_factor=1.5)
        assert_close(run("main", x)[0], expected, dtype)


# Positions are a single one, one per token, or one per token and batch.
@pytest.mark.parametrize("dims", [(), ("n",), ("b", "n")])
@pytest.mark.parametrize("dtype", ["i32", "i64"])
def test_rotary_positions(dims, dtype):
    run = single(
        "rotary_embedding %0 positions %1 freq_factors %2",
        [("b", "n", 2, 8, "f32"), (*dims, dtype), (4, "f32")],
        ("b", "n", 2, 8, "f32"),
    )
    for b, n in ROTARY_SIZES:
        x, factors = random((b, n, 2, 8)), np.abs(random((4,), seed=1)) + 1
        shape = {0: (), 1: (n,), 2: (b, n)}[len(dims)]
        positions = np.asarray(np.abs(random(shape, dtype, 2)))
        all_positions = np.broadcast_to(positions + np.arange(n) if not dims else positions, (b, n))
        expected = rotary(x.astype(float), all_positions, 8, "half_split", factors=factors)
        assert_close(run("main", x, positions, factors)[0], expected, "f32")


# Tables instead of angles. Rows out of range are an error on the CPU, and not read on devices; so is a large offset.
def test_rotary_tables():
    tables = [(16, 4, "f32"), (16, 4, "f32")]
    run = single(
        'rotary_embedding %0 positions %1 cos %2 sin %3 {layout = "interleaved"}',
        [("b", "n", 2, 8, "f32"), ("n", "i32"), *tables],
        ("b", "n", 2, 8, "f32"),
    )
    x, cos, sin = random((2, 5, 2, 8)), random((16, 4), seed=1), random((16, 4), seed=2)
    positions = np.array([3, 0, 15, 7, 7], np.int32)
    expected = rotary(x, np.broadcast_to(positions, (2, 5)), 8, "interleaved", tables=(cos, sin))
    assert_close(run("main", x, positions, cos, sin)[0], expected, "f32")
    outside = np.array([-5, 16, 1 << 30, -(1 << 31), 0], np.int32)
    if targets.current == "cpu":
        with pytest.raises(IndexError, match=r"index -5 of positions at \[0\] .* dimension 0 of cos, whose size is 16"):
            run("main", x, outside, cos, sin)
    else:
        run("main", x, outside, cos, sin)
    run = single("rotary_embedding %0 cos %1 sin %2", [("b", "n", 2, 8, "f32"), *tables], ("b", "n", 2, 8, "f32"))
    expected = rotary(x, np.broadcast_to(np.arange(5), (2, 5)), 8, "half_split", tables=(cos, sin))
    assert_close(run("main", x, cos, sin)[0], expected, "f32")
    with pytest.raises(AssertionFailed):
        run("main", random((1, 17, 2, 8)), cos, sin)

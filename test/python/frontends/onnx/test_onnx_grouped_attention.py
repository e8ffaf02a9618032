# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`GroupQueryAttention` against NumPy, row by row: each row of the batch has its own length."""

import numpy as np
import pytest

pytest.importorskip("onnx", reason="the package onnx is not installed")

from onnx_programs import run_op  # noqa: E402

from relax_mlir import FrontendError, UnsupportedOpError  # noqa: E402

RNG = np.random.default_rng(0)
GQA = "com.microsoft::GroupQueryAttention"
ONE_OF = 4
HEADS, GROUPS, SIZE = 4, 2, 8


def normal(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def turned(x, cosine, sine, at, interleaved):
    """[heads, length, size] with the positions of its rows."""
    cosine, sine = cosine[at], sine[at]
    first, second = (x[..., ::2], x[..., 1::2]) if interleaved else np.split(x, 2, -1)
    real, imaginary = first * cosine - second * sine, first * sine + second * cosine
    if interleaved:
        return np.stack([real, imaginary], -1).reshape(x.shape)
    return np.concatenate([real, imaginary], -1)


def reference(q, k, v, past, ends, total, *, tables=None, interleaved=0, window=0, cap=0.0, scale=None, sink=None):
    """The outputs and caches of each row, up to its length."""
    found = []
    for row, end in enumerate(ends):
        parts = [x[row].reshape(x.shape[1], -1, SIZE).swapaxes(0, 1) for x in (q, k, v)]
        new = parts[0].shape[1]
        before = 0 if new == total else end - new
        count = min(new, end)
        if tables:
            at = before + np.arange(new)
            parts[:2] = [turned(part, *tables, at, interleaved) for part in parts[:2]]
        caches = [np.concatenate([old[row, :, :before], part[:, :count]], 1) for old, part in zip(past, parts[1:])]
        keys, values = (cache.repeat(HEADS // GROUPS, 0) for cache in caches)
        scores = parts[0][:, :count] @ keys.swapaxes(1, 2) * (scale or SIZE**-0.5)
        scores = np.tanh(scores / cap) * cap if cap else scores
        distance = before + np.arange(count)[:, None] - np.arange(end)
        shown = (distance >= 0) & ((distance < window) if window else True)
        powers = np.where(shown, np.exp(scores), 0)
        sums = powers.sum(-1, keepdims=True) + (0 if sink is None else np.exp(sink)[:, None, None])
        made = (powers / sums) @ values
        found.append((made.swapaxes(0, 1).reshape(count, -1), *caches))
    return found


def check(found, expected):
    for row, (made, keys, values) in enumerate(expected):
        np.testing.assert_allclose(found[0][row, : len(made)], made, rtol=2e-5, atol=2e-5)
        for cache, wanted in zip(found[1:], (keys, values)):
            np.testing.assert_allclose(cache[row, :, : wanted.shape[1]], wanted, rtol=2e-5, atol=2e-5)


def call(operands, ends, total, *more, **attributes):
    lengths = (np.asarray(ends, np.int32) - 1, np.int32(total))
    return run_op(GQA, *operands, *lengths, *more, outputs=3, num_heads=HEADS, kv_num_heads=GROUPS, **attributes)


def inputs(batch, new, have):
    q, k, v = (normal(batch, new, count * SIZE) for count in (HEADS, GROUPS, GROUPS))
    return q, k, v, [normal(batch, GROUPS, have, SIZE) for _ in range(2)]


@pytest.mark.parametrize(
    "have, total, ends",
    [pytest.param(4, 5, (5, 3), id="growing cache"), pytest.param(9, 6, (6, 2), id="buffer of the greatest length")],
)
def test_rows_of_different_lengths(have, total, ends):
    q, k, v, past = inputs(2, 1, have)
    found = call((q, k, v, *past), ends, total)
    assert found[1].shape == (2, GROUPS, max(have, total), SIZE)
    check(found, reference(q, k, v, past, ends, total))


@pytest.mark.more
@pytest.mark.parametrize("interleaved", [0, 1])
def test_a_first_call_with_packed_inputs_and_rotary_positions(interleaved):
    q, k, v, past = inputs(2, 5, 0)
    angles = normal(16, SIZE // 2)
    tables = (np.cos(angles), np.sin(angles))
    packed = np.concatenate([q, k, v], 2)
    found = call((packed, None, None, *past), (5, 3), 5, *tables, do_rotary=1, rotary_interleaved=interleaved)
    check(found, reference(q, k, v, past, (5, 3), 5, tables=tables, interleaved=interleaved))


@pytest.mark.more
def test_a_later_call_with_several_queries():
    q, k, v, past = inputs(2, 3, 6)
    angles = normal(16, SIZE // 2)
    tables = (np.cos(angles), np.sin(angles))
    sink, ends = normal(HEADS), (9, 7)
    options = dict(softcap=2.0, scale=0.4, local_window_size=4, do_rotary=1)
    found = call((q, k, v, *past), ends, 9, *tables, None, None, sink, **options)
    check(found, reference(q, k, v, past, ends, 9, tables=tables, window=4, cap=2.0, scale=0.4, sink=sink))


@pytest.mark.more
def test_a_smooth_softmax():
    q, k, v, past = inputs(1, 4, 0)
    found = call((q, k, v, *past), (4,), 4, smooth_softmax=1)
    check(found, reference(q, k, v, past, (4,), 4, sink=np.zeros(HEADS)))


def test_lengths_that_are_not_valid():
    q, k, v, past = inputs(2, 2, 3)
    for ends in ((5, 1), (6, 5)):
        with pytest.raises(ValueError, match="seqlens_k"):
            call((q, k, v, *past), ends, 5)


def test_what_is_not_supported():
    q, k, v, past = inputs(1, 1, 3)
    with pytest.raises(UnsupportedOpError, match="quantized caches"):
        call((q, k, v, *past), (4,), 4, k_quant_type="PER_TENSOR")
    with pytest.raises(FrontendError, match="tables of cosines"):
        call((q, k, v, *past), (4,), 4, do_rotary=1)

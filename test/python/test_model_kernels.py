# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kernels of the language models, compiled, against NumPy."""

import numpy as np
import pytest

from relax_mlir import BlockBuilder, Sym, Tensor, compile, op
from relax_mlir.models import kernels, matrix
from relax_mlir.models import quantised as formats

b, n, c, t, m, layer = map(Sym, ("b", "n", "c", "t", "m", "layer"))
LAYERS, HEADS, GROUP, SIZE = 3, 2, 3, 8
KEYS, VALUES = (LAYERS, b, HEADS, SIZE, c), (LAYERS, b, c, HEADS, SIZE)


def random(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def program(kernel, params, build):
    """A compiled function with these parameters, whose body `build` creates from their values."""
    bb = BlockBuilder()
    bb.add_kernels(kernel.text)
    with bb.function("main", params) as function:
        bb.return_(build(*function.params))
    return compile(bb.module())["main"]


# --- the cache


@pytest.fixture(scope="module", params=["keys", "values"])
def update(request):
    """Writes rows of one of the caches, which is passed and returned with its positions first."""
    of_keys = request.param == "keys"
    kernel = (kernels.keys_update if of_keys else kernels.values_update)(LAYERS, HEADS, SIZE)
    params = [Tensor((b, n, HEADS, SIZE)), Tensor(KEYS if of_keys else VALUES), layer, t]
    main = program(
        kernel,
        params,
        lambda new, cache, *_: op.call_tir_inplace(kernel.name, [new, cache], cache.annotation, [1], sym=[layer, t]),
    )

    def run(new, cache, number, past):
        given = np.ascontiguousarray(cache.transpose(0, 1, 3, 4, 2)) if of_keys else cache.copy()
        main(new, given, number, past)
        return given.transpose(0, 1, 4, 2, 3) if of_keys else given

    return run


# The rows are written in place at the right positions, and nothing else is.
@pytest.mark.parametrize(
    "batch, length, past, capacity", [(1, 1, 0, 1), (2, 1, 4, 5), (3, 5, 2, 9), (2, 0, 3, 7), (1, 17, 0, 40)]
)
@pytest.mark.parametrize("number", [0, 2])
def test_cache_update(update, batch, length, past, capacity, number):
    cache, new = random(LAYERS, batch, capacity, HEADS, SIZE), random(batch, length, HEADS, SIZE, seed=1)
    expected = cache.copy()
    expected[number, :, past : past + length] = new
    np.testing.assert_array_equal(update(new, cache, number, past), expected)


def turned(x, angles, pairs, layout):
    """The first elements of each head rotated by the angles [b, pairs]."""
    at = np.arange(pairs)
    first, second = (2 * at, 2 * at + 1) if layout == "interleaved" else (at, at + pairs)
    number = (x[..., first] + 1j * x[..., second]) * np.exp(1j * angles)[:, None]
    result = x.copy()
    result[..., first], result[..., second] = number.real, number.imag
    return result


# Queries are rotated; rotated keys and values are written to the row of their position, clamped to the cache.
@pytest.mark.parametrize("layout", ["half_split", "interleaved"])
@pytest.mark.parametrize("pairs", [SIZE // 2, 1])
def test_append_at(layout, pairs):
    kernel = kernels.append_at(LAYERS, HEADS, GROUP, SIZE, pairs, layout)
    queries, new, table = (b, HEADS * GROUP, SIZE), (b, HEADS, SIZE), (b, pairs)
    shapes = [queries, new, new, table, table]
    params = [*map(Tensor, shapes), Tensor((b,), "i64"), Tensor(KEYS), Tensor(VALUES), layer]

    def append(q, k, v, cos, sin, places, keys, values, _):
        out = [Tensor(queries), keys.annotation, values.annotation]
        operands = [q, k, v, cos, sin, places, keys, values]
        return op.call_tir_inplace(kernel.name, operands, out, [-1, 6, 7], sym=[layer])[0]

    main = program(kernel, params, append)
    q, k, v = (random(3, heads, SIZE, seed=heads) for heads in (HEADS * GROUP, HEADS, HEADS))
    angles = random(3, pairs, seed=5)
    keys, values = random(LAYERS, 3, HEADS, SIZE, 4), random(LAYERS, 3, 4, HEADS, SIZE)
    new_keys, new_values = keys.copy(), values.copy()
    for row, place in enumerate((2, 0, 3)):
        new_keys[1, row, :, :, place] = turned(k, angles, pairs, layout)[row]
        new_values[1, row, place] = v[row]
    found = np.from_dlpack(main(q, k, v, np.cos(angles), np.sin(angles), np.array([2, -1, 9]), keys, values, 1))
    np.testing.assert_allclose(found, turned(q, angles, pairs, layout), 1e-5, 1e-6)
    np.testing.assert_allclose(keys, new_keys, 1e-5, 1e-6)
    np.testing.assert_array_equal(values, new_values)


def attention(q, keys, values, start, past):
    """softmax(q k / sqrt(d)) v over the rows from `start` to each query; zero where there is none."""
    length = q.shape[1]
    scores = np.einsum("bihgd,bjhd->bhgij", q, keys[:, : past + length]).astype(np.float64) / np.sqrt(SIZE)
    rows = np.arange(past + length)
    seen = (rows <= past + np.arange(length)[:, None]) & (rows >= start[:, None, None])
    weights = np.exp(scores - scores.max(-1, keepdims=True)) * seen[:, None, None]
    total = weights.sum(-1, keepdims=True)
    weights = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
    return np.einsum("bhgij,bjhd->bihgd", weights, values[:, : past + length])


@pytest.fixture(scope="module")
def attend():
    kernel = kernels.attend(LAYERS, HEADS, GROUP, SIZE, SIZE**-0.5)
    query = (b, n, HEADS, GROUP, SIZE)
    params = [Tensor(query), Tensor(KEYS), Tensor(VALUES), Tensor((b,), "i64"), layer, t]
    return program(
        kernel,
        params,
        lambda q, keys, values, start, *_: op.call_tir(
            kernel.name, [q, keys, values, start], Tensor(query), sym=[layer, t]
        ),
    )


# Each query sees the rows from its sequence's start up to its own; later rows are never read.
@pytest.mark.parametrize(
    "batch, length, past, start",
    [
        (1, 1, 0, [0]),
        (1, 1, 30, [0]),
        (2, 5, 0, [0, 2]),
        (2, 3, 4, [5, 0]),
        (3, 1, 9, [0, 4, 9]),
        (1, 40, 7, [0]),
        (2, 0, 3, [0, 0]),
        (1, 4, 0, [3]),
    ],
)
@pytest.mark.parametrize("scale", [1, 30])
def test_attend(attend, batch, length, past, start, scale):
    q = random(batch, length, HEADS, GROUP, SIZE) * np.float32(scale)
    keys, values = (random(LAYERS, batch, past + length + 3, HEADS, SIZE, seed=seed) for seed in (1, 2))
    keys[:, :, past + length :] = values[:, :, past + length :] = np.nan
    keys[0], values[2] = np.nan, np.nan
    found = attend(q, np.ascontiguousarray(keys.transpose(0, 1, 3, 4, 2)), values, np.array(start), 1, past)
    expected = attention(q, keys[1], values[1], np.array(start), past)
    np.testing.assert_allclose(np.from_dlpack(found), expected, rtol=1e-4, atol=1e-5)


# --- rotary embedding


# The angles of any position in a long context have full f32 accuracy.
@pytest.mark.parametrize("function", ["cos", "sin"])
@pytest.mark.parametrize("length, past", [(1, 0), (7, 3), (5, 131067), (0, 4)])
def test_rotary_table(function, length, past):
    kernel = kernels.rotary_table(function, 32)
    frequencies = 500000.0 ** (-np.arange(32) / 32)
    table = program(
        kernel, [Tensor((32,), "f64"), n, t], lambda f, *_: op.call_tir(kernel.name, [f], Tensor((n, 32)), sym=[t])
    )
    expected = getattr(np, function)(np.arange(past, past + length)[:, None] * frequencies)
    np.testing.assert_allclose(np.from_dlpack(table(frequencies, length, past)), expected, atol=5e-7)


# --- matrices


IDS = np.array([0, 5, 99, 63, 64, 5, 1, 98, 0])


def check_rows(rows, expected, **tolerance):
    """Checks that `rows(ids)` returns the right ones of 100 rows, and fails for other indices."""
    for ids in (IDS, IDS[:1], IDS[:0]):
        np.testing.assert_allclose(np.from_dlpack(rows(ids)), expected[ids], **{"rtol": 0, **tolerance})
    for wrong in (-1, 100, 2**40):
        with pytest.raises(IndexError, match=rf"index {wrong} of operand 0 at \[1\] is out of range"):
            rows(np.array([0, wrong]))


# Rows of a matrix in panels.
def test_panel_rows():
    values = random(100, 24)
    kernel = kernels.panel_rows(100, 24)
    panels = matrix.pack_panels(values)
    params = [Tensor((m,), "i64"), Tensor(panels.shape)]
    rows = program(kernel, params, lambda ids, w: op.call_tir(kernel.name, [ids, w], Tensor((m, 24))))
    check_rows(lambda ids: rows(ids, panels), values)


def quantised(quantisation, rows, columns, in_panels):
    """A random matrix in a format: its decoded values, and its arrays."""
    gguf = pytest.importorskip("gguf")
    kind = gguf.GGMLQuantizationType[quantisation]
    data = gguf.quants.quantize(random(rows, columns), kind)
    blocks = data.reshape(rows, columns // 32, -1)
    parts = [matrix.codes_of(blocks, quantisation), matrix.scales_of(blocks)]
    if formats.has_minimum(quantisation):
        parts.append(matrix.minima_of(blocks))
    if in_panels:
        parts = [matrix.pack_blocks(part) for part in parts]
    parts = parts[:1] + [part.squeeze(2) for part in parts[1:]]
    return gguf.quants.dequantize(data, kind), list(map(np.ascontiguousarray, parts))


@pytest.mark.parametrize("in_panels", [True, False])
@pytest.mark.parametrize("quantisation", formats.QUANTISED)
def test_quantised_rows(quantisation, in_panels):
    values, parts = quantised(quantisation, 100, 96, in_panels)
    kernel = formats.quantised_rows(quantisation, 100, 96, in_panels=in_panels)
    params = [Tensor((m,), "i64"), *(Tensor(p.shape, "i8" if p.dtype == np.int8 else "f16") for p in parts)]
    rows = program(kernel, params, lambda *args: op.call_tir(kernel.name, args, Tensor((m, 96))))
    check_rows(lambda ids: rows(ids, *parts), values, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("in_panels", [True, False])
@pytest.mark.parametrize("quantisation", formats.QUANTISED)
def test_decode(quantisation, in_panels):
    values, parts = quantised(quantisation, 100, 96, in_panels)
    kernel = formats.decode(quantisation, 100, 96, in_panels=in_panels)
    halves = formats.halves(quantisation)
    params = [Tensor(p.shape, "i8" if p.dtype == np.int8 else "f16") for p in parts]
    shape = (3, halves, 32 // halves)
    result = Tensor((2, *shape, 64) if in_panels else (100, *shape))
    decode = program(kernel, params, lambda *args: op.call_tir(kernel.name, args, result))
    found = np.from_dlpack(decode(*parts))
    if in_panels:
        found = found.reshape(2, 96, 64).transpose(0, 2, 1)
    found = found.reshape(-1, 96)
    np.testing.assert_allclose(found[:100], values, rtol=1e-6, atol=1e-7)
    assert not found[100:].any()

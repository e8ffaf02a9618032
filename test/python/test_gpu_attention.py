# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention for GPUs, on the emulated device, against NumPy: few rows point by point, many by tensor cores."""

import emulated
import ml_dtypes
import numpy as np
import pytest
from ptx import assemble, needs_ptxas
from test_legalize_attention import attention

from relax_mlir import BlockBuilder, Device, Sym, Tensor, compile, op, parse
from relax_mlir.models import kernels

TYPES = {"bf16": ml_dtypes.bfloat16, "f16": np.float16, "f32": np.float32}
TOLERANCE = {"bf16": 2e-2, "f16": 2e-3, "f32": 2e-5}
LAYERS = 2
b, n, c, t, m, layer = map(Sym, ("b", "n", "c", "t", "m", "layer"))


@pytest.fixture(scope="module")
def device():
    return Device("cuda")


def program(heads, group, size, dtype, at_positions=False):
    make = kernels.attend_at if at_positions else kernels.attend
    kernel = make(LAYERS, heads, group, size, size**-0.5, dtype)
    query, count = (b, n, heads, group, size), m if at_positions else t
    keys, values = (LAYERS, b, heads, size, c), (LAYERS, b, c, heads, size)
    bb = BlockBuilder()
    bb.add_kernels(kernel.text)
    params = [*(Tensor(shape, dtype) for shape in (query, keys, values)), Tensor((b,), "i64"), layer, count]
    with bb.function("main", params) as function:
        operands = function.params[:4]
        bb.return_(op.call_tir(kernel.name, operands, Tensor(query, dtype), sym=[layer, count]))
    return bb.module()


def attended(q, keys, values, seen):
    """softmax(q k / sqrt(d)) v over the visible keys, `seen [b, n, m]`; zero where none is visible."""
    scores = np.einsum("bihgd,bjhd->bhgij", q, keys) / np.sqrt(q.shape[-1])
    scores = np.where(seen[:, None, None], scores, -np.inf)
    powers = np.exp(scores - scores.max(-1, keepdims=True, initial=-1e9))
    totals = powers.sum(-1, keepdims=True)
    weights = np.divide(powers, totals, out=np.zeros_like(powers), where=totals > 0)
    return np.einsum("bhgij,bjhd->bihgd", weights, values)


def check(device, main, dtype, heads, group, size, length, rows, capacity, begins, position=None):
    """`begins`: the first row of each sequence, or its position if given."""
    random = np.random.default_rng(length * 1000 + rows)
    batch = len(begins)
    q = random.standard_normal((batch, length, heads, group, size)).astype(TYPES[dtype])
    keys, values = (random.standard_normal((LAYERS, batch, capacity, heads, size)).astype(TYPES[dtype]) for _ in "kv")
    keys[0], keys[:, :, rows:], values[0], values[:, :, rows:] = np.nan, np.nan, np.nan, np.nan
    begins = np.array(begins, np.int64)
    number = rows if position else rows - length
    arguments = (q, np.ascontiguousarray(keys.transpose(0, 1, 3, 4, 2)), values, begins)
    with emulated.launches() as launches:
        found = device.get(main(*map(device.put, arguments), 1, number)).view(TYPES[dtype])
    assert len(launches) <= 2
    last = begins[:, None] if position else np.arange(length)[None] + rows - length
    first = np.zeros_like(last) if position else begins[:, None]
    column = np.arange(rows)
    seen = (column <= last[..., None]) & (column >= first[..., None])
    wide = (x.astype(np.float64) for x in (q, keys[1, :, :rows], values[1, :, :rows]))
    expected = attended(*wide, seen)
    np.testing.assert_allclose(found.astype(np.float64), expected, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


# Queries of a few rows, of a partial block and of several blocks; columns from none to many steps.
LENGTHS = [(1, 1), (1, 64), (1, 700), (2, 65), (5, 5), (37, 100), (64, 129), (130, 130)]


@pytest.mark.parametrize(
    "dtype, heads, group, size",
    [
        ("bf16", 2, 3, 64),
        ("bf16", 1, 4, 128),
        ("f16", 1, 1, 16),
        ("f32", 2, 3, 64),
        ("f32", 1, 4, 24),
        ("bf16", 1, 12, 32),
    ],
)
def test_sizes(device, dtype, heads, group, size):
    main = compile(program(heads, group, size, dtype), target="cuda:emulated")["main"]
    for length, rows in LENGTHS:
        check(device, main, dtype, heads, group, size, length, rows, -(-rows // 8) * 8, [0])


# Rows of keys that are not whole vectors; batches, and queries that see nothing.
@pytest.mark.parametrize("dtype", ["bf16", "f32"])
def test_batches(device, dtype):
    main = compile(program(2, 3, 32, dtype), target="cuda:emulated")["main"]
    for length, rows, capacity, begins in [
        (1, 70, 77, [0, 65, 69]),
        (5, 70, 80, [67, 0, 70]),
        (30, 40, 41, [20]),
        (30, 100, 104, [90, 3]),
        (1, 3, 8, []),
        (0, 3, 8, [0]),
    ]:
        check(device, main, dtype, 2, 3, 32, length, rows, capacity, begins)


@pytest.mark.parametrize("dtype", ["bf16", "f32"])
def test_at_positions(device, dtype):
    main = compile(program(2, 2, 64, dtype, at_positions=True), target="cuda:emulated")["main"]
    for rows, capacity, positions in [(1, 8, [0]), (200, 200, [199, 0, 77]), (64, 65, [63, 64]), (0, 0, [0])]:
        check(device, main, dtype, 2, 2, 64, 1, rows, capacity, positions, position=True)


def tensor(*dims, dtype):
    sizes = "".join("?x" if isinstance(dim, str) else f"{dim}x" for dim in dims)
    return f"tensor<{sizes}{dtype}, #relax.shape<[{', '.join(map(str, dims))}]>>"


def attention_text(dtype, heads, key_heads, attributes="", bias=None):
    q, k, v, r = (
        tensor("b", rows, count, size, dtype=dtype)
        for rows, count, size in (("n", heads, 48), ("m", key_heads, 48), ("m", key_heads, 80), ("n", heads, 80))
    )
    more = f", %bias: {bias}" if bias else ""
    return f"""relax.func @main(%q: {q}, %k: {k}, %v: {v}{more}) -> {r} {{
      %0 = relax.attention %q, %k, %v{", %bias" if bias else ""} {attributes}
          : ({q}, {k}, {v}{f", {bias}" if bias else ""}) -> {r}
      relax.return %0 : {r}
    }}"""


# The op: masks that hide columns at both ends, numeric and Boolean biases, keys by rows.
@pytest.mark.parametrize(
    "dtype, options, bias",
    [
        ("bf16", {"causal": "TopLeft"}, None),
        ("bf16", {"causal": "BottomRight", "window": 9}, None),
        ("f32", {"causal": "BottomRight", "window": 9}, None),
        ("bf16", {"scale": 0.5}, "own"),
        ("bf16", {}, "i1"),
        ("f32", {}, "i1"),
    ],
)
def test_op(device, dtype, options, bias):
    attributes = [f'causal_mask = "{options["causal"]}"'] if "causal" in options else []
    attributes += [f"window_size = {options['window']}"] if "window" in options else []
    attributes += [f"scale = {options['scale']}"] if "scale" in options else []
    kind = dtype if bias == "own" else bias
    shape = tensor("b", 6, "n", "m", dtype=kind) if bias else None
    text = attention_text(dtype, 6, 2, f"{{{', '.join(attributes)}}}" if attributes else "", shape)
    main = compile(parse(text), target="cuda:emulated")["main"]
    for batch, rows, columns in [(2, 1, 1), (1, 2, 200), (3, 5, 65), (1, 70, 150), (2, 25, 0), (0, 3, 3), (1, 0, 3)]:
        random = np.random.default_rng(rows)
        values = [
            random.standard_normal(shape).astype(TYPES[dtype])
            for shape in ((batch, rows, 6, 48), (batch, columns, 2, 48), (batch, columns, 2, 80))
        ]
        if bias:
            numbers = random.standard_normal((batch, 6, rows, columns))
            values.append(numbers < 0.3 if bias == "i1" else numbers.astype(TYPES[dtype]))
        with emulated.launches() as launches:
            found = device.get(main(*map(device.put, values))).view(TYPES[dtype])
        assert len(launches) <= 2
        wide = [x if x.dtype == bool else x.astype(np.float64) for x in values]
        expected = attention(*wide, **options)
        np.testing.assert_allclose(found.astype(np.float64), expected, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


# NaN and infinity affect only the rows that see them.
@pytest.mark.parametrize("dtype", ["bf16", "f32"])
def test_not_finite(device, dtype):
    main = compile(parse(attention_text(dtype, 2, 2, '{causal_mask = "TopLeft"}')), target="cuda:emulated")["main"]
    for rows in (3, 100):
        random = np.random.default_rng(1)
        q, k, v = (random.standard_normal((1, rows, 2, size)).astype(TYPES[dtype]) for size in (48, 48, 80))
        k[0, rows // 2, 0, 3], q[0, rows - 1, 1, 5] = np.inf, np.nan
        found = device.get(main(*map(device.put, (q, k, v)))).view(TYPES[dtype]).astype(np.float64)
        with np.errstate(all="ignore"):
            expected = attention(*(x.astype(np.float64) for x in (q, k, v)), causal="TopLeft")
        np.testing.assert_allclose(found, expected, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


# NVIDIA's assembler, if available, accepts the code of every kernel.
@needs_ptxas
@pytest.mark.parametrize("dtype", ["bf16", "f16", "f32"])
def test_code_assembles(tmp_path, dtype):
    assemble(program(2, 3, 64, dtype), tmp_path)

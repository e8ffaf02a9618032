# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matmuls for GPUs, on the emulated device, against NumPy.

The values are small integers with exact sums: results are bitwise equal for any order of additions.
"""

import emulated  # noqa: F401  # the driver of this process
import ml_dtypes
import numpy as np
import pytest
from ptx import assemble, needs_ptxas

from relax_mlir import Device, compile, parse

ROWS = (0, 1, 2, 3, 7, 16, 17, 31, 32, 33, 64, 100, 128, 129)
TYPES = {"bf16": ml_dtypes.bfloat16, "f16": np.float16, "f32": np.float32}


@pytest.fixture(scope="module")
def device():
    return Device("cuda")


def compiled(text):
    return compile(parse(text), target="cuda:emulated")["main"]


def integers(shape, dtype, seed=0):
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(dtype)


def product_text(layout, columns, depth, dtype, rows="?"):
    """A function of a matrix and a second matrix that is stored by rows (nk) or columns (kn)."""
    m = ", #relax.shape<[m, {n}]>" if rows == "?" else ""
    x, y = (f"tensor<{rows}x{n}x{dtype}{m.format(n=n)}>" for n in (depth, columns))
    w = f"tensor<{columns}x{depth}x{dtype}>" if layout == "nk" else f"tensor<{depth}x{columns}x{dtype}>"
    name = "linear" if layout == "nk" else "matmul"
    return f"""
    relax.func @main(%x: {x}, %w: {w}) -> {y} {{
      %0 = relax.{name} %x, %w : ({x}, {w}) -> {y}
      relax.return %0 : {y}
    }}"""


def check(device, main, layout, rows, columns, depth, dtype):
    x = integers((rows, depth), TYPES[dtype])
    w = integers((columns, depth) if layout == "nk" else (depth, columns), TYPES[dtype], seed=1)
    y = device.get(main(device.put(x), device.put(w)))
    wide = w.astype(np.float32)
    expected = (x.astype(np.float32) @ (wide.T if layout == "nk" else wide)).astype(TYPES[dtype])
    assert np.array_equal(y.view(TYPES[dtype]), expected)


# Each number of columns and each depth, with whole and partial tiles.
SIZES = [
    (8, 16),
    (8, 100),
    (16, 32),
    (40, 48),
    (40, 256),
    (64, 64),
    (96, 100),
    (96, 16),
    (100, 48),
    (100, 64),
    (256, 256),
]


@pytest.mark.parametrize("layout", ["nk", "kn"])
@pytest.mark.parametrize("columns, depth", SIZES)
def test_tensor_cores(device, layout, columns, depth):
    main = compiled(product_text(layout, columns, depth, "bf16"))
    for rows in ROWS:
        check(device, main, layout, rows, columns, depth, "bf16")


@pytest.mark.parametrize("layout", ["nk", "kn"])
def test_half_precision(device, layout):
    main = compiled(product_text(layout, 96, 48, "f16"))
    for rows in ROWS:
        check(device, main, layout, rows, 96, 48, "f16")


# Some rows have odd lengths, and cannot be copied as vectors.
@pytest.mark.parametrize("layout", ["nk", "kn"])
@pytest.mark.parametrize(
    "columns, depth, dtype", [(8, 16, "f32"), (100, 100, "f32"), (256, 48, "f32"), (7, 33, "f32"), (9, 17, "bf16")]
)
def test_point_by_point(device, layout, columns, depth, dtype):
    main = compiled(product_text(layout, columns, depth, dtype))
    for rows in ROWS:
        check(device, main, layout, rows, columns, depth, dtype)


# Enough columns that the largest tiles are chosen, none of which is whole.
@pytest.mark.parametrize("layout, dtype", [("nk", "bf16"), ("kn", "bf16"), ("nk", "f32")])
def test_largest_tiles(device, layout, dtype):
    main = compiled(product_text(layout, 16904, 80, dtype, rows=130))
    check(device, main, layout, 130, 16904, 80, dtype)


# The rows of all batches are contiguous, and form one matrix.
@pytest.mark.parametrize("dtype", ["bf16", "f32"])
def test_what_follows_is_in_the_kernel(device, dtype):
    x, r, y = (f"tensor<?x?x{n}x{dtype}, #relax.shape<[b, n, {n}]>>" for n in (64, 48, 48))
    main = compiled(f"""
    relax.func @main(%x: {x}, %w: tensor<48x64x{dtype}>, %c: tensor<48x{dtype}>, %r: {r}) -> {y} {{
      %0 = relax.linear %x, %w, %c : ({x}, tensor<48x64x{dtype}>, tensor<48x{dtype}>) -> {y}
      %1 = relax.silu %0 : ({y}) -> {y}
      %2 = relax.add %1, %r : ({y}, {r}) -> {y}
      relax.return %2 : {y}
    }}""")
    w, c = integers((48, 64), TYPES[dtype], 1), integers(48, TYPES[dtype], 2)
    for batch, rows in [(1, 1), (2, 1), (3, 7), (1, 33), (2, 40), (0, 5)]:
        x = (integers((batch, rows, 64), np.float32) / 8).astype(TYPES[dtype])
        r = integers((batch, rows, 48), TYPES[dtype], 3)
        with emulated.launches() as launches:
            result = device.get(main(*map(device.put, (x, w, c, r)))).view(TYPES[dtype])
        # In single precision, only the bias is fused into the matmul's kernel.
        assert len(launches) == (batch > 0) * (1 if dtype == "bf16" else 2)
        y = x.astype(np.float64) @ w.astype(np.float64).T + c.astype(np.float64)
        expected = y / (1 + np.exp(-y)) + r.astype(np.float64)
        tolerance = 2e-2 if dtype == "bf16" else 1e-5
        np.testing.assert_allclose(result.astype(np.float64), expected, rtol=tolerance, atol=tolerance * 4)


@pytest.mark.parametrize("dtype", ["bf16", "f32"])
def test_batches(device, dtype):
    x, w, y = (
        f"tensor<?x{s}x{dtype}, #relax.shape<[b, {t}]>>"
        for s, t in [("?x48", "n, 48"), ("48x40", "48, 40"), ("?x40", "n, 40")]
    )
    main = compiled(f"""
    relax.func @main(%x: {x}, %w: {w}) -> {y} {{
      %0 = relax.matmul %x, %w : ({x}, {w}) -> {y}
      relax.return %0 : {y}
    }}""")
    for batch, rows in [(1, 1), (3, 5), (2, 70), (0, 4), (4, 0)]:
        x, w = integers((batch, rows, 48), TYPES[dtype]), integers((batch, 48, 40), TYPES[dtype], 1)
        expected = (x.astype(np.float32) @ w.astype(np.float32)).astype(TYPES[dtype])
        result = device.get(main(device.put(x), device.put(w))).view(TYPES[dtype])
        assert np.array_equal(result, expected)


# NVIDIA's assembler, if available, accepts the code of every kernel.
@needs_ptxas
@pytest.mark.parametrize("layout, dtype", [("nk", "bf16"), ("kn", "f16"), ("nk", "f32")])
def test_code_assembles(tmp_path, layout, dtype):
    assemble(parse(product_text(layout, 256, 128, dtype)), tmp_path)

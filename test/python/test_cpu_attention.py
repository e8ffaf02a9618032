# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention in blocks of rows, compiled, against NumPy: sizes around every block, masks, threads."""

import numpy as np
import pytest
from conftest import relax_opt
from kernel_runner import DTYPES, assert_close, random
from kernels import Kernel
from test_legalize_attention import attention

import relax_mlir
from relax_mlir import runtime
from relax_mlir.models import kernels

SIZES = (0, 1, 2, 5, 6, 7, 13, 64, 65, 129, 300)
SCHEDULE = ["--relax-convert-kernel-boundary", "--relax-cpu-schedule-kernels", "--canonicalize"]


@pytest.fixture(params=[1, 2], ids=lambda count: f"{count} threads")
def threads(request):
    before = runtime.thread_count()
    runtime.set_thread_count(request.param)
    yield
    runtime.set_thread_count(before)


def tensor(*dims: int | str, dtype: str = "f32") -> str:
    sizes = "".join("?x" if isinstance(dim, str) else f"{dim}x" for dim in dims)
    return f"tensor<{sizes}{dtype}, #relax.shape<[{', '.join(map(str, dims))}]>>"


def compiled(heads: int, key_heads: int, dtype: str = "f32", attributes: str = ""):
    """relax.attention with heads of 24 elements, values of 40."""
    q, k, v, result = (
        tensor("b", rows, count, size, dtype=dtype)
        for rows, count, size in (("n", heads, 24), ("m", key_heads, 24), ("m", key_heads, 40), ("n", heads, 40))
    )
    source = f"""relax.func @main(%q: {q}, %k: {k}, %v: {v}) -> {result} {{
  %0 = relax.attention %q, %k, %v {attributes} : ({q}, {k}, {v}) -> {result}
  relax.return %0 : {result}
}}"""
    return relax_mlir.compile(relax_mlir.parse(source))["main"]


def check(main, batch, rows, columns, heads, key_heads, dtype="f32", **options):
    q, k = random((batch, rows, heads, 24), dtype), random((batch, columns, key_heads, 24), dtype, 1)
    v = random((batch, columns, key_heads, 40), dtype, 2)
    expected = attention(*(x.astype(np.float64) for x in (q, k, v)), **options)
    assert_close(np.from_dlpack(main(q, k, v)).view(DTYPES[dtype]), expected, dtype)


# Each key head has one query head, several, or an odd number of them; masks may skip columns.
@pytest.mark.parametrize("heads, key_heads", [(2, 2), (6, 2), (5, 1)])
@pytest.mark.parametrize("causal", [None, "TopLeft", "BottomRight"])
def test_sizes(heads, key_heads, causal, threads):
    main = compiled(heads, key_heads, attributes=f'{{causal_mask = "{causal}"}}' if causal else "")
    for rows in SIZES:
        for columns in SIZES:
            check(main, 1, rows, columns, heads, key_heads, causal=causal)
    for batch in (0, 3):
        check(main, batch, 7, 65, heads, key_heads, causal=causal)


# Half precision is computed in f32; a window hides columns at both ends.
@pytest.mark.parametrize("dtype", ["f16", "f64"])
def test_types(dtype):
    main = compiled(4, 2, dtype, '{causal_mask = "BottomRight", window_size = 9}')
    for rows, columns in ((1, 1), (5, 7), (13, 64), (65, 129)):
        check(main, 2, rows, columns, 4, 2, dtype, causal="BottomRight", window=9)


HEADS, GROUP, SIZE = 2, 3, 24


def attend_arguments(length: int, past: int):
    q = random((1, length, HEADS, GROUP, SIZE))
    keys, values = (random((1, 1, past + length + 3, HEADS, SIZE), seed=seed) for seed in (1, 2))
    return q, keys, values


def reference(q, keys, values, past):
    length = q.shape[1]
    q = q.reshape(1, length, HEADS * GROUP, SIZE).astype(np.float64)
    keys, values = (x[0, :, : past + length].astype(np.float64) for x in (keys, values))
    return attention(q, keys, values, causal="BottomRight").reshape(1, length, HEADS, GROUP, SIZE)


# Vectors of every width: rows in blocks, and the remainder.
@pytest.mark.parametrize("bits", [512, 256, 128])
def test_attend(bits):
    kernel = kernels.attend(1, HEADS, GROUP, SIZE, SIZE**-0.5)
    run = Kernel(kernel.text, f"vector-bits={bits}", kernel.name)
    assert "memref<6x?xf32>" in run.loops
    for length in SIZES:
        for past in (0, 1, 64, 300):
            q, keys, values = attend_arguments(length, past)
            out = np.full(q.shape, np.nan, np.float32)
            run(q, np.ascontiguousarray(keys.transpose(0, 1, 3, 4, 2)), values, np.zeros(1, np.int64), out, 0, past)
            np.testing.assert_allclose(out, reference(q, keys, values, past), rtol=1e-4, atol=1e-5)


# Many queries together give bitwise the same results as each query alone: the order of summation is the same.
def test_rows_alone():
    kernel = kernels.attend(1, HEADS, GROUP, SIZE, SIZE**-0.5)
    run = Kernel(kernel.text, "", kernel.name)
    q, keys, values = attend_arguments(65, 7)
    keys = np.ascontiguousarray(keys.transpose(0, 1, 3, 4, 2))
    whole = np.empty_like(q)
    run(q, keys, values, np.zeros(1, np.int64), whole, 0, 7)
    for row in range(65):
        alone = np.empty((1, 1, HEADS, GROUP, SIZE), np.float32)
        run(np.ascontiguousarray(q[:, row : row + 1]), keys, values, np.zeros(1, np.int64), alone, 0, 7 + row)
        np.testing.assert_array_equal(alone, whole[:, row : row + 1])


# NaN and infinity in a query or a visible key affect only the rows that see it.
@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_not_finite(number):
    main = compiled(2, 2, attributes='{causal_mask = "TopLeft"}')
    q, k, v = random((1, 40, 2, 24)), random((1, 40, 2, 24), seed=1), random((1, 40, 2, 40), seed=2)
    k[0, 20, 0, 3], q[0, 30, 1, 5] = number, np.nan
    with np.errstate(all="ignore"):
        expected = attention(q.astype(np.float64), k.astype(np.float64), v.astype(np.float64), causal="TopLeft")
    np.testing.assert_allclose(np.from_dlpack(main(q, k, v)), expected, rtol=1e-4, atol=1e-5)


MASKED = """
func.func private @k(%q: tensor<?x8xf32>, %k: tensor<8x?xf32>, %v: tensor<?x16xf32>, %out: tensor<?x16xf32>)
    -> tensor<?x16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %least = arith.constant $LEAST : f32
  %hidden = arith.constant $HIDDEN : f32
  %n = tensor.dim %q, %c0 : tensor<?x8xf32>
  %m = tensor.dim %k, %c1 : tensor<8x?xf32>
  %e = tensor.empty(%n, %m) : tensor<?x?xf32>
  %r = tensor.empty(%n) : tensor<?xf32>
  %0 = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %1 = linalg.matmul ins(%q, %k : tensor<?x8xf32>, tensor<8x?xf32>) outs(%0 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      outs(%1 : tensor<?x?xf32>) {
  ^bb0(%s: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %seen = arith.cmpi sle, %j, %i : index
    %x = arith.select %seen, %s, %hidden : f32
    linalg.yield %x : f32
  } -> tensor<?x?xf32>
  %3 = linalg.fill ins(%least : f32) outs(%r : tensor<?xf32>) -> tensor<?xf32>
  %4 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%2 : tensor<?x?xf32>) outs(%3 : tensor<?xf32>) {
  ^bb0(%s: f32, %most: f32):
    %x = arith.maximumf %most, %s : f32
    linalg.yield %x : f32
  } -> tensor<?xf32>
  %5 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%4 : tensor<?xf32>) outs(%2 : tensor<?x?xf32>) {
  ^bb0(%most: f32, %s: f32):
    %d = arith.subf %s, %most : f32
    %x = math.exp %d : f32
    linalg.yield %x : f32
  } -> tensor<?x?xf32>
  %6 = linalg.fill ins(%zero : f32) outs(%out : tensor<?x16xf32>) -> tensor<?x16xf32>
  %7 = linalg.matmul ins(%5, %v : tensor<?x?xf32>, tensor<?x16xf32>) outs(%6 : tensor<?x16xf32>) -> tensor<?x16xf32>
  return %7 : tensor<?x16xf32>
}
"""


# Hidden columns are skipped if their exponentials are certainly zero; otherwise they count.
@pytest.mark.parametrize("hidden, least, leaves_out", [(-1e30, -1e29, True), (-2.0, -1e29, False), (-3.0, -2.0, False)])
def test_hidden(hidden, least, leaves_out):
    source = MASKED.replace("$HIDDEN", f"{hidden:.1e}").replace("$LEAST", f"{least:.1e}")
    scheduled = relax_opt(*SCHEDULE, source=source.encode()).stdout.decode()
    assert ("arith.maxsi" in scheduled) == leaves_out
    run = Kernel(source)
    for rows, columns in ((1, 1), (5, 33), (13, 7), (65, 129)):
        q, k, v = random((rows, 8)), random((8, columns), seed=1), random((columns, 16), seed=2)
        out = np.full((rows, 16), np.nan, np.float32)
        run(q, k, v, out)
        seen = np.arange(columns) <= np.arange(rows)[:, None]
        scores = np.where(seen, q.astype(np.float64) @ k, hidden)
        expected = np.exp(scores - np.maximum(scores.max(1, keepdims=True), least)) @ v
        np.testing.assert_allclose(out, expected, rtol=1e-4, atol=1e-4)

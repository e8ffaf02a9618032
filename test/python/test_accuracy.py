# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Errors of sums, products and statistics do not grow with the number of elements (docs/accuracy.md).

Each result is compared with one computed in f64 or better, relative to the sum of absolute values: constant data
reveals drift, alternating signs reveal lost digits, a large mean with a small spread reveals cancellation in variances.
"""

import numpy as np
import pytest
import targets
from elements import DTYPES
from kernel_runner import single
from targets import COMPILED as RUNS_ON  # noqa: F401

ROUNDOFF = {"f64": 2.0**-53, "f32": 2.0**-24, "f16": 2.0**-11, "bf16": 2.0**-8}
KINDS = ("equal", "ramp", "alternating", "offset")


def bound(dtype: str, unit: float = 1e-6) -> float:
    """The relative error of sums that are accurate to 1e-6 in f32, rounded to a type."""
    computed = unit if dtype != "f64" else unit * 2.0**-29
    return computed + (ROUNDOFF[dtype] if dtype in ("f16", "bf16") else 0)


def data(kind: str, shape: tuple[int, ...], dtype: str = "f32") -> np.ndarray:
    size = int(np.prod(shape))
    if kind == "equal":
        values = np.full(size, 0.1)
    elif kind == "ramp":
        values = np.arange(size) / size
    elif kind == "alternating":
        values = (1 + np.arange(size) / size) * (-1) ** np.arange(size)
    else:
        values = 100 + np.random.default_rng(0).standard_normal(size)
    return values.reshape(shape).astype(DTYPES[dtype])


def total(x: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    """The sum over axes, which are first moved to contiguous memory, for which NumPy uses pairwise summation."""
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    rows = np.ascontiguousarray(x.astype(np.longdouble).transpose(*kept, *axes))
    return rows.reshape(*(x.shape[axis] for axis in kept), -1).sum(-1)


def running(x: np.ndarray) -> np.ndarray:
    """Running sums of a vector, chunk by chunk."""
    padded = np.zeros(-(-x.size // 1000) * 1000, np.longdouble)
    padded[: x.size] = x
    chunks = padded.reshape(-1, 1000)
    before = np.concatenate([[0], np.cumsum(chunks.sum(1))[:-1]])
    return (np.cumsum(chunks, 1) + before[:, None]).reshape(-1)[: x.size]


def large(size: int) -> int:
    """A size for the target: the emulator and lavapipe run GPU threads one by one."""
    return size if targets.current == "cpu" else size // 8 + 1


def check(actual: np.ndarray, exact: np.ndarray, scale: np.ndarray, limit: float) -> None:
    error = np.max(np.abs(actual.astype(np.float64) - exact) / np.maximum(scale, 1e-300))
    assert error <= limit, f"error {error:.2e} of the sum of absolute values, expected at most {limit:.2e}"


# Sums along each order of axes: axes along vectors, and axes across them.
@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16", "f64"])
@pytest.mark.parametrize(
    ("shape", "axes"),
    [((1_000_003,), [0]), ((3, 333_337), [1]), ((333_337, 3), [0]), ((5, 40_009, 7), [1]), ((1009, 3, 331), [0, 2])],
)
def test_sum_and_mean(shape, axes, dtype):
    shape = tuple(large(size) if size == max(shape) else size for size in shape)
    dims = ("a", "b", "c")[: len(shape)]
    kept = tuple(dim for axis, dim in enumerate(dims) if axis not in axes)
    runs = [single(f"{op} %0 axis {axes}", [(*dims, dtype)], (*kept, dtype)) for op in ("sum", "mean")]
    for kind in KINDS:
        x = data(kind, shape, dtype)
        exact, scale = (total(part, tuple(axes)) for part in (x, np.abs(x)))
        count = np.prod([shape[axis] for axis in axes])
        if np.all(scale < 6e4) or dtype != "f16":  # representable in f16
            check(runs[0]("main", x)[0], exact, scale, bound(dtype))
        check(runs[1]("main", x)[0], exact / count, scale / count, bound(dtype))


# Static sizes around the block sizes.
@pytest.mark.parametrize("size", [63, 64, 65, 512, 1025, 2047, 4097, 100_000])
def test_static_sizes(size):
    for dims, axis in (((3, size), 1), ((size, 3), 0)):
        run = single(f"sum %0 axis [{axis}]", [(*dims, "f32")], (3, "f32"))
        for kind in KINDS:
            x = data(kind, dims)
            check(run("main", x)[0], total(x, (axis,)), total(np.abs(x), (axis,)), bound("f32"))


# Dot products of many terms: one row, several, and blocks of rows; either operand contiguous along the terms.
@pytest.mark.parametrize("rows", [1, 3, 64])
@pytest.mark.parametrize("op", ["matmul", "linear"])
@pytest.mark.parametrize("is_static", [False, True])
def test_products(rows, op, is_static):
    depth = (1_000_000 if rows < 64 else 100_000) if targets.current == "cpu" else 6_000
    k = depth if is_static else "k"
    n = 2 if rows < 64 else 33
    matrix = (k, n) if op == "matmul" else (n, k)
    run = single(f"{op} %0, %1", [("m", k, "f32"), (*matrix, "f32")], ("m", n, "f32"))
    for kind in ("equal", "alternating"):
        x, w = data(kind, (rows, depth)), data("equal", (depth, n))
        exact = x.astype(np.float64) @ w.astype(np.float64)
        scale = np.abs(x).astype(np.float64) @ np.abs(w).astype(np.float64)
        # Products round as well, and accumulators in registers add more terms than in sums.
        check(run("main", x, w if op == "matmul" else np.ascontiguousarray(w.T))[0], exact, scale, 8e-6)


def test_convolution_of_many_terms():
    size = 64 if targets.current == "cpu" else 24
    run = single("conv2d %0, %1", [("n", "c", "h", "w", "f32"), (2, "c", "h", "w", "f32")], ("n", 2, 1, 1, "f32"))
    x, w = data("equal", (2, size, 7, 7)), data("equal", (2, size, 7, 7))
    exact = np.einsum("nchw,ochw->no", x.astype(float), w.astype(float)).reshape(2, 2, 1, 1)
    check(run("main", x, w)[0], exact, np.abs(exact), 8e-6)


def moments(x: np.ndarray, axes: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    wide = x.astype(np.longdouble)
    count = np.prod([x.shape[axis] for axis in axes])
    mean = np.expand_dims(total(wide, axes) / count, axes)
    return mean, np.expand_dims(total((wide - mean) ** 2, axes) / count, axes)


# A mean that is large next to the spread, and elements whose squares overflow or vanish.
DISTRIBUTIONS = [(0, 1), (1e6, 1), (-3e4, 0.1), (0, 1e30), (1e30, 1e29), (1e30, 0), (0, 1e-30), (1e-20, 1e-22)]


def normal(mean: float, spread: float, shape: tuple[int, ...], dtype: str = "f32") -> np.ndarray:
    return (mean + spread * np.random.default_rng(1).standard_normal(shape)).astype(DTYPES[dtype])


@pytest.mark.parametrize(("mean", "spread"), DISTRIBUTIONS)
@pytest.mark.parametrize(("shape", "axis"), [((2, 100_003), 1), ((30_011, 3), 0), ((4, 768), 1)])
def test_variance(mean, spread, shape, axis):
    shape = tuple(large(size) if size == max(shape) else size for size in shape)
    x = normal(mean, spread, shape)
    var, std = (
        single(f"{op} %0 axis [{axis}]", [("a", "b", "f32")], ("ab"[1 - axis], "f32"))("main", x)[0]
        for op in ("variance", "std")
    )
    exact = np.squeeze(moments(x, (axis,))[1], axis)
    np.testing.assert_allclose(std, np.sqrt(exact).astype(np.float64), rtol=1e-5)
    if np.max(exact) < 1e38 and np.min(exact) > 1e-37:
        np.testing.assert_allclose(var, exact.astype(np.float64), rtol=2e-5)


NORMS = {
    "layer_norm": ("layer_norm %0 axes [-1]", "bc", (1,)),
    "instance_norm": ("instance_norm %0 channel_axis 0 axes [1]", "bc", (1,)),
    "group_norm": ("group_norm %0 num_groups 2 channel_axis 0 axes [1]", "gc", None),
}


@pytest.mark.parametrize("dtype", ["f32", "bf16", "f64"])
@pytest.mark.parametrize("name", NORMS)
@pytest.mark.parametrize(("mean", "spread"), DISTRIBUTIONS)
def test_norms(name, mean, spread, dtype):
    text, _, _ = NORMS[name]
    run = single(f"{text} {{epsilon = 1.0e-5}}", [(4, "c", dtype)], (4, "c", dtype))
    for size in (771, large(40_000)):
        x = normal(mean, spread, (4, size), dtype)
        rows = x.reshape(2, 2 * size) if name == "group_norm" else x
        center, variance = moments(rows, (1,))
        exact = ((rows.astype(np.longdouble) - center) / np.sqrt(variance + 1e-5)).reshape(4, size).astype(np.float64)
        limit = 1e-5 if dtype == "f32" else 2.0**-7 if dtype == "bf16" else 1e-9
        np.testing.assert_allclose(run("main", x)[0].astype(np.float64), exact, rtol=limit, atol=limit)


# Epsilon vanishes next to such elements; an axis of size 1 is the mean itself.
@pytest.mark.parametrize("dtype", ["f32", "bf16", "f64"])
@pytest.mark.parametrize("name", NORMS)
@pytest.mark.parametrize("value", [0, 1, 3.3e7, -1.7e20, 1e30])
def test_norms_of_equal_elements(name, value, dtype):
    text, _, _ = NORMS[name]
    run = single(f"{text} {{epsilon = 1.0e-5}}", [(4, "c", dtype)], (4, "c", dtype))
    for size in (1, 7, 4099):
        result = run("main", np.full((4, size), value, DTYPES[dtype]))[0]
        np.testing.assert_allclose(result.astype(np.float64), 0, atol=1e-3)


@pytest.mark.parametrize(("mean", "spread"), [(0, 1), (1e6, 1), (0, 1e30), (0, 1e-30)])
def test_batch_norm_statistics(mean, spread):
    run = single(
        "batch_norm %0, %1, %2, %3, %4 axis 1 {momentum = 1.0 : f64, training}",
        [("n", 3, "f32"), *[(3, "f32")] * 4],
        ("n", 3, "f32"),
        (3, "f32"),
        (3, "f32"),
    )
    x = normal(mean, spread, (20_001, 3))
    ones, zeros = np.ones(3, np.float32), np.zeros(3, np.float32)
    result, new_mean, new_var = run("main", x, ones, zeros, zeros, zeros)
    center, variance = moments(x, (0,))
    exact = ((x.astype(np.longdouble) - center) / np.sqrt(variance + 1e-5)).astype(np.float64)
    np.testing.assert_allclose(result, exact, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(new_mean, center[0].astype(np.float64), rtol=1e-6, atol=1e-6 * spread)
    if spread == 1:
        np.testing.assert_allclose(new_var, variance[0].astype(np.float64), rtol=2e-5)


@pytest.mark.parametrize("dtype", ["f32", "bf16", "f64"])
@pytest.mark.parametrize("scale", [1, 1e-3, 1e15, 1e19, 1e30, 3e38, 1e-30])
def test_rms_norm(scale, dtype):
    run = single("rms_norm %0 axes [-1] {epsilon = 1.0e-6}", [(3, "c", dtype)], (3, "c", dtype))
    for size in (577, large(80_000)):
        x = np.clip(normal(0, 0.3, (3, size)), -1, 1).astype(np.float64) * scale
        x = x.astype(DTYPES[dtype])
        wide = x.astype(np.longdouble)
        exact = (wide / np.sqrt((wide**2).mean(1, keepdims=True) + 1e-6)).astype(np.float64)
        limit = 2e-6 if dtype == "f32" else 2.0**-8 if dtype == "bf16" else 1e-12
        np.testing.assert_allclose(run("main", x)[0].astype(np.float64), exact, rtol=limit, atol=1e-38)


# Rows with equal exponentials, and rows with many small ones next to a large one.
@pytest.mark.parametrize("size", ["n", 50_000])
def test_softmax_of_long_rows(size):
    length = size if isinstance(size, int) else large(1_000_000)
    soft = single("softmax %0", [(2, size, "f32")], (2, size, "f32"))
    log = single("log_softmax %0", [(2, size, "f32")], (2, size, "f32"))
    lse = single("logsumexp %0 axis [1]", [(2, size, "f32")], (2, "f32"))
    x = np.stack([np.zeros(length), np.where(np.arange(length) == 5, 10, np.cos(np.arange(length)))]).astype(np.float32)
    powers = np.exp(x.astype(np.float64))
    sums = powers.sum(1, keepdims=True)
    np.testing.assert_allclose(soft("main", x)[0], powers / sums, rtol=3e-6)
    np.testing.assert_allclose(log("main", x)[0], x - np.log(sums), rtol=1e-6)
    np.testing.assert_allclose(lse("main", x)[0], np.log(sums)[:, 0], rtol=1e-6)


@pytest.mark.parametrize("dtype", ["f32", "bf16", "f64"])
@pytest.mark.parametrize("mode", ["", "exclusive"])
def test_cumsum(dtype, mode):
    run = single(f"cumsum %0 axis 0 {mode}", [("n", dtype)], ("n", dtype))
    for kind in KINDS:
        x = data(kind, (large(1_000_003),), dtype)
        exact, scale = running(x), running(np.abs(x))
        if mode:
            exact, scale = (np.concatenate([[0], part[:-1]]) for part in (exact, scale))
        check(run("main", x)[0], exact, scale, bound(dtype, 4 * ROUNDOFF["f32"]))


@pytest.mark.parametrize("op", ["avg_pool1d", "adaptive_avg_pool1d"])
def test_pooling(op):
    size = large(200_000)
    text = f"{op} %0 {{pool_size = array<i64: {size}>}}" if op == "avg_pool1d" else f"{op} %0 to [1]"
    run = single(text, [(1, 2, size, "f32")], (1, 2, 1, "f32"))
    x = data("equal", (1, 2, size))
    np.testing.assert_allclose(run("main", x)[0], np.full((1, 2, 1), np.float32(0.1)), rtol=1e-6)


# Many updates of few elements, in floats that soon are too narrow for the next update.
@pytest.mark.parametrize("dtype", ["f32", "bf16"])
def test_scattered_sums(dtype):
    count = 100_000 if targets.current == "cpu" else 5_000
    run = single(
        'scatter_elements %0, %1, %2 axis 0 {reduction = "add"}', [(3, dtype), ("n", "i64"), ("n", dtype)], (3, dtype)
    )
    x, updates = np.array([1, 1, -0.0], DTYPES[dtype]), data("equal", (count,), dtype)
    places = np.arange(count) % 2
    exact = x.astype(np.float64) + np.bincount(places, updates.astype(np.float64), 3)
    result = run("main", x, places, updates)[0]
    check(result, exact, exact, bound(dtype, 4 * ROUNDOFF["f32"]))
    assert np.signbit(result[2])  # no update reached it


@pytest.mark.parametrize("op", ["index_put", "scatter_nd"])
@pytest.mark.parametrize("dtype", ["f32", "bf16"])
def test_sums_at_places(op, dtype):
    count = 100_000 if targets.current == "cpu" else 5_000
    x, updates = np.ones(3, DTYPES[dtype]), data("equal", (count,), dtype)
    places = np.arange(count) % 2
    if op == "index_put":
        text = "index_put %0 at %1 values %2 accumulate"
        run = single(text, [(3, dtype), ("n", "i64"), ("n", dtype)], (3, dtype))
        result = run("main", x, places, updates)[0]
    else:
        text = 'scatter_nd %0, %1, %2 {reduction = "add"}'
        run = single(text, [(3, dtype), ("n", 1, "i64"), ("n", dtype)], (3, dtype))
        result = run("main", x, places[:, None], updates)[0]
    exact = 1 + np.bincount(places, updates.astype(np.float64), 3)
    check(result, exact, exact, bound(dtype, 4 * ROUNDOFF["f32"]))


def test_collapse_sum():
    run = single("collapse_sum_to %0 to [3]", [("n", 3, "f32")], (3, "f32"))
    x = data("equal", (large(300_000), 3))
    check(run("main", x)[0], x.sum(0, np.float64), x.sum(0, np.float64), bound("f32"))


# Infinities and NaN are preserved: compensation for rounding does not turn an infinite sum into NaN.
@pytest.mark.parametrize("size", [10, 1000, 100_000])
def test_infinite_sums(size):
    inf, nan = np.float32(np.inf), np.float32(np.nan)
    rows = np.ones((5, size), np.float32)
    rows[0, 3], rows[1, 7], rows[2, [1, 8]], rows[3, 2] = inf, -inf, [inf, -inf], nan
    rows[4] = 3e38
    expected = [inf, -inf, nan, nan, inf]
    for op in ("sum %0 axis [1]", "sum %0 axis [0]", "mean %0 axis [1]"):
        axis = 0 if "[0]" in op else 1
        x = np.ascontiguousarray(rows.T) if axis == 0 else rows
        run = single(op, [("a", "b", "f32")], ("ab"[1 - axis], "f32"))
        np.testing.assert_array_equal(run("main", x)[0], expected)
    scan = single("cumsum %0 axis 1", [("a", "b", "f32")], ("a", "b", "f32"))
    with np.errstate(all="ignore"):
        actual, plain = scan("main", rows)[0], np.cumsum(rows.astype(np.float64), 1).astype(np.float32)
    np.testing.assert_allclose(actual, plain, rtol=1e-6)


# Results are bitwise equal with one thread and with several, and in each run.
def test_results_do_not_depend_on_threads():
    from relax_mlir import runtime

    x = data("offset", (257, 40_001)) if targets.current == "cpu" else data("offset", (9, 4_001))
    run = single("sum %0 axis [1]", [("a", "b", "f32")], ("a", "f32"))
    norm = single("layer_norm %0 axes [-1]", [("a", "b", "f32")], ("a", "b", "f32"))
    before, results = runtime.thread_count(), []
    try:
        for threads in (1, 2, 3, 2):
            runtime.set_thread_count(threads)
            results.append((run("main", x)[0], norm("main", x)[0]))
    finally:
        runtime.set_thread_count(before)
    for sums, rows in results[1:]:
        np.testing.assert_array_equal(sums, results[0][0])
        np.testing.assert_array_equal(rows, results[0][1])


# A sum and the element-wise functions before and after it are one kernel.
def test_fused_sums():
    source = """
      relax.func @main(%x: tensor<?xf32, #relax.shape<[n]>>) -> tensor<f32> {
        %e = relax.exp %x : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
        %s = relax.sum %e : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<f32>
        %l = relax.sqrt %s : (tensor<f32>) -> tensor<f32>
        relax.return %l : tensor<f32>
      }
    """
    x = data("equal", (large(1_000_001),))
    exact = np.sqrt(np.exp(x.astype(np.float64)).sum())
    np.testing.assert_allclose(targets.load(source)("main", x)[0], exact, rtol=1e-6)

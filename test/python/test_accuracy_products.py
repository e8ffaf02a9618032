# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Errors of sums of products, and of products of many factors, stay within the bounds of docs/accuracy.md."""

import numpy as np
import pytest
import targets
from elements import DTYPES
from kernel_runner import single
from targets import COMPILED as RUNS_ON  # noqa: F401
from test_accuracy import ROUNDOFF, check, data

U = ROUNDOFF["f32"]


def product_bound(dtype: str, terms: int) -> float:
    """The error of a sum of products, relative to the sum of their absolute values, and rounded to the type."""
    if dtype == "f64":
        return 768 * ROUNDOFF["f64"]
    computed = 768 * U if targets.current == "cpu" else (768 + terms / 256) * U
    if dtype == "f32":
        return computed
    # Tensor cores have their own order of summation.
    return max(computed, terms * U / 8) + ROUNDOFF[dtype]


def length(size: int) -> int:
    return size if targets.current == "cpu" else 6_000


# Matmuls with one row, several, and blocks of rows, in the types that are computed in f32.
@pytest.mark.parametrize("dtype", ["f16", "bf16"])
@pytest.mark.parametrize("rows", [1, 3, 64])
@pytest.mark.parametrize("op", ["matmul", "linear"])
def test_narrow_products(op, rows, dtype):
    depth, columns = length(100_000), 33
    matrix = ("k", columns) if op == "matmul" else (columns, "k")
    run = single(f"{op} %0, %1", [("m", "k", dtype), (*matrix, dtype)], ("m", columns, dtype))
    for kind in ("equal", "alternating"):
        x, w = data(kind, (rows, depth), dtype), data("ramp", (depth, columns), dtype)
        w = (w.astype(np.float32) / 100).astype(DTYPES[dtype])  # so that f16 represents the sums
        exact = x.astype(np.float64) @ w.astype(np.float64)
        scale = np.abs(x.astype(np.float64)) @ np.abs(w.astype(np.float64))
        result = run("main", x, w if op == "matmul" else np.ascontiguousarray(w.T))[0]
        check(result, exact, scale, product_bound(dtype, depth))


# Products of two and of three operands, and a dot product.
@pytest.mark.parametrize("dtype", ["f32", "bf16"])
@pytest.mark.parametrize("subscripts", ["ik,kj->ij", "k,k->", "ik,k,kj->ij"])
def test_einsum(subscripts, dtype):
    depth = length(100_000)
    shapes = {"ik": (3, depth), "kj": (depth, 2), "k": (depth,), "ij": (3, 2), "": ()}
    operands, result = subscripts.split("->")
    names = [tuple("k" if dim == depth else dim for dim in shapes[letters]) for letters in operands.split(",")]
    values = ", ".join(f"%{index}" for index in range(len(names)))
    run = single(f'einsum "{subscripts}"({values})', [(*dims, dtype) for dims in names], (*shapes[result], dtype))
    for kind in ("equal", "alternating"):
        arrays = [
            data(kind if index == 0 else "equal", shapes[letters], dtype)
            for index, letters in enumerate(operands.split(","))
        ]
        wide = [array.astype(np.float64) for array in arrays]
        exact = np.einsum(subscripts, *wide)
        scale = np.einsum(subscripts, *map(np.abs, wide))
        check(run("main", *arrays)[0], exact, scale, product_bound(dtype, depth))


# Sums over many keys, similar ones and very different ones; also over long heads.
@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16"])
@pytest.mark.parametrize(("queries", "keys", "size"), [(1, 20_000, 16), (7, 3_000, 16), (3, 50, 1_024)])
def test_attention(queries, keys, size, dtype):
    keys = min(keys, length(keys))
    operands = [("b", "n", 2, size, dtype), ("b", "m", 2, size, dtype), ("b", "m", 2, size, dtype)]
    run = single("attention %0, %1, %2", operands, ("b", "n", 2, size, dtype))
    generator = np.random.default_rng(0)
    q = (generator.standard_normal((1, queries, 2, size)) / 4).astype(DTYPES[dtype])
    k = generator.standard_normal((1, keys, 2, size)).astype(DTYPES[dtype])
    v = data("equal", (1, keys, 2, size), dtype)
    wide = [each.astype(np.float64).transpose(0, 2, 1, 3) for each in (q, k, v)]
    scores = wide[0] @ wide[1].swapaxes(2, 3) / np.sqrt(size)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    exact = (weights @ wide[2]).transpose(0, 2, 1, 3)
    # The error of a score becomes a relative error of its weight; functions add their own errors.
    spread = (np.abs(wide[0]) @ np.abs(wide[1]).swapaxes(2, 3)).max() / np.sqrt(size)
    limit = product_bound(dtype, keys) + 2 * spread * product_bound(dtype, size) + 8 * U
    check(run("main", q, k, v)[0], exact, np.abs(exact), limit)


# Each factor may round once.
@pytest.mark.parametrize("dtype", ["f32", "f64"])
@pytest.mark.parametrize("op", ["prod", "cumprod"])
def test_products_of_many_factors(op, dtype):
    count = 20_000 if targets.current == "cpu" else 2_000
    text, result = ("prod %0 axis [0]", (dtype,)) if op == "prod" else ("cumprod %0 axis 0", ("n", dtype))
    run = single(text, [("n", dtype)], result)
    x = (1 + np.random.default_rng(0).uniform(-1e-3, 1e-3, count)).astype(DTYPES[dtype])
    exact = np.cumprod(x.astype(np.longdouble))
    if op == "prod":
        exact = exact[-1]
    check(run("main", x)[0], exact, np.abs(exact), count * ROUNDOFF[dtype])

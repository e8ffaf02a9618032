# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of ops that create tensors, against NumPy."""

import numpy as np
import pytest
from elements import DTYPES
from kernel_runner import Program, assert_close, random, single, tensor_type
from targets import ALL as RUNS_ON  # noqa: F401

ALL = ["f32", "f16", "bf16", "f64", "i8", "i32", "i64", "ui8", "i1"]


# Tensors filled with one number, with a shape value or the shape of another tensor.
@pytest.mark.parametrize("dtype", ALL)
def test_fill(dtype):
    x, y = tensor_type(("n", 3), "f32"), tensor_type(("n", 3), dtype)
    fill = tensor_type((), "i32")
    run = Program(f"""
        relax.func @main(%x: {x}, %f: {fill}) -> ({y}, {y}, {y}, {y}, {y}, {y}) {{
          %s = relax.shape [n, 3] : !relax.shape<[n, 3]>
          %0 = relax.zeros %s {{dtype = {dtype}}} : (!relax.shape<[n, 3]>) -> {y}
          %1 = relax.ones %s {{dtype = {dtype}}} : (!relax.shape<[n, 3]>) -> {y}
          %2 = relax.zeros_like %x {{dtype = {dtype}}} : ({x}) -> {y}
          %3 = relax.ones_like %x {{dtype = {dtype}}} : ({x}) -> {y}
          %4 = relax.full %s, %f {{dtype = {dtype}}} : (!relax.shape<[n, 3]>, {fill}) -> {y}
          %5 = relax.full_like %x, %f {{dtype = {dtype}}} : ({x}, {fill}) -> {y}
          relax.return %0, %1, %2, %3, %4, %5 : {y}, {y}, {y}, {y}, {y}, {y}
        }}""")
    for n in (0, 1, 5):
        results = run("main", random((n, 3)), np.array(7, np.int32))
        for result, number in zip(results, (0, 1, 0, 1, 7, 7), strict=True):
            assert_close(result, np.full((n, 3), number, DTYPES[dtype]), dtype)


# A narrow float keeps its value.
def test_full_of_float():
    y = tensor_type(("n",), "f16")
    run = Program(f"""
        relax.func @main(%x: {y}, %f: tensor<f16>) -> ({y}, {tensor_type(("n",), "i32")}) {{
          %0 = relax.full_like %x, %f : ({y}, tensor<f16>) -> {y}
          %1 = relax.full_like %x, %f {{dtype = i32}} : ({y}, tensor<f16>) -> {tensor_type(("n",), "i32")}
          relax.return %0, %1 : {y}, {tensor_type(("n",), "i32")}
        }}""")
    floats, integers = run("main", random((3,), "f16"), np.array(2.5, np.float16))
    assert floats.tolist() == [2.5] * 3 and integers.tolist() == [2] * 3


# Ranges that count up and down, with symbolic expressions.
@pytest.mark.parametrize("dtype", ["i64", "i32", "f32", "bf16", "ui8"])
def test_arange(dtype):
    up, down = tensor_type(("n",), dtype), tensor_type(("(n + 1) floordiv 2",), dtype)
    run = Program(f"""
        relax.func @main(%x: {tensor_type(("n",), "f32")}) -> ({up}, {down}, {tensor_type((3,), dtype)}) {{
          %0 = relax.arange n, 2*n, 1 {{dtype = {dtype}}} : {up}
          %1 = relax.arange n, 0, -2 {{dtype = {dtype}}} : {down}
          %2 = relax.arange 1, 10, 3 {{dtype = {dtype}}} : {tensor_type((3,), dtype)}
          relax.return %0, %1, %2 : {up}, {down}, {tensor_type((3,), dtype)}
        }}""")
    for n in (0, 1, 6, 7):
        results = run("main", random((n,)))
        for result, expected in zip(
            results, (np.arange(n, 2 * n), np.arange(n, 0, -2), np.arange(1, 10, 3)), strict=True
        ):
            assert_close(result, expected.astype(DTYPES[dtype]), dtype)


# Diagonals above and below the main diagonal, and outside of the matrix.
@pytest.mark.parametrize("k", [-9, -1, 0, 2, 9])
def test_eye_and_triangles(k):
    x = tensor_type((2, "n", "m"), "f32")
    y = tensor_type(("n", "m"), "i32")
    run = Program(f"""
        relax.func @main(%x: {x}) -> ({y}, {x}, {x}) {{
          %0 = relax.eye n, m {{dtype = i32, k = {k}}} : {y}
          %1 = relax.tril %x {{k = {k}}} : ({x}) -> {x}
          %2 = relax.triu %x {{k = {k}}} : ({x}) -> {x}
          relax.return %0, %1, %2 : {y}, {x}, {x}
        }}""")
    for n, m in ((0, 3), (1, 1), (4, 5), (5, 3)):
        x = random((2, n, m))
        eye, lower, upper = run("main", x)
        assert_close(eye, np.eye(n, m, k, np.int32), "i32")
        assert_close(lower, np.tril(x, k), "f32")
        assert_close(upper, np.triu(x, k), "f32")


# Each result varies along its own dimension; "xy" swaps the first two.
@pytest.mark.parametrize("indexing", ["ij", "xy"])
def test_meshgrid(indexing):
    dims = ("n", 4, 2) if indexing == "ij" else (4, "n", 2)
    run = single(
        f'meshgrid %0, %1, %2 {{indexing = "{indexing}"}}',
        [("n", "f32"), (4, "i32"), (2, "i1")],
        (*dims, "f32"),
        (*dims, "i32"),
        (*dims, "i1"),
    )
    values = [random((3,)), random((4,), "i32"), random((2,), "i1")]
    for actual, expected in zip(run("main", *values), np.meshgrid(*values, indexing=indexing), strict=True):
        np.testing.assert_array_equal(actual, expected)

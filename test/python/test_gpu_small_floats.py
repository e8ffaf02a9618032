# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""8-bit floats: conversions of every number, and matmuls, against NumPy's ml_dtypes."""

import emulated  # noqa: F401  # the driver of this process
import ml_dtypes
import numpy as np
import pytest
import targets
import vulkan

from relax_mlir import Device, Sym, Tensor, compile, nn, op, runtime
from relax_mlir.dtypes import to_numpy
from relax_mlir.models import matrix

SMALL = {"f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2}
OTHERS = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f64": np.float64}


def conversions(pairs):
    """A program with a function for each pair of element types."""
    functions = []
    for a, b in pairs:
        operand, result = (f"tensor<?x{dtype}, #relax.shape<[n]>>" for dtype in (a, b))
        functions.append(f"""
            relax.func @{a}_{b}(%x: {operand}) -> {result} {{
              %0 = relax.astype %x {{dtype = {b}}} : ({operand}) -> {result}
              relax.return %0 : {result}
            }}""")
    return "\n".join(functions)


def assert_same(found, expected):
    """Asserts equality, with NaN where NaN is expected, and including signs elsewhere."""
    found, expected = found.astype(np.float64), expected.astype(np.float64)
    np.testing.assert_array_equal(found, expected)
    numbers = ~np.isnan(expected)
    assert np.array_equal(np.signbit(found)[numbers], np.signbit(expected)[numbers])


# All 8-bit floats convert exactly to other types; numbers between them, ties, out-of-range numbers and NaN convert to
# the nearest 8-bit float.
@pytest.mark.parametrize("target", ["cpu", "cuda-emulated", "vulkan"])
def test_conversions(target):
    pairs = [(a, b) for a in SMALL for b in OTHERS]
    run = targets.LOADERS[target](conversions(pairs + [(b, a) for a, b in pairs]))
    with np.errstate(all="ignore"):
        for a, b in pairs:
            codes = np.arange(256, dtype=np.uint8).view(SMALL[a])
            assert_same(run(f"{a}_{b}", codes)[0], codes.astype(np.float32).astype(OTHERS[b]))
            numbers = np.sort(codes.astype(np.float64)[np.isfinite(codes.astype(np.float64))])
            ties = (numbers[1:] + numbers[:-1]) / 2
            most = float(ml_dtypes.finfo(SMALL[a]).max)
            others = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-30, most * 1.04, most * 1.07, -2 * most])
            x = np.concatenate([ties, ties * 1.001, ties * 0.999, others]).astype(OTHERS[b])
            assert_same(run(f"{b}_{a}", x)[0], x.astype(np.float64).astype(SMALL[a]))


# Arithmetic, selections and constants have the results of f32, rounded; sizes are 0, 1, and others that are not whole
# vectors.
@pytest.mark.parametrize("target", ["cpu", "cuda-emulated", "vulkan"])
def test_arithmetic(target):
    f = np.float32
    for name, dtype in SMALL.items():
        tensor, three = f"tensor<?x3x{name}, #relax.shape<[n, 3]>>", f"tensor<3x{name}>"
        run = targets.LOADERS[target](f"""
            relax.func @main(%x: {tensor}, %y: {tensor}) -> {tensor} {{
              %c = relax.constant dense<[1.0, -2.0, 0.5]> : {three}
              %0 = relax.add %x, %y : ({tensor}, {tensor}) -> {tensor}
              %1 = relax.multiply %0, %c : ({tensor}, {three}) -> {tensor}
              %2 = relax.maximum %1, %x : ({tensor}, {tensor}) -> {tensor}
              relax.return %2 : {tensor}
            }}""")
        for rows in (0, 1, 7, 333):
            generator = np.random.default_rng(rows)
            x, y = (generator.normal(scale=4, size=(rows, 3)).astype(dtype) for _ in range(2))
            expected = (x.astype(f) + y.astype(f)).astype(dtype).astype(f) * np.array([1, -2, 0.5], f)
            expected = np.maximum(expected.astype(dtype).astype(f), x.astype(f)).astype(dtype)
            assert_same(run("main", x, y)[0], expected)


class Product(nn.Module):
    """A matmul with an addition; rows of the matrix."""

    def __init__(self, rows, columns, quantisation, dtype):
        self.w = matrix.make(rows, columns, "groups", quantisation, dtype)

    def forward(self, x, y):
        return self.w.project(x, op.add, y)

    def rows(self, ids):
        return self.w.rows(ids)


# Matrices of 8-bit floats with a scale for each row, whose codes are small integers so that sums are exact; depths that
# are not whole stages, and some that are not whole vectors.
@pytest.mark.parametrize(
    "target, quantisation, dtype, columns, depth",
    [
        ("cpu", "F8_E4M3", "bf16", 40, 96),
        ("cuda:emulated", "F8_E4M3", "bf16", 100, 608),
        ("cuda:emulated", "F8_E4M3", "f16", 33, 288),
        ("cuda:emulated", "F8_E4M3", "f32", 7, 64),
        ("cuda:emulated", "F8_E5M2", "bf16", 33, 40),
        ("cuda:emulated", "F8_E4M3", "bf16", 5, 7),
        ("vulkan", "F8_E4M3", "bf16", 100, 608),
        ("vulkan", "F8_E4M3", "f32", 7, 64),
        ("vulkan", "F8_E5M2", "f16", 33, 40),
        ("vulkan", "F8_E5M2", "bf16", 5, 7),
    ],
)
def test_products(target, quantisation, dtype, columns, depth):
    if target == "vulkan":
        vulkan.require()
    types = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}
    m, generator = Sym("m"), np.random.default_rng(depth)
    params = [Tensor((m, depth), dtype, name="x"), Tensor((m, columns), dtype, name="y")]
    ids = [Tensor((m,), "i64", name="ids")]
    module = nn.export(Product(columns, depth, quantisation, dtype), {"forward": params, "rows": ids})
    codes = generator.integers(-4, 5, (columns, depth)).astype(to_numpy(matrix.FLOATS8[quantisation]))
    scales = (2.0 ** generator.integers(-2, 2, columns)).astype(np.float32)
    executable = compile(module, weights={"w.codes": codes, "w.scales": scales}, target=target)
    device = None if target == "cpu" else Device(target.split(":")[0])

    def call(name, *arguments):
        if device is None:
            return runtime.to_numpy(executable[name](*arguments))
        return device.get(executable[name](*map(device.put, arguments)))

    values = codes.astype(np.float32) * scales[:, None]
    for rows in (0, 1, 2, 9, 33, 70):
        x = generator.integers(-2, 3, (rows, depth)).astype(types[dtype])
        y = np.zeros((rows, columns), types[dtype])
        expected = (x.astype(np.float32) @ values.T).astype(types[dtype])
        assert np.array_equal(call("forward", x, y).view(types[dtype]), expected), rows
    wanted = np.array([0, columns - 1, 2])
    assert np.array_equal(call("rows", wanted).view(types[dtype]), values[wanted].astype(types[dtype]))

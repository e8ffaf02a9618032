# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""bf16 on x86-64, where LLVM calls functions that few machines have, or loses subnormal numbers."""

import ml_dtypes
import numpy as np
import pytest

import relax_mlir
from relax_mlir.runtime import to_numpy

bf16 = ml_dtypes.bfloat16


def tensor(dtype, sizes="n"):
    dims = "x".join(size if size.isdigit() else "?" for size in sizes.split(", "))
    return f"tensor<{dims}x{dtype}, #relax.shape<[{sizes}]>>"


def cast(a, b):
    return f"""
      relax.func @{a}_{b}(%x: {tensor(a)}) -> {tensor(b)} {{
        %0 = relax.astype %x {{dtype = {b}}} : ({tensor(a)}) -> {tensor(b)}
        relax.return %0 : {tensor(b)}
      }}"""


def binary(op):
    return f"""
      relax.func @{op}(%x: {tensor("bf16")}, %y: {tensor("bf16")}) -> {tensor("bf16")} {{
        %0 = relax.{op} %x, %y : ({tensor("bf16")}, {tensor("bf16")}) -> {tensor("bf16")}
        relax.return %0 : {tensor("bf16")}
      }}"""


def unary(op):
    return f"""
      relax.func @{op}(%x: {tensor("bf16")}) -> {tensor("bf16")} {{
        %0 = relax.{op} %x : ({tensor("bf16")}) -> {tensor("bf16")}
        relax.return %0 : {tensor("bf16")}
      }}"""


BINARY = ("add", "subtract", "multiply", "divide", "maximum", "minimum")
UNARY = ("negative", "abs", "sqrt", "exp", "tanh", "floor")
MATMUL = f"""
  relax.func @matmul(%x: {tensor("bf16", "m, k")}, %y: {tensor("bf16", "k, n")}) -> {tensor("bf16", "m, n")} {{
    %0 = relax.matmul %x, %y : ({tensor("bf16", "m, k")}, {tensor("bf16", "k, n")}) -> {tensor("bf16", "m, n")}
    relax.return %0 : {tensor("bf16", "m, n")}
  }}
  relax.func @less(%x: {tensor("bf16")}, %y: {tensor("bf16")}) -> {tensor("i1")} {{
    %0 = relax.less %x, %y : ({tensor("bf16")}, {tensor("bf16")}) -> {tensor("i1")}
    relax.return %0 : {tensor("i1")}
  }}
  relax.func @sum(%x: {tensor("bf16")}) -> tensor<bf16> {{
    %0 = relax.sum %x : ({tensor("bf16")}) -> tensor<bf16>
    relax.return %0 : tensor<bf16>
  }}"""
# The kernel reads its bias lane by lane.
ATTENTION = f"""
  relax.func @attention(%q: {tensor("bf16", "b, n, 4, 6")}, %k: {tensor("bf16", "b, m, 2, 6")},
                        %bias: {tensor("bf16", "m")}) -> {tensor("bf16", "b, n, 4, 6")} {{
    %0 = relax.attention %q, %k, %k, %bias : ({tensor("bf16", "b, n, 4, 6")}, {tensor("bf16", "b, m, 2, 6")},
        {tensor("bf16", "b, m, 2, 6")}, {tensor("bf16", "m")}) -> {tensor("bf16", "b, n, 4, 6")}
    relax.return %0 : {tensor("bf16", "b, n, 4, 6")}
  }}"""
OTHERS = ("f64", "f32", "f16", "i64", "i32", "i8")
PROGRAM = "\n".join(
    [
        *(cast(other, "bf16") for other in OTHERS),
        *(cast("bf16", other) for other in OTHERS),
        *map(binary, BINARY),
        *map(unary, UNARY),
        MATMUL,
        ATTENTION,
    ]
)


# No libgcc function is called, for any vector width.
@pytest.mark.parametrize("cpu", ["x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4", "sapphirerapids"])
def test_nothing_is_called(cpu):
    target = relax_mlir.Target("x86_64-unknown-linux-gnu", cpu)
    code = relax_mlir.compile_code(relax_mlir.parse(PROGRAM), target, cached=False)
    assert b"relax_rt_call" in code.object
    assert b"bf2" not in code.object


@pytest.fixture(scope="module", params=["x86-64-v2", "host"])
def run(request):
    host = relax_mlir.Target.host()
    if not host.triple.startswith("x86_64"):
        pytest.skip(f"runs code for x86-64, not for {host.triple}")
    target = host if request.param == "host" else relax_mlir.Target(host.triple, request.param)
    executable = relax_mlir.compile(relax_mlir.parse(PROGRAM), target=target)
    return {name: lambda *x, call=executable[name]: to_numpy(call(*x)) for name in executable.functions}


def assert_same(found, expected):
    np.testing.assert_array_equal(found.astype(np.float64), expected.astype(np.float64))
    numbers = ~np.isnan(expected.astype(np.float32))
    assert np.array_equal(
        np.signbit(found.astype(np.float32))[numbers], np.signbit(expected.astype(np.float32))[numbers]
    )


# All bf16 numbers, numbers between them, ties, out-of-range numbers, subnormals and NaN.
def test_casts(run):
    every = np.arange(1 << 16, dtype=np.uint32) << 16
    for offset in (0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF):
        x = (every + np.uint32(offset)).view(np.float32)
        with np.errstate(all="ignore"):
            assert_same(run["f32_bf16"](x), x.astype(bf16))
    x = every.view(np.float32).astype(bf16)
    assert_same(run["bf16_f32"](x), x.astype(np.float32))
    assert_same(run["bf16_f64"](x), x.astype(np.float64))
    for dtype in (np.int8, np.int32, np.int64):
        x = np.arange(-128, 128).astype(dtype)
        assert_same(run[f"i{8 * x.itemsize}_bf16"](x), x.astype(bf16))
    x = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    assert_same(run["f16_bf16"](x), x.astype(np.float32).astype(bf16))


# Numbers are rounded once: through f32, the first of these would become 1.
def test_numbers_of_64_bits_are_rounded_once(run):
    step = 2.0**-7
    x = np.array([1 + step / 2 + 2**-40, 1 + step / 2, 1 + step / 2 - 2**-40, -1 - step / 2 - 2**-40, 1e300, -1e-300])
    expected = np.array([1 + step, 1, 1, -1 - step, np.inf, -0.0])
    assert_same(run["f64_bf16"](x), expected.astype(bf16))


@pytest.mark.parametrize("size", [0, 1, 7, 257])
def test_arithmetic(run, size):
    generator = np.random.default_rng(size)
    x, y = (generator.standard_normal(size).astype(bf16) for _ in range(2))
    a, b = x.astype(np.float32), y.astype(np.float32)
    for op in BINARY:
        assert_same(run[op](x, y), getattr(np, op)(a, b).astype(bf16))
    for op in ("negative", "abs", "floor"):
        assert_same(run[op](x), getattr(np, op)(a).astype(bf16))
    with np.errstate(invalid="ignore"):
        for op in ("sqrt", "exp", "tanh"):
            found = run[op](x).astype(np.float32)
            np.testing.assert_allclose(found, getattr(np, op)(a), rtol=2**-7)
    np.testing.assert_array_equal(run["less"](x, y), a < b)
    np.testing.assert_allclose(float(run["sum"](x)), a.sum(), rtol=2**-6, atol=2**-6)


@pytest.mark.parametrize("sizes", [(1, 1, 1), (3, 17, 5), (16, 64, 33), (0, 4, 4)])
def test_products(run, sizes):
    m, k, n = sizes
    generator = np.random.default_rng(k)
    x, y = (generator.standard_normal(shape).astype(bf16) for shape in ((m, k), (k, n)))
    expected = x.astype(np.float32) @ y.astype(np.float32)
    np.testing.assert_allclose(run["matmul"](x, y).astype(np.float32), expected, rtol=2**-7, atol=2**-7)

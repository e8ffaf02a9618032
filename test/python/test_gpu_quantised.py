# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matmuls with quantized matrices, on the emulated GPU, against NumPy.

Scales are powers of two, values small integers: all sums are exact, and results bitwise equal.
"""

import emulated  # noqa: F401  # the driver of this process
import ml_dtypes
import numpy as np
import pytest

from relax_mlir import Device, Sym, Tensor, compile, nn, op
from relax_mlir.models import matrix

ROWS = (0, 1, 2, 7, 16, 33, 70)
TYPES = {"bf16": ml_dtypes.bfloat16, "f16": np.float16, "f32": np.float32}


class Product(nn.Module):
    """A matmul with an addition."""

    def __init__(self, rows, columns, quantisation, dtype):
        self.w = matrix.make(rows, columns, "groups", quantisation, dtype)

    def forward(self, x, y):
        return self.w.project(x, op.add, y)


def parts(rows, columns, quantisation):
    """Random codes, scales and minima by name, and the matrix that they represent."""
    generator = np.random.default_rng(rows + columns)
    groups, size = columns // 32, 32 if quantisation == "Q8_0" else 16
    found = {
        "w.codes": generator.integers(-128, 128, (rows, groups, size)).astype(np.int8),
        "w.scales": (2.0 ** generator.integers(-3, 1, (rows, groups))).astype(np.float16),
    }
    numbers = found["w.codes"]
    if quantisation != "Q8_0":
        nibbles = numbers.view(np.uint8)
        numbers = np.concatenate([nibbles & 15, nibbles >> 4], 2).astype(np.int32)
    if quantisation == "Q4_0":
        numbers = numbers - 8
    values = numbers * found["w.scales"][..., None].astype(np.float32)
    if quantisation == "Q4_1":
        found["w.minima"] = generator.integers(-4, 5, (rows, groups)).astype(np.float16)
        values = values + found["w.minima"][..., None].astype(np.float32)
    return found, values.reshape(rows, columns)


# Rows that are not whole tiles, and depths that end within a tile, or are shorter; also an odd number of groups, whose
# scales cannot be copied.
SIZES = [
    ("Q4_0", "bf16", 100, 640),
    ("Q4_1", "bf16", 33, 576),
    ("Q8_0", "bf16", 40, 320),
    ("Q4_0", "bf16", 40, 96),
    ("Q4_0", "bf16", 100, 608),
    ("Q4_0", "f16", 7, 32),
    ("Q4_0", "f32", 40, 160),
    ("Q4_1", "bf16", 33, 288),
    ("Q4_1", "f32", 7, 96),
    ("Q8_0", "bf16", 40, 288),
    ("Q8_0", "f16", 100, 64),
    ("Q8_0", "f32", 33, 96),
]


@pytest.mark.parametrize("quantisation, dtype, columns, depth", SIZES)
def test_products(quantisation, dtype, columns, depth):
    device, m = Device("cuda"), Sym("m")
    stored, values = parts(columns, depth, quantisation)
    params = [Tensor((m, depth), dtype, name="x"), Tensor((m, columns), dtype, name="y")]
    module = nn.export(Product(columns, depth, quantisation, dtype), {"forward": params})
    forward = compile(module, weights=stored, target="cuda:emulated")["forward"]
    generator = np.random.default_rng(0)
    for rows in ROWS:
        x = generator.integers(-2, 3, (rows, depth)).astype(TYPES[dtype])
        y = np.zeros((rows, columns), TYPES[dtype])
        found = device.get(forward(device.put(x), device.put(y))).view(TYPES[dtype])
        expected = (x.astype(np.float32) @ values.T).astype(TYPES[dtype])
        assert np.array_equal(found, expected), rows


# Enough columns that each block takes several, and the last block only a part.
def test_many_columns():
    device = Device("cuda")
    stored, values = parts(4101, 64, "Q4_0")
    params = [Tensor((1, 64), "bf16", name="x"), Tensor((1, 4101), "bf16", name="y")]
    module = nn.export(Product(4101, 64, "Q4_0", "bf16"), {"forward": params})
    forward = compile(module, weights=stored, target="cuda:emulated")["forward"]
    x = np.arange(-32, 32).astype(ml_dtypes.bfloat16)[None]
    y = np.ones((1, 4101), ml_dtypes.bfloat16)
    found = device.get(forward(device.put(x), device.put(y))).view(ml_dtypes.bfloat16)
    product = (x.astype(np.float32) @ values.T).astype(ml_dtypes.bfloat16)
    assert np.array_equal(found, (product.astype(np.float32) + 1).astype(ml_dtypes.bfloat16))

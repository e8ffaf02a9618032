# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matmuls and attention by cooperative matrices, against NumPy.

No driver that runs on a CPU supports them: kernels of "subgroup_32_matrices" run on the emulated device, where
`relax-gpu-expand-matrices` expands them lane by lane.
"""

import emulated  # noqa: F401  # the driver of this process
import pytest
import test_gpu_attention
import test_gpu_matmul
from test_gpu_matmul import product_text

from relax_mlir import Device, compile, parse
from relax_mlir.pipelines import gpu

CHIP = "subgroup_32_matrices"


@pytest.fixture(scope="module")
def device():
    return Device("cuda")


def compiled(module):
    pipeline = gpu.default_pipeline(chip=CHIP)
    return compile(module, target="cuda:emulated", pipeline=pipeline)["main"]


# Whole and partial tiles, along rows, columns and depth; both memory orders.
@pytest.mark.parametrize(
    "layout, columns, depth, dtype", [("nk", 40, 100, "bf16"), ("kn", 72, 48, "bf16"), ("nk", 24, 136, "f16")]
)
def test_products(device, layout, columns, depth, dtype):
    main = compiled(parse(product_text(layout, columns, depth, dtype)))
    for rows in (0, 1, 3, 17, 33, 65):
        test_gpu_matmul.check(device, main, layout, rows, columns, depth, dtype)


# Enough columns that the largest tiles are chosen, none of which is whole. The emulator takes a minute.
@pytest.mark.more
def test_largest_tiles(device):
    main = compiled(parse(product_text("nk", 8456, 24, "bf16", rows=130)))
    test_gpu_matmul.check(device, main, "nk", 130, 8456, 24, "bf16")


# Queries of a partial block and of several blocks; columns from few to many steps.
@pytest.mark.parametrize("dtype, heads, group, size", [("bf16", 1, 3, 64), ("f16", 1, 9, 16)])
def test_attention(device, dtype, heads, group, size):
    main = compiled(test_gpu_attention.program(heads, group, size, dtype))
    for length, rows in [(5, 5), (25, 100), (3, 300)]:
        test_gpu_attention.check(device, main, dtype, heads, group, size, length, rows, -(-rows // 8) * 8, [0])

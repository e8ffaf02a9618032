# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matmuls whose rows come from a norm, on the emulated GPU: for one row, each block computes the norm itself."""

import emulated  # the driver of this process
import ml_dtypes
import numpy as np
import pytest

from relax_mlir import Device, compile, parse

TYPES = {"bf16": (ml_dtypes.bfloat16, 0.05), "f16": (np.float16, 0.01), "f32": (np.float32, 1e-4)}
ROWS = (0, 1, 2, 3, 17, 70)


def rms_norm(x, gain):
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-5) * gain


def layer_norm(x, gain):
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * gain


def softmax(x, gain):
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


NORMS = {
    rms_norm: "relax.rms_norm %x weight %g axes [-1] : ({x}, {g}) -> {x}",
    layer_norm: "relax.layer_norm %x gamma %g axes [-1] : ({x}, {g}) -> {x}",
    softmax: "relax.softmax %x axis -1 : ({x}) -> {x}",
}

ONE_LAUNCH = (rms_norm, layer_norm)
"""Norms that each block computes itself: all steps but the last give one number per row."""


def text(norm, depth, columns, dtype, together):
    """Two matmuls of the result of `norm`; `together`: multiplied element-wise."""
    tensor = lambda n: f"tensor<?x{n}x{dtype}, #relax.shape<[n, {n}]>>"  # noqa: E731
    x, g, w, v = tensor(depth), f"tensor<{depth}x{dtype}>", *(f"tensor<{c}x{depth}x{dtype}>" for c in columns)
    y, z = map(tensor, columns)
    end = (
        f"""
      %2 = relax.multiply %0, %1 : ({y}, {z}) -> {y}
      relax.return %2 : {y}"""
        if together
        else f"relax.return %0, %1 : {y}, {z}"
    )
    return f"""
    relax.func @main(%x: {x}, %g: {g}, %w: {w}, %v: {v}) -> {y if together else f"({y}, {z})"} {{
      %h = {NORMS[norm].format(x=x, g=g)}
      %0 = relax.linear %h, %w : ({x}, {w}) -> {y}
      %1 = relax.linear %h, %v : ({x}, {v}) -> {z}
      {end}
    }}"""


# Depths of whole or partial vectors, shorter and longer than one pass of a block's threads; columns that divide evenly
# among blocks or not.
@pytest.mark.parametrize("together", [False, True], ids=["apart", "together"])
@pytest.mark.parametrize(
    "norm, depth, columns, dtype",
    [
        (rms_norm, 48, (32, 20), "f32"),
        (rms_norm, 576, (40, 9), "bf16"),
        (rms_norm, 37, (5, 8), "f32"),
        (rms_norm, 9000, (3, 2), "bf16"),
        (layer_norm, 264, (33, 64), "f16"),
        (softmax, 136, (16, 7), "f32"),
    ],
)
def test_rows_of_a_norm(norm, depth, columns, dtype, together):
    if together:
        columns = columns[:1] * 2
    main = compile(parse(text(norm, depth, columns, dtype, together)), target="cuda:emulated")["main"]
    device, (kind, tolerance) = Device("cuda"), TYPES[dtype]
    random = np.random.default_rng(0)
    g, w, v = (random.standard_normal(s).astype(kind) for s in ((depth,), *((c, depth) for c in columns)))
    for rows in ROWS:
        x = random.standard_normal((rows, depth)).astype(kind)
        with emulated.launches() as launches:
            found = main(*map(device.put, (x, g, w, v)))
        h = norm(*(value.astype(np.float64) for value in (x, g)))
        wanted = [h @ matrix.astype(np.float64).T for matrix in (w, v)]
        if together:
            found, wanted = [found], [wanted[0] * wanted[1]]
        if rows == 1 and norm in ONE_LAUNCH and depth % 8 == 0:
            assert len(launches) == 1
        for result, numbers in zip(found, wanted, strict=True):
            scale = max(1.0, np.abs(numbers).max(initial=0))
            actual = device.get(result).view(kind).astype(np.float64)
            np.testing.assert_allclose(actual, numbers, rtol=0, atol=tolerance * scale)

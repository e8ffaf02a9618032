# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels with several reductions of the same rows, which share memory with results and with each other.

Fusion puts only one reduction into a kernel, so kernels with more are given as text, as users write them.
"""

import random

import numpy as np
import pytest

import relax_mlir
from relax_mlir import parse
from relax_mlir.runtime import to_numpy

MAPS = {"ij": "affine_map<(i, j) -> (i, j)>", "i": "affine_map<(i, j) -> (i)>"}
TYPES = {"ij": "tensor<?x?xf32>", "i": "tensor<?xf32>"}
T = "tensor<?x?xf32, #relax.shape<[n, m]>>"


class Kernel:
    """Rows `exp(scale * x)`, each divided by its sum; their sum is the result."""

    def __init__(self, seed):
        pick = random.Random(seed)
        self.scales = [pick.choice((-1.0, -0.5, 0.25, 0.5, 1.0)) for _ in range(pick.randint(2, 3))]
        lines, rows = [], []
        for index, scale in enumerate(self.scales):
            lines += [
                f"%c{index} = arith.constant {scale} : f32",
                f"%ei{index} = tensor.empty(%n, %m) : {TYPES['ij']}",
                self.nest(f"e{index}", "ij", f"%ei{index}", [("%x", "ij")], [
                    f"%p = arith.mulf %v0, %c{index} : f32", "%y = math.exp %p : f32"]),
                f"%si{index} = tensor.empty(%n) : {TYPES['i']}",
                f"%sf{index} = linalg.fill ins(%zero : f32) outs(%si{index} : {TYPES['i']}) -> {TYPES['i']}",
                self.nest(f"s{index}", "i", f"%sf{index}", [(f"%e{index}", "ij")], ["%y = arith.addf %o, %v0 : f32"]),
            ]  # fmt: skip
            rows += [(f"%e{index}", "ij"), (f"%s{index}", "i")]
        if pick.random() < 0.5:
            # Reductions after all rows, so that these are live at the same time.
            lines = [line for line in lines if line.startswith(("%c", "%e"))] + [
                line for line in lines if line.startswith("%s")
            ]
        terms = [f"%q{k} = arith.divf %v{2 * k}, %v{2 * k + 1} : f32" for k in range(len(self.scales))]
        sums = ["%a1 = arith.addf %q0, %q1 : f32"]
        sums += [f"%a{k} = arith.addf %a{k - 1}, %q{k} : f32" for k in range(2, len(self.scales))]
        last = f"%y = arith.addf %a{len(self.scales) - 1}, %zero : f32"
        lines.append(self.nest("r", "ij", "%d", rows, [*terms, *sums, last]))
        body = "\n".join(lines)
        self.source = f"""
        func.func private @rows(%x: {TYPES["ij"]} {{relax.shape = #relax.shape<[a, b]>}},
                                %d: {TYPES["ij"]} {{relax.shape = #relax.shape<[a, b]>}}) -> {TYPES["ij"]} {{
          %zero = arith.constant 0.0 : f32
          %c_0 = arith.constant 0 : index
          %c_1 = arith.constant 1 : index
          %n = tensor.dim %x, %c_0 : {TYPES["ij"]}
          %m = tensor.dim %x, %c_1 : {TYPES["ij"]}
          {body}
          return %r : {TYPES["ij"]}
        }}
        relax.func @main(%x: {T}) -> {T} {{
          %0 = relax.call_tir @rows(%x) : ({T}) -> {T}
          relax.return %0 : {T}
        }}"""

    @staticmethod
    def nest(name, write, init, reads, body):
        maps = ", ".join(MAPS[place] for _, place in [*reads, ("", write)])
        kinds = '"parallel", "reduction"' if write == "i" else '"parallel", "parallel"'
        ins, types = ", ".join(value for value, _ in reads), ", ".join(TYPES[place] for _, place in reads)
        arguments = ", ".join([*(f"%v{k}: f32" for k in range(len(reads))), "%o: f32"])
        lines = "\n".join([*body, "linalg.yield %y : f32"])
        return (
            f"%{name} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}} "
            f"ins({ins} : {types}) outs({init} : {TYPES[write]}) {{\n^bb0({arguments}):\n{lines}\n}} -> {TYPES[write]}"
        )

    def expected(self, x):
        rows = [np.exp(np.float32(scale) * x) for scale in self.scales]
        return sum(row / row.sum(1, keepdims=True) for row in rows)


@pytest.mark.parametrize("seed", range(6))
def test_several_reductions_of_one_row(seed):
    kernel = Kernel(seed)
    executable = relax_mlir.compile(parse(kernel.source), cached=False)
    for shape in ((3, 17), (1, 1), (5, 130), (0, 4)):
        x = np.random.default_rng(seed).standard_normal(shape).astype(np.float32)
        actual = to_numpy(executable["main"](x))
        np.testing.assert_allclose(actual, kernel.expected(x), rtol=2e-4, atol=2e-5, err_msg=f"{seed=} {shape=}")

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A compiler pass in Python that rewrites ops, as one step of a pipeline.

The pass turns `x / sqrt(y)` into `x * rsqrt(y)`. It works on the IR through MLIR's own Python bindings. The module is
the same IR that `relax-opt` reads, so a file shows what passes written in C++ do with the result.

    python examples/own_pass.py
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from mlir import ir

from relax_mlir import BlockBuilder, Module, Sym, Tensor, compile, op
from relax_mlir.pipelines import DeduceShapes, Pipeline, Simplify
from relax_mlir.pipelines.cpu import default_pipeline


def use_rsqrt(module: Module) -> None:
    """Rewrites each division by a square root. `Simplify` removes the square roots that are left without a use."""
    divisions = []

    def visit(operation: ir.Operation) -> ir.WalkResult:
        if operation.name == "relax.divide":
            divisor = operation.operands[1].owner  # an op, or the block whose argument it is
            if not isinstance(divisor, ir.Block) and divisor.operation.name == "relax.sqrt":
                divisions.append(operation)
        return ir.WalkResult.ADVANCE

    module.ir.operation.walk(visit)
    for division in divisions:
        dividend, root = division.operands
        with division.location, ir.InsertionPoint(division):
            inverse = ir.Operation.create("relax.rsqrt", [root.type], list(root.owner.operands))
            product = ir.Operation.create("relax.multiply", [division.results[0].type], [dividend, inverse.results[0]])
        division.results[0].replace_all_uses_with(product.results[0])
        division.erase()


def build() -> Module:
    bb, n = BlockBuilder(), Sym("n")
    x, y = Tensor((n, 4), "f32", name="x"), Tensor((n, 1), "f32", name="y")
    with bb.function("main", [x, y]):
        with bb.dataflow():
            result = bb.emit_output(op.divide(x, op.sqrt(y)))
        bb.return_(result)
    return bb.module()


def main() -> None:
    module = build()
    print(f"before:\n{module}")
    Pipeline([DeduceShapes(), use_rsqrt, Simplify()]).run(module)
    print(f"after:\n{module}")

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "module.mlir"
        module.save(path)
        tool = Path(sys.executable).parent / "relax-opt"  # the package's tools are next to its Python
        command = [str(tool), str(path), "--relax-legalize"]
        shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        print("the kernels that relax-opt --relax-legalize makes of it:")
        print("\n".join(line for line in shown.splitlines() if "func.func" in line or "math." in line))

    # The pass also fits before the standard pipeline of `compile`.
    run = compile(build(), pipeline=Pipeline([DeduceShapes(), use_rsqrt, default_pipeline()]))["main"]
    x, y = np.ones((3, 4), np.float32), np.full((3, 1), 4, np.float32)
    print("result:", run(x, y)[0])


if __name__ == "__main__":
    main()

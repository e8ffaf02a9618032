# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The memory plan of a program with dynamic sizes: which tensors share a storage, and what that saves.

Sizes are expressions of the symbols, so the plan is made once and holds for every call. With matplotlib installed
(pip install matplotlib), and `--plot`, the example draws which storage is in use while which op runs.

    python examples/memory_plan.py [--plot] [n]
"""

import sys

import numpy as np

from relax_mlir import BlockBuilder, MissingPackageError, Module, Range, Sym, Tensor, compile, op
from relax_mlir.compiler import describe_memory
from relax_mlir.pipelines.cpu import default_pipeline
from relax_mlir.runtime import pool_statistics, reset_pool_peak

LAYERS = 6


def build() -> Module:
    """A chain of layers, of which each result is needed by the next layer only."""
    bb, n = BlockBuilder(), Sym("n")
    x, w = Tensor((n, 64), "f32", name="x"), Tensor((64, 64), "f32", name="w")
    with bb.function("main", [x, w], symbols={n: Range(1, 4096)}):
        with bb.dataflow():
            value = x
            for _ in range(LAYERS):
                value = bb.emit(op.tanh(op.matmul(value, w)))
            result = bb.emit_output(op.sum(value, axis=[1]))
        bb.return_(result)
    return bb.module()


def main() -> None:
    options = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    n = int(options[0]) if options else 1000
    module = build()
    planned = module.clone()
    default_pipeline().run(planned)

    plan = describe_memory(planned)["main"]
    for name, text in (("unplanned", "a memory for each tensor"), ("planned", "with the plan"), ("peak", "at least")):
        print(f"{text:25} {plan[f'{name}_bytes']} bytes")
    print("\nstorages, and the tensors in them:")
    for line in str(planned).splitlines():
        if "relax.alloc_storage" in line or "relax.tensor_from_storage" in line:
            print("  " + line.strip()[:110])

    run = compile(module)["main"]
    x, w = np.ones((n, 64), np.float32), np.eye(64, dtype=np.float32)
    reset_pool_peak()
    run(x, w)
    print(f"\na call with n = {n} had at most {pool_statistics().peak} bytes of memory in use")

    if "--plot" in sys.argv:
        from relax_mlir.cli.plot import draw

        try:
            print("drawn:", ", ".join(map(str, draw(planned, {"n": n}))))
        except MissingPackageError as error:
            print(error)


if __name__ == "__main__":
    main()

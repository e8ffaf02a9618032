# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ops that a library does, found by patterns: `DispatchLibrary` replaces them by calls of the library.

A pattern is a graph function whose body is what the library computes. Its types are conditions, which must be proved:
here the product must have at least 64 columns, and the bias as many. What does not match is compiled as usual.

    python examples/dispatch.py
"""

import tempfile
from pathlib import Path

import numpy as np
import tvm_ffi

from relax_mlir import BlockBuilder, Module, Sym, Tensor, compile, op
from relax_mlir.pipelines import DispatchLibrary, Pipeline

PATTERN = """
!x = tensor<?x?xf32, #relax.shape<[m, k]>>
!w = tensor<?x?xf32, #relax.shape<[k, n]>>
!b = tensor<?xf32, #relax.shape<[n]>>
!y = tensor<?x?xf32, #relax.shape<[m, n]>>
relax.func private @matmul_bias(%x: !x, %w: !w, %b: !b) -> !y
    attributes {relax.library = {function = "example.matmul_bias", relax.borrows},
                relax.symbols = {n = #relax.range<64>}} {
  %0 = relax.matmul %x, %w : (!x, !w) -> !y
  %1 = relax.add %0, %b : (!y, !b) -> !y
  relax.return %1 : !y
}
"""

calls: list[tuple[int, ...]] = []


@tvm_ffi.register_global_func("example.matmul_bias")
def matmul_bias(x, w, b, out) -> None:
    """What the library does; the shapes of its calls are noted."""
    calls.append(tuple(out.shape))
    np.from_dlpack(out)[...] = np.from_dlpack(x) @ np.from_dlpack(w) + np.from_dlpack(b)


def build() -> Module:
    """Two layers."""
    bb, batch = BlockBuilder(), Sym("batch")
    shapes = ((batch, 32), (32, 128), (128,), (128, 10), (10,))
    with bb.function("main", [Tensor(shape, "f32") for shape in shapes]) as function:
        x, w1, b1, w2, b2 = function.params
        with bb.dataflow():
            hidden = bb.emit(op.relu(op.add(op.matmul(x, w1), b1)))
            result = bb.emit_output(op.add(op.matmul(hidden, w2), b2))  # 10 columns: too few
        bb.return_(result)
    return bb.module()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "patterns.mlir"
        table.write_text(PATTERN)
        dispatch = DispatchLibrary(table=str(table))
        module = build()
        Pipeline([dispatch]).run(module)
        run = compile(module)["main"]
    for line in str(module).splitlines():
        if "relax.call_library" in line or "relax.matmul" in line:
            print(line.strip())

    rng = np.random.default_rng(0)
    x, w1, b1, w2, b2 = (
        rng.standard_normal(s).astype(np.float32) for s in ((5, 32), (32, 128), (128,), (128, 10), (10,))
    )
    expected = np.maximum(x @ w1 + b1, 0) @ w2 + b2
    np.testing.assert_allclose(run(x, w1, b1, w2, b2), expected, rtol=1e-3, atol=1e-3)
    print("the library was called for results of the shapes", calls)


if __name__ == "__main__":
    main()

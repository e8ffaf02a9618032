# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A kernel of your own: a tensor program in linalg, called from the graph by `call_tir`.

The kernel computes running sums, which no single graph op says. Its last parameter is the tensor that it fills. The
symbol `n` in the types of the parameters says which sizes are equal; the compiler checks each call against them.

    python examples/own_kernel.py
"""

import numpy as np

from relax_mlir import BlockBuilder, RelaxError, Sym, Tensor, compile, op

KERNEL = """
func.func private @running_sum(
    %x: tensor<?x8xf32> {relax.shape = #relax.shape<[n, 8]>},
    %out: tensor<?x8xf32> {relax.shape = #relax.shape<[n, 8]>}) -> tensor<?x8xf32> {
  %zero = arith.constant 0.0 : f32
  %cleared = linalg.fill ins(%zero : f32) outs(%out : tensor<?x8xf32>) -> tensor<?x8xf32>
  %result = linalg.generic {
      indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x : tensor<?x8xf32>) outs(%cleared : tensor<?x8xf32>) {
  ^bb0(%value: f32, %sum: f32):
    %j = linalg.index 1 : index
    %k = linalg.index 2 : index
    %counts = arith.cmpi ule, %k, %j : index
    %more = arith.addf %sum, %value : f32
    %next = arith.select %counts, %more, %sum : f32
    linalg.yield %next : f32
  } -> tensor<?x8xf32>
  return %result : tensor<?x8xf32>
}
"""


def main() -> None:
    bb, n = BlockBuilder(), Sym("n")
    bb.add_kernels(KERNEL)
    x = Tensor((n, 8), "f32", name="x")
    with bb.function("main", [x]):
        with bb.dataflow():
            y = bb.emit(op.call_tir("running_sum", [op.exp(x)], Tensor((n, 8), "f32")))
            result = bb.emit_output(op.log(y))
        bb.return_(result)

    run = compile(bb.module())["main"]
    for size in (1, 5):
        x = np.linspace(0, 1, 8 * size, dtype=np.float32).reshape(size, 8)
        np.testing.assert_allclose(run(x), np.log(np.cumsum(np.exp(x), axis=1)), rtol=1e-5)
        print(f"n = {size}: agrees with NumPy's cumsum")

    # A call whose types contradict those of the kernel is an error that names its line.
    try:
        wrong = BlockBuilder()
        wrong.add_kernels(KERNEL)
        with wrong.function("main", [Tensor((n, 9), "f32")]) as function:
            wrong.return_(op.call_tir("running_sum", function.params, Tensor((n, 9), "f32")))
        compile(wrong.module())
    except RelaxError as error:
        print("refused:", str(error).splitlines()[0])


if __name__ == "__main__":
    main()

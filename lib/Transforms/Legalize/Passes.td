//===- Passes.td - graph ops to kernels --------------------*- tablegen -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TRANSFORMS_LEGALIZE_PASSES_TD
#define RELAX_TRANSFORMS_LEGALIZE_PASSES_TD

include "mlir/Pass/PassBase.td"

def LegalizePass : Pass<"relax-legalize", "::mlir::ModuleOp"> {
  let summary = "turn graph ops into calls of kernels";
  let description = [{
    Replaces each op on tensors by a `relax.call_tir` of a kernel that computes it,
    a `func.func` on plain tensors. Equal kernels are made once, whatever the symbols
    of their callers are called. What remains:

    - ops on shapes, tuples, symbols and functions, and control flow;
    - `relax.reshape`, which is an alias where the program runs; `relax.flatten`,
      `relax.expand_dims` and `relax.squeeze` become one;
    - `relax.constant`, save that an operand whose elements are all one number
      becomes a number of the kernel.

    A dimension of which nothing is known gets a symbol, by a `relax.match_cast`.
    Conditions on sizes that an op states and that cannot be proved are checked by a
    `relax.assert` before the call; a dataflow block around it is dissolved, and a
    function that holds one is no longer `pure`.

    What sorts or goes along a line in order is a loop of one thread, which does the
    least work. With `many-threads`, for GPUs, it is parts in `scf.forall` instead:
    lines are sorted by passes over all elements, and scans go along chunks.

    An op without a kernel is an error, unless `allow-partial` is set: then it stays.

    Before:

    ```mlir
    relax.func @main(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>> {
      %0 = relax.exp %x : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
      relax.return %0 : tensor<?x4xf32, #relax.shape<[n, 4]>>
    }
    ```

    After:

    ```mlir
    relax.func @main(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>> {
      %0 = relax.call_tir @exp(%x) : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
      relax.return %0 : tensor<?x4xf32, #relax.shape<[n, 4]>>
    }
    func.func private @exp(%x: tensor<?x4xf32> {relax.shape = #relax.shape<[s0, 4]>},
                           %y: tensor<?x4xf32> {relax.shape = #relax.shape<[s0, 4]>})
        -> (tensor<?x4xf32> {relax.shape = #relax.shape<[s0, 4]>}) {
      %0 = linalg.generic {
          indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>],
          iterator_types = ["parallel", "parallel"]}
          ins(%x : tensor<?x4xf32>) outs(%y : tensor<?x4xf32>) {
      ^bb0(%a: f32, %b: f32):
        %1 = math.exp %a : f32
        linalg.yield %1 : f32
      } -> tensor<?x4xf32>
      return %0 : tensor<?x4xf32>
    }
    ```
  }];
  let options = [
    Option<"allowPartial", "allow-partial", "bool", "false",
           "leave ops without a kernel in place">,
    Option<"manyThreads", "many-threads", "bool", "false",
           "sort and scan by kernels that have work for many threads">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"
  ];
}

def FoldEmptyTensorsPass : Pass<"relax-fold-empty-tensors", "::mlir::func::FuncOp"> {
  let summary = "drop the work of kernels on tensors without elements";
  let description = [{
    For kernels whose types have a dimension of 0, in tensor form or between buffers
    and tensors. A structured op with a loop of size 0 is replaced by its inits, so
    a reduction over nothing gives what it starts from; so are loops without an
    iteration. Insertions of empty slices, empty parts of concatenations, and writes
    of results without elements go; what pads an empty tensor is the padding alone.
    Ops that nothing uses any more are removed.

    Runs before kernels are scheduled: what is left to schedule has elements, as far
    as types tell.

    Before:

    ```mlir
    func.func @k(%x: tensor<?x0xf32>, %out: tensor<?xf32>) -> tensor<?xf32> {
      %zero = arith.constant 0.0 : f32
      %0 = linalg.fill ins(%zero : f32) outs(%out : tensor<?xf32>) -> tensor<?xf32>
      %1 = linalg.reduce ins(%x : tensor<?x0xf32>) outs(%0 : tensor<?xf32>) dimensions = [1]
        (%a: f32, %b: f32) {
          %s = arith.addf %a, %b : f32
          linalg.yield %s : f32
        }
      return %1 : tensor<?xf32>
    }
    ```

    After:

    ```mlir
    func.func @k(%x: tensor<?x0xf32>, %out: tensor<?xf32>) -> tensor<?xf32> {
      %zero = arith.constant 0.0 : f32
      %0 = linalg.fill ins(%zero : f32) outs(%out : tensor<?xf32>) -> tensor<?xf32>
      return %0 : tensor<?xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

#endif // RELAX_TRANSFORMS_LEGALIZE_PASSES_TD

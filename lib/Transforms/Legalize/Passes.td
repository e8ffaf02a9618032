//===- Passes.td - graph ops to kernels --------------------*- tablegen -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TRANSFORMS_LEGALIZE_PASSES_TD
#define RELAX_TRANSFORMS_LEGALIZE_PASSES_TD

include "mlir/Pass/PassBase.td"

def CheckIndicesPass : Pass<"relax-check-indices", "::mlir::ModuleOp"> {
  let summary = "insert checks of indices that may be invalid";
  let description = [{
    Puts a `relax.check_indices` before each op whose indices must be valid and are
    not proved to be: `relax.take` with mode `raise`, `relax.gather_elements`,
    `relax.gather_nd`, `relax.scatter_elements`, `relax.scatter_nd`,
    `relax.index_tensor`, `relax.index_put`, `relax.rotary_embedding` with positions
    in tables, and `relax.call_tir` of a kernel whose parameter has a
    `relax.index_bound`. Ops that have a meaning for every integer are left as they
    are: other modes of `relax.take`, `relax.one_hot`, slices.

    Valid are, for what is known of the symbols, indices that come from
    `relax.arange`, the ops that return positions (`argmax`, `argsort`, `topk`,
    `nonzero`, `unique`, `bucketize`), constants, `clip`, `minimum` and `maximum`,
    remainders, Booleans, and sums and products of these that do not wrap around;
    also through reshapes, slices, joins and choices (lib/Analysis/IndexRanges.h).
    Nothing is assumed of parameters. An equal check that has been made before is not
    repeated.

    A dimension of which nothing is known gets a symbol, by a `relax.match_cast`. A
    dataflow block around a check is dissolved, and a function that holds one is no
    longer `pure`.

    Runs before `relax-legalize`, for functions that run on the host: kernels of
    devices cannot fail.

    Before:

    ```mlir
    relax.func @main(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %i: tensor<?xi64, #relax.shape<[m]>>) -> tensor<?x4xf32, #relax.shape<[m, 4]>> {
      %0 = relax.take %x, %i axis 0 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?xi64, #relax.shape<[m]>>) -> tensor<?x4xf32, #relax.shape<[m, 4]>>
      relax.return %0 : tensor<?x4xf32, #relax.shape<[m, 4]>>
    }
    ```

    After:

    ```mlir
    relax.func @main(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %i: tensor<?xi64, #relax.shape<[m]>>) -> tensor<?x4xf32, #relax.shape<[m, 4]>> {
      relax.check_indices %i in [n] of ["dimension 0 of x"] for "take" "indices" : tensor<?xi64, #relax.shape<[m]>>
      %0 = relax.take %x, %i axis 0 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?xi64, #relax.shape<[m]>>) -> tensor<?x4xf32, #relax.shape<[m, 4]>>
      relax.return %0 : tensor<?x4xf32, #relax.shape<[m, 4]>>
    }
    ```
  }];
}

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

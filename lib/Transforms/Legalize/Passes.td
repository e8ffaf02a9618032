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
    Inserts a `relax.check_indices` before each op whose indices must be valid and are not
    proved to be: `relax.take` with mode `raise`, `relax.gather_elements`,
    `relax.gather_nd`, `relax.scatter_elements`, `relax.scatter_nd`, `relax.index_tensor`,
    `relax.index_put`, `relax.rotary_embedding` with positions in tables, and
    `relax.call_tir` of a kernel whose parameter has a `relax.index_bound`. Ops that
    accept any integer are left alone: other modes of `relax.take`, `relax.one_hot`,
    slices.

    Indices are proved valid, using the known facts about symbols, if they come from
    `relax.arange`, ops that return positions (`argmax`, `argsort`, `topk`, `nonzero`,
    `unique`, `bucketize`), constants, `clip`, `minimum` and `maximum`, remainders,
    Booleans, and sums and products of these that do not wrap around; also through
    reshapes, slices, joins and choices (lib/Analysis/IndexRanges.h). Nothing is assumed
    about parameters. A check is not repeated if an equal one precedes it.

    An unknown dimension gets a symbol from a `relax.match_cast`. A dataflow block around
    a check is dissolved, and a function that contains one is no longer `pure`.

    Runs before `relax-legalize`, on functions that run on the host: device
    kernels cannot fail.

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
  let summary = "lower graph ops to calls of kernels";
  let description = [{
    Replaces each op on tensors by a `relax.call_tir` of a kernel that computes it, a
    `func.func` on plain tensors. Equal kernels are created once, regardless of the names
    of their callers' symbols. These ops remain:

    - ops on shapes, tuples, symbols and functions, and control flow;
    - `relax.reshape`, which is an alias at run time; `relax.flatten`, `relax.expand_dims`
      and `relax.squeeze` become one;
    - `relax.constant`, except that an operand whose elements are all the same
      number becomes a number in the kernel.

    An unknown dimension gets a symbol from a `relax.match_cast`. Conditions of an op on
    sizes that cannot be proved are checked by a `relax.assert` before the call; a
    dataflow block around it is dissolved, and a function that contains one is no longer
    `pure`.

    Sorts and scans become sequential loops of a single thread, which do the least work.
    With `many-threads`, for GPUs, they are split into `scf.forall` loops instead: sorts
    make passes over all elements, and scans process chunks.

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
  let summary = "remove work on empty tensors from kernels";
  let description = [{
    For kernels whose types have a dimension of 0, in tensor form or between buffers and
    tensors. A structured op with a loop of size 0 is replaced by its inits, so an empty
    reduction gives its initial value; loops without iterations are replaced likewise.
    Insertions of empty slices, empty parts of concatenations, and writes of empty results
    are removed; padding of an empty tensor becomes only the padding. Dead ops are
    removed.

    Runs before kernels are scheduled: the remaining ops have elements, as far as types
    can tell.

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

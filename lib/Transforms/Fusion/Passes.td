//===- Passes.td - kernel patterns and fusion --------------*- tablegen -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TRANSFORMS_FUSION_PASSES_TD
#define RELAX_TRANSFORMS_FUSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def AnnotateKernelPatternsPass : Pass<"relax-annotate-kernel-patterns", "::mlir::ModuleOp"> {
  let summary = "note the kind of loops of each kernel";
  let description = [{
    Sets `relax.pattern` on each kernel that has a body, to one of `element_wise`,
    `broadcast`, `injective`, `reduction`, `out_ewise_fusible`, `opaque`: what
    Algorithm 1 of the Relax paper finds from indexing maps and kinds of iteration
    (lib/Analysis/KernelPattern.h). For people and for passes in Python;
    `relax-fuse-ops` asks the analysis itself.

    Before:

    ```mlir
    func.func private @transpose(%x: tensor<4x8xf32>, %out: tensor<8x4xf32>) -> tensor<8x4xf32> {
      %0 = linalg.transpose ins(%x : tensor<4x8xf32>) outs(%out : tensor<8x4xf32>) permutation = [1, 0]
      return %0 : tensor<8x4xf32>
    }
    ```

    After:

    ```mlir
    func.func private @transpose(%x: tensor<4x8xf32>, %out: tensor<8x4xf32>) -> tensor<8x4xf32> attributes {relax.pattern = "injective"} {
      %0 = linalg.transpose ins(%x : tensor<4x8xf32>) outs(%out : tensor<8x4xf32>) permutation = [1, 0]
      return %0 : tensor<8x4xf32>
    }
    ```
  }];
}

def FuseOpsPass : Pass<"relax-fuse-ops", "::mlir::ModuleOp"> {
  let summary = "group kernel calls that become one kernel";
  let description = [{
    The paper's Algorithm 2. In each block, a call joins the call that everything
    computed from it leads to (its immediate post-dominator), with all calls between
    them, where the kinds of their kernels and the way that they read allow one pass
    over the data:

    1. An element-wise kernel joins the contraction, convolution or reduction whose
       result it reads, and so on along the chain.
    2. Element-wise, broadcast and injective kernels join what reads their results,
       of these kinds or a reduction. What would be computed again for each of many
       reads must be cheap.
    3. What decodes an operand of a contraction joins it: kernels that read fewer
       bytes than they write, such as the unpacking of 4-bit weights.

    A group holds one contraction or reduction at most; with `share-operands` several
    contractions of one operand, where their results have one shape and meet element by
    element: one pass over the operand computes them together. Opaque kernels, calls in
    place, library calls and graph ops are never in one. A group runs where its last
    call was, so after the definition of every symbol that it uses; nothing moves
    across a call that writes to its operands.

    Each group becomes a private function marked `relax.primitive`, and a pure
    `relax.call` of it. Symbols that no parameter has as a plain dimension are passed
    as integers. Equal groups share a function. `relax-fuse-tir` makes kernels of
    them.

    Before:

    ```mlir
    relax.func @main(%x: tensor<?xf32, #relax.shape<[2*n]>>, %s: !relax.shape<[n]>) -> tensor<?xf32, #relax.shape<[2*n]>> {
      %0 = relax.call_tir @exp(%x) : (tensor<?xf32, #relax.shape<[2*n]>>) -> tensor<?xf32, #relax.shape<[2*n]>>
      %1 = relax.call_tir @relu(%0) : (tensor<?xf32, #relax.shape<[2*n]>>) -> tensor<?xf32, #relax.shape<[2*n]>>
      relax.return %1 : tensor<?xf32, #relax.shape<[2*n]>>
    }
    func.func private @exp(tensor<?xf32> {relax.shape = #relax.shape<[m]>}, tensor<?xf32> {relax.shape = #relax.shape<[m]>}) -> tensor<?xf32>
    func.func private @relu(tensor<?xf32> {relax.shape = #relax.shape<[m]>}, tensor<?xf32> {relax.shape = #relax.shape<[m]>}) -> tensor<?xf32>
    ```

    After, with element-wise bodies:

    ```mlir
    relax.func @main(%x: tensor<?xf32, #relax.shape<[2*n]>>, %s: !relax.shape<[n]>) -> tensor<?xf32, #relax.shape<[2*n]>> {
      %n = relax.sym n : index
      %0 = relax.call pure @fused_exp_relu(%x, %n) : (tensor<?xf32, #relax.shape<[2*n]>>, index) -> tensor<?xf32, #relax.shape<[2*n]>>
      relax.return %0 : tensor<?xf32, #relax.shape<[2*n]>>
    }
    relax.func private @fused_exp_relu(%x: tensor<?xf32, #relax.shape<[2*n]>>, %n: index {relax.symbol = "n"}) -> tensor<?xf32, #relax.shape<[2*n]>> attributes {pure, relax.primitive} {
      %0 = relax.call_tir @exp(%x) : (tensor<?xf32, #relax.shape<[2*n]>>) -> tensor<?xf32, #relax.shape<[2*n]>>
      %1 = relax.call_tir @relu(%0) : (tensor<?xf32, #relax.shape<[2*n]>>) -> tensor<?xf32, #relax.shape<[2*n]>>
      relax.return %1 : tensor<?xf32, #relax.shape<[2*n]>>
    }
    func.func private @exp(tensor<?xf32> {relax.shape = #relax.shape<[m]>}, tensor<?xf32> {relax.shape = #relax.shape<[m]>}) -> tensor<?xf32>
    func.func private @relu(tensor<?xf32> {relax.shape = #relax.shape<[m]>}, tensor<?xf32> {relax.shape = #relax.shape<[m]>}) -> tensor<?xf32>
    ```
  }];
  let options = [
    Option<"maxGroupSize", "max-group-size", "unsigned", "64",
           "the most calls in a group">,
    Option<"shareOperands", "share-operands", "bool", "false",
           "whether contractions of one operand may be in a group">
  ];
}

def FuseSiblingsPass : Pass<"relax-fuse-siblings", "::mlir::ModuleOp"> {
  let summary = "group contractions that have an operand in common";
  let description = [{
    Contractions of one operand that do not depend on each other, such as the
    projections of an attention to queries, keys and values, become one function with
    several results, marked `relax.primitive` as by `relax-fuse-ops`, which runs where
    the first of them did. A GPU runs them in one launch.

    Before:

    ```mlir
    relax.func @main(%x: tensor<?x8xf32, #relax.shape<[n, 8]>>, %v: tensor<8x4xf32>, %w: tensor<8x6xf32>) -> (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?x6xf32, #relax.shape<[n, 6]>>) {
      %0 = relax.call_tir @first(%x, %v) : (tensor<?x8xf32, #relax.shape<[n, 8]>>, tensor<8x4xf32>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
      %1 = relax.call_tir @second(%x, %w) : (tensor<?x8xf32, #relax.shape<[n, 8]>>, tensor<8x6xf32>) -> tensor<?x6xf32, #relax.shape<[n, 6]>>
      relax.return %0, %1 : tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?x6xf32, #relax.shape<[n, 6]>>
    }
    func.func private @first(tensor<?x8xf32> {relax.shape = #relax.shape<[n, 8]>}, tensor<8x4xf32>, tensor<?x4xf32> {relax.shape = #relax.shape<[n, 4]>}) -> tensor<?x4xf32>
    func.func private @second(tensor<?x8xf32> {relax.shape = #relax.shape<[n, 8]>}, tensor<8x6xf32>, tensor<?x6xf32> {relax.shape = #relax.shape<[n, 6]>}) -> tensor<?x6xf32>
    ```

    After, if both bodies are contractions:

    ```mlir
    relax.func @main(%x: tensor<?x8xf32, #relax.shape<[n, 8]>>, %v: tensor<8x4xf32>, %w: tensor<8x6xf32>) -> (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?x6xf32, #relax.shape<[n, 6]>>) {
      %0:2 = relax.call pure @fused_first_second(%x, %v, %w) : (tensor<?x8xf32, #relax.shape<[n, 8]>>, tensor<8x4xf32>, tensor<8x6xf32>) -> (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?x6xf32, #relax.shape<[n, 6]>>)
      relax.return %0#0, %0#1 : tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?x6xf32, #relax.shape<[n, 6]>>
    }
    relax.func private @fused_first_second(%x: tensor<?x8xf32, #relax.shape<[n, 8]>>, %v: tensor<8x4xf32>, %w: tensor<8x6xf32>) -> (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?x6xf32, #relax.shape<[n, 6]>>) attributes {pure, relax.primitive} {
      %0 = relax.call_tir @first(%x, %v) : (tensor<?x8xf32, #relax.shape<[n, 8]>>, tensor<8x4xf32>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
      %1 = relax.call_tir @second(%x, %w) : (tensor<?x8xf32, #relax.shape<[n, 8]>>, tensor<8x6xf32>) -> tensor<?x6xf32, #relax.shape<[n, 6]>>
      relax.return %0, %1 : tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?x6xf32, #relax.shape<[n, 6]>>
    }
    func.func private @first(tensor<?x8xf32> {relax.shape = #relax.shape<[n, 8]>}, tensor<8x4xf32>, tensor<?x4xf32> {relax.shape = #relax.shape<[n, 4]>}) -> tensor<?x4xf32>
    func.func private @second(tensor<?x8xf32> {relax.shape = #relax.shape<[n, 8]>}, tensor<8x6xf32>, tensor<?x6xf32> {relax.shape = #relax.shape<[n, 6]>}) -> tensor<?x6xf32>
    ```
  }];
}

def FuseRowProducersPass : Pass<"relax-fuse-row-producers", "::mlir::ModuleOp"> {
  let summary = "group what reduces rows with what is next to it";
  let description = [{
    A kernel that reduces and then writes element by element, such as a norm, and whose
    result only the contractions of one kernel read, becomes one function with that
    kernel, marked `relax.primitive` as by `relax-fuse-ops`. A GPU then needs no launch
    of its own for a single row: each block that multiplies it finds what it needs to
    know of the whole row.

    One that is left becomes one function with the element-wise kernel that makes an
    operand of it. If others, behind it, read that operand too, the function gives it as
    well: a sum and the norm of it are one pass over memory.

    Before:

    ```mlir
    relax.func @main(%x: tensor<?x8xf32, #relax.shape<[n, 8]>>, %w: tensor<8x4xf32>) -> tensor<?x4xf32, #relax.shape<[n, 4]>> {
      %0 = relax.call_tir @norm(%x) : (tensor<?x8xf32, #relax.shape<[n, 8]>>) -> tensor<?x8xf32, #relax.shape<[n, 8]>>
      %1 = relax.call_tir @multiply(%0, %w) : (tensor<?x8xf32, #relax.shape<[n, 8]>>, tensor<8x4xf32>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
      relax.return %1 : tensor<?x4xf32, #relax.shape<[n, 4]>>
    }
    func.func private @norm(tensor<?x8xf32> {relax.shape = #relax.shape<[n, 8]>}, tensor<?x8xf32> {relax.shape = #relax.shape<[n, 8]>}) -> tensor<?x8xf32>
    func.func private @multiply(tensor<?x8xf32> {relax.shape = #relax.shape<[n, 8]>}, tensor<8x4xf32>, tensor<?x4xf32> {relax.shape = #relax.shape<[n, 4]>}) -> tensor<?x4xf32>
    ```

    After, if the bodies are a norm and a contraction:

    ```mlir
    relax.func @main(%x: tensor<?x8xf32, #relax.shape<[n, 8]>>, %w: tensor<8x4xf32>) -> tensor<?x4xf32, #relax.shape<[n, 4]>> {
      %0 = relax.call pure @fused_norm_multiply(%x, %w) : (tensor<?x8xf32, #relax.shape<[n, 8]>>, tensor<8x4xf32>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
      relax.return %0 : tensor<?x4xf32, #relax.shape<[n, 4]>>
    }
    relax.func private @fused_norm_multiply(%x: tensor<?x8xf32, #relax.shape<[n, 8]>>, %w: tensor<8x4xf32>) -> tensor<?x4xf32, #relax.shape<[n, 4]>> attributes {pure, relax.primitive} {
      %0 = relax.call_tir @norm(%x) : (tensor<?x8xf32, #relax.shape<[n, 8]>>) -> tensor<?x8xf32, #relax.shape<[n, 8]>>
      %1 = relax.call_tir @multiply(%0, %w) : (tensor<?x8xf32, #relax.shape<[n, 8]>>, tensor<8x4xf32>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
      relax.return %1 : tensor<?x4xf32, #relax.shape<[n, 4]>>
    }
    func.func private @norm(tensor<?x8xf32> {relax.shape = #relax.shape<[n, 8]>}, tensor<?x8xf32> {relax.shape = #relax.shape<[n, 8]>}) -> tensor<?x8xf32>
    func.func private @multiply(tensor<?x8xf32> {relax.shape = #relax.shape<[n, 8]>}, tensor<8x4xf32>, tensor<?x4xf32> {relax.shape = #relax.shape<[n, 4]>}) -> tensor<?x4xf32>
    ```
  }];
}

def FuseTIRPass : Pass<"relax-fuse-tir", "::mlir::ModuleOp"> {
  let summary = "make one kernel of each primitive function";
  let description = [{
    Replaces each function marked `relax.primitive` by one kernel: the bodies of the
    kernels that it calls one after the other, and its calls by `relax.call_tir`.
    Intermediates become `tensor.empty`; a dimension is computed once, however many
    tensors have it. Then loop nests are fused where that leaves one pass over the
    data: a nest without reductions goes into the one nest that reads its result, if
    each element is read once, or is cheap to compute again.

    A contraction keeps the nests that decode its operands, and the element-wise ones
    that follow it, as nests of their own in the same kernel: code generation tiles
    the contraction and computes them tile by tile, which a single nest would
    prevent.

    A primitive function that holds anything but calls of kernels with bodies, or that
    is used as a value, is left as it is: a function like any other. Kernels that
    are called no more are left for `relax-dce`.

    Before:

    ```mlir
    relax.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = relax.call pure @fused(%x) : (tensor<4xf32>) -> tensor<4xf32>
      relax.return %0 : tensor<4xf32>
    }
    relax.func private @fused(%x: tensor<4xf32>) -> tensor<4xf32> attributes {pure, relax.primitive} {
      %0 = relax.call_tir @exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
      %1 = relax.call_tir @exp(%0) : (tensor<4xf32>) -> tensor<4xf32>
      relax.return %1 : tensor<4xf32>
    }
    func.func private @exp(%x: tensor<4xf32>, %d: tensor<4xf32>) -> tensor<4xf32> {
      %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%d : tensor<4xf32>) {
      ^bb0(%e: f32, %o: f32):
        %1 = math.exp %e : f32
        linalg.yield %1 : f32
      } -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ```

    After, without `@exp`:

    ```mlir
    relax.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = relax.call_tir @fused(%x) : (tensor<4xf32>) -> tensor<4xf32>
      relax.return %0 : tensor<4xf32>
    }
    func.func private @fused(%x: tensor<4xf32>, %d: tensor<4xf32>) -> tensor<4xf32> {
      %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%d : tensor<4xf32>) {
      ^bb0(%e: f32, %o: f32):
        %1 = math.exp %e : f32
        %2 = math.exp %1 : f32
        linalg.yield %2 : f32
      } -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"
  ];
}

#endif // RELAX_TRANSFORMS_FUSION_PASSES_TD

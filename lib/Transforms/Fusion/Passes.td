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
  let summary = "note the fusion pattern of each kernel";
  let description = [{
    Sets `relax.pattern` on each kernel that has a body, to one of `element_wise`,
    `broadcast`, `injective`, `reduction`, `out_ewise_fusible`, `opaque`, which Algorithm
    1 of the Relax paper derives from indexing maps and iterator types
    (lib/Analysis/KernelPattern.h). The attribute is for people and for Python passes;
    `relax-fuse-ops` uses the analysis itself.

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
    The paper's Algorithm 2. In each block, a call and its immediate post-dominator, which
    everything computed from it flows into, form a group with all calls between them, if
    the patterns of their kernels and the way they access their operands allow a single
    pass over the data:

    1. An element-wise kernel joins the contraction, convolution or reduction whose result
       it reads, and so on along the chain.
    2. Element-wise, broadcast and injective kernels join the readers of their results, if
       these are of the same patterns or reductions. Ops that would be recomputed for many
       reads must be cheap.
    3. Kernels that decode an operand of a contraction join it: kernels that read fewer
       bytes than they write, such as the unpacking of 4-bit weights.

    A group holds at most one contraction or reduction; with `share-operands`, several
    contractions of one operand if their results have the same shape and meet element by
    element: then one pass over the operand computes them together. Opaque kernels, kernels
    that users have grouped (`relax-fuse-tir` with `final`), in-place calls, library calls
    and graph ops never join a group. A group runs at its
    last call, i.e. after the definition of every symbol that it uses; nothing moves
    across a call that writes to its operands.

    Each group becomes a private function marked `relax.primitive` and a pure `relax.call`
    of it. Symbols that are not a plain dimension of any parameter are passed as integers.
    Equal groups share a function. `relax-fuse-tir` turns these functions into kernels.

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
           "the maximum number of calls in a group">,
    Option<"shareOperands", "share-operands", "bool", "false",
           "whether contractions of one operand may be in a group">
  ];
}

def FuseSiblingsPass : Pass<"relax-fuse-siblings", "::mlir::ModuleOp"> {
  let summary = "group contractions that share an operand";
  let description = [{
    Independent contractions of one operand, such as the projections of attention to
    queries, keys and values, become one function with several results, marked
    `relax.primitive` as by `relax-fuse-ops`, which runs at the first of them. A GPU runs
    them in one launch.

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
  let summary = "group row reductions with their neighbors";
  let description = [{
    A kernel that reduces each row and then writes element by element, such as a
    normalization, is grouped with the kernel that reads its result if that reads it only
    in contractions; the group is marked `relax.primitive` as by `relax-fuse-ops`. A GPU
    then needs no separate launch for a single row: each block of the contraction computes
    the reduction of the whole row itself.

    A normalization that is not grouped this way is grouped with the element-wise kernel
    that computes one of its operands. If later ops read that operand, too, the function
    also returns it: a sum and its normalization are then a single pass over memory.

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
    Replaces each function marked `relax.primitive` by one kernel, which contains the
    bodies of the called kernels in sequence, and its calls by `relax.call_tir`.
    Intermediate results become `tensor.empty`; a dimension is computed only once, however
    many tensors have it. Then loop nests are fused if that leaves a single pass over the
    data: a nest without reductions is fused into the one nest that reads its result, if
    each element is read once or is cheap to recompute.

    A contraction keeps the nests that decode its operands, and the element-wise nests
    after it, as separate nests in the same kernel: code generation tiles the contraction
    and computes them tile by tile, which a single nest would prevent.

    Constants of a primitive function become operands of its kernel. A primitive function
    that contains anything else but calls of kernels with bodies, or that is public or used
    as a value, stays an ordinary function. Kernels that are no longer called are left for
    `relax-dce`.

    With `final`, which is for functions that users have marked, such a function is an
    error, and the kernels are marked `relax.primitive`: no other fusion pass groups their
    calls. The default pipelines run it so before `relax-fuse-ops`.

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
  let options = [
    Option<"areFinal", "final", "bool", "false",
           "whether the kernels join no later group, and a function that cannot become one is an error">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"
  ];
}

#endif // RELAX_TRANSFORMS_FUSION_PASSES_TD

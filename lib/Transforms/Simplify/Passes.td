//===- Passes.td - passes that clean programs up -----------*- tablegen -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TRANSFORMS_SIMPLIFY_PASSES_TD
#define RELAX_TRANSFORMS_SIMPLIFY_PASSES_TD

include "mlir/Pass/PassBase.td"

def DCEPass : Pass<"relax-dce", "::mlir::ModuleOp"> {
  let summary = "remove dead code, with symbols counted as uses";
  let description = [{
    Removes everything that neither results nor side effects need:

    - ops without side effects, including loops and branches;
    - unused results of `relax.dataflow` and `relax.if`;
    - every `relax.match_cast` whose value is unused, unless it defines a symbol
      that live code mentions in a type, an attribute or a shape: such a cast is
      the only place that computes the symbol;
    - declared ranges of removed symbols;
    - private functions and kernels that are unreachable.

    A symbol that only dead code mentions is dead. A `relax.call` that is not `pure`
    stays, since its callee may have side effects. Takes linear time in the size of the
    module: functions, values and symbols share one worklist.

    Before:

    ```mlir
    relax.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> index {
      %0 = relax.match_cast %x : (tensor<?xf32>) -> tensor<?xf32, #relax.shape<[n]>>
      %1 = relax.match_cast %y : (tensor<?xf32>) -> tensor<?xf32, #relax.shape<[m]>>
      %2 = relax.exp %1 : (tensor<?xf32, #relax.shape<[m]>>) -> tensor<?xf32, #relax.shape<[m]>>
      %3 = relax.sym 2*n : index
      relax.return %3 : index
    }
    ```

    After:

    ```mlir
    relax.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> index {
      %0 = relax.match_cast %x : (tensor<?xf32>) -> tensor<?xf32, #relax.shape<[n]>>
      %3 = relax.sym 2*n : index
      relax.return %3 : index
    }
    ```
  }];
}

def CSEPass : Pass<"relax-cse", "::mlir::ModuleOp"> {
  let summary = "merge common subexpressions";
  let description = [{
    Replaces an op without side effects by an earlier one that computes the same.
    Upstream's `cse` may be used, too; this pass merges more: a `relax.match_cast` with an
    equal earlier one, and ops whose result types differ in precision. A value is reused
    only where it dominates, so that the symbols of its type mean the same at its use;
    casts that define symbols are never merged with casts that define others.

    Before:

    ```mlir
    relax.func @main(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
      %0 = relax.match_cast %x : (tensor<?xf32>) -> tensor<?xf32, #relax.shape<[n]>>
      %1 = relax.exp %0 : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
      %2 = relax.match_cast %x : (tensor<?xf32>) -> tensor<?xf32, #relax.shape<[n]>>
      %3 = relax.exp %2 : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32>
      relax.return %1, %3 : tensor<?xf32, #relax.shape<[n]>>, tensor<?xf32>
    }
    ```

    After:

    ```mlir
    relax.func @main(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
      %0 = relax.match_cast %x : (tensor<?xf32>) -> tensor<?xf32, #relax.shape<[n]>>
      %1 = relax.exp %0 : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
      relax.return %1, %1 : tensor<?xf32, #relax.shape<[n]>>, tensor<?xf32, #relax.shape<[n]>>
    }
    ```
  }];
}

def InlinePass : Pass<"relax-inline", "::mlir::ModuleOp"> {
  let summary = "inline calls of private functions";
  let description = [{
    Replaces calls of private functions by their bodies, callees first. The callee's
    symbols are replaced by their values at the call; symbols that the operands do not
    determine, symbols whose declared range is not proved, and symbols defined by the
    callee's casts get fresh names. The checks on entry of the callee become
    `relax.match_cast`s.

    A function that is called more than once is inlined only up to `max-size` ops.
    Recursive calls stay, and so do calls of a function that is marked `relax.primitive`,
    since it becomes one kernel, or takes a symbol as an integer other than an `index`. The functions themselves are left for `relax-dce`. (Upstream's
    `inline` ignores `relax.call`, as it cannot handle symbols.)

    Before:

    ```mlir
    relax.func @main(%x: tensor<?xf32, #relax.shape<[2*n]>>, %s: !relax.shape<[n]>) -> tensor<?xf32, #relax.shape<[2*n]>> {
      %0 = relax.call @callee(%x) : (tensor<?xf32, #relax.shape<[2*n]>>) -> tensor<?xf32, #relax.shape<[2*n]>>
      relax.return %0 : tensor<?xf32, #relax.shape<[2*n]>>
    }
    relax.func private @callee(%x: tensor<?xf32, #relax.shape<[k]>>) -> tensor<?xf32, #relax.shape<[k]>> {
      %0 = relax.exp %x : (tensor<?xf32, #relax.shape<[k]>>) -> tensor<?xf32, #relax.shape<[k]>>
      relax.return %0 : tensor<?xf32, #relax.shape<[k]>>
    }
    ```

    After, without the callee:

    ```mlir
    relax.func @main(%x: tensor<?xf32, #relax.shape<[2*n]>>, %s: !relax.shape<[n]>) -> tensor<?xf32, #relax.shape<[2*n]>> {
      %0 = relax.exp %x : (tensor<?xf32, #relax.shape<[2*n]>>) -> tensor<?xf32, #relax.shape<[2*n]>>
      relax.return %0 : tensor<?xf32, #relax.shape<[2*n]>>
    }
    ```
  }];
  let options = [
    Option<"maxSize", "max-size", "unsigned", "1000",
           "the maximum number of ops of a function that is called more than once">
  ];
}

def ToDataflowPass : Pass<"relax-to-dataflow", "::mlir::ModuleOp"> {
  let summary = "group ops without side effects into dataflow blocks";
  let description = [{
    Moves each maximal run of ops without side effects and control flow into a
    `relax.dataflow` (TVM's ConvertToDataflow), also in branches and loop bodies. Runs of
    fewer than `min-size` ops stay as they are. A constant or a `relax.sym` that is used
    after the block is repeated there.

    Before:

    ```mlir
    relax.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
      %1 = relax.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
      relax.return %1 : tensor<4xf32>
    }
    ```

    After:

    ```mlir
    relax.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = relax.dataflow -> tensor<4xf32> {
        %1 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
        %2 = relax.exp %1 : (tensor<4xf32>) -> tensor<4xf32>
        relax.output %2 : tensor<4xf32>
      }
      relax.return %0 : tensor<4xf32>
    }
    ```
  }];
  let options = [
    Option<"minSize", "min-size", "unsigned", "2",
           "the minimum number of ops of a block">
  ];
}

def InlineDataflowPass : Pass<"relax-inline-dataflow", "::mlir::ModuleOp"> {
  let summary = "dissolve dataflow blocks";
  let description = [{
    Replaces each `relax.dataflow` block by its contents (TVM's ToNonDataflow). Runs
    before lowering, when the blocks are no longer needed.

    Before:

    ```mlir
    relax.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = relax.dataflow -> tensor<4xf32> {
        %1 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
        relax.output %1 : tensor<4xf32>
      }
      relax.return %0 : tensor<4xf32>
    }
    ```

    After:

    ```mlir
    relax.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
      relax.return %0 : tensor<4xf32>
    }
    ```
  }];
}

#endif // RELAX_TRANSFORMS_SIMPLIFY_PASSES_TD

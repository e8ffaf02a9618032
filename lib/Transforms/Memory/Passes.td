//===- Passes.td - explicit and planned memory -------------*- tablegen -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TRANSFORMS_MEMORY_PASSES_TD
#define RELAX_TRANSFORMS_MEMORY_PASSES_TD

include "mlir/Pass/PassBase.td"

def UpdateInPlacePass : Pass<"relax-update-in-place", "::mlir::ModuleOp"> {
  let summary = "update tensors in place instead of copying them first";
  let description = [{
    A kernel that copies one of its inputs to its destination, and then works only on the
    destination, like the kernels of `relax.index_put` and the scatter ops, gets a version
    without the copy. The pass calls that version in place if the input dies with the call
    and nothing else holds a reference to it: if a kernel of the same function computed
    it, if it is a parameter listed in the function's `relax.donated`, or if a loop
    carries it and yields only such tensors. The initial value of such a loop is copied
    once before the loop if there are other references to it. `relax.donated` only
    applies to functions that are not called in the module.

    Runs before `relax-lower-call-tir`, on kernels in tensor form. A tensor dies by the
    rules that `relax-lower-call-tir` checks.

    Before:

    ```mlir
    relax.func @main(%x: tensor<4xf32>, %i: tensor<1xi64>, %v: tensor<1xf32>) -> tensor<4xf32> {
      %0 = relax.call_tir @exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
      %1 = relax.call_tir @put(%0, %i, %v) : (tensor<4xf32>, tensor<1xi64>, tensor<1xf32>) -> tensor<4xf32>
      relax.return %1 : tensor<4xf32>
    }
    func.func private @exp(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    func.func private @put(tensor<4xf32>, tensor<1xi64>, tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```

    After, if `@put` copies its first input:

    ```mlir
    relax.func @main(%x: tensor<4xf32>, %i: tensor<1xi64>, %v: tensor<1xf32>) -> tensor<4xf32> {
      %0 = relax.call_tir @exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
      %1 = relax.call_tir_inplace @put_inplace(%i, %v, %0) inplace [2] : (tensor<1xi64>, tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
      relax.return %1 : tensor<4xf32>
    }
    func.func private @exp(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    func.func private @put_inplace(tensor<1xi64>, tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def LowerCallTIRPass : Pass<"relax-lower-call-tir", "::mlir::ModuleOp"> {
  let summary = "give each kernel and library call its destinations";
  let description = [{
    Allocates the results of `relax.call_tir` and `relax.call_library`, and calls the
    kernel in place: after this pass every kernel call is a `relax.call_tir_inplace`, and
    every library call a `relax.call_library_inplace`, whose last operands are the
    destinations. Each destination has its own storage; `relax-plan-memory` lets storages
    share memory, `relax-insert-kills` ends them.

    Runs when all ops are calls, after `relax-inline-dataflow`: allocation is a side
    effect, which a dataflow block must not contain. For the same reason functions and
    calls are no longer `pure`. A tensor that a call overwrites is dead: using it
    afterwards, or in another operand of the same call, is an error. This includes calls
    of graph functions that write to their parameters, and tensors that pass through
    views, tuples, branches, loops, calls and closures. A constant or a weight never dies:
    a copy of it is overwritten instead. The size of a storage is the number of elements
    times the bytes of an element: one for Booleans, otherwise the bits rounded up to
    whole bytes.

    Before:

    ```mlir
    relax.func @main(%x: tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>> {
      %0 = relax.call_tir @exp(%x) : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
      relax.return %0 : tensor<?xf32, #relax.shape<[n]>>
    }
    func.func private @exp(tensor<?xf32> {relax.shape = #relax.shape<[m]>}, tensor<?xf32> {relax.shape = #relax.shape<[m]>}) -> tensor<?xf32>
    ```

    After:

    ```mlir
    relax.func @main(%x: tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>> {
      %s = relax.alloc_storage 4*n align 64 : !relax.storage
      %d = relax.tensor_from_storage %s at 0 : !relax.storage -> tensor<?xf32, #relax.shape<[n]>>
      %0 = relax.call_tir_inplace @exp(%x, %d) inplace [1] : (tensor<?xf32, #relax.shape<[n]>>, tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
      relax.return %0 : tensor<?xf32, #relax.shape<[n]>>
    }
    func.func private @exp(tensor<?xf32> {relax.shape = #relax.shape<[m]>}, tensor<?xf32> {relax.shape = #relax.shape<[m]>}) -> tensor<?xf32>
    ```
  }];
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::linalg::LinalgDialect"];
}

def InsertKillsPass : Pass<"relax-insert-kills", "::mlir::ModuleOp"> {
  let summary = "end storages and values after their last use";
  let description = [{
    Inserts `relax.kill` after the last use of every value that a block owns. Memory is
    reference-counted; the rules are the same for storages, tensors, tuples, objects and
    callables:

    1. A block *owns* one reference to each value that its ops create: by
       `relax.alloc_storage`, and as results of calls (`relax.call`,
       `relax.call_closure`), of `relax.if` and `relax.while`, of `relax.make_closure`, of
       graph ops that are not lowered, and of kernels that allocate (-1 in `inplace`). The
       body of a loop owns its arguments.
    2. Each owned value is killed exactly once, in the block that owns it, after its last
       use or the last use of an alias, and before the terminator, even if the terminator
       uses it.
    3. A terminator (`relax.return`, `relax.yield`), the initial values of a
       `relax.while`, and the captures of a closure take a *new* reference to each value
       that they pass on. So a returned value stays alive, whether it is a storage
       created here, a parameter, or a constant.
    4. Kills directly before a terminator take effect after the terminator has read its
       operands and taken its references.
    5. All other values are *borrowed*: parameters of functions, which the caller keeps
       alive; arguments of the condition of a loop; constants.
    6. Aliases own nothing: `relax.tensor_from_storage`, `relax.match_cast`,
       `relax.reshape`, `relax.flatten`, `relax.expand_dims`, `relax.squeeze`,
       `relax.tuple`, `relax.get`, and in-place results. The aliased value stays alive as
       long as they are used. A new reference to a tensor is a reference to its storage.

    In a loop, the references to the initial values belong to the arguments of the first
    iteration, and the references taken by `relax.yield` belong to the arguments of the
    next iteration; when the condition fails, they become the results.

    Runs after `relax-plan-memory` and `relax-inline-dataflow`, as the last pass on graph
    functions. Existing kills are replaced.

    Before:

    ```mlir
    relax.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %s = relax.alloc_storage 16 align 64 : !relax.storage
      %d = relax.tensor_from_storage %s at 0 : !relax.storage -> tensor<4xf32>
      %0 = relax.call_tir_inplace @exp(%x, %d) inplace [1] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %1 = relax.call @next(%0) : (tensor<4xf32>) -> tensor<4xf32>
      relax.return %1 : tensor<4xf32>
    }
    relax.func private @next(%x: tensor<4xf32>) -> tensor<4xf32>
    func.func private @exp(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```

    After:

    ```mlir
    relax.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %s = relax.alloc_storage 16 align 64 : !relax.storage
      %d = relax.tensor_from_storage %s at 0 : !relax.storage -> tensor<4xf32>
      %0 = relax.call_tir_inplace @exp(%x, %d) inplace [1] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %1 = relax.call @next(%0) : (tensor<4xf32>) -> tensor<4xf32>
      relax.kill %s : !relax.storage
      relax.kill %1 : tensor<4xf32>
      relax.return %1 : tensor<4xf32>
    }
    relax.func private @next(%x: tensor<4xf32>) -> tensor<4xf32>
    func.func private @exp(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
}

def ReuseInPlacePass : Pass<"relax-reuse-in-place", "::mlir::ModuleOp"> {
  let summary = "let kernels overwrite dying inputs";
  let description = [{
    If a kernel reads an input only at the element that it writes, and the input is not
    used after the call, the destination takes the input's storage. The pass derives
    this from the kernel's loops (see KernelPattern.h); the kernel must be a single loop
    nest, so that nothing is read after it was overwritten.

    The input must be in a storage that was allocated in this function and to which there
    is no other reference: not a parameter or a constant, which the function does not
    own, and not a value that was returned, yielded or captured. Both tensors must have
    the same element type and provably the same shape.

    Runs after `relax-lower-call-tir`, before `relax-plan-memory`.

    Before:

    ```mlir
    relax.func @main(%s: !relax.storage) -> tensor<4xf32> {
      %s0 = relax.alloc_storage 16 align 64 : !relax.storage
      %d0 = relax.tensor_from_storage %s0 at 0 : !relax.storage -> tensor<4xf32>
      %0 = relax.call_tir_inplace @iota(%d0) inplace [0] : (tensor<4xf32>) -> tensor<4xf32>
      %s1 = relax.alloc_storage 16 align 64 : !relax.storage
      %d1 = relax.tensor_from_storage %s1 at 0 : !relax.storage -> tensor<4xf32>
      %1 = relax.call_tir_inplace @exp(%0, %d1) inplace [1] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      relax.return %1 : tensor<4xf32>
    }
    func.func private @iota(tensor<4xf32>) -> tensor<4xf32>
    func.func private @exp(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```

    After, with `@exp` element-wise:

    ```mlir
    relax.func @main(%s: !relax.storage) -> tensor<4xf32> {
      %s0 = relax.alloc_storage 16 align 64 : !relax.storage
      %d0 = relax.tensor_from_storage %s0 at 0 : !relax.storage -> tensor<4xf32>
      %0 = relax.call_tir_inplace @iota(%d0) inplace [0] : (tensor<4xf32>) -> tensor<4xf32>
      %d1 = relax.tensor_from_storage %s0 at 0 : !relax.storage -> tensor<4xf32>
      %1 = relax.call_tir_inplace @exp(%0, %d1) inplace [1] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      relax.return %1 : tensor<4xf32>
    }
    func.func private @iota(tensor<4xf32>) -> tensor<4xf32>
    func.func private @exp(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
}

def LiftWorkspacePass : Pass<"relax-lift-workspace", "::mlir::ModuleOp"> {
  let summary = "let callers allocate the scratch memory of kernels";
  let description = [{
    The memory that a kernel in buffer form allocates for itself becomes a part of its
    *workspace*: an additional destination, in bytes, after the others. Each call passes
    its own storage, which `relax-plan-memory` treats like any other: the scratch memory
    of one call reuses memory that held another tensor before, or will hold one later.

    The workspace is a destination because its contents do not matter to the caller,
    neither before nor after the call; its result is unused.

    The pass lifts a `memref.alloc` if its sizes are expressions of the kernel's symbols
    (recovered from `memref.dim`, `arith` and `affine`) and its `memref.dealloc` is in the
    same block, outside of parallel loops, each of whose iterations needs its own.
    Allocations that are never live at the same time share memory. Other allocations stay:
    allocations whose size only the kernel can compute, and all allocations of kernels
    that are called by anything but `relax.call_tir_inplace` with all destinations, or by
    a call that does not know the value of a symbol.

    The pass is independent of the kernel's target. Runs when kernels are loops on buffers
    and calls have their destinations: after `relax-reuse-in-place`, which reads kernels
    on tensors, and before `relax-plan-memory`.

    Before:

    ```mlir
    relax.func @main(%x: tensor<?xf32, #relax.shape<[n]>>) {
      %s = relax.alloc_storage 4*n align 64 : !relax.storage
      %d = relax.tensor_from_storage %s at 0 : !relax.storage -> tensor<?xf32, #relax.shape<[n]>>
      %0 = relax.call_tir_inplace @k(%x, %d) inplace [1] : (tensor<?xf32, #relax.shape<[n]>>, tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
      relax.return
    }
    func.func private @k(%x: memref<?xf32> {relax.shape = #relax.shape<[m]>}, %out: memref<?xf32> {relax.shape = #relax.shape<[m]>}) {
      %c0 = arith.constant 0 : index
      %m = memref.dim %x, %c0 : memref<?xf32>
      %t = memref.alloc(%m) : memref<?xf32>
      memref.copy %x, %t : memref<?xf32> to memref<?xf32>
      memref.copy %t, %out : memref<?xf32> to memref<?xf32>
      memref.dealloc %t : memref<?xf32>
      return
    }
    ```

    After:

    ```mlir
    relax.func @main(%x: tensor<?xf32, #relax.shape<[n]>>) {
      %s = relax.alloc_storage 4*n align 64 : !relax.storage
      %d = relax.tensor_from_storage %s at 0 : !relax.storage -> tensor<?xf32, #relax.shape<[n]>>
      %w = relax.alloc_storage 4*n align 64 : !relax.storage
      %t = relax.tensor_from_storage %w at 0 : !relax.storage -> tensor<?xi8, #relax.shape<[4*n]>>
      %0:2 = relax.call_tir_inplace @k(%x, %d, %t) inplace [1, 2] : (tensor<?xf32, #relax.shape<[n]>>, tensor<?xf32, #relax.shape<[n]>>, tensor<?xi8, #relax.shape<[4*n]>>) -> (tensor<?xf32, #relax.shape<[n]>>, tensor<?xi8, #relax.shape<[4*n]>>)
      relax.return
    }
    func.func private @k(%x: memref<?xf32> {relax.shape = #relax.shape<[m]>}, %out: memref<?xf32> {relax.shape = #relax.shape<[m]>},
                         %workspace: memref<?xi8> {relax.shape = #relax.shape<[4*m]>}) {
      %c0 = arith.constant 0 : index
      %m = memref.dim %x, %c0 : memref<?xf32>
      %t = memref.view %workspace[%c0][%m] : memref<?xi8> to memref<?xf32>
      memref.copy %x, %t : memref<?xf32> to memref<?xf32>
      memref.copy %t, %out : memref<?xf32> to memref<?xf32>
      return
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect"];
}

def NoteInvariantsPass : Pass<"relax-note-invariants", "::mlir::ModuleOp"> {
  let summary = "note which kernel parameters are constant";
  let description = [{
    Marks each kernel parameter that is a `relax.constant`, usually a weight, in all
    calls: nothing writes to it while the module is loaded, so a GPU may read it before
    preceding kernels have ended (`relax-gpu-overlap-launches`).

    Must run after all passes that change calls of kernels.

    Before:

    ```mlir
    relax.func @main(%x: tensor<?xf32, #relax.shape<[n]>>, %out: tensor<?xf32, #relax.shape<[n]>>) {
      %w = relax.constant weight "w" : tensor<8xf32>
      %0 = relax.call_tir_inplace @k(%x, %w, %out) inplace [2] : (tensor<?xf32, #relax.shape<[n]>>, tensor<8xf32>, tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
      relax.return
    }
    func.func private @k(%x: memref<?xf32> {relax.shape = #relax.shape<[m]>}, %w: memref<8xf32>, %out: memref<?xf32> {relax.shape = #relax.shape<[m]>}) {
      return
    }
    ```

    After:

    ```mlir
    relax.func @main(%x: tensor<?xf32, #relax.shape<[n]>>, %out: tensor<?xf32, #relax.shape<[n]>>) {
      %w = relax.constant weight "w" : tensor<8xf32>
      %0 = relax.call_tir_inplace @k(%x, %w, %out) inplace [2] : (tensor<?xf32, #relax.shape<[n]>>, tensor<8xf32>, tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
      relax.return
    }
    func.func private @k(%x: memref<?xf32> {relax.shape = #relax.shape<[m]>}, %w: memref<8xf32> {relax.invariant}, %out: memref<?xf32> {relax.shape = #relax.shape<[m]>}) {
      return
    }
    ```
  }];
}

def PlanMemoryPass : Pass<"relax-plan-memory", "::mlir::ModuleOp"> {
  let summary = "let tensors with disjoint lifetimes share memory";
  let description = [{
    The paper's Algorithm 3, applied to each function, over the storages that
    `relax-lower-call-tir` created. A storage lives from its allocation to the last use of
    a tensor in it, aliases included; a storage used in a branch or a loop lives to the
    end of that op.

    1. Storages whose size is constant, or bounded by the declared ranges of its symbols,
       get an offset in one *arena*, which is allocated on entry of the function: the
       largest first, each at the lowest offset that is free during its lifetime.
    2. Each of the others takes the first free storage that is *proved* to have the same
       size, else one proved to be large enough, else grows one proved to be smaller. If
       nothing is proved, storages that are never live at the same time take the `max` of
       their sizes. Symbols with an upper bound are replaced by it first: [m, n] with m at
       most 20 becomes [20, n]. The arena may take part, as a storage that is live while
       any of its contents is. This is tried in program order, with the largest first, and
       with the longest-lived first; the plan with the lowest peak for typical sizes wins.
    3. An allocation is hoisted out of its loop if its size is known there.

    Storages whose tensors may outlive their last use here, because they are returned,
    yielded, carried by a loop, captured or passed to a call that returns something, keep
    their own size and storage: no more memory is kept alive than was requested. With
    `use-bounds=false`, sizes are not replaced by bounds; with bounds, an arena of more
    than `max-arena-bytes` is not created and its storages are planned by their exact
    sizes.

    Sets `relax.memory_plan` on the function: `unplanned_bytes`, the sum of all storages
    before; `planned_bytes`, after; `peak_bytes`, the maximum of live bytes and so a lower
    bound of any plan (omitted if the expression is too long); `unplanned_storages` and
    `planned_storages`. Functions that already have it are skipped.

    Runs after `relax-reuse-in-place` and `relax-lift-workspace`, before
    `relax-insert-kills`.

    Before:

    ```mlir
    relax.func @main(%x: tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>> {
      %s0 = relax.alloc_storage 4*n align 64 : !relax.storage
      %d0 = relax.tensor_from_storage %s0 at 0 : !relax.storage -> tensor<?xf32, #relax.shape<[n]>>
      %0 = relax.call_tir_inplace @k(%x, %d0) inplace [1] : (tensor<?xf32, #relax.shape<[n]>>, tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
      %s1 = relax.alloc_storage 4*n align 64 : !relax.storage
      %d1 = relax.tensor_from_storage %s1 at 0 : !relax.storage -> tensor<?xf32, #relax.shape<[n]>>
      %1 = relax.call_tir_inplace @k(%0, %d1) inplace [1] : (tensor<?xf32, #relax.shape<[n]>>, tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
      %s2 = relax.alloc_storage 4*n align 64 : !relax.storage
      %d2 = relax.tensor_from_storage %s2 at 0 : !relax.storage -> tensor<?xf32, #relax.shape<[n]>>
      %2 = relax.call_tir_inplace @k(%1, %d2) inplace [1] : (tensor<?xf32, #relax.shape<[n]>>, tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
      %s3 = relax.alloc_storage 4*n align 64 : !relax.storage
      %d3 = relax.tensor_from_storage %s3 at 0 : !relax.storage -> tensor<?xf32, #relax.shape<[n]>>
      %3 = relax.call_tir_inplace @k(%2, %d3) inplace [1] : (tensor<?xf32, #relax.shape<[n]>>, tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
      relax.return %3 : tensor<?xf32, #relax.shape<[n]>>
    }
    func.func private @k(tensor<?xf32> {relax.shape = #relax.shape<[m]>}, tensor<?xf32> {relax.shape = #relax.shape<[m]>}) -> tensor<?xf32>
    ```

    After, `%d2` is in `%s0`; `%s3` is returned and stays as it is:

    ```mlir
    relax.func @main(%x: tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
        attributes {relax.memory_plan = {peak_bytes = #relax.expr<8*n>, planned_bytes = #relax.expr<12*n>, planned_storages = 3 : i64, unplanned_bytes = #relax.expr<16*n>, unplanned_storages = 4 : i64}} {
      %s0 = relax.alloc_storage 4*n align 64 : !relax.storage
      %d0 = relax.tensor_from_storage %s0 at 0 : !relax.storage -> tensor<?xf32, #relax.shape<[n]>>
      %0 = relax.call_tir_inplace @k(%x, %d0) inplace [1] : (tensor<?xf32, #relax.shape<[n]>>, tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
      %s1 = relax.alloc_storage 4*n align 64 : !relax.storage
      %d1 = relax.tensor_from_storage %s1 at 0 : !relax.storage -> tensor<?xf32, #relax.shape<[n]>>
      %1 = relax.call_tir_inplace @k(%0, %d1) inplace [1] : (tensor<?xf32, #relax.shape<[n]>>, tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
      %d2 = relax.tensor_from_storage %s0 at 0 : !relax.storage -> tensor<?xf32, #relax.shape<[n]>>
      %2 = relax.call_tir_inplace @k(%1, %d2) inplace [1] : (tensor<?xf32, #relax.shape<[n]>>, tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
      %s3 = relax.alloc_storage 4*n align 64 : !relax.storage
      %d3 = relax.tensor_from_storage %s3 at 0 : !relax.storage -> tensor<?xf32, #relax.shape<[n]>>
      %3 = relax.call_tir_inplace @k(%2, %d3) inplace [1] : (tensor<?xf32, #relax.shape<[n]>>, tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
      relax.return %3 : tensor<?xf32, #relax.shape<[n]>>
    }
    func.func private @k(tensor<?xf32> {relax.shape = #relax.shape<[m]>}, tensor<?xf32> {relax.shape = #relax.shape<[m]>}) -> tensor<?xf32>
    ```
  }];
  let options = [
    Option<"useBounds", "use-bounds", "bool", "true",
           "size storages by the upper bounds of symbols">,
    Option<"maxArenaBytes", "max-arena-bytes", "uint64_t", "uint64_t{1} << 32",
           "the maximum size of an arena of bounded sizes">
  ];
}

#endif // RELAX_TRANSFORMS_MEMORY_PASSES_TD

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
  let summary = "update tensors where they are, in place of copying them first";
  let description = [{
    A kernel that copies one of its inputs to its destination, and works on the
    destination from there on, as those of `relax.index_put` and the scattering ops do,
    has a version without the copy. That is called in place where the input dies with
    the call and nobody else has it: where a kernel of the same function made it, where
    it is a parameter that the note `relax.donated` of the function names, or where a
    loop carries it and yields nothing but such tensors. What such a loop begins with is
    copied once before the loop, if somebody else has it. The note counts only for
    functions that nothing in the module calls.

    Runs before `relax-lower-call-tir`, on kernels in tensor form. Which tensors die is
    found by the rules that `relax-lower-call-tir` checks.

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
    Allocates what `relax.call_tir` and `relax.call_library` return, and calls the
    kernel in place: after this pass every kernel call is a
    `relax.call_tir_inplace`, and every library call a `relax.call_library_inplace`,
    whose last operands are the destinations. Each destination has a storage of its
    own; `relax-plan-memory` lets storages share memory, `relax-insert-kills` ends
    them.

    Runs when all ops are calls, after `relax-inline-dataflow`: allocation is a side
    effect, which a dataflow block must not hold. Functions and calls are no longer
    `pure` for the same reason. What a call writes over dies there: a use of it
    afterwards, or in another operand of the same call, is an error, also where the
    call is of a graph function that writes into its parameters, and where the tensor
    goes through views, tuples, branches, loops, calls and closures. A constant or a
    weight never dies: a copy of it is written over. A storage has as many bytes as its
    tensor has elements, times the bytes of one: a Boolean takes one, other types are
    rounded up to whole bytes.

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
    Inserts `relax.kill` after the last use of everything that a block owns.
    Memory is counted by references; the rules are the same for storages, tensors,
    tuples, objects and callables:

    1. A block *owns* one reference of what its ops make: of an
       `relax.alloc_storage`, and of the results of calls (`relax.call`,
       `relax.call_closure`), of `relax.if` and `relax.while`, of
       `relax.make_closure`, of graph ops that are not lowered, and of kernels that
       allocate (-1 in `inplace`). The body of a loop owns its arguments.
    2. Whatever is owned is killed exactly once, in the block that owns it, after the
       last use of it or of an alias of it, and before the terminator, even where the
       terminator uses it.
    3. A terminator (`relax.return`, `relax.yield`), the initial values of a
       `relax.while`, and the captures of a closure take a *new* reference of each
       value that they pass on. So what is returned lives on, whoever owned it: a
       storage made here, a parameter, a constant.
    4. Kills directly before a terminator take effect when the terminator has read
       its operands and taken its references.
    5. All else is *borrowed*: parameters of functions, which the caller keeps alive;
       arguments of the condition of a loop; constants.
    6. Aliases own nothing: `relax.tensor_from_storage`, `relax.match_cast`,
       `relax.reshape`, `relax.flatten`, `relax.expand_dims`, `relax.squeeze`,
       `relax.tuple`, `relax.get`, and results in place of an operand. Whatever they
       alias stays alive as long as they are used. A new reference of a tensor is
       one of the storage that it lives in.

    In a loop, the initial values' references are those of the first iteration's
    arguments, those of `relax.yield` are the next one's; when the condition fails,
    they become the results.

    Runs after `relax-plan-memory` and `relax-inline-dataflow`, last of all passes on
    graph functions. Kills that are there already are placed anew.

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
  let summary = "let kernels write over inputs that die";
  let description = [{
    Where a kernel reads an input only at the element that it writes, and the input
    is used no more after the call, the destination takes the input's storage. That
    is seen from the kernel's loops (see KernelPattern.h); it must be a single loop
    nest, so that nothing is read after it was overwritten.

    The input must live in a storage that was allocated in this function, of which
    no reference was taken: not a parameter or a constant, which others own, and not
    a value that was returned, yielded or captured. Both tensors must have the same
    element type and provably the same shape.

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
  let summary = "let calls bring the scratch memory of kernels";
  let description = [{
    What a kernel in buffer form allocates for itself becomes a part of its
    *workspace*: one more destination, of bytes, behind the others. Each call passes a
    storage of its own, which `relax-plan-memory` then sees as any other: scratch
    memory of one call lies where something else was before, or will be after.

    The workspace is a destination because that is what it is to a caller: nothing
    reads what was in it, and what is in it after the call is of no use to anyone; its
    result is not used.

    Lifted is a `memref.alloc` whose sizes are expressions of the kernel's symbols
    (read back from `memref.dim`, `arith` and `affine`) and which has its
    `memref.dealloc` in the same block, outside of parallel loops, whose iterations
    need one each. Allocations that are never alive together lie in the same bytes.
    Others stay: those of a size that only the kernel finds out, and those of kernels
    that are called by anything but `relax.call_tir_inplace` with all destinations,
    or by a call that does not know the value of a symbol.

    It does not matter for which target the kernel is. Runs when kernels are loops on
    buffers and calls have their destinations: after `relax-reuse-in-place`, which
    reads kernels on tensors, and before `relax-plan-memory`.

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
  let summary = "note which parameters of kernels are constants";
  let description = [{
    Marks each parameter of a kernel that is a `relax.constant`, most often a weight, at
    all calls: nothing writes into it as long as the module is loaded, so a GPU may read
    it before the kernels in front of this one have ended
    (`relax-gpu-overlap-launches`).

    Runs last of what changes calls of kernels.

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
  let summary = "let tensors that do not live at the same time share memory";
  let description = [{
    The paper's Algorithm 3, for each function, over the storages that
    `relax-lower-call-tir` made. A storage lives from its allocation to the last
    use of a tensor in it, aliases included; one that is used in a branch or a loop
    lives to the end of that.

    1. Storages whose size is constant, or bounded by the declared ranges of its
       symbols, get an offset in one *arena*, which is allocated when the function
       is entered: the largest first, each at the lowest offset where nothing is
       that lives at the same time.
    2. Of the others, each takes the first storage that is free and *proved* to be
       of the same size, else one proved to be large enough, else grows one proved
       to be smaller. Where nothing is proved, storages that are never alive
       together take the `max` of their sizes. Symbols that have an upper bound are
       replaced by it first: of [m, n] with m at most 20 it is [20, n]. The arena
       may take part, as a storage that is alive when what is in it is. All this is
       done in the order of the program, with the largest first, and with those that
       live longest first; the plan is what takes least at once for typical sizes.
    3. A storage goes before the loop that it is in where its size is known there.

    Storages whose tensors may outlive their last use here, because they are
    returned, yielded, carried by a loop, captured or passed to a call that returns
    something, keep a size and a storage of their own: never more is kept alive than
    what was asked for. With `use-bounds=false` no bound takes the place of a size;
    with bounds, an arena of more than `max-arena-bytes` is not made and its storages
    are planned by their exact sizes.

    The function is given `relax.memory_plan`: `unplanned_bytes`, the sum of all
    storages before; `planned_bytes`, after; `peak_bytes`, the most that is alive at
    once and so a lower bound of any plan (left out where it is too long to say);
    `unplanned_storages` and `planned_storages`. Functions that have it are left
    alone.

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
           "the largest arena that is made of bounded sizes">
  ];
}

#endif // RELAX_TRANSFORMS_MEMORY_PASSES_TD

//===- Memory.td - storage, after memory planning ----------*- tablegen -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_OPS_MEMORY_TD
#define RELAX_OPS_MEMORY_TD

include "Relax/RelaxBase.td"

def Relax_AllocStorageOp : Relax_Op<"alloc_storage", [
    MemoryEffects<[MemAlloc]>]> {
  let summary = "allocates bytes";
  let description = [{
    Created by memory planning. `bytes` is symbolic unless all symbols are
    bounded; `alignment` is a power of two.

    Example:

    ```mlir
    %s = relax.alloc_storage 512*n align 64 : !relax.storage
    ```
  }];
  let arguments = (ins Relax_SymExprAttr:$bytes, DefaultValuedAttr<I64Attr, "64">:$alignment);
  let results = (outs Relax_StorageType:$storage);
  let assemblyFormat = "custom<SymExpr>($bytes) `align` $alignment attr-dict `:` qualified(type($storage))";
  let hasVerifier = 1;
}

def Relax_TensorFromStorageOp : Relax_Op<"tensor_from_storage", [Pure]> {
  let summary = "a tensor at an offset of a storage";
  let description = [{
    Created by memory planning. `offset` is in bytes.

    Example:

    ```mlir
    %x = relax.tensor_from_storage %s at 0 : !relax.storage -> tensor<?x128xf32, #relax.shape<[n, 128]>>
    ```
  }];
  let arguments = (ins Relax_StorageType:$storage, Relax_SymExprAttr:$offset);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = [{
    $storage `at` custom<SymExpr>($offset) attr-dict `:` qualified(type($storage)) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Relax_KillOp : Relax_Op<"kill", [MemoryEffects<[MemFree]>]> {
  let summary = "ends the ownership of a storage or a value";
  let description = [{
    Created by `relax-insert-kills`, which states the rules, after the last use:
    the block gives up its reference. What others still hold, because it was
    returned or captured, lives on. A tuple gives up its members.

    Example:

    ```mlir
    relax.kill %s : !relax.storage
    ```
  }];
  let arguments = (ins AnyTypeOf<[
    Relax_StorageType, Relax_Tensor, AnyTuple, Relax_ObjectType, FunctionType]>:$input);
  let assemblyFormat = "$input attr-dict `:` qualified(type($input))";
}

#endif // RELAX_OPS_MEMORY_TD

//===- Memory.td - copies between devices, and storage -----*- tablegen -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_OPS_MEMORY_TD
#define RELAX_OPS_MEMORY_TD

include "Relax/RelaxBase.td"

def Relax_ToDeviceOp : Relax_DeducedOp<"to_device", [Pure]> {
  let summary = "a copy of a tensor on the host or on the device";
  let description = [{
    Copies to the memory of the host (`"host"`) or of the device that the module is
    compiled for (`"device"`). The copy is done in the order of the device's stream; a
    copy to the host waits for it.

    A graph function runs on the device, or on the host if it has `relax.device = "host"`;
    its parameters and results are on the same side unless they have their own
    `relax.device`. Ops take and return tensors on the side where their function runs.
    Tensors of the other side come from this op and from `relax.call`; they may only be
    passed on, reshaped and cast, asked for their sizes, and read as conditions
    (`relax-check-devices`). When compiling for a CPU, both sides are the same.

    Example:

    ```mlir
    relax.func private @pick(%x: tensor<?xf32, #relax.shape<[n]>>) -> tensor<i64> attributes {relax.device = "host"} {
      %0 = relax.argmax %x : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<i64>
      relax.return %0 : tensor<i64>
    }
    relax.func @main(%x: tensor<?xf32, #relax.shape<[n]>>) -> tensor<i64> {
      %0 = relax.exp %x : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
      %1 = relax.to_device %0 to "host" : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
      %2 = relax.call @pick(%1) : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<i64>
      %3 = relax.to_device %2 to "device" : (tensor<i64>) -> tensor<i64>
      relax.return %3 : tensor<i64>
    }
    ```
  }];
  let arguments = (ins Relax_Tensor:$input, Relax_ChoiceAttr<["host", "device"]>:$place);
  let results = (outs Relax_Tensor:$result);
  let assemblyFormat = "$input `to` $place attr-dict `:` functional-type($input, $result)";
}

def Relax_AllocStorageOp : Relax_Op<"alloc_storage", [
    MemoryEffects<[MemAlloc]>]> {
  let summary = "allocates bytes";
  let description = [{
    Created by memory planning. `bytes` is symbolic unless all symbols are bounded;
    `alignment` is a power of two. The memory is on the side where the function runs,
    unless `relax.device` says otherwise.

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
    Created by `relax-insert-kills`, which defines the rules, after the last use:
    the block gives up its reference. Memory with other references, because it
    was returned or captured, stays alive. For a tuple, the block gives up the
    references to its members.

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

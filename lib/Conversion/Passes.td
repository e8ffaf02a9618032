//===- Passes.td - graph functions to host code ------------*- tablegen -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_CONVERSION_PASSES_TD
#define RELAX_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def LowerToHostPass : Pass<"relax-lower-to-host", "::mlir::ModuleOp"> {
  let summary = "turn graph functions into host code";
  let description = [{
    Turns each `relax.func` into a `func.func` on memrefs that computes symbols,
    checks shapes, takes memory from the runtime and calls kernels; kernels get
    memref parameters. Each public function is exported under the calling
    convention of TVM FFI as `__tvm_ffi_<name>`, and weights are bound through
    `__tvm_ffi_bind_weight`.

    Graph ops must be legalised and destinations explicit
    (`relax-lower-call-tir`); dataflow blocks must be inlined.

    What is checked when a function is entered: element types, ranks and static
    sizes; that a symbol has the same value in every place; expressions; declared
    bounds. The message names the function, the parameter, and both numbers.

    Tensors are counted references. A function borrows its parameters; a
    terminator takes a reference to what it passes on; `relax.kill` gives one
    back.

    With `device="cuda"` the tensors are in the memory of a device, which host
    code never touches: memory comes from `relax_rt_device_alloc`, constants from
    `relax_rt_device_constant`, conditions and the sizes in `tensor_to_shape` are
    read by `relax_rt_device_read`, and those of `shape_to_tensor` written by
    `relax_rt_device_write`. Kernels are called as before; what their bodies
    launch is for a later pass. `relax_unload` gives back what the runtime keeps
    on devices for the module's globals, and its weights; whoever adds such a
    global adds a call there.

    Before:

    ```mlir
    func.func private @k(%x: tensor<?xf32> {relax.shape = #relax.shape<[n]>}, %out: tensor<?xf32> {relax.shape = #relax.shape<[n]>}) -> tensor<?xf32> {
      %0 = linalg.exp ins(%x : tensor<?xf32>) outs(%out : tensor<?xf32>) -> tensor<?xf32>
      return %0 : tensor<?xf32>
    }
    relax.func @main(%x: tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>> {
      %s = relax.alloc_storage 4*n align 64 : !relax.storage
      %d = relax.tensor_from_storage %s at 0 : !relax.storage -> tensor<?xf32, #relax.shape<[n]>>
      %0 = relax.call_tir_inplace @k(%x, %d) inplace [1] : (tensor<?xf32, #relax.shape<[n]>>, tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
      relax.kill %s : !relax.storage
      relax.return %0 : tensor<?xf32, #relax.shape<[n]>>
    }
    ```

    After (abridged):

    ```
    func.func private @main(%context: !llvm.ptr, %x: memref<?xf32>) -> memref<?xf32> {
      %s = llvm.call @relax_rt_alloc(%context, …)
      call @k(%x, %d) : (memref<?xf32>, memref<?xf32>) -> ()
      llvm.call @relax_rt_retain(%s)
      llvm.call @relax_rt_release(%s)
      return %d : memref<?xf32>
    }
    ```
  }];
  let options = [
    Option<"device", "device", "std::string", /*default=*/"\"\"",
           "the kind of device that has the tensors: \"cuda\"; empty for the CPU">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect",
    "::mlir::func::FuncDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"
  ];
}

#endif // RELAX_CONVERSION_PASSES_TD

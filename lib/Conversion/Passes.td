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
  let summary = "lower graph functions to host code";
  let description = [{
    Turns each `relax.func` into a `func.func` on memrefs that computes symbols,
    checks shapes, allocates memory through the runtime and calls kernels; kernels
    get memref parameters. Each public function is exported under the TVM FFI
    calling convention as `__tvm_ffi_<name>`, and weights are bound through
    `__tvm_ffi_bind_weight`.

    Graph ops must be legalized and destinations explicit
    (`relax-lower-call-tir`); dataflow blocks must be inlined.

    On entry, a function checks element types, ranks, static sizes, sizes given
    by expressions, and declared bounds, and that all uses of a symbol have the
    same value. The error message names the function, the parameter, and both
    numbers.

    Tensors are reference counted. A function borrows its parameters, a terminator
    takes a reference to each value that it passes on, and `relax.kill` releases
    one.

    With `device="cuda"`, tensors are in device memory, which host code never
    touches: memory comes from `relax_rt_device_alloc` and constants from
    `relax_rt_device_constant`; conditions and the sizes in `tensor_to_shape` are
    read with `relax_rt_device_read`, and the sizes in `shape_to_tensor` are
    written with `relax_rt_device_write`. Kernel calls do not change; a later pass
    turns kernel bodies into launches. `relax_unload` releases what the runtime
    holds on devices for the globals of the module, and the module's weights; code
    that adds such a global must add a release to `relax_unload`.

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
           "the kind of device that holds the tensors: \"cuda\"; empty for the "
           "CPU">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect",
    "::mlir::func::FuncDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"
  ];
}

#endif // RELAX_CONVERSION_PASSES_TD

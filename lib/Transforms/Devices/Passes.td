//===- Passes.td - the host and the device in one module ---*- tablegen -*-===//
//
// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RELAX_TRANSFORMS_DEVICES_PASSES_TD
#define RELAX_TRANSFORMS_DEVICES_PASSES_TD

include "mlir/Pass/PassBase.td"

def CheckDevicesPass : Pass<"relax-check-devices", "::mlir::ModuleOp"> {
  let summary = "check that tensors are on the side where they are used";
  let description = [{
    Fails if an op of a graph function runs on the device but has an operand on the host,
    or the reverse (`relax.to_device` documents the rules). The error is at the op, names
    both sides, and shows where the operand was computed. Changes nothing.

    Before and after:

    ```mlir
    relax.func private @count(%x: tensor<?xf32, #relax.shape<[n]>>) -> tensor<i64> attributes {relax.device = "host"} {
      %0 = relax.argmax %x : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<i64>
      relax.return %0 : tensor<i64>
    }
    relax.func @main(%x: tensor<?xf32, #relax.shape<[n]>>) -> tensor<i64> {
      %0 = relax.to_device %x to "host" : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
      %1 = relax.call @count(%0) : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<i64>
      %2 = relax.to_device %1 to "device" : (tensor<i64>) -> tensor<i64>
      relax.return %2 : tensor<i64>
    }
    ```
  }];
}

def OnDevicePass : Pass<"relax-on-device", "::mlir::ModuleOp"> {
  let summary = "lower the functions of one side by a separate pipeline";
  let description = [{
    Runs a pipeline on the graph functions that run on one side, the host or the device,
    and on the kernels that they call. The pipeline sees a module of only these, with
    declarations of the functions of the other side, so it may contain any pass; a kernel
    that both sides call is duplicated. With `relax-cpu-bufferize` in one pipeline and
    `relax-gpu-bufferize` in the other, each kernel becomes code for its own side.

    Functions that the pipeline adds run on the same side. Does nothing if no
    function runs there. Checks the module like `relax-check-devices`.

    Before, with `place=host pipeline=relax-legalize`:

    ```mlir
    relax.func private @twice(%x: tensor<4xf32>) -> tensor<4xf32> attributes {relax.device = "host"} {
      %0 = relax.add %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      relax.return %0 : tensor<4xf32>
    }
    relax.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = relax.add %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      relax.return %0 : tensor<4xf32>
    }
    ```

    After:

    ```mlir
    relax.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = relax.add %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      relax.return %0 : tensor<4xf32>
    }
    func.func private @add(%x: tensor<4xf32>, %y: tensor<4xf32>, %out: tensor<4xf32>) -> tensor<4xf32> {
      %0 = linalg.add ins(%x, %y : tensor<4xf32>, tensor<4xf32>) outs(%out : tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    relax.func private @twice(%x: tensor<4xf32>) -> tensor<4xf32> attributes {relax.device = "host"} {
      %0 = relax.call_tir @add(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      relax.return %0 : tensor<4xf32>
    }
    ```
  }];
  let options = [
    Option<"place", "place", "std::string", /*default=*/"\"device\"",
           "the side: \"host\" or \"device\"">,
    Option<"pipeline", "pipeline", "std::string", /*default=*/"\"\"",
           "passes on modules, as in `--pass-pipeline`">
  ];
}

#endif // RELAX_TRANSFORMS_DEVICES_PASSES_TD

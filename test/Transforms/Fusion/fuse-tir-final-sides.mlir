// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -verify-diagnostics "-pass-pipeline=builtin.module(relax-on-device{place=host pipeline={relax-legalize,relax-fuse-tir{final=true}}})"

// A private function that the other side calls is not called public.
// expected-error @+1 {{primitive function @own cannot become one kernel: a function of the other side, host or device, uses it; change that}}
relax.func private @own(%x: tensor<4xf32>) -> tensor<4xf32> attributes {relax.device = "host", relax.primitive} {
  %0 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  relax.return %0 : tensor<4xf32>
}
relax.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relax.to_device %x to "host" : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relax.call @own(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = relax.to_device %1 to "device" : (tensor<4xf32>) -> tensor<4xf32>
  relax.return %2 : tensor<4xf32>
}

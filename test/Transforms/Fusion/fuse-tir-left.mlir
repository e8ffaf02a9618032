// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -split-input-file -verify-diagnostics -relax-fuse-tir

// A function named "fused" is not fused because of its name (apache/tvm#20194).
relax.func private @fused(%x: tuple<tuple<tensor<4xf32>>>) -> tensor<4xf32> {
  %0 = relax.get %x[0] : (tuple<tuple<tensor<4xf32>>>) -> tuple<tensor<4xf32>>
  %1 = relax.get %0[0] : (tuple<tensor<4xf32>>) -> tensor<4xf32>
  relax.return %1 : tensor<4xf32>
}

// -----

// A function that contains anything but calls of kernels stays a function.
// expected-remark @+1 {{primitive function @fused is not fused: it holds relax.get, not only calls of kernels}}
relax.func private @fused(%x: tuple<tensor<4xf32>>) -> tensor<4xf32> attributes {relax.primitive} {
  %0 = relax.get %x[0] : (tuple<tensor<4xf32>>) -> tensor<4xf32>
  relax.return %0 : tensor<4xf32>
}

// -----

// expected-remark @+1 {{primitive function @fused is not fused: kernel @k has no single block}}
relax.func private @fused(%x: tensor<4xf32>) -> tensor<4xf32> attributes {relax.primitive} {
  %0 = relax.call_tir @k(%x) : (tensor<4xf32>) -> tensor<4xf32>
  relax.return %0 : tensor<4xf32>
}
func.func private @k(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

// -----

// expected-remark @+1 {{primitive function @fused is not fused: it returns a parameter, a constant, or a value twice}}
relax.func private @fused(%x: tensor<4xf32>) -> tensor<4xf32> attributes {relax.primitive} {
  relax.return %x : tensor<4xf32>
}

// -----

// expected-remark @+1 {{primitive function @fused is not fused: it is used as a value}}
relax.func private @fused(%x: tensor<4xf32>) -> tensor<4xf32> attributes {relax.primitive} {
  relax.return %x : tensor<4xf32>
}
relax.func @main() -> ((tensor<4xf32>) -> tensor<4xf32>) {
  %0 = relax.make_closure @fused() : () -> ((tensor<4xf32>) -> tensor<4xf32>)
  relax.return %0 : (tensor<4xf32>) -> tensor<4xf32>
}

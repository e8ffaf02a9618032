// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// DEFINE: %{both} = relax-legalize,relax-lower-call-tir
// RUN: relax-opt %s -split-input-file "-pass-pipeline=builtin.module(relax-on-device{place=host pipeline={%{both},relax-cpu-bufferize,relax-plan-memory,relax-insert-kills}},relax-on-device{pipeline={%{both},relax-gpu-bufferize,relax-plan-memory,relax-insert-kills}})" | FileCheck %s

!t = tensor<?xf32, #relax.shape<[n]>>

// A private function that only the other side calls stays.
relax.func private @twice(%x: !t) -> !t attributes {relax.device = "host"} {
  %0 = relax.add %x, %x : (!t, !t) -> !t
  relax.return %0 : !t
}

relax.func @main(%x: !t) -> !t {
  %0 = relax.add %x, %x : (!t, !t) -> !t
  %1 = relax.to_device %0 to "host" : (!t) -> !t
  %2 = relax.call @twice(%1) : (!t) -> !t
  %3 = relax.to_device %2 to "device" : (!t) -> !t
  %4 = relax.add %3, %3 : (!t, !t) -> !t
  relax.return %4 : !t
}

// CHECK-LABEL: relax.func private @twice
// CHECK-SAME: relax.device = "host"
// CHECK: relax.call_tir_inplace @[[HOST:[a-z_0-9]+]](
// CHECK: func.func private @[[HOST]](
// CHECK-NOT: gpu.launch
// CHECK: vector.load

// The two sides do not share storage: %x + %x is dead when the copy comes back, and so is its first copy.
// CHECK-LABEL: relax.func @main
// CHECK: %[[DEVICE:.*]] = relax.alloc_storage 4*n align 64 :
// CHECK: relax.tensor_from_storage %[[DEVICE]]
// CHECK: relax.call_tir_inplace @[[GPU:[a-z_0-9]+]](
// CHECK: %[[COPY:.*]] = relax.alloc_storage 4*n align 64 {relax.device = "host"}
// CHECK: relax.tensor_from_storage %[[COPY]]
// CHECK: relax.call_library_inplace "relax.copy"({{.*}}) inplace [1] {relax.device = "host"}
// CHECK: relax.call @twice
// CHECK: relax.tensor_from_storage %[[DEVICE]]
// CHECK: relax.call_library_inplace "relax.copy"({{.*}}) inplace [1] {relax.device = "device"}
// CHECK: relax.call_tir_inplace @[[GPU]](
// CHECK: func.func private @[[GPU]](
// CHECK-NOT: vector.load
// CHECK: gpu.launch

// -----

// A kernel that both sides call becomes two.
func.func private @kernel(%x: tensor<4xf32>, %out: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.exp ins(%x : tensor<4xf32>) outs(%out : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK-LABEL: relax.func @here
// CHECK: relax.call_tir_inplace @[[FIRST:kernel[_0-9]*]](
relax.func @here(%x: tensor<4xf32>) -> tensor<4xf32> attributes {relax.device = "host"} {
  %0 = relax.call_tir @kernel(%x) : (tensor<4xf32>) -> tensor<4xf32>
  relax.return %0 : tensor<4xf32>
}
// CHECK-LABEL: relax.func @there
// CHECK-NOT: @[[FIRST]](
// CHECK: relax.call_tir_inplace @kernel{{[_0-9]*}}(
// CHECK-NOT: @[[FIRST]](
relax.func @there(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relax.call_tir @kernel(%x) : (tensor<4xf32>) -> tensor<4xf32>
  relax.return %0 : tensor<4xf32>
}

// -----

// The pass knows which parameters the results of a function of the other side alias: %a may be overwritten while %r is
// used.
!t = tensor<4xf32>
func.func private @kernel(%out: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.exp ins(%out : tensor<4xf32>) outs(%out : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
relax.func private @second(%x: !t, %y: !t) -> !t attributes {relax.device = "host"} {
  relax.return %y : !t
}
relax.func private @write(%x: !t) -> !t attributes {relax.device = "host"} {
  %0 = relax.call_tir_inplace @kernel(%x) inplace [0] : (!t) -> !t
  relax.return %0 : !t
}
// CHECK-LABEL: relax.func @main
// CHECK-NOT: relax.returned
// CHECK: relax.call @second
// CHECK: relax.call @write
relax.func @main(%x: !t) -> !t {
  %a = relax.to_device %x to "host" : (!t) -> !t
  %b = relax.to_device %x to "host" : (!t) -> !t
  %r = relax.call @second(%a, %b) : (!t, !t) -> !t
  %w = relax.call @write(%a) : (!t) -> !t
  %0 = relax.to_device %r to "device" : (!t) -> !t
  %1 = relax.to_device %w to "device" : (!t) -> !t
  %2 = relax.add %0, %1 : (!t, !t) -> !t
  relax.return %2 : !t
}

// -----

// A caller on the other side may still need the arguments of a function, so `relax.donated` is dropped.
!t = tensor<4xf32>
func.func private @kernel(%x: tensor<4xf32>, %out: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.exp ins(%x : tensor<4xf32>) outs(%out : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK-LABEL: relax.func @on_host
// CHECK-NOT: relax.donated
relax.func @on_host(%x: !t) -> !t attributes {relax.device = "host", relax.donated = array<i64: 0>} {
  %0 = relax.call_tir @kernel(%x) : (!t) -> !t
  relax.return %0 : !t
}
// CHECK-LABEL: relax.func @main
// CHECK-SAME: relax.donated
relax.func @main(%x: !t) -> !t attributes {relax.donated = array<i64: 0>} {
  %a = relax.to_device %x to "host" : (!t) -> !t
  %b = relax.call @on_host(%a) : (!t) -> !t
  %0 = relax.to_device %b to "device" : (!t) -> !t
  relax.return %0 : !t
}

// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -relax-update-in-place | FileCheck %s

// A kernel's result that is not needed anymore is updated in place; tensors of
// the caller, and tensors that are used again, are not.
// CHECK-LABEL: relax.func @main
// CHECK:         %[[A:.*]] = relax.call_tir @negate(%[[X:[a-z0-9]+]])
// CHECK:         %[[B:.*]] = relax.call_tir_inplace @put_inplace(%[[V:[a-z0-9]+]], %[[A]]) inplace [1]
// CHECK:         relax.call_tir @put(%[[X]], %[[V]])
// CHECK:         %[[C:.*]] = relax.call_tir @put(%[[B]], %[[V]])
// CHECK:         relax.return %[[B]], %{{.*}}, %[[C]]
relax.func @main(%x: tensor<?xf32, #relax.shape<[n]>>, %v: tensor<1xf32>) -> (tensor<?xf32, #relax.shape<[n]>>, tensor<?xf32, #relax.shape<[n]>>, tensor<?xf32, #relax.shape<[n]>>) {
  %a = relax.call_tir @negate(%x) : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
  %b = relax.call_tir @put(%a, %v) : (tensor<?xf32, #relax.shape<[n]>>, tensor<1xf32>) -> tensor<?xf32, #relax.shape<[n]>>
  %c = relax.call_tir @put(%x, %v) : (tensor<?xf32, #relax.shape<[n]>>, tensor<1xf32>) -> tensor<?xf32, #relax.shape<[n]>>
  %d = relax.call_tir @put(%b, %v) : (tensor<?xf32, #relax.shape<[n]>>, tensor<1xf32>) -> tensor<?xf32, #relax.shape<[n]>>
  relax.return %b, %c, %d : tensor<?xf32, #relax.shape<[n]>>, tensor<?xf32, #relax.shape<[n]>>, tensor<?xf32, #relax.shape<[n]>>
}

// A loop begins with a copy of the caller's tensor.
// CHECK-LABEL: relax.func @loop
// CHECK:         %[[COPY:.*]] = relax.call_tir @copy(%{{[a-z0-9]+}})
// CHECK:         relax.while %[[COPY]]
// CHECK:         ^bb0(%[[ARG:[a-z0-9]+]]: tensor<?xf32, #relax.shape<[n]>>):
// CHECK:           relax.condition
// CHECK:         ^bb0(%[[ARG:[a-z0-9]+]]: tensor<?xf32, #relax.shape<[n]>>):
// CHECK:           relax.call_tir_inplace @put_inplace(%{{.*}}, %[[ARG]]) inplace [1]
relax.func @loop(%x: tensor<?xf32, #relax.shape<[n]>>, %v: tensor<1xf32>, %c: i1) -> tensor<?xf32, #relax.shape<[n]>> {
  %0 = relax.while %x : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>> {
  ^bb0(%a: tensor<?xf32, #relax.shape<[n]>>):
    relax.condition %c : i1
  } do {
  ^bb0(%a: tensor<?xf32, #relax.shape<[n]>>):
    %1 = relax.call_tir @put(%a, %v) : (tensor<?xf32, #relax.shape<[n]>>, tensor<1xf32>) -> tensor<?xf32, #relax.shape<[n]>>
    relax.yield %1 : tensor<?xf32, #relax.shape<[n]>>
  }
  relax.return %0 : tensor<?xf32, #relax.shape<[n]>>
}

// A donated parameter is overwritten, unless its old value is needed, or
// callers in the module may need it.
// CHECK-LABEL: relax.func @donated(
// CHECK:         %[[B:.*]] = relax.call_tir_inplace @put_inplace(%[[V:[a-z0-9]+]], %[[X:[a-z0-9]+]]) inplace [1]
// CHECK:         %[[C:.*]] = relax.call_tir @put(%[[Y:[a-z0-9]+]], %[[V]])
// CHECK:         relax.return %[[B]], %[[C]]
!v = tensor<?xf32, #relax.shape<[n]>>
relax.func @donated(%x: !v, %y: !v, %v: tensor<1xf32>) -> (!v, !v) attributes {relax.donated = array<i64: 0>} {
  %a = relax.call_tir @put(%x, %v) : (!v, tensor<1xf32>) -> !v
  %b = relax.call_tir @put(%y, %v) : (!v, tensor<1xf32>) -> !v
  relax.return %a, %b : !v, !v
}
// CHECK-LABEL: relax.func @donated_and_read(
// CHECK:         relax.call_tir @put(
relax.func @donated_and_read(%x: !v, %v: tensor<1xf32>) -> (!v, !v) attributes {relax.donated = array<i64: 0>} {
  %a = relax.call_tir @put(%x, %v) : (!v, tensor<1xf32>) -> !v
  %b = relax.call_tir @negate(%x) : (!v) -> !v
  relax.return %a, %b : !v, !v
}
// CHECK-LABEL: relax.func @donated_and_called(
// CHECK:         relax.call_tir @put(
relax.func @donated_and_called(%x: !v, %v: tensor<1xf32>) -> !v attributes {relax.donated = array<i64: 0>} {
  %a = relax.call_tir @put(%x, %v) : (!v, tensor<1xf32>) -> !v
  relax.return %a : !v
}
relax.func @caller(%x: !v, %v: tensor<1xf32>) -> (!v, !v) {
  %a = relax.call_tir @negate(%x) : (!v) -> !v
  %b = relax.call @donated_and_called(%a, %v) : (!v, tensor<1xf32>) -> !v
  relax.return %a, %b : !v, !v
}

// A loop begins with a donated parameter itself.
// CHECK-LABEL: relax.func @donated_loop(
// CHECK-NOT:     relax.call_tir @copy
// CHECK:         relax.call_tir_inplace @put_inplace
relax.func @donated_loop(%x: !v, %v: tensor<1xf32>, %c: i1) -> !v attributes {relax.donated = array<i64: 0>} {
  %0 = relax.while %x : (!v) -> !v {
  ^bb0(%a: !v):
    relax.condition %c : i1
  } do {
  ^bb0(%a: !v):
    %1 = relax.call_tir @put(%a, %v) : (!v, tensor<1xf32>) -> !v
    relax.yield %1 : !v
  }
  relax.return %0 : !v
}

// The kernel copies to memory other than the result.
// CHECK-LABEL: relax.func @other_memory
// CHECK:         relax.call_tir @add_into(%{{.*}}, %{{.*}}) :
relax.func @other_memory(%x: tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>> {
  %a = relax.call_tir @negate(%x) : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
  %b = relax.call_tir @negate(%x) : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
  %0 = relax.call_tir @add_into(%a, %b) : (tensor<?xf32, #relax.shape<[n]>>, tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
  relax.return %0 : tensor<?xf32, #relax.shape<[n]>>
}
func.func private @add_into(%x: tensor<?xf32> {relax.shape = #relax.shape<[m]>}, %y: tensor<?xf32> {relax.shape = #relax.shape<[m]>}, %d: tensor<?xf32> {relax.shape = #relax.shape<[m]>}) -> tensor<?xf32> {
  %copy = linalg.copy ins(%x : tensor<?xf32>) outs(%y : tensor<?xf32>) -> tensor<?xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%copy : tensor<?xf32>) outs(%d : tensor<?xf32>) {
  ^bb0(%e: f32, %o: f32):
    %1 = arith.addf %e, %e : f32
    linalg.yield %1 : f32
  } -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

func.func private @negate(%x: tensor<?xf32> {relax.shape = #relax.shape<[m]>}, %d: tensor<?xf32> {relax.shape = #relax.shape<[m]>}) -> tensor<?xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%d : tensor<?xf32>) {
  ^bb0(%e: f32, %o: f32):
    %1 = arith.negf %e : f32
    linalg.yield %1 : f32
  } -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK:       func.func private @put_inplace(%[[VALUES:[a-z0-9]+]]: tensor<1xf32>, %[[DATA:[a-z0-9]+]]: tensor<?xf32> {relax.shape = #relax.shape<[m]>}) -> tensor<?xf32> {
// CHECK-NOT:     linalg
// CHECK:         tensor.insert %{{.*}} into %[[DATA]]
func.func private @put(%x: tensor<?xf32> {relax.shape = #relax.shape<[m]>}, %v: tensor<1xf32>, %d: tensor<?xf32> {relax.shape = #relax.shape<[m]>}) -> tensor<?xf32> {
  %zero = arith.constant 0 : index
  %copy = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%d : tensor<?xf32>) {
  ^bb0(%e: f32, %o: f32):
    linalg.yield %e : f32
  } -> tensor<?xf32>
  %value = tensor.extract %v[%zero] : tensor<1xf32>
  %put = tensor.insert %value into %copy[%zero] : tensor<?xf32>
  return %put : tensor<?xf32>
}

// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt --relax-lower-to-host="device=cuda" --split-input-file --verify-diagnostics %s | FileCheck %s
// RUN: relax-opt --relax-lower-to-host --split-input-file %s | FileCheck %s --check-prefix=CPU

// Memory is allocated on the device and released like host memory; kernel calls do not change.
// CHECK-LABEL: func.func private @relax.graph.allocation(
// CHECK: %[[S:.*]] = llvm.call @relax_rt_device_alloc(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : (!llvm.ptr, i64, i64, !llvm.ptr) -> !llvm.ptr
// CHECK: call @relax.kernel.k(
// CHECK: llvm.call @relax_rt_release(%[[S]])
// CHECK-NOT: @relax_rt_alloc
// CPU-LABEL: func.func private @relax.graph.allocation(
// CPU-NOT: @relax_rt_device
// CPU: llvm.call @relax_rt_alloc(
func.func private @k(%x: tensor<?xf32> {relax.shape = #relax.shape<[n]>}, %out: tensor<?xf32> {relax.shape = #relax.shape<[n]>}) -> tensor<?xf32> {
  %0 = linalg.exp ins(%x : tensor<?xf32>) outs(%out : tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
relax.func @allocation(%x: tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>> {
  %s = relax.alloc_storage 4*n align 64 : !relax.storage
  %d = relax.tensor_from_storage %s at 0 : !relax.storage -> tensor<?xf32, #relax.shape<[n]>>
  %0 = relax.call_tir_inplace @k(%x, %d) inplace [1] : (tensor<?xf32, #relax.shape<[n]>>, tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
  relax.kill %s : !relax.storage
  relax.return %0 : tensor<?xf32, #relax.shape<[n]>>
}

// -----

// The signature says where tensors are: one parameter and one result of 3 slots each, on a device of type 2; f32
// tensors with the flags 2 << 8.
// CHECK-DAG: llvm.mlir.global internal constant @relax.words(dense<[1, 1, 3, 3, 2, 4, 2, 32, 512, 1, -1, 4, 2, 32, 512, 1, -1]>
// CPU-DAG: llvm.mlir.global internal constant @relax.words(dense<[1, 1, 3, 3, 0, 4, 2, 32, 0, 1, -1, 4, 2, 32, 0, 1, -1]>
// CHECK-LABEL: func.func private @relax.graph.signature(
// CPU-LABEL: func.func private @relax.graph.signature(
relax.func @signature(%x: tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>> {
  relax.return %x : tensor<?xf32, #relax.shape<[n]>>
}

// -----

// A constant has a record that the runtime may change: address, bytes, and the loaded copy, which is released on
// unload.
// CHECK-DAG: llvm.mlir.global internal constant @[[DATA:relax.constant[.0-9]*]](dense<[1, 0, 1]> : tensor<3xi8>)
// CHECK-DAG: llvm.mlir.global internal @[[RECORD:relax.device_constant[.0-9]*]]() {{.*}}: !llvm.struct<(ptr, i64, ptr)> {
// CHECK-DAG: llvm.mlir.addressof @[[DATA]]
// CHECK-DAG: llvm.mlir.constant(3 : i64)
// CHECK-LABEL: func.func private @relax.graph.constant(
// CHECK: %[[ADDRESS:.*]] = llvm.mlir.addressof @[[RECORD]]
// CHECK: llvm.call @relax_rt_device_constant(%{{.*}}, %[[ADDRESS]], %{{.*}}) : (!llvm.ptr, !llvm.ptr, !llvm.ptr) -> !llvm.ptr
// CHECK-LABEL: llvm.func @relax_unload(
// CHECK: %[[UNLOADED:.*]] = llvm.mlir.addressof @[[RECORD]]
// CHECK: %[[LOADED:.*]] = llvm.getelementptr %[[UNLOADED]][2] : (!llvm.ptr) -> !llvm.ptr, i64
// CHECK: llvm.call @relax_rt_device_unload(%[[LOADED]])
// CPU-NOT: relax_rt_device_constant
// CPU-NOT: relax_unload
relax.func @constant() -> tensor<3xi1> {
  %0 = relax.constant dense<[true, false, true]> : tensor<3xi1>
  relax.return %0 : tensor<3xi1>
}

// -----

// Weights bound to a module are released with it.
// CHECK-DAG: llvm.mlir.global internal @[[TABLE:relax.weights[.0-9]*]](#llvm.zero) {{.*}}: !llvm.array<1 x ptr>
// CHECK-DAG: llvm.mlir.global internal constant @[[TYPES:relax.weight_types[.0-9]*]](
// CHECK-LABEL: llvm.func @relax_unload(
// CHECK-DAG: %[[WEIGHTS:.*]] = llvm.mlir.addressof @[[TABLE]]
// CHECK-DAG: %[[WORDS:.*]] = llvm.mlir.addressof @[[TYPES]]
// CHECK: llvm.call @relax_rt_unload_weights(%[[WORDS]], %[[WEIGHTS]])
// CHECK-NEXT: llvm.return
// CPU-LABEL: llvm.func @relax_unload(
// CPU: llvm.call @relax_rt_unload_weights(
// CPU-NOT: relax_rt_device
relax.func @weight() -> tensor<4xf32> {
  %0 = relax.constant weight "w" : tensor<4xf32>
  relax.return %0 : tensor<4xf32>
}

// -----

// A condition is read as a byte from the device.
// CHECK-LABEL: func.func private @relax.graph.condition(
// CHECK: %[[WORD:.*]] = llvm.call @relax_rt_device_read(%{{.*}}, %{{.*}}, %{{.*}}) : (!llvm.ptr, !llvm.ptr, i64) -> i64
// CHECK: %[[BYTE:.*]] = llvm.trunc %[[WORD]] : i64 to i8
// CHECK: %[[CONDITION:.*]] = arith.cmpi ne, %[[BYTE]]
// CHECK: scf.if %[[CONDITION]]
// CHECK-NOT: memref.load
// CPU-LABEL: func.func private @relax.graph.condition(
// CPU: memref.load
relax.func @condition(%c: tensor<i1>, %x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relax.if %c : tensor<i1> -> tensor<4xf32> {
    relax.yield %x : tensor<4xf32>
  } else {
    relax.yield %y : tensor<4xf32>
  }
  relax.return %0 : tensor<4xf32>
}

// -----

// Sizes are read one by one.
// CHECK-LABEL: func.func private @relax.graph.read_sizes(
// CHECK: llvm.call @relax_rt_device_read(
// CHECK: %[[SECOND:.*]] = llvm.getelementptr %{{.*}}[1] : (!llvm.ptr) -> !llvm.ptr, i64
// CHECK: llvm.call @relax_rt_device_read(%{{.*}}, %[[SECOND]],
// CHECK-NOT: memref.load
relax.func @read_sizes(%x: tensor<2xi64>) -> !relax.shape<2> {
  %0 = relax.tensor_to_shape %x : (tensor<2xi64>) -> !relax.shape<2>
  relax.return %0 : !relax.shape<2>
}

// -----

// Sizes are written together.
// CHECK-LABEL: func.func private @relax.graph.write_sizes(
// CHECK: llvm.call @relax_rt_device_alloc(
// CHECK-COUNT-2: llvm.store %{{.*}} : i64, !llvm.ptr
// CHECK: %[[COUNT:.*]] = llvm.mlir.constant(2 : i64) : i64
// CHECK-NEXT: llvm.call @relax_rt_device_write(%{{.*}}, %{{.*}}, %{{.*}}, %[[COUNT]]) : (!llvm.ptr, !llvm.ptr, !llvm.ptr, i64) -> ()
// CHECK-NOT: memref.store
relax.func @write_sizes(%x: tensor<?x?xf32, #relax.shape<[n, m]>>) -> tensor<2xi64> {
  %0 = relax.shape_of %x : (tensor<?x?xf32, #relax.shape<[n, m]>>) -> !relax.shape<[n, m]>
  %1 = relax.shape_to_tensor %0 : (!relax.shape<[n, m]>) -> tensor<2xi64>
  relax.return %1 : tensor<2xi64>
}

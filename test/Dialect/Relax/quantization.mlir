// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: relax-opt %s | relax-opt | FileCheck %s
// RUN: relax-opt --emit-bytecode %s | relax-opt | FileCheck %s
// RUN: relax-opt --mlir-print-op-generic %s | relax-opt | FileCheck %s

// Quantization is per tensor or per axis; a parameter may determine the size of
// a dimension.
// CHECK-LABEL: relax.func @quantize
relax.func @quantize(%x: tensor<?x8xf32, #relax.shape<[n, 8]>>, %y: tensor<2x?xf16>, %z: tensor<*xf32>, %s: tensor<f32>, %v: tensor<8xf32>, %zero: tensor<8xi32>) {
  // CHECK: relax.quantize %{{.*}}, %{{.*}} : {{.*}} -> tensor<?x8xi8, #relax.shape<[n, 8]>>
  %0 = relax.quantize %x, %s : (tensor<?x8xf32, #relax.shape<[n, 8]>>, tensor<f32>) -> tensor<?x8xi8, #relax.shape<[n, 8]>>
  // CHECK: relax.quantize %{{.*}}, %{{.*}}, %{{.*}} {axis = 1 : i64, out_dtype = ui8} : {{.*}} -> tensor<2x8xui8>
  %1 = relax.quantize %y, %v, %zero {axis = 1 : i64, out_dtype = ui8} : (tensor<2x?xf16>, tensor<8xf32>, tensor<8xi32>) -> tensor<2x8xui8>
  // CHECK: {out_dtype = f8E4M3FN} : (tensor<*xf32>, tensor<8xf32>) -> tensor<*xf8E4M3FN>
  %2 = relax.quantize %z, %v {out_dtype = f8E4M3FN} : (tensor<*xf32>, tensor<8xf32>) -> tensor<*xf8E4M3FN>
  relax.return
}

// CHECK-LABEL: relax.func @dequantize
relax.func @dequantize(%x: tensor<?x8xi8, #relax.shape<[n, 8]>>, %y: tensor<ui8>, %s: tensor<f32>, %v: tensor<?xf16, #relax.shape<[n]>>, %any: tensor<*xf32>) {
  // CHECK: relax.dequantize %{{.*}}, %{{.*}} {axis = 0 : i64, out_dtype = f16} : {{.*}} -> tensor<?x8xf16, #relax.shape<[n, 8]>>
  %0 = relax.dequantize %x, %v {axis = 0 : i64, out_dtype = f16} : (tensor<?x8xi8, #relax.shape<[n, 8]>>, tensor<?xf16, #relax.shape<[n]>>) -> tensor<?x8xf16, #relax.shape<[n, 8]>>
  // CHECK: -> tensor<f32>
  %1 = relax.dequantize %y, %s : (tensor<ui8>, tensor<f32>) -> tensor<f32>
  // CHECK: -> tensor<?x8xf32, #relax.shape<[n, 8]>>
  %2 = relax.dequantize %x, %any : (tensor<?x8xi8, #relax.shape<[n, 8]>>, tensor<*xf32>) -> tensor<?x8xf32, #relax.shape<[n, 8]>>
  relax.return
}

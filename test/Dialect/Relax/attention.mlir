// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: relax-opt %s | relax-opt | FileCheck %s
// RUN: relax-opt --emit-bytecode %s | relax-opt | FileCheck %s
// RUN: relax-opt --mlir-print-op-generic %s | relax-opt | FileCheck %s

// Grouped heads, another value size, and causal masks.
// CHECK-LABEL: relax.func @attention
relax.func @attention(%q: tensor<?x?x32x128xf16, #relax.shape<[b, n, 32, 128]>>, %k: tensor<?x?x8x128xf16, #relax.shape<[b, m, 8, 128]>>, %v: tensor<?x?x8x64xf16, #relax.shape<[b, m, 8, 64]>>, %any: tensor<*xf16>) {
  // CHECK: relax.attention %{{.*}}, %{{.*}}, %{{.*}} : {{.*}} -> tensor<?x?x32x64xf16, #relax.shape<[b, n, 32, 64]>>
  %0 = relax.attention %q, %k, %v : (tensor<?x?x32x128xf16, #relax.shape<[b, n, 32, 128]>>, tensor<?x?x8x128xf16, #relax.shape<[b, m, 8, 128]>>, tensor<?x?x8x64xf16, #relax.shape<[b, m, 8, 64]>>) -> tensor<?x?x32x64xf16, #relax.shape<[b, n, 32, 64]>>
  // CHECK: {causal_mask = "BottomRight", scale = 1.250000e-01 : f64, window_size = 4096 : i64}
  %1 = relax.attention %q, %k, %v {causal_mask = "BottomRight", scale = 0.125 : f64, window_size = 4096 : i64} : (tensor<?x?x32x128xf16, #relax.shape<[b, n, 32, 128]>>, tensor<?x?x8x128xf16, #relax.shape<[b, m, 8, 128]>>, tensor<?x?x8x64xf16, #relax.shape<[b, m, 8, 64]>>) -> tensor<?x?x32x64xf16, #relax.shape<[b, n, 32, 64]>>
  // One operand has an unknown rank; the batch dimension comes from the key.
  // CHECK: -> tensor<?x?x?x64xf16, #relax.shape<[b, ?, ?, 64]>>
  %2 = relax.attention %any, %k, %v : (tensor<*xf16>, tensor<?x?x8x128xf16, #relax.shape<[b, m, 8, 128]>>, tensor<?x?x8x64xf16, #relax.shape<[b, m, 8, 64]>>) -> tensor<?x?x?x64xf16, #relax.shape<[b, ?, ?, 64]>>
  // CHECK: -> tensor<?x?x?x?xf16>
  %3 = relax.attention %any, %any, %any : (tensor<*xf16>, tensor<*xf16>, tensor<*xf16>) -> tensor<?x?x?x?xf16>
  relax.return
}

// A bias may have any rank up to four, and be Boolean or of the operands' type; the number of heads may be symbolic.
// CHECK-LABEL: relax.func @bias
relax.func @bias(%q: tensor<2x?x?x64xf32, #relax.shape<[2, n, h, 64]>>, %k: tensor<2x?x?x64xf32, #relax.shape<[2, m, g, 64]>>, %mask: tensor<?x?xi1, #relax.shape<[n, m]>>, %bias: tensor<1x?x1x?xf32, #relax.shape<[1, h, 1, m]>>, %s: tensor<f32>) {
  // CHECK: relax.attention %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : {{.*}}tensor<?x?xi1, #relax.shape<[n, m]>>) ->
  %0 = relax.attention %q, %k, %k, %mask : (tensor<2x?x?x64xf32, #relax.shape<[2, n, h, 64]>>, tensor<2x?x?x64xf32, #relax.shape<[2, m, g, 64]>>, tensor<2x?x?x64xf32, #relax.shape<[2, m, g, 64]>>, tensor<?x?xi1, #relax.shape<[n, m]>>) -> tensor<2x?x?x64xf32, #relax.shape<[2, n, h, 64]>>
  // CHECK: tensor<1x?x1x?xf32, #relax.shape<[1, h, 1, m]>>) ->
  %1 = relax.attention %q, %k, %k, %bias : (tensor<2x?x?x64xf32, #relax.shape<[2, n, h, 64]>>, tensor<2x?x?x64xf32, #relax.shape<[2, m, g, 64]>>, tensor<2x?x?x64xf32, #relax.shape<[2, m, g, 64]>>, tensor<1x?x1x?xf32, #relax.shape<[1, h, 1, m]>>) -> tensor<2x?x?x64xf32, #relax.shape<[2, n, h, 64]>>
  // CHECK: tensor<f32>) ->
  %2 = relax.attention %q, %k, %k, %s : (tensor<2x?x?x64xf32, #relax.shape<[2, n, h, 64]>>, tensor<2x?x?x64xf32, #relax.shape<[2, m, g, 64]>>, tensor<2x?x?x64xf32, #relax.shape<[2, m, g, 64]>>, tensor<f32>) -> tensor<2x?x?x64xf32, #relax.shape<[2, n, h, 64]>>
  relax.return
}

// CHECK-LABEL: relax.func @rotary
relax.func @rotary(%x: tensor<1x?x32x128xf16, #relax.shape<[1, n, 32, 128]>>, %any: tensor<*xf16>, %s: !relax.shape<[m]>, %p: tensor<?xi32, #relax.shape<[n]>>, %p2: tensor<?x7xi64, #relax.shape<[b, 7]>>, %p0: tensor<i64>, %t: tensor<4096x64xf32>, %f: tensor<16xf32>) {
  // CHECK: relax.rotary_embedding %{{.*}} {offset = #relax.expr<m>, theta = 5.000000e+05 : f64} :
  %0 = relax.rotary_embedding %x {offset = #relax.expr<m>, theta = 500000.0 : f64} : (tensor<1x?x32x128xf16, #relax.shape<[1, n, 32, 128]>>) -> tensor<1x?x32x128xf16, #relax.shape<[1, n, 32, 128]>>
  // CHECK: relax.rotary_embedding %{{.*}} positions %{{.*}} cos %{{.*}} sin %{{.*}} {layout = "interleaved"} :
  %1 = relax.rotary_embedding %x positions %p cos %t sin %t {layout = "interleaved"} : (tensor<1x?x32x128xf16, #relax.shape<[1, n, 32, 128]>>, tensor<?xi32, #relax.shape<[n]>>, tensor<4096x64xf32>, tensor<4096x64xf32>) -> tensor<1x?x32x128xf16, #relax.shape<[1, n, 32, 128]>>
  // CHECK: relax.rotary_embedding %{{.*}} positions %{{.*}} freq_factors %{{.*}} {attn_factor = 1.200000e+00 : f64, rotary_dim = 32 : i64, scale = 2.500000e-01 : f64} :
  %2 = relax.rotary_embedding %x positions %p0 freq_factors %f {attn_factor = 1.2 : f64, rotary_dim = 32 : i64, scale = 0.25 : f64} : (tensor<1x?x32x128xf16, #relax.shape<[1, n, 32, 128]>>, tensor<i64>, tensor<16xf32>) -> tensor<1x?x32x128xf16, #relax.shape<[1, n, 32, 128]>>
  // The shape of the positions determines the batch dimension and the length.
  // CHECK: -> tensor<?x7x?x?xf16, #relax.shape<[b, 7, ?, ?]>>
  %3 = relax.rotary_embedding %any positions %p2 : (tensor<*xf16>, tensor<?x7xi64, #relax.shape<[b, 7]>>) -> tensor<?x7x?x?xf16, #relax.shape<[b, 7, ?, ?]>>
  relax.return
}

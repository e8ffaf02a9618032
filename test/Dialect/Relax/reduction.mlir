// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Reductions and scans: round trip and shapes.
// RUN: relax-opt %s | relax-opt | FileCheck %s

// These reductions have a result for empty tensors.
// CHECK-LABEL: relax.func @sum
relax.func @sum(%x: tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) {
  // CHECK: relax.sum %arg0 : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<f32>
  %0 = relax.sum %x : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<f32>
  // CHECK: relax.sum %arg0 keepdims : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<1x1x1xf32>
  %1 = relax.sum %x keepdims : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<1x1x1xf32>
  // CHECK: relax.sum %arg0 axis [1] : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<?x0xf32, #relax.shape<[n, 0]>>
  %2 = relax.sum %x axis [1] : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<?x0xf32, #relax.shape<[n, 0]>>
  // CHECK: relax.sum %arg0 axis [-1, 0] : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<4xf32>
  %3 = relax.sum %x axis [-1, 0] : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<4xf32>
  // CHECK: relax.sum %arg0 axis [-1, 0] keepdims : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<1x4x1xf32>
  %4 = relax.sum %x axis [-1, 0] keepdims : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<1x4x1xf32>
  // CHECK: relax.sum %arg0 axis [] : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>
  %5 = relax.sum %x axis [] : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>
  relax.return
}

// CHECK-LABEL: relax.func @prod
relax.func @prod(%x: tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) {
  // CHECK: relax.prod %arg0 : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<f32>
  %0 = relax.prod %x : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<f32>
  // CHECK: relax.prod %arg0 keepdims : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<1x1x1xf32>
  %1 = relax.prod %x keepdims : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<1x1x1xf32>
  // CHECK: relax.prod %arg0 axis [1] : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<?x0xf32, #relax.shape<[n, 0]>>
  %2 = relax.prod %x axis [1] : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<?x0xf32, #relax.shape<[n, 0]>>
  // CHECK: relax.prod %arg0 axis [-1, 0] : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<4xf32>
  %3 = relax.prod %x axis [-1, 0] : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<4xf32>
  // CHECK: relax.prod %arg0 axis [-1, 0] keepdims : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<1x4x1xf32>
  %4 = relax.prod %x axis [-1, 0] keepdims : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<1x4x1xf32>
  // CHECK: relax.prod %arg0 axis [] : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>
  %5 = relax.prod %x axis [] : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>
  relax.return
}

// CHECK-LABEL: relax.func @mean
relax.func @mean(%x: tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) {
  // CHECK: relax.mean %arg0 : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<f32>
  %0 = relax.mean %x : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<f32>
  // CHECK: relax.mean %arg0 keepdims : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<1x1x1xf32>
  %1 = relax.mean %x keepdims : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<1x1x1xf32>
  // CHECK: relax.mean %arg0 axis [1] : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<?x0xf32, #relax.shape<[n, 0]>>
  %2 = relax.mean %x axis [1] : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<?x0xf32, #relax.shape<[n, 0]>>
  // CHECK: relax.mean %arg0 axis [-1, 0] : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<4xf32>
  %3 = relax.mean %x axis [-1, 0] : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<4xf32>
  // CHECK: relax.mean %arg0 axis [-1, 0] keepdims : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<1x4x1xf32>
  %4 = relax.mean %x axis [-1, 0] keepdims : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<1x4x1xf32>
  // CHECK: relax.mean %arg0 axis [] : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>
  %5 = relax.mean %x axis [] : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>
  relax.return
}

// CHECK-LABEL: relax.func @variance
relax.func @variance(%x: tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) {
  // CHECK: relax.variance %arg0 : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<f32>
  %0 = relax.variance %x : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<f32>
  // CHECK: relax.variance %arg0 keepdims : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<1x1x1xf32>
  %1 = relax.variance %x keepdims : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<1x1x1xf32>
  // CHECK: relax.variance %arg0 axis [1] : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<?x0xf32, #relax.shape<[n, 0]>>
  %2 = relax.variance %x axis [1] : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<?x0xf32, #relax.shape<[n, 0]>>
  // CHECK: relax.variance %arg0 axis [-1, 0] : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<4xf32>
  %3 = relax.variance %x axis [-1, 0] : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<4xf32>
  // CHECK: relax.variance %arg0 axis [-1, 0] keepdims : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<1x4x1xf32>
  %4 = relax.variance %x axis [-1, 0] keepdims : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<1x4x1xf32>
  // CHECK: relax.variance %arg0 axis [] : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>
  %5 = relax.variance %x axis [] : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>
  relax.return
}

// CHECK-LABEL: relax.func @std
relax.func @std(%x: tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) {
  // CHECK: relax.std %arg0 : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<f32>
  %0 = relax.std %x : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<f32>
  // CHECK: relax.std %arg0 keepdims : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<1x1x1xf32>
  %1 = relax.std %x keepdims : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<1x1x1xf32>
  // CHECK: relax.std %arg0 axis [1] : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<?x0xf32, #relax.shape<[n, 0]>>
  %2 = relax.std %x axis [1] : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<?x0xf32, #relax.shape<[n, 0]>>
  // CHECK: relax.std %arg0 axis [-1, 0] : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<4xf32>
  %3 = relax.std %x axis [-1, 0] : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<4xf32>
  // CHECK: relax.std %arg0 axis [-1, 0] keepdims : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<1x4x1xf32>
  %4 = relax.std %x axis [-1, 0] keepdims : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<1x4x1xf32>
  // CHECK: relax.std %arg0 axis [] : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>
  %5 = relax.std %x axis [] : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>
  relax.return
}

// CHECK-LABEL: relax.func @logsumexp
relax.func @logsumexp(%x: tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) {
  // CHECK: relax.logsumexp %arg0 : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<f32>
  %0 = relax.logsumexp %x : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<f32>
  // CHECK: relax.logsumexp %arg0 keepdims : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<1x1x1xf32>
  %1 = relax.logsumexp %x keepdims : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<1x1x1xf32>
  // CHECK: relax.logsumexp %arg0 axis [1] : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<?x0xf32, #relax.shape<[n, 0]>>
  %2 = relax.logsumexp %x axis [1] : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<?x0xf32, #relax.shape<[n, 0]>>
  // CHECK: relax.logsumexp %arg0 axis [-1, 0] : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<4xf32>
  %3 = relax.logsumexp %x axis [-1, 0] : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<4xf32>
  // CHECK: relax.logsumexp %arg0 axis [-1, 0] keepdims : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<1x4x1xf32>
  %4 = relax.logsumexp %x axis [-1, 0] keepdims : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<1x4x1xf32>
  // CHECK: relax.logsumexp %arg0 axis [] : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>
  %5 = relax.logsumexp %x axis [] : (tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>) -> tensor<?x4x0xf32, #relax.shape<[n, 4, 0]>>
  relax.return
}

// CHECK-LABEL: relax.func @any
relax.func @any(%x: tensor<?x4x0xi1, #relax.shape<[n, 4, 0]>>) {
  // CHECK: relax.any %arg0 : (tensor<?x4x0xi1, #relax.shape<[n, 4, 0]>>) -> tensor<i1>
  %0 = relax.any %x : (tensor<?x4x0xi1, #relax.shape<[n, 4, 0]>>) -> tensor<i1>
  // CHECK: relax.any %arg0 keepdims : (tensor<?x4x0xi1, #relax.shape<[n, 4, 0]>>) -> tensor<1x1x1xi1>
  %1 = relax.any %x keepdims : (tensor<?x4x0xi1, #relax.shape<[n, 4, 0]>>) -> tensor<1x1x1xi1>
  // CHECK: relax.any %arg0 axis [1] : (tensor<?x4x0xi1, #relax.shape<[n, 4, 0]>>) -> tensor<?x0xi1, #relax.shape<[n, 0]>>
  %2 = relax.any %x axis [1] : (tensor<?x4x0xi1, #relax.shape<[n, 4, 0]>>) -> tensor<?x0xi1, #relax.shape<[n, 0]>>
  // CHECK: relax.any %arg0 axis [-1, 0] : (tensor<?x4x0xi1, #relax.shape<[n, 4, 0]>>) -> tensor<4xi1>
  %3 = relax.any %x axis [-1, 0] : (tensor<?x4x0xi1, #relax.shape<[n, 4, 0]>>) -> tensor<4xi1>
  // CHECK: relax.any %arg0 axis [-1, 0] keepdims : (tensor<?x4x0xi1, #relax.shape<[n, 4, 0]>>) -> tensor<1x4x1xi1>
  %4 = relax.any %x axis [-1, 0] keepdims : (tensor<?x4x0xi1, #relax.shape<[n, 4, 0]>>) -> tensor<1x4x1xi1>
  // CHECK: relax.any %arg0 axis [] : (tensor<?x4x0xi1, #relax.shape<[n, 4, 0]>>) -> tensor<?x4x0xi1, #relax.shape<[n, 4, 0]>>
  %5 = relax.any %x axis [] : (tensor<?x4x0xi1, #relax.shape<[n, 4, 0]>>) -> tensor<?x4x0xi1, #relax.shape<[n, 4, 0]>>
  relax.return
}

// CHECK-LABEL: relax.func @all
relax.func @all(%x: tensor<?x4x0xi1, #relax.shape<[n, 4, 0]>>) {
  // CHECK: relax.all %arg0 : (tensor<?x4x0xi1, #relax.shape<[n, 4, 0]>>) -> tensor<i1>
  %0 = relax.all %x : (tensor<?x4x0xi1, #relax.shape<[n, 4, 0]>>) -> tensor<i1>
  // CHECK: relax.all %arg0 keepdims : (tensor<?x4x0xi1, #relax.shape<[n, 4, 0]>>) -> tensor<1x1x1xi1>
  %1 = relax.all %x keepdims : (tensor<?x4x0xi1, #relax.shape<[n, 4, 0]>>) -> tensor<1x1x1xi1>
  // CHECK: relax.all %arg0 axis [1] : (tensor<?x4x0xi1, #relax.shape<[n, 4, 0]>>) -> tensor<?x0xi1, #relax.shape<[n, 0]>>
  %2 = relax.all %x axis [1] : (tensor<?x4x0xi1, #relax.shape<[n, 4, 0]>>) -> tensor<?x0xi1, #relax.shape<[n, 0]>>
  // CHECK: relax.all %arg0 axis [-1, 0] : (tensor<?x4x0xi1, #relax.shape<[n, 4, 0]>>) -> tensor<4xi1>
  %3 = relax.all %x axis [-1, 0] : (tensor<?x4x0xi1, #relax.shape<[n, 4, 0]>>) -> tensor<4xi1>
  // CHECK: relax.all %arg0 axis [-1, 0] keepdims : (tensor<?x4x0xi1, #relax.shape<[n, 4, 0]>>) -> tensor<1x4x1xi1>
  %4 = relax.all %x axis [-1, 0] keepdims : (tensor<?x4x0xi1, #relax.shape<[n, 4, 0]>>) -> tensor<1x4x1xi1>
  // CHECK: relax.all %arg0 axis [] : (tensor<?x4x0xi1, #relax.shape<[n, 4, 0]>>) -> tensor<?x4x0xi1, #relax.shape<[n, 4, 0]>>
  %5 = relax.all %x axis [] : (tensor<?x4x0xi1, #relax.shape<[n, 4, 0]>>) -> tensor<?x4x0xi1, #relax.shape<[n, 4, 0]>>
  relax.return
}

// These reductions have no result for empty tensors; a symbol may be 0, which
// is checked at run time.
// CHECK-LABEL: relax.func @max
relax.func @max(%x: tensor<?x4xi32, #relax.shape<[n, 4]>>, %e: tensor<0x4xf32>) {
  // CHECK: relax.max %arg0 : (tensor<?x4xi32, #relax.shape<[n, 4]>>) -> tensor<i32>
  %0 = relax.max %x : (tensor<?x4xi32, #relax.shape<[n, 4]>>) -> tensor<i32>
  // CHECK: relax.max %arg0 axis [0] keepdims : (tensor<?x4xi32, #relax.shape<[n, 4]>>) -> tensor<1x4xi32>
  %1 = relax.max %x axis [0] keepdims : (tensor<?x4xi32, #relax.shape<[n, 4]>>) -> tensor<1x4xi32>
  // CHECK: relax.max %arg1 axis [1] : (tensor<0x4xf32>) -> tensor<0xf32>
  %2 = relax.max %e axis [1] : (tensor<0x4xf32>) -> tensor<0xf32>
  relax.return
}

// CHECK-LABEL: relax.func @min
relax.func @min(%x: tensor<?x4xi32, #relax.shape<[n, 4]>>, %e: tensor<0x4xf32>) {
  // CHECK: relax.min %arg0 : (tensor<?x4xi32, #relax.shape<[n, 4]>>) -> tensor<i32>
  %0 = relax.min %x : (tensor<?x4xi32, #relax.shape<[n, 4]>>) -> tensor<i32>
  // CHECK: relax.min %arg0 axis [0] keepdims : (tensor<?x4xi32, #relax.shape<[n, 4]>>) -> tensor<1x4xi32>
  %1 = relax.min %x axis [0] keepdims : (tensor<?x4xi32, #relax.shape<[n, 4]>>) -> tensor<1x4xi32>
  // CHECK: relax.min %arg1 axis [1] : (tensor<0x4xf32>) -> tensor<0xf32>
  %2 = relax.min %e axis [1] : (tensor<0x4xf32>) -> tensor<0xf32>
  relax.return
}

// CHECK-LABEL: relax.func @argmax
relax.func @argmax(%x: tensor<?x4xi32, #relax.shape<[n, 4]>>, %u: tensor<*xf32>) {
  // CHECK: relax.argmax %arg0 : (tensor<?x4xi32, #relax.shape<[n, 4]>>) -> tensor<i64>
  %0 = relax.argmax %x : (tensor<?x4xi32, #relax.shape<[n, 4]>>) -> tensor<i64>
  // CHECK: relax.argmax %arg0 keepdims : (tensor<?x4xi32, #relax.shape<[n, 4]>>) -> tensor<1x1xi64>
  %1 = relax.argmax %x keepdims : (tensor<?x4xi32, #relax.shape<[n, 4]>>) -> tensor<1x1xi64>
  // CHECK: relax.argmax %arg0 axis -1 : (tensor<?x4xi32, #relax.shape<[n, 4]>>) -> tensor<?xi64, #relax.shape<[n]>>
  %2 = relax.argmax %x axis -1 : (tensor<?x4xi32, #relax.shape<[n, 4]>>) -> tensor<?xi64, #relax.shape<[n]>>
  // CHECK: relax.argmax %arg0 axis 0 keepdims : (tensor<?x4xi32, #relax.shape<[n, 4]>>) -> tensor<1x4xi64>
  %3 = relax.argmax %x axis 0 keepdims : (tensor<?x4xi32, #relax.shape<[n, 4]>>) -> tensor<1x4xi64>
  // CHECK: relax.argmax %arg1 : (tensor<*xf32>) -> tensor<i64>
  %4 = relax.argmax %u : (tensor<*xf32>) -> tensor<i64>
  // CHECK: relax.argmax %arg1 axis 3 : (tensor<*xf32>) -> tensor<*xi64>
  %5 = relax.argmax %u axis 3 : (tensor<*xf32>) -> tensor<*xi64>
  relax.return
}

// CHECK-LABEL: relax.func @argmin
relax.func @argmin(%x: tensor<?x4xi32, #relax.shape<[n, 4]>>, %u: tensor<*xf32>) {
  // CHECK: relax.argmin %arg0 : (tensor<?x4xi32, #relax.shape<[n, 4]>>) -> tensor<i64>
  %0 = relax.argmin %x : (tensor<?x4xi32, #relax.shape<[n, 4]>>) -> tensor<i64>
  // CHECK: relax.argmin %arg0 keepdims : (tensor<?x4xi32, #relax.shape<[n, 4]>>) -> tensor<1x1xi64>
  %1 = relax.argmin %x keepdims : (tensor<?x4xi32, #relax.shape<[n, 4]>>) -> tensor<1x1xi64>
  // CHECK: relax.argmin %arg0 axis -1 : (tensor<?x4xi32, #relax.shape<[n, 4]>>) -> tensor<?xi64, #relax.shape<[n]>>
  %2 = relax.argmin %x axis -1 : (tensor<?x4xi32, #relax.shape<[n, 4]>>) -> tensor<?xi64, #relax.shape<[n]>>
  // CHECK: relax.argmin %arg0 axis 0 keepdims : (tensor<?x4xi32, #relax.shape<[n, 4]>>) -> tensor<1x4xi64>
  %3 = relax.argmin %x axis 0 keepdims : (tensor<?x4xi32, #relax.shape<[n, 4]>>) -> tensor<1x4xi64>
  // CHECK: relax.argmin %arg1 : (tensor<*xf32>) -> tensor<i64>
  %4 = relax.argmin %u : (tensor<*xf32>) -> tensor<i64>
  // CHECK: relax.argmin %arg1 axis 3 : (tensor<*xf32>) -> tensor<*xi64>
  %5 = relax.argmin %u axis 3 : (tensor<*xf32>) -> tensor<*xi64>
  relax.return
}

// Reducing all axes gives a scalar for any rank; otherwise, an unknown rank gives an unknown shape.
// CHECK-LABEL: relax.func @unranked
relax.func @unranked(%u: tensor<*xf32>, %c: tensor<?x?xf32>, %s: tensor<f32>) {
  // CHECK: relax.sum %arg0 : (tensor<*xf32>) -> tensor<f32>
  %0 = relax.sum %u : (tensor<*xf32>) -> tensor<f32>
  // CHECK: relax.sum %arg0 keepdims : (tensor<*xf32>) -> tensor<*xf32>
  %1 = relax.sum %u keepdims : (tensor<*xf32>) -> tensor<*xf32>
  // CHECK: relax.max %arg0 axis [1] : (tensor<*xf32>) -> tensor<*xf32>
  %2 = relax.max %u axis [1] : (tensor<*xf32>) -> tensor<*xf32>
  // CHECK: relax.mean %arg1 axis [1] keepdims : (tensor<?x?xf32>) -> tensor<?x1xf32>
  %3 = relax.mean %c axis [1] keepdims : (tensor<?x?xf32>) -> tensor<?x1xf32>
  // CHECK: relax.max %arg2 : (tensor<f32>) -> tensor<f32>
  %4 = relax.max %s : (tensor<f32>) -> tensor<f32>
  relax.return
}

// Scans preserve the shape, or flatten the tensor.
// CHECK-LABEL: relax.func @scans
relax.func @scans(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %b: tensor<?x0xi1, #relax.shape<[n, 0]>>, %u: tensor<*xf32>, %s: tensor<f32>) {
  // CHECK: relax.cumsum %arg0 axis -1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  %0 = relax.cumsum %x axis -1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  // CHECK: relax.cumprod %arg0 axis 0 exclusive {dtype = f64} : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf64, #relax.shape<[n, 4]>>
  %1 = relax.cumprod %x axis 0 exclusive {dtype = f64} : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf64, #relax.shape<[n, 4]>>
  // CHECK: relax.cumsum %arg0 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?xf32, #relax.shape<[4*n]>>
  %2 = relax.cumsum %x : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?xf32, #relax.shape<[4*n]>>
  // Booleans are counted.
  // CHECK: relax.cumsum %arg1 {dtype = i32} : (tensor<?x0xi1, #relax.shape<[n, 0]>>) -> tensor<0xi32>
  %3 = relax.cumsum %b {dtype = i32} : (tensor<?x0xi1, #relax.shape<[n, 0]>>) -> tensor<0xi32>
  // CHECK: relax.cumsum %arg2 : (tensor<*xf32>) -> tensor<?xf32>
  %4 = relax.cumsum %u : (tensor<*xf32>) -> tensor<?xf32>
  // CHECK: relax.cumsum %arg2 axis 7 : (tensor<*xf32>) -> tensor<*xf32>
  %5 = relax.cumsum %u axis 7 : (tensor<*xf32>) -> tensor<*xf32>
  // CHECK: relax.cumprod %arg3 : (tensor<f32>) -> tensor<1xf32>
  %6 = relax.cumprod %s : (tensor<f32>) -> tensor<1xf32>
  relax.return
}

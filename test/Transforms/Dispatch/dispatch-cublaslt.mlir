// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -relax-dispatch-cublaslt=workspace-bytes=4096 | FileCheck %s
// RUN: relax-opt %s -relax-dispatch-cublaslt=only-where-faster=true | FileCheck %s --check-prefix=FASTER

!x = tensor<?x?x64xf16, #relax.shape<[b, n, 64]>>
!y = tensor<?x?x32xf16, #relax.shape<[b, n, 32]>>

// Rows may have any rank; the whole epilogue of the library is used.
// CHECK-LABEL: @linear
// CHECK-NEXT: %[[Y:.*]]:2 = relax.call_library "relax.cublaslt"(%{{.*}}, %{{.*}}, %{{.*}}) sym [1, 2, 1] : (tensor<?x?x64xf16, #relax.shape<[b, n, 64]>>, tensor<32x64xf16>, tensor<32xf16>) -> (tensor<?x?x32xf16, #relax.shape<[b, n, 32]>>, tensor<4096xi8>)
// CHECK-NEXT: relax.return %[[Y]]#0
// The number of rows is known at the call, so there are two versions of the
// function.
// FASTER-LABEL: relax.func @linear(
// FASTER: %[[ROWS:.*]] = relax.sym b*n
// FASTER: %[[LEAST:.*]] = arith.constant 64 : index
// FASTER: %[[MANY:.*]] = arith.cmpi sge, %[[ROWS]], %[[LEAST]]
// FASTER: relax.if %[[MANY]]
// FASTER: relax.call @linear_many(
// FASTER: } else {
// FASTER: relax.call @linear_few(
// FASTER: relax.func private @linear_many(
// FASTER-NEXT: relax.call_library "relax.cublaslt"
// FASTER: relax.func private @linear_few(
// FASTER-NEXT: relax.linear
relax.func @linear(%x: !x, %w: tensor<32x64xf16>, %b: tensor<32xf16>) -> !y {
  %0 = relax.linear %x, %w, %b : (!x, tensor<32x64xf16>, tensor<32xf16>) -> !y
  %1 = relax.gelu_tanh %0 : (!y) -> !y
  relax.return %1 : !y
}

// The bias of a matmul is added after it.
// CHECK-LABEL: @matmul
// CHECK-NEXT: relax.call_library "relax.cublaslt"(%{{.*}}, %{{.*}}, %{{.*}}) sym [0, 1, 1]
// CHECK-NEXT: relax.return
relax.func @matmul(%x: !x, %w: tensor<64x32xf16>, %b: tensor<32xf16>) -> !y {
  %0 = relax.matmul %x, %w : (!x, tensor<64x32xf16>) -> !y
  %1 = relax.add %b, %0 : (tensor<32xf16>, !y) -> !y
  %2 = relax.relu %1 : (!y) -> !y
  relax.return %2 : !y
}

// Results used elsewhere stay, and so do additions that are not a bias and ops that the library lacks.
// CHECK-LABEL: @used_twice
// CHECK: %[[Y:.*]]:2 = relax.call_library "relax.cublaslt"(%{{.*}}, %{{.*}}) sym [1, 0, 0]
// CHECK: %[[R:.*]] = relax.relu %[[Y]]#0
// CHECK: relax.add %[[Y]]#0, %[[R]]
// CHECK: relax.silu
relax.func @used_twice(%x: !x, %w: tensor<32x64xf16>) -> !y {
  %0 = relax.linear %x, %w : (!x, tensor<32x64xf16>) -> !y
  %1 = relax.relu %0 : (!y) -> !y
  %2 = relax.add %0, %1 : (!y, !y) -> !y
  %3 = relax.silu %2 : (!y) -> !y
  relax.return %3 : !y
}

// A result may be f32; a bias must have the type of the result.
// CHECK-LABEL: @out_dtype
// CHECK: relax.call_library "relax.cublaslt"({{.*}}) sym [0, 0, 0] {{.*}} -> (tensor<8x32xf32>, tensor<4096xi8>)
// CHECK: relax.linear
relax.func @out_dtype(%x: tensor<8x64xf16>, %w: tensor<64x32xf16>, %v: tensor<32x64xf16>, %b: tensor<32xf16>) -> (tensor<8x32xf32>, tensor<8x32xf32>) {
  %0 = relax.matmul %x, %w {out_dtype = f32} : (tensor<8x64xf16>, tensor<64x32xf16>) -> tensor<8x32xf32>
  %1 = relax.linear %x, %v, %b {out_dtype = f32} : (tensor<8x64xf16>, tensor<32x64xf16>, tensor<32xf16>) -> tensor<8x32xf32>
  relax.return %0, %1 : tensor<8x32xf32>, tensor<8x32xf32>
}

// Products with a depth of zero, vectors, stacks of matrices and other types
// are not dispatched.
// CHECK-LABEL: @others
// CHECK-NOT: relax.cublaslt
relax.func @others(%x: tensor<?x?xf32, #relax.shape<[n, k]>>, %w: tensor<?x4xf32, #relax.shape<[k, 4]>>, %v: tensor<4xf32>, %s: tensor<2x4x4xf32>, %d: tensor<4x4xf64>)
    -> (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<4xf32>, tensor<2x4x4xf32>, tensor<4x4xf64>) {
  %0 = relax.matmul %x, %w : (tensor<?x?xf32, #relax.shape<[n, k]>>, tensor<?x4xf32, #relax.shape<[k, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  %c = relax.constant dense<1.0> : tensor<4x4xf32>
  %1 = relax.matmul %v, %c : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4xf32>
  %2 = relax.matmul %s, %s : (tensor<2x4x4xf32>, tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %3 = relax.matmul %d, %d : (tensor<4x4xf64>, tensor<4x4xf64>) -> tensor<4x4xf64>
  relax.return %0, %1, %2, %3 : tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<4xf32>, tensor<2x4x4xf32>, tensor<4x4xf64>
}

// A declared bound proves that there are many rows; a static size, that there
// are few.
// CHECK-LABEL: @many
// FASTER-LABEL: @many
// FASTER: relax.call_library "relax.cublaslt"({{.*}}) -> (tensor<?x1024xbf16, #relax.shape<[n, 1024]>>, tensor<33554432xi8>)
// FASTER-NOT: relax.cublaslt
// FASTER: relax.linear
relax.func @many(%x: tensor<?x2048xbf16, #relax.shape<[n, 2048]>>, %y: tensor<63x2048xbf16>, %w: tensor<1024x2048xbf16>)
    -> (tensor<?x1024xbf16, #relax.shape<[n, 1024]>>, tensor<63x1024xbf16>) attributes {relax.symbols = {n = #relax.range<64>}} {
  %0 = relax.linear %x, %w : (tensor<?x2048xbf16, #relax.shape<[n, 2048]>>, tensor<1024x2048xbf16>) -> tensor<?x1024xbf16, #relax.shape<[n, 1024]>>
  %1 = relax.linear %y, %w : (tensor<63x2048xbf16>, tensor<1024x2048xbf16>) -> tensor<63x1024xbf16>
  relax.return %0, %1 : tensor<?x1024xbf16, #relax.shape<[n, 1024]>>, tensor<63x1024xbf16>
}

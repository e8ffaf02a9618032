// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The element-wise ops: round trip, elements and broadcasting.
// RUN: relax-opt %s | relax-opt | FileCheck %s

// Ops on floats preserve the type.
// CHECK-LABEL: relax.func @float_unary
relax.func @float_unary(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>) {
  // CHECK: relax.sqrt %arg0 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  %sqrt = relax.sqrt %x : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  // CHECK: relax.rsqrt %arg0 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  %rsqrt = relax.rsqrt %x : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  // CHECK: relax.exp %arg0 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  %exp = relax.exp %x : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  // CHECK: relax.exp2 %arg0 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  %exp2 = relax.exp2 %x : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  // CHECK: relax.expm1 %arg0 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  %expm1 = relax.expm1 %x : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  // CHECK: relax.log %arg0 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  %log = relax.log %x : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  // CHECK: relax.log2 %arg0 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  %log2 = relax.log2 %x : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  // CHECK: relax.log1p %arg0 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  %log1p = relax.log1p %x : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  // CHECK: relax.cos %arg0 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  %cos = relax.cos %x : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  // CHECK: relax.sin %arg0 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  %sin = relax.sin %x : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  // CHECK: relax.tan %arg0 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  %tan = relax.tan %x : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  // CHECK: relax.acos %arg0 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  %acos = relax.acos %x : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  // CHECK: relax.asin %arg0 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  %asin = relax.asin %x : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  // CHECK: relax.atan %arg0 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  %atan = relax.atan %x : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  // CHECK: relax.cosh %arg0 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  %cosh = relax.cosh %x : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  // CHECK: relax.sinh %arg0 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  %sinh = relax.sinh %x : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  // CHECK: relax.tanh %arg0 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  %tanh = relax.tanh %x : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  // CHECK: relax.acosh %arg0 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  %acosh = relax.acosh %x : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  // CHECK: relax.asinh %arg0 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  %asinh = relax.asinh %x : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  // CHECK: relax.atanh %arg0 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  %atanh = relax.atanh %x : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  // CHECK: relax.erf %arg0 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  %erf = relax.erf %x : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  // CHECK: relax.sigmoid %arg0 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  %sigmoid = relax.sigmoid %x : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  // CHECK: relax.silu %arg0 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  %silu = relax.silu %x : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  // CHECK: relax.gelu %arg0 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  %gelu = relax.gelu %x : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  // CHECK: relax.gelu_tanh %arg0 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  %gelu_tanh = relax.gelu_tanh %x : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  // CHECK: relax.selu %arg0 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  %selu = relax.selu %x : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  // CHECK: relax.hard_sigmoid %arg0 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  %hard_sigmoid = relax.hard_sigmoid %x : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  // CHECK: relax.hard_swish %arg0 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  %hard_swish = relax.hard_swish %x : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  // CHECK: relax.leakyrelu %arg0 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  %leakyrelu = relax.leakyrelu %x : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  // CHECK: relax.softplus %arg0 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  %softplus = relax.softplus %x : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  relax.return
}
// Ops on numbers accept floats...
// CHECK-LABEL: relax.func @number_unary
relax.func @number_unary(%x: tensor<?x4xbf16, #relax.shape<[n, 4]>>) {
  // CHECK: relax.abs %arg0 : (tensor<?x4xbf16, #relax.shape<[n, 4]>>) -> tensor<?x4xbf16, #relax.shape<[n, 4]>>
  %abs = relax.abs %x : (tensor<?x4xbf16, #relax.shape<[n, 4]>>) -> tensor<?x4xbf16, #relax.shape<[n, 4]>>
  // CHECK: relax.negative %arg0 : (tensor<?x4xbf16, #relax.shape<[n, 4]>>) -> tensor<?x4xbf16, #relax.shape<[n, 4]>>
  %negative = relax.negative %x : (tensor<?x4xbf16, #relax.shape<[n, 4]>>) -> tensor<?x4xbf16, #relax.shape<[n, 4]>>
  // CHECK: relax.sign %arg0 : (tensor<?x4xbf16, #relax.shape<[n, 4]>>) -> tensor<?x4xbf16, #relax.shape<[n, 4]>>
  %sign = relax.sign %x : (tensor<?x4xbf16, #relax.shape<[n, 4]>>) -> tensor<?x4xbf16, #relax.shape<[n, 4]>>
  // CHECK: relax.square %arg0 : (tensor<?x4xbf16, #relax.shape<[n, 4]>>) -> tensor<?x4xbf16, #relax.shape<[n, 4]>>
  %square = relax.square %x : (tensor<?x4xbf16, #relax.shape<[n, 4]>>) -> tensor<?x4xbf16, #relax.shape<[n, 4]>>
  // CHECK: relax.ceil %arg0 : (tensor<?x4xbf16, #relax.shape<[n, 4]>>) -> tensor<?x4xbf16, #relax.shape<[n, 4]>>
  %ceil = relax.ceil %x : (tensor<?x4xbf16, #relax.shape<[n, 4]>>) -> tensor<?x4xbf16, #relax.shape<[n, 4]>>
  // CHECK: relax.floor %arg0 : (tensor<?x4xbf16, #relax.shape<[n, 4]>>) -> tensor<?x4xbf16, #relax.shape<[n, 4]>>
  %floor = relax.floor %x : (tensor<?x4xbf16, #relax.shape<[n, 4]>>) -> tensor<?x4xbf16, #relax.shape<[n, 4]>>
  // CHECK: relax.round %arg0 : (tensor<?x4xbf16, #relax.shape<[n, 4]>>) -> tensor<?x4xbf16, #relax.shape<[n, 4]>>
  %round = relax.round %x : (tensor<?x4xbf16, #relax.shape<[n, 4]>>) -> tensor<?x4xbf16, #relax.shape<[n, 4]>>
  // CHECK: relax.trunc %arg0 : (tensor<?x4xbf16, #relax.shape<[n, 4]>>) -> tensor<?x4xbf16, #relax.shape<[n, 4]>>
  %trunc = relax.trunc %x : (tensor<?x4xbf16, #relax.shape<[n, 4]>>) -> tensor<?x4xbf16, #relax.shape<[n, 4]>>
  // CHECK: relax.relu %arg0 : (tensor<?x4xbf16, #relax.shape<[n, 4]>>) -> tensor<?x4xbf16, #relax.shape<[n, 4]>>
  %relu = relax.relu %x : (tensor<?x4xbf16, #relax.shape<[n, 4]>>) -> tensor<?x4xbf16, #relax.shape<[n, 4]>>
  relax.return
}
// ...and integers, signed or not.
// CHECK-LABEL: relax.func @integer_unary
relax.func @integer_unary(%x: tensor<?xui8, #relax.shape<[n]>>) {
  // CHECK: relax.abs %arg0 : (tensor<?xui8, #relax.shape<[n]>>) -> tensor<?xui8, #relax.shape<[n]>>
  %abs = relax.abs %x : (tensor<?xui8, #relax.shape<[n]>>) -> tensor<?xui8, #relax.shape<[n]>>
  // CHECK: relax.negative %arg0 : (tensor<?xui8, #relax.shape<[n]>>) -> tensor<?xui8, #relax.shape<[n]>>
  %negative = relax.negative %x : (tensor<?xui8, #relax.shape<[n]>>) -> tensor<?xui8, #relax.shape<[n]>>
  // CHECK: relax.sign %arg0 : (tensor<?xui8, #relax.shape<[n]>>) -> tensor<?xui8, #relax.shape<[n]>>
  %sign = relax.sign %x : (tensor<?xui8, #relax.shape<[n]>>) -> tensor<?xui8, #relax.shape<[n]>>
  // CHECK: relax.square %arg0 : (tensor<?xui8, #relax.shape<[n]>>) -> tensor<?xui8, #relax.shape<[n]>>
  %square = relax.square %x : (tensor<?xui8, #relax.shape<[n]>>) -> tensor<?xui8, #relax.shape<[n]>>
  // CHECK: relax.ceil %arg0 : (tensor<?xui8, #relax.shape<[n]>>) -> tensor<?xui8, #relax.shape<[n]>>
  %ceil = relax.ceil %x : (tensor<?xui8, #relax.shape<[n]>>) -> tensor<?xui8, #relax.shape<[n]>>
  // CHECK: relax.floor %arg0 : (tensor<?xui8, #relax.shape<[n]>>) -> tensor<?xui8, #relax.shape<[n]>>
  %floor = relax.floor %x : (tensor<?xui8, #relax.shape<[n]>>) -> tensor<?xui8, #relax.shape<[n]>>
  // CHECK: relax.round %arg0 : (tensor<?xui8, #relax.shape<[n]>>) -> tensor<?xui8, #relax.shape<[n]>>
  %round = relax.round %x : (tensor<?xui8, #relax.shape<[n]>>) -> tensor<?xui8, #relax.shape<[n]>>
  // CHECK: relax.trunc %arg0 : (tensor<?xui8, #relax.shape<[n]>>) -> tensor<?xui8, #relax.shape<[n]>>
  %trunc = relax.trunc %x : (tensor<?xui8, #relax.shape<[n]>>) -> tensor<?xui8, #relax.shape<[n]>>
  // CHECK: relax.relu %arg0 : (tensor<?xui8, #relax.shape<[n]>>) -> tensor<?xui8, #relax.shape<[n]>>
  %relu = relax.relu %x : (tensor<?xui8, #relax.shape<[n]>>) -> tensor<?xui8, #relax.shape<[n]>>
  relax.return
}
// Predicates are Boolean and keep the symbolic shape.
// CHECK-LABEL: relax.func @predicates
relax.func @predicates(%x: tensor<?x4xf16, #relax.shape<[n, 4]>>) {
  // CHECK: relax.isfinite %arg0 : (tensor<?x4xf16, #relax.shape<[n, 4]>>) -> tensor<?x4xi1, #relax.shape<[n, 4]>>
  %isfinite = relax.isfinite %x : (tensor<?x4xf16, #relax.shape<[n, 4]>>) -> tensor<?x4xi1, #relax.shape<[n, 4]>>
  // CHECK: relax.isinf %arg0 : (tensor<?x4xf16, #relax.shape<[n, 4]>>) -> tensor<?x4xi1, #relax.shape<[n, 4]>>
  %isinf = relax.isinf %x : (tensor<?x4xf16, #relax.shape<[n, 4]>>) -> tensor<?x4xi1, #relax.shape<[n, 4]>>
  // CHECK: relax.isnan %arg0 : (tensor<?x4xf16, #relax.shape<[n, 4]>>) -> tensor<?x4xi1, #relax.shape<[n, 4]>>
  %isnan = relax.isnan %x : (tensor<?x4xf16, #relax.shape<[n, 4]>>) -> tensor<?x4xi1, #relax.shape<[n, 4]>>
  relax.return
}
// Complements.
// CHECK-LABEL: relax.func @complement_of_booleans
relax.func @complement_of_booleans(%x: tensor<?x4xi1, #relax.shape<[n, 4]>>) {
  // CHECK: relax.logical_not %arg0 : (tensor<?x4xi1, #relax.shape<[n, 4]>>) -> tensor<?x4xi1, #relax.shape<[n, 4]>>
  %logical_not = relax.logical_not %x : (tensor<?x4xi1, #relax.shape<[n, 4]>>) -> tensor<?x4xi1, #relax.shape<[n, 4]>>
  // CHECK: relax.bitwise_not %arg0 : (tensor<?x4xi1, #relax.shape<[n, 4]>>) -> tensor<?x4xi1, #relax.shape<[n, 4]>>
  %bitwise_not = relax.bitwise_not %x : (tensor<?x4xi1, #relax.shape<[n, 4]>>) -> tensor<?x4xi1, #relax.shape<[n, 4]>>
  relax.return
}
// CHECK-LABEL: relax.func @complement_of_integers
relax.func @complement_of_integers(%x: tensor<?x4xi8, #relax.shape<[n, 4]>>) {
  // CHECK: relax.bitwise_not %arg0 : (tensor<?x4xi8, #relax.shape<[n, 4]>>) -> tensor<?x4xi8, #relax.shape<[n, 4]>>
  %bitwise_not = relax.bitwise_not %x : (tensor<?x4xi8, #relax.shape<[n, 4]>>) -> tensor<?x4xi8, #relax.shape<[n, 4]>>
  relax.return
}
// Operands may have any rank and any size, and their shapes may be unknown.
// CHECK-LABEL: relax.func @scalar_unary
relax.func @scalar_unary(%x: tensor<f32>) {
  // CHECK: relax.exp %arg0 : (tensor<f32>) -> tensor<f32>
  %exp = relax.exp %x : (tensor<f32>) -> tensor<f32>
  relax.return
}
// CHECK-LABEL: relax.func @scalar_predicate
relax.func @scalar_predicate(%x: tensor<f32>) {
  // CHECK: relax.isnan %arg0 : (tensor<f32>) -> tensor<i1>
  %isnan = relax.isnan %x : (tensor<f32>) -> tensor<i1>
  relax.return
}
// CHECK-LABEL: relax.func @empty_unary
relax.func @empty_unary(%x: tensor<0x1xf32>) {
  // CHECK: relax.exp %arg0 : (tensor<0x1xf32>) -> tensor<0x1xf32>
  %exp = relax.exp %x : (tensor<0x1xf32>) -> tensor<0x1xf32>
  relax.return
}
// CHECK-LABEL: relax.func @empty_predicate
relax.func @empty_predicate(%x: tensor<0x1xf32>) {
  // CHECK: relax.isnan %arg0 : (tensor<0x1xf32>) -> tensor<0x1xi1>
  %isnan = relax.isnan %x : (tensor<0x1xf32>) -> tensor<0x1xi1>
  relax.return
}
// CHECK-LABEL: relax.func @coarse_unary
relax.func @coarse_unary(%x: tensor<?x3xf32>) {
  // CHECK: relax.exp %arg0 : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %exp = relax.exp %x : (tensor<?x3xf32>) -> tensor<?x3xf32>
  relax.return
}
// CHECK-LABEL: relax.func @coarse_predicate
relax.func @coarse_predicate(%x: tensor<?x3xf32>) {
  // CHECK: relax.isnan %arg0 : (tensor<?x3xf32>) -> tensor<?x3xi1>
  %isnan = relax.isnan %x : (tensor<?x3xf32>) -> tensor<?x3xi1>
  relax.return
}
// CHECK-LABEL: relax.func @unranked_unary
relax.func @unranked_unary(%x: tensor<*xf32>) {
  // CHECK: relax.exp %arg0 : (tensor<*xf32>) -> tensor<*xf32>
  %exp = relax.exp %x : (tensor<*xf32>) -> tensor<*xf32>
  relax.return
}
// CHECK-LABEL: relax.func @unranked_predicate
relax.func @unranked_predicate(%x: tensor<*xf32>) {
  // CHECK: relax.isnan %arg0 : (tensor<*xf32>) -> tensor<*xi1>
  %isnan = relax.isnan %x : (tensor<*xf32>) -> tensor<*xi1>
  relax.return
}
// Arithmetic on floats and on integers.
// CHECK-LABEL: relax.func @float_binary
relax.func @float_binary(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %w: tensor<4xf32>) {
  // CHECK: relax.add %arg0, %arg1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<4xf32>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  %add = relax.add %x, %w : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<4xf32>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  // CHECK: relax.subtract %arg0, %arg1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<4xf32>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  %subtract = relax.subtract %x, %w : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<4xf32>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  // CHECK: relax.multiply %arg0, %arg1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<4xf32>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  %multiply = relax.multiply %x, %w : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<4xf32>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  // CHECK: relax.divide %arg0, %arg1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<4xf32>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  %divide = relax.divide %x, %w : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<4xf32>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  // CHECK: relax.floor_divide %arg0, %arg1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<4xf32>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  %floor_divide = relax.floor_divide %x, %w : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<4xf32>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  // CHECK: relax.floor_mod %arg0, %arg1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<4xf32>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  %floor_mod = relax.floor_mod %x, %w : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<4xf32>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  // CHECK: relax.mod %arg0, %arg1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<4xf32>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  %mod = relax.mod %x, %w : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<4xf32>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  // CHECK: relax.power %arg0, %arg1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<4xf32>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  %power = relax.power %x, %w : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<4xf32>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  // CHECK: relax.maximum %arg0, %arg1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<4xf32>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  %maximum = relax.maximum %x, %w : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<4xf32>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  // CHECK: relax.minimum %arg0, %arg1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<4xf32>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  %minimum = relax.minimum %x, %w : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<4xf32>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  // CHECK: relax.atan2 %arg0, %arg1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<4xf32>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  %atan2 = relax.atan2 %x, %w : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<4xf32>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  // CHECK: relax.log_add_exp %arg0, %arg1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<4xf32>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  %log_add_exp = relax.log_add_exp %x, %w : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<4xf32>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  relax.return
}
// CHECK-LABEL: relax.func @integer_binary
relax.func @integer_binary(%x: tensor<?x4xi32, #relax.shape<[n, 4]>>, %w: tensor<1xi32>) {
  // CHECK: relax.add %arg0, %arg1 : (tensor<?x4xi32, #relax.shape<[n, 4]>>, tensor<1xi32>) -> tensor<?x4xi32, #relax.shape<[n, 4]>>
  %add = relax.add %x, %w : (tensor<?x4xi32, #relax.shape<[n, 4]>>, tensor<1xi32>) -> tensor<?x4xi32, #relax.shape<[n, 4]>>
  // CHECK: relax.subtract %arg0, %arg1 : (tensor<?x4xi32, #relax.shape<[n, 4]>>, tensor<1xi32>) -> tensor<?x4xi32, #relax.shape<[n, 4]>>
  %subtract = relax.subtract %x, %w : (tensor<?x4xi32, #relax.shape<[n, 4]>>, tensor<1xi32>) -> tensor<?x4xi32, #relax.shape<[n, 4]>>
  // CHECK: relax.multiply %arg0, %arg1 : (tensor<?x4xi32, #relax.shape<[n, 4]>>, tensor<1xi32>) -> tensor<?x4xi32, #relax.shape<[n, 4]>>
  %multiply = relax.multiply %x, %w : (tensor<?x4xi32, #relax.shape<[n, 4]>>, tensor<1xi32>) -> tensor<?x4xi32, #relax.shape<[n, 4]>>
  // CHECK: relax.divide %arg0, %arg1 : (tensor<?x4xi32, #relax.shape<[n, 4]>>, tensor<1xi32>) -> tensor<?x4xi32, #relax.shape<[n, 4]>>
  %divide = relax.divide %x, %w : (tensor<?x4xi32, #relax.shape<[n, 4]>>, tensor<1xi32>) -> tensor<?x4xi32, #relax.shape<[n, 4]>>
  // CHECK: relax.floor_divide %arg0, %arg1 : (tensor<?x4xi32, #relax.shape<[n, 4]>>, tensor<1xi32>) -> tensor<?x4xi32, #relax.shape<[n, 4]>>
  %floor_divide = relax.floor_divide %x, %w : (tensor<?x4xi32, #relax.shape<[n, 4]>>, tensor<1xi32>) -> tensor<?x4xi32, #relax.shape<[n, 4]>>
  // CHECK: relax.floor_mod %arg0, %arg1 : (tensor<?x4xi32, #relax.shape<[n, 4]>>, tensor<1xi32>) -> tensor<?x4xi32, #relax.shape<[n, 4]>>
  %floor_mod = relax.floor_mod %x, %w : (tensor<?x4xi32, #relax.shape<[n, 4]>>, tensor<1xi32>) -> tensor<?x4xi32, #relax.shape<[n, 4]>>
  // CHECK: relax.mod %arg0, %arg1 : (tensor<?x4xi32, #relax.shape<[n, 4]>>, tensor<1xi32>) -> tensor<?x4xi32, #relax.shape<[n, 4]>>
  %mod = relax.mod %x, %w : (tensor<?x4xi32, #relax.shape<[n, 4]>>, tensor<1xi32>) -> tensor<?x4xi32, #relax.shape<[n, 4]>>
  // CHECK: relax.power %arg0, %arg1 : (tensor<?x4xi32, #relax.shape<[n, 4]>>, tensor<1xi32>) -> tensor<?x4xi32, #relax.shape<[n, 4]>>
  %power = relax.power %x, %w : (tensor<?x4xi32, #relax.shape<[n, 4]>>, tensor<1xi32>) -> tensor<?x4xi32, #relax.shape<[n, 4]>>
  // CHECK: relax.maximum %arg0, %arg1 : (tensor<?x4xi32, #relax.shape<[n, 4]>>, tensor<1xi32>) -> tensor<?x4xi32, #relax.shape<[n, 4]>>
  %maximum = relax.maximum %x, %w : (tensor<?x4xi32, #relax.shape<[n, 4]>>, tensor<1xi32>) -> tensor<?x4xi32, #relax.shape<[n, 4]>>
  // CHECK: relax.minimum %arg0, %arg1 : (tensor<?x4xi32, #relax.shape<[n, 4]>>, tensor<1xi32>) -> tensor<?x4xi32, #relax.shape<[n, 4]>>
  %minimum = relax.minimum %x, %w : (tensor<?x4xi32, #relax.shape<[n, 4]>>, tensor<1xi32>) -> tensor<?x4xi32, #relax.shape<[n, 4]>>
  // CHECK: relax.bitwise_and %arg0, %arg1 : (tensor<?x4xi32, #relax.shape<[n, 4]>>, tensor<1xi32>) -> tensor<?x4xi32, #relax.shape<[n, 4]>>
  %bitwise_and = relax.bitwise_and %x, %w : (tensor<?x4xi32, #relax.shape<[n, 4]>>, tensor<1xi32>) -> tensor<?x4xi32, #relax.shape<[n, 4]>>
  // CHECK: relax.bitwise_or %arg0, %arg1 : (tensor<?x4xi32, #relax.shape<[n, 4]>>, tensor<1xi32>) -> tensor<?x4xi32, #relax.shape<[n, 4]>>
  %bitwise_or = relax.bitwise_or %x, %w : (tensor<?x4xi32, #relax.shape<[n, 4]>>, tensor<1xi32>) -> tensor<?x4xi32, #relax.shape<[n, 4]>>
  // CHECK: relax.bitwise_xor %arg0, %arg1 : (tensor<?x4xi32, #relax.shape<[n, 4]>>, tensor<1xi32>) -> tensor<?x4xi32, #relax.shape<[n, 4]>>
  %bitwise_xor = relax.bitwise_xor %x, %w : (tensor<?x4xi32, #relax.shape<[n, 4]>>, tensor<1xi32>) -> tensor<?x4xi32, #relax.shape<[n, 4]>>
  // CHECK: relax.left_shift %arg0, %arg1 : (tensor<?x4xi32, #relax.shape<[n, 4]>>, tensor<1xi32>) -> tensor<?x4xi32, #relax.shape<[n, 4]>>
  %left_shift = relax.left_shift %x, %w : (tensor<?x4xi32, #relax.shape<[n, 4]>>, tensor<1xi32>) -> tensor<?x4xi32, #relax.shape<[n, 4]>>
  // CHECK: relax.right_shift %arg0, %arg1 : (tensor<?x4xi32, #relax.shape<[n, 4]>>, tensor<1xi32>) -> tensor<?x4xi32, #relax.shape<[n, 4]>>
  %right_shift = relax.right_shift %x, %w : (tensor<?x4xi32, #relax.shape<[n, 4]>>, tensor<1xi32>) -> tensor<?x4xi32, #relax.shape<[n, 4]>>
  relax.return
}
// Logic.
// CHECK-LABEL: relax.func @boolean_binary
relax.func @boolean_binary(%x: tensor<?x4xi1, #relax.shape<[n, 4]>>, %w: tensor<i1>) {
  // CHECK: relax.logical_and %arg0, %arg1 : (tensor<?x4xi1, #relax.shape<[n, 4]>>, tensor<i1>) -> tensor<?x4xi1, #relax.shape<[n, 4]>>
  %logical_and = relax.logical_and %x, %w : (tensor<?x4xi1, #relax.shape<[n, 4]>>, tensor<i1>) -> tensor<?x4xi1, #relax.shape<[n, 4]>>
  // CHECK: relax.logical_or %arg0, %arg1 : (tensor<?x4xi1, #relax.shape<[n, 4]>>, tensor<i1>) -> tensor<?x4xi1, #relax.shape<[n, 4]>>
  %logical_or = relax.logical_or %x, %w : (tensor<?x4xi1, #relax.shape<[n, 4]>>, tensor<i1>) -> tensor<?x4xi1, #relax.shape<[n, 4]>>
  // CHECK: relax.logical_xor %arg0, %arg1 : (tensor<?x4xi1, #relax.shape<[n, 4]>>, tensor<i1>) -> tensor<?x4xi1, #relax.shape<[n, 4]>>
  %logical_xor = relax.logical_xor %x, %w : (tensor<?x4xi1, #relax.shape<[n, 4]>>, tensor<i1>) -> tensor<?x4xi1, #relax.shape<[n, 4]>>
  // CHECK: relax.bitwise_and %arg0, %arg1 : (tensor<?x4xi1, #relax.shape<[n, 4]>>, tensor<i1>) -> tensor<?x4xi1, #relax.shape<[n, 4]>>
  %bitwise_and = relax.bitwise_and %x, %w : (tensor<?x4xi1, #relax.shape<[n, 4]>>, tensor<i1>) -> tensor<?x4xi1, #relax.shape<[n, 4]>>
  // CHECK: relax.bitwise_or %arg0, %arg1 : (tensor<?x4xi1, #relax.shape<[n, 4]>>, tensor<i1>) -> tensor<?x4xi1, #relax.shape<[n, 4]>>
  %bitwise_or = relax.bitwise_or %x, %w : (tensor<?x4xi1, #relax.shape<[n, 4]>>, tensor<i1>) -> tensor<?x4xi1, #relax.shape<[n, 4]>>
  // CHECK: relax.bitwise_xor %arg0, %arg1 : (tensor<?x4xi1, #relax.shape<[n, 4]>>, tensor<i1>) -> tensor<?x4xi1, #relax.shape<[n, 4]>>
  %bitwise_xor = relax.bitwise_xor %x, %w : (tensor<?x4xi1, #relax.shape<[n, 4]>>, tensor<i1>) -> tensor<?x4xi1, #relax.shape<[n, 4]>>
  relax.return
}
// Comparisons return Booleans.
// CHECK-LABEL: relax.func @comparison
relax.func @comparison(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %w: tensor<4xf32>) {
  // CHECK: relax.equal %arg0, %arg1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<4xf32>) -> tensor<?x4xi1, #relax.shape<[n, 4]>>
  %equal = relax.equal %x, %w : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<4xf32>) -> tensor<?x4xi1, #relax.shape<[n, 4]>>
  // CHECK: relax.not_equal %arg0, %arg1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<4xf32>) -> tensor<?x4xi1, #relax.shape<[n, 4]>>
  %not_equal = relax.not_equal %x, %w : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<4xf32>) -> tensor<?x4xi1, #relax.shape<[n, 4]>>
  // CHECK: relax.less %arg0, %arg1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<4xf32>) -> tensor<?x4xi1, #relax.shape<[n, 4]>>
  %less = relax.less %x, %w : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<4xf32>) -> tensor<?x4xi1, #relax.shape<[n, 4]>>
  // CHECK: relax.less_equal %arg0, %arg1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<4xf32>) -> tensor<?x4xi1, #relax.shape<[n, 4]>>
  %less_equal = relax.less_equal %x, %w : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<4xf32>) -> tensor<?x4xi1, #relax.shape<[n, 4]>>
  // CHECK: relax.greater %arg0, %arg1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<4xf32>) -> tensor<?x4xi1, #relax.shape<[n, 4]>>
  %greater = relax.greater %x, %w : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<4xf32>) -> tensor<?x4xi1, #relax.shape<[n, 4]>>
  // CHECK: relax.greater_equal %arg0, %arg1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<4xf32>) -> tensor<?x4xi1, #relax.shape<[n, 4]>>
  %greater_equal = relax.greater_equal %x, %w : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<4xf32>) -> tensor<?x4xi1, #relax.shape<[n, 4]>>
  relax.return
}
// CHECK-LABEL: relax.func @boolean_comparison
relax.func @boolean_comparison(%x: tensor<?x4xi1, #relax.shape<[n, 4]>>, %w: tensor<4xi1>) {
  // CHECK: relax.equal %arg0, %arg1 : (tensor<?x4xi1, #relax.shape<[n, 4]>>, tensor<4xi1>) -> tensor<?x4xi1, #relax.shape<[n, 4]>>
  %equal = relax.equal %x, %w : (tensor<?x4xi1, #relax.shape<[n, 4]>>, tensor<4xi1>) -> tensor<?x4xi1, #relax.shape<[n, 4]>>
  // CHECK: relax.not_equal %arg0, %arg1 : (tensor<?x4xi1, #relax.shape<[n, 4]>>, tensor<4xi1>) -> tensor<?x4xi1, #relax.shape<[n, 4]>>
  %not_equal = relax.not_equal %x, %w : (tensor<?x4xi1, #relax.shape<[n, 4]>>, tensor<4xi1>) -> tensor<?x4xi1, #relax.shape<[n, 4]>>
  relax.return
}
// Two symbols may have any sizes that broadcast: equal, or one of them 1.
// CHECK-LABEL: relax.func @symbol_with_symbol
relax.func @symbol_with_symbol(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %w: tensor<?x4xf32, #relax.shape<[m, 4]>>) {
  // CHECK: relax.add %arg0, %arg1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?x4xf32, #relax.shape<[m, 4]>>) -> tensor<?x4xf32, #relax.shape<[broadcast(m, n), 4]>>
  %add = relax.add %x, %w : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?x4xf32, #relax.shape<[m, 4]>>) -> tensor<?x4xf32, #relax.shape<[broadcast(m, n), 4]>>
  relax.return
}
// Broadcast with 3, a symbol must be 1 or 3, and the result is 3; with 0, it
// must be 0 or 1.
// CHECK-LABEL: relax.func @symbol_with_constant
relax.func @symbol_with_constant(%x: tensor<?xf32, #relax.shape<[n]>>, %w: tensor<3xf32>) {
  // CHECK: relax.add %arg0, %arg1 : (tensor<?xf32, #relax.shape<[n]>>, tensor<3xf32>) -> tensor<3xf32>
  %add = relax.add %x, %w : (tensor<?xf32, #relax.shape<[n]>>, tensor<3xf32>) -> tensor<3xf32>
  relax.return
}
// CHECK-LABEL: relax.func @symbol_with_zero
relax.func @symbol_with_zero(%x: tensor<?xf32, #relax.shape<[n]>>, %w: tensor<0xf32>) {
  // CHECK: relax.add %arg0, %arg1 : (tensor<?xf32, #relax.shape<[n]>>, tensor<0xf32>) -> tensor<0xf32>
  %add = relax.add %x, %w : (tensor<?xf32, #relax.shape<[n]>>, tensor<0xf32>) -> tensor<0xf32>
  relax.return
}
// Broadcast with 1, a symbol does not change.
// CHECK-LABEL: relax.func @symbol_with_one
relax.func @symbol_with_one(%x: tensor<?x1xf32, #relax.shape<[n, 1]>>, %w: tensor<1x?xf32, #relax.shape<[1, m]>>) {
  // CHECK: relax.add %arg0, %arg1 : (tensor<?x1xf32, #relax.shape<[n, 1]>>, tensor<1x?xf32, #relax.shape<[1, m]>>) -> tensor<?x?xf32, #relax.shape<[n, m]>>
  %add = relax.add %x, %w : (tensor<?x1xf32, #relax.shape<[n, 1]>>, tensor<1x?xf32, #relax.shape<[1, m]>>) -> tensor<?x?xf32, #relax.shape<[n, m]>>
  relax.return
}
// An unknown dimension may be 1 or more, so its broadcast with a symbol is unknown.
// CHECK-LABEL: relax.func @symbol_with_unknown
relax.func @symbol_with_unknown(%x: tensor<?xf32, #relax.shape<[n]>>, %w: tensor<?xf32>) {
  // CHECK: relax.add %arg0, %arg1 : (tensor<?xf32, #relax.shape<[n]>>, tensor<?xf32>) -> tensor<?xf32>
  %add = relax.add %x, %w : (tensor<?xf32, #relax.shape<[n]>>, tensor<?xf32>) -> tensor<?xf32>
  relax.return
}
// Both operands are empty, one of them by broadcasting.
// CHECK-LABEL: relax.func @empty_with_one
relax.func @empty_with_one(%x: tensor<0x4xf32>, %w: tensor<1x4xf32>) {
  // CHECK: relax.add %arg0, %arg1 : (tensor<0x4xf32>, tensor<1x4xf32>) -> tensor<0x4xf32>
  %add = relax.add %x, %w : (tensor<0x4xf32>, tensor<1x4xf32>) -> tensor<0x4xf32>
  relax.return
}
// If a rank is unknown, so is the shape of the result.
// CHECK-LABEL: relax.func @unranked_with_ranked
relax.func @unranked_with_ranked(%x: tensor<*xf32>, %w: tensor<4xf32>) {
  // CHECK: relax.add %arg0, %arg1 : (tensor<*xf32>, tensor<4xf32>) -> tensor<*xf32>
  %add = relax.add %x, %w : (tensor<*xf32>, tensor<4xf32>) -> tensor<*xf32>
  relax.return
}
// A result type that is coarser than the deduced type is legal.
// CHECK-LABEL: relax.func @coarser_result
relax.func @coarser_result(%x: tensor<4xf32>, %w: tensor<4xf32>) {
  // CHECK: relax.add %arg0, %arg1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<?xf32>
  %add = relax.add %x, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<?xf32>
  relax.return
}
// Attributes, with defaults left out.
// CHECK-LABEL: relax.func @attributes
relax.func @attributes(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %i: tensor<2xui8>) {
  // CHECK: relax.leakyrelu %arg0 {alpha = 2.000000e-01 : f64} : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  %0 = relax.leakyrelu %x {alpha = 0.2} : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  // CHECK: relax.softplus %arg0 {beta = 2.000000e+00 : f64, threshold = 1.000000e+01 : f64} :
  %1 = relax.softplus %x {beta = 2.0, threshold = 10.0} : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  // CHECK: relax.astype %arg0 {dtype = i1} : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xi1, #relax.shape<[n, 4]>>
  %2 = relax.astype %x {dtype = i1} : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xi1, #relax.shape<[n, 4]>>
  // CHECK: relax.clip %arg0 {max = 0x7FF0000000000000 : f64, min = 0.000000e+00 : f64} :
  %3 = relax.clip %x {min = 0.0, max = 0x7FF0000000000000 : f64} : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  // CHECK: relax.clip %arg1 {max = 255 : i64} : (tensor<2xui8>) -> tensor<2xui8>
  %4 = relax.clip %i {max = 255} : (tensor<2xui8>) -> tensor<2xui8>
  relax.return
}

// There is a slope for each channel, one for all channels, or an unknown number
// of slopes.
// CHECK-LABEL: relax.func @prelu
relax.func @prelu(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %a: tensor<4xf32>, %one: tensor<1xf32>, %b: tensor<?xf32, #relax.shape<[m]>>, %u: tensor<*xf32>) {
  // CHECK: relax.prelu %arg0, %arg1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<4xf32>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  %0 = relax.prelu %x, %a : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<4xf32>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  // CHECK: relax.prelu %arg0, %arg2 axis -2 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<1xf32>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  %1 = relax.prelu %x, %one axis -2 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<1xf32>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  // CHECK: relax.prelu %arg0, %arg3 axis 0 :
  %2 = relax.prelu %x, %b axis 0 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?xf32, #relax.shape<[m]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  // CHECK: relax.prelu %arg4, %arg1 : (tensor<*xf32>, tensor<4xf32>) -> tensor<*xf32>
  %3 = relax.prelu %u, %a : (tensor<*xf32>, tensor<4xf32>) -> tensor<*xf32>
  relax.return
}

// Three operands are broadcast against each other.
// CHECK-LABEL: relax.func @three
relax.func @three(%c: tensor<?x1x1xi1, #relax.shape<[n, 1, 1]>>, %x: tensor<?x1xf32, #relax.shape<[m, 1]>>, %y: tensor<4xf32>, %s: tensor<f32>, %u: tensor<*xf32>) {
  // CHECK: relax.where %arg0, %arg1, %arg2 : (tensor<?x1x1xi1, #relax.shape<[n, 1, 1]>>, tensor<?x1xf32, #relax.shape<[m, 1]>>, tensor<4xf32>) -> tensor<?x?x4xf32, #relax.shape<[n, m, 4]>>
  %0 = relax.where %c, %x, %y : (tensor<?x1x1xi1, #relax.shape<[n, 1, 1]>>, tensor<?x1xf32, #relax.shape<[m, 1]>>, tensor<4xf32>) -> tensor<?x?x4xf32, #relax.shape<[n, m, 4]>>
  // CHECK: relax.where %arg0, %arg1, %arg4 : {{.*}} -> tensor<*xf32>
  %1 = relax.where %c, %x, %u : (tensor<?x1x1xi1, #relax.shape<[n, 1, 1]>>, tensor<?x1xf32, #relax.shape<[m, 1]>>, tensor<*xf32>) -> tensor<*xf32>
  // CHECK: relax.ewise_fma %arg1, %arg2, %arg3 : (tensor<?x1xf32, #relax.shape<[m, 1]>>, tensor<4xf32>, tensor<f32>) -> tensor<?x4xf32, #relax.shape<[m, 4]>>
  %2 = relax.ewise_fma %x, %y, %s : (tensor<?x1xf32, #relax.shape<[m, 1]>>, tensor<4xf32>, tensor<f32>) -> tensor<?x4xf32, #relax.shape<[m, 4]>>
  relax.return
}

// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s | relax-opt | FileCheck %s

// The result types below are the deduced ones: a finer type is an error, see
// manipulate-invalid.mlir.

// -1 is the quotient of the number of elements and the other dimensions: an
// expression if the division is exact.
// CHECK-LABEL: relax.func @reshape_inferred
relax.func @reshape_inferred(%x: tensor<?x768xf32, #relax.shape<[n, 768]>>,
                             %y: tensor<2x?x4096xf32, #relax.shape<[2, n, 4096]>>,
                             %z: tensor<?x2xf32, #relax.shape<[m, 2]>>) {
  // CHECK: relax.reshape %{{.*}} to [n, -1, 64] : {{.*}} -> tensor<?x12x64xf32, #relax.shape<[n, 12, 64]>>
  %heads = relax.reshape %x to [n, -1, 64] : (tensor<?x768xf32, #relax.shape<[n, 768]>>) -> tensor<?x12x64xf32, #relax.shape<[n, 12, 64]>>
  %0 = relax.reshape %x to [1, n, 12, 64] : (tensor<?x768xf32, #relax.shape<[n, 768]>>) -> tensor<1x?x12x64xf32, #relax.shape<[1, n, 12, 64]>>
  %1 = relax.reshape %x to [-1] : (tensor<?x768xf32, #relax.shape<[n, 768]>>) -> tensor<?xf32, #relax.shape<[768*n]>>
  %2 = relax.reshape %y to [-1, 4096] : (tensor<2x?x4096xf32, #relax.shape<[2, n, 4096]>>) -> tensor<?x4096xf32, #relax.shape<[2*n, 4096]>>
  %3 = relax.reshape %z to [2, -1] : (tensor<?x2xf32, #relax.shape<[m, 2]>>) -> tensor<2x?xf32, #relax.shape<[2, m]>>
  relax.return
}

// If the division is not provably exact, a check at run time requires that 3
// divides n.
// CHECK-LABEL: relax.func @reshape_guarded
relax.func @reshape_guarded(%x: tensor<?xf32, #relax.shape<[n]>>, %y: tensor<?xf32, #relax.shape<[m]>>) {
  // CHECK: -> tensor<?x3xf32, #relax.shape<[n floordiv 3, 3]>>
  %0 = relax.reshape %x to [-1, 3] : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?x3xf32, #relax.shape<[n floordiv 3, 3]>>
  %1 = relax.reshape %x to [m, 4] : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?x4xf32, #relax.shape<[m, 4]>>
  // The number of rows is unknown if the row length m may be zero.
  %2 = relax.reshape %x to [-1, m] : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?x?xf32, #relax.shape<[?, m]>>
  relax.return
}

// For a tensor without elements, -1 can be inferred unless another dimension is
// zero.
// CHECK-LABEL: relax.func @reshape_zero
relax.func @reshape_zero(%x: tensor<0xf32>, %y: tensor<0x?xf32>, %s: tensor<f32>) {
  // CHECK: relax.reshape %{{.*}} to [-1, 10] : (tensor<0xf32>) -> tensor<0x10xf32>
  %0 = relax.reshape %x to [-1, 10] : (tensor<0xf32>) -> tensor<0x10xf32>
  %1 = relax.reshape %x to [5, 0, 2] : (tensor<0xf32>) -> tensor<5x0x2xf32>
  // A zero dimension determines the number of elements, even if the other
  // dimension is unknown.
  %2 = relax.reshape %y to [-1, 7] : (tensor<0x?xf32>) -> tensor<0x7xf32>
  %3 = relax.reshape %s to [1, -1] : (tensor<f32>) -> tensor<1x1xf32>
  %4 = relax.reshape %3 to [] : (tensor<1x1xf32>) -> tensor<f32>
  relax.return
}

// One unknown dimension of a shape value is inferred from the number of
// elements.
// CHECK-LABEL: relax.func @reshape_value
relax.func @reshape_value(%x: tensor<?x6xf32, #relax.shape<[n, 6]>>, %u: tensor<*xf32>, %s: !relax.shape<[2, 3*n]>,
                          %r: !relax.shape<2>, %o: !relax.shape<[?, 3]>, %any: !relax.shape<*>) {
  // CHECK: relax.reshape %{{.*}}, %{{.*}} : ({{.*}}, !relax.shape<[2, 3*n]>) -> tensor<2x?xf32, #relax.shape<[2, 3*n]>>
  %0 = relax.reshape %x, %s : (tensor<?x6xf32, #relax.shape<[n, 6]>>, !relax.shape<[2, 3*n]>) -> tensor<2x?xf32, #relax.shape<[2, 3*n]>>
  %1 = relax.reshape %x, %r : (tensor<?x6xf32, #relax.shape<[n, 6]>>, !relax.shape<2>) -> tensor<?x?xf32>
  %2 = relax.reshape %x, %o : (tensor<?x6xf32, #relax.shape<[n, 6]>>, !relax.shape<[?, 3]>) -> tensor<?x3xf32, #relax.shape<[2*n, 3]>>
  %3 = relax.reshape %x, %any : (tensor<?x6xf32, #relax.shape<[n, 6]>>, !relax.shape<*>) -> tensor<*xf32>
  %4 = relax.reshape %u, %s : (tensor<*xf32>, !relax.shape<[2, 3*n]>) -> tensor<2x?xf32, #relax.shape<[2, 3*n]>>
  %5 = relax.reshape %u to [-1, 3] : (tensor<*xf32>) -> tensor<?x3xf32>
  relax.return
}

// CHECK-LABEL: relax.func @broadcast_to
relax.func @broadcast_to(%x: tensor<1x4xf32>, %y: tensor<?x1xf32, #relax.shape<[n, 1]>>, %u: tensor<*xf32>, %r: !relax.shape<3>) {
  // CHECK: relax.broadcast_to %{{.*}} to [2, n, 4] :
  %0 = relax.broadcast_to %x to [2, n, 4] : (tensor<1x4xf32>) -> tensor<2x?x4xf32, #relax.shape<[2, n, 4]>>
  %1 = relax.broadcast_to %x to [0, 4] : (tensor<1x4xf32>) -> tensor<0x4xf32>
  // A check at run time requires that n is 1 or 3.
  %2 = relax.broadcast_to %y to [3, 5] : (tensor<?x1xf32, #relax.shape<[n, 1]>>) -> tensor<3x5xf32>
  %3 = relax.broadcast_to %x, %r : (tensor<1x4xf32>, !relax.shape<3>) -> tensor<?x?x4xf32>
  %4 = relax.broadcast_to %u to [3] : (tensor<*xf32>) -> tensor<3xf32>
  relax.return
}

// CHECK-LABEL: relax.func @collapse_sum
relax.func @collapse_sum(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %y: tensor<1x4xf32>, %u: tensor<*xf32>) {
  // CHECK: relax.collapse_sum_to %{{.*}} to [4] :
  %0 = relax.collapse_sum_to %x to [4] : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<4xf32>
  // CHECK: relax.collapse_sum_like
  %1 = relax.collapse_sum_like %x, %y : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<1x4xf32>) -> tensor<1x4xf32>
  %2 = relax.collapse_sum_like %x, %u : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<*xf32>) -> tensor<*xf32>
  relax.return
}

// CHECK-LABEL: relax.func @flatten
relax.func @flatten(%x: tensor<?x?x4xf32, #relax.shape<[n, m, 4]>>, %s: tensor<f32>, %z: tensor<?x0xf32>, %u: tensor<*xf32>, %p: tensor<?x4xf32>) {
  // CHECK: -> tensor<?xf32, #relax.shape<[4*m*n]>>
  %0 = relax.flatten %x : (tensor<?x?x4xf32, #relax.shape<[n, m, 4]>>) -> tensor<?xf32, #relax.shape<[4*n*m]>>
  %1 = relax.flatten %s : (tensor<f32>) -> tensor<1xf32>
  %2 = relax.flatten %z : (tensor<?x0xf32>) -> tensor<0xf32>
  %3 = relax.flatten %u : (tensor<*xf32>) -> tensor<?xf32>
  %4 = relax.flatten %p : (tensor<?x4xf32>) -> tensor<?xf32>
  relax.return
}

// CHECK-LABEL: relax.func @permute_dims
relax.func @permute_dims(%x: tensor<?x?x4xf32, #relax.shape<[n, m, 4]>>, %s: tensor<f32>, %u: tensor<*xf32>) {
  // CHECK: relax.permute_dims %{{.*}} axes [1, -1, 0] : {{.*}} -> tensor<?x4x?xf32, #relax.shape<[m, 4, n]>>
  %0 = relax.permute_dims %x axes [1, -1, 0] : (tensor<?x?x4xf32, #relax.shape<[n, m, 4]>>) -> tensor<?x4x?xf32, #relax.shape<[m, 4, n]>>
  %1 = relax.permute_dims %x : (tensor<?x?x4xf32, #relax.shape<[n, m, 4]>>) -> tensor<4x?x?xf32, #relax.shape<[4, m, n]>>
  %2 = relax.permute_dims %s : (tensor<f32>) -> tensor<f32>
  %3 = relax.permute_dims %u : (tensor<*xf32>) -> tensor<*xf32>
  // The axes determine the rank.
  %4 = relax.permute_dims %u axes [1, 0] : (tensor<*xf32>) -> tensor<?x?xf32>
  relax.return
}

// CHECK-LABEL: relax.func @expand_squeeze
relax.func @expand_squeeze(%x: tensor<?xf32, #relax.shape<[n]>>, %y: tensor<1x?x1x?xf32, #relax.shape<[1, n, 1, m]>>,
                           %z: tensor<1x3x1xf32>, %u: tensor<*xf32>) {
  // CHECK: relax.expand_dims %{{.*}} axis [0, -1]
  %0 = relax.expand_dims %x axis [0, -1] : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<1x?x1xf32, #relax.shape<[1, n, 1]>>
  %1 = relax.expand_dims %u axis [0] : (tensor<*xf32>) -> tensor<*xf32>
  // CHECK: relax.squeeze %{{.*}} axis [0, 2]
  %2 = relax.squeeze %y axis [0, 2] : (tensor<1x?x1x?xf32, #relax.shape<[1, n, 1, m]>>) -> tensor<?x?xf32, #relax.shape<[n, m]>>
  // n must be 1 at run time.
  %3 = relax.squeeze %y axis [1] : (tensor<1x?x1x?xf32, #relax.shape<[1, n, 1, m]>>) -> tensor<1x1x?xf32, #relax.shape<[1, 1, m]>>
  // n and m may be 1, so that the rank is unknown.
  %4 = relax.squeeze %y : (tensor<1x?x1x?xf32, #relax.shape<[1, n, 1, m]>>) -> tensor<*xf32>
  %5 = relax.squeeze %z : (tensor<1x3x1xf32>) -> tensor<3xf32>
  %6 = relax.squeeze %u axis [0] : (tensor<*xf32>) -> tensor<*xf32>
  relax.return
}

// Declared bounds prove that n is not 1.
// CHECK-LABEL: relax.func @squeeze_bounds
relax.func @squeeze_bounds(%x: tensor<1x?xf32, #relax.shape<[1, n]>>) attributes {relax.symbols = {n = #relax.range<2, 8>}} {
  // CHECK: relax.squeeze %{{.*}} : {{.*}} -> tensor<?xf32, #relax.shape<[n]>>
  %0 = relax.squeeze %x : (tensor<1x?xf32, #relax.shape<[1, n]>>) -> tensor<?xf32, #relax.shape<[n]>>
  relax.return
}

// Each dimension of the result is the most precise one of all operands.
// CHECK-LABEL: relax.func @concat_stack
relax.func @concat_stack(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %y: tensor<3x12xf32>, %p: tensor<?x?xf32>, %u: tensor<*xf32>, %e: tensor<0x4xf32>) {
  // CHECK: relax.concat %{{.*}}, %{{.*}} : {{.*}} -> tensor<?x4xf32, #relax.shape<[2*n, 4]>>
  %0 = relax.concat %x, %x, %e : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<0x4xf32>) -> tensor<?x4xf32, #relax.shape<[2*n, 4]>>
  // CHECK: relax.concat %{{.*}} axis -1
  %1 = relax.concat %x, %y axis -1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<3x12xf32>) -> tensor<3x16xf32>
  %2 = relax.concat %p, %y : (tensor<?x?xf32>, tensor<3x12xf32>) -> tensor<?x12xf32>
  %3 = relax.concat %u, %y : (tensor<*xf32>, tensor<3x12xf32>) -> tensor<?x12xf32>
  %4 = relax.concat %u, %u : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
  // CHECK: relax.stack %{{.*}} axis 1 : {{.*}} -> tensor<?x2x4xf32, #relax.shape<[n, 2, 4]>>
  %5 = relax.stack %x, %x axis 1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x2x4xf32, #relax.shape<[n, 2, 4]>>
  %6 = relax.stack %p, %y axis -1 : (tensor<?x?xf32>, tensor<3x12xf32>) -> tensor<3x12x2xf32>
  relax.return
}

// CHECK-LABEL: relax.func @split
relax.func @split(%x: tensor<?x6xf32, #relax.shape<[n, 6]>>, %y: tensor<5xf32>, %z: tensor<0xf32>, %q: tensor<?xf32, #relax.shape<[2*n]>>, %u: tensor<*xf32>) {
  // CHECK: relax.split %{{.*}} into 3 axis 1
  %0:3 = relax.split %x into 3 axis 1 : (tensor<?x6xf32, #relax.shape<[n, 6]>>) -> (tensor<?x2xf32, #relax.shape<[n, 2]>>, tensor<?x2xf32, #relax.shape<[n, 2]>>, tensor<?x2xf32, #relax.shape<[n, 2]>>)
  // Each part has size 2, except that the last parts are smaller or empty.
  %1:4 = relax.split %y into 4 : (tensor<5xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<0xf32>)
  %2:2 = relax.split %z into 2 : (tensor<0xf32>) -> (tensor<0xf32>, tensor<0xf32>)
  %3:2 = relax.split %x into 2 : (tensor<?x6xf32, #relax.shape<[n, 6]>>) -> (tensor<?x6xf32, #relax.shape<[(n + 1) floordiv 2, 6]>>, tensor<?x6xf32, #relax.shape<[n floordiv 2, 6]>>)
  %4:2 = relax.split %q into 2 : (tensor<?xf32, #relax.shape<[2*n]>>) -> (tensor<?xf32, #relax.shape<[n]>>, tensor<?xf32, #relax.shape<[n]>>)
  // CHECK: relax.split %{{.*}} at [n]
  %5:2 = relax.split %q at [n] : (tensor<?xf32, #relax.shape<[2*n]>>) -> (tensor<?xf32, #relax.shape<[n]>>, tensor<?xf32, #relax.shape<[n]>>)
  // The parts are NumPy slices between the positions.
  %6:4 = relax.split %y at [1, 9, -1] : (tensor<5xf32>) -> (tensor<1xf32>, tensor<4xf32>, tensor<0xf32>, tensor<1xf32>)
  %7:2 = relax.split %u into 2 : (tensor<*xf32>) -> (tensor<*xf32>, tensor<*xf32>)
  relax.return
}

// A declared multiple proves that the parts are equal.
// CHECK-LABEL: relax.func @split_multiple
relax.func @split_multiple(%x: tensor<?xf32, #relax.shape<[n]>>) attributes {relax.symbols = {n = #relax.range<0, *, multiple_of = 12>}} {
  // CHECK: relax.split
  %0:3 = relax.split %x into 3 : (tensor<?xf32, #relax.shape<[n]>>) -> (tensor<?xf32, #relax.shape<[n floordiv 3]>>, tensor<?xf32, #relax.shape<[n floordiv 3]>>, tensor<?xf32, #relax.shape<[n floordiv 3]>>)
  relax.return
}

// CHECK-LABEL: relax.func @repeat_tile_flip
relax.func @repeat_tile_flip(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %p: tensor<?xf32>, %u: tensor<*xf32>, %l: tensor<?xi64, #relax.shape<[n]>>) {
  // CHECK: relax.repeat %{{.*}} by 3 axis -2
  %0 = relax.repeat %x by 3 axis -2 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[3*n, 4]>>
  %1 = relax.repeat %x by 2 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?xf32, #relax.shape<[8*n]>>
  %2 = relax.repeat %u by 0 : (tensor<*xf32>) -> tensor<0xf32>
  // CHECK: relax.tile %{{.*}} by [2, 3]
  %3 = relax.tile %x by [2, 3] : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x12xf32, #relax.shape<[2*n, 12]>>
  %4 = relax.tile %x by [5, 1, 0] : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<5x?x0xf32, #relax.shape<[5, n, 0]>>
  %5 = relax.tile %x by [2] : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x8xf32, #relax.shape<[n, 8]>>
  %6 = relax.tile %p by [0] : (tensor<?xf32>) -> tensor<0xf32>
  // CHECK: relax.flip %{{.*}} axis -1
  %7 = relax.flip %x axis -1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  // CHECK: relax.reverse_sequence
  %8 = relax.reverse_sequence %x, %l : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?xi64, #relax.shape<[n]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  relax.return
}

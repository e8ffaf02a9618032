// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -canonicalize | FileCheck %s

// A reshape to the operand's own shape is removed; -1 and shape values become
// expressions if the types determine them.
// CHECK-LABEL: relax.func @reshape
// CHECK-SAME: (%[[X:[a-z0-9]+]]: tensor<?x4xf32, #relax.shape<[n, 4]>>, %[[S:[a-z0-9]+]]: !relax.shape<[4, n]>
relax.func @reshape(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %s: !relax.shape<[4, n]>, %r: !relax.shape<2>)
    -> (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<4x?xf32, #relax.shape<[4, n]>>, tensor<?xf32, #relax.shape<[4*n]>>, tensor<?x?xf32>) {
  %0 = relax.reshape %x to [-1, 4] : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  // CHECK: %[[B:[a-z0-9]+]] = relax.reshape %[[X]] to [4, n]
  %1 = relax.reshape %x, %s : (tensor<?x4xf32, #relax.shape<[n, 4]>>, !relax.shape<[4, n]>) -> tensor<4x?xf32, #relax.shape<[4, n]>>
  // CHECK: %[[C:[a-z0-9]+]] = relax.reshape %[[X]] to [4*n]
  %2 = relax.reshape %x to [-1] : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?xf32, #relax.shape<[4*n]>>
  // CHECK: %[[D:[a-z0-9]+]] = relax.reshape %[[X]], %{{.*}} : ({{.*}}, !relax.shape<2>) -> tensor<?x?xf32>
  %3 = relax.reshape %x, %r : (tensor<?x4xf32, #relax.shape<[n, 4]>>, !relax.shape<2>) -> tensor<?x?xf32>
  // CHECK: relax.return %[[X]], %[[B]], %[[C]], %[[D]]
  relax.return %0, %1, %2, %3 : tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<4x?xf32, #relax.shape<[4, n]>>, tensor<?xf32, #relax.shape<[4*n]>>, tensor<?x?xf32>
}

// An equal type with an unknown dimension does not prove an equal shape.
// CHECK-LABEL: relax.func @reshape_unknown
relax.func @reshape_unknown(%x: tensor<?x?xf32>, %r: !relax.shape<2>) -> tensor<?x?xf32> {
  // CHECK: %[[Y:[a-z0-9]+]] = relax.reshape
  %0 = relax.reshape %x, %r : (tensor<?x?xf32>, !relax.shape<2>) -> tensor<?x?xf32>
  // CHECK: relax.return %[[Y]]
  relax.return %0 : tensor<?x?xf32>
}

// Only the last of several reshapes stays; ops that only change the shape count
// as reshapes.
// CHECK-LABEL: relax.func @reshape_of_reshape
// CHECK-SAME: (%[[X:[a-z0-9]+]]: tensor<
relax.func @reshape_of_reshape(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>) -> (tensor<2x?xf32, #relax.shape<[2, 2*n]>>, tensor<?x4xf32, #relax.shape<[n, 4]>>) {
  %0 = relax.flatten %x : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?xf32, #relax.shape<[4*n]>>
  %1 = relax.reshape %0 to [4, n] : (tensor<?xf32, #relax.shape<[4*n]>>) -> tensor<4x?xf32, #relax.shape<[4, n]>>
  // CHECK: %[[A:[a-z0-9]+]] = relax.reshape %[[X]] to [2, 2*n] : (tensor<?x4xf32
  %2 = relax.reshape %1 to [2, -1] : (tensor<4x?xf32, #relax.shape<[4, n]>>) -> tensor<2x?xf32, #relax.shape<[2, 2*n]>>
  %3 = relax.reshape %2 to [n, 4] : (tensor<2x?xf32, #relax.shape<[2, 2*n]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  // CHECK: relax.return %[[A]], %[[X]]
  relax.return %2, %3 : tensor<2x?xf32, #relax.shape<[2, 2*n]>>, tensor<?x4xf32, #relax.shape<[n, 4]>>
}

// Two reshapes stay if each of them has a check at run time.
// CHECK-LABEL: relax.func @reshape_guards
relax.func @reshape_guards(%x: tensor<?xf32, #relax.shape<[n]>>, %k: tensor<?x?xf32, #relax.shape<[m, k]>>) -> tensor<?xf32, #relax.shape<[k]>> {
  // CHECK: relax.reshape %{{.*}} to [m]
  %0 = relax.reshape %x to [m] : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[m]>>
  // CHECK: relax.reshape %{{.*}} to [k]
  %1 = relax.reshape %0 to [k] : (tensor<?xf32, #relax.shape<[m]>>) -> tensor<?xf32, #relax.shape<[k]>>
  relax.return %1 : tensor<?xf32, #relax.shape<[k]>>
}

// CHECK-LABEL: relax.func @broadcast
// CHECK-SAME: (%[[X:[a-z0-9]+]]: tensor<
relax.func @broadcast(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %s: !relax.shape<[2, n, 4]>) -> (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<2x?x4xf32, #relax.shape<[2, n, 4]>>, tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<4xf32>) {
  %0 = relax.broadcast_to %x to [n, 4] : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  // CHECK: %[[B:[a-z0-9]+]] = relax.broadcast_to %[[X]] to [2, n, 4]
  %1 = relax.broadcast_to %x, %s : (tensor<?x4xf32, #relax.shape<[n, 4]>>, !relax.shape<[2, n, 4]>) -> tensor<2x?x4xf32, #relax.shape<[2, n, 4]>>
  %2 = relax.collapse_sum_to %x to [n, 4] : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  %s4 = relax.shape [4] : !relax.shape<[4]>
  // CHECK: %[[D:[a-z0-9]+]] = relax.collapse_sum_to %[[X]] to [4]
  %3 = relax.collapse_sum_to %x, %s4 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, !relax.shape<[4]>) -> tensor<4xf32>
  // CHECK: relax.return %[[X]], %[[B]], %[[X]], %[[D]]
  relax.return %0, %1, %2, %3 : tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<2x?x4xf32, #relax.shape<[2, n, 4]>>, tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<4xf32>
}

// CHECK-LABEL: relax.func @permute
// CHECK-SAME: (%[[X:[a-z0-9]+]]: tensor<
relax.func @permute(%x: tensor<?x4x8xf32, #relax.shape<[n, 4, 8]>>, %u: tensor<*xf32>) -> (tensor<?x4x8xf32, #relax.shape<[n, 4, 8]>>, tensor<?x8x4xf32, #relax.shape<[n, 8, 4]>>, tensor<*xf32>) {
  %0 = relax.permute_dims %x : (tensor<?x4x8xf32, #relax.shape<[n, 4, 8]>>) -> tensor<8x4x?xf32, #relax.shape<[8, 4, n]>>
  %1 = relax.permute_dims %0 axes [-1, 1, 0] : (tensor<8x4x?xf32, #relax.shape<[8, 4, n]>>) -> tensor<?x4x8xf32, #relax.shape<[n, 4, 8]>>
  // CHECK: %[[B:[a-z0-9]+]] = relax.permute_dims %[[X]] axes [0, 2, 1]
  %2 = relax.permute_dims %0 axes [2, 0, 1] : (tensor<8x4x?xf32, #relax.shape<[8, 4, n]>>) -> tensor<?x8x4xf32, #relax.shape<[n, 8, 4]>>
  // If the rank is unknown, the op may not be the identity.
  // CHECK: %[[C:[a-z0-9]+]] = relax.permute_dims %{{.*}} : (tensor<*xf32>)
  %3 = relax.permute_dims %u : (tensor<*xf32>) -> tensor<*xf32>
  // CHECK: relax.return %[[X]], %[[B]], %[[C]]
  relax.return %1, %2, %3 : tensor<?x4x8xf32, #relax.shape<[n, 4, 8]>>, tensor<?x8x4xf32, #relax.shape<[n, 8, 4]>>, tensor<*xf32>
}

// CHECK-LABEL: relax.func @expand_squeeze
// CHECK-SAME: (%[[X:[a-z0-9]+]]: tensor<{{.*}}>>, %[[Y:[a-z0-9]+]]: tensor<1x
relax.func @expand_squeeze(%x: tensor<?xf32, #relax.shape<[n]>>, %y: tensor<1x?xf32, #relax.shape<[1, n]>>) -> (tensor<?xf32, #relax.shape<[n]>>, tensor<1x?xf32, #relax.shape<[1, n]>>, tensor<1x1xf32>) {
  %0 = relax.expand_dims %x axis [-1] : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?x1xf32, #relax.shape<[n, 1]>>
  %1 = relax.squeeze %0 axis [1] : (tensor<?x1xf32, #relax.shape<[n, 1]>>) -> tensor<?xf32, #relax.shape<[n]>>
  %2 = relax.squeeze %y axis [0] : (tensor<1x?xf32, #relax.shape<[1, n]>>) -> tensor<?xf32, #relax.shape<[n]>>
  %3 = relax.expand_dims %2 axis [-2] : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<1x?xf32, #relax.shape<[1, n]>>
  // The squeeze stays, as it checks that n is 1.
  // CHECK: relax.squeeze %[[Y]] axis [1]
  // CHECK: %[[C:[a-z0-9]+]] = relax.expand_dims
  %4 = relax.squeeze %y axis [1] : (tensor<1x?xf32, #relax.shape<[1, n]>>) -> tensor<1xf32>
  %5 = relax.expand_dims %4 axis [1] : (tensor<1xf32>) -> tensor<1x1xf32>
  // CHECK: relax.return %[[X]], %[[Y]], %[[C]]
  relax.return %1, %3, %5 : tensor<?xf32, #relax.shape<[n]>>, tensor<1x?xf32, #relax.shape<[1, n]>>, tensor<1x1xf32>
}

// CHECK-LABEL: relax.func @concat
// CHECK-SAME: (%[[X:[a-z0-9]+]]: tensor<{{.*}}>>, %[[Y:[a-z0-9]+]]: tensor<2x4xf32>)
relax.func @concat(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %y: tensor<2x4xf32>) -> (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?x4xf32, #relax.shape<[n + 4, 4]>>, tensor<1x2x4xf32>) {
  %0 = relax.concat %x : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  %1 = relax.concat %x, %y : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<2x4xf32>) -> tensor<?x4xf32, #relax.shape<[n + 2, 4]>>
  // CHECK: %[[B:[a-z0-9]+]] = relax.concat %[[Y]], %[[X]], %[[Y]] axis -2
  %2 = relax.concat %y, %1 axis -2 : (tensor<2x4xf32>, tensor<?x4xf32, #relax.shape<[n + 2, 4]>>) -> tensor<?x4xf32, #relax.shape<[n + 4, 4]>>
  // CHECK: %[[C:[a-z0-9]+]] = relax.expand_dims %[[Y]] axis [0]
  %3 = relax.stack %y : (tensor<2x4xf32>) -> tensor<1x2x4xf32>
  // CHECK: relax.return %[[X]], %[[B]], %[[C]]
  relax.return %0, %2, %3 : tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?x4xf32, #relax.shape<[n + 4, 4]>>, tensor<1x2x4xf32>
}

// A coarser result type keeps the op.
// CHECK-LABEL: relax.func @one_part
// CHECK-SAME: (%[[X:[a-z0-9]+]]: tensor<
relax.func @one_part(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>) -> (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?x4xf32>) {
  %0 = relax.split %x into 1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  // CHECK: %[[B:[a-z0-9]+]] = relax.split
  %1 = relax.split %x at [] : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32>
  // CHECK: relax.return %[[X]], %[[B]]
  relax.return %0, %1 : tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?x4xf32>
}

// CHECK-LABEL: relax.func @once
// CHECK-SAME: (%[[X:[a-z0-9]+]]: tensor<{{.*}}>>, %[[U:[a-z0-9]+]]: tensor<*xf32>)
relax.func @once(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %u: tensor<*xf32>) -> (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<*xf32>, tensor<*xf32>) {
  %0 = relax.repeat %x by 1 axis 0 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  %1 = relax.tile %x by [1, 1] : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  %2 = relax.flip %x axis 1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  %3 = relax.flip %2 axis -1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  // If the rank is unknown, ones may add dimensions, and axis -1 may differ from axis 1.
  // CHECK: %[[T:[a-z0-9]+]] = relax.tile %[[U]] by [1, 1]
  %4 = relax.tile %u by [1, 1] : (tensor<*xf32>) -> tensor<*xf32>
  // CHECK: %[[F:[a-z0-9]+]] = relax.flip %[[U]] axis 1
  %5 = relax.flip %u axis 1 : (tensor<*xf32>) -> tensor<*xf32>
  // CHECK: %[[G:[a-z0-9]+]] = relax.flip %[[F]] axis -1
  %6 = relax.flip %5 axis -1 : (tensor<*xf32>) -> tensor<*xf32>
  // CHECK: relax.return %[[X]], %[[X]], %[[X]], %[[T]], %[[G]]
  relax.return %0, %1, %3, %4, %6 : tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<*xf32>, tensor<*xf32>
}

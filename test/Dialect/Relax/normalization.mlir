// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Normalization and softmax: round trip and shapes.
// RUN: relax-opt %s | relax-opt | FileCheck %s

// CHECK-LABEL: relax.func @softmax
relax.func @softmax(%x: tensor<?x0xf32, #relax.shape<[n, 0]>>, %u: tensor<*xf16>) {
  // CHECK: relax.softmax %arg0 : (tensor<?x0xf32, #relax.shape<[n, 0]>>) -> tensor<?x0xf32, #relax.shape<[n, 0]>>
  %0 = relax.softmax %x axis -1 : (tensor<?x0xf32, #relax.shape<[n, 0]>>) -> tensor<?x0xf32, #relax.shape<[n, 0]>>
  // CHECK: relax.log_softmax %arg0 axis 0 : (tensor<?x0xf32, #relax.shape<[n, 0]>>) -> tensor<?x0xf32, #relax.shape<[n, 0]>>
  %1 = relax.log_softmax %x axis 0 : (tensor<?x0xf32, #relax.shape<[n, 0]>>) -> tensor<?x0xf32, #relax.shape<[n, 0]>>
  // CHECK: relax.softmax %arg1 axis 5 : (tensor<*xf16>) -> tensor<*xf16>
  %2 = relax.softmax %u axis 5 : (tensor<*xf16>) -> tensor<*xf16>
  relax.return
}

// gamma and beta follow the order of the axes; each may be left out.
// CHECK-LABEL: relax.func @layer_norm
relax.func @layer_norm(%x: tensor<?x3x4xf32, #relax.shape<[n, 3, 4]>>, %g: tensor<4xf32>, %t: tensor<4x3xf32>, %m: tensor<?xf32, #relax.shape<[m]>>, %u: tensor<*xf32>) {
  // CHECK: relax.layer_norm %arg0 gamma %arg1 beta %arg1 axes [-1] :
  %0 = relax.layer_norm %x gamma %g beta %g axes [-1] : (tensor<?x3x4xf32, #relax.shape<[n, 3, 4]>>, tensor<4xf32>, tensor<4xf32>) -> tensor<?x3x4xf32, #relax.shape<[n, 3, 4]>>
  // CHECK: relax.layer_norm %arg0 beta %arg2 axes [2, 1] {epsilon = 0.000000e+00 : f64} :
  %1 = relax.layer_norm %x beta %t axes [2, 1] {epsilon = 0.0} : (tensor<?x3x4xf32, #relax.shape<[n, 3, 4]>>, tensor<4x3xf32>) -> tensor<?x3x4xf32, #relax.shape<[n, 3, 4]>>
  // CHECK: relax.layer_norm %arg0 axes [0] : (tensor<?x3x4xf32, #relax.shape<[n, 3, 4]>>) -> tensor<?x3x4xf32, #relax.shape<[n, 3, 4]>>
  %2 = relax.layer_norm %x axes [0] : (tensor<?x3x4xf32, #relax.shape<[n, 3, 4]>>) -> tensor<?x3x4xf32, #relax.shape<[n, 3, 4]>>
  // The sizes may be equal, which is checked at run time.
  // CHECK: relax.layer_norm %arg0 gamma %arg3 axes [0] :
  %3 = relax.layer_norm %x gamma %m axes [0] : (tensor<?x3x4xf32, #relax.shape<[n, 3, 4]>>, tensor<?xf32, #relax.shape<[m]>>) -> tensor<?x3x4xf32, #relax.shape<[n, 3, 4]>>
  // CHECK: relax.layer_norm %arg4 gamma %arg1 axes [7] : (tensor<*xf32>, tensor<4xf32>) -> tensor<*xf32>
  %4 = relax.layer_norm %u gamma %g axes [7] : (tensor<*xf32>, tensor<4xf32>) -> tensor<*xf32>
  relax.return
}

// CHECK-LABEL: relax.func @rms_norm
relax.func @rms_norm(%x: tensor<1x?x4xf16, #relax.shape<[1, n, 4]>>, %w: tensor<4xf16>, %u: tensor<*xf16>) {
  // CHECK: relax.rms_norm %arg0 weight %arg1 axes [-1] {epsilon = 9.9999999999999995E-7 : f64} :
  %0 = relax.rms_norm %x weight %w axes [-1] {epsilon = 1.0e-6} : (tensor<1x?x4xf16, #relax.shape<[1, n, 4]>>, tensor<4xf16>) -> tensor<1x?x4xf16, #relax.shape<[1, n, 4]>>
  // CHECK: relax.rms_norm %arg0 axes [1, 2] : (tensor<1x?x4xf16, #relax.shape<[1, n, 4]>>) -> tensor<1x?x4xf16, #relax.shape<[1, n, 4]>>
  %1 = relax.rms_norm %x axes [1, 2] : (tensor<1x?x4xf16, #relax.shape<[1, n, 4]>>) -> tensor<1x?x4xf16, #relax.shape<[1, n, 4]>>
  // CHECK: relax.rms_norm %arg0 weight %arg2 axes [0] :
  %2 = relax.rms_norm %x weight %u axes [0] : (tensor<1x?x4xf16, #relax.shape<[1, n, 4]>>, tensor<*xf16>) -> tensor<1x?x4xf16, #relax.shape<[1, n, 4]>>
  relax.return
}

// CHECK-LABEL: relax.func @by_channel
relax.func @by_channel(%x: tensor<?x4x7xf32, #relax.shape<[n, 4, 7]>>, %c: tensor<?x?xf32, #relax.shape<[n, m]>>, %g: tensor<4xf32>, %u: tensor<*xf32>) {
  // CHECK: relax.group_norm %arg0 gamma %arg2 beta %arg2 num_groups 2 channel_axis 1 axes [-1] :
  %0 = relax.group_norm %x gamma %g beta %g num_groups 2 channel_axis 1 axes [-1] : (tensor<?x4x7xf32, #relax.shape<[n, 4, 7]>>, tensor<4xf32>, tensor<4xf32>) -> tensor<?x4x7xf32, #relax.shape<[n, 4, 7]>>
  // Whether 3 divides m is checked at run time.
  // CHECK: relax.group_norm %arg1 num_groups 3 channel_axis -1 axes [] :
  %1 = relax.group_norm %c num_groups 3 channel_axis -1 axes [] : (tensor<?x?xf32, #relax.shape<[n, m]>>) -> tensor<?x?xf32, #relax.shape<[n, m]>>
  // CHECK: relax.instance_norm %arg0 gamma %arg2 channel_axis 1 axes [2] :
  %2 = relax.instance_norm %x gamma %g channel_axis 1 axes [2] : (tensor<?x4x7xf32, #relax.shape<[n, 4, 7]>>, tensor<4xf32>) -> tensor<?x4x7xf32, #relax.shape<[n, 4, 7]>>
  // CHECK: relax.instance_norm %arg3 beta %arg2 channel_axis 1 axes [2] : (tensor<*xf32>, tensor<4xf32>) -> tensor<*xf32>
  %3 = relax.instance_norm %u beta %g channel_axis 1 axes [2] : (tensor<*xf32>, tensor<4xf32>) -> tensor<*xf32>
  relax.return
}

// The size of the moving statistics is known if any operand's is.
// CHECK-LABEL: relax.func @batch_norm
relax.func @batch_norm(%x: tensor<?x?x7xf32, #relax.shape<[n, c, 7]>>, %g: tensor<?xf32>, %v: tensor<4xf32>, %u: tensor<*xf32>) {
  // CHECK: relax.batch_norm %arg0, %arg1, %arg1, %arg1, %arg1 axis 1 : {{.*}} -> (tensor<?x?x7xf32, #relax.shape<[n, c, 7]>>, tensor<?xf32, #relax.shape<[c]>>, tensor<?xf32, #relax.shape<[c]>>)
  %0:3 = relax.batch_norm %x, %g, %g, %g, %g axis 1 : (tensor<?x?x7xf32, #relax.shape<[n, c, 7]>>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> (tensor<?x?x7xf32, #relax.shape<[n, c, 7]>>, tensor<?xf32, #relax.shape<[c]>>, tensor<?xf32, #relax.shape<[c]>>)
  // CHECK: relax.batch_norm %arg3, %arg1, %arg2, %arg3, %arg3 axis 1 training {momentum = 5.000000e-01 : f64} : {{.*}} -> (tensor<*xf32>, tensor<4xf32>, tensor<4xf32>)
  %1:3 = relax.batch_norm %u, %g, %v, %u, %u axis 1 training {momentum = 0.5} : (tensor<*xf32>, tensor<?xf32>, tensor<4xf32>, tensor<*xf32>, tensor<*xf32>) -> (tensor<*xf32>, tensor<4xf32>, tensor<4xf32>)
  relax.return
}

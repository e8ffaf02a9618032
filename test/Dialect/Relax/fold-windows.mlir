// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt --canonicalize %s | FileCheck %s

// Identity windows are folded.
// CHECK-LABEL: relax.func @nothing(
// CHECK-SAME: %[[X:.*]]: tensor
// CHECK-NEXT: relax.return %[[X]]
relax.func @nothing(%x: tensor<1x4x?x8xf32, #relax.shape<[1, 4, h, 8]>>) -> tensor<1x4x?x8xf32, #relax.shape<[1, 4, h, 8]>> {
  %0 = relax.pad %x by [0, 0, 0, 0, h - h, 0, 0, 0] {pad_mode = "reflect"} : (tensor<1x4x?x8xf32, #relax.shape<[1, 4, h, 8]>>) -> tensor<1x4x?x8xf32, #relax.shape<[1, 4, h, 8]>>
  %1 = relax.max_pool2d %0 {dilation = array<i64: 3>} : (tensor<1x4x?x8xf32, #relax.shape<[1, 4, h, 8]>>) -> tensor<1x4x?x8xf32, #relax.shape<[1, 4, h, 8]>>
  %2 = relax.pixel_shuffle %1 by 1 : (tensor<1x4x?x8xf32, #relax.shape<[1, 4, h, 8]>>) -> tensor<1x4x?x8xf32, #relax.shape<[1, 4, h, 8]>>
  relax.return %2 : tensor<1x4x?x8xf32, #relax.shape<[1, 4, h, 8]>>
}

// Windows that reorder the axes, or whose padding cancels out, are not
// identities.
// CHECK-LABEL: relax.func @something(
// CHECK: relax.pad
// CHECK: relax.avg_pool2d
relax.func @something(%x: tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32> {
  %0 = relax.pad %x by [0, 0, 0, 0, 1, -1, 0, 0] : (tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  %1 = relax.avg_pool2d %0 {out_layout = "NHWC"} : (tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  relax.return %1 : tensor<1x4x4x4xf32>
}

// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s | relax-opt | FileCheck %s

// Static slices follow Python's rules.
// CHECK-LABEL: relax.func @static
relax.func @static(%x: tensor<10xf32>, %e: tensor<0xf32>, %m: tensor<4x6xf32>) {
  // CHECK: relax.strided_slice %{{.*}} axes [0] begin [2] end [8] strides [3] :
  %0 = relax.strided_slice %x axes [0] begin [2] end [8] strides [3] : (tensor<10xf32>) -> tensor<2xf32>
  %1 = relax.strided_slice %x axes [0] begin [-3] end [100] : (tensor<10xf32>) -> tensor<3xf32>
  %2 = relax.strided_slice %x axes [0] begin [-100] end [-1] strides [4] : (tensor<10xf32>) -> tensor<3xf32>
  // A slice that begins after its end is empty; its size is not negative.
  %3 = relax.strided_slice %x axes [0] begin [7] end [2] : (tensor<10xf32>) -> tensor<0xf32>
  %4 = relax.strided_slice %x axes [0] begin [2] end [7] strides [-1] : (tensor<10xf32>) -> tensor<0xf32>
  // The slice is the whole dimension, backwards.
  %5 = relax.strided_slice %x axes [0] begin [-1] end [-9223372036854775807] strides [-1] : (tensor<10xf32>) -> tensor<10xf32>
  %6 = relax.strided_slice %x axes [0] begin [9223372036854775807] end [0] strides [-3] : (tensor<10xf32>) -> tensor<3xf32>
  %7 = relax.strided_slice %x axes [0] begin [9223372036854775807] end [-9223372036854775807] strides [9223372036854775807] : (tensor<10xf32>) -> tensor<0xf32>
  // The dimension is empty.
  %8 = relax.strided_slice %e axes [0] begin [-1] end [-9223372036854775807] strides [-1] : (tensor<0xf32>) -> tensor<0xf32>
  %9 = relax.strided_slice %e axes [0] begin [3] end [5] : (tensor<0xf32>) -> tensor<0xf32>
  %10 = relax.strided_slice %m axes [-1, 0] begin [1, 0] end [3, 9] : (tensor<4x6xf32>) -> tensor<4x2xf32>
  %11 = relax.strided_slice %m axes [] begin [] end [] : (tensor<4x6xf32>) -> tensor<4x6xf32>
  relax.return
}

// CHECK-LABEL: relax.func @symbolic
relax.func @symbolic(%x: tensor<?xf32, #relax.shape<[n]>>, %h: tensor<?xf32, #relax.shape<[m]>>, %y: tensor<?xf32, #relax.shape<[n + 3]>>) {
  // The slice is x[:n]; the largest integer means the end.
  // CHECK: end [n] : {{.*}} -> tensor<?xf32, #relax.shape<[n]>>
  %0 = relax.strided_slice %x axes [0] begin [0] end [n] : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
  %1 = relax.strided_slice %x axes [0] begin [0] end [9223372036854775807] : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
  // x[:5], x[:m], x[2:], x[-2:], x[:-2]
  %2 = relax.strided_slice %x axes [0] begin [0] end [5] : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[min(n, 5)]>>
  %3 = relax.strided_slice %x axes [0] begin [0] end [m] : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[min(n, m)]>>
  %4 = relax.strided_slice %x axes [0] begin [2] end [9223372036854775807] : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[max(0, n - 2)]>>
  %5 = relax.strided_slice %x axes [0] begin [-2] end [9223372036854775807] : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[min(n, 2)]>>
  %6 = relax.strided_slice %x axes [0] begin [0] end [-2] : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[max(0, n - 2)]>>
  // If the positions are provably in range, the size contains no min or max.
  %7 = relax.strided_slice %y axes [0] begin [1] end [3] : (tensor<?xf32, #relax.shape<[n + 3]>>) -> tensor<2xf32>
  %8 = relax.strided_slice %y axes [0] begin [n] end [9223372036854775807] : (tensor<?xf32, #relax.shape<[n + 3]>>) -> tensor<3xf32>
  %9 = relax.strided_slice %y axes [0] begin [-3] end [-1] : (tensor<?xf32, #relax.shape<[n + 3]>>) -> tensor<2xf32>
  %10 = relax.strided_slice %y axes [0] begin [0] end [-1] strides [2] : (tensor<?xf32, #relax.shape<[n + 3]>>) -> tensor<?xf32, #relax.shape<[(n + 2) ceildiv 2]>>
  // Backwards.
  %11 = relax.strided_slice %x axes [0] begin [-1] end [-9223372036854775807] strides [-1] : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
  %12 = relax.strided_slice %x axes [0] begin [-1] end [-9223372036854775807] strides [-2] : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n ceildiv 2]>>
  // The slice is empty for any n.
  %13 = relax.strided_slice %x axes [0] begin [m + 1] end [m] : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<0xf32>
  // m - 2 may count from either end.
  %14 = relax.strided_slice %x axes [0] begin [0] end [m - 2] : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32>
  // A symbolic stride.
  %15 = relax.strided_slice %x axes [0] begin [0] end [n] strides [m] : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32>
  relax.return
}

// CHECK-LABEL: relax.func @unknown
relax.func @unknown(%x: tensor<?x4xf32>, %u: tensor<*xf32>) {
  %0 = relax.strided_slice %x axes [0] begin [0] end [5] : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %1 = relax.strided_slice %x axes [0] begin [5] end [5] : (tensor<?x4xf32>) -> tensor<0x4xf32>
  // CHECK: -> tensor<*xf32>
  %2 = relax.strided_slice %u axes [3] begin [0] end [5] : (tensor<*xf32>) -> tensor<*xf32>
  relax.return
}

// With declared bounds, or with `assume_inbound`, the sizes contain no min or
// max.
// CHECK-LABEL: relax.func @inbound
relax.func @inbound(%x: tensor<?xf32, #relax.shape<[n]>>, %k: tensor<?xf32, #relax.shape<[m]>>) attributes {relax.symbols = {n = #relax.range<4, 8>}} {
  %0 = relax.strided_slice %x axes [0] begin [1] end [4] : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<3xf32>
  %1 = relax.strided_slice %x axes [0] begin [0] end [8] : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
  // CHECK: assume_inbound : {{.*}} -> tensor<?xf32, #relax.shape<[m - 2]>>
  %2 = relax.strided_slice %x axes [0] begin [2] end [m] assume_inbound : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[m - 2]>>
  %3 = relax.strided_slice %x axes [0] begin [m] end [9223372036854775807] assume_inbound : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n - m]>>
  relax.return
}

// CHECK-LABEL: relax.func @dynamic
relax.func @dynamic(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %u: tensor<*xf32>, %i: tensor<2xi64>, %j: tensor<?xi32, #relax.shape<[k]>>) {
  // CHECK: relax.dynamic_strided_slice
  %0 = relax.dynamic_strided_slice %x, %i, %i, %j : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<2xi64>, tensor<2xi64>, tensor<?xi32, #relax.shape<[k]>>) -> tensor<?x?xf32>
  %1 = relax.dynamic_strided_slice %u, %i, %i, %i : (tensor<*xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<*xf32>
  // Constant positions determine the size.
  %b = relax.constant dense<[0, 3]> : tensor<2xi64>
  %e = relax.constant dense<[9223372036854775807, -9223372036854775808]> : tensor<2xi64>
  %s = relax.constant dense<[1, -1]> : tensor<2xi64>
  %2 = relax.dynamic_strided_slice %x, %b, %e, %s : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  relax.return
}

// CHECK-LABEL: relax.func @slice_scatter
relax.func @slice_scatter(%x: tensor<?x8xf32, #relax.shape<[n, 8]>>, %y: tensor<?x2xf32, #relax.shape<[m, 2]>>, %u: tensor<*xf32>) {
  // CHECK: relax.slice_scatter %{{.*}}, %{{.*}} axis 1 start 1 end 5 step 2 :
  %0 = relax.slice_scatter %x, %y axis 1 start 1 end 5 step 2 : (tensor<?x8xf32, #relax.shape<[n, 8]>>, tensor<?x2xf32, #relax.shape<[m, 2]>>) -> tensor<?x8xf32, #relax.shape<[n, 8]>>
  %1 = relax.slice_scatter %x, %u axis -2 start 0 end n : (tensor<?x8xf32, #relax.shape<[n, 8]>>, tensor<*xf32>) -> tensor<?x8xf32, #relax.shape<[n, 8]>>
  %2 = relax.slice_scatter %u, %x axis 0 start 0 end 1 : (tensor<*xf32>, tensor<?x8xf32, #relax.shape<[n, 8]>>) -> tensor<*xf32>
  relax.return
}

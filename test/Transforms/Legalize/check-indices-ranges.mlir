// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -split-input-file -relax-check-indices | FileCheck %s

// Ranges of indices: indices that are proved to be valid need no check; others keep their checks.

// -----

// Positions that ops return, in types that can represent them.
// CHECK-LABEL: relax.func @positions
// CHECK-NOT: relax.check_indices
// CHECK: relax.return
relax.func @positions(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %v: tensor<?xi1, #relax.shape<[n]>>, %w: tensor<?xi64, #relax.shape<[n]>>) {
  %a = relax.arange 0, n, 1 {dtype = i64} : tensor<?xi64, #relax.shape<[n]>>
  %t0 = relax.take %x, %a axis 0 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?xi64, #relax.shape<[n]>>) -> tensor<*xf32>
  %b = relax.arange 0, n, 1 {dtype = i32} : tensor<?xi32, #relax.shape<[n]>>
  %t1 = relax.take %x, %b axis 0 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?xi32, #relax.shape<[n]>>) -> tensor<*xf32>
  %c = relax.argmax %x axis 0 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<4xi64>
  %t2 = relax.take %x, %c axis 0 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<4xi64>) -> tensor<*xf32>
  %d = relax.argsort %x axis 0 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xi32, #relax.shape<[n, 4]>>
  %t3 = relax.take %x, %d axis 0 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?x4xi32, #relax.shape<[n, 4]>>) -> tensor<*xf32>
  %e:2 = relax.topk %x k 2 axis 1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> (tensor<?x2xf32, #relax.shape<[n, 2]>>, tensor<?x2xi32, #relax.shape<[n, 2]>>)
  %t4 = relax.take %x, %e#1 axis 1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?x2xi32, #relax.shape<[n, 2]>>) -> tensor<*xf32>
  %f = relax.argmax %x : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<i64>
  %t5 = relax.take %x, %f : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<i64>) -> tensor<*xf32>
  %g = relax.nonzero %v : (tensor<?xi1, #relax.shape<[n]>>) -> tensor<1x?xi64>
  %t6 = relax.take %x, %g axis 0 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<1x?xi64>) -> tensor<*xf32>
  %h:2 = relax.unique %w return_index : (tensor<?xi64, #relax.shape<[n]>>) -> (tensor<?xi64>, tensor<?xi64>)
  %t7 = relax.take %x, %h#1 axis 0 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?xi64>) -> tensor<*xf32>
  %k = relax.arange n - 1, -1, -1 {dtype = i64} : tensor<?xi64, #relax.shape<[n]>>
  %t8 = relax.take %x, %k axis 0 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?xi64, #relax.shape<[n]>>) -> tensor<*xf32>
  relax.return
}

// -----

// Positions that may be one too large, that belong to another dimension, or
// whose number is unbounded.
// CHECK-LABEL: relax.func @other_positions
// CHECK: relax.check_indices %{{.*}} in [n]
// CHECK: relax.check_indices %{{.*}} in [4]
// CHECK: relax.check_indices %{{.*}} in [n]
// CHECK: relax.check_indices %{{.*}} in [n]
// CHECK: relax.check_indices %{{.*}} in [n]
// CHECK-NOT: relax.check_indices
// CHECK: relax.return
relax.func @other_positions(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %v: tensor<?xf32, #relax.shape<[n]>>, %w: tensor<?xi64, #relax.shape<[n]>>) {
  %a = relax.arange 0, n + 1, 1 {dtype = i64} : tensor<?xi64, #relax.shape<[n + 1]>>
  %t0 = relax.take %x, %a axis 0 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?xi64, #relax.shape<[n + 1]>>) -> tensor<*xf32>
  %c = relax.argmax %x axis 0 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<4xi64>
  %t1 = relax.take %x, %c axis 1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<4xi64>) -> tensor<*xf32>
  %g = relax.bucketize %v, %v : (tensor<?xf32, #relax.shape<[n]>>, tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xi64, #relax.shape<[n]>>
  %t2 = relax.take %x, %g axis 0 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?xi64, #relax.shape<[n]>>) -> tensor<*xf32>
  %h:2 = relax.unique %w return_index : (tensor<?xi64, #relax.shape<[n]>>) -> (tensor<?xi64>, tensor<?xi64>)
  %t3 = relax.take %x, %h#0 axis 0 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?xi64>) -> tensor<*xf32>
  %d:2 = relax.unique %w return_counts : (tensor<?xi64, #relax.shape<[n]>>) -> (tensor<?xi64>, tensor<?xi64>)
  %t4 = relax.take %x, %d#1 axis 0 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?xi64>) -> tensor<*xf32>
  relax.return
}

// -----

// Constants, clamped values and remainders; the second dimension has size 4.
// CHECK-LABEL: relax.func @limits
// CHECK-NOT: relax.check_indices
// CHECK: relax.return
relax.func @limits(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %w: tensor<?xi64, #relax.shape<[m]>>) {
  %a = relax.constant dense<[-4, 3, 0]> : tensor<3xi64>
  %t0 = relax.take %x, %a axis 1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<3xi64>) -> tensor<*xf32>
  %b = relax.constant dense<3> : tensor<2xi32>
  %t1 = relax.take %x, %b axis 1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<2xi32>) -> tensor<*xf32>
  %c = relax.clip %w {min = -4 : i64, max = 3 : i64} : (tensor<?xi64, #relax.shape<[m]>>) -> tensor<?xi64, #relax.shape<[m]>>
  %t2 = relax.take %x, %c axis 1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?xi64, #relax.shape<[m]>>) -> tensor<*xf32>
  %four = relax.constant dense<4> : tensor<i64>
  %d = relax.floor_mod %w, %four : (tensor<?xi64, #relax.shape<[m]>>, tensor<i64>) -> tensor<?xi64, #relax.shape<[m]>>
  %t3 = relax.take %x, %d axis 1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?xi64, #relax.shape<[m]>>) -> tensor<*xf32>
  %e = relax.mod %w, %four : (tensor<?xi64, #relax.shape<[m]>>, tensor<i64>) -> tensor<?xi64, #relax.shape<[m]>>
  %t4 = relax.take %x, %e axis 1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?xi64, #relax.shape<[m]>>) -> tensor<*xf32>
  %three = relax.constant dense<3> : tensor<i64>
  %f = relax.bitwise_and %w, %three : (tensor<?xi64, #relax.shape<[m]>>, tensor<i64>) -> tensor<?xi64, #relax.shape<[m]>>
  %t5 = relax.take %x, %f axis 1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?xi64, #relax.shape<[m]>>) -> tensor<*xf32>
  %zero = relax.constant dense<0> : tensor<i64>
  %g = relax.maximum %w, %zero : (tensor<?xi64, #relax.shape<[m]>>, tensor<i64>) -> tensor<?xi64, #relax.shape<[m]>>
  %h = relax.minimum %g, %three : (tensor<?xi64, #relax.shape<[m]>>, tensor<i64>) -> tensor<?xi64, #relax.shape<[m]>>
  %t6 = relax.take %x, %h axis 1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?xi64, #relax.shape<[m]>>) -> tensor<*xf32>
  %p = relax.less %w, %three : (tensor<?xi64, #relax.shape<[m]>>, tensor<i64>) -> tensor<?xi1, #relax.shape<[m]>>
  %q = relax.astype %p {dtype = i32} : (tensor<?xi1, #relax.shape<[m]>>) -> tensor<?xi32, #relax.shape<[m]>>
  %t7 = relax.take %x, %q axis 1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?xi32, #relax.shape<[m]>>) -> tensor<*xf32>
  %r = relax.where %p, %h, %d : (tensor<?xi1, #relax.shape<[m]>>, tensor<?xi64, #relax.shape<[m]>>, tensor<?xi64, #relax.shape<[m]>>) -> tensor<?xi64, #relax.shape<[m]>>
  %t8 = relax.take %x, %r axis 1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?xi64, #relax.shape<[m]>>) -> tensor<*xf32>
  %s = relax.concat %h, %d axis 0 : (tensor<?xi64, #relax.shape<[m]>>, tensor<?xi64, #relax.shape<[m]>>) -> tensor<?xi64, #relax.shape<[2*m]>>
  %t9 = relax.take %x, %s axis 1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?xi64, #relax.shape<[2*m]>>) -> tensor<*xf32>
  relax.return
}

// -----

// Limits that are off by one or only on one side, and divisors that may be 0 or negative.
// CHECK-LABEL: relax.func @other_limits
// CHECK: relax.check_indices %{{.*}} in [4]
// CHECK: relax.check_indices %{{.*}} in [4]
// CHECK: relax.check_indices %{{.*}} in [4]
// CHECK: relax.check_indices %{{.*}} in [4]
// CHECK: relax.check_indices %{{.*}} in [4]
// CHECK: relax.check_indices %{{.*}} in [4]
// CHECK: relax.check_indices %{{.*}} in [4]
// CHECK: relax.check_indices %{{.*}} in [4]
// CHECK: relax.check_indices %{{.*}} in [4]
// CHECK-NOT: relax.check_indices
// CHECK: relax.return
relax.func @other_limits(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %w: tensor<?xi64, #relax.shape<[m]>>, %v: tensor<i64>) {
  %a = relax.constant dense<[-5, 3, 0]> : tensor<3xi64>
  %t0 = relax.take %x, %a axis 1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<3xi64>) -> tensor<*xf32>
  %b = relax.constant dense<4> : tensor<2xi32>
  %t1 = relax.take %x, %b axis 1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<2xi32>) -> tensor<*xf32>
  %c = relax.clip %w {min = -5 : i64, max = 3 : i64} : (tensor<?xi64, #relax.shape<[m]>>) -> tensor<?xi64, #relax.shape<[m]>>
  %t2 = relax.take %x, %c axis 1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?xi64, #relax.shape<[m]>>) -> tensor<*xf32>
  %d = relax.clip %w {max = 3 : i64} : (tensor<?xi64, #relax.shape<[m]>>) -> tensor<?xi64, #relax.shape<[m]>>
  %t3 = relax.take %x, %d axis 1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?xi64, #relax.shape<[m]>>) -> tensor<*xf32>
  %e = relax.floor_mod %w, %v : (tensor<?xi64, #relax.shape<[m]>>, tensor<i64>) -> tensor<?xi64, #relax.shape<[m]>>
  %t4 = relax.take %x, %e axis 1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?xi64, #relax.shape<[m]>>) -> tensor<*xf32>
  %five = relax.constant dense<5> : tensor<i64>
  %f = relax.mod %w, %five : (tensor<?xi64, #relax.shape<[m]>>, tensor<i64>) -> tensor<?xi64, #relax.shape<[m]>>
  %t5 = relax.take %x, %f axis 1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?xi64, #relax.shape<[m]>>) -> tensor<*xf32>
  %minus = relax.constant dense<-2> : tensor<i64>
  %g = relax.bitwise_and %w, %minus : (tensor<?xi64, #relax.shape<[m]>>, tensor<i64>) -> tensor<?xi64, #relax.shape<[m]>>
  %t6 = relax.take %x, %g axis 1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?xi64, #relax.shape<[m]>>) -> tensor<*xf32>
  %three = relax.constant dense<3> : tensor<i64>
  %h = relax.minimum %w, %three : (tensor<?xi64, #relax.shape<[m]>>, tensor<i64>) -> tensor<?xi64, #relax.shape<[m]>>
  %t7 = relax.take %x, %h axis 1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?xi64, #relax.shape<[m]>>) -> tensor<*xf32>
  %p = relax.less %w, %three : (tensor<?xi64, #relax.shape<[m]>>, tensor<i64>) -> tensor<?xi1, #relax.shape<[m]>>
  %r = relax.where %p, %f, %w : (tensor<?xi1, #relax.shape<[m]>>, tensor<?xi64, #relax.shape<[m]>>, tensor<?xi64, #relax.shape<[m]>>) -> tensor<?xi64, #relax.shape<[m]>>
  %t8 = relax.take %x, %r axis 1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?xi64, #relax.shape<[m]>>) -> tensor<*xf32>
  relax.return
}

// -----

// Sums that fit in the type because of the declared bounds of the symbols.
// CHECK-LABEL: relax.func @sums
// CHECK-NOT: relax.check_indices
// CHECK: relax.return
relax.func @sums(%x: tensor<?x4xf32, #relax.shape<[k + m, 4]>>, %w: tensor<?xi64, #relax.shape<[m]>>, %z: tensor<?xf32, #relax.shape<[k]>>) attributes {relax.symbols = {k = #relax.range<0, 1000>, m = #relax.range<0, 1000>}} {
  %a = relax.arange 0, m, 1 {dtype = i64} : tensor<?xi64, #relax.shape<[m]>>
  %s = relax.shape [k] : !relax.shape<[k]>
  %l = relax.shape_to_tensor %s : (!relax.shape<[k]>) -> tensor<1xi64>
  %b = relax.add %a, %l : (tensor<?xi64, #relax.shape<[m]>>, tensor<1xi64>) -> tensor<?xi64, #relax.shape<[m]>>
  %y = relax.take %x, %b axis 0 : (tensor<?x4xf32, #relax.shape<[k + m, 4]>>, tensor<?xi64, #relax.shape<[m]>>) -> tensor<?x4xf32, #relax.shape<[m, 4]>>
  relax.return
}

// -----

// Sums of i32 that may wrap around.
// CHECK-LABEL: relax.func @wrapping
// CHECK: relax.check_indices %{{.*}} in [n]
// CHECK: relax.check_indices %{{.*}} in [4]
// CHECK-NOT: relax.check_indices
// CHECK: relax.return
relax.func @wrapping(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %w: tensor<?xi32, #relax.shape<[m]>>) {
  %a = relax.arange 0, m, 1 {dtype = i32} : tensor<?xi32, #relax.shape<[m]>>
  %c = relax.constant dense<-2147483647> : tensor<i32>
  %b = relax.subtract %c, %a : (tensor<i32>, tensor<?xi32, #relax.shape<[m]>>) -> tensor<?xi32, #relax.shape<[m]>>
  %zero = relax.constant dense<0> : tensor<i32>
  %d = relax.minimum %b, %zero : (tensor<?xi32, #relax.shape<[m]>>, tensor<i32>) -> tensor<?xi32, #relax.shape<[m]>>
  %t0 = relax.take %x, %d axis 0 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?xi32, #relax.shape<[m]>>) -> tensor<*xf32>
  %e = relax.add %w, %w : (tensor<?xi32, #relax.shape<[m]>>, tensor<?xi32, #relax.shape<[m]>>) -> tensor<?xi32, #relax.shape<[m]>>
  %t1 = relax.take %x, %e axis 1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?xi32, #relax.shape<[m]>>) -> tensor<*xf32>
  relax.return
}

// -----

// Known ranges survive reshapes, branches, tuples and blocks; loop-carried values are unknown.
// CHECK-LABEL: relax.func @passed_on
// CHECK-NOT: relax.check_indices
// CHECK: relax.while
// CHECK: relax.check_indices
// CHECK-NOT: relax.check_indices
// CHECK: relax.return
relax.func @passed_on(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %c: i1) {
  %a = relax.arange 0, 4, 1 {dtype = i64} : tensor<4xi64>
  %b = relax.reshape %a to [2, 2] : (tensor<4xi64>) -> tensor<2x2xi64>
  %t0 = relax.take %x, %b axis 1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<2x2xi64>) -> tensor<*xf32>
  %u = relax.tuple %a, %b : (tensor<4xi64>, tensor<2x2xi64>) -> tuple<tensor<4xi64>, tensor<2x2xi64>>
  %g = relax.get %u[0] : (tuple<tensor<4xi64>, tensor<2x2xi64>>) -> tensor<4xi64>
  %t1 = relax.take %x, %g axis 1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<4xi64>) -> tensor<*xf32>
  %i = relax.if %c : i1 -> tensor<4xi64> {
    relax.yield %a : tensor<4xi64>
  } else {
    %k = relax.constant dense<-4> : tensor<4xi64>
    relax.yield %k : tensor<4xi64>
  }
  %t2 = relax.take %x, %i axis 1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<4xi64>) -> tensor<*xf32>
  %d = relax.dataflow -> tensor<4xi64> {
    %k = relax.flip %a axis 0 : (tensor<4xi64>) -> tensor<4xi64>
    relax.output %k : tensor<4xi64>
  }
  %t3 = relax.take %x, %d axis 1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<4xi64>) -> tensor<*xf32>
  %l = relax.while %a : (tensor<4xi64>) -> tensor<4xi64> {
  ^bb0(%p: tensor<4xi64>):
    relax.condition %c : i1
  } do {
  ^bb0(%p: tensor<4xi64>):
    %q = relax.add %p, %a : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
    relax.yield %q : tensor<4xi64>
  }
  %t4 = relax.take %x, %l axis 1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<4xi64>) -> tensor<*xf32>
  relax.return
}

// -----

// A symbol of a branch is unknown after it, even if another symbol has the same name.
// CHECK-LABEL: relax.func @symbols_of_branches
// CHECK: relax.check_indices %{{.*}} in [k]
// CHECK-NOT: relax.check_indices
// CHECK: relax.return
relax.func @symbols_of_branches(%c: i1, %y: tensor<?xf32>, %w: tensor<?xf32>) {
  %i = relax.if %c : i1 -> tensor<i64> {
    %k = relax.match_cast %y : (tensor<?xf32>) -> tensor<?xf32, #relax.shape<[k]>>
    %p = relax.argmax %k : (tensor<?xf32, #relax.shape<[k]>>) -> tensor<i64>
    relax.yield %p : tensor<i64>
  } else {
    %k = relax.constant dense<0> : tensor<i64>
    relax.yield %k : tensor<i64>
  }
  %z = relax.match_cast %w : (tensor<?xf32>) -> tensor<?xf32, #relax.shape<[k]>>
  %t = relax.take %z, %i axis 0 : (tensor<?xf32, #relax.shape<[k]>>, tensor<i64>) -> tensor<f32>
  relax.return
}

// -----

// The type of bytes limits their range.
// CHECK-LABEL: relax.func @types
// CHECK: relax.check_indices %{{.*}} in [255]
// CHECK-NOT: relax.check_indices
// CHECK: relax.return
relax.func @types(%b: tensor<?xui8, #relax.shape<[m]>>, %w: tensor<256xf32>, %v: tensor<255xf32>) {
  %a = relax.astype %b {dtype = i64} : (tensor<?xui8, #relax.shape<[m]>>) -> tensor<?xi64, #relax.shape<[m]>>
  %t0 = relax.take %w, %a axis 0 : (tensor<256xf32>, tensor<?xi64, #relax.shape<[m]>>) -> tensor<?xf32, #relax.shape<[m]>>
  %t1 = relax.take %v, %a axis 0 : (tensor<255xf32>, tensor<?xi64, #relax.shape<[m]>>) -> tensor<?xf32, #relax.shape<[m]>>
  relax.return
}

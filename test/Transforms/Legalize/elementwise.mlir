// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -relax-legalize -canonicalize -cse | FileCheck %s

// Known dimensions broadcast by indexing maps; narrow floats are computed in
// f32.
// CHECK-DAG: #[[WHOLE:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[ROW:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-DAG: #[[COLUMN:.*]] = affine_map<(d0, d1) -> (d0, 0)>
// CHECK-LABEL: func.func private @add(
// CHECK: linalg.generic {indexing_maps = [#[[COLUMN]], #[[ROW]], #[[WHOLE]]]
// CHECK: arith.extf
// CHECK: arith.addf {{.*}} : f32
// CHECK: arith.truncf
relax.func @known(%x: tensor<?x1xf16, #relax.shape<[n, 1]>>, %y: tensor<4xf16>) -> tensor<?x4xf16, #relax.shape<[n, 4]>> {
  %0 = relax.add %x, %y : (tensor<?x1xf16, #relax.shape<[n, 1]>>, tensor<4xf16>) -> tensor<?x4xf16, #relax.shape<[n, 4]>>
  relax.return %0 : tensor<?x4xf16, #relax.shape<[n, 4]>>
}

// A dimension that may be 1 at run time is read at index 0 in that case.
// CHECK-LABEL: func.func private @multiply(
// CHECK: linalg.generic {{.*}} outs
// CHECK-DAG: %[[IS_ONE:.*]] = arith.cmpi eq
// CHECK-DAG: %[[INDEX:.*]] = linalg.index 0
// CHECK: arith.select %[[IS_ONE]], %{{.*}}, %[[INDEX]]
// CHECK: tensor.extract
relax.func @unknown(%x: tensor<?xf32, #relax.shape<[n]>>, %y: tensor<?xf32, #relax.shape<[m]>>) -> tensor<?xf32, #relax.shape<[broadcast(n, m)]>> {
  %0 = relax.multiply %x, %y : (tensor<?xf32, #relax.shape<[n]>>, tensor<?xf32, #relax.shape<[m]>>) -> tensor<?xf32, #relax.shape<[broadcast(n, m)]>>
  relax.return %0 : tensor<?xf32, #relax.shape<[broadcast(n, m)]>>
}

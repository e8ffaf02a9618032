// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -split-input-file -relax-deduce-shapes | FileCheck %s
// A second run finds nothing to do.
// RUN: relax-opt %s -split-input-file -relax-deduce-shapes > %t.once
// RUN: relax-opt %t.once -split-input-file -relax-deduce-shapes | diff %t.once -

// Coarse results become as fine as the rule allows, and so does the signature.
// CHECK-LABEL: relax.func @chain(
// CHECK-SAME:    -> tensor<?x4xf32, #relax.shape<[n, 4]>>
relax.func @chain(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<*xf32> {
  // CHECK: relax.exp {{.*}} -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  %0 = relax.exp %x : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x?xf32>
  // CHECK: relax.add {{.*}} -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  %1 = relax.add %0, %0 : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<*xf32>
  relax.return %1 : tensor<*xf32>
}

// -----

// An annotation that is finer than the deduced type stays.
// CHECK-LABEL: relax.func @keep(
relax.func @keep(%x: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK: relax.match_cast {{.*}} -> tensor<?xf32, #relax.shape<[m]>>
  %0 = relax.match_cast %x : (tensor<?xf32>) -> tensor<?xf32, #relax.shape<[m]>>
  // CHECK: relax.exp {{.*}} -> tensor<?xf32, #relax.shape<[m]>>
  %1 = relax.exp %0 : (tensor<?xf32, #relax.shape<[m]>>) -> tensor<?xf32>
  // Callers cannot know m, so the signature does not name it.
  // CHECK: relax.return {{.*}} : tensor<?xf32, #relax.shape<[m]>>
  relax.return %1 : tensor<?xf32>
}

// -----

// A cast takes its unknown dimensions from the operand, and keeps its known
// dimensions, which it checks and defines.
// CHECK-LABEL: relax.func @cast(
relax.func @cast(%x: tensor<4x?x?xf32, #relax.shape<[4, n, ?]>>) -> index {
  // CHECK: relax.match_cast {{.*}} -> tensor<?x?x?xf32, #relax.shape<[k, n, m]>>
  %0 = relax.match_cast %x : (tensor<4x?x?xf32, #relax.shape<[4, n, ?]>>) -> tensor<?x?x?xf32, #relax.shape<[k, ?, m]>>
  %1 = relax.sym k + m : index
  relax.return %1 : index
}

// -----

// Shapes as values.
// CHECK-LABEL: relax.func @shapes(
// CHECK-SAME:    -> (!relax.shape<[n, 4]>, !relax.shape<[7, 2*n]>)
relax.func @shapes(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>) -> (!relax.shape<*>, !relax.shape<2>) {
  %0 = relax.shape_of %x : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> !relax.shape<*>
  %1 = relax.sym 7 : index
  %2 = relax.sym 2*n : index
  %3 = relax.make_shape %1, %2 : (index, index) -> !relax.shape<2>
  relax.return %0, %3 : !relax.shape<*>, !relax.shape<2>
}

// -----

// Types flow through tuples and dataflow blocks.
// CHECK-LABEL: relax.func @dataflow(
// CHECK-SAME:    -> tensor<?xf32, #relax.shape<[n]>>
relax.func @dataflow(%x: tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32> {
  // CHECK: relax.dataflow -> tuple<tensor<?xf32, #relax.shape<[n]>>, index>
  %0 = relax.dataflow -> tuple<tensor<?xf32>, index> {
    %1 = relax.exp %x : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32>
    %2 = relax.sym n : index
    %3 = relax.tuple %1, %2 : (tensor<?xf32>, index) -> tuple<tensor<?xf32>, index>
    relax.output %3 : tuple<tensor<?xf32>, index>
  }
  %4 = relax.get %0[0] : (tuple<tensor<?xf32>, index>) -> tensor<?xf32>
  relax.return %4 : tensor<?xf32>
}

// -----

// The results of an `if` have the types that both branches prove.
// CHECK-LABEL: relax.func @branches(
relax.func @branches(%c: i1, %x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %y: tensor<?x5xf32, #relax.shape<[n, 5]>>) -> tensor<*xf32> {
  // CHECK: relax.if {{.*}} -> tensor<?x?xf32, #relax.shape<[n, ?]>>
  %0 = relax.if %c : i1 -> tensor<*xf32> {
    relax.yield %x : tensor<?x4xf32, #relax.shape<[n, 4]>>
  } else {
    relax.yield %y : tensor<?x5xf32, #relax.shape<[n, 5]>>
  }
  relax.return %0 : tensor<*xf32>
}

// A symbol of a branch is unknown outside, even if both branches define a
// symbol of the same name.
// CHECK-LABEL: relax.func @branch_symbols(
relax.func @branch_symbols(%c: i1, %x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<*xf32> {
  // CHECK: relax.if {{.*}} -> tensor<?xf32> {
  %0 = relax.if %c : i1 -> tensor<*xf32> {
    %1 = relax.match_cast %x : (tensor<?xf32>) -> tensor<?xf32, #relax.shape<[m]>>
    relax.yield %1 : tensor<?xf32, #relax.shape<[m]>>
  } else {
    %1 = relax.match_cast %y : (tensor<?xf32>) -> tensor<?xf32, #relax.shape<[m]>>
    relax.yield %1 : tensor<?xf32, #relax.shape<[m]>>
  }
  relax.return %0 : tensor<*xf32>
}

// -----

// A loop carries the shape if its body preserves it.
// CHECK-LABEL: relax.func @invariant(
relax.func @invariant(%c: i1, %x: tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32> {
  // CHECK: relax.while {{.*}} -> tensor<?xf32, #relax.shape<[n]>>
  // CHECK: ^bb0(%{{.*}}: tensor<?xf32, #relax.shape<[n]>>):
  %0 = relax.while %x : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32> {
  ^bb0(%a: tensor<?xf32>):
    relax.condition %c : i1
  } do {
  ^bb0(%a: tensor<?xf32>):
    // CHECK: relax.exp {{.*}} -> tensor<?xf32, #relax.shape<[n]>>
    %1 = relax.exp %a : (tensor<?xf32>) -> tensor<?xf32>
    relax.yield %1 : tensor<?xf32>
  }
  relax.return %0 : tensor<?xf32>
}

// A dimension that the body may change becomes unknown; the other dimensions
// are still invariant.
// CHECK-LABEL: relax.func @variant(
relax.func @variant(%c: i1, %x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %y: tensor<?x4xf32, #relax.shape<[m, 4]>>) -> tensor<*xf32> {
  // CHECK: relax.while {{.*}} -> tensor<?x4xf32> {
  %0 = relax.while %x : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<*xf32> {
  ^bb0(%a: tensor<*xf32>):
    relax.condition %c : i1
  } do {
  ^bb0(%a: tensor<*xf32>):
    relax.yield %y : tensor<?x4xf32, #relax.shape<[m, 4]>>
  }
  relax.return %0 : tensor<*xf32>
}

// -----

// Signatures propagate types from callees to callers, in any order of the
// functions.
// CHECK-LABEL: relax.func @caller(
// CHECK-SAME:    -> tensor<?xf32, #relax.shape<[n + 1]>>
relax.func @caller(%x: tensor<?xf32, #relax.shape<[n + 1]>>, %s: !relax.shape<[n]>) -> tensor<*xf32> {
  // CHECK: relax.call @middle({{.*}} -> tensor<?xf32, #relax.shape<[n + 1]>>
  %0 = relax.call @middle(%x) : (tensor<?xf32, #relax.shape<[n + 1]>>) -> tensor<*xf32>
  relax.return %0 : tensor<*xf32>
}
// CHECK-LABEL: relax.func private @middle(
// CHECK-SAME:    -> tensor<?xf32, #relax.shape<[k]>>
relax.func private @middle(%x: tensor<?xf32, #relax.shape<[k]>>) -> tensor<*xf32> {
  %0 = relax.call @leaf(%x) : (tensor<?xf32, #relax.shape<[k]>>) -> tensor<*xf32>
  relax.return %0 : tensor<*xf32>
}
relax.func private @leaf(%x: tensor<?xf32, #relax.shape<[n]>>) -> tensor<*xf32> {
  %0 = relax.exp %x : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<*xf32>
  relax.return %0 : tensor<*xf32>
}

// -----

// Mutually recursive functions are deduced once each.
// CHECK-LABEL: relax.func @even(
relax.func @even(%c: i1, %x: tensor<?xf32, #relax.shape<[n]>>) -> tensor<*xf32> {
  %0 = relax.if %c : i1 -> tensor<*xf32> {
    %1 = relax.call @odd(%c, %x) : (i1, tensor<?xf32, #relax.shape<[n]>>) -> tensor<*xf32>
    relax.yield %1 : tensor<*xf32>
  } else {
    relax.yield %x : tensor<?xf32, #relax.shape<[n]>>
  }
  relax.return %0 : tensor<*xf32>
}
// CHECK-LABEL: relax.func @odd(
relax.func @odd(%c: i1, %x: tensor<?xf32, #relax.shape<[n]>>) -> tensor<*xf32> {
  %0 = relax.call @even(%c, %x) : (i1, tensor<?xf32, #relax.shape<[n]>>) -> tensor<*xf32>
  relax.return %0 : tensor<*xf32>
}

// -----

// A callable value has its own signature.
// CHECK-LABEL: relax.func @closure(
// CHECK-SAME:    -> tensor<?xf32, #relax.shape<[n]>>
relax.func @closure(%f: (tensor<?xf32, #relax.shape<[k]>>) -> tensor<?xf32, #relax.shape<[k]>>, %x: tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32> {
  %0 = relax.call_closure %f(%x) : (tensor<?xf32, #relax.shape<[k]>>) -> tensor<?xf32, #relax.shape<[k]>> calls (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32>
  relax.return %0 : tensor<?xf32>
}

// -----

// A value that an op of another dialect uses keeps its type.
// CHECK-LABEL: relax.func @foreign(
relax.func @foreign(%x: tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32> {
  // CHECK: relax.exp {{.*}} -> tensor<?xf32>
  %0 = relax.exp %x : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32>
  // CHECK: arith.addf {{.*}} : tensor<?xf32>
  %1 = arith.addf %0, %0 : tensor<?xf32>
  relax.return %1 : tensor<?xf32>
}

// -----

// A closure keeps the type that it was made with when its function's result
// becomes finer.
// CHECK-LABEL: relax.func @reference(
relax.func @reference() -> ((tensor<?xf32, #relax.shape<[n]>>) -> tensor<*xf32>) {
  %0 = relax.make_closure @leaf() : () -> ((tensor<?xf32, #relax.shape<[n]>>) -> tensor<*xf32>)
  relax.return %0 : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<*xf32>
}
// CHECK-LABEL: relax.func private @leaf(
// CHECK-SAME:    -> tensor<?xf32, #relax.shape<[n]>>
relax.func private @leaf(%x: tensor<?xf32, #relax.shape<[n]>>) -> tensor<*xf32> {
  %0 = relax.exp %x : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<*xf32>
  relax.return %0 : tensor<*xf32>
}

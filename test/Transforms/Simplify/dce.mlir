// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -split-input-file -relax-dce | FileCheck %s

// Dead chains of ops are removed, from the last use backwards.
// CHECK-LABEL: relax.func @chain(
// CHECK-NEXT:    relax.return
relax.func @chain(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relax.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
  relax.return %x : tensor<4xf32>
}

// -----

// An unused cast that defines a live symbol stays, whatever names the symbol: an
// attribute, a type or another cast.
// CHECK-LABEL: relax.func @attribute(
// CHECK:         relax.match_cast {{.*}} #relax.shape<[n]>
// CHECK:         relax.sym n
relax.func @attribute(%x: tensor<?xf32>) -> index {
  %0 = relax.match_cast %x : (tensor<?xf32>) -> tensor<?xf32, #relax.shape<[n]>>
  %1 = relax.sym n : index
  relax.return %1 : index
}

// CHECK-LABEL: relax.func @type(
// CHECK:         relax.match_cast {{.*}} #relax.shape<[n]>
// CHECK:         relax.match_cast {{.*}} #relax.shape<[n + 1]>
relax.func @type(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = relax.match_cast %x : (tensor<?xf32>) -> tensor<?xf32, #relax.shape<[n]>>
  %1 = relax.match_cast %y : (tensor<?xf32>) -> tensor<?xf32, #relax.shape<[n + 1]>>
  relax.return %1 : tensor<?xf32, #relax.shape<[n + 1]>>
}

// In a reshape by a computed tensor, the cast of the shape is unused, but its symbols are used.
// CHECK-LABEL: relax.func @shape_value(
// CHECK:         relax.match_cast {{.*}} !relax.shape<[m, n, k]>
// CHECK:         relax.shape [m, 1, k]
relax.func @shape_value(%t: tensor<3xi64>) -> !relax.shape<3> {
  %0 = relax.tensor_to_shape %t : (tensor<3xi64>) -> !relax.shape<3>
  %1 = relax.match_cast %0 : (!relax.shape<3>) -> !relax.shape<[m, n, k]>
  %2 = relax.shape [m, 1, k] : !relax.shape<[m, 1, k]>
  relax.return %2 : !relax.shape<[m, 1, k]>
}

// -----

// A symbol that only dead code names is dead, and so is its declared range.
// CHECK-LABEL: relax.func @dead_symbol(
// CHECK-NOT:     relax.symbols
// CHECK-NEXT:    relax.return
relax.func @dead_symbol(%x: tensor<?xf32>) -> tensor<?xf32> attributes {relax.symbols = {n = #relax.range<1, 8>}} {
  %0 = relax.match_cast %x : (tensor<?xf32>) -> tensor<?xf32, #relax.shape<[n]>>
  %1 = relax.exp %0 : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
  %2 = relax.sym n : index
  relax.return %x : tensor<?xf32>
}

// The ranges of parameters stay.
// CHECK-LABEL: relax.func @live_range(
// CHECK-SAME:    relax.symbols = {n = #relax.range<1, 8>}
// CHECK-NEXT:    relax.return
relax.func @live_range(%x: tensor<?xf32, #relax.shape<[n]>>) attributes {relax.symbols = {m = #relax.range<1, 8>, n = #relax.range<1, 8>}} {
  %0 = relax.match_cast %x : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[m]>>
  relax.return
}

// -----

// Unused results of a dataflow block are removed individually; a used symbol
// that is defined in the block keeps it.
// CHECK-LABEL: relax.func @dataflow(
// CHECK:         relax.dataflow -> tensor<?xf32, #relax.shape<[n]>> {
// CHECK-NEXT:      %[[E:.*]] = relax.exp
// CHECK-NEXT:      relax.match_cast {{.*}} #relax.shape<[m]>
// CHECK-NEXT:      relax.output %[[E]] :
// CHECK:         relax.sym m
relax.func @dataflow(%x: tensor<?xf32, #relax.shape<[n]>>, %y: tensor<?xf32>) -> (tensor<?xf32>, index) {
  %0:2 = relax.dataflow -> tensor<?xf32>, tensor<?xf32, #relax.shape<[n]>> {
    %1 = relax.exp %x : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
    %2 = relax.match_cast %y : (tensor<?xf32>) -> tensor<?xf32, #relax.shape<[m]>>
    %3 = relax.exp %2 : (tensor<?xf32, #relax.shape<[m]>>) -> tensor<?xf32, #relax.shape<[m]>>
    relax.output %3, %1 : tensor<?xf32, #relax.shape<[m]>>, tensor<?xf32, #relax.shape<[n]>>
  }
  %4 = relax.sym m : index
  relax.return %0#1, %4 : tensor<?xf32, #relax.shape<[n]>>, index
}

// -----

// Unused results of a branch are removed individually, too; a branch without live results or effects is removed.
// CHECK-LABEL: relax.func @branches(
// CHECK:         relax.if {{.*}} -> tensor<4xf32> {
// CHECK-NEXT:      relax.yield %{{.*}} : tensor<4xf32>
// CHECK-NEXT:    } else {
// CHECK-NEXT:      %[[E:.*]] = relax.exp
// CHECK-NEXT:      relax.yield %[[E]] : tensor<4xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    relax.return
relax.func @branches(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0:2 = relax.if %c : i1 -> tensor<4xf32>, tensor<4xf32> {
    %1 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    relax.yield %1, %x : tensor<4xf32>, tensor<4xf32>
  } else {
    %1 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    relax.yield %x, %1 : tensor<4xf32>, tensor<4xf32>
  }
  %2 = relax.if %c : i1 -> tensor<4xf32> {
    relax.yield %x : tensor<4xf32>
  } else {
    relax.yield %x : tensor<4xf32>
  }
  relax.return %0#1 : tensor<4xf32>
}

// If both branches define a symbol of the same name, these are two symbols:
// only the live one stays.
// CHECK-LABEL: relax.func @same_name(
// CHECK:         relax.match_cast
// CHECK-NEXT:    relax.sym m
// CHECK:       } else {
// CHECK-NEXT:    relax.sym 1
relax.func @same_name(%c: i1, %x: tensor<?xf32>) -> index {
  %0 = relax.if %c : i1 -> index {
    %1 = relax.match_cast %x : (tensor<?xf32>) -> tensor<?xf32, #relax.shape<[m]>>
    %2 = relax.sym m : index
    relax.yield %2 : index
  } else {
    %1 = relax.match_cast %x : (tensor<?xf32>) -> tensor<?xf32, #relax.shape<[m]>>
    %2 = relax.sym 1 : index
    relax.yield %2 : index
  }
  relax.return %0 : index
}

// -----

// A loop stays as a whole while one of its results is used.
// CHECK-LABEL: relax.func @loops(
// CHECK:         relax.while
// CHECK-NOT:     relax.while
relax.func @loops(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relax.while %x : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    relax.condition %c : i1
  } do {
  ^bb0(%a: tensor<4xf32>):
    // CHECK: relax.exp
    %1 = relax.exp %a : (tensor<4xf32>) -> tensor<4xf32>
    // CHECK-NOT: relax.add
    %2 = relax.add %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    relax.yield %1 : tensor<4xf32>
  }
  %3 = relax.while %x : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    relax.condition %c : i1
  } do {
  ^bb0(%a: tensor<4xf32>):
    relax.yield %a : tensor<4xf32>
  }
  relax.return %0 : tensor<4xf32>
}

// -----

// Ops with side effects stay, with everything they need, wherever they are.
// CHECK-LABEL: relax.func @effects(
// CHECK:         relax.if
// CHECK-NEXT:      relax.assert
// CHECK-NEXT:      relax.yield
// CHECK:         relax.call @effect
relax.func @effects(%c: i1, %x: tensor<4xf32>) {
  relax.if %c : i1 {
    relax.assert %c, "reached" : i1
    relax.yield
  } else {
    relax.yield
  }
  %0 = relax.call @effect(%x) : (tensor<4xf32>) -> tensor<4xf32>
  relax.return
}
relax.func private @effect(%x: tensor<4xf32>) -> tensor<4xf32> {
  relax.return %x : tensor<4xf32>
}

// -----

// Private functions and kernels that only dead code names are dead, in cycles too.
// CHECK-LABEL: relax.func @reach(
// CHECK:         relax.call_tir @used
// CHECK-NOT:     call_tir
// CHECK:       func.func private @used
// CHECK-NOT:   @unused
// CHECK-NOT:   @ping
// CHECK-NOT:   @pong
// CHECK:       func.func @public
relax.func @reach(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relax.call_tir @used(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relax.call_tir @unused(%x) : (tensor<4xf32>) -> tensor<4xf32>
  relax.return %0 : tensor<4xf32>
}
func.func private @used(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
func.func private @unused(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
relax.func private @ping(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relax.call @pong(%x) : (tensor<4xf32>) -> tensor<4xf32>
  relax.return %0 : tensor<4xf32>
}
relax.func private @pong(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relax.call @ping(%x) : (tensor<4xf32>) -> tensor<4xf32>
  relax.return %0 : tensor<4xf32>
}
func.func @public(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// An unused pure call is removed, and with it the private function; an impure
// call stays.
// CHECK-LABEL: relax.func @dead_calls
// CHECK-NOT:     relax.call pure
// CHECK:         relax.call @effects
// CHECK-NOT:   @quiet
relax.func @dead_calls(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relax.call pure @quiet(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relax.call @effects(%x) : (tensor<4xf32>) -> tensor<4xf32>
  relax.return %x : tensor<4xf32>
}
relax.func private @quiet(%x: tensor<4xf32>) -> tensor<4xf32> attributes {pure} {
  relax.return %x : tensor<4xf32>
}
relax.func private @effects(%x: tensor<4xf32>) -> tensor<4xf32>

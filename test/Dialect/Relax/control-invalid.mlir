// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -split-input-file -verify-diagnostics=only-expected

relax.func @f(%c: i1, %x: tensor<4xf32>) {
  relax.dataflow {
    // expected-error @+1 {{is control flow, which a relax.dataflow block must not contain}}
    relax.if %c : i1 {
      relax.yield
    } else {
      relax.yield
    }
    relax.output
  }
  relax.return
}

// -----

relax.func @f(%c: i1, %x: tensor<4xf32>) {
  relax.dataflow {
    // expected-error @+1 {{is control flow, which a relax.dataflow block must not contain}}
    relax.dataflow {
      relax.output
    }
    relax.output
  }
  relax.return
}

// -----

relax.func @f(%c: i1, %x: tensor<4xf32>) {
  relax.dataflow {
    // expected-error @+1 {{may have side effects, which a relax.dataflow block must not}}
    relax.assert %c, "" : i1
    relax.output
  }
  relax.return
}

// -----

relax.func @f(%c: i1, %x: tensor<4xf32>) {
  relax.dataflow {
    // expected-error @+1 {{may have side effects, which a relax.dataflow block must not}}
    relax.call @f(%c, %x) : (i1, tensor<4xf32>) -> ()
    relax.output
  }
  relax.return
}

// -----

relax.func @f(%c: i1, %x: tensor<4xf32>) {
  %0 = relax.dataflow -> tensor<4xf32> {
    // expected-error @+1 {{gives 0 values, relax.dataflow has 1}}
    relax.output
  }
  relax.return
}

// -----

relax.func @f(%c: i1, %x: tensor<4xf32>) {
  %0 = relax.dataflow -> tensor<5xf32> {
    // expected-error @+1 {{operand 0 is 'tensor<4xf32>', relax.dataflow has 'tensor<5xf32>'}}
    relax.output %x : tensor<4xf32>
  }
  relax.return
}

// -----

relax.func @f(%c: i1, %x: tensor<4xf32>) {
  // expected-error @+1 {{the body must end in relax.output}}
  relax.dataflow {
    llvm.unreachable
  }
  relax.return
}

// -----

relax.func @f(%c: i1, %x: tensor<4xf32>) {
  // expected-error @+1 {{the then branch must end in relax.yield}}
  relax.if %c : i1 {
    llvm.unreachable
  } else {
    relax.yield
  }
  relax.return
}

// -----

relax.func @f(%c: i1, %x: tensor<4xf32>) {
  %0 = relax.if %c : i1 -> tensor<4xf32> {
    relax.yield %x : tensor<4xf32>
  } else {
    // expected-error @+1 {{gives 0 values, relax.if has 1}}
    relax.yield
  }
  relax.return
}

// -----

relax.func @f(%c: i1, %x: tensor<4xf32>, %i: index) {
  %0 = relax.if %c : i1 -> tensor<4xf32> {
    // expected-error @+1 {{operand 0 is 'index', relax.if has 'tensor<4xf32>'}}
    relax.yield %i : index
  } else {
    relax.yield %x : tensor<4xf32>
  }
  relax.return
}

// -----

relax.func @f(%c: i1, %x: tensor<4xf32>, %u: tensor<?xf32>) {
  // expected-error @+1 {{uses symbol 'm', which is not defined here}}
  %0 = relax.if %c : i1 -> tensor<?xf32, #relax.shape<[m]>> {
    %1 = relax.match_cast %u : (tensor<?xf32>) -> tensor<?xf32, #relax.shape<[m]>>
    relax.yield %1 : tensor<?xf32, #relax.shape<[m]>>
  } else {
    %1 = relax.match_cast %u : (tensor<?xf32>) -> tensor<?xf32, #relax.shape<[m]>>
    relax.yield %1 : tensor<?xf32, #relax.shape<[m]>>
  }
  relax.return
}

// -----

relax.func @f(%c: i1, %x: tensor<4xf32>) {
  // expected-error @+1 {{has 0 initial values and 1 results}}
  %0 = "relax.while"() ({
  ^bb0(%a: tensor<4xf32>):
    relax.condition %c : i1
  }, {
  ^bb0(%a: tensor<4xf32>):
    relax.yield %a : tensor<4xf32>
  }) : () -> tensor<4xf32>
  relax.return
}

// -----

relax.func @f(%c: i1, %x: tensor<4xf32>) {
  // expected-error @+1 {{initial value 0 is 'tensor<4xf32>', the carried type is 'tensor<5xf32>'}}
  %0 = relax.while %x : (tensor<4xf32>) -> tensor<5xf32> {
  ^bb0(%a: tensor<5xf32>):
    relax.condition %c : i1
  } do {
  ^bb0(%a: tensor<5xf32>):
    relax.yield %a : tensor<5xf32>
  }
  relax.return
}

// -----

relax.func @f(%c: i1, %x: tensor<4xf32>) {
  // expected-error @+1 {{the arguments of region 1 must have the result types}}
  %0 = relax.while %x : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    relax.condition %c : i1
  } do {
  ^bb0(%a: tensor<*xf32>):
    relax.yield %x : tensor<4xf32>
  }
  relax.return
}

// -----

relax.func @f(%c: i1, %x: tensor<4xf32>) {
  // expected-error @+1 {{the condition must end in relax.condition}}
  %0 = relax.while %x : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    relax.yield %a : tensor<4xf32>
  } do {
  ^bb0(%a: tensor<4xf32>):
    relax.yield %a : tensor<4xf32>
  }
  relax.return
}

// -----

relax.func @f(%c: i1, %x: tensor<4xf32>) {
  // expected-error @+1 {{the body must end in relax.yield}}
  %0 = relax.while %x : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    relax.condition %c : i1
  } do {
  ^bb0(%a: tensor<4xf32>):
    relax.condition %c : i1
  }
  relax.return
}

// -----

relax.func @f(%c: i1, %x: tensor<4xf32>) {
  %0 = relax.while %x : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    relax.condition %c : i1
  } do {
  ^bb0(%a: tensor<4xf32>):
    // expected-error @+1 {{operand 0 is 'i1', relax.while has 'tensor<4xf32>'}}
    relax.yield %c : i1
  }
  relax.return
}

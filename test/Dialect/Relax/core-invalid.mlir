// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -split-input-file -verify-diagnostics=only-expected

relax.func @f(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %y: tensor<4xf32>, %i: index, %s: !relax.shape<[n]>) {
  // expected-error @+1 {{can never hold: 'tensor<4xf32>' is not a 'tensor<5xf32>'}}
  %0 = relax.match_cast %y : (tensor<4xf32>) -> tensor<5xf32>
  relax.return
}

// -----

relax.func @f(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %y: tensor<4xf32>, %i: index, %s: !relax.shape<[n]>) {
  // expected-error @+1 {{can never hold: 'tensor<?x4xf32, #relax.shape<[n, 4]>>' is not a 'tensor<?x4xf32, #relax.shape<[n + 1, 4]>>'}}
  %0 = relax.match_cast %x : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n + 1, 4]>>
  relax.return
}

// -----

relax.func @f(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %y: tensor<4xf32>, %i: index, %s: !relax.shape<[n]>) {
  // expected-error @+1 {{can never hold: 'tensor<4xf32>' is not a 'tensor<4xf16>'}}
  %0 = relax.match_cast %y : (tensor<4xf32>) -> tensor<4xf16>
  relax.return
}

// -----

relax.func @f(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %y: tensor<4xf32>, %i: index, %s: !relax.shape<[n]>) {
  // expected-error @+1 {{can never hold: 'tensor<4xf32>' is not a 'tensor<4x1xf32>'}}
  %0 = relax.match_cast %y : (tensor<4xf32>) -> tensor<4x1xf32>
  relax.return
}

// -----

relax.func @f(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %y: tensor<4xf32>, %i: index, %s: !relax.shape<[n]>) {
  // expected-error @+1 {{can never hold: 'tensor<4xf32>' is not a '!relax.shape<1>'}}
  %0 = relax.match_cast %y : (tensor<4xf32>) -> !relax.shape<1>
  relax.return
}

// -----

relax.func @f(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %y: tensor<4xf32>, %i: index, %s: !relax.shape<[n]>) {
  // expected-error @+1 {{result #0 is declared as '!relax.shape<[n, 5]>', but '!relax.shape<[n, 4]>' is deduced}}
  %0 = relax.shape_of %x : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> !relax.shape<[n, 5]>
  relax.return
}

// -----

relax.func @f(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %y: tensor<4xf32>, %i: index, %s: !relax.shape<[n]>) {
  // expected-error @+1 {{a dimension of a shape value must be known}}
  %0 = relax.shape [n, ?] : !relax.shape<2>
  relax.return
}

// -----

relax.func @f(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %y: tensor<4xf32>, %i: index, %s: !relax.shape<[n]>) {
  // expected-error @+1 {{dimension 1 is negative: -4}}
  %0 = relax.shape [n, -4] : !relax.shape<2>
  relax.return
}

// -----

relax.func @f(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %y: tensor<4xf32>, %i: index, %s: !relax.shape<[n]>) {
  %c = arith.constant -1 : index
  // expected-error @+1 {{dimension 0 is negative: -1}}
  %0 = relax.make_shape %c : (index) -> !relax.shape<1>
  relax.return
}

// -----

relax.func @f(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %y: tensor<4xf32>, %i: index, %s: !relax.shape<[n]>) {
  // expected-error @+1 {{result #0 is declared as '!relax.shape<[n]>', but only '!relax.shape<1>' can be deduced; assert more with relax.match_cast}}
  %0 = relax.make_shape %i : (index) -> !relax.shape<[n]>
  relax.return
}

// -----

relax.func @f(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %y: tensor<4xf32>, %i: index, %s: !relax.shape<[n]>) {
  // expected-error @+1 {{result #0 is declared as '!relax.shape<2>', but '!relax.shape<1>' is deduced}}
  %0 = relax.make_shape %i : (index) -> !relax.shape<2>
  relax.return
}

// -----

relax.func @f(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %y: tensor<4xf32>, %i: index, %s: !relax.shape<[n]>) {
  // expected-error @+1 {{index 2 is out of range for a tensor of rank 2}}
  %0 = relax.dim %x, 2 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> index
  relax.return
}

// -----

relax.func @f(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %y: tensor<4xf32>, %i: index, %s: !relax.shape<[n]>) {
  // expected-error @+1 {{index -2 is out of range for a tensor of rank 1}}
  %0 = relax.dim %s, -2 : (!relax.shape<[n]>) -> index
  relax.return
}

// -----

relax.func @f(%t: tensor<2x2xi64>) {
  // expected-error @+1 {{input must have rank 1, got rank 2}}
  %0 = relax.tensor_to_shape %t : (tensor<2x2xi64>) -> !relax.shape<*>
  relax.return
}

// -----

relax.func @f(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %y: tensor<4xf32>, %i: index, %s: !relax.shape<[n]>) {
  %0 = relax.constant dense<[2, -3]> : tensor<2xi64>
  // expected-error @+1 {{dimension 1 is negative: -3}}
  %1 = relax.tensor_to_shape %0 : (tensor<2xi64>) -> !relax.shape<2>
  relax.return
}

// -----

relax.func @f(%t: tensor<2000xi64>) {
  // expected-error @+1 {{a shape of rank 2000 is too large; at most 1024}}
  %0 = relax.tensor_to_shape %t : (tensor<2000xi64>) -> !relax.shape<*>
  relax.return
}

// -----

relax.func @f(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %y: tensor<4xf32>, %i: index, %s: !relax.shape<[n]>) {
  // expected-error @+1 {{result #0 is declared as 'tensor<3xi64>', but 'tensor<1xi64>' is deduced}}
  %0 = relax.shape_to_tensor %s : (!relax.shape<[n]>) -> tensor<3xi64>
  relax.return
}

// -----

relax.func @f(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %y: tensor<4xf32>, %i: index, %s: !relax.shape<[n]>) {
  // expected-error @+1 {{value has type 'tensor<2xf32>', the result 'tensor<3xf32>'}}
  %0 = "relax.constant"() {value = dense<1.0> : tensor<2xf32>} : () -> tensor<3xf32>
  relax.return
}

// -----

relax.func @f(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %y: tensor<4xf32>, %i: index, %s: !relax.shape<[n]>) {
  // expected-error @+1 {{the type of a constant must not name symbols, got 'tensor<?xf32, #relax.shape<[n]>>'; assert them with relax.match_cast}}
  %0 = relax.constant weight "w" : tensor<?xf32, #relax.shape<[n]>>
  relax.return
}

// -----

relax.func @f(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %y: tensor<4xf32>, %i: index, %s: !relax.shape<[n]>) {
  // expected-error @+1 {{the name of a weight must not be empty}}
  %0 = relax.constant weight "" : tensor<4xf32>
  relax.return
}

// -----

relax.func @f(%t: tuple<index>) {
  // expected-error @+1 {{index 1 is out of range for a tuple of 1 members}}
  %0 = relax.get %t[1] : (tuple<index>) -> index
  relax.return
}

// -----

relax.func @f(%t: tuple<index>) {
  // expected-error @+1 {{index -1 is out of range for a tuple of 1 members}}
  %0 = relax.get %t[-1] : (tuple<index>) -> index
  relax.return
}

// -----

relax.func @f(%t: tuple<tensor<4xf32>>) {
  // expected-error @+1 {{result #0 is declared as 'index', but 'tensor<4xf32>' is deduced}}
  %0 = relax.get %t[0] : (tuple<tensor<4xf32>>) -> index
  relax.return
}

// -----

relax.func @f(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %y: tensor<4xf32>, %i: index, %s: !relax.shape<[n]>) {
  // expected-error @+1 {{result #0 is declared as 'tuple<index>', but 'tuple<tensor<4xf32>>' is deduced}}
  %0 = relax.tuple %y : (tensor<4xf32>) -> tuple<index>
  relax.return
}

// -----

relax.func @wide_dimension() {
  %c = relax.constant dense<[1234567890123456789012345678]> : tensor<1xi128>
  // expected-error @+1 {{dimension 0 does not fit in 64 bits: 1234567890123456789012345678}}
  %s = relax.tensor_to_shape %c : (tensor<1xi128>) -> !relax.shape<1>
  relax.return
}

// -----

relax.func @huge_rank() {
  %c = relax.constant dense<1> : tensor<300000000xi64>
  // expected-error @+1 {{a shape of rank 300000000 is too large; at most 1024}}
  %s = relax.tensor_to_shape %c : (tensor<300000000xi64>) -> !relax.shape<1>
  relax.return
}

// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Errors of slices, each diagnostic once.
// RUN: relax-opt %s -split-input-file -verify-diagnostics=only-expected

// A stride of zero.
relax.func @strided_slice(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>) {
  // expected-error @+1 {{a stride must not be 0}}
  %0 = relax.strided_slice %x axes [0] begin [0] end [1] strides [0] : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32>
  relax.return
}

// -----

relax.func @strided_slice(%u: tensor<*xf32>) {
  // expected-error @+1 {{a stride must not be 0}}
  %0 = relax.strided_slice %u axes [0] begin [0] end [1] strides [0] : (tensor<*xf32>) -> tensor<*xf32>
  relax.return
}

// -----

// The lists have different lengths, or axes are invalid.
relax.func @strided_slice(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>) {
  // expected-error @+1 {{begin has 2 entries, axes has 1}}
  %0 = relax.strided_slice %x axes [0] begin [0, 0] end [1] : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32>
  relax.return
}

// -----

relax.func @strided_slice(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>) {
  // expected-error @+1 {{end has 0 entries, axes has 1}}
  %0 = relax.strided_slice %x axes [0] begin [0] end [] : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32>
  relax.return
}

// -----

relax.func @strided_slice(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>) {
  // expected-error @+1 {{strides has 2 entries, axes has 1}}
  %0 = relax.strided_slice %x axes [0] begin [0] end [1] strides [1, 1] : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32>
  relax.return
}

// -----

relax.func @strided_slice(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>) {
  // expected-error @+1 {{axes repeat -2}}
  %0 = relax.strided_slice %x axes [0, -2] begin [0, 0] end [1, 1] : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32>
  relax.return
}

// -----

relax.func @strided_slice(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>) {
  // expected-error @+1 {{axes 2 is out of range for a tensor of rank 2}}
  %0 = relax.strided_slice %x axes [2] begin [0] end [1] : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32>
  relax.return
}

// -----

// The declared sizes are not proved: n may be less than 5, m - 2 may be
// negative.
relax.func @strided_slice(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>) {
  // expected-error @+1 {{result #0 is declared as 'tensor<5x4xf32>', but only 'tensor<?x4xf32, #relax.shape<[min(n, 5), 4]>>' can be deduced; assert more with relax.match_cast}}
  %0 = relax.strided_slice %x axes [0] begin [0] end [5] : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<5x4xf32>
  relax.return
}

// -----

relax.func @strided_slice(%x: tensor<?xf32, #relax.shape<[n]>>, %y: tensor<?xf32, #relax.shape<[m]>>) {
  // expected-error @+1 {{result #0 is declared as 'tensor<?xf32, #relax.shape<[min(m - 2, n)]>>', but only 'tensor<?xf32>' can be deduced; assert more with relax.match_cast}}
  %0 = relax.strided_slice %x axes [0] begin [0] end [m - 2] : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[min(n, m - 2)]>>
  relax.return
}

// -----

// The slices violate `assume_inbound`.
relax.func @strided_slice(%x: tensor<4xf32>) {
  // expected-error @+1 {{assume_inbound does not hold: begin 1 and end 5 of dimension 0, which is 4}}
  %0 = relax.strided_slice %x axes [0] begin [1] end [5] assume_inbound : (tensor<4xf32>) -> tensor<4xf32>
  relax.return
}

// -----

relax.func @strided_slice(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>) {
  // expected-error @+1 {{assume_inbound needs positive strides, got -1 for dimension 0}}
  %0 = relax.strided_slice %x axes [0] begin [n] end [1] strides [-1] assume_inbound : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32>
  relax.return
}

// -----

relax.func @strided_slice(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>) {
  // expected-error @+1 {{assume_inbound does not hold: begin n + 1 and end n of dimension 0, which is n}}
  %0 = relax.strided_slice %x axes [0] begin [n + 1] end [n] assume_inbound : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32>
  relax.return
}

// -----

// Positions as tensors.
relax.func @dynamic_strided_slice(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %i: tensor<2xi64>, %j: tensor<3xi64>) {
  // expected-error @+1 {{end has 3 entries for a tensor of rank 2}}
  %0 = relax.dynamic_strided_slice %x, %i, %j, %i : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<2xi64>, tensor<3xi64>, tensor<2xi64>) -> tensor<?x?xf32>
  relax.return
}

// -----

relax.func @dynamic_strided_slice(%x: tensor<*xf32>, %i: tensor<2xi64>, %j: tensor<3xi64>) {
  // expected-error @+1 {{the lengths of begin and of strides differ: 2 and 3}}
  %0 = relax.dynamic_strided_slice %x, %i, %i, %j : (tensor<*xf32>, tensor<2xi64>, tensor<2xi64>, tensor<3xi64>) -> tensor<*xf32>
  relax.return
}

// -----

relax.func @dynamic_strided_slice(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %i: tensor<2xi64>, %j: tensor<2x1xi64>) {
  // expected-error @+1 {{begin must have rank 1, got rank 2}}
  %0 = relax.dynamic_strided_slice %x, %j, %i, %i : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<2x1xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xf32>
  relax.return
}

// -----

relax.func @dynamic_strided_slice(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %i: tensor<2xi64>) {
  %s = relax.constant dense<[1, 0]> : tensor<2xi64>
  // expected-error @+1 {{a stride must not be 0}}
  %0 = relax.dynamic_strided_slice %x, %i, %i, %s : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xf32>
  relax.return
}

// -----

relax.func @dynamic_strided_slice(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %i: tensor<2xf32>) {
  // expected-error @+1 {{operand #1 must be tensor of 32-bit signless integer or 64-bit signless integer values, but got 'tensor<2xf32>'}}
  %0 = relax.dynamic_strided_slice %x, %i, %i, %i : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<?x?xf32>
  relax.return
}

// -----

// The source does not have the shape of the slice.
relax.func @slice_scatter(%x: tensor<8x4xf32>, %y: tensor<2x4xf32>) {
  // expected-error @+1 {{dimension 0 of the slice and dimension 0 of src differ: 4 and 2}}
  %0 = relax.slice_scatter %x, %y axis 0 start 1 end 5 : (tensor<8x4xf32>, tensor<2x4xf32>) -> tensor<8x4xf32>
  relax.return
}

// -----

relax.func @slice_scatter(%x: tensor<8x4xf32>, %y: tensor<4xf32>) {
  // expected-error @+1 {{ranks differ: input has rank 2, src has rank 1}}
  %0 = relax.slice_scatter %x, %y axis 0 start 1 end 2 : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
  relax.return
}

// -----

relax.func @slice_scatter(%x: tensor<8x4xf32>, %y: tensor<1x4xf64>) {
  // expected-error @+1 {{element types differ: input has 'f32', src has 'f64'; convert one with relax.astype}}
  %0 = relax.slice_scatter %x, %y axis 0 start 1 end 2 : (tensor<8x4xf32>, tensor<1x4xf64>) -> tensor<8x4xf32>
  relax.return
}

// -----

relax.func @slice_scatter(%x: tensor<8x4xf32>, %y: tensor<1x4xf32>) {
  // expected-error @+1 {{axis 2 is out of range for a tensor of rank 2}}
  %0 = relax.slice_scatter %x, %y axis 2 start 1 end 2 : (tensor<8x4xf32>, tensor<1x4xf32>) -> tensor<8x4xf32>
  relax.return
}

// -----

relax.func @slice_scatter(%x: tensor<*xf32>, %y: tensor<1x4xf32>) {
  // expected-error @+1 {{a stride must not be 0}}
  %0 = relax.slice_scatter %x, %y axis 2 start 1 end 2 step 0 : (tensor<*xf32>, tensor<1x4xf32>) -> tensor<*xf32>
  relax.return
}

// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Errors of sorting and related ops, each diagnostic once.
// RUN: relax-opt %s -split-input-file -verify-diagnostics=only-expected

// Axes.
relax.func @sort(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>) {
  // expected-error @+1 {{axis 2 is out of range for a tensor of rank 2}}
  %0 = relax.sort %x axis 2 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  relax.return
}

// -----

relax.func @argsort(%x: tensor<f32>) {
  // expected-error @+1 {{axis -1 is out of range for a tensor of rank 0}}
  %0 = relax.argsort %x : (tensor<f32>) -> tensor<i32>
  relax.return
}

// -----

relax.func @argsort(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>) {
  // expected-error @+1 {{attribute 'dtype' failed to satisfy constraint: any type attribute of i32 or i64}}
  %0 = relax.argsort %x {dtype = i8} : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xi8>
  relax.return
}

// -----

// k exceeds the dimension.
relax.func @topk(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>) {
  // expected-error @+1 {{k is 5, dimension 1 of data only 4}}
  %0:2 = relax.topk %x k 5 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> (tensor<?x5xf32>, tensor<?x5xi32>)
  relax.return
}

// -----

relax.func @topk(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>) {
  // expected-error @+1 {{k is n + 1, dimension 0 of data only n}}
  %0:2 = relax.topk %x k n + 1 axis 0 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> (tensor<?x4xf32>, tensor<?x4xi32>)
  relax.return
}

// -----

relax.func @topk(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>) {
  // expected-error @+1 {{k must not be negative, got -1}}
  %0:2 = relax.topk %x k -1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> (tensor<?x?xf32>, tensor<?x?xi32>)
  relax.return
}

// -----

relax.func @topk(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>) {
  // expected-error @+1 {{axis 2 is out of range for a tensor of rank 2}}
  %0:2 = relax.topk %x k 1 axis 2 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> (tensor<?x1xf32>, tensor<?x1xi32>)
  relax.return
}

// -----

relax.func @topk(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>) {
  // expected-error @+1 {{has 1 results, expected 2}}
  %0 = relax.topk %x k 1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x1xf32>
  relax.return
}

// -----

relax.func @topk(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>) {
  // expected-error @+1 {{attribute 'ret_type' failed to satisfy constraint: string attribute that is one of both, values, indices}}
  %0 = relax.topk %x k 1 {ret_type = "none"} : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x1xf32>
  relax.return
}

// -----

// Data-dependent sizes are unknown.
relax.func @unique(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>) {
  // expected-error @+1 {{result #0 is declared as 'tensor<?xf32, #relax.shape<[n]>>', but only 'tensor<?xf32>' can be deduced; assert more with relax.match_cast}}
  %0 = relax.unique %x : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?xf32, #relax.shape<[n]>>
  relax.return
}

// -----

relax.func @unique(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>) {
  // expected-error @+1 {{has 1 results, expected 2}}
  %0 = relax.unique %x return_counts : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?xf32>
  relax.return
}

// -----

relax.func @unique(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>) {
  // expected-error @+1 {{axis -3 is out of range for a tensor of rank 2}}
  %0 = relax.unique %x axis -3 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32>
  relax.return
}

// -----

relax.func @nonzero(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>) {
  // expected-error @+1 {{result #0 is declared as 'tensor<3x?xi64>', but 'tensor<2x?xi64>' is deduced}}
  %0 = relax.nonzero %x : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<3x?xi64>
  relax.return
}

// -----

relax.func @nonzero(%x: tensor<f32>) {
  // expected-error @+1 {{x must have rank 1 or more, got a scalar; flatten it first}}
  %0 = relax.nonzero %x : (tensor<f32>) -> tensor<0x?xi64>
  relax.return
}

// -----

relax.func @bucketize(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %b: tensor<2xf64>) {
  // expected-error @+1 {{element types differ: input_tensor has 'f32', boundaries has 'f64'; convert one with relax.astype}}
  %0 = relax.bucketize %x, %b : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<2xf64>) -> tensor<?x4xi64>
  relax.return
}

// -----

relax.func @bucketize(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %b: tensor<2x2xf32>) {
  // expected-error @+1 {{boundaries must have rank 1, got rank 2}}
  %0 = relax.bucketize %x, %b : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<2x2xf32>) -> tensor<?x4xi64>
  relax.return
}

// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Errors of gathers and scatters, each diagnostic once.
// RUN: relax-opt %s -split-input-file -verify-diagnostics=only-expected

// Gathering.
relax.func @take(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %i: tensor<2xi64>) {
  // expected-error @+1 {{axis 2 is out of range for a tensor of rank 2}}
  %0 = relax.take %x, %i axis 2 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<2xi64>) -> tensor<?x4xf32>
  relax.return
}

// -----

relax.func @take(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %i: tensor<2xi8>) {
  // expected-error @+1 {{operand #1 must be tensor of 32-bit signless integer or 64-bit signless integer values, but got 'tensor<2xi8>'}}
  %0 = relax.take %x, %i axis 0 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<2xi8>) -> tensor<?x4xf32>
  relax.return
}

// -----

relax.func @take(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %i: tensor<2xi64>) {
  // expected-error @+1 {{attribute 'mode' failed to satisfy constraint: string attribute that is one of raise, fast, clip, wrap}}
  %0 = relax.take %x, %i axis 0 {mode = "fill"} : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<2xi64>) -> tensor<2x4xf32>
  relax.return
}

// -----

relax.func @gather_elements(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %i: tensor<2xi64>) {
  // expected-error @+1 {{indices must have rank 2 as data has, got rank 1}}
  %0 = relax.gather_elements %x, %i : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<2xi64>) -> tensor<2xf32>
  relax.return
}

// -----

relax.func @gather_elements(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %i: tensor<2x5xi64>) {
  // expected-error @+1 {{dimension 1 of indices is 5, more than the dimension of data, 4}}
  %0 = relax.gather_elements %x, %i : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<2x5xi64>) -> tensor<2x5xf32>
  relax.return
}

// -----

relax.func @gather_elements(%x: tensor<f32>, %i: tensor<i64>) {
  // expected-error @+1 {{axis 0 is out of range for a tensor of rank 0}}
  %0 = relax.gather_elements %x, %i : (tensor<f32>, tensor<i64>) -> tensor<f32>
  relax.return
}

// -----

relax.func @gather_nd(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %i: tensor<2x3xi64>) {
  // expected-error @+1 {{the last dimension of indices is 3, but data has only 2 dimensions to index}}
  %0 = relax.gather_nd %x, %i : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<2x3xi64>) -> tensor<*xf32>
  relax.return
}

// -----

relax.func @gather_nd(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %i: tensor<i64>) {
  // expected-error @+1 {{indices must have rank 1 or more, got rank 0}}
  %0 = relax.gather_nd %x, %i : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<i64>) -> tensor<*xf32>
  relax.return
}

// -----

relax.func @gather_nd(%x: tensor<2x4xf32>, %i: tensor<3x1xi64>) {
  // expected-error @+1 {{dimension 0 of indices and dimension 0 of data differ: 3 and 2}}
  %0 = relax.gather_nd %x, %i batch_dims 1 : (tensor<2x4xf32>, tensor<3x1xi64>) -> tensor<*xf32>
  relax.return
}

// -----

relax.func @gather_nd(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %i: tensor<2x3xi64>) {
  // expected-error @+1 {{batch_dims must not be negative, got -1}}
  %0 = relax.gather_nd %x, %i batch_dims -1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<2x3xi64>) -> tensor<*xf32>
  relax.return
}

// -----

relax.func @gather_nd(%x: tensor<4xf32>, %i: tensor<*xi64>) {
  // expected-error @+1 {{data must have rank 2 or more, got rank 1}}
  %0 = relax.gather_nd %x, %i batch_dims 2 : (tensor<4xf32>, tensor<*xi64>) -> tensor<*xf32>
  relax.return
}

// -----

relax.func @index_tensor(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %i: tensor<2xi64>) {
  // expected-error @+1 {{has 3 index tensors for data of rank 2}}
  %0 = relax.index_tensor %x, %i, %i, %i : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<*xf32>
  relax.return
}

// -----

relax.func @index_tensor(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>) {
  // expected-error @+1 {{needs at least one index tensor}}
  %0 = "relax.index_tensor"(%x) : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<*xf32>
  relax.return
}

// -----

relax.func @index_tensor(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %i: tensor<2xi64>, %j: tensor<3xi64>) {
  // expected-error @+1 {{operands cannot be broadcast: dimension 0 of the indices before is 2, dimension 0 of indices[1] is 3}}
  %0 = relax.index_tensor %x, %i, %j : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<2xi64>, tensor<3xi64>) -> tensor<*xf32>
  relax.return
}

// -----

// Scattering.
relax.func @scatter_elements(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %i: tensor<2x3xi64>, %v: tensor<2x2xf32>) {
  // expected-error @+1 {{dimension 1 of indices and dimension 1 of updates differ: 3 and 2}}
  %0 = relax.scatter_elements %x, %i, %v : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<2x3xi64>, tensor<2x2xf32>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  relax.return
}

// -----

relax.func @scatter_elements(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %i: tensor<2x3xi64>, %v: tensor<2x3xi32>) {
  // expected-error @+1 {{element types differ: data has 'f32', updates has 'i32'; convert one with relax.astype}}
  %0 = relax.scatter_elements %x, %i, %v : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<2x3xi64>, tensor<2x3xi32>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  relax.return
}

// -----

relax.func @scatter_elements(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %i: tensor<2x3xi64>, %v: tensor<2xf32>) {
  // expected-error @+1 {{updates must have rank 2 as data has, got rank 1}}
  %0 = relax.scatter_elements %x, %i, %v : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<2x3xi64>, tensor<2xf32>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  relax.return
}

// -----

relax.func @scatter_elements(%x: tensor<*xf32>, %i: tensor<2x3xi64>, %v: tensor<2xf32>) {
  // expected-error @+1 {{updates must have rank 2 as indices has, got rank 1}}
  %0 = relax.scatter_elements %x, %i, %v : (tensor<*xf32>, tensor<2x3xi64>, tensor<2xf32>) -> tensor<*xf32>
  relax.return
}

// -----

relax.func @scatter_elements(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %i: tensor<2x3xi64>, %v: tensor<2x3xf32>) {
  // expected-error @+1 {{attribute 'reduction' failed to satisfy constraint: string attribute that is one of update, add, mul, max, min}}
  %0 = relax.scatter_elements %x, %i, %v {reduction = "mean"} : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<2x3xi64>, tensor<2x3xf32>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  relax.return
}

// -----

relax.func @scatter_nd(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %i: tensor<2x1xi64>, %v: tensor<2x5xf32>) {
  // expected-error @+1 {{dimension 1 of the indexed part of data and dimension 1 of updates differ: 4 and 5}}
  %0 = relax.scatter_nd %x, %i, %v : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<2x1xi64>, tensor<2x5xf32>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  relax.return
}

// -----

relax.func @scatter_nd(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %i: tensor<2x1xi64>, %v: tensor<2xf32>) {
  // expected-error @+1 {{updates must have rank 2 as follows from data and indices, got rank 1}}
  %0 = relax.scatter_nd %x, %i, %v : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<2x1xi64>, tensor<2xf32>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  relax.return
}

// -----

relax.func @index_put(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %i: tensor<2xi64>, %v: tensor<3x4xf32>) {
  // expected-error @+1 {{dimension 0 of values is 3 and cannot be broadcast to dimension 0 of the indexed part of data, 2}}
  %0 = relax.index_put %x at %i values %v : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<2xi64>, tensor<3x4xf32>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  relax.return
}

// -----

relax.func @index_put(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %i: tensor<2xi64>, %v: tensor<2x4xf64>) {
  // expected-error @+1 {{element types differ: data has 'f32', values has 'f64'; convert one with relax.astype}}
  %0 = relax.index_put %x at %i values %v : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<2xi64>, tensor<2x4xf64>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  relax.return
}

// -----

// One-hot vectors.
relax.func @one_hot(%i: tensor<2xi64>) {
  // expected-error @+1 {{on_value and off_value differ in type: 1.000000e+00 : f32 and 0 : i32}}
  %0 = relax.one_hot %i depth 3 on 1.0 : f32 off 0 : i32 : (tensor<2xi64>) -> tensor<2x3xf32>
  relax.return
}

// -----

relax.func @one_hot(%i: tensor<2xi64>) {
  // expected-error @+1 {{on_value must be a number, got dense<1> : tensor<2xi32>}}
  %0 = relax.one_hot %i depth 3 on dense<1> : tensor<2xi32> off 0 : i32 : (tensor<2xi64>) -> tensor<2x3xi32>
  relax.return
}

// -----

relax.func @one_hot(%i: tensor<2xi64>) {
  // expected-error @+1 {{depth must not be negative, got -3}}
  %0 = relax.one_hot %i depth -3 on 1.0 : f32 off 0.0 : f32 : (tensor<2xi64>) -> tensor<2x?xf32>
  relax.return
}

// -----

relax.func @one_hot(%i: tensor<2xi64>) {
  // expected-error @+1 {{axis 2 is out of range for a tensor of rank 2}}
  %0 = relax.one_hot %i depth 3 on 1.0 : f32 off 0.0 : f32 axis 2 : (tensor<2xi64>) -> tensor<2x3xf32>
  relax.return
}

// -----

relax.func @one_hot(%i: tensor<?xi64, #relax.shape<[n]>>) {
  // expected-error @+1 {{depth must not be negative, got -1}}
  %0 = relax.one_hot %i depth n - n - 1 on 1.0 : f32 off 0.0 : f32 axis 2 : (tensor<?xi64, #relax.shape<[n]>>) -> tensor<*xf32>
  relax.return
}

// -----

relax.func @check_indices(%i: tensor<2xi64>) {
  // expected-error @+1 {{needs at least one bound}}
  relax.check_indices %i in [] of [] for "take" "indices" : tensor<2xi64>
  relax.return
}

// -----

relax.func @check_indices(%i: tensor<2xi64>) {
  // expected-error @+1 {{has 2 bounds and 1 targets; expected one for each bound}}
  relax.check_indices %i in [4, 4] of ["rows"] for "take" "indices" : tensor<2xi64>
  relax.return
}

// -----

relax.func @check_indices(%i: tensor<3xi64>) {
  // expected-error @+1 {{has 2 bounds, and the last dimension of indices is 3; expected one bound for each}}
  relax.check_indices %i in [4, 4] of ["rows", "columns"] for "take" "indices" : tensor<3xi64>
  relax.return
}

// -----

relax.func @check_indices(%i: tensor<?xi64>) {
  // expected-error @+1 {{has 2 bounds, and the last dimension of indices is not known; expected one bound for each position in it}}
  relax.check_indices %i in [4, 4] of ["rows", "columns"] for "take" "indices" : tensor<?xi64>
  relax.return
}

// -----

relax.func @check_indices(%i: tensor<i64>) {
  // expected-error @+1 {{has 2 bounds for indices of rank 0; expected one}}
  relax.check_indices %i in [4, 4] of ["rows", "columns"] for "take" "indices" : tensor<i64>
  relax.return
}

// -----

relax.func @check_indices(%i: tensor<*xi64>) {
  // expected-error @+1 {{needs indices of known rank, got 'tensor<*xi64>'}}
  relax.check_indices %i in [4] of ["rows"] for "take" "indices" : tensor<*xi64>
  relax.return
}

// -----

relax.func @check_indices(%i: tensor<2xi64>) {
  // expected-error @+1 {{uses symbol 'n', which is not defined here}}
  relax.check_indices %i in [n] of ["rows"] for "take" "indices" : tensor<2xi64>
  relax.return
}

// -----

relax.func @check_indices(%i: tensor<2xi64>) {
  relax.dataflow {
    // expected-error @+1 {{may have side effects, which a relax.dataflow block must not}}
    relax.check_indices %i in [4] of ["rows"] for "take" "indices" : tensor<2xi64>
    relax.output
  }
  relax.return
}

// -----

// expected-error @+1 {{'relax.index_bound' must be a number that is not negative, of i64, on a tensor or buffer of i32 or i64, got 10 : i64 on 'tensor<4xf32>'}}
func.func private @kernel(%x: tensor<4xf32> {relax.index_bound = 10 : i64}) -> tensor<4xf32>

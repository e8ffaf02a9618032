// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Errors of matrix products, each diagnostic once.
// RUN: relax-opt %s -split-input-file -verify-diagnostics=only-expected

relax.func @scalar(%x: tensor<f32>, %y: tensor<4xf32>) {
  // expected-error@+1 {{'relax.matmul' op lhs must have rank 1 or more, got a scalar}}
  %0 = relax.matmul %x, %y : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  relax.return
}

// -----

relax.func @contraction(%x: tensor<2x3xf32>, %y: tensor<4x5xf32>) {
  // expected-error@+1 {{'relax.matmul' op contracting dimension of lhs and of rhs differ: 3 and 4}}
  %0 = relax.matmul %x, %y : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
  relax.return
}

// -----

// The contracting dimension does not broadcast.
relax.func @contraction_of_one(%x: tensor<2x1xf32>, %y: tensor<4x5xf32>) {
  // expected-error@+1 {{'relax.matmul' op contracting dimension of lhs and of rhs differ: 1 and 4}}
  %0 = relax.matmul %x, %y : (tensor<2x1xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
  relax.return
}

// -----

relax.func @contraction_of_symbols(%n: tensor<?xf32, #relax.shape<[n]>>, %x: tensor<?xf32, #relax.shape<[2*n]>>, %y: tensor<?xf32, #relax.shape<[2*n + 1]>>) {
  // expected-error@+1 {{'relax.matmul' op contracting dimension of lhs and of rhs differ: 2*n and 2*n + 1}}
  %0 = relax.matmul %x, %y : (tensor<?xf32, #relax.shape<[2*n]>>, tensor<?xf32, #relax.shape<[2*n + 1]>>) -> tensor<f32>
  relax.return
}

// -----

relax.func @batches(%x: tensor<2x3x4xf32>, %y: tensor<5x4x3xf32>) {
  // expected-error@+1 {{'relax.matmul' op operands cannot be broadcast: dimension 0 of lhs is 2, dimension 0 of rhs is 5}}
  %0 = relax.matmul %x, %y : (tensor<2x3x4xf32>, tensor<5x4x3xf32>) -> tensor<2x3x3xf32>
  relax.return
}

// -----

relax.func @booleans(%x: tensor<4xi1>) {
  // expected-error@+1 {{'relax.matmul' op lhs must have float elements or integers of two or more bits, got 'i1'}}
  %0 = relax.matmul %x, %x : (tensor<4xi1>, tensor<4xi1>) -> tensor<i1>
  relax.return
}

// -----

relax.func @out_dtype(%x: tensor<4xf32>) {
  // expected-error@+1 {{'relax.matmul' op out_dtype must be a type of float elements or integers of two or more bits, got 'vector<2xf32>'}}
  %0 = relax.matmul %x, %x {out_dtype = vector<2xf32>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  relax.return
}

// -----

relax.func @features_in(%x: tensor<2x3xf32>, %w: tensor<3x4xf32>) {
  // expected-error@+1 {{'relax.linear' op last dimension of x and dimension 1 of weight differ: 3 and 4}}
  %0 = relax.linear %x, %w : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  relax.return
}

// -----

relax.func @features_out(%x: tensor<2x3xf32>, %w: tensor<4x3xf32>, %b: tensor<1xf32>) {
  // expected-error@+1 {{'relax.linear' op dimension 0 of weight and dimension 0 of bias differ: 4 and 1}}
  %0 = relax.linear %x, %w, %b : (tensor<2x3xf32>, tensor<4x3xf32>, tensor<1xf32>) -> tensor<2x4xf32>
  relax.return
}

// -----

relax.func @weight_of_rank_1(%x: tensor<3xf32>) {
  // expected-error@+1 {{'relax.linear' op weight must have rank 2, got rank 1}}
  %0 = relax.linear %x, %x : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  relax.return
}

// -----

relax.func @bias_of_rank_2(%x: tensor<3xf32>, %w: tensor<3x3xf32>) {
  // expected-error@+1 {{'relax.linear' op bias must have rank 1, got rank 2}}
  %0 = relax.linear %x, %w, %w : (tensor<3xf32>, tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3xf32>
  relax.return
}

// -----

relax.func @bias_of_integers(%x: tensor<3xf32>, %w: tensor<3x3xf32>, %b: tensor<3xi32>) {
  // expected-error@+1 {{'relax.linear' op element types differ: x has 'f32', bias has 'i32'}}
  %0 = relax.linear %x, %w, %b : (tensor<3xf32>, tensor<3x3xf32>, tensor<3xi32>) -> tensor<3xf32>
  relax.return
}

// -----

relax.func @outer_of_matrix(%x: tensor<3xf32>, %w: tensor<3x3xf32>) {
  // expected-error@+1 {{'relax.outer' op x2 must have rank 1, got rank 2}}
  %0 = relax.outer %x, %w : (tensor<3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  relax.return
}

// -----

relax.func @no_operand() {
  // expected-error@+1 {{'relax.einsum' op needs at least 1 operand, got 0}}
  %0 = relax.einsum ""() : () -> tensor<f32>
  relax.return
}

// -----

relax.func @operand_count(%x: tensor<3xf32>) {
  // expected-error@+1 {{'relax.einsum' op subscripts "i,i": names 2 operands, got 1}}
  %0 = relax.einsum "i,i"(%x) : (tensor<3xf32>) -> tensor<f32>
  relax.return
}

// -----

relax.func @no_letter(%x: tensor<3xf32>) {
  // expected-error@+1 {{'relax.einsum' op subscripts "1->1": expected letters and at most one ellipsis in a term, got '1'}}
  %0 = relax.einsum "1->1"(%x) : (tensor<3xf32>) -> tensor<3xf32>
  relax.return
}

// -----

relax.func @half_an_ellipsis(%x: tensor<3xf32>) {
  // expected-error@+1 {{'relax.einsum' op subscripts "..i": expected letters and at most one ellipsis in a term, got '.'}}
  %0 = relax.einsum "..i"(%x) : (tensor<3xf32>) -> tensor<3xf32>
  relax.return
}

// -----

relax.func @two_arrows(%x: tensor<3xf32>) {
  // expected-error@+1 {{'relax.einsum' op subscripts "i->i->i": expected letters and at most one ellipsis in a term, got '-'}}
  %0 = relax.einsum "i->i->i"(%x) : (tensor<3xf32>) -> tensor<3xf32>
  relax.return
}

// -----

relax.func @two_ellipses(%x: tensor<3xf32>) {
  // expected-error@+1 {{'relax.einsum' op subscripts "...i...": more than one ellipsis in a term}}
  %0 = relax.einsum "...i..."(%x) : (tensor<3xf32>) -> tensor<3xf32>
  relax.return
}

// -----

relax.func @unknown_letter(%x: tensor<3xf32>) {
  // expected-error@+1 {{'relax.einsum' op subscripts "i->j": the result names 'j', which no operand has}}
  %0 = relax.einsum "i->j"(%x) : (tensor<3xf32>) -> tensor<3xf32>
  relax.return
}

// -----

relax.func @repeated_letter(%x: tensor<3xf32>) {
  // expected-error@+1 {{'relax.einsum' op subscripts "i->ii": the result repeats 'i'}}
  %0 = relax.einsum "i->ii"(%x) : (tensor<3xf32>) -> tensor<3x3xf32>
  relax.return
}

// -----

relax.func @rank(%x: tensor<3xf32>) {
  // expected-error@+1 {{'relax.einsum' op subscripts "ij": operand 0 has rank 1, but 2 letters}}
  %0 = relax.einsum "ij"(%x) : (tensor<3xf32>) -> tensor<3x3xf32>
  relax.return
}

// -----

relax.func @rank_with_ellipsis(%x: tensor<3xf32>) {
  // expected-error@+1 {{'relax.einsum' op subscripts "i...j": operand 0 has rank 1, but at least 2 letters}}
  %0 = relax.einsum "i...j"(%x) : (tensor<3xf32>) -> tensor<3x3xf32>
  relax.return
}

// -----

relax.func @sizes(%x: tensor<3xf32>, %y: tensor<4xf32>) {
  // expected-error@+1 {{'relax.einsum' op subscripts "i,i": the sizes of 'i' differ: operand 1 has 4, those before it have 3}}
  %0 = relax.einsum "i,i"(%x, %y) : (tensor<3xf32>, tensor<4xf32>) -> tensor<f32>
  relax.return
}

// -----

// A diagonal does not broadcast.
relax.func @diagonal(%x: tensor<3x1xf32>) {
  // expected-error@+1 {{'relax.einsum' op the sizes of 'i' of operand 0 and its repetition differ: 3 and 1}}
  %0 = relax.einsum "ii"(%x) : (tensor<3x1xf32>) -> tensor<f32>
  relax.return
}

// -----

relax.func @ellipsis(%x: tensor<3x2xf32>, %y: tensor<4x2xf32>) {
  // expected-error@+1 {{'relax.einsum' op operands cannot be broadcast: dimension 0 of the ellipsis of the operands before is 3, dimension 0 of the ellipsis of operand 1 is 4}}
  %0 = relax.einsum "...i,...i"(%x, %y) : (tensor<3x2xf32>, tensor<4x2xf32>) -> tensor<3xf32>
  relax.return
}

// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Errors of the element-wise ops, each diagnostic once.
// RUN: relax-opt %s -split-input-file -verify-diagnostics=only-expected

relax.func @float_only(%x: tensor<4xi32>) {
  // expected-error@+1 {{'relax.exp' op x must have float elements, got 'i32'; convert it with relax.astype}}
  %0 = relax.exp %x : (tensor<4xi32>) -> tensor<4xi32>
  relax.return
}

// -----

relax.func @number_only(%x: tensor<4xi1>) {
  // expected-error@+1 {{'relax.abs' op x must have float elements or integers of two or more bits, got 'i1'; convert it with relax.astype}}
  %0 = relax.abs %x : (tensor<4xi1>) -> tensor<4xi1>
  relax.return
}

// -----

relax.func @predicate_of_integers(%x: tensor<4xi32>) {
  // expected-error@+1 {{'relax.isnan' op x must have float elements, got 'i32'}}
  %0 = relax.isnan %x : (tensor<4xi32>) -> tensor<4xi1>
  relax.return
}

// -----

relax.func @bits_of_floats(%x: tensor<4xf32>) {
  // expected-error@+1 {{'relax.bitwise_not' op x must have integer elements, got 'f32'}}
  %0 = relax.bitwise_not %x : (tensor<4xf32>) -> tensor<4xf32>
  relax.return
}

// -----

relax.func @logic_of_integers(%x: tensor<4xi8>) {
  // expected-error@+1 {{'relax.logical_not' op x must have Boolean elements (i1), got 'i8'}}
  %0 = relax.logical_not %x : (tensor<4xi8>) -> tensor<4xi8>
  relax.return
}

// -----

relax.func @shift_of_booleans(%x: tensor<4xi1>) {
  // expected-error@+1 {{'relax.left_shift' op lhs must have integer elements of two or more bits, got 'i1'}}
  %0 = relax.left_shift %x, %x : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  relax.return
}

// -----

relax.func @order_of_booleans(%x: tensor<4xi1>) {
  // expected-error@+1 {{'relax.less' op lhs must have float elements or integers of two or more bits, got 'i1'}}
  %0 = relax.less %x, %x : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  relax.return
}

// -----

relax.func @no_implicit_conversion(%x: tensor<4xf32>, %y: tensor<4xf16>) {
  // expected-error@+1 {{'relax.add' op element types differ: lhs has 'f32', rhs has 'f16'; convert one with relax.astype}}
  %0 = relax.add %x, %y : (tensor<4xf32>, tensor<4xf16>) -> tensor<4xf32>
  relax.return
}

// -----

relax.func @signedness_is_a_type(%x: tensor<4xi8>, %y: tensor<4xui8>) {
  // expected-error@+1 {{'relax.add' op element types differ: lhs has 'i8', rhs has 'ui8'}}
  %0 = relax.add %x, %y : (tensor<4xi8>, tensor<4xui8>) -> tensor<4xi8>
  relax.return
}

// -----

relax.func @cannot_broadcast(%x: tensor<2x3xf32>, %y: tensor<4xf32>) {
  // expected-error@+1 {{'relax.add' op operands cannot be broadcast: dimension 1 of lhs is 3, dimension 0 of rhs is 4}}
  %0 = relax.add %x, %y : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<2x3xf32>
  relax.return
}

// -----

relax.func @zero_is_not_one(%x: tensor<0xf32>, %y: tensor<4xf32>) {
  // expected-error@+1 {{'relax.multiply' op operands cannot be broadcast: dimension 0 of lhs is 0, dimension 0 of rhs is 4}}
  %0 = relax.multiply %x, %y : (tensor<0xf32>, tensor<4xf32>) -> tensor<0xf32>
  relax.return
}

// -----

// n + 2 and n + 3 are never equal and never 1.
relax.func @symbols_cannot_broadcast(%n: tensor<?xf32, #relax.shape<[n]>>, %x: tensor<?xf32, #relax.shape<[n + 2]>>, %y: tensor<?xf32, #relax.shape<[n + 3]>>) {
  // expected-error@+1 {{'relax.add' op operands cannot be broadcast: dimension 0 of lhs is n + 2, dimension 0 of rhs is n + 3}}
  %0 = relax.add %x, %y : (tensor<?xf32, #relax.shape<[n + 2]>>, tensor<?xf32, #relax.shape<[n + 3]>>) -> tensor<?xf32>
  relax.return
}

// -----

// If m is 1, the result has n elements, and vice versa.
relax.func @more_than_is_known(%x: tensor<?xf32, #relax.shape<[n]>>, %y: tensor<?xf32, #relax.shape<[m]>>) {
  // expected-error@+1 {{'relax.add' op result #0 is declared as 'tensor<?xf32, #relax.shape<[n]>>', but only 'tensor<?xf32, #relax.shape<[broadcast(m, n)]>>' can be deduced; assert more with relax.match_cast}}
  %0 = relax.add %x, %y : (tensor<?xf32, #relax.shape<[n]>>, tensor<?xf32, #relax.shape<[m]>>) -> tensor<?xf32, #relax.shape<[n]>>
  relax.return
}

// -----

// The unknown dimension may be larger than n if n is 1.
relax.func @unknown_dimension(%x: tensor<?xf32, #relax.shape<[n]>>, %y: tensor<?xf32>) {
  // expected-error@+1 {{'relax.add' op result #0 is declared as 'tensor<?xf32, #relax.shape<[n]>>', but only 'tensor<?xf32>' can be deduced}}
  %0 = relax.add %x, %y : (tensor<?xf32, #relax.shape<[n]>>, tensor<?xf32>) -> tensor<?xf32, #relax.shape<[n]>>
  relax.return
}

// -----

relax.func @comparison_is_boolean(%x: tensor<4xf32>) {
  // expected-error@+1 {{'relax.less' op result #0 is declared as 'tensor<4xf32>', but 'tensor<4xi1>' is deduced}}
  %0 = relax.less %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  relax.return
}

// -----

relax.func @no_slope(%x: tensor<4xf32>) {
  // expected-error@+1 {{'relax.softplus' op beta must not be 0}}
  %0 = relax.softplus %x {beta = 0.0} : (tensor<4xf32>) -> tensor<4xf32>
  relax.return
}

// -----

relax.func @no_element_type(%x: tensor<4xf32>) {
  // expected-error@+1 {{'relax.astype' op dtype must be a type of float or integer elements, got 'tensor<4xf32>'}}
  %0 = relax.astype %x {dtype = tensor<4xf32>} : (tensor<4xf32>) -> tensor<4xf32>
  relax.return
}

// -----

relax.func @other_dtype(%x: tensor<4xf32>) {
  // expected-error@+1 {{'relax.astype' op result #0 is declared as 'tensor<4xf32>', but 'tensor<4xf16>' is deduced}}
  %0 = relax.astype %x {dtype = f16} : (tensor<4xf32>) -> tensor<4xf32>
  relax.return
}

// -----

relax.func @integer_bound_of_floats(%x: tensor<4xf32>) {
  // expected-error@+1 {{'relax.clip' op min must be a float, as x has 'f32' elements, got 0 : i64}}
  %0 = relax.clip %x {min = 0} : (tensor<4xf32>) -> tensor<4xf32>
  relax.return
}

// -----

relax.func @float_bound_of_integers(%x: tensor<4xi32>) {
  // expected-error@+1 {{'relax.clip' op max must be an integer, as x has 'i32' elements, got 1.500000e+00}}
  %0 = relax.clip %x {max = 1.5} : (tensor<4xi32>) -> tensor<4xi32>
  relax.return
}

// -----

relax.func @bound_outside_of_the_type(%x: tensor<4xi8>) {
  // expected-error@+1 {{'relax.clip' op max 128 is not a value of 'i8'}}
  %0 = relax.clip %x {max = 128} : (tensor<4xi8>) -> tensor<4xi8>
  relax.return
}

// -----

relax.func @negative_bound_of_unsigned(%x: tensor<4xui64>) {
  // expected-error@+1 {{'relax.clip' op min -1 is not a value of 'ui64'}}
  %0 = relax.clip %x {min = -1} : (tensor<4xui64>) -> tensor<4xui64>
  relax.return
}

// -----

relax.func @nan_bound(%x: tensor<4xf32>) {
  // expected-error@+1 {{'relax.clip' op min must not be NaN}}
  %0 = relax.clip %x {min = 0x7FF8000000000000 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  relax.return
}

// -----

relax.func @too_many_slopes(%x: tensor<2x4xf32>, %a: tensor<3xf32>) {
  // expected-error@+1 {{'relax.prelu' op alpha must have 1 element or as many as dimension 1 of data: 3 and 4}}
  %0 = relax.prelu %x, %a : (tensor<2x4xf32>, tensor<3xf32>) -> tensor<2x4xf32>
  relax.return
}

// -----

relax.func @slopes_of_rank_2(%x: tensor<2x4xf32>) {
  // expected-error@+1 {{'relax.prelu' op alpha must have rank 1, got rank 2}}
  %0 = relax.prelu %x, %x : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  relax.return
}

// -----

relax.func @axis_out_of_range(%x: tensor<4xf32>) {
  // expected-error@+1 {{'relax.prelu' op axis 1 is out of range for a tensor of rank 1}}
  %0 = relax.prelu %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  relax.return
}

// -----

relax.func @condition_is_boolean(%c: tensor<4xi8>, %x: tensor<4xf32>) {
  // expected-error@+1 {{'relax.where' op condition must have Boolean elements (i1), got 'i8'}}
  %0 = relax.where %c, %x, %x : (tensor<4xi8>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  relax.return
}

// -----

relax.func @choices_differ(%c: tensor<4xi1>, %x: tensor<4xf32>, %y: tensor<4xi32>) {
  // expected-error@+1 {{'relax.where' op element types differ: x1 has 'f32', x2 has 'i32'}}
  %0 = relax.where %c, %x, %y : (tensor<4xi1>, tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32>
  relax.return
}

// -----

// The mismatch is found although the rank of the condition is unknown.
relax.func @choices_do_not_broadcast(%c: tensor<*xi1>, %x: tensor<3xf32>, %y: tensor<4xf32>) {
  // expected-error@+1 {{'relax.where' op operands cannot be broadcast: dimension 0 of x1 is 3, dimension 0 of x2 is 4}}
  %0 = relax.where %c, %x, %y : (tensor<*xi1>, tensor<3xf32>, tensor<4xf32>) -> tensor<*xf32>
  relax.return
}

// -----

relax.func @third_operand(%x: tensor<2x1xf32>, %y: tensor<4xf32>, %z: tensor<5xf32>) {
  // expected-error@+1 {{'relax.ewise_fma' op operands cannot be broadcast: dimension 1 of x1 with x2 is 4, dimension 0 of x3 is 5}}
  %0 = relax.ewise_fma %x, %y, %z : (tensor<2x1xf32>, tensor<4xf32>, tensor<5xf32>) -> tensor<2x4xf32>
  relax.return
}

// -----

relax.func @no_tensor(%s: !relax.shape<[4]>) {
  // expected-error@+1 {{'relax.exp' op operand #0 must be tensor of floating-point or integer values, but got '!relax.shape<[4]>'}}
  %0 = "relax.exp"(%s) : (!relax.shape<[4]>) -> tensor<4xf32>
  relax.return
}

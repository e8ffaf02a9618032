// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Errors of reshaping and rearranging, each diagnostic once.
// RUN: relax-opt %s -split-input-file -verify-diagnostics=only-expected

// The numbers of elements can never be equal, for static and for symbolic
// sizes.
relax.func @reshape(%x: tensor<3x4xf32>) {
  // expected-error @+1 {{x of shape [3, 4] has 12 elements, the target [2, 5] has 10}}
  %0 = relax.reshape %x to [2, 5] : (tensor<3x4xf32>) -> tensor<2x5xf32>
  relax.return
}

// -----

relax.func @reshape(%x: tensor<?xf32, #relax.shape<[2*n]>>, %y: tensor<?xf32, #relax.shape<[n]>>) {
  // expected-error @+1 {{x of shape [2*n] has 2*n elements, the target [2*n + 1] has 2*n + 1}}
  %0 = relax.reshape %x to [2*n + 1] : (tensor<?xf32, #relax.shape<[2*n]>>) -> tensor<?xf32, #relax.shape<[2*n + 1]>>
  relax.return
}

// -----

relax.func @reshape(%x: tensor<0x?xf32>) {
  // expected-error @+1 {{x of shape [0, ?] has 0 elements, the target [3] has 3}}
  %0 = relax.reshape %x to [3] : (tensor<0x?xf32>) -> tensor<3xf32>
  relax.return
}

// -----

// There is no valid size for -1.
relax.func @reshape(%x: tensor<10xf32>) {
  // expected-error @+1 {{the 10 elements of x cannot be divided by the product of the other dimensions, 3}}
  %0 = relax.reshape %x to [-1, 3] : (tensor<10xf32>) -> tensor<3x3xf32>
  relax.return
}

// -----

relax.func @reshape(%x: tensor<?xf32, #relax.shape<[2*n + 1]>>, %y: tensor<?xf32, #relax.shape<[n]>>) {
  // expected-error @+1 {{the 2*n + 1 elements of x cannot be divided by the product of the other dimensions, 2}}
  %0 = relax.reshape %x to [-1, 2] : (tensor<?xf32, #relax.shape<[2*n + 1]>>) -> tensor<?x2xf32>
  relax.return
}

// -----

relax.func @reshape(%x: tensor<0xf32>) {
  // expected-error @+1 {{cannot infer -1: the product of the other dimensions is 0}}
  %0 = relax.reshape %x to [-1, 0] : (tensor<0xf32>) -> tensor<0x0xf32>
  relax.return
}

// -----

relax.func @reshape(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>) {
  // expected-error @+1 {{dims may hold one -1, got [-1, 2, -1]}}
  %0 = relax.reshape %x to [-1, 2, -1] : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x2x?xf32>
  relax.return
}

// -----

relax.func @reshape(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>) {
  // expected-error @+1 {{dimension 0 of dims is negative: -2}}
  %0 = relax.reshape %x to [-2, 4] : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32>
  relax.return
}

// -----

relax.func @reshape(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>) {
  // expected-error @+1 {{custom op 'relax.reshape' an expression must be known, got '?'}}
  %0 = relax.reshape %x to [?, 4] : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32>
  relax.return
}

// -----

// The target shape must be given in exactly one of the two ways.
relax.func @reshape(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>) {
  // expected-error @+1 {{needs either a shape operand or dims, got neither}}
  %0 = relax.reshape %x : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<*xf32>
  relax.return
}

// -----

relax.func @reshape(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %s: !relax.shape<[4, n]>) {
  // expected-error @+1 {{needs either a shape operand or dims, got both}}
  %0 = relax.reshape %x, %s to [4, n] : (tensor<?x4xf32, #relax.shape<[n, 4]>>, !relax.shape<[4, n]>) -> tensor<4x?xf32, #relax.shape<[4, n]>>
  relax.return
}

// -----

// Sizes beyond 64 bits.
relax.func @flatten(%x: tensor<4294967296x4294967296xf32>) {
  // expected-error @+1 {{symbolic expression overflows 64 bits}}
  %0 = relax.flatten %x : (tensor<4294967296x4294967296xf32>) -> tensor<?xf32>
  relax.return
}

// -----

relax.func @reshape(%x: tensor<4294967296x4294967296xf32>) {
  // expected-error @+1 {{symbolic expression overflows 64 bits}}
  %0 = relax.reshape %x to [-1] : (tensor<4294967296x4294967296xf32>) -> tensor<?xf32>
  relax.return
}

// -----

// The result type is finer than the deduced type, since m may be zero.
relax.func @reshape(%x: tensor<?xf32, #relax.shape<[n]>>, %y: tensor<?xf32, #relax.shape<[m]>>) {
  // expected-error @+1 {{result #0 is declared as 'tensor<?x?xf32, #relax.shape<[n floordiv m, m]>>', but only 'tensor<?x?xf32, #relax.shape<[?, m]>>' can be deduced; assert more with relax.match_cast}}
  %0 = relax.reshape %x to [-1, m] : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?x?xf32, #relax.shape<[n floordiv m, m]>>
  relax.return
}

// -----

// Broadcasting.
relax.func @broadcast_to(%x: tensor<3x4xf32>) {
  // expected-error @+1 {{dimension 0 of x is 3 and cannot be broadcast to dimension 0 of the target, 2}}
  %0 = relax.broadcast_to %x to [2, 4] : (tensor<3x4xf32>) -> tensor<2x4xf32>
  relax.return
}

// -----

relax.func @broadcast_to(%x: tensor<3x4xf32>) {
  // expected-error @+1 {{x of rank 2 cannot be broadcast to the target of rank 1}}
  %0 = relax.broadcast_to %x to [4] : (tensor<3x4xf32>) -> tensor<4xf32>
  relax.return
}

// -----

relax.func @broadcast_to(%x: tensor<?xf32, #relax.shape<[n + 2]>>, %y: tensor<?xf32, #relax.shape<[n]>>) {
  // expected-error @+1 {{dimension 0 of x is n + 2 and cannot be broadcast to dimension 0 of the target, n}}
  %0 = relax.broadcast_to %x to [n] : (tensor<?xf32, #relax.shape<[n + 2]>>) -> tensor<?xf32, #relax.shape<[n]>>
  relax.return
}

// -----

relax.func @broadcast_to(%x: tensor<1xf32>) {
  // expected-error @+1 {{dimension 0 of dims is negative: -1}}
  %0 = relax.broadcast_to %x to [-1] : (tensor<1xf32>) -> tensor<?xf32>
  relax.return
}

// -----

relax.func @collapse_sum_to(%x: tensor<3x4xf32>) {
  // expected-error @+1 {{dimension 0 of the target is 2 and cannot be broadcast to dimension 0 of data, 3}}
  %0 = relax.collapse_sum_to %x to [2, 4] : (tensor<3x4xf32>) -> tensor<2x4xf32>
  relax.return
}

// -----

relax.func @collapse_sum_like(%x: tensor<4xf32>, %y: tensor<3x4xf32>) {
  // expected-error @+1 {{collapse_target of rank 2 cannot be broadcast to data of rank 1}}
  %0 = relax.collapse_sum_like %x, %y : (tensor<4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  relax.return
}

// -----

// Axes.
relax.func @permute_dims(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>) {
  // expected-error @+1 {{axes has 1 entries for a tensor of rank 2}}
  %0 = relax.permute_dims %x axes [0] : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?xf32>
  relax.return
}

// -----

relax.func @permute_dims(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>) {
  // expected-error @+1 {{axes repeat -2}}
  %0 = relax.permute_dims %x axes [0, -2] : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x?xf32>
  relax.return
}

// -----

relax.func @permute_dims(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>) {
  // expected-error @+1 {{axes 2 is out of range for a tensor of rank 2}}
  %0 = relax.permute_dims %x axes [0, 2] : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x?xf32>
  relax.return
}

// -----

relax.func @expand_dims(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>) {
  // expected-error @+1 {{axis 3 is out of range for a tensor of rank 3}}
  %0 = relax.expand_dims %x axis [3] : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4x1xf32>
  relax.return
}

// -----

relax.func @expand_dims(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>) {
  // expected-error @+1 {{axis repeat 0}}
  %0 = relax.expand_dims %x axis [0, 0] : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<1x1x?x4xf32>
  relax.return
}

// -----

relax.func @squeeze(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>) {
  // expected-error @+1 {{dimension 1 of x is 4, not 1}}
  %0 = relax.squeeze %x axis [1] : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?xf32>
  relax.return
}

// -----

relax.func @squeeze(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>) {
  // expected-error @+1 {{axis -9223372036854775808 is out of range for a tensor of rank 2}}
  %0 = relax.squeeze %x axis [-9223372036854775808] : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?xf32>
  relax.return
}

// -----

// These tensors cannot be joined.
relax.func @concat() {
  // expected-error @+1 {{needs at least one tensor}}
  %0 = relax.concat : () -> tensor<*xf32>
  relax.return
}

// -----

relax.func @concat(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %y: tensor<2x5xf32>) {
  // expected-error @+1 {{dimension 1 of tensors[0] and of tensors[1] differ: 4 and 5}}
  %0 = relax.concat %x, %y : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<2x5xf32>) -> tensor<?x4xf32>
  relax.return
}

// -----

relax.func @concat(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %u: tensor<*xf32>, %y: tensor<2xf32>) {
  // expected-error @+1 {{ranks differ: tensors[0] has rank 2, tensors[2] has rank 1}}
  %0 = relax.concat %x, %u, %y : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<*xf32>, tensor<2xf32>) -> tensor<?x4xf32>
  relax.return
}

// -----

relax.func @concat(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %y: tensor<2x4xf16>) {
  // expected-error @+1 {{element types differ: tensors[0] has 'f32', tensors[1] has 'f16'; convert one with relax.astype}}
  %0 = relax.concat %x, %y : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<2x4xf16>) -> tensor<?x4xf32>
  relax.return
}

// -----

relax.func @concat(%x: tensor<f32>) {
  // expected-error @+1 {{axis 0 is out of range for a tensor of rank 0}}
  %0 = relax.concat %x : (tensor<f32>) -> tensor<f32>
  relax.return
}

// -----

relax.func @stack(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %y: tensor<?x4xf32, #relax.shape<[n + 1, 4]>>) {
  // expected-error @+1 {{dimension 0 of tensors[0] and of tensors[1] differ: n and n + 1}}
  %0 = relax.stack %x, %y : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?x4xf32, #relax.shape<[n + 1, 4]>>) -> tensor<2x?x4xf32>
  relax.return
}

// -----

relax.func @stack(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>) {
  // expected-error @+1 {{axis 3 is out of range for a tensor of rank 3}}
  %0 = relax.stack %x axis 3 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4x1xf32>
  relax.return
}

// -----

// Splits.
relax.func @split(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>) {
  // expected-error @+1 {{needs either sections or indices, got neither}}
  %0 = relax.split %x : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  relax.return
}

// -----

relax.func @split(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>) {
  // expected-error @+1 {{sections must be positive, got 0}}
  %0 = relax.split %x into 0 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  relax.return
}

// -----

relax.func @split(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>) {
  // expected-error @+1 {{cannot split into 1000000000 parts; at most 65536}}
  %0 = relax.split %x into 1000000000 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  relax.return
}

// -----

relax.func @split(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>) {
  // expected-error @+1 {{has 3 results, expected 2}}
  %0:3 = relax.split %x into 2 axis 1 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> (tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>)
  relax.return
}

// -----

relax.func @split(%x: tensor<?xf32, #relax.shape<[n]>>) {
  // expected-error @+1 {{result #0 is declared as 'tensor<?xf32, #relax.shape<[n floordiv 2]>>', but only 'tensor<?xf32, #relax.shape<[(n + 1) floordiv 2]>>' can be deduced; assert more with relax.match_cast}}
  %0:2 = relax.split %x into 2 : (tensor<?xf32, #relax.shape<[n]>>) -> (tensor<?xf32, #relax.shape<[n floordiv 2]>>, tensor<?xf32, #relax.shape<[n floordiv 2]>>)
  relax.return
}

// -----

relax.func @split(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>) {
  // expected-error @+1 {{axis 2 is out of range for a tensor of rank 2}}
  %0 = relax.split %x at [] axis 2 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  relax.return
}

// -----

// Repeating and reversing.
relax.func @repeat(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>) {
  // expected-error @+1 {{repeats must not be negative, got -1}}
  %0 = relax.repeat %x by -1 axis 0 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  relax.return
}

// -----

relax.func @repeat(%x: tensor<4611686018427387904xi8>) {
  // expected-error @+1 {{symbolic expression overflows 64 bits}}
  %0 = relax.repeat %x by 4 axis 0 : (tensor<4611686018427387904xi8>) -> tensor<?xi8>
  relax.return
}

// -----

relax.func @repeat(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>) {
  // expected-error @+1 {{axis 2 is out of range for a tensor of rank 2}}
  %0 = relax.repeat %x by 2 axis 2 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  relax.return
}

// -----

relax.func @tile(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>) {
  // expected-error @+1 {{repeats[1] must not be negative, got -2}}
  %0 = relax.tile %x by [1, -2] : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  relax.return
}

// -----

relax.func @flip(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>) {
  // expected-error @+1 {{axis -3 is out of range for a tensor of rank 2}}
  %0 = relax.flip %x axis -3 : (tensor<?x4xf32, #relax.shape<[n, 4]>>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  relax.return
}

// -----

relax.func @reverse_sequence(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %l: tensor<4x1xi64>) {
  // expected-error @+1 {{seq_lengths must have rank 1, got rank 2}}
  %0 = relax.reverse_sequence %x, %l : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<4x1xi64>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  relax.return
}

// -----

relax.func @reverse_sequence(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %l: tensor<3xi64>) {
  // expected-error @+1 {{dimension 0 of seq_lengths and dimension 1 of data differ: 3 and 4}}
  %0 = relax.reverse_sequence %x, %l {seq_axis = 0, batch_axis = 1} : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<3xi64>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  relax.return
}

// -----

relax.func @reverse_sequence(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %l: tensor<3xi64>) {
  // expected-error @+1 {{seq_axis and batch_axis are both dimension 0}}
  %0 = relax.reverse_sequence %x, %l {seq_axis = -2} : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<3xi64>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  relax.return
}

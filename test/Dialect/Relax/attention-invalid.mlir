// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: relax-opt --split-input-file --verify-diagnostics %s

relax.func @rank(%q: tensor<2x8x64xf32>, %k: tensor<2x8x4x64xf32>) {
  // expected-error @+2 {{'relax.attention' op query must have rank 4, got rank 3}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.attention %q, %k, %k : (tensor<2x8x64xf32>, tensor<2x8x4x64xf32>, tensor<2x8x4x64xf32>) -> tensor<2x8x4x64xf32>
  relax.return
}

// -----

relax.func @element_types(%q: tensor<2x8x4x64xf32>, %k: tensor<2x8x4x64xf16>) {
  // expected-error @+2 {{element types differ: query has 'f32', key has 'f16'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.attention %q, %k, %k : (tensor<2x8x4x64xf32>, tensor<2x8x4x64xf16>, tensor<2x8x4x64xf16>) -> tensor<2x8x4x64xf32>
  relax.return
}

// -----

relax.func @batch(%q: tensor<2x8x4x64xf32>, %k: tensor<3x8x4x64xf32>) {
  // expected-error @+2 {{the batch of query and the batch of key differ: 2 and 3}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.attention %q, %k, %k : (tensor<2x8x4x64xf32>, tensor<3x8x4x64xf32>, tensor<3x8x4x64xf32>) -> tensor<2x8x4x64xf32>
  relax.return
}

// -----

relax.func @length(%q: tensor<2x8x4x64xf32>, %k: tensor<2x?x4x64xf32, #relax.shape<[2, m, 4, 64]>>, %v: tensor<2x?x4x64xf32, #relax.shape<[2, m + 1, 4, 64]>>) {
  // expected-error @+2 {{the length of key and the length of value differ: m and m + 1}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.attention %q, %k, %v : (tensor<2x8x4x64xf32>, tensor<2x?x4x64xf32, #relax.shape<[2, m, 4, 64]>>, tensor<2x?x4x64xf32, #relax.shape<[2, m + 1, 4, 64]>>) -> tensor<2x8x4x64xf32>
  relax.return
}

// -----

relax.func @head_size(%q: tensor<2x8x4x64xf32>, %k: tensor<2x8x4x32xf32>) {
  // expected-error @+2 {{the head size of query and the head size of key differ: 64 and 32}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.attention %q, %k, %k : (tensor<2x8x4x64xf32>, tensor<2x8x4x32xf32>, tensor<2x8x4x32xf32>) -> tensor<2x8x4x32xf32>
  relax.return
}

// -----

relax.func @heads(%q: tensor<2x8x6x64xf32>, %k: tensor<2x8x4x64xf32>) {
  // expected-error @+2 {{the heads of query must be a multiple of the heads of key, 4, got 6}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.attention %q, %k, %k : (tensor<2x8x6x64xf32>, tensor<2x8x4x64xf32>, tensor<2x8x4x64xf32>) -> tensor<2x8x6x64xf32>
  relax.return
}

// -----

relax.func @no_heads(%q: tensor<2x8x6x64xf32>, %k: tensor<2x8x0x64xf32>) {
  // expected-error @+2 {{the heads of query must be a multiple of the heads of key, 0, got 6}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.attention %q, %k, %k : (tensor<2x8x6x64xf32>, tensor<2x8x0x64xf32>, tensor<2x8x0x64xf32>) -> tensor<2x8x6x64xf32>
  relax.return
}

// -----

relax.func @bias(%q: tensor<2x8x4x64xf32>, %k: tensor<2x9x4x64xf32>, %b: tensor<8x8xf32>) {
  // expected-error @+2 {{dimension 1 of bias is 8 and cannot be broadcast to dimension 3 of the scores [batch, heads, queries, keys], 9}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.attention %q, %k, %k, %b : (tensor<2x8x4x64xf32>, tensor<2x9x4x64xf32>, tensor<2x9x4x64xf32>, tensor<8x8xf32>) -> tensor<2x8x4x64xf32>
  relax.return
}

// -----

// A bias may not widen the result.
relax.func @wide_bias(%q: tensor<1x8x4x64xf32>, %b: tensor<2x1x1x1xf32>) {
  // expected-error @+2 {{dimension 0 of bias is 2 and cannot be broadcast to dimension 0 of the scores [batch, heads, queries, keys], 1}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.attention %q, %q, %q, %b : (tensor<1x8x4x64xf32>, tensor<1x8x4x64xf32>, tensor<1x8x4x64xf32>, tensor<2x1x1x1xf32>) -> tensor<1x8x4x64xf32>
  relax.return
}

// -----

relax.func @bias_type(%q: tensor<1x8x4x64xf32>, %b: tensor<8x8xf16>) {
  // expected-error @+2 {{element types differ: query has 'f32', bias has 'f16'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.attention %q, %q, %q, %b : (tensor<1x8x4x64xf32>, tensor<1x8x4x64xf32>, tensor<1x8x4x64xf32>, tensor<8x8xf16>) -> tensor<1x8x4x64xf32>
  relax.return
}

// -----

relax.func @causal_mask(%q: tensor<1x8x4x64xf32>) {
  // expected-error @+2 {{causal_mask must be one of 'TopLeft', 'BottomRight', got 'TopRight'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.attention %q, %q, %q {causal_mask = "TopRight"} : (tensor<1x8x4x64xf32>, tensor<1x8x4x64xf32>, tensor<1x8x4x64xf32>) -> tensor<1x8x4x64xf32>
  relax.return
}

// -----

relax.func @window(%q: tensor<1x8x4x64xf32>) {
  // expected-error @+2 {{window_size must be at least 1, got 0}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.attention %q, %q, %q {causal_mask = "TopLeft", window_size = 0 : i64} : (tensor<1x8x4x64xf32>, tensor<1x8x4x64xf32>, tensor<1x8x4x64xf32>) -> tensor<1x8x4x64xf32>
  relax.return
}

// -----

relax.func @window_without_mask(%q: tensor<1x8x4x64xf32>) {
  // expected-error @+2 {{window_size needs a causal_mask, 'TopLeft' or 'BottomRight'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.attention %q, %q, %q {window_size = 4 : i64} : (tensor<1x8x4x64xf32>, tensor<1x8x4x64xf32>, tensor<1x8x4x64xf32>) -> tensor<1x8x4x64xf32>
  relax.return
}

// -----

relax.func @odd(%x: tensor<1x8x4x65xf32>) {
  // expected-error @+2 {{the last dimension of x must be even, got 65; give rotary_dim to rotate a part of it}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.rotary_embedding %x : (tensor<1x8x4x65xf32>) -> tensor<1x8x4x65xf32>
  relax.return
}

// -----

relax.func @rotary_dim(%x: tensor<1x8x4x64xf32>) {
  // expected-error @+2 {{rotary_dim must be at most the last dimension of x, 64, got 66}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.rotary_embedding %x {rotary_dim = 66 : i64} : (tensor<1x8x4x64xf32>) -> tensor<1x8x4x64xf32>
  relax.return
}

// -----

relax.func @odd_rotary_dim(%x: tensor<1x8x4x64xf32>) {
  // expected-error @+2 {{rotary_dim must be even, got 33}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.rotary_embedding %x {rotary_dim = 33 : i64} : (tensor<1x8x4x64xf32>) -> tensor<1x8x4x64xf32>
  relax.return
}

// -----

relax.func @layout(%x: tensor<1x8x4x64xf32>) {
  // expected-error @+2 {{layout must be one of 'half_split', 'interleaved', got 'neox'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.rotary_embedding %x {layout = "neox"} : (tensor<1x8x4x64xf32>) -> tensor<1x8x4x64xf32>
  relax.return
}

// -----

relax.func @positions(%x: tensor<1x8x4x64xf32>, %p: tensor<9xi32>) {
  // expected-error @+2 {{the length of x and the length of positions differ: 8 and 9}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.rotary_embedding %x positions %p : (tensor<1x8x4x64xf32>, tensor<9xi32>) -> tensor<1x8x4x64xf32>
  relax.return
}

// -----

relax.func @position_rank(%x: tensor<1x8x4x64xf32>, %p: tensor<1x1x8xi32>) {
  // expected-error @+2 {{positions must have rank 0, 1 or 2, got rank 3}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.rotary_embedding %x positions %p : (tensor<1x8x4x64xf32>, tensor<1x1x8xi32>) -> tensor<1x8x4x64xf32>
  relax.return
}

// -----

relax.func @positions_and_offset(%x: tensor<1x8x4x64xf32>, %p: tensor<8xi32>) {
  // expected-error @+2 {{positions and offset exclude each other}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.rotary_embedding %x positions %p {offset = #relax.expr<1>} : (tensor<1x8x4x64xf32>, tensor<8xi32>) -> tensor<1x8x4x64xf32>
  relax.return
}

// -----

relax.func @table(%x: tensor<1x8x4x64xf32>, %t: tensor<100x64xf32>) {
  // expected-error @+2 {{the last dimension of cos and half of the rotated elements differ: 64 and 32}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.rotary_embedding %x cos %t sin %t : (tensor<1x8x4x64xf32>, tensor<100x64xf32>, tensor<100x64xf32>) -> tensor<1x8x4x64xf32>
  relax.return
}

// -----

relax.func @one_table(%x: tensor<1x8x4x64xf32>, %t: tensor<100x32xf32>) {
  // expected-error @+2 {{cos and sin must be given together, got only cos}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = relax.rotary_embedding %x cos %t : (tensor<1x8x4x64xf32>, tensor<100x32xf32>) -> tensor<1x8x4x64xf32>
  relax.return
}

// -----

relax.func @offset_symbol(%x: tensor<1x8x4x64xf32>) {
  // expected-error @+1 {{uses symbol 'm', which is not defined here}}
  %0 = relax.rotary_embedding %x {offset = #relax.expr<m>} : (tensor<1x8x4x64xf32>) -> tensor<1x8x4x64xf32>
  relax.return
}

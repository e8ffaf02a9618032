// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -split-input-file -verify-diagnostics -relax-simplify -relax-legalize -relax-fuse-tir=final=true


// expected-error @+1 {{primitive function @own cannot become one kernel: it holds relax.reshape, not only calls of kernels; change that, or remove the attribute 'relax.primitive'}}
relax.func private @own(%x: tensor<4xf32>) -> tensor<2x2xf32> attributes {pure, relax.primitive} {
  %0 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relax.shape [2, 2] : !relax.shape<[2, 2]>
  // expected-note @+1 {{this op is in the way}}
  %2 = relax.reshape %0, %1 : (tensor<4xf32>, !relax.shape<[2, 2]>) -> tensor<2x2xf32>
  relax.return %2 : tensor<2x2xf32>
}
relax.func @main(%x: tensor<4xf32>) -> tensor<2x2xf32> {
  %0 = relax.call pure @own(%x) : (tensor<4xf32>) -> tensor<2x2xf32>
  relax.return %0 : tensor<2x2xf32>
}

// -----

// expected-error @+1 {{primitive function @own cannot become one kernel: it is public; change that}}
relax.func @own(%x: tensor<4xf32>) -> tensor<4xf32> attributes {pure, relax.primitive} {
  %0 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  relax.return %0 : tensor<4xf32>
}

// -----

// The kernel would not check them.
// expected-error @+1 {{a call does not prove the bounds of symbol 'n'; declare them in the caller, too}}
relax.func private @own(%x: tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>> attributes {pure, relax.primitive, relax.symbols = {n = #relax.range<1, 8>}} {
  %0 = relax.exp %x : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
  relax.return %0 : tensor<?xf32, #relax.shape<[n]>>
}
relax.func @main(%x: tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>> {
  // expected-note @+1 {{this op is in the way}}
  %0 = relax.call pure @own(%x) : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
  relax.return %0 : tensor<?xf32, #relax.shape<[n]>>
}

// -----

// expected-error @+1 {{a result of a call has an unknown dimension; name those of the operands with relax.match_cast}}
relax.func private @own(%x: tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>> attributes {pure, relax.primitive} {
  %0 = relax.exp %x : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
  relax.return %0 : tensor<?xf32, #relax.shape<[n]>>
}
relax.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  // expected-note @+1 {{this op is in the way}}
  %0 = relax.call pure @own(%x) : (tensor<?xf32>) -> tensor<?xf32>
  relax.return %0 : tensor<?xf32>
}

// -----

// Its constants are not passed to the calls in it.
// expected-error @+1 {{primitive function @own cannot become one kernel: it calls itself; change that}}
relax.func private @own(%x: tensor<2xf32>) -> tensor<2xf32> attributes {pure, relax.primitive} {
  %0 = relax.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %1 = relax.constant dense<[3.0, 4.0]> : tensor<2xf32>
  %2 = relax.add %x, %0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  // expected-note @+1 {{this op is in the way}}
  %3 = relax.call pure @own(%2) : (tensor<2xf32>) -> tensor<2xf32>
  %4 = relax.add %3, %1 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  relax.return %4 : tensor<2xf32>
}
relax.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = relax.call pure @own(%x) : (tensor<2xf32>) -> tensor<2xf32>
  relax.return %0 : tensor<2xf32>
}

// -----

// The function checks the size against the shape; the kernel would not see the shape.
// expected-error @+1 {{a call does not prove the sizes that parameter 0 states, which the kernel is not passed; use relax.match_cast in the caller}}
relax.func private @own(%s: !relax.shape<[n]>, %x: tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>> attributes {pure, relax.primitive} {
  %0 = relax.exp %x : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
  relax.return %0 : tensor<?xf32, #relax.shape<[n]>>
}
relax.func @main(%x: tensor<?xf32, #relax.shape<[a]>>, %s: !relax.shape<[b]>) -> tensor<?xf32, #relax.shape<[b]>> {
  // expected-note @+1 {{this op is in the way}}
  %0 = relax.call pure @own(%s, %x) : (!relax.shape<[b]>, tensor<?xf32, #relax.shape<[a]>>) -> tensor<?xf32, #relax.shape<[b]>>
  relax.return %0 : tensor<?xf32, #relax.shape<[b]>>
}

// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -split-input-file -verify-diagnostics=only-expected

// expected-error @+1 {{#relax.shape has 1 dimensions, the tensor has 2}}
relax.func private @f(tensor<?x?xf32, #relax.shape<[n]>>)

// -----

// expected-error @+1 {{dimension 0 is the constant 4 in #relax.shape, so it must be static in the tensor type too: write 4 for '?'}}
relax.func private @f(tensor<?x?xf32, #relax.shape<[4, n]>>)

// -----

// expected-error @+1 {{dimension 0 is 4 in the tensor type, but 'n' in #relax.shape}}
relax.func private @f(tensor<4xf32, #relax.shape<[n]>>)

// -----

// expected-error @+1 {{dimension 0 is 4 in the tensor type, but '?' in #relax.shape}}
relax.func private @f(tensor<4x?xf32, #relax.shape<[?, n]>>)

// -----

// expected-error @+1 {{dimension 0 is 4 in the tensor type, but '5' in #relax.shape}}
relax.func private @f(tensor<4x?xf32, #relax.shape<[5, n]>>)

// -----

// expected-error @+1 {{#relax.shape without a symbol adds nothing to the tensor type; leave it out}}
relax.func private @f(tensor<?x4xf32, #relax.shape<[?, 4]>>)

// -----

// expected-error @+1 {{dimension 1 is negative: -1}}
relax.func private @f() attributes {a = #relax.shape<[n, -1]>}

// -----

// expected-error @+1 {{upper bound 1 is below the lower bound 2}}
relax.func private @f() attributes {a = #relax.range<2, 1>}

// -----

// expected-error @+1 {{multiple_of must be positive, got 0}}
relax.func private @f() attributes {a = #relax.range<0, 8, multiple_of = 0>}

// -----

// expected-error @+1 {{multiple_of must be positive, got -4}}
relax.func private @f() attributes {a = #relax.range<0, multiple_of = -4>}

// -----

// expected-error @+1 {{expected 'multiple_of'}}
relax.func private @f() attributes {a = #relax.range<0, 1, 2>}

// -----

// expected-error @+1 {{the name of a weight must not be empty}}
relax.func private @f() attributes {a = #relax.weight<"">}

// -----

// expected-error @+1 {{the name of a weight must not contain a zero character, got "w\00x"}}
relax.func private @f() attributes {a = #relax.weight<"w\00x">}

// -----

// expected-error @+1 {{unknown attribute `nothing` in dialect `relax`}}
relax.func private @f() attributes {a = #relax.nothing}

// -----

// expected-error @+1 {{'relax.symbols' must be a dictionary from symbol to #relax.range, got 1 : i64}}
relax.func private @f() attributes {relax.symbols = 1}

// -----

// expected-error @+1 {{the range of symbol 'n' must be a #relax.range, got 1 : i64}}
relax.func private @f(!relax.shape<[n]>) attributes {relax.symbols = {n = 1}}

// -----

// expected-error @+1 {{'a b' in 'relax.symbols' is not a symbol name}}
relax.func private @f() attributes {relax.symbols = {"a b" = #relax.range<0>}}

// -----

// expected-error @+1 {{'relax.symbols' belongs on a function}}
module attributes {relax.symbols = {}} {}

// -----

// expected-error @+1 {{'relax.shape' belongs on a parameter}}
relax.func private @f() attributes {relax.shape = #relax.shape<[n]>}

// -----

// expected-error @+1 {{unknown attribute 'relax.nothing'}}
relax.func private @f() attributes {relax.nothing}

// -----

// expected-error @+1 {{'relax.shape' must be a #relax.shape on a plain ranked tensor or a buffer, got #relax.shape<[n]> on 'index'}}
func.func private @f(index {relax.shape = #relax.shape<[n]>})

// -----

// expected-error @+1 {{'relax.shape' must be a #relax.shape on a plain ranked tensor or a buffer, got #relax.shape<[n]> on 'tensor<*xf32>'}}
func.func private @f(tensor<*xf32> {relax.shape = #relax.shape<[n]>})

// -----

// expected-error @+1 {{'relax.shape' #relax.shape<[n, 4]> does not fit 'tensor<?x?xf32>'}}
func.func private @f(tensor<?x?xf32> {relax.shape = #relax.shape<[n, 4]>})

// -----

// expected-error @+1 {{'relax.symbol' must name a symbol, got "2n"}}
func.func private @f(index {relax.symbol = "2n"})

// -----

// expected-error @+1 {{'relax.symbol' must name a symbol, got 1 : i64}}
func.func private @f(index {relax.symbol = 1})

// -----

// expected-error @+1 {{'relax.symbol' belongs on an integer, got 'tensor<4xf32>'}}
func.func private @f(tensor<4xf32> {relax.symbol = "n"})

// -----

// expected-error @+1 {{unknown attribute 'relax.symbol' on a result}}
func.func private @f() -> (index {relax.symbol = "n"})

// -----

// expected-error @+1 {{unknown attribute 'relax.nothing' on a parameter}}
func.func private @f(index {relax.nothing})

// -----

// expected-error @+1 {{'relax.shape' must be a #relax.shape on a plain ranked tensor or a buffer, got unit on 'tensor<?xf32>'}}
func.func private @f() -> (tensor<?xf32> {relax.shape})

// -----

// expected-error @+1 {{no multiple of 7 is between 1 and 5}}
func.func private @empty_range() attributes {relax.symbols = {n = #relax.range<1, 5, multiple_of = 7>}}

// -----

// expected-error @+1 {{'relax.shape' #relax.shape<[n, 4]> does not fit 'memref<?x5xf32>'}}
func.func private @kernel(memref<?x5xf32> {relax.shape = #relax.shape<[n, 4]>})

// -----

// expected-error @+1 {{'relax.computed_sizes' must be an array of expressions, on a kernel}}
func.func private @kernel(%x: tensor<4xf32>) attributes {relax.computed_sizes = [4 : i64]}

// -----

// expected-error @+1 {{'relax.donated' must be an array of i64 with indices of tensors among its parameters, on a graph function}}
relax.func private @donated_number(%n: i64, %x: tensor<4xf32>) attributes {relax.donated = array<i64: 0>}

// -----

// expected-error @+1 {{'relax.donated' must be an array of i64 with indices of tensors}}
relax.func private @donated_beyond(%x: tensor<4xf32>) attributes {relax.donated = array<i64: 1>}

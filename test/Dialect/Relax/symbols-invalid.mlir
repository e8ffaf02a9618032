// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -split-input-file -verify-diagnostics=only-expected

// expected-error @+1 {{parameter 0 uses symbol 'n', which is not defined here; a symbol is defined by a plain dimension of a parameter, by an integer parameter with relax.symbol, or by relax.match_cast}}
relax.func private @f(tensor<?xf32, #relax.shape<[n + 1]>>)

// -----

// expected-error @+1 {{result 0 uses symbol 'm', which no parameter defines; callers cannot know it: write '?'}}
relax.func private @f(tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[m]>>

// -----

// expected-error @+1 {{result 0 uses symbol 'm', which no parameter defines; callers cannot know it: write '?'}}
relax.func @f(%x: tensor<?xf32>) -> tensor<?xf32, #relax.shape<[m]>> {
  %0 = relax.match_cast %x : (tensor<?xf32>) -> tensor<?xf32, #relax.shape<[m]>>
  relax.return %0 : tensor<?xf32, #relax.shape<[m]>>
}

// -----

relax.func @f(%y: tensor<?xf32>) {
  // expected-error @+1 {{uses symbol 'm', which is not defined here}}
  %0 = relax.sym m : index
  %1 = relax.match_cast %y : (tensor<?xf32>) -> tensor<?xf32, #relax.shape<[m]>>
  relax.return
}

// -----

relax.func @f(%y: tensor<?xf32>) {
  // expected-error @+1 {{uses symbol 'm', which is not defined here}}
  %0 = relax.match_cast %y : (tensor<?xf32>) -> tensor<?xf32, #relax.shape<[m + 1]>>
  relax.return
}

// -----

relax.func @f(%y: tensor<?xf32>) {
  // expected-error @+1 {{uses symbol 'm', which is not defined here}}
  %0 = relax.shape [m] : !relax.shape<[m]>
  relax.return
}

// -----

relax.func @f(%y: tensor<?xf32>) {
  // expected-error @+1 {{uses symbol 'm', which is not defined here}}
  %0 = relax.call_library "f"() sym [m] : () -> tensor<4xf32>
  relax.return
}

// -----

relax.func @f(%c: i1, %x: tensor<4xf32>, %u: tensor<?xf32>) {
  relax.if %c : i1 {
    %1 = relax.match_cast %u : (tensor<?xf32>) -> tensor<?xf32, #relax.shape<[m]>>
    relax.yield
  } else {
    // expected-error @+1 {{uses symbol 'm', which is not defined here}}
    %1 = relax.sym m : index
    relax.yield
  }
  relax.return
}

// -----

relax.func @f(%c: i1, %x: tensor<4xf32>, %u: tensor<?xf32>) {
  relax.if %c : i1 {
    %1 = relax.match_cast %u : (tensor<?xf32>) -> tensor<?xf32, #relax.shape<[m]>>
    relax.yield
  } else {
    relax.yield
  }
  // expected-error @+1 {{uses symbol 'm', which is not defined here}}
  %1 = relax.sym m : index
  relax.return
}

// -----

// expected-error @+1 {{declares a range for symbol 'q', which it never defines}}
relax.func @f(%x: tensor<?xf32, #relax.shape<[n]>>) attributes {relax.symbols = {q = #relax.range<1, 8>}} {
  relax.return
}

// -----

// expected-error @+1 {{parameter 0 uses symbol 'n', which is not defined here}}
func.func private @f(tensor<?xf32> {relax.shape = #relax.shape<[2*n]>}) attributes {relax.symbols = {}}

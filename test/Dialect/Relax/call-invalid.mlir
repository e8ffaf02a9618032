// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -split-input-file -verify-diagnostics=only-expected

relax.func @f(%x: tensor<4xf32>, %n: tensor<?xf32, #relax.shape<[n]>>) {
  // expected-error @+1 {{'kernel' is not a kernel (func.func)}}
  %0 = relax.call_tir @kernel(%x) : (tensor<4xf32>) -> tensor<4xf32>
  relax.return
}

// -----

relax.func @f(%x: tensor<4xf32>, %n: tensor<?xf32, #relax.shape<[n]>>) {
  // expected-error @+1 {{'kernel' is not a kernel (func.func)}}
  %0 = relax.call_tir @kernel(%x) : (tensor<4xf32>) -> tensor<4xf32>
  relax.return
}
relax.func private @kernel(tensor<4xf32>) -> tensor<4xf32>

// -----

relax.func @f(%x: tensor<4xf32>, %n: tensor<?xf32, #relax.shape<[n]>>) {
  // expected-error @+1 {{has 1 results, kernel @kernel returns 0}}
  %0 = relax.call_tir @kernel(%x) : (tensor<4xf32>) -> tensor<4xf32>
  relax.return
}
func.func private @kernel(tensor<4xf32>, tensor<4xf32>)

// -----

relax.func @f(%x: tensor<4xf32>, %n: tensor<?xf32, #relax.shape<[n]>>) {
  // expected-error @+1 {{needs a kernel of 3 parameters (1 inputs, 1 destinations, 1 symbolic arguments), got 2}}
  %0 = relax.call_tir @kernel(%x) sym [n] : (tensor<4xf32>) -> tensor<4xf32>
  relax.return
}
func.func private @kernel(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

// -----

relax.func @f(%x: tensor<4xf32>, %n: tensor<?xf32, #relax.shape<[n]>>) {
  // expected-error @+1 {{input 0: expected element type 'f16', got 'f32'}}
  %0 = relax.call_tir @kernel(%x) : (tensor<4xf32>) -> tensor<4xf32>
  relax.return
}
func.func private @kernel(tensor<4xf16>, tensor<4xf32>) -> tensor<4xf32>

// -----

relax.func @f(%x: tensor<4xf32>, %n: tensor<?xf32, #relax.shape<[n]>>) {
  // expected-error @+1 {{result 0: expected rank 2, got rank 1}}
  %0 = relax.call_tir @kernel(%x) : (tensor<4xf32>) -> tensor<4xf32>
  relax.return
}
func.func private @kernel(tensor<4xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>

// -----

relax.func @f(%x: tensor<4xf32>, %n: tensor<?xf32, #relax.shape<[n]>>) {
  // expected-error-re @+1 {{dimension 0 of result 0: expected m{{.*}}4{{.*}}, got 5}}
  %0 = relax.call_tir @kernel(%x) : (tensor<4xf32>) -> tensor<5xf32>
  relax.return
}
func.func private @kernel(tensor<?xf32> {relax.shape = #relax.shape<[m]>}, tensor<?xf32> {relax.shape = #relax.shape<[m]>}) -> tensor<?xf32>

// -----

relax.func @f(%x: tensor<4xf32>, %n: tensor<?xf32, #relax.shape<[n]>>) {
  // expected-error-re @+1 {{dimension 0 of result 0: expected m{{.*}}n{{.*}}, got n + 1}}
  %0 = relax.call_tir @kernel(%n) : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n + 1]>>
  relax.return
}
func.func private @kernel(tensor<?xf32> {relax.shape = #relax.shape<[m]>}, tensor<?xf32> {relax.shape = #relax.shape<[m]>}) -> tensor<?xf32>

// -----

relax.func @f(%x: tensor<4xf32>, %n: tensor<?xf32, #relax.shape<[n]>>) {
  // expected-error @+1 {{symbolic argument 0: the kernel's parameter 2 must be an integer, got 'tensor<4xf32>'}}
  %0 = relax.call_tir @kernel(%x) sym [n] : (tensor<4xf32>) -> tensor<4xf32>
  relax.return
}
func.func private @kernel(tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

// -----

relax.func @f(%x: tensor<4xf32>, %n: tensor<?xf32, #relax.shape<[n]>>) {
  // expected-error-re @+1 {{symbolic argument 0: expected m{{.*}}4{{.*}}, got 5}}
  %0 = relax.call_tir @kernel(%x) sym [5] : (tensor<4xf32>) -> tensor<4xf32>
  relax.return
}
func.func private @kernel(tensor<?xf32> {relax.shape = #relax.shape<[m]>}, tensor<4xf32>, index {relax.symbol = "m"}) -> tensor<4xf32>

// -----

relax.func @f(%x: tensor<4xf32>, %n: tensor<?xf32, #relax.shape<[n]>>) {
  // expected-error @+1 {{an expression must be known, got '?'}}
  %0 = relax.call_tir @kernel(%x) sym [?] : (tensor<4xf32>) -> tensor<4xf32>
  relax.return
}

// -----

relax.func @f(%x: tensor<4xf32>, %n: tensor<?xf32, #relax.shape<[n]>>) {
  // expected-error @+1 {{result #0 is allocated by the caller, so each of its dimensions must be known, got 'tensor<?xf32>'}}
  %0 = relax.call_tir @kernel(%x) : (tensor<4xf32>) -> tensor<?xf32>
  relax.return
}
func.func private @kernel(tensor<4xf32>, tensor<?xf32>) -> tensor<?xf32>

// -----

relax.func @f(%x: tensor<4xf32>, %n: tensor<?xf32, #relax.shape<[n]>>) {
  // expected-error @+1 {{result #0 is allocated by the caller, so each of its dimensions must be known, got 'tensor<*xf32>'}}
  %0 = relax.call_library "f"(%x) : (tensor<4xf32>) -> tensor<*xf32>
  relax.return
}

// -----

relax.func @f(%x: tensor<4xf32>, %n: tensor<?xf32, #relax.shape<[n]>>) {
  // expected-error @+1 {{the name of a library function must not be empty}}
  %0 = relax.call_library ""(%x) : (tensor<4xf32>) -> tensor<4xf32>
  relax.return
}

// -----

relax.func @f(%x: tensor<4xf32>, %n: tensor<?xf32, #relax.shape<[n]>>) {
  // expected-error @+1 {{the name of a library function must not contain a zero character, got "a\00b"}}
  %0 = relax.call_library "a\00b"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  relax.return
}

// -----

relax.func @f(%x: tensor<4xf32>, %n: tensor<?xf32, #relax.shape<[n]>>) {
  // expected-error @+1 {{the name of a library function must not contain a zero character, got "\00"}}
  %0 = relax.call_library_inplace "\00"(%x) inplace [0] : (tensor<4xf32>) -> tensor<4xf32>
  relax.return
}

// -----

relax.func @f(%x: tensor<4xf32>, %n: tensor<?xf32, #relax.shape<[n]>>) {
  // expected-error @+1 {{has 1 results and 2 inplace indices}}
  %0 = relax.call_tir_inplace @kernel(%x) inplace [0, -1] : (tensor<4xf32>) -> tensor<4xf32>
  relax.return
}

// -----

relax.func @f(%x: tensor<4xf32>, %n: tensor<?xf32, #relax.shape<[n]>>) {
  // expected-error @+1 {{inplace index 1 is out of range for 1 operands}}
  %0 = relax.call_tir_inplace @kernel(%x) inplace [1] : (tensor<4xf32>) -> tensor<4xf32>
  relax.return
}

// -----

relax.func @f(%x: tensor<4xf32>, %n: tensor<?xf32, #relax.shape<[n]>>) {
  // expected-error @+1 {{inplace index -2 is out of range for 1 operands}}
  %0 = relax.call_tir_inplace @kernel(%x) inplace [-2] : (tensor<4xf32>) -> tensor<4xf32>
  relax.return
}

// -----

relax.func @f(%x: tensor<4xf32>, %n: tensor<?xf32, #relax.shape<[n]>>) {
  // expected-error @+1 {{operand 0 cannot be the storage of two results}}
  %0:2 = relax.call_tir_inplace @kernel(%x) inplace [0, 0] : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  relax.return
}

// -----

relax.func @f(%x: tensor<4xf32>, %n: tensor<?xf32, #relax.shape<[n]>>) {
  // expected-error @+1 {{result #0 is 'tensor<5xf32>', but takes the storage of operand 0, a 'tensor<4xf32>'}}
  %0 = relax.call_tir_inplace @kernel(%x) inplace [0] : (tensor<4xf32>) -> tensor<5xf32>
  relax.return
}

// -----

relax.func @f(%x: tensor<4xf32>, %n: tensor<?xf32, #relax.shape<[n]>>) {
  // expected-error @+1 {{result #0 is allocated by the caller, so each of its dimensions must be known, got 'tensor<?xf32>'}}
  %0 = relax.call_tir_inplace @kernel(%x) inplace [-1] : (tensor<4xf32>) -> tensor<?xf32>
  relax.return
}

// -----

relax.func @f(%x: tensor<4xf32>, %n: tensor<?xf32, #relax.shape<[n]>>) {
  // expected-error @+1 {{'kernel' is not a kernel (func.func)}}
  %0 = relax.call_tir_inplace @kernel(%x) inplace [0] : (tensor<4xf32>) -> tensor<4xf32>
  relax.return
}

// -----

relax.func @f(%x: tensor<4xf32>, %n: tensor<?xf32, #relax.shape<[n]>>) {
  // expected-error @+1 {{needs a kernel of 1 parameters (1 inputs, 0 destinations, 0 symbolic arguments), got 2}}
  %0 = relax.call_tir_inplace @kernel(%x) inplace [0] : (tensor<4xf32>) -> tensor<4xf32>
  relax.return
}
func.func private @kernel(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>

// -----

func.func private @undetermined(%x: tensor<?xf32> {relax.shape = #relax.shape<[n*q]>})

relax.func @caller(%x: tensor<?xf32, #relax.shape<[n]>>) {
  // expected-error @+1 {{no argument determines symbol}}
  relax.call_tir @undetermined(%x) : (tensor<?xf32, #relax.shape<[n]>>) -> ()
  relax.return
}

// -----

func.func private @other_result(%x: tensor<4xf32>, %out: tensor<4xf32>) -> tensor<4xf16>

relax.func @caller(%x: tensor<4xf32>) {
  // expected-error @+1 {{kernel result 0: expected element type 'f16', got 'f32'}}
  %0 = relax.call_tir @other_result(%x) : (tensor<4xf32>) -> tensor<4xf32>
  relax.return
}

// -----

// The in-place index of a library call must be the index of an operand.
relax.func @library_inplace(%x: tensor<4xf32>) {
  // expected-error @+1 {{inplace index 1 is out of range for 1 operands}}
  %0 = relax.call_library_inplace "f"(%x) inplace [1] : (tensor<4xf32>) -> tensor<4xf32>
  relax.return
}

// -----

relax.func @f(%x: tensor<4xf32>, %n: tensor<?xf32, #relax.shape<[n]>>) {
  // expected-error @+1 {{input 1: expected element type 'f16', got 'f32'}}
  %0 = relax.call_tir_inplace @kernel(%x, %x) inplace [1] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  relax.return
}
func.func private @kernel(memref<4xf32>, memref<4xf16>)

// -----

relax.func @f(%x: tensor<4xf32>, %n: tensor<?xf32, #relax.shape<[n]>>) {
  // expected-error @+1 {{input 0: expected rank 2, got rank 1}}
  %0 = relax.call_tir_inplace @kernel(%x) inplace [0] : (tensor<4xf32>) -> tensor<4xf32>
  relax.return
}
func.func private @kernel(memref<?x4xf32> {relax.shape = #relax.shape<[m, 4]>})

// -----

relax.func @f(%x: tensor<4xf32>, %n: tensor<?xf32, #relax.shape<[n]>>) {
  // expected-error-re @+2 {{dimension 0 of input 1: expected m{{.*}}n{{.*}}, got n + 1}}
  %0 = relax.call_library "f"() : () -> tensor<?xf32, #relax.shape<[n + 1]>>
  %1 = relax.call_tir_inplace @kernel(%n, %0) inplace [1] : (tensor<?xf32, #relax.shape<[n]>>, tensor<?xf32, #relax.shape<[n + 1]>>) -> tensor<?xf32, #relax.shape<[n + 1]>>
  relax.return
}
func.func private @kernel(memref<?xf32> {relax.shape = #relax.shape<[m]>}, memref<?xf32> {relax.shape = #relax.shape<[m]>})

// -----

relax.func @f(%x: tensor<4xf32>, %n: tensor<?xf32, #relax.shape<[n]>>) {
  // expected-error @+1 {{needs a kernel of 1 parameters (1 inputs, 0 destinations, 0 symbolic arguments), got 2}}
  %0 = relax.call_tir_inplace @kernel(%x) inplace [0] : (tensor<4xf32>) -> tensor<4xf32>
  relax.return
}
func.func private @kernel(memref<4xf32>, memref<4xf32>)

// -----

relax.func @f(%x: tensor<4xf32>, %n: tensor<?xf32, #relax.shape<[n]>>) {
  // expected-error @+1 {{result 0: expected element type 'i32', got 'f32'}}
  %0 = relax.call_tir_inplace @kernel(%x) inplace [-1] : (tensor<4xf32>) -> tensor<4xf32>
  relax.return
}
func.func private @kernel(memref<4xf32>, memref<4xi32>)

// -----

relax.func @f(%x: tensor<4xf32>, %n: tensor<?xf32, #relax.shape<[n]>>) {
  // expected-error @+1 {{result #0 is 'tensor<5xf32>', but takes the storage of operand 0, a 'tensor<4xf32>'}}
  %0 = relax.call_tir_inplace @kernel(%x) inplace [0] : (tensor<4xf32>) -> tensor<5xf32>
  relax.return
}
func.func private @kernel(memref<4xf32>)

// -----

relax.func @f(%x: tensor<4xf32>, %n: tensor<?xf32, #relax.shape<[n]>>) {
  // expected-error @+1 {{input 0: expected 'memref<4xf32, strided<[2]>>', got 'tensor<4xf32>'}}
  %0 = relax.call_tir_inplace @kernel(%x) inplace [0] : (tensor<4xf32>) -> tensor<4xf32>
  relax.return
}
func.func private @kernel(memref<4xf32, strided<[2]>>)

// -----

relax.func @f(%x: tensor<4xf32>, %u: tensor<?xf32>) {
  // expected-error @+1 {{no argument determines symbol 'k' of the kernel}}
  %0 = relax.call_tir_inplace @kernel(%u) inplace [0] : (tensor<?xf32>) -> tensor<?xf32>
  relax.return
}
func.func private @kernel(memref<?xf32> {relax.shape = #relax.shape<[2*k]>})

// -----

relax.func @f(%x: tensor<4xf32>, %n: tensor<?xf32, #relax.shape<[n]>>) {
  // expected-error @+1 {{has 1 results, kernel @kernel returns 0}}
  %0 = relax.call_tir_inplace @kernel(%x, %x) inplace [1] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  relax.return
}
func.func private @kernel(memref<4xf32>, tensor<4xf32>)

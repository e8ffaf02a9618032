// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -split-input-file -verify-diagnostics=only-expected

// expected-error @+1 {{body must be one block, got 2; control flow is relax.if and relax.while}}
"relax.func"() ({
^bb0:
  relax.return
^bb1:
  relax.return
}) {function_type = () -> (), sym_name = "f"} : () -> ()

// -----

relax.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{has 0 operands, @f returns 1}}
  relax.return
}

// -----

relax.func @f(%x: tensor<4xf32>) -> tensor<5xf32> {
  // expected-error @+1 {{operand 0 is 'tensor<4xf32>', @f returns 'tensor<5xf32>'}}
  relax.return %x : tensor<4xf32>
}

// -----

// Types that may or may not match are an error.
relax.func @f(%x: tensor<?xf32, #relax.shape<[n]>>, %y: tensor<?xf32, #relax.shape<[m]>>) -> tensor<?xf32, #relax.shape<[m]>> {
  // expected-error @+1 {{operand 0 is 'tensor<?xf32, #relax.shape<[n]>>', @f returns 'tensor<?xf32, #relax.shape<[m]>>'}}
  relax.return %x : tensor<?xf32, #relax.shape<[n]>>
}

// -----

relax.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'missing' is not a relax.func}}
  relax.call @missing(%x) : (tensor<4xf32>) -> ()
  relax.return
}

// -----

relax.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'kernel' is not a relax.func}}
  relax.call @kernel(%x) : (tensor<4xf32>) -> ()
  relax.return
}
func.func private @kernel(tensor<4xf32>)

// -----

relax.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{passes 2 arguments, the callee has 1 parameters}}
  relax.call @g(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> ()
  relax.return
}
relax.func private @g(tensor<4xf32>)

// -----

relax.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{has 1 results, the callee returns 0}}
  %0 = relax.call @g(%x) : (tensor<4xf32>) -> tensor<4xf32>
  relax.return
}
relax.func private @g(tensor<4xf32>)

// -----

relax.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{argument 0: expected element type 'f16', got 'f32'}}
  relax.call @g(%x) : (tensor<4xf32>) -> ()
  relax.return
}
relax.func private @g(tensor<4xf16>)

// -----

relax.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{argument 0: expected rank 2, got rank 1}}
  relax.call @g(%x) : (tensor<4xf32>) -> ()
  relax.return
}
relax.func private @g(tensor<4x4xf32>)

// -----

relax.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{argument 0: expected '!relax.shape<[n]>', got 'tensor<4xf32>'}}
  relax.call @g(%x) : (tensor<4xf32>) -> ()
  relax.return
}
relax.func private @g(!relax.shape<[n]>)

// -----

relax.func @f(%x: tensor<13xf32>, %s: !relax.shape<1>) {
  // expected-error-re @+1 {{dimension 0 of argument 0: expected 2*n{{.*}}, got 13}}
  relax.call @g(%x, %s) : (tensor<13xf32>, !relax.shape<1>) -> ()
  relax.return
}
relax.func private @g(tensor<?xf32, #relax.shape<[2*n]>>, !relax.shape<[n]>)

// -----

// The symbol has two values.
relax.func @f(%x: tensor<4xf32>, %y: tensor<5xf32>) {
  // expected-error-re @+1 {{dimension 0 of argument 1: expected n{{.*}}4{{.*}}, got 5}}
  relax.call @g(%x, %y) : (tensor<4xf32>, tensor<5xf32>) -> ()
  relax.return
}
relax.func private @g(tensor<?xf32, #relax.shape<[n]>>, tensor<?xf32, #relax.shape<[n]>>)

// -----

// The argument violates a declared bound of the callee.
relax.func @f(%x: tensor<4096xf32>) {
  // expected-error-re @+1 {{dimension 0 of argument 0{{.*}}2048}}
  relax.call @g(%x) : (tensor<4096xf32>) -> ()
  relax.return
}
relax.func private @g(tensor<?xf32, #relax.shape<[n]>>) attributes {relax.symbols = {n = #relax.range<1, 2048>}}

// -----

// The integer that carries the symbol contradicts the tensor.
relax.func @f(%x: tensor<4xf32>) {
  %0 = relax.sym 5 : index
  // expected-error-re @+1 {{argument 1: expected n{{.*}}4{{.*}}, got 5}}
  relax.call @g(%x, %0) : (tensor<4xf32>, index) -> ()
  relax.return
}
relax.func private @g(tensor<?xf32, #relax.shape<[n]>>, index {relax.symbol = "n"})

// -----

relax.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{result #0 is declared as 'tensor<5xf32>', but 'tensor<4xf32>' is deduced}}
  %0 = relax.call @g(%x) : (tensor<4xf32>) -> tensor<5xf32>
  relax.return
}
relax.func private @g(tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>

// -----

relax.func @f(%x: tensor<?xf32>) {
  // expected-error @+1 {{result #0 is declared as 'tensor<4xf32>', but only 'tensor<?xf32>' can be deduced; assert more with relax.match_cast}}
  %0 = relax.call @g(%x) : (tensor<?xf32>) -> tensor<4xf32>
  relax.return
}
relax.func private @g(tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>

// -----

relax.func @f(%t: tuple<tensor<4xf32>>) {
  // expected-error @+1 {{argument 0: expected 'tuple<tensor<4xf32>, tensor<4xf32>>', got 'tuple<tensor<4xf32>>'}}
  relax.call @g(%t) : (tuple<tensor<4xf32>>) -> ()
  relax.return
}
relax.func private @g(tuple<tensor<4xf32>, tensor<4xf32>>)

// -----

relax.func @f(%t: tuple<tensor<4xf32>>) {
  // expected-error @+1 {{dimension 0 of member 0 of argument 0: expected 5, got 4}}
  relax.call @g(%t) : (tuple<tensor<4xf32>>) -> ()
  relax.return
}
relax.func private @g(tuple<tensor<5xf32>>)

// -----

relax.func @f(%g: (tensor<4xf32>) -> tensor<4xf32>, %x: tensor<5xf32>) {
  // expected-error @+1 {{dimension 0 of argument 0: expected 4, got 5}}
  %0 = relax.call_closure %g(%x) : (tensor<4xf32>) -> tensor<4xf32> calls (tensor<5xf32>) -> tensor<4xf32>
  relax.return
}

// -----

relax.func @f() {
  // expected-error @+1 {{expected one result of function type, got '() -> tensor<4xf32>'}}
  %0 = relax.make_closure @g() : () -> tensor<4xf32>
  relax.return
}

// -----

relax.func @f() {
  // expected-error @+1 {{'g' is not a relax.func}}
  %0 = relax.make_closure @g() : () -> (() -> ())
  relax.return
}

// -----

relax.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{binds 1 arguments, @g has 0 parameters}}
  %0 = relax.make_closure @g(%x) : (tensor<4xf32>) -> (() -> ())
  relax.return
}
relax.func private @g()

// -----

relax.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{dimension 0 of argument 0: expected 5, got 4}}
  %0 = relax.make_closure @g(%x) : (tensor<4xf32>) -> (() -> ())
  relax.return
}
relax.func private @g(tensor<5xf32>)

// -----

relax.func @f() {
  // expected-error @+1 {{makes a '(tensor<4xf32>) -> tensor<4xf32>', declared as '(tensor<4xf32>) -> tensor<5xf32>'}}
  %0 = relax.make_closure @g() : () -> ((tensor<4xf32>) -> tensor<5xf32>)
  relax.return
}
relax.func private @g(tensor<4xf32>) -> tensor<4xf32>

// -----

// A symbol of the callee and a symbol of the captured value are different, even if they have the same name.
relax.func @f(%w: tensor<?xf32, #relax.shape<[n]>>) {
  // expected-error @+1 {{declared as '(tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>'}}
  %0 = relax.make_closure @g(%w) : (tensor<?xf32, #relax.shape<[n]>>) -> ((tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>)
  relax.return
}
relax.func private @g(tensor<?xf32, #relax.shape<[k]>>, tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[k]>>

// -----

relax.func private @with_effects(%x: tensor<4xf32>) -> tensor<4xf32>

relax.func @pure_call(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{is pure, but @with_effects is not}}
  %0 = relax.call pure @with_effects(%x) : (tensor<4xf32>) -> tensor<4xf32>
  relax.return %0 : tensor<4xf32>
}

// -----

relax.func @not_pure(%c: i1) attributes {pure} {
  // expected-error @+1 {{may have side effects, which the pure @not_pure must not}}
  relax.assert %c, "stop" : i1
  relax.return
}

// -----

relax.func private @callee(%x: tensor<4xf32>) -> tensor<4xf32>

relax.func @impure_call_in_dataflow(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relax.dataflow -> tensor<4xf32> {
    // expected-error @+1 {{may have side effects, which a relax.dataflow block must not}}
    %1 = relax.call @callee(%x) : (tensor<4xf32>) -> tensor<4xf32>
    relax.output %1 : tensor<4xf32>
  }
  relax.return %0 : tensor<4xf32>
}

// -----

// expected-error @+1 {{parameter 0 is a 'memref<4xf32>'; a graph function works on tensors of numbers}}
relax.func @memref_parameter(%x: memref<4xf32>) {
  relax.return
}

// -----

// expected-error @+1 {{result 0 is a 'vector<4xf32>'}}
relax.func private @vector_result() -> vector<4xf32>

// -----

// expected-error @+1 {{'relax.shape' belongs on kernels; the shapes of a graph function are in its types}}
relax.func @kernel_attribute(%x: tensor<?xf32> {relax.shape = #relax.shape<[n]>}) {
  relax.return
}

// -----

// expected-error @+1 {{declares a range for symbol 'k', which it never defines}}
relax.func private @unknown_range(tensor<4xf32>) attributes {relax.symbols = {k = #relax.range<1, 2>}}

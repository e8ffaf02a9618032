// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-opt %s -split-input-file -verify-diagnostics -relax-check-devices

// An op takes tensors where its function runs.
relax.func @op(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-note @+1 {{made here}}
  %0 = relax.to_device %x to "host" : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{operand 1 is on the host, and the function runs on the device; insert relax.to_device to "device"}}
  %1 = relax.add %x, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  relax.return %1 : tensor<4xf32>
}

// -----

// The same holds in the other direction, and in a dataflow block.
relax.func @on_the_host(%x: tensor<4xf32>) -> tensor<4xf32> attributes {relax.device = "host"} {
  %0 = relax.dataflow -> tensor<4xf32> {
    // expected-note @+1 {{made here}}
    %1 = relax.to_device %x to "device" : (tensor<4xf32>) -> tensor<4xf32>
    // expected-error @+1 {{operand 0 is on the device, and the function runs on the host}}
    %2 = relax.exp %1 : (tensor<4xf32>) -> tensor<4xf32>
    relax.output %2 : tensor<4xf32>
  }
  relax.return %0 : tensor<4xf32>
}

// -----

// The operands of a call must be on the sides that the callee's parameters
// state.
relax.func private @host(%x: tensor<4xf32>) -> tensor<4xf32> attributes {relax.device = "host"}
relax.func @call(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{operand 0 is on the device, and '@host' takes it on the host; insert relax.to_device to "host"}}
  %0 = relax.call @host(%x) : (tensor<4xf32>) -> tensor<4xf32>
  relax.return %0 : tensor<4xf32>
}

// -----

// The results of a function are on the side that its signature states.
relax.func private @host(%x: tensor<4xf32>) -> tensor<4xf32> attributes {relax.device = "host"}
relax.func @result(%x: tensor<4xf32> {relax.device = "host"}) -> tensor<4xf32> {
  // expected-note @+1 {{made here}}
  %0 = relax.call @host(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{operand 0 is on the host, and the function returns it on the device}}
  relax.return %0 : tensor<4xf32>
}

// -----

// Both branches yield a value on one side.
relax.func @branches(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relax.if %c : i1 -> tensor<4xf32> {
    relax.yield %x : tensor<4xf32>
  } else {
    // expected-note @+1 {{made here}}
    %1 = relax.to_device %x to "host" : (tensor<4xf32>) -> tensor<4xf32>
    // expected-error @+1 {{operand 0 is on the host, and the other branch yields it on the device}}
    relax.yield %1 : tensor<4xf32>
  }
  relax.return %0 : tensor<4xf32>
}

// -----

// Loop-carried values stay on their side.
relax.func @loop(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relax.while %x : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    relax.condition %c : i1
  } do {
  ^bb0(%a: tensor<4xf32>):
    // expected-note @+1 {{made here}}
    %1 = relax.to_device %a to "host" : (tensor<4xf32>) -> tensor<4xf32>
    // expected-error @+1 {{operand 0 is on the host, and the loop begins with it on the device}}
    relax.yield %1 : tensor<4xf32>
  }
  relax.return %0 : tensor<4xf32>
}

// -----

// The type of a callable does not say where its tensors are.
relax.func private @host(%x: tensor<4xf32>) -> tensor<4xf32> attributes {relax.device = "host"}
relax.func @callable() -> ((tensor<4xf32>) -> tensor<4xf32>) {
  // expected-error @+1 {{'@host' must run, and have its parameters and results, on the device, as the function that makes the callable; call it with relax.call}}
  %0 = relax.make_closure @host() : () -> ((tensor<4xf32>) -> tensor<4xf32>)
  relax.return %0 : (tensor<4xf32>) -> tensor<4xf32>
}

// -----

// Members of a tuple are on one side.
relax.func @tuple(%x: tensor<4xf32>, %y: tensor<4xf32> {relax.device = "host"}) -> tuple<tensor<4xf32>, tensor<4xf32>> {
  // expected-error @+1 {{operand 1 is on the host, and the first member is on the device}}
  %0 = relax.tuple %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>
  relax.return %0 : tuple<tensor<4xf32>, tensor<4xf32>>
}

// -----

// Views, sizes and conditions may be on either side, and so may parameters and results.
relax.func @right(%c: tensor<i1> {relax.device = "host"}, %x: tensor<?xf32, #relax.shape<[n]>> {relax.device = "host"})
    -> (tensor<?x1xf32, #relax.shape<[n, 1]>>, tensor<?xf32, #relax.shape<[n]>> {relax.device = "host"}, !relax.shape<[n]>) {
  %s = relax.shape_of %x : (tensor<?xf32, #relax.shape<[n]>>) -> !relax.shape<[n]>
  %0 = relax.expand_dims %x axis [1] : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?x1xf32, #relax.shape<[n, 1]>>
  %1 = relax.to_device %0 to "device" : (tensor<?x1xf32, #relax.shape<[n, 1]>>) -> tensor<?x1xf32, #relax.shape<[n, 1]>>
  %2 = relax.if %c : tensor<i1> -> tensor<?x1xf32, #relax.shape<[n, 1]>> {
    %3 = relax.exp %1 : (tensor<?x1xf32, #relax.shape<[n, 1]>>) -> tensor<?x1xf32, #relax.shape<[n, 1]>>
    relax.yield %3 : tensor<?x1xf32, #relax.shape<[n, 1]>>
  } else {
    relax.yield %1 : tensor<?x1xf32, #relax.shape<[n, 1]>>
  }
  relax.return %2, %x, %s : tensor<?x1xf32, #relax.shape<[n, 1]>>, tensor<?xf32, #relax.shape<[n]>>, !relax.shape<[n]>
}

// -----

// expected-error @+1 {{'relax.device' must be "host" or "device", on a graph function, a value of it, or what allocates or copies}}
relax.func @nowhere() attributes {relax.device = "cuda"} {
  relax.return
}

// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-lsp-server -lit-test < %s | FileCheck %s

{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"processId":123,"rootPath":"relax","capabilities":{},"trace":"off"}}
// -----
{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"test:///main.mlir","languageId":"mlir","version":1,"text":"relax.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %0 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>\n  %1 = relax.call @f(%0) : (tensor<4xf32>) -> tensor<4xf32>\n  %2 = func.call @g() : () -> i1\n  relax.return %1 : tensor<4xf32>\n}\nrelax.func private @f(%x: tensor<4xf32>) -> tensor<4xf32>\nfunc.func private @g() -> i1"}}}
// -----

// An op shows its documentation and example, then what MLIR's server shows.
{"jsonrpc":"2.0","id":1,"method":"textDocument/hover","params":{"textDocument":{"uri":"test:///main.mlir"},"position":{"line":1,"character":10}}}
// CHECK:      "id": 1,
// CHECK:        "contents": {
// CHECK-NEXT:     "kind": "markdown",
// CHECK-NEXT:     "value": "\"relax.exp\"\n\n_E to the power of x, element by element_\n\nSyntax:{{.*}}Example:\n\n```mlir\n%y = relax.exp %x :{{.*}}\n---\n\nGeneric Form:
// CHECK-NOT:  MemoryEffects
// -----

// An op of another dialect shows what MLIR's server shows.
{"jsonrpc":"2.0","id":2,"method":"textDocument/hover","params":{"textDocument":{"uri":"test:///main.mlir"},"position":{"line":3,"character":10}}}
// CHECK:      "id": 2,
// CHECK:          "value": "\"func.call\"\n\nGeneric Form:
// -----

// A function that is called is found.
{"jsonrpc":"2.0","id":3,"method":"textDocument/definition","params":{"textDocument":{"uri":"test:///main.mlir"},"position":{"line":2,"character":19}}}
// CHECK:      "id": 3,
// CHECK:          "range": {
// CHECK:            "start": {
// CHECK-NEXT:         "character": 0,
// CHECK-NEXT:         "line": 6
// -----

// A symbol of sizes is defined where it is a plain dimension, in the same function.
{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"test:///sizes.mlir","languageId":"mlir","version":1,"text":"relax.func private @f(tensor<?xf32, #relax.shape<[n]>>)\nrelax.func private @g(tensor<?x?xf32, #relax.shape<[2*n, n]>>) -> tensor<?xf32, #relax.shape<[n + 1]>>"}}}
// -----
{"jsonrpc":"2.0","id":6,"method":"textDocument/definition","params":{"textDocument":{"uri":"test:///sizes.mlir"},"position":{"line":1,"character":94}}}
// CHECK:      "id": 6,
// CHECK:          "range": {
// CHECK-NEXT:       "end": {
// CHECK-NEXT:         "character": 58,
// CHECK-NEXT:         "line": 1
// CHECK-NEXT:       },
// CHECK-NEXT:       "start": {
// CHECK-NEXT:         "character": 57,
// CHECK-NEXT:         "line": 1
// -----
{"jsonrpc":"2.0","id":7,"method":"textDocument/definition","params":{"textDocument":{"uri":"test:///sizes.mlir"},"position":{"line":1,"character":12}}}
// CHECK:      "id": 7,
// CHECK:      "result": []
// -----

// Names of ops complete after the dialect's name.
{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"test:///main.mlir","version":2},"contentChanges":[{"text":"relax.func @main(%x: tensor<4xf32>) {\n  %0 = relax.\n}"}]}}
// -----
{"jsonrpc":"2.0","id":4,"method":"textDocument/completion","params":{"textDocument":{"uri":"test:///main.mlir"},"position":{"line":1,"character":13},"context":{"triggerKind":1}}}
// CHECK:      "id": 4,
// CHECK:            "label": "softmax",
// -----
{"jsonrpc":"2.0","id":5,"method":"shutdown"}
// -----
{"jsonrpc":"2.0","method":"exit"}

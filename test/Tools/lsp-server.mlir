// Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: relax-lsp-server -lit-test < %s | FileCheck %s

// The server reports an error in a file to the editor that opens it.
{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"processId":123,"rootPath":"relax","capabilities":{},"trace":"off"}}
// CHECK:      "name": "mlir-lsp-server"
// -----
{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"test:///main.mlir","languageId":"mlir","version":1,"text":"relax.func @main(%x: tensor<4xf32>, %y: tensor<5xf32>) {\n  %0 = relax.add %x, %y : (tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32>\n  relax.return\n}"}}}
// CHECK:      "method": "textDocument/publishDiagnostics"
// CHECK:        "message": "'relax.add' op operands cannot be broadcast: dimension 0 of lhs is 4, dimension 0 of rhs is 5"
// CHECK:            "line": 1
// -----
{"jsonrpc":"2.0","id":3,"method":"shutdown"}
// -----
{"jsonrpc":"2.0","method":"exit"}

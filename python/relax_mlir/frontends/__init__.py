# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Front ends: programs of other frameworks as modules.

`relax_mlir.frontends.torch` imports programs of `torch.export`, `relax_mlir.frontends.onnx` models of ONNX. What front
ends share is here, and needs no framework: `registry` (converters by the name of the op), `tree` (the structure of a
user's inputs and outputs) and `program` (an imported program, and what it becomes when it is compiled).
"""

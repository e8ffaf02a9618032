# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A program with mistakes: mypy reports the code that ends a line there, and nothing elsewhere (test_typing.py)."""

import math

import relax_mlir
from relax_mlir import BlockBuilder, Module, Range, Sym, Tensor, Value, compile, nn, op
from relax_mlir.pipelines import Canonicalize, Pipeline


def build(bb: BlockBuilder, x: Value, module: Module) -> None:
    op.relu("x")  # arg-type
    op.relu(None)  # arg-type
    op.matmul(x)  # call-arg
    op.softmax(x, axis="last")  # arg-type
    op.concat(x, axis=0)  # arg-type
    op.conv2d(x, x, stride=2)  # call-arg
    op.no_such_op(x)  # attr-defined
    math.factorial(op.exp(x))  # arg-type
    print(op.exp(x).no_such_attribute)  # attr-defined
    print(x + "1")  # arg-type
    print((x @ x).no_such_attribute)  # attr-defined
    first, _second = op.split(x, 2)
    print(first.no_such_attribute)  # attr-defined
    Tensor((Sym("n"), 1.5))  # arg-type
    Tensor((4,), 32)  # arg-type
    str.upper(Sym("n") + 1)  # arg-type
    Range("1")  # arg-type
    bb.function("main", x)  # arg-type
    bb.no_such_method()  # attr-defined
    bb.emit("y")  # arg-type
    compile("module")  # arg-type
    compile(module, targets="cuda")  # call-arg
    compile(module).no_such_method()  # attr-defined
    Pipeline("canonicalize")  # arg-type
    Pipeline([Canonicalize])  # list-item
    Pipeline([len])  # list-item
    Canonicalize(max_iteration=3)  # call-arg
    nn.Linear("4", 8)  # arg-type
    relax_mlir.load(3)  # arg-type
    relax_mlir.no_such_function()  # attr-defined

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sizes and positions that only a kernel computes: callers report undefined ones, fused or not."""

import itertools

import numpy as np
import pytest
from sample import part

import relax_mlir
from relax_mlir import BlockBuilder, Sym, op

m, n = Sym("m"), Sym("n")

# The expression, values of m and n for which it is undefined, the error message, and values for which it is small.
FAULTS = {
    "quotient": (n // m, (0, 5), "'n floordiv m' divides by zero", (2, 5)),
    "rest": (n % m, (0, 5), "divides by zero", (2, 5)),
    "multiple": (n * 2**58, (1, 32), "exceeds 64 bits", (1, 0)),
    "power": (n * n * n * n, (1, 2**16), "exceeds 64 bits", (1, 1)),
    "sum": (n * 2**57 + m * 2**57, (32, 32), "exceeds 64 bits", (0, 0)),
}


def seven():
    return op.astype(op.arange(0, 7, 1, "i64"), "f32")


# Ops that take a size or a position.
OPS = {
    "slice_end": lambda e: op.strided_slice(seven(), [0], [0], [e]),
    "slice_begin": lambda e: op.strided_slice(seven(), [0], [e], [7]),
    "arange_end": lambda e: op.arange(0, e, 1, "i64"),
    "arange_both": lambda e: op.arange(e, e + 3, 1, "i64"),
    "broadcast": lambda e: op.broadcast_to(op.ones([1], "f32"), [e]),
    "full": lambda e: op.full([e], 2.0, "f32"),
    "one_hot": lambda e: op.one_hot(op.arange(0, 2, 1, "i64"), e, 1.0, 0.0),
    "eye": lambda e: op.eye(e, 2, "f32"),
    "pad": lambda e: op.pad(op.ones([1], "f32"), [0, e]),
    "slice_scatter": lambda e: op.slice_scatter(seven(), op.ones([0], "f32"), 0, e, e),
    "expand": lambda e: op.add(op.ones([e, 1], "f32"), op.ones([1, 3], "f32")),
}
# Ops that fuse with it.
READERS = {
    "alone": lambda x: x,
    "sum": lambda x: op.sum(x),
    "mean": lambda x: op.mean(op.astype(x, "f32")),
    "chain": lambda x: op.sum(op.exp(op.negative(op.astype(x, "f32")))),
}


@pytest.mark.parametrize("fault, make, reader", part(list(itertools.product(FAULTS, OPS, READERS)), 4))
def test_sizes_that_do_not_exist_are_errors(fault, make, reader):
    expr, values, message, small = FAULTS[fault]
    bb = BlockBuilder()
    with bb.function("main", [m, n]):
        bb.return_(READERS[reader](OPS[make](expr)))
    main = relax_mlir.compile(bb.module())["main"]
    with pytest.raises(ValueError, match=message):
        main(*values)
    assert np.from_dlpack(main(*small)).ndim <= 2

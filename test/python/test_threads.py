# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels on several threads: each element is computed once, by one of them."""

import numpy as np
import pytest

from relax_mlir import BlockBuilder, Sym, Tensor, compile, op, runtime
from relax_mlir.runtime import to_numpy

N = Sym("n")
W = np.random.default_rng(0).standard_normal((97, 48)).astype(np.float32) / 7


def silu(x):
    return x / (1 + np.exp(-x))


# What is applied twice, in place, where two threads meet is something else.
PROGRAMS = {
    "behind a product": (lambda x: op.silu(op.linear(x, W)), lambda x: silu(x @ W.T)),
    "behind a scan": (lambda x: op.sin(op.cumsum(x, axis=1)), lambda x: np.sin(np.cumsum(x, 1))),
    "behind a sort": (lambda x: op.silu(op.sort(x)), lambda x: silu(np.sort(x, -1))),
}


@pytest.fixture(params=[1, 2, 3, 4, 7], ids=lambda count: f"{count} threads")
def threads(request):
    before = runtime.thread_count()
    runtime.set_thread_count(request.param)
    yield
    runtime.set_thread_count(before)


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_element_is_computed_twice(threads, name):
    program, reference = PROGRAMS[name]
    builder, x = BlockBuilder(), Tensor((N, 48), "f32")
    with builder.function("main", [x]):
        builder.return_(program(x))
    main = compile(builder.module())["main"]
    for rows in (1, 7, 1000, 2000, 4097):
        array = np.random.default_rng(rows).standard_normal((rows, 48)).astype(np.float32)
        np.testing.assert_allclose(to_numpy(main(array)), reference(array), atol=1e-4)

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels on several threads: each element is computed once, by one thread."""

import numpy as np
import pytest
from emulated import run_python

from relax_mlir import BlockBuilder, Sym, Tensor, compile, op, runtime
from relax_mlir.runtime import to_numpy

N = Sym("n")
W = np.random.default_rng(0).standard_normal((97, 48)).astype(np.float32) / 7


def silu(x):
    return x / (1 + np.exp(-x))


# In-place programs whose result changes if two threads compute the same element.
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


# A block has its own number of threads; the previous number is restored when it ends, also by an error.
def test_a_number_of_threads_for_a_block():
    before = runtime.thread_count()
    with runtime.threads(before + 1):
        assert runtime.thread_count() == before + 1
        with pytest.raises(KeyError), runtime.threads(before + 2):
            assert runtime.thread_count() == before + 2
            raise KeyError
        with runtime.threads(None):
            assert runtime.thread_count() == before + 2
    assert runtime.thread_count() == before


# A forked child has none of its parent's threads, and compiles with its own; the parent continues.
def test_compiling_after_a_fork():
    source = """
import os, sys
import numpy as np
import relax_mlir
from relax_mlir import BlockBuilder, Sym, Tensor, op
def run(value):
    bb, x = BlockBuilder(), Tensor((Sym("n"),), "f32")
    with bb.function("main", [x]):
        bb.return_(op.add(op.cumsum(x, axis=0), op.constant(value, "f32")))
    main = relax_mlir.compile(bb.module(), cached=False)["main"]
    line = f"{np.from_dlpack(main(np.ones(3, np.float32))).tolist()}\\n"
    os.write(1, line.encode())  # in a single write, since two processes print
run(1.0)
child = os.fork()
run(2.0 if child == 0 else 3.0)
if child == 0:
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
"""
    run = run_python(source)
    wanted = sorted(str([value + i for i in (1.0, 2.0, 3.0)]) for value in (1.0, 2.0, 3.0))
    assert sorted(run.stdout.splitlines()) == wanted, run.stdout + run.stderr

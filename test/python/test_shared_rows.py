# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels with several reductions of the same rows, where rows share memory with results and with each other."""

import random

import numpy as np
import pytest

import relax_mlir
from relax_mlir import BlockBuilder, Sym, Tensor, op

N, M = Sym("n"), Sym("m")


def softmax(x):
    e = np.exp(x - x.max(1, keepdims=True, initial=-np.inf))
    return e / e.sum(1, keepdims=True)


def centre(x):
    return x - x.mean(1, keepdims=True) if x.shape[1] else x


def norm(x):
    return x / np.sqrt((x * x).mean(1, keepdims=True) + 1e-5) if x.shape[1] else x


ROWS = {
    "softmax": (lambda x: op.softmax(x, 1), softmax),
    "centre": (lambda x: op.subtract(x, op.mean(x, [1], keepdims=True)), centre),
    "norm": (
        lambda x: op.multiply(x, op.rsqrt(op.add(op.mean(op.multiply(x, x), [1], keepdims=True), 1e-5))),
        norm,
    ),
    "largest": (
        lambda x: op.subtract(x, op.max(x, [1], keepdims=True)),
        lambda x: x - x.max(1, keepdims=True, initial=-np.inf),
    ),
}
JOINS = {"add": np.add, "multiply": np.multiply, "maximum": np.maximum}


class Program:
    """Element-wise functions of several reduced rows of `x` and `y`."""

    def __init__(self, seed):
        pick = random.Random(seed)
        self.builder = BlockBuilder()
        with self.builder.function("main", [Tensor((N, M), "f32"), Tensor((N, M), "f32")]) as function:
            terms = []
            for _ in range(pick.randint(2, 3)):
                name = pick.choice(list(ROWS)) if seed % 2 else "softmax"
                which = pick.randrange(2)
                scale = pick.choice((-1.0, 0.5, 2.0))
                value = ROWS[name][0](op.multiply(function.params[which], scale))
                terms.append((value, name, which, np.float32(scale)))
            result, self.joins = terms[0][0], []
            for value, *_ in terms[1:]:
                name = pick.choice(list(JOINS))
                result = getattr(op, name)(result, value)
                self.joins.append(name)
            self.terms = [term[1:] for term in terms]
            self.builder.return_(result)
        self.module = self.builder.module()

    def expected(self, *arrays):
        terms = [ROWS[name][1](arrays[which] * scale) for name, which, scale in self.terms]
        result = terms[0]
        for name, term in zip(self.joins, terms[1:]):
            result = JOINS[name](result, term)
        return result


@pytest.mark.parametrize("seed", range(10))
def test_several_reductions_of_one_row(seed):
    program = Program(seed)
    executable = relax_mlir.compile(program.module, cached=False)
    rng = np.random.default_rng(seed)
    for shape in ((3, 17), (1, 1), (2, 64), (5, 130), (0, 4)):
        x, y = (rng.standard_normal(shape).astype(np.float32) for _ in range(2))
        actual = np.from_dlpack(executable["main"](x, y))
        np.testing.assert_allclose(actual, program.expected(x, y), rtol=2e-4, atol=2e-4, err_msg=f"{seed=} {shape=}")

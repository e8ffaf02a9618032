# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs compute the same as NumPy, with any combination of passes.

A program is built together with its value in NumPy: ops on tensors of the same symbolic sizes, chains of reshapes,
aliases, branches of several ops, symbols that a match_cast defines in the middle, parameters of which only a symbol is
used. RELAX_FUZZ_SECONDS makes the run longer.
"""

import itertools
import os
import random
import time

import numpy as np
import pytest

import relax_mlir
from relax_mlir import BlockBuilder, Range, Scalar, Sym, Tensor, op
from relax_mlir.pipelines import (
    FuseOps,
    FuseTIR,
    InlineDataflow,
    InsertKills,
    KernelsToLoops,
    Legalize,
    LiftWorkspace,
    LowerCallTIR,
    Pipeline,
    PlanMemory,
    ReuseInPlace,
    Simplify,
)

SECONDS = float(os.environ.get("RELAX_FUZZ_SECONDS", "0"))
SIZES = (0, 1, 2, 3, 7, 17, 33)


def pipelines():
    """Every combination of optional passes."""
    vector_bits = relax_mlir.Target.host().vector_bits
    flags = [(False, True)] * 4
    for simplify, fuse, reuse, lift, plan in itertools.product(*flags, (0, 1, 2)):
        yield Pipeline(
            [
                *([Simplify()] if simplify else []),
                Legalize(),
                *([FuseOps(), FuseTIR()] if fuse else []),
                InlineDataflow(),
                LowerCallTIR(),
                *([ReuseInPlace()] if reuse else []),
                *([KernelsToLoops(vector_bits), LiftWorkspace()] if lift else []),
                *([PlanMemory(use_bounds=plan == 2)] if plan else []),
                InsertKills(),
            ]
        )


PIPELINES = list(pipelines())
UNARY = {
    "negative": np.negative,
    "abs": np.abs,
    "relu": lambda x: np.maximum(x, 0),
    "tanh": np.tanh,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
}
BINARY = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "maximum": np.maximum, "minimum": np.minimum}


class Program:
    """A random program of `x [n, m]` and `y [n, m]`, and its result for some arrays."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.builder = BlockBuilder()
        self.n, self.m, self.k = Sym("n"), Sym("m"), Sym("k")
        bounded = self.random.random() < 0.5
        symbols = {self.n: Range(0, 64), self.m: Range(0, 64)} if bounded else {}
        n, m = self.n, self.m
        params = [
            Tensor((n, m), "f32", name="x"),
            Tensor((n, m), "f32", name="y"),
            Tensor((m, 5), "f32", name="w"),
            Scalar("bool", name="flag"),
            Tensor((None, None), "f32", name="unknown"),
            Tensor((self.k,), "f32", name="unused"),
        ]
        self.steps = []
        with self.builder.function("main", params, symbols=symbols) as function:
            x, y, w, flag, unknown, _ = function.params
            self.flag = flag
            # A symbol defined in the middle of the program, for the same array.
            q, r = Sym("q"), Sym("r")
            cast = op.match_cast(unknown, Tensor((q, r), "f32"))
            again = op.match_cast(cast, Tensor((n, m), "f32"))
            values = [(x, "x"), (y, "y"), (again, "unknown")]
            for _ in range(self.random.randint(3, 12)):
                values.append(self.step(values))
            result, name = values[-1]
            total = op.sum(result, [0])
            product = op.matmul(result, w)
            self.builder.return_(result, total, product, op.reshape(x, (n * m,)))
        self.result = name
        self.module = self.builder.module()

    def record(self, function, *names):
        name = f"v{len(self.steps)}"
        self.steps.append((name, function, names))
        return name

    def simple(self, values):
        (a, a_name), (b, b_name) = self.random.choice(values), self.random.choice(values)
        if self.random.random() < 0.5:
            name, function = self.random.choice(list(UNARY.items()))
            return getattr(op, name)(a), self.record(function, a_name)
        name, function = self.random.choice(list(BINARY.items()))
        return getattr(op, name)(a, b), self.record(function, a_name, b_name)

    def step(self, values):
        kind = self.random.choice(["simple"] * 5 + ["reshape", "alias", "branch", "centre", "transpose", "concat"])
        a, a_name = self.random.choice(values)
        n, m = self.n, self.m
        if kind == "simple":
            return self.simple(values)
        if kind == "reshape":
            flat = op.reshape(a, (n * m,))
            return op.reshape(op.reshape(op.negative(flat), (n, 1, m)), (n, m)), self.record(np.negative, a_name)
        if kind == "alias":
            return op.match_cast(a, Tensor((n, m), "f32")), a_name
        if kind == "centre":
            centred = op.subtract(a, op.mean(a, [1], keepdims=True)) if self.random.random() < 0.5 else a
            name = self.record(lambda x: x, a_name)
            if centred is not a:
                name = self.record(lambda x: x - x.mean(1, keepdims=True), a_name)
            return op.add(centred, a), self.record(np.add, name, a_name)
        if kind == "transpose":
            turned = op.permute_dims(op.abs(op.permute_dims(a, [1, 0])), [1, 0])
            return turned, self.record(np.abs, a_name)
        if kind == "concat":
            b, b_name = self.random.choice(values)
            joined = op.concat([a, b], axis=0)
            halves = op.strided_slice(joined, [0], [n], [2 * n])
            return op.add(halves, a), self.record(lambda x, y: y + x, a_name, b_name)
        # A branch of several ops on each side.
        with self.builder.if_(self.flag) as branch:
            with branch.then:
                then, then_name = self.simple(values)
                then2, then_name = op.multiply(then, a), self.record(np.multiply, then_name, a_name)
                self.builder.yield_(then2)
            with branch.else_:
                other, other_name = self.simple(values)
                self.builder.yield_(other)
        name = f"v{len(self.steps)}"
        self.steps.append((name, None, (then_name, other_name)))
        return branch.result, name

    def expected(self, arrays, flag):
        known = dict(arrays)
        for name, function, names in self.steps:
            values = [known[n] for n in names]
            known[name] = function(*values) if function else values[0 if flag else 1]
        result = known[self.result]
        return [result, result.sum(0), result @ arrays["w"], arrays["x"].reshape(-1)]


def check(seed):
    program = Program(seed)
    rng = np.random.default_rng(seed)
    pick = random.Random(seed)
    executables = [relax_mlir.compile(program.module, pipeline=pipeline) for pipeline in pick.sample(PIPELINES, 3)] + [
        relax_mlir.compile(program.module, cached=False)
    ]
    for _ in range(3):
        n, m = pick.choice(SIZES), pick.choice(SIZES)
        arrays = {name: rng.standard_normal((n, m)).astype(np.float32) for name in ("x", "y", "unknown")}
        arrays["w"] = rng.standard_normal((m, 5)).astype(np.float32)
        for flag in (False, True):
            with np.errstate(all="ignore"):
                expected = program.expected(arrays, flag)
            for index, executable in enumerate(executables):
                args = (arrays["x"], arrays["y"], arrays["w"], flag, arrays["unknown"], np.zeros(3, np.float32))
                before = {name: array.copy() for name, array in arrays.items()}
                for position, (actual, wanted) in enumerate(zip(executable["main"](*args), expected)):
                    actual = np.from_dlpack(actual)
                    scale = max(1.0, float(np.abs(wanted).max(initial=0)))
                    np.testing.assert_allclose(
                        actual, wanted, rtol=1e-4, atol=1e-4 * scale, err_msg=f"{seed=} {index=} {position=} {n=} {m=}"
                    )
                for name, array in before.items():
                    np.testing.assert_array_equal(arrays[name], array, err_msg=f"{seed=}: '{name}' was changed")


@pytest.mark.parametrize("seed", range(6))
def test_random_programs_compute_the_same(seed):
    check(seed)


@pytest.mark.skipif(not SECONDS, reason="RELAX_FUZZ_SECONDS is not set: the seeds above are the sample")
def test_more_random_programs():
    end = time.monotonic() + SECONDS
    for seed in itertools.count(1000):
        if time.monotonic() > end:
            return
        check(seed)

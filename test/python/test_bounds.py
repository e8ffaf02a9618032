# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The prover's bounds on broadcast sizes are valid, and memory planned with them suffices."""

import itertools
import random

import numpy as np
import pytest

import relax_mlir
from relax_mlir import BlockBuilder, Facts, Range, Sym, Tensor, op
from relax_mlir.pipelines.cpu import default_pipeline

A, B, C = Sym("a"), Sym("b"), Sym("c")


def broadcast(*sizes):
    """NumPy's broadcast size; None if there is none."""
    others = {size for size in sizes if size != 1}
    return None if len(others) > 1 else next(iter(others), 1)


RANGES = [(0, 3), (0, 1), (1, 1), (1, 4), (2, 3), (3, 5), (0, 0), (4, 4)]


@pytest.mark.parametrize("first", RANGES)
def test_the_interval_of_a_broadcast_holds_and_is_tight(first):
    """The interval contains every possible value, and both ends are attained, unless two ranges exclude that."""
    for others in [*itertools.product(RANGES), *random.Random(0).sample([*itertools.product(RANGES, RANGES)], 12)]:
        ranges = (first, *others)
        symbols = (A, B, C)[: len(ranges)]
        facts = Facts({symbol: Range(low, high) for symbol, (low, high) in zip(symbols, ranges)})
        expr = Sym.broadcast(*symbols)
        low, high = facts.interval(expr)
        values = [broadcast(*sizes) for sizes in itertools.product(*(range(a, b + 1) for a, b in ranges))]
        found = [value for value in values if value is not None]
        for value in found:
            assert low is None or low <= value, (ranges, low, value)
            assert high is None or value <= high, (ranges, high, value)
        if len(ranges) == 2 and found and all(a > 1 for a, _ in ranges):
            assert (low, high) == (min(found), max(found)), ranges


STEPS = {
    "sort": lambda a: op.sort(op.negative(a), 0),
    "flip": lambda a: op.sort(op.flip(a, 0), 0),
    "cumsum": lambda a: op.cumsum(a, axis=0),
}


class Program:
    """Ops that are not fused, on tensors that broadcast; declared bounds determine their memory plan."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        small, large = self.random.choice([(2, 48), (8, 64), (1, 33), (3, 40)])
        bounds = [Range(0, small), Range(self.random.choice((0, 1)), large)]
        self.random.shuffle(bounds)
        self.ranges = dict(zip((A, B), bounds))
        self.builder = BlockBuilder()
        self.compute = []
        with self.builder.function("main", [Tensor((A,), "f32"), Tensor((B,), "f32")], symbols=self.ranges) as function:
            x, y = function.params
            values = [op.add(x, y) if self.random.random() < 0.5 else op.maximum(y, x)]
            self.first = np.add if "add" in str(values[0].ir.owner.name) else np.maximum
            steps = []
            for _ in range(6):
                index = self.random.randrange(len(values))
                kind = self.random.choice(["sort", "flip", "cumsum"])
                values.append(STEPS[kind](values[index]))
                steps.append((index, kind))
            self.steps = steps
            self.builder.return_(*[op.add(value, 1.0) for value in values[-3:]])
        self.module = self.builder.module()

    def expected(self, x, y):
        values = [self.first(x, y)]
        for index, kind in self.steps:
            a = values[index]
            values.append(np.sort(-a) if kind == "sort" else np.sort(a[::-1]) if kind == "flip" else np.cumsum(a))
        return [value + 1 for value in values[-3:]]


@pytest.mark.parametrize("seed", range(6))
def test_memory_planned_by_bounds_is_enough(seed):
    program = Program(seed)
    executable = relax_mlir.compile(program.module, pipeline=default_pipeline(use_bounds=True))
    rng = np.random.default_rng(seed)
    lows, highs = zip(*((range.lower, range.upper) for range in (program.ranges[A], program.ranges[B])))
    for n, m in [(lows[0], 1), (1, highs[1]), (highs[0], 1), (min(highs), min(highs)), (1, 1)]:
        x, y = rng.standard_normal(n).astype(np.float32), rng.standard_normal(m).astype(np.float32)
        for actual, wanted in zip(executable["main"](x, y), program.expected(x, y)):
            np.testing.assert_allclose(
                np.from_dlpack(actual), wanted, rtol=1e-4, atol=1e-3, err_msg=f"{seed=} {n=} {m=}"
            )

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Proofs about indices are sound: checks are omitted only if no run can fail."""

import numpy as np
import pytest
from elements import DTYPES

import relax_mlir
from relax_mlir import BlockBuilder, Range, Scalar, Sym, Tensor, op
from relax_mlir.pipelines import CheckIndices, Pipeline
from relax_mlir.runtime import to_numpy

n, m = Sym("n"), Sym("m")

# Indices into 8 elements, computed from `i` if `c` holds; and an `i` for which one is out of range.
UNPROVED = {
    "the end itself": (lambda i, c: op.clip(i, 0, 8), 8),
    "one before the first": (lambda i, c: op.clip(i, -9, 7), -9),
    "a sum that wraps around": (lambda i, c: op.minimum(op.maximum(i, zero(i)) + 1, zero(i) + 7), "max"),
    "a product that wraps around": (lambda i, c: op.minimum(op.maximum(i, zero(i)) * 2, zero(i) + 7), 2**30 + 2**62),
    "the magnitude of the least": (lambda i, c: op.minimum(op.abs(i), zero(i) + 7), "min"),
    "a truncated remainder": (lambda i, c: op.mod(i, zero(i) + 5) - 5, -4),
    "one of two choices": (lambda i, c: op.where(c, zero(i), i), 8),
    "the other of two choices": (lambda i, c: op.where(op.logical_not(c), i, zero(i)), 8),
    "a cast that wraps around": (lambda i, c: op.astype(op.astype(op.maximum(i, zero(i)), "i8"), i.dtype), 130),
}


def zero(i):
    return op.constant(DTYPES[i.dtype](0))


@pytest.mark.parametrize("dtype", ["i32", "i64"])
@pytest.mark.parametrize("key", UNPROVED)
def test_what_does_not_hold_is_not_proved(key, dtype):
    indices, bad = UNPROVED[key]
    info = np.iinfo(DTYPES[dtype])
    bad = np.array(getattr(info, bad) if isinstance(bad, str) else bad, np.int64).astype(DTYPES[dtype])
    bb = BlockBuilder()
    with bb.function("main", [Tensor((8,), "f32"), Tensor((n,), dtype), Tensor((n,), "i1")]) as f:
        x, i, c = f.params
        bb.return_(op.take(x, indices(i, c), axis=0))
    main = relax_mlir.compile(bb.module())["main"]
    x, c = np.arange(8, dtype=np.float32), np.zeros(2, bool)
    main(x, np.zeros(2, DTYPES[dtype]), c)
    with pytest.raises(IndexError, match="is out of range"):
        main(x, np.array([0, bad], DTYPES[dtype]), c)


# The `k` in the branches is not the `k` after them.
def test_symbols_of_a_branch_prove_nothing_outside():
    k = Sym("k")
    bb = BlockBuilder()
    with bb.function("main", [Scalar("i1", name="c"), Tensor((None,), "f32"), Tensor((None,), "f32")]) as f:
        c, x, y = f.params
        with bb.if_(c) as branch:
            with branch.then:
                bb.yield_(op.argmax(op.match_cast(x, Tensor((k,), "f32"))))
            with branch.else_:
                bb.yield_(op.argmin(op.match_cast(x, Tensor((k,), "f32"))))
        bb.return_(op.take(op.match_cast(y, Tensor((k,), "f32")), branch.result, axis=0))
    main = relax_mlir.compile(bb.module())["main"]
    x = np.arange(5, dtype=np.float32)
    assert main(True, x, x) == 4 and main(False, x, x[:2]) == 0
    with pytest.raises(IndexError, match="index 4 of indices"):
        main(True, x, x[:2])


class RandomIndices:
    """`main(a [n], c [n], x [m])` takes elements of `x` at indices from a random program; `indices` computes them."""

    def __init__(self, seed: int, dtype: str) -> None:
        self.dtype = dtype
        self.numpy = DTYPES[dtype]
        bb = BlockBuilder()
        for name in ("main", "indices"):
            self.random = np.random.default_rng(seed)
            params = [Tensor((n,), dtype, name="a"), Tensor((n,), "i1", name="c"), Tensor((m,), "f32", name="x")]
            with bb.function(name, params, symbols={n: Range(1, 1000), m: Range(8, 1000)}) as f:
                index = self.make_indices(*f.params)
                bb.return_(op.take(f.params[2], index, axis=0) if name == "main" else index)
        self.module = bb.module()

    def make_indices(self, a, c, x):
        length = self.cast(op.shape_to_tensor(op.shape((m,))))
        values = [a, length, op.arange(0, n, 1, dtype=self.dtype), self.cast(c)]
        for _ in range(self.random.integers(1, 7)):
            values.append(self.step(values, c))
        return op.broadcast_to(values[-1], (n,))

    def cast(self, value):
        return op.astype(value, self.dtype)

    def constant(self):
        info = np.iinfo(self.numpy)
        return op.constant(self.numpy(self.random.choice([0, 1, 2, 3, -1, -2, 7, info.max, info.min, 1 << 30])))

    def step(self, values, c):
        value, other = (values[self.random.integers(len(values))] for _ in range(2))
        if self.random.random() < 0.6:
            other = self.constant()
        low = int(self.random.integers(-3, 3))
        limits = [{"min": low}, {"max": low + 2}, {"min": low, "max": low + int(self.random.integers(0, 4))}]
        limit, divisor = limits[self.random.integers(3)], op.constant(self.numpy(self.random.integers(1, 6)))
        other_type = str(self.random.choice(["i8", "u8", "i16", "i32", "u32", "i64"]))
        steps = [
            lambda: op.add(value, other),
            lambda: op.subtract(value, other),
            lambda: op.subtract(other, value),
            lambda: op.multiply(value, other),
            lambda: op.minimum(value, other),
            lambda: op.maximum(value, other),
            lambda: op.negative(value),
            lambda: op.abs(value),
            lambda: op.sign(value),
            lambda: op.bitwise_and(value, other),
            lambda: op.clip(value, **limit),
            lambda: op.where(c, value, other),
            lambda: op.floor_mod(value, divisor),
            lambda: op.mod(value, divisor),
            lambda: op.floor_divide(value, divisor),
            lambda: op.flip(op.broadcast_to(value, (n,)), 0),
            lambda: self.cast(op.astype(value, other_type)),
            lambda: op.argsort(op.broadcast_to(value, (n,)), dtype=self.dtype),
        ]
        return steps[self.random.integers(len(steps))]()


# The analysis is sound: either all indices are valid, or the program fails.
@pytest.mark.parametrize("dtype", ["i32", "i64"])
@pytest.mark.parametrize("seed", range(40))
def test_what_is_proved_holds(seed, dtype):
    module = RandomIndices(seed, dtype).module
    executable = relax_mlir.compile(module)
    random, info = np.random.default_rng(seed), np.iinfo(DTYPES[dtype])
    for size, length in ((1, 8), (4, 9), (5, 30), (2, 200)):
        a = random.integers(info.min, info.max, size, DTYPES[dtype], endpoint=True)
        a[random.random(size) < 0.7] %= 7
        c, x = random.random(size) < 0.5, np.arange(length, dtype=np.float32)
        indices = to_numpy(executable["indices"](a, c, x))
        if np.all((-length <= indices) & (indices < length)):
            np.testing.assert_array_equal(executable["main"](a, c, x), x[indices])
        else:
            with pytest.raises(IndexError):
                executable["main"](a, c, x)


# The indices of some random programs are proved, and of others not, so the test above covers both.
def test_random_programs_are_of_both_kinds():
    checked = 0
    for seed in range(40):
        module = RandomIndices(seed, "i64").module
        Pipeline([CheckIndices()]).run(module)
        checked += "relax.check_indices" in str(module)
    assert 5 <= checked <= 35

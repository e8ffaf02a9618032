# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Updates of tensors are in place if nothing else uses the tensor, and copies otherwise."""

import re
from collections import namedtuple

import numpy as np
import pytest
from targets import COMPILED, LOADERS

import relax_mlir
from relax_mlir import BlockBuilder, Callable, Scalar, Sym, Tensor, op
from relax_mlir.pipelines import InlineDataflow, Legalize, Pipeline, Simplify, UpdateInPlace
from relax_mlir.pipelines.cpu import fuse_kernels, make_destinations, make_kernels
from relax_mlir.runtime import to_numpy

N = Sym("n")
X = Tensor((N,), "f32")


def put(x, i, v):
    return op.index_put(x, [op.reshape(i, (1,))], op.reshape(v, (1,)))


class Loop:
    """`main(x, y)` with a loop of `rounds` iterations, whose body maps (i, carried values) to carried values."""

    def __init__(self, inits, body, results=None, rounds=5):
        bb = BlockBuilder()
        with bb.function("main", [Tensor((N,), "f32", name="x"), Tensor((N,), "f32", name="y")]) as function:
            x, y = function.params
            with bb.while_([op.constant(np.int64(0)), *inits(x, y)]) as loop:
                with loop.condition as (i, *_):
                    bb.yield_(op.less(i, op.constant(np.int64(rounds))))
                with loop.body as (i, *carried):
                    bb.yield_(op.add(i, op.constant(np.int64(1))), *body(bb, i, *carried, x, y))
            bb.return_(*(results or (lambda carried, x, y: carried))(loop.results[1:], x, y))
        self.module = bb.module()

    def check(self, expected, inplace):
        """Runs the program; `inplace` is the expected number of in-place calls in the loop."""
        lowered = self.module.clone()
        Pipeline([Simplify(), Legalize(), InlineDataflow(), UpdateInPlace()]).run(lowered)
        assert len(re.findall(r"call_tir_inplace @\w+_inplace", str(lowered))) == inplace, str(lowered)
        x, y = np.arange(7, dtype=np.float32), np.full(7, -1, np.float32)
        given = x.copy(), y.copy()
        results = to_numpy(relax_mlir.compile(self.module, cached=False)["main"](*given))
        results = results if isinstance(results, tuple) else (results,)
        wanted = expected(x, y)
        assert len(results) == len(wanted)
        for actual, value in zip(results, wanted):
            np.testing.assert_array_equal(actual, value)
        np.testing.assert_array_equal(given[0], x)
        np.testing.assert_array_equal(given[1], y)


def as_float(i):
    return op.astype(i, "f32")


def counted(x, rounds=5):
    x = x.copy()
    x[:rounds] = np.arange(rounds)
    return x


def test_a_carried_tensor_is_updated_in_place():
    Loop(
        lambda x, y: [op.negative(x)],
        lambda bb, i, a, x, y: [put(a, i, as_float(i))],
    ).check(lambda x, y: [counted(-x)], inplace=1)


def test_what_the_caller_has_is_copied_before_the_loop():
    Loop(
        lambda x, y: [x],
        lambda bb, i, a, x, y: [put(a, i, as_float(i))],
    ).check(lambda x, y: [counted(x)], inplace=1)


def test_what_is_used_after_the_loop_is_copied_before_it():
    negated = []

    def inits(x, y):
        negated.append(op.negative(x))
        return negated

    Loop(
        inits,
        lambda bb, i, a, x, y: [put(a, i, as_float(i))],
        lambda carried, x, y: [*carried, op.add(negated[0], 1.0)],
    ).check(lambda x, y: [counted(-x), 1 - x], inplace=1)


def test_what_the_loop_reads_is_copied_before_it():
    """The body reads the initial value, which the first iteration would overwrite."""
    kept = []

    def inits(x, y):
        kept[:] = [op.negative(x)]
        return kept

    def expected(x, y):
        a = -x
        for i in range(5):
            a = a.copy()
            a[i] = i + 5
            a = a - x
        return [a]

    Loop(
        inits,
        lambda bb, i, a, x, y: [op.add(put(a, i, op.add(as_float(i), 5.0)), kept[0])],
    ).check(expected, inplace=1)


def test_loops_that_begin_with_each_other():
    """A copy that is useless for one loop may be needed by another: the caller's tensors stay unchanged."""
    bb = BlockBuilder()
    flags = [Scalar("bool", name=name) for name in ("first", "second")]
    with bb.function("main", [Tensor((N,), "f32", name="x"), Tensor((N,), "f32", name="y"), *flags]) as function:
        x, y, first, second = function.params

        def choose(flag, one, other):
            with bb.if_(flag) as branch:
                with branch.then:
                    bb.yield_(one)
                with branch.else_:
                    bb.yield_(other)
            return branch.result

        def loop(init):
            with bb.while_([op.constant(np.int64(0)), init]) as made:
                with made.condition as (i, _):
                    bb.yield_(op.less(i, op.constant(np.int64(0))))
                with made.body as (i, a):
                    bb.yield_(op.add(i, op.constant(np.int64(1))), op.negative(a))
            return made.results[1]

        third = loop(y)
        data = choose(first, loop(choose(second, third, x)), third)
        bb.return_(put(data, op.constant(np.int64(1)), op.constant(np.float32(9))))
    executable = relax_mlir.compile(bb.module(), cached=False)
    for first in (True, False):
        for second in (True, False):
            x, y = np.arange(4, dtype=np.float32), np.full(4, -1, np.float32)
            wanted = (x if first and not second else y).copy()
            wanted[1] = 9
            np.testing.assert_array_equal(to_numpy(executable["main"](x, y, first, second)), wanted)
            np.testing.assert_array_equal(x, np.arange(4))
            np.testing.assert_array_equal(y, np.full(4, -1))


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint64", "bool", "float16"])
@pytest.mark.parametrize("constant", [False, True])
def test_copies_of_each_type(dtype, constant):
    """The initial value of a loop is copied, whether it is the caller's or a constant."""
    bb = BlockBuilder()
    with bb.function("main", [Tensor((N,), dtype, name="x")]) as function:
        (x,) = function.params
        begin = op.constant(np.zeros(5, dtype)) if constant else x
        with bb.while_([op.constant(np.int64(0)), begin]) as loop:
            with loop.condition as (i, _):
                bb.yield_(op.less(i, op.constant(np.int64(3))))
            with loop.body as (i, a):
                one = op.constant(np.ones((1,), dtype))
                bb.yield_(op.add(i, op.constant(np.int64(1))), op.index_put(a, [op.reshape(i, (1,))], one))
        bb.return_(loop.results[1])
    x = np.zeros(5, dtype)
    executable = relax_mlir.compile(bb.module(), cached=False)
    for _ in range(2):
        np.testing.assert_array_equal(to_numpy(executable["main"](x)), np.array([1, 1, 1, 0, 0], dtype))
    np.testing.assert_array_equal(x, np.zeros(5, dtype))


@pytest.mark.parametrize("where", ["before the loop", "by a function", "in the loop"])
def test_what_a_callback_keeps_is_not_updated(where):
    """A callee may use a tensor after the call."""
    taker = Callable([Tensor((N,), "f32")], [Scalar("i64")], name="f")
    bb, kept = BlockBuilder(), []
    with bb.function("hand_on", [Tensor((N,), "f32", name="x"), taker]) as function:
        bb.return_(op.call_closure(function.params[1], function.params[0]))
    with bb.function("main", [Tensor((N,), "f32", name="x"), taker]) as function:
        x, keep = function.params
        begin = op.negative(x)
        if where == "before the loop":
            op.call_closure(keep, begin)
        elif where == "by a function":
            bb.call("hand_on", begin, keep)
        with bb.while_([op.constant(np.int64(0)), begin]) as loop:
            with loop.condition as (i, _):
                bb.yield_(op.less(i, op.constant(np.int64(3))))
            with loop.body as (i, a):
                if where == "in the loop":
                    op.call_closure(keep, a)
                bb.yield_(op.add(i, op.constant(np.int64(1))), put(a, i, as_float(i)))
        bb.return_(loop.results[1])
    x = np.arange(1, 6, dtype=np.float32)

    def callback(tensor):
        kept.append(tensor)
        return 0

    actual = relax_mlir.compile(bb.module(), cached=False)["main"](x, callback)
    np.testing.assert_array_equal(to_numpy(actual), counted(-x, 3))
    assert len(kept) == (3 if where == "in the loop" else 1)
    for rounds, tensor in enumerate(kept):
        np.testing.assert_array_equal(to_numpy(tensor), counted(-x, rounds))


def test_an_update_that_is_read_again_is_a_copy():
    """The body uses what it updates afterwards."""
    Loop(
        lambda x, y: [op.negative(x)],
        lambda bb, i, a, x, y: [op.add(put(a, i, as_float(i)), a)],
        rounds=2,
    ).check(lambda x, y: [twice(twice(-x, 0), 1)], inplace=0)


def twice(x, i):
    put = x.copy()
    put[i] = i
    return put + x


def test_an_update_that_is_yielded_twice_is_a_copy():
    def expected(x, y):
        a, b = -x, y + 1
        for i in range(5):
            a = a.copy()
            a[i] = b[0] + i
            b = a
        return [a, b]

    def body(bb, i, a, b, x, y):
        first = op.reshape(op.strided_slice(b, [0], [0], [1]), ())
        updated = put(a, i, op.add(first, as_float(i)))
        return [updated, updated]

    Loop(lambda x, y: [op.negative(x), op.add(y, 1.0)], body).check(expected, inplace=0)


def test_one_tensor_carried_twice():
    """Each carried value has its own copy, or the update is a copy."""

    def inits(x, y):
        a = op.negative(x)
        return [a, a]

    Loop(
        inits,
        lambda bb, i, a, b, x, y: [put(a, i, as_float(i)), op.add(b, 1.0)],
    ).check(lambda x, y: [counted(-x), 5 - x], inplace=1)


def test_tensors_that_change_places():
    def expected(x, y):
        a, b = -x, -y
        for i in range(5):
            a = a.copy()
            a[i] = i
            a, b = b, a
        return [a, b]

    Loop(
        lambda x, y: [op.negative(x), op.negative(y)],
        lambda bb, i, a, b, x, y: [b, put(a, i, as_float(i))],
    ).check(expected, inplace=1)


def test_what_is_of_outside_is_not_updated():
    def expected(x, y):
        a, outside = -x, y * 2
        for i in range(5):
            a = a.copy()
            a[i] = i
            a = outside
        return [a]

    kept = []

    def inits(x, y):
        kept[:] = [op.multiply(y, 2.0)]
        return [op.negative(x)]

    def body(bb, i, a, x, y):
        put(a, i, as_float(i))
        return [kept[0]]

    Loop(inits, body).check(expected, inplace=0)


def test_updates_in_a_branch():
    def expected(x, y):
        a = -x
        for i in range(5):
            if i < 3:
                a = a.copy()
                a[i] = i
        return [a]

    def body(bb, i, a, x, y):
        with bb.if_(op.less(i, op.constant(np.int64(3)))) as branch:
            with branch.then:
                bb.yield_(put(a, i, as_float(i)))
            with branch.else_:
                bb.yield_(a)
        return [branch.result]

    Loop(lambda x, y: [op.negative(x)], body).check(expected, inplace=1)


def test_updates_in_a_loop_of_a_loop():
    def expected(x, y):
        a = x.copy()
        for i in range(3):
            for j in range(2):
                a[i] += j + 1
        return [a]

    def body(bb, i, a, x, y):
        with bb.while_([op.constant(np.int64(0)), a]) as inner:
            with inner.condition as (j, _):
                bb.yield_(op.less(j, op.constant(np.int64(2))))
            with inner.body as (j, b):
                value = op.reshape(as_float(op.add(j, op.constant(np.int64(1)))), (1,))
                added = op.index_put(b, [op.reshape(i, (1,))], value, accumulate=True)
                bb.yield_(op.add(j, op.constant(np.int64(1))), added)
        return [inner.results[1]]

    Loop(lambda x, y: [x], body, rounds=3).check(expected, inplace=1)


def test_a_chain_of_updates():
    bb = BlockBuilder()
    with bb.function("main", [X]) as function:
        a = op.negative(function.params[0])
        for i in range(3):
            a = put(a, op.constant(np.int64(i)), op.constant(np.float32(i)))
        bb.return_(a)
    lowered = bb.module()
    Pipeline([Simplify(), Legalize(), InlineDataflow(), UpdateInPlace()]).run(lowered)
    assert str(lowered).count("call_tir_inplace") == 3
    x = np.arange(5, dtype=np.float32)
    actual = relax_mlir.compile(bb.module(), cached=False)["main"](x)
    np.testing.assert_array_equal(to_numpy(actual), counted(-x, 3))


# ----------------------------------------------------------------------------
# scan


def cumulative(reverse=False):
    bb = BlockBuilder()
    with bb.function("main", [Tensor((N, 3), "f32", name="x"), Tensor((3,), "f32", name="start")]) as function:
        x, start = function.params

        def body(total, row):
            total = op.add(op.multiply(total, 0.5), row)
            return total, (total, op.sum(total))

        total, (sums, single) = op.scan(body, start, x, reverse=reverse)
        bb.return_(total, sums, single)
    return bb.module()


def expected_scan(x, start, reverse):
    total, sums = start, np.zeros_like(x)
    for i in reversed(range(len(x))) if reverse else range(len(x)):
        total = total * np.float32(0.5) + x[i]
        sums[i] = total
    return total, sums, sums.sum(1)


# A named tuple from a body is returned as a named tuple.
def test_named_tuples_of_a_scan():
    State = namedtuple("State", "total count")
    bb = BlockBuilder()
    with bb.function("main", [Tensor((N, 3), "f32"), Tensor((3,), "f32")]) as function:
        x, start = function.params
        state, rows = op.scan(
            lambda state, row: (State(op.add(state.total, row), op.add(state.count, 1.0)), State(row, row)),
            State(start, start),
            x,
        )
        assert type(state) is State and type(rows) is State
        bb.return_(state.total, rows.count)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("name", COMPILED)
def test_scan(reverse, name):
    call = LOADERS[name](str(cumulative(reverse)))
    for rows in (0, 1, 6):
        x = np.random.default_rng(rows).standard_normal((rows, 3)).astype(np.float32)
        start = np.ones(3, np.float32)
        for actual, wanted in zip(call("main", x, start), expected_scan(x, start, reverse)):
            np.testing.assert_allclose(actual, wanted, rtol=1e-5, atol=1e-5)


def test_scan_writes_its_rows_in_place():
    lowered = cumulative()
    Pipeline([Simplify(), Legalize(), InlineDataflow(), UpdateInPlace()]).run(lowered)
    assert len(re.findall(r"call_tir_inplace @\w+_inplace", str(lowered))) == 2


def test_updates_in_place_leave_no_kernel_that_nothing_calls():
    """Neither the copying kernel nor useless copies are left."""
    lowered = cumulative()
    Pipeline([make_kernels(), fuse_kernels(), make_destinations()]).run(lowered)
    text = str(lowered)
    kernels = re.findall(r"func.func private @(\w+)\(", text)
    assert kernels
    for kernel in kernels:
        assert f"call_tir_inplace @{kernel}(" in text, f"{kernel} is left\n{text}"


def test_scan_without_rows_and_results():
    bb = BlockBuilder()
    with bb.function("main", [Tensor((2,), "f32", name="x"), Scalar("i64", name="unused"), Sym("k")]) as function:
        x, _, _ = function.params
        doubled, nothing = op.scan(lambda a, _: (op.add(a, a), None), x, length=Sym("k"))
        assert nothing is None
        bb.return_(doubled)
    executable = relax_mlir.compile(bb.module(), cached=False)
    for k in (0, 3):
        np.testing.assert_array_equal(to_numpy(executable["main"](np.ones(2, np.float32), 0, k)), [2**k, 2**k])


def test_scan_says_what_is_wrong():
    def build(fn, *params):
        bb = BlockBuilder()
        with bb.function("main", list(params)) as function:
            fn(*function.params)

    row = Tensor((N, 2), "f32", name="x")
    other = Tensor((3, 2), "f32", name="y")
    carry = Tensor((2,), "f32", name="a")
    cases = [
        ("needs its length", lambda a: op.scan(lambda c, x: (c, x), a), [carry]),
        ("xs\\[1\\] has 3 rows, which is not known to be n", lambda x, y, a: op.scan(lambda c, r: (c, c), a, (x, y)),
         [row, other, carry]),
        ("gives the carried values and a row", lambda x, a: op.scan(lambda c, r: c, a, x), [row, carry]),
        ("carries on 2 values; init has 1", lambda x, a: op.scan(lambda c, r: ((c, c), r), a, x), [row, carry]),
        ("changes carried value 0 from", lambda x, a: op.scan(lambda c, r: (op.sum(c), r), a, x), [row, carry]),
    ]  # fmt: skip
    for message, fn, params in cases:
        with pytest.raises(relax_mlir.RelaxError, match=message):
            build(fn, *params)

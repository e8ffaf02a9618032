# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ops with data-dependent result shapes, compiled, against NumPy."""

import itertools

import numpy as np
import pytest

import relax_mlir
from relax_mlir import BlockBuilder, Shape, Sym, Tensor, op

n, m = Sym("n"), Sym("m")


def build(params, body):
    bb = BlockBuilder()
    with bb.function("main", params):
        bb.return_(body(*params))
    return relax_mlir.compile(bb.module())["main"]


def shape_from_tensor(rank, body, *params):
    """`body` with a shape whose entries are read from the last argument."""
    return build(
        [*params, Tensor((rank,), "i64")],
        lambda *args: body(*args[:-1], op.tensor_to_shape(args[-1])),
    )


X = np.arange(4, dtype=np.float32)

# For each op that takes a shape, its builder, and NumPy's result for given sizes.
SHAPED = {
    "broadcast_to": (
        lambda: shape_from_tensor(2, op.broadcast_to, Tensor((n,), "f32")),
        [X],
        np.broadcast_to,
        [(3, 4), (0, 4), (1, 4)],
    ),
    "broadcast_to-static": (
        lambda: shape_from_tensor(2, op.broadcast_to, Tensor((4,), "f32")),
        [X],
        np.broadcast_to,
        [(3, 4), (0, 4)],
    ),
    "zeros": (lambda: shape_from_tensor(2, lambda s: op.zeros(s, "f32")), [], np.zeros, [(3, 4), (0, 4), (5, 0)]),
    "full": (
        lambda: shape_from_tensor(2, lambda s: op.full(s, op.constant(2.5))),
        [],
        lambda s: np.full(s, 2.5),
        [(3, 4), (0, 1)],
    ),
    "reshape": (lambda: shape_from_tensor(2, op.reshape, Tensor((n,), "f32")), [X], np.reshape, [(2, 2), (1, 4)]),
    "resize2d": (
        lambda: shape_from_tensor(2, op.resize2d, Tensor((1, 1, n, n), "f32")),
        [np.ones((1, 1, 2, 2), np.float32)],
        lambda x, s: np.ones((1, 1, *s)),
        [(3, 5), (1, 2)],
    ),
}


# An op takes a shape operand of which only the rank is known; other ops use the result.
@pytest.mark.parametrize("name", SHAPED)
def test_shape_operands(name):
    make, inputs, reference, shapes = SHAPED[name]
    function = make()
    for shape in shapes:
        result = np.from_dlpack(function(*inputs, np.array(shape)))
        np.testing.assert_array_equal(result, reference(*inputs, shape), strict=False)


# A mismatch is an error that names function, op and sizes.
def test_wrong_shape_operands():
    function = SHAPED["broadcast_to"][0]()
    with pytest.raises(ValueError, match=r"main: broadcast_to: cannot broadcast .*= 4.*= 5"):
        function(X, np.array([3, 5]))
    with pytest.raises(ValueError, match="-1"):
        function(X, np.array([-1, 4]))


# The result may be used like any other.
def test_use_of_dynamic_results():
    function = shape_from_tensor(2, lambda x, s: op.sum(op.exp(op.broadcast_to(x, s)), axis=[0]), Tensor((n,), "f32"))
    np.testing.assert_allclose(np.from_dlpack(function(X, np.array([3, 4]))), 3 * np.exp(X), rtol=1e-6)


POSITIONS = [-(2**63) + 1, -9, -5, -4, -1, 0, 1, 3, 4, 5, 2**63 - 1]
STRIDES = [-(2**63) + 1, -5, -2, -1, 1, 2, 3, 2**63 - 1]


def slices(rank, dtype="i64"):
    x = Tensor(tuple(Sym(f"n{axis}") for axis in range(rank)), "f32")
    return build([x, *(Tensor((rank,), dtype) for _ in range(3))], op.dynamic_strided_slice)


# Slices are the same as in Python, for every order of positions, including empty slices.
@pytest.mark.parametrize("size", [0, 1, 5])
def test_dynamic_strided_slice(size):
    function = slices(1)
    x = np.arange(size, dtype=np.float32)
    for begin, end, stride in itertools.product(POSITIONS, POSITIONS, STRIDES):
        result = np.from_dlpack(function(x, *(np.array([value]) for value in (begin, end, stride))))
        np.testing.assert_array_equal(result, x[begin:end:stride], f"{begin}:{end}:{stride}")


# Each dimension has its own positions, which may be i32; the result may be used.
def test_dynamic_strided_slice_of_many_dimensions():
    x = np.arange(60, dtype=np.float32).reshape(3, 4, 5)
    for dtype in ("i32", "i64"):
        begin, end, stride = (
            np.array(v, np.dtype(dtype.replace("i", "int"))) for v in ([0, -1, 1], [3, 0, 9], [2, -1, 3])
        )
        result = np.from_dlpack(slices(3, dtype)(x, begin, end, stride))
        np.testing.assert_array_equal(result, x[0:3:2, -1:0:-1, 1:9:3])
    function = build(
        [Tensor((n,), "f32"), *(Tensor((1,), "i64") for _ in range(3))],
        lambda *args: op.sum(op.dynamic_strided_slice(*args)),
    )
    assert np.from_dlpack(function(X, np.array([1]), np.array([3]), np.array([1]))) == 3


# A stride of zero and a wrong number of positions are errors with a clear message.
def test_wrong_dynamic_slices():
    one = np.array([1])
    with pytest.raises(ValueError, match="main: dynamic_strided_slice: a stride must not be 0"):
        slices(1)(X, one, one, np.array([0]))
    k = Sym("k")
    x = Tensor((n, m), "f32")
    function = build([x, *(Tensor((k,), "i64") for _ in range(3))], op.dynamic_strided_slice)
    with pytest.raises(ValueError, match="begin must have an entry for each of the 2 dimensions: k = 1"):
        function(np.ones((2, 2), np.float32), one, one, one)


# A shape parameter works like a shape from data.
def test_shape_parameter():
    function = build([Tensor((n,), "f32"), Shape((m, n))], op.broadcast_to)
    np.testing.assert_array_equal(np.from_dlpack(function(X, (3, 4))), np.broadcast_to(X, (3, 4)))


# Messages of run-time checks name the function, the op and the sizes.
@pytest.mark.parametrize(
    ("params", "body", "inputs", "message"),
    [
        ([Tensor((n,), "f32"), Tensor((m,), "f32")], op.add, [X, X[:3]], r"main: add: .*broadcast.*= (3|4), .*= (3|4)"),
        ([Tensor((n,), "f32")], lambda x: op.squeeze(x, axis=[0]), [X], r"main: squeeze: .*must be 1: n = 4"),
        ([Tensor((n,), "f32")], lambda x: op.max(x), [X[:0]], r"main: max: .*must not be empty: n = 0"),
        ([Tensor((n,), "f32")], lambda x: op.topk(x, k=5)[0], [X], r"main: topk: .*: n = 4"),
        (
            [Tensor((n,), "f32"), Tensor((m,), "i64")],
            lambda x, i: op.take(x, i, axis=0, mode="wrap"),
            [X[:0], np.zeros(2, np.int64)],
            r"main: take: cannot index .*: n = 0",
        ),
        ([Tensor((n,), "f32")], lambda x: op.reshape(x, (2, 3)), [X], r"main: reshape: .*: n = 4"),
    ],
)
def test_messages(params, body, inputs, message):
    function = build(params, body)
    with pytest.raises(ValueError, match=message):
        function(*inputs)

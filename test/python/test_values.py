# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values have the methods of NumPy's arrays, with the same results."""

import numpy as np
import pytest

from relax_mlir import BlockBuilder, RelaxError, Sym, Tensor, compile, op

n, k = Sym("n"), Sym("k")

FLOATS = [
    lambda x: x.T,
    lambda x: x.transpose(),
    lambda x: x.transpose(1, 0),
    lambda x: x.transpose((0, 1)),
    lambda x: x.reshape(-1),
    lambda x: x.reshape(x.shape[1], x.shape[0]),
    lambda x: x.reshape((1, *x.shape)).squeeze(0),
    lambda x: x.flatten(),
    lambda x: x.repeat(2, axis=1),
    lambda x: x.repeat(2),
    lambda x: abs(x),
    lambda x: x.astype("i32" if isinstance(x.dtype, str) else np.int32),
    lambda x: x.clip(-1, 0.5),
    lambda x: x.clip(max=0),
    lambda x: x.round(),
    lambda x: x.sum(),
    lambda x: x.sum(axis=0),
    lambda x: x.sum(axis=(0, 1), keepdims=True),
    lambda x: x.prod(axis=-1),
    lambda x: x.cumsum(axis=1),
    lambda x: x.cumsum(),
]
# What has no value for no elements.
OF_SOME = [
    lambda x: x.mean(),
    lambda x: x.mean(1),
    lambda x: x.var(axis=0),
    lambda x: x.std(axis=1, keepdims=True),
    lambda x: x.max(),
    lambda x: x.min(axis=1),
    lambda x: x.argmax(axis=1),
    lambda x: x.argmin(0),
    lambda x: x.argmax(),
    lambda x: x.take([0, 0, 1], axis=1),
]
TRUTHS = [
    lambda x: ~x,
    lambda x: x & x[:, ::-1],
    lambda x: x | x[:, ::-1],
    lambda x: x ^ x[:, ::-1],
    lambda x: x & True,
    lambda x: False | x,
    lambda x: x.any(axis=0),
    lambda x: x.all(),
]


def compiled(methods, dtype):
    bb = BlockBuilder()
    x = Tensor((n, k), dtype)
    with bb.function("main", [x]):
        bb.return_(*[method(x) for method in methods])
    return compile(bb.module())["main"]


def check(methods, arrays):
    function = compiled(methods, arrays[0].dtype)
    for array in arrays:
        for made, method in zip(function(array), methods, strict=True):
            expected = np.asarray(method(array))
            assert made.shape == expected.shape
            np.testing.assert_allclose(made, expected, rtol=1e-5, atol=1e-6)


def arrays(dtype, *shapes):
    rng = np.random.default_rng(0)
    return [(4 * rng.standard_normal(shape)).astype(dtype) for shape in shapes]


def test_methods():
    check(FLOATS, arrays("f4", (3, 4), (1, 1), (0, 3), (2, 0)))


def test_methods_of_tensors_with_elements():
    check(OF_SOME, arrays("f4", (3, 4), (1, 2)))


def test_operators_of_masks_and_integers():
    check(TRUTHS, [array > 0 for array in arrays("f4", (3, 4), (1, 1), (0, 2))])
    check([lambda x: ~x, lambda x: x & 6, lambda x: 9 | x, lambda x: x ^ x[:, ::-1]], arrays("i4", (3, 4), (0, 2)))


def test_einsum():
    bb = BlockBuilder()
    a, b = Tensor((n, k)), Tensor((k, 3))
    with bb.function("main", [a, b]):
        bb.return_(
            op.einsum("ij,jk->ik", a, b), op.einsum("ij,jk", [a, b]), op.einsum("ij->j", a), op.einsum("i...->...", a)
        )
    main = compile(bb.module())["main"]
    for rows, columns in ((2, 4), (1, 1), (0, 2), (2, 0)):
        x, y = arrays("f4", (rows, columns), (columns, 3))
        for made, expected in zip(main(x, y), (x @ y, x @ y, x.sum(0), x.sum(0)), strict=True):
            np.testing.assert_allclose(made, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    "wrong, message",
    [
        (lambda x: op.einsum("ij,jk->ik", x), "'relax.einsum' op"),
        (lambda x: op.einsum(x, x), "einsum: subscripts is Tensor"),
        (lambda x: op.einsum("ij->i"), "'relax.einsum' op"),
        (lambda x: x.transpose(0, 0), "axes"),
        (lambda x: x.reshape(7, 7), "reshape"),
        (lambda x: x.mean(axis=2), "axis"),
        (lambda x: x.astype("f77"), "unknown dtype 'f77'"),
        (lambda x: ~x, "bitwise_not"),
    ],
)
def test_errors(wrong, message):
    bb = BlockBuilder()
    x = Tensor((n, 4))
    with pytest.raises(RelaxError) as caught, bb.function("main", [x]):
        wrong(x)
    assert message in str(caught.value)
    assert caught.value.location.file == __file__

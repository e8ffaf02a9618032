# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The op functions: the conversion of Python arguments."""

import inspect

import ml_dtypes
import numpy as np
import pytest

from relax_mlir import BlockBuilder, RelaxError, Shape, Sym, Tensor, op

n, m = Sym("n"), Sym("m")


@pytest.fixture
def build():
    """Builds one function with the given parameters and body, and returns the module's text."""

    def build(params, body):
        bb = BlockBuilder()
        with bb.function("f", params) as f:
            bb.return_(body(*f.params))
        return str(bb.module())

    return build


def test_every_function_is_documented_and_typed():
    assert len(op.__all__) > 150
    for name in op.__all__:
        function = getattr(op, name)
        assert function.__doc__ and function.__doc__.rstrip()[-1] in ".)", name
        signature = inspect.signature(function)
        assert inspect.isclass(function) or signature.return_annotation is not inspect.Signature.empty, name
        for parameter in signature.parameters.values():
            assert parameter.annotation is not inspect.Parameter.empty, (name, parameter)


def test_defaults_are_those_of_the_op():
    parameters = inspect.signature(op.softmax).parameters
    assert parameters["axis"].default == -1
    assert inspect.signature(op.sum).parameters["keepdims"].default is False
    assert inspect.signature(op.concat).parameters["axis"].default == 0


def test_operators(build):
    x, y = Tensor((n, 4), "f32"), Tensor((4,), "f32")
    text = build([x, y], lambda x, y: ((x + y) * 2 - 1) / y)
    for name in ("add", "multiply", "subtract", "divide"):
        assert f"relax.{name}" in text
    assert "dense<2.000000e+00> : tensor<f32>" in text
    assert "relax.matmul" in build([x, Tensor((4, 8))], lambda x, w: x @ w)
    assert "relax.negative" in build([x], lambda x: -x)
    assert "relax.less" in build([x], lambda x: x < 3)
    assert "relax.power" in build([x], lambda x: 2**x)
    assert "relax.floor_mod" in build([Tensor((n,), "i64")], lambda x: x % 3)
    # An array on the left defers the operation.
    assert "relax.add" in build([y], lambda y: np.ones(4, np.float32) + y)


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32", "f64", "i8", "i64"])
def test_numbers_take_the_dtype_of_the_tensor(build, dtype):
    x = Tensor((n,), dtype)
    text = build([x], lambda x: op.add(1, x))
    assert f"tensor<{dtype}>" in text


def test_numbers_that_do_not_fit(build):
    for dtype, number in (("i8", 200), ("i64", 1.5), ("u8", -1)):
        with pytest.raises(RelaxError, match=dtype):
            build([Tensor((n,), dtype)], lambda x, number=number: x + number)


def test_arrays_become_constants(build):
    text = build([Tensor((2, 2), "bf16")], lambda x: x + np.array([[1, 2], [3, 4]], ml_dtypes.bfloat16))
    assert "dense<[[1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00]]> : tensor<2x2xbf16>" in text
    assert "tensor<0x3xf32>" in build([], lambda: op.constant(np.zeros((0, 3), np.float32)))
    # Arrays may have any strides.
    transposed = np.arange(6, dtype=np.int32).reshape(2, 3).T
    assert "dense<[[0, 3], [1, 4], [2, 5]]>" in build([], lambda: op.constant(transposed))


def test_shapes(build):
    x = Tensor((n, 2, 2), "f32")
    assert "relax.reshape %arg0 to [n, 4]" in build([x], lambda x: op.reshape(x, (n, 4)))
    assert "relax.reshape %arg0 to [-1]" in build([x], lambda x: op.reshape(x, -1))
    assert "relax.reshape %arg0, %arg1" in build([x, Shape((4 * n,))], op.reshape)
    assert "#relax.shape<[n, 3]>" in build([Tensor((n,))], lambda x: op.zeros((x.shape[0], 3), "f32"))
    assert "relax.broadcast_to %arg0 to [m, n]" in build(
        [Tensor((n,)), Tensor((m,))], lambda x, y: op.broadcast_to(x, (m, n))
    )
    assert "tensor<?x1xf32" in build([Tensor((n,))], lambda x: op.expand_dims(x, -1))


def test_lists_of_tensors(build):
    x, y = Tensor((n, 4)), Tensor((m, 4))
    assert "#relax.shape<[m + n, 4]>" in build([x, y], lambda x, y: op.concat([x, y]))
    assert "into 2 axis 1" in build([x], lambda x: op.split(x, 2, axis=1)[0])
    assert "at [1]" in build([x], lambda x: op.split(x, [1], axis=1)[1])
    with pytest.raises(RelaxError, match="concat: tensors"):
        build([x], lambda x: op.concat(3))


@pytest.mark.parametrize(
    ("key", "shape"),
    [
        (np.s_[0], (4, 5)),
        (np.s_[-1], (4, 5)),
        (np.s_[:, 1:3], (n + 4, 2, 5)),
        (np.s_[..., 0], (n + 4, 4)),
        (np.s_[1:3], (2, 4, 5)),
        (np.s_[:, ::2], (n + 4, 2, 5)),
        (np.s_[:, ::-1], (n + 4, 4, 5)),
        (np.s_[:, 3:0:-2], (n + 4, 2, 5)),
        (np.s_[:-2], (n + 2, 4, 5)),
        (np.s_[None, :, 0, ..., None], (1, n + 4, 5, 1)),
        (np.s_[:, [0, 2, 2]], (n + 4, 3, 5)),
        (np.s_[:, 10:], (n + 4, 0, 5)),
        ((slice(None), slice(None), 4), (n + 4, 4)),
    ],
    ids=str,
)
def test_indexing(build, key, shape):
    shapes = []
    build([Tensor((n + 4, 4, 5)), Shape((n,))], lambda x, _: shapes.append(x[key].shape) or x)
    assert shapes == [shape]


def test_indexing_with_symbols_and_tensors(build):
    shapes = []
    build(
        [Tensor((n, 4)), Tensor((m,), "i64")],
        lambda x, i: shapes.append(x[i].shape) or shapes.append(x[:, i].shape) or x,
    )
    assert shapes == [(m, 4), (n, m)]


@pytest.mark.parametrize(
    ("key", "message"),
    [
        (np.s_[0, 0, 0], "3 entries, the tensor 2 dimensions"),
        (np.s_[:, 4], "index 4 is out of range for dimension 1 of size 4"),
        (np.s_[:, -5], "out of range"),
        (np.s_[..., ...], "one ... at most"),
        (np.s_[::0], "the step of dimension 0 is 0"),
        (np.s_["a"], "'a'"),
        (np.s_[1.5], "1.5"),
        (np.s_[1.5:], "a bound of dimension 0 is 1.5"),
    ],
    ids=str,
)
def test_wrong_indices(build, key, message):
    with pytest.raises(RelaxError) as caught:
        build([Tensor((n, 4))], lambda x: x[key])
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda x: op.softmax(x, "1"), "softmax: axis is '1'; expected an integer"),
        (lambda x: op.softmax(x, 2**63), "softmax: axis is 9223372036854775808"),
        (lambda x: op.softmax(x, 7), "axis"),
        (lambda x: op.astype(x, "f77"), "astype: dtype: unknown dtype 'f77'"),
        (lambda x: op.permute_dims(x, 3.5), "permute_dims: axes"),
        (lambda x: op.reshape(x, (Sym("z"), 4)), "symbol 'z' is not defined"),
        (lambda x: op.reshape(x, "abc"), "reshape: dims"),
        (lambda x: op.reshape(x, (7, 7)), "reshape"),
        (lambda x: op.take(x, op.constant([1]), axis=0, mode="sideways"), "sideways"),
        (lambda x: op.exp(n), "exp: x is the expression 'n'"),
    ],
)
def test_wrong_arguments(build, wrong, message):
    with pytest.raises(RelaxError) as caught:
        build([Tensor((n, 4))], wrong)
    assert message in str(caught.value)
    assert caught.value.location.file == __file__


@pytest.mark.parametrize("dtype", ["f32", "f16", "f64", "i32"])
def test_numbers_for_attributes(build, dtype):
    x = Tensor((n, 4), dtype)
    point = ".000000e+00" if dtype.startswith("f") else " : i64"
    text = build([x], lambda x: (op.clip(x, -1, 6), op.pad(x, [1, 2, 0, 3], pad_value=2)))
    for value in ("min = -1", "max = 6", "pad_value = 2"):
        assert value + point in text
    if dtype.startswith("f"):
        assert "pad_value = 1.5" in build([x], lambda x: op.pad(x, [1, 2, 0, 3], pad_value=1.5))
        assert "min = -5.0" in build([x], lambda x: op.clip(x, min=np.float32(-0.5)))
    else:
        with pytest.raises(RelaxError, match="pad_value must be an integer"):
            build([x], lambda x: op.pad(x, [1, 2, 0, 3], pad_value=1.5))


# No op has an attribute that only accepts attribute text.
def test_attributes_have_types():
    for name in op.__all__:
        for parameter in inspect.signature(getattr(op, name)).parameters.values():
            assert "ir.Attribute" not in str(parameter.annotation), (name, parameter)

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A session has the interface of onnxruntime, and makes programs for what no symbolic program covers."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="the package onnx is not installed")

import ml_dtypes  # noqa: E402
from onnx import helper  # noqa: E402
from onnx_programs import BOOL, F32, I64, graph, model, node, run  # noqa: E402

import relax_mlir.onnx as onnxruntime  # noqa: E402
from relax_mlir import UnsupportedOpError  # noqa: E402

X = np.arange(6, dtype=np.float32).reshape(2, 3)


def test_what_programs_ask_of_onnxruntime(tmp_path):
    made = model(
        [node("Neg", "x", "y"), node("Size", "x", "n")],
        [("x", F32, ["a", None, 3])],
        [("y", F32, None), ("n", I64, [])],
    )
    made.metadata_props.add(key="character", value="abc")
    path = tmp_path / "model.onnx"
    onnx.save(made, path)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.intra_op_num_threads = 1
    onnxruntime.disable_telemetry_events()
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    (given,), (negative, count) = session.get_inputs(), session.get_outputs()
    assert (given.name, given.shape, given.type) == ("x", ["a", None, 3], "tensor(float)")
    assert (negative.name, count.name, count.type) == ("y", "n", "tensor(int64)")
    assert session.get_modelmeta().custom_metadata_map == {"character": "abc"}
    assert session.get_providers() == onnxruntime.get_available_providers()
    x = np.ones((2, 1, 3), np.float32)
    size, made = session.run(["n", "y"], {"x": x})
    assert size == 6
    np.testing.assert_array_equal(made, -x)


def test_an_input_that_decides_axes_makes_programs():
    nodes = [node("Reshape", "x s", "a"), node("ReduceMax", "a axes", "y", keepdims=0)]
    inputs = [("x", F32, ["n", "m"]), ("s", I64, ["k"]), ("axes", I64, [1])]
    session = onnxruntime.InferenceSession(model(nodes, inputs, [("y", F32, None)]).SerializeToString())
    for shape, axis in (([3, 2], 0), ([-1], 0), ([1, 0, -1], 1), ([3, 2], 0)):
        feeds = {"x": X, "s": np.asarray(shape), "axes": np.asarray([axis])}
        known = [X.shape[i] if size == 0 else size for i, size in enumerate(shape)]
        np.testing.assert_array_equal(session.run(None, feeds)[0], X.reshape(known).max(axis))
    assert len(session.compilations) == 3
    assert all(entry.import_seconds > 0 and entry.compile_seconds > 0 for entry in session.compilations)


def test_a_shape_that_decides_axes_makes_programs():
    made = model([node("Squeeze", "x", "y")], [("x", F32, ["a", "b", "c"])], [("y", F32, None)])
    session = onnxruntime.InferenceSession(made.SerializeToString())
    for shape in ((1, 2, 1), (3, 1, 2), (1, 1, 1)):
        assert session.run(None, {"x": np.ones(shape, np.float32)})[0].shape == np.ones(shape).squeeze().shape


def test_a_branch_that_does_not_fit_is_not_built():
    then = graph([node("Transpose", "x", "t", perm=[1, 0])], [], [("t", F32, None)])
    other = graph([node("Transpose", "x", "u", perm=[2, 1, 0])], [], [("u", F32, None)])
    made = model(
        [node("If", "c", "y", then_branch=then, else_branch=other)],
        [("c", BOOL, []), ("x", F32, ["a", "b"])],
        [("y", F32, None)],
    )
    np.testing.assert_array_equal(run(made, c=np.asarray(True), x=X)[0], X.T)
    with pytest.raises(ValueError, match="Transpose"):
        run(made, c=np.asarray(False), x=X)


def branches_of_ranks(*after):
    """Squeezes an axis whose size is 1, as PyTorch's `squeeze(1)` is exported, then does something with the result."""
    then = graph([node("Squeeze", "x axis", "t")], [], [("t", F32, None)])
    other = graph([node("Identity", "x", "u")], [], [("u", F32, None)])
    nodes = [
        node("Shape", "x", "size", start=1, end=2),
        node("Equal", "size axis", "is_one"),
        node("If", "is_one", "flat", then_branch=then, else_branch=other),
        *after,
    ]
    return model(nodes, [("x", F32, ["n", "m", 4])], [("y", F32, None)], {"axis": [1], "w": W})


W = np.arange(12, dtype=np.float32).reshape(4, 3)


def test_the_branch_that_fits_the_rest_is_taken():
    """One program for all sizes that ONNX allows; the others are refused when it is called."""
    session = onnxruntime.InferenceSession(branches_of_ranks(node("Gemm", "flat w", "y")).SerializeToString())
    for n in (1, 3):
        x = np.arange(4 * n, dtype=np.float32).reshape(n, 1, 4)
        np.testing.assert_array_equal(session.run(None, {"x": x})[0], x[:, 0] @ W)
    with pytest.raises(ValueError, match="else branch, which does not fit"):
        session.run(None, {"x": np.zeros((2, 3, 4), np.float32)})
    assert len(session.compilations) == 1


def test_branches_that_both_fit_the_rest_make_programs():
    session = onnxruntime.InferenceSession(branches_of_ranks(node("Relu", "flat", "y")).SerializeToString())
    for shape, made in (((2, 1, 4), (2, 4)), ((2, 3, 4), (2, 3, 4))):
        assert session.run(None, {"x": np.ones(shape, np.float32)})[0].shape == made
    assert len(session.compilations) == 2


def test_sequences_and_optionals():
    made = model(
        [
            node("SequenceInsert", "s x", "t"),
            node("ConcatFromSequence", "t", "y", axis=0),
            node("OptionalHasElement", "o", "there"),
        ],
        [("x", F32, ["n", 3])],
        [("y", F32, None), ("there", BOOL, [])],
    )
    made.graph.output.append(helper.make_tensor_sequence_value_info("t", F32, None))
    made.graph.input.append(helper.make_tensor_sequence_value_info("s", F32, ["k", 3]))
    inner = helper.make_tensor_type_proto(F32, ["p"])
    made.graph.input.append(helper.make_value_info("o", helper.make_optional_type_proto(inner)))
    session = onnxruntime.InferenceSession(made.SerializeToString())
    for members, optional in (([X], None), ([X, X[:1]], np.ones(2, np.float32)), ([], None)):
        y, there, sequence = session.run(None, {"x": X, "s": members, "o": optional})
        np.testing.assert_array_equal(y, np.concatenate([*members, X]))
        assert there == (optional is not None) and len(sequence) == len(members) + 1


def test_text_is_worked_on_while_importing():
    made = model(
        [
            node("StringConcat", "a b", "c"),
            node(
                "ai.onnx.ml::LabelEncoder",
                "c",
                "label",
                keys_strings=["xy", "zz"],
                values_int64s=[5, 6],
                default_int64=-1,
            ),
            node("Cast", "label", "f", to=F32),
            node("Mul", "f x", "y"),
        ],
        [("a", onnx.TensorProto.STRING, ["n"]), ("b", onnx.TensorProto.STRING, ["n"]), ("x", F32, ["n"])],
        [("y", F32, None), ("c", onnx.TensorProto.STRING, None)],
    )
    x = np.float32([1, 2])
    y, text = run(made, a=np.asarray(["x", "z"], object), b=np.asarray(["y", "q"], object), x=x)
    np.testing.assert_array_equal(y, [5, -2])
    assert text.tolist() == ["xy", "zq"]


@pytest.mark.parametrize("dtype", ["int4", "uint2", "float4_e2m1fn", "float8_e4m3fnuz", "float8_e8m0fnu", "bfloat16"])
def test_types_that_numpy_lacks(dtype):
    kind = np.dtype(getattr(ml_dtypes, dtype))
    code = helper.np_dtype_to_tensor_dtype(kind)
    made = model([node("Transpose", "x", "y", perm=[1, 0])], [("x", code, ["n", "m"])], [("y", code, None)])
    x = np.asarray([[0, 1, 1], [1, 1, 0]]).astype(kind)
    (y,) = run(made, x=x)
    assert y.dtype == kind
    np.testing.assert_array_equal(y.astype(np.float32), x.T.astype(np.float32))


def test_large_inputs_make_no_programs():
    made = model([node("Reshape", "x s", "y")], [("x", F32, ["n"]), ("s", I64, ["k"])], [("y", F32, None)])
    session = onnxruntime.InferenceSession(made.SerializeToString())
    with pytest.raises(ValueError, match="the input 's'.*5000 elements"):
        session.run(None, {"x": np.ones(1, np.float32), "s": np.ones(5000, np.int64)})


def test_an_operand_that_only_a_run_knows():
    made = model(
        [node("ArgMax", "x", "at", keepdims=0), node("ReduceSum", "z at", "y")],
        [("x", F32, ["n", 1]), ("z", F32, ["a", "b"])],
        [("y", F32, None)],
    )
    session = onnxruntime.InferenceSession(made.SerializeToString())
    with pytest.raises(UnsupportedOpError, match="ReduceSum"):
        session.run(None, {"x": X[:, :1], "z": X})

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Unsupported models and invalid calls, and their error messages."""

import numpy as np
import pytest

pytest.importorskip("onnx", reason="the package onnx is not installed")

import onnx  # noqa: E402
from onnx import helper, numpy_helper  # noqa: E402
from onnx_programs import F32, I64, graph, model, node  # noqa: E402

from relax_mlir import FrontendError, UnsupportedOpError, op  # noqa: E402
from relax_mlir.frontends import onnx as relax_onnx  # noqa: E402
from relax_mlir.frontends.onnx import InferenceSession, ModelFileError, ValueRequiredError, from_onnx  # noqa: E402
from relax_mlir.frontends.onnx.registry import registry  # noqa: E402

X, Y = [("x", F32, ["n"])], [("y", F32, None)]


def test_all_missing_ops_are_reported_together():
    inner = graph([node("com.example::Inner", "x", "z")], [], [("z", F32, None)])
    nodes = [
        node("com.example::First", "x", "a", name="one"),
        node("com.example::First", "a", "b"),
        node("If", "c", "y", then_branch=inner, else_branch=inner),
    ]
    made = model(nodes, [*X, ("c", onnx.TensorProto.BOOL, [])], Y, domains=("com.example",))
    with pytest.raises(UnsupportedOpError) as caught:
        from_onnx(made)
    assert caught.value.ops == {"com.example::First": 2, "com.example::Inner": 2}
    assert "'one'" in str(caught.value)


def test_a_converter_can_be_registered():
    @relax_onnx.register("com.example::Twice")
    def twice(ctx, x):
        return op.multiply(x, ctx.scalar(ctx.float("factor", 2.0), x.dtype))

    try:
        made = model([node("com.example::Twice", "x", "y", factor=3.0)], X, Y, domains=("com.example",))
        call = from_onnx(made).compile(cached=False)
        np.testing.assert_array_equal(call(x=np.float32([1, 2]))["y"], [3, 6])
    finally:
        registry.converters.pop("com.example::Twice")


def test_an_unknown_form_names_node_and_attribute():
    with pytest.raises(UnsupportedOpError, match="'pad it', attribute 'mode'|pad it") as caught:
        from_onnx(model([node("Pad", "x p", "y", mode="odd", name="pad it")], X, Y, {"p": np.zeros(2, np.int64)}))
    assert (caught.value.node, caught.value.attribute) == ("pad it", "mode")


@pytest.mark.parametrize(
    "nodes, message",
    [
        ([node("Add", "x b", "a"), node("Relu", "a", "b"), node("Neg", "b", "y")], "cycle"),
        ([node("Relu", "x", "y"), node("Neg", "x", "y")], "'y' is defined twice"),
        ([node("Relu", "nothing", "y")], "uses 'nothing', which nothing defines"),
        ([node("Relu", "x", "z")], "'y' of the graph 'test' is made by no node"),
        ([node("MatMul", "x m", "y")], "MatMul.*'y'"),
        ([node("Add", "x k", "y")], "Add.*'y'"),
        ([node("Concat", "x x", "y")], "no attribute 'axis'"),
        ([node("Concat", "x x", "y", axis="one")], "'axis'.*expected an integer"),
        ([node("Relu", "x x x", "y")], "Relu"),
        ([node("Transpose", "x", "y", perm=[0, 1, 2])], "Transpose"),
    ],
)
def test_graphs_that_are_not_valid(nodes, message):
    constants = {"m": np.zeros((3, 3, 2), np.int64), "k": np.zeros(2, np.int64)}
    with pytest.raises(FrontendError, match=message):
        from_onnx(model(nodes, X, Y, constants))


def test_files_that_are_not_models(tmp_path):
    data = model([node("Relu", "x", "y")], X, Y).SerializeToString()
    for broken in (b"", b"not a model", data[: len(data) // 2], data[:-1]):
        with pytest.raises(FrontendError):
            from_onnx(broken)
    with pytest.raises(ModelFileError, match="No such file"):
        from_onnx(tmp_path / "missing.onnx")


@pytest.mark.parametrize(
    "nodes, message",
    [
        ([node("Add", "x _", "y")], "Add.*'B' is left out"),
        ([node("Add", "x", "y")], "Add.*number of inputs is 1; expected 2"),
        ([node("Relu", "x", "y z")], "Relu.*number of outputs is 2; expected 1"),
        ([node("SequenceConstruct", "x", "s"), node("Shape", "s", "y")], "Shape.*'data' is a sequence"),
        ([node("SequenceAt", "x zero", "y")], "SequenceAt.*'input_sequence' is a tensor"),
        ([node("Transpose", "x", "y", perm=[0.5])], "'perm'.*list of a number; expected a list of integers"),
        ([node("com.microsoft::QuickGelu", "_", "y")], "QuickGelu.*input 1 .'x'. is left out"),
        ([node("com.microsoft::QLinearAdd", "x x x x _ x x", "y")], "QLinearAdd.*scale.* is left out"),
        ([node("com.microsoft::DynamicQuantizeLSTM", "x x x", "y", hidden_size=4)], "the scales.* are left out"),
    ],
)
def test_nodes_that_their_schema_refuses(nodes, message):
    with pytest.raises(FrontendError, match=message):
        from_onnx(model(nodes, X, Y, {"zero": np.asarray(0)}))


def test_functions_that_are_not_valid():
    for body, message in (
        ([helper.make_node("Neg", ["nothing"], ["b"])], "uses 'nothing', which nothing defines"),
        ([helper.make_node("Neg", ["a"], ["c"])], "'b' of the function 'F' is made by no node"),
        ([helper.make_node("Neg", ["b"], ["b"])], "cycle"),
    ):
        function = helper.make_function("mine", "F", ["a"], ["b"], body, [helper.make_opsetid("", 21)])
        made = model([node("mine::F", "x", "y")], X, Y, domains=("mine",), functions=[function])
        with pytest.raises(ModelFileError, match=message):
            from_onnx(made)


def test_names_with_a_zero_byte():
    with pytest.raises(ModelFileError, match="zero byte"):
        from_onnx(model([node("Relu", "x", "y", name="a\0b")], X, Y))


def test_tables_that_are_huge():
    names = "bins size rate low high"
    constants = dict(zip(names.split(), (*np.asarray([1 << 20, 1 << 20, 1 << 21]), np.float32(0), np.float32(9))))
    with pytest.raises(UnsupportedOpError, match="MelWeightMatrix.*at most"):
        from_onnx(model([node("MelWeightMatrix", names, "y")], [], Y, constants))


def test_graphs_with_another_number_of_inputs():
    body = graph([node("Neg", "v", "w")], [("u", F32, []), ("v", F32, []), ("t", F32, [])], [("w", F32, None)])
    made = model([node("Scan", "x", "y", body=body, num_scan_inputs=1)], X, Y)
    with pytest.raises(FrontendError, match="the graph 'test' has 3 inputs; its node gives 1"):
        from_onnx(made)


@pytest.mark.parametrize("opset, message", [(29, "version 29"), (99, "version 99")])
def test_unknown_opsets(opset, message):
    with pytest.raises(FrontendError, match=message):
        from_onnx(model([node("Relu", "x", "y")], X, Y, opset=opset))


def test_a_domain_that_is_not_imported():
    made = helper.make_model(graph([node("Relu", "x", "y")], X, Y), opset_imports=[helper.make_opsetid("other", 1)])
    with pytest.raises(FrontendError, match="does not import the domain 'ai.onnx'"):
        from_onnx(made)


def external(tmp_path, location, offset=None, length=None, elements=4):
    """A model whose weight is in another file."""
    made = model([node("Add", "x w", "y")], [("x", F32, [4])], Y, {"w": np.zeros(elements, np.float32)})
    (weight,) = made.graph.initializer
    weight.ClearField("raw_data")
    weight.data_location = onnx.TensorProto.EXTERNAL
    for key, value in (("location", location), ("offset", offset), ("length", length)):
        if value is not None:
            entry = weight.external_data.add()
            entry.key, entry.value = key, str(value)
    path = tmp_path / "model.onnx"
    path.write_bytes(made.SerializeToString())
    return path


def test_tensors_in_other_files(tmp_path):
    (tmp_path / "weights.bin").write_bytes(np.arange(6, dtype=np.float32).tobytes())
    x = np.zeros(4, np.float32)
    for offset, length, first in ((None, None, 0), (8, 16, 2)):
        path = external(tmp_path, "weights.bin", offset, length)
        np.testing.assert_array_equal(InferenceSession(path).run(None, {"x": x})[0], np.arange(4) + first)
    with pytest.raises(ModelFileError, match="has no folder"):
        from_onnx(path.read_bytes())
    from_onnx(path.read_bytes(), folder=tmp_path)


@pytest.mark.parametrize(
    "location",
    ["../secret", "/etc/passwd", "a/../../secret", "link", "folder/secret", "missing", "", "C:\\secret", "."],
)
def test_tensors_outside_of_the_folder_are_refused(tmp_path, location):
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "secret").write_bytes(bytes(16))
    (inside / "link").symlink_to(tmp_path / "secret")
    (inside / "folder").symlink_to(tmp_path)
    with pytest.raises(ModelFileError, match="the tensor 'w'"):
        from_onnx(external(inside, location))


@pytest.mark.parametrize("offset, length", [(12, 16), (100, None), (-4, 16), (0, 8), (0, 1000), ("x", 16)])
def test_tensors_beyond_the_file_are_refused(tmp_path, offset, length):
    (tmp_path / "weights.bin").write_bytes(bytes(24))
    with pytest.raises(ModelFileError, match="the tensor 'w'"):
        from_onnx(external(tmp_path, "weights.bin", offset, length))


def test_tensors_with_too_little_data():
    made = model([node("Add", "x w", "y")], [("x", F32, [4])], Y, {"w": np.zeros(4, np.float32)})
    made.graph.initializer[0].dims[0] = 1 << 40
    with pytest.raises(ModelFileError, match="the tensor 'w'"):
        from_onnx(made)
    made.graph.initializer[0].CopyFrom(numpy_helper.from_array(np.zeros(4, np.complex64), "w"))
    with pytest.raises(FrontendError, match="complex64"):
        from_onnx(made)


def test_options_that_name_nothing():
    made = model([node("Relu", "x", "y")], X, Y)
    for options, message in (
        ({"symbols": {"m": (1, 2)}}, "the size 'm'"),
        ({"dims": {"m": "2*n"}}, "the size 'm'"),
        ({"dims": {"n": "m + 1"}}, "the size 'm', which no input has"),
        ({"values": {"z": np.zeros(1)}}, "the input 'z'"),
        ({"shapes": {"x": [2, 3]}}, "the input 'x'"),
        ({"values": {"x": np.zeros(1, np.int64)}}, "elements of int64"),
    ):
        with pytest.raises(FrontendError, match=message):
            from_onnx(made, **options)


def test_values_that_decide_shapes_are_named():
    made = model([node("Reshape", "x s", "y")], [*X, ("s", I64, [2])], Y)
    with pytest.raises(ValueRequiredError, match="'s'") as caught:
        from_onnx(made)
    assert caught.value.inputs == {"s"}


def test_an_input_without_axes_needs_a_shape():
    made = model([node("Relu", "x", "y")], [("x", F32, None)], Y)
    with pytest.raises(FrontendError, match="how many axes the input 'x' has"):
        from_onnx(made)
    call = from_onnx(made, shapes={"x": ("n", 2)}).compile(cached=False)
    assert call(x=np.ones((3, 2), np.float32))["y"].shape == (3, 2)


def test_calls_that_do_not_fit():
    made = model([node("Add", "x z", "y")], [("x", F32, ["n", 3]), ("z", F32, ["n", 3])], Y)
    session, x = InferenceSession(made.SerializeToString()), np.ones((2, 3), np.float32)
    for feeds, kind, message in (
        ({"x": x}, FrontendError, "'z' is missing"),
        ({"x": x, "z": x, "w": x}, FrontendError, "no input 'w'"),
        ({"x": x, "z": x.astype(np.float64)}, TypeError, "'z' has elements of float64"),
        ({"x": x, "z": x[0]}, ValueError, "'z' has the shape"),
        ({"x": x, "z": x[:, :2]}, ValueError, "'z' has the shape"),
        ({"x": x, "z": x[:1]}, ValueError, "n"),
    ):
        with pytest.raises(kind, match=message):
            session.run(None, feeds)
    with pytest.raises(FrontendError, match="no output 'q'"):
        session.run(["q"], {"x": x, "z": x})
    assert session.run(["y"], {"x": x, "z": x})[0].shape == (2, 3)


def test_a_run_that_breaks_names_the_node():
    made = model([node("Reshape", "x s", "y", name="into pairs")], X, Y, {"s": np.asarray([-1, 2])})
    session = InferenceSession(made.SerializeToString())
    with pytest.raises(ValueError, match="into pairs"):
        session.run(None, {"x": np.ones(3, np.float32)})

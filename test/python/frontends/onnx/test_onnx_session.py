# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sessions have onnxruntime's interface, and compile further programs for inputs that no symbolic program covers."""

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
    """Squeezes an axis of size 1, as in the export of PyTorch's `squeeze(1)`, then uses the result."""
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
    """One program handles all sizes that ONNX allows; a call with other sizes is an error."""
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


def negative(shape=("n", 3), kind=F32, **fields):
    """The session of a model that negates its input."""
    made = model([node("Neg", "x", "y")], [("x", kind, list(shape))], [("y", kind, list(shape))])
    for name, value in fields.items():
        setattr(made, name, value)
    return onnxruntime.InferenceSession(made.SerializeToString())


# A binding stores the locations of inputs and outputs, where a call reads and writes.
def test_bindings():
    session = negative()
    x, y = X.copy(), np.empty_like(X)
    binding = session.io_binding()
    binding.bind_cpu_input("x", x)
    binding.bind_output("y")
    session.run_with_iobinding(binding)
    (made,) = binding.get_outputs()
    assert (made.shape(), made.data_type(), made.element_type()) == ([2, 3], "tensor(float)", F32)
    np.testing.assert_array_equal(np.from_dlpack(made), -X)
    x += 1  # the binding reads the same memory again
    binding.bind_output("y", "cpu", 0, np.float32, y.shape, y.ctypes.data)
    session.run_with_iobinding(binding)
    np.testing.assert_array_equal(y, -X - 1)
    copied = binding.copy_outputs_to_cpu()[0]
    assert not np.shares_memory(copied, y)
    binding.clear_binding_inputs()
    binding.bind_input("x", "cpu", 0, F32, (1, 3), x.ctypes.data)
    place = onnxruntime.OrtValue.ortvalue_from_shape_and_type((1, 3), np.float32)
    binding.bind_ortvalue_output("y", place)
    session.run_with_iobinding(binding)
    np.testing.assert_array_equal(place.numpy(), -x[:1])
    assert place.data_ptr() == binding.get_outputs()[0].data_ptr()
    binding.bind_ortvalue_input("x", onnxruntime.OrtValue.ortvalue_from_numpy(X))
    with pytest.raises(ValueError, match=r"output 'y' is float32 of the shape \[1, 3\]; got .* \[2, 3\]"):
        session.run_with_iobinding(binding)
    binding.clear_binding_outputs()
    with pytest.raises(ValueError, match="no output is bound"):
        session.run_with_iobinding(binding)


@pytest.mark.parametrize(
    "bind, message",
    [
        (lambda binding: binding.bind_cpu_input("z", X), "no input 'z'"),
        (lambda binding: binding.bind_output("z"), "no output 'z'"),
        (lambda binding: binding.bind_output("y", "cuda"), "'cpu' with the index 0; got 'cuda'"),
        (lambda binding: binding.bind_output("y", buffer_ptr=64), "'y' is bound to memory; give its element type"),
        (lambda binding: binding.bind_input("x", "cpu", 0, F32, (-1, 3), 64), "sizes of at least 0"),
        (lambda binding: negative().run_with_iobinding(binding), "belongs to another session"),
    ],
)
def test_bindings_that_are_wrong(bind, message):
    with pytest.raises(ValueError, match=message):
        bind(negative().io_binding())


def test_values():
    value = onnxruntime.OrtValue.ortvalue_from_numpy(X)
    assert value.data_ptr() == X.ctypes.data and value.is_tensor() and value.has_value()
    assert value.__dlpack_device__() == (1, 0) and np.asarray(value) is value.numpy()
    (made,) = negative().run_with_ort_values(["y"], {"x": value})
    np.testing.assert_array_equal(made.numpy(), -X)
    made.update_inplace(X)
    np.testing.assert_array_equal(made.numpy(), X)
    with pytest.raises(ValueError, match=r"float32 of the shape \[2, 3\]; got int64"):
        made.update_inplace(X.astype(np.int64))
    bits = X.astype(ml_dtypes.bfloat16).view(np.uint16)
    half = onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(bits, onnx.TensorProto.BFLOAT16)
    assert half.data_type() == "tensor(bfloat16)" and half.numpy().dtype == ml_dtypes.bfloat16
    with pytest.raises(ValueError, match="do not have the size"):
        onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(bits, F32)
    with pytest.raises(ValueError, match="no tensors with elements of complex64"):
        onnxruntime.OrtValue.ortvalue_from_numpy(X.astype(np.complex64))


# Lists get the element type of the input, if it can represent their numbers.
def test_lists_are_tensors():
    ints, floats = negative(kind=onnx.TensorProto.INT32), negative()
    np.testing.assert_array_equal(ints.run(None, {"x": [[1, 2, 3]]})[0], np.int32([[-1, -2, -3]]))
    np.testing.assert_array_equal(floats.run(None, {"x": [[1, 2.5, 3]]})[0], np.float32([[-1, -2.5, -3]]))
    for session, value, message in (
        (ints, [[1, 2, 2**40]], "numbers from 1 to 1099511627776"),
        (ints, [[1, 2, 2.5]], "elements of float64; expected tensor.int32."),
        (floats, [[1, 2], [3]], "the input 'x' is not a tensor"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            session.run(None, {"x": value})


def test_options_of_sessions(monkeypatch):
    from relax_mlir import runtime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = runtime.thread_count() + 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.add_free_dimension_override_by_name("n", 2)
    options.add_free_dimension_override_by_name("unknown", 2)
    made = model([node("Neg", "x", "y")], [("x", F32, ["n", 3])], [("y", F32, None)]).SerializeToString()
    session = onnxruntime.InferenceSession(made, options)
    before, seen = runtime.thread_count(), []
    program = next(iter(session._programs.values()))
    monkeypatch.setattr(program, "_main", Watched(program._main, lambda: seen.append(runtime.thread_count())))
    session.run(None, {"x": X})
    assert seen == [before + 1] and runtime.thread_count() == before
    with pytest.raises(ValueError, match="'n'|x"):
        session.run(None, {"x": X[:1]})
    run_options = onnxruntime.RunOptions()
    run_options.terminate = True
    with pytest.raises(ValueError, match="terminate is set"):
        session.run(None, {"x": X}, run_options)


class Watched:
    """A function of a program that calls another one first."""

    def __init__(self, entry, before):
        self.entry, self.before = entry, before

    def __getattr__(self, name):
        return getattr(self.entry, name)

    def run(self, *arguments):
        self.before()
        return self.entry.run(*arguments)


def test_options_that_are_refused():
    options = onnxruntime.SessionOptions()
    with pytest.raises(AttributeError, match="no_such_option"):
        options.no_such_option = 1
    for act, message in (
        (lambda: options.add_session_config_entry("other.key", "1"), "no session setting 'other.key'"),
        (lambda: options.add_session_config_entry("session.set_denormal_as_zero", "1"), "denormal numbers are kept"),
        (lambda: options.register_custom_ops_library("x.so"), "x.so"),
        (lambda: options.add_initializer("w", X), "'w' cannot be replaced"),
        (lambda: options.add_free_dimension_override_by_denotation("DATA_BATCH", 1), "DATA_BATCH"),
    ):
        with pytest.raises(ValueError, match=message):
            act()
    for field, value in (("enable_profiling", True), ("optimized_model_filepath", "x"), ("intra_op_num_threads", -1)):
        options = onnxruntime.SessionOptions()
        setattr(options, field, value)
        with pytest.raises(ValueError, match=field):
            onnxruntime.InferenceSession(b"", options)
    with pytest.raises(TypeError, match="expected relax_mlir.onnx.SessionOptions"):
        onnxruntime.InferenceSession(b"", {})


def test_providers():
    made = model([node("Neg", "x", "y")], [("x", F32, ["n"])], [("y", F32, None)]).SerializeToString()
    with pytest.warns(UserWarning, match="'CUDAExecutionProvider' is not available.*runs on the CPU"):
        session = onnxruntime.InferenceSession(
            made, providers=[("CUDAExecutionProvider", {"device_id": 0}), ("CPUExecutionProvider", {})]
        )
    assert session.get_providers() == ["CPUExecutionProvider"] == list(session.get_provider_options())
    with pytest.raises(TypeError, match="expected a list"):
        onnxruntime.InferenceSession(made, providers="CPUExecutionProvider")
    with pytest.raises(TypeError, match="has the member 1"):
        onnxruntime.InferenceSession(made, providers=[1])
    with pytest.raises(ValueError, match="2 members for 1 providers"):
        onnxruntime.InferenceSession(made, None, ["CPUExecutionProvider"], [{}, {}])


def test_what_a_model_says_of_itself():
    said = negative(producer_name="p", doc_string="d", domain="a.b", model_version=3).get_modelmeta()
    assert (said.producer_name, said.description, said.domain, said.version) == ("p", "d", "a.b", 3)
    assert (said.graph_name, said.graph_description, said.custom_metadata_map) == ("test", "", {})

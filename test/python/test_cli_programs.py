# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`relax-mlir run` and `relax-mlir bench` of ONNX models, of PyTorch programs, and of the folders that they become."""

import json
import math
import sys

import numpy as np
import pytest
from targets import needs_linker

from relax_mlir import RelaxError
from relax_mlir.cli.app import app
from relax_mlir.cli.bench import largest_difference

X = np.arange(6, dtype=np.float32).reshape(2, 3)
Z = np.ones((2, 1), np.float32)


@pytest.fixture
def shown(capsys):
    """Runs a command in this process, and returns its output."""

    def run(*arguments):
        app(list(map(str, arguments)), standalone_mode=False)
        return capsys.readouterr().out

    return run


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """y = concat(x, z), and the number of its elements; all sizes are symbols."""
    onnx = pytest.importorskip("onnx", reason="the package onnx is not installed")
    helper, F32, I64 = onnx.helper, onnx.TensorProto.FLOAT, onnx.TensorProto.INT64
    graph = helper.make_graph(
        [helper.make_node("Concat", ["x", "z"], ["y"], axis=1), helper.make_node("Size", ["y"], ["count/all"])],
        "test",
        [helper.make_tensor_value_info("x", F32, ["n", 3]), helper.make_tensor_value_info("z", F32, ["n", None])],
        [helper.make_tensor_value_info("y", F32, None), helper.make_tensor_value_info("count/all", I64, [])],
    )
    path = tmp_path_factory.mktemp("model") / "model.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)]), path)
    np.save(path.with_name("x.npy"), X)
    np.save(path.with_name("z.npy"), Z)
    np.savez(path.with_name("all.npz"), z=Z, x=X)
    return path


# Inputs come from files by name or by position, and results go to files by name.
def test_run(model, shown, tmp_path):
    x, z, both = (model.with_name(name) for name in ("x.npy", "z.npy", "all.npz"))
    expected = np.concatenate([X, Z], 1)
    for inputs in ([x, z], ["--input", x, "-i", z], [f"z={z}", "--input", f"x={x}"], [both], [f"z={z}", x]):
        text = shown("run", model, *inputs, "--save", tmp_path / "out", "-o", f"y={tmp_path / 'y.npy'}")
        assert "result y: [2, 4] float32" in text and "result count/all: [] int64\n8" in text
        np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), expected)
    np.testing.assert_array_equal(np.load(tmp_path / "out" / "y.npy"), expected)
    assert np.load(tmp_path / "out" / "count_all.npy") == 8
    assert "result y: [4, 5] float32" in shown("run", model, "x=4x3xf32", "4x2xf32", "-o", tmp_path / "all.npz")
    assert set(np.load(tmp_path / "all.npz")) == {"y", "count/all"}


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["x=2x3xf64", "z=2x1xf32"], r"the input 'x' is f64\[2, 3\]; expected f32\[n, 3\]"),
        (["x=2x3x1xf32", "z=2x1xf32"], r"the input 'x' is f32\[2, 3, 1\]; expected f32\[n, 3\]"),
        (["x=2x4xf32", "z=2x1xf32"], r"the input 'x' is f32\[2, 4\]; expected f32\[n, 3\]"),
        (["x=2x3xf32", "z=4x1xf32"], "the input 'z' has n = 4 on axis 0; the input 'x' has n = 2"),
        (["x=2x3xf32"], r"'main' takes 2 arguments, got 1: missing 'z', f32\[n, z_dim1\]"),
        (["2x3xf32", "2x1xf32", "1xf32"], "'main' takes 2 arguments, got 3"),
        (["x=2x3xf32", "w=2x3xf32"], "'main' has no input 'w' .*; its inputs are x, z"),
        (["x=2x3xf32", "x=2x3xf32"], "the input 'x' is given twice"),
        (["x=1.5", "2x1xf32"], r"the input 'x' is 1.5; expected f32\[n, 3\]"),
        (["2x3xf32", "2x1xf32", "-o", "w=w.npy"], "--output has 'w=w.npy'; the outputs are y, count/all"),
        (["2x3xf32", "2x1xf32", "-o", "y=y.txt"], "expected name=file.npy"),
        (["x=no.npy"], "cannot read 'no.npy'"),
        (["2x3xf32", "2x1xf32", "-f", "other"], "has no function 'other'; it has main"),
    ],
)
def test_what_is_wrong_with_inputs_is_known_before(model, shown, monkeypatch, arguments, message):
    def fail(*arguments, **options):
        raise AssertionError("it was compiled")

    monkeypatch.setattr("relax_mlir.frontends.onnx.session.InferenceSession", fail)
    with pytest.raises(RelaxError, match=message):
        shown("run", model, *arguments)


# An array that requires pickle is rejected.
def test_files_are_not_unpickled(model, shown, tmp_path):
    np.save(tmp_path / "x.npy", np.asarray([{}], object), allow_pickle=True)
    with pytest.raises(RelaxError, match="cannot read '.*x.npy'"):
        shown("run", model, tmp_path / "x.npy", "2x1xf32")


# A .npy file does not store the names of ml_dtypes types, so the input's declared type is used. A number is a tensor of
# rank 0.
def test_types_that_files_do_not_name(shown, tmp_path):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    onnx = pytest.importorskip("onnx", reason="the package onnx is not installed")
    helper, BF16 = onnx.helper, onnx.TensorProto.BFLOAT16
    graph = helper.make_graph(
        [helper.make_node("Mul", ["x", "s"], ["y"])],
        "test",
        [helper.make_tensor_value_info("x", BF16, ["n"]), helper.make_tensor_value_info("s", BF16, [])],
        [helper.make_tensor_value_info("y", BF16, None)],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)]), tmp_path / "m.onnx")
    np.save(tmp_path / "x.npy", np.asarray([1, 2.5], ml_dtypes.bfloat16))
    text = shown("run", tmp_path / "m.onnx", tmp_path / "x.npy", "s=2", "--output", f"y={tmp_path / 'y.npy'}")
    assert "result y: [2] bfloat16\n[2 5]" in text
    assert np.load(tmp_path / "y.npy").view(ml_dtypes.bfloat16).tolist() == [2, 5]


# A folder has the same inputs and outputs as the model, with the same names.
@needs_linker
def test_a_folder_of_a_model(model, shown, tmp_path):
    shown("compile", model, "-o", tmp_path / "folder")
    shown("run", tmp_path / "folder", model.with_name("all.npz"), "-o", f"y={tmp_path / 'y.npy'}")
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), np.concatenate([X, Z], 1))
    with pytest.raises(RelaxError, match=r"the input 'x' is f64\[2, 3\]; expected f32\[n, 3\]"):
        shown("run", tmp_path / "folder", "2x3xf64", "2x1xf32")
    made = json.loads(shown("bench", tmp_path / "folder", "--sizes", "n=2,z_dim1=4", "--rounds", 1, "--json"))
    assert made["inputs"] == {"x": "f32[2, 3]", "z": "f32[2, 4]"} and "onnxruntime" not in made
    with pytest.raises(RelaxError, match="is a program, not a language model; leave --prompts out"):
        shown("bench", tmp_path / "folder", "--prompts", 1)


# Structures of inputs and outputs are taken by their leaves, and bounds are checked.
def test_a_program_of_pytorch(shown, tmp_path):
    torch = pytest.importorskip("torch", reason="the package torch is not installed")

    class Program(torch.nn.Module):
        def forward(self, x, others):
            return {"sum": x + others["t"], "rest": [x * 2]}

    batch = torch.export.Dim("batch", min=2, max=64)
    examples = torch.ones(3, 2), {"t": torch.ones(3, 1)}
    shapes = {"x": {0: batch}, "others": {"t": {0: batch}}}
    path = tmp_path / "program.pt2"
    torch.export.save(torch.export.export(Program(), examples, dynamic_shapes=shapes), path)
    np.save(tmp_path / "x.npy", X[:, :2])
    np.save(tmp_path / "t.npy", Z)
    text = shown("run", path, tmp_path / "x.npy", f"others_t={tmp_path / 't.npy'}", "--save", tmp_path / "out")
    assert "result sum: [2, 2] float32" in text and "result rest_0: [2, 2] float32" in text
    np.testing.assert_array_equal(np.load(tmp_path / "out" / "sum.npy"), X[:, :2] + 1)
    with pytest.raises(RelaxError, match="sizes that are not given: 2 <= .* <= 64; say, for example"):
        shown("bench", path)


# The times of a model and of onnxruntime, which our own session replaces here.
def test_bench(model, shown, monkeypatch):
    import relax_mlir.onnx

    monkeypatch.setitem(sys.modules, "onnxruntime", relax_mlir.onnx)
    arguments = ["bench", model, "--input", "z=2x4xf32", "--threads", 1, "--rounds", 2]
    made = json.loads(shown(*arguments, "--json"))
    assert made["inputs"] == {"x": "f32[2, 3]", "z": "f32[2, 4]"} and made["threads"] == 1
    assert made["largest_difference"]["value"] == 0 and made["onnxruntime"]["version"] == relax_mlir.onnx.__version__
    assert made["speedup"] == made["onnxruntime"]["call_seconds"] / made["relax_mlir"]["call_seconds"]
    text = shown(*arguments)
    assert "import and compile" in text and "1 thread, 2 rounds" in text and "times as long" in text
    assert "onnxruntime" not in shown(*arguments, "--against", "none")


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--sizes", "n=2"], "the inputs have sizes that are not given: z_dim1; say, for example, --sizes z_dim1=8"),
        (["--sizes", "n=2,z_dim1=4,k=3"], "--sizes has 'k'; the sizes of the inputs are n, z_dim1"),
        (["--sizes", "n=two"], "--sizes has the part 'n=two'; expected sizes such as"),
        (["--sizes", "n=3,z_dim1=1", "-i", "z=2x1xf32"], "--sizes says n=3; the given inputs have n=2"),
        (["--sizes", "n=2,z_dim1=1", "--rounds", "0"], "--rounds is 0; expected at least 1"),
        (["--sizes", "n=2,z_dim1=1", "--against", "other"], "expected one of auto, onnxruntime, none"),
        (["--steps", "2"], "is a program, not a language model; leave --steps out"),
    ],
)
def test_errors_of_bench(model, shown, arguments, message):
    with pytest.raises(RelaxError, match=message):
        shown("bench", model, *arguments)


# If onnxruntime is missing, or cannot run a model, the other times are shown; it is an error if onnxruntime was
# requested.
def test_bench_without_onnxruntime(model, shown, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    arguments = ["bench", model, "--sizes", "n=2,z_dim1=4", "--rounds", 1]
    assert "call, median" in shown(*arguments)
    with pytest.raises(RelaxError, match="onnxruntime is not installed"):
        shown(*arguments, "--against", "onnxruntime")


def test_options_of_programs_for_language_models(shown, tmp_path):
    with pytest.raises(RelaxError, match="is a language model, not a program; leave --sizes and --rounds out"):
        shown("bench", tmp_path / "x.gguf", "--sizes", "n=2", "--rounds", 1)


@pytest.mark.parametrize(
    "first, second, expected",
    [
        (np.float32([1, np.nan, np.inf]), np.float32([1.5, np.nan, np.inf]), 0.5),
        (np.float32([1, np.nan]), np.float32([1, 2]), math.inf),
        (np.float32([1]), np.float64([1]), math.inf),
        (np.int64([1, 2**62]), np.int64([1, 2**62 + 3]), 3),
        (np.bool_([True]), np.bool_([False]), 1),
        ([np.float32([1])], [np.float32([3])], 2),
        (np.asarray(["a"], object), np.asarray(["b"], object), math.inf),
        (np.float32([]), np.float32([]), 0),
    ],
)
def test_differences(first, second, expected):
    assert largest_difference({"y": first}, {"y": second}) == (expected, "y")

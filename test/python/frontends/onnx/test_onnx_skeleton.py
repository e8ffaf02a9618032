# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models as programs: sizes by name, calls by name, weights, folders, shape computations."""

import numpy as np
import pytest

pytest.importorskip("onnx", reason="the package onnx is not installed")

import onnx  # noqa: E402
from onnx import helper  # noqa: E402
from onnx_programs import BOOL, F32, I64, graph, model, node, run  # noqa: E402

from relax_mlir import Range  # noqa: E402
from relax_mlir.frontends.onnx import InferenceSession, from_onnx  # noqa: E402
from relax_mlir.frontends.program import load_program  # noqa: E402

RNG = np.random.default_rng(0)
W1, B1, W2 = (RNG.standard_normal(shape).astype(np.float32) for shape in ((8, 16), (16,), (16, 5)))


def mlp():
    nodes = [node("Gemm", "x w1 b1", "a"), node("Relu", "a", "h"), node("MatMul", "h w2", "y")]
    weights = {"w1": W1, "b1": B1, "w2": W2}
    return model(nodes, [("x", F32, ["batch", 8])], [("y", F32, ["batch", 5])], weights)


def expected(x):
    return np.maximum(x @ W1 + B1, 0) @ W2


def test_a_dynamic_batch_is_compiled_once():
    program = from_onnx(mlp(), symbols={"batch": Range(1, 64)})
    assert "1 <= batch <= 64: x.shape[0]" in str(program.report)
    assert set(program.weights) == {"w1", "w2"}
    call = program.compile(cached=False)
    for batch in (1, 3, 64):
        x = RNG.standard_normal((batch, 8)).astype(np.float32)
        np.testing.assert_allclose(call(x=x)["y"], expected(x), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(call(x)["y"], expected(x), rtol=1e-5, atol=1e-5)
    with pytest.raises(ValueError, match="batch"):
        call(x=np.zeros((65, 8), np.float32))
    with pytest.raises(TypeError, match="no argument 'z'"):
        call(x=x, z=x)


def test_a_folder_runs_by_itself(tmp_path):
    from_onnx(mlp()).export(tmp_path / "mlp")
    x = RNG.standard_normal((5, 8)).astype(np.float32)
    np.testing.assert_allclose(load_program(tmp_path / "mlp")(x=x)["y"], expected(x), rtol=1e-5, atol=1e-5)


def test_sizes_of_one_name_are_equal():
    made = model([node("Add", "x y", "z")], [("x", F32, ["n", 3]), ("y", F32, ["n", 3])], [("z", F32, ["n", 3])])
    call = from_onnx(made).compile(cached=False)
    assert call(x=np.ones((2, 3), np.float32), y=np.ones((2, 3), np.float32))["z"].shape == (2, 3)
    with pytest.raises(ValueError, match="n"):
        call(x=np.ones((2, 3), np.float32), y=np.ones((1, 3), np.float32))


def test_sizes_without_a_name_are_their_own():
    made = model([node("Add", "x y", "z")], [("x", F32, [None, 3]), ("y", F32, [-1, 3])], [("z", F32, None)])
    call = from_onnx(made, symbols={"x_dim0": (1, 4)}).compile(cached=False)
    assert call(x=np.ones((4, 3), np.float32), y=np.ones((1, 3), np.float32))["z"].shape == (4, 3)


@pytest.mark.parametrize("dims, good, bad", [({"h": "4*k"}, (8, 2), (6, 2)), ({"h": "2 * w"}, (6, 3), (6, 2))])
def test_relations_of_sizes_are_checked(dims, good, bad):
    made = model([node("Relu", "x", "y")], [("x", F32, ["h", "w"])], [("y", F32, ["h", "w"])])
    call = from_onnx(made, dims=dims).compile(cached=False)
    assert call(x=np.ones(good, np.float32))["y"].shape == good
    with pytest.raises(ValueError, match="h|w"):
        call(x=np.ones(bad, np.float32))


def test_computations_of_shapes_leave_nothing_in_the_program():
    nodes = [
        node("Shape", "x", "s"),
        node("Gather", "s zero", "b", axis=0),
        node("Gather", "s one", "t", axis=0),
        node("Mul", "b t", "bt"),
        node("Unsqueeze", "bt axis", "rows"),
        node("Concat", "rows minus", "target", axis=0),
        node("Equal", "target minus2", "is_minus"),
        node("Where", "is_minus target target", "shape"),
        node("Reshape", "x shape", "y"),
    ]
    constants = {
        "zero": np.asarray(0),
        "one": np.asarray(1),
        "axis": np.asarray([0]),
        "minus": np.asarray([-1]),
        "minus2": np.asarray([-2, -2]),
    }
    made = model(nodes, [("x", F32, ["b", "t", 4])], [("y", F32, None)], constants)
    program = from_onnx(made)
    assert "relax.reshape" in str(program.module) and "relax.take" not in str(program.module)
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    np.testing.assert_array_equal(program.compile(cached=False)(x=x)["y"], x.reshape(6, 4))


@pytest.mark.parametrize("sizes, given", [((2, 3), (2, 3, 2, 4)), ((0, 3), (0, 3, 2, 4)), ((2, 0), (2, 0, 2, 4))])
def test_what_remains_of_a_shape_is_right_for_empty_tensors(sizes, given):
    nodes = [node("Reshape", "x shape", "heads"), node("Shape", "heads", "sizes"), node("Reshape", "heads sizes", "y")]
    made = model(nodes, [("x", F32, ["batch", "length", 8])], [("y", F32, None)], {"shape": [0, 0, -1, 4]})
    assert run(made, x=np.zeros((*sizes, 8), np.float32))[0].shape == given


def test_positions_are_as_many_as_words():
    """A slice of a table has at most as many rows as the table; a sum with it has the size of the words."""
    nodes = [
        node("Shape", "words", "size", start=1, end=2),
        node("Slice", "table zero size zero", "positions"),
        node("Add", "words positions", "sum"),
        node("Reshape", "sum shape", "y"),
    ]
    table = RNG.standard_normal((6, 8)).astype(np.float32)
    constants = {"table": table, "zero": np.zeros(1, np.int64), "shape": [0, 0, -1, 4]}
    made = model(nodes, [("words", F32, ["batch", "n", 8])], [("y", F32, None)], constants)
    program = from_onnx(made)
    assert "broadcast(" not in str(program.module).partition("relax.reshape")[2]
    call = program.compile(cached=False)
    for length in (0, 1, 4, 6):
        words = RNG.standard_normal((2, length, 8)).astype(np.float32)
        np.testing.assert_allclose(call(words)["y"], (words + table[:length]).reshape(2, length, 2, 4))
    with pytest.raises(ValueError):
        call(np.zeros((2, 7, 8), np.float32))


def test_weights_of_one_name_in_several_graphs():
    """The names that distinguish weights do not collide with the name of another weight."""
    tables = {name: RNG.standard_normal((9, 9)).astype(np.float32) for name in ("then", "else", "w.1")}
    branches = [
        graph([node("MatMul", "x w", f"{kind}_y")], [], [(f"{kind}_y", F32, None)], {"w": tables[kind]})
        for kind in ("then", "else")
    ]
    nodes = [node("If", "c", "a", then_branch=branches[0], else_branch=branches[1]), node("Add", "a w.1", "y")]
    inputs, constants = [("c", BOOL, []), ("x", F32, [9, 9])], {"w.1": tables["w.1"]}
    made = model(nodes, inputs, [("y", F32, None)], constants)
    x = RNG.standard_normal((9, 9)).astype(np.float32)
    for condition, kind in ((True, "then"), (False, "else")):
        found = run(made, c=np.asarray(condition), x=x)[0]
        np.testing.assert_allclose(found, x @ tables[kind] + tables["w.1"], rtol=1e-4, atol=1e-4)


def test_nodes_may_be_in_any_order():
    nodes = [node("Relu", "a", "y"), node("Neg", "x", "a")]
    np.testing.assert_array_equal(
        run(model(nodes, [("x", F32, ["n"])], [("y", F32, None)]), x=np.float32([1, -2]))[0], [0, 2]
    )


def test_inputs_and_constants_may_be_outputs():
    made = model([node("Neg", "x", "y")], [("x", F32, ["n"])], [(name, F32, None) for name in ("y", "x", "c", "y")])
    made.graph.initializer.append(onnx.numpy_helper.from_array(np.float32([7]), "c"))
    x = np.float32([1, 2])
    y, same, constant, again = run(made, x=x)
    np.testing.assert_array_equal(y, -x)
    np.testing.assert_array_equal(same, x)
    np.testing.assert_array_equal(constant, [7])
    np.testing.assert_array_equal(again, y)


def test_initializers_that_are_inputs_may_be_replaced():
    made = model(
        [node("Add", "x b", "y")], [("x", F32, [2]), ("b", F32, [2])], [("y", F32, [2])], {"b": np.float32([1, 2])}
    )
    session = InferenceSession(made.SerializeToString())
    assert [entry.name for entry in session.get_inputs()] == ["x"]
    assert [entry.name for entry in session.get_overridable_initializers()] == ["b"]
    x = np.float32([0, 0])
    np.testing.assert_array_equal(session.run(None, {"x": x})[0], [1, 2])
    np.testing.assert_array_equal(session.run(None, {"x": x, "b": np.float32([5, 6])})[0], [5, 6])


def test_large_initializers_may_be_replaced():
    value = np.arange(5000, dtype=np.float32)
    inputs = [("x", F32, [5000]), ("b", F32, [5000])]
    session = InferenceSession(
        model([node("Add", "x b", "y")], inputs, [("y", F32, None)], {"b": value}).SerializeToString()
    )
    x = np.ones(5000, np.float32)
    np.testing.assert_array_equal(session.run(None, {"x": x})[0], value + 1)
    np.testing.assert_array_equal(session.run(None, {"x": x, "b": x})[0], x + 1)


def test_functions_of_the_model_are_imported():
    inner = helper.make_function(
        "mine",
        "Scale",
        ["x"],
        ["y"],
        [
            helper.make_node("Constant", [], ["c"]),
            helper.make_node("Mul", ["x", "c"], ["y"]),
        ],
        [helper.make_opsetid("", 21)],
        ["factor"],
    )
    reference = inner.node[0].attribute.add()
    reference.name, reference.ref_attr_name, reference.type = "value_float", "factor", onnx.AttributeProto.FLOAT
    nodes = [node("mine::Scale", "x", "a", factor=2.0), node("mine::Scale", "a", "y", factor=3.0)]
    made = model(nodes, [("x", F32, ["n"])], [("y", F32, None)], domains=("mine",), functions=[inner])
    np.testing.assert_array_equal(run(made, x=np.float32([1, 2]))[0], [6, 12])


def test_values_make_a_program_for_one_value():
    made = model(
        [node("ReduceSum", "x axes", "y", keepdims=0)], [("x", F32, ["a", "b"]), ("axes", I64, [1])], [("y", F32, None)]
    )
    call = from_onnx(made, values={"axes": np.asarray([1])}).compile(cached=False)
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(call(x=x, axes=np.asarray([1]))["y"], [3, 12])
    with pytest.raises(ValueError, match="axes: the program was made for"):
        call(x=x, axes=np.asarray([0]))
    session = InferenceSession(made.SerializeToString())
    for axis in (0, 1, -1):
        np.testing.assert_array_equal(session.run(None, {"x": x, "axes": np.asarray([axis])})[0], x.sum(axis))


def test_sizes_that_only_a_run_knows():
    nodes = [node("NonZero", "x", "at"), node("Transpose", "at", "rows"), node("GatherND", "x rows", "y")]
    call = from_onnx(model(nodes, [("x", F32, ["n", "m"])], [("y", F32, None)])).compile(cached=False)
    x = np.float32([[0, 1, 0], [2, 0, 3]])
    np.testing.assert_array_equal(call(x=x)["y"], [1, 2, 3])
    np.testing.assert_array_equal(call(x=x[:1])["y"], [1])


def test_branches_of_different_sizes():
    then = graph([node("Concat", "x x", "long", axis=0)], [], [("long", F32, None)])
    other = graph([node("Neg", "x", "short")], [], [("short", F32, None)])
    nodes = [node("If", "c", "y", then_branch=then, else_branch=other), node("Relu", "y", "z")]
    call = from_onnx(model(nodes, [("c", BOOL, []), ("x", F32, ["n"])], [("z", F32, None)])).compile(cached=False)
    x = np.float32([1, -2])
    np.testing.assert_array_equal(call(c=np.asarray(True), x=x)["z"], [1, 0, 1, 0])
    np.testing.assert_array_equal(call(c=np.asarray(False), x=x)["z"], [0, 2])


def test_a_loop_whose_value_grows():
    body = graph(
        [
            node("Concat", "v x", "w", axis=0),
            node("ReduceSum", "w", "total", keepdims=0),
            node("Less", "total limit", "go"),
        ],
        [("i", I64, []), ("c", BOOL, []), ("v", F32, ["k"])],
        [("go", BOOL, None), ("w", F32, None), ("total", F32, None)],
    )
    nodes = [node("Loop", "most _ x", "last totals", body=body)]
    inputs = [("x", F32, ["n"]), ("most", I64, []), ("limit", F32, [])]
    made = model(nodes, inputs, [("last", F32, None), ("totals", F32, None)])
    call = from_onnx(made).compile(cached=False)
    x = np.float32([1, 2])
    for most, limit, rounds in ((5, 100.0, 5), (5, 8.0, 2), (0, 8.0, 0)):
        found = call(x=x, most=np.asarray(most), limit=np.asarray(limit, np.float32))
        np.testing.assert_array_equal(found["last"], np.tile(x, rounds + 1))
        np.testing.assert_array_equal(found["totals"], 3.0 * np.arange(2, rounds + 2))

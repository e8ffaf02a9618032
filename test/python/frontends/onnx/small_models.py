# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small models of many kinds for the fuzz tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper
from onnx_programs import BOOL, F32, I64, U8, graph, model, node

EXTERNAL = 200
"""The number of elements of the tensor in the file `weights.bin`."""

_STRING = onnx.TensorProto.STRING
_RNG = np.random.default_rng(0)
_BUILDERS: list[Callable[[], Any]] = []


def _model(function: Callable[[], Any]) -> Callable[[], Any]:
    _BUILDERS.append(function)
    return function


def small_models() -> dict[str, Any]:
    """All models, by name."""
    return {function.__name__: function() for function in _BUILDERS}


def _normal(*shape: int) -> np.ndarray:
    return _RNG.standard_normal(shape).astype(np.float32)


@_model
def layers() -> Any:
    nodes = [
        node("Gemm", "x w b", "a", alpha=0.5, transB=1),
        node("LayerNormalization", "a scale bias", "n", axis=-1, epsilon=1e-4),
        node("Gelu", "n", "g"),
        node("Clip", "g low high", "c"),
        node("MatMul", "c w", "m"),
        node("Softmax", "m", "y", axis=1),
    ]
    constants = {"w": _normal(6, 4), "b": _normal(6), "scale": _normal(6), "bias": _normal(6)}
    limits = {"low": np.float32(-1), "high": np.float32(1)}
    return model(nodes, [("x", F32, ["n", 4])], [("y", F32, ["n", 4])], {**constants, **limits})


@_model
def image() -> Any:
    nodes = [
        node("Conv", "x w b", "c", kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[1, 1], group=1),
        node("BatchNormalization", "c s b m v", "n", epsilon=1e-3),
        node("MaxPool", "n", "p", kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1),
        node("AveragePool", "p", "q", kernel_shape=[2, 2], auto_pad="SAME_UPPER"),
        node("ConvTranspose", "q u", "t", strides=[2, 2], output_padding=[1, 1]),
        node("Resize", "t _ scales", "r", mode="linear", coordinate_transformation_mode="half_pixel"),
        node("Pad", "r pads", "d", mode="reflect"),
        node("GlobalAveragePool", "d", "g"),
        node("Flatten", "g", "y", axis=1),
    ]
    constants = {
        "w": _normal(4, 2, 3, 3),
        "u": _normal(4, 3, 2, 2),
        **{name: _normal(4) for name in "bsm"},
        "v": np.abs(_normal(4)),
        "scales": np.float32([1, 1, 2, 1.5]),
        "pads": np.asarray([0, 0, 1, 1, 0, 0, 1, 0]),
    }
    return model(nodes, [("x", F32, ["n", 2, "h", "w"])], [("y", F32, None)], constants)


@_model
def shapes() -> Any:
    nodes = [
        node("Shape", "x", "s"),
        node("Gather", "s at", "rows", axis=0),
        node("Concat", "rows minus", "target", axis=0),
        node("Reshape", "x target", "flat"),
        node("Slice", "flat from to axes steps", "part"),
        node("Unsqueeze", "part axes", "wide"),
        node("Expand", "wide size", "spread"),
        node("Squeeze", "spread axes", "z"),
        node("Constant", "", "two", value=numpy_helper.from_array(np.asarray([2, 1]))),
        node("Tile", "z two", "tiled"),
        node("Transpose", "tiled", "turned", perm=[1, 0]),
        node("Split", "turned", "first second", axis=0, num_outputs=2),
        node("Cast", "first", "numbers", to=I64),
        node("Size", "x", "count"),
        node("Range", "zero count one", "steps_made"),
        node("ConstantOfShape", "rows", "zeros", value=numpy_helper.from_array(np.float32([3]))),
    ]
    constants = {
        "at": np.asarray([0]),
        "minus": np.asarray([-1]),
        "from": np.asarray([0]),
        "to": np.asarray([3]),
        "axes": np.asarray([1]),
        "steps": np.asarray([1]),
        "size": np.asarray([1, 1, 1]),
        "zero": np.asarray(0),
        "one": np.asarray(1),
    }
    outputs = [("numbers", I64, None), ("second", F32, None), ("steps_made", I64, None), ("zeros", F32, None)]
    return model(nodes, [("x", F32, ["n", "k", 2])], outputs, constants)


@_model
def control() -> Any:
    then = graph([node("Concat", "x x", "long", axis=0)], [], [("long", F32, None)])
    other = graph([node("Neg", "x", "short")], [], [("short", F32, None)])
    body = graph(
        [node("Add", "v x", "w"), node("ReduceSum", "w", "total", keepdims=0), node("Less", "total limit", "go")],
        [("i", I64, []), ("c", BOOL, []), ("v", F32, ["k"])],
        [("go", BOOL, None), ("w", F32, None), ("total", F32, None)],
    )
    scan = graph(
        [node("Add", "carry item", "next"), node("Identity", "next", "out")],
        [("carry", F32, []), ("item", F32, [])],
        [("next", F32, None), ("out", F32, None)],
    )
    nodes = [
        node("If", "choose", "branch", then_branch=then, else_branch=other),
        node("Loop", "most _ x", "last totals", body=body),
        node("Scan", "zero x", "end all", body=scan, num_scan_inputs=1),
    ]
    inputs = [("x", F32, ["n"]), ("choose", BOOL, []), ("most", I64, []), ("limit", F32, [])]
    outputs = [(name, F32, None) for name in ("branch", "last", "totals", "end", "all")]
    return model(nodes, inputs, outputs, {"zero": np.float32(0)})


@_model
def functions() -> Any:
    inner = helper.make_function(
        "mine",
        "Scale",
        ["a"],
        ["b"],
        [helper.make_node("Constant", [], ["c"]), helper.make_node("Mul", ["a", "c"], ["b"])],
        [helper.make_opsetid("", 21)],
        ["factor"],
    )
    reference = inner.node[0].attribute.add()
    reference.name, reference.ref_attr_name, reference.type = "value_float", "factor", onnx.AttributeProto.FLOAT
    outer = helper.make_function(
        "mine",
        "Twice",
        ["p", "q"],
        ["r", "s"],
        [
            helper.make_node("Scale", ["p"], ["h"], domain="mine", factor=2.0),
            helper.make_node("Scale", ["q"], ["r"], domain="mine", factor=3.0),
            helper.make_node("Add", ["h", "r"], ["s"]),
        ],
        [helper.make_opsetid("", 21), helper.make_opsetid("mine", 1)],
    )
    nodes = [node("mine::Twice", "x x", "u v"), node("mine::Scale", "v", "w", factor=0.5), node("Add", "u w", "y")]
    return model(nodes, [("x", F32, ["n"])], [("y", F32, None)], domains=("mine",), functions=[inner, outer])


@_model
def sequences() -> Any:
    body = graph([node("Neg", "e", "f")], [("e", F32, None)], [("f", F32, None)])
    nodes = [
        node("SequenceConstruct", "x z", "s"),
        node("SequenceInsert", "s x one", "t"),
        node("SequenceMap", "t", "m", body=body),
        node("SequenceErase", "m zero", "e"),
        node("SequenceAt", "e one", "a"),
        node("SequenceLength", "e", "length"),
        node("ConcatFromSequence", "m", "joined", axis=0, new_axis=0),
        node("SplitToSequence", "x parts", "split", axis=0),
        node("SequenceAt", "split zero", "p"),
        node("Optional", "a", "maybe"),
        node("OptionalHasElement", "maybe", "has"),
        node("OptionalGetElement", "maybe", "y"),
    ]
    outputs = [("y", F32, None), ("length", I64, None), ("joined", F32, None), ("p", F32, None), ("has", BOOL, None)]
    constants = {"zero": np.asarray(0), "one": np.asarray(1), "parts": np.asarray([2, 1])}
    return model(nodes, [("x", F32, [3, "k"]), ("z", F32, ["n", "k"])], outputs, constants)


@_model
def quantized() -> Any:
    nodes = [
        node("DynamicQuantizeLinear", "x", "q s z"),
        node("MatMulInteger", "q w z wz", "i"),
        node("Cast", "i", "f", to=F32),
        node("QuantizeLinear", "f s2 z2", "u", axis=1),
        node("DequantizeLinear", "u s2 z2", "d", axis=1),
        node("QLinearMatMul", "q s z w s2 wz s2 z2", "p"),
        node("com.microsoft::QLinearAdd", "u s2 z2 p s2 z2 s2 z2", "sum"),
        node("com.microsoft::MatMulNBits", "d packed scales", "y", K=4, N=3, bits=4, block_size=16),
        node("DequantizeLinear", "blocks bs", "r", axis=1, block_size=2),
    ]
    four = helper.make_tensor("blocks", onnx.TensorProto.INT4, [2, 4], [1, -2, 3, 4, -5, 6, 7, -8])
    constants = {
        "w": _RNG.integers(-9, 9, (4, 4)).astype(np.int8),
        "wz": np.int8(1),
        "s2": np.float32(0.1),
        "z2": np.uint8(3),
        "packed": _RNG.integers(0, 256, (3, 1, 8)).astype(np.uint8),
        "scales": _normal(3, 1),
        "bs": _normal(2, 2),
    }
    outputs = [("y", F32, None), ("sum", U8, None), ("r", F32, None)]
    made = model(nodes, [("x", F32, ["n", 4])], outputs, constants)
    made.graph.initializer.append(four)
    return made


@_model
def attention() -> Any:
    nodes = [
        node("Attention", "q k v", "a", q_num_heads=2, kv_num_heads=1, is_causal=1),
        node("com.microsoft::SkipLayerNormalization", "a q scale bias", "n _ _ sum", epsilon=1e-5),
        node("com.microsoft::MultiHeadAttention", "n n n", "m", num_heads=2),
        node("RotaryEmbedding", "m cos sin places", "r", num_heads=2),
        node("com.microsoft::FastGelu", "r", "y"),
    ]
    nodes[1].output[1:3] = ["", ""]
    inputs = [("q", F32, [1, "s", 8]), ("k", F32, [1, "t", 4]), ("v", F32, [1, "t", 4]), ("places", I64, [1, "s"])]
    constants = {"scale": _normal(8), "bias": _normal(8), "cos": _normal(16, 2), "sin": _normal(16, 2)}
    return model(nodes, inputs, [("y", F32, None), ("sum", F32, None)], constants, opset=23)


@_model
def recurrent() -> Any:
    nodes = [
        node("LSTM", "x w r b", "a h c", hidden_size=3, direction="bidirectional"),
        node("Squeeze", "h first", "last"),
        node("GRU", "x wg rg", "g", hidden_size=3, linear_before_reset=1),
        node("RNN", "x wn rn", "n", hidden_size=3, activations=["Relu"]),
    ]
    constants = {
        "w": _normal(2, 12, 4),
        "r": _normal(2, 12, 3),
        "b": _normal(2, 24),
        "wg": _normal(1, 9, 4),
        "rg": _normal(1, 9, 3),
        "wn": _normal(1, 3, 4),
        "rn": _normal(1, 3, 3),
        "first": np.asarray([1]),
    }
    inputs, outputs = [("x", F32, ["t", 1, 4])], [(name, F32, None) for name in ("a", "last", "g", "n")]
    return model(nodes, inputs, outputs, constants)


@_model
def indices() -> Any:
    nodes = [
        node("Gather", "x at", "a", axis=1),
        node("GatherND", "x pairs", "b", batch_dims=0),
        node("GatherElements", "x places", "c", axis=0),
        node("ScatterElements", "x places c", "d", axis=0, reduction="add"),
        node("ScatterND", "x pairs b", "e", reduction="max"),
        node("TopK", "x two", "f g", axis=0, largest=0),
        node("ArgMax", "x", "h", axis=1, keepdims=0),
        node("NonZero", "x", "i"),
        node("CumSum", "x one", "j", exclusive=1),
        node("OneHot", "h depth both", "k", axis=-1),
        node("Trilu", "x", "l", upper=0),
        node("Einsum", "x x", "m", equation="ij,kj->ik"),
        node("Compress", "x keep", "n", axis=0),
        node("Where", "truth x d", "o"),
        node("ReduceMean", "x axes", "p", keepdims=0),
        node("Unique", "x", "r", sorted=1),
    ]
    constants = {
        "at": np.asarray([0, 2, -1]),
        "pairs": np.asarray([[0, 1], [1, 0]]),
        "places": np.asarray([[0, 1, 0], [1, 0, 1]]),
        "two": np.asarray([2]),
        "one": np.asarray(1),
        "depth": np.asarray(4),
        "both": np.float32([0, 1]),
        "keep": np.asarray([True, False, True]),
        "truth": np.asarray([True, False, True]),
        "axes": np.asarray([1]),
    }
    outputs = [(name, F32, None) for name in "abdefjklmnopr"] + [("g", I64, None), ("i", I64, None)]
    return model(nodes, [("x", F32, [3, 3])], outputs, constants)


@_model
def text() -> Any:
    nodes = [
        node("StringNormalizer", "words", "low", case_change_action="LOWER", stopwords=["the"]),
        node("StringConcat", "low low", "double"),
        node("ai.onnx.ml::LabelEncoder", "double", "label", keys_strings=["aa", "bb"], values_int64s=[1, 2]),
        node("Cast", "label", "f", to=F32),
        node("ai.onnx.ml::Scaler", "x", "scaled", offset=[1.0, 2.0], scale=[0.5, 2.0]),
        node(
            "ai.onnx.ml::LinearClassifier",
            *("scaled", "class scores"),
            coefficients=[0.1, 0.2, 0.3, -0.4],
            intercepts=[0.0, 1.0],
            classlabels_ints=[3, 4],
            post_transform="SOFTMAX",
        ),
        node(
            "ai.onnx.ml::TreeEnsembleRegressor",
            *("x", "tree"),
            n_targets=1,
            nodes_treeids=[0, 0, 0],
            nodes_nodeids=[0, 1, 2],
            nodes_featureids=[0, 0, 0],
            nodes_values=[0.5, 0.0, 0.0],
            nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF"],
            nodes_truenodeids=[1, 0, 0],
            nodes_falsenodeids=[2, 0, 0],
            target_treeids=[0, 0],
            target_nodeids=[1, 2],
            target_ids=[0, 0],
            target_weights=[1.0, -1.0],
        ),
    ]
    outputs = [("f", F32, None), ("class", I64, None), ("scores", F32, None), ("tree", F32, None)]
    made = model(nodes, [("x", F32, ["n", 2])], outputs)
    made.graph.initializer.append(helper.make_tensor("words", _STRING, [3], [b"the", b"A", b"B"]))
    return made


@_model
def signals() -> Any:
    nodes = [
        node("HannWindow", "size", "window"),
        node("STFT", "x hop window", "a"),
        node("Unsqueeze", "x last", "wide"),
        node("DFT", "wide", "b", onesided=1),
        node("MelWeightMatrix", "bins size rate low high", "mel"),
        node("Unsqueeze", "x axes", "picture"),
        node("GridSample", "picture grid", "c", mode="linear"),
        node("NonMaxSuppression", "boxes scores most", "d"),
        node("RoiAlign", "picture rois batch", "e", output_height=2, output_width=2),
        node("DepthToSpace", "deep", "f", blocksize=2),
        node("Bernoulli", "scores", "g", seed=1.0),
    ]
    constants = {
        "size": np.asarray(8),
        "hop": np.asarray(4),
        "axes": np.asarray([0, 1]),
        "last": np.asarray([2]),
        "bins": np.asarray(4),
        "rate": np.asarray(16),
        "low": np.float32(1),
        "high": np.float32(7),
        "grid": _normal(1, 2, 3, 2),
        "boxes": np.abs(_normal(1, 3, 4)),
        "scores": np.abs(_normal(1, 1, 3)),
        "most": np.asarray([2]),
        "rois": np.float32([[0, 0, 1, 2]]),
        "batch": np.asarray([0]),
        "deep": _normal(1, 4, 2, 2),
    }
    outputs = [(name, F32, None) for name in "abcefg"] + [("d", I64, None), ("mel", F32, None)]
    return model(nodes, [("x", F32, [2, "t"])], outputs, constants, opset=20)


@_model
def external() -> Any:
    made = model([node("Add", "x w", "y")], [("x", F32, [EXTERNAL])], [("y", F32, None)])
    tensor = made.graph.initializer.add()
    tensor.name, tensor.data_type, tensor.data_location = "w", F32, onnx.TensorProto.EXTERNAL
    tensor.dims.append(EXTERNAL)
    for key, value in (("location", "weights.bin"), ("offset", "4"), ("length", str(4 * EXTERNAL))):
        tensor.external_data.add(key=key, value=value)
    return made

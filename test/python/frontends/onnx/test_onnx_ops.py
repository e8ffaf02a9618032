# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ops, or forms of ops, that ONNX's node suite lacks, against NumPy."""

import numpy as np
import pytest

pytest.importorskip("onnx", reason="the package onnx is not installed")

import onnx  # noqa: E402
from onnx import helper  # noqa: E402
from onnx_programs import F32, I64, graph, model, node, run, run_op  # noqa: E402

from relax_mlir.frontends.onnx import InferenceSession  # noqa: E402

RNG = np.random.default_rng(0)


def normal(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def close(actual, expected, tolerance=2e-5):
    np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x):
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


# --- exact integers


def test_products_of_mixed_signs_are_exact():
    a = RNG.integers(0, 256, (5, 300)).astype(np.uint8)
    b = RNG.integers(-128, 128, (300, 4)).astype(np.int8)
    a_zero, b_zero = np.uint8(200), RNG.integers(-9, 9, 4).astype(np.int8)
    exact = (a.astype(np.int64) - int(a_zero)) @ (b.astype(np.int64) - b_zero)
    np.testing.assert_array_equal(run_op("MatMulInteger", a, b, a_zero, b_zero), exact)
    scales = np.float32(0.02), np.float32([0.1, 0.2, 0.3, 0.4]), np.float32(1.7)
    factor = scales[0] * scales[1] / scales[2]
    rounded = np.clip(np.rint(exact.astype(np.float32) * factor) + 7, 0, 255).astype(np.uint8)
    made = run_op("QLinearMatMul", a, scales[0], a_zero, b, scales[1], b_zero, scales[2], np.uint8(7))
    np.testing.assert_array_equal(made, rounded)
    made = run_op("com.microsoft::MatMulIntegerToFloat", a, b, scales[0], scales[1], a_zero, b_zero)
    close(made, exact * scales[0] * scales[1])


def test_quantized_convolution_pads_with_the_zero_point():
    x = RNG.integers(0, 256, (2, 3, 6, 5)).astype(np.uint8)
    w = RNG.integers(-128, 128, (4, 3, 3, 3)).astype(np.int8)
    bias = RNG.integers(-1000, 1000, 4).astype(np.int32)
    zero = np.uint8(131)
    made = run_op(
        "QLinearConv",
        *(x, np.float32(0.02), zero, w, np.full(4, 0.01, np.float32), np.zeros(4, np.int8)),
        *(np.float32(0.3), np.uint8(128), bias),
        pads=[1, 1, 1, 1],
        kernel_shape=[3, 3],
    )
    padded = np.pad(x.astype(np.int64) - int(zero), ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
    sums = np.einsum("nchwij,ocij->nohw", windows, w.astype(np.int64)) + bias[:, None, None]
    factor = np.float32(0.02) * np.float32(0.01) / np.float32(0.3)
    expected = np.clip(np.rint(sums.astype(np.float32) * factor) + 128, 0, 255).astype(np.uint8)
    np.testing.assert_array_equal(made, expected)


def test_dynamic_quantization_of_zeros_and_nan():
    y, scale, zero = run_op("DynamicQuantizeLinear", np.zeros((2, 3), np.float32), outputs=3)
    assert (scale, zero) == (1, 0) and not y.any()
    y, scale, zero = run_op("DynamicQuantizeLinear", np.float32([np.nan, 3, -1]), outputs=3)
    assert scale == np.float32(4) / np.float32(255) and zero == 64 and y.tolist()[1:] == [255, 0]


@pytest.mark.parametrize("bits, block", [(4, 16), (8, 16), (2, 32)])
@pytest.mark.parametrize("with_zeros", [False, True])
def test_matrices_of_a_few_bits(bits, block, with_zeros):
    k, n = 40, 6
    blocks, count = -(-k // block), 8 // bits
    integers = RNG.integers(0, 1 << bits, (n, blocks, block))
    shifts = np.arange(count) * bits
    packed = (integers.reshape(n, blocks, -1, count) << shifts).sum(-1).astype(np.uint8)
    scales = np.abs(normal(n, blocks))
    zeros, offset = None, np.full((n, blocks), 1 << (bits - 1))
    if with_zeros:
        offset = RNG.integers(0, 1 << bits, (n, -(-blocks // count) * count))
        zeros = (offset.reshape(n, -1, count) << shifts).sum(-1).astype(np.uint8)
        offset = offset[:, :blocks]
    matrix = ((integers - offset[..., None]) * scales[..., None]).reshape(n, -1)[:, :k]
    x = normal(3, k)
    options = {"K": k, "N": n, "bits": bits, "block_size": block}
    close(run_op("com.microsoft::MatMulNBits", x, packed, scales, zeros, **options), x @ matrix.T, 1e-4)


@pytest.mark.parametrize("name, function", [("QLinearAdd", np.add), ("QLinearMul", np.multiply)])
def test_quantized_arithmetic(name, function):
    a, b = (RNG.integers(0, 256, (3, 4)).astype(np.uint8) for _ in range(2))
    scales, zeros = np.float32([0.1, 0.2, 0.4]), np.uint8([3, 4, 5])
    real = function((a.astype(np.float32) - 3) * scales[0], (b.astype(np.float32) - 4) * scales[1])
    expected = np.clip(np.rint(real / scales[2]) + 5, 0, 255).astype(np.uint8)
    made = run_op(f"com.microsoft::{name}", a, scales[0], zeros[0], b, scales[1], zeros[1], scales[2], zeros[2])
    np.testing.assert_array_equal(made, expected)


# --- recurrent layers


def reference_lstm(x, w, r, b, h, c, lengths=None):
    """One direction, computed by the definition; gates are input, output, forget, cell."""
    size, rows = r.shape[1], []
    for step, row in enumerate(x):
        gates = row @ w.T + h @ r.T + b[: 4 * size] + b[4 * size :]
        i, o, f, g = np.split(gates, 4, 1)
        cell = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        hidden = sigmoid(o) * np.tanh(cell)
        inside = np.ones((len(h), 1), bool) if lengths is None else (step < lengths)[:, None]
        h, c = np.where(inside, hidden, h), np.where(inside, cell, c)
        rows.append(np.where(inside, hidden, 0))
    return np.stack(rows), h, c


def test_lstm_in_both_directions_with_lengths():
    time, batch, features, size = 6, 3, 5, 4
    x, h, c = normal(time, batch, features), normal(2, batch, size), normal(2, batch, size)
    w, r, b = normal(2, 4 * size, features), normal(2, 4 * size, size), normal(2, 8 * size)
    lengths = np.int32([6, 2, 4])
    y, y_h, y_c = run_op("LSTM", x, w, r, b, lengths, h, c, outputs=3, hidden_size=size, direction="bidirectional")
    forward = reference_lstm(x, w[0], r[0], b[0], h[0], c[0], lengths)

    def reversed_rows(rows):
        made = np.zeros_like(rows)
        for index, length in enumerate(lengths):
            made[:length, index] = rows[:length, index][::-1]
        return made

    rows, *final = reference_lstm(reversed_rows(x), w[1], r[1], b[1], h[1], c[1], lengths)
    close(y, np.stack([forward[0], reversed_rows(rows)], 1))
    close(y_h, np.stack([forward[1], final[0]]))
    close(y_c, np.stack([forward[2], final[1]]))


def test_lstm_with_integers_for_weights():
    time, batch, features, size = 4, 2, 6, 5
    x, b = normal(time, batch, features), normal(1, 8 * size)
    w, r = (RNG.integers(-127, 128, (1, rows, 4 * size)).astype(np.int8) for rows in (features, size))
    scales, zero = np.full((1,), 0.004, np.float32), np.zeros((1,), np.int8)
    operands = (x, w, r, b, None, None, None, None, scales, zero, scales, zero)
    y, *_ = run_op("com.microsoft::DynamicQuantizeLSTM", *operands, outputs=3, hidden_size=size)
    start = np.zeros((batch, size), np.float32)
    rows, *_ = reference_lstm(x, w[0].T * scales, r[0].T * scales, b[0], start, start)
    np.testing.assert_allclose(y[:, 0], rows, atol=0.02)  # activations have 8 bits


# --- com.microsoft


def test_functions_of_microsoft():
    x, bias = normal(2, 3, 8), normal(8)
    erf = np.vectorize(__import__("math").erf)
    close(run_op("com.microsoft::BiasGelu", x, bias), (x + bias) * (1 + erf((x + bias) / 2**0.5)) / 2)
    tanh = np.tanh(0.7978845608 * (x + 0.044715 * x**3))
    close(run_op("com.microsoft::FastGelu", x), x * (1 + tanh) / 2)
    close(run_op("com.microsoft::QuickGelu", x, alpha=1.5), x * sigmoid(1.5 * x))
    skip, scale, beta = normal(2, 3, 8), normal(8), normal(8)
    total = x + skip + bias
    normed = (total - total.mean(-1, keepdims=True)) / np.sqrt(total.var(-1, keepdims=True) + 1e-5)
    made, summed = skipped("SkipLayerNormalization", x, skip, scale, beta, bias)
    close(made, normed * scale + beta)
    close(summed, total)
    made, summed = skipped("SkipSimplifiedLayerNormalization", x, skip, scale, bias)
    close(made, total / np.sqrt((total**2).mean(-1, keepdims=True) + 1e-5) * scale)


def skipped(name, *operands):
    """The first and the last result of a normalized sum."""
    names = [f"x{index}" for index in range(len(operands))]
    inputs = [(name, F32, [f"{name}_{axis}" for axis in range(value.ndim)]) for name, value in zip(names, operands)]
    made = node(f"com.microsoft::{name}", " ".join(names), "y total")
    made.output[1:] = ["", "", "total"]
    return run(model([made], inputs, [("y", F32, None), ("total", F32, None)]), **dict(zip(names, operands)))


def attention(q, k, v, mask=None):
    scores = q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5
    return softmax(scores if mask is None else np.where(mask, scores, -np.inf)) @ v


def heads(x, count):
    return x.reshape(*x.shape[:2], count, -1).swapaxes(1, 2)


def joined(x):
    return x.swapaxes(1, 2).reshape(x.shape[0], x.shape[2], -1)


def test_multi_head_attention_of_microsoft():
    q, k, v = normal(2, 5, 12), normal(2, 7, 12), normal(2, 7, 12)
    bias, mask = normal(36), np.int32([[1] * 7, [1] * 4 + [0] * 3])
    made = run_op("com.microsoft::MultiHeadAttention", q, k, v, bias, mask, num_heads=3, mask_filter_value=-1e30)
    parts = [heads(part + more, 3) for part, more in zip((q, k, v), np.split(bias, 3))]
    close(made, joined(attention(*parts, mask[:, None, None] > 0)))


# --- ai.onnx.ml


def test_preparations_of_features():
    x = normal(4, 3)
    close(run_op("ai.onnx.ml::Scaler", x, offset=[1.0, 2.0, 3.0], scale=[2.0, 0.5, 1.0]), (x - [1, 2, 3]) * [2, 0.5, 1])
    close(run_op("ai.onnx.ml::Normalizer", x, norm="L2"), x / np.sqrt((x**2).sum(1, keepdims=True)))
    close(run_op("ai.onnx.ml::Normalizer", x, norm="L1"), x / np.abs(x).sum(1, keepdims=True))
    holes = np.where(x > 0, x, np.nan).astype(np.float32)
    filled = run_op(
        "ai.onnx.ml::Imputer", holes, imputed_value_floats=[1.0, 2.0, 3.0], replaced_value_float=float("nan")
    )
    close(filled, np.where(x > 0, x, [1, 2, 3]))
    encoded = run_op("ai.onnx.ml::OneHotEncoder", np.int64([[3], [7], [5]]), cats_int64s=[3, 5])
    np.testing.assert_array_equal(encoded, [[[1, 0]], [[0, 0]], [[0, 1]]])


@pytest.mark.parametrize("name, keys", [("classlabels_int64s", [7, 3]), ("classlabels_strings", ["yes", "no"])])
def test_maps_from_rows(name, keys):
    x = normal(3, 2)
    made = model([node("ai.onnx.ml::ZipMap", "x", "y", **{name: keys})], [("x", F32, ["n", 2])], [])
    key = I64 if name == "classlabels_int64s" else onnx.TensorProto.STRING
    kind = helper.make_sequence_type_proto(helper.make_map_type_proto(key, helper.make_tensor_type_proto(F32, [])))
    made.graph.output.append(helper.make_value_info("y", kind))
    session = InferenceSession(made.SerializeToString())
    assert session.get_outputs()[0].type == f"seq(map({'int64' if key == I64 else 'string'},tensor(float)))"
    assert session.run(None, {"x": x})[0] == [dict(zip(keys, row)) for row in x.tolist()]
    assert session.run(None, {"x": x[:0]})[0] == []


def test_linear_models():
    x, weights, bias = normal(5, 3), normal(2, 3), normal(2)
    options = {"coefficients": weights.reshape(-1).tolist(), "intercepts": bias.tolist()}
    close(run_op("ai.onnx.ml::LinearRegressor", x, targets=2, **options), x @ weights.T + bias)
    label, scores = run_op(
        "ai.onnx.ml::LinearClassifier", x, outputs=2, classlabels_ints=[10, 20], post_transform="SOFTMAX", **options
    )
    close(scores, softmax(x @ weights.T + bias))
    np.testing.assert_array_equal(label, np.asarray([10, 20])[(x @ weights.T + bias).argmax(1)])


def test_trees_of_a_regressor():
    # Two trees over two features; a leaf has a weight for one target.
    options = {
        "n_targets": 2,
        "nodes_treeids": [0, 0, 0, 1, 1, 1, 1, 1],
        "nodes_nodeids": [0, 1, 2, 0, 1, 2, 3, 4],
        "nodes_featureids": [0, 0, 0, 1, 0, 0, 0, 0],
        "nodes_modes": "BRANCH_LEQ LEAF LEAF BRANCH_LT BRANCH_GT LEAF LEAF LEAF".split(),
        "nodes_values": [0.5, 0.0, 0.0, -0.25, 0.75, 0.0, 0.0, 0.0],
        "nodes_truenodeids": [1, 0, 0, 1, 3, 0, 0, 0],
        "nodes_falsenodeids": [2, 0, 0, 2, 4, 0, 0, 0],
        "target_treeids": [0, 0, 1, 1, 1],
        "target_nodeids": [1, 2, 2, 3, 4],
        "target_ids": [0, 1, 0, 1, 0],
        "target_weights": [1.0, 2.0, 4.0, 8.0, 16.0],
        "base_values": [0.5, 0.25],
    }
    x = np.float32([[0.5, 0.0], [0.6, -1.0], [0.8, -0.5], [-3.0, -0.25]])
    first = np.where(x[:, :1] <= 0.5, [1, 0], [0, 2])
    second = np.where(x[:, 1:] < -0.25, np.where(x[:, :1] > 0.75, [0, 8], [16, 0]), [4, 0])
    close(run_op("ai.onnx.ml::TreeEnsembleRegressor", x, **options), first + second + [0.5, 0.25])


# --- forms of ops that the suite lacks


@pytest.mark.parametrize("opset", [7, 11, 13])
def test_softmax_of_old_versions_flattens(opset):
    x = normal(2, 3, 4)
    flat = x.reshape(2, 12) if opset < 13 else x
    close(run_op("Softmax", x, axis=1 if opset < 13 else 2, opset=opset), softmax(flat).reshape(x.shape))


def test_attributes_of_old_versions():
    x = normal(4, 6)
    np.testing.assert_array_equal(run_op("Slice", x, opset=9, starts=[1, -3], ends=[3, 100]), x[1:3, -3:])
    np.testing.assert_array_equal(
        run_op("Pad", x, opset=9, pads=[1, 0, 0, 2], value=3.0), np.pad(x, ((1, 0), (0, 2)), constant_values=3)
    )
    close(run_op("ReduceSum", x, opset=11, axes=[1], keepdims=0), x.sum(1))
    np.testing.assert_array_equal(run_op("Clip", x, opset=6 + 4, min=-0.5, max=0.5), np.clip(x, -0.5, 0.5))
    np.testing.assert_array_equal(run_op("Squeeze", x[None], opset=11, axes=[0]), x)
    made = run_op("Upsample", x[None, None], np.float32([1, 1, 2, 3]), opset=9, mode="nearest")
    np.testing.assert_array_equal(made[0, 0], x.repeat(2, 0).repeat(3, 1))


def test_slices_that_only_a_run_knows():
    nodes = [node("ReduceMax", "at", "start", keepdims=1), node("Slice", "x start end", "y")]
    made = model(nodes, [("x", F32, ["n", 2]), ("at", 7, ["m"])], [("y", F32, None)], {"end": np.asarray([100])})
    x = normal(5, 2)
    np.testing.assert_array_equal(run(made, x=x, at=np.asarray([1, 3, 2]))[0], x[3:])


def test_scans_with_axes_and_directions():
    body = graph(
        [node("Add", "s row", "t"), node("Identity", "t", "out")],
        [("s", F32, ["b"]), ("row", F32, ["b"])],
        [("t", F32, None), ("out", F32, None)],
    )
    scan = node("Scan", "init x", "last rows", body=body, num_scan_inputs=1, scan_input_axes=[1])
    scan.attribute.extend(
        node("Scan", "", "", scan_input_directions=[1], scan_output_axes=[1], scan_output_directions=[1]).attribute
    )
    inputs = [("init", F32, ["b"]), ("x", F32, ["b", "t"])]
    x, init = normal(3, 5), normal(3)
    last, rows = run(model([scan], inputs, [("last", F32, None), ("rows", F32, None)]), x=x, init=init)
    sums = init[:, None] + np.cumsum(x[:, ::-1], 1)
    close(last, sums[:, -1])
    close(rows, sums[:, ::-1])


def test_random_numbers_are_distributed_as_asked():
    like = np.zeros((100, 200), np.float32)
    made = run_op("RandomNormalLike", like, mean=3.0, scale=2.0)
    assert abs(made.mean() - 3) < 0.05 and abs(made.std() - 2) < 0.05 and len(np.unique(made)) > 19000
    made = run_op("RandomUniformLike", like, low=-1.0, high=3.0, seed=7.0)
    assert -1 <= made.min() < -0.99 and 2.99 < made.max() < 3 and abs(made.mean() - 1) < 0.05
    assert abs(np.corrcoef(made[:-1].reshape(-1), made[1:].reshape(-1))[0, 1]) < 0.03
    made = run_op("Bernoulli", np.full((100, 200), 0.25, np.float32))
    assert set(np.unique(made)) == {0, 1} and abs(made.mean() - 0.25) < 0.02

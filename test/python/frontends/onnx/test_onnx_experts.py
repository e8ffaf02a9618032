# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`MoE` and `QMoE` against NumPy, token by token."""

import numpy as np
import pytest

pytest.importorskip("onnx", reason="the package onnx is not installed")

from onnx_programs import run_op  # noqa: E402

from relax_mlir import FrontendError, UnsupportedOpError  # noqa: E402

RNG = np.random.default_rng(0)
ONE_OF = 4
EXPERTS, HIDDEN, INNER, TOKENS = 4, 8, 6, 5


def normal(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


FUNCTIONS = {
    "relu": lambda x: np.maximum(x, 0),
    "gelu": lambda x: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
    "silu": lambda x: x * sigmoid(x),
    "identity": lambda x: x,
}


def swiglu(gate, linear, alpha=1.0, beta=0.0, limit=np.inf):
    gate, linear = np.minimum(gate, limit), np.clip(linear, -limit, limit)
    return gate * sigmoid(alpha * gate) * (linear + beta)


def reference(x, router, k, normalized, inner, w2, b2):
    """The weighted sum of the best experts' results for each token."""
    shares = np.exp(router - router.max(-1, keepdims=True))
    shares /= shares.sum(-1, keepdims=True)
    made = np.zeros((len(x), w2.shape[1]))
    for row, token in enumerate(x):
        chosen = np.argsort(-shares[row])[:k]
        weights = shares[row, chosen] / (shares[row, chosen].sum() if normalized else 1)
        for expert, weight in zip(chosen, weights):
            made[row] += weight * (inner(expert, token) @ w2[expert].T + b2[expert])
    return made


@pytest.mark.parametrize(
    "kind, k, normalized, gated", [("relu", 1, 0, 0), ("gelu", 2, 1, 0), ("silu", 2, 0, 1), ("identity", 4, 1, 0)]
)
def test_experts(kind, k, normalized, gated):
    x, router = normal(1, TOKENS, HIDDEN), normal(TOKENS, EXPERTS)
    w1, b1, w3, b3 = (normal(EXPERTS, INNER, *shape) for shape in ((HIDDEN,), (), (HIDDEN,), ()))
    w2, b2 = normal(EXPERTS, HIDDEN, INNER), normal(EXPERTS, HIDDEN)
    operands = (x, router, w1, b1, w2, b2, *((w3, b3) if gated else ()))
    options = dict(activation_type=kind, k=k, normalize_routing_weights=normalized)
    found = run_op("com.microsoft::MoE", *operands, **options)

    def inner(expert, token):
        made = FUNCTIONS[kind](w1[expert] @ token + b1[expert])
        return made * (w3[expert] @ token + b3[expert]) if gated else made

    expected = reference(x[0], router, k, normalized, inner, w2, b2)
    np.testing.assert_allclose(found[0], expected, rtol=1e-4, atol=1e-4)


@pytest.mark.more
@pytest.mark.parametrize("fusion", [1, 2])
def test_gates_in_one_matrix(fusion):
    x, router = normal(TOKENS, HIDDEN), normal(TOKENS, EXPERTS)
    w1, w2, b2 = normal(EXPERTS, 2 * INNER, HIDDEN), normal(EXPERTS, HIDDEN, INNER), np.zeros((EXPERTS, HIDDEN))
    numbers = dict(activation_alpha=1.702, activation_beta=1.0, swiglu_limit=0.75)
    options = dict(activation_type="swiglu", swiglu_fusion=fusion, k=2, normalize_routing_weights=1, **numbers)
    found = run_op("com.microsoft::MoE", x, router, w1, None, w2, **options)

    def inner(expert, token):
        made = w1[expert] @ token
        return swiglu(*((made[::2], made[1::2]) if fusion == 1 else np.split(made, 2)), *numbers.values())

    np.testing.assert_allclose(found, reference(x, router, 2, 1, inner, w2, b2), rtol=1e-4, atol=1e-4)


def quantized(rows, width, bits, block, with_zeros):
    """Packed numbers of all experts, their scales and zero points, and the matrices that they represent."""
    numbers = RNG.integers(0, 1 << bits, (EXPERTS, rows, width))
    blocks = width // block if block else 1
    scales = np.abs(normal(EXPERTS, rows, blocks)) * 0.1
    zeros = RNG.integers(0, 1 << bits, scales.shape) if with_zeros else np.full(scales.shape, 1 << (bits - 1))
    spread = [part.repeat(width // blocks, 2) for part in (zeros, scales)]
    matrix = ((numbers - spread[0]) * spread[1]).astype(np.float32)
    return packed(numbers, bits), scales if block else scales[..., 0], packed(zeros, bits), matrix


def packed(numbers, bits):
    """Packs several numbers into each byte, the first one in the lowest bits; the last byte may have fewer."""
    count = 8 // bits
    numbers = np.pad(numbers, [(0, 0), (0, 0), (0, -numbers.shape[2] % count)])
    parts = numbers.reshape(*numbers.shape[:2], -1, count) << (np.arange(count) * bits)
    return parts.sum(-1).astype(np.uint8)


@pytest.mark.parametrize("bits, block, with_zeros", [(4, 0, 0), (8, 0, 0), (4, 16, 1), (8, 16, 1)])
def test_experts_in_integers(bits, block, with_zeros):
    width = 32
    x, router, b1 = normal(TOKENS, width) * 0.1, normal(TOKENS, EXPERTS), normal(EXPERTS, 2 * width)
    w1, s1, z1, first = quantized(2 * width, width, bits, block, with_zeros)
    w2, s2, z2, second = quantized(width, width, bits, block, with_zeros)
    zeros = (None, None, None, z1, z2) if with_zeros else ()
    options = dict(activation_type="swiglu", swiglu_fusion=1, k=2, expert_weight_bits=bits)
    options |= {"block_size": block} if block else {}
    found = run_op("com.microsoft::QMoE", x, router, w1, s1, b1, w2, s2, None, *zeros, **options)

    def inner(expert, token):
        made = first[expert] @ token + b1[expert]
        return swiglu(made[::2], made[1::2])

    expected = reference(x, router, 2, 0, inner, second, np.zeros((EXPERTS, width)))
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def test_experts_that_are_not_supported():
    x, router, w1, w2 = normal(2, 8), normal(2, 4), normal(4, 6, 8), normal(4, 8, 6)
    for options, message in (
        ({"use_sparse_mixer": 1}, "use_sparse_mixer"),
        ({"activation_type": "tanh"}, "activation_type.*'tanh'"),
        ({"activation_type": "swiglu"}, "swiglu_fusion"),
    ):
        with pytest.raises(UnsupportedOpError, match=message):
            run_op("com.microsoft::MoE", x, router, w1, None, w2, **options)
    with pytest.raises(FrontendError, match="'k' is 0"):
        run_op("com.microsoft::MoE", x, router, w1, None, w2, k=0)
    with pytest.raises(FrontendError, match="input 5 .* is left out"):
        run_op("com.microsoft::MoE", x, router, w1)

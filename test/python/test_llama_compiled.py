# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The compiled decoder against the one in NumPy."""

import dataclasses
import functools
import json

import numpy as np
import pytest
from reference_llama import ReferenceLlama
from test_exported_metadata import change_companion
from tiny_models import CONFIG, random_weights, smollm2, write_gguf, write_hugging_face

from relax_mlir import ModelError, WeightError, models
from relax_mlir.models import Cache
from relax_mlir.models.config import PROJECTIONS

pytest.importorskip("gguf")

ONE_OF = 3  # each case compiles a model
FUNCTIONS = ("forward", "forward_all")

# Configurations with special features; sizes that are not multiples of a tile.
VARIANTS = {
    "plain": ("plain", "F32", {}),
    "panels": ("panels", "F32", {}),
    "Q4_0": ("quantised", "Q4_0", {}),
    "Q4_1": ("quantised", "Q4_1", {}),
    "Q8_0": ("quantised", "Q8_0", {}),
    "own head": ("panels", "F32", {"tie_embeddings": False}),
    "half split": ("panels", "F32", {"rope_layout": "half_split"}),
    "bias": ("panels", "F32", {"rope_layout": "half_split", "biases": PROJECTIONS[:3]}),
    "all biases": ("panels", "F32", {"rope_layout": "half_split", "biases": PROJECTIONS}),
    "all biases, GGUF": ("quantised", "Q4_1", {"biases": PROJECTIONS}),
    "norm": ("panels", "F32", {"rope_layout": "half_split", "qk_norm": True}),
    "one head": ("panels", "F32", {"num_heads": 1, "num_kv_heads": 1}),
    "odd": ("panels", "F32", {"intermediate_size": 70, "num_heads": 6, "num_kv_heads": 3}),
}


@pytest.fixture(scope="module", params=VARIANTS.values(), ids=VARIANTS.keys())
def pair(request, tmp_path_factory):
    """A compiled model, and its reference."""
    layout, quantisation, changes = request.param
    config = dataclasses.replace(CONFIG, **changes)
    path = tmp_path_factory.mktemp("model")
    if config.rope_layout == "half_split":
        architecture = {3: "Qwen2"}.get(len(config.biases), "Qwen3" if config.qk_norm else "Llama")
        names = {"architectures": [f"{architecture}ForCausalLM"]}
        write_hugging_face(path, random_weights(config), config, **names)
    else:
        path = write_gguf(path / "x.gguf", random_weights(config), config, quantisation)
    program = models.build(path, layout=layout, functions=FUNCTIONS)
    return program.compile(), ReferenceLlama(program.config, models.open_checkpoint(path))


# Any number of sequences and tokens, after any number of tokens in the cache, with or without padding.
@pytest.mark.parametrize(
    "batch, length, past, start",
    [
        (1, 1, 0, [0]),
        (1, 7, 0, [0]),
        (1, 1, 40, [0]),
        (2, 33, 0, [0, 5]),
        (3, 1, 10, [0, 3, 9]),
        (2, 5, 60, [7, 0]),
        (5, 12, 1, [0, 0, 0, 0, 0]),
    ],
)
def test_logits(pair, batch, length, past, start):
    model, reference = pair
    start = np.array(start)
    tokens = np.random.default_rng(length).integers(0, CONFIG.vocab_size, (batch, past + length))
    before, tokens = np.ascontiguousarray(tokens[:, :past]), np.ascontiguousarray(tokens[:, past:])
    found, expected = Cache(model.config, batch, 80), Cache(model.config, batch, 80)
    if past:
        for each, run in ((found, model.executable), (expected, reference)):
            run["forward"](before, start, each.keys, each.values, 0)
    want = reference["forward_all"](tokens, start, expected.keys, expected.values, past)
    # Positions before a sequence's start are padding.
    real = past + np.arange(length) >= start[:, None]
    got = model.executable["forward_all"](tokens, start, found.keys, found.values, past)
    np.testing.assert_allclose(np.from_dlpack(got)[real], want[real], atol=2e-4)
    last = model.executable["forward"](tokens, start, found.keys, found.values, past)
    np.testing.assert_allclose(np.from_dlpack(last), want[:, -1], atol=2e-4)
    # Rows after the filled ones stay unchanged.
    assert not found.keys[..., past + length :].any() and not found.values[:, :, past + length :].any()


# --- errors of calls


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    path = write_gguf(tmp_path_factory.mktemp("model") / "x.gguf", random_weights())
    return models.load(path)


def arguments(batch=1, length=2, past=0, capacity=8, config=CONFIG):
    cache = Cache(config, batch, capacity)
    return [np.ones((batch, length), np.int64), cache.start, cache.keys, cache.values, past]


@pytest.mark.parametrize(
    "change, error, message",
    [
        (lambda a: arguments(length=5, past=4), ValueError, "do not fit in the cache: t . n is more than c"),
        (lambda a: arguments(length=1, past=8), ValueError, "do not fit in the cache: t . n is more than c"),
        (lambda a: [a[0].astype(np.int32), *a[1:]], TypeError, "'tokens' .* expected elements of type i64, got i32"),
        (lambda a: [a[0], np.zeros(2, np.int64), *a[2:]], ValueError, "'start'.*: dimension 0 must be b = 1, got 2"),
        (lambda a: [*a[:3], a[3][:, :, :-1].copy(), a[4]], ValueError, "'values'.*: dimension 2 must be c = 8, got 7"),
        (lambda a: [*a[:2], a[2][:1].copy(), *a[3:]], ValueError, "'keys'.*: dimension 0 must be 2, got 1"),
        (lambda a: [a[0][:, :0].copy(), *a[1:]], ValueError, "symbol 'n' = 0 is below its declared bound 1"),
        (lambda a: [*a[:4], -1], ValueError, "symbol 't' = -1 is below its declared bound 0"),
        (lambda a: [*a[:4], 128], ValueError, "symbol 't' = 128 exceeds its declared bound 127"),
        (lambda a: a[:4], TypeError, "expected 5 arguments, got 4"),
    ],
)
def test_refused(tiny, change, error, message):
    with pytest.raises(error, match=message):
        tiny.executable["forward"](*change(arguments()))
    assert np.isfinite(np.from_dlpack(tiny.executable["forward"](*arguments()))).all()


# --- exported models


# Loading a folder restores the model, without compiling.
@pytest.mark.parametrize("layout", ["panels", "quantised"])
def test_export(tmp_path, layout, monkeypatch):
    pytest.importorskip("safetensors")
    path = write_gguf(tmp_path / "x.gguf", random_weights(), quantisation="Q4_1")
    program = models.build(path, layout=layout)
    # A tokenizer with a BOS token that only its kind implies.
    tokens = {"model": "gpt2", "pre": "llama3", "tokens": ["a", "<s>"], "token_type": [1, 3], "merges": []}
    metadata = {f"tokenizer.ggml.{key}": value for key, value in {**tokens, "bos_token_id": 1}.items()}
    program.tokenizer = models.Tokenizer.from_gguf(metadata)
    program.export(tmp_path / "out")
    expected = np.from_dlpack(program.compile().executable["forward"](*arguments()))
    monkeypatch.setattr("relax_mlir.models.loading.compile", None)
    model = models.load(tmp_path / "out")
    assert model.config == program.config
    assert model.tokenizer.encode("aa") == program.tokenizer.encode("aa") == [1, 0, 0]
    np.testing.assert_array_equal(np.from_dlpack(model.executable["forward"](*arguments())), expected)
    with pytest.raises(ModelError, match="layout cannot be changed"):
        models.load(tmp_path / "out", layout="plain")
    known = json.loads((tmp_path / "out" / "config.json").read_text())
    for damaged, message in (
        ([], "config.json' holds an array in JSON; expected an object"),
        ({}, "config.json' is damaged: the configuration has no 'vocab_size'"),
        ({**known, "more": 1}, "config.json' is damaged: 'more' is not a field of a configuration"),
        ({**known, "num_layers": "x"}, "config.json' is damaged: num_layers is 'x'; expected a positive integer"),
        ({**known, "rope_factors": 3}, "config.json' is damaged: rope_factors is 3; expected a tuple of numbers"),
    ):
        change_companion(tmp_path / "out", "config.json", json.dumps(damaged).encode())
        with pytest.raises(ModelError, match=message):
            models.load(tmp_path / "out")
    change_companion(tmp_path / "out", "config.json", b"[" * 100000)
    with pytest.raises(ModelError, match="config.json' is not valid JSON: maximum recursion depth"):
        models.load(tmp_path / "out")
    change_companion(tmp_path / "out", "config.json", json.dumps(known).encode())
    weights = tmp_path / "out" / "weights.safetensors"
    weights.write_bytes(weights.read_bytes()[:-10])
    with pytest.raises(WeightError, match=r"has \d+ bytes; expected \d+; export the model again"):
        models.load(tmp_path / "out")
    with pytest.raises(ModelError, match="holds something else"):
        program.export(tmp_path)


# --- the real model


# SmolLM2's continuations by PyTorch (transformers 5.24, the same file, greedy).
CONTINUATIONS = {
    "The capital of France is": " Paris.\n\nThe answer is: 2018-01-22 12:1",
    "Once upon a time": (
        ", the city of Nova Haven was a thriving metropolis, with towering skyscrapers and bustling streets. "
        "But as the years went by"
    ),
    "def fibonacci(n):": "\n    if n == 0:\n        return 1\n    return n * fibonacci(n - 1)\n",
    "The three primary colors are": (
        " the primary colors of the RGB color model: red, blue, and green. "
        "These colors are fundamental to the RGB color"
    ),
    "Water boils at": " 100°C, which is a perfect Celsius.\n\nThe ratio of the heat released to the heat",
}


@functools.cache
def compiled_smollm2(layout):
    smollm2()
    return models.load("smollm2", layout=layout)


@pytest.mark.parametrize("layout", ["panels", "quantised"])
def test_smollm2(layout):
    model = compiled_smollm2(layout)
    for prompt, continuation in CONTINUATIONS.items():
        assert "".join(model.stream(prompt, max_new_tokens=24)) == continuation
    # All prompts are in one batch, with different lengths.
    assert model.complete(list(CONTINUATIONS), max_new_tokens=24) == list(CONTINUATIONS.values())

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The decoder: its program, its results, and generation with it."""

import dataclasses
import functools

import numpy as np
import pytest
from reference_llama import ReferenceLlama
from tiny_models import CONFIG, random_weights, smollm2, write_gguf, write_hugging_face

from relax_mlir import ContextLengthError, ModelError, RelaxError, TokenizerError, models, parse
from relax_mlir.models import Cache, LanguageModel, Sampling
from relax_mlir.models.config import PROJECTIONS

pytest.importorskip("gguf")

LAYOUTS = ["plain", "panels", "quantised"]
FUNCTIONS = ("forward", "forward_all")

# SmolLM2's continuation by PyTorch (transformers 5.24, the same file, greedy).
CONTINUATIONS = {"The capital of France is": " Paris.\n\nThe answer is: 2018-01-22 12:1"}


def reference(path):
    """A model that NumPy computes."""
    program = models.build(path, layout="plain")
    return LanguageModel(
        ReferenceLlama(program.config, models.open_checkpoint(program.path)), program.config, program.tokenizer
    )


@pytest.fixture
def tiny(tmp_path):
    return reference(write_gguf(tmp_path / "tiny.gguf", random_weights()))


def tokens(batch, length, seed=0):
    return np.random.default_rng(seed).integers(0, CONFIG.vocab_size, (batch, length))


# --- the program


# In every layout, the program is valid, and survives a round trip through text.
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("quantisation", ["F32", "Q4_0", "Q4_1", "Q8_0", "Q5_0"])
def test_program(tmp_path, layout, quantisation):
    path = write_gguf(tmp_path / "x.gguf", random_weights(), quantisation=quantisation)
    program = models.build(path, layout=layout, functions=FUNCTIONS)
    text = str(program.module)
    assert str(parse(text)) == text
    result = "tensor<?x100xf32, #relax.shape<[b, 100]>>"
    assert f"relax.return %{text.split('relax.return %')[1].split()[0]} : {result}" in text
    quantised = layout == "quantised" and quantisation in ("Q4_0", "Q4_1", "Q8_0")
    assert ("decode_" in text) == quantised


# Each parameter has one array, of the type in the program.
@pytest.mark.parametrize("layout", LAYOUTS)
def test_weights_fit(tmp_path, layout):
    path = write_gguf(tmp_path / "x.gguf", random_weights(), quantisation="Q4_1")
    program = models.build(path, layout=layout)
    text = str(program.module)
    types = {"float32": "f32", "float16": "f16", "int8": "i8"}
    for name, array in program.weights.items():
        shape = "x".join(map(str, array.shape))
        assert f'weight "{name}" : tensor<{shape}x{types[array.dtype.name]}>' in text
    assert text.count("relax.constant weight") >= len(program.weights)


# The kernels serve all layers: their number does not grow with the model.
def test_kernels_are_shared(tmp_path):
    deep = dataclasses.replace(CONFIG, num_layers=5)
    for config in (CONFIG, deep):
        path = write_gguf(tmp_path / "x.gguf", random_weights(config), config)
        assert len(models.build(path).module.functions) == 7


@pytest.mark.parametrize(
    "variant", [{"biases": PROJECTIONS[:3]}, {"biases": PROJECTIONS}, {"qk_norm": True}, {"tie_embeddings": False}]
)
def test_variants(tmp_path, variant):
    config = dataclasses.replace(CONFIG, **variant)
    architecture = {3: "Qwen2"}.get(len(config.biases), "Qwen3" if config.qk_norm else "Llama")
    names = [f"{architecture}ForCausalLM"]
    path = write_hugging_face(tmp_path / "x", random_weights(config), config, architectures=names)
    program = models.build(path)
    assert dataclasses.replace(program.config, name="", rope_layout="interleaved") == config
    assert len(program.weights) == len(random_weights(config))


@pytest.mark.parametrize("length, message", [(0, "expected at least 1"), (129, "expected from 1 to 128")])
def test_context_length(tmp_path, length, message):
    path = write_gguf(tmp_path / "x.gguf", random_weights())
    with pytest.raises(ModelError, match=message):
        models.build(path, context_length=length)
    assert "t = #relax.range<0, 63>" in str(models.build(path, context_length=64).module)


# --- generation, on the reference


# A prompt in one piece, in chunks, and token by token gives the same logits.
def test_pieces(tiny, monkeypatch):
    prompt = tokens(2, 40)
    whole = tiny.logits(prompt, Cache(CONFIG, 2, 64))
    cache = Cache(CONFIG, 2, 64)
    for column in prompt.T:
        single = tiny.logits(column[:, None], cache)
    np.testing.assert_allclose(single, whole, atol=1e-5)
    monkeypatch.setattr(models.generation, "PROMPT_CHUNK", 7)
    np.testing.assert_allclose(tiny.logits(prompt, Cache(CONFIG, 2, 64)), whole, atol=1e-5)


# A sequence continues the same with any other sequence in the batch, shorter or longer.
@pytest.mark.parametrize("sampling", [Sampling(), Sampling(1.0, seed=3)])
def test_batch(tiny, sampling):
    prompts = [list(tokens(1, length, length)[0]) for length in (3, 11, 1)]

    def go_on(prompts):
        return list(zip(*tiny.generate_tokens(prompts, max_new_tokens=12, sampling=sampling)))

    together = go_on(prompts)
    assert together[0] == go_on(prompts[:1])[0]
    if sampling.temperature == 0:
        assert together[1:] == [go_on([prompt])[0] for prompt in prompts[1:]]


# After a stop token, a sequence gives None; generation ends once all sequences have.
def test_stop(tiny):
    prompts = [list(row) for row in tokens(3, 5)]
    free = list(zip(*tiny.generate_tokens(prompts, max_new_tokens=30, stop_ids=())))
    stop = free[0][4]
    stopped = list(zip(*tiny.generate_tokens(prompts, max_new_tokens=30, stop_ids=[stop])))
    for before, after in zip(free, stopped):
        end = before.index(stop) + 1 if stop in before else 30
        assert after[:end] == before[: min(end, len(after))]
        assert not any(token is not None for token in after[end:])


# Generation ends when the context is full, and not before.
def test_full_context(tiny):
    steps = list(tiny.generate_tokens([list(tokens(1, 100)[0])]))
    assert len(steps) == CONFIG.context_length - 100 + 1
    assert len(list(tiny.generate_tokens([list(tokens(1, 128)[0])]))) == 1


def test_statistics(tiny):
    list(tiny.generate_tokens([[1, 2, 3], [4, 5, 6]], max_new_tokens=4))
    statistics = tiny.statistics
    assert (statistics.prompt_tokens, statistics.new_tokens, statistics.decode_tokens) == (6, 8, 6)
    assert statistics.prompt_rate > 0 and statistics.decode_rate > 0


@pytest.mark.parametrize(
    "act, error, message",
    [
        (lambda m: m.generate_tokens([[1] * 129]), ContextLengthError, "the prompt has 129 tokens, the context 128"),
        (lambda m: m.generate_tokens([]), RelaxError, "a prompt is empty"),
        (lambda m: m.generate_tokens([[1], []]), RelaxError, "a prompt is empty"),
        (lambda m: m.generate_tokens([[1]], max_new_tokens=0), RelaxError, "expected at least 1"),
        (lambda m: list(m.generate_tokens([[100]])), RelaxError, "token 100 is none of the 100"),
        (lambda m: list(m.generate_tokens([[-1]])), RelaxError, "token -1 is none of the 100"),
        (lambda m: m.logits([[1, 2]], Cache(CONFIG, 1, 1)), ContextLengthError, "do not fit in its 1"),
        (lambda m: m.logits([[1], [2]], Cache(CONFIG, 1, 4)), RelaxError, r"expected tokens of shape \[1, n\]"),
        (lambda m: Cache(CONFIG, 1, 129), ContextLengthError, "the model's context has from 1 to 128"),
        (lambda m: m.stream("text"), TokenizerError, "no tokenizer"),
    ],
)
def test_errors(tiny, act, error, message):
    with pytest.raises(error, match=message):
        act(tiny)
    assert len(list(tiny.generate_tokens([[1]], max_new_tokens=3))) == 3


# --- the real model, on the reference


@functools.cache
def reference_smollm2():
    return reference(smollm2())


@pytest.mark.parametrize("prompt, continuation", CONTINUATIONS.items())
def test_smollm2_continues(prompt, continuation):
    text = "".join(reference_smollm2().stream(prompt, max_new_tokens=24))
    assert text == continuation


def test_smollm2_chats():
    chat = reference_smollm2().chat(256)
    assert "".join(chat.say("What is the capital of France?", max_new_tokens=20)) == "The capital of France is Paris."
    assert "".join(chat.say("And of Italy?", max_new_tokens=20)) == "The capital of Italy is Rome."
    # Earlier turns are not recomputed.
    assert reference_smollm2().statistics.prompt_tokens < 20
    # An interrupted answer leaves no trace.
    next(chat.say("And of Spain?"))
    asked = [*chat.messages, {"role": "user", "content": "And of Greece?"}]
    expected = "".join(reference_smollm2().stream(asked, max_new_tokens=10))
    assert "".join(chat.say("And of Greece?", max_new_tokens=10)) == expected
    assert len(chat.messages) == 6

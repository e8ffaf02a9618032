# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decoders on a Vulkan device."""

import dataclasses

import numpy as np
import pytest
import vulkan
from targets import needs_linker
from tiny_models import CONFIG, random_weights, smollm2, write_gguf

from relax_mlir import models

PROMPTS = [[3, 1, 4, 1, 5, 9, 2], [2, 7]]


device = pytest.fixture(vulkan.open_device, scope="module")


def built(folder, dtype="f32", layout="plain", quantisation="F32"):
    pytest.importorskip("gguf")
    config = dataclasses.replace(CONFIG, num_layers=2)
    path = write_gguf(folder / "x.gguf", random_weights(), config, quantisation)
    return models.build(path, layout=layout, dtype=dtype, functions=("forward", "decode"))


def tokens_of(model):
    return [list(step) for step in model.generate_tokens(PROMPTS, max_new_tokens=6)]


# A decoder gives the same results on the CPU and on the device; its steps are replayed.
@pytest.mark.parametrize(
    "layout, quantisation",
    [("plain", "F32"), ("groups", "Q4_0"), pytest.param("groups", "Q8_0", marks=pytest.mark.more)],
)
def test_decoders(device, tmp_path, layout, quantisation):
    on_cpu = built(tmp_path, layout=layout if layout == "plain" else "quantised", quantisation=quantisation).compile()
    model = built(tmp_path, layout=layout, quantisation=quantisation).compile(target="vulkan")
    assert tokens_of(model) == tokens_of(on_cpu)
    assert model._decode.statistics().failures == 0


# `measured`: the largest difference, relative to the largest logit.
@pytest.mark.parametrize("dtype, measured", [pytest.param("f16", 0.0012, marks=pytest.mark.more), ("bf16", 0.0099)])
def test_decoders_of_shorter_elements(device, tmp_path, dtype, measured):
    on_cpu, model = built(tmp_path).compile(), built(tmp_path, dtype).compile(target="vulkan")
    tokens = np.array([PROMPTS[0]])
    wanted, found = (each.logits(tokens, each.new_cache(1, 12)) for each in (on_cpu, model))
    np.testing.assert_allclose(found, wanted, rtol=0, atol=3 * measured * np.abs(wanted).max())


# A folder contains the SPIR-V, and runs without the compiler.
@needs_linker
def test_exported(device, tmp_path):
    program = built(tmp_path)
    program.export(tmp_path / "model", "vulkan")
    loaded, compiled = models.load(tmp_path / "model"), program.compile(target="vulkan")
    assert tokens_of(loaded) == tokens_of(compiled)


# The real model gives the same text as on the CPU (test_llama_compiled.py). A few words take a minute on lavapipe.
@pytest.mark.more
def test_smollm2(device):
    from test_llama_compiled import CONTINUATIONS

    smollm2()
    count = 6 if vulkan.is_lavapipe() else 24
    model = models.build("smollm2", layout="groups").compile(target="vulkan")
    for prompt, continuation in CONTINUATIONS.items():
        text = "".join(model.stream(prompt, max_new_tokens=count))
        assert text and continuation.startswith(text)

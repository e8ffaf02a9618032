# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The decoder on a GPU, emulated, against the one on the CPU."""

import dataclasses

import emulated  # noqa: F401 - makes the emulator the driver
import numpy as np
import pytest
from tiny_models import CONFIG, random_weights, write_gguf

from relax_mlir import ModelError, RelaxError, models

pytest.importorskip("gguf")

PROMPTS = [[3, 1, 4, 1, 5, 9, 2], [2, 7]]


def built(folder, dtype="f32"):
    path = write_gguf(folder / "x.gguf", random_weights(), dataclasses.replace(CONFIG, num_layers=2))
    return models.build(path, layout="plain", dtype=dtype, functions=("forward", "decode"))


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """The same model on the CPU and on the emulated GPU."""
    program = built(tmp_path_factory.mktemp("model"))
    return program.compile(), program.compile(target="cuda:emulated")


def test_the_same_tokens(pair):
    on_cpu, on_gpu = ([list(step) for step in model.generate_tokens(PROMPTS, max_new_tokens=6)] for model in pair)
    assert on_gpu == on_cpu


# A step at positions that only the device knows is the step of `forward`; each sequence may be at another one.
def test_decoding_at_positions(pair):
    for model in pair:
        put = model.device.put if model.device else np.asarray
        get = model.device.get if model.device else np.from_dlpack
        whole, parts = model.new_cache(1, 12), model.new_cache(2, 12)
        wanted = [model.logits(np.array([[token]]), whole)[0] for token in PROMPTS[0]]
        for step, token in enumerate(PROMPTS[0]):
            # The second sequence is one token behind.
            tokens = np.array([token, PROMPTS[0][max(step - 1, 0)]])
            places = np.array([step, max(step - 1, 0)])
            decode = model.executable["decode"]
            logits = get(decode(put(tokens), put(places), parts.keys, parts.values, 8))
            np.testing.assert_allclose(logits[0], wanted[step], 1e-4, 1e-4)
            np.testing.assert_allclose(logits[1], wanted[max(step - 1, 0)], 1e-4, 1e-4)


@pytest.mark.parametrize("dtype, tolerance", [("f16", 0.02), ("bf16", 0.15)])
def test_shorter_elements(pair, tmp_path, dtype, tolerance):
    model = built(tmp_path, dtype).compile(target="cuda:emulated")
    tokens = np.array([PROMPTS[0]])
    wanted = pair[0].logits(tokens, pair[0].new_cache(1, 12))
    found = model.logits(tokens, model.new_cache(1, 12))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, wanted, tolerance, tolerance * np.abs(wanted).max())


def test_what_cannot_be(pair, tmp_path):
    with pytest.raises(RelaxError, match="code for cuda cannot be exported yet"):
        pair[1].executable.export(tmp_path / "model")
    path = write_gguf(tmp_path / "x.gguf", random_weights())
    with pytest.raises(ModelError, match="dtype is 'f64'; expected one of f32, f16, bf16"):
        models.build(path, dtype="f64")
    with pytest.raises(ValueError, match="matrices of bf16 have the layout 'plain', got 'panels'"):
        models.build(path, dtype="bf16", layout="panels")

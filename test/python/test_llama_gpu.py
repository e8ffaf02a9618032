# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The decoder on a GPU, emulated, against the one on the CPU."""

import dataclasses
import shutil

import emulated  # noqa: F401 - makes the emulator the driver
import numpy as np
import pytest
from tiny_models import CONFIG, random_weights, write_gguf, write_hugging_face

from relax_mlir import ModelError, load_exported, models
from relax_mlir.models import generation

pytest.importorskip("gguf")

needs_linker = pytest.mark.skipif(not shutil.which("cc"), reason="model.so is linked by a C compiler; there is none")
PROMPTS = [[3, 1, 4, 1, 5, 9, 2], [2, 7]]


def close(found, wanted, measured):
    """Whether the largest difference, relative to the largest logit, is at most three times the measured one."""
    np.testing.assert_allclose(found, wanted, rtol=0, atol=3 * measured * np.abs(wanted).max())


def built(folder, dtype="f32", layout="plain", quantisation="F32"):
    config = dataclasses.replace(CONFIG, num_layers=2)
    path = write_gguf(folder / "x.gguf", random_weights(), config, quantisation)
    return models.build(path, layout=layout, dtype=dtype, functions=("forward", "decode"))


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """The same model on the CPU and on the emulated GPU."""
    program = built(tmp_path_factory.mktemp("model"))
    return program.compile(), program.compile(target="cuda:emulated")


def test_the_same_tokens(pair):
    on_cpu, on_gpu = ([list(step) for step in model.generate_tokens(PROMPTS, max_new_tokens=6)] for model in pair)
    assert on_gpu == on_cpu


# Matrices of 8-bit floats with a scale for each row give nearly the same results as f32, on both targets.
def test_small_floats(tmp_path, pair):
    path = write_gguf(tmp_path / "x.gguf", random_weights(), dataclasses.replace(CONFIG, num_layers=2), "F32")
    program = models.build(path, layout="groups", dtype="bf16", quantisation="F8_E4M3")
    wanted = pair[0].logits(np.array(PROMPTS[:1]), pair[0].new_cache(1, 12))
    both = [program.compile(), program.compile(target="cuda:emulated")]
    found = [model.logits(np.array(PROMPTS[:1]), model.new_cache(1, 12)) for model in both]
    for each in found:
        assert np.corrcoef(each.ravel(), wanted.ravel())[0, 1] > 0.99  # 0.9957 was measured
    # The weights are the same on both targets: only the rounding of results differs.
    close(found[1], found[0], 0.0047)


# A format that a layout does not support is rejected.
def test_layouts_of_small_floats(tmp_path):
    path = write_gguf(tmp_path / "x.gguf", random_weights(), CONFIG, "F32")
    with pytest.raises(ModelError, match="'quantised' has no matrices of F8_E4M3; expected 'groups'"):
        models.build(path, layout="quantised", quantisation="F8_E4M3")


# Decode steps of sequences of equal length are replayed from a graph, one for each number of rows to read.
def test_steps_are_replayed(pair, monkeypatch):
    monkeypatch.setattr(generation, "ROWS_STEP", 8)
    on_cpu, on_gpu = pair
    before = on_gpu._decode.statistics()
    prompts = [PROMPTS[0][:3], PROMPTS[0][3:6]]
    wanted, found = ([list(step) for step in model.generate_tokens(prompts, max_new_tokens=12)] for model in pair)
    assert found == wanted
    after = on_gpu._decode.statistics()
    assert (after.captures - before.captures, after.replays - before.replays) == (
        2,
        9,
    )  # all but the first step for each number of rows
    assert on_cpu._decode is None


# A value written into a device tensor must match its shape and type.
def test_writing_into_a_tensor(pair):
    device = pair[1].device
    tensor = device.put(np.zeros((2, 3), np.float32))
    device.write(np.arange(6, dtype=np.float32).reshape(2, 3), tensor)
    np.testing.assert_array_equal(device.get(tensor), [[0, 1, 2], [3, 4, 5]])
    device.write(device.put(np.ones((2, 3), np.float32)), tensor)
    assert device.get(tensor).sum() == 6
    for wrong in (np.zeros((3, 2), np.float32), np.zeros((2, 3), np.int32)):
        with pytest.raises(ValueError, match=r"write: expected elements \[2, 3\] of f32, got \[.*\] of "):
            device.write(wrong, tensor)
    with pytest.raises(ValueError, match="write: the tensors must be contiguous"):
        device.write(np.zeros((3, 2), np.float32).T, tensor)
    with pytest.raises(ValueError, match="expected a tensor on .*, got one on the host"):
        device.write(tensor, np.zeros((2, 3), np.float32))


# A step at positions that only the device knows equals `forward`; sequences may have different positions.
def test_decoding_at_positions(pair):
    for model in pair:
        put = model.device.put if model.device else np.asarray
        get = model.device.get if model.device else np.from_dlpack
        whole, parts = model.new_cache(1, 12), model.new_cache(2, 12)
        wanted = [model.logits(np.array([[token]]), whole)[0] for token in PROMPTS[0]]
        for step, token in enumerate(PROMPTS[0]):
            # The second sequence is one token shorter.
            tokens = np.array([token, PROMPTS[0][max(step - 1, 0)]])
            places = np.array([step, max(step - 1, 0)])
            decode = model.executable["decode"]
            logits = get(decode(put(tokens), put(places), parts.keys, parts.values, 8))
            np.testing.assert_allclose(logits[0], wanted[step], 1e-4, 1e-4)
            np.testing.assert_allclose(logits[1], wanted[max(step - 1, 0)], 1e-4, 1e-4)


@needs_linker
@pytest.mark.parametrize("dtype, measured", [pytest.param("f16", 0.0012, marks=pytest.mark.more), ("bf16", 0.0099)])
def test_shorter_elements(pair, tmp_path, dtype, measured):
    model = built(tmp_path, dtype).compile(target="cuda:emulated")
    tokens = np.array([PROMPTS[0]])
    wanted = pair[0].logits(tokens, pair[0].new_cache(1, 12))
    found = model.logits(tokens, model.new_cache(1, 12))
    assert found.dtype == np.float32
    close(found, wanted, measured)
    # Weights of these types are preserved in a folder.
    model.executable.export(tmp_path / "model")
    loaded = models.LanguageModel(load_exported(tmp_path / "model"), model.config)
    np.testing.assert_array_equal(loaded.logits(tokens, loaded.new_cache(1, 12)), found)


MORE = [pytest.param(kind, marks=pytest.mark.more) for kind in ("Q4_1", "Q8_0")]


# Groups of a quantized file stay unchanged; the CPU decodes them from panels.
@pytest.mark.parametrize("quantisation", ["Q4_0", *MORE])
def test_quantised(tmp_path, quantisation):
    on_cpu = built(tmp_path, layout="quantised", quantisation=quantisation).compile()
    program = built(tmp_path, layout="groups", quantisation=quantisation)
    on_gpu = program.compile(target="cuda:emulated")
    assert {p.dtype for name, p in program.weights._parameters.items() if name.endswith("codes")} == {"i8"}
    wanted, found = ([list(step) for step in m.generate_tokens(PROMPTS, max_new_tokens=6)] for m in (on_cpu, on_gpu))
    assert found == wanted


# Floats in a file are quantized as they are read.
def test_quantised_as_it_is_read(tmp_path):
    path = write_hugging_face(tmp_path / "x", random_weights(), CONFIG)
    on_cpu = models.load(path, layout="quantised", quantisation="Q4_0")
    model = models.build(path, layout="groups", quantisation="Q4_0", dtype="bf16").compile(target="cuda:emulated")
    tokens = np.array([PROMPTS[0]])
    wanted = on_cpu.logits(tokens, on_cpu.new_cache(1, 12))
    found = model.logits(tokens, model.new_cache(1, 12))
    close(found, wanted, 0.0094)


# A folder contains the whole model, including groups of a quantized one.
@needs_linker
@pytest.mark.parametrize("layout, quantisation", [("plain", "F32"), ("groups", "Q4_0")])
def test_exported(tmp_path, layout, quantisation):
    program = built(tmp_path, layout=layout, quantisation=quantisation)
    program.export(tmp_path / "model", "cuda:emulated")
    loaded, compiled = models.load(tmp_path / "model"), program.compile(target="cuda:emulated")
    assert loaded.device and {str(w.device) for w in loaded.executable.weights.values()} == {"cuda:0"}
    wanted, found = ([list(step) for step in m.generate_tokens(PROMPTS, max_new_tokens=6)] for m in (compiled, loaded))
    assert found == wanted
    with pytest.raises(ModelError, match="was compiled with its options; layout cannot be changed"):
        models.load(tmp_path / "model", layout="plain")


def test_what_cannot_be(tmp_path):
    path = write_gguf(tmp_path / "x.gguf", random_weights())
    with pytest.raises(ModelError, match="dtype is 'f64'; expected one of f32, f16, bf16"):
        models.build(path, dtype="f64")
    with pytest.raises(ValueError, match="matrices of bf16 have the layout 'plain' or 'groups', got 'panels'"):
        models.build(path, dtype="bf16", layout="panels")
    with pytest.raises(ModelError, match="quantisation is 'Q2_K'; expected one of Q4_0, Q4_1, Q8_0"):
        models.build(path, layout="groups", quantisation="Q2_K")
    with pytest.raises(ModelError, match="the layout 'plain' has no quantised matrices"):
        models.build(path, layout="plain", quantisation="Q4_0")

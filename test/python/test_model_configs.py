# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Model configurations: config.json as read by transformers, GGUF metadata as read by llama.cpp."""

import dataclasses
import re

import numpy as np
import pytest
from reference_llama import ReferenceLlama
from tiny_models import CONFIG, random_weights, write_gguf, write_hugging_face

from relax_mlir import ModelError, WeightError, models
from relax_mlir.models import Cache, LlamaConfig
from relax_mlir.models.config import PROJECTIONS
from relax_mlir.models.config_hugging_face import _IRRELEVANT

LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 32,
}
# Architecture, variant and fields of config.json, with the first logits by transformers 5.24 (f32) for TOKENS.
RECORDED = {
    "llama": ("Llama", {}, {}, [-1.024, 0.2015, 0.9782, -1.2082]),
    "biases of attention": ("Llama", {"biases": PROJECTIONS[:4]}, {}, [0.453, 1.5042, -0.1719, 0.7069]),
    "all biases": ("Llama", {"biases": PROJECTIONS}, {}, [0.7111, 0.661, -0.8783, -0.3363]),
    "linear": ("Llama", {}, {"rope_scaling": {"type": "linear", "factor": 4.0}}, [-0.0462, 0.0746, 0.8355, -1.7858]),
    "llama3": ("Llama", {}, {"rope_scaling": LLAMA3}, [-0.3947, -0.3879, 0.2448, -2.1494]),
    "partial_rotary_factor": ("Llama", {}, {"partial_rotary_factor": 0.5}, [-1.024, 0.2015, 0.9782, -1.2082]),
    "own head": ("Llama", {"tie_embeddings": False}, {}, [-0.9041, -1.3117, -1.5535, -0.1195]),
    "mistral": ("Mistral", {}, {"attention_bias": True}, [-1.024, 0.2015, 0.9782, -1.2082]),
    "qwen2": ("Qwen2", {"biases": PROJECTIONS[:3]}, {"attention_bias": False}, [-0.424, 2.3771, -1.3824, 0.1537]),
    "a window of no layer": (
        "Qwen2",
        {"biases": PROJECTIONS[:3]},
        {"use_sliding_window": True, "sliding_window": 4, "max_window_layers": 2},
        [-0.424, 2.3771, -1.3824, 0.1537],
    ),
    "qwen3": ("Qwen3", {"qk_norm": True}, {}, [-1.9977, 0.8889, -0.3517, -0.18]),
    "qwen3 with biases": (
        "Qwen3",
        {"qk_norm": True, "biases": PROJECTIONS[:4]},
        {},
        [-0.1406, 1.3827, -0.351, 0.2984],
    ),
}
TOKENS = (np.arange(12)[None] * 7 + 3) % 100


@pytest.mark.parametrize("architecture, variant, fields, expected", RECORDED.values(), ids=RECORDED)
def test_as_transformers(tmp_path, architecture, variant, fields, expected):
    config = dataclasses.replace(CONFIG, rope_layout="half_split", **variant)
    names = {"architectures": [f"{architecture}ForCausalLM"], "model_type": architecture.lower()}
    path = write_hugging_face(tmp_path / "x", random_weights(config), config, **names, **fields)
    program = models.build(path, layout="plain")
    cache = Cache(program.config, 1, 12)
    reference = ReferenceLlama(program.config, models.open_checkpoint(path))
    logits = reference.forward(TOKENS, np.zeros(1, np.int64), cache.keys, cache.values, 0)
    np.testing.assert_allclose(logits[0, :4], expected, atol=2e-4)


# --- config.json

BASE = {
    "vocab_size": 100,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
}


def read(architecture="Llama", **fields):
    values = {"architectures": [f"{architecture}ForCausalLM"], **BASE, **fields}
    return LlamaConfig.from_hugging_face({name: value for name, value in values.items() if value != "absent"})


# Missing fields have the defaults of the architecture's class.
def test_defaults():
    for architecture, context in (("Llama", 2048), ("Mistral", 131072), ("Qwen2", 32768), ("Qwen3", 32768)):
        config = read(architecture)
        assert (config.context_length, config.rms_norm_eps, config.rope_theta) == (context, 1e-6, 10000.0)
        assert config.head_dim == (128 if architecture == "Qwen3" else 16) and not config.tie_embeddings
    assert read(num_key_value_heads="absent").num_kv_heads == 4
    eight = {"num_attention_heads": 8, "num_key_value_heads": "absent", "num_hidden_layers": 2}
    assert read("Mistral", **eight).num_kv_heads == 8 and read("Mistral", **{**eight, "num_key_value_heads": None})
    with pytest.raises(ModelError, match="num_heads is 4; expected a multiple of num_kv_heads, 8"):
        read("Mistral", num_key_value_heads="absent")
    # The architecture follows from the model type if a file does not name it.
    assert read(architectures=None, model_type="qwen3").qk_norm
    for fields in ({"model_type": "qwen2"}, {"architectures": ["LlamaForCausalLM", "Qwen2ForCausalLM"]}):
        with pytest.raises(ModelError, match="expected those of one model"):
            read(**fields)


@pytest.mark.parametrize(
    "architecture, fields, window",
    [
        ("Mistral", {}, 4096),
        ("Mistral", {"sliding_window": None}, None),
        ("Mistral", {"sliding_window": 64, "use_sliding_window": True, "max_window_layers": 99}, 64),
        ("Llama", {}, None),
        ("Llama", {"sliding_window": 64}, None),  # its class ignores it
        ("Llama", {"sliding_window": 64, "layer_types": ["full_attention"] * 2}, None),
        ("Qwen2", {"sliding_window": 64}, None),
        ("Qwen2", {"sliding_window": 64, "use_sliding_window": True}, None),
        ("Qwen2", {"sliding_window": 64, "use_sliding_window": True, "max_window_layers": 1}, 64),
        ("Qwen3", {"use_sliding_window": True, "max_window_layers": 0}, 4096),
        ("Qwen3", {"use_sliding_window": True, "layer_types": ["full_attention", "sliding_attention"]}, 4096),
        ("Qwen3", {"use_sliding_window": True, "layer_types": ["full_attention"] * 2, "max_window_layers": 0}, None),
    ],
)
def test_windows(architecture, fields, window):
    assert read(architecture, **fields).sliding_window == window


# A window at least as long as the context has no effect; a shorter one is rejected with advice.
def test_windows_and_contexts(tmp_path):
    path = write_hugging_face(
        tmp_path / "x", random_weights(), architectures=["MistralForCausalLM"], sliding_window=100
    )
    with pytest.raises(ModelError, match="looks back 100 tokens, and the context has 128.*context_length=100"):
        models.build(path)
    assert models.build(path, context_length=100).config.context_length == 100
    path = write_gguf(tmp_path / "x.gguf", random_weights(), metadata={"attention.sliding_window": 100})
    with pytest.raises(ModelError, match="looks back 100 tokens"):
        models.build(path)
    path = write_gguf(tmp_path / "x.gguf", random_weights(), metadata={"attention.sliding_window": 128})
    models.build(path)


# A field is read, or known to be irrelevant; any other field is reported.
def test_unknown_fields():
    assert read(**dict.fromkeys(set(_IRRELEVANT) - {"_name_or_path"}, "anything")) == read()
    for fields, name in (
        ({"logits_scaling": 2.0}, "'logits_scaling' of config.json, 2.0, is not known"),
        ({"num_experts": 8}, "'num_experts' of config.json, 8, is not known"),
        ({"rope_scaling": {"type": "linear", "factor": 2.0, "attention_factor": 2}}, "'attention_factor' of rope_scal"),
        ({"rope_parameters": {"mrope_section": [1, 2]}}, "'mrope_section' of rope_parameters of config.json"),
        ({"rope_interleaved": True}, "'rope_interleaved' of config.json is true; expected false"),
        ({"hidden_act": "gelu"}, "'hidden_act' of config.json is 'gelu'; expected 'silu' or 'swish'"),
        ({"quantization_config": {"quant_method": "gptq", "bits": 4}}, "quantised by the method 'gptq'"),
        ({"is_encoder_decoder": True}, "'is_encoder_decoder'"),
        (
            {"rope_scaling": {"type": "yarn", "factor": 4.0}},
            "'yarn' is not known; known are default, linear and llama3",
        ),
        *(
            ({name: value}, re.escape(f"'{name}' of config.json is {value!r}; expected an object"))
            for name in ("rope_scaling", "rope_parameters")
            for value in (False, 0, "", [])
        ),
        ({"quantization_config": ""}, "quantised by the method ''"),
        ({"compression_config": False}, "quantised by the method False"),
        ({"architectures": False}, "'architectures' of config.json is False; expected a list of names"),
        ({"rope_scaling": {"type": "linear", "rope_type": "default"}}, "two values of rope_type"),
        ({"rope_theta": 1.0, "rope_parameters": {"rope_theta": 2.0}}, "two values of rope_theta, 2.0 and 1.0"),
        ({"rope_scaling": {"rope_theta": 1.0}, "rope_parameters": {"rope_theta": 2.0}}, "differ; expected one"),
        ({"rope_scaling": {"type": "linear", "factor": 2.0}, "partial_rotary_factor": 0.5}, "with the type 'linear'"),
        ({"rope_scaling": {"type": "linear", "factor": 0}}, "'factor' of the rotary embedding is 0.0; expected a pos"),
        ({"rope_scaling": {**LLAMA3, "high_freq_factor": 1.0}}, "expected more than low_freq_factor"),
        ({"layer_types": ["full_attention"]}, "'layer_types' of config.json .* each of 2 layers"),
        ({"layer_types": ["sliding_attention"] * 2}, "there is no sliding_window"),
        ({"tie_word_embeddings": "false"}, "'tie_word_embeddings' of config.json is 'false'; expected true or false"),
    ):
        with pytest.raises(ModelError, match=name):
            read(**fields)


# --- GGUF


def frequencies(tmp_path, **metadata):
    path = write_gguf(tmp_path / "x.gguf", random_weights(), metadata=metadata)
    return models.open_checkpoint(path).config().rope_frequencies()[0]


# A factor is linear unless a type says otherwise; older files have another key for it.
@pytest.mark.parametrize(
    "metadata, scale",
    [
        ({}, 1),
        ({"rope.scaling.factor": 4.0}, 0.25),
        ({"rope.scaling.factor": 4.0, "rope.scaling.type": "linear"}, 0.25),
        ({"rope.scaling.factor": 4.0, "rope.scaling.type": "none"}, 1),
        ({"rope.scale_linear": 4.0}, 0.25),
        ({"rope.scaling.factor": 0.0}, 1),
        ({"rope.scaling.factor": 4.0, "rope.scaling.original_context_length": 32}, 0.25),
    ],
)
def test_rope_of_gguf(tmp_path, metadata, scale):
    assert frequencies(tmp_path, **metadata) == scale


def test_unknown_metadata(tmp_path):
    for metadata, name in (
        ({"logit_scale": 2.0}, "'llama.logit_scale' of the GGUF metadata, 2.0, is not known"),
        ({"rope.scaling.type": "yarn"}, "rope.scaling.type is 'yarn'; known are none and linear"),
        ({"rope.scaling.factor": -1.0}, "rope.scaling.factor is -1.0; expected a positive number"),
        ({"rope.scaling.factor": 2.0, "rope.scale_linear": 4.0}, "expected one of them"),
        ({"attention.causal": False}, "'llama.attention.causal' of the GGUF metadata is false; expected true"),
        ({"attention.scale": 0.5}, "'llama.attention.scale' is 0.5; expected 1 / √16"),
        ({"expert_count": 8}, "'llama' with experts is not known"),
        ({"vocab_size": 99}, "the vocabulary has 99 tokens, and 'token_embd.weight' has 100 rows"),
        ({"tensor_data_layout": "reference"}, "'llama.tensor_data_layout'"),
        (
            {"attention.sliding_window": "x"},
            "'llama.attention.sliding_window' of the GGUF metadata is 'x'; expected an",
        ),
    ):
        with pytest.raises(ModelError, match=name):
            frequencies(tmp_path, **metadata)
    known = {"attention.causal": True, "attention.scale": 0.25, "expert_count": 0, "vocab_size": 100}
    assert frequencies(tmp_path, **known, **{"rope.scaling.finetuned": True}) == 1


def test_metadata_of_other_files():
    shapes = {"token_embd.weight": (100, 64)}
    metadata = {
        "general.architecture": "llama",
        "general.type": "model",
        "general.license": "mit",
        "quantize.imatrix.file": "x",
        "tokenizer.ggml.model": "gpt2",
        "llama.embedding_length": 64,
        "llama.block_count": 2,
        "llama.feed_forward_length": [96, 96],
        "llama.attention.head_count": [4, 4],
        "llama.attention.head_count_kv": [2, 2],
        "llama.context_length": 128,
        "llama.attention.layer_norm_rms_epsilon": 1e-5,
    }
    config = LlamaConfig.from_gguf(metadata, shapes)
    assert (config.num_heads, config.num_kv_heads, config.intermediate_size) == (4, 2, 96)
    for changes, message in (
        ({"general.type": "adapter"}, "'general.type' of the GGUF metadata is 'adapter'; expected 'model'"),
        ({"general.quantization_version": 1}, "'general.quantization_version'"),
        ({"qwen2.block_count": 2}, "'qwen2.block_count' .* does not belong to a model of architecture 'llama'"),
        ({"llama.attention.head_count_kv": [2, 1]}, "the same for all layers"),
        ({"llama.block_count": float("inf")}, "'llama.block_count' of the GGUF metadata is inf; expected an integer"),
        ({"llama.rope.dimension_count": 0}, "rope_dim is 0; expected a positive integer"),
    ):
        with pytest.raises(ModelError, match=message):
            LlamaConfig.from_gguf({**metadata, **changes}, shapes)
    for embedding in ({}, {"token_embd.weight": ()}):
        with pytest.raises(WeightError, match="lacks the tensor 'token_embd.weight'"):
            LlamaConfig.from_gguf(metadata, embedding)


# Biases in a file are used, for any architecture.
def test_biases_of_gguf(tmp_path):
    for biases in (PROJECTIONS, ("o_proj",), ("q_proj", "down_proj")):
        config = dataclasses.replace(CONFIG, biases=biases)
        checkpoint = models.open_checkpoint(write_gguf(tmp_path / "x.gguf", random_weights(config), config))
        assert checkpoint.config().biases == biases
    # A bias that only some layers have is not ignored.
    weights = random_weights(config)
    del weights["blk.1.ffn_down.bias"]
    with pytest.raises(WeightError, match=r"lacks 1 of the model's tensors: model.layers.1.mlp.down_proj.bias"):
        models.build(write_gguf(tmp_path / "x.gguf", weights, config))


# --- configurations of exported models


def test_configurations_are_checked():
    values = dataclasses.asdict(CONFIG)
    assert LlamaConfig.from_json({**values, "biases": ["q_proj"]}).biases == ("q_proj",)
    for changes, message in (
        ({"num_layers": True}, "num_layers is True; expected a positive integer"),
        ({"rope_theta": None}, "rope_theta is None; expected a number"),
        ({"rope_layout": "other"}, "rope_layout is 'other'; expected one of half_split, interleaved"),
        ({"rope_factors": [0.0] * 8}, "rope_factors has 0.0; expected positive numbers"),
        ({"rope_factors": []}, r"rope_factors is \(\); expected a tuple of numbers, or none"),
        ({"biases": ["x"]}, "biases has 'x'; expected some of q_proj"),
        ({"rms_norm_eps": -1}, "rms_norm_eps is -1"),
        ({"head_dim": 1 << 40, "rope_dim": None}, "head_dim is 1099511627776; expected at most"),
        ({"more": 1}, "'more' is not a field"),
    ):
        with pytest.raises(ModelError, match=message):
            LlamaConfig.from_json({**values, **changes})
    del values["hidden_size"]
    with pytest.raises(ModelError, match="has no 'hidden_size'"):
        LlamaConfig.from_json(values)

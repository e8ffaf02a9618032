# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of transformers with random weights, compiled once, against eager mode: sizes of 1, primes and others."""

import copy

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
transformers = pytest.importorskip("transformers", reason="transformers is not installed")

import static_cache  # noqa: E402
import torch_programs as programs  # noqa: E402

from relax_mlir.frontends import torch as relax_torch  # noqa: E402

SIZES = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
DECODER = {
    **SIZES,
    "num_key_value_heads": 2,
    "vocab_size": 128,
    "max_position_embeddings": 256,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
ENCODER = {**SIZES, "vocab_size": 128, "max_position_embeddings": 256}
ROPE = {
    "rope_type": "llama3",
    "rope_theta": 5e5,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64,
}
SEQ2SEQ = {
    "vocab_size": 128,
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 64,
    "decoder_ffn_dim": 64,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "decoder_start_token_id": 1,
}

DECODERS = {
    "Llama": {},
    "Llama 3.1": {"rope_parameters": ROPE},
    "Qwen2": {},
    "Qwen3": {"head_dim": 8},
    "Mistral": {"sliding_window": 4},
    "Phi3": {},
    "Gemma3": {"head_dim": 8, "sliding_window": 4},
    "Mixtral": {"num_local_experts": 4, "num_experts_per_tok": 2},
    "Qwen3Moe": {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32, "head_dim": 8},
    "GPT2": {"n_embd": 32, "n_layer": 2, "n_head": 4},
    "GPTNeoX": {},
    "Falcon": {},
    "Olmo2": {},
    "Granite": {},
    "SmolLM3": {},
}


class Wrapped(torch.nn.Module):
    """A model with its inputs by position and one tensor as its result."""

    def __init__(self, model, names, output, **flags):
        super().__init__()
        self.model, self.names, self.output, self.flags = model, names, output, flags

    def forward(self, *args):
        return getattr(self.model(**dict(zip(self.names, args)), **self.flags), self.output)


def build(class_name, config_name, options):
    kind = getattr(transformers, class_name)
    config = getattr(transformers, config_name)(**options)
    config._attn_implementation = "sdpa" if kind._supports_sdpa else "eager"
    return kind(config).eval()


def ids(*shape):
    return torch.randint(3, 127, shape)


def others(names):
    """Marks all cases but the first as `more`, since the first one covers the same kind of model."""
    first, *rest = names
    return [first, *(pytest.param(name, marks=pytest.mark.more) for name in rest)]


@pytest.mark.parametrize("name", others(DECODERS))
def test_decoders(name):
    kind = name.partition(" ")[0]
    class_name = "GPT2LMHeadModel" if kind == "GPT2" else f"{kind}ForCausalLM"
    config_name = "Gemma3TextConfig" if kind == "Gemma3" else f"{kind}Config"
    model = build(class_name, config_name, {**DECODER, **DECODERS[name]})
    model = Wrapped(model, ["input_ids"], "logits", use_cache=False)
    sizes = ((3, 13), (1, 1), (1, 7), (2, 1), (2, 12))
    programs.compare(model, [ids(2, 11)], *([ids(*size)] for size in sizes), tolerance=1e-4)


ENCODERS = {
    "Bert": {},
    "Roberta": {"pad_token_id": 1},
    "DistilBert": {"dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 64},
}


@pytest.mark.parametrize("name", others(ENCODERS))
def test_encoders(name):
    model = build(f"{name}Model", f"{name}Config", {**ENCODER, **ENCODERS[name]})
    model = Wrapped(model, ["input_ids", "attention_mask"], "last_hidden_state")

    def some(batch, length):
        mask = torch.ones(batch, length, dtype=torch.int64)
        mask[0, length // 2 + 1 :] = 0
        return ids(batch, length), mask

    run = programs.compare(model, some(2, 11), some(3, 13), some(1, 7), some(1, 1), tolerance=1e-4)
    with pytest.raises(ValueError, match="args_1"):
        run(ids(2, 5), torch.ones(2, 6, dtype=torch.int64))


def test_state_space_models_of_any_length():
    """The recurrence of Mamba is a Python loop in transformers, which tracing unrolls."""
    config = transformers.MambaConfig(**DECODER | {"state_size": 8})
    model = Wrapped(transformers.MambaForCausalLM(config).eval(), ["input_ids"], "logits", use_cache=False)
    sizes = ((3, 13), (1, 1), (1, 7), (2, 1), (2, 12))
    programs.compare(model, [ids(2, 11)], *([ids(*size)] for size in sizes), tolerance=1e-4)


@pytest.mark.more
@pytest.mark.parametrize("name", ["T5", "Bart"])
def test_sequence_to_sequence(name):
    options = SEQ2SEQ | {"max_position_embeddings": 256}
    if name == "T5":
        options = {"vocab_size": 128, "d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4}
        options["decoder_start_token_id"] = 0
    model = build(f"{name}ForConditionalGeneration", f"{name}Config", options)
    model = Wrapped(model, ["input_ids", "decoder_input_ids"], "logits", use_cache=False)
    sizes = ((3, 13, 2), (1, 7, 1), (1, 1, 1), (2, 5, 9))
    pairs = [(ids(batch, length), ids(batch, count)) for batch, length, count in sizes]
    programs.compare(model, (ids(2, 11), ids(2, 5)), *pairs, tolerance=1e-4)


@pytest.mark.more
def test_images_of_any_size():
    config = {**SIZES, "image_size": 32, "patch_size": 8}
    model = build("ViTModel", "ViTConfig", config)
    model = Wrapped(model, ["pixel_values"], "last_hidden_state", interpolate_pos_encoding=True)
    dim = torch.export.Dim.AUTO
    shapes = (({0: dim, 2: dim, 3: dim},),)
    images = [torch.randn(batch, 3, h, w) for batch, h, w in ((2, 40, 56), (1, 24, 40), (3, 64, 24))]
    run = programs.compare(model, images[:1], *([x] for x in images), shapes=shapes, tolerance=1e-4)
    # The training size takes another branch, which needs another program.
    with pytest.raises(ValueError, match="!= 16"):
        run(torch.randn(1, 3, 32, 32))


def test_static_cache_that_is_written_in_place():
    config = transformers.LlamaConfig(**DECODER | {"num_hidden_layers": 1})
    config._attn_implementation = "sdpa"
    model = transformers.LlamaForCausalLM(config).eval()
    run = static_cache.program(model, "batch", "capacity").compile(cached=False)
    tokens, keys, values = ids(1, 7), *(static_cache.caches(model, 1, 11) for _ in range(2))
    places = [tensor.data_ptr() for tensor in (*keys, *values)]
    with torch.no_grad():
        expected = model(tokens, use_cache=False).logits
    made = [run(tokens[:, :4], torch.tensor(0), keys, values)]
    made += [run(tokens[:, at : at + 1], torch.tensor(at), keys, values) for at in range(4, 7)]
    torch.testing.assert_close(torch.cat(made, 1), expected, rtol=1e-4, atol=1e-4)
    assert places == [tensor.data_ptr() for tensor in (*keys, *values)]
    # The code writes to the caches themselves, so that nothing has to be copied back.
    written = [entry["name"] for entry in run.executable.code.functions["main"]["parameters"] if entry.get("written")]
    assert written == ["keys_0", "values_0"]
    assert keys[0][:, :, :7].abs().amin() > 0 and not keys[0][:, :, 7:].any()


def test_a_cache_that_grows():
    """A cache object of transformers is an input and an output, and grows with each call."""
    from transformers.integrations.executorch import register_dynamic_cache_export_support

    register_dynamic_cache_export_support()
    config = transformers.LlamaConfig(**DECODER)
    config._attn_implementation = "sdpa"
    model = transformers.LlamaForCausalLM(config).eval()

    class Step(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, input_ids, cache):
            return self.model(input_ids, past_key_values=cache).logits, cache

    tokens = ids(2, 11)
    cache = transformers.DynamicCache(config=config)
    with torch.no_grad():
        expected = model(tokens).logits
        model(tokens[:, :5], past_key_values=cache)
    dim = torch.export.Dim.AUTO
    sizes = [{0: dim, 2: dim}] * 2
    shapes = {"input_ids": {0: dim, 1: dim}, "cache": [sizes, sizes]}
    example = (ids(2, 3), copy.deepcopy(cache))
    run = relax_torch.export(Step().eval(), example, dynamic_shapes=shapes).compile(cached=False)
    made = []
    for first, last in ((5, 8), (8, 9), (9, 10), (10, 11)):
        logits, cache = run(tokens[:, first:last], cache)
        made.append(logits)
    assert isinstance(cache, transformers.DynamicCache) and cache.get_seq_length() == 11
    torch.testing.assert_close(torch.cat(made, 1), expected[:, 5:], rtol=1e-4, atol=1e-4)

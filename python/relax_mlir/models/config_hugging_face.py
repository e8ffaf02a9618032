# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`config.json` of a Hugging Face model as a `LlamaConfig`, with the meaning that transformers 5 gives each field.

Missing fields have the defaults of the architecture's class there. Fields that this class ignores are irrelevant here
too: Qwen2 has query, key and value biases whatever `attention_bias` says.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

from ..errors import ModelError
from .config import PROJECTIONS, LlamaConfig
from .fields import Fields


@dataclasses.dataclass(frozen=True)
class _Family:
    """Properties that the classes of an architecture fix, and their defaults for missing fields."""

    model_type: str
    biases: tuple[str, ...] = ()
    attention_bias: bool = False
    """Whether `attention_bias` is used; likewise for `mlp_bias`."""
    mlp_bias: bool = False
    qk_norm: bool = False
    kv_heads: int | None = None
    head_dim: int | None = None
    context_length: int = 32768
    window: int | None = None
    window_is_optional: bool = False
    """Whether the window is used only with `use_sliding_window`."""
    has_window: bool = True
    """Whether `sliding_window` is used."""


_FAMILIES = {
    "LlamaForCausalLM": _Family("llama", attention_bias=True, mlp_bias=True, context_length=2048, has_window=False),
    "MistralForCausalLM": _Family("mistral", kv_heads=8, context_length=131072, window=4096),
    "Qwen2ForCausalLM": _Family("qwen2", PROJECTIONS[:3], kv_heads=32, window=4096, window_is_optional=True),
    "Qwen3ForCausalLM": _Family(
        "qwen3", attention_bias=True, qk_norm=True, kv_heads=32, head_dim=128, window=4096, window_is_optional=True
    ),
}

# Fields that do not affect the computation: the origin of a file, training, sampling, and settings of other classes and
# programs.
_IRRELEVANT = """
    _name_or_path name_or_path transformers_version transformers.js_config auto_map torch_dtype dtype use_cache
    unsloth_version unsloth_fixed is_llama_config attn_implementation _attn_implementation
    _attn_implementation_autoset _flash_attn_2_enabled use_flash_attn torchscript use_bfloat16 tf_legacy_loss
    initializer_range initializer_factor init_std attention_dropout hidden_dropout resid_dropout resid_pdrop embd_pdrop
    attn_pdrop dropout residual_dropout classifier_dropout layerdrop gradient_checkpointing pretraining_tp
    output_router_logits router_aux_loss_coef output_attentions output_hidden_states return_dict problem_type id2label
    label2id num_labels chunk_size_feed_forward is_decoder tie_encoder_decoder finetuning_task task_specific_params
    prefix tokenizer_class bos_token_id eos_token_id pad_token_id unk_token_id sep_token_id cls_token_id mask_token_id
    decoder_start_token_id forced_bos_token_id forced_eos_token_id suppress_tokens begin_suppress_tokens bad_words_ids
    max_length min_length max_new_tokens max_sequence_length model_max_length seq_length do_sample early_stopping
    num_beams num_beam_groups diversity_penalty temperature top_k top_p min_p typical_p repetition_penalty
    length_penalty no_repeat_ngram_size encoder_no_repeat_ngram_size num_return_sequences output_scores
    return_dict_in_generate remove_invalid_values exponential_decay_length_penalty cache_implementation
""".split()

# Fields that are supported with one value only: other values would need features that are missing.
_EXPECTED: dict[str, tuple[object, ...]] = {
    "hidden_act": ("silu", "swish"),
    "is_encoder_decoder": (False,),
    "add_cross_attention": (False,),
    "pruned_heads": ({},),
    "rope_interleaved": (False,),
    "use_mrope": (False,),
}


def read_config(config: Mapping[str, Any]) -> LlamaConfig:
    """The configuration in `config.json`.

    Raises:
      ModelError: a field is missing, invalid, or unknown.
    """
    fields = Fields(config, "config.json")
    family = _family(fields)
    for key in ("quantization_config", "compression_config"):
        _refuse_quantisation(fields.get(key))
    for key, allowed in _EXPECTED.items():
        fields.expect(key, *allowed)
    heads, hidden = fields.integer("num_attention_heads"), fields.integer("hidden_size")
    head_dim = fields.integer("head_dim", None if fields.has("head_dim") else family.head_dim)
    if head_dim is None:
        head_dim = hidden // max(heads, 1)
    kv_heads = fields.integer("num_key_value_heads", None if fields.has("num_key_value_heads") else family.kv_heads)
    layers = fields.integer("num_hidden_layers")
    context = fields.integer("max_position_embeddings", family.context_length)
    biases = list(family.biases)
    if fields.flag("attention_bias", False) and family.attention_bias:
        biases += PROJECTIONS[:4]
    if fields.flag("mlp_bias", False) and family.mlp_bias:
        biases += PROJECTIONS[4:]
    theta, scale, factors = _rope(fields, head_dim, context)
    result = LlamaConfig(
        vocab_size=fields.integer("vocab_size"),
        hidden_size=hidden,
        intermediate_size=fields.integer("intermediate_size"),
        num_layers=layers,
        num_heads=heads,
        num_kv_heads=heads if kv_heads is None else kv_heads,
        head_dim=head_dim,
        context_length=context,
        rms_norm_eps=fields.number("rms_norm_eps", 1e-6),
        rope_theta=theta,
        rope_dim=head_dim,
        rope_scale=scale,
        rope_factors=factors,
        tie_embeddings=fields.flag("tie_word_embeddings", False),
        biases=tuple(biases),
        qk_norm=family.qk_norm,
        sliding_window=_window(fields, family, layers),
        name=fields.text("_name_or_path", ""),
    )
    fields.ignore(_IRRELEVANT)
    fields.finish()
    return result


def _family(fields: Fields) -> _Family:
    """The family by `architectures`, or by `model_type` if the file has no architectures."""
    known = ", ".join(_FAMILIES)
    names, model_type = fields.get("architectures"), fields.text("model_type", None)
    names = [] if names is None else names
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ModelError(f"'architectures' of config.json is {names!r}; expected a list of names, known are {known}")
    if not names:
        names = [name for name, family in _FAMILIES.items() if family.model_type == model_type]
    if not names or any(name not in _FAMILIES for name in names):
        found = ", ".join(names) or (f"none, and the model_type '{model_type}'" if model_type else "none")
        raise ModelError(f"unknown architecture: config.json names {found}; known are {known}")
    family = _FAMILIES[names[0]]
    if len(set(names)) > 1 or model_type not in (None, family.model_type):
        raise ModelError(
            f"config.json names the architectures {', '.join(names)} and the model_type '{model_type}'; "
            "expected those of one model"
        )
    return family


def _refuse_quantisation(description: Any) -> None:
    if description is None:
        return
    method = description.get("quant_method") if isinstance(description, Mapping) else description
    raise ModelError(
        f"the weights are quantised by the method {method!r}, which is not known; "
        "use the model's weights in f32, f16 or bf16, or a GGUF file of it"
    )


def _window(fields: Fields, family: _Family, layers: int) -> int | None:
    """The attention window of any layer; None if all layers see everything."""
    given = fields.integer("sliding_window", None if fields.has("sliding_window") else family.window)
    used = fields.flag("use_sliding_window", not family.window_is_optional)
    first = fields.integer("max_window_layers", 28)
    kinds = fields.get("layer_types")
    if given is not None and used and given < 1:
        raise ModelError(f"'sliding_window' of config.json is {given}; expected a positive integer, or null")
    if kinds is None:
        slides = family.has_window and used and (first < layers or not family.window_is_optional)
        return given if slides else None
    names = ("full_attention", "sliding_attention")
    if not isinstance(kinds, list) or len(kinds) != layers or any(kind not in names for kind in kinds):
        raise ModelError(
            f"'layer_types' of config.json is {str(kinds)[:80]}; expected one of {', '.join(names)} "
            f"for each of {layers} layers"
        )
    if names[1] in kinds and (given is None or not used):
        raise ModelError("'layer_types' of config.json has sliding_attention, and there is no sliding_window")
    return given if names[1] in kinds or (family.has_window and not family.window_is_optional) else None


# --- rotary embeddings


def _rope(fields: Fields, head_dim: int, context: int) -> tuple[float, float, tuple[float, ...] | None]:
    """The base of angles, the factor of positions, and the divisors of angles."""
    found = [(key, fields.get(key)) for key in ("rope_parameters", "rope_scaling")]
    given: list[tuple[str, Mapping[str, Any]]] = []
    for key, value in found:
        if value in (None, {}) and not isinstance(value, bool):
            continue
        if not isinstance(value, Mapping):
            raise ModelError(f"'{key}' of config.json is {value!r}; expected an object")
        given.append((key, value))
    if len(given) == 2 and given[0][1] != given[1][1]:
        raise ModelError("'rope_parameters' and 'rope_scaling' of config.json differ; expected one of them")
    key, values = given[0] if given else ("rope_parameters", {})
    rope = Fields(values, f"{key} of config.json")

    def agreed(name: str, one: Any, other: Any) -> Any:
        if one is not None and other is not None and one != other:
            raise ModelError(f"config.json has two values of {name}, {one!r} and {other!r}; expected one")
        return other if one is None else one

    kind = agreed("rope_type", rope.text("rope_type", None), rope.text("type", None)) or "default"
    theta = agreed("rope_theta", rope.number("rope_theta", None), fields.number("rope_theta", None))
    theta = 10000.0 if theta is None else theta
    partial = agreed(
        "partial_rotary_factor",
        rope.number("partial_rotary_factor", None),
        fields.number("partial_rotary_factor", None),
    )
    # In these architectures, the default embedding rotates whole heads; the other embeddings do not support a part.
    if kind != "default" and partial not in (None, 1.0):
        raise ModelError(f"partial_rotary_factor of config.json is {partial}; with the type '{kind}' expected 1")
    if theta <= 0:
        raise ModelError(f"'rope_theta' of config.json is {theta}; expected a positive number")
    scale, factors = 1.0, None
    if kind == "linear":
        scale = 1.0 / _positive(rope, "factor")
    elif kind == "llama3":
        factors = _llama3(rope, theta, head_dim, context)
    elif kind != "default":
        raise ModelError(f"rope_scaling of type '{kind}' is not known; known are default, linear and llama3")
    rope.finish()
    return theta, scale, factors


def _llama3(rope: Fields, theta: float, head_dim: int, context: int) -> tuple[float, ...]:
    factor, low, high = (_positive(rope, key) for key in ("factor", "low_freq_factor", "high_freq_factor"))
    if high <= low:
        raise ModelError(f"high_freq_factor of config.json is {high}; expected more than low_freq_factor, {low}")
    original = _positive(rope, "original_max_position_embeddings", context)
    factors = []
    for pair in range(min(head_dim, 1 << 16) // 2):  # longer heads are rejected later
        # Waves longer than the trained context are stretched, short ones stay, and waves in between change smoothly.
        wavelength = 2 * math.pi * theta ** (2 * pair / head_dim)
        smooth = min(max((original / wavelength - low) / (high - low), 0.0), 1.0)
        factors.append(1.0 / ((1 - smooth) / factor + smooth))
    return tuple(factors)


def _positive(rope: Fields, key: str, *default: float) -> float:
    value = rope.number(key, *default)
    if not 1e-30 < value < 1e30:
        raise ModelError(f"'{key}' of the rotary embedding is {value!r}; expected a positive number")
    return value

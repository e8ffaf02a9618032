# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tokenizers from the metadata of GGUF files, which produce the same tokens as llama.cpp for the same file.

`tokenizer.ggml.model` selects the algorithm: `gpt2` merges bytes in the order of a list, `llama` merges
characters by the scores of the merged tokens. Known differences from llama.cpp: `qwen2` and `qwen35` compose characters
(NFC), as the models' own tokenizers do; `add_eos_token` is ignored, since an ended prompt would not be continued.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import TokenizerError
from .checkpoint import require
from .fields import Fields
from .pre_tokenizers import pre_tokenizer
from .tokenizer import Tokenizer, ends_of_answers

# Types of tokens in GGUF.
_NORMAL, _UNKNOWN, _CONTROL, _USER_DEFINED, _UNUSED, _BYTE = range(1, 7)

# Special tokens: the names that templates use, and the names of GGUF's keys.
_SPECIAL = {
    "bos": "bos",
    "eos": "eos",
    "unk": "unknown",
    "sep": "seperator",  # GGUF's spelling
    "pad": "padding",
    "cls": "cls",
    "mask": "mask",
}
# Their ids in SentencePiece's files, if the metadata have none.
_SENTENCE_PIECE = {"unk": 0, "bos": 1, "eos": 2}

# Keys for other uses of a model: fill-in-the-middle, parts of a chat, text classification. `remove_extra_whitespaces`
# and `precompiled_charsmap` belong to other kinds of tokenizers.
_IRRELEVANT = """
    add_sep_token token_type_count remove_extra_whitespaces precompiled_charsmap prefix_token_id suffix_token_id
    middle_token_id fim_pre_token_id fim_suf_token_id fim_mid_token_id fim_pad_token_id fim_rep_token_id
    fim_sep_token_id
""".split()


def tokenizer_from_gguf(metadata: Mapping[str, Any]) -> Tokenizer:
    """The tokenizer of a GGUF file.

    Raises:
      TokenizerError: the metadata have no tokenizer or one of an unknown kind, or are damaged.
    """

    fields = Fields(metadata, "the GGUF metadata", "tokenizer.ggml.", TokenizerError)
    tokens, model = fields.get("tokens"), fields.get("model")
    if not isinstance(tokens, list) or not tokens or not all(isinstance(token, str) for token in tokens):
        raise TokenizerError("the file has no tokenizer: 'tokenizer.ggml.tokens' is missing")
    if model not in ("gpt2", "llama"):
        raise TokenizerError(f"tokenizer.ggml.model is {model!r}; known are gpt2 and llama")
    tokens = [token or f"[EMPTY_{i}]" for i, token in enumerate(tokens)]
    vocabulary = {token: i for i, token in enumerate(tokens)}
    if len(vocabulary) < len(tokens):
        twice = next(token for i, token in enumerate(tokens) if vocabulary[token] != i)
        raise TokenizerError(f"'tokenizer.ggml.tokens' is damaged: it has the token {twice!r} twice")
    types = _types(fields.get("token_type"), tokens)
    merges, scores = fields.get("merges"), fields.get("scores")

    def token(name: str, default: int | None = None) -> int | None:
        identifier = fields.integer(f"{name}_token_id", default)
        if identifier is None:
            return None
        if not 0 <= identifier < len(tokens):
            raise TokenizerError(f"{name}_token_id is {identifier!r}; the vocabulary has {len(tokens)} tokens")
        return identifier

    defaults = _SENTENCE_PIECE if model == "llama" and len(tokens) > 2 else {}
    special = {name: token(key, defaults.get(name)) for name, key in _SPECIAL.items()}
    bos = special["bos"]
    pre, prefix = fields.text("pre", "default"), fields.flag("add_space_prefix", True)
    if model == "gpt2":
        tokenizer, begins = _byte_level(vocabulary, merges, pre), pre_tokenizer(pre).begins
    else:
        unknown = special["unk"] if special["unk"] is not None else 0
        tokenizer, begins = _sentence_piece(tokens, types, scores, unknown, prefix), True
    stops, shown = ends_of_answers(vocabulary)
    stops.update(stop for stop in (special["eos"], token("eot"), token("eom")) if stop is not None)
    _add_special(tokenizer, tokens, types, stops, shown)
    begins = fields.flag("add_bos_token", begins)
    fields.flag("add_eos_token", None)
    fields.expect("treat_whitespace_as_suffix", False)
    fields.ignore(_IRRELEVANT)
    fields.finish()
    return Tokenizer(
        tokenizer,
        stop_ids=stops,
        bos_id=bos if begins else None,
        special_tokens={f"{name}_token": tokens[i] for name, i in special.items() if i is not None},
        pad_id=special["pad"],
        chat_templates=_templates(metadata),
    )


def _types(types: Any, tokens: list[str]) -> list[int]:
    if types is None:
        return [_NORMAL] * len(tokens)
    if not isinstance(types, list) or len(types) < len(tokens):
        raise TokenizerError(
            f"'tokenizer.ggml.token_type' has {len(types) if isinstance(types, list) else 'no'} entries; "
            f"expected one for each of {len(tokens)} tokens"
        )
    return types[: len(tokens)]


def _add_special(tokenizer: Any, tokens: list[str], types: list[int], stops: set[int], shown: set[int]) -> None:
    """Adds tokens that are matched as a whole in text: control tokens and user-defined tokens.

    Tokens that end an answer count as control tokens, whatever their type: files by older converters mark them as
    normal tokens, and the end of a turn would be split into letters.
    """
    tokenizers = require("tokenizers")
    special: list[Any] = []
    plain: list[Any] = []
    for i, (token, kind) in enumerate(zip(tokens, types)):
        if i in shown:
            kind = _USER_DEFINED
        elif i in stops:
            kind = _CONTROL
        if kind in (_CONTROL, _UNKNOWN, _USER_DEFINED):
            is_special = kind != _USER_DEFINED
            added = tokenizers.AddedToken(token, normalized=False, special=is_special)
            (special if is_special else plain).append(added)
    tokenizer.add_special_tokens(special)
    tokenizer.add_tokens(plain)


def _templates(metadata: Mapping[str, Any]) -> dict[str, str]:
    """Chat templates by name."""
    prefix = "tokenizer.chat_template"
    templates = {"default": metadata[prefix]} if prefix in metadata else {}
    templates |= {key[len(prefix) + 1 :]: metadata[key] for key in metadata if key.startswith(prefix + ".")}
    for name, template in templates.items():
        if not isinstance(template, str):
            raise TokenizerError(f"the chat template '{name}' is a {type(template).__name__}; expected text")
    return templates


def _byte_level(vocabulary: dict[str, int], merges: Any, pre: str) -> Any:
    """Byte-level BPE, as in GPT-2."""
    tokenizers = require("tokenizers")
    pre_tokenizers = tokenizers.pre_tokenizers
    kind = pre_tokenizer(pre)
    if not isinstance(merges, list):
        raise TokenizerError("the file has no tokenizer: 'tokenizer.ggml.merges' is missing")
    pairs = [tuple(merge.split(" ")) if isinstance(merge, str) else () for merge in merges]
    if any(len(pair) != 2 for pair in pairs):
        raise TokenizerError("'tokenizer.ggml.merges' is damaged: a merge is two tokens with a space between them")
    try:
        model = tokenizers.models.BPE(vocabulary, pairs, ignore_merges=kind.ignore_merges)
    except Exception as error:  # the package raises nothing narrower
        raise TokenizerError(f"the tokenizer's merges do not fit its tokens: {error}") from None
    tokenizer = tokenizers.Tokenizer(model)
    cuts = [pre_tokenizers.Split(tokenizers.Regex(pattern), "isolated") for pattern in kind.patterns]
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [*cuts, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    if kind.composed:
        tokenizer.normalizer = tokenizers.normalizers.NFC()
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    return tokenizer


def _sentence_piece(tokens: list[str], types: Sequence[int], scores: Any, unknown: int, prefix: Any) -> Any:
    """BPE over characters with scores, as in Llama 2; characters without a token are encoded as bytes."""
    tokenizers = require("tokenizers")
    normalizers, decoders = tokenizers.normalizers, tokenizers.decoders
    if not isinstance(scores, list) or len(scores) != len(tokens):
        raise TokenizerError("'tokenizer.ggml.scores' is missing, or has another length than the tokens")
    vocabulary = {token: i for i, token in enumerate(tokens)}
    # Text is not merged into tokens with another meaning: control tokens and bytes.
    made = {token for token, kind in zip(tokens, types) if kind not in (_CONTROL, _UNKNOWN, _BYTE)}
    # One merge for each split of a token into two others, in the order of the tokens' scores.
    merges = []
    for i, token in enumerate(tokens):
        halves = ((token[:at], token[at:]) for at in range(1, len(token) if token in made else 0))
        known = [(left, right) for left, right in halves if left in made and right in made]
        known.sort(key=lambda pair: (vocabulary[pair[0]], vocabulary[pair[1]]))
        merges += [(-scores[i], i, pair) for pair in known]
    merges.sort(key=lambda merge: merge[:2])
    model = tokenizers.models.BPE(
        vocabulary, [pair for _, _, pair in merges], unk_token=tokens[unknown], fuse_unk=True, byte_fallback=True
    )
    tokenizer = tokenizers.Tokenizer(model)
    space = normalizers.Replace(" ", "▁")
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), space]) if prefix else space
    steps = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    tokenizer.decoder = decoders.Sequence(steps + ([decoders.Strip(" ", 1, 0)] if prefix else []))
    return tokenizer

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The rules by which byte-level tokenizers split text before merging bytes, under their GGUF names.

`tokenizer.ggml.pre` names a model's tokenizer rather than a rule, so many names map to one rule:

  name -> kind: patterns, and other properties of the tokenizer

The patterns are applied one after another; each splits the pieces of the previous ones, and the text between two
matches is a piece, too. test/python/references has llama.cpp's tokens for each kind.
"""

from __future__ import annotations

import dataclasses

from ..errors import TokenizerError

_CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_WORDS = r"[^\r\n\p{L}\p{N}]?\p{L}+"
_SPACES = r"\s*[\r\n]+|\s+(?!\S)|\s+"
_REST = rf" ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|{_SPACES}"
_GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"

# Words whose case may change once, from upper to lower.
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_CASED = tuple(rf"[^\r\n\p{{L}}\p{{N}}]?{word}" for word in (f"{_UPPER}*{_LOWER}+", f"{_UPPER}+{_LOWER}*"))
_CASED_REST = rf" ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_SPACES}"

_ASCII_PUNCTUATION = r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~]"
_SENTENCE_MARKS = r" ?[^(\s|.,!?…。，、।۔،)]+"


@dataclasses.dataclass(frozen=True)
class PreTokenizer:
    """A rule to split text, and other properties that its name implies."""

    patterns: tuple[str, ...]
    ignore_merges: bool = False
    """Whether a piece that is a token becomes that token even if no merges lead to it."""
    begins: bool = False
    """Whether texts begin with a BOS token if the file does not say."""
    composed: bool = False
    """Whether characters are composed first (Unicode NFC)."""


_LLAMA3 = (f"{_CONTRACTIONS}|{_WORDS}|\\p{{N}}{{1,3}}|{_REST}",)
_QWEN2 = (f"{_CONTRACTIONS}|{_WORDS}|\\p{{N}}|{_REST}",)
_DEEPSEEK3_WORDS = (
    rf"{_ASCII_PUNCTUATION}[A-Za-z]+|[^\r\n\p{{L}}\p{{P}}\p{{S}}]?[\p{{L}}\p{{M}}]+"
    rf"| ?[\p{{P}}\p{{S}}]+[\r\n]*|{_SPACES}"
)

_KINDS: tuple[tuple[str, PreTokenizer], ...] = (
    (
        "llama-bpe llama3 llama-v3 falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano",
        PreTokenizer(_LLAMA3, ignore_merges=True, begins=True),
    ),
    ("smaug-bpe dbrx", PreTokenizer(_LLAMA3)),
    ("qwen2", PreTokenizer(_QWEN2, composed=True)),
    ("deepseek-r1-qwen stablelm2 megrez kormo hunyuan solar-open grok-2", PreTokenizer(_QWEN2)),
    (
        "qwen35",
        PreTokenizer(
            (
                rf"{_CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?[\p{{L}}\p{{M}}]+|\p{{N}}"
                rf"| ?[^\s\p{{L}}\p{{M}}\p{{N}}]+[\r\n]*|{_SPACES}",
            ),
            composed=True,
        ),
    ),
    (
        "gpt-2 phi-2 mpt olmo jais trillion exaone4 mellum gigachat granite-docling",
        PreTokenizer((_GPT2,)),
    ),
    (
        "smollm starcoder refact command-r codeshell exaone minerva-7b",
        PreTokenizer((r"\p{N}", _GPT2)),
    ),
    ("falcon", PreTokenizer((r"[\p{P}\$\+<=>\^~\|`]+", _GPT2, "[0-9][0-9][0-9]"))),
    # llama.cpp's default for files without a rule.
    ("default", PreTokenizer((r"[\p{P}\$\+<=>\^~\|]+", _GPT2, r"\p{N}+", "[0-9][0-9][0-9]"))),
    (
        "tekken",
        PreTokenizer((rf"{'|'.join(_CASED)}|\p{{N}}|{_CASED_REST}",), ignore_merges=True, begins=True),
    ),
    (
        "gpt-4o llama4 kanana2 minimax-m2",
        PreTokenizer(
            ("|".join((*(f"{word}{_CONTRACTIONS}?" for word in _CASED), rf"\p{{N}}{{1,3}}|{_CASED_REST}")),),
        ),
    ),
    (
        "deepseek-v3 hunyuan-dense joyai-llm",
        PreTokenizer((r"\p{N}{1,3}", "[一-龥\u3040-ゟ゠-ヿ]+", _DEEPSEEK3_WORDS)),
    ),
    (
        "deepseek-coder",
        PreTokenizer((r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", "[一-龥ࠀ-一가-\ud7ff]+", r"\p{N}")),
    ),
    ("bloom poro-chat gpt3-finnish", PreTokenizer((_SENTENCE_MARKS,))),
    ("viking", PreTokenizer((_SENTENCE_MARKS, r"\p{N}"))),
    (
        "seed-coder",
        PreTokenizer((rf"{_CONTRACTIONS}|{_WORDS}|\p{{N}}| ?[^\s\p{{L}}\p{{N}}\r\n]+|{_SPACES}",)),
    ),
)

PRE_TOKENIZERS = {name: kind for names, kind in _KINDS for name in names.split()}
"""The kinds by their names in GGUF."""


def pre_tokenizer(name: str) -> PreTokenizer:
    """The kind for a GGUF name; an empty name is the default.

    Raises:
      TokenizerError: the name is unknown.
    """
    kind = PRE_TOKENIZERS.get(name or "default")
    if kind is None:
        raise TokenizerError(f"tokenizer.ggml.pre is '{name}'; known are {', '.join(PRE_TOKENIZERS)}")
    return kind

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Text to tokens and back, through the `tokenizers` package; chat templates; tokens that end an answer."""

from __future__ import annotations

import datetime
import functools
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import MissingPackageError, TokenizerError
from .checkpoint import require
from .safetensors import read_json

Message = Mapping[str, str]
"""One turn of a chat: {"role": "user", "content": "..."}."""

_ROLES = ("system", "user", "assistant", "tool")
"""What templates know; a template may have others."""

# Types of tokens in GGUF.
_CONTROL, _USER_DEFINED, _BYTE = 3, 4, 6

_CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_WORDS = r"[^\r\n\p{L}\p{N}]?\p{L}+"
_REST = r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
# How text is cut before tokens are merged, by the name that GGUF has for it.
_SPLITS = {
    "llama-bpe": rf"{_CONTRACTIONS}|{_WORDS}|\p{{N}}{{1,3}}|{_REST}",
    "qwen2": rf"{_CONTRACTIONS}|{_WORDS}|\p{{N}}|{_REST}",
}
_SPLIT_NAMES = {"llama3": "llama-bpe", "llama-v3": "llama-bpe", "smaug-bpe": "llama-bpe"}
_DIGITS = ("smollm", "starcoder", "refact", "command-r")
_GPT2 = ("gpt-2", "default")

# Control tokens that end a turn, under the names that chat templates use.
_ENDS = ("<|im_end|>", "<|eot_id|>", "<|end|>", "<|endoftext|>", "<|end_of_text|>", "<end_of_turn>", "</s>")


class Tokenizer:
    """A tokeniser with what belongs to it.

    Attributes:
      stop_ids: the tokens after which an answer is over.
      bos_id: the token that begins a text; None where texts begin with none.
      pad_id: what fills a batch.
      chat_template: a template of Jinja, empty where the model has none.
    """

    def __init__(
        self,
        tokenizer: Any,
        *,
        stop_ids: Iterable[int] = (),
        bos_id: int | None = None,
        bos_token: str = "",
        eos_token: str = "",
        pad_id: int | None = None,
        chat_template: str = "",
    ) -> None:
        self._tokenizer = tokenizer
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self.stop_ids = frozenset(stop_ids)
        self.bos_id = bos_id
        self.pad_id = pad_id if pad_id is not None else min(self.stop_ids, default=0)
        self.chat_template = chat_template
        self._names = {"bos_token": bos_token, "eos_token": eos_token}

    def __len__(self) -> int:
        return self._tokenizer.get_vocab_size()

    def encode(self, text: str, *, bos: bool = True, special: bool = True) -> list[int]:
        """The tokens of a text.

        Args:
          bos: begin with the token that begins texts, where the model has one.
          special: read control tokens where the text has their names; for text from elsewhere, False.
        """
        if not isinstance(text, str):
            raise TokenizerError(f"expected text to encode, got {type(text).__name__}")
        if any("\ud800" <= character <= "\udfff" for character in text):
            raise TokenizerError(
                "the text holds surrogates, which are no characters: it was read with the wrong encoding"
            )
        self._tokenizer.encode_special_tokens = not special
        ids = self._tokenizer.encode(text, add_special_tokens=False).ids
        if bos and self.bos_id is not None and ids[:1] != [self.bos_id]:
            return [self.bos_id, *ids]
        return ids

    def decode(self, ids: Sequence[int], *, special: bool = False) -> str:
        """The text of tokens; `special` shows control tokens, too."""
        return self._tokenizer.decode(list(map(int, ids)), skip_special_tokens=not special)

    def stream(self) -> TextStream:
        """Decodes tokens one by one."""
        return TextStream(self)

    def apply_chat_template(self, messages: Sequence[Message], *, add_generation_prompt: bool = True) -> str:
        """A chat as the text that the model was trained on."""
        if not self.chat_template:
            raise TokenizerError("the model has no chat template: it continues text, but was not trained to chat")
        for index, message in enumerate(messages):
            if not isinstance(message, Mapping) or not {"role", "content"} <= message.keys():
                raise TokenizerError(f"message {index} is {message!r}; expected a 'role' and a 'content'")
            role, content = message["role"], message["content"]
            if role not in _ROLES and not (isinstance(role, str) and _names(self.chat_template, role)):
                raise TokenizerError(
                    f"message {index} has the role {role!r}, which the model's chat template does not know; "
                    f"roles are {', '.join(_ROLES)}"
                )
            if not isinstance(content, str):
                raise TokenizerError(f"message {index} has a content of type {type(content).__name__}; expected text")
        try:
            return _template(self.chat_template).render(
                messages=messages, add_generation_prompt=add_generation_prompt, **self._names
            )
        except MissingPackageError:
            raise
        except Exception as error:  # whatever the code of a template raises
            raise TokenizerError(f"the chat template fails: {error}") from None

    def encode_chat(self, messages: Sequence[Message]) -> list[int]:
        """The tokens of a chat, up to where the model answers."""
        # Templates write the token that begins texts themselves.
        return self.encode(self.apply_chat_template(messages), bos=False)

    # --- where tokenisers come from

    @staticmethod
    def from_gguf(metadata: Mapping[str, Any]) -> Tokenizer:
        """From the metadata of a GGUF file."""
        return _from_gguf(metadata)

    @staticmethod
    def from_folder(path: str | Path) -> Tokenizer:
        """From tokenizer.json and the files beside it."""
        path = Path(path)
        tokenizers = require("tokenizers")
        if not (path / "tokenizer.json").is_file():
            raise TokenizerError(f"'{path}' has no tokenizer.json")
        try:
            tokenizer = tokenizers.Tokenizer.from_file(str(path / "tokenizer.json"))
        except Exception as error:  # the package raises nothing narrower
            raise TokenizerError(f"'{path / 'tokenizer.json'}' cannot be read: {error}") from None

        def beside(name: str) -> dict[str, Any]:
            return read_json(path / name) if (path / name).is_file() else {}

        config, generation = beside("tokenizer_config.json"), beside("generation_config.json")
        bos, eos = (_content(config.get(f"{name}_token")) for name in ("bos", "eos"))
        ends = generation.get("eos_token_id", beside("config.json").get("eos_token_id"))
        stops = {ends} if isinstance(ends, int) else set(ends or ())
        stops |= {tokenizer.token_to_id(eos)} if eos else set()
        template = config.get("chat_template") or ""
        if (path / "chat_template.jinja").is_file():
            template = (path / "chat_template.jinja").read_text(encoding="utf-8")
        if isinstance(template, list):  # several, by name
            template = next((t["template"] for t in template if t.get("name") == "default"), "")
        # The tokeniser itself says whether texts begin with a token.
        begins = bos and tokenizer.encode("a").ids[:1] == [tokenizer.token_to_id(bos)]
        pad = _content(config.get("pad_token"))
        return Tokenizer(
            tokenizer,
            stop_ids=(stops | _ends(tokenizer)) - {None},
            bos_id=tokenizer.token_to_id(bos) if begins else None,
            bos_token=bos,
            eos_token=eos,
            pad_id=tokenizer.token_to_id(pad) if pad else None,
            chat_template=template,
        )

    def save(self, path: str | Path) -> None:
        """Writes tokenizer.json and tokenizer_config.json; `from_folder` reads them."""
        path = Path(path)
        self._tokenizer.encode_special_tokens = False
        self._tokenizer.save(str(path / "tokenizer.json"), pretty=False)
        config = {**self._names, "chat_template": self.chat_template}
        (path / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
        (path / "generation_config.json").write_text(json.dumps({"eos_token_id": sorted(self.stop_ids)}))


class TextStream:
    """Text as its tokens come; bytes of a character are held back until it is whole."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._ids: list[int] = []
        self._shown = 0  # tokens whose text has been given
        self._base = 0  # where the text that decides about spaces begins

    def push(self, token: int) -> str:
        """The text that is complete with this token."""
        self._ids.append(int(token))
        text = self._new_text()
        if text.endswith("\N{REPLACEMENT CHARACTER}"):
            return ""
        self._base, self._shown = self._shown, len(self._ids)
        return text

    def finish(self) -> str:
        """What was held back."""
        text = self._new_text()
        self._shown = self._base = len(self._ids)
        return text

    def _new_text(self) -> str:
        before = self._tokenizer.decode(self._ids[self._base : self._shown])
        return self._tokenizer.decode(self._ids[self._base :])[len(before) :]


def _names(template: str, role: str) -> bool:
    """Whether a template speaks of a role: has it as a string."""
    return bool(role) and any(f"{quote}{role}{quote}" in template for quote in "'\"")


def _content(token: Any) -> str:
    """The text of a token, which files write as a string or with its properties."""
    return str(token.get("content", "")) if isinstance(token, Mapping) else str(token or "")


def _ends(tokenizer: Any) -> set[int]:
    return {identifier for name in _ENDS if (identifier := tokenizer.token_to_id(name)) is not None}


@functools.lru_cache(maxsize=8)
def _template(source: str) -> Any:
    """A compiled template, which can reach nothing but what it is given."""
    jinja2, sandbox = require("jinja2"), require("jinja2.sandbox")
    environment = sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
    )

    def raise_exception(message: str) -> None:
        raise jinja2.TemplateError(message)

    environment.globals["raise_exception"] = raise_exception
    environment.globals["strftime_now"] = lambda format: datetime.datetime.now().strftime(format)
    environment.filters["tojson"] = lambda value, indent=None: json.dumps(value, ensure_ascii=False, indent=indent)
    return environment.from_string(source)


# --- GGUF


def _from_gguf(metadata: Mapping[str, Any]) -> Tokenizer:
    def get(key: str, default: Any = None) -> Any:
        return metadata.get(f"tokenizer.ggml.{key}", default)

    tokens, model = get("tokens"), get("model")
    if not isinstance(tokens, list) or not all(isinstance(token, str) for token in tokens):
        raise TokenizerError("the file has no tokeniser: 'tokenizer.ggml.tokens' is missing")
    if model == "gpt2":
        tokenizer = _byte_level(tokens, get("merges"), get("pre", "default"))
    elif model == "llama":
        tokenizer = _sentence_piece(tokens, get("scores"), get("add_space_prefix", True))
    else:
        raise TokenizerError(f"tokenizer.ggml.model is {model!r}; known are gpt2 and llama")
    tokenizers = require("tokenizers")
    types = get("token_type", [])
    for kind in (_CONTROL, _USER_DEFINED):
        added = [
            tokenizers.AddedToken(token, normalized=False, special=kind == _CONTROL)
            for token, own in zip(tokens, types)
            if own == kind
        ]
        (tokenizer.add_special_tokens if kind == _CONTROL else tokenizer.add_tokens)(added)

    def token(name: str) -> int | None:
        identifier = get(f"{name}_token_id")
        if identifier is None:
            return None
        if not isinstance(identifier, int) or not 0 <= identifier < len(tokens):
            raise TokenizerError(f"{name}_token_id is {identifier!r}; the vocabulary has {len(tokens)} tokens")
        return identifier

    bos, eos, eot = token("bos"), token("eos"), token("eot")
    control = {i for i, kind in enumerate(types) if kind == _CONTROL}
    return Tokenizer(
        tokenizer,
        stop_ids=({eos, eot} | (_ends(tokenizer) & control)) - {None},
        bos_id=bos if get("add_bos_token", model == "llama") else None,
        bos_token="" if bos is None else tokens[bos],
        eos_token="" if eos is None else tokens[eos],
        pad_id=token("padding"),
        chat_template=str(metadata.get("tokenizer.chat_template", "")),
    )


def _byte_level(tokens: list[str], merges: Any, pre: str) -> Any:
    """BPE over bytes, as GPT-2's."""
    tokenizers = require("tokenizers")
    pre_tokenizers = tokenizers.pre_tokenizers
    if not isinstance(merges, list):
        raise TokenizerError("the file has no tokeniser: 'tokenizer.ggml.merges' is missing")
    pairs = [tuple(merge.split(" ")) for merge in merges]
    if any(len(pair) != 2 for pair in pairs):
        raise TokenizerError("'tokenizer.ggml.merges' is damaged: a merge is two tokens with a space between them")
    try:
        model = tokenizers.models.BPE({token: i for i, token in enumerate(tokens)}, pairs, ignore_merges=pre in _SPLITS)
    except Exception as error:  # the package raises nothing narrower
        raise TokenizerError(f"the tokeniser's merges do not fit its tokens: {error}") from None
    tokenizer = tokenizers.Tokenizer(model)
    pre = _SPLIT_NAMES.get(pre, pre)
    if pre in _SPLITS:
        split = pre_tokenizers.Split(tokenizers.Regex(_SPLITS[pre]), "isolated")
        steps = [split, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    elif pre in _DIGITS:
        digits = pre_tokenizers.Digits(individual_digits=True)
        steps = [digits, pre_tokenizers.ByteLevel(add_prefix_space=False)]
    elif pre in _GPT2:
        steps = [pre_tokenizers.ByteLevel(add_prefix_space=False)]
    else:
        known = ", ".join((*_SPLITS, *_DIGITS, *_GPT2))
        raise TokenizerError(f"tokenizer.ggml.pre is '{pre}'; known are {known}")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(steps)
    if pre == "qwen2":
        tokenizer.normalizer = tokenizers.normalizers.NFC()
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    return tokenizer


def _sentence_piece(tokens: list[str], scores: Any, prefix: bool) -> Any:
    """BPE over characters with scores, as Llama 2's; characters without a token are written as bytes."""
    tokenizers = require("tokenizers")
    normalizers, decoders = tokenizers.normalizers, tokenizers.decoders
    if not isinstance(scores, list) or len(scores) != len(tokens):
        raise TokenizerError("'tokenizer.ggml.scores' is missing, or has another length than the tokens")
    vocabulary = {token: i for i, token in enumerate(tokens)}
    # A merge for each way to make a token of two others, in the order of the tokens' scores.
    merges = []
    for i, token in enumerate(tokens):
        halves = ((token[:at], token[at:]) for at in range(1, len(token)))
        known = [(left, right) for left, right in halves if left in vocabulary and right in vocabulary]
        known.sort(key=lambda pair: (vocabulary[pair[0]], vocabulary[pair[1]]))
        merges += [(-scores[i], i, pair) for pair in known]
    merges.sort(key=lambda merge: merge[:2])
    model = tokenizers.models.BPE(
        vocabulary, [pair for _, _, pair in merges], unk_token=tokens[0], fuse_unk=True, byte_fallback=True
    )
    tokenizer = tokenizers.Tokenizer(model)
    space = normalizers.Replace(" ", "▁")
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), space]) if prefix else space
    steps = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    tokenizer.decoder = decoders.Sequence(steps + ([decoders.Strip(" ", 1, 0)] if prefix else []))
    return tokenizer

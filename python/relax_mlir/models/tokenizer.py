# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Text to tokens and back, through the `tokenizers` package; chats; tokens that end an answer."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import TokenizerError
from ..reading import read_object, reading, reads
from . import chat_template
from .checkpoint import require

Message = Mapping[str, Any]
"""One turn of a chat: {"role": "user", "content": "..."}."""

_SPECIAL = tuple(f"{name}_token" for name in ("bos", "eos", "unk", "sep", "pad", "cls", "mask"))
"""Special tokens by the names that templates and Hugging Face's files have for them."""

# Tokens that end an answer, under the names that models have for them; those of llama.cpp.
_ENDS = frozenset(
    """<|eot_id|> <|im_end|> <|end|> <|return|> <|call|> <|flush|> <|calls|> <end_of_turn> <|endoftext|> </s> <|eom_id|>
    <EOT> _<EOT> [EOT] [EOS] <|end_of_text|> <end_of_utterance> <eos> <｜end▁of▁sentence｜> [e~[""".split()
)
# Where a model has all tokens of a row, the last of them does not end an answer: other tokens end its parts.
_PARTS = (("<|return|>", "<|call|>", "<|end|>"), ("<|calls|>", "<|flush|>", "<|end|>"))


def ends_of_answers(vocabulary: Mapping[str, int]) -> tuple[set[int], set[int]]:
    """The tokens of a vocabulary that end an answer, and those that look like it but end a part of one."""
    parts = {row[-1] for row in _PARTS if all(name in vocabulary for name in row)}
    ends = {vocabulary[name] for name in _ENDS - parts if name in vocabulary}
    return ends, {vocabulary[name] for name in parts}


class Tokenizer:
    """A tokenizer with what belongs to it.

    Attributes:
      stop_ids: the tokens after which an answer is over.
      bos_id: the token that begins a text; None where texts begin with none.
      pad_id: what fills a batch.
      special_tokens: the texts of special tokens that the model has, by names such as "bos_token".
      chat_templates: templates of Jinja by name: "default", "tool_use" for chats with tools, ...
    """

    def __init__(
        self,
        tokenizer: Any,
        *,
        stop_ids: Iterable[int] = (),
        bos_id: int | None = None,
        special_tokens: Mapping[str, str] | None = None,
        pad_id: int | None = None,
        chat_templates: Mapping[str, str] | None = None,
    ) -> None:
        self._tokenizer = tokenizer
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self.stop_ids = frozenset(stop_ids)
        self.bos_id = bos_id
        self.pad_id = pad_id if pad_id is not None else min(self.stop_ids, default=0)
        self.special_tokens = dict(special_tokens or {})
        self.chat_templates = {name: template for name, template in (chat_templates or {}).items() if template}

    @property
    def chat_template(self) -> str:
        """The template for chats without tools, empty where the model has none."""
        return self.chat_templates.get("default", "")

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

    def stream(self, after: Sequence[int] = ()) -> TextStream:
        """Decodes tokens one by one.

        Args:
          after: tokens whose text goes before. At the beginning of a text some models' tokens lose their space.
        """
        return TextStream(self, after)

    def apply_chat_template(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[Mapping[str, Any]] | None = None,
        documents: Sequence[Mapping[str, Any]] | None = None,
        add_generation_prompt: bool = True,
        **variables: Any,
    ) -> str:
        """A chat as the text that the model was trained on.

        Args:
          tools: JSON schemas of the functions that the model may call.
          documents: what the model may quote, each with a title and a text.
          variables: whatever else the model's template knows, such as `enable_thinking`.

        Raises:
          TokenizerError: there is no template, a message is wrong, or the template fails.
        """
        return chat_template.render(
            self._template(tools is not None),
            messages,
            tools=tools,
            documents=documents,
            add_generation_prompt=add_generation_prompt,
            variables={**self.special_tokens, **variables},
        )

    def _template(self, has_tools: bool) -> str:
        if has_tools and "tool_use" in self.chat_templates:
            return self.chat_templates["tool_use"]
        if not self.chat_templates:
            raise TokenizerError("the model has no chat template: it continues text, but was not trained to chat")
        if not self.chat_template:
            names = ", ".join(sorted(self.chat_templates))
            raise TokenizerError(f"the model has no default chat template; its templates are {names}")
        return self.chat_template

    def encode_chat(self, messages: Sequence[Message], **options: Any) -> list[int]:
        """The tokens of a chat, up to where the model answers; `options` are those of `apply_chat_template`."""
        # Templates write the token that begins texts themselves.
        return self.encode(self.apply_chat_template(messages, **options), bos=False)

    # --- where tokenizers come from

    @staticmethod
    @reads(TokenizerError, "tokenizer.ggml")
    def from_gguf(metadata: Mapping[str, Any]) -> Tokenizer:
        """From the metadata of a GGUF file."""
        from .gguf_tokenizer import tokenizer_from_gguf

        return tokenizer_from_gguf(metadata)

    @staticmethod
    @reads(TokenizerError)
    def from_folder(path: str | Path) -> Tokenizer:
        """From tokenizer.json and the files next to it, as transformers reads them.

        Raises:
          TokenizerError: tokenizer.json is missing, or the files say something that is not known.
          ModelError: a file is not JSON.
        """
        path = Path(path)
        tokenizers = require("tokenizers")
        if not (path / "tokenizer.json").is_file():
            raise TokenizerError(f"'{path}' has no tokenizer.json")
        with reading(path / "tokenizer.json", TokenizerError):
            tokenizer = tokenizers.Tokenizer.from_file(str(path / "tokenizer.json"))
        config = _object(path / "tokenizer_config.json")
        if "added_tokens_decoder" not in config:  # files before 2023
            config = {**config, **_object(path / "special_tokens_map.json")}
        special = {name: _content(path, name, config.get(name)) for name in _SPECIAL}
        special = {name: text for name, text in special.items() if text}
        added = {token.content: i for i, token in tokenizer.get_added_tokens_decoder().items()}
        eos, pad = (special.get(name) for name in ("eos_token", "pad_token"))
        stops = {tokenizer.token_to_id(eos)} - {None} if eos else set()
        return Tokenizer(
            tokenizer,
            stop_ids=stops | _stops(path) | ends_of_answers(added)[0],
            bos_id=_begins(path, tokenizer),
            special_tokens=special,
            pad_id=tokenizer.token_to_id(pad) if pad else None,
            chat_templates=_templates(path, config),
        )

    def save(self, path: str | Path) -> None:
        """Writes the files of a tokenizer to a folder; `from_folder` reads the same tokenizer from them."""
        path = Path(path)
        if self.bos_id is not None:
            # The file itself says that texts begin with a token.
            begin = self._tokenizer.id_to_token(self.bos_id)
            self._tokenizer.post_processor = require("tokenizers").processors.TemplateProcessing(
                single=[begin, "$A"], pair=[begin, "$A", begin, "$B:1"], special_tokens=[(begin, self.bos_id)]
            )
        # The package itself writes files, too, but has one exception for all that can go wrong.
        (path / "tokenizer.json").write_text(self._tokenizer.to_str(pretty=False), encoding="utf-8")
        templates: Any = [{"name": name, "template": template} for name, template in self.chat_templates.items()]
        if list(self.chat_templates) == ["default"]:
            templates = self.chat_template
        # Files written over those of another model say all that is read, if only that there is nothing.
        config = {"added_tokens_decoder": {}, **self.special_tokens, "chat_template": templates}
        (path / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
        (path / "generation_config.json").write_text(json.dumps({"eos_token_id": sorted(self.stop_ids)}))


class TextStream:
    """Text as its tokens come; bytes of a character are held back until it is whole."""

    def __init__(self, tokenizer: Tokenizer, after: Sequence[int] = ()) -> None:
        self._tokenizer = tokenizer
        self._ids: list[int] = list(map(int, after))
        self._shown = len(self._ids)  # tokens whose text has been given
        self._base = 0  # where the text that decides about spaces begins

    def push(self, token: int) -> str:
        """The text that is complete with this token."""
        self._ids.append(int(token))
        text = self._new_text()
        if text.endswith("\N{REPLACEMENT CHARACTER}"):
            return ""
        # Control tokens have no text: what follows them would be taken for the beginning of one.
        if text:
            self._base = self._shown
        self._shown = len(self._ids)
        return text

    def finish(self) -> str:
        """What was held back."""
        text = self._new_text()
        self._shown = self._base = len(self._ids)
        return text

    def _new_text(self) -> str:
        before = self._tokenizer.decode(self._ids[self._base : self._shown])
        return self._tokenizer.decode(self._ids[self._base :])[len(before) :]


# --- files of a folder


def _object(path: Path) -> dict[str, Any]:
    """The JSON object of a file, an empty one where there is no file."""
    return read_object(path) if path.is_file() else {}


def _content(path: Path, name: str, token: Any) -> str:
    """The text of a token, which files write as a string or with its properties."""
    text = token.get("content") if isinstance(token, Mapping) else token
    if text is not None and not isinstance(text, str):
        raise TokenizerError(f"'{name}' of '{path / 'tokenizer_config.json'}' is {token!r}; expected text")
    return text or ""


def _stops(path: Path) -> set[int]:
    """The tokens that end an answer, as a folder's configuration has them."""
    for name in ("generation_config.json", "config.json"):
        ends = _object(path / name).get("eos_token_id")
        if ends is None:
            continue
        ends = ends if isinstance(ends, list) else [ends]
        if not all(isinstance(end, int) and not isinstance(end, bool) and end >= 0 for end in ends):
            raise TokenizerError(f"'eos_token_id' of '{path / name}' is {ends!r}; expected tokens")
        return set(ends)
    return set()


def _begins(path: Path, tokenizer: Any) -> int | None:
    """The token that the tokenizer itself puts before a text."""
    # Some text that the vocabulary has tokens for.
    samples = itertools.chain("a", (tokenizer.decode([token]) for token in range(tokenizer.get_vocab_size())))
    sample = next((sample for sample in samples if tokenizer.encode(sample, add_special_tokens=False).ids), "")
    text, whole = (tokenizer.encode(sample, add_special_tokens=special).ids for special in (False, True))
    count = next((at for at in range(len(whole)) if whole[at : at + len(text)] == text), 0)
    if count > 1:
        raise TokenizerError(
            f"'{path / 'tokenizer.json'}' puts {count} tokens before a text, {whole[:count]}; one is supported"
        )
    return whole[0] if count else None


def _templates(path: Path, config: Mapping[str, Any]) -> dict[str, str]:
    """Chat templates by name: files of their own come before what the configuration has."""
    files = {"default": path / "chat_template.jinja"} if (path / "chat_template.jinja").is_file() else {}
    files |= {file.stem: file for file in sorted((path / "additional_chat_templates").glob("*.jinja"))}
    if files:
        templates = {}
        for name, file in files.items():
            with reading(file, TokenizerError):
                templates[name] = file.read_text(encoding="utf-8")
        return templates
    found = config.get("chat_template") or {}
    templates = {"default": found} if isinstance(found, str) else found
    if isinstance(templates, list):
        if not all(isinstance(entry, dict) and {"name", "template"} <= entry.keys() for entry in templates):
            raise TokenizerError(
                f"'chat_template' of '{path / 'tokenizer_config.json'}' is a list; "
                "expected entries with a 'name' and a 'template'"
            )
        templates = {entry["name"]: entry["template"] for entry in templates}
    if not isinstance(templates, dict) or not all(isinstance(part, str) for pair in templates.items() for part in pair):
        raise TokenizerError(f"'chat_template' of '{path / 'tokenizer_config.json'}' is {found!r}; expected text")
    return templates

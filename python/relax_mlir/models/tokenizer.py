# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Text to tokens and back, through the `tokenizers` package; chats; tokens that end an answer."""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import TokenizerError
from ..files import write_whole
from ..reading import FolderFiles, parse_object, reading, reads, require_content
from . import chat_template
from .checkpoint import require
from .fields import Fields

Message = Mapping[str, Any]
"""One turn of a chat: {"role": "user", "content": "..."}."""

_SPECIAL = tuple(f"{name}_token" for name in ("bos", "eos", "unk", "sep", "pad", "cls", "mask"))
"""The names of special tokens in templates and Hugging Face's files."""

_TEMPLATE, _TEMPLATES, _JINJA = "chat_template.jinja", "additional_chat_templates/", ".jinja"
"""Files with templates; templates in the folder are named by their files."""

_FLAGS = """
    add_bos_token add_eos_token add_prefix_space clean_up_tokenization_spaces legacy use_default_system_prompt
    spaces_between_special_tokens use_fast
""".split()
"""Boolean fields of tokenizer_config.json. tokenizer.json itself has their effects on texts."""

# Fields that do not affect tokens: the origin of files, and settings of other classes and programs.
_IRRELEVANT = """
    added_tokens_decoder added_tokens additional_special_tokens extra_special_tokens model_specific_special_tokens
    special_tokens_map_file tokenizer_file vocab_file merges_file name_or_path _name_or_path tokenizer_class
    processor_class auto_map backend is_local from_slow transformers_version model_max_length max_length
    max_len_single_sentence max_len_sentences_pair model_input_names padding_side truncation_side padding truncation
    pad_to_multiple_of stride truncation_strategy errors sp_model_kwargs trust_remote_code clean_text never_split
    tokenize_chinese_chars strip_accents do_basic_tokenize tokenizer_type response_schema return_tensors
    return_token_type_ids image_size patch_size token verbose
""".split()

# The tokens that end an answer in various models, as listed by llama.cpp.
_ENDS = frozenset(
    """<|eot_id|> <|im_end|> <|end|> <|return|> <|call|> <|flush|> <|calls|> <end_of_turn> <|endoftext|> </s> <|eom_id|>
    <EOT> _<EOT> [EOT] [EOS] <|end_of_text|> <end_of_utterance> <eos> <｜end▁of▁sentence｜> [e~[""".split()
)
# If a model has all tokens of a row, the last one ends only a part of an answer.
_PARTS = (("<|return|>", "<|call|>", "<|end|>"), ("<|calls|>", "<|flush|>", "<|end|>"))


def ends_of_answers(vocabulary: Mapping[str, int]) -> tuple[set[int], set[int]]:
    """The tokens of a vocabulary that end an answer, and similar tokens that end only a part of one."""
    parts = {row[-1] for row in _PARTS if all(name in vocabulary for name in row)}
    ends = {vocabulary[name] for name in _ENDS - parts if name in vocabulary}
    return ends, {vocabulary[name] for name in parts}


class Tokenizer:
    """A tokenizer with its special tokens and chat templates.

    Attributes:
      stop_ids: the tokens that end an answer.
      bos_id: the token that begins a text; None if there is none.
      pad_id: the token that pads a batch.
      special_tokens: the texts of the model's special tokens, by names such as "bos_token".
      chat_templates: Jinja templates by name: "default", "tool_use" for chats with tools, ...
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
        self._lock = threading.Lock()  # `special` of `encode` is a state of the tokenizer
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self.stop_ids = frozenset(stop_ids)
        self.bos_id = bos_id
        self.pad_id = pad_id if pad_id is not None else min(self.stop_ids, default=0)
        self.special_tokens = dict(special_tokens or {})
        self.chat_templates = {name: template for name, template in (chat_templates or {}).items() if template}

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()

    @property
    def chat_template(self) -> str:
        """The template for chats without tools; empty if the model has none."""
        return self.chat_templates.get("default", "")

    def __len__(self) -> int:
        return self._tokenizer.get_vocab_size()

    def encode(self, text: str, *, bos: bool = True, special: bool = True) -> list[int]:
        """The tokens of a text.

        Args:
          bos: whether to begin with the BOS token, if the model has one.
          special: whether to parse control tokens in the text; use False for untrusted text.
        """
        if not isinstance(text, str):
            raise TokenizerError(f"expected text to encode, got {type(text).__name__}")
        if any("\ud800" <= character <= "\udfff" for character in text):
            raise TokenizerError(
                "the text holds surrogates, which are not characters: it was read with the wrong encoding"
            )
        with self._lock:
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
          after: the preceding tokens. At the beginning of a text, some models' tokens lose their space.
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
        """Renders a chat as text in the model's training format.

        Args:
          tools: JSON schemas of the functions that the model may call.
          documents: documents that the model may quote, each with a title and a text.
          variables: other variables of the model's template, such as `enable_thinking`.

        Raises:
          TokenizerError: there is no template, a message is invalid, or the template fails.
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
        """The tokens of a chat, up to the model's answer; `options` are those of `apply_chat_template`."""
        # Templates write the BOS token themselves.
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
    def from_folder(path: str | Path, files: Mapping[str, bytes] | None = None) -> Tokenizer:
        """From tokenizer.json and the files next to it, as transformers reads them.

        Args:
          files: the files of the folder to use, with their content; all of them by default.

        Raises:
          TokenizerError: tokenizer.json is missing, or the files have unknown fields.
          ModelError: a file is not JSON.
        """
        path = Path(path)
        files = FolderFiles(path) if files is None else files
        tokenizers = require("tokenizers")
        if "tokenizer.json" not in files:
            raise TokenizerError(f"'{path}' has no tokenizer.json")
        data = files["tokenizer.json"]
        require_content(path / "tokenizer.json", TokenizerError, data)
        with reading(path / "tokenizer.json", TokenizerError):
            tokenizer = tokenizers.Tokenizer.from_buffer(data)
        # The file may request padding to any length.
        tokenizer.no_padding()
        tokenizer.no_truncation()
        config = _object(path, files, "tokenizer_config.json")
        if "added_tokens_decoder" not in config:  # files before 2023
            config = {**config, **_object(path, files, "special_tokens_map.json")}
        fields = Fields(config, f"'{path / 'tokenizer_config.json'}'", error=TokenizerError)
        special = {name: _content(path, name, fields.get(name)) for name in _SPECIAL}
        special = {name: text for name, text in special.items() if text}
        added = {token.content: i for i, token in tokenizer.get_added_tokens_decoder().items()}
        templates = _templates(path, files, fields)
        _account_for(fields, config)
        eos, pad = (special.get(name) for name in ("eos_token", "pad_token"))
        stops = {tokenizer.token_to_id(eos)} - {None} if eos else set()
        return Tokenizer(
            tokenizer,
            stop_ids=stops | _stops(path, files) | ends_of_answers(added)[0],
            bos_id=_begins(path, tokenizer),
            special_tokens=special,
            pad_id=tokenizer.token_to_id(pad) if pad else None,
            chat_templates=templates,
        )

    def save(self, path: str | Path) -> None:
        """Writes the files of a tokenizer to a folder; `from_folder` reads the same tokenizer from them.

        Removes chat template files of another tokenizer from the folder.

        Raises:
          TokenizerError: the folder is missing, or cannot be written.
        """
        path = Path(path)
        templates: Any = [{"name": name, "template": template} for name, template in self.chat_templates.items()]
        if list(self.chat_templates) == ["default"]:
            templates = self.chat_template
        # The files may overwrite those of another model, so every field that is read is written, even if empty.
        config = {"added_tokens_decoder": {}, **self.special_tokens, "chat_template": templates}
        # The package can write files itself, but raises the same exception for all errors.
        files = {
            "tokenizer.json": self._to_text(),
            "tokenizer_config.json": json.dumps(config),
            "generation_config.json": json.dumps({"eos_token_id": sorted(self.stop_ids)}),
        }
        try:
            for name, text in files.items():
                write_whole(path / name, text.encode())
            # These would take precedence when reading.
            for file in (path / _TEMPLATE, *(path / _TEMPLATES).glob(f"*{_JINJA}")):
                file.unlink(missing_ok=True)
        except OSError as error:
            raise TokenizerError(f"cannot write a tokenizer to '{path}': {error.strerror or error}") from None

    def _to_text(self) -> str:
        """The content of tokenizer.json, including the BOS token."""
        with self._lock:
            if self.bos_id is not None:
                begin = self._tokenizer.id_to_token(self.bos_id)
                self._tokenizer.post_processor = require("tokenizers").processors.TemplateProcessing(
                    single=[begin, "$A"], pair=[begin, "$A", begin, "$B:1"], special_tokens=[(begin, self.bos_id)]
                )
            return self._tokenizer.to_str(pretty=False)


class TextStream:
    """Incremental decoding of tokens; the bytes of a character are held back until it is complete."""

    def __init__(self, tokenizer: Tokenizer, after: Sequence[int] = ()) -> None:
        self._tokenizer = tokenizer
        self._ids: list[int] = list(map(int, after))
        self._shown = len(self._ids)  # the number of tokens whose text was returned
        self._base = 0  # the start of the text that determines spaces

    def push(self, token: int) -> str:
        """The text that this token completes."""
        self._ids.append(int(token))
        text = self._new_text()
        if text.endswith("\N{REPLACEMENT CHARACTER}"):
            return ""
        # Control tokens have no text: the next token would be treated as the beginning of a text.
        if text:
            self._base = self._shown
        self._shown = len(self._ids)
        return text

    def finish(self) -> str:
        """The text that was held back."""
        text = self._new_text()
        self._shown = self._base = len(self._ids)
        return text

    def _new_text(self) -> str:
        before = self._tokenizer.decode(self._ids[self._base : self._shown])
        return self._tokenizer.decode(self._ids[self._base :])[len(before) :]


# --- files of a folder


def _object(path: Path, files: Mapping[str, bytes], name: str) -> dict[str, Any]:
    """The JSON object of a file; empty if there is no file."""
    return parse_object(path / name, files[name]) if name in files else {}


def _content(path: Path, name: str, token: Any) -> str:
    """The text of a token, which files store as a string or with its properties."""
    text = token.get("content") if isinstance(token, Mapping) else token
    if text is not None and not isinstance(text, str):
        raise TokenizerError(f"'{name}' of '{path / 'tokenizer_config.json'}' is {token!r}; expected text")
    return text or ""


def _stops(path: Path, files: Mapping[str, bytes]) -> set[int]:
    """The tokens that end an answer, according to a folder's configuration."""
    for name in ("generation_config.json", "config.json"):
        ends = _object(path, files, name).get("eos_token_id")
        if ends is None:
            continue
        ends = ends if isinstance(ends, list) else [ends]
        if not all(isinstance(end, int) and not isinstance(end, bool) and end >= 0 for end in ends):
            raise TokenizerError(f"'eos_token_id' of '{path / name}' is {ends!r}; expected tokens")
        return set(ends)
    return set()


def _begins(path: Path, tokenizer: Any) -> int | None:
    """The token that the tokenizer itself prepends to a text."""
    # Samples of text that the vocabulary has tokens for.
    samples = itertools.chain("a", (tokenizer.decode([token]) for token in range(tokenizer.get_vocab_size())))
    sample = next((sample for sample in samples if tokenizer.encode(sample, add_special_tokens=False).ids), "")
    text, whole = (tokenizer.encode(sample, add_special_tokens=special).ids for special in (False, True))
    count = next((at for at in range(len(whole)) if whole[at : at + len(text)] == text), 0)
    if count > 1:
        raise TokenizerError(
            f"'{path / 'tokenizer.json'}' puts {count} tokens before a text, {whole[:count]}; one is supported"
        )
    return whole[0] if count else None


def _account_for(fields: Fields, config: Mapping[str, Any]) -> None:
    """Rejects unknown fields of `tokenizer_config.json`."""
    for name in _FLAGS:
        fields.flag(name, None)
    fields.expect("split_special_tokens", False)
    fields.expect("do_lower_case", False)
    fields.ignore(_IRRELEVANT)
    # Names of model-specific tokens, such as image_token; tokenizer.json has the tokens.
    fields.ignore(name for name in config if name.endswith(("_token", "_token_id", "_tokens", "_token_ids")))
    fields.finish()


def _is_further_template(name: str) -> bool:
    return name.startswith(_TEMPLATES) and name.endswith(_JINJA)


def _templates(path: Path, files: Mapping[str, bytes], fields: Fields) -> dict[str, str]:
    """Chat templates by name: separate files take precedence over the configuration."""
    found = fields.get("chat_template")
    own = {"default": _TEMPLATE} if _TEMPLATE in files else {}
    own |= {name[len(_TEMPLATES) : -len(_JINJA)]: name for name in sorted(files) if _is_further_template(name)}
    if own:
        templates = {}
        for name, file in own.items():
            with reading(path / file, TokenizerError):
                templates[name] = files[file].decode("utf-8")
        return templates
    found = {} if found is None else found
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

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tokenisers from GGUF and from Hugging Face's files, chat templates, and text that comes in pieces."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_models import smollm2

from relax_mlir import TokenizerError
from relax_mlir.models import Tokenizer
from relax_mlir.models.gguf import GGUFFile

pytest.importorskip("tokenizers")
pytest.importorskip("jinja2")

# Texts with what transformers 5.24 makes of them, with the tokeniser of the same file.
ENCODED = [
    ("Hello world", [19556, 905]),
    ("The year 1984, and 3.14159!", [504, 713, 216, 33, 41, 40, 36, 28, 284, 216, 35, 30, 33, 36, 33, 37, 41, 17]),
    ("  leading spaces\n\n\ttabs", [216, 2899, 5600, 1116, 197, 100, 7366]),
    ("naïve café résumé", [3546, 46494, 37366, 412, 2756, 5422, 2756]),
    ("日本語", [23274, 115, 40993, 179, 120, 248]),
    ("emoji 😀👩\u200d👧", [391, 33777, 40303, 218, 10813, 235, 119, 321, 231, 10813, 235, 117]),
    ("I'll we've DON'T", [57, 3060, 392, 3543, 422, 2154, 23, 68]),
    ("مرحبا", [21706, 20602, 44626, 31462, 10805]),
    ("é combining", [85, 151, 219, 9301]),
    ("<|im_start|>user\nhi<|im_end|>", [1, 4093, 198, 6004, 2]),
]


@pytest.fixture(scope="module")
def tokenizer():
    return Tokenizer.from_gguf(GGUFFile(smollm2()).metadata)


@pytest.mark.parametrize("text, ids", ENCODED)
def test_encode(tokenizer, text, ids):
    assert tokenizer.encode(text) == ids
    assert tokenizer.decode(ids, special=True) == text


# Digits are tokens of their own, other numbers of Unicode included.
def test_digits(tokenizer):
    ids = tokenizer.encode("1234½²")
    assert ids == [i for part in ("1", "2", "3", "4", "½", "²") for i in tokenizer.encode(part)]


# The vocabulary has no token for some bytes, of control characters and of those that no script has: not these.
TEXT = st.text(
    st.characters(max_codepoint=0x1FFFF, exclude_categories=["Cs", "Cn", "Co", "Cc"], include_characters="\n\r\t")
)


# Any text comes back.
@settings(max_examples=300, deadline=None)
@given(text=TEXT)
def test_round_trip(tokenizer, text):
    assert tokenizer.decode(tokenizer.encode(text, special=False)) == text


# Text that comes token by token is the whole text; a character is shown once it is whole.
@settings(max_examples=200, deadline=None)
@given(text=TEXT)
def test_stream(tokenizer, text):
    stream = tokenizer.stream()
    pieces = [stream.push(token) for token in tokenizer.encode(text, special=False)]
    assert "".join(pieces) + stream.finish() == text
    if "\N{REPLACEMENT CHARACTER}" not in text:
        assert not any("\N{REPLACEMENT CHARACTER}" in piece for piece in pieces)


# A character that never becomes whole is shown at the end.
def test_broken_character(tokenizer):
    stream = tokenizer.stream()
    ids = tokenizer.encode("日")
    assert [stream.push(token) for token in ids[:-1]] == [""] * (len(ids) - 1)
    assert stream.finish() == "\N{REPLACEMENT CHARACTER}"


# Text from elsewhere cannot write control tokens.
def test_control_tokens(tokenizer):
    text = "<|im_end|>"
    assert tokenizer.encode(text) == [2]
    assert len(tokenizer.encode(text, special=False)) > 1
    assert tokenizer.encode(text) == [2]


def test_stop_tokens(tokenizer):
    assert tokenizer.stop_ids == {0, 2} and tokenizer.bos_id is None


def test_chat_template(tokenizer):
    messages = [{"role": "user", "content": "What is the capital of France?"}]
    assert tokenizer.apply_chat_template(messages) == (
        "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n"
        "<|im_start|>user\nWhat is the capital of France?<|im_end|>\n<|im_start|>assistant\n"
    )
    assert tokenizer.encode_chat(messages)[:2] == tokenizer.encode("<|im_start|>system")


# What is written to a folder is read back the same.
def test_save(tokenizer, tmp_path):
    tokenizer.save(tmp_path)
    other = Tokenizer.from_folder(tmp_path)
    for text, ids in ENCODED:
        assert other.encode(text) == ids
    assert other.stop_ids == tokenizer.stop_ids and other.chat_template == tokenizer.chat_template
    assert other.bos_id is None


# --- without the real model


def gguf_metadata(**changes):
    """A tokeniser of a few letters, which merges "a b" and "ab c"."""
    tokens = [*"abcdĠ", "ab", "abc", "<s>", "</s>"]
    metadata = {
        "model": "gpt2",
        "pre": "default",
        "tokens": tokens,
        "token_type": [1] * 7 + [3, 3],
        "merges": ["a b", "ab c"],
        "bos_token_id": 7,
        "eos_token_id": 8,
        "add_bos_token": True,
    }
    return {f"tokenizer.ggml.{key}": value for key, value in {**metadata, **changes}.items() if value is not None}


def test_begin_of_text():
    tokenizer = Tokenizer.from_gguf(gguf_metadata())
    assert tokenizer.encode("abcd ab") == [7, 6, 3, 4, 5]
    assert tokenizer.encode("abcd", bos=False) == [6, 3]
    assert tokenizer.encode("<s>ab") == [7, 5]
    assert tokenizer.stop_ids == {8}


@pytest.mark.parametrize("pre", ["llama-bpe", "llama3", "qwen2", "smollm", "gpt-2"])
def test_cuts(pre):
    tokenizer = Tokenizer.from_gguf(gguf_metadata(pre=pre))
    assert tokenizer.decode(tokenizer.encode("abc dab")) == "abc dab"


# The tokeniser of Llama 2: spaces are marked, unknown characters become bytes.
def test_sentence_piece():
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{i:02X}>" for i in range(256)), "▁", "a", "b", "ab", "▁ab"]
    scores = [0.0] * 259 + [-1e9, -10.0, -11.0, -1.0, -2.0]
    types = [2, 3, 3] + [6] * 256 + [1] * 5
    metadata = gguf_metadata(model="llama", tokens=tokens, scores=scores, token_type=types, bos_token_id=1)
    metadata["tokenizer.ggml.eos_token_id"] = 2
    tokenizer = Tokenizer.from_gguf(metadata)
    assert tokenizer.encode("ab ab") == [1, 263, 263]
    assert tokenizer.encode("abé") == [1, 263, 3 + 0xC3, 3 + 0xA9]
    assert tokenizer.decode(tokenizer.encode("ab éb")) == "ab éb"


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"tokens": None}, "has no tokeniser"),
        ({"model": "rwkv"}, "tokenizer.ggml.model is 'rwkv'; known are gpt2 and llama"),
        ({"pre": "other"}, "tokenizer.ggml.pre is 'other'; known are"),
        ({"merges": None}, "'tokenizer.ggml.merges' is missing"),
        ({"merges": ["ab"]}, "a merge is two tokens"),
        ({"merges": ["a x"]}, "do not fit its tokens"),
        ({"eos_token_id": 99}, "eos_token_id is 99; the vocabulary has 9 tokens"),
        ({"model": "llama"}, "'tokenizer.ggml.scores' is missing"),
    ],
)
def test_damaged(changes, message):
    with pytest.raises(TokenizerError, match=message):
        Tokenizer.from_gguf(gguf_metadata(**changes))


def with_template(template):
    return Tokenizer.from_gguf({**gguf_metadata(), "tokenizer.chat_template": template})


HELLO = [{"role": "user", "content": "hello"}]


# A template reaches nothing but the messages: it comes from a file of others.
@pytest.mark.parametrize(
    "template",
    [
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ messages.append(1) }}",
        "{{ raise_exception('roles must alternate') }}",
        "{% for %}",
        "{{ 1 / 0 }}",
        "{{ messages[7].content.upper() }}",
    ],
)
def test_hostile_template(template):
    with pytest.raises(TokenizerError, match="the chat template fails"):
        with_template(template).apply_chat_template(HELLO)


def test_template_functions():
    text = with_template("{{ bos_token }}{{ messages | tojson }}{{ strftime_now('%Y') | length }}").apply_chat_template(
        HELLO
    )
    assert text == "<s>" + json.dumps(HELLO) + "4"


def test_wrong_messages():
    with pytest.raises(TokenizerError, match="no chat template"):
        Tokenizer.from_gguf(gguf_metadata()).apply_chat_template(HELLO)
    with pytest.raises(TokenizerError, match="message 0 is .*; expected a 'role' and a 'content'"):
        with_template("x").apply_chat_template([{"role": "user"}])
    for role in ("usr", "User", "", None, 3):
        with pytest.raises(TokenizerError, match="message 1 has the role .*, which the model's chat template does not"):
            with_template("x").apply_chat_template([*HELLO, {"role": role, "content": "hello"}])
    critic = [{"role": "critic", "content": "hello"}]
    assert with_template("{% if m == 'critic' %}{% endif %}x").apply_chat_template(critic) == "x"
    with pytest.raises(TokenizerError, match="message 0 has a content of type NoneType; expected text"):
        with_template("x").apply_chat_template([{"role": "user", "content": None}])
    with pytest.raises(TokenizerError, match="has no tokenizer.json"):
        Tokenizer.from_folder("nowhere")

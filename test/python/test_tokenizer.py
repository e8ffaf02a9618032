# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tokenizers from GGUF and Hugging Face files, chat templates, and streamed text."""

import json
import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_models import smollm2

from relax_mlir import ModelError, TokenizerError
from relax_mlir.models import Tokenizer
from relax_mlir.models.gguf import GGUFFile

pytest.importorskip("tokenizers")
pytest.importorskip("jinja2")

# Texts with their tokens in transformers 5.24, with the tokenizer of the same file.
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


# Digits are separate tokens, including other Unicode numbers.
def test_digits(tokenizer):
    ids = tokenizer.encode("1234½²")
    assert ids == [i for part in ("1", "2", "3", "4", "½", "²") for i in tokenizer.encode(part)]


# Excludes bytes without a token in the vocabulary: control characters and unassigned characters.
TEXT = st.text(
    st.characters(max_codepoint=0x1FFFF, exclude_categories=["Cs", "Cn", "Co", "Cc"], include_characters="\n\r\t")
)


# Any text survives a round trip.
@settings(max_examples=300, deadline=None)
@given(text=TEXT)
def test_round_trip(tokenizer, text):
    assert tokenizer.decode(tokenizer.encode(text, special=False)) == text


# Streamed text is the whole text; a character is shown once it is complete.
@settings(max_examples=200, deadline=None)
@given(text=TEXT)
def test_stream(tokenizer, text):
    stream = tokenizer.stream()
    pieces = [stream.push(token) for token in tokenizer.encode(text, special=False)]
    assert "".join(pieces) + stream.finish() == text
    if "\N{REPLACEMENT CHARACTER}" not in text:
        assert not any("\N{REPLACEMENT CHARACTER}" in piece for piece in pieces)


# An incomplete character is shown at the end.
def test_broken_character(tokenizer):
    stream = tokenizer.stream()
    ids = tokenizer.encode("日")
    assert [stream.push(token) for token in ids[:-1]] == [""] * (len(ids) - 1)
    assert stream.finish() == "\N{REPLACEMENT CHARACTER}"


# Untrusted text cannot contain control tokens.
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


# A tokenizer survives a round trip through a folder.
def test_save(tokenizer, tmp_path):
    tokenizer.save(tmp_path)
    other = Tokenizer.from_folder(tmp_path)
    for text, ids in ENCODED:
        assert other.encode(text) == ids
    assert other.stop_ids == tokenizer.stop_ids and other.chat_template == tokenizer.chat_template
    assert other.bos_id is None


# --- without the real model


def gguf_metadata(**changes):
    """A tokenizer of a few letters, which merges "a b" and "ab c"."""
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


# Keys of the file designate tokens that end an answer, whatever their text.
@pytest.mark.parametrize("key", ["eos", "eot", "eom"])
def test_keys_of_ends(key):
    metadata = gguf_metadata(**{"eos_token_id": None, f"{key}_token_id": 5})
    assert Tokenizer.from_gguf(metadata).stop_ids == {5, 8}


def test_begin_of_text():
    tokenizer = Tokenizer.from_gguf(gguf_metadata())
    assert tokenizer.encode("abcd ab") == [7, 6, 3, 4, 5]
    assert tokenizer.encode("abcd", bos=False) == [6, 3]
    assert tokenizer.encode("<s>ab") == [7, 5]
    assert tokenizer.stop_ids == {8}


# The tokenizer of Llama 2: spaces are marked, unknown characters become bytes.
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


# Untrusted text cannot be merged into a control token either.
def test_control_tokens_are_not_merged():
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{i:02X}>" for i in range(256)), "▁", *"<>/s", "</", "</s", "s>"]
    scores = [0.0] * 259 + [-1e9, -10.0, -11.0, -12.0, -13.0, -1.0, -2.0, -3.0]
    types = [2, 3, 3] + [6] * 256 + [1] * 8
    metadata = gguf_metadata(model="llama", tokens=tokens, scores=scores, token_type=types, bos_token_id=1)
    tokenizer = Tokenizer.from_gguf({**metadata, "tokenizer.ggml.eos_token_id": 2})
    assert tokenizer.encode("</s>") == [1, 2]
    assert tokenizer.encode("</s>", special=False, bos=False) == [259, tokens.index("</s"), tokens.index(">")]


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"tokens": None}, "has no tokenizer"),
        ({"model": "rwkv"}, "tokenizer.ggml.model is 'rwkv'; known are gpt2 and llama"),
        ({"pre": "other"}, "tokenizer.ggml.pre is 'other'; known are"),
        ({"merges": None}, "'tokenizer.ggml.merges' is missing"),
        ({"merges": ["ab"]}, "a merge is two tokens"),
        ({"merges": ["a x"]}, "do not fit its tokens"),
        ({"eos_token_id": 99}, "eos_token_id is 99; the vocabulary has 9 tokens"),
        ({"merges": [3]}, "a merge is two tokens"),
        ({"pre": 3}, "'tokenizer.ggml.pre' of the GGUF metadata is 3; expected a string"),
        ({"tokens": [*"abcdĠ", "ab", "abc", "<s>", "<s>"]}, "has the token '<s>' twice"),
        ({"token_type": [1, 1]}, "'tokenizer.ggml.token_type' has 2 entries; expected one for each of 9 tokens"),
        ({"token_type": 3}, "'tokenizer.ggml.token_type' has no entries"),
        ({"model": "llama"}, "'tokenizer.ggml.scores' is missing"),
    ],
)
def test_damaged(changes, message):
    with pytest.raises(TokenizerError, match=message):
        Tokenizer.from_gguf(gguf_metadata(**changes))


def with_template(template):
    return Tokenizer.from_gguf({**gguf_metadata(), "tokenizer.chat_template": template})


HELLO = [{"role": "user", "content": "hello"}]


# A template is untrusted, and can access nothing but the messages.
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


# A file may have named templates.
def test_named_templates():
    templates = {"tokenizer.chat_template": "one", "tokenizer.chat_template.tool_use": "two"}
    tokenizer = Tokenizer.from_gguf({**gguf_metadata(), **templates, "tokenizer.chat_templates": ["tool_use"]})
    assert tokenizer.chat_templates == {"default": "one", "tool_use": "two"}
    with pytest.raises(TokenizerError, match="the chat template 'rag' is a int; expected text"):
        Tokenizer.from_gguf({**gguf_metadata(), "tokenizer.chat_template.rag": 3})


# --- folders


def folder(path, **files):
    """A folder with a tokenizer of a few letters, and JSON files by their names."""
    Tokenizer.from_gguf(gguf_metadata()).save(path)
    (path / "generation_config.json").unlink()
    for name, content in files.items():
        (path / f"{name}.json").write_text(json.dumps(content))
    return path


# A folder may store a field in two places: the newer one takes precedence.
def test_places(tmp_path):
    config = {"bos_token": "<s>", "eos_token": {"content": "</s>"}, "chat_template": "config"}
    path = folder(tmp_path, tokenizer_config=config, special_tokens_map={"unk_token": "a", "eos_token": "b"})
    tokenizer = Tokenizer.from_folder(path)
    assert tokenizer.special_tokens == {"bos_token": "<s>", "eos_token": "b", "unk_token": "a"}
    assert tokenizer.stop_ids == {1, 8} and tokenizer.bos_id == 7 and tokenizer.chat_template == "config"
    (path / "tokenizer_config.json").write_text(json.dumps({**config, "added_tokens_decoder": {}}))
    (path / "config.json").write_text(json.dumps({"eos_token_id": 3}))
    tokenizer = Tokenizer.from_folder(path)
    assert tokenizer.special_tokens == {"bos_token": "<s>", "eos_token": "</s>"} and tokenizer.stop_ids == {3, 8}
    (path / "generation_config.json").write_text(json.dumps({"eos_token_id": [2, 4]}))
    assert Tokenizer.from_folder(path).stop_ids == {2, 4, 8}
    (path / "chat_template.jinja").write_text("file")
    (path / "additional_chat_templates").mkdir()
    (path / "additional_chat_templates" / "rag.jinja").write_text("documents")
    assert Tokenizer.from_folder(path).chat_templates == {"default": "file", "rag": "documents"}


# The tokenizer itself determines the BOS token, not the configuration.
def test_beginning_of_folders(tmp_path):
    path = folder(tmp_path, tokenizer_config={"add_bos_token": False})
    assert Tokenizer.from_folder(path).bos_id == 7
    document = json.loads((path / "tokenizer.json").read_text())
    begin = document["post_processor"]["single"][0]
    for tokens, bos in (([], None), ([begin], 7)):
        document["post_processor"]["single"] = [*tokens, {"Sequence": {"id": "A", "type_id": 0}}, begin]
        (path / "tokenizer.json").write_text(json.dumps(document))
        (path / "tokenizer_config.json").write_text(json.dumps({"add_bos_token": True, "bos_token": "<s>"}))
        assert Tokenizer.from_folder(path).bos_id == bos
    document["post_processor"]["single"] = [begin, begin, {"Sequence": {"id": "A", "type_id": 0}}]
    (path / "tokenizer.json").write_text(json.dumps(document))
    with pytest.raises(TokenizerError, match=r"puts 2 tokens before a text, \[7, 7\]; one is supported"):
        Tokenizer.from_folder(path)


@pytest.mark.parametrize(
    "file, content, message",
    [
        ("tokenizer_config", [], "'.*tokenizer_config.json' holds an array in JSON; expected an object"),
        ("tokenizer_config", {"bos_token": 3}, "'bos_token' of '.*' is 3; expected text"),
        ("tokenizer_config", {"bos_token": {"content": ["x"]}}, "'bos_token' of '.*' is .*; expected text"),
        ("tokenizer_config", {"chat_template": 3}, "'chat_template' of '.*' is 3; expected text"),
        ("tokenizer_config", {"chat_template": [{"name": "default"}]}, "expected entries with a 'name' and a 'templat"),
        ("tokenizer_config", {"chat_template": ["x"]}, "expected entries with a 'name' and a 'template'"),
        ("tokenizer_config", {"chat_template": [{"name": 3, "template": "x"}]}, "'chat_template' of '.*' is .*; expec"),
        ("special_tokens_map", 3, "'.*special_tokens_map.json' holds a number in JSON; expected an object"),
        ("generation_config", "x", "'.*generation_config.json' holds a string in JSON; expected an object"),
        ("generation_config", {"eos_token_id": "x"}, "'eos_token_id' of '.*' is .*; expected tokens"),
        ("config", {"eos_token_id": [None]}, "'eos_token_id' of '.*' is .*; expected tokens"),
        ("config", {"eos_token_id": [True]}, "'eos_token_id' of '.*' is .*; expected tokens"),
        ("config", {"eos_token_id": -1}, "'eos_token_id' of '.*' is .*; expected tokens"),
        ("tokenizer", {"model": 3}, "'.*tokenizer.json' is damaged, or of a form that is not known: "),
    ],
)
def test_damaged_folders(tmp_path, file, content, message):
    path = folder(tmp_path)
    (path / "tokenizer_config.json").write_text("{}")
    (path / f"{file}.json").write_text(json.dumps(content))
    # Content that is not an object is an error of the file.
    with pytest.raises(TokenizerError if isinstance(content, dict) else ModelError, match=message):
        Tokenizer.from_folder(path)


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


# --- fields of files


# Each field is read, or known to have no effect; unknown fields are reported.
@pytest.mark.parametrize(
    "changes, message",
    [
        ({"more": 3}, "'tokenizer.ggml.more' of the GGUF metadata, 3, is not known"),
        (
            {"add_bos_token": "false"},
            "'tokenizer.ggml.add_bos_token' of the GGUF metadata is 'false'; expected true or",
        ),
        ({"add_eos_token": 1}, "'tokenizer.ggml.add_eos_token' of the GGUF metadata is 1; expected true or false"),
        (
            {"add_space_prefix": 0},
            "'tokenizer.ggml.add_space_prefix' of the GGUF metadata is 0; expected true",
        ),
        ({"pre": 3}, "'tokenizer.ggml.pre' of the GGUF metadata is 3; expected a string"),
        ({"eot_token_id": True}, "'tokenizer.ggml.eot_token_id' of the GGUF metadata is true; expected an integer"),
        (
            {"treat_whitespace_as_suffix": True},
            "'tokenizer.ggml.treat_whitespace_as_suffix' .* is true; expec",
        ),
    ],
)
def test_fields_of_gguf(changes, message):
    with pytest.raises(TokenizerError, match=message):
        Tokenizer.from_gguf(gguf_metadata(**changes))
    Tokenizer.from_gguf(gguf_metadata(add_eos_token=False, fim_pre_token_id=3, token_type_count=1))


@pytest.mark.parametrize(
    "config, message",
    [
        ({"more": 3}, "'more' of '.*tokenizer_config.json', 3, is not known"),
        ({"add_bos_token": "false"}, "'add_bos_token' of '.*tokenizer_config.json' is 'false'; expected true or false"),
        ({"split_special_tokens": True}, "'split_special_tokens' of '.*' is true; expected false"),
        ({"chat_template": False}, "'chat_template' of '.*' is False; expected text"),
        ({"chat_template": 0}, "'chat_template' of '.*' is 0; expected text"),
    ],
)
def test_fields_of_tokenizer_config(tmp_path, config, message):
    path = folder(tmp_path, tokenizer_config=config)
    with pytest.raises(TokenizerError, match=message):
        Tokenizer.from_folder(path)
    usual = {"model_max_length": 10**30, "tokenizer_class": "X", "image_token": "<image>", "legacy": False}
    Tokenizer.from_folder(folder(tmp_path, tokenizer_config=usual))


# Templates of another tokenizer do not outlive it, wherever they are.
@pytest.mark.parametrize("templates", [{}, {"default": "mine"}, {"default": "mine", "tool_use": "tools"}])
def test_saving_over_other_templates(tmp_path, templates):
    (tmp_path / "chat_template.jinja").write_text("theirs")
    (tmp_path / "additional_chat_templates").mkdir()
    for name in ("rag.jinja", "notes.txt"):
        (tmp_path / "additional_chat_templates" / name).write_text("theirs")
    keys = {f"tokenizer.chat_template.{name}": text for name, text in templates.items() if name != "default"}
    if templates:
        keys["tokenizer.chat_template"] = templates["default"]
    Tokenizer.from_gguf({**gguf_metadata(), **keys}).save(tmp_path)
    assert Tokenizer.from_folder(tmp_path).chat_templates == templates
    assert (tmp_path / "additional_chat_templates" / "notes.txt").exists()


def test_saving_to_no_folder(tmp_path):
    with pytest.raises(TokenizerError, match="cannot write a tokenizer to '.*nowhere': No such file or directory"):
        Tokenizer.from_gguf(gguf_metadata()).save(tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()


# Threads that read control tokens and threads that do not share a tokenizer.
def test_threads():
    tokenizer = Tokenizer.from_gguf(gguf_metadata())
    text = "ab<s>cd" * 500
    expected = {special: tokenizer.encode(text, special=special) for special in (False, True)}
    assert len(expected[True]) == 1 + 4 * 500 > len(expected[False])

    def encode(special):
        return all(tokenizer.encode(text, special=special) == expected[special] for _ in range(50))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(encode, [False, True] * 4))
    copied = pickle.loads(pickle.dumps(tokenizer))
    assert copied.encode(text) == expected[True]

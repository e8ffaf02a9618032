# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Token ids of each kind of tokenizer against llama.cpp and transformers (references/)."""

import json
from pathlib import Path

import pytest

from relax_mlir.models import Tokenizer
from relax_mlir.models.pre_tokenizers import PRE_TOKENIZERS

pytest.importorskip("tokenizers")

RECORD = json.loads((Path(__file__).parent / "references" / "tokenizers.json").read_text(encoding="utf-8"))
KINDS = {name: kind for kind in RECORD["kinds"] for name in kind["names"]}
TEXTS, MARKS, SPECIAL = RECORD["texts"], RECORD["marks"], RECORD["special"]


def from_gguf(**values):
    return Tokenizer.from_gguf({f"tokenizer.ggml.{key}": value for key, value in values.items()})


def byte_level(**changes):
    tokens = RECORD["byte_level"]["tokens"]
    ids = {"bos_token_id": tokens.index("<|begin|>"), "eos_token_id": tokens.index("<|end_of_text|>")}
    return from_gguf(**{"model": "gpt2", **RECORD["byte_level"], **ids, **changes})


def differences(found, expected, texts):
    """The texts whose tokens differ, in readable form."""
    assert len(found) == len(expected) == len(texts)
    return {text: rows for text, *rows in zip(texts, found, expected) if rows[0] != rows[1]}


def saved(tokenizer, folder):
    tokenizer.save(folder)
    return Tokenizer.from_folder(folder)


# --- GGUF


def test_every_kind_is_recorded():
    assert set(KINDS) == set(PRE_TOKENIZERS)
    assert len(RECORD["cuts"]["ids"]) == len(RECORD["kinds"])


# The tokens of a kind match llama.cpp, and so do the BOS token and the tokens that end answers.
@pytest.mark.parametrize("pre", KINDS)
def test_kinds(pre):
    kind, tokenizer = KINDS[pre], byte_level(pre=pre)
    texts = [*TEXTS, *SPECIAL]
    assert not differences([tokenizer.encode(text) for text in texts], kind["ids"], texts)
    plain = [tokenizer.encode(text, special=False, bos=False) for text in SPECIAL]
    assert not differences(plain, kind["plain"], SPECIAL)
    assert tokenizer.bos_id == kind["bos"] and sorted(tokenizer.stop_ids) == kind["stops"]


# Text is split where the kind splits it. With pairs of bytes as tokens, each split is visible.
@pytest.mark.parametrize("pre", RECORD["cuts"]["ids"])
def test_cuts(pre):
    record = RECORD["cuts"]
    vocabulary, end = record["vocabulary"], len(record["vocabulary"]["tokens"]) - 1
    for merges, expected in zip(vocabulary["merges"], record["ids"][pre], strict=True):
        values = {**vocabulary, "merges": merges, "bos_token_id": end, "eos_token_id": end, "add_bos_token": False}
        tokenizer = from_gguf(model="gpt2", pre=pre, **values)
        assert not differences([tokenizer.encode(text) for text in record["texts"]], expected, record["texts"])


# Characters with combining marks stay two characters, except in kinds whose tokenizers compose them: there, the tokens
# match transformers with the same vocabulary, unlike llama.cpp.
@pytest.mark.parametrize("pre", [kind["names"][0] for kind in RECORD["kinds"]])
def test_marks(pre):
    kind, tokenizer = KINDS[pre], byte_level(pre=pre, add_bos_token=False)
    expected = [ids[1:] if kind["bos"] is not None else ids for ids in kind["marks"]]
    found = [tokenizer.encode(text) for text in MARKS]
    if pre in ("qwen2", "qwen35"):
        (folder,) = (folder for folder in RECORD["folders"] if folder["name"] == "qwen 2")
        composed = folder["ids"][len(TEXTS) : len(TEXTS) + len(MARKS)]
        assert found != kind["marks"]
        # Both compose characters, and split alike if no mark is left; otherwise, qwen35 splits like llama.cpp.
        expected = composed if pre == "qwen2" else [composed[0], found[1], expected[2]]
    assert not differences(found, expected, MARKS)


# The file's setting for the BOS token takes precedence over its kind's.
@pytest.mark.parametrize("pre", ["llama-bpe", "llama3", "tekken", "smaug-bpe", "qwen2", "default"])
def test_beginning(pre, tmp_path):
    begin = RECORD["byte_level"]["tokens"].index("<|begin|>")
    assert byte_level(pre=pre, add_bos_token=True).bos_id == begin
    assert byte_level(pre=pre, add_bos_token=False).bos_id is None
    assert saved(byte_level(pre=pre, add_bos_token=True), tmp_path).bos_id == begin
    assert saved(byte_level(pre=pre, add_bos_token=False), tmp_path).bos_id is None


# Tokens that end an answer do so whatever their type, and are matched as a whole in text.
@pytest.mark.parametrize("case", RECORD["ends"], ids=lambda case: f"{'+'.join(case['added'])}:{case['type']}")
def test_ends(case, tmp_path):
    alphabet = sorted(token for token in RECORD["byte_level"]["tokens"] if len(token) == 1)
    tokens = [*alphabet, "<last>", *case["added"], "ab"]
    tokenizer = from_gguf(
        model="gpt2",
        pre="gpt-2",
        tokens=tokens,
        token_type=[1] * len(alphabet) + [3] + [case["type"]] * len(case["added"]) + [1],
        merges=["a b"],
        bos_token_id=len(alphabet),
        eos_token_id=len(alphabet),
    )
    for each in (tokenizer, saved(tokenizer, tmp_path)):
        assert [tokens[i] for i in sorted(each.stop_ids)] == case["stops"]
        assert [[tokens[i] for i in each.encode(f"a{end}b")] for end in case["added"]] == case["texts"]


@pytest.mark.parametrize("case", RECORD["sentence_piece_cases"], ids=lambda case: json.dumps(case["options"]))
def test_sentence_piece(case, tmp_path):
    tokenizer = from_gguf(model="llama", **RECORD["sentence_piece"], **case["options"])
    special = RECORD["sentence_piece_special"]
    texts = [*TEXTS, *special]
    for each in (tokenizer, saved(tokenizer, tmp_path)):
        assert not differences([each.encode(text) for text in texts], case["ids"], texts)
        plain = [each.encode(text, special=False, bos=False) for text in special]
        assert not differences(plain, case["plain"], special)
        # A leading space belongs to the text.
        assert not differences([each.decode(each.encode(text)) for text in TEXTS], TEXTS, TEXTS)
        assert each.bos_id == case["bos"] and sorted(each.stop_ids) == case["stops"]


# Scores determine the order of merges, not the positions in the vocabulary.
def test_order_of_sentence_piece():
    record = RECORD["sentence_piece"]
    size = len(record["tokens"])
    at = [*range(259), *reversed(range(259, size))]  # its own inverse
    tokenizer = from_gguf(model="llama", **{key: [values[i] for i in at] for key, values in record.items()})
    expected = [[at[i] for i in ids] for ids in RECORD["sentence_piece_cases"][0]["ids"][: len(TEXTS)]]
    assert not differences([tokenizer.encode(text) for text in TEXTS], expected, TEXTS)


# A stream gives the text of all tokens together: no space is lost or added, wherever control tokens are.
@pytest.mark.parametrize("case", RECORD["decoded"], ids=lambda case: repr(case["text"]))
def test_streams_of_sentence_piece(case):
    tokenizer = from_gguf(model="llama", **RECORD["sentence_piece"])
    assert tokenizer.decode(case["ids"]) == case["text"]
    for known in range(len(case["ids"])):
        before = tokenizer.decode(case["ids"][:known])
        stream = tokenizer.stream(case["ids"][:known])
        text = "".join(map(stream.push, case["ids"][known:])) + stream.finish()
        if "\N{REPLACEMENT CHARACTER}" not in before:
            assert before + text == case["text"]


# The work per step does not grow with the text: only a few tokens are decoded, except for runs of control tokens.
def test_streams_decode_a_few_tokens(monkeypatch):
    tokenizer = from_gguf(model="llama", **RECORD["sentence_piece"])
    sizes, decode = [], tokenizer.decode
    monkeypatch.setattr(tokenizer, "decode", lambda ids: (sizes.append(len(ids)), decode(ids))[1])
    ids = tokenizer.encode(" ".join(TEXTS))
    stream = tokenizer.stream()
    assert "".join(map(stream.push, ids)) + stream.finish() == decode(ids)
    assert len(ids) > 500 and max(sizes) < 12


# --- folders


@pytest.fixture(params=RECORD["folders"], ids=lambda case: case["name"])
def folder(request, tmp_path):
    for name, content in request.param["files"].items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    return request.param, tmp_path


# A folder's tokens match transformers, and so do the tokens of a saved copy.
def test_folders(folder, tmp_path_factory):
    case, path = folder
    texts = [*TEXTS, *MARKS, *SPECIAL]
    tokenizer = Tokenizer.from_folder(path)
    for each in (tokenizer, saved(tokenizer, tmp_path_factory.mktemp("saved"))):
        assert not differences([each.encode(text) for text in texts], case["ids"], texts)
        assert [each.decode(ids) for ids in case["ids"]] == case["decoded"]
        assert each.special_tokens == case["special_tokens"]
        eos = case["eos"] if isinstance(case["eos"], list) else [case["eos"]] * (case["eos"] is not None)
        assert each.stop_ids >= set(eos)


# All properties of a tokenizer survive a round trip through a folder.
@pytest.mark.parametrize("pad", [None, "<|im_start|>"])
def test_saved(pad, tmp_path):
    tokens = RECORD["byte_level"]["tokens"]
    options = {} if pad is None else {"padding_token_id": tokens.index(pad)}
    tokenizer = byte_level(pre="llama-bpe", unknown_token_id=tokens.index("<unk>"), **options)
    tokenizer.chat_templates = {"default": "{{ bos_token }}", "tool_use": "{{ tools }}"}
    other = saved(tokenizer, tmp_path)
    for name in ("bos_id", "pad_id", "stop_ids", "special_tokens", "chat_templates"):
        assert getattr(other, name) == getattr(tokenizer, name), name
    assert other.special_tokens["unk_token"] == "<unk>" and ("pad_token" in other.special_tokens) == (pad is not None)
    # Saving what was read changes nothing.
    files = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    other.save(tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == files

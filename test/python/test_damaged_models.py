# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models with odd content in their files: they are read, or rejected with a `RelaxError`, never another exception.

Each field of each file is replaced by each of many odd values, and random sets of fields together.
"""

import dataclasses
import hashlib
import json
import random

import numpy as np
import pytest
from tiny_models import CONFIG, random_weights, write_gguf, write_hugging_face

from relax_mlir import ModelError, RelaxError, models
from relax_mlir.cli.inputs import parse_argument
from relax_mlir.export import read_code, write_metadata
from relax_mlir.models import LlamaConfig, Tokenizer
from relax_mlir.models.exported import read_description
from relax_mlir.models.gguf_file import GGUFFile

tokenizers = pytest.importorskip("tokenizers")
pytest.importorskip("safetensors")
pytest.importorskip("gguf")

NESTED = json.loads("[" * 60 + "]" * 60)
ODD = [
    None, True, False, 0, 1, -1, 3, 7, 1 << 31, 1 << 62, 1 << 64, 10**30, 0.0, -0.5, 1.5, 1e-40, 1e300, float("inf"),
    float("nan"), "", "x", "64", "\0", "\ud800", "[/x]", "../x", [], [None], [1], ["x"], [[1]], [{}], NESTED, {},
    {"x": 1}, {"": None}, {"content": None}, {"content": 3}, {"rope_type": 3}, {"type": "linear", "factor": 0},
    {"type": "llama3", "factor": 1, "low_freq_factor": 0, "high_freq_factor": 0}, {"type": []}, {"name": "default"},
    [{"name": "default"}], [{"template": "x"}], [{"name": "default", "template": None}], [3], "{% if", "{{ 1/0 }}",
]  # fmt: skip
DELETED = object()


def places(value, path=()):
    """The paths to all values in a JSON value, and to a few elements of each list."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value[:3]) if isinstance(value, list) else ()
    for key, member in items:
        yield from places(member, (*path, key))


def changed(value, path, new):
    """A copy with another value at a path."""
    if not path:
        return None if new is DELETED else new
    copy = dict(value) if isinstance(value, dict) else list(value)
    if len(path) == 1 and new is DELETED:
        del copy[path[0]]
    else:
        copy[path[0]] = changed(copy[path[0]], path[1:], new)
    return copy


def variants(value, count, seed=0):
    """Each path with each odd value, or `count` of these, and then the same number with several paths changed."""
    generator = random.Random(seed)
    single = [(path, new) for path in places(value) for new in (*ODD, DELETED)]
    for path, new in single if len(single) <= count else generator.sample(single, count):
        yield changed(value, path, new)
    for _ in range(count // 4):
        result = value
        for _ in range(generator.randint(2, 4)):
            found = list(places(result))
            result = changed(result, generator.choice(found), generator.choice((*ODD, DELETED)))
        yield result


def write_json(path, value):
    path.write_text(json.dumps(value), encoding="utf-8")


def accepts(act, *arguments):
    """Whether the call succeeds, or fails with a `RelaxError`; any other exception fails the test."""
    try:
        act(*arguments)
    except RelaxError as error:
        assert type(error) is not RelaxError or "template" in str(error), error
        assert str(error)
        return False
    return True


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model folder in Hugging Face's form with all supported files."""
    path = write_hugging_face(tmp_path_factory.mktemp("model") / "x", random_weights())
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel({f"w{i}": i for i in range(100)}, unk_token="w0"))
    words.save(str(path / "tokenizer.json"))
    config = {
        "bos_token": {"content": "w1", "lstrip": False},
        "eos_token": "w2",
        "pad_token": None,
        "add_bos_token": True,
        "chat_template": [{"name": "default", "template": "{{ messages }}"}, {"name": "tool_use", "template": "x"}],
    }
    write_json(path / "tokenizer_config.json", config)
    write_json(path / "generation_config.json", {"eos_token_id": [2, 3], "temperature": 0.5})
    return path


def read_folder(path):
    """Reads the parts of a folder that precede building a program, which is fast."""
    checkpoint = models.open_checkpoint(path)
    checkpoint.config()
    tokenizer = Tokenizer.from_folder(path)
    ids = tokenizer.encode("w1 w2")
    tokenizer.decode(ids)
    if tokenizer.chat_template:
        tokenizer.encode_chat([{"role": "user", "content": "w3"}])


@pytest.mark.parametrize("name", ["config.json", "tokenizer_config.json", "generation_config.json"])
def test_odd_json_in_folders(folder, name):
    path = folder / name
    whole = path.read_text()
    value = json.loads(whole)
    if name == "config.json":
        value |= {
            "rope_scaling": {"type": "linear", "factor": 2.0},
            "sliding_window": None,
            "layer_types": ["full_attention"] * 2,
            "eos_token_id": [2],
        }
    write_json(path, value)
    read_folder(folder)
    outcomes = []
    try:
        for odd in variants(value, 300):
            write_json(path, odd)
            outcomes.append(accepts(read_folder, folder))
        for text in (
            "",
            "{",
            "[" * 100000,
            '{"a": 1, "a": 2}',
            "\ufeff{}",
            "NaN",
            "9" * 5000,
            '"\\ud800"',
            "nul",
            "{}x",
        ):
            path.write_text(text, encoding="utf-8")
            accepts(read_folder, folder)
        for data in (b"\xff\xfe", b"\x80", b"\0" * 10, whole.encode("utf-16")):
            path.write_bytes(data)
            assert not accepts(read_folder, folder)
    finally:
        path.write_text(whole)
    assert not all(outcomes) and any(outcomes)


# A smaller sample, up to a program.
def test_odd_json_builds_or_is_refused(folder):
    path = folder / "config.json"
    whole = path.read_text()
    try:
        for odd in variants(json.loads(whole), 24, seed=1):
            write_json(path, odd)
            accepts(models.build, folder)
    finally:
        path.write_text(whole)


def test_odd_index(folder):
    path = folder / "model.safetensors.index.json"
    value = {"metadata": {"total_size": 3}, "weight_map": {"model.norm.weight": "model.safetensors"}}
    try:
        for odd in variants(value, 200):
            write_json(path, odd)
            accepts(models.open_checkpoint, folder)
    finally:
        path.unlink()


# The configuration of an exported model, and its metadata, whose seal is recomputed here.
def test_odd_json_in_exported_folders(tmp_path):
    folder = tmp_path / "folder"
    models.build(write_gguf(tmp_path / "x.gguf", random_weights())).export(folder)
    metadata = json.loads((folder / "metadata.json").read_text())
    metadata.pop("seal")

    def write(config):
        write_json(folder / "config.json", config)
        if "config.json" in metadata.get("files", {}):
            metadata["files"]["config.json"] = hashlib.sha256((folder / "config.json").read_bytes()).hexdigest()
        write_metadata(folder / "metadata.json", metadata)

    config = dataclasses.asdict(dataclasses.replace(CONFIG, biases=("q_proj",), rope_factors=(1.0,) * 8))
    outcomes = []
    for odd in variants(json.loads(json.dumps(config)), 250):
        write(odd)
        outcomes.append(accepts(read_description, folder))
    assert not all(outcomes) and any(outcomes)
    write(config)
    for odd in variants(metadata, 100):
        if isinstance(odd, dict):
            write_metadata(folder / "metadata.json", odd)
        else:
            write_json(folder / "metadata.json", odd)
        accepts(read_code, folder)


# GGUF metadata have types, but values may still be odd.
def test_odd_metadata_of_gguf(tmp_path):
    file = GGUFFile(write_gguf(tmp_path / "x.gguf", random_weights()))
    shapes = {name: entry.shape for name, entry in file.tensors.items()}
    tokens = {
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "default",
        "tokenizer.ggml.tokens": ["a", "b", "ab", "<s>"],
        "tokenizer.ggml.merges": ["a b"],
        "tokenizer.ggml.token_type": [1, 1, 1, 3],
        "tokenizer.ggml.scores": [0.0, 0.0, 0.0, 0.0],
        "tokenizer.ggml.bos_token_id": 3,
        "tokenizer.ggml.eos_token_id": 3,
        "tokenizer.ggml.add_bos_token": True,
        "tokenizer.chat_template": "{{ messages }}",
    }

    def read(metadata):
        LlamaConfig.from_gguf(metadata, shapes)

    def read_tokenizer(metadata):
        tokenizer = Tokenizer.from_gguf(metadata)
        tokenizer.decode(tokenizer.encode("ab"))

    Tokenizer.from_gguf(tokens)
    for value, act in ((file.metadata, read), (tokens, read_tokenizer)):
        for odd in variants(value, 800):
            if isinstance(odd, dict):
                accepts(act, odd)


# Bytes that were changed anywhere in the header of a file.
def test_damaged_headers(tmp_path):
    path = write_gguf(tmp_path / "x.gguf", random_weights())
    data = path.read_bytes()
    end = GGUFFile(path)._start
    generator = np.random.default_rng(1)
    for _ in range(150):
        damaged = bytearray(data)
        for place in generator.integers(4, end, 2):
            damaged[place] = generator.choice([0, 1, 0x7F, 0x80, 0xFF, generator.integers(256)])
        path.write_bytes(damaged)
        accepts(lambda: models.open_checkpoint(path).config())


def test_shards_with_odd_headers(tmp_path):
    path = write_hugging_face(tmp_path / "x", random_weights()) / "model.safetensors"
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    header, generator = json.loads(data[8 : 8 + size]), random.Random(0)
    for odd in variants(header, 100):
        text = json.dumps(odd).encode()
        path.write_bytes(len(text).to_bytes(8, "little") + text + data[8 + size :])
        accepts(
            lambda: [models.open_checkpoint(path.parent).tensor(name) for name in generator.sample(list(header), 2)]
        )
    with pytest.raises(ModelError, match="truncated or damaged"):
        path.write_bytes(b"\xff" * 100)
        models.open_checkpoint(path.parent)


# Arrays in files, which `relax-mlir run` reads: any bytes are an array or a `RelaxError`.
def test_damaged_arrays(tmp_path):
    path, generator = tmp_path / "x.npy", np.random.default_rng(0)
    np.save(path, np.arange(8, dtype=np.float32).reshape(2, 4))
    data = path.read_bytes()
    headers = [
        b"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 4), }",
        b"{'descr': '<f4', 'fortran_order': False, 'shape': (",
        b"{'descr': 3, 'fortran_order': False, 'shape': (2, 4), }",
        b"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }",
        b"{'descr': '<f4', 'fortran_order': False, 'shape': (True, None), }",
        b"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999, 4), }",
        b"{'descr': [('x', '<f4'), 3], 'fortran_order': 0, 'shape': (2, 4), }",
        b"\n  {'descr'\n 3",
        b"[" * 5000,
        b"\x00",
        b"lambda",
    ]
    files = [data[:8] + len(header).to_bytes(2, "little") + header + data[-32:] for header in headers]
    files += [data[:size] for size in range(0, len(data), 7)]
    for _ in range(2000):
        damaged = bytearray(data)
        for place in generator.integers(6, 100, generator.integers(1, 4)):
            damaged[place] = generator.integers(256)
        files.append(bytes(damaged))
    outcomes = []
    for content in files:
        path.write_bytes(content)
        try:
            parse_argument(str(path), generator)
            outcomes.append(True)
        except RelaxError as error:
            assert str(path) in str(error)
            outcomes.append(False)
    assert any(outcomes) and not all(outcomes)

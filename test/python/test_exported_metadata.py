# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exported folders with invalid JSON or weights, although their checksums may be valid."""

import copy
import hashlib
import json
import random
import struct

import numpy as np
import pytest
from tiny_models import random_weights, write_gguf

import relax_mlir
from relax_mlir import BlockBuilder, Sym, Tensor, models, op, stored_weights
from relax_mlir.errors import ModelError, RelaxError, WeightError
from relax_mlir.export import VERSION, export, open_exported, write_metadata
from relax_mlir.models.exported import read_description

ODD = (None, True, 0, -1, 1.5, 10**30, "", "x", "\0", [], [None], ["x"], {}, {"a": None}, [[]])
WEIGHTS = {"w": np.arange(4, dtype=np.float32), "v": np.ones(4, np.float16)}


def write(folder, target=None):
    bb, n = BlockBuilder(), Sym("n")
    x = Tensor((n, 4), "f32", name="x")
    with bb.function("main", [x]):
        w, v = op.weight("w", Tensor((4,), "f32")), op.weight("v", Tensor((4,), "f16"))
        bb.return_(op.add(op.add(x, w), op.astype(v, "f32")))
    export(relax_mlir.compile_code(bb.module(), target), folder, WEIGHTS)
    return folder


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr("relax_mlir.export.link_shared", lambda *_, **__: None)  # slow, and its result is not read
    return write(tmp_path / "model")


def reseal(folder, metadata):
    write_metadata(folder / "metadata.json", {name: value for name, value in metadata.items() if name != "seal"})


def places(value, path=()):
    """The path of each part of a value."""
    yield path
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in members:
        yield from places(member, (*path, key))


def changed(value, path, change):
    value = copy.deepcopy(value)
    *front, last = path
    inner = value
    for key in front:
        inner = inner[key]
    change(inner, last)
    return value


def loads_or_refuses(folder, error=ModelError):
    """Whether a folder loads; an error must be of the given kind."""
    try:
        relax_mlir.load_exported(folder)
    except error as caught:
        assert str(folder) in str(caught)
        return False
    return True


# Each field, at every depth, is removed, or replaced by each odd value; then random pairs of fields.
def test_odd_metadata(folder):
    metadata = json.loads((folder / "metadata.json").read_text())
    all_places = [path for path in places(metadata) if path and path[0] != "seal"]
    refused = 0
    for path in all_places:
        reseal(folder, changed(metadata, path, lambda inner, last: inner.pop(last)))
        refused += not loads_or_refuses(folder)
        for odd in ODD:
            reseal(folder, changed(metadata, path, lambda inner, last, odd=odd: inner.__setitem__(last, odd)))
            refused += not loads_or_refuses(folder)
    assert refused > 10 * len(all_places)
    random.seed(0)
    for _ in range(200):
        value = metadata
        for path in random.sample(all_places, 2):
            odd = random.choice(ODD)
            try:
                value = changed(value, path, lambda inner, last, odd=odd: inner.__setitem__(last, odd))
            except (KeyError, IndexError, TypeError, AttributeError):
                continue  # the first change removed the place of the second
        reseal(folder, value)
        loads_or_refuses(folder)


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda m: m.update(target=3), "the description.target is 3; expected an object"),
        (lambda m: m["target"].update(chip=90), "the description.target.chip is 90; expected a string"),
        (lambda m: m["target"].update(chip="sm 90"), "there is no GPU 'sm 90'"),
        (lambda m: m.update(functions=None), "the description.functions is null; expected an object"),
        (lambda m: m.update(weights=1), "the description.weights is 1; expected a list"),
        (lambda m: m.update(weights=["w", "w"]), "the description.weights has a name twice"),
        (lambda m: m.update(device="vulkan"), "the device is 'vulkan'"),
        (lambda m: m.update(more=1), "the description has a field 'more', which is not known"),
        (lambda m: m.pop("memory"), "the description has no 'memory'"),
        (lambda m: m["functions"].update(other=m["functions"]["main"]), "other"),
        (lambda m: m["functions"]["main"]["parameters"][0].pop("name"), r"parameters\[0\] has no 'name'"),
        (lambda m: m["functions"]["main"].update(host_results=[7]), "host_results are not among 1 results"),
        (lambda m: m["files"].update({"../x": "0"}), "files has a field '../x', which is not the name of a file"),
        (lambda m: m["files"].update({"model.so": "0"}), "files has a field 'model.so', which is not the name of a"),
        (lambda m: m["files"]["weights.safetensors"].update(bytes="x"), 'bytes is "x"; expected an integer'),
        (lambda m: m.update(version=True), f"its format is True, expected {VERSION}"),
        (lambda m: m.update(version=2), f"of another version of relax-mlir: its format is 2, expected {VERSION}"),
        (lambda m: m.update(cpu_features=["no-such"]), "a CPU with no-such, which this one lacks"),
    ],
)
def test_errors_name_the_field(folder, change, message):
    metadata = json.loads((folder / "metadata.json").read_text())
    change(metadata)
    reseal(folder, metadata)
    with pytest.raises(ModelError, match=message):
        relax_mlir.load_exported(folder)


TEXTS = {
    "": "Expecting value",
    "null": "null",
    "[]": "expected an object",
    '"x"': "expected an object",
    "3": "expected an object",
    "{": "Expecting property name",
    f'{{"version": {VERSION}}}': None,
    "NaN": None,
    '{"a": 1, "a": 2}': "twice|two values",
    "[" * 100000: "nests too deep|recursion",
    "\xff": "codec can't decode",
    "\0": "Expecting value",
}
"""Text that is not a description, and the message if both files have it."""


@pytest.mark.parametrize("text, message", TEXTS.items())
def test_metadata_that_are_no_description(folder, text, message):
    (folder / "metadata.json").write_bytes(text.encode("latin-1"))
    message = message or (f"its format is {VERSION}" if "version" in text else "the number NaN; expected a finite one")
    with pytest.raises(ModelError, match=f"(?s)metadata.json' is .*({message})"):
        relax_mlir.load_exported(folder)


# The checksum is valid, so the text itself is rejected.
@pytest.mark.parametrize("text, message", TEXTS.items())
def test_a_configuration_that_is_no_description(model_folder, text, message):
    change_companion(model_folder, "config.json", text.encode("latin-1"))
    message = message or ("'version' is not a field" if "version" in text else "a number in JSON; expected an object")
    with pytest.raises(ModelError, match=f"(?s)config.json' .*({message})"):
        models.load(model_folder)


# --- weights


def rewrite_weights(folder, change_header=None, change_data=None):
    """Changes the file, and its checksums with it."""
    path = folder / "weights.safetensors"
    data = path.read_bytes()
    (size,) = struct.unpack_from("<Q", data)
    text, values = data[8 : 8 + size], data[8 + size :]
    if change_header:
        text = change_header(json.loads(text))
        text = text if isinstance(text, bytes) else json.dumps(text).encode()
    values = change_data(values) if change_data else values
    path.write_bytes(struct.pack("<Q", len(text)) + text + values)
    metadata = json.loads((folder / "metadata.json").read_text())
    with path.open("rb") as file, stored_weights._mapped(file.fileno()) as mapped:
        metadata["files"]["weights.safetensors"] = {
            "bytes": len(mapped),
            "sample": stored_weights._digest_of_sample(mapped),
            "pieces": stored_weights._digest_of_pieces(mapped),
        }
    reseal(folder, metadata)


def with_entry(**changes):
    return lambda header: {**header, "w": {**header["w"], **changes}}


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda h: b'{"w": 1, "w": 2}', "it has the name 'w' twice"),
        (lambda h: b"[" * 100000, "it nests too deep"),
        (lambda h: b"3", "the header is 3; expected an object"),
        (lambda h: b"", "is damaged"),
        (lambda h: {"w": h["w"]}, "its tensors end at|does not begin where"),
        (with_entry(dtype="F99"), "tensor 'w' is of type 'F99', which is not known"),
        (with_entry(dtype=None), "the header.w.dtype is null; expected a string"),
        (with_entry(shape=[5]), r"tensor 'w' of shape \[5\] has 16 bytes"),
        (with_entry(shape=[-4]), r"tensor 'w' of shape \[-4\]"),
        (with_entry(shape="x"), 'the header.w.shape is "x"; expected a list'),
        (with_entry(shape=[2**62, 2**62]), "tensor 'w' of shape"),
        (with_entry(data_offsets=[-16, 0]), "does not begin where the one before it ends"),
        (with_entry(data_offsets=[0]), "does not begin where the one before it ends"),
        (with_entry(data_offsets=[0, 10**30]), "does not begin where|its tensors end at"),
        (lambda h: {**h, "u": {**h["w"]}}, "does not begin where the one before it ends"),
        (lambda h: {**{k: v for k, v in h.items() if k != "w"}, "u": h["w"]}, "lacks the weight 'w'"),
        (with_entry(shape=[2, 2]), "weight 'w' .*: expected 1 dimensions, got 2"),
        (with_entry(dtype="I32"), "weight 'w'"),
    ],
)
def test_damaged_headers_of_weights(folder, change, message):
    rewrite_weights(folder, change)
    with pytest.raises(WeightError, match=message):
        relax_mlir.load_exported(folder)


# The checksum detects the change, since its sample covers all bytes of a file of this size.
@pytest.mark.parametrize("mapped", [True, False])
def test_any_damaged_byte_of_weights(folder, mapped):
    path = folder / "weights.safetensors"
    data = path.read_bytes()
    for position in range(0, len(data), 3):
        path.write_bytes(data[:position] + bytes([data[position] ^ 1]) + data[position + 1 :])
        with pytest.raises(WeightError, match="weights.safetensors' is damaged|damaged, or of another model"):
            relax_mlir.load_exported(folder, mapped=mapped)
    for size in range(0, len(data), 5):
        path.write_bytes(data[:size])
        with pytest.raises(WeightError, match="bytes; expected|cannot read"):
            relax_mlir.load_exported(folder, mapped=mapped)
    path.write_bytes(data + b"x")
    with pytest.raises(WeightError, match="bytes; expected"):
        relax_mlir.load_exported(folder, mapped=mapped)


# A large file: mapping detects unwritten parts and another model's file; copying detects a single flipped bit.
def test_checksums_of_large_weights(tmp_path):
    path = tmp_path / "w"
    weights = {"w": np.random.default_rng(0).integers(1, 255, 40 << 20, dtype=np.uint8)}
    expected = stored_weights.save_weights(weights, path, 0o644)
    for whole in (False, True):
        assert np.array_equal(stored_weights.map_weights(path, expected, whole=whole)["w"], weights["w"])
    with path.open("r+b") as file:
        file.seek(23 << 20)
        file.write(b"\0")
    stored_weights.map_weights(path, expected, whole=False)  # the sample does not cover it
    with pytest.raises(WeightError, match="damaged, or of another model"):
        stored_weights.map_weights(path, expected, whole=True)
    with path.open("r+b") as file:
        file.seek(20 << 20)
        file.write(bytes(1 << 20))
    with pytest.raises(WeightError, match="damaged, or of another model"):
        stored_weights.map_weights(path, expected, whole=False)


# --- language models


@pytest.fixture(scope="module")
def exported_model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    write_gguf(folder / "tiny.gguf", random_weights())
    models.build(folder / "tiny.gguf").export(folder / "exported")
    return folder / "exported"


@pytest.fixture
def model_folder(exported_model, tmp_path):
    copy = tmp_path / "copy"
    copy.mkdir()
    for path in exported_model.iterdir():
        (copy / path.name).write_bytes(path.read_bytes())
    return copy


def test_numbers_of_exported_language_models(model_folder):
    models.load(model_folder)

    def with_nan(values):
        array = np.frombuffer(values, np.float32).copy()
        array[len(array) // 2] = np.nan
        return array.tobytes()

    rewrite_weights(model_folder, change_data=with_nan)
    with pytest.raises(WeightError, match="values that are not numbers"):
        models.load(model_folder)


# Types that NumPy itself lacks: f16 has it, bf16 and f8 are of ml_dtypes.
@pytest.mark.parametrize(
    "options, dtype, nan",
    [
        ({"dtype": "f16"}, "F16", b"\x00\x7e"),
        ({"dtype": "bf16"}, "BF16", b"\xc0\x7f"),
        ({"layout": "groups", "quantisation": "F8_E4M3"}, "F8_E4M3", b"\x7f"),
        ({"layout": "groups", "quantisation": "F8_E5M2"}, "F8_E5M2", b"\x7f"),
    ],
)
def test_numbers_of_other_types(tmp_path, monkeypatch, options, dtype, nan):
    monkeypatch.setattr("relax_mlir.export.link_shared", lambda *_, **__: None)
    write_gguf(tmp_path / "tiny.gguf", random_weights())
    models.build(tmp_path / "tiny.gguf", **options).export(tmp_path / "model")
    path = tmp_path / "model" / "weights.safetensors"
    (size,) = struct.unpack_from("<Q", path.read_bytes())
    header = json.loads(path.read_bytes()[8 : 8 + size])
    begin = next(entry["data_offsets"][0] for entry in header.values() if entry["dtype"] == dtype)
    models.load(tmp_path / "model")
    rewrite_weights(tmp_path / "model", change_data=lambda data: data[:begin] + nan + data[begin + len(nan) :])
    with pytest.raises(WeightError, match="holds 1 values that are not numbers"):
        models.load(tmp_path / "model")


def change_companion(folder, name, data):
    """Changes a file, and its checksum with it."""
    (folder / name).write_bytes(data)
    metadata = json.loads((folder / "metadata.json").read_text())
    metadata["files"][name] = hashlib.sha256(data).hexdigest()
    reseal(folder, metadata)


def test_companions_have_checksums(model_folder):
    present = open_exported(model_folder).companions()
    assert "config.json" in present
    for name in present:
        data = (model_folder / name).read_bytes()
        (model_folder / name).write_bytes(data.replace(b"e", b"3", 1))
        with pytest.raises(ModelError, match=f"{name}' is damaged"):
            models.load(model_folder)
        (model_folder / name).unlink()
        with pytest.raises(ModelError, match=name):
            models.load(model_folder)
        (model_folder / name).write_bytes(data)
    models.load(model_folder)


# Files that the metadata do not list have no effect.
def test_only_files_that_are_listed_are_read(model_folder):
    before = read_description(model_folder)
    listed = open_exported(model_folder).files
    planted = ["chat_template.jinja", "special_tokens_map.json", "vocab.txt"]
    if "tokenizer.json" not in listed:
        planted.append("tokenizer.json")
    assert not listed.keys() & set(planted)
    for name in planted:
        (model_folder / name).write_text("not of this model")
    (model_folder / "additional_chat_templates").mkdir()
    (model_folder / "additional_chat_templates" / "tool_use.jinja").write_text("neither")
    after = read_description(model_folder)
    assert after.no_tokenizer == before.no_tokenizer
    assert (after.tokenizer and after.tokenizer.chat_templates) == (
        before.tokenizer and before.tokenizer.chat_templates
    )


# The checked content is the used content, even if a file changes in between.
def test_what_was_hashed_is_read(model_folder):
    exported = open_exported(model_folder)
    files = exported.companions()
    (model_folder / "config.json").write_text("{}")
    assert json.loads(files["config.json"])["vocab_size"] > 0


def test_odd_configurations(model_folder, monkeypatch):
    monkeypatch.setattr("relax_mlir.export.load_exported", lambda *_, **__: None)
    monkeypatch.setattr("relax_mlir.models.exported.LanguageModel", lambda *_: None)
    config = json.loads((model_folder / "config.json").read_text())
    refused = 0
    for name in config:
        for value in (*ODD, "remove"):
            other = {**config, name: value}
            if value == "remove":
                del other[name]
            change_companion(model_folder, "config.json", json.dumps(other).encode())
            try:
                models.load(model_folder)
            except ModelError as error:
                assert "config.json" in str(error)
                refused += 1
    assert refused > 7 * len(config)
    for text in ("null", "[]", "3", "{}", "{", '{"a": NaN}', '{"more": 1}', "[" * 100000, ""):
        change_companion(model_folder, "config.json", text.encode())
        with pytest.raises(ModelError, match="config.json"):
            models.load(model_folder)


# A program that replaces a language model is not one; unrelated files in the folder stay.
def test_a_program_replaces_a_language_model(model_folder):
    (model_folder / "notes.txt").write_text("mine")
    write(model_folder)
    assert not (model_folder / "config.json").exists() and (model_folder / "notes.txt").read_text() == "mine"
    with pytest.raises(ModelError, match="holds a program and no language model"):
        models.load(model_folder)
    assert relax_mlir.load_exported(model_folder)
    (model_folder / "config.json").write_text("{}")  # an unrelated file
    write(model_folder)
    assert (model_folder / "config.json").exists()


def test_folders_of_earlier_versions(folder):
    metadata = json.loads((folder / "metadata.json").read_text())
    old = {name: value for name, value in metadata.items() if name not in ("files", "cpu_features", "seal")}
    write_metadata(folder / "metadata.json", {**old, "version": 2, "checksum": metadata["files"]["model.o"]})
    expected = f"of another version of relax-mlir: its format is 2, expected {VERSION}; export"
    with pytest.raises(ModelError, match=expected):
        relax_mlir.load_exported(folder)
    assert issubclass(ModelError, RelaxError)

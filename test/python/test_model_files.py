# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Model files: sets of several files, and files that are not what they seem."""

import errno
import json
import os
import shutil
import struct

import numpy as np
import pytest
from tiny_models import CONFIG, random_weights, write_gguf, write_hugging_face

from relax_mlir import ModelError, TokenizerError, WeightError, models
from relax_mlir.export import VERSION, write_metadata
from relax_mlir.models import LanguageModel, ModelWeights, matrix, open_checkpoint
from relax_mlir.models.gguf import FORMATS, hugging_face_name
from relax_mlir.models.gguf_file import _OTHER_FORMATS, GGUFFile
from relax_mlir.runtime import HugePages

gguf = pytest.importorskip("gguf")
numpy = pytest.importorskip("safetensors.numpy")

LFS = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935\nsize 12345\n"


@pytest.fixture
def weights():
    return random_weights()


def weights_of(path):
    """Everything that a model reads from a checkpoint."""
    checkpoint = open_checkpoint(path)
    make = lambda name, *shape: matrix.make(*shape, "plain", checkpoint.format(name))  # noqa: E731
    return dict(ModelWeights(models.Llama(checkpoint.config(), make), checkpoint))


def assert_same(found, expected):
    assert found.keys() == expected.keys()
    for name in found:
        np.testing.assert_array_equal(found[name], expected[name])


# --- every tensor is used


# An unused tensor is reported under its name in the file.
@pytest.mark.parametrize(
    "name", ["blk.0.attn_q_norm.weight", "blk.1.ffn_gate_inp.weight", "blk.2.attn_q.weight", "output.bias", "other"]
)
def test_unused_tensors(tmp_path, weights, name):
    weights[name] = np.ones((16,), np.float32)
    with pytest.raises(WeightError, match=f"has 1 tensors that the model does not use: {name};"):
        models.build(write_gguf(tmp_path / "x.gguf", weights))
    theirs = hugging_face_name(name)
    with pytest.raises(WeightError, match=f"has 1 tensors that the model does not use: {theirs};"):
        models.build(write_hugging_face(tmp_path / "x", weights))


def test_irrelevant_tensors(tmp_path, weights):
    expected = weights_of(write_hugging_face(tmp_path / "x", weights))
    weights["model.layers.0.self_attn.rotary_emb.inv_freq"] = np.ones((8,), np.float32)
    assert_same(weights_of(write_hugging_face(tmp_path / "x", weights)), expected)


# Hugging Face's names imply another order of rows than GGUF's names.
def test_names_of_the_other_form(tmp_path, weights):
    weights["model.norm.weight"] = weights.pop("output_norm.weight")
    with pytest.raises(
        WeightError, match=r"'model.norm.weight' of .* has a name of Hugging Face; expected one of GGUF"
    ):
        models.build(write_gguf(tmp_path / "x.gguf", weights))


# A folder with tied embeddings may have either matrix, or both if they are equal.
def test_tied_embeddings(tmp_path, weights):
    expected = weights_of(write_hugging_face(tmp_path / "x", weights))
    head = weights["token_embd.weight"]
    assert_same(weights_of(write_hugging_face(tmp_path / "x", {**weights, "output.weight": head})), expected)
    with pytest.raises(WeightError, match="lm_head.weight that differs from the embedding; set it to false"):
        weights_of(write_hugging_face(tmp_path / "x", {**weights, "output.weight": head + 1}))
    del weights["token_embd.weight"]
    assert_same(weights_of(write_hugging_face(tmp_path / "x", {**weights, "output.weight": head})), expected)


# --- sets of safetensors files


def split_folder(path, weights, names=("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors")):
    """A folder of two shards with an index, and the names of the tensors in each."""
    write_hugging_face(path, weights)
    (path / "model.safetensors").unlink()
    renamed = {hugging_face_name(name): value for name, value in weights.items()}
    halves = [dict(list(renamed.items())[:7]), dict(list(renamed.items())[7:])]
    index = {}
    for name, half in zip(names, halves):
        numpy.save_file(half, path / name)
        index |= dict.fromkeys(half, name)
    (path / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": index}))
    return path, index


def test_shards(tmp_path, weights):
    expected = weights_of(write_hugging_face(tmp_path / "whole", weights))
    path, index = split_folder(tmp_path / "x", weights)
    assert_same(weights_of(path), expected)
    # Mistral's own copy is not one of the model's files.
    numpy.save_file({"layers.0.wq": np.ones(3)}, path / "consolidated.safetensors")
    assert_same(weights_of(path), expected)
    # The index and the files agree.
    name = "model.norm.weight"
    for changed in ({name: "model-00001-of-00002.safetensors"}, {"more": "model-00001-of-00002.safetensors"}):
        (path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {**index, **changed}}))
        with pytest.raises(WeightError, match=f"tensor '{next(iter(changed))}' should be in model-00001-of-00002"):
            weights_of(path)
    for damaged in ({}, {"weight_map": {}}, {"weight_map": {"a": 3}}, {"weight_map": {"a": "../x.safetensors"}}, []):
        (path / "model.safetensors.index.json").write_text(json.dumps(damaged))
        with pytest.raises(ModelError, match="no 'weight_map'|expected one in the same folder|expected an object"):
            weights_of(path)
    # Without an index, the names tell the number of files.
    (path / "model.safetensors.index.json").unlink()
    assert_same(weights_of(path), expected)
    shutil.copy(path / "model-00001-of-00002.safetensors", path / "other-00001-of-00003.safetensors")
    with pytest.raises(WeightError, match="nothing says which of them are the model"):
        weights_of(path)
    (path / "other-00001-of-00003.safetensors").unlink()
    (path / "model-00002-of-00002.safetensors").unlink()
    with pytest.raises(WeightError, match="lacks 1 of 2 weight files: model-00002-of-00002.safetensors"):
        weights_of(path)


# If two files could each be the model, neither is chosen silently.
@pytest.mark.parametrize("name", ["other.safetensors", "adapter_model.safetensors", "model-00001-of-00002.safetensors"])
def test_a_second_file(tmp_path, weights, name):
    path = write_hugging_face(tmp_path / "x", weights)
    numpy.save_file({"model.norm.weight": np.zeros(64, np.float32)}, path / name)
    with pytest.raises(WeightError, match=f"has model.safetensors, and {name}, which is not part of that model"):
        weights_of(path)
    (path / "model.safetensors").rename(path / "first.safetensors")
    with pytest.raises(WeightError, match="nothing says which of them are the model|lacks 1 of 2|not part of that"):
        weights_of(path)


def test_a_tensor_twice(tmp_path, weights):
    path, _ = split_folder(tmp_path / "x", weights)
    (path / "model.safetensors.index.json").unlink()
    shutil.copy(path / "model-00001-of-00002.safetensors", path / "model-00002-of-00002.safetensors")
    with pytest.raises(WeightError, match="tensor '.*' is in '.*00001-of-00002.safetensors' and in '.*00002-of"):
        weights_of(path)


def test_types_that_are_not_read(tmp_path, weights):
    weights["blk.0.attn_q.weight"] = weights["blk.0.attn_q.weight"].astype(np.int8)
    with pytest.raises(WeightError, match="'model.layers.0.self_attn.q_proj.weight' of .* is I8; known are F32, F16"):
        weights_of(write_hugging_face(tmp_path / "x", weights))


# --- GGUF in several files


def split_gguf(path, weights, parts=3, **changes):
    """The paths of a split model, with llama.cpp's names."""
    whole = write_gguf(path / "whole.gguf", weights)
    metadata = GGUFFile(whole).metadata
    kinds = {int: gguf.GGUFValueType.UINT32, float: gguf.GGUFValueType.FLOAT32, str: gguf.GGUFValueType.STRING}
    names, paths = list(weights), []
    for part in range(parts):
        paths.append(path / f"x-{part + 1:05}-of-{parts:05}.gguf")
        writer = gguf.GGUFWriter(paths[-1], "llama")
        for key, value in metadata.items():
            if part == 0 and key.startswith("llama."):
                writer.add_key_value(key, value, kinds[type(value)])
        split = {
            "split.no": part,
            "split.count": parts,
            "split.tensors.count": len(weights),
            **changes.get(f"p{part}", {}),
        }
        for key, value in split.items():
            if value is None:
                continue
            writer.add_key_value(key, value, gguf.GGUFValueType.UINT16)
        for name in names[part::parts]:
            writer.add_tensor(name, weights[name])
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
    return whole, paths


def test_split_gguf(tmp_path, weights):
    whole, paths = split_gguf(tmp_path, weights)
    expected = weights_of(whole)
    for path in paths:
        assert_same(weights_of(path), expected)
    renamed = paths[1].rename(tmp_path / "renamed.gguf")
    with pytest.raises(WeightError, match="is part of a split model, of which x-00002-of-00003.gguf are missing"):
        weights_of(paths[0])
    with pytest.raises(WeightError, match=r"is part 2 of a model that is split into 3 files; .* -00002-of-00003.gguf"):
        weights_of(renamed)


# Missing tensors of a part are detected: without `output.weight`, a model would seem to have tied embeddings.
def test_split_gguf_without_a_tensor(tmp_path):
    weights = random_weights()
    weights["output.weight"] = np.ones((100, 64), np.float32)
    _, paths = split_gguf(tmp_path, weights)
    del weights["output.weight"]
    (tmp_path / "other").mkdir()
    _, others = split_gguf(tmp_path / "other", weights)
    shutil.copy(others[2], paths[2])
    with pytest.raises(WeightError, match="have 20 tensors together; expected 21"):
        weights_of(paths[0])
    _, paths = split_gguf(tmp_path, weights, p0={"split.tensors.count": 21})
    with pytest.raises(WeightError, match="have 20 tensors together; expected 21"):
        weights_of(paths[0])


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"p0": {"split.tensors.count": None}}, "has no 'split.tensors.count', by which a model that is split into 3"),
        ({"p1": {"split.no": 0}}, "does not say that it is part 2 of 3, as its name does"),
        ({"p1": {"split.count": 2}}, "does not say that it is part 2 of 3"),
        ({"p0": {"split.no": 1}}, "is part 2 of a model that is split into 3 files"),
        ({"p0": {"split.count": 0}}, "lacks .* of the model's tensors"),
    ],
)
def test_split_gguf_that_does_not_fit(tmp_path, weights, changes, message):
    _, paths = split_gguf(tmp_path, weights, **changes)
    with pytest.raises(WeightError, match=message):
        weights_of(paths[0])


# --- GGUF formats


def header(tensors=(), metadata=(), version=3):
    """The bytes of a GGUF file with these tensors, (name, shape, format), and metadata strings."""
    data = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(metadata))
    string = lambda text: struct.pack("<Q", len(text)) + text.encode()  # noqa: E731
    for key, value in metadata:
        data += string(key) + struct.pack("<I", 8) + string(value)
    for name, shape, kind in tensors:
        data += string(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *reversed(shape), kind, 0)
    return data + bytes(16384)


@pytest.mark.parametrize("number", range(44))
def test_formats_by_name(tmp_path, number):
    path = tmp_path / "x.gguf"
    path.write_bytes(header([("x", (4, 256), number)]))
    if number in FORMATS:
        assert GGUFFile(path).tensors["x"].format == number
        return
    theirs = {kind.value: kind.name for kind in gguf.GGMLQuantizationType}
    name = _OTHER_FORMATS.get(number, f"the format {number} of GGML")
    assert theirs.get(number, name).partition(",")[0] == name.partition(",")[0] or number not in theirs
    with pytest.raises(ModelError, match=f"tensor 'x' is in {name}; known are F32, F16, "):
        GGUFFile(path)


@pytest.mark.parametrize(
    "content, message",
    [
        (header([("x", (0, 4), 0)]), r"tensor 'x' has the shape \(0, 4\); expected at least one element"),
        (header([("x", (4, 0), 2)]), r"tensor 'x' has the shape \(4, 0\)"),
        (header([("x", (4,), 0)] * 2), "has the tensor 'x' twice"),
        (header(metadata=[("a", "b")] * 2), "has the metadata 'a' twice"),
        (header([("x", (4, 33), 2)]), "its rows must be multiples of 32"),
        (header([("x", (1 << 40,), 0)]), "is truncated: tensor 'x' lies at"),
        (header(version=1), "is GGUF of version 1"),
        (b"GGUF\0\0\0\3" + bytes(64), "is a big-endian GGUF file; expected a little-endian one.*gguf-convert-endian"),
        (LFS.encode(), "is a Git LFS pointer, not the file itself; run 'git lfs pull'"),
        (b"tjgg" + bytes(64), "is a GGJT file from before GGUF"),
        (b"PK\3\4" + bytes(64), "is a zip archive, as PyTorch writes"),
        (b"<!DOCTYPE html>", "is a web page"),
        (struct.pack("<Q", 20) + b'{"x":{}}' + bytes(64), "is a safetensors file; name its folder"),
        (b"", "the file is empty"),
        (b"GG", "not a GGUF file"),
    ],
)
def test_what_a_file_is_instead(tmp_path, content, message):
    path = tmp_path / "x.gguf"
    path.write_bytes(content)
    with pytest.raises(ModelError, match=message):
        models.build(path)


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"])
def test_lfs_pointers(tmp_path, weights, name):
    path = write_hugging_face(tmp_path / "x", weights)
    if name != "tokenizer.json":
        tokenizers = pytest.importorskip("tokenizers")
        tokenizers.Tokenizer(tokenizers.models.WordLevel({"a": 0}, "a")).save(str(path / "tokenizer.json"))
    (path / name).write_text(LFS)
    with pytest.raises(ModelError, match=f"{name}' is a Git LFS pointer"):
        models.build(path)


# --- folders


def test_folders_that_are_something_else(tmp_path, weights):
    folder = tmp_path / "x"
    folder.mkdir()
    with pytest.raises(ModelError, match="has no config.json; expected a model in Hugging Face's form"):
        models.build(folder)
    (folder / "model.gguf").touch()
    with pytest.raises(ModelError, match="has no config.json; to read a GGUF file in it, name the file: model.gguf"):
        models.build(folder)
    (folder / "adapter_config.json").touch()
    with pytest.raises(ModelError, match="holds an adapter: merge it into its model"):
        models.build(folder)
    with pytest.raises(ModelError, match="there is no model at"):
        models.build(tmp_path / ("x" * 5000))
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelError, match="is neither a file nor a folder"):
        models.build(tmp_path / "pipe")
    for content, kind in (
        ("null", "null"),
        ("[]", "an array"),
        ('"x"', "a string"),
        ("3", "a number"),
        ("true", "true"),
    ):
        (folder / "config.json").write_text(content)
        with pytest.raises(ModelError, match=f"config.json' holds {kind}.* in JSON; expected an object"):
            models.build(folder)


# A model without a readable tokenizer takes tokens, and reports the reason if it is given text.
@pytest.mark.parametrize("files", [("tokenizer.model",), ("vocab.json", "merges.txt"), ()])
def test_folders_without_tokenizer_json(tmp_path, weights, files):
    path = write_hugging_face(tmp_path / "x", weights)
    for name in files:
        (path / name).touch()
    program = models.build(path)
    assert program.tokenizer is None
    model = LanguageModel({"forward": None}, CONFIG, program.tokenizer, program.no_tokenizer)
    message = f"has {' and '.join(files)}, and no tokenizer.json.*save_pretrained" if files else "has no tokenizer.json"
    with pytest.raises(TokenizerError, match=message):
        model.stream("hello")


# --- memory


# If memory runs out, the error names the weight and the number of bytes to read.
def test_no_memory(tmp_path, weights, monkeypatch):
    program = models.build(write_gguf(tmp_path / "x.gguf", weights))

    def dense(self):
        raise MemoryError

    monkeypatch.setattr("relax_mlir.models.gguf.GGUFTensor.dense", dense)
    with pytest.raises(WeightError, match=r"no memory for the weight 'model.norm.weight' .* MiB in all"):
        program.weights["model.norm.weight"]


# The same if memory for compiled code's weights runs out.
def test_no_memory_for_compiled_models(tmp_path, weights, monkeypatch):
    program = models.build(write_gguf(tmp_path / "x.gguf", weights))

    def fail(*arguments, **options):
        raise OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))

    monkeypatch.setattr("mmap.mmap", fail)
    with pytest.raises(MemoryError, match="no memory for 64 MiB more"):
        HugePages().copy(np.zeros(3))
    monkeypatch.undo()

    def compile(*arguments, **options):
        raise MemoryError

    monkeypatch.setattr("relax_mlir.models.loading.compile", compile)
    with pytest.raises(WeightError, match=r"no memory for the weights of '.*x.gguf', 0 MiB; a layout"):
        program.compile()
    (tmp_path / "folder").mkdir()
    write_metadata(tmp_path / "folder" / "metadata.json", {"version": VERSION})
    monkeypatch.setattr("relax_mlir.models.exported.load_exported", compile)
    with pytest.raises(WeightError, match="no memory for the weights of '.*folder'"):
        models.load(tmp_path / "folder")


# --- options


# Invalid options are reported before the model is searched.
@pytest.mark.parametrize(
    "options, message",
    [
        ({"layout": "other"}, "unknown layout 'other'"),
        ({"dtype": "f64"}, "dtype is 'f64'"),
        ({"dtype": "f16", "layout": "panels"}, "matrices of f16 have the layout"),
        ({"quantisation": "Q2_K"}, "quantisation is 'Q2_K'"),
        ({"quantisation": "Q4_0"}, "the layout 'panels' has no quantised matrices"),
        ({"functions": ("forward", "other")}, "there is no function 'other'"),
        ({"context_length": 0}, "context_length is 0; expected at least 1"),
    ],
)
def test_wrong_options(options, message):
    with pytest.raises(ModelError, match=message):
        models.build("nowhere", **options)

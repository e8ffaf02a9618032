# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checkpoints in Hugging Face's form: a folder with config.json and weights in safetensors files.

The weights are `model.safetensors`, or the shards that `model.safetensors.index.json` lists; without either, the only
file, or a whole set `NAME-00001-of-00003.safetensors`. A folder with other files is rejected, as each of them could
be the model.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ModelError, WeightError
from ..reading import read_object, reading, require_content
from .checkpoint import Checkpoint, CheckpointTensor, require
from .config import LlamaConfig

_FLOATS = ("F32", "F16", "BF16", "F64")
_EMBEDDING, _HEAD = "model.embed_tokens.weight", "lm_head.weight"
_SHARD = re.compile(r"(.*)-(\d{5})-of-(\d{5})\.safetensors$", re.S)
# A copy of the weights with the names and the layout of Mistral's own programs.
_COPIES = re.compile(r"consolidated([.-].*)?\.safetensors$")
# Tables that follow from the configuration; present in older files.
_TABLES = re.compile(r"(model\.layers\.\d+\.self_attn|model)\.rotary_emb\.(inv_freq|cos_cached|sin_cached)$")


@dataclasses.dataclass(frozen=True)
class _Stored:
    """The location of a tensor: an open file, and the tensor's name in it."""

    path: Path
    file: Any
    name: str


class SafetensorsTensor(CheckpointTensor):
    def __init__(self, path: Path, file: Any, name: str) -> None:
        entry = file.get_slice(name)
        super().__init__(name, entry.get_shape(), entry.get_dtype())
        self._path = path
        self._file = file
        if self.format not in _FLOATS:
            raise WeightError(
                f"tensor '{self.name}' of '{self._path}' is {self.format}; known are {', '.join(_FLOATS)}"
            )

    def dense(self) -> np.ndarray:
        with np.errstate(over="ignore"):  # values beyond f32 are reported as not finite
            return self._checked(np.asarray(self._file.get_tensor(self.name)).astype(np.float32, copy=False))

    def equals(self, other: SafetensorsTensor) -> bool:
        """Whether two matrices are the same, read a part at a time."""
        if (self.shape, self.format) != (other.shape, other.format):
            return False
        mine, its = self._file.get_slice(self.name), other._file.get_slice(other.name)
        rows = self.shape[0] if self.shape else 0
        step = max(1, (1 << 22) // max(1, int(np.prod(self.shape[1:], dtype=object))))
        parts = ((at, min(at + step, rows)) for at in range(0, rows, step))
        return all(np.array_equal(np.asarray(mine[begin:end]), np.asarray(its[begin:end])) for begin, end in parts)


class SafetensorsCheckpoint(Checkpoint):
    """A folder with config.json, and one or more safetensors files."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if not (self.path / "config.json").is_file():
            raise ModelError(f"'{self.path}' has no config.json; {_what_is_there(self.path)}")
        self._config = read_object(self.path / "config.json")
        self._stored: dict[str, _Stored] = {}
        with reading(self.path, WeightError):
            files, index = _find_files(self.path)
            for file in files:
                self._add(file)
            self._check_index(index)
            self._tie()

    def _add(self, path: Path) -> None:
        """Opens a file, whose tensors must not occur in other files."""
        safetensors = require("safetensors")
        require("ml_dtypes")  # numpy's bfloat16
        require_content(path, WeightError)
        try:
            opened = safetensors.safe_open(path, framework="numpy")
            names = list(opened.keys())
        except (OSError, safetensors.SafetensorError) as error:
            raise WeightError(f"'{path}' is truncated or damaged: {error}; get the file again") from None
        for name in names:
            if name in self._stored:
                raise WeightError(f"tensor '{name}' is in '{self._stored[name].path}' and in '{path}'")
            self._stored[name] = _Stored(path, opened, name)

    def _check_index(self, index: Mapping[str, str] | None) -> None:
        """Checks that the files have exactly the tensors in the index."""
        if index is None:
            return
        found = {name: stored.path.name for name, stored in self._stored.items()}
        for name in sorted(index.keys() | found.keys()):
            if index.get(name) != found.get(name):
                raise WeightError(
                    f"tensor '{name}' should be in {index.get(name, 'no file')} by the index of '{self.path}', "
                    f"and is in {found.get(name, 'none')}"
                )

    def _tie(self) -> None:
        """With tied embeddings, the embedding is the output head; a file may have either, or both if they are equal."""
        if self._config.get("tie_word_embeddings") is not True or _HEAD not in self._stored:
            return
        if _EMBEDDING in self._stored:
            if not self.tensor(_HEAD).equals(self.tensor(_EMBEDDING)):
                raise WeightError(
                    f"'{self.path}' has tie_word_embeddings and an lm_head.weight that differs from the embedding; "
                    "set it to false in config.json, or remove the tensor"
                )
        else:
            self._stored[_EMBEDDING] = self._stored[_HEAD]
        del self._stored[_HEAD]

    def config(self) -> LlamaConfig:
        with reading(self.path / "config.json"):
            return LlamaConfig.from_hugging_face(self._config)

    def names(self) -> Collection[str]:
        return self._stored.keys()

    def tensor(self, name: str) -> SafetensorsTensor:
        if name not in self._stored:
            raise WeightError(f"'{self.path}' has no tensor '{name}'")
        stored = self._stored[name]
        return SafetensorsTensor(stored.path, stored.file, stored.name)

    def is_irrelevant(self, name: str) -> bool:
        return _TABLES.fullmatch(name) is not None


def _what_is_there(folder: Path) -> str:
    """A hint on what a folder without config.json may be."""
    if (folder / "adapter_config.json").is_file():
        return "it holds an adapter: merge it into its model, and save that"
    if models := sorted(file.name for file in folder.glob("*.gguf")):
        return f"to read a GGUF file in it, name the file: {models[0]}"
    return "expected a model in Hugging Face's form"


def _find_files(folder: Path) -> tuple[list[Path], Mapping[str, str] | None]:
    """The files of the model, and the index that maps tensors to files, if there is one."""
    present = {file.name for file in folder.glob("*.safetensors")}
    copies = {name for name in present if _COPIES.fullmatch(name)}
    present = present - copies or present
    if not present:
        raise WeightError(f"'{folder}' has no *.safetensors file; weights in other forms are not read")
    index = None
    if (folder / "model.safetensors.index.json").is_file():
        index = _read_index(folder / "model.safetensors.index.json")
        chosen = set(index.values())
        if missing := sorted(chosen - present - copies):
            raise WeightError(f"'{folder}' lacks {len(missing)} of {len(chosen)} weight files: {', '.join(missing)}")
    elif "model.safetensors" in present:
        chosen = {"model.safetensors"}
    else:
        chosen = _shards(folder, present)
    if other := sorted(present - chosen):
        raise WeightError(
            f"'{folder}' has {', '.join(sorted(chosen)[:3])}{', …' if len(chosen) > 3 else ''}, and {other[0]}, which "
            "is not part of that model: move it elsewhere (an adapter has to be merged into the model)"
        )
    return [folder / name for name in sorted(chosen)], index


def _read_index(path: Path) -> Mapping[str, str]:
    index = read_object(path).get("weight_map")
    if not isinstance(index, dict) or not index or not all(isinstance(file, str) for file in index.values()):
        raise WeightError(f"'{path}' has no 'weight_map' from tensors to files")
    if outside := [file for file in index.values() if file != Path(file).name]:
        raise WeightError(f"'{path}' names the file {outside[0]!r}; expected one in the same folder")
    return index


def _shards(folder: Path, present: set[str]) -> set[str]:
    """A set of shards that is identified only by the names of the files."""
    if len(present) == 1 and not _SHARD.fullmatch(next(iter(present))):
        return present
    matches = [_SHARD.fullmatch(name) for name in sorted(present)]
    kinds = {(match[1], int(match[3])) for match in matches if match}
    if len(kinds) != 1:
        raise WeightError(
            f"'{folder}' has {', '.join(sorted(present)[:3])}, and nothing says which of them are the model; "
            "expected model.safetensors, or an index"
        )
    ((stem, count),) = kinds
    chosen = {f"{stem}-{part:05}-of-{count:05}.safetensors" for part in range(1, min(count, 9999) + 1)}
    if missing := sorted(chosen - present):
        raise WeightError(f"'{folder}' lacks {len(missing)} of {count} weight files: {', '.join(missing[:5])}")
    return chosen

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checkpoints in Hugging Face's form: a folder with config.json and weights in safetensors files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ModelError, WeightError
from .checkpoint import Checkpoint, CheckpointTensor, require
from .config import LlamaConfig

_FLOATS = ("F32", "F16", "BF16", "F64")


def read_json(path: Path) -> Any:
    """What a JSON file holds."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ModelError(f"cannot read '{path}': {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise ModelError(f"'{path}' is no valid JSON: {error}") from None


class SafetensorsTensor(CheckpointTensor):
    def __init__(self, path: Path, file: Any, name: str) -> None:
        entry = file.get_slice(name)
        super().__init__(name, entry.get_shape(), entry.get_dtype())
        self._path = path
        self._file = file

    def dense(self) -> np.ndarray:
        if self.format not in _FLOATS:
            raise WeightError(
                f"tensor '{self.name}' of '{self._path}' is {self.format}; known are {', '.join(_FLOATS)}"
            )
        return self._checked(np.asarray(self._file.get_tensor(self.name)).astype(np.float32, copy=False))


class SafetensorsCheckpoint(Checkpoint):
    """A folder with config.json, and one safetensors file or several."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if not (self.path / "config.json").is_file():
            raise ModelError(f"'{self.path}' has no config.json; expected a model in Hugging Face's form")
        self._config = read_json(self.path / "config.json")
        if not isinstance(self._config, dict):
            raise ModelError(f"'{self.path / 'config.json'}' holds no JSON object")
        safetensors = require("safetensors")
        require("ml_dtypes")  # numpy's bfloat16
        files = sorted(self.path.glob("*.safetensors"))
        if not files:
            raise WeightError(f"'{self.path}' has no *.safetensors file; weights in other forms are not read")
        self._files: dict[str, tuple[Path, Any]] = {}
        for file in files:
            try:
                opened = safetensors.safe_open(file, framework="numpy")
                names = list(opened.keys())
            except (OSError, safetensors.SafetensorError) as error:
                raise WeightError(f"'{file}' is truncated or damaged: {error}; get the file again") from None
            for name in names:
                self._files[name] = (file, opened)
        index = self.path / "model.safetensors.index.json"
        if index.is_file():
            self._require_shards(read_json(index), {file.name for file in files})

    def _require_shards(self, index: Any, found: set[str]) -> None:
        shards = set(index.get("weight_map", {}).values()) if isinstance(index, dict) else set()
        missing = sorted(shards - found)
        if missing:
            raise WeightError(f"'{self.path}' lacks {len(missing)} of {len(shards)} weight files: {', '.join(missing)}")

    def config(self) -> LlamaConfig:
        return LlamaConfig.from_hugging_face(self._config)

    def names(self) -> Sequence[str]:
        return self._files.keys()  # type: ignore[return-value]

    def tensor(self, name: str) -> CheckpointTensor:
        if name not in self._files:
            raise WeightError(f"'{self.path}' has no tensor '{name}'")
        return SafetensorsTensor(*self._files[name], name)

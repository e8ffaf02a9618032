# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled models in a folder: code, weights, configuration and tokeniser.

relax.json            what the folder holds: functions, target, configuration
code.o                the object file of the program
weights.safetensors   its weights, in the layout that the code reads; mapped into memory, not read
tokenizer.json …      see `Tokenizer.save`
"""

from __future__ import annotations

import dataclasses
import json
import mmap
import os
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..compiler import Target, compile_object
from ..errors import ModelError, WeightError
from ..runtime import Executable
from .checkpoint import require
from .config import LlamaConfig
from .generation import LanguageModel
from .safetensors import read_json
from .tokenizer import Tokenizer

if TYPE_CHECKING:
    from .loading import Program

MANIFEST = "relax.json"
_VERSION = 1
_DTYPES = {"F32": "<f4", "F16": "<f2", "I8": "i1"}


def is_exported(path: str | os.PathLike[str]) -> bool:
    """Whether a folder is one of these."""
    return (Path(path) / MANIFEST).is_file()


def export(program: Program, folder: str | os.PathLike[str], target: Target | None = None) -> None:
    """Compiles a model and writes the folder, which replaces one that was exported before."""
    folder, target = Path(folder), target or Target.host()
    if folder.exists() and not (is_exported(folder) or (folder.is_dir() and not any(folder.iterdir()))):
        raise ModelError(f"'{folder}' holds something else; name a folder that is empty or new")
    numpy = require("safetensors.numpy")
    code = compile_object(program.module, target)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # The manifest comes last: without it, the folder is none of a model.
        (folder / MANIFEST).unlink(missing_ok=True)
        (folder / "code.o").write_bytes(code)
        numpy.save_file(dict(program.weights), folder / "weights.safetensors")
        if program.tokenizer:
            program.tokenizer.save(folder)
        manifest = {
            "version": _VERSION,
            "functions": [name for name in program.functions],
            "target": dataclasses.asdict(target),
            "config": dataclasses.asdict(program.config),
        }
        (folder / MANIFEST).write_text(json.dumps(manifest, indent=1), encoding="utf-8")
    except OSError as error:
        raise ModelError(f"cannot write '{folder}': {error.strerror}") from None


def load_exported(folder: str | os.PathLike[str]) -> LanguageModel:
    """The model of a folder. Nothing is compiled, and weights are read when they are used."""
    folder = Path(folder)
    manifest = read_json(folder / MANIFEST)
    if not isinstance(manifest, dict) or manifest.get("version") != _VERSION:
        raise ModelError(f"'{folder / MANIFEST}' is of another version; export the model again")
    triple, host = manifest["target"]["triple"], Target.host()
    if triple.split("-")[0] != host.triple.split("-")[0]:
        raise ModelError(f"'{folder}' was compiled for {triple}; this machine is {host.triple}")
    try:
        code = (folder / "code.o").read_bytes()
    except OSError as error:
        raise ModelError(f"cannot read '{folder / 'code.o'}': {error.strerror}") from None
    config = manifest["config"]
    if config.get("rope_factors"):
        config["rope_factors"] = tuple(config["rope_factors"])
    executable = Executable(code, tuple(manifest["functions"]))
    executable.bind_weights(map_weights(folder / "weights.safetensors"))
    tokenizer = Tokenizer.from_folder(folder) if (folder / "tokenizer.json").is_file() else None
    return LanguageModel(executable, LlamaConfig(**config), tokenizer)


def map_weights(path: Path) -> Mapping[str, np.ndarray]:
    """The tensors of a safetensors file, as views of the mapped file."""
    try:
        with path.open("rb") as file:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        raise WeightError(f"cannot read '{path}': {getattr(error, 'strerror', None) or error}") from None
    damaged = WeightError(f"'{path}' is truncated or damaged; export the model again")
    if len(data) < 8:
        raise damaged
    (size,) = struct.unpack_from("<Q", data)
    if size > len(data) - 8:
        raise damaged
    try:
        header: dict[str, Any] = json.loads(data[8 : 8 + size])
        header.pop("__metadata__", None)
        return {name: _view(data, 8 + size, entry) for name, entry in header.items()}
    except (ValueError, KeyError, TypeError):
        raise damaged from None


def _view(data: mmap.mmap, start: int, entry: Mapping[str, Any]) -> np.ndarray:
    dtype = np.dtype(_DTYPES[entry["dtype"]])
    count = int(np.prod(entry["shape"], dtype=object))
    begin, end = entry["data_offsets"]
    if end - begin != count * dtype.itemsize:
        raise ValueError
    return np.frombuffer(data, dtype, count, start + begin).reshape(entry["shape"])

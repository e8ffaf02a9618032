# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled language models in folders: what `relax_mlir.export` writes, and

config.json           the configuration
tokenizer.json …      see `Tokenizer.save`
"""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from .. import export as folders
from ..compiler import Target, compile_code
from ..errors import ModelError
from .config import LlamaConfig
from .generation import LanguageModel
from .safetensors import read_json
from .tokenizer import Tokenizer

if TYPE_CHECKING:
    from .loading import Program


def is_exported(path: str | os.PathLike[str]) -> bool:
    """Whether a folder holds a compiled model."""
    return (Path(path) / "metadata.json").is_file()


def export(program: Program, folder: str | os.PathLike[str], target: Target | str | None = None) -> None:
    """Compiles a model and writes the folder, which replaces one that was exported before."""
    folder = Path(folder)
    if folder.exists() and not (is_exported(folder) or (folder.is_dir() and not any(folder.iterdir()))):
        raise ModelError(f"'{folder}' holds something else; name a folder that is empty or new")
    code = compile_code(program.module, target)
    folders.export(code, folder, program.weights)
    try:
        if program.tokenizer:
            program.tokenizer.save(folder)
        (folder / "config.json").write_text(json.dumps(dataclasses.asdict(program.config), indent=1) + "\n")
    except OSError as error:
        raise ModelError(f"cannot write '{folder}': {error.strerror}") from None


def load_exported(folder: str | os.PathLike[str]) -> LanguageModel:
    """The model of a folder. Nothing is compiled; weights are copied to where they are read fastest.

    Raises:
      ModelError: something is missing or damaged, or was made for another machine.
      DeviceError: the model is for a device, and there is none here that can run it.
    """
    folder = Path(folder)
    if is_exported(folder) and not (folder / "config.json").is_file():
        raise ModelError(
            f"'{folder}' holds a program and no language model, which has a config.json; "
            "relax_mlir.load_exported loads it, relax-mlir run calls it"
        )
    model = folders.load_exported(folder, mapped=False)
    config = read_json(folder / "config.json")
    if not isinstance(config, dict):
        raise ModelError(f"'{folder / 'config.json'}' is damaged; export the model again")
    try:
        if config.get("rope_factors"):
            config["rope_factors"] = tuple(map(float, config["rope_factors"]))
        config = LlamaConfig(**config)
    except ModelError:
        raise
    except (TypeError, ValueError) as error:
        raise ModelError(f"'{folder / 'config.json'}' is damaged: {error}; export the model again") from None
    tokenizer = Tokenizer.from_folder(folder) if (folder / "tokenizer.json").is_file() else None
    return LanguageModel(model, config, tokenizer)

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exported folders of language models. In addition to the files of `relax_mlir.export`, they have

config.json           the configuration
tokenizer.json …      see `Tokenizer.save`
"""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .. import export as folders
from ..compiler import Target, compile_code
from ..dtypes import is_float_array
from ..errors import ModelError
from ..export import Exported, check_folder, is_exported, open_exported
from ..reading import parse_object, reading
from .checkpoint import require_numbers
from .config import LlamaConfig
from .generation import LanguageModel
from .tokenizer import Tokenizer
from .tokenizer_files import tokenizer_of_folder

if TYPE_CHECKING:
    from .loading import Program

__all__ = ["Description", "check_folder", "export", "is_exported", "load_exported", "read_description"]

_CONFIG = "config.json"


@dataclasses.dataclass
class Description:
    """A folder's description of its model, without code and weights, which take longer to read."""

    config: LlamaConfig
    tokenizer: Tokenizer | None
    no_tokenizer: str = ""
    """The reason if there is no tokenizer."""
    exported: Exported | None = None
    """The folder."""


def read_description(folder: str | os.PathLike[str] | Exported) -> Description:
    """The configuration and the tokenizer in a folder, read only from files that its metadata list.

    Raises:
      ModelError: something is missing or damaged.
    """
    exported = folder if isinstance(folder, Exported) else open_exported(folder)
    path = exported.folder / _CONFIG
    files = exported.companions()
    if _CONFIG not in files:
        raise ModelError(
            f"'{exported.folder}' holds a program and no language model, which has a {_CONFIG}; "
            "relax_mlir.load_exported loads it, relax-mlir run calls it"
        )
    values = parse_object(path, files[_CONFIG])
    with reading(path):
        try:
            config = LlamaConfig.from_json(values)
        except ModelError as error:
            raise ModelError(f"'{path}' is damaged: {error}; export the model again") from None
    return Description(config, *tokenizer_of_folder(exported.folder, files), exported=exported)


def export(program: Program, folder: str | os.PathLike[str], target: Target | str | None = None) -> None:
    """Compiles a model and writes the folder, which replaces an earlier export.

    Raises:
      ModelError: the folder contains something else.
      RelaxError: the folder cannot be written, or the model cannot be compiled.
    """
    check_folder(folder)
    code = compile_code(program.module, target)

    def write_companions(staging: Path) -> None:
        if program.tokenizer:
            program.tokenizer.save(staging)
        config = json.dumps(dataclasses.asdict(program.config), indent=1) + "\n"
        (staging / _CONFIG).write_text(config, encoding="utf-8")

    folders.export(code, folder, program.weights, companions=write_companions)


def load_exported(folder: str | os.PathLike[str], description: Description | None = None) -> LanguageModel:
    """The model of a folder. Nothing is compiled; weights are copied to the memory that is fastest to read.

    Args:
      description: the result of an earlier `read_description` of the folder.

    Raises:
      ModelError: something is missing or damaged, or was made for another machine; weights raise
        its subclass WeightError.
      DeviceError: the model is for a device, and no device of this machine can run it.
    """
    described = description or read_description(folder)
    exported = described.exported or open_exported(folder)
    executable = exported.load(mapped=False, check_weight=_check_numbers)
    return LanguageModel(executable, described.config, described.tokenizer, described.no_tokenizer)


def _check_numbers(name: str, values: np.ndarray) -> None:
    if is_float_array(values):
        require_numbers(name, values)

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finding a model's tokenizer, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import TokenizerError
from ..reading import FolderFiles, reading
from .tokenizer import Tokenizer

# Files of tokenizers in unsupported formats.
_OTHERS = ("tokenizer.model", "vocab.json", "merges.txt", "vocab.txt", "spiece.model")


def tokenizer_of_gguf(path: Path, metadata: Mapping[str, Any]) -> tuple[Tokenizer | None, str]:
    """The tokenizer in the metadata of a GGUF file, or why there is none.

    Raises:
      TokenizerError: the tokenizer is damaged, or of an unknown kind.
    """
    if "tokenizer.ggml.model" not in metadata:
        return None, f"'{path}' has no tokenizer"
    with reading(path, TokenizerError):
        return Tokenizer.from_gguf(metadata), ""


def tokenizer_of_folder(folder: Path, files: Mapping[str, bytes] | None = None) -> tuple[Tokenizer | None, str]:
    """The tokenizer in a folder, or why there is none.

    Args:
      files: the files of the folder to use, with their content; all of them by default.

    Raises:
      TokenizerError: the tokenizer is damaged, or of an unknown kind.
    """
    names = files if files is not None else FolderFiles(folder)
    if "tokenizer.json" in names:
        with reading(folder, TokenizerError):
            return Tokenizer.from_folder(folder, files), ""
    others = [name for name in _OTHERS if name in names]
    if not others:
        return None, f"'{folder}' has no tokenizer.json"
    return None, (
        f"'{folder}' has {' and '.join(others)}, and no tokenizer.json, which is the form that is read; write it with "
        "transformers: AutoTokenizer.from_pretrained(folder).save_pretrained(folder)"
    )

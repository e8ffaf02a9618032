# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Results of calls: shown, and written to files."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import RelaxError
from ..files import write_whole


def unique_stem(name: str, used: set[str]) -> str:
    """A name for a file; names that differ in what files cannot have get numbers."""
    stem = plain = re.sub(r"[^A-Za-z0-9_]", "_", name)[:200]
    count = 1
    while stem in used:
        count += 1
        stem = f"{plain}-{count}"
    used.add(stem)
    return stem


class Destinations:
    """Where the outputs of a call go: `all.npz`, `name=file.npy` each, and a folder with a file for each output.

    Raises:
      RelaxError: a place cannot be written to, which is reported before the outputs are computed.
    """

    def __init__(self, outputs: Sequence[str], folder: Path | None) -> None:
        self._all: list[Path] = []
        self._named: list[tuple[str, Path]] = []
        self._folder = folder
        for text in outputs:
            name, is_named, rest = text.partition("=")
            path = Path(rest if is_named else text)
            if is_named and path.suffix not in (".npy", ".npz"):
                raise RelaxError(f"--output has {text!r}; expected name=file.npy, or file.npz for all outputs")
            _check_place(path)
            if is_named:
                self._named.append((name, path))
            else:
                self._all.append(path)
        if folder and folder.exists() and not folder.is_dir():
            raise RelaxError(f"cannot write to '{folder}': it is a file; expected a folder")

    def check(self, names: Sequence[str]) -> None:
        """Refuses names of outputs that the program does not have."""
        for name, path in self._named:
            if name not in names:
                raise RelaxError(f"--output has '{name}={path}'; the outputs are {', '.join(names) or 'none'}")

    def write(self, results: Mapping[str, Any]) -> None:
        """Writes each file whole or not at all.

        Raises:
          RelaxError: a file cannot be written.
        """
        self.check(list(results))
        for path in self._all:
            arrays = {_key(name): value for name, value in results.items() if isinstance(value, np.ndarray)}
            _write(path if _is_archive(path) else path.with_name(f"{path.name}.npz"), arrays)
        for name, path in self._named:
            _write(path, results[name])
        if self._folder:
            try:
                self._folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise RelaxError(f"cannot write to '{self._folder}': {error.strerror or error}") from None
            used: set[str] = set()
            for name, value in results.items():
                _write(self._folder / f"{unique_stem(name, used)}{_suffix(value)}", value)


def show(results: Mapping[str, Any]) -> None:
    """Prints each output with its shape and element type."""
    for name, result in results.items():
        what = f"{list(result.shape)} {result.dtype}\n" if isinstance(result, np.ndarray) else ""
        print(f"result {name}: {what}{result}")


def _check_place(path: Path) -> None:
    if os.path.isdir(path):
        raise RelaxError(f"cannot write '{path}': it is a folder; expected the name of a .npz file")
    if not os.path.isdir(path.parent):
        raise RelaxError(f"cannot write '{path}': there is no folder '{path.parent}'")


def _is_archive(path: Path) -> bool:
    """Whether a path can stay as it is: a device stays what it is."""
    return path.suffix == ".npz" or path.is_char_device()


def _key(name: str) -> str:
    """What a .npz file calls an output: as `numpy.savez` does where it has a number for a name."""
    return f"arr_{name}" if name.isdecimal() else name


def _suffix(value: Any) -> str:
    return ".npz" if isinstance(value, (list, dict)) else ".npy"


def _write(path: Path, value: Any) -> None:
    """Writes an output, a sequence, or a dictionary of arrays; a device stays what it is."""
    content = io.BytesIO()
    try:
        if path.suffix == ".npy":
            if _suffix(value) == ".npz":
                raise RelaxError(f"cannot write '{path}': the output is a sequence; expected the name of a .npz file")
            np.save(content, _as_array(value), allow_pickle=False)
        else:
            entries = (
                value if isinstance(value, dict) else dict(enumerate(value if isinstance(value, list) else [value]))
            )
            named: dict[str, Any] = {_key(str(key)): _as_array(entry) for key, entry in entries.items()}
            np.savez(content, **named)
        write_whole(path, content.getbuffer())
    except OSError as error:
        raise RelaxError(f"cannot write '{path}': {error.strerror or error}") from None


def _as_array(value: Any) -> np.ndarray:
    """What a file holds without pickling: text as NumPy's own type."""
    array = np.asarray(value)
    return array.astype(str) if array.dtype.hasobject else array

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""GGUF files: metadata and tensors, read from the mapped file, and models that are split into several files.

The header is read here, as the `gguf` package takes three seconds for a vocabulary and does not report what is wrong
with a truncated file; that package dequantizes the quantized formats.
"""

from __future__ import annotations

import dataclasses
import mmap
import re
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ModelError, WeightError
from ..reading import reading, require_content
from .fields import Fields

_MAGIC = b"GGUF"
# struct's code of each type of a metadata value; 8 is a string, 9 an array.
_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9

# The tensor formats by number: name, elements per block, and bytes per block.
FORMATS = {
    0: ("F32", 1, 4),
    1: ("F16", 1, 2),
    2: ("Q4_0", 32, 18),
    3: ("Q4_1", 32, 20),
    6: ("Q5_0", 32, 22),
    7: ("Q5_1", 32, 24),
    8: ("Q8_0", 32, 34),
    10: ("Q2_K", 256, 84),
    11: ("Q3_K", 256, 110),
    12: ("Q4_K", 256, 144),
    13: ("Q5_K", 256, 176),
    14: ("Q6_K", 256, 210),
    16: ("IQ2_XXS", 256, 66),
    17: ("IQ2_XS", 256, 74),
    18: ("IQ3_XXS", 256, 98),
    19: ("IQ1_S", 256, 50),
    20: ("IQ4_NL", 32, 18),
    21: ("IQ3_S", 256, 110),
    22: ("IQ2_S", 256, 82),
    23: ("IQ4_XS", 256, 136),
    28: ("F64", 1, 8),
    29: ("IQ1_M", 256, 56),
    30: ("BF16", 1, 2),
    34: ("TQ1_0", 256, 54),
    35: ("TQ2_0", 256, 66),
    39: ("MXFP4", 32, 17),
}
# Formats that GGML knows or knew, but that are not supported.
_OTHER_FORMATS = {
    4: "Q4_2, which GGML has removed",
    5: "Q4_3, which GGML has removed",
    9: "Q8_1",
    15: "Q8_K",
    24: "I8",
    25: "I16",
    26: "I32",
    27: "I64",
    31: "Q4_0_4_4, which GGML has removed",
    32: "Q4_0_4_8, which GGML has removed",
    33: "Q4_0_8_8, which GGML has removed",
    36: "IQ4_NL_4_4, which GGML has removed",
    37: "IQ4_NL_4_8, which GGML has removed",
    38: "IQ4_NL_8_8, which GGML has removed",
    40: "NVFP4",
    41: "Q1_0",
    42: "Q2_0",
}
# Signatures of other files that are mistaken for GGUF, and advice for each.
_OTHER_FILES = {
    b"lmgg": "is a GGML file from before GGUF; convert the model again",
    b"fmgg": "is a GGMF file from before GGUF; convert the model again",
    b"tjgg": "is a GGJT file from before GGUF; convert the model again",
    b"algg": "is a GGLA adapter of llama.cpp; merge it into the model, and convert that",
    b"PK\3\4": "is a zip archive, as PyTorch writes; save the model as safetensors, or convert it to GGUF",
    b"<!DO": "is a web page, not a model; the download has failed",
    b"<htm": "is a web page, not a model; the download has failed",
}
_SHARD = re.compile(r"(.*)-(\d{5})-of-(\d{5})\.gguf$", re.S)


@dataclasses.dataclass(frozen=True)
class TensorEntry:
    """The position of a tensor in the file. `shape` starts with the outermost dimension, as in NumPy."""

    name: str
    shape: tuple[int, ...]
    format: int
    offset: int

    @property
    def nbytes(self) -> int:
        _, block, size = FORMATS[self.format]
        return int(np.prod(self.shape, dtype=object)) // block * size


class _Reader:
    """Reads values one after another, and reports where a truncated file ends."""

    def __init__(self, path: Path, data: mmap.mmap) -> None:
        self._path = path
        self._data = data
        self.position = 0

    def take(self, code: str) -> Any:
        size = struct.calcsize("<" + code)
        self.require(size)
        (value,) = struct.unpack_from("<" + code, self._data, self.position)
        self.position += size
        return value

    def require(self, size: int) -> None:
        if size > len(self._data) - self.position:
            raise WeightError(
                f"'{self._path}' is truncated: its header needs {size} bytes at {self.position}, "
                f"the file has {len(self._data)}; get the file again"
            )

    def string(self) -> str:
        size = self.take("Q")
        self.require(size)
        text = self._data[self.position : self.position + size]
        self.position += size
        return text.decode("utf-8", "replace")

    def value(self, kind: int, depth: int = 0) -> Any:
        if kind in _SCALARS:
            return self.take(_SCALARS[kind])
        if kind == _STRING:
            return self.string()
        if kind != _ARRAY or depth > 4:
            raise ModelError(f"'{self._path}' is damaged: a metadata value of type {kind} at {self.position}")
        kind, count = self.take("I"), self.take("Q")
        if kind in _SCALARS:
            code = _SCALARS[kind]
            self.require(count * struct.calcsize("<" + code))
            values = struct.unpack_from(f"<{count}{code}", self._data, self.position)
            self.position += count * struct.calcsize("<" + code)
            return list(values)
        return [self.value(kind, depth + 1) for _ in range(count)]


class GGUFFile:
    """The metadata and the tensors of one file."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        require_content(self.path)
        with reading(self.path):
            with self.path.open("rb") as file:
                if not file.read(1):
                    raise ModelError(f"cannot read '{self.path}': the file is empty")
                self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            self._read_header()

    def _read_header(self) -> None:
        reader = _Reader(self.path, self._data)
        self._check_kind()
        reader.position = 4
        self.version = reader.take("I")
        if self.version & 0xFFFF == 0 and self.version:
            raise ModelError(
                f"'{self.path}' is a big-endian GGUF file; expected a little-endian one: "
                f"convert it with 'gguf-convert-endian {self.path.name} little' of the gguf package"
            )
        if self.version not in (2, 3):
            raise ModelError(f"'{self.path}' is GGUF of version {self.version}; versions 2 and 3 are known")
        tensors, entries = reader.take("Q"), reader.take("Q")
        self.metadata: dict[str, Any] = {}
        for _ in range(entries):
            key = reader.string()
            if key in self.metadata:
                raise ModelError(f"'{self.path}' is damaged: it has the metadata '{key}' twice")
            self.metadata[key] = reader.value(reader.take("I"))
        self.tensors: dict[str, TensorEntry] = {}
        for _ in range(tensors):
            name, rank = reader.string(), reader.take("I")
            shape = tuple(reader.take("Q") for _ in range(rank))[::-1]
            self._add(TensorEntry(name, shape, reader.take("I"), reader.take("Q")))
        alignment = self.metadata.get("general.alignment", 32)
        if type(alignment) is not int or alignment < 1:
            raise ModelError(f"'{self.path}' is damaged: general.alignment is {alignment!r}")
        self._start = -(-reader.position // alignment) * alignment
        for entry in self.tensors.values():
            self._check_extent(entry)

    def _check_kind(self) -> None:
        """Rejects files that are not GGUF, and says what they are if recognizable."""
        head = bytes(self._data[:10])
        if head[:4] == _MAGIC:
            return
        what = _OTHER_FILES.get(head[:4])
        if what is None and head[8:10] == b'{"':
            what = "is a safetensors file; name its folder, which has a config.json"
        raise ModelError(f"'{self.path}' is not a GGUF file: it {what or f'begins with {head[:4]!r}, not {_MAGIC!r}'}")

    def _add(self, entry: TensorEntry) -> None:
        if entry.name in self.tensors:
            raise WeightError(f"'{self.path}' is damaged: it has the tensor '{entry.name}' twice")
        if entry.format not in FORMATS:
            found = _OTHER_FORMATS.get(entry.format, f"the format {entry.format} of GGML")
            known = ", ".join(name for name, _, _ in FORMATS.values())
            raise ModelError(f"tensor '{entry.name}' is in {found}; known are {known}")
        name, block, _ = FORMATS[entry.format]
        if 0 in entry.shape:
            raise WeightError(f"tensor '{entry.name}' has the shape {entry.shape}; expected at least one element")
        if block > 1 and (not entry.shape or entry.shape[-1] % block):
            raise WeightError(
                f"tensor '{entry.name}' is {name} with the shape {entry.shape}; its rows must be multiples of {block}"
            )
        self.tensors[entry.name] = entry

    def _check_extent(self, entry: TensorEntry) -> None:
        start = self._start + entry.offset
        if start + entry.nbytes > len(self._data):
            raise WeightError(
                f"'{self.path}' is truncated: tensor '{entry.name}' lies at bytes {start} to {start + entry.nbytes}, "
                f"the file has {len(self._data)}; get the file again"
            )

    def read(self, name: str) -> np.ndarray:
        """The bytes of a tensor, `u8 [..., bytes of a row]`, in the mapped file."""
        entry = self.tensors[name]
        data = np.frombuffer(self._data, np.uint8, entry.nbytes, self._start + entry.offset)
        return data.reshape(*entry.shape[:-1], -1) if entry.shape else data


def open_parts(path: str | Path) -> list[GGUFFile]:
    """The file, or all files of a split model, given any one of them; the first has the metadata.

    Raises:
      ModelError: a file cannot be read; WeightError: one is missing, or they do not belong together.
    """
    file = GGUFFile(path)
    count = _split(file, "count", 1)
    if count == 1:
        return [file]
    match = _SHARD.fullmatch(file.path.name)
    number = _split(file, "no", 0) + 1
    if not match or (int(match[2]), int(match[3])) != (number, count):
        raise WeightError(
            f"'{file.path}' is part {number} of a model that is split into {count} files; the others are found by its "
            f"name: expected one that ends in -{number:05}-of-{count:05}.gguf"
        )
    paths = [file.path.with_name(f"{match[1]}-{part:05}-of-{count:05}.gguf") for part in range(1, count + 1)]
    if missing := [part.name for part in paths if not part.is_file()]:
        raise WeightError(f"'{file.path}' is part of a split model, of which {', '.join(missing)} are missing")
    files = [file if part == file.path else GGUFFile(part) for part in paths]
    for index, part in enumerate(files):
        if (_split(part, "no", 0), _split(part, "count", 1)) != (index, count):
            raise WeightError(f"'{part.path}' does not say that it is part {index + 1} of {count}, as its name does")
        for key, value in part.metadata.items():
            if not key.startswith("split.") and files[0].metadata.get(key) != value:
                raise ModelError(f"the parts '{files[0].path}' and '{part.path}' have different values of '{key}'")
    total, found = _split(files[0], "tensors.count", None), sum(len(part.tensors) for part in files)
    if total is None:
        raise WeightError(
            f"'{paths[0]}' has no 'split.tensors.count', by which a model that is split into {count} files is known to "
            "be whole; split it again with llama.cpp's gguf-split"
        )
    if total != found:
        raise WeightError(f"the {count} parts of '{paths[0]}' have {found} tensors together; expected {total}")
    return files


def _split(file: GGUFFile, key: str, default: int | None) -> Any:
    value = Fields(file.metadata, f"'{file.path}'", "split.").integer(key, default)
    if value is not None and not 0 <= value < 100000:
        raise WeightError(f"'{file.path}' is damaged: split.{key} is {value}")
    return max(value, 1) if key == "count" else value


def merged_tensors(files: list[GGUFFile]) -> Mapping[str, tuple[GGUFFile, TensorEntry]]:
    """All tensors of a model, each with the file that contains it."""
    merged: dict[str, tuple[GGUFFile, TensorEntry]] = {}
    for file in files:
        for name, entry in file.tensors.items():
            if name in merged:
                raise WeightError(f"tensor '{name}' is in '{merged[name][0].path}' and in '{file.path}'")
            merged[name] = (file, entry)
    return merged

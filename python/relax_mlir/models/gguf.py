# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""GGUF files: metadata and tensors, read from the mapped file; and the checkpoint in one.

The header is read here, as the `gguf` package takes three seconds for a vocabulary and does not say what is wrong
with a truncated file; that package decodes the quantised formats.
"""

from __future__ import annotations

import dataclasses
import mmap
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ModelError, WeightError
from .checkpoint import Checkpoint, CheckpointTensor, require
from .config import LlamaConfig

_MAGIC = b"GGUF"
# struct's code of each type of a metadata value; 8 is a string, 9 an array.
_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9

# The formats of tensors by their number: name, elements of a block, and its bytes.
FORMATS = {
    0: ("F32", 1, 4),
    1: ("F16", 1, 2),
    2: ("Q4_0", 32, 18),
    3: ("Q4_1", 32, 20),
    6: ("Q5_0", 32, 22),
    7: ("Q5_1", 32, 24),
    8: ("Q8_0", 32, 34),
    12: ("Q4_K", 256, 144),
    13: ("Q5_K", 256, 176),
    14: ("Q6_K", 256, 210),
    30: ("BF16", 1, 2),
}


@dataclasses.dataclass(frozen=True)
class TensorEntry:
    """Where a tensor lies in the file. `shape` counts from the outermost dimension, as NumPy's."""

    name: str
    shape: tuple[int, ...]
    format: int
    offset: int

    @property
    def nbytes(self) -> int:
        _, block, size = FORMATS[self.format]
        return int(np.prod(self.shape, dtype=object)) // block * size


class _Reader:
    """Reads values one after another, and says where the file ends too early."""

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
    """The metadata and the tensors of a file."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        try:
            with self.path.open("rb") as file:
                self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as error:
            raise ModelError(f"cannot read '{self.path}': {getattr(error, 'strerror', None) or error}") from None
        if self._data[:4] != _MAGIC:
            raise ModelError(f"'{self.path}' is no GGUF file: it begins with {self._data[:4]!r}, expected {_MAGIC!r}")
        reader = _Reader(self.path, self._data)
        reader.position = 4
        self.version = reader.take("I")
        if self.version not in (2, 3):
            raise ModelError(f"'{self.path}' is GGUF of version {self.version}; versions 2 and 3 are known")
        tensors, entries = reader.take("Q"), reader.take("Q")
        self.metadata: dict[str, Any] = {}
        for _ in range(entries):
            key = reader.string()
            self.metadata[key] = reader.value(reader.take("I"))
        self.tensors: dict[str, TensorEntry] = {}
        for _ in range(tensors):
            name, rank = reader.string(), reader.take("I")
            shape = tuple(reader.take("Q") for _ in range(rank))[::-1]
            self._add(TensorEntry(name, shape, reader.take("I"), reader.take("Q")))
        alignment = self.metadata.get("general.alignment", 32)
        if not isinstance(alignment, int) or alignment < 1:
            raise ModelError(f"'{self.path}' is damaged: general.alignment is {alignment!r}")
        self._start = -(-reader.position // alignment) * alignment
        for entry in self.tensors.values():
            self._check_extent(entry)

    def _add(self, entry: TensorEntry) -> None:
        if entry.format not in FORMATS:
            known = ", ".join(name for name, _, _ in FORMATS.values())
            raise ModelError(f"tensor '{entry.name}' has the format {entry.format} of GGML; known are {known}")
        name, block, _ = FORMATS[entry.format]
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


class GGUFTensor(CheckpointTensor):
    def __init__(self, file: GGUFFile, name: str, entry: TensorEntry) -> None:
        super().__init__(name, entry.shape, FORMATS[entry.format][0])
        self._file = file
        self._entry = entry

    def dense(self) -> np.ndarray:
        data = self._file.read(self._entry.name)
        if self.format == "F32":
            return self._checked(data.view("<f4").reshape(self.shape))
        if self.format == "F16":
            return self._checked(data.view("<f2").reshape(self.shape).astype(np.float32))
        if self.format == "BF16":
            return self._checked((data.view("<u2").astype(np.uint32) << 16).view(np.float32).reshape(self.shape))
        quants = require("gguf.quants")
        constants = require("gguf.constants")
        with np.errstate(all="ignore"):  # scales that are no numbers are reported with the tensor's name
            values = quants.dequantize(data, constants.GGMLQuantizationType(self._entry.format))
        return self._checked(np.ascontiguousarray(values, np.float32).reshape(self.shape))

    def blocks(self) -> np.ndarray:
        _, block, size = FORMATS[self._entry.format]
        if block == 1:
            return super().blocks()
        return self._file.read(self._entry.name).reshape(*self.shape[:-1], self.shape[-1] // block, size)


# Parts of names in GGUF and in Hugging Face's checkpoints.
_GLOBAL = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}
_LAYER = {
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}


def hugging_face_name(name: str) -> str:
    """The name of a tensor of GGUF in a Hugging Face checkpoint; unknown ones stay."""
    stem, _, kind = name.rpartition(".")
    if stem in _GLOBAL:
        return f"{_GLOBAL[stem]}.{kind}"
    parts = stem.split(".")
    if len(parts) == 3 and parts[0] == "blk" and parts[2] in _LAYER:
        return f"model.layers.{parts[1]}.{_LAYER[parts[2]]}.{kind}"
    return name


class GGUFCheckpoint(Checkpoint):
    """A model in one GGUF file."""

    def __init__(self, path: str | Path) -> None:
        self.file = GGUFFile(path)
        self.path = self.file.path
        self._entries = {hugging_face_name(name): entry for name, entry in self.file.tensors.items()}

    def config(self) -> LlamaConfig:
        config = LlamaConfig.from_gguf(
            self.file.metadata, {name: entry.shape for name, entry in self.file.tensors.items()}
        )
        if "rope_freqs.weight" in self._entries:
            factors = self.tensor("rope_freqs.weight").dense()
            config = dataclasses.replace(config, rope_factors=tuple(map(float, factors.ravel())))
        return config

    def names(self) -> Sequence[str]:
        return self._entries.keys()  # type: ignore[return-value]

    def tensor(self, name: str) -> CheckpointTensor:
        if name not in self._entries:
            raise WeightError(f"'{self.path}' has no tensor '{name}'")
        return GGUFTensor(self.file, name, self._entries[name])

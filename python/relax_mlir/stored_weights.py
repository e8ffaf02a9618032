# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The weights of an exported folder: a safetensors file, mapped and checked when it is read.

A mapped file must not be truncated: reading beyond its end raises SIGBUS, which ends the process. So `export` replaces
files instead of writing into them, and the size is compared with the metadata before anything is read. The content is
compared by a checksum: of a sample if weights stay in the file, which detects a different file or an unwritten part,
and of all bytes if they are copied anyway, which detects any damage.
"""

from __future__ import annotations

import concurrent.futures
import hashlib
import math
import mmap
import os
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from . import runtime
from .dtypes import to_numpy as to_numpy_dtype
from .errors import MissingPackageError, RelaxError, WeightError
from .optional import np
from .schema import check, parse_json

SCHEMA = {"bytes": int, "sample": str, "pieces": str}
"""The schema of the file's metadata."""

_PIECE = 16 << 20
_SAMPLES, _SAMPLE = 256, 4096


def save_weights(weights: Mapping[str, Any], path: Path, mode: int) -> dict[str, Any]:
    """Writes the file with these permissions; returns the metadata that `map_weights` compares it with.

    Raises:
      RelaxError: it cannot be written, or a weight is of a type that it cannot hold.
    """
    save_tensors(weights, path)
    path.chmod(mode)  # the package makes it private to this user
    with path.open("rb") as file, _mapped(file.fileno()) as data:
        return {"bytes": len(data), "sample": _digest_of_sample(data), "pieces": _digest_of_pieces(data)}


def save_tensors(tensors: Mapping[str, Any], path: Path) -> None:
    """Writes a file in safetensors' format.

    Raises:
      RelaxError: it cannot be written, or a tensor is of a type that it cannot hold.
    """
    try:
        from safetensors import SafetensorError
        from safetensors.numpy import save_file
    except ModuleNotFoundError:
        raise MissingPackageError(
            "writing weights needs NumPy and safetensors, which are not installed: pip install numpy safetensors"
        ) from None

    try:
        save_file({name: np.asarray(runtime.to_host(value), order="C") for name, value in tensors.items()}, path)
    except SafetensorError as error:
        raise RelaxError(f"cannot write '{path.name}': {error}") from None


def parse_tensors(data: bytes, name: str) -> dict[str, np.ndarray]:
    """The tensors of a file that `save_tensors` wrote, as views of its content; `name` is for messages.

    Raises:
      WeightError: the content is damaged.
    """
    try:
        return _read(data)
    except (ValueError, KeyError, OverflowError, struct.error) as error:
        raise WeightError(f"'{name}' is damaged: {error}; export the model again") from None


def _mapped(handle: int) -> mmap.mmap:
    return mmap.mmap(handle, 0, access=mmap.ACCESS_READ)


def _digest_of_sample(data: mmap.mmap) -> str:
    """The digest of the header and of evenly spaced 4-KiB pieces, including the beginning and the end of the file."""
    digest = hashlib.sha256()
    last = max(len(data) - _SAMPLE, 0)
    for begin in sorted({last * index // (_SAMPLES - 1) for index in range(_SAMPLES)}):
        digest.update(data[begin : begin + _SAMPLE])
    (size,) = struct.unpack_from("<Q", data)
    digest.update(data[8 : 8 + size])
    return digest.hexdigest()


def _digest_of_pieces(data: mmap.mmap) -> str:
    """The digest of the digests of all 16-MiB pieces, computed by several threads."""
    view = memoryview(data)
    pieces = [view[begin : begin + _PIECE] for begin in range(0, len(view), _PIECE)]
    try:
        with concurrent.futures.ThreadPoolExecutor(min(len(pieces), os.cpu_count() or 1, 16)) as threads:
            digests = list(threads.map(lambda piece: hashlib.sha256(piece).digest(), pieces))
    finally:
        for piece in (*pieces, view):
            piece.release()
    return hashlib.sha256(b"".join(digests)).hexdigest()


def map_weights(path: Path, expected: Mapping[str, Any], *, whole: bool) -> dict[str, np.ndarray]:
    """The tensors of a file, as views of the mapped file: arrays, or TVM FFI tensors where NumPy is missing.

    Args:
      expected: the metadata that `save_weights` returned.
      whole: whether to compare all bytes of the file, which reads it, or a sample.

    Raises:
      WeightError: the file cannot be read, is truncated, damaged, or a different one.
    """
    try:
        with path.open("rb") as file:
            data = _mapped(file.fileno())
    except (OSError, ValueError) as error:
        raise WeightError(f"cannot read '{path}': {getattr(error, 'strerror', None) or error}") from None
    if len(data) != expected["bytes"]:
        raise WeightError(f"'{path}' has {len(data)} bytes; expected {expected['bytes']}; export the model again")
    try:
        tensors = _read(data)
    except (ValueError, KeyError, OverflowError, struct.error) as error:
        raise WeightError(f"'{path}' is damaged: {error}; export the model again") from None
    if (_digest_of_pieces(data) != expected["pieces"]) if whole else (_digest_of_sample(data) != expected["sample"]):
        raise WeightError(f"'{path}' is damaged, or of another model; export the model again")
    return tensors


_DTYPES = {
    "F64": ("float64", 8),
    "F32": ("float32", 4),
    "F16": ("float16", 2),
    "BF16": ("bfloat16", 2),
    "F8_E4M3": ("float8_e4m3fn", 1),
    "F8_E5M2": ("float8_e5m2", 1),
    "I64": ("int64", 8),
    "I32": ("int32", 4),
    "I16": ("int16", 2),
    "I8": ("int8", 1),
    "U64": ("uint64", 8),
    "U32": ("uint32", 4),
    "U16": ("uint16", 2),
    "U8": ("uint8", 1),
    "BOOL": ("bool", 1),
}
"""NumPy's and DLPack's name of each element type, and its bytes."""

_ENTRY = {"dtype": str, "shape": [int], "data_offsets": [int]}


def _read(data: mmap.mmap | bytes) -> dict[str, np.ndarray]:
    """The tensors; raises ValueError, KeyError or OverflowError for invalid content."""
    (size,) = struct.unpack_from("<Q", data)
    if size > len(data) - 8:
        raise ValueError(f"its header has {size} bytes, the file {len(data)}")
    header = parse_json(data[8 : 8 + size])
    if isinstance(header, dict):
        header.pop("__metadata__", None)
    check(header, {str: _ENTRY}, "the header")
    start, end = 8 + size, 0
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        if len(entry["data_offsets"]) != 2 or entry["data_offsets"][0] != end:
            raise ValueError(f"tensor {name!r} does not begin where the one before it ends, at {end}")
        end = entry["data_offsets"][1]
    if start + end != len(data):
        raise ValueError(f"its tensors end at {start + end}, the file at {len(data)}")
    return {name: _view(data, start, name, entry) for name, entry in header.items()}


def _view(data: mmap.mmap | bytes, start: int, name: str, entry: Mapping[str, Any]) -> Any:
    if entry["dtype"] not in _DTYPES:
        raise ValueError(f"tensor {name!r} is of type {entry['dtype']!r}, which is not known")
    (dtype, itemsize), shape = _DTYPES[entry["dtype"]], entry["shape"]
    count = math.prod(shape)
    begin, end = entry["data_offsets"]
    if any(dim < 0 for dim in shape) or end - begin != count * itemsize:
        raise ValueError(f"tensor {name!r} of shape {shape} has {end - begin} bytes")
    if not np:
        from .execution.buffers import tensor_of

        return tensor_of(memoryview(data)[start + begin : start + end], dtype, shape)
    return np.frombuffer(data, to_numpy_dtype(dtype), count, start + begin).reshape(shape)

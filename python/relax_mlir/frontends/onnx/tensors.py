# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors of a model file as arrays, with data in other files mapped into memory.

A name of another file comes from the model, which may be anybody's. So only a plain relative path below the folder of
the model is followed, and no link that leaves it; nothing is read beyond the end of a file.
"""

from __future__ import annotations

import math
import os
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

from . import dtypes
from .errors import ModelFileError

_EXTERNAL = onnx.TensorProto.EXTERNAL


def to_array(tensor: Any, folder: Path | None) -> np.ndarray:
    """The elements of a `TensorProto`, in the type that carries them.

    Args:
      folder: where the model lies; None if it is not known.

    Raises:
      ModelFileError: the data is missing, too short, or in a place that is not allowed.
    """
    where = f"the tensor '{tensor.name}'"
    dtype = dtypes.from_code(tensor.data_type, where)
    shape = tuple(tensor.dims)
    if any(size < 0 for size in shape):
        raise ModelFileError(f"{where} has the shape {list(shape)}; sizes are at least 0")
    if tensor.data_location == _EXTERNAL:
        array = _external(tensor, dtype, shape, folder, where)
    else:
        array = _inline(tensor, dtype, shape, where)
    return to_carrier(array, dtype)


def to_carrier(array: np.ndarray, dtype: str) -> np.ndarray:
    """Elements of a type in the type that carries them."""
    if dtype == dtypes.STRING:
        return _as_text(array)
    return array.astype(dtypes.to_numpy(dtypes.carrier(dtype)), copy=False)


def _as_text(array: np.ndarray) -> np.ndarray:
    texts = [entry.decode("utf-8") if isinstance(entry, bytes) else str(entry) for entry in array.reshape(-1)]
    found = np.empty(len(texts), object)
    found[:] = texts
    return found.reshape(array.shape)


def _inline(tensor: Any, dtype: str, shape: tuple[int, ...], where: str) -> np.ndarray:
    raw, numpy_type = tensor.raw_data, dtypes.to_numpy(dtype)
    count = math.prod(shape)
    if raw and dtype not in dtypes.CARRIERS and dtype != dtypes.STRING:
        if len(raw) != count * numpy_type.itemsize:
            raise ModelFileError(
                f"{where} of shape {list(shape)} has {len(raw)} bytes of data; expected {count * numpy_type.itemsize}"
            )
        return np.frombuffer(raw, numpy_type).reshape(shape)
    if not raw and count > 4 * _stored(tensor):
        raise ModelFileError(f"{where} of shape {list(shape)} has data for fewer elements")
    try:
        return numpy_helper.to_array(tensor)
    except (ValueError, TypeError, UnicodeDecodeError) as error:
        raise ModelFileError(f"{where} is damaged: {error}") from None


def _stored(tensor: Any) -> int:
    """The longest field of a tensor; four elements of two bits may share an entry."""
    fields = ("float_data", "int32_data", "int64_data", "double_data", "uint64_data", "string_data")
    return max(len(getattr(tensor, field)) for field in fields)


def _external(tensor: Any, dtype: str, shape: tuple[int, ...], folder: Path | None, where: str) -> np.ndarray:
    entries = {entry.key: entry.value for entry in tensor.external_data}
    if dtype == dtypes.STRING:
        raise ModelFileError(f"{where} is text in another file, which ONNX does not have")
    path = safe_path(entries.get("location", ""), folder, where)
    numpy_type, count = dtypes.to_numpy(dtype), math.prod(shape)
    try:
        offset = int(entries.get("offset") or 0)
        available = path.stat().st_size - offset
        length = int(entries.get("length") or available)
    except (ValueError, OSError) as error:
        raise ModelFileError(f"{where} cannot be read from '{path.name}': {error}") from None
    bits = numpy_type.itemsize * 8 if dtype not in ("i2", "u2", "i4", "u4", "f4e2m1") else int(dtype[1])
    needed = (count * bits + 7) // 8
    if offset < 0 or length < 0 or length > available or needed > length:
        raise ModelFileError(
            f"{where} needs {needed} bytes from {offset} on of '{path.name}', which has {max(available, 0)} there "
            f"(length {length})"
        )
    if not count:
        return np.empty(shape, numpy_type)
    if dtype in dtypes.CARRIERS:
        copy = onnx.TensorProto(data_type=tensor.data_type, dims=shape)
        with path.open("rb") as file:
            file.seek(offset)
            copy.raw_data = file.read(needed)
        return numpy_helper.to_array(copy)
    return np.memmap(path, np.uint8, "r", offset, (needed,)).view(numpy_type).reshape(shape)


def safe_path(location: str, folder: Path | None, where: str) -> Path:
    """The file that a model names, if it lies in the model's folder.

    Raises:
      ModelFileError: the name is absolute, leads out of the folder, also by a link, or there is no such file.
    """
    if folder is None:
        raise ModelFileError(f"{where} is in the file '{location}', but the model has no folder; give its path instead")
    parts = PurePosixPath(location.replace("\\", "/")).parts
    is_absolute = PurePosixPath(location).is_absolute() or bool(PureWindowsPath(location).drive)
    if not location or "\0" in location or is_absolute or ".." in parts or location.startswith("\\"):
        raise ModelFileError(
            f"{where} is in the file '{location}'; only relative paths without '..' are allowed, since a model may be "
            "anybody's"
        )
    root = folder.resolve()
    path = root.joinpath(*parts)
    real = Path(os.path.realpath(path))
    if root != real.parent and root not in real.parents:
        raise ModelFileError(f"{where} is in the file '{location}', which is a link out of the folder of the model")
    if not real.is_file():
        raise ModelFileError(f"{where} is in the file '{location}', and there is no such file beside the model")
    return real

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checkpoints: tensors by name, independent of the file format."""

from __future__ import annotations

import abc
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..dtypes import is_float_array, to_numpy
from ..errors import MissingPackageError, ModelError, WeightError
from ..nn import Module, Parameter
from ..reading import reading
from .config import LlamaConfig
from .matrix import StoredParameter


def require(package: str, extra: str = "llm") -> Any:
    """Imports an optional package; the error says how to install it."""
    import importlib

    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise MissingPackageError(
            f"this needs the package '{package}', which cannot be imported ({error}); "
            f"install it with: pip install 'relax-mlir[{extra}]'"
        ) from None


class CheckpointTensor(abc.ABC):
    """A tensor of a checkpoint, read on demand."""

    def __init__(self, name: str, shape: Sequence[int], format: str) -> None:
        self.name = name
        self.shape = tuple(shape)
        self.format = format
        """F32, F16, BF16, or a GGML format such as Q4_1."""

    @abc.abstractmethod
    def dense(self) -> np.ndarray:
        """The elements as f32, checked to be finite."""

    def blocks(self) -> np.ndarray:
        """The blocks of a quantized matrix, `u8 [rows, columns / 32, bytes]`."""
        raise WeightError(f"tensor '{self.name}' is {self.format}; expected a quantised one")

    def blocks_as(self, quantisation: str) -> np.ndarray:
        """The blocks in a given format, to which the tensor is converted if needed."""
        if self.format == quantisation:
            return self.blocks()
        quants, constants = require("gguf.quants"), require("gguf.constants")
        rows, columns = self.shape
        packed = quants.quantize(self.dense(), constants.GGMLQuantizationType[quantisation])
        return packed.reshape(rows, columns // 32, -1)

    def _checked(self, values: np.ndarray) -> np.ndarray:
        require_numbers(self.name, values)
        return values


def require_numbers(name: str, values: np.ndarray) -> None:
    """Rejects NaN and infinity, which would make every result of the model worthless."""
    # The sum of finite numbers nearly always is finite, and needs no temporary array.
    with np.errstate(all="ignore"):
        if np.isfinite(np.sum(values, dtype=np.float32)):
            return
    wrong = np.flatnonzero(~np.isfinite(values.astype(np.float32, copy=False)))
    if len(wrong):
        where = np.unravel_index(wrong[0], values.shape)
        raise WeightError(
            f"tensor '{name}' holds {len(wrong)} values that are not numbers, the first of them "
            f"{values[where]} at {[int(i) for i in where]}; the file is damaged, or was written by a failed training"
        )


class Checkpoint(abc.ABC):
    """The tensors of a model under the names of Hugging Face's checkpoints, and its configuration."""

    path: Path

    @abc.abstractmethod
    def config(self) -> LlamaConfig: ...

    @abc.abstractmethod
    def names(self) -> Collection[str]:
        """The names of all tensors."""

    @abc.abstractmethod
    def tensor(self, name: str) -> CheckpointTensor:
        """A tensor by its name; raises `WeightError` if it is missing."""

    def format(self, name: str) -> str:
        """The format of a tensor; F32 if it is missing."""
        return self.tensor(name).format if name in self.names() else "F32"

    def is_irrelevant(self, name: str) -> bool:
        """Whether the checkpoint may contain a tensor that the model does not use."""
        return False

    def name_in_file(self, name: str) -> str:
        """The name of a tensor in the file itself."""
        return name


class ModelWeights(Mapping[str, np.ndarray]):
    """The parameters of a model, by name, each computed from the checkpoint on access.

    The constructor checks names and shapes, so that missing tensors are reported before anything is compiled. It also
    checks that the model uses every tensor, since a tensor that it ignores would be missing from its computation.

    Raises:
      WeightError: a tensor is missing, is not used, or has another shape.
    """

    def __init__(self, model: Module, checkpoint: Checkpoint) -> None:
        self._checkpoint = checkpoint
        self._read = 0
        self.on_read: Callable[[int], object] | None = None
        """Called with the number of parameters read so far, to show progress."""
        self._parameters: dict[str, Parameter] = model.assign_names()
        known = set(checkpoint.names())
        missing = sorted({self._origin(p) for p in self._parameters.values()} - known)
        if missing:
            more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
            raise WeightError(
                f"'{checkpoint.path}' lacks {len(missing)} of the model's tensors: {', '.join(missing[:5])}{more}; "
                "the file is incomplete, or of another architecture than its configuration says"
            )
        self._require_all_used({self._origin(p) for p in self._parameters.values()})
        for parameter in self._parameters.values():
            expected = parameter.origin_shape if isinstance(parameter, StoredParameter) else parameter.shape
            found = checkpoint.tensor(self._origin(parameter)).shape
            if found != expected:
                raise WeightError(
                    f"tensor '{self._origin(parameter)}' of '{checkpoint.path}' has the shape {found}; "
                    f"the model's configuration asks for {expected}"
                )

    def _require_all_used(self, used: set[str]) -> None:
        checkpoint = self._checkpoint
        left = [name for name in checkpoint.names() if name not in used and not checkpoint.is_irrelevant(name)]
        if left:
            named = ", ".join(map(checkpoint.name_in_file, left[:5]))
            more = f" and {len(left) - 5} more" if len(left) > 5 else ""
            raise WeightError(
                f"'{checkpoint.path}' has {len(left)} tensors that the model does not use: {named}{more}; "
                "the model is of another architecture than its configuration says, or of a variant that is not known"
            )

    @staticmethod
    def _origin(parameter: Parameter) -> str:
        return parameter.origin if isinstance(parameter, StoredParameter) else parameter.name

    def __getitem__(self, name: str) -> np.ndarray:
        parameter = self._parameters[name]
        with reading(self._checkpoint.path, WeightError):
            try:
                array = self._read_array(parameter)
            except MemoryError:
                raise WeightError(
                    f"no memory for the weight '{name}' of '{self._checkpoint.path}': {list(parameter.shape)} of "
                    f"{parameter.dtype}, of {self.nbytes >> 20} MiB in all; a layout that keeps weights quantised "
                    "needs less"
                ) from None
        self._read += 1
        if self.on_read:
            self.on_read(self._read)
        return array

    def _read_array(self, parameter: Parameter) -> np.ndarray:
        tensor = self._checkpoint.tensor(self._origin(parameter))
        if isinstance(parameter, StoredParameter):
            array = parameter.convert(tensor)
        else:
            array = tensor.dense().astype(to_numpy(parameter.dtype), copy=False)
        if is_float_array(array):
            require_numbers(parameter.name, array)
        return array

    def formats(self) -> Counter[str]:
        """The formats in the checkpoint, with the number of tensors of each."""
        return Counter(map(self._checkpoint.format, {self._origin(p) for p in self._parameters.values()}))

    def __iter__(self) -> Iterator[str]:
        return iter(self._parameters)

    def __len__(self) -> int:
        return len(self._parameters)

    @property
    def nbytes(self) -> int:
        """The size of all parameters in memory."""
        sizes = {"f32": 4, "f16": 2, "bf16": 2, "i8": 1, "f8e4m3fn": 1, "f8e5m2": 1}
        return sum(sizes[p.dtype] * int(np.prod(p.shape)) for p in self._parameters.values())


def open_checkpoint(path: str | Path) -> Checkpoint:
    """A GGUF file, or a folder in Hugging Face's form.

    Raises:
      ModelError: the checkpoint is missing, or cannot be read.
    """
    path = Path(path)
    if os.path.isdir(path):
        from .safetensors import SafetensorsCheckpoint

        return SafetensorsCheckpoint(path)
    if not os.path.exists(path):
        raise ModelError(f"there is no model at '{path}'; expected a .gguf file or a folder with config.json")
    if not path.is_file():  # reading a pipe would wait forever
        raise ModelError(f"'{path}' is neither a file nor a folder; expected a .gguf file or a folder with config.json")
    from .gguf import GGUFCheckpoint

    return GGUFCheckpoint(path)

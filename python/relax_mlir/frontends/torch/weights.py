# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tensors that a program brings along: parameters, buffers and constants.

Parameters and buffers become external weights, by their names in the model; one tensor under two names becomes one
weight. Small constants become constants of the module, so that they fold.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from ...dtypes import to_numpy as to_numpy_dtype
from ...errors import WeightError
from .dtypes import from_torch

_SMALL = 64
"""Constants of at most so many elements are part of the module."""

_AS_INTEGERS = {
    torch.bfloat16: torch.int16,
    torch.float8_e4m3fn: torch.uint8,
    torch.float8_e5m2: torch.uint8,
}


def to_array(tensor: torch.Tensor, name: str) -> np.ndarray:
    """The elements of a tensor on the host; of bf16 and f8 as ml_dtypes has them. Nothing is copied that need not be.

    Raises:
      WeightError: the tensor has no memory.
    """
    tensor = tensor.detach()
    if tensor.is_meta or type(tensor).__name__ == "FakeTensor":
        raise WeightError(f"the tensor '{name}' is on the device 'meta' and has no elements; load the weights first")
    tensor = tensor.cpu().resolve_conj().resolve_neg().contiguous()
    if as_integers := _AS_INTEGERS.get(tensor.dtype):
        return tensor.view(as_integers).numpy().view(to_numpy_dtype(from_torch(tensor.dtype)))
    return tensor.numpy()


class Weights:
    """Collects the weights of a program.

    Attributes:
      values: the arrays, by name.
    """

    def __init__(self) -> None:
        self.values: dict[str, np.ndarray] = {}
        self._names: dict[Any, str] = {}

    def add(self, name: str, tensor: torch.Tensor) -> str:
        """Adds a tensor, and gives the name of the weight, which is that of an equal one in the same memory."""
        key = (tensor.data_ptr(), tuple(tensor.shape), tensor.stride(), tensor.dtype)
        if tensor.data_ptr() and key in self._names:
            return self._names[key]
        array = to_array(tensor, name)
        # Exports of one model number the constants that they make.
        base, number = name, 2
        while name in self.values:
            name, number = f"{base}_{number}", number + 1
        self._names[key] = name
        self.values[name] = array
        return name


def is_small(tensor: torch.Tensor) -> bool:
    """Whether a constant is part of the module rather than a weight."""
    return tensor.numel() <= _SMALL

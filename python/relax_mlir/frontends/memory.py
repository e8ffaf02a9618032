# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The memory behind tensors of all kinds: what shares it, and writing into it.

Tensors are arrays of NumPy, or tensors of PyTorch, of TVM FFI, and of others that speak DLPack.
"""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

from ..optional import np
from ..runtime import to_host


class Layout(NamedTuple):
    """Where a tensor lies: the address of its first element, sizes, and strides in bytes."""

    address: int
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    itemsize: int

    @property
    def is_contiguous(self) -> bool:
        """Whether the elements lie in row-major order without gaps."""
        expected = self.itemsize
        for size, stride in zip(reversed(self.sizes), reversed(self.strides)):
            if size != 1 and stride != expected:
                return 0 in self.sizes
            expected *= size
        return True

    @property
    def span(self) -> tuple[int, int]:
        """The addresses of the first byte and behind the last one."""
        if 0 in self.sizes:
            return self.address, self.address
        reach = [stride * (size - 1) for size, stride in zip(self.sizes, self.strides)]
        low = self.address + sum(distance for distance in reach if distance < 0)
        high = self.address + sum(distance for distance in reach if distance > 0)
        return low, high + self.itemsize


def layout_of(tensor: Any) -> Layout:
    """The layout of a tensor."""
    if isinstance(tensor, np.ndarray):
        address = tensor.__array_interface__["data"][0]
        return Layout(address, tensor.shape, tensor.strides, tensor.itemsize)
    if not hasattr(tensor, "data_ptr"):
        return layout_of(np.from_dlpack(tensor))
    strides = tensor.stride() if callable(getattr(tensor, "stride", None)) else tensor.strides
    itemsize = tensor.element_size() if hasattr(tensor, "element_size") else tensor.dtype.itemsize
    return Layout(
        tensor.data_ptr(), tuple(map(int, tensor.shape)), tuple(int(stride) * itemsize for stride in strides), itemsize
    )


def address_of(tensor: Any) -> int:
    """Where the first element of a tensor lies."""
    if isinstance(tensor, np.ndarray):
        return tensor.__array_interface__["data"][0]
    return tensor.data_ptr() if hasattr(tensor, "data_ptr") else layout_of(tensor).address


def overlap(lhs: Any, rhs: Any) -> bool:
    """Whether two tensors may share bytes: whether the spans that they lie in do."""
    (first, end), (other_first, other_end) = layout_of(lhs).span, layout_of(rhs).span
    return max(first, other_first) < min(end, other_end)


def is_same(lhs: Any, rhs: Any) -> bool:
    """Whether two contiguous tensors of one element type are the same memory."""
    first, other = layout_of(lhs), layout_of(rhs)
    is_one_place = first.address == other.address and first.sizes == other.sizes
    return is_one_place and first.is_contiguous and other.is_contiguous


def copy_of(tensor: Any) -> Any:
    """A contiguous copy, of the same library."""
    if isinstance(tensor, np.ndarray):
        return tensor.copy(order="C")
    if hasattr(tensor, "clone"):
        return tensor.detach().clone(memory_format=sys.modules["torch"].contiguous_format)
    return np.array(to_host(tensor), order="C")


def write(target: Any, value: Any) -> None:
    """Writes the elements of a tensor into another."""
    if isinstance(target, np.ndarray):
        np.copyto(target, to_host(value))
    elif "torch" in sys.modules and isinstance(target, sys.modules["torch"].Tensor):
        torch = sys.modules["torch"]
        with torch.no_grad():
            target.copy_(value if isinstance(value, torch.Tensor) else torch.from_dlpack(value))
    else:
        np.copyto(np.from_dlpack(target), to_host(value))

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The entries of OpInfo with the element types and samples to check.

An entry is an operator of PyTorch with a generator of sample inputs. Its name is the operator's name, followed by a dot
and the variant's name, if there is one: `std_mean.unbiased`.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import torch
from torch.testing._internal import common_methods_invocations as invocations
from torch.testing._internal.opinfo import core

# Entries that draw random numbers set the seed, so that two draws would be equal.
invocations.wrapper_set_seed = lambda function, *args, **kwargs: function(*args, **kwargs)

MOST_SAMPLES = 12
"""The maximum number of samples of an element type: the first one, and others spread evenly over the entry's
samples."""

_TYPES: tuple[tuple[torch.dtype, ...], ...] = (
    (torch.float32,),
    (torch.bfloat16, torch.float16),
    (torch.int64,),
    (torch.bool,),
)
"""The element types to check: from each group, the first type that the entry supports."""

_OTHER_TYPES = (torch.complex64, torch.float64, torch.int32, torch.uint8)
"""The element types for an entry that supports none of the types above; the first supported one is checked."""

_KINDS = {
    core.UnaryUfuncInfo: "element-wise, unary",
    core.BinaryUfuncInfo: "element-wise, binary",
    core.ReductionOpInfo: "reductions",
}


@dataclasses.dataclass(frozen=True)
class Entry:
    """An entry of OpInfo."""

    name: str
    info: Any

    @property
    def family(self) -> str:
        """The module of the operator (`nn.functional`, `linalg`), or its kind."""
        module = self.info.name.rpartition(".")[0]
        return module or _KINDS.get(type(self.info), "tensors")

    def dtypes(self) -> list[torch.dtype]:
        """The element types that are checked on the CPU."""
        supported = self.info.supported_dtypes("cpu")
        found = [next((dtype for dtype in group if dtype in supported), None) for group in _TYPES]
        named = [dtype for dtype in found if dtype is not None]
        return named or [dtype for dtype in _OTHER_TYPES if dtype in supported][:1]

    def samples(self, dtype: torch.dtype, **options: Any) -> list[Any]:
        """The samples of an element type, the same in each process.

        Args:
          options: as for OpInfo's `sample_inputs`, such as `requires_grad`.
        """
        torch.manual_seed(0)
        found = list(self.info.sample_inputs("cpu", dtype, **options))
        count = min(len(found), MOST_SAMPLES)
        return [found[index * len(found) // count] for index in range(count)]


@functools.cache
def all_entries() -> dict[str, Entry]:
    """All entries by name, in the order of the names."""
    found = {}
    for info in invocations.op_db:
        name = f"{info.name}.{info.variant_test_name}" if info.variant_test_name else info.name
        if name in found:
            raise RuntimeError(f"OpInfo has two entries with the name '{name}'")
        found[name] = Entry(name, info)
    return dict(sorted(found.items()))


def dtype_name(dtype: torch.dtype) -> str:
    """The name of an element type, such as `float32`."""
    return str(dtype).removeprefix("torch.")

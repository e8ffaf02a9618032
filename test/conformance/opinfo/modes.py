# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The interface of modes, which check one aspect of entries. Further modes, such as gradients, have these methods."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, Protocol

import torch

from .entries import Entry


@dataclasses.dataclass(frozen=True)
class Outcome:
    """The outcome of checking a sample.

    Attributes:
      kind: one of `results.KINDS`.
      reason: why the sample did not pass, in one line.
      is_static: the sample could not be exported with dynamic sizes, so the program has the sizes of the example.
    """

    kind: str
    reason: str = ""
    is_static: bool = False


class Mode(Protocol):
    """A way to check samples of an entry."""

    def dtypes(self, entry: Entry) -> list[torch.dtype]:
        """The element types that are checked; an empty list leaves the entry out."""

    def samples(self, entry: Entry, dtype: torch.dtype) -> list[Any]:
        """The samples of an element type, the same in each process."""

    def check(self, entry: Entry, samples: Sequence[Any]) -> list[Outcome]:
        """Checks samples together, in one program. If a sample fails for another reason than wrong values, all outcomes
        may be that failure: the pool divides such a group until the sample is alone."""


def find_mode(name: str) -> Mode:
    """The mode of a name."""
    from .forward import Forward

    return {"forward": Forward}[name]()


NAMES = ("forward",)
"""The names of modes; each mode has its own results and ratchet."""

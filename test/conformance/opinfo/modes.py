# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What may be checked of an entry. A further mode, such as gradients, is a class with these methods."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, Protocol

import torch

from .entries import Entry


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What a check of a sample has found.

    Attributes:
      kind: one of `results.KINDS`.
      reason: of what did not pass, in one line.
      is_static: the sample could not be exported with dynamic sizes, and was with the sizes of the example.
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
        """Checks samples together, in one program. Where one fails other than by its values, the outcome of all may be
        that failure: the pool divides such a group until the sample is alone."""


def find_mode(name: str) -> Mode:
    """The mode of a name."""
    from .forward import Forward

    return {"forward": Forward}[name]()


NAMES = ("forward",)
"""The names of modes, each with results and a ratchet of its own."""

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The errors of the ONNX front end that carry more than a message."""

from __future__ import annotations

from collections.abc import Iterable

from ...errors import FrontendError


class ValueRequiredError(FrontendError):
    """What decides shapes, axes or ranks in a way that is not symbolic, and is an input of the model.

    Attributes:
      inputs: the names of inputs of the model whose values decide it. `from_onnx(..., values={name: array})` makes a
        program for one value; `InferenceSession` makes one for each value that it is given.
      shapes: the names of inputs whose shapes decide it, likewise.
    """

    def __init__(self, message: str, inputs: Iterable[str], shapes: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.inputs = frozenset(inputs)
        self.shapes = frozenset(shapes)


class ModelFileError(FrontendError):
    """A file that is not a valid ONNX model: damaged, cyclic, or with data that is missing or outside of its folder."""


class UndecidedBranchError(FrontendError):
    """A branch must be chosen while the model is imported, by a condition on sizes that only a run knows.

    `api.build_program` tries both choices, so users see `error` where neither is the only one.

    Attributes:
      index: the number of the branch, in the order of the import.
    """

    def __init__(self, index: int, error: FrontendError) -> None:
        super().__init__(str(error))
        self.index = index
        self.error = error

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How the inputs and outputs of a model lie in those of its function, and which function serves which sizes."""

from __future__ import annotations

import dataclasses
from typing import Any

from ..errors import ModelError
from .tree import Spec, check_spec


@dataclasses.dataclass(frozen=True)
class Input:
    """A leaf of the inputs: a tensor, an integer, or a constant with which the program was made.

    `value` is the constant; `name` is for messages. A complex tensor (the kind "complex") is a real tensor with a last
    axis of two for the function.
    """

    name: str
    kind: str
    value: Any = None


@dataclasses.dataclass(frozen=True)
class Output:
    """A leaf of the outputs: a "tensor", "complex", "integer", "float", "boolean", "maps", "input" or "constant".

    Result `index` of the function as a tensor or a number, input `index` as it was given, or a constant. Maps are a
    list of dictionaries, one for each row of a tensor; `value` has the keys, one for each column.

    Attributes:
      owner: the leaf of the inputs in whose memory the model gives the result, as a view of it; -1 where there is none.
    """

    kind: str
    index: int = 0
    value: Any = None
    owner: int = -1


@dataclasses.dataclass(frozen=True)
class Signature:
    """How the arguments and results of the function lie in those of the model.

    The function takes the buffers that are changed, then the inputs that are tensors or integers.

    Attributes:
      names: of the model's arguments, in order, so that they may be given by name.
      inputs, outputs: the leaves of both structures.
      buffers: names of buffers that calls change.
      updates: what is written back: ("buffer", name) or ("input", position of the leaf), with the function's result.
    """

    names: tuple[str, ...]
    input_spec: Spec
    output_spec: Spec
    inputs: tuple[Input, ...]
    outputs: tuple[Output, ...]
    buffers: tuple[str, ...] = ()
    updates: tuple[tuple[str, Any, int], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The signature as JSON's values."""
        return dataclasses.asdict(self)

    @staticmethod
    def from_json(fields: Any) -> Signature:
        """The signature that `to_json` gave.

        Raises:
          ModelError: it is not one.
        """
        try:
            for spec in (fields["input_spec"], fields["output_spec"]):
                check_spec(spec)
            return Signature(
                tuple(fields["names"]),
                fields["input_spec"],
                fields["output_spec"],
                tuple(Input(**entry) for entry in fields["inputs"]),
                tuple(Output(**entry) for entry in fields["outputs"]),
                tuple(fields["buffers"]),
                tuple((kind, target, index) for kind, target, index in fields["updates"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(f"the signature of the program is damaged: {error}; export the program again") from None


@dataclasses.dataclass(frozen=True)
class Variant:
    """A function that takes the place of `main` where some sizes of inputs are small.

    Attributes:
      function: its name.
      signature: its own: as that of the program, but for what the sizes decide.
      serves: the sizes, each a leaf of the inputs, an axis, and the size there. All sizes that decide are given which
        are 0 or 1; the others are larger.
    """

    function: str
    signature: Signature
    serves: tuple[tuple[tuple[int, int, int], ...], ...]


@dataclasses.dataclass(frozen=True)
class Variants:
    """The functions of a program, by the sizes of inputs.

    Attributes:
      places: the sizes that decide: a leaf of the inputs, and an axis.
      variants: what they decide for; `main` takes all other calls.
    """

    places: tuple[tuple[int, int], ...] = ()
    variants: tuple[Variant, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The variants as JSON's values."""
        return dataclasses.asdict(self)

    @staticmethod
    def from_json(fields: Any) -> Variants:
        """The variants that `to_json` gave.

        Raises:
          ModelError: these are none.
        """
        try:
            return Variants(
                tuple((int(leaf), int(axis)) for leaf, axis in fields["places"]),
                tuple(
                    Variant(
                        str(entry["function"]),
                        Signature.from_json(entry["signature"]),
                        tuple(
                            tuple((int(leaf), int(axis), int(size)) for leaf, axis, size in sizes)
                            for sizes in entry["serves"]
                        ),
                    )
                    for entry in fields["variants"]
                ),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(f"the variants of the program are damaged: {error}; export the program again") from None

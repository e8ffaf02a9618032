# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A compiled program of another framework: functions with the inputs and outputs of the model.

A program of another framework takes and gives structures (tuples, dictionaries, objects), has buffers that calls
change, and changes inputs. The function of the module knows tensors alone. What lies between is a `Signature`, which
goes with the code into a folder as JSON, so that the folder runs without the framework and without the compiler.
"""

from __future__ import annotations

import json
import operator
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..code import Code
from ..errors import MissingPackageError, ModelError, RelaxError
from ..export import export, open_exported
from ..optional import np
from ..runtime import Executable
from ..stored_weights import parse_tensors, save_tensors
from .entry import Entry
from .signature import Signature, Variants
from .tree import Codec, flatten, unflatten

FUNCTION = "main"
"""The function of the module that is the program."""

RANDOM_STATE = "relax.random_state"
"""The buffer with the state of the random number generator, `[seed, offset]` of i64, of programs that draw."""

SIGNATURE, BUFFERS = "program.json", "buffers.safetensors"
"""What a folder has beside its code: the signature, and the first values of buffers that calls change."""


class CompiledProgram:
    """A compiled program: `program(*args, **kwargs)` takes and gives what the model does.

    Tensors are arrays of NumPy, or tensors of PyTorch and others, and are not copied. Buffers and inputs that the model
    changes are changed where they are.

    A call raises `TypeError` or `ValueError` where the structure of the arguments, or an element type, rank or size is
    not what the program was made for; the message names the input.

    Attributes:
      buffers: the present values of buffers that calls change; complex ones have a last axis of two.
    """

    def __init__(
        self,
        executable: Executable,
        signature: Signature,
        buffers: dict[str, np.ndarray] | None = None,
        codecs: Mapping[str, Codec] | None = None,
        variants: Variants | None = None,
    ) -> None:
        self.executable = executable
        self.signature = signature
        self.buffers = buffers or {}
        self.variants = variants or Variants()
        self._codecs = codecs or {}
        self._main = Entry(executable, FUNCTION, signature)
        self._entries = {}
        for variant in self.variants.variants:
            entry = Entry(executable, variant.function, variant.signature)
            self._entries.update(dict.fromkeys(map(frozenset, variant.serves), entry))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        leaves = flatten(self.signature.input_spec, self._bind(args, kwargs), "arguments", self._codecs)
        entry = self._entries.get(self._small_sizes(leaves), self._main) if self._entries else self._main
        return unflatten(entry.signature.output_spec, iter(entry.run(leaves, self.buffers)), self._codecs)

    def _small_sizes(self, leaves: Sequence[Any]) -> frozenset[tuple[int, int, int]]:
        """The sizes that decide and are 0 or 1. An input that has none, since it is wrong, is refused by `main`."""
        found = []
        for leaf, axis in self.variants.places:
            shape = getattr(leaves[leaf], "shape", ())
            if axis < len(shape) and shape[axis] in (0, 1):
                found.append((leaf, axis, int(shape[axis])))
        return frozenset(found)

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments as the model was exported with: which by position, which by name."""
        positional, named = self.signature.input_spec["items"]
        count, names = len(positional["items"]), self.signature.names
        if len(args) > count:
            raise TypeError(f"the program takes {count} arguments by position, got {len(args)}")
        twice = [name for name in names[: len(args)] if name in kwargs]
        if twice:
            raise TypeError(f"the program got two values for the argument '{twice[0]}': by position and by name")
        missing = [name for name in names[len(args) : count] if name not in kwargs]
        if missing:
            raise TypeError(f"the program needs the argument '{missing[0]}'")
        args = (*args, *(kwargs[name] for name in names[len(args) : count]))
        rest = {name: value for name, value in kwargs.items() if name not in names[:count]}
        known = named["keys"]
        unknown = [name for name in rest if name not in known]
        if unknown:
            expected = ", ".join(map(repr, [*names[:count], *known])) or "none"
            raise TypeError(f"the program has no argument '{unknown[0]}'; its arguments are: {expected}")
        absent = [name for name in known if name not in rest]
        if absent:
            raise TypeError(f"the program needs the argument '{absent[0]}' by name")
        return args, {name: rest[name] for name in named["keys"]}

    def seed(self, seed: int) -> None:
        """Sets the seed of the random numbers that the program draws: the same calls after it give the same numbers.

        A program starts with the seed 0, and each call goes on where the one before has ended.

        Raises:
          RelaxError: the program draws no random numbers.
          ValueError: the seed is not an integer of 64 bits.
        """
        if RANDOM_STATE not in self.buffers:
            raise RelaxError("the program draws no random numbers, so it has no seed")
        if not -(2**63) <= operator.index(seed) < 2**64:
            raise ValueError(f"expected a seed of 64 bits, got {seed}")
        self.buffers[RANDOM_STATE][:] = np.array([seed % 2**64, 0], np.uint64).view(np.int64)

    def export(self, folder: str | os.PathLike[str]) -> None:
        """Writes a folder that `load_program` loads, with the present values of buffers."""
        code, weights = self.executable.code, self.executable.weights
        write_folder(code, folder, weights, self.signature, self.buffers, self.variants)


def write_folder(
    code: Code,
    folder: str | os.PathLike[str],
    weights: Mapping[str, Any],
    signature: Signature,
    buffers: Mapping[str, np.ndarray],
    variants: Variants | None = None,
) -> None:
    """Writes a folder with the code and the signature of a program."""
    fields = {**signature.to_json(), "variants": (variants or Variants()).to_json()}

    def companions(staging: Path) -> None:
        (staging / SIGNATURE).write_text(json.dumps(fields, indent=1) + "\n", encoding="utf-8")
        if buffers:
            save_tensors(buffers, staging / BUFFERS)

    export(code, folder, weights, companions=companions)


def load_program(folder: str | os.PathLike[str]) -> CompiledProgram:
    """Loads a program that was exported to a folder, and runs the code in it: load what you trust (docs/security.md).

    Raises:
      ModelError: something is missing or damaged, or was made for another machine.
      MissingPackageError: NumPy is not installed.
    """
    if not np:
        raise MissingPackageError("a program of another framework needs NumPy, which is missing: pip install numpy")
    exported = open_exported(folder)
    companions = exported.companions()
    if SIGNATURE not in companions:
        raise ModelError(f"'{folder}' holds no imported program: it has no {SIGNATURE}")
    try:
        fields = json.loads(companions[SIGNATURE])
        signature = Signature.from_json(fields)
        variants = Variants.from_json(fields.get("variants") or {"places": (), "variants": ()})
    except ValueError as error:
        if isinstance(error, RelaxError):
            raise
        raise ModelError(f"'{Path(folder) / SIGNATURE}' is damaged: {error}; export the program again") from None
    buffers = {}
    if BUFFERS in companions:
        tensors = parse_tensors(companions[BUFFERS], str(Path(folder) / BUFFERS))
        buffers = {name: value.copy() for name, value in tensors.items()}
    executable = exported.load()
    parts = [(FUNCTION, signature), *((variant.function, variant.signature) for variant in variants.variants)]
    if any(name not in executable or not buffers.keys() >= set(part.buffers) for name, part in parts):
        raise ModelError(f"'{folder}' is damaged: code and signature do not belong together; export the program again")
    return CompiledProgram(executable, signature, buffers, variants=variants)

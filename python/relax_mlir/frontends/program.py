# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An imported program, and what it becomes when it is compiled: a function with the inputs and outputs of the model.

A program of another framework takes and gives structures (tuples, dictionaries, objects), has buffers that calls
change, and changes inputs. The function of the module knows tensors alone. What lies between is a `Signature`, which
goes with the code into a folder as JSON, so that the folder runs without the framework.
"""

from __future__ import annotations

import dataclasses
import json
import operator
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..code import Code
from ..compiler import Target, compile_code
from ..errors import ModelError, RelaxError
from ..export import export, open_exported
from ..module import Module
from ..runtime import Executable, to_host
from ..stored_weights import parse_tensors, save_tensors
from . import memory
from .tree import Codec, Spec, check_spec, flatten, unflatten

FUNCTION = "main"
"""The function of the module that is the program."""

RANDOM_STATE = "relax.random_state"
"""The buffer with the state of the random number generator, `[seed, offset]` of i64, of programs that draw."""

SIGNATURE, BUFFERS = "program.json", "buffers.safetensors"
"""What a folder has beside its code: the signature, and the first values of buffers that calls change."""


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
    """A leaf of the outputs: of the kind "tensor", "complex", "integer", "float", "boolean", "input" or "constant".

    Result `index` of the function as a tensor or an integer, input `index` as it was given, or a constant.
    """

    kind: str
    index: int = 0
    value: Any = None


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


@dataclasses.dataclass
class Report:
    """What an import has found out: lines of text under a heading each."""

    sections: dict[str, list[str]] = dataclasses.field(default_factory=dict)

    def add(self, heading: str, lines: Sequence[str]) -> None:
        """Adds lines under a heading."""
        self.sections.setdefault(heading, []).extend(lines)

    def __str__(self) -> str:
        parts = []
        for heading, lines in self.sections.items():
            parts += [heading, *(f"  {line}" for line in lines or ["none"])]
        return "\n".join(parts)


@dataclasses.dataclass
class Program:
    """A program of another framework as a module.

    Attributes:
      module: the function `main`, and those of the variants.
      weights: the values of the module's external weights.
      buffers: the first values of buffers that calls change.
      report: symbols, checks, and ops by converter.
    """

    module: Module
    signature: Signature
    weights: dict[str, np.ndarray]
    buffers: dict[str, np.ndarray]
    report: Report
    codecs: dict[str, Codec] = dataclasses.field(default_factory=dict)
    variants: Variants = Variants()

    def compile(
        self, target: Target | str | None = None, *, use_bounds: bool = False, cached: bool = True
    ) -> CompiledProgram:
        """Compiles the program for this machine; arguments as for `relax_mlir.compile`."""
        executable = Executable(compile_code(self.module, target, use_bounds=use_bounds, cached=cached))
        if executable.code.weights:
            executable.bind_weights({name: self.weights[name] for name in executable.code.weights})
        buffers = {name: value.copy() for name, value in self.buffers.items()}
        return CompiledProgram(executable, self.signature, buffers, self.codecs, self.variants)

    def export(self, folder: str | os.PathLike[str], target: Target | str | None = None) -> None:
        """Compiles the program to a folder that runs without the framework (`load_program`) and without the compiler.

        Raises:
          RelaxError: a pass failed, or the folder cannot be written.
        """
        code = compile_code(self.module, target)
        write_folder(code, folder, self.weights, self.signature, self.buffers, self.variants)


class _Entry:
    """A function of a program with its signature."""

    def __init__(self, executable: Executable, name: str, signature: Signature) -> None:
        described = executable.code.functions[name]
        self.signature = signature
        self._call = executable[name]
        self._is_single = len(described["results"]) == 1
        self._written = {index for index, entry in enumerate(described["parameters"]) if entry.get("written")}

    def run(self, leaves: Sequence[Any], buffers: Mapping[str, np.ndarray]) -> list[Any]:
        """The leaves of the outputs; buffers and inputs that the model changes have their new values."""
        signature = self.signature
        arguments: list[Any] = [buffers[name] for name in signature.buffers]
        tensors = list(leaves)  # as the function sees them: complex ones are real
        for index, (given, leaf) in enumerate(zip(signature.inputs, leaves)):
            if given.kind == "constant":
                _check_constant(given, leaf)
            else:
                tensors[index] = _argument(given, leaf)
                arguments.append(tensors[index])
        for index in self._written:
            arguments[index] = _as_contiguous(arguments[index])
        made = self._call(*arguments)
        results = [made] if self._is_single else list(made or ())  # a function without results gives None
        if signature.updates:
            targets = [
                (buffers[target] if kind == "buffer" else tensors[target], index)
                for kind, target, index in signature.updates
            ]
            _update(targets, results, {entry.index for entry in signature.outputs if entry.kind not in _NOT_RESULTS})
            for kind, target, _ in signature.updates:
                if kind == "input" and signature.inputs[target].kind == "complex":
                    _write_back(leaves[target], tensors[target])
        return [_output(entry, results, leaves) for entry in signature.outputs]


_NOT_RESULTS = ("constant", "input")
"""Kinds of outputs that are not results of the function."""


def _as_contiguous(argument: Any) -> Any:
    """What a function can write into: a copy where elements of the argument lie apart. `_update` writes it back."""
    try:
        is_contiguous = memory.layout_of(argument).is_contiguous
    except (AttributeError, TypeError, ValueError, BufferError, RuntimeError):  # not a tensor, as the call will say
        return argument
    return argument if is_contiguous else memory.copy_of(argument)


def _update(targets: Sequence[tuple[Any, int]], results: list[Any], outputs: set[int]) -> None:
    """Gives what the model changes its new values. Where the function has written into it, nothing is copied.

    A result may lie in memory of a target, as an old value that is returned does, or new values that change places. It
    is copied before that memory is written, and where the user gets it, since the next call writes there again.

    Args:
      targets: what is changed, each with the result that is its new value. A new value that is an output as well stays
        the target itself, as it is in eager.
      outputs: the results that the user gets.
    """
    left = [(target, index) for target, index in targets if not memory.is_same(target, results[index])]
    values = {index for _, index in targets}
    for index in (outputs - values) | {index for _, index in left}:
        others = targets if index in outputs or index not in values else left
        if any(memory.overlap(results[index], target) for target, _ in others):
            results[index] = memory.copy_of(results[index])
    for target, index in left:
        memory.write(target, results[index])


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
        self._main = _Entry(executable, FUNCTION, signature)
        self._entries = {}
        for variant in self.variants.variants:
            entry = _Entry(executable, variant.function, variant.signature)
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


def _check_constant(given: Input, leaf: Any) -> None:
    if isinstance(given.value, np.ndarray):
        if not np.array_equal(given.value, leaf):
            raise ValueError(f"{given.name}: the program was made for {given.value.tolist()}, got {leaf!r}")
        return
    if type(leaf) is not type(given.value) or leaf != given.value:
        raise ValueError(f"{given.name}: the program was made for {given.value!r}, got {leaf!r}")


def _argument(given: Input, leaf: Any) -> Any:
    if given.kind == "integer":
        return _integer(given, leaf)
    return _to_pairs(given, leaf) if given.kind == "complex" else leaf


def _to_pairs(given: Input, leaf: Any) -> Any:
    """A complex tensor as a real one with a last axis of two, without a copy where its memory allows."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(leaf, torch.Tensor):
        if leaf.is_complex():
            return torch.view_as_real(leaf.detach().resolve_conj())
        kind = str(leaf.dtype)
    else:
        array = np.asarray(leaf)
        if np.iscomplexobj(array):
            return np.ascontiguousarray(array).reshape(array.shape)[..., None].view(array.real.dtype)
        kind = array.dtype.name
    raise TypeError(f"{given.name}: expected complex numbers, got elements of {kind}")


def _write_back(target: Any, pairs: Any) -> None:
    """Gives a complex tensor the values of its pairs, where these are a copy of it."""
    if isinstance(target, np.ndarray):
        if not np.shares_memory(target, pairs):
            np.copyto(target, to_complex(pairs))
    elif target.data_ptr() != pairs.data_ptr():
        target.detach().copy_(to_complex(pairs))


def to_complex(pairs: Any) -> Any:
    """A real tensor with a last axis of two as the complex tensor in the same memory."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(pairs, torch.Tensor):
        return torch.view_as_complex(pairs)
    array = pairs if isinstance(pairs, np.ndarray) else to_host(pairs)
    return array.view(np.result_type(array.dtype, np.complex64))[..., 0]


def _integer(given: Input, leaf: Any) -> int:
    try:
        return operator.index(leaf)
    except TypeError:
        raise TypeError(f"{given.name}: expected an integer, got {type(leaf).__name__}") from None


def _output(entry: Output, results: Sequence[Any], leaves: Sequence[Any]) -> Any:
    if entry.kind == "constant":
        return entry.value
    if entry.kind == "input":
        return leaves[entry.index]
    result = results[entry.index]
    if entry.kind in ("tensor", "complex"):
        return result if entry.kind == "tensor" else to_complex(result)
    number = to_host(result).item()
    return {"integer": int, "float": float, "boolean": bool}[entry.kind](number)


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
    """
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

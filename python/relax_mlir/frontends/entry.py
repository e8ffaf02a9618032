# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A function of an imported program, as the model calls it: structures are flat here, complex tensors are real ones."""

from __future__ import annotations

import operator
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from ..optional import np
from ..runtime import Executable, to_host
from . import memory
from .signature import Input, Output, Signature

_TENSORS = ("tensor", "complex")
"""Kinds of inputs and outputs that are tensors."""


class Entry:
    """A function of a program with its signature."""

    def __init__(self, executable: Executable, name: str, signature: Signature) -> None:
        described = executable.code.functions[name]
        self.signature = signature
        self._call = executable[name]
        self._is_single = len(described["results"]) == 1
        self._tensor_inputs = [leaf for leaf, given in enumerate(signature.inputs) if given.kind in _TENSORS]
        self._tensor_outputs = [entry for entry in signature.outputs if entry.kind in _TENSORS]
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
        self._separate(results, tensors)
        return [_output(entry, results, leaves) for entry in signature.outputs]

    def _separate(self, results: list[Any], tensors: Sequence[Any]) -> None:
        """Copies results that lie in memory of an input, or of another result, unless the model gives them as views.

        A function returns an input, or one tensor twice, where an op such as a clone computes nothing. Results have
        memory of their own otherwise, so only the places where they begin are compared.
        """
        taken = {memory.address_of(tensors[leaf]): leaf for leaf in self._tensor_inputs}
        for entry in self._tensor_outputs:
            address = memory.address_of(results[entry.index])
            if taken.setdefault(address, ~entry.index) not in (~entry.index, entry.owner):
                results[entry.index] = memory.copy_of(results[entry.index])


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
    if entry.kind == "maps":
        return [dict(zip(entry.value, row)) for row in to_host(result).tolist()]
    number = to_host(result).item()
    return {"integer": int, "float": float, "boolean": bool}[entry.kind](number)

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares results with eager mode: one program for a group of samples, with sizes as dynamic as PyTorch allows."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch.utils import _pytree as pytree

from relax_mlir.errors import RelaxError, UnsupportedOpError
from relax_mlir.frontends import torch as relax_torch

from . import comparison
from .comparison import Mismatch
from .entries import Entry
from .modes import Outcome

_SEEDS = (1, 2)


class Forward:
    """Checks the results of entries."""

    def dtypes(self, entry: Entry) -> list[torch.dtype]:
        return entry.dtypes()

    def samples(self, entry: Entry, dtype: torch.dtype) -> list[Any]:
        return entry.samples(dtype)

    def check(self, entry: Entry, samples: Sequence[Any]) -> list[Outcome]:
        calls = [Call(entry.info, sample) for sample in samples]
        try:
            expected = [call.eager() for call in calls]
        except Exception as error:
            return [Outcome("eager", f"eager: {one_line(error)}")] * len(calls)
        exported, is_static, failure = _export(calls)
        if exported is None:
            return [Outcome("export", failure)] * len(calls)
        try:
            run = relax_torch.from_exported_program(exported).compile(cached=False)
        except UnsupportedOpError as error:
            return [Outcome("missing", f"no converter: {', '.join(sorted(error.ops))}")] * len(calls)
        except Exception as error:
            return [Outcome("import", _explain(error))] * len(calls)
        try:
            outputs = _run(run, calls)
        except Exception as error:
            return [Outcome("run", _explain(error))] * len(calls)
        return [
            _compare(entry, call, run, calls, index, output, want, is_static)
            for index, (call, output, want) in enumerate(zip(calls, outputs, expected))
        ]


class Call:
    """An operator with one sample: which leaves of the arguments are tensors, and the values of the others."""

    def __init__(self, info: Any, sample: Any) -> None:
        self.info = info
        self.sample = sample
        self.leaves, self.spec = pytree.tree_flatten((sample.input, sample.args, sample.kwargs))
        self.places = [index for index, leaf in enumerate(self.leaves) if isinstance(leaf, torch.Tensor)]

    def tensors(self) -> list[torch.Tensor]:
        """Copies of the tensors, with their strides."""
        return [copy.deepcopy(self.leaves[place].detach()) for place in self.places]

    def __call__(self, tensors: Sequence[torch.Tensor]) -> Any:
        """Calls the operator with other tensors."""
        leaves = list(self.leaves)
        for place, tensor in zip(self.places, tensors):
            leaves[place] = tensor
        first, args, kwargs = pytree.tree_unflatten(leaves, self.spec)
        return self.info(first, *args, **kwargs)

    def eager(self, dtype: torch.dtype | None = None, seed: int = _SEEDS[0]) -> tuple[Any, list[torch.Tensor]]:
        """The result, and the tensors after the call. Floats are first converted to `dtype`, if given."""
        torch.manual_seed(seed)
        tensors = self.tensors()
        if dtype is not None:
            tensors = [tensor.to(dtype) if tensor.is_floating_point() else tensor for tensor in tensors]
        with torch.no_grad():
            return self(tensors), tensors

    def exact(self) -> Any:
        """The result in f64, if the operator supports it."""
        try:
            return self.eager(torch.float64)
        except Exception:  # after any exception, there is no reference
            return None

    def draws(self) -> bool:
        """Whether the result changes with the seed."""
        first, second = (self.eager(seed=seed) for seed in _SEEDS)
        try:
            comparison.check_same(first, second)
        except Mismatch:
            return True
        return False


class _Group(torch.nn.Module):
    """A model that makes all calls of a group, with the tensors of all samples as inputs."""

    def __init__(self, calls: Sequence[Call]) -> None:
        super().__init__()
        self.calls = calls

    def forward(self, *tensors: torch.Tensor) -> Any:
        rest = iter(tensors)
        return tuple(call(list(itertools.islice(rest, len(call.places)))) for call in self.calls)


def _export(calls: Sequence[Call]) -> tuple[Any, bool, str]:
    """The program of a group, whether its sizes are constants, and the reason if there is no program.

    Sizes are constants only if a single sample cannot be exported otherwise.
    """
    tensors = tuple(itertools.chain.from_iterable(call.tensors() for call in calls))
    auto = tuple(dict.fromkeys(range(tensor.ndim), torch.export.Dim.AUTO) or None for tensor in tensors)
    attempts: list[Any] = [(auto,)] if tensors else []
    if len(calls) == 1:
        attempts.append(None)
    failure = ""
    for shapes in attempts:
        try:
            with torch.no_grad():
                exported = torch.export.export(_Group(calls), tensors, dynamic_shapes=shapes, strict=False)
            return exported, shapes is None and bool(tensors), ""
        except Exception as error:  # whatever PyTorch raises
            failure = failure or one_line(error)
    return None, False, failure


def _run(run: Any, calls: Sequence[Call]) -> list[tuple[Any, list[torch.Tensor]]]:
    """For each call, the result, and the tensors after the call."""
    tensors = [call.tensors() for call in calls]
    outputs = pytree.tree_map(_as_tensor, run(*itertools.chain.from_iterable(tensors)))
    return list(zip(outputs, tensors))


def _as_tensor(leaf: Any) -> Any:
    """A result as tensors; a program without tensor inputs returns NumPy arrays."""
    if not isinstance(leaf, np.ndarray):
        return leaf
    if leaf.dtype.name == "bfloat16":  # NumPy lacks this type
        return torch.from_numpy(leaf.view(np.uint16)).view(torch.bfloat16)
    return torch.from_numpy(leaf)


def _compare(
    entry: Entry, call: Call, run: Any, calls: Sequence[Call], index: int, have: Any, want: Any, is_static: bool
) -> Outcome:
    try:
        if entry.info.name in comparison.UNINITIALIZED:
            comparison.check_like(have, want)
        elif call.draws():
            others = [_run(run, calls)[index] for _ in range(comparison.DRAWS)]
            wanted = [call.eager(seed=seed) for seed in range(comparison.DRAWS)]
            comparison.check_distribution([have, *others], [want, *wanted])
        else:
            _check_values(entry, call, have, want)
    except Mismatch as error:
        return Outcome("wrong", str(error), is_static)
    return Outcome("pass", "", is_static)


def _check_values(entry: Entry, call: Call, have: Any, want: Any) -> None:
    try:
        comparison.check_same(have, want, call.exact())
    except Mismatch:
        if entry.info.name in comparison.WITH_POSITIONS and isinstance(want[0], tuple):
            comparison.check_positions(call.sample.input, have[0], want[0])
            return
        if entry.info.name in comparison.ORDERS:
            sample = call.sample
            axis = sample.kwargs.get("dim", sample.args[0] if sample.args else -1)
            comparison.check_order(sample.input, axis, have[0], want[0])
            return
        if not entry.info.name.startswith(comparison.NOT_UNIQUE):
            raise
        comparison.check_like(have, want)
        made = [call.sample.output_process_fn_grad(result) for result, _ in (have, want)]
        comparison.check_same(*made)


def _explain(error: BaseException) -> str:
    """The message of an error; for an error that is not one of ours, also its type."""
    return one_line(error) if isinstance(error, RelaxError) else f"{type(error).__name__}: {one_line(error)}"


def one_line(error: BaseException) -> str:
    """The first line of the message that is not blank."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0][:200] if lines else type(error).__name__

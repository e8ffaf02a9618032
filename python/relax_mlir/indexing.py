# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`x[...]`: NumPy's basic indexing, and indexing with one tensor.

Slices become one `strided_slice`, indices a `take` each, None an `expand_dims`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .annotations import Annotation
from .errors import fail
from .symbolic import Sym
from .values import Deferred, Value

# The end of a dimension, and the position before its start.
_END = 2**63 - 1
_BEFORE_START = -(2**63 - 1)


def _is_tensor(entry: Any) -> bool:
    return isinstance(entry, (Annotation, Deferred, Value, np.ndarray, list))


def _is_number(entry: Any) -> bool:
    is_array = bool(getattr(entry, "shape", ()))  # arrays have __index__, for those of one element
    return hasattr(entry, "__index__") and not is_array and not isinstance(entry, (bool, np.bool_, Sym))


def _expand(key: Any, rank: int) -> list[Any]:
    """One entry for each dimension, and None for each new dimension."""
    entries = list(key) if isinstance(key, tuple) else [key]
    dots = [position for position, entry in enumerate(entries) if entry is Ellipsis]
    used = sum(entry is not None and entry is not Ellipsis for entry in entries)
    if len(dots) > 1:
        fail("an index has one ... at most")
    if used > rank:
        fail(f"the index has {used} entries, the tensor {rank} dimensions")
    rest = [slice(None)] * (rank - used)
    position = dots[0] if dots else len(entries)
    return entries[:position] + rest + entries[position + bool(dots) :]


def _bounds(entry: slice, axis: int) -> tuple[Any, Any, int]:
    """Begin, end and stride of a slice, with defaults filled in."""
    step = 1 if entry.step is None else entry.step
    if not _is_number(step) or step == 0:
        fail(f"the step of dimension {axis} is {step!r}; expected an integer other than zero")
    forward = step > 0
    begin, end = entry.start, entry.stop
    for bound in (begin, end):
        if bound is not None and not isinstance(bound, Sym) and not _is_number(bound):
            fail(f"a bound of dimension {axis} is {bound!r}; expected an integer or a Sym")
    if begin is None:
        begin = 0 if forward else _END
    if end is None:
        end = _END if forward else _BEFORE_START
    return begin, end, step.__index__()


def index(x: Any, key: Any) -> Value:
    """The part of a tensor that `key` selects, as in NumPy."""
    from . import op

    rank = x.ndim
    if rank is None:
        fail("a tensor of unknown rank cannot be indexed; give it one with op.match_cast")
    entries = _expand(key, rank)
    sliced: list[tuple[int, Any, Any, int]] = []
    picked: list[tuple[int, Any]] = []
    added: list[int] = []
    axis = position = 0  # of the operand, and of the result
    for entry in entries:
        if entry is None:
            added.append(position)
            position += 1
            continue
        if isinstance(entry, slice):
            if entry != slice(None):
                sliced.append((axis, *_bounds(entry, axis)))
            position += 1
        elif _is_number(entry):
            size = x.shape[axis]
            if isinstance(size, int) and not -size <= entry.__index__() < size:
                fail(f"index {entry} is out of range for dimension {axis} of size {size}")
            picked.append((axis, op.constant(entry.__index__(), "i64")))
        elif _is_tensor(entry):
            if any(_is_tensor(other) for other in entries if other is not entry):
                fail("two tensors of indices in one index; use op.index_tensor")
            tensor = op.constant(entry) if isinstance(entry, (list, np.ndarray)) else entry
            picked.append((axis, tensor))
            position += tensor.ndim or 0
        else:
            fail(f"entry {entry!r} of the index is not an integer, slice, None, ... or tensor of indices")
        axis += 1
    if sliced:
        axes, begin, end, strides = zip(*sliced)
        steps = None if all(step == 1 for step in strides) else list(strides)
        x = op.strided_slice(x, list(axes), list(begin), list(end), steps)
    # From last to first, so that earlier axes keep their positions.
    for where, indices in reversed(picked):
        x = op.take(x, indices, where)
    if added:
        x = op.expand_dims(x, added)
    return x

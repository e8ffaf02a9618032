# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sizes that are 0 when a program is compiled, in every op and on every target.

Other tests compare the results for a size that is 0 only at run time with NumPy. Here, they are compared with the
results of the same op when the compiler knows of the 0.
"""

from __future__ import annotations

from functools import cache

import elements
import numpy as np
import op_table
import pytest
import targets
import vulkan
from targets import COMPILED as RUNS_ON  # noqa: F401

import relax_mlir
from relax_mlir import BlockBuilder, Sym, Tensor

ONE_OF = 40

_REDUCED = "reduced dimensions must not be empty|is 0, but a reduction without an identity needs at least 1 element"
_WINDOW, _EMPTY = "the window does not fit along '[WHD]'", "data is empty along '[WHD]', it cannot be"
_INDEXED = "cannot index a dimension without elements|is out of range for dimension"
REFUSED = {
    **{f"{op}-{axes}": (letters, _REDUCED) for op in ("max", "min") for axes, letters in (
        ("rows", "k"), ("columns", "n"), ("all", "kn"), ("middle", "m"),
    )},
    **{f"{op}-{axes}": (letter, _REDUCED) for op in ("argmax", "argmin") for axes, letter in (
        ("rows", "k"), ("columns", "n"),
    )},
    **{f"{op}{rank}d": (letters, _WINDOW) for op in ("conv", "max_pool", "avg_pool") for rank, letters in (
        (1, "i"), (2, "ij"), (3, "i"),
    )},
    **{f"adaptive_avg_pool{rank}d": (letters, _EMPTY) for rank, letters in ((1, "i"), (2, "ij"), (3, "i"))},
    "resize2d": ("ij", _EMPTY),
    "pad-reflect": ("n", "padding with mode 'reflect' must be less than the size"),
    "slice_scatter": ("i", "src must have the shape of the slice|dimension 0 of the slice and dimension 0 of src dif"),
    "take": ("n", _INDEXED),
    "take-columns": ("k", _INDEXED),
    "gather_elements": ("k", _INDEXED),
    "gather_nd": ("n", _INDEXED),
    "scatter_elements": ("k", _INDEXED),
    "scatter_elements-add": ("n", _INDEXED),
    "scatter_nd": ("n", _INDEXED),
    "index_tensor": ("n", _INDEXED),
    "index_put": ("n", _INDEXED),
    "index_put-add": ("n", _INDEXED),
    "topk": ("k", "k is more than the dimension of size k|k is 2, dimension 1 of data only 0"),
}  # fmt: skip
"""Cases that reject a size of 0: the letters, and the messages at build time or at run time. All other cases compute a
result."""


def refusal(name: str, letter: str) -> str | None:
    letters, message = REFUSED.get(name, ("", ""))
    return f"{name.partition('-')[0]}'?( op|:) .*({message})" if letter in letters else None


CASES = [(name, letter) for name, case in op_table.CASES.items() for letter in case.letters]


def source_of(case: op_table.Case, known: dict[str, int]) -> str:
    """A program of the op in which the sizes of other letters are symbols."""
    parameters = [
        Tensor(
            tuple(dim if isinstance(dim, int) else known.get(dim, Sym(dim)) for dim in op_table.dims_of(operand)),
            op_table.dtype_of(operand),
        )
        for operand in case.operands
    ]
    bb = BlockBuilder()
    with bb.function("main", parameters):
        results = case.build(*parameters)
        bb.return_(*(results if isinstance(results, (list, tuple)) else [results]))
    return str(bb.module())


def arguments_of(case: op_table.Case, sizes: dict[str, int]) -> list[np.ndarray]:
    """Operands with these sizes; all indices are 1."""
    random = np.random.default_rng(1)
    arguments = []
    for operand in case.operands:
        shape = [dim if isinstance(dim, int) else sizes[dim] for dim in op_table.dims_of(operand)]
        dtype = np.dtype(elements.DTYPES[op_table.dtype_of(operand).replace("bool", "i1")])
        values = np.ones(shape) if dtype.kind in "iu" else random.uniform(0.5, 1.5, shape)
        arguments.append(values > 1 if dtype.kind == "b" else values.astype(dtype))
    return arguments


@cache
def reference(case: op_table.Case, letter: str) -> tuple[np.ndarray, ...]:
    """The program's results on the CPU without static sizes."""
    return tuple(_symbolic(case)("main", *arguments_of(case, {**_sizes(case), letter: 0})))


@cache
def _symbolic(case: op_table.Case) -> targets.Call:
    return targets.LOADERS["cpu"](source_of(case, {}))


def _sizes(case: op_table.Case) -> dict[str, int]:
    return {letter: case.size(letter) for letter in case.letters}


def _zero_by_zero_is_zero() -> bool:
    """Whether the target is Mesa's driver for the CPU, where zero times anything is zero (docs/vulkan.md)."""
    return targets.current.startswith("vulkan") and vulkan.is_lavapipe()


def compare(results: list[np.ndarray], expected: tuple[np.ndarray, ...]) -> None:
    for result, wanted in zip(results, expected, strict=True):
        if _zero_by_zero_is_zero() and wanted.dtype.kind == "f":
            result = np.where((result == 0) & np.isnan(wanted), np.nan, result).astype(wanted.dtype)
        elements.compare(result, wanted, elements.tolerance_of(wanted.dtype))


# One size is 0, the others are numbers, or symbols.
@pytest.mark.parametrize("others", ["static", "symbolic"])
@pytest.mark.parametrize(("name", "letter"), CASES)
def test_static_zero(name, letter, others):
    case = op_table.CASES[name]
    sizes = {**_sizes(case), letter: 0}
    known = sizes if others == "static" else {letter: 0}
    if message := refusal(name, letter):
        is_index = REFUSED[name][1] is _INDEXED
        with pytest.raises(IndexError if is_index else ValueError, match=message):
            reference(case, letter)
        # Errors are raised at compile time, or at run time at the latest; devices do not check indices.
        kind = IndexError if is_index and targets.current == "cpu" else ValueError
        with pytest.raises(kind, match=message):
            targets.load(source_of(case, known))("main", *arguments_of(case, sizes))
        return
    call = targets.load(source_of(case, known))
    compare(call("main", *arguments_of(case, sizes)), reference(case, letter))


# The same, after specializing a program for any size.
@pytest.mark.parametrize(("name", "letter"), [case for case in CASES if not refusal(*case)])
def test_bound_zero(name, letter):
    case = op_table.CASES[name]
    expected = reference(case, letter)
    module = relax_mlir.parse(source_of(case, {}))
    relax_mlir.pipelines.Pipeline([relax_mlir.pipelines.BindSymbols({letter: 0}, function="main")]).run(module)
    compare(targets.load(str(module))("main", *arguments_of(case, {**_sizes(case), letter: 0})), expected)

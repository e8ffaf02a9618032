# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Helpers for tests that compile one op and compare it with NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import targets
from elements import NAMES, compare

Dims = Sequence["int | str"]


def tensor_type(dims: Dims, dtype: np.dtype) -> str:
    """The text of a tensor type; a dimension is a number or an expression."""
    sizes = "".join(f"{dim if isinstance(dim, int) else '?'}x" for dim in dims)
    if all(isinstance(dim, int) for dim in dims):
        return f"tensor<{sizes}{NAMES[dtype]}>"
    return f"tensor<{sizes}{NAMES[dtype]}, #relax.shape<[{', '.join(map(str, dims))}]>>"


def coarse_type(array: np.ndarray) -> str:
    """A type with only rank and element type; deduction finds the rest."""
    return f"tensor<{'?x' * array.ndim}{NAMES[array.dtype]}>"


@cache
def _load(source: str, target: str) -> targets.Call:
    return targets.LOADERS[target](source)


def source_of(
    op: str,
    operands: Sequence[np.ndarray],
    results: Sequence[np.ndarray],
    dims: Sequence[Dims] | None = None,
    *,
    parameters: str = "",
    types: str = "",
    before: str = "",
) -> str:
    """A module whose function `main` computes an op of the parameters %0, %1, …

    Args:
      op: the text of the op without its types.
      dims: the dimensions of the parameters; the sizes of the operands by default.
      parameters: additional parameters, as text.
      types: additional operand types of the op, as text.
      before: ops before the op.
    """
    dims = dims or [operand.shape for operand in operands]
    operand_types = [tensor_type(each, operand.dtype) for each, operand in zip(dims, operands, strict=True)]
    arguments = [f"%{index}: {type_}" for index, type_ in enumerate(operand_types)]
    result_types = ", ".join(map(coarse_type, results))
    listed = result_types if len(results) == 1 else f"({result_types})"
    inputs = ", ".join(filter(None, [*operand_types, types]))
    count = "" if len(results) == 1 else f":{len(results)}"
    names = ", ".join(["%r"] if len(results) == 1 else [f"%r#{index}" for index in range(len(results))])
    return f"""relax.func @main({", ".join(filter(None, [*arguments, parameters]))}) -> {listed} {{
  {before}
  %r{count} = {op} : ({inputs}) -> {listed}
  relax.return {names} : {result_types}
}}
"""


def symbols_for(operands: Sequence[np.ndarray]) -> list[list[str]]:
    """A separate symbol for each dimension of each operand."""
    return [[f"n{index}_{axis}" for axis in range(operand.ndim)] for index, operand in enumerate(operands)]


def execute(source: str, *arguments: object) -> list[np.ndarray]:
    """The results of `main`."""
    return list(_load(source, targets.current)("main", *arguments))


def check(
    op: str,
    operands: Sequence[np.ndarray],
    expected: Sequence[np.ndarray],
    dims: Sequence[Dims] | None = None,
    *,
    tolerance: float = 0.0,
) -> None:
    """Compares the results of an op, with static shapes and with the given or all-symbolic shapes."""
    for each in (None, dims or symbols_for(operands)):
        results = execute(source_of(op, operands, expected, each), *operands)
        assert len(results) == len(expected)
        for result, wanted in zip(results, expected, strict=True):
            compare(result, wanted, tolerance)

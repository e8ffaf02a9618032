# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What tests share that compile one op and compare it with NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

import relax_mlir
from relax_mlir.runtime import Executable

NAMES = {
    np.dtype(np.bool_): "i1",
    np.dtype(np.float16): "f16",
    np.dtype(np.float32): "f32",
    np.dtype(np.float64): "f64",
    np.dtype(np.int8): "i8",
    np.dtype(np.int16): "i16",
    np.dtype(np.int32): "i32",
    np.dtype(np.int64): "i64",
    np.dtype(np.uint8): "ui8",
    np.dtype(np.uint16): "ui16",
    np.dtype(np.uint32): "ui32",
    np.dtype(np.uint64): "ui64",
}

Dims = Sequence["int | str"]


def tensor_type(dims: Dims, dtype: np.dtype) -> str:
    """The text of a tensor type; a dimension is a number or an expression."""
    sizes = "".join(f"{dim if isinstance(dim, int) else '?'}x" for dim in dims)
    if all(isinstance(dim, int) for dim in dims):
        return f"tensor<{sizes}{NAMES[dtype]}>"
    return f"tensor<{sizes}{NAMES[dtype]}, #relax.shape<[{', '.join(map(str, dims))}]>>"


def coarse_type(array: np.ndarray) -> str:
    """A type of which only rank and element type are known; deduction finds the rest."""
    return f"tensor<{'?x' * array.ndim}{NAMES[array.dtype]}>"


@cache
def _compile(source: str) -> Executable:
    return relax_mlir.compile(relax_mlir.parse(source))


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
      dims: those of the parameters; the sizes of the operands if left out.
      parameters: further ones, as text.
      types: further operand types of the op, as text.
      before: ops before it.
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
    """A symbol of its own for each dimension of each operand."""
    return [[f"n{index}_{axis}" for axis in range(operand.ndim)] for index, operand in enumerate(operands)]


def execute(source: str, *arguments: object) -> list[np.ndarray]:
    """The results of `main`."""
    result = _compile(source)["main"](*arguments)
    return [np.from_dlpack(each) for each in ([result] if hasattr(result, "__dlpack__") else result)]


def check(
    op: str,
    operands: Sequence[np.ndarray],
    expected: Sequence[np.ndarray],
    dims: Sequence[Dims] | None = None,
    *,
    tolerance: float = 0.0,
) -> None:
    """Compares what an op computes; with static shapes, and with the given or all-symbolic ones."""
    for each in (None, dims or symbols_for(operands)):
        results = execute(source_of(op, operands, expected, each), *operands)
        assert len(results) == len(expected)
        for result, wanted in zip(results, expected, strict=True):
            compare(result, wanted, tolerance)


def compare(result: np.ndarray, wanted: np.ndarray, tolerance: float = 0.0) -> None:
    """Exact, or within a relative and absolute tolerance."""
    assert result.shape == wanted.shape
    assert result.dtype == wanted.dtype
    if tolerance:
        np.testing.assert_allclose(result, wanted, rtol=tolerance, atol=tolerance)
    else:
        np.testing.assert_array_equal(result, wanted)

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A slow and simple interpreter of kernels in tensor form, element by element.

It supports what the fusion tests need: `linalg` ops with a body, sizes, numbers. Unwritten
elements are NaN.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
from mlir import ir

SCALARS = {
    "arith.addf": lambda a, b: a + b,
    "arith.subf": lambda a, b: a - b,
    "arith.mulf": lambda a, b: a * b,
    "arith.maximumf": lambda a, b: math.nan if math.isnan(a) or math.isnan(b) else max(a, b),
    "arith.negf": lambda a: -a,
    "math.tanh": math.tanh,
    "arith.addi": lambda a, b: a + b,
    "arith.subi": lambda a, b: a - b,
    "arith.muli": lambda a, b: a * b,
    "arith.floordivsi": lambda a, b: a // b,
    "arith.remsi": lambda a, b: a - b * int(a / b),
    "arith.index_cast": lambda a: a,
    "arith.sitofp": float,
}


def affine(expr: ir.AffineExpr, loops: tuple[int, ...]) -> int:
    """The value of an index expression."""
    if isinstance(expr, ir.AffineDimExpr):
        return loops[ir.AffineDimExpr(expr).position]
    if isinstance(expr, ir.AffineConstantExpr):
        return ir.AffineConstantExpr(expr).value
    raise NotImplementedError(str(expr))


class Kernel:
    """Runs one kernel on arrays; integers are Python's, floats are doubles."""

    def __init__(self, function: ir.Operation) -> None:
        self.block = function.regions[0].blocks[0]

    def __call__(self, inputs: list[Any], destinations: list[np.ndarray], integers: list[int]) -> list[np.ndarray]:
        values = dict(zip(self.block.arguments, [*inputs, *destinations, *integers]))
        return self.run(self.block, values, ())

    def run(self, block: ir.Block, values: dict[Any, Any], loops: tuple[int, ...]) -> list[Any]:
        for op in block.operations:
            operation = op.operation
            operands = [values[operand] for operand in operation.operands]
            if operation.name in ("func.return", "linalg.yield"):
                return operands
            values.update(zip(operation.results, self.execute(operation, operands, values, loops)))
        raise AssertionError("a block without a terminator")

    def execute(
        self, op: ir.Operation, operands: list[Any], values: dict[Any, Any], loops: tuple[int, ...]
    ) -> list[Any]:
        name = op.name
        if name in SCALARS:
            return [SCALARS[name](*operands)]
        if name == "arith.constant":
            return [op.attributes["value"].value]
        if name == "tensor.dim":
            return [operands[0].shape[operands[1]]]
        if name == "tensor.cast":
            return operands
        if name == "tensor.extract":
            return [operands[0][tuple(operands[1:])]]
        if name == "linalg.index":
            return [loops[ir.IntegerAttr(op.attributes["dim"]).value]]
        if name == "tensor.empty":
            sizes = iter(operands)
            type = ir.RankedTensorType(op.results[0].type)
            dynamic = [type.is_dynamic_dim(i) for i in range(type.rank)]
            shape = [next(sizes) if dynamic[i] else type.get_dim_size(i) for i in range(type.rank)]
            return [np.full(shape, math.nan)]
        if name == "linalg.fill":
            return [np.full(operands[1].shape, operands[0])]
        if name.startswith("linalg."):
            return self.nest(op, operands, values)
        raise NotImplementedError(name)

    def nest(self, op: ir.Operation, operands: list[Any], values: dict[Any, Any]) -> list[np.ndarray]:
        maps = [ir.AffineMapAttr(map).value for map in ir.ArrayAttr(op.attributes["indexing_maps"])]
        sizes: dict[int, int] = {}
        for map, operand in zip(maps, operands):
            for axis, expr in enumerate(map.results):
                if isinstance(expr, ir.AffineDimExpr):
                    loop, size = ir.AffineDimExpr(expr).position, operand.shape[axis]
                    assert sizes.setdefault(loop, size) == size, f"sizes of a loop differ in {op}"
        first = len(operands) - len(op.results)
        outputs = [np.array(operand) for operand in operands[first:]]
        arrays = [*operands[:first], *outputs]
        body = op.regions[0].blocks[0]
        for loops in itertools.product(*[range(sizes[loop]) for loop in range(maps[0].n_dims)]):
            places = [tuple(affine(expr, loops) for expr in map.results) for map in maps]
            elements = [
                array[place] if isinstance(array, np.ndarray) else array for array, place in zip(arrays, places)
            ]
            results = self.run(body, {**values, **dict(zip(body.arguments, elements))}, loops)
            for output, place, result in zip(outputs, places[first:], results):
                output[place] = result
        return outputs

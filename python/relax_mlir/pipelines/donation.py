# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Parameters that a function may write over, although nobody asked it to write: their callers have no use for the old
value.

A graph function names them in its attribute `donated`, an array of indices. A program that computes the new value of a
cache from the old one then writes into the cache, where that is known to be right, and returns the cache itself.
Where it is not, the new value has its own memory, as without the attribute.

`relax-update-in-place` decides that for each update: nobody else may have the tensor, and nothing may use the old value
afterwards. A parameter belongs to the caller, so it never qualifies. A tensor that the function has made does, so such
a tensor takes the place of a donated parameter while that pass runs:

    func(%cache)                          func(%cache)
      put(%cache, %i, %v)       ->          %own = call_library "relax.donated"()
                                            put(%own, %i, %v)
"""

from __future__ import annotations

from collections.abc import Iterator

from mlir import ir

from ..module import Module
from ._generated import UpdateInPlace
from .pipeline import Pipeline

DONATED = "donated"
"""The attribute of a graph function, and of what takes the place of a parameter."""

_LIBRARY = "relax.donated"


def donates(module: Module) -> bool:
    """Whether a function of the module has donated parameters."""
    return any(True for _ in _functions(module))


def update_in_place() -> Pipeline:
    """`relax-update-in-place`, which may also write into donated parameters."""
    return Pipeline([make_owned, UpdateInPlace(), restore_parameters])


def make_owned(module: Module) -> None:
    """Lets a tensor that the function has made take the place of each donated parameter."""
    for function in _functions(module):
        block = function.regions[0].blocks[0]
        for index in ir.DenseI64ArrayAttr(function.attributes[DONATED]):
            argument = block.arguments[index]
            with function.context, argument.location:
                owned = ir.Operation.create(
                    "relax.call_library",
                    results=[argument.type],
                    attributes={
                        "library_function": ir.StringAttr.get(_LIBRARY),
                        "relax.borrows": ir.UnitAttr.get(),
                        DONATED: ir.IntegerAttr.get(ir.IntegerType.get_signless(64), index),
                    },
                    ip=ir.InsertionPoint.at_block_begin(block),
                )
            argument.replace_all_uses_with(owned.result)


def restore_parameters(module: Module) -> None:
    """Puts the donated parameters where they were, and drops the attribute."""
    for function in _functions(module):
        block = function.regions[0].blocks[0]
        for operation in list(block.operations):
            owned = operation.operation
            if owned.name == "relax.call_library" and DONATED in owned.attributes:
                index = ir.IntegerAttr(owned.attributes[DONATED]).value
                owned.result.replace_all_uses_with(block.arguments[index])
                owned.erase()
        del function.attributes[DONATED]


def _functions(module: Module) -> Iterator[ir.Operation]:
    """The graph functions with donated parameters."""
    for operation in module.ir.body.operations:
        function = operation.operation
        if function.name == "relax.func" and DONATED in function.attributes:
            yield function

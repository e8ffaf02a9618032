# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A machine that runs graph functions on tokens instead of numbers, to verify memory plans.

The result of a call is a token: the name of the function and the tokens of its operands. Each byte of
a storage holds the token that was last written there; a read of a tensor must find its token in all of
its bytes, otherwise, the plan let another write overwrite it. References are counted by the rules that
`relax-insert-kills` states: nothing may be read or killed after its last reference is gone, and nothing
may be left at the end. Libraries and external functions keep their arguments, and read them again at the
end. A program without planned memory is run in the same way, and must compute the same tokens.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from mlir import ir

from relax_mlir import Sym

VIEWS = {"relax.match_cast", "relax.reshape", "relax.flatten", "relax.expand_dims", "relax.squeeze"}
ELEMENT_BYTES = {"f32": 4, "f16": 2, "i8": 1, "i1": 1, "i64": 8}


class MemoryFault(Exception):
    """A violation of the rules by a wrong plan."""


@dataclass(eq=False)
class Storage:
    """Memory with a count of references."""

    size: int
    references: int = 1
    cells: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.cells = [None] * self.size

    def check_alive(self) -> None:
        if self.references <= 0:
            raise MemoryFault("memory is used after its last reference is gone")


@dataclass(frozen=True)
class Tensor:
    """A range of a storage, and its expected token."""

    storage: Storage
    offset: int
    size: int
    token: Any

    def read(self) -> Any:
        self.storage.check_alive()
        if any(cell != self.token for cell in self.storage.cells[self.offset : self.offset + self.size]):
            raise MemoryFault(f"{self.token} was overwritten")
        return self.token

    def write(self, token: Any) -> Tensor:
        self.storage.check_alive()
        if self.offset + self.size > self.storage.size:
            raise MemoryFault(f"{self.size} bytes at {self.offset} do not fit in {self.storage.size}")
        self.storage.cells[self.offset : self.offset + self.size] = [token] * self.size
        return Tensor(self.storage, self.offset, self.size, token)


@dataclass(frozen=True)
class Closure:
    """A function with bound arguments."""

    function: str
    captures: tuple[Any, ...]


def _parts(value: Any) -> list[Any]:
    if isinstance(value, tuple):
        return list(value)
    return list(value.captures) if isinstance(value, Closure) else []


def retain(value: Any, count: int = 1) -> None:
    """Adds references to the storages of a value."""
    if isinstance(value, Tensor):
        value = value.storage
    if isinstance(value, Storage):
        value.check_alive()
        value.references += count
    for part in _parts(value):
        retain(part, count)


def release(value: Any) -> None:
    """Drops a reference to each storage of a value."""
    retain(value, -1)


def tokens(value: Any) -> Any:
    """The tokens of a value, read from memory."""
    if isinstance(value, Tensor):
        return value.read()
    if isinstance(value, Closure):
        return (value.function, *map(tokens, value.captures))
    return tuple(map(tokens, value)) if isinstance(value, tuple) else value


class Machine:
    """Runs the functions of a module; `counts` has the number of iterations of each loop."""

    def __init__(self, module: ir.Module, symbols: dict[str, int], iterations: int) -> None:
        self.functions = {
            ir.StringAttr(op.attributes["sym_name"]).value: op
            for op in module.body.operations
            if op.operation.name == "relax.func"
        }
        self.symbols = symbols
        self.iterations = iterations
        self.allocated: list[Storage] = []
        self.peak = 0
        self.kept: list[Any] = []

    def allocate(self, size: int) -> Storage:
        storage = Storage(size)
        self.allocated.append(storage)
        alive = sum(storage.size for storage in self.allocated if storage.references > 0)
        self.peak = max(self.peak, alive)
        return storage

    def keep(self, *values: Any) -> None:
        """Keeps the values, as a library may."""
        for value in values:
            retain(value)
            self.kept.append(value)

    def end(self) -> None:
        """Checks that kept values are unchanged, and drops them."""
        for value in self.kept:
            tokens(value)
            release(value)
        self.kept.clear()

    def make(self, type: ir.Type, token: Any) -> Tensor:
        """A new tensor in its own storage."""
        size = self.size_of(type)
        return Tensor(self.allocate(size), 0, size, None).write(token)

    def size_of(self, type: ir.Type) -> int:
        text = str(type)
        dims, element = re.match(r"tensor<((?:[\d?]+x)*)(\w+)", text).groups()
        size = ELEMENT_BYTES[element]
        symbolic = re.search(r"#relax.shape<\[(.*)\]>", text)
        shape = symbolic.group(1).split(",") if symbolic else dims.split("x")[:-1]
        for dim in shape:
            size *= self.evaluate(Sym.parse(dim.strip()))
        return size

    def evaluate(self, expr: Sym) -> int:
        return expr.evaluate({name: self.symbols[name] for name in expr.symbols})

    def call(self, name: str, arguments: list[Any]) -> list[Any]:
        """Runs a function; its caller owns the results. Functions without a body create new results."""
        function = self.functions[name]
        blocks = function.regions[0].blocks
        if len(blocks) == 0:
            type = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
            content = (name, *map(tokens, arguments))
            self.keep(*arguments)
            return [self.make(result, (*content, index)) for index, result in enumerate(type.results)]
        return self.run(blocks[0], arguments)

    def run(self, block: ir.Block, arguments: list[Any], outer: dict[Any, Any] | None = None) -> list[Any]:
        """Runs a block up to its terminator, and returns the terminator's operands with new references."""
        values = dict(outer or {})
        values.update(zip(block.arguments, arguments))
        operations = [op.operation for op in block.operations]
        # Kills directly before a terminator take effect after it has taken its references.
        last = len(operations) - 1
        while last > 0 and operations[last - 1].name == "relax.kill":
            last -= 1
        for op in operations[:last]:
            self.execute(op, values)
        passed = [values[operand] for operand in operations[-1].operands]
        for value in passed:
            retain(value)
        for op in operations[last:-1]:
            self.execute(op, values)
        return passed

    def execute(self, op: ir.Operation, values: dict[Any, Any]) -> None:
        operands = [values[operand] for operand in op.operands]
        name = op.name
        if name == "relax.kill":
            release(operands[0])
            results = []
        elif name == "relax.alloc_storage":
            results = [self.allocate(self.evaluate(Sym(op.attributes["bytes"])))]
        elif name == "relax.tensor_from_storage":
            offset = self.evaluate(Sym(op.attributes["offset"]))
            results = [Tensor(operands[0], offset, self.size_of(op.results[0].type), None)]
        elif name in VIEWS:
            results = operands[:1]
        elif name == "relax.tuple":
            results = [tuple(operands)]
        elif name == "relax.get":
            results = [operands[0][ir.IntegerAttr(op.attributes["index"]).value]]
        elif name == "relax.make_closure":
            results = [Closure(ir.FlatSymbolRefAttr(op.attributes["callee"]).value, tuple(operands))]
            retain(results[0])
        elif name == "relax.call":
            results = self.call(ir.FlatSymbolRefAttr(op.attributes["callee"]).value, operands)
        elif name == "relax.call_closure":
            results = self.call(operands[0].function, [*operands[0].captures, *operands[1:]])
        elif name == "relax.if":
            results = self.run(op.regions[0 if operands[0] else 1].blocks[0], [], values)
        elif name == "relax.while":
            results = self.loop(op, operands, values)
        else:
            results = self.compute(op, operands)
        values.update(zip(op.results, results))

    def loop(self, op: ir.Operation, carried: list[Any], values: dict[Any, Any]) -> list[Any]:
        for value in carried:
            retain(value)
        for _ in range(self.iterations):
            self.run(op.regions[0].blocks[0], carried, values)
            carried = self.run(op.regions[1].blocks[0], carried, values)
        self.run(op.regions[0].blocks[0], carried, values)
        return carried

    def compute(self, op: ir.Operation, operands: list[Any]) -> list[Any]:
        """A kernel or library call: first reads all operands, then writes all results."""
        attributes = op.attributes
        name = str(attributes["callee" if "callee" in attributes else "library_function"])
        places: list[Tensor | None] = [None] * len(op.results)
        inputs = operands
        if "inplace_indices" in attributes:
            indices = list(ir.DenseI64ArrayAttr(attributes["inplace_indices"]))
            places = [operands[index] for index in indices]
            inputs = [value for index, value in enumerate(operands) if index not in indices]
        content = (name, *map(tokens, inputs))
        results = [
            place.write((*content, index)) if place else self.make(result.type, (*content, index))
            for index, (place, result) in enumerate(zip(places, op.results))
        ]
        if "library_function" in attributes and "relax.borrows" not in attributes:
            self.keep(*inputs, *results)
        return results

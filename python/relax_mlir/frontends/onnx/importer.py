# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From the graph of a model to a function.

The walk is in order. For each node, in this order:

1. where all that it needs of its operands is known, the rule of `known` computes the result while importing;
2. a function of the model takes its body's place;
3. the converter of the op builds values;
4. without one, ONNX's definition by other ops takes its place.

A size that nothing says before a run becomes a symbol, by a cast that defines it.
"""

from __future__ import annotations

import collections
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ... import op
from ...annotations import Tensor
from ...errors import FrontendError, RelaxError
from ...location import SourceLocation, located
from ...symbolic import ExprLike, Facts, Sym
from ...values import Value
from ..registry import Registry, Use
from . import dtypes, functions, known
from .checks import check_node, check_operands
from .data import Data, Maps, Operand, Optional_
from .lowering import Lowering
from .model import Graph, Model, Node, subgraphs
from .symbols import SymbolTable

_DEPTH = 32
"""How deep functions may call each other."""


class Importer:
    """Builds the nodes of graphs in the function that is open.

    Attributes:
      weights: what the program brings along, by name.
      counts: how often each op was imported.
      decisions: for branches that a condition on sizes chooses, by their number: the choice to import the model with.
    """

    def __init__(
        self,
        model: Model,
        registry: Registry,
        symbols: SymbolTable,
        file: str,
        decisions: Mapping[int, bool] | None = None,
    ) -> None:
        self.model = model
        self.registry = registry
        self.symbols = symbols
        self.weights: dict[str, np.ndarray] = {}
        self.counts: collections.Counter[str] = collections.Counter()
        self.decisions = decisions or {}
        self._branches = 0
        self._file = file
        self._opsets = dict(model.opsets)
        self._calls: list[str] = []
        self._initializers: dict[int, tuple[Any, Data]] = {}
        self._names: dict[int, tuple[np.ndarray, str]] = {}
        self._taken: set[str] = set()

    def count_branch(self) -> int:
        """The number of the next branch whose condition is not known; an import that is repeated gives the same."""
        self._branches += 1
        return self._branches - 1

    # --- ops

    def uses(self) -> Iterator[Use]:
        """The ops of the model, also of its functions, that need a converter."""
        yield from self._uses(self.model.graph.nodes, self.model.opsets)

    def _uses(self, nodes: Iterable[Node], opsets: Mapping[str, int], calls: tuple[str, ...] = ()) -> Iterator[Use]:
        for node in nodes:
            if node.kind in self.model.functions and node.kind not in calls:
                body = functions.of_model(self.model.functions[node.kind], node, self.model.folder)
                yield from self._uses(body.nodes, {**opsets, **body.opsets}, (*calls, node.kind))
            elif known.has_rule(node) or not functions.has_schema(node, opsets.get(node.domain, 1)):
                if not known.has_rule(node) or self.registry.find(node.kind):
                    yield Use(node.kind, self._location(node))
            for graph in subgraphs(node):
                yield from self._uses(graph.nodes, opsets, calls)

    def _location(self, node: Node) -> SourceLocation:
        """Where a node is: a model has no lines, so the number of the node is one, and its name belongs to the file."""
        return SourceLocation(f"{self._file}, {node}", max(node.index, 1))

    # --- graphs

    def run(
        self, graph: Graph, outer: Mapping[str, Operand], inputs: Sequence[Operand] | Mapping[str, Operand] = ()
    ) -> list[Operand]:
        """Builds a graph, and gives its outputs.

        Args:
          outer: what names of graphs around it stand for.
          inputs: what its inputs are, in order or by name.
        """
        if isinstance(inputs, Mapping):
            named = inputs
        elif len(inputs) == len(graph.inputs):
            named = {entry.name: given for entry, given in zip(graph.inputs, inputs)}
        else:
            raise FrontendError(
                f"the graph '{graph.name}' has {len(graph.inputs)} inputs; its node gives {len(inputs)}"
            )
        # Only the first mapping is written to.
        values = collections.ChainMap(dict(named), outer)  # type: ignore[arg-type]
        for name, tensor in graph.tensors.items():
            if name not in values.maps[0]:
                values[name] = self._initializer(name, tensor)
        self._nodes(graph.nodes, values)
        return [values[output.name] for output in graph.outputs]

    def _initializer(self, name: str, tensor: Any) -> Data:
        """A tensor of the file; one that is read again, as in the body of a loop, is the same weight."""
        if id(tensor) not in self._initializers:
            dtype = dtypes.from_code(tensor.data_type, f"the tensor '{name}'")
            array = self.model.array(tensor)
            self._initializers[id(tensor)] = (tensor, Data(dtype, array, name=self.weight_name(array, name)))
        return self._initializers[id(tensor)][1]

    def weight_name(self, array: np.ndarray, wanted: str) -> str:
        """The name of the weight that has these elements, should it become one; graphs may use one name for several."""
        if id(array) not in self._names:
            name, number = wanted, 1
            while name in self._taken:
                name, number = f"{wanted}.{number}", number + 1
            self._taken.add(name)
            self._names[id(array)] = (array, name)  # kept, so that nothing else gets its place in memory
        return self._names[id(array)][1]

    def _nodes(self, nodes: Iterable[Node], values: collections.ChainMap[str, Operand]) -> None:
        for node in nodes:
            operands = [values[name] if name else None for name in node.inputs]
            with located(self._location(node)), _naming(node):
                results = self._convert(node, operands, values)
            for name, result in zip(node.outputs, results):
                if name:
                    values[name] = result
            if any(node.outputs[len(results) :]):
                raise FrontendError(f"{node} has {len(node.outputs)} results; the op gives {len(results)}")

    # --- nodes

    def _convert(self, node: Node, operands: Sequence[Operand], scope: Mapping[str, Operand]) -> list[Operand]:
        version = self._opsets.get(node.domain)
        if version is None:
            if node.domain in ("", "ai.onnx.ml"):
                raise FrontendError(f"the model does not import the domain '{node.domain or 'ai.onnx'}' of {node}")
            version = 1
        if node.kind not in self.model.functions:
            check_node(node, version, operands)
        lowering = Lowering(self, node, version, operands)
        lowering.scope = scope
        results = known.evaluate(lowering, operands)
        if results is None:
            results = self._build(lowering, operands)
        origins = frozenset().union(*(_origins(operand) for operand in operands))
        return [self._finish(result, node, origins) for result in results]

    def _build(self, lowering: Lowering, operands: Sequence[Operand]) -> list[Any]:
        node = lowering.node
        if node.kind in self.model.functions:
            body = functions.of_model(self.model.functions[node.kind], node, self.model.folder)
            return self._call(node, body, operands)
        convert = self.registry.find(node.kind)
        if convert is None:
            found = functions.of_schema(node, lowering.version, operands)
            if found is None:
                raise lowering.unsupported("the op has neither a converter nor a definition for these inputs")
            return self._call(node, found, operands)
        check_operands(node, convert, operands)
        self.counts[node.kind] += 1
        made = convert(lowering, *operands)
        return list(made) if isinstance(made, tuple) else [made]

    def _call(self, node: Node, body: functions.Body, operands: Sequence[Operand]) -> list[Operand]:
        """The results of a function."""
        if len(self._calls) >= _DEPTH:
            raise FrontendError(f"{node}: functions call each other deeper than {_DEPTH}: {' → '.join(self._calls)}")
        padded = [*operands, *[None] * (len(body.inputs) - len(operands))]
        values = collections.ChainMap(dict(zip(body.inputs, padded)))
        self._calls.append(node.kind)
        opsets, self._opsets = self._opsets, {**self._opsets, **body.opsets}
        try:
            self._nodes(body.nodes, values)
        finally:
            self._opsets = opsets
            self._calls.pop()
        return [values.get(name) for name in body.outputs]

    def _finish(self, made: Any, node: Node, origins: frozenset[str]) -> Operand:
        """What a converter gave, with a symbol for each size that it leaves open."""
        if isinstance(made, list):
            return [self._finish(entry, node, origins) for entry in made]
        if isinstance(made, Optional_):
            return Optional_(None if made.value is None else self._finish(made.value, node, origins))
        if isinstance(made, Maps):
            rows = self._finish(made.rows, node, origins)
            assert isinstance(rows, Data)
            return Maps(rows, made.keys)
        if isinstance(made, Value):
            made = Data(made.dtype, value=made)
        if not isinstance(made, Data):
            return None
        if made.elements is None:
            assert made._value is not None
            made = Data(made.dtype, value=self.name_sizes(made._value, node.op))
        else:
            made = Data(made.dtype, made.elements, name=made.name)
        made.origins = origins
        return made

    def name_sizes(self, value: Value, base: str) -> Value:
        """The tensor with a symbol for each size that is unknown, and broadcast sizes as what they must be."""
        shape = value.shape
        if shape is None:
            raise FrontendError("the number of axes of the result depends on the run; give its operands fixed shapes")
        sizes = [
            self.symbols.fresh(base.lower()) if size is None else _settled(size, self.symbols.facts) for size in shape
        ]
        return value if sizes == list(shape) else op.match_cast(value, Tensor(sizes, value.dtype))


def _settled(size: ExprLike, facts: Facts) -> ExprLike:
    """What a broadcast size is in all runs in which its operands agree.

    Words at n positions and the first min(n, 512) rows of a table give broadcast(n, min(n, 512)). Both agree only where
    they are equal, or one of them is 1, and then n is the result in both cases: a size that is not larger than n, and
    is 0 only where n is.
    """
    if not isinstance(size, Sym) or size.kind != "broadcast":
        return size
    for largest in size.operands:
        others = [other for other in size.operands if other is not largest]
        if all(facts.less_equal(other, largest) and facts.less_equal(Sym.min(largest, 1), other) for other in others):
            return largest
    return size


def _origins(operand: Operand) -> frozenset[str]:
    if isinstance(operand, Data):
        return operand.origins
    if isinstance(operand, list):
        return frozenset().union(*map(_origins, operand))
    if isinstance(operand, Maps):
        return operand.rows.origins
    return _origins(operand.value) if isinstance(operand, Optional_) else frozenset()


@contextmanager
def _naming(node: Node) -> Iterator[None]:
    """Lets errors of the builder name the node."""
    try:
        yield
    except FrontendError:
        raise
    except RelaxError as error:
        text = str(error).partition("\n  at ")[0]
        raise FrontendError(f"{node}: {text}", error.location) from None
    except (ValueError, TypeError, IndexError, ArithmeticError) as error:
        raise FrontendError(f"{node} is not valid: {error}") from error

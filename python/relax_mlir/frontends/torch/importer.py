# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From the graph of an exported program to a function.

The walk is in order. For each node the converter of its op builds values; what it gives is then compared with what
PyTorch found when it traced (`meta["val"]`): element type and rank must agree, and a size that is not provably the same
is checked where the program runs, which is also where the symbols are defined that only a run knows.
"""

from __future__ import annotations

import collections
import itertools
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import sympy
import torch

from ... import op
from ...annotations import Tensor
from ...errors import FrontendError, RelaxError
from ...location import located
from ...values import Value
from ..registry import Converter, Registry, Use
from . import dtypes
from .complex_lifting import check_complex, complex_registry, find_complex
from .complex_values import Complex, is_complex_node
from .locations import location_of
from .lowering import Lowering, op_name
from .registry import draws_random
from .scalars import ScalarBuilder
from .symbols import SymbolTable

_DROPPED = {
    "aten::_assert_tensor_metadata.default",
    "aten::sym_constrain_range.default",
    "aten::sym_constrain_range_for_size.default",
}
"""Checks of what the types say, and statements about ranges that are in the range constraints."""


class ContradictionError(FrontendError):
    """The types of a converted program contradict each other, or a size is never what the trace has found for it."""


class GraphImporter:
    """Builds the nodes of a graph in the function that is open.

    Attributes:
      random: the random number generator, for ops that draw; None in branches and loops, which cannot pass on a state,
        and in graphs of `torch.compile`, whose numbers PyTorch draws before the graph runs.
      no_random: why there is none, and what to do.
    """

    def __init__(self, registry: Registry, symbols: SymbolTable, graph_module: Any) -> None:
        self.registry = registry
        self.symbols = symbols
        self.lowering = Lowering(symbols, self)
        self.graph_module = graph_module
        self.counts: collections.Counter[str] = collections.Counter()
        self._scalars = ScalarBuilder(symbols)
        symbols.compute = self._scalars.size
        self.random: op.Generator | None = None
        self.no_random = (
            "how many random numbers it draws depends on what is in a tensor, which torch.compile cannot draw here; "
            "call it outside of the compiled function, or export the model"
        )

    def require_converters(self) -> None:
        """Checks that all ops of the graph, and of graphs in it, have converters.

        Raises:
          UnsupportedOpError: some have none; the message lists all of them.
        """
        self.registry.require(
            Use(op_name(node), location_of(node)) for node in self._calls() if not is_complex_node(node)
        )
        complex_registry.require(
            Use(op_name(node), location_of(node)) for node in self._calls() if self._find(node) is None
        )

    @property
    def draws_random(self) -> bool:
        """Whether an op of the graph draws random numbers."""
        return any(draws_random(node, op_name(node)) for node in self._calls())

    @contextmanager
    def without_random(self) -> Iterator[None]:
        """Refuses ops that draw random numbers."""
        outer, self.random = (self.random, self.no_random), None
        self.no_random = "it draws random numbers inside a branch or a loop; draw them before it"
        try:
            yield
        finally:
            self.random, self.no_random = outer

    def _calls(self) -> Iterator[Any]:
        """The nodes of the graph, and of graphs in it, that need a converter."""
        graphs = [module.graph for module in self.graph_module.modules() if isinstance(module, torch.fx.GraphModule)]
        for node in itertools.chain.from_iterable(graph.nodes for graph in graphs):
            if node.op == "call_function" and not _is_size(node):
                name = op_name(node)
                if name not in _DROPPED and not name.endswith("::getitem"):
                    yield node

    def _find(self, node: Any) -> Converter | None:
        name = op_name(node)
        return find_complex(name, node.target) if is_complex_node(node) else self.registry.find(name)

    def run(self, graph_module: Any, inputs: Mapping[Any, Any]) -> tuple[list[Any], Any]:
        """Builds a graph.

        Args:
          inputs: what placeholders are: values, sizes, or constants of Python.

        Returns:
          The arguments of the output, and the node of the output.
        """
        values: dict[Any, Any] = dict(inputs)
        last_uses = _last_uses(graph_module.graph)
        for node in graph_module.graph.nodes:
            if node.op == "placeholder":
                if node not in values:
                    raise FrontendError(f"the input '{node.name}' of the program has no value")
            elif node.op == "get_attr":
                if node not in values:
                    values[node] = attribute(graph_module, node.target)
            elif node.op == "call_function":
                with located(location_of(node)):
                    values[node] = self._convert(node, values)
            elif node.op == "output":
                arguments = node.args[0]
                arguments = list(arguments) if isinstance(arguments, (tuple, list)) else [arguments]
                return [self._argument(argument, values) for argument in arguments], node
            for dead in last_uses.get(node, ()):
                values.pop(dead, None)
        raise FrontendError("the graph of the program has no output")

    def _convert(self, node: Any, values: Mapping[Any, Any]) -> Any:
        name = op_name(node)
        if name in _DROPPED:
            return None
        if _is_size(node) and not _reads_tensor(node):
            self._define_offset(node)
            return self.size(node.meta["val"])
        if name.endswith("::getitem"):
            return self._argument(node.args[0], values)[node.args[1]]
        args = [self._argument(argument, values) for argument in node.args]
        kwargs = {key: self._argument(argument, values) for key, argument in node.kwargs.items()}
        convert = self._find(node)
        assert convert is not None, f"require_converters() has not been called: {name}"
        self.counts[name] += 1
        outer, self.lowering.node = self.lowering.node, node
        try:
            made = convert(self.lowering, *args, **kwargs)
        except TypeError as error:
            if convert.__name__ not in str(error):
                raise
            raise FrontendError(f"{name}: the converter does not take these arguments: {error}") from error
        except RelaxError as error:
            if not error.diagnostics:
                raise
            raise ContradictionError(str(error), error.location, error.diagnostics) from error
        finally:
            self.lowering.node = outer
        return self._conform(made, node.meta.get("val"), node)

    def _define_offset(self, node: Any) -> None:
        """Where a tensor begins in its memory may be known to the run alone; here each begins its own."""
        if op_name(node) == "aten::sym_storage_offset.default" and isinstance(node.meta["val"], torch.SymInt):
            for symbol in node.meta["val"].node.expr.free_symbols - self.symbols.values.keys():
                self.symbols.values[symbol] = 0

    def size(self, value: Any) -> Any:
        """A symbolic number of the graph: a size, or (SymFloat) a tensor of rank 0; (SymBool) a condition."""
        if isinstance(value, torch.SymInt):
            return self.symbols.expr(value)
        if isinstance(value, torch.SymFloat):
            return self._scalars.tensor(sympy.sympify(value.node.expr), "f64")
        if isinstance(value, torch.SymBool):
            return self.symbols.condition(value)
        return value

    def _argument(self, argument: Any, values: Mapping[Any, Any]) -> Any:
        if isinstance(argument, torch.fx.Node):
            return values[argument]
        if isinstance(argument, (list, tuple)):
            return [self._argument(entry, values) for entry in argument]
        if isinstance(argument, torch.dtype):
            return dtypes.from_torch(argument)
        if isinstance(argument, dict):
            return {key: self._argument(entry, values) for key, entry in argument.items()}
        return argument

    def _conform(self, made: Any, example: Any, node: Any) -> Any:
        """What a converter gave, with the sizes that PyTorch has found. It may leave out (None) what nobody uses."""
        name = op_name(node)
        if isinstance(example, (tuple, list)):
            made = list(made) if isinstance(made, (tuple, list)) else [made]
            if len(made) < len(example):
                raise FrontendError(f"{name}: the converter gives {len(made)} values, expected {len(example)}")
            used = {user.args[1] for user in node.users if op_name(user).endswith("::getitem")}
            return [
                self._conform(value, entry, node) if index in used or value is not None else None
                for index, (value, entry) in enumerate(zip(made, example))
            ]
        if not isinstance(example, torch.Tensor):
            return made
        return self.conform(made, example, name)

    def conform(self, value: Any, example: Any, name: str) -> Any:
        """A tensor (a `Value` or a `Complex`) with the type of an example."""
        dtype = dtypes.from_torch(example.dtype)
        if dtype in dtypes.PART_OF:
            pair = check_complex(value, name)
            parts = (self._conform_real(part, example, dtypes.PART_OF[dtype], name) for part in (pair.real, pair.imag))
            return Complex(*parts)
        if not isinstance(value, Value):
            raise FrontendError(f"{name}: the converter gives {value!r}, expected a tensor")
        return self._conform_real(value, example, dtype, name)

    def _conform_real(self, value: Value, example: Any, dtype: str, name: str) -> Value:
        if value.dtype != dtype:
            raise FrontendError(f"{name}: the converter gives elements of {value.dtype}, expected {dtype}")
        shape = value.shape
        if shape is not None and len(shape) != example.ndim:
            raise FrontendError(f"{name}: the converter gives rank {len(shape)}, expected {example.ndim}")
        wanted = [self._wanted(size, shape[axis] if shape else None) for axis, size in enumerate(example.shape)]
        if shape is not None and all([self._agree(have, want, name) for have, want in zip(shape, wanted)]):
            return value
        return op.match_cast(value, Tensor(wanted, dtype))

    def _wanted(self, size: Any, have: Any) -> Any:
        """A size that PyTorch has found; a symbol that is not known yet is defined by the cast to it."""
        if isinstance(size, torch.SymInt):
            expr = size.node.expr
            if expr.is_Symbol and expr not in self.symbols.values:
                if have is not None:
                    self.symbols.values[expr] = have
                    return have
                return self.symbols.define(expr)
        return self.symbols.expr(size)

    def _agree(self, have: Any, want: Any, name: str) -> bool:
        """Whether two sizes are provably equal. Raises where they are provably not."""
        if have is None:
            return False
        if have == want:
            return True
        known = self.symbols.facts.equal(have, want)
        if known is False:
            raise ContradictionError(f"{name}: the converter gives a size of {have}, expected {want}")
        return bool(known)


def _is_size(node: Any) -> bool:
    """Whether a node computes with sizes alone, so that its value is what the trace says of it."""
    value = node.meta.get("val")
    if isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
        return True
    return isinstance(value, (int, float, bool)) and not isinstance(node.target, torch._ops.HigherOrderOperator)


_READERS = {"aten::item.default", "aten::_local_scalar_dense.default"}


def _reads_tensor(node: Any) -> bool:
    return op_name(node) in _READERS


def attribute(graph_module: Any, target: str) -> Any:
    """What a dotted name means in a module."""
    value = graph_module
    for part in target.split("."):
        value = getattr(value, part)
    return value


def _last_uses(graph: Any) -> dict[Any, list[Any]]:
    """For each node, those whose last use it is: values that nobody needs are not kept."""
    last: dict[Any, Any] = {}
    for node in graph.nodes:
        for operand in node.all_input_nodes:
            last[operand] = node
    found: dict[Any, list[Any]] = {}
    for operand, node in last.items():
        found.setdefault(node, []).append(operand)
    return found

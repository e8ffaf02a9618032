# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From a graph of `torch.compile` to a function that can be called.

The graph is functional, and its inputs are flat: parameters and buffers among them, sizes as integers of their own.
What is only a view of an input is made of that input by PyTorch itself, so that it shares its memory and nothing is
copied, and so are random numbers. All else is one function of a module.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import sympy
import torch

from ...annotations import Tensor
from ...builder import BlockBuilder
from ...compiler import compile_code
from ...errors import FrontendError
from ...module import Module
from ...runtime import Executable
from ...symbolic import Sym
from ..program import FUNCTION
from . import dtypes
from .compile_options import CompileOptions, device_of
from .exported import as_result
from .graph_call import CallWriter, apart, write
from .graph_layout import Layout, expression, layout_of
from .importer import GraphImporter, attribute
from .random_ops import draw, take_out_random
from .registry import registry
from .symbols import SymbolTable
from .views import guard_kept_axes, view_root

_LEAST_INTEGER = -(2**62)
"""The bound of an integer that may be negative."""


def compile_graph(
    graph_module: Any,
    options: CompileOptions,
    *,
    is_boxed: bool,
    bound: Mapping[Any, torch.Tensor] | None = None,
    updates: Sequence[tuple[Any, Any]] = (),
) -> Callable[..., Any]:
    """Compiles a functional graph of ATen's ops.

    Args:
      is_boxed: whether the function takes a list of arguments, which it clears, rather than the arguments.
      bound: placeholders that the caller does not give, with their tensors.
      updates: inputs that the graph changes, each with the node of its new value.

    Returns:
      The function, which returns a list: tensors with the strides of the trace, integers, None.

    Raises:
      UnsupportedOpError: ops have no converter; the message lists all of them with their lines.
      FrontendError: something else of the graph is not understood; the message names it.
    """
    compiled = _Compiled(graph_module, options, dict(bound or {}), list(updates))
    return compiled.function(is_boxed)


class _Compiled:
    """The parts of one graph: what is computed, what is a view, and what is drawn at random."""

    def __init__(
        self, graph_module: Any, options: CompileOptions, bound: dict[Any, torch.Tensor], updates: list[tuple[Any, Any]]
    ) -> None:
        self.graph_module = graph_module
        self.options = options
        self.updates = updates
        graph = graph_module.graph
        self.placeholders = [(node, bound.get(node)) for node in graph.nodes if node.op == "placeholder"]
        self.attributes = [
            (node, value)
            for node in graph.nodes
            if node.op == "get_attr" and isinstance(value := attribute(graph_module, node.target), torch.Tensor)
        ]
        guard_kept_axes(graph)
        self.device = device_of(graph.nodes)
        self.draws = take_out_random(graph)
        (output,) = graph.find_nodes(op="output")
        wanted = output.args[0]
        self.outputs = list(wanted) if isinstance(wanted, (tuple, list)) else [wanted]
        changed = {node for node, _ in updates}
        self._inputs = {node for node, _ in self.placeholders} - changed
        self.calls = {node: (node.target, node.args, node.kwargs) for node in graph.nodes if node.op == "call_function"}
        self.results = self._find_results()
        self.numbers = self._find_numbers()
        output.args = ((*self.results, *self.numbers),)
        graph.eliminate_dead_code()

    def _find_results(self) -> list[Any]:
        """What has to be computed: updates, then outputs that are not views of inputs or of each other."""
        found: dict[Any, None] = {}
        for _, value in self.updates:
            if not self._is_view(value, found):
                found[value] = None
        tensors = [node for node in self.outputs if isinstance(node, torch.fx.Node)]
        for node in sorted(tensors, key=lambda node: len(view_root(node)[1])):
            if isinstance(node.meta["val"], torch.Tensor) and not self._is_view(node, found):
                found[node] = None
        return list(found)

    def _find_numbers(self) -> list[Any]:
        """Outputs that are numbers which the sizes of inputs do not say."""
        given: set[sympy.Symbol] = set()
        for node, _ in self.placeholders:
            given |= _symbols_in(node.meta.get("val"))
        nodes = [node for node in self.outputs if isinstance(node, torch.fx.Node)]
        numbers = [node for node in nodes if not isinstance(node.meta["val"], torch.Tensor)]
        return [node for node in dict.fromkeys(numbers) if not _symbols_in(node.meta["val"]) <= given]

    def _is_view(self, node: Any, found: Mapping[Any, None]) -> bool:
        """Whether a node shows an input, or what is computed already."""
        root, _ = view_root(node, found.__contains__)
        return root in found or root in self._inputs

    def function(self, is_boxed: bool) -> Callable[..., Any]:
        """The function that is called."""
        writer = CallWriter(self.placeholders, self.calls, is_boxed)
        for node, tensor in self.attributes:
            writer.define(node, writer.constant(tensor))
        for given in self.draws:
            draw(writer, given)
        self._call(writer)
        if self.updates:
            targets, values = zip(*((writer.value(target), writer.value(value)) for target, value in self.updates))
            writer.line(f"{writer.constant(write)}(({', '.join(targets)},), ({', '.join(values)},))")
        return writer.finish([writer.value(node) for node in self.outputs])

    def _call(self, writer: CallWriter) -> None:
        """Compiles what is computed and writes the call of it."""
        nodes = [*self.results, *self.numbers]
        has_effects = any(node.op == "call_function" and node.is_impure() for node in self.graph_module.graph.nodes)
        if not nodes and not has_effects:
            return
        layouts = {node: layout_of(node.meta["val"]) for node in self.results}
        module, parameters = self._build(nodes, layouts)
        target = self.options.target_for(self.device)
        code = compile_code(module, target, use_bounds=self.options.use_bounds, cached=self.options.cached)
        function = Executable(code).raw(FUNCTION)
        arguments = [self._argument(writer, node) for node in parameters]
        results = [f"r{index}" for index in range(len(nodes))]
        writer.run(function, arguments, results)
        self._receive(writer, parameters, arguments, results, layouts)
        for node, name in zip(self.numbers, results[len(self.results) :]):
            writer.line(f"{name} = {name}.item()")
            writer.define(node, name)

    def _argument(self, writer: CallWriter, node: Any) -> str:
        """The text of an argument; a number on the host is brought to the device."""
        example = node.meta["val"]
        text = writer.value(node)
        if not isinstance(example, torch.Tensor):
            return text
        if example.is_conj() or example.is_neg():
            raise FrontendError(f"the input '{node.name}' conjugates or negates; pass x.resolve_conj().resolve_neg()")
        return text if example.device == self.device else f"{text}.to({writer.constant(self.device)})"

    def _receive(
        self,
        writer: CallWriter,
        parameters: Sequence[Any],
        arguments: Sequence[str],
        results: Sequence[str],
        layouts: Mapping[Any, Layout],
    ) -> None:
        """Writes what makes the tensors of the graph from what the compiled function gives."""
        if not any(isinstance(node.meta["val"], torch.Tensor) for node in parameters):
            # What TVM FFI gives is a tensor of PyTorch only where an argument is one.
            for name in results:
                writer.line(f"{name} = {writer.constant(torch.from_dlpack)}({name})")
        groups: dict[Any, tuple[list[str], list[str]]] = {}
        for text, node in zip(arguments, parameters):
            if isinstance(node.meta["val"], torch.Tensor):
                groups.setdefault(_elements(node), ([], []))[1].append(text)
        for name, node in zip(results, self.results):
            groups.setdefault(_elements(node), ([], []))[0].append(name)
        for made, texts in groups.values():
            if len(made) + len(texts) > 1 and made:
                writer.line(
                    f"{''.join(f'{name}, ' for name in made)}= {writer.constant(apart)}"
                    f"(({', '.join(made)},), ({''.join(f'{text}, ' for text in texts)}))"
                )
        for name, node in zip(results, self.results):
            example = node.meta["val"]
            if example.device != self.device:
                writer.line(f"{name} = {name}.to({writer.constant(example.device)})")
            writer.show(name, layouts[node], example)
            writer.define(node, name)

    # --- the module

    def _build(self, nodes: Sequence[Any], layouts: Mapping[Any, Layout]) -> tuple[Module, list[Any]]:
        """The module with the function `main`, and the nodes that are its arguments."""
        symbols = SymbolTable()
        importer = GraphImporter(registry, symbols, self.graph_module)
        importer.require_converters()
        tensors, integers, values = self._parameters()
        defined = [(node.name, [expression(size) for size in node.meta["val"].shape]) for node in tensors]
        defined += [(node.name, expression(node.meta["val"])) for node in integers]
        symbols.define_inputs(defined, *_bounds(self.graph_module.graph))
        parameters: list[Tensor | Sym] = [
            Tensor(symbols.dims(node.name, sizes), dtypes.from_torch(node.meta["val"].dtype), name=node.name)
            for node, (_, sizes) in zip(tensors, defined)
        ]
        kept = []
        for node in integers:
            sym = _integer(symbols, node)
            if sym is not None:
                parameters.append(sym)
                kept.append(node)
        builder = BlockBuilder()
        with builder.function(FUNCTION, parameters, symbols=symbols.ranges) as function:
            values.update(zip(tensors, function.params))
            for node, _ in self.placeholders:
                if isinstance(node.meta.get("val"), torch.SymInt):
                    values[node] = symbols.expr(node.meta["val"]) if node.users else None
            made, _ = importer.run(self.graph_module, values)
            results = [
                layouts[node].arrange(value) if node in layouts else as_result(value)
                for node, value in zip(nodes, made)
            ]
            builder.return_(*results)
        return builder.module(), [*tensors, *kept]

    def _parameters(self) -> tuple[list[Any], list[Any], dict[Any, Any]]:
        """The placeholders that are tensors and integers, those that say a size which is needed included; others by
        their values."""
        given = [node for node, _ in (*self.placeholders, *self.attributes)]
        given += [drawn.placeholder for drawn in self.draws]
        tensors: list[Any] = []
        integers: list[Any] = []
        values: dict[Any, Any] = {}
        needed = _symbols_of(self.graph_module.graph)
        for node in given:
            example = node.meta.get("val")
            if isinstance(example, torch.Tensor):
                if example.is_complex():
                    raise FrontendError(
                        f"the input '{node.name}' of the graph is complex, which torch.compile does not take here; "
                        "export the model, or pass torch.view_as_real(x)"
                    )
                if node.users:
                    tensors.append(node)
                else:
                    values[node] = None
            elif isinstance(example, torch.SymInt):
                if node.users or expression(example).free_symbols & needed:
                    integers.append(node)
            elif example is None or isinstance(example, (bool, int, float, str)):
                values[node] = example
            elif node.users:
                raise FrontendError(
                    f"the input '{node.name}' of the graph is a {type(example).__name__}; expected tensors and integers"
                )
        return tensors, integers, values


def _elements(node: Any) -> tuple[torch.dtype, sympy.Expr]:
    """What tensors in the same memory agree in: the element type, and the number of elements."""
    count = sympy.Integer(1)
    for size in node.meta["val"].shape:
        count = count * expression(size)
    return node.meta["val"].dtype, sympy.expand(count)


def _examples(graph: Any) -> list[Any]:
    """The examples of all values of a graph."""
    found: list[Any] = []
    for node in graph.nodes:
        example = node.meta.get("val")
        found += example if isinstance(example, (tuple, list)) else [example]
    return found


def _symbols_of(graph: Any) -> set[sympy.Symbol]:
    """The symbols of the sizes in a graph."""
    found: set[sympy.Symbol] = set()
    for example in _examples(graph):
        found |= _symbols_in(example)
    return found


def _symbols_in(example: Any) -> set[sympy.Symbol]:
    """The symbols of a number, or of the sizes of a tensor."""
    found: set[sympy.Symbol] = set()
    for size in example.shape if isinstance(example, torch.Tensor) else [example]:
        if isinstance(size, (torch.SymInt, torch.SymFloat, torch.SymBool)):
            found |= sympy.sympify(size.node.expr).free_symbols
    return found


def _bounds(graph: Any) -> tuple[dict[sympy.Expr, Any], dict[str, int]]:
    """The bounds that the trace has for each symbol, and the least values of the sizes of inputs."""
    ranges: dict[sympy.Expr, Any] = {}
    for example in _examples(graph):
        for size in example.shape if isinstance(example, torch.Tensor) else [example]:
            if isinstance(size, torch.SymInt):
                known = size.node.shape_env.var_to_range
                ranges |= {symbol: known[symbol] for symbol in expression(size).free_symbols if symbol in known}
    least: dict[str, int] = {}
    for node in graph.nodes:
        example = node.meta.get("val") if node.op == "placeholder" else None
        for axis, size in enumerate(example.shape if isinstance(example, torch.Tensor) else ()):
            if expression(size) in ranges:
                lower = ranges[expression(size)].lower
                least[f"{node.name}.size({axis})"] = max(int(lower), 0) if lower.is_Integer else 0
    return {symbol: _Bounds(range_) for symbol, range_ in ranges.items()}, least


class _Bounds:
    """A range whose lower end is a number."""

    def __init__(self, range_: Any) -> None:
        self.lower = range_.lower if range_.lower.is_Integer else _LEAST_INTEGER
        self.upper = range_.upper


def _integer(symbols: SymbolTable, node: Any) -> Sym | None:
    """The parameter of an input that is an integer; None where tensors say it already."""
    expr = expression(node.meta["val"])
    if expr.is_Symbol:
        value = symbols.values[expr]
        return value if isinstance(value, Sym) and symbols.sources[value.name].axis is None else None
    if expr.free_symbols <= symbols.values.keys():
        return None
    sym = Sym(symbols.unused(node.name))
    symbols.computed[expr] = sym
    return sym

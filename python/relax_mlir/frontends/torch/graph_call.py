# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The Python function that calls a compiled graph.

It is called at every step of a model, so it is written for its graph as source: it has no loops and looks nothing up.
For a graph `(x, weight) -> (relu(x @ weight), weight.t())` it is

    def call(args):
        a0, a1 = args
        args.clear()
        r0 = function(a0, a1)
        v0 = t(a1)
        return [r0, v0]
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import sympy
import torch
import tvm_ffi
from torch.utils._sympy.printers import PythonPrinter

from ...errors import FrontendError, show_source_line
from .graph_layout import Layout, expression


class CallWriter:
    """Writes the function, line by line.

    Args:
      arguments: the placeholders of the graph; a tensor for those that the caller does not give.
      calls: what the nodes of the graph call, with which arguments.
      is_boxed: whether the caller gives a list of arguments, which is cleared, rather than the arguments.
    """

    def __init__(
        self,
        arguments: Sequence[tuple[Any, torch.Tensor | None]],
        calls: Mapping[Any, tuple[Any, tuple[Any, ...], dict[str, Any]]],
        is_boxed: bool,
    ) -> None:
        self._calls = calls
        self.namespace: dict[str, Any] = {}
        self._constants: dict[int, str] = {}
        self._names: dict[Any, str] = {}
        self._sizes: dict[sympy.Expr, str] = {}
        self._examples: list[tuple[str, Any]] = []
        given = []
        for node, tensor in arguments:
            name = f"a{len(self._names)}" if tensor is None else self.constant(tensor)
            if tensor is None:
                given.append(name)
            self.define(node, name)
        self._lines = [f"def call({'args' if is_boxed else ', '.join(given)}):"]
        self._is_boxed = is_boxed
        if is_boxed:
            self.line(f"{''.join(f'{name}, ' for name in given)}= args" if given else "pass")
            self.line("args.clear()")

    def line(self, text: str) -> None:
        """Adds a statement."""
        self._lines.append(f"    {text}")

    def define(self, node: Any, name: str) -> None:
        """Says which variable has the value of a node."""
        self._names[node] = name
        example = node.meta.get("val")
        if isinstance(example, torch.SymInt):
            self._sizes.setdefault(expression(example), name)
        elif isinstance(example, torch.Tensor):
            self._examples.append((name, example))

    def constant(self, value: Any) -> str:
        """The text of a value: of a number itself, of others a name."""
        if value is None or isinstance(value, (bool, int)):
            return repr(value)
        if isinstance(value, (tuple, list)):
            return f"({''.join(f'{self.constant(entry)}, ' for entry in value)})"
        name = self._constants.setdefault(id(value), f"c{len(self._constants)}")
        self.namespace[name] = value
        return name

    def size(self, size: Any) -> str:
        """The text of a size, or of a number made of sizes, which follows from the arguments."""
        if not isinstance(size, (torch.SymInt, torch.SymFloat, torch.SymBool)):
            return self.constant(size)
        expr = expression(size)
        if expr in self._sizes:
            return self._sizes[expr]
        names = {symbol: self._symbol(symbol) for symbol in expr.free_symbols}
        unknown = [str(symbol) for symbol, name in names.items() if name is None]
        if unknown:
            raise FrontendError(f"the size {expr} of a result has {unknown[0]}, which no input of the graph says")
        name = f"s{len(self._sizes)}"
        self.line(f"{name} = {PythonPrinter().doprint(expr.subs({s: sympy.Symbol(n) for s, n in names.items()}))}")
        self._sizes[expr] = name
        return name

    def _symbol(self, symbol: sympy.Symbol) -> str | None:
        """The variable of a symbol: an integer among the arguments, or the size of a tensor among them."""
        if symbol not in self._sizes:
            for tensor, example in self._examples:
                for axis, size in enumerate(example.shape):
                    if isinstance(size, torch.SymInt) and expression(size) == symbol:
                        name = f"s{len(self._sizes)}"
                        self.line(f"{name} = {tensor}.size({axis})")
                        self._sizes[symbol] = name
                        return name
            return None
        return self._sizes[symbol]

    def value(self, argument: Any) -> str:
        """The text of an argument of an op: a tensor of the graph, a size, or a constant."""
        if isinstance(argument, torch.fx.Node):
            if argument in self._names or isinstance(argument.meta.get("val"), torch.Tensor):
                return self.tensor(argument)
            return self.size(argument.meta.get("val"))
        if isinstance(argument, (tuple, list)):
            return f"({''.join(f'{self.value(entry)}, ' for entry in argument)})"
        return self.size(argument)

    def tensor(self, node: Any) -> str:
        """The variable of a tensor: an argument, a result, or a view of one, which is made here."""
        if node not in self._names:
            target, args, _ = self._calls[node]
            made = f"{self._call(args[0])}[{args[1]}]" if target is operator.getitem else self._call(node)
            name = f"v{len(self._names)}"
            self.line(f"{name} = {made}")
            self._names[node] = name
        return self._names[node]

    def _call(self, node: Any) -> str:
        return self.call(*self._calls[node])

    def call(self, function: Callable[..., Any], args: Iterable[Any], kwargs: Mapping[str, Any], *first: str) -> str:
        """The text of a call, with texts of arguments that come before the others."""
        parts = [*first, *map(self.value, args)]
        parts += [f"{key}={self.value(argument)}" for key, argument in kwargs.items()]
        return f"{self.constant(function)}({', '.join(parts)})"

    def run(self, function: Callable[..., Any], arguments: Sequence[str], results: Sequence[str]) -> None:
        """The call of the compiled function; an error in it shows the line of the model."""
        called = f"{self.constant(function)}({', '.join(arguments)})"
        self.line("try:")
        self.line(f"    {results[0] if len(results) == 1 else 'made'} = {called}")
        self.line("except Exception as error:")
        self.line(f"    {self.constant(show_source_line)}(error)")
        self.line("    raise")
        for index, name in enumerate(results if len(results) > 1 else ()):
            self.line(f"{name} = {self.constant(_member)}(made, {index})")

    def show(self, name: str, layout: Layout, example: torch.Tensor) -> None:
        """Shows a result with the strides that the graph was traced with."""
        if layout.view == "permute":
            self.line(f"{name} = {name}.permute{self.constant(layout.inverse)}")
        elif layout.view:
            sizes, strides = (self.value(list(part)) for part in (example.shape, example.stride()))
            if layout.view == "as_strided":
                self.line(f"{name} = {name}.as_strided({sizes}, {strides})")
            else:
                self.line(f"{name} = {self.constant(_spread)}({name}, {sizes}, {strides})")

    def finish(self, outputs: Sequence[str]) -> Callable[..., Any]:
        """The function, which returns these."""
        self.line(f"return [{', '.join(outputs)}]")
        source = "\n".join(self._lines)
        exec(compile(source, "<relax_mlir: call of a graph>", "exec"), self.namespace)
        call = self.namespace["call"]
        call.source = source
        if self._is_boxed:
            call._boxed_call = True
        return call


_member = tvm_ffi.get_global_func("ffi.ArrayGetItem")
"""A member of what a function of several results gives; indexing does the same behind three more calls."""


def apart(results: Sequence[torch.Tensor], arguments: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """The results, copied where they lie in the memory of an argument or of another result.

    In a compiled function a copy may be the tensor itself, and equal expressions are one tensor. In eager they are not,
    and writing into one leaves the other as it is.
    """
    seen = {argument.data_ptr() for argument in arguments}
    found = []
    for result in results:
        place = result.data_ptr()
        if place in seen:
            result = result.clone()
        else:
            seen.add(place)
        found.append(result)
    return found


def _spread(result: torch.Tensor, sizes: Sequence[int], strides: Sequence[int]) -> torch.Tensor:
    """The elements in memory with gaps between them."""
    return torch.empty_strided(sizes, strides, dtype=result.dtype, device=result.device).copy_(result)


def write(targets: Sequence[torch.Tensor], values: Sequence[torch.Tensor]) -> None:
    """Writes new values into tensors that the graph changes."""
    with torch.no_grad():
        for target, value in zip(targets, values):
            target.copy_(value)

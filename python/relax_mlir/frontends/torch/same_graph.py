# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether two exported programs of one model compute the same, where some sizes are given numbers.

What only shows a tensor as it is (a slice of all, an expansion to the same shape) does not count:

    general graph    x[s, 4] -> expand [s, 4] -> add        with s = 1: add(x)     the same, so right for 1
    graph for 1      x[1, 4] -> add                                     add(x)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import sympy
import torch
from torch.utils import _pytree as pytree

from .lowering import op_name

Place = tuple[int, int]
"""A leaf of the inputs, and an axis of it."""

_SHOWN_AS = {
    "aten::slice.Tensor",
    "aten::expand.default",
    "aten::alias.default",
    "aten::view.default",
    "aten::reshape.default",
    "aten::squeeze.dim",
    "aten::squeeze.dims",
}
"""Views that change nothing where the shape stays."""

_COPIES = {"aten::contiguous.default", "aten::clone.default"}
"""Copies, of which a trace leaves out those that strides do not need. They change nothing unless something is written
into them, or into what they are copies of."""

_BY_SHAPE = {"aten::expand.default", "aten::view.default", "aten::reshape.default"}
"""Views that their operand and the shape of their result determine."""


def compute_same(general: Any, special: Any, sizes: Mapping[Place, int], first: Mapping[Place, Place]) -> bool:
    """Whether a program computes what another does that was exported for these sizes.

    Args:
      sizes: of the inputs, wherever they are read.
      first: for each place that has the size of another one, as the general program checks, that one.
    """
    table: dict[Any, int] = {}
    return _canonical(general, sizes, first, table) == _canonical(special, sizes, first, table)


def user_nodes(exported: Any) -> list[Any]:
    """The placeholders of the leaves of the inputs."""
    names = set(exported.graph_signature.user_inputs) | {
        spec.arg.name for spec in exported.graph_signature.input_specs if spec.kind.name == "USER_INPUT"
    }
    return [node for node in exported.graph.nodes if node.op == "placeholder" and node.name in names]


class _Canonical:
    """Numbers the nodes of a graph so that nodes of two graphs have one number where they compute the same."""

    def __init__(self, names: Mapping[sympy.Symbol, sympy.Expr], table: dict[Any, int]) -> None:
        self._names = names
        self._table = table
        self._epoch = 0
        self._written: set[Any] = set()
        self.effects: list[int] = []

    def run(self, module: Any, inputs: Callable[[Any], Any]) -> tuple[Any, ...]:
        numbers: dict[Any, Any] = {}
        self._written = _written(module.graph)
        for node in module.graph.nodes:
            if node.op == "placeholder":
                numbers[node] = self._number(("input", inputs(node)))
            elif node.op == "get_attr":
                numbers[node] = self._attribute(module, node)
            elif node.op == "call_function":
                numbers[node] = self._call(node, numbers)
            elif node.op == "output":
                return tuple(self._argument(argument, numbers) for argument in pytree.tree_leaves(node.args[0]))
        return ()

    def _number(self, key: Any) -> int:
        return self._table.setdefault(key, len(self._table))

    def _attribute(self, module: Any, node: Any) -> Any:
        value = module.get_submodule(node.target) if node.target in dict(module.named_modules()) else None
        if isinstance(value, torch.fx.GraphModule):
            positions = {n: index for index, n in enumerate(n for n in value.graph.nodes if n.op == "placeholder")}
            inner = _Canonical(self._names, self._table)
            return ("graph", inner.run(value, lambda n: ("inner", positions[n])), tuple(inner.effects))
        return self._number(("attribute", node.target))

    def _call(self, node: Any, numbers: Mapping[Any, Any]) -> Any:
        value = node.meta.get("val")
        if isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool, int, float, bool)):
            return ("size", self._expr(value))
        name = op_name(node)
        shape = self._shape(value)
        operand = node.args[0] if node.args else None
        if name in _SHOWN_AS and isinstance(operand, torch.fx.Node) and self._shape(operand.meta.get("val")) == shape:
            return numbers[operand]
        if name in _COPIES and not node.kwargs and _base(node) not in self._written:
            return numbers[operand]
        arguments: Any = [self._argument(argument, numbers) for argument in node.args]
        if name == "aten::slice.Tensor":
            arguments = self._slice(arguments)
        schema = getattr(node.target, "_schema", None)
        if name in _BY_SHAPE:
            name, arguments = name.replace("view", "reshape"), arguments[:1]
        elif schema is not None:
            # A size that is the default of an argument is not written where it is a number.
            defaults = [self._argument(argument.default_value, {}) for argument in schema.arguments[: len(arguments)]]
            while arguments and schema.arguments[len(arguments) - 1].has_default_value():
                if arguments[-1] != defaults[len(arguments) - 1]:
                    break
                arguments.pop()
        options = sorted((key, self._argument(argument, numbers)) for key, argument in node.kwargs.items())
        number = self._number((name, tuple(arguments), tuple(map(str, options)), shape, self._epoch))
        if schema is not None and schema.is_mutable:
            self._epoch += 1
            self.effects.append(number)
        return number

    def _slice(self, arguments: list[Any]) -> list[Any]:
        """The arguments of a slice with a beginning, which a trace leaves out or writes as 0."""
        return [*arguments[:2], self._argument(0, {}), *arguments[3:]] if arguments[2:3] == ["None"] else arguments

    def _argument(self, argument: Any, numbers: Mapping[Any, Any]) -> Any:
        if isinstance(argument, torch.fx.Node):
            return numbers[argument]
        if isinstance(argument, (list, tuple)):
            return tuple(self._argument(entry, numbers) for entry in argument)
        if isinstance(argument, (bool, int, float)):
            return ("size", self._expr(argument))
        return str(argument)

    def _expr(self, value: Any) -> str:
        node = getattr(value, "node", None)
        expr = value if node is None else node.expr.subs(self._names)
        return repr(float(expr)) if isinstance(expr, (float, sympy.Float)) else str(expr)

    def _shape(self, value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return tuple(map(self._shape, value))
        return (tuple(map(self._expr, value.shape)), str(value.dtype)) if isinstance(value, torch.Tensor) else None


def _base(node: Any) -> Any:
    """The tensor that a view, or a copy, is of."""
    while node.op == "call_function" and node.args and isinstance(node.args[0], torch.fx.Node):
        arguments: Sequence[Any] = getattr(getattr(node.target, "_schema", None), "arguments", ())
        is_view = bool(arguments) and arguments[0].alias_info is not None
        if not is_view and op_name(node) not in _COPIES | _BY_SHAPE:
            break
        node = node.args[0]
    return node


def _written(graph: Any) -> set[Any]:
    """The tensors into which, or into views or copies of which, something is written."""
    found = set()
    for node in graph.nodes:
        schema = getattr(node.target, "_schema", None) if node.op == "call_function" else None
        if schema is not None and schema.is_mutable:
            found |= {_base(operand) for operand in node.all_input_nodes}
    return found


def _identity(exported: Any, spec: Any) -> Any:
    """What an input is: where it comes from in the model, or, of a constant that the trace has made, its elements."""
    constant = exported.constants.get(spec.target) if spec.kind.name == "CONSTANT_TENSOR" else None
    if isinstance(constant, torch.Tensor) and constant.device.type == "cpu" and not constant.is_sparse:
        return "constant", str(constant.dtype), tuple(constant.shape), repr(constant.tolist())
    return spec.target or f"user {spec.arg.name}"


def _canonical(exported: Any, sizes: Mapping[Place, int], first: Mapping[Place, Place], table: dict[Any, int]) -> Any:
    """What a program computes: its outputs and what it changes, with symbols named after the inputs."""
    names: dict[sympy.Symbol, sympy.Expr] = {}
    for index, node in enumerate(user_nodes(exported)):
        example = node.meta.get("val")
        for axis, size in enumerate(example.shape if isinstance(example, torch.Tensor) else [example]):
            if isinstance(size, torch.SymInt) and size.node.expr.is_Symbol:
                number = sizes.get((index, axis))
                leaf, own = first.get((index, axis), (index, axis))
                name = sympy.Symbol(f"d{leaf}_{own}", integer=True, positive=True)
                names.setdefault(size.node.expr, name if number is None else sympy.Integer(number))
    targets = {spec.arg.name: _identity(exported, spec) for spec in exported.graph_signature.input_specs}
    canonical = _Canonical(names, table)
    outputs = canonical.run(exported.graph_module, lambda node: targets[node.name])
    return outputs, tuple(canonical.effects)

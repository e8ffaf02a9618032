# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether a program is right for sizes of 1.

`torch.export` assumes that every dynamic size is at least 2 and keeps no note of it: a model that asks
`x.shape[0] == 1` is exported with the other branch, and the program would silently be wrong for 1. So the model is
exported again with such an example, and both graphs are compared with the size set to 1. Where they compute the same,
the program is right. What only shows a tensor as it is (a slice of all, an expansion to the same shape) does not count.

    general graph    x[s, 4] -> expand [s, 4] -> add        with s = 1: add(x)     the same, so right for 1
    graph for 1      x[1, 4] -> add                                     add(x)
"""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import io
import itertools
import logging
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import sympy
import torch
from torch.export import Dim
from torch.utils import _pytree as pytree

from .lowering import op_name

Place = tuple[int, int]
"""A leaf of the inputs, and an axis of it."""

_MOST_TOGETHER = 3
"""Up to so many sizes all combinations of ones are tried; of more, pairs."""

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


@dataclasses.dataclass(frozen=True)
class Small:
    """Sizes that are 1 together, whether the program is right for them, and the guards it then has in addition."""

    sizes: tuple[Place, ...]
    is_right: bool
    guards: tuple[str, ...] = ()


def find_small_sizes(
    model: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], exported: Any, strict: bool
) -> list[Small]:
    """Which sizes of 1 a program of that model is right for, alone and together."""
    nodes = _user_nodes(exported)
    places = _places(exported, nodes)
    found: list[Small] = []
    together = len(places) if len(places) <= _MOST_TOGETHER else 2
    wrong: set[frozenset[Place]] = set()
    for count in range(1, together + 1):
        for chosen in itertools.combinations(places.items(), count):
            sizes = tuple(place for _, place in chosen)
            if any(part <= set(sizes) for part in wrong):
                continue
            small = _try(model, args, kwargs, exported, nodes, [symbol for symbol, _ in chosen], sizes, strict)
            if not small.is_right:
                wrong.add(frozenset(sizes))
            found.append(small)
    for chosen in itertools.combinations(places.values(), together + 1) if together < len(places) else ():
        found.append(Small(tuple(chosen), False))
    return found


def _user_nodes(exported: Any) -> list[Any]:
    names = set(exported.graph_signature.user_inputs) | {
        spec.arg.name for spec in exported.graph_signature.input_specs if spec.kind.name == "USER_INPUT"
    }
    return [node for node in exported.graph.nodes if node.op == "placeholder" and node.name in names]


def _places(exported: Any, nodes: Sequence[Any]) -> dict[sympy.Symbol, Place]:
    """The first place of each size that may be 1."""
    places: dict[sympy.Symbol, Place] = {}
    for index, node in enumerate(nodes):
        if isinstance(node.meta.get("val"), torch.Tensor):
            for axis, size in enumerate(node.meta["val"].shape):
                expr = size.node.expr if isinstance(size, torch.SymInt) else None
                if expr is not None and expr.is_Symbol:
                    bounds = exported.range_constraints.get(expr)
                    if bounds is None or bounds.lower <= 2:
                        places.setdefault(expr, (index, axis))
    return places


def _try(
    model: Any,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    exported: Any,
    nodes: Sequence[Any],
    symbols: Sequence[sympy.Symbol],
    sizes: tuple[Place, ...],
    strict: bool,
) -> Small:
    """Exports the model with these sizes of 1, and compares."""
    ones = dict.fromkeys(symbols, sympy.Integer(1))
    leaves, spec = pytree.tree_flatten((args, dict(kwargs)))
    shapes: list[Any] = []
    resized: list[Any] = []
    for leaf, node in zip(leaves, nodes):
        example = node.meta.get("val")
        if not isinstance(leaf, torch.Tensor) or not isinstance(example, torch.Tensor):
            shapes.append(Dim.AUTO if isinstance(example, torch.SymInt) else None)
            resized.append(leaf)
            continue
        exprs = [size.node.expr if isinstance(size, torch.SymInt) else None for size in example.shape]
        fixed = [expr is None or bool(expr.free_symbols & ones.keys()) for expr in exprs]
        shapes.append({axis: Dim.STATIC if is_fixed else Dim.AUTO for axis, is_fixed in enumerate(fixed)})
        resized.append(_resized(leaf, [None if expr is None else _hint(expr, ones, nodes) for expr in exprs]))
    try:
        with quiet():
            small_args, small_kwargs = pytree.tree_unflatten(resized, spec)
            small = torch.export.export(
                model,
                small_args,
                small_kwargs,
                dynamic_shapes=as_argument_shapes(model, *pytree.tree_unflatten(shapes, spec)),
                strict=strict,
            )
        table: dict[Any, int] = {}
        same = _canonical(exported, ones, table) == _canonical(small, {}, table)
    except Exception:  # whatever the trace of such an example fails with: it is not known to be right
        return Small(sizes, False)
    return Small(sizes, same, tuple(_guards(small)) if same else ())


def as_argument_shapes(model: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Shapes by the names of the model's arguments, as `torch.export` wants them."""
    forward = model.forward if isinstance(model, torch.nn.Module) else model
    return dict(inspect.signature(forward).bind(*args, **kwargs).arguments)


def _hint(expr: sympy.Expr, ones: Mapping[sympy.Symbol, sympy.Integer], nodes: Sequence[Any]) -> int:
    """The value of a size in the example, with some symbols set to 1."""
    values = dict(ones)
    for node in nodes:
        example = node.meta.get("val")
        for size in example.shape if isinstance(example, torch.Tensor) else ():
            if isinstance(size, torch.SymInt) and size.node.expr.is_Symbol:
                values.setdefault(size.node.expr, sympy.Integer(size.node.hint))
    return int(expr.subs(values))


def _resized(tensor: torch.Tensor, sizes: Sequence[int | None]) -> torch.Tensor:
    """The tensor with other sizes, by taking its elements in order, again from the first where there are too few."""
    with torch.no_grad():
        for axis, size in enumerate(sizes):
            if size is not None and size != tensor.shape[axis]:
                places = torch.arange(size, device=tensor.device) % max(tensor.shape[axis], 1)
                tensor = tensor.index_select(axis, places)
    return tensor


def _guards(exported: Any) -> Iterator[str]:
    """The guards and bounds of a program, as guards over its inputs."""
    yield from getattr(exported, "_guards_code", ()) or ()
    for node in _user_nodes(exported):
        example = node.meta.get("val")
        for axis, size in enumerate(example.shape if isinstance(example, torch.Tensor) else ()):
            bounds = exported.range_constraints.get(size.node.expr) if isinstance(size, torch.SymInt) else None
            if bounds is None:
                continue
            text = f"L['{node.name}'].size()[{axis}]"
            if bounds.lower > 2:
                yield f"{text} >= {int(bounds.lower)}"
            if isinstance(bounds.upper, (int, sympy.Integer)) and not str(bounds.upper).startswith("int_oo"):
                yield f"{text} <= {int(bounds.upper)}"


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keeps what a failing export prints, whole graphs among it, from the terminal."""
    level = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                yield
    finally:
        logging.disable(level)


# --- comparing graphs


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
        arguments = getattr(getattr(node.target, "_schema", None), "arguments", ())
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


def _canonical(exported: Any, ones: Mapping[sympy.Symbol, sympy.Expr], table: dict[Any, int]) -> Any:
    """What a program computes: its outputs and what it changes, with symbols named after the inputs."""
    names: dict[sympy.Symbol, sympy.Expr] = dict(ones)
    users = _user_nodes(exported)
    for index, node in enumerate(users):
        example = node.meta.get("val")
        sizes = example.shape if isinstance(example, torch.Tensor) else [example]
        for axis, size in enumerate(sizes):
            if isinstance(size, torch.SymInt) and size.node.expr.is_Symbol:
                names.setdefault(size.node.expr, sympy.Symbol(f"d{index}_{axis}", integer=True, positive=True))
    targets = {spec.arg.name: spec.target or f"user {spec.arg.name}" for spec in exported.graph_signature.input_specs}
    canonical = _Canonical(names, table)
    outputs = canonical.run(exported.graph_module, lambda node: targets[node.name])
    return outputs, tuple(canonical.effects)

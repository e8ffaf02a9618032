# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From an `ExportedProgram` to a `Program`: inputs, weights, entry checks and outputs around the graph."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import sympy
import torch
from mlir import ir
from torch.export.graph_signature import InputKind, OutputKind

from ... import op
from ...annotations import Tensor
from ...builder import BlockBuilder
from ...errors import FrontendError
from ...symbolic import Sym
from ...values import Value
from ..conditions import Condition, compare, junction, prove, require
from ..program import FUNCTION, RANDOM_STATE, Program, Report
from ..signature import Input, Output, Signature, Variant, Variants
from ..tree import Codec
from . import dtypes
from .complex_values import Complex, as_pairs, join_pairs, split_pairs
from .guards import Computation, Guard, read_guards
from .importer import ContradictionError, GraphImporter
from .registry import registry
from .symbols import SizeNames, SymbolTable
from .tree import to_spec
from .weights import Weights, is_small, to_array

SmallPattern = tuple[tuple[str, int], ...]
"""Sizes of inputs that are 0 or 1 together, such as (("x.size(0)", 1), ("y.size(0)", 1))."""


@dataclasses.dataclass
class _Inputs:
    """The placeholders of a program, by kind."""

    user: list[tuple[Any, Input]] = dataclasses.field(default_factory=list)
    weights: list[tuple[Any, str, torch.Tensor]] = dataclasses.field(default_factory=list)
    changed: list[tuple[Any, str, torch.Tensor]] = dataclasses.field(default_factory=list)
    tokens: list[Any] = dataclasses.field(default_factory=list)
    """What orders ops with effects, such as checks. Here the order of the program does."""

    def add_random_state(self) -> None:
        """Adds the state of the random number generator as a buffer that calls change. It is not a placeholder."""
        if any(name == RANDOM_STATE for _, name, _ in self.changed):
            raise FrontendError(f"the model has a buffer '{RANDOM_STATE}', which is the name of the generator's state")
        self.changed.append((RANDOM_STATE, RANDOM_STATE, torch.zeros(2, dtype=torch.int64)))


@dataclasses.dataclass(frozen=True)
class Part:
    """An export of a model, which becomes one function of its program.

    Attributes:
      exported: the `ExportedProgram` in functional form.
      smallest: the least value of a size ("x.size(0)") for which it is known to be right; 2 for others.
      refused: sizes that are not known to be right together, although each alone is.
      small_guards: what sizes must be in addition where some are 1 (or 0) together.
      serves: of a variant, the sizes for which it takes the place of the program (`program.Variant.serves`).
      cases: the small sizes for which it is right, as texts for the report.
    """

    exported: Any
    smallest: Mapping[str, int] = dataclasses.field(default_factory=dict)
    refused: Sequence[SmallPattern] = ()
    small_guards: Sequence[tuple[SmallPattern, Sequence[str]]] = ()
    serves: tuple[tuple[tuple[int, int, int], ...], ...] = ()
    cases: tuple[str, ...] = ()


def build_program(
    parts: Sequence[Part],
    *,
    names: SizeNames | None = None,
    places: Sequence[tuple[int, int]] = (),
    fixed: Sequence[str] | None = None,
    untraced: Sequence[str] = (),
) -> Program:
    """The program of a model.

    Args:
      parts: the general export of the model, then its variants.
      names: of sizes.
      places: sizes that say which variant serves a call (`signature.Variants.places`).
      fixed: sizes that the export has fixed; None where that, and what holds of small sizes, is not known.
      untraced: small sizes for which the model was not traced, as texts for the report.

    What one part changes is a buffer of all of them, so that they share it.
    """
    changed = {name for part in parts for name in part.exported.graph_signature.buffers_to_mutate.values()}
    builder, weights = BlockBuilder(), Weights()
    codecs: dict[str, Any] = {}
    made = [
        _Builder(part, FUNCTION if index == 0 else f"{FUNCTION}_{index}", changed, names, weights, codecs)
        for index, part in enumerate(parts)
    ]
    main = made[0].build(builder)
    variants: list[Variant] = []
    small = [f"{case}: right" for case in parts[0].cases]
    for function in made[1:]:
        what = "by a variant"
        try:
            variants.append(Variant(function.name, function.build(builder), function.part.serves))
        except ContradictionError as error:  # PyTorch traces for such sizes what fails in eager; `main` refuses them
            what = f"refused, since {str(error).splitlines()[0]}"
        small += [f"{case}: {what}" for case in function.part.cases]
    small += [f"{case}: refused, since the model was not traced for it" for case in untraced]
    known = {} if fixed is None else {"sizes that the export fixed": fixed, "sizes of 0 and 1": small}
    report = _report(made[0], known)
    buffers = {name: to_array(tensor, name).copy() for function in made for _, name, tensor in function.inputs.changed}
    return Program(
        builder.module(),
        main,
        weights.values,
        buffers,
        report,
        codecs,
        Variants(tuple(places), tuple(variants)),
    )


class _Builder:
    """Builds the function of one part."""

    def __init__(
        self,
        part: Part,
        name: str,
        changed: set[str],
        names: SizeNames | None,
        weights: Weights,
        codecs: dict[str, Codec],
    ) -> None:
        self.part, self.name = part, name
        self.inputs = _read_inputs(part.exported, changed)
        self.symbols = SymbolTable(names)
        sizes = [(node.name, _sizes(node.meta["val"])) for node, given in self.inputs.user if given.kind != "constant"]
        self.symbols.define_inputs(sizes, part.exported.range_constraints, part.smallest)
        self.importer = GraphImporter(registry, self.symbols, part.exported.graph_module)
        self.checks: list[str] = []
        self._weights, self._codecs = weights, codecs
        self.importer.require_converters()
        if self.importer.draws_random:
            self.inputs.add_random_state()

    def build(self, builder: BlockBuilder) -> Signature:
        """Adds the function to the module, and gives its signature."""
        part, inputs, symbols, exported = self.part, self.inputs, self.symbols, self.part.exported
        parameters: list[Tensor | Sym] = [
            Tensor(tuple(tensor.shape), dtypes.from_torch(tensor.dtype), name=name)
            for _, name, tensor in inputs.changed
        ]
        parameters += [_parameter(node, given, symbols) for node, given in inputs.user if given.kind != "constant"]
        donated = self._donated()
        attributes = {"relax.donated": ir.DenseI64ArrayAttr.get(donated, builder.context)} if donated else {}
        with builder.function(self.name, parameters, symbols=symbols.ranges, attrs=attributes) as function:
            guards = _read_guards(inputs, symbols, getattr(exported, "_guards_code", ()) or ())
            conditional = [(pattern, _read_guards(inputs, symbols, codes)) for pattern, codes in part.small_guards]
            self.checks = _check_entry(symbols, inputs, guards, part.refused, conditional)
            values = _bind_inputs(inputs, function.params, symbols, self._weights)
            importer = self.importer
            if importer.draws_random:
                importer.random = op.Generator(values.pop(RANDOM_STATE))
            made, output = importer.run(exported.graph_module, values)
            results, outputs, updates = _read_outputs(exported, output.args[0], made, inputs)
            if importer.random is not None:
                updates.append(("buffer", RANDOM_STATE, len(results)))
                results.append(importer.random.state)
            builder.return_(*results)
        return Signature(
            _argument_names(exported),
            to_spec(exported.call_spec.in_spec, self._codecs),
            to_spec(exported.call_spec.out_spec, self._codecs),
            tuple(given for _, given in inputs.user),
            tuple(outputs),
            tuple(name for _, name, _ in inputs.changed),
            tuple(updates),
        )

    def _donated(self) -> list[int]:
        """The parameters that get new values, so that nobody needs the old ones afterwards."""
        signature = self.part.exported.graph_signature
        buffers, users = (
            {RANDOM_STATE, *signature.buffers_to_mutate.values()},
            set(signature.user_inputs_to_mutate.values()),
        )
        changed = [name in buffers for _, name, _ in self.inputs.changed]
        changed += [node.name in users for node, given in self.inputs.user if given.kind != "constant"]
        return [index for index, is_changed in enumerate(changed) if is_changed]


# --- inputs


def _read_inputs(exported: Any, changed: set[str]) -> _Inputs:
    """The placeholders with what they are; `changed` are the names of buffers that calls change."""
    signature = exported.graph_signature
    placeholders = [node for node in exported.graph.nodes if node.op == "placeholder"]
    found = _Inputs()
    for node, spec in zip(placeholders, signature.input_specs):
        kind = spec.kind
        if kind == InputKind.USER_INPUT:
            found.user.append((node, _user_input(node, spec.arg)))
        elif kind in (InputKind.PARAMETER, InputKind.BUFFER, InputKind.CONSTANT_TENSOR):
            tensor = as_pairs(_tensor_of(exported, spec.target))
            place = found.changed if kind == InputKind.BUFFER and spec.target in changed else found.weights
            place.append((node, spec.target, tensor))
        elif kind == InputKind.TOKEN:
            found.tokens.append(node)
        else:
            raise FrontendError(f"the input '{node.name}' of the program is a {kind.name.lower()}, which has no tensor")
    return found


def _user_input(node: Any, argument: Any) -> Input:
    example = node.meta.get("val")
    if isinstance(example, torch.Tensor):
        return Input(node.name, "complex" if example.is_complex() else "tensor")
    if isinstance(example, torch.SymInt):
        return Input(node.name, "integer")
    value = getattr(argument, "value", example)
    if value is not None and not isinstance(value, (bool, int, float, str)):
        raise FrontendError(f"the input '{node.name}' is {value!r}; expected a tensor, a number, text or None")
    return Input(node.name, "constant", value)


def _tensor_of(exported: Any, target: str) -> torch.Tensor:
    for tensors in (exported.state_dict, exported.constants):
        if target in tensors:
            return tensors[target]
    raise FrontendError(f"the program has no value for '{target}'; export it with its weights")


def _sizes(example: Any) -> Any:
    """The sizes of an example of an input, as sympy's expressions."""
    if isinstance(example, torch.SymInt):
        return _expr(example)
    return [_expr(size) for size in example.shape]


def _expr(size: Any) -> sympy.Expr:
    return sympy.sympify(size.node.expr if isinstance(size, torch.SymInt) else size)


def _parameter(node: Any, given: Input, symbols: SymbolTable) -> Tensor | Sym:
    example = node.meta["val"]
    if given.kind == "integer":
        value = symbols.expr(example)
        if not isinstance(value, Sym) or not value.is_symbol:
            raise FrontendError(f"the input '{given.name}' is {value}; expected an integer of its own")
        return value
    dims, dtype = symbols.dims(node.name, _sizes(example)), dtypes.from_torch(example.dtype)
    if given.kind == "complex":
        return Tensor((*dims, 2), dtypes.PART_OF[dtype], name=given.name)
    return Tensor(dims, dtype, name=given.name)


def _bind_inputs(
    inputs: _Inputs, parameters: Sequence[Value], symbols: SymbolTable, weights: Weights
) -> dict[Any, Any]:
    """What each placeholder is in the function."""
    values: dict[Any, Any] = dict.fromkeys(inputs.tokens)
    rest = iter(parameters)
    for node, _, _ in inputs.changed:
        values[node] = _of_border(node, next(rest))
    for node, given in inputs.user:
        if given.kind == "constant":
            values[node] = given.value
            continue
        value = next(rest)
        values[node] = symbols.expr(node.meta["val"]) if given.kind == "integer" else _of_border(node, value)
    for node, name, tensor in inputs.weights:
        if node.users:
            values[node] = _of_border(node, _weight(node, name, tensor, weights))
        else:
            values[node] = None
    return values


def _of_border(node: Any, value: Value) -> Value | Complex:
    """What a tensor at the border of the program is inside: complex ones are pairs of their parts."""
    example = node.meta["val"] if isinstance(node, torch.fx.Node) else None
    return split_pairs(value) if isinstance(example, torch.Tensor) and example.is_complex() else value


def _weight(node: Any, name: str, tensor: torch.Tensor, weights: Weights) -> Value:
    if not isinstance(tensor, torch.nn.Parameter) and is_small(tensor):
        return op.constant(to_array(tensor, name))
    annotation = Tensor(tuple(tensor.shape), dtypes.from_torch(tensor.dtype))
    return op.weight(weights.add(name, tensor), annotation)


def _argument_names(exported: Any) -> tuple[str, ...]:
    """The names of the model's arguments by position."""
    count = len(to_spec(exported.call_spec.in_spec, {})["items"][0]["items"])
    names = getattr(exported.module_call_graph[0].signature, "forward_arg_names", None) or ()
    return tuple(names[:count]) if len(names) >= count else tuple(f"args_{index}" for index in range(count))


# --- checks


def _read_guards(inputs: _Inputs, symbols: SymbolTable, codes: Sequence[str]) -> list[Guard]:
    dims: dict[str, Any] = {}
    sizes: dict[str, Any] = {}
    integers: dict[str, Any] = {}
    for node, given in inputs.user:
        if given.kind in ("tensor", "complex"):
            sizes[node.name] = _sizes(node.meta["val"])
            dims[node.name] = symbols.dims(node.name, sizes[node.name])
        elif given.kind == "integer":
            integers[node.name] = symbols.expr(node.meta["val"])
        elif isinstance(given.value, int):
            integers[node.name] = int(given.value)
    floats = Computation(lambda name, axis: sizes[name][axis], symbols.expr)
    return read_guards(codes, lambda name, axis: dims[name][axis], integers, floats)


def _check_entry(
    symbols: SymbolTable,
    inputs: _Inputs,
    guards: Sequence[Guard],
    refused: Sequence[SmallPattern],
    conditional: Sequence[tuple[SmallPattern, Sequence[Guard]]],
) -> list[str]:
    """Builds what is checked when the function is entered, and gives a line for each check that could not be proved."""
    entries: list[tuple[Condition, str]] = [
        (condition, f"the program was exported for inputs with {text}") for condition, text in symbols.checks
    ]
    entries += [(guard.condition, guard.message) for guard in guards]
    by_text = {
        f"{node.name}.size({axis})": size
        for node, given in inputs.user
        if given.kind in ("tensor", "complex")
        for axis, size in enumerate(symbols.dims(node.name, _sizes(node.meta["val"])))
    }

    def differs(pattern: SmallPattern) -> Condition:
        return junction("or", [compare("!=", by_text[size], value) for size, value in pattern])

    for pattern in refused:
        what = f"the program is not known to be right for {show_pattern(pattern)}; export it with such an example"
        if (condition := differs(pattern)) is not False:  # else another size that is fixed keeps such calls out
            entries.append((condition, what))
    proved = {guard.text for guard in guards}
    for pattern, extra in conditional:
        entries += [
            (junction("or", [differs(pattern), guard.condition]), f"{guard.message} where {show_pattern(pattern)}")
            for guard in extra
            if guard.text not in proved and prove(guard.condition, symbols.facts) is not True
        ]
    built = []
    for condition, message in entries:
        if condition is False:
            raise FrontendError(f"{message}, which never holds")
        if require(condition, _with_values(condition, message), symbols.facts):
            built.append(f"{condition}: {message}")
    return built


def show_pattern(pattern: SmallPattern) -> str:
    return " and ".join(f"{size} == {value}" for size, value in pattern)


def _with_values(condition: Condition, message: str) -> str:
    """The message with both values of a comparison."""
    predicate = getattr(condition, "predicate", None)
    return message if predicate is None else f"{message}; it needs %0 {predicate} %1"


# --- outputs


def _read_outputs(
    exported: Any, nodes: Any, made: Sequence[Any], inputs: _Inputs
) -> tuple[list[Any], list[Output], list[tuple[str, Any, int]]]:
    """The results of the function, the leaves of the outputs, and what is written back."""
    nodes = list(nodes) if isinstance(nodes, (tuple, list)) else [nodes]
    positions = {node: index for index, (node, _) in enumerate(inputs.user)}
    names = {node.name: index for node, index in positions.items()}
    results: list[Any] = []
    found: dict[Any, int] = {}
    written: dict[Any, int] = {}

    def result(key: Any, value: Any) -> int:
        if key not in found:
            found[key] = len(results)
            results.append(as_result(value))
        return found[key]

    outputs: list[Output] = []
    updates: list[tuple[str, Any, int]] = []
    for node, value, spec in zip(nodes, made, exported.graph_signature.output_specs):
        if spec.kind == OutputKind.BUFFER_MUTATION:
            updates.append(("buffer", spec.target, result(node, value)))
        elif spec.kind == OutputKind.USER_INPUT_MUTATION:
            position = names[spec.target]
            _check_written(inputs.user[position][0], node)
            written[node] = position
            updates.append(("input", position, result(node, value)))
        elif spec.kind == OutputKind.USER_OUTPUT:
            outputs.append(_output(node, value, written, positions, result))
        elif spec.kind != OutputKind.TOKEN:
            raise FrontendError(f"the output '{node}' of the program is a {spec.kind.name.lower()}, which is unknown")
    return results, outputs, updates


def _check_written(target: Any, node: Any) -> None:
    """Checks that what is written into an input has its shape."""
    before, after = (_sizes(entry.meta["val"]) for entry in (target, node))
    if before != after:
        raise FrontendError(
            f"the model changes the shape of the input '{target.name}' from {before} to {after}, as t_() and "
            "unsqueeze_() do; give the new shape to a view of it instead"
        )


def _output(node: Any, value: Any, written: Mapping[Any, int], positions: Mapping[Any, int], result: Any) -> Output:
    if not isinstance(node, torch.fx.Node):
        if isinstance(node, torch.dtype) or (node is not None and not isinstance(node, (bool, int, float, str))):
            raise FrontendError(f"the program returns {node!r}; expected tensors, numbers, text or None")
        return Output("constant", 0, node)
    if node in written:
        return Output("input", written[node])
    if node in positions:
        return Output("input", positions[node])
    example = node.meta["val"]
    if isinstance(example, torch.Tensor):
        kind = "complex" if example.is_complex() else "tensor"
        return Output(kind, result(node, value), owner=positions.get(_viewed(node), -1))
    if isinstance(example, (torch.SymInt, int)) and not isinstance(example, bool):
        return Output("integer", result(node, value))
    if isinstance(example, (torch.SymFloat, float)):
        return Output("float", result(node, value))
    return Output("boolean", result(node, value))


def _viewed(node: Any) -> Any:
    """The node whose memory the result of a node is a view of in eager: itself, unless it is an op of views."""
    while isinstance(node, torch.fx.Node) and node.op == "call_function":
        if node.target is operator.getitem:
            node = node.args[0]
            continue
        schema = getattr(node.target, "_schema", None)
        if schema is None or not any(result.alias_info for result in schema.returns):
            return node
        viewed = [argument for argument, given in zip(node.args, schema.arguments) if given.alias_info]
        if not viewed:
            return node
        node = viewed[0]
    return node


def as_result(value: Any) -> Any:
    """A result of the function: numbers become tensors of rank 0."""
    if isinstance(value, Value):
        return value
    if isinstance(value, Complex):
        return join_pairs(value)
    if isinstance(value, Sym):
        return op.reshape(op.arange(value, value + 1, 1, "i64"), ())
    if isinstance(value, (bool, int, float)):
        return op.constant(np.asarray(value))
    raise FrontendError(f"the program returns {value!r}; expected a tensor or a number")


# --- the report


def _report(function: _Builder, notes: Mapping[str, Sequence[str]]) -> Report:
    report = Report()
    lines = []
    for sym, range_ in function.symbols.ranges.items():
        upper = "" if range_.upper is None else f" <= {range_.upper}"
        multiple = f", a multiple of {range_.multiple_of}" if range_.multiple_of > 1 else ""
        lines.append(f"{range_.lower} <= {sym}{upper}{multiple}: {function.symbols.sources[sym.name]}")
    report.add("symbols", lines)
    report.add("checks at entry", function.checks)
    for heading, entries in notes.items():
        report.add(heading, list(entries))
    counts = sorted(function.importer.counts.items(), key=lambda item: (-item[1], item[0]))
    report.add("ops", [f"{name}: {count}" for name, count in counts])
    return report

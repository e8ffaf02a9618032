# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From an ONNX model to a `Program`: inputs, outputs and weights around the graph."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...annotations import Tensor
from ...builder import BlockBuilder
from ...errors import FrontendError, UnsupportedOpError
from ...values import Value
from ..program import FUNCTION, Program, Report
from ..signature import Input, Output, Signature
from ..tree import LEAF, Spec
from . import converters as _converters  # noqa: F401 - registers the converters
from . import dtypes
from .converters.cast import bit_kernels
from .data import Data, Maps, Operand, Optional_
from .errors import UndecidedBranchError, ValueRequiredError
from .importer import Importer
from .model import MapType, Model, OptionalType, SequenceType, Source, TensorType, ValueInfo, ValueType, read_model
from .registry import registry
from .symbols import Bounds, SymbolTable
from .tensors import to_carrier

Shapes = Mapping[str, Sequence["int | str | None"]]
"""Shapes of inputs: for each axis a number, the name of a size, or None."""


@dataclasses.dataclass(frozen=True)
class Options:
    """What a program is made for.

    Attributes:
      symbols, dims, shapes, values: see `from_onnx`.
      structures: for an input that is a sequence the shapes of its elements, for an optional one whether it is given.
    """

    symbols: Bounds = dataclasses.field(default_factory=dict)
    dims: Mapping[str, str] = dataclasses.field(default_factory=dict)
    shapes: Shapes = dataclasses.field(default_factory=dict)
    values: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    structures: Mapping[str, Any] = dataclasses.field(default_factory=dict)


def from_onnx(
    model: Source | Model,
    *,
    symbols: Bounds | None = None,
    dims: Mapping[str, str] | None = None,
    shapes: Shapes | None = None,
    values: Mapping[str, Any] | None = None,
    folder: str | os.PathLike[str] | None = None,
) -> Program:
    """The program of an ONNX model, with every size that the model leaves open kept symbolic.

    The compiled program takes the inputs of the model by name or by position, and gives a dictionary of its outputs.

    Args:
      model: a path, the bytes of a file, or a `ModelProto`.
      symbols: bounds of sizes, by the name that the model gives them; `{"batch": Range(1, 64)}`, or `(1, 64)`. A size
        without a name is that of its input and axis, as `x_dim0`.
      dims: what sizes are: `{"total": "past + sequence"}`, or a multiple, `{"H": "4*h"}`.
      shapes: shapes of inputs in place of those of the model, which may leave out even the number of axes.
      values: inputs that are always the same, such as the axes of an op. The program is made for these values.
      folder: where files with tensors of the model are; that of the path unless given.

    Raises:
      ModelFileError: the file is missing or damaged, or the graph is not valid.
      UnsupportedOpError: ops have no converter, all of which are listed; or a form of an op is not supported.
      ValueRequiredError: an input decides shapes or axes, and is not among `values`.
      FrontendError: an op is not valid, or an option names no input or size.
    """
    if not isinstance(model, Model):
        file = str(model) if isinstance(model, (str, os.PathLike)) else "model.onnx"
        model, name = read_model(model, folder), file
    else:
        name = "model.onnx"
    options = Options(symbols or {}, dims or {}, shapes or {}, values or {})
    return build_program(model, options, os.path.basename(name))


def model_inputs(model: Model) -> list[ValueInfo]:
    """The inputs that a call must give: those that are not initializers as well."""
    return [entry for entry in model.graph.inputs if entry.name not in model.graph.tensors]


def build_program(model: Model, options: Options, file: str = "model.onnx") -> Program:
    """The program of a model that has been read.

    Where sizes choose between branches of which only one fits the rest of the model, the program has that one, and
    checks the condition. Whether one fits shows in an import with it.
    """
    decisions: dict[int, bool] = {}
    while True:
        try:
            return _build_program(model, options, file, decisions)
        except UndecidedBranchError as error:
            fitting = [choice for choice in (True, False) if _fits(model, options, {**decisions, error.index: choice})]
            if len(fitting) != 1:
                raise error.error from error.__cause__
            decisions[error.index] = fitting[0]


def _fits(model: Model, options: Options, decisions: Mapping[int, bool]) -> bool:
    """Whether a model is valid with these choices of branches, as far as an import comes."""
    try:
        _build_program(model, options, "model.onnx", decisions)
    except FrontendError as error:
        reason = error.__cause__ or error
        return isinstance(reason, (UndecidedBranchError, ValueRequiredError, UnsupportedOpError))
    return True


def _build_program(model: Model, options: Options, file: str, decisions: Mapping[int, bool]) -> Program:
    graph = model.graph
    inputs = model_inputs(model)
    _check_names(options, graph.inputs)
    table = SymbolTable(options.symbols, options.dims)
    importer = Importer(model, registry, table, file, decisions)
    uses = list(importer.uses())
    registry.require(uses)
    given = {*options.values, *options.shapes}
    overridden = [entry for entry in graph.inputs if entry.name in graph.tensors and entry.name in given]
    plans = [_plan(entry, options) for entry in [*inputs, *overridden]]
    leaves = {leaf.name: leaf.type for plan in plans for leaf in plan.leaves if not leaf.is_constant}
    sizes = table.define_inputs(leaves)
    parameters = [
        Tensor(sizes[name], dtypes.carrier(type.dtype), name=_identifier(name)) for name, type in leaves.items()
    ]
    builder = BlockBuilder()
    if any(use.op == "onnx::BitCast" for use in uses):
        builder.add_kernels(bit_kernels())
    with builder.function(FUNCTION, parameters, symbols=table.ranges) as function:
        made = dict(zip(leaves, function.params))
        values = {plan.name: plan.build(made) for plan in plans}
        found = importer.run(graph, {}, values)
        results, entries, specs = _outputs([entry.name for entry in graph.outputs], found, importer)
        builder.return_(*results)
    names = [plan.name for plan in plans]
    signature = Signature(
        tuple(names),
        _tuple([_tuple([plan.spec for plan in plans]), {"kind": "dict", "keys": [], "items": []}]),
        {"kind": "dict", "keys": [entry.name for entry in graph.outputs], "items": specs},
        tuple(leaf.input for plan in plans for leaf in plan.leaves),
        tuple(entries),
    )
    return Program(builder.module(), signature, importer.weights, {}, _report(table, importer))


def _tuple(items: list[Spec]) -> Spec:
    return {"kind": "tuple", "items": items}


def _check_names(options: Options, inputs: Sequence[ValueInfo]) -> None:
    known = [entry.name for entry in inputs]
    for what, given in (("shapes", options.shapes), ("values", options.values)):
        for name in given:
            if name not in known:
                raise FrontendError(
                    f"{what} names the input '{name}', which the model does not have; its inputs are "
                    f"{', '.join(map(repr, known)) or 'none'}"
                )


def _identifier(name: str) -> str:
    return name or "input"


# --- inputs


@dataclasses.dataclass(frozen=True)
class _Leaf:
    """A tensor among the inputs; `value` where it is always the same, None where it is left out."""

    name: str
    type: TensorType
    value: np.ndarray | None = None
    is_constant: bool = False

    @property
    def input(self) -> Input:
        return Input(self.name, "constant", self.value) if self.is_constant else Input(self.name, "tensor")


@dataclasses.dataclass(frozen=True)
class _Plan:
    """An input: its leaves, and what the graph sees of them."""

    name: str
    kind: str
    leaves: list[_Leaf]

    @property
    def spec(self) -> Spec:
        if self.kind == "sequence":
            return {"kind": "list", "items": [LEAF for _ in self.leaves]}
        return LEAF

    def build(self, made: Mapping[str, Value]) -> Operand:
        """What the name of the input stands for in the graph."""
        if self.kind == "absent":
            return Optional_(None)
        parts = [self._leaf(leaf, made) for leaf in self.leaves]
        if self.kind == "sequence":
            return list(parts)
        return Optional_(parts[0]) if self.kind == "optional" else parts[0]

    def _leaf(self, leaf: _Leaf, made: Mapping[str, Value]) -> Data:
        if leaf.is_constant:
            return Data(leaf.type.dtype, leaf.value, name=leaf.name)
        return Data(leaf.type.dtype, value=made[leaf.name], origins=frozenset([self.name]))


def _plan(entry: ValueInfo, options: Options) -> _Plan:
    name, type = entry.name, entry.type
    if type is None:
        raise FrontendError(f"the input '{name}' has no type in the model")
    if isinstance(type, OptionalType):
        if not options.structures.get(name, True):
            return _Plan(name, "absent", [_Leaf(name, TensorType("f32", ()), None, True)])
        inner = _plan(ValueInfo(name, type.element), options)
        return dataclasses.replace(inner, kind="optional") if inner.kind == "tensor" else inner
    if isinstance(type, MapType):
        raise FrontendError(f"the input '{name}' is a {type}; maps are supported as outputs alone")
    if isinstance(type, SequenceType):
        shapes = options.structures.get(name)
        if shapes is None:
            raise FrontendError(
                f"the input '{name}' is a sequence, whose number of elements a program must know; use InferenceSession"
            )
        return _Plan(name, "sequence", [_element(name, index, type, shape) for index, shape in enumerate(shapes)])
    return _Plan(name, "tensor", [_tensor(name, type, options)])


def _element(name: str, index: int, type: SequenceType, shape: Any) -> _Leaf:
    if not isinstance(type.element, TensorType):
        raise FrontendError(f"the input '{name}' is a sequence of {type.element}; expected one of tensors")
    where = f"{name}[{index}]"
    if isinstance(shape, np.ndarray):
        return _Leaf(where, TensorType(type.element.dtype, shape.shape), to_carrier(shape, type.element.dtype), True)
    return _Leaf(where, TensorType(type.element.dtype, tuple(shape)))


def _tensor(name: str, type: TensorType, options: Options) -> _Leaf:
    if name in options.values:
        given = np.asarray(options.values[name])
        if dtypes.from_numpy(given.dtype) not in (type.dtype, dtypes.carrier(type.dtype)):
            raise FrontendError(f"the value of the input '{name}' has elements of {given.dtype}; expected {type}")
        return _Leaf(name, type, to_carrier(given, type.dtype), True)
    if type.dtype == dtypes.STRING:
        raise ValueRequiredError(
            f"the input '{name}' is text, which is worked on while the model is imported: give values={{'{name}': "
            "array}}, or use InferenceSession",
            [name],
        )
    shape = type.shape
    if name in options.shapes:
        shape = tuple(options.shapes[name])
        _check_shape(name, shape, type.shape)
    if shape is None:
        raise FrontendError(
            f"the model does not say how many axes the input '{name}' has; give shapes={{'{name}': (\"n\", 3)}}"
        )
    return _Leaf(name, TensorType(type.dtype, shape))


def _check_shape(name: str, given: Sequence[Any], declared: Sequence[Any] | None) -> None:
    agrees = declared is None or len(declared) == len(given)
    if agrees and declared is not None:
        agrees = all(not (isinstance(a, int) and isinstance(b, int)) or a == b for a, b in zip(given, declared))
    if not agrees:
        raise FrontendError(f"shapes gives the input '{name}' {list(given)}; the model says {list(declared or ())}")


# --- outputs


def _outputs(
    names: Sequence[str], found: Sequence[Operand], importer: Importer
) -> tuple[list[Value], list[Output], list[Spec]]:
    """The results of the function, the leaves of the outputs, and their structures."""
    results: list[Value] = []
    entries: list[Output] = []

    def spec(name: str, operand: Operand) -> Spec:
        if isinstance(operand, list):
            return {"kind": "list", "items": [spec(name, member) for member in operand]}
        if isinstance(operand, Optional_):
            return spec(name, operand.value)
        if isinstance(operand, Maps):
            entries.append(Output("maps", len(results), operand.keys))
            results.append(operand.rows.materialize(importer.weights))
        elif operand is None:
            entries.append(Output("constant", 0, None))
        elif operand.dtype == dtypes.STRING:
            entries.append(Output("constant", 0, operand.elements))
        else:
            entries.append(Output("tensor", len(results)))
            results.append(operand.materialize(importer.weights))
        return LEAF

    specs = [spec(name, operand) for name, operand in zip(names, found)]
    return results, entries, specs


def output_dtypes(type: ValueType | None) -> str | None:
    """The element type of the tensors in a value of that type; None where there are none."""
    while isinstance(type, (SequenceType, OptionalType)):
        type = type.element
    return type.dtype if isinstance(type, TensorType) else None


def _report(table: SymbolTable, importer: Importer) -> Report:
    report = Report()
    report.add("symbols", table.report())
    counts = sorted(importer.counts.items(), key=lambda item: (-item[1], item[0]))
    report.add("ops", [f"{name}: {count}" for name, count in counts])
    return report


def explain(model: Source | Model, **options: Any) -> str:
    """The sizes of a model with their bounds, and its ops; arguments as for `from_onnx`."""
    return str(from_onnx(model, **options).report)

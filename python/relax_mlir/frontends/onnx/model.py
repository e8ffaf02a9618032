# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A model file as plain Python: graphs with nodes in order, types, and tensors that are read when they are needed.

What the file says is checked here, before anything is imported: names are defined once and before their use, nodes are
acyclic, opsets are known.
"""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Union

import numpy as np
import onnx
from google.protobuf.message import DecodeError

from ...errors import FrontendError
from . import dtypes
from .errors import ModelFileError
from .tensors import to_array

OPSETS = (7, 28)
"""The versions of the default domain that the converters were written for."""

_DEPTH = 64
"""How deep graphs may be nested."""


@dataclasses.dataclass(frozen=True)
class TensorType:
    """A tensor; `shape` has a number, a name, or None for each axis, and is None where the rank is unknown."""

    dtype: str
    shape: tuple[int | str | None, ...] | None

    def __str__(self) -> str:
        return f"tensor({dtypes.onnx_text(self.dtype)})"


@dataclasses.dataclass(frozen=True)
class SequenceType:
    """A sequence of tensors (or of other values)."""

    element: ValueType

    def __str__(self) -> str:
        return f"seq({self.element})"


@dataclasses.dataclass(frozen=True)
class OptionalType:
    """A value that may be left out."""

    element: ValueType

    def __str__(self) -> str:
        return f"optional({self.element})"


@dataclasses.dataclass(frozen=True)
class MapType:
    """A value for each of some keys, which are integers or text: what `ZipMap` gives."""

    key: str
    element: ValueType

    def __str__(self) -> str:
        return f"map({dtypes.onnx_text(self.key)},{self.element})"


ValueType = Union[TensorType, SequenceType, OptionalType, MapType]


@dataclasses.dataclass(frozen=True)
class ValueInfo:
    """A named input or output of a graph; the type is None where the file has none."""

    name: str
    type: ValueType | None


@dataclasses.dataclass
class Node:
    """One use of an op.

    Attributes:
      domain: "" for the default one.
      attributes: numbers, text, arrays, graphs, or lists of them.
      index: its place in the graph of the file, from one.
    """

    op: str
    domain: str
    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: dict[str, Any]
    index: int = 0

    @property
    def kind(self) -> str:
        """The op with its domain, as converters are registered: `onnx::Relu`, `com.microsoft::FastGelu`."""
        return f"{self.domain or 'onnx'}::{self.op}"

    def __str__(self) -> str:
        """How errors name the node; many files have no names of nodes, so the first output tells them apart."""
        shown = next(filter(None, self.outputs), "")
        name = f" '{self.name}'" if self.name else ""
        domain = f"{self.domain}." if self.domain else ""
        return f"{domain}{self.op}{name}" + (f" (which makes '{shown}')" if shown else "")


@dataclasses.dataclass
class Graph:
    """A graph with its nodes in an order in which each follows those that make its inputs.

    Attributes:
      tensors: the initializers, as the file has them.
      captured: names of graphs around it that it reads.
      proto: the graph as the file has it.
    """

    name: str
    inputs: list[ValueInfo]
    outputs: list[ValueInfo]
    tensors: dict[str, Any]
    nodes: list[Node]
    captured: set[str]
    proto: Any


@dataclasses.dataclass
class Model:
    """A model file.

    Attributes:
      opsets: the version of each domain.
      functions: those of the file, by `kind`.
      folder: where files with its tensors are.
      description, domain, version: what the file says of the model, for people.
    """

    graph: Graph
    opsets: dict[str, int]
    functions: dict[str, Any]
    folder: Path | None
    metadata: dict[str, str]
    ir_version: int
    producer: str = ""
    description: str = ""
    domain: str = ""
    version: int = 0

    def array(self, tensor: Any) -> np.ndarray:
        """The elements of a tensor of the file."""
        return to_array(tensor, self.folder)


Source = Union[str, "os.PathLike[str]", bytes, Any]


def read_model(source: Source, folder: str | os.PathLike[str] | None = None) -> Model:
    """Reads a model: a path, the bytes of a file, or a `ModelProto`.

    Args:
      folder: where files with tensors of the model are; that of the path unless given.

    Raises:
      ModelFileError: the file is missing or damaged, or the graph is not valid.
    """
    proto, found = _parse(source)
    place = Path(folder) if folder is not None else found
    opsets = _opsets(proto)
    functions = {}
    for function in proto.functions:
        functions[f"{_domain(function.domain) or 'onnx'}::{_name(function.name)}"] = function
    graph = read_graph(proto.graph, {}, place)
    return Model(
        graph,
        opsets,
        functions,
        place,
        {entry.key: entry.value for entry in proto.metadata_props},
        proto.ir_version,
        proto.producer_name,
        proto.doc_string,
        proto.domain,
        proto.model_version,
    )


def _parse(source: Source) -> tuple[Any, Path | None]:
    if isinstance(source, onnx.ModelProto):
        return source, None
    if isinstance(source, (bytes, bytearray, memoryview)):
        return _decode(bytes(source), "the model"), None
    path = Path(source)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ModelFileError(f"cannot read '{path}': {error.strerror or error}") from None
    return _decode(data, f"'{path}'"), path.parent


def _decode(data: bytes, what: str) -> Any:
    proto = onnx.ModelProto()
    try:
        proto.ParseFromString(data)
    except (DecodeError, RuntimeError) as error:
        raise ModelFileError(f"{what} is not an ONNX model, or is damaged: {error}") from None
    if not proto.HasField("graph"):
        raise ModelFileError(f"{what} is not an ONNX model: it has no graph")
    return proto


def _name(value: str | bytes) -> str:
    """A name of the file, which protobuf gives as bytes where it is not text."""
    if isinstance(value, bytes):
        raise ModelFileError(f"the model is damaged: the name {value!r} is not text")
    if "\0" in value:
        raise ModelFileError(f"the model is damaged: the name {value!r} has a zero byte")
    return value


def _domain(name: str | bytes) -> str:
    return "" if _name(name) == "ai.onnx" else _name(name)


def _opsets(proto: Any) -> dict[str, int]:
    opsets = {_domain(entry.domain): entry.version for entry in proto.opset_import}
    if proto.ir_version < 3:
        opsets.setdefault("", 1)
    for domain, version in opsets.items():
        if not 0 <= version < 1 << 31:
            raise ModelFileError(f"the model imports version {version} of the domain '{domain or 'ai.onnx'}'")
    version = opsets.get("")
    if version is not None and not 1 <= version <= OPSETS[1]:
        raise FrontendError(
            f"the model needs version {version} of ONNX's operators; the versions {OPSETS[0]} to {OPSETS[1]} are known"
        )
    return opsets


def read_graph(
    proto: Any, references: Mapping[str, Any], folder: Path | None, outer: frozenset[str] = frozenset(), depth: int = 0
) -> Graph:
    """A graph, or the body of one that is an attribute.

    Args:
      references: values of attributes of the function that the graph belongs to.
      outer: the names that graphs around it define.

    Raises:
      ModelFileError: a name is defined twice, or used but not defined, or nodes need each other.
    """
    if depth > _DEPTH:
        raise ModelFileError(f"the graphs of the model are nested deeper than {_DEPTH}")
    inputs = [read_value_info(entry) for entry in proto.input]
    tensors = {_name(tensor.name): tensor for tensor in proto.initializer}
    for sparse in proto.sparse_initializer:
        raise ModelFileError(f"the tensor '{sparse.values.name}' is sparse; store it as a dense one")
    defined = _distinct([entry.name for entry in inputs], "an input") | set(tensors)
    outputs = [read_value_info(entry) for entry in proto.output]
    nodes = _read_nodes(proto, references, folder, defined, outer, depth)
    _check_outputs(f"the graph '{_name(proto.name)}'", [output.name for output in outputs], nodes, outer | defined)
    return Graph(_name(proto.name), inputs, outputs, tensors, nodes, _captured(nodes, outputs, defined), proto)


def read_body(proto: Any, references: Mapping[str, Any], folder: Path | None) -> list[Node]:
    """The nodes of a function, in order.

    Args:
      references: values of attributes of the function.

    Raises:
      ModelFileError: a name is defined twice, or used but not defined, or nodes need each other.
    """
    inputs = _distinct(map(_name, proto.input), f"an input of the function '{_name(proto.name)}'")
    nodes = _read_nodes(proto, references, folder, inputs, frozenset(), 0)
    _check_outputs(f"the function '{_name(proto.name)}'", list(map(_name, proto.output)), nodes, inputs)
    return nodes


def _read_nodes(
    proto: Any, references: Mapping[str, Any], folder: Path | None, defined: set[str], outer: frozenset[str], depth: int
) -> list[Node]:
    """The nodes of a graph or of a function, each after those that make its inputs."""
    made = {_name(name) for node in proto.node for name in node.output if name}
    visible = frozenset(outer | defined | made)
    nodes = [read_node(node, references, folder, visible, depth, index) for index, node in enumerate(proto.node, 1)]
    return _sorted(nodes, defined, outer)


def _check_outputs(where: str, names: Sequence[str], nodes: Iterable[Node], known: Iterable[str]) -> None:
    """Checks that nodes make all outputs, or that they are known before."""
    made = {*known, *(name for node in nodes for name in node.outputs if name)}
    for name in names:
        if name not in made:
            raise ModelFileError(f"the output '{name}' of {where} is made by no node")


def _distinct(names: Iterable[str], what: str) -> set[str]:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ModelFileError(f"the name '{name}' is defined twice, as {what}")
        seen.add(name)
    return seen


def read_node(
    proto: Any,
    references: Mapping[str, Any],
    folder: Path | None,
    outer: frozenset[str] = frozenset(),
    depth: int = 0,
    index: int = 0,
) -> Node:
    """One node, with its attributes as Python's values."""
    node = Node(
        _name(proto.op_type),
        _domain(proto.domain),
        _name(proto.name),
        tuple(map(_name, proto.input)),
        tuple(map(_name, proto.output)),
        {},
        index,
    )
    for entry in proto.attribute:
        if entry.ref_attr_name:
            if entry.ref_attr_name in references:
                node.attributes[_name(entry.name)] = references[entry.ref_attr_name]
            continue
        node.attributes[_name(entry.name)] = _attribute(entry, node, references, folder, outer, depth)
    return node


def _attribute(
    entry: Any, node: Node, references: Mapping[str, Any], folder: Path | None, outer: frozenset[str], depth: int
) -> Any:
    def graph(proto: Any) -> Graph:
        return read_graph(proto, references, folder, outer, depth + 1)

    kinds = onnx.AttributeProto
    single = {kinds.FLOAT: "f", kinds.INT: "i"}
    several = {kinds.FLOATS: "floats", kinds.INTS: "ints"}
    if entry.type in single:
        return getattr(entry, single[entry.type])
    if entry.type in several:
        return list(getattr(entry, several[entry.type]))
    if entry.type == kinds.STRING:
        return _text(entry.s)
    if entry.type == kinds.STRINGS:
        return [_text(value) for value in entry.strings]
    if entry.type == kinds.TENSOR:
        dtype = dtypes.from_code(entry.t.data_type, f"the attribute '{entry.name}' of {node}")
        return TensorAttribute(to_array(entry.t, folder), dtype)
    if entry.type == kinds.GRAPH:
        return graph(entry.g)
    if entry.type == kinds.GRAPHS:
        return [graph(value) for value in entry.graphs]
    if entry.type == kinds.TYPE_PROTO:
        return read_type(entry.tp, f"the attribute '{entry.name}'")
    kind = kinds.AttributeType.Name(entry.type) if entry.type in kinds.AttributeType.values() else entry.type
    raise ModelFileError(f"the attribute '{entry.name}' of {node} is of the kind {kind}, which is not supported")


@dataclasses.dataclass(frozen=True)
class TensorAttribute:
    """An attribute that is a tensor: its elements in the type that carries them, and its own type."""

    array: np.ndarray
    dtype: str


def _text(value: bytes) -> str:
    return value.decode("utf-8", errors="surrogateescape")


def read_value_info(proto: Any) -> ValueInfo:
    """A named value with its type."""
    known = proto.HasField("type") and proto.type.WhichOneof("value")
    name = _name(proto.name)
    return ValueInfo(name, read_type(proto.type, f"'{name}'") if known else None)


def read_type(proto: Any, where: str, depth: int = 0) -> ValueType:
    """A type of the file."""
    if depth > _DEPTH:
        raise ModelFileError(f"the type of {where} is nested deeper than {_DEPTH}")
    kind = proto.WhichOneof("value")
    if kind == "tensor_type":
        tensor = proto.tensor_type
        dtype = dtypes.from_code(tensor.elem_type, where)
        if not tensor.HasField("shape"):
            return TensorType(dtype, None)
        return TensorType(dtype, tuple(map(_dim, tensor.shape.dim)))
    if kind == "sequence_type":
        return SequenceType(read_type(proto.sequence_type.elem_type, where, depth + 1))
    if kind == "optional_type":
        return OptionalType(read_type(proto.optional_type.elem_type, where, depth + 1))
    if kind == "map_type":
        key = dtypes.from_code(proto.map_type.key_type, where)
        return MapType(key, read_type(proto.map_type.value_type, where, depth + 1))
    raise ModelFileError(
        f"{where} is of the type {kind}, which is not supported; tensors, sequences, optionals and maps are"
    )


def _dim(dim: Any) -> int | str | None:
    if dim.WhichOneof("value") == "dim_value":
        return dim.dim_value if dim.dim_value >= 0 else None  # some writers mean "unknown" by -1
    name = _name(dim.dim_param)
    return name if re.search(r"\w", name) else None  # some writers mean "unknown" by "?"


def _sorted(nodes: list[Node], defined: set[str], outer: frozenset[str]) -> list[Node]:
    """The nodes, each after those that make its inputs; in the order of the file where that is one."""
    makers: dict[str, Node] = {}
    for node in nodes:
        for name in filter(None, node.outputs):
            if name in makers or name in defined:
                raise ModelFileError(f"the name '{name}' is defined twice, the second time by {node}")
            makers[name] = node
    placed: dict[int, int] = {}  # 1 while its inputs are placed, 2 when it is placed itself
    order: list[Node] = []
    for root in nodes:
        stack: list[tuple[Node, Iterator[str]]] = []
        if id(root) not in placed:
            placed[id(root)] = 1
            stack.append((root, iter(_needs(root))))
        while stack:
            node, rest = stack[-1]
            for name in rest:
                maker = makers.get(name)
                if maker is None:
                    if name not in defined and name not in outer:
                        raise ModelFileError(f"{node} uses '{name}', which nothing defines")
                elif placed.get(id(maker)) == 1:
                    raise ModelFileError(f"{maker} and {node} need the results of each other: the graph has a cycle")
                elif id(maker) not in placed:
                    placed[id(maker)] = 1
                    stack.append((maker, iter(_needs(maker))))
                    break
            else:
                placed[id(node)] = 2
                order.append(node)
                stack.pop()
    return order


def subgraphs(node: Node) -> Iterator[Graph]:
    """The graphs that are attributes of a node."""
    for value in node.attributes.values():
        for entry in value if isinstance(value, list) else [value]:
            if isinstance(entry, Graph):
                yield entry


def _needs(node: Node) -> list[str]:
    """The names that a node reads, also inside its graphs."""
    names = [name for name in node.inputs if name]
    for graph in subgraphs(node):
        names += sorted(graph.captured)
    return names


def _captured(nodes: list[Node], outputs: list[ValueInfo], defined: set[str]) -> set[str]:
    """What a graph reads of graphs around it."""
    made = {name for node in nodes for name in node.outputs}
    used = {name for node in nodes for name in _needs(node)} | {output.name for output in outputs}
    return used - made - defined

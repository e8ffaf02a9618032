# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ops that are functions of others: those that a model defines, and those that ONNX's own schemas define.

A function is imported as its body, node by node. The body of a schema is used only where no converter is registered.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import onnx
from onnx import helper

from ...errors import FrontendError
from . import dtypes
from .checks import find_schema
from .data import Data
from .model import Graph, Node, read_body, read_node


@dataclasses.dataclass(frozen=True)
class Body:
    """The body of a function for one call."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    nodes: list[Node]
    opsets: dict[str, int]


def of_model(function: Any, node: Node, folder: Any) -> Body:
    """The body of a function that a model defines."""
    return _body(function, node.attributes, folder, {})


def has_schema(node: Node, version: int) -> bool:
    """Whether ONNX defines an op by others."""
    schema = find_schema(node.op, version, node.domain)
    return schema is not None and (schema.has_function or schema.has_context_dependent_function)


def of_schema(node: Node, version: int, operands: Sequence[Any]) -> Body | None:
    """The body that ONNX gives an op; None where it has none for these operands."""
    schema = find_schema(node.op, version, node.domain)
    if schema is None:
        return None
    data = None
    if schema.has_function:
        known = [known for known in schema.function_opset_versions if known <= max(version, schema.since_version)]
        data = schema.get_function_with_opset_version(max(known)) if known else schema.function_body.SerializeToString()
    elif schema.has_context_dependent_function:
        known = list(schema.context_dependent_function_opset_versions)
        types = [_type_of(operand).SerializeToString() for operand in operands]
        proto = _to_proto(node).SerializeToString()
        data = schema.get_context_dependent_function_with_opset_version(_latest(known, version), proto, types)
    if not data:
        return None
    function = onnx.FunctionProto()
    function.ParseFromString(data)
    defaults = {
        name: attribute.default_value
        for name, attribute in schema.attributes.items()
        if attribute.default_value.type != onnx.AttributeProto.UNDEFINED
    }
    return _body(function, node.attributes, None, defaults)


def _latest(known: Sequence[int], version: int) -> int:
    return max((entry for entry in known if entry <= version), default=min(known))


def _body(function: Any, given: Mapping[str, Any], folder: Any, defaults: Mapping[str, Any]) -> Body:
    references = dict(given)
    for name, default in [*defaults.items(), *((entry.name, entry) for entry in function.attribute_proto)]:
        if name not in references:
            carrier = onnx.NodeProto(op_type="Constant", attribute=[default])
            references[name] = next(iter(read_node(carrier, {}, folder).attributes.values()))
    nodes = read_body(function, references, folder)
    opsets = {("" if entry.domain == "ai.onnx" else entry.domain): entry.version for entry in function.opset_import}
    return Body(tuple(function.input), tuple(function.output), nodes, opsets)


def _type_of(operand: Any) -> Any:
    """The type of an operand, as ONNX writes it."""
    if not isinstance(operand, Data):
        return onnx.TypeProto()
    shape = [size if isinstance(size, int) else None for size in operand.shape]
    return helper.make_tensor_type_proto(dtypes.to_code(operand.dtype), shape)


def _to_proto(node: Node) -> Any:
    """A node with its attributes, from which ONNX makes the body."""
    proto = helper.make_node(node.op, list(node.inputs), list(node.outputs), domain=node.domain)
    for name, value in node.attributes.items():
        if isinstance(value, Graph):
            proto.attribute.append(helper.make_attribute(name, value.proto))
        elif isinstance(value, (int, float, str)) or (isinstance(value, list) and value):
            proto.attribute.append(helper.make_attribute(name, value))
        else:
            raise FrontendError(
                f"{node}: the attribute '{name}' is {value!r}, from which its definition cannot be made"
            )
    return proto

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks of a node before it is converted: how many inputs, outputs and attributes it has, and of what kind.

Converters and the rules of `known` rely on them. Of an op that ONNX defines, its schema says what is valid; of any
other op, the signature of its converter. Element types are left to the converters, which know more types than the
schemas of old versions.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from onnx import defs

from ...errors import FrontendError
from .data import Operand, Optional_
from .model import Graph, Node, TensorAttribute

_KINDS: dict[Any, tuple[Any, str]] = {
    defs.OpSchema.AttrType.INT: (int, "an integer"),
    defs.OpSchema.AttrType.FLOAT: ((int, float), "a number"),
    defs.OpSchema.AttrType.STRING: (str, "text"),
    defs.OpSchema.AttrType.INTS: (int, "a list of integers"),
    defs.OpSchema.AttrType.FLOATS: ((int, float), "a list of numbers"),
    defs.OpSchema.AttrType.STRINGS: (str, "a list of text"),
    defs.OpSchema.AttrType.TENSOR: (TensorAttribute, "a tensor"),
    defs.OpSchema.AttrType.GRAPH: (Graph, "a graph"),
}
_LISTS = (defs.OpSchema.AttrType.INTS, defs.OpSchema.AttrType.FLOATS, defs.OpSchema.AttrType.STRINGS)


@functools.cache
def find_schema(op: str, version: int, domain: str) -> Any | None:
    """The definition of an op in a version of its domain; None where ONNX has none."""
    try:
        return defs.get_schema(op, version, domain)
    except defs.SchemaError:
        return None


def check_node(node: Node, version: int, operands: Sequence[Operand]) -> None:
    """Checks a node by the schema of its op, if it has one.

    Raises:
      FrontendError: there are too few or too many inputs or outputs, a required input is left out, an input is a
        sequence where the op takes a tensor or the reverse, or an attribute is of another kind.
    """
    schema = find_schema(node.op, version, node.domain)
    if schema is None or schema.deprecated:
        return
    _check_count(node, "inputs", len(node.inputs), schema.min_input, schema.max_input)
    _check_count(node, "outputs", len(node.outputs), schema.min_output, schema.max_output)
    formal = list(schema.inputs)
    for place, operand in enumerate(operands):
        entry = formal[min(place, len(formal) - 1)]
        if operand is None:
            if entry.option == defs.OpSchema.FormalParameterOption.Single:
                raise FrontendError(f"{node}: the input '{entry.name}' is left out, which the op needs")
        else:
            _check_kind(node, entry, operand)
    for name, attribute in schema.attributes.items():
        if name in node.attributes and attribute.type in _KINDS:
            _check_attribute(node, name, attribute.type)


def _check_count(node: Node, what: str, count: int, least: int, most: int) -> None:
    if not least <= count <= most:
        expected = str(least) if least == most else f"{least} to {most}" if most < 1 << 30 else f"at least {least}"
        raise FrontendError(f"{node}: the number of {what} is {count}; expected {expected}")


def _check_kind(node: Node, entry: Any, operand: Operand) -> None:
    kind = (
        "a sequence" if isinstance(operand, list) else "an optional" if isinstance(operand, Optional_) else "a tensor"
    )
    prefix = {"a sequence": "seq(", "an optional": "optional(", "a tensor": "tensor("}[kind]
    # The value of an optional is also passed as it is.
    accepted = {form for allowed in entry.types for form in (allowed, allowed.removeprefix("optional("))}
    if not any(form.startswith(prefix) for form in accepted):
        raise FrontendError(
            f"{node}: the input '{entry.name}' is {kind}; expected one of {', '.join(sorted(entry.types))}"
        )


def _check_attribute(node: Node, name: str, kind: Any) -> None:
    value, (accepted, expected) = node.attributes[name], _KINDS[kind]
    if kind in _LISTS:
        fits = isinstance(value, list) and all(isinstance(member, accepted) for member in value)
    else:
        fits = isinstance(value, accepted)
    if not fits:
        raise FrontendError(f"the attribute '{name}' of {node} is {_shown(value)}; expected {expected}")


def _shown(value: Any) -> str:
    names = {int: "an integer", float: "a number", str: "text", TensorAttribute: "a tensor", Graph: "a graph"}
    if isinstance(value, list):
        return f"a list of {names.get(type(value[0]), type(value[0]).__name__)}" if value else "an empty list"
    return names.get(type(value), type(value).__name__)


def check_operands(node: Node, convert: Callable[..., Any], operands: Sequence[Operand]) -> None:
    """Checks that each input is given that a converter needs.

    A parameter needs its input if it is annotated with the type of a tensor alone, not with a union with None.

    Raises:
      FrontendError: an input is left out.
    """
    for place, name in _needed(convert):
        if place >= len(operands) or operands[place] is None:
            raise FrontendError(f"{node}: the input {place + 1} ('{name}') is left out, which the op needs")


@functools.cache
def _needed(convert: Callable[..., Any]) -> tuple[tuple[int, str], ...]:
    """The places and names of the inputs that a converter cannot do without."""
    _, *parameters = inspect.signature(convert).parameters.values()  # the first one is the lowering
    return tuple(
        (place, parameter.name)
        for place, parameter in enumerate(parameters)
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD
        and parameter.default is parameter.empty
        and parameter.annotation in ("Value", "Data")
    )

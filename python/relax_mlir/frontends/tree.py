# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The structure of a user's inputs and outputs: tuples, lists, dictionaries and objects with tensors in them.

A structure is plain JSON, so that a compiled program in a folder takes and gives the same as the model did, without
the framework that it comes from:

    {"kind": "leaf"}
    {"kind": "tuple" | "list", "items": [...]}
    {"kind": "dict" | "object" | "namedtuple", "type": "module:name", "keys": [...], "items": [...]}
    {"kind": "custom", "type": "module:name", "items": [...]}

A type is looked up in modules that are loaded already, since a file should not say what is imported. Where it is not
there, dictionaries, and tuples for named tuples, take its place.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ..errors import RelaxError

Spec = Mapping[str, Any]
"""A structure, as above."""

LEAF: Spec = {"kind": "leaf"}

Codec = tuple[Callable[[Any], list[Any]], Callable[[list[Any]], Any]]
"""How values of a custom type are taken apart, and made again."""


def count_leaves(spec: Spec) -> int:
    """The number of leaves of a structure."""
    if spec["kind"] == "leaf":
        return 1
    return sum(map(count_leaves, spec["items"]))


def type_name(kind: type) -> str:
    """A type as a structure names it."""
    return f"{kind.__module__}:{kind.__qualname__}"


def _find_type(name: str) -> type | None:
    module, _, path = name.partition(":")
    found: Any = sys.modules.get(module)
    for part in path.split("."):
        found = getattr(found, part, None)
    return found if isinstance(found, type) else None


def flatten(spec: Spec, value: Any, where: str = "", codecs: Mapping[str, Codec] | None = None) -> list[Any]:
    """The leaves of a value of that structure, in order.

    Args:
      where: what the value is, for messages.
      codecs: how values of custom types are taken apart, by the name of the type.

    Raises:
      TypeError: the value has another structure; the message names the place.
    """
    kind = spec["kind"]
    if kind == "leaf":
        return [value]
    items = spec["items"]
    if kind in ("tuple", "list", "namedtuple"):
        if not isinstance(value, (tuple, list)):
            raise TypeError(f"{where}: expected a {kind} of {len(items)} members, got {type(value).__name__}")
        if len(value) != len(items):
            raise TypeError(f"{where}: expected a {kind} of {len(items)} members, got {len(value)}")
        members: Sequence[Any] = value
    elif kind == "custom":
        codec = (codecs or {}).get(spec["type"])
        if codec is None:
            raise TypeError(f"{where}: a value of type {spec['type']} cannot be taken apart here; pass its tensors")
        members = codec[0](value)
        if len(members) != len(items):
            raise TypeError(f"{where}: expected {len(items)} tensors in {spec['type']}, got {len(members)}")
    else:
        return [
            leaf
            for key, item in zip(spec["keys"], items)
            for leaf in flatten(item, _member(value, key, spec, where), f"{where}[{key!r}]", codecs)
        ]
    return [
        leaf
        for index, (item, member) in enumerate(zip(items, members))
        for leaf in flatten(item, member, f"{where}[{index}]", codecs)
    ]


def _member(value: Any, key: Any, spec: Spec, where: str) -> Any:
    keys = spec["keys"]
    if isinstance(value, Mapping):
        given = {key for key in value if value[key] is not None} if spec["kind"] == "object" else set(value)
        if given != set(keys):
            raise TypeError(
                f"{where}: expected the keys {', '.join(map(repr, keys))}, got {', '.join(map(repr, value))}"
            )
        return value[key]
    if spec["kind"] == "object" and hasattr(value, str(key)):
        return getattr(value, key)
    raise TypeError(f"{where}: expected {'a dictionary' if spec['kind'] == 'dict' else spec['type']}, got {value!r}")


def unflatten(spec: Spec, leaves: Iterator[Any], codecs: Mapping[str, Codec] | None = None) -> Any:
    """The value of that structure with these leaves, taken in order."""
    kind = spec["kind"]
    if kind == "leaf":
        return next(leaves)
    items = [unflatten(item, leaves, codecs) for item in spec["items"]]
    if kind == "list":
        return items
    if kind == "tuple":
        return tuple(items)
    if kind == "custom":
        codec = (codecs or {}).get(spec["type"])
        return codec[1](items) if codec else items
    found = _find_type(spec["type"]) if "type" in spec else None
    if kind == "namedtuple":
        return found(*items) if found else tuple(items)
    named = dict(zip(spec["keys"], items))
    return found(**named) if found and kind == "object" else named


def check_spec(spec: Any) -> None:
    """Raises `RelaxError` unless this is a structure, as one that was read from a file may not be."""
    kinds = ("leaf", "tuple", "list", "dict", "object", "namedtuple", "custom")
    if not isinstance(spec, dict) or spec.get("kind") not in kinds:
        raise RelaxError(f"expected a structure of inputs or outputs, got {spec!r}")
    if spec["kind"] == "leaf":
        return
    items, keys = spec.get("items"), spec.get("keys")
    if not isinstance(items, list):
        raise RelaxError(f"a structure of kind '{spec['kind']}' has no items")
    if spec["kind"] in ("dict", "object") and (not isinstance(keys, list) or len(keys) != len(items)):
        raise RelaxError(f"a structure of kind '{spec['kind']}' has {len(items)} items and the keys {keys!r}")
    for item in items:
        check_spec(item)

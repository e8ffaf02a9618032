# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch's description of inputs and outputs (`TreeSpec`) as a structure of `frontends.tree`."""

from __future__ import annotations

import collections
from collections.abc import Iterator, Mapping
from typing import Any

from torch.utils import _pytree as pytree

from ..tree import LEAF, Codec, Spec, type_name

Codecs = dict[str, Codec]


def to_spec(spec: Any, codecs: Codecs) -> Spec:
    """The structure that a `TreeSpec` describes.

    Args:
      codecs: takes an entry for each custom type that PyTorch has registered functions for.
    """
    if _is_leaf(spec):
        return LEAF
    items = [to_spec(child, codecs) for child in children_of(spec)]
    kind, context = spec.type, _context(spec)
    if kind in (tuple, list):
        return {"kind": kind.__name__, "items": items}
    if (keys := keys_of(spec)) is not None:
        return {"kind": "dict", "keys": keys, "items": items}
    if kind is collections.namedtuple:
        return {"kind": "namedtuple", "type": type_name(context), "keys": list(context._fields), "items": items}
    if kind in pytree.BUILTIN_TYPES or not _has_names(kind, context, items):
        codecs[type_name(kind)] = _codec_of(kind, context)
        return {"kind": "custom", "type": type_name(kind), "items": items}
    return {"kind": "object", "type": type_name(kind), "keys": list(_names(context)), "items": items}


def plain(spec: Any, leaves: Iterator[Any]) -> Any:
    """Leaves in the structure of a `TreeSpec`, with lists for objects, as `dynamic_shapes` has them."""
    if _is_leaf(spec):
        return next(leaves)
    members = [plain(child, leaves) for child in children_of(spec)]
    if (keys := keys_of(spec)) is not None:
        return dict(zip(keys, members))
    if spec.type is collections.namedtuple:
        return _context(spec)(*members)
    return tuple(members) if spec.type is tuple else members


def pair(spec: Any, shapes: Any) -> Iterator[Any]:
    """What `dynamic_shapes` says of each leaf of a structure; None where it says nothing."""
    if _is_leaf(spec):
        yield shapes
        return
    keys = keys_of(spec)
    for index, child in enumerate(children_of(spec)):
        if keys is not None:
            yield from pair(child, shapes.get(keys[index]) if isinstance(shapes, Mapping) else None)
        else:
            is_given = isinstance(shapes, (list, tuple)) and index < len(shapes)
            yield from pair(child, shapes[index] if is_given else None)


def keys_of(spec: Any) -> list[Any] | None:
    """The keys of a dictionary; None of other structures."""
    if spec.type in (dict, collections.OrderedDict):
        return list(_context(spec))
    return list(_context(spec)[1]) if spec.type is collections.defaultdict else None


def children_of(spec: Any) -> list[Any]:
    """The structures of the members of one."""
    return spec.children() if callable(getattr(spec, "children", None)) else spec.children_specs


def _context(spec: Any) -> Any:
    return spec._context if hasattr(spec, "_context") else spec.context


def _names(context: Any) -> Any:
    """The names of members: a list, or the first of two lists, of which the second names what is None."""
    if isinstance(context, (list, tuple)) and len(context) == 2 and all(isinstance(part, list) for part in context):
        return context[0]
    return context


def _has_names(kind: type, context: Any, items: list[Spec]) -> bool:
    """Whether a type is one of named members, as dataclasses and the outputs of transformers are."""
    names = _names(context)
    is_named = isinstance(names, (list, tuple)) and all(isinstance(name, str) for name in names)
    return is_named and len(names) == len(items) and hasattr(kind, "__dataclass_fields__")


def _codec_of(kind: type, context: Any) -> Codec:
    node = pytree.SUPPORTED_NODES[kind]
    return (lambda value: node.flatten_fn(value)[0], lambda items: node.unflatten_fn(items, context))


def _is_leaf(spec: Any) -> bool:
    return spec.is_leaf() if callable(getattr(spec, "is_leaf", None)) else spec.type is None

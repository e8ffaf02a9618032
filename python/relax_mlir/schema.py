# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""JSON from files, checked against a schema before it is used."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

_NAMES = {
    str: "a string",
    int: "an integer",
    bool: "true or false",
    dict: "an object",
    list: "a list",
}


def parse_json(text: str | bytes) -> Any:
    """The value of JSON text. Duplicate names and non-finite numbers raise ValueError, too."""
    try:
        return json.loads(text, object_pairs_hook=_without_duplicates, parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError("it nests too deep") from None


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"it has the name {twice!r} twice")
    return members


def _refuse_constant(text: str) -> Any:
    raise ValueError(f"it has the number {text}; expected a finite one")


def check(value: Any, expected: Any, where: str) -> None:
    """Raises ValueError, which names the position, unless a value matches a schema.

    Args:
      expected: a type (`int` takes no boolean); `[each]` for a list; `{str: each}` for an object with any names;
        `{"name": each}` for an object with these names; names that end in "?" are optional.
    """
    if not _fits(value, expected):
        raise ValueError(f"{where} is {_shown(value)}; expected {_name_of(expected)}")
    if isinstance(expected, list):
        for index, member in enumerate(value):
            check(member, expected[0], f"{where}[{index}]")
    elif isinstance(expected, dict) and str in expected:
        for name, member in value.items():
            check(member, expected[str], f"{where}.{name}")
    elif isinstance(expected, dict):
        _check_fields(value, expected, where)


def _check_fields(value: Mapping[str, Any], expected: Mapping[str, Any], where: str) -> None:
    fields = {name.removesuffix("?"): each for name, each in expected.items()}
    for name in expected:
        if not name.endswith("?") and name not in value:
            raise ValueError(f"{where} has no '{name}'")
    for name, member in value.items():
        if name not in fields:
            raise ValueError(f"{where} has a field {name!r}, which is not known")
        check(member, fields[name], f"{where}.{name}")


def _fits(value: Any, expected: Any) -> bool:
    """Whether a value is of a kind, regardless of its contents."""
    kind = type(expected) if isinstance(expected, (list, dict)) else expected
    return isinstance(value, kind) and not (kind is int and isinstance(value, bool))


def _name_of(expected: Any) -> str:
    return _NAMES[type(expected) if isinstance(expected, (list, dict)) else expected]


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else text[:57] + "..."

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The fields of a model's description, each of which must be accounted for.

An overlooked field would silently change the results of a model. So readers of a description read each field, or list
it as irrelevant; `finish` rejects the remaining fields.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from ..errors import ModelError

_REQUIRED = object()


class Fields:
    """Fields by name. A field that is null counts as absent, except for `has`.

    Args:
      where: the owner of the fields, for messages: "config.json", "the GGUF metadata".
      prefix: the common prefix of all names in the description, which readers omit.
      error: the type of the errors.
    """

    def __init__(
        self, values: Mapping[str, Any], where: str, prefix: str = "", error: type[ModelError] = ModelError
    ) -> None:
        self._values = values
        self._where = where
        self._prefix = prefix
        self._error = error
        self._read: set[str] = set()

    def has(self, key: str) -> bool:
        """Whether the description has the field at all, even as null."""
        return self._prefix + key in self._values

    def get(self, key: str) -> Any:
        """The value of a field, of any type; None if it is absent."""
        self._read.add(self._prefix + key)
        return self._values.get(self._prefix + key)

    def integer(self, key: str, default: Any = _REQUIRED, *, per_layer: bool = False) -> Any:
        """An integer; with `per_layer`, also a list with one integer for each layer, all equal."""
        value = self.get(key)
        if per_layer and isinstance(value, list) and value and all(type(v) is int and v == value[0] for v in value):
            value = value[0]
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        kind = "an integer that is the same for all layers" if per_layer else "an integer"
        return self._checked(key, value, type(value) is int, kind, default)

    def number(self, key: str, default: Any = _REQUIRED) -> Any:
        """A finite number, as a float."""
        value = self.get(key)
        holds = type(value) in (int, float) and abs(value) < 1e300 and math.isfinite(value)
        value = self._checked(key, value, holds, "a number", default)
        return float(value) if type(value) is int else value

    def flag(self, key: str, default: Any = _REQUIRED) -> Any:
        """true or false."""
        value = self.get(key)
        return self._checked(key, value, isinstance(value, bool), "true or false", default)

    def text(self, key: str, default: Any = _REQUIRED) -> Any:
        """A string."""
        value = self.get(key)
        return self._checked(key, value, isinstance(value, str), "a string", default)

    def expect(self, key: str, *allowed: Any) -> None:
        """Rejects a field with a value other than these; an absent field is fine."""
        value = self.get(key)
        if value is not None and not any(type(value) is type(one) and value == one for one in allowed):
            expected = " or ".join(map(_show, allowed))
            raise self._error(f"'{self._prefix}{key}' of {self._where} is {_show(value)}; expected {expected}")

    def ignore(self, keys: Iterable[str]) -> None:
        """Lists fields that do not affect the computation."""
        self._read.update(self._prefix + key for key in keys)

    def finish(self) -> None:
        """Rejects fields that were neither read nor listed."""
        for key, value in self._values.items():
            if key not in self._read and value is not None and str(key).startswith(self._prefix):
                raise self._error(
                    f"'{key}' of {self._where}, {_show(value)}, is not known, and may change what the model computes; "
                    "remove the field if it does not"
                )

    def _checked(self, key: str, value: Any, holds: bool, kind: str, default: Any) -> Any:
        if value is None:
            if default is _REQUIRED:
                raise self._error(f"{self._where} has no '{self._prefix}{key}'; expected {kind}")
            return default
        if not holds:
            raise self._error(f"'{self._prefix}{key}' of {self._where} is {_show(value)}; expected {kind}")
        return value


def _show(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}…"

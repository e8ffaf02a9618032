# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Limits for chat templates: the number of steps, the time, and the length of texts and lists.

A template is untrusted code, and Jinja's sandbox limits nothing but `range`. Here, each loop iteration, call, filter
and operator is a step, and is rejected if its result is too large: products and repetitions before they are computed,
everything else afterwards. So memory stays within a few times `LARGEST`, and an endless template is stopped.
docs/security.md describes the remaining risks.
"""

from __future__ import annotations

import functools
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from .checkpoint import require

LARGEST = 1 << 24
"""The maximal number of characters of a text, and of entries of a list."""
STEPS = 5_000_000
SECONDS = 20.0

_WIDTH = re.compile(r"\d{6,}")
# Text filters and methods with a number that determines the length of the result.
_WIDENING = frozenset("center ljust rjust zfill expandtabs indent wordwrap truncate batch slice format".split())


class _Budget(threading.local):
    """The remaining budget of the template that a thread renders."""

    def __init__(self) -> None:
        self.steps = 0
        self.end = 0.0


_budget = _Budget()


def _fail(message: str) -> None:
    raise require("jinja2").TemplateError(message)


@contextmanager
def limited() -> Iterator[None]:
    """Sets the budget of a template for the block."""
    before = _budget.steps, _budget.end
    _budget.steps, _budget.end = STEPS, time.monotonic() + SECONDS
    try:
        yield
    finally:
        _budget.steps, _budget.end = before


def _step() -> None:
    _budget.steps -= 1
    if _budget.steps < 0:
        _fail(f"it takes more than {STEPS} steps")
    if _budget.steps % 256 == 0 and time.monotonic() > _budget.end:
        _fail(f"it takes more than {SECONDS:.0f} seconds")


def _size(value: Any) -> int:
    return len(value) if isinstance(value, (str, list, tuple, dict, bytes)) else 1


def bounded(value: Any) -> Any:
    """Returns the value; raises an error if it is too large."""
    if _size(value) > LARGEST or (isinstance(value, int) and value.bit_length() > 1 << 16):
        _fail(f"it makes a value of more than {LARGEST} characters or entries")
    return value


def _require_room(count: int) -> None:
    if count > LARGEST:
        _fail(f"it makes a value of more than {LARGEST} characters or entries")


def _before_call(name: str, target: Any, args: tuple[Any, ...], options: dict[str, Any]) -> None:
    """Rejects a call whose result is too large, as far as its arguments tell."""
    given = (*args, *options.values())
    if name == "tojson":
        for value in given:
            if isinstance(value, (int, str)) and not isinstance(value, bool):
                # Each entry may be indented by that much.
                _require_room((value if isinstance(value, int) else len(value)) << 12)
    if name in _WIDENING:
        for value in given:
            if isinstance(value, int):
                _require_room(value)
            elif isinstance(value, str) and name == "format" and _WIDTH.search(value):
                _fail("it formats with a width of six digits or more")
        if isinstance(target, str) and name == "format" and _WIDTH.search(target):
            _fail("it formats with a width of six digits or more")
        if name == "indent" and isinstance(target, str) and given:
            width = given[0]
            _require_room(len(target) + target.count("\n") * (len(width) if isinstance(width, str) else int(width)))
    elif name == "replace" and isinstance(target, str) and len(args) > 1:
        old, new = str(args[0]), str(args[1])
        _require_room(len(target) + target.count(old) * len(new))
    elif name == "join":
        separator, parts = (target, args[0] if args else ()) if isinstance(target, str) and args else (args[:1], target)
        separator = separator[0] if isinstance(separator, tuple) and separator else separator
        if isinstance(parts, (list, tuple, str, dict)):
            _require_room(len(parts) * max(_size(separator), 1))
            _require_room(sum(_size(part) for part in parts))


def _counted(values: Iterable[Any]) -> Iterator[Any]:
    for value in values:
        _step()
        yield value


def guarded_filter(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A filter that counts as a step, and is rejected if its arguments ask for too much."""

    @functools.wraps(function)  # keeps the markers that tell Jinja what to pass
    def guarded(*args: Any, **options: Any) -> Any:
        _step()
        # The value follows the context, the environment or the evaluation context.
        first = 1 if hasattr(function, "jinja_pass_arg") else 0
        target = args[first] if len(args) > first else None
        _before_call(name, target, args[first + 1 :], options)
        return bounded(function(*args, **options))

    return guarded


@functools.cache
def limited_environment() -> type:
    """The class of Jinja's sandbox with a budget for templates."""
    require("jinja2")
    from jinja2 import nodes, sandbox, visitor

    class Bounds(visitor.NodeTransformer):
        """Wraps filters around loop iterables, and around values that are built without a call."""

        def visit_For(self, node: Any) -> Any:
            node = self.generic_visit(node)
            node.iter = nodes.Filter(node.iter, "_counted", [], [], None, None, lineno=node.lineno)
            return node

        def visit_Concat(self, node: Any) -> Any:
            node = self.generic_visit(node)
            return nodes.Filter(node, "_bounded", [], [], None, None, lineno=node.lineno)

        def visit_AssignBlock(self, node: Any) -> Any:
            node = self.generic_visit(node)
            node.filter = nodes.Filter(node.filter, "_bounded", [], [], None, None, lineno=node.lineno)
            return node

    class Environment(sandbox.ImmutableSandboxedEnvironment):
        intercepted_binops = frozenset(["*", "+", "**", "%", "//", "/", "-"])

        def __init__(self, **options: Any) -> None:
            super().__init__(**options)
            for name, function in self.filters.items():
                self.filters[name] = guarded_filter(name, function)
            self.filters["_bounded"], self.filters["_counted"] = bounded, _counted

        def _parse(self, source: str, name: Any, filename: Any) -> Any:
            return Bounds().visit(super()._parse(source, name, filename))

        def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
            _step()
            if operator == "*":
                for value, count in ((left, right), (right, left)):
                    if isinstance(value, (str, list, tuple)) and isinstance(count, int):
                        _require_room(len(value) * count)
            elif operator == "+":
                _require_room(_size(left) + _size(right))
            elif operator == "**" and isinstance(left, int) and isinstance(right, int) and right > 0:
                _require_room(left.bit_length() * right)
            elif operator == "%" and isinstance(left, str):
                _before_call("format", left, right if isinstance(right, tuple) else (right,), {})
            return bounded(super().call_binop(context, operator, left, right))

        def call(self, context: Any, function: Any, /, *args: Any, **options: Any) -> Any:
            _step()
            # Jinja wraps text methods that format.
            method = getattr(function, "__wrapped__", function)
            target = getattr(method, "__self__", None)
            if isinstance(target, str):
                _before_call(getattr(method, "__name__", ""), target, args, options)
            return bounded(super().call(context, function, *args, **options))

    return Environment


def render_within_limits(template: Any, variables: dict[str, Any]) -> str:
    """The text of a compiled template."""
    pieces, length = [], 0
    with limited():
        for piece in template.generate(variables):
            _step()
            length += len(piece)
            _require_room(length)
            pieces.append(piece)
    return "".join(pieces)

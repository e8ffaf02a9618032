# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Chat templates: Jinja programs that come with a model and render a chat as text in the model's training format.

A template sees and can call the same names as in transformers' `apply_chat_template`, so that it renders the same text
here:

  messages, tools, documents   plain JSON values; `tools` and `documents` are none by default
  add_generation_prompt        whether the text ends where the assistant's answer begins
  bos_token, eos_token, ...    the model's special tokens by name, if it has them
  raise_exception, strftime_now, dict, namespace, tojson, {% generation %}, {% break %}, {% continue %}

A template is untrusted code: it runs in Jinja's sandbox, can access only these names, and has limits
(template_limits.py).
"""

from __future__ import annotations

import datetime
import functools
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import MissingPackageError, TokenizerError
from .checkpoint import require
from .template_limits import guarded_filter, limited_environment, render_within_limits

ROLES = ("system", "user", "assistant", "tool")
"""Roles that every template is assumed to know; a template may have others."""

# Names of the reasoning that precedes an answer. Most templates read the first one.
_REASONING = ("reasoning_content", "thinking", "reasoning")

# Templates can escape the sandbox of older Jinja versions.
_JINJA_VERSION = (3, 1, 6)


def render(
    template: str,
    messages: Sequence[Mapping[str, Any]],
    *,
    tools: Sequence[Mapping[str, Any]] | None = None,
    documents: Sequence[Mapping[str, Any]] | None = None,
    add_generation_prompt: bool = True,
    variables: Mapping[str, Any],
) -> str:
    """Renders a chat as text.

    Args:
      tools: JSON schemas of the functions that the model may call.
      documents: documents that the model may quote, each with a title and a text.
      variables: additional variables of the template, by name.

    Raises:
      TokenizerError: a message is invalid, or the template fails.
      MissingPackageError: Jinja is not installed, or too old.
    """
    checked = [_checked(message, index, template) for index, message in enumerate(_listed("messages", messages))]
    if not checked:
        raise TokenizerError("messages is empty; expected at least one message")
    for name, entries in (("tools", tools), ("documents", documents)):
        for index, entry in enumerate(() if entries is None else _listed(name, entries)):
            if not isinstance(entry, Mapping):
                raise TokenizerError(f"{name}[{index}] is a {type(entry).__name__}; expected a mapping")
    seen = {"messages": [_with_reasoning(message) for message in checked], "tools": tools, "documents": documents}
    try:
        plain = {name: _plain(value, name) for name, value in {**seen, **variables}.items()}
    except RecursionError:
        raise TokenizerError(
            "a value of the chat nests too deep, or holds itself; expected what JSON can write"
        ) from None
    compiled = compiled_template(template)
    try:
        return render_within_limits(compiled, {"add_generation_prompt": add_generation_prompt, **plain})
    except Exception as error:  # a template's code may raise anything
        raise TokenizerError(f"the chat template fails: {error}") from None


def compiled_template(source: str) -> Any:
    """A compiled template; raises `TokenizerError` if its syntax is invalid."""
    try:
        return _compiled(source)
    except MissingPackageError:
        raise
    except Exception as error:  # `break` outside a loop is a Python SyntaxError
        raise TokenizerError(f"the chat template fails: {error}") from None


# --- what a template sees


def _listed(name: str, entries: Any) -> Sequence[Any]:
    if isinstance(entries, (str, bytes, Mapping)) or not isinstance(entries, Sequence):
        raise TokenizerError(f"{name} is a {type(entries).__name__}; expected a list")
    return entries


def _checked(message: Any, index: int, template: str) -> dict[str, Any]:
    """The message without fields that are None, which templates would print."""
    if not isinstance(message, Mapping) or "role" not in message:
        raise TokenizerError(f"message {index} is {message!r}; expected a 'role' and a 'content'")
    kept = {key: value for key, value in message.items() if value is not None}
    # A message that calls a tool may have no content.
    if "content" not in kept and not kept.get("tool_calls"):
        if "content" in message:
            raise TokenizerError(f"message {index} has a content of type NoneType; expected text")
        raise TokenizerError(f"message {index} is {message!r}; expected a 'role' and a 'content'")
    role = message["role"]
    if role not in ROLES and not (isinstance(role, str) and _names(template, role)):
        raise TokenizerError(
            f"message {index} has the role {role!r}, which the model's chat template does not know; "
            f"roles are {', '.join(ROLES)}"
        )
    content = kept.get("content", "")
    if not isinstance(content, str):
        raise TokenizerError(f"message {index} has a content of type {type(content).__name__}; expected text")
    return kept


def _names(template: str, role: str) -> bool:
    """Whether a template mentions a role as a string."""
    return bool(role) and any(f"{quote}{role}{quote}" in template for quote in "'\"")


def _with_reasoning(message: dict[str, Any]) -> dict[str, Any]:
    """The message with its reasoning under all names that templates read, whichever name it had."""
    reasoning = next((message[name] for name in _REASONING if message.get(name) is not None), None)
    return message if reasoning is None else {"thinking": reasoning, **message, "reasoning_content": reasoning}


def _plain(value: Any, path: str) -> Any:
    """A copy of a value that consists of JSON types only, so that templates find no other methods."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, np.generic):
        return _plain(value.item(), path)
    if isinstance(value, int):
        return int.__int__(value)
    if isinstance(value, float):
        return float.__float__(value)
    if isinstance(value, Mapping):
        return {_plain(key, path): _plain(item, f"{path}.{key}") for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        items = [_plain(item, f"{path}[{index}]") for index, item in enumerate(value)]
        return items if isinstance(value, list) else tuple(items)
    raise TokenizerError(
        f"{path} of the chat is a {type(value).__name__}; expected text, a number, a list or a mapping of these"
    )


# --- what a template can call


@functools.lru_cache(maxsize=8)
def _compiled(source: str) -> Any:
    jinja2 = require("jinja2")
    version = tuple(int(part) for part in re.findall(r"\d+", jinja2.__version__)[:3])
    if version < _JINJA_VERSION:
        raise MissingPackageError(
            f"jinja2 is {jinja2.__version__}, whose sandbox chat templates can leave; expected 3.1.6 or newer; "
            "install it with: pip install --upgrade jinja2"
        )
    environment = limited_environment()(
        trim_blocks=True, lstrip_blocks=True, extensions=[_generation_extension(), "jinja2.ext.loopcontrols"]
    )

    def raise_exception(message: str) -> None:
        raise jinja2.TemplateError(message)

    environment.globals["raise_exception"] = raise_exception
    environment.globals["strftime_now"] = lambda format: datetime.datetime.now().strftime(format)
    environment.globals["dict"] = _Dictionaries()
    environment.globals["namespace"] = _namespace()
    environment.filters["tojson"] = guarded_filter("tojson", _to_json)
    del environment.globals["lipsum"]  # generates long texts, and is useless here
    return environment.from_string(source)


class _Dictionaries:
    """The `dict` of templates: creates dictionaries, and has none of the class's other attributes."""

    def __call__(self, *pairs: Any, **items: Any) -> dict[Any, Any]:
        return dict(*pairs, **items)

    def fromkeys(self, *arguments: Any) -> dict[Any, Any]:
        return dict.fromkeys(*arguments)


def _to_json(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | str | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    """JSON as Python writes it. Jinja's own filter would escape HTML characters."""
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


@functools.cache
def _generation_extension() -> type:
    """The tag `{% generation %}` ... `{% endgeneration %}`: marks text that models are trained on, and prints it."""
    require("jinja2")
    from jinja2 import nodes
    from jinja2.ext import Extension

    class Generation(Extension):
        tags = {"generation"}

        def parse(self, parser: Any) -> Any:
            line = next(parser.stream).lineno
            body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
            # A separate scope, as in transformers: variables set inside are not visible outside.
            return nodes.CallBlock(self.call_method("_body"), [], [], body).set_lineno(line)

        def _body(self, caller: Any) -> str:
            return caller()

    return Generation


@functools.cache
def _namespace() -> type:
    """Jinja's `namespace` without names that begin with "_", which are Python internals."""
    require("jinja2")
    from jinja2 import exceptions, utils

    def check(name: Any) -> None:
        if isinstance(name, str) and name.startswith("_"):
            raise exceptions.SecurityError(f"a namespace has no names that begin with '_', such as {name!r}")

    class Namespace(utils.Namespace):
        def __init__(*args: Any, **attributes: Any) -> None:  # `self` may be the name of an attribute
            values = dict(*args[1:], **attributes)
            for name in values:
                check(name)
            utils.Namespace.__init__(args[0], values)

        def __setitem__(self, name: str, value: Any) -> None:
            check(name)
            super().__setitem__(name, value)

    return Namespace

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Chats rendered by templates, compared with transformers (references/)."""

import enum
import json
import time
from pathlib import Path

import numpy as np
import pytest

from relax_mlir import MissingPackageError, TokenizerError
from relax_mlir.models import Tokenizer
from relax_mlir.models.chat_template import _compiled

tokenizers = pytest.importorskip("tokenizers")
jinja2 = pytest.importorskip("jinja2")

RECORD = json.loads((Path(__file__).parent / "references" / "templates.json").read_text(encoding="utf-8"))
HELLO = [{"role": "user", "content": "hello"}]


def with_templates(templates, tokens="two"):
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel({"a": 0}, unk_token="a"))
    if isinstance(templates, str):
        templates = {"default": templates}
    return Tokenizer(words, special_tokens=RECORD["tokens"][tokens], chat_templates=templates)


@pytest.mark.parametrize("template", RECORD["templates"])
@pytest.mark.parametrize("tokens", RECORD["tokens"])
def test_rendered(template, tokens):
    tokenizer = with_templates(RECORD["templates"][template], tokens)
    cases = [(chat, text) for used, name, chat, text in RECORD["rendered"] if (used, name) == (tokens, template)]
    assert len(cases) == len(RECORD["chats"])
    for chat, expected in cases:
        arguments = dict(RECORD["chats"][chat])
        if expected is None:
            with pytest.raises(TokenizerError, match="the chat template fails: "):
                tokenizer.apply_chat_template(**arguments)
        else:
            assert tokenizer.apply_chat_template(**arguments) == expected, chat


# If there are several templates, the one for tools renders a chat with tools.
@pytest.mark.parametrize("chat", RECORD["named"]["rendered"])
def test_named(chat):
    arguments = {name: RECORD["chats"][chat].get(name) for name in ("messages", "tools")}
    tokenizer = with_templates(RECORD["named"]["templates"])
    assert tokenizer.apply_chat_template(**arguments) == RECORD["named"]["rendered"][chat]


def test_no_default():
    tokenizer = with_templates({"tool_use": "tools", "rag": "documents"})
    assert tokenizer.apply_chat_template(HELLO, tools=[]) == "tools" and tokenizer.chat_template == ""
    with pytest.raises(TokenizerError, match="no default chat template; its templates are rag, tool_use"):
        tokenizer.apply_chat_template(HELLO)


# A template sees only JSON types, whatever the caller passes.
def test_plain_values():
    class Kind(str, enum.Enum):
        X = "x"

    tokenizer = with_templates("{{ [value] | tojson }}{{ value.__class__ is defined }}")
    for value, text in [(np.float32(0.5), "[0.5]"), (np.int64(3), "[3]"), (Kind.X, '["x"]'), ((1, 2), "[[1, 2]]")]:
        assert tokenizer.apply_chat_template(HELLO, value=value) == text + "False"
    for value in (np.zeros(2), object(), {1, 2}, b"x"):
        with pytest.raises(TokenizerError, match=r"value\[0\] of the chat is a .*; expected text, a number"):
            tokenizer.apply_chat_template(HELLO, value=[value])


# The caller's messages stay unchanged: a template works on a copy.
def test_messages_stay():
    messages = [{"role": "user", "content": "x", "thinking": "y", "more": None, "deep": {"none": None}}]
    before = json.dumps(messages)
    text = with_templates("{{ messages[0] | tojson }}").apply_chat_template(messages)
    assert json.loads(text) == {
        **{"role": "user", "content": "x", "thinking": "y", "deep": {"none": None}, "reasoning_content": "y"}
    }
    assert json.dumps(messages) == before


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"messages": []}, "messages is empty; expected at least one message"),
        ({"messages": "hello"}, "messages is a str; expected a list"),
        ({"messages": HELLO[0]}, "messages is a dict; expected a list"),
        ({"messages": ["hello"]}, "message 0 is 'hello'; expected a 'role' and a 'content'"),
        ({"messages": [{"role": "assistant", "tool_calls": []}]}, "message 0 is .*; expected a 'role' and a 'content'"),
        ({"messages": HELLO, "tools": [print]}, r"tools\[0\] is a builtin_function_or_method; expected a mapping"),
        ({"messages": HELLO, "documents": ["text"]}, r"documents\[0\] is a str; expected a mapping"),
        ({"messages": HELLO, "tools": "x"}, "tools is a str; expected a list"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(TokenizerError, match=message):
        with_templates("x").apply_chat_template(**arguments)


# Jinja versions whose sandbox can be escaped are rejected.
@pytest.mark.parametrize("version, allowed", [("3.1.5", False), ("2.11.3", False), ("3.1.6", True), ("3.10.0", True)])
def test_jinja_version(monkeypatch, version, allowed):
    _compiled.cache_clear()
    monkeypatch.setattr(jinja2, "__version__", version)
    if allowed:
        assert with_templates("x").apply_chat_template(HELLO) == "x"
    else:
        with pytest.raises(MissingPackageError, match=f"jinja2 is {version}, .*; expected 3.1.6 or newer"):
            with_templates("x").apply_chat_template(HELLO)
    _compiled.cache_clear()


def test_values_that_hold_themselves():
    chat = with_templates("{{ messages }}")
    value = []
    value.append(value)
    with pytest.raises(TokenizerError, match="a value of the chat nests too deep, or holds itself"):
        chat.apply_chat_template([{"role": "user", "content": "x", "more": value}])


# A template that computes too much, or does not end, is stopped before it exhausts memory or time.
@pytest.mark.parametrize(
    "template",
    [
        "{{ ('x' * 300000000) | length }}",
        "{{ (300000000 * 'x') | length }}",
        "{{ ([0] * 300000000) | length }}",
        "{% set n = namespace(x='x') %}{% for i in range(40) %}{% set n.x = n.x + n.x %}{% endfor %}",
        "{% set n = namespace(x='x') %}{% for i in range(40) %}{% set n.x = n.x ~ n.x %}{% endfor %}",
        "{% set n = namespace(x=[0]) %}{% for i in range(40) %}{% set n.x = n.x + n.x %}{% endfor %}",
        "{% set n = namespace(x='x') %}{% for i in range(40) %}{% set y %}{{ n.x }}{{ n.x }}{% endset %}"
        "{% set n.x = y %}{% endfor %}",
        "{% macro m(x) %}{{ x }}{{ x }}{% endmacro %}{% set n = namespace(x='x') %}"
        "{% for i in range(40) %}{% set n.x = m(n.x) %}{% endfor %}",
        "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
        "{% for a in 'x' * 9999999 %}{% for b in 'x' * 9999999 %}{% endfor %}{% endfor %}",
        "{% for a in range(99999) %}{{ 'x' * 9999 }}{% endfor %}",
        "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(60) }}",
        "{{ 'x'.ljust(300000000) }}",
        "{{ 'x'.center(300000000) | length }}",
        "{{ 'x' | center(300000000) | length }}",
        "{{ '%300000000d' % 1 }}",
        "{{ '%*d' % (300000000, 1) }}",
        "{{ '{:>300000000}'.format(1) }}",
        "{{ '{:>30000000000000}'.format(1) }}",
        "{{ messages | tojson(indent=100000000000) }}",
        "{{ '%300000000d' | format(1) }}",
        "{{ ('x' * 99999).replace('x', 'y' * 99999) }}",
        "{{ ('x' * 99999) | replace('x', 'y' * 99999) }}",
        "{{ ('y' * 99999).join(['x'] * 99999) }}",
        "{{ (['x'] * 99999) | join('y' * 99999) }}",
        "{{ 10 ** (10 ** 9) }}",
        "{{ ('x\n' * 99999) | indent(99999) }}",
    ],
)
def test_limits(template):
    begin = time.monotonic()
    with pytest.raises(TokenizerError, match="the chat template fails: .*(more than|six digits)"):
        with_templates(template).apply_chat_template(HELLO)
    assert time.monotonic() - begin < 60  # the longest templates end by the limit on steps


# Long chats are within the limits.
def test_long_chats():
    chat = [{"role": "user", "content": "word " * 5000}, {"role": "assistant", "content": "x" * 100_000}] * 20
    template = "{% for m in messages %}<{{ m.role }}>{{ m['content'] | trim }}{{ '\\n' ~ loop.index }}{% endfor %}"
    text = with_templates(template).apply_chat_template(chat)
    assert len(text) > 2_000_000 and text.endswith("\n40")

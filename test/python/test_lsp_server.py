# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Messages that relax-lsp-server must survive, and definitions that it finds; test/Tools has other answers."""

import json
import os
import re
import subprocess

import pytest
from conftest import find_tool

INITIALIZE = {"id": 0, "method": "initialize", "params": {"processId": None, "rootUri": None, "capabilities": {}}}
END = [{"id": 9, "method": "shutdown"}, {"method": "exit"}]


def framed(*messages):
    """Messages as they are sent; each is an object, or the bytes of its content."""
    sent = b""
    for message in messages:
        body = message if isinstance(message, bytes) else json.dumps({"jsonrpc": "2.0", **message}).encode()
        sent += b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
    return sent


def exchange(*messages):
    """The status of the server, and its answers."""
    return answers_of(input=framed(INITIALIZE, *messages, *END))


def answers_of(**stream):
    run = subprocess.run([find_tool("relax-lsp-server")], **stream, capture_output=True, timeout=30)
    answers = [json.loads(part) for part in re.split(rb"Content-Length: \d+\r\n\r\n", run.stdout)[1:]]
    return run.returncode, {answer.get("id"): answer for answer in answers}


# The parser of JSON recurses: without a bound, this overflows the stack.
def test_deep_brackets_are_refused():
    deep = b'{"jsonrpc":"2.0","id":1,"method":"x","params":' + b"[" * 100000 + b"]" * 100000 + b"}"
    status, answers = exchange(deep)
    assert status == 0 and answers[9]["result"] is None
    assert answers[None]["error"]["code"] == -32700 and "200 levels of brackets" in answers[None]["error"]["message"]


def test_brackets_in_text_are_no_levels():
    text = 'module attributes {my.text = "\\22' + "[" * 300 + '"} {}'
    document = {"uri": "test:///main.mlir", "languageId": "mlir", "version": 1, "text": text}
    status, answers = exchange({"method": "textDocument/didOpen", "params": {"textDocument": document}})
    assert status == 0 and answers[None]["params"]["diagnostics"] == []


SIZES = """\
!x = tensor<?x?xf32, #relax.shape<[k, 2*k]>>
relax.func @f(%x: tensor<?x?xf32, #relax.shape<[2*n, n]>>, %m: index {relax.symbol = "m"})
    attributes {relax.symbols = {n = #relax.range<1, 8>}} {
  %0 = relax.sym n + m : index
  %1 = relax.shape [4, n]
  relax.return
}
relax.func private @g(!relax.shape<[n + 1]>, !relax.shape<[n]>) -> !x
"""


def after(mark, count=0):
    """The position of the character that follows a text, where it occurs for the first time, or a later one."""
    at = [found.end() for found in re.finditer(re.escape(mark), SIZES)][count]
    return {"line": SIZES.count("\n", 0, at), "character": at - SIZES.rfind("\n", 0, at) - 1}


def asked_at(position, text):
    document = {"uri": "test:///sizes.mlir", "languageId": "mlir", "version": 1, "text": text}
    return [
        {"method": "textDocument/didOpen", "params": {"textDocument": document}},
        {"id": 1, "method": "textDocument/definition", "params": {"textDocument": document, "position": position}},
    ]


# Positions count units of UTF-16, which a character has one or two of.
def test_positions_behind_other_characters():
    # MLIR reports the strings, and definitions are still found.
    text = 'relax.func @f("é€𝔸" %x: !relax.shape<[n]>) {\n  %0 = relax.shape [n + "é€𝔸" + n]'
    line = text.splitlines()[1]
    character = len(line[: line.rindex("n")].encode("utf-16-le")) // 2
    _, answers = exchange(*asked_at({"line": 1, "character": character}, text))
    begin = len(text[: text.index("n]>")].encode("utf-16-le")) // 2
    assert begin != text.index("n]>") != len(text[: text.index("n]>")].encode())
    place = answers[1]["result"][0]["range"]
    assert place == {"start": {"line": 0, "character": begin}, "end": {"line": 0, "character": begin + 1}}


def test_a_character_behind_its_line_is_the_end_of_the_line():
    line = SIZES.splitlines()[0]
    assert SIZES.splitlines()[1][len("relax.func @f(%x: tensor<?x?xf32, #relax.shape<[2*")] == "n"
    beyond = len(line) + 1 + len("relax.func @f(%x: tensor<?x?xf32, #relax.shape<[2*")
    _, answers = exchange(*asked_at({"line": 0, "character": beyond}, SIZES))
    assert answers[1]["result"] == []


# At which character of the file a symbol is asked for, and where it is defined.
SYMBOLS = {
    "in an expression": (after("shape<[2*"), after("[2*n, ")),
    "as a plain dimension": (after("[2*n, "), after("[2*n, ")),
    "in an op": (after("relax.sym "), after("[2*n, ")),
    "in the sizes of an op": (after("relax.shape [4, "), after("[2*n, ")),
    "of a parameter": (after("sym n + "), after('relax.symbol = "')),
    "with a range": (after("symbols = {"), after("[2*n, ")),
    "of another function": (after("@g(!relax.shape<["), after("1]>, !relax.shape<[")),
    "in an alias": (after("[k, 2*"), after("#relax.shape<[")),
    "no symbol": (after("relax.sy"), None),
    "no name": (after("#relax.shape<"), None),
}


def test_symbols_of_sizes_have_definitions():
    document = {"uri": "test:///sizes.mlir", "languageId": "mlir", "version": 1, "text": SIZES}
    asked = [
        {"id": name, "method": "textDocument/definition", "params": {"textDocument": document, "position": position}}
        for name, (position, _) in SYMBOLS.items()
    ]
    _, answers = exchange({"method": "textDocument/didOpen", "params": {"textDocument": document}}, *asked)
    found = {name: [place["range"]["start"] for place in answers[name]["result"]] for name in SYMBOLS}
    assert found == {name: [definition] if definition else [] for name, (_, definition) in SYMBOLS.items()}


def test_what_is_not_json_is_ignored():
    status, answers = exchange(b"no JSON \\", b"")
    assert status == 0 and answers[9]["result"] is None


# What is wrong between messages, or one wrong message, does not take the others.
STRAY = {
    "a line break": b"\n",
    "an empty line": b"\r\n",
    "text": b"stray",
    "another header": b"X-Trace: 1\r\n",
    "a length too small": b'Content-Length: 2\r\n\r\n{"jsonrpc":"2.0","method":"x"}',
    "a length too large": b"Content-Length: 40\r\n\r\n{}" + framed({"id": 7, "method": "y"}),
    "a length that is not a number": b"Content-Length: x\r\n\r\n",
}


@pytest.mark.parametrize("name", [*STRAY, "before all"])
def test_what_is_stray_is_ignored(name):
    stray = STRAY.get(name, b"")
    sent = (b"" if stray else b"\r\n") + framed(INITIALIZE) + stray + framed(*END)
    reading, writing = os.pipe()
    try:
        os.write(writing, sent)  # an editor does not close the stream before it has answers
        status, answers = answers_of(stdin=reading)
    finally:
        os.close(reading)
        os.close(writing)
    assert status == 0 and answers[0]["result"] and answers[9]["result"] is None

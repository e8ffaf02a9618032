# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Messages that relax-lsp-server must survive; test/Tools has what it answers."""

import json
import re
import subprocess

from conftest import find_tool

INITIALIZE = {"id": 0, "method": "initialize", "params": {"processId": None, "rootUri": None, "capabilities": {}}}
END = [{"id": 9, "method": "shutdown"}, {"method": "exit"}]


def exchange(*messages):
    """The status of the server, and its answers; a message is an object, or bytes as they are sent."""
    sent = b""
    for message in [INITIALIZE, *messages, *END]:
        body = message if isinstance(message, bytes) else json.dumps({"jsonrpc": "2.0", **message}).encode()
        sent += b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
    run = subprocess.run([find_tool("relax-lsp-server")], input=sent, capture_output=True, timeout=120)
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


def test_what_is_not_json_is_ignored():
    status, answers = exchange(b"no JSON \\", b"")
    assert status == 0 and answers[9]["result"] is None

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The code of docs/guides runs, from top to bottom of each page, in an empty folder.

    python   a doctest, or a file: a paragraph before it ends with "Save ... as `NAME`:"
    sh       commands; the lines of their output that are shown, as comments, are printed
    json     settings, which are valid JSON

Blocks of other languages are files, or listed in `SHOWN`. The GPU is emulated.
"""

import doctest
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import emulated  # noqa: F401  (the device of the guides)
import pytest
from conftest import ROOT, find_tool
from targets import needs_linker

GUIDES = sorted(path for path in (ROOT / "docs" / "guides").glob("*.md") if path.name != "README.md")

SHOWN = {"text", "lua"}
"""Languages of blocks that nothing runs."""

MOST_LINES = 90


@dataclass(frozen=True)
class Block:
    language: str
    text: str
    line: int
    file: str | None
    """The file that it is to be saved as."""


def blocks_of(text: str) -> list[Block]:
    """The fenced blocks of a page."""
    found = []
    for match in re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.M | re.S):
        saved = re.search(r"\bSave[^.:]*?\bas\s+`([\w.]+)`:\n\n\Z", text[: match.start()])
        line = text.count("\n", 0, match.start())
        found.append(Block(match[1], match[2], line, saved[1] if saved else None))
    return found


def run_doctest(block: Block, names: dict[str, object], page: str) -> None:
    """Runs a block in the names of the blocks before it."""
    text = block.text.replace('target="cuda")', 'target="cuda:emulated")')
    test = doctest.DocTestParser().get_doctest(text, names, f"{page}:{block.line}", page, block.line + 1)
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE, verbose=False)
    result = runner.run(test, out=said.append, clear_globs=False)
    assert result.attempted and not result.failed, "".join(said)
    names.update(test.globs)


def run_shell(block: Block, page: str) -> None:
    """Runs commands with the tools and the interpreter of this environment."""
    folders = [str(Path(sys.executable).parent), str(Path(find_tool("relax-opt")).parent), os.environ["PATH"]]
    environment = {**os.environ, "PATH": os.pathsep.join(folders)}
    command = ["bash", "-e", "-o", "pipefail", "-c", block.text]
    run = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
    assert run.returncode == 0, f"{page}:{block.line}: {run.stdout}{run.stderr}"
    for line in re.findall(r"^# (.*)$", block.text, re.M):
        assert line in run.stdout.splitlines(), f"{page}:{block.line}: no '{line}' in\n{run.stdout}"


@needs_linker
@pytest.mark.parametrize("path", GUIDES, ids=lambda path: path.stem)
def test_guide(path, tmp_path, monkeypatch):
    blocks = blocks_of(path.read_text(encoding="utf-8"))
    if "cmake" in {block.language for block in blocks} and not (shutil.which("cmake") and shutil.which("g++")):
        pytest.skip("needs cmake and g++")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": path.stem}
    for block in blocks:
        if block.file:
            Path(block.file).write_text(block.text, encoding="utf-8")
        elif block.language == "python":
            run_doctest(block, names, path.name)
        elif block.language == "sh":
            run_shell(block, path.name)
        elif block.language == "json":
            json.loads(block.text)
        else:
            assert block.language in SHOWN, f"{path.name}:{block.line}: nothing runs a block of '{block.language}'"


# The settings of editors name the server that the package installs, and the shown error is the server's.
def test_editors():
    blocks = blocks_of((ROOT / "docs" / "guides" / "editors.md").read_text(encoding="utf-8"))
    (settings,) = (json.loads(block.text) for block in blocks if block.language == "json")
    (lua,) = (block.text for block in blocks if block.language == "lua")
    server = Path(settings["mlir.server_path"]).name
    assert Path(find_tool(server)).name == server and f'cmd = {{ "{server}" }}' in lua
    source, message = (block.text for block in blocks if block.language == "text")
    opened = {"uri": "test:///main.mlir", "languageId": "mlir", "version": 1, "text": source}
    requests = [
        {"id": 0, "method": "initialize", "params": {"processId": None, "rootUri": None, "capabilities": {}}},
        {"method": "textDocument/didOpen", "params": {"textDocument": opened}},
        {"id": 1, "method": "shutdown"},
        {"method": "exit"},
    ]
    text = b"".join(
        b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
        for body in (json.dumps({"jsonrpc": "2.0", **request}).encode() for request in requests)
    )
    run = subprocess.run([find_tool(server)], input=text, capture_output=True, timeout=120)
    assert message.strip() in run.stdout.decode(), run.stdout.decode()


def test_form():
    """A guide is short, has a line on the page of guides, and that page names no other."""
    page = (ROOT / "docs" / "guides" / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^- \[[^\]]+\]\(([\w-]+\.md)\)", page, re.M)) == {path.name for path in GUIDES}
    for path in GUIDES:
        assert len(path.read_text(encoding="utf-8").splitlines()) <= MOST_LINES, path.name

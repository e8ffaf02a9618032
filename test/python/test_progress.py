# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reports of progress while a module is compiled."""

import contextlib
import io
import re
import sys
import tempfile

import pytest
from rich.console import Console

from relax_mlir import BlockBuilder, RelaxError, Tensor, compile, compile_code, op
from relax_mlir.cli import notes
from relax_mlir.export import export
from relax_mlir.pipelines import CSE, Canonicalize, Pipeline
from relax_mlir.progress import printer, showing


@pytest.fixture
def module():
    bb = BlockBuilder()
    x = Tensor((4,), name="x")
    with bb.function("main", [x]):
        bb.return_(op.exp(x))
    return bb.module()


def test_callbacks(module):
    calls = []
    compile(module, cached=False, progress=lambda *call: calls.append(call))
    total = calls[0][1]
    assert [done for done, _, _ in calls] == list(range(total + 1)) and {call[1] for call in calls} == {total}
    names = [name for _, _, name in calls]
    assert names[0] == "relax-simplify" and "relax-fuse-ops" in names and names[-2:] == ["object code", ""]


def test_pipelines(module, capsys):
    calls = []
    Pipeline([CSE(), Canonicalize()]).run(module, progress=lambda *call: calls.append(call))
    assert calls == [(0, 2, "relax-cse"), (1, 2, "canonicalize"), (2, 2, "")]
    Pipeline([CSE(), Canonicalize()]).run(module, progress=True)
    assert capsys.readouterr().err == "[1/2] relax-cse\n[2/2] canonicalize\n"


class Terminal(io.StringIO):
    def isatty(self):
        return True


def show_on(file, fails=False):
    with contextlib.suppress(KeyboardInterrupt), printer(file) as report:
        report(0, 2, "first")
        report(1, 2, "second [x]")
        if fails:
            raise KeyboardInterrupt
        report(2, 2, "")


SHOWN, HIDDEN = "\x1b[?25h", "\x1b[?25l"
"""The cursor."""


@pytest.mark.parametrize("fails", [False, True])
def test_bars_on_terminals(fails):
    file = Terminal()
    show_on(file, fails)
    text = re.sub(r"\x1b\[[\d;]*m", "", file.getvalue())  # colors
    assert "0/2 first" in text and "1/2 second [x]" in text
    # Nothing is left: the cursor is back, and the line is erased.
    assert text.count(HIDDEN) == text.count(SHOWN) == 1 and re.search(r"\x1b\[2K\s*\Z", text)


@pytest.mark.parametrize("fails", [False, True])
def test_terminals_without_rich(fails, monkeypatch):
    monkeypatch.setitem(sys.modules, "rich.console", None)
    file = Terminal()
    show_on(file, fails)
    parts = re.split("\r\x1b\\[K", file.getvalue())
    assert parts[:3] == ["", "[1/2] first", "[2/2] second [x]"] and not any(parts[3:])


def test_lines_elsewhere():
    file = io.StringIO()
    show_on(file)
    assert file.getvalue() == "[1/2] first\n[2/2] second [x]\n"


# What is compiled in a block reports without being told, except where it is told otherwise.
def test_blocks(module):
    names = []
    with showing(lambda done, total, name: names.append(name)):
        compile_code(module, cached=False)
        assert names.count("relax-simplify") == 1 and names[-1] == ""
        names.clear()
        compile_code(module, cached=False, progress=False)
    compile_code(module, cached=False)
    assert not names


# On a terminal, a command shows the passes until the work is done; elsewhere, lines about what takes long.
def test_commands(module, monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(notes, "notes", Console(file=terminal, force_terminal=True, width=200))
    with notes.progress("compiling it", 4) as advance:
        compile_code(module, cached=False)
        advance(3)
    text = terminal.getvalue()
    assert "compiling it: relax-fuse-ops" in text and text.count(HIDDEN) == text.count(SHOWN) == 1
    log = io.StringIO()
    monkeypatch.setattr(notes, "notes", Console(file=log, force_terminal=False))
    for period, lines in ((3600, r""), (0, r"compiling it: \[1/\d+\] relax-simplify\n(.*\n)+compiling it: 3 of 4\n")):
        monkeypatch.setattr(notes._Lines, "_PERIOD", period)
        with notes.progress("compiling it", 4) as advance:
            compile_code(module, cached=False)
            advance(3)
        assert re.fullmatch(lines, log.getvalue())


# An interrupted compilation leaves neither an entry in the cache nor part of one, and an export no folder.
def test_interruptions_leave_nothing(module, tmp_path, monkeypatch):
    monkeypatch.setenv("RELAX_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    def at_the_end(done, total, name):
        if name == "object code":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compile_code(module, progress=at_the_end)
    with pytest.raises(KeyboardInterrupt), monkeypatch.context() as patch:
        patch.setattr("os.replace", interrupt)
        compile_code(module)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
    code = compile_code(module, cached=False)
    for step in ("relax_mlir.export._make_library", "os.replace"):
        with pytest.raises(KeyboardInterrupt), monkeypatch.context() as patch:
            patch.setattr(step, interrupt)
            export(code, tmp_path / "new" / "folder")
        assert not (tmp_path / "new").exists()


def test_errors(module):
    with pytest.raises(RelaxError, match="progress is 3; expected True or a function of done, total and the name"):
        compile_code(module, cached=False, progress=3)

    def interrupt(done, total, name):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compile_code(module, cached=False, progress=interrupt)

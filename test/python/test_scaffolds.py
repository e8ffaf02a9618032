# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tools/new-op and tools/new-pass, on a copy of the folders that they change."""

import importlib.machinery
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

TOOLS = ROOT / "tools"
FOLDERS = ("dialects", "lib/Transforms", "lib/Target", "lib/Conversion", "test/Dialect")
LONGEST = "abcdefghij_klmnopqr_st_0"


@pytest.fixture
def checkout(tmp_path):
    for folder in FOLDERS:
        shutil.copytree(ROOT / folder, tmp_path / folder)
    return tmp_path


def load(name):
    """A script of tools as a module."""
    loader = importlib.machinery.SourceFileLoader(name, str(TOOLS / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    sys.path.insert(0, str(TOOLS))
    try:
        loader.exec_module(module)
    finally:
        sys.path.remove(str(TOOLS))
    return module


NEW_OP, NEW_PASS = load("new-op"), load("new-pass")


def add(checkout, tool, name, place):
    changes = tool.Changes(checkout)
    (tool.add_op if tool is NEW_OP else tool.add_pass)(changes, name, place)
    changes.apply(dry_run=False)


def snapshot(checkout):
    return {path: path.read_text() for path in checkout.rglob("*") if path.is_file()}


def changed(checkout, before):
    return sorted(path for path, text in snapshot(checkout).items() if before.get(path) != text)


def tool_of(package, name):
    return Path(importlib.util.find_spec(package).submodule_search_locations[0], "bin", name)


def records_of(checkout, source):
    """The records of a .td file of the copy."""
    includes = [checkout / "dialects", checkout / "lib", tool_of("mlir", "mlir-tblgen").parents[1] / "include"]
    command = [tool_of("llvm", "llvm-tblgen"), "--dump-json", *(f"-I{path}" for path in includes), checkout / source]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def assert_formatted(paths):
    if not (
        formatter := shutil.which("clang-format", path=os.path.dirname(sys.executable)) or shutil.which("clang-format")
    ):
        return  # `make lint` installs it
    sources = [path for path in paths if path.suffix == ".cpp"]
    command = [formatter, f"--style=file:{ROOT / '.clang-format'}", "--dry-run", "-Werror", *sources]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize(
    ("name", "family"), [("no_such_map", "Elementwise"), ("no_such", "Slice"), (LONGEST, "Normalization")]
)
def test_an_op(checkout, name, family):
    before = snapshot(checkout)
    add(checkout, NEW_OP, name, family)
    paths = changed(checkout, before)
    assert len(paths) == (5 if family == "Elementwise" else 6)
    assert all(f"TODO(relax.{name})" in path.read_text() for path in paths)
    assert_formatted(paths)

    # Relax's generator reads the definition; the function has its parameter.
    records = records_of(checkout, "dialects/Relax/RelaxOps.td")
    [record] = [r for r in records.values() if isinstance(r, dict) and r.get("opName") == name]
    assert record["arguments"]["args"][0][1] == "x"
    (checkout / "ops.json").write_text(json.dumps(records))
    generator = ROOT / "python" / "codegen" / "op_functions.py"
    subprocess.run([sys.executable, generator, checkout / "ops.json", checkout / "out.py"], check=True)
    assert re.search(rf"^def {name}\(\s*x: ", (checkout / "out.py").read_text(), re.M)

    # The kernel is registered, and the test is valid Python.
    cpp = (checkout / "lib" / "Transforms" / "Legalize" / f"{family}.cpp").read_text()
    table = cpp[cpp.index(f"void relax::populate{family}Kernels(") :]
    op = "".join(word.capitalize() for word in name.split("_")) + "Op"
    assert re.search(rf"registry\.add<{op}>\(\w+Kernel\);\n}}", table)
    compile((checkout / "test" / "python" / f"test_legalize_{name}.py").read_text(), name, "exec")

    # A second one of that name is refused.
    with pytest.raises(NEW_OP.ScaffoldError, match=rf"there is an op relax\.{name}; choose another name"):
        add(checkout, NEW_OP, name, "Sort")


@pytest.mark.parametrize(
    ("phase", "name", "argument"),
    [
        ("Simplify", "no-such", "relax-no-such"),
        ("Fusion", LONGEST.replace("_", "-"), f"relax-{LONGEST.replace('_', '-')}"),
        ("GPU", "merge-barriers", "relax-gpu-merge-barriers"),
        ("Conversion", "check-host", "relax-check-host"),
    ],
)
def test_a_pass(checkout, phase, name, argument):
    before = snapshot(checkout)
    add(checkout, NEW_PASS, name, phase)
    paths = changed(checkout, before)
    assert len(paths) == 3 and all(f"TODO({argument})" in path.read_text() for path in paths)
    assert_formatted(paths)
    definitions, source, test = sorted(paths, key=lambda path: [".td", ".cpp", ".mlir"].index(path.suffix))
    records = records_of(checkout, definitions.relative_to(checkout))
    [record] = [r for r in records.values() if isinstance(r, dict) and r.get("argument") == argument]
    name_of_class = record["!name"]
    assert f"#define GEN_PASS_DEF_{name_of_class.upper()}\n" in source.read_text()
    assert f"impl::{name_of_class}Base<" in source.read_text()
    for header in re.findall(r'#include "(.*h)"', source.read_text()):
        assert any((checkout / top / header).exists() for top in ("lib", "dialects"))
    assert f"// RUN: relax-opt %s -{argument} | FileCheck" in test.read_text()
    assert test.parent == checkout / "test" / source.parent.relative_to(checkout / "lib")

    with pytest.raises(NEW_PASS.ScaffoldError, match="choose another name"):
        add(checkout, NEW_PASS, name, phase)


REFUSED = [
    (NEW_OP, "NoSuch", "Sort", "'NoSuch' is not the name of an op; expected lower-case words"),
    (NEW_OP, "no-such", "Sort", "joined by '_', as in log_softmax"),
    (NEW_OP, "lambda", "Sort", "'lambda' is a keyword of Python"),
    (NEW_OP, "a" * 25, "Sort", "has 25 characters; expected at most 24"),
    (NEW_OP, "softmax", "Sort", "there is an op relax.softmax; choose another name"),
    (NEW_OP, "add", "Sort", "there is an op relax.add; choose another name"),
    (NEW_OP, "no_such", "Sorts", "there is no family of ops with kernels 'Sorts'; expected one of Attention, "),
    (NEW_OP, "no_such", "Function", "there is no family of ops with kernels 'Function'"),
    (NEW_PASS, "merge_casts", "Fusion", "joined by '-', as in merge-kernels"),
    (NEW_PASS, "relax-merge", "Fusion", "begins with 'relax', which every pass has; leave it out"),
    (NEW_PASS, "fuse-ops", "Memory", "choose another name"),
    (NEW_PASS, "merge", "Fuse", "there is no phase 'Fuse'; expected one of CPU, Common, Conversion"),
]


# Names and places that are wrong are refused with what is expected, and nothing is written.
def test_refusals(checkout):
    before = snapshot(checkout)
    for tool, name, place, message in REFUSED:
        with pytest.raises(tool.ScaffoldError, match=re.escape(message)):
            add(checkout, tool, name, place)
    # A file that is in the way is not overwritten.
    test = checkout / "test" / "python" / "test_legalize_no_such.py"
    test.parent.mkdir()
    test.write_text("mine")
    with pytest.raises(NEW_OP.ScaffoldError, match="no_such.py exists; choose another name, or remove the file"):
        add(checkout, NEW_OP, "no_such", "Sort")
    before[test] = "mine"
    assert snapshot(checkout) == before


# From the command line: a dry run shows the changes and writes nothing, and an error is one line.
def test_the_command_line():
    def run(tool, *arguments):
        return subprocess.run([sys.executable, TOOLS / tool, *arguments], capture_output=True, text=True)

    def status():
        return subprocess.run(["git", "status", "--short"], cwd=ROOT, capture_output=True, text=True).stdout

    before = status()
    for tool, name, option, place in (
        ("new-op", "no_such", "--family", "Sort"),
        ("new-pass", "no-such", "--phase", "Fusion"),
    ):
        shown = run(tool, name, option, place, "--dry-run")
        assert shown.returncode == 0 and "+++ b/" in shown.stdout and "+// TODO(relax" in shown.stdout, shown.stderr
        refused = run(tool, name, option, "Nowhere")
        assert refused.returncode == 1 and re.fullmatch(rf"{tool}: there is no .*\n", refused.stderr)
    assert status() == before


# The tools know every op, whatever class defines it, and every pass.
def test_all_names_are_known():
    reference = ROOT / "docs" / "generated"
    pages = "".join(page.read_text() for page in (reference / "ops").glob("*.md"))
    ops = re.findall(r"^### `relax\.(\w+)`", pages, re.M)
    passes = re.findall(r"^### `-(relax-[\w-]+)`", (reference / "passes.md").read_text(), re.M)
    assert len(ops) > 150 and set(ops) <= NEW_OP.existing_ops(NEW_OP.Changes())
    assert len(passes) > 30 and set(passes) <= NEW_PASS.existing_passes(NEW_PASS.Changes())


# No part that a scaffold left to be written is committed.
def test_no_placeholder_is_left():
    listed = subprocess.run(
        ["git", "grep", "-lF", "TODO(" + "relax", "--", "dialects", "lib", "test"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert set(listed.stdout.split()) <= {"test/python/test_scaffolds.py"}

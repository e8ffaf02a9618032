# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The types of the public API, as a type checker sees them in programs of users."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

import relax_mlir

PROGRAMS = Path(__file__).parent / "typed"
GENERATED = ("dialects._relax_ops_gen", "op._generated", "pipelines._generated")
PACKAGE = Path(relax_mlir.__file__).parent

needs_mypy = pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="mypy is not installed")


def check(program, folder):
    """What mypy says about a program, in an environment where the package is installed as users install it."""
    cache = ROOT / "build" / f"mypy-{program.stem}"  # one for each: tests may run at the same time
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", f"--cache-dir={cache}", str(program)]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)
    assert result.returncode in (0, 1), result.stdout + result.stderr
    return result.stdout


@needs_mypy
def test_a_typed_program_has_no_errors(tmp_path):
    said = check(PROGRAMS / "program.py", tmp_path)
    assert said.startswith("Success"), said


@needs_mypy
def test_mistakes_are_reported_at_their_lines(tmp_path):
    program = PROGRAMS / "mistakes.py"
    expected = {}
    for line, text in enumerate(program.read_text().splitlines(), 1):
        if found := re.search(r"  # ([a-z-]+)$", text):
            expected[line] = found.group(1)
    said = check(program, tmp_path)
    reported = re.findall(r":(\d+): error: .*\[([a-z-]+)\]$", said, re.MULTILINE)
    assert len(expected) > 20
    assert {int(line): code for line, code in reported} == expected, said


# An editable install leaves the sources that are generated in the build folder, where type checkers do not look.
@pytest.mark.skipif(not PACKAGE.is_relative_to(ROOT), reason="the package is not installed from this checkout")
@pytest.mark.parametrize("name", GENERATED)
def test_stubs_of_generated_sources_are_up_to_date(name):
    source = Path(importlib.util.find_spec(f"relax_mlir.{name}").origin)
    stub = PACKAGE.joinpath(*name.split(".")).with_suffix(".pyi")
    assert stub.read_text() == source.read_text(), "run `make setup`"

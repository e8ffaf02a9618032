# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Benchmarks start: their command lines, and the C program that measures the machine, for each instruction set."""

import importlib.util
import platform
import shutil
import subprocess
import sys

import pytest
from conftest import ROOT

PROGRAMS = sorted(path for path in (ROOT / "benchmarks").rglob("*.py") if "__main__" in path.read_text())


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: str(path.relative_to(ROOT)))
def test_help(program):
    shown = subprocess.run([sys.executable, program, "--help"], capture_output=True, text=True)
    assert shown.returncode == 0 and "usage:" in shown.stdout, shown.stderr


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the instruction sets are of x86-64")
@pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler")
@pytest.mark.parametrize("isa", ["x86-64-v2", "x86-64-v3", "x86-64-v4"])
def test_roofline_compiles(isa, tmp_path):
    spec = importlib.util.spec_from_file_location("measuring", ROOT / "benchmarks" / "measuring.py")
    measuring = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(measuring)
    source = tmp_path / "roofline.c"
    source.write_text(measuring.ROOFLINE)
    command = ["cc", "-O3", f"-march={isa}", "-ffp-contract=fast", "-pthread", "-S", "-o", "-", source]
    code = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    widest = {"x86-64-v2": "%xmm", "x86-64-v3": "%ymm", "x86-64-v4": "%zmm"}[isa]
    assert any(line.split()[0].endswith("ps") and widest in line for line in code.splitlines() if line.strip())

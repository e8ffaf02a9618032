# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The reference in docs/generated is up to date with the ODS files; the README is correct."""

import re
import subprocess
import sys

import emulated  # noqa: F401  (the device of the README)
from conftest import ROOT, find_tool


def generate_docs(*options):
    command = [sys.executable, ROOT / "tools" / "generate-docs", *options]
    return subprocess.run(command, capture_output=True, text=True)


def test_reference_is_fresh():
    result = generate_docs("--check")
    assert result.returncode == 0, result.stderr


# The page lists every pipeline of the tool.
def test_pipelines_are_listed():
    text = subprocess.run([find_tool("relax-opt"), "--help"], capture_output=True, text=True, check=True).stdout
    known = re.findall(r"^      --(relax-[\w-]+)", text.partition("Pass Pipelines:")[2], re.M)
    page = (ROOT / "docs" / "generated" / "passes.md").read_text()
    assert "relax-cuda-to-llvm" in known
    assert set(known) == set(re.findall(r"^- `--([\w-]+)`", page, re.M))


# The README's code runs; the GPU is emulated.
def test_readme():
    text = (ROOT / "README.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    assert len(blocks) == 2
    names = {}
    exec("".join(blocks).replace('"cuda")[', '"cuda:emulated")['), names)
    assert names["y"].shape == (7, 256)
    assert (
        names["device"].get(names["main"](names["x"], names["device"].put(names["np"].ones((128, 256), "f4")))).max()
        == 128
    )


# The map names every folder, and every page.
def test_the_map_is_complete():
    text = (ROOT / "README.md").read_text()
    folders = [f"lib/Target/{path.name}" for path in (ROOT / "lib" / "Target").iterdir() if path.is_dir()]
    pages = [f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")]
    for name in (*folders, *pages, "benchmarks", "examples"):
        assert f"`{name}`" in text or f"({name})" in text, name


def test_staleness_is_noticed_and_repaired(tmp_path):
    assert generate_docs("--output", tmp_path).returncode == 0
    (tmp_path / "types.md").write_text("old\n")
    (tmp_path / "ops" / "core.md").unlink()
    (tmp_path / "ops" / "removed.md").write_text("an op family that is gone\n")
    result = generate_docs("--check", "--output", tmp_path)
    assert result.returncode == 1
    assert "stale: ops/core.md, ops/removed.md, types.md" in result.stderr
    assert "refresh with: make docs" in result.stderr
    assert generate_docs("--output", tmp_path).returncode == 0
    assert generate_docs("--check", "--output", tmp_path).returncode == 0

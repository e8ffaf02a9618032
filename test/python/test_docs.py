# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The reference in docs/generated is what the ODS files say."""

import subprocess
import sys

from conftest import ROOT


def generate_docs(*options):
    command = [sys.executable, ROOT / "tools" / "generate-docs", *options]
    return subprocess.run(command, capture_output=True, text=True)


def test_reference_is_fresh():
    result = generate_docs("--check")
    assert result.returncode == 0, result.stderr


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

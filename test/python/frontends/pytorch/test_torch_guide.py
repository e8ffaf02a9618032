# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The examples of the PyTorch page and of the command line work as documented."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from relax_mlir.frontends import torch as relax_torch  # noqa: E402

PAGE = Path(__file__).parents[4] / "docs" / "torch.md"


def test_page(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text()
    names = {}
    try:
        exec("".join(re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)), names)
    finally:
        relax_torch.register.__self__.converters.pop("mylib::scaled_tanh", None)
    (report,) = re.findall(r"^```\n(symbols\n.*?)^```", text, re.M | re.S)
    assert capsys.readouterr().out == report
    assert names["y"].shape == (2, 8)
    names["run"] = names["program"].compile()
    torch.testing.assert_close(names["run"](torch.ones(1, 8)), names["model"](torch.ones(1, 8)).detach())


def relax_mlir(*arguments):
    command = [sys.executable, "-c", "from relax_mlir.cli import main; main()", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


def test_command_line(tmp_path):
    exported = torch.export.export(
        torch.nn.Linear(4, 2).eval(), (torch.randn(3, 4),), dynamic_shapes={"input": {0: torch.export.Dim.AUTO}}
    )
    torch.export.save(exported, tmp_path / "linear.pt2")
    explained = relax_mlir("explain", tmp_path / "linear.pt2")
    assert "2 <= input_dim0: input.size(0)" in explained.stdout, explained.stderr
    made = relax_mlir("compile", tmp_path / "linear.pt2", "-o", tmp_path / "folder", "--smallest", "1")
    assert made.returncode == 0, made.stderr
    run = relax_mlir("run", tmp_path / "folder", "1x4xf32")
    assert "result 0: [1, 2] float32" in run.stdout, run.stderr
    wrong = relax_mlir("compile", tmp_path / "missing.pt2", "-o", tmp_path / "other")
    assert wrong.returncode != 0 and "there is no such file" in wrong.stderr

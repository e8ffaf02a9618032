# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The examples of the ONNX page and of the command line work as documented."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="the package onnx is not installed")

from onnx_programs import F32, model, node  # noqa: E402

from relax_mlir import RelaxError  # noqa: E402
from relax_mlir.cli.app import app  # noqa: E402
from relax_mlir.frontends.onnx.registry import registry  # noqa: E402

PAGE = Path(__file__).parents[4] / "docs" / "onnx.md"


def test_page(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text, names = PAGE.read_text(), {}
    try:
        blocks = re.findall(r"^```(\w*)\n(.*?)^```", text, re.M | re.S)
        exec("".join(code for kind, code in blocks if kind == "python"), names)
    finally:
        sys.modules.pop("onnxruntime", None)
        registry.converters.pop("com.example::ScaledTanh", None)
    assert capsys.readouterr().out == "".join(code for kind, code in blocks if not kind)
    assert names["y"].shape == (5, 4)
    commands = [line.split() for kind, code in blocks if kind == "sh" for line in code.splitlines()]
    assert {command[1] for command in commands} == {"run", "compile", "bench"}
    for _, *arguments in commands:
        app(arguments, standalone_mode=False)
    assert np.load("y.npy").shape == (3, 4) and np.load("results/y.npy").shape == (5, 4)
    (error,) = re.findall("^    error: (.*)", text, re.M)
    with pytest.raises(RelaxError, match=re.escape(error)):
        app(["run", "layer.onnx", "3x8xf64"], standalone_mode=False)
    np.testing.assert_array_equal(names["run"](np.full((2, 8), -1, np.float32))["y"], np.zeros((2, 4)))


def relax_mlir(*arguments):
    command = [sys.executable, "-c", "from relax_mlir.cli import main; main()", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


def test_command_line(tmp_path):
    path = tmp_path / "double.onnx"
    made = model([node("Add", "x x", "y")], [("x", F32, ["n", 4])], [("y", F32, None)])
    onnx.save(made, path)
    explained = relax_mlir("explain", path)
    assert "0 <= n: x.shape[0]" in explained.stdout, explained.stderr
    compiled = relax_mlir("compile", path, "-o", tmp_path / "folder")
    assert compiled.returncode == 0, compiled.stderr
    run = relax_mlir("run", tmp_path / "folder", "3x4xf32")
    assert "result y: [3, 4] float32" in run.stdout, run.stderr
    for arguments, message in (
        (("compile", tmp_path / "missing.onnx", "-o", tmp_path / "other"), "there is no such file"),
        (("compile", path, "-o", tmp_path / "other", "--smallest", "1"), "--smallest"),
        (("inspect", path), "compile it first"),
    ):
        wrong = relax_mlir(*arguments)
        assert wrong.returncode != 0 and message in wrong.stderr, wrong.stderr

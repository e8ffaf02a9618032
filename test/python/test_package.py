# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The installed package: tools, registration in other people's contexts, a clean exit."""

import ast
import importlib.metadata
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, find_tool

import relax_mlir
from relax_mlir import _relax


def python(program):
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("tool", ["relax-opt", "relax-translate", "relax-lsp-server"])
def test_tools_start(tool):
    result = subprocess.run([find_tool(tool), "--help"], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert "USAGE" in result.stdout


# Type checkers and editors know the extension by its stub.
def test_the_stub_of_the_extension_is_complete():
    stub = ast.parse((ROOT / "python" / "relax_mlir" / "_relax.pyi").read_text())
    described = {node.name: node for node in stub.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    assert set(described) == {name for name in dir(_relax) if not name.startswith("_")}
    for name, node in described.items():
        if isinstance(node, ast.ClassDef):
            members = {member.name for member in node.body if isinstance(member, ast.FunctionDef)} - {"__init__"}
            assert members == {member for member in dir(getattr(_relax, name)) if not member.startswith("_")}, name


# TVM FFI imports PyTorch where that is installed, which takes seconds: both wait for the first call or device.
def test_importing_does_not_import_tvm_ffi():
    result = python(
        "import sys, relax_mlir, relax_mlir.cli.app; assert not {'tvm_ffi', 'torch'} & set(sys.modules);"
        "from relax_mlir import *; assert Executable is relax_mlir.runtime.Executable and 'tvm_ffi' in sys.modules"
    )
    assert result.returncode == 0, result.stderr


def test_names_that_are_imported_late_are_listed():
    for module in (relax_mlir, relax_mlir.runtime):
        assert set(module.__all__) <= set(dir(module))


TEXT = "relax.func private @f(tensor<?xf32, #relax.shape<[n]>>)"


def test_importing_is_enough_for_contexts_made_afterwards():
    result = python(f"import relax_mlir; from mlir import ir; print(ir.Module.parse('{TEXT}', ir.Context()))")
    assert "#relax.shape<[n]>" in result.stdout, result.stderr


def test_contexts_made_before_are_registered():
    result = python(
        "from mlir import ir; context = ir.Context(); import relax_mlir; relax_mlir.register(context);"
        f"print(ir.Module.parse('{TEXT}', context))"
    )
    assert "#relax.shape<[n]>" in result.stdout, result.stderr


def test_passes_are_known_to_the_pass_manager_of_mlir():
    result = python(
        "import relax_mlir; from mlir import ir, passmanager; context = ir.Context();"
        "print(passmanager.PassManager.parse('builtin.module(relax-deduce-shapes)', context))"
    )
    assert "relax-deduce-shapes" in result.stdout, result.stderr


def test_op_classes_of_mlirs_kind():
    result = python(
        "from mlir import ir; from relax_mlir.dialects import relax\n"
        "with ir.Context(), ir.Location.unknown():\n"
        "    module = ir.Module.create()\n"
        "    type = relax.tensor_type([relax.Sym('n'), 4], ir.F32Type.get())\n"
        "    with ir.InsertionPoint(module.body):\n"
        "        shape = relax.shape([3, 4])\n"
        "        print(type, shape.type, isinstance(shape.type, relax.ShapeType), shape.type.dims)\n"
        "        print(type.encoding, isinstance(type.encoding, relax.ShapeAttr), relax.tensor_dims(type))\n"
        "        print(relax.RangeAttr.get(1, 8, 2).upper, relax.WeightAttr.get('w').name)\n"
        "        print(relax.ShapeType.get_ranked(2), relax.ShapeType.get_unranked().has_rank)\n"
        "        print(relax.ObjectType.get(), relax.StorageType.get())\n"
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines() == [
        "tensor<?x4xf32, #relax.shape<[n, 4]>> !relax.shape<[3, 4]> True (3, 4)",
        "#relax.shape<[n, 4]> True (n, 4)",
        "8 w",
        "!relax.shape<2> False",
        "!relax.object !relax.storage",
    ]


# The headers that an exported `model.h` includes exist, and each is self-contained.
@pytest.mark.skipif(not shutil.which("g++"), reason="headers are compiled by g++, which is not installed")
@pytest.mark.parametrize("name, language", [("RelaxRuntime.h", "c"), ("RelaxRuntime.h", "c++"), ("TVMFFI.h", "c++")])
def test_headers_are_installed(name, language):
    header = Path(_relax.__file__).parent / "include" / name
    command = ["g++", "-x", language, "-fsyntax-only", "-Wall", "-Werror", str(header)]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def test_process_ends_cleanly_with_everything_alive():
    result = python(
        "import relax_mlir as r\n"
        "bb = r.BlockBuilder(); x = r.Tensor((r.Sym('n'),))\n"
        "scope = bb.function('f', [x]); scope.__enter__()\n"
        "y = r.op.exp(x)\n"
    )
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""


# The version is defined in one place, from which the installed package, wheels and editable installs read it.
def test_the_version_has_one_place(tmp_path):
    assert "version" not in re.findall(r"^(\w+) =", (ROOT / "pyproject.toml").read_text(), re.M)
    assert importlib.metadata.version("relax-mlir") == relax_mlir.__version__
    backend = pytest.importorskip("scikit_build_core.build")
    checkout = tmp_path / "checkout"
    package = checkout / "python" / "relax_mlir"
    package.mkdir(parents=True)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, checkout)
    source = (ROOT / "python" / "relax_mlir" / "__init__.py").read_text()
    (package / "__init__.py").write_text(source.replace(f'"{relax_mlir.__version__}"', '"12.3.4"'))
    for kind in ("wheel", "editable"):
        program = (
            f"import os; os.chdir({str(checkout)!r}); import {backend.__name__} as backend;"
            f"backend.prepare_metadata_for_build_{kind}({str(tmp_path / kind)!r})"
        )
        (tmp_path / kind).mkdir()
        result = python(program)
        assert result.returncode == 0, result.stderr
        assert [path.name for path in (tmp_path / kind).iterdir()] == ["relax_mlir-12.3.4.dist-info"]


def packages_of(extra=None):
    """The distributions that the package requires: always, or for an extra."""
    wanted = importlib.metadata.requires("relax-mlir")
    names = {re.match(r"[\w.-]+", line)[0]: re.search(r"extra == ['\"](\w+)", line) for line in wanted}
    return {name for name, match in names.items() if (match and match[1]) == extra}


def imports_of(source):
    """Top-level packages that a file imports, other than Python's own."""
    for node in ast.walk(ast.parse(source.read_text())):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module]
        yield from ({name.partition(".")[0] for name in names} - sys.stdlib_module_names)


# Packages imported by name are dependencies; packages of an extra are imported with a message (`require`).
def test_what_is_imported_is_required():
    with_it = {"mlir": "xtc-mlir-python-bindings", "tvm_ffi": "apache-tvm-ffi"}
    found = {name for source in (ROOT / "python" / "relax_mlir").rglob("*.py") for name in imports_of(source)}
    assert {"typer", "rich", "safetensors"} <= found
    missing = {with_it.get(name, name) for name in found} - packages_of() - {"relax_mlir"}
    # Packages of extras are imported on use, with a message; sympy comes with torch, google.protobuf with onnx. If
    # onnxruntime is installed, bench compares with it.
    assert missing == {"jinja2", "matplotlib", "torch", "sympy", "onnx", "google", "onnxruntime"}


# Without extras, the command line works, but reading tokenizers and other programs' files names the missing extra.
def test_the_command_line_without_extras(tmp_path):
    program = tmp_path / "x.mlir"
    program.write_text("relax.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n relax.return %x : tensor<4xf32>\n}")
    extras = sorted(packages_of("llm"))
    assert "tokenizers" in extras

    def relax_mlir(*arguments):
        return python(
            f"import sys; sys.modules.update(dict.fromkeys({extras!r})); sys.argv[1:] = {[*map(str, arguments)]!r}\n"
            "from relax_mlir.cli import main; main()"
        )

    for arguments in (
        ["--help"],
        ["inspect", program],
        ["run", program, "4xf32"],
        ["compile", program, "-o", tmp_path / "folder", "--target", "aarch64-linux-gnu"],
    ):
        ran = relax_mlir(*arguments)
        assert ran.returncode == 0, ran.stderr
    ran = relax_mlir("generate", "smollm2", "hello")
    assert ran.returncode == 1 and "pip install 'relax-mlir[llm]'" in ran.stderr and "Traceback" not in ran.stderr

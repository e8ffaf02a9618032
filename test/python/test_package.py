# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The installed package: tools, registration in other people's contexts, a clean exit."""

import subprocess
import sys

import pytest
from conftest import find_tool


def python(program):
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("tool", ["relax-opt", "relax-translate", "relax-lsp-server"])
def test_tools_start(tool):
    result = subprocess.run([find_tool(tool), "--help"], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert "USAGE" in result.stdout


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


def test_process_ends_cleanly_with_everything_alive():
    result = python(
        "import relax_mlir as r\n"
        "bb = r.BlockBuilder(); x = r.Tensor((r.Sym('n'),))\n"
        "scope = bb.function('f', [x]); scope.__enter__()\n"
        "y = r.op.exp(x)\n"
    )
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""

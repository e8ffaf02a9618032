# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Folders and modules have no cyclic dependencies (tools/check-layers), and passes have one name each."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def check(root):
    command = [sys.executable, str(ROOT / "tools" / "check-layers"), str(root)]
    return subprocess.run(command, capture_output=True, text=True)


def test_no_circles():
    run = check(ROOT)
    assert run.returncode == 0, run.stdout


def write(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_circles_of_folders_and_modules_are_found(tmp_path):
    files = {
        "dialects/Relax/Dialect.h": '#include "Relax/Ops/Op.h"\n',
        "dialects/Relax/Ops/Op.h": '#include "Relax/Dialect.h"\n',  # one library
        "lib/Low/Low.h": "",
        "lib/Low/Low.cpp": '#include "Low/Low.h"\n#include "High/High.h"\n',
        "lib/High/High.h": '#include "Low/Low.h"\n#include "Relax/Dialect.h"\n',
        "python/relax_mlir/__init__.py": "from .first import a\n",
        "python/relax_mlir/first.py": "from .second import b\n",
        "python/relax_mlir/second.py": "def b():\n    from .first import a\n",
        "python/relax_mlir/third.py": "from . import fourth\n",
        "python/relax_mlir/fourth.py": "try:\n    from .third import c\nexcept ImportError:\n    pass\n",
    }
    write(tmp_path, files)
    run = check(tmp_path)
    assert run.returncode == 1
    assert run.stdout.splitlines() == [
        "these depend on each other in a circle: lib/High, lib/Low",
        "  lib/High/High.h includes Low/Low.h",
        "  lib/Low/Low.cpp includes High/High.h",
        "these depend on each other in a circle: relax_mlir.fourth, relax_mlir.third",
        "  python/relax_mlir/fourth.py:2 imports relax_mlir.third",
        "  python/relax_mlir/third.py:1 imports relax_mlir.fourth",
    ]


def hyphenated(name):
    """ "lower-call-tir" for "LowerCallTIR", "max-size" for "maxSize"; cuBLASLt is one word."""
    name = name.replace("CublasLt", "Cublaslt")
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", name).lower()


# `LiftWorkspacePass` is `-relax-lift-workspace`, in LiftWorkspace.cpp; the passes of a target may have it as a prefix.
# In C++, the name of a Boolean option may begin with a verb: `areFinal` is `final`.
def test_a_pass_has_one_name():
    found = 0
    for passes in sorted((ROOT / "lib").glob("**/Passes.td")):
        text, folder = passes.read_text(), passes.parent
        for name, argument in re.findall(r'^def (\w+)Pass\s*:\s*Pass<\s*"([^"]+)"', text, re.MULTILINE):
            found += 1
            assert argument in (f"relax-{hyphenated(name)}", f"relax-{folder.name.lower()}-{hyphenated(name)}")
            files = list(folder.glob(f"**/{name}.cpp"))
            assert len(files) == 1 and f"GEN_PASS_DEF_{name.upper()}PASS" in files[0].read_text(), name
        for name, option in re.findall(r'Option<\s*"(\w+)",\s*"([^"]+)"', text):
            assert hyphenated(name).removeprefix("is-").removeprefix("are-") == option
        assert len(re.findall(r":\s*Pass<", text)) == len(re.findall(r"^def \w+Pass\s*:\s*Pass<", text, re.MULTILINE))
    assert found > 50

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The time from `git clone` to the first own model that is compiled, exported and called from C++.

python test/packaging/first_hour.py               # as a newcomer: clone, set up (which builds everything), ...
python test/packaging/first_hour.py --installed   # without these two: with the environment of this interpreter

The numbers that C++ prints are compared with those of Python. Building takes minutes, so this is not one of the tests
of `make test`: `make first-hour`. new_op.py times a new op.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from steps import Steps

ROOT = Path(__file__).resolve().parents[2]

PROGRAM = """
import numpy as np

from relax_mlir import BlockBuilder, Range, Sym, Tensor, compile, op
from relax_mlir.runtime import library_path

bias = np.array([0.0, 0.5, 1.0], np.float32)
bb, n = BlockBuilder(), Sym("n")
x, w = Tensor((n, 4), "f32", name="x"), Tensor((4, 3), "f32", name="w")
with bb.function("layer", [x, w], symbols={n: Range(1, 64)}):
    bb.return_(op.tanh(x @ w + op.weight("bias", Tensor((3,), "f32"))))

executable = compile(bb.module(), weights={"bias": bias})
for n in (1, 7, 64):
    y = executable["layer"](np.ones((n, 4), np.float32), np.full((4, 3), 0.25, np.float32))
    print(f"n = {n}: last row", " ".join(f"{value:.4f}" for value in y[-1]))
executable.export("folder")
print(library_path().parent.parent / "include")
"""
"""Has the signature of the model in examples/export_cpp, whose program calls it."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--installed", action="store_true", help="use this interpreter; no clone, no set-up")
    installed = parser.parse_args().installed
    steps = Steps()
    with tempfile.TemporaryDirectory() as name:
        work, checkout, python = Path(name), ROOT, Path(sys.executable)
        if not installed:
            checkout = work / "relax-mlir"
            steps.run("git clone", ["git", "clone", "-q", ROOT, checkout], work)
            steps.run("make setup: environment, toolchain, build", ["make", "setup"], checkout)
            python = checkout / ".venv/bin/python"
        steps.write("the program is written", {work / "model.py": PROGRAM})
        *rows, include = steps.run("python model.py: compile, run, export", [python, "model.py"], work).splitlines()
        options = [f"-DMODEL_DIR={work / 'folder'}", f"-DRELAX_INCLUDE_DIR={include}"]
        cmake = python.with_name("cmake") if python.with_name("cmake").exists() else "cmake"
        source = checkout / "examples" / "export_cpp"
        steps.run("cmake: configure the caller", [cmake, "-S", source, "-B", "caller", *options], work)
        steps.run("cmake: build the caller", [cmake, "--build", "caller"], work)
        said = steps.run("the caller runs", ["caller/main"], work).splitlines()
        if said[: len(rows)] != rows:
            sys.exit(f"Python and C++ differ:\n{rows}\n{said}")
        print(f"{steps.total:8.1f} s  in all; {len(rows)} rows are the same from Python and C++")
        quick = steps.fastest("import relax_mlir", [python, "-c", "import relax_mlir"], 0.25)
        quick &= steps.fastest("relax-mlir --help", [python.with_name("relax-mlir"), "--help"], 0.4)
    if not quick:
        sys.exit("starting is too slow; python -X importtime -c 'import relax_mlir' shows why")


if __name__ == "__main__":
    main()

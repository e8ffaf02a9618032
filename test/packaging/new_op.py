# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The time until a new op can be called from Python, in this checkout, which is built and has no changes.

python test/packaging/new_op.py

`tools/new-op` writes the op of docs/extending.md, whose parts are filled in from that page; `make setup` builds what
has changed; a program calls the op. It fails if more than `--objects` files were compiled, or the build took longer
than `--seconds`. The changes are taken back, so the next build compiles the same objects again.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

from steps import Steps

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / f"editable-{sys.implementation.cache_tag}"

PROGRAM = """
import numpy as np

from relax_mlir import BlockBuilder, Sym, Tensor, compile, op

bb = BlockBuilder()
with bb.function("main", [Tensor((Sym("n"), 4), "f32", name="x")]) as function:
    bb.return_(op.demean(function.params[0], axis=0))
x = np.random.default_rng(0).standard_normal((7, 4), np.float32)
np.testing.assert_allclose(compile(bb.module(), cached=False)["main"](x), x - x.mean(0), atol=1e-6)
"""


def git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout


def filled_in() -> dict[Path, str]:
    """The files of the scaffold, with the definition, the rule and the kernel of the page."""
    page = (ROOT / "docs" / "extending.md").read_text()

    def block(language: str, start: str) -> str:
        return next(b for b in re.findall(rf"^```{language}\n(.*?)^```$", page, re.M | re.S) if b.startswith(start))

    parts = {
        "dialects/Relax/Ops/Normalization.td": (
            r"^def Relax_DemeanOp .*?^}\n",
            block("tablegen", "def Relax_DemeanOp"),
        ),
        "dialects/Relax/Ops/Normalization.cpp": (
            r"^/// TODO\(relax.demean\).*?^}\n",
            block("cpp", "LogicalResult DemeanOp::deduce"),
        ),
        "lib/Transforms/Legalize/Normalization.cpp": (
            r"^/// TODO\(relax.demean\).*?^}\n",
            block("cpp", "static LogicalResult demean(").replace("demean(", "demeanKernel("),
        ),
    }
    files = {}
    for name, (old, new) in parts.items():
        text, count = re.subn(old, lambda _, new=new: new, (ROOT / name).read_text(), flags=re.M | re.S)
        if count != 1:
            sys.exit(f"{name}: the scaffold has {count} parts like '{old}'; expected one")
        files[ROOT / name] = text
    return files


def objects() -> set[tuple[str, str]]:
    """Each object of the build folder, with the time of its last compilation."""
    lines = (BUILD / ".ninja_log").read_text().splitlines()[1:]
    return {(fields[3], fields[2]) for fields in (line.split("\t") for line in lines) if fields[3].endswith(".o")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--objects", type=int, default=9, help="the most objects that may be compiled")
    parser.add_argument("--seconds", type=float, default=60, help="the longest time that the build may take")
    options = parser.parse_args()
    if changes := git("status", "--porcelain"):
        sys.exit(f"the checkout has changes, which this program would take back; commit them first:\n{changes}")
    steps = Steps()
    setup = ["tools/setup-environment", str(Path(sys.prefix))]
    steps.run("make setup, where nothing has changed", setup, ROOT)
    try:
        steps.run("tools/new-op", ["tools/new-op", "demean", "--family", "Normalization"], ROOT)
        steps.write("the parts are filled in", filled_in())
        before, start = objects(), steps.total
        steps.run("make setup", setup, ROOT)
        seconds, compiled = steps.total - start, sorted(name for name, _ in objects() - before)
        steps.run("python: build, compile, compare", [sys.executable, "-c", PROGRAM], ROOT)
    finally:
        git("checkout", "--", ".")
        git("clean", "-fdq", "dialects", "lib", "test")
    print(f"{len(compiled)} objects:", *compiled, sep="\n  ")
    if len(compiled) > options.objects or seconds > options.seconds:
        sys.exit(
            f"{len(compiled)} objects in {seconds:.0f} s; expected at most {options.objects} in {options.seconds} s "
            "on two idle cores (cmake/RelaxBuild.cmake groups sources; headers should include few families of ops)"
        )


if __name__ == "__main__":
    main()

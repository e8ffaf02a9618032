#!/usr/bin/env python3
# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How deduction scales with the size of a program.

Generates chains of ops on symbolic shapes, whose result types are unknown, and times
`relax-opt --relax-deduce-shapes` on them: the whole process, and the parser and the
pass alone as MLIR's own timers give them. Prints a table, and fails if start-up
or 10,000 ops take longer than the project promises (0.3 s and 1 s).

    .venv/bin/python benchmarks/deduce_scaling.py [--relax-opt PATH] [--sizes 1000,10000,...]
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MAX_STARTUP_S = 0.3
MAX_10K_S = 1.0
FINE = "tensor<?x?xf32, #relax.shape<[n, 4*m]>>"


def program(ops: int) -> str:
    """One function with element-wise ops, shapes, and an occasional cast that defines a symbol."""
    lines = [f"relax.func @main(%x: {FINE}, %s: !relax.shape<[m]>, %u: tensor<?xf32>) -> tensor<*xf32> {{"]
    value, kind = "%x", FINE
    for i in range(ops):
        match i % 8:
            case 3:
                lines.append(f"  %s{i} = relax.shape_of {value} : ({kind}) -> !relax.shape<*>")
            case 5:
                shape = f"tensor<?xf32, #relax.shape<[k{i}]>>"
                lines.append(f"  %c{i} = relax.match_cast %u : (tensor<?xf32>) -> {shape}")
            case 1 | 6:
                lines.append(f"  %{i} = relax.add {value}, %x : ({kind}, {FINE}) -> tensor<*xf32>")
                value, kind = f"%{i}", "tensor<*xf32>"
            case _:
                lines.append(f"  %{i} = relax.exp {value} : ({kind}) -> tensor<*xf32>")
                value, kind = f"%{i}", "tensor<*xf32>"
    return "\n".join([*lines, f"  relax.return {value} : {kind}", "}", ""])


def run(command: list[str], best_of: int) -> tuple[float, str]:
    """The best wall-clock time of several runs in seconds, and the last run's standard error."""
    best, errors = float("inf"), ""
    for _ in range(best_of):
        start = time.perf_counter()
        errors = subprocess.run(command, check=True, capture_output=True, text=True).stderr
        best = min(best, time.perf_counter() - start)
    return best, errors


def timer(report: str, name: str) -> float:
    """Seconds that MLIR's timing report gives for `name`, summed."""
    return sum(float(t) for t in re.findall(rf"^\s*([\d.]+) \([^)]*\)\s+{name}", report, re.M))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    installed = Path(sys.executable).with_name("relax-opt")
    parser.add_argument(
        "--relax-opt", default=installed if installed.exists() else "relax-opt", help="the tool to time"
    )
    parser.add_argument("--sizes", default="1000,3000,10000,30000,100000", help="numbers of ops")
    parser.add_argument("--best-of", type=int, default=3, help="runs, of which the best counts")
    arguments = parser.parse_args()

    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as empty:
        startup, _ = run([arguments.relax_opt, empty.name], arguments.best_of)
    print(f"start-up: {startup:.3f} s\n")
    print(f"{'ops':>8} {'whole run':>10} {'parse':>8} {'deduce':>8} {'deduce/op':>10}")
    failed = startup > MAX_STARTUP_S
    for size in map(int, arguments.sizes.split(",")):
        with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
            file.write(program(size))
            file.flush()
            command = [arguments.relax_opt, file.name, "--relax-deduce-shapes", "-o", "/dev/null"]
            whole, _ = run(command, arguments.best_of)
            _, report = run([*command, "--mlir-timing", "--mlir-timing-display=list"], 1)
        deduce = timer(report, "DeduceShapesPass")
        print(
            f"{size:>8} {whole:>8.3f} s {timer(report, 'Parser'):>6.3f} s {deduce:>6.3f} s "
            f"{1e6 * deduce / size:>7.2f} us"
        )
        failed |= size == 10_000 and whole - startup > MAX_10K_S
    if failed:
        print(f"\nslower than promised: start-up {MAX_STARTUP_S} s, 10,000 ops {MAX_10K_S} s", file=sys.stderr)
    return failed


if __name__ == "__main__":
    sys.exit(main())

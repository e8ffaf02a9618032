#!/usr/bin/env python3
# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ONNX models of packages (onnx_zoo.py): ours against onnxruntime and OpenVINO.

Each side is a process of its own (see measuring.py), which loads a model once for all sizes. They take turns; the table
has medians, and how many times as long as ours each other side takes. Before they are timed, all sides have to give
what onnxruntime gives, to a few percent: it adds products of quantized numbers with saturation where the CPU does.

    .venv/bin/python benchmarks/onnx_models.py --models DIR [--download] [NAME...] [--threads 1,2] [--rounds 5]
        [--skip openvino] [--busy]

On a machine that is never quiet, `--busy` does not wait for it to be; then only the ratios tell something.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from measuring import Worker, machine, missing, report_disturbed, report_missing, serve, table, take_turns, time_of
from onnx_zoo import ZOO, download, find, show_size

SIDES = ("ours", "onnxruntime", "openvino")
TOLERANCE = 0.05
"""The largest difference, as a share of the largest number."""
INSTALL = "pip install onnx onnxruntime openvino"

Call = Callable[[dict[str, Any]], Sequence[Any]]


def ours(path: Path, threads: int) -> Call:
    from relax_mlir.onnx import InferenceSession

    session = InferenceSession(str(path))
    return lambda feeds: session.run(None, feeds)


def onnxruntime(path: Path, threads: int) -> Call:
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.log_severity_level = 3
    session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return lambda feeds: session.run(None, feeds)


def openvino(path: Path, threads: int) -> Call:
    import openvino as ov

    core = ov.Core()
    # f32, as the others: on some CPUs the default is a narrower type.
    options = {"INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": "f32", "PERFORMANCE_HINT": "LATENCY"}
    compiled = core.compile_model(core.read_model(str(path)), "CPU", options)
    return lambda feeds: list(compiled(feeds).values())


MAKERS = dict(zip(SIDES, (ours, onnxruntime, openvino)))


def worker_of(side: str, name: str, path: Path, threads: int) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Loads the model of a side; the answers are numbers of its first result, and seconds of a call."""
    import numpy as np

    start = time.perf_counter()
    try:
        call = MAKERS[side](path, threads)
    except ImportError:
        raise
    except Exception as error:  # of a side that cannot take the model, which is left out
        return missing(f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}")

    def answer(request: dict[str, Any]) -> dict[str, Any]:
        feeds = ZOO[name].feeds(np.random.default_rng(0), *request["size"])
        if request.get("check"):
            numbers = np.asarray(call(feeds)[0], np.float64).ravel()
            return {"numbers": numbers[:: max(1, len(numbers) // 256)].tolist()}
        return {"seconds": time_of(lambda: call(feeds))}

    answer.hello = {"ready": time.perf_counter() - start}  # type: ignore[attr-defined]
    return answer


# --- what is measured


def measure(name: str, path: Path, sides: Sequence[str], threads: int, rounds: int, undisturbed: bool) -> list[Any]:
    """The rows of a model: one for each size."""
    workers: list[Worker] = []
    environment = {"RELAX_NUM_THREADS": str(threads), "OMP_NUM_THREADS": str(threads)}
    try:
        for side in sides:
            command = [sys.executable, __file__, "--side", side, name, str(path), str(threads)]
            workers.append(Worker(side, command, environment))
        running = report_missing(workers)
        ready = {worker.name: worker.hello["ready"] for worker in running}
        rows = []
        for size in filter(all, ZOO[name].sizes):  # an empty batch takes no time
            agreeing = [worker for worker in running if worker.name in agree(name, running, size)]
            taken = take_turns(agreeing, {"size": size}, rounds, undisturbed=undisturbed)
            found = {side: entry["seconds"] for side, entry in taken.items()}
            ratios = [f"{found[side] / found['ours']:.2f}" if side in found else "" for side in sides if side != "ours"]
            rows.append([name, show_size(size), f"{1e3 * found['ours']:.2f}", *ratios, f"{ready['ours']:.1f}"])
        report_disturbed(running, name)
        return rows
    finally:
        for worker in workers:
            worker.close()


def agree(name: str, workers: Sequence[Worker], size: tuple[int, ...]) -> set[str]:
    """The sides that give what onnxruntime gives; ends the program where ours does not."""
    import numpy as np

    answers = {worker.name: worker.ask({"size": size, "check": True})["numbers"] for worker in workers}
    expected = np.asarray(answers.get("onnxruntime", answers["ours"]))
    same = set()
    for side, numbers in answers.items():
        found = np.asarray(numbers)
        scale = np.abs(expected).max(initial=1e-6)
        if found.shape == expected.shape and np.abs(found - expected).max(initial=0) <= TOLERANCE * scale:
            same.add(side)
        elif side == "ours":
            raise SystemExit(f"{name} at {show_size(size)}: ours gives something else than onnxruntime")
        else:
            print(f"{name} at {show_size(size)}: {side} gives something else than onnxruntime", file=sys.stderr)
    return same


def main() -> None:
    if sys.argv[1:2] == ["--side"]:
        side, name, path, threads = sys.argv[2:]
        return serve(lambda: worker_of(side, name, Path(path), int(threads)), INSTALL)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="models of onnx_zoo.py; all of them unless given")
    parser.add_argument("--models", type=Path, required=True, help="where the packages are")
    parser.add_argument("--download", action="store_true", help="get the packages that are missing")
    parser.add_argument("--threads", default="1,2", help="numbers of threads")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each side")
    parser.add_argument("--skip", default="", help="sides to leave out: onnxruntime, openvino")
    parser.add_argument("--busy", action="store_true", help="do not wait for a quiet machine")
    options = parser.parse_args()
    names = options.names or list(ZOO)
    if unknown := [name for name in names if name not in ZOO]:
        parser.error(f"there is no model '{unknown[0]}'; there are {', '.join(ZOO)}")
    if options.download:
        download([ZOO[name] for name in names], options.models)
    skipped = options.skip.split(",")
    sides = [side for side in SIDES if side not in skipped]
    print(f"{machine()}; ONNX models, times as multiples of ours")
    for threads in map(int, options.threads.split(",")):
        rows = []
        for name in names:
            path = find(ZOO[name], options.models)
            if path is None:
                print(f"{name} is left out: {ZOO[name].package} is missing; --download gets it", file=sys.stderr)
                continue
            rows += measure(name, path, sides, threads, options.rounds, not options.busy)
        header = ["", "size", "ours ms", *(f"× {side}" for side in sides if side != "ours"), "ready s"]
        print(f"\n{threads} thread{'s' * (threads > 1)} of {os.cpu_count()}\n")
        print(table(header, rows), flush=True)


if __name__ == "__main__":
    main()

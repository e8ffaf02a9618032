#!/usr/bin/env python3
# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of PyTorch (torch_zoo.py): ours against eager, `torch.compile(dynamic=True)` and onnxruntime.

Each side is a process of its own (see measuring.py), which compiles a model once, with batch and length dynamic. They
take turns, at sizes that none of them has seen before; the table has medians, and how many times as long as ours each
other side takes. Before they are timed, all sides have to give what eager gives.

    .venv/bin/python benchmarks/torch_models.py [NAME...] [--threads 1,2] [--rounds 5] [--sizes 1x128,4x64]
        [--skip "torch.compile,onnxruntime"]
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from measuring import Worker, machine, missing, report_disturbed, report_missing, serve, table, take_turns, time_of

SIDES = ("ours", "eager", "torch.compile", "onnxruntime")
EXAMPLE = (2, 24)
"""The batch and the length that a model is exported or compiled with."""
TOLERANCE = 1e-3
INSTALL = "pip install torch transformers onnxruntime onnx onnxscript"

Call = Callable[[Sequence[Any]], Any]


def ours(entry: Any) -> Call:
    from relax_mlir.frontends import torch as relax_torch

    exported = relax_torch.export(entry.model, entry.inputs(*EXAMPLE), dynamic_shapes=shapes(entry))
    run = exported.compile()
    return lambda args: run(*args)


def shapes(entry: Any) -> Any:
    """`dynamic_shapes` for the axes of an entry; the arguments of a wrapped model are one tuple."""
    from torch.export import Dim
    from torch_zoo import Wrapped

    sizes = tuple(dict.fromkeys(axes, Dim.AUTO) for axes in entry.axes)
    return (sizes,) if isinstance(entry.model, Wrapped) else sizes


def eager(entry: Any) -> Call:
    return lambda args: entry.model(*args)


def compiled(entry: Any) -> Call:
    import torch

    run = torch.compile(entry.model, dynamic=True)
    run(*entry.inputs(*EXAMPLE))
    return lambda args: run(*args)


def onnxruntime(entry: Any) -> Call:
    import onnxruntime as ort
    import torch

    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/model.onnx"
        torch.onnx.export(entry.model, entry.inputs(*EXAMPLE), path, dynamo=True, dynamic_shapes=shapes(entry))
        options = ort.SessionOptions()
        options.intra_op_num_threads = torch.get_num_threads()
        session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    names = [argument.name for argument in session.get_inputs()]

    def call(args: Sequence[Any]) -> Any:
        return session.run(None, dict(zip(names, (tensor.numpy() for tensor in args))))[0]

    return call


MAKERS = dict(zip(SIDES, (ours, eager, compiled, onnxruntime)))


def worker_of(side: str, name: str, threads: int) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Makes the model of a side; the answers are numbers of its result, and seconds of a call."""
    import numpy as np
    import torch
    from torch_zoo import ZOO

    torch.set_num_threads(threads)
    torch.manual_seed(0)
    entry = ZOO[name]()
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            call = MAKERS[side](entry)
        except ImportError:
            raise
        except Exception as error:  # of a side that cannot take the model, which is left out
            return missing(f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}")

    def answer(request: dict[str, Any]) -> dict[str, Any]:
        args = entry.inputs(*request["size"])
        with torch.no_grad():
            result = call(args)
            if request.get("check"):
                numbers = np.asarray(result, dtype=np.float64).ravel()
                return {"numbers": numbers[:: max(1, len(numbers) // 256)].tolist()}
            return {"seconds": time_of(lambda: call(args))}

    return answer


# --- what is measured


def measure(name: str, sides: Sequence[str], threads: int, sizes: Sequence[tuple[int, int]], rounds: int) -> list[Any]:
    """The rows of a model: one for each size."""
    workers: list[Worker] = []
    environment = {"RELAX_NUM_THREADS": str(threads), "OMP_NUM_THREADS": str(threads)}
    try:
        for side in sides:
            command = [sys.executable, __file__, "--side", side, name, str(threads)]
            workers.append(Worker(side, command, environment))
        running = report_missing(workers)
        rows = []
        for size in sizes:
            check(name, running, size)
            found = take_turns(running, {"size": size}, rounds)
            own = found["ours"]["seconds"] if "ours" in found else math.nan
            ratios = [
                f"{found[side]['seconds'] / own:.2f}" if side in found else "" for side in sides if side != "ours"
            ]
            rows.append([name, f"{size[0]}x{size[1]}", f"{1e3 * own:.2f}", *ratios])
        report_disturbed(running, name)
        return rows
    finally:
        for worker in workers:
            worker.close()


def check(name: str, workers: Sequence[Worker], size: tuple[int, int]) -> None:
    """Ends the program where a side gives something else than eager."""
    answers = {worker.name: worker.ask({"size": size, "check": True})["numbers"] for worker in workers}
    expected = answers.get("eager", next(iter(answers.values()), []))
    for side, numbers in answers.items():
        same = len(numbers) == len(expected) and all(
            math.isclose(number, wanted, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
            for number, wanted in zip(numbers, expected)
        )
        if not same:
            raise SystemExit(f"{name} at {size[0]}x{size[1]}: {side} gives something else than eager")


def parse_size(text: str) -> tuple[int, int]:
    batch, _, length = text.partition("x")
    return int(batch), int(length)


def main() -> None:
    if sys.argv[1:2] == ["--side"]:
        side, name, threads = sys.argv[2:]
        return serve(lambda: worker_of(side, name, int(threads)), INSTALL)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="models of torch_zoo.py; all of them unless given")
    parser.add_argument("--threads", default="1,2", help="numbers of threads")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each side")
    parser.add_argument("--sizes", default="1x128,4x64", help="batches and lengths")
    parser.add_argument("--skip", default="", help="sides to leave out: eager, torch.compile, onnxruntime")
    options = parser.parse_args()
    from torch_zoo import ZOO

    names = options.names or list(ZOO)
    if unknown := [name for name in names if name not in ZOO]:
        parser.error(f"there is no model '{unknown[0]}'; there are {', '.join(ZOO)}")
    skipped = options.skip.split(",")
    sides = [side for side in SIDES if side not in skipped]
    sizes = [parse_size(text) for text in options.sizes.split(",")]
    print(f"{machine()}; PyTorch models, times as multiples of ours")
    for threads in map(int, options.threads.split(",")):
        rows = []
        for name in names:
            rows += measure(name, sides, threads, sizes, options.rounds)
        header = ["", "size", "ours ms", *(f"× {side}" for side in sides if side != "ours")]
        print(f"\n{threads} thread{'s' * (threads > 1)} of {os.cpu_count()}\n")
        print(table(header, rows), flush=True)


if __name__ == "__main__":
    main()

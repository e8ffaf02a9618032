#!/usr/bin/env python3
# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions with symbolic height and width against PyTorch (oneDNN), which knows the sizes of each call.

Layers as in ResNet-50, MobileNetV3, and models of text and sound. Ours is compiled once for each layer, for all sizes.
Each side is a process of its own (see measuring.py); they take turns.

    .venv/bin/python benchmarks/convolutions.py [--threads 1,2] [--rounds 7] [--busy]

On a machine that is never quiet, `--busy` does not wait for it to be; then only the ratios tell something.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Callable
from typing import Any

from measuring import Worker, machine, report_disturbed, report_missing, roofline, serve, table, take_turns, time_of

INSTALL = "make torch"

# in, out, kernel, stride, groups, size
LAYERS = [
    (3, 64, 7, 2, 1, 224),
    (64, 64, 1, 1, 1, 56),
    (64, 64, 3, 1, 1, 56),
    (64, 256, 1, 1, 1, 56),
    (256, 128, 1, 1, 1, 56),
    (128, 128, 3, 2, 1, 56),
    (512, 128, 1, 1, 1, 28),
    (256, 256, 3, 1, 1, 14),
    (1024, 256, 1, 1, 1, 14),
    (512, 512, 3, 1, 1, 7),
    (512, 2048, 1, 1, 1, 7),
    (3, 16, 3, 2, 1, 224),
    (16, 64, 1, 1, 1, 112),
    (64, 64, 3, 2, 64, 112),
    (72, 72, 5, 2, 72, 56),
    (240, 240, 3, 1, 240, 14),
    (672, 672, 5, 1, 672, 7),
    (672, 112, 1, 1, 1, 14),
]


def work(layer: tuple[int, ...]) -> float:
    """Multiplications and additions of a call."""
    channels, out, kernel, stride, groups, size = layer
    side = (size + 2 * (kernel // 2) - kernel) // stride + 1
    return 2.0 * out * side * side * (channels // groups) * kernel * kernel


def arrays(layer: tuple[int, ...]) -> tuple[Any, Any]:
    """The data and the weight."""
    import numpy as np

    channels, out, kernel, _, groups, size = layer
    random = np.random.default_rng(0)
    x = random.standard_normal((1, channels, size, size), np.float32)
    return x, 0.1 * random.standard_normal((out, channels // groups, kernel, kernel), np.float32)


def by_torch(layer: tuple[int, ...], threads: int) -> Callable[[], Any]:
    import torch

    torch.set_num_threads(threads)
    x, weight = map(torch.from_numpy, arrays(layer))
    _, _, kernel, stride, groups, _ = layer

    def call() -> Any:
        with torch.inference_mode():
            return torch.nn.functional.conv2d(x, weight, None, stride, kernel // 2, 1, groups)

    return call


def ours(layer: tuple[int, ...], threads: int) -> Callable[[], Any]:
    import numpy as np

    from relax_mlir import BlockBuilder, Sym, Tensor, compile, op, runtime

    runtime.set_thread_count(threads)
    x, weight = arrays(layer)
    channels, _, kernel, stride, groups, _ = layer
    bb, height, width = BlockBuilder(), Sym("h"), Sym("w")
    with bb.function("main", [Tensor((1, channels, height, width))]) as function:
        parameter = op.weight("weight", Tensor(weight.shape))
        bb.return_(op.conv2d(function.params[0], parameter, stride, kernel // 2, 1, groups))
    main = compile(bb.module(), weights={"weight": weight})["main"]
    expected = by_torch(layer, threads)().numpy()
    np.testing.assert_allclose(np.from_dlpack(main(x)), expected, rtol=1e-3, atol=1e-3)
    ready = runtime.as_argument(x)
    return lambda: main(ready)


SIDES = {"ours": ours, "torch": by_torch}


def worker_of(side: str, threads: int) -> Callable[[dict[str, Any]], dict[str, Any]]:
    calls: dict[tuple[int, ...], Callable[[], Any]] = {}

    def answer(request: dict[str, Any]) -> dict[str, Any]:
        layer = tuple(request["layer"])
        if layer not in calls:
            calls[layer] = SIDES[side](layer, threads)
        return {"seconds": time_of(calls[layer])}

    return answer


def compare(threads: int, rounds: int, undisturbed: bool) -> None:
    """Prints the table for a number of threads."""
    peak = roofline(threads)["flops"]
    print(f"\n## {threads} thread{'s' * (threads > 1)}: {peak / 1e9:.0f} GFLOP/s\n")
    workers = report_missing([Worker(side, [sys.executable, __file__, "--side", side, str(threads)]) for side in SIDES])
    rows, ratios = [], []
    for layer in LAYERS:
        taken = take_turns(workers, {"layer": layer}, rounds, undisturbed=undisturbed)
        seconds = {side: found["seconds"] for side, found in taken.items()}
        rates = {side: work(layer) / time / 1e9 for side, time in seconds.items()}
        channels, out, kernel, stride, groups, size = layer
        ratio = seconds["torch"] / seconds["ours"] if "torch" in seconds else None
        ratios += [ratio] if ratio else []
        rows.append(
            [
                f"{channels} → {out}, {kernel}×{kernel}{f' by {stride}' * (stride > 1)}, {size}×{size}"
                + f", {groups} groups" * (groups > 1),
                *(f"{1e6 * seconds[side]:.0f}" for side in seconds),
                *(f"{rates[side]:.1f}" for side in seconds),
                f"{1e9 * rates['ours'] / peak:.2f}",
                f"{ratio:.2f}" if ratio else "",
            ]
        )
    names = [worker.name for worker in workers]
    units = [f"{name} {unit}" for unit in ("µs", "GFLOP/s") for name in names]
    print(table(["", *units, "of peak", "× torch"], rows))
    if ratios:
        print(f"\ngeometric mean of the ratios: {statistics.geometric_mean(ratios):.2f}")
    report_disturbed(workers, "convolutions")
    for worker in workers:
        worker.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", default="1,2", help="numbers of threads")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--busy", action="store_true", help="do not wait for a quiet machine")
    parser.add_argument("--side", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.side:
        side, threads = options.side
        return serve(lambda: worker_of(side, int(threads)), INSTALL)
    print(machine())
    for threads in map(int, options.threads.split(",")):
        compare(threads, options.rounds, not options.busy)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels with dynamic sizes against onnxruntime, NumPy and the roofline, which is measured in the same run.

Matmuls with the weights of SmolLM2 and any number of rows, a gated feed-forward network, a fused chain
(rms_norm, silu, product) and softmax. Each side compiles one program for each kind and runs it with all sizes; weights
are packed beforehand in its preferred layout. Each side is a separate process (see measuring.py).

    .venv/bin/python benchmarks/kernels.py [--peer-python PATH] [--threads 1,2] [--rounds 7]
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

from measuring import DISTURBED, Worker, machine, report_missing, roofline, serve, table, take_turns

INSTALL = {"ours": "make setup", "onnxruntime": "pip install onnxruntime onnx", "numpy": "pip install numpy"}

MATMULS = [(k, n, m) for k, n in ((576, 1536), (1536, 576), (576, 576)) for m in (1, 3, 7, 33, 128, 256, 257)]
MATMULS += [(1024, 1024, 1024)]
MLP = (576, 1536, (1, 7, 64, 200))
CHAIN = (1536, (1, 16, 128, 512))
SOFTMAX = (16, 128, 512)
MIN_SECONDS = 0.03  # the minimal time of one measurement

Run = Callable[[], object]
Side = Callable[[str, tuple[int, ...]], Run]
"""Returns a call of the kernel for a kind and its sizes, with its arguments prepared."""


def answering(side: Side) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Answers with the seconds of each case, the median of a few measurements."""
    runs: dict[str, Run] = {}

    def answer(request: dict[str, Any]) -> dict[str, Any]:
        seconds = {}
        for kind, *sizes in request["cases"]:
            name = f"{kind} {sizes}"
            run = runs.get(name) or runs.setdefault(name, side(kind, tuple(sizes)))
            run()
            start = time.perf_counter()
            run()
            count = max(3, int(MIN_SECONDS / max(time.perf_counter() - start, 1e-7) / 3))
            times = []
            for _ in range(3):
                start = time.perf_counter()
                for _ in range(count):
                    run()
                times.append((time.perf_counter() - start) / count)
            seconds[name] = statistics.median(times)
        return seconds

    return answer


def inputs(kind: str, sizes: tuple[int, ...]) -> tuple[list[Any], list[Any]]:
    """The activations and weights of a case, as NumPy arrays; weights [in, out]."""
    import numpy as np

    random = np.random.default_rng(0)

    def make(*shape: int) -> Any:
        return random.standard_normal(shape, np.float32) * np.float32(0.1)

    # Weights first, so that they are the same for all numbers of rows.
    if kind == "matmul":
        k, n, m = sizes
        weights = [make(k, n)]
        return [make(m, k)], weights
    if kind == "mlp":
        k, n, m = sizes
        weights = [make(k, n), make(k, n), make(n, k)]
        return [make(m, k)], weights
    if kind == "chain":
        d, m = sizes
        weights = [make(d)]
        return [make(m, d), make(m, d)], weights
    (m,) = sizes
    return [make(m, m)], []


# --- the sides


def ours(threads: int) -> Callable[..., Any]:
    import numpy as np

    from relax_mlir import Sym, Tensor, compile, nn, op, runtime
    from relax_mlir.models.matrix import PanelMatrix, pack_panels

    runtime.set_thread_count(threads)

    class Matmul(nn.Module):
        def __init__(self, k: int, n: int) -> None:
            self.w = PanelMatrix(n, k)

        def forward(self, x: Any) -> Any:
            return self.w.project(x)

    class Mlp(nn.Module):
        def __init__(self, k: int, n: int) -> None:
            self.gate, self.up, self.down = PanelMatrix(n, k), PanelMatrix(n, k), PanelMatrix(k, n)

        def forward(self, x: Any) -> Any:
            gate = self.gate.project(x, op.silu)
            return self.down.project(self.up.project(x, op.multiply, gate))

    class Chain(nn.Module):
        def __init__(self, d: int) -> None:
            self.norm = nn.RMSNorm(d)

        def forward(self, x: Any, y: Any) -> Any:
            return op.silu(self.norm(x)) * y

    class Softmax(nn.Module):
        def forward(self, x: Any) -> Any:
            return op.softmax(x, -1)

    made: dict[tuple[Any, ...], Any] = {}

    def program(kind: str, fixed: tuple[int, ...], weights: list[Any]) -> Any:
        if (kind, *fixed) not in made:
            module = {"matmul": Matmul, "mlp": Mlp, "chain": Chain, "softmax": Softmax}[kind](*fixed)
            m = Sym("m")
            shapes = {"softmax": [(m, m)], "chain": [(m, fixed[0])] * 2 if fixed else []}
            parameters = [Tensor(shape, "f32") for shape in shapes.get(kind, [(m, *fixed[:1])])]
            values = [pack_panels(w.T) if w.ndim == 2 else w for w in weights]
            exported = nn.export(module, {"forward": parameters})
            bound = dict(zip(module.assign_names(), values))
            made[(kind, *fixed)] = compile(exported, weights=bound)["forward"]
        return made[(kind, *fixed)]

    def side(kind: str, sizes: tuple[int, ...]) -> Run:
        arguments, weights = inputs(kind, sizes)
        forward = program(kind, sizes[:-1], weights)
        found = np.from_dlpack(forward(*arguments))
        np.testing.assert_allclose(found, reference(kind, arguments, weights), rtol=2e-3, atol=2e-3)
        ready = [runtime.as_argument(argument) for argument in arguments]
        return lambda: forward(*ready)

    return answering(side)


def reference(kind: str, arguments: list[Any], weights: list[Any]) -> Any:
    """The result computed by NumPy."""
    import numpy as np

    x = arguments[0]
    with np.errstate(over="ignore"):
        if kind == "matmul":
            return x @ weights[0]
        if kind == "mlp":
            gate, up, down = weights
            g = x @ gate
            return (g / (1 + np.exp(-g)) * (x @ up)) @ down
        if kind == "chain":
            h = x / np.sqrt(np.mean(x * x, -1, keepdims=True) + np.float32(1e-5)) * weights[0]
            return h / (1 + np.exp(-h)) * arguments[1]
        e = np.exp(x - x.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)


def by_numpy(threads: int) -> Callable[..., Any]:
    # The variable is read when OpenBLAS is loaded.
    os.environ["OPENBLAS_NUM_THREADS"] = str(threads)

    def side(kind: str, sizes: tuple[int, ...]) -> Run:
        arguments, weights = inputs(kind, sizes)
        if kind == "matmul":
            import numpy as np

            out = np.empty((len(arguments[0]), weights[0].shape[1]), np.float32)
            return lambda: np.matmul(arguments[0], weights[0], out=out)
        return lambda: reference(kind, arguments, weights)

    return answering(side)


def onnxruntime(threads: int) -> Callable[..., Any]:
    import onnx
    import onnxruntime as ort
    from onnx import TensorProto, helper, numpy_helper

    bodies = {
        "matmul": [("MatMul", "x w0", "out")],
        "mlp": [
            ("MatMul", "x w0", "g"),
            ("Sigmoid", "g", "s"),
            ("Mul", "g s", "a"),
            ("MatMul", "x w1", "u"),
            ("Mul", "a u", "h"),
            ("MatMul", "h w2", "out"),
        ],
        "chain": [
            ("RMSNormalization", "x w0", "h"),
            ("Sigmoid", "h", "s"),
            ("Mul", "h s", "a"),
            ("Mul", "a y", "out"),
        ],
        "softmax": [("Softmax", "x", "out")],
    }

    sessions: dict[tuple[Any, ...], Any] = {}

    def session(kind: str, fixed: tuple[int, ...], arguments: list[Any], weights: list[Any]) -> Any:
        if (kind, *fixed) not in sessions:
            float32 = TensorProto.FLOAT
            shapes = [["m", "m" if kind == "softmax" else array.shape[1]] for array in arguments]
            graph = helper.make_graph(
                [helper.make_node(name, given.split(), [out]) for name, given, out in bodies[kind]],
                kind,
                [helper.make_tensor_value_info(name, float32, shape) for name, shape in zip("xy", shapes)],
                [helper.make_tensor_value_info("out", float32, ["m", None])],
                [numpy_helper.from_array(weight, f"w{index}") for index, weight in enumerate(weights)],
            )
            model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=10)
            onnx.checker.check_model(model)
            options = ort.SessionOptions()
            options.intra_op_num_threads = threads
            made = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
            sessions[(kind, *fixed)] = made
        return sessions[(kind, *fixed)]

    def side(kind: str, sizes: tuple[int, ...]) -> Run:
        import numpy as np

        arguments, weights = inputs(kind, sizes)
        made = session(kind, sizes[:-1], arguments, weights)
        binding = made.io_binding()
        for name, array in zip("xy", arguments):
            binding.bind_ortvalue_input(name, ort.OrtValue.ortvalue_from_numpy(array))
        binding.bind_output("out", "cpu")
        made.run_with_iobinding(binding)
        found = binding.copy_outputs_to_cpu()[0]
        np.testing.assert_allclose(found, reference(kind, arguments, weights), rtol=2e-3, atol=2e-3)
        # Into preallocated memory: the fastest form.
        binding.bind_ortvalue_output("out", ort.OrtValue.ortvalue_from_numpy(found))
        return lambda: made.run_with_iobinding(binding)

    return answering(side)


SIDES = {"ours": ours, "onnxruntime": onnxruntime, "numpy": by_numpy}


# --- tables


def compare(threads: int, rounds: int, python: str) -> None:
    """Prints the tables of all kinds."""
    peak = roofline(threads)
    flops, read, cached = (peak[key] for key in ("flops", "bytes", "cached_bytes"))
    reads = f"reads {read / 1e9:.1f} GB/s from memory, {cached / 1e9:.0f} in the cache"
    print(f"\n## {threads} thread{'s' * (threads > 1)}: {flops / 1e9:.0f} GFLOP/s; {reads}")
    workers = report_missing(
        [
            Worker(name, [sys.executable if name == "ours" else python, __file__, "--side", name, str(threads)])
            for name in SIDES
        ]
    )
    names = [worker.name for worker in workers]

    def show(title: str, cases: list[tuple[Any, ...]], label: Callable[..., str], work: Callable[..., float]) -> None:
        unit, most = ("GFLOP/s", flops) if cases[0][0] in ("matmul", "mlp") else ("GB/s", cached)
        results = take_turns(workers, {"cases": cases}, rounds)
        rows = []
        for case in cases:
            key = f"{case[0]} {list(case[1:])}"
            seconds = {name: results[name][key] for name in names}
            rates = {name: work(*case[1:]) / seconds[name] for name in names}
            peers = [seconds[name] for name in names if name != "ours"]
            rows.append(
                [
                    label(*case[1:]),
                    *(f"{1e6 * seconds[name]:.1f}" for name in names),
                    *(f"{rates[name] / 1e9:.1f}" for name in names),
                    f"{rates['ours'] / most:.2f}",
                    f"{min(peers) / seconds['ours']:.2f}" if peers else "",
                ]
            )
        print(f"\n{title}\n")
        rates_header = [f"{name} {unit}" for name in names]
        print(table(["", *(f"{name} µs" for name in names), *rates_header, "of peak", "× best peer"], rows))

    show(
        "Matrix product, K → N, M rows",
        [("matmul", *sizes) for sizes in MATMULS],
        lambda k, n, m: f"{k} → {n}, {m}",
        lambda k, n, m: 2.0 * k * n * m,
    )
    k, n, lengths = MLP
    show(
        f"Gated feed-forward network, {k} → {n} → {k}, M rows",
        [("mlp", k, n, m) for m in lengths],
        lambda k, n, m: str(m),
        lambda k, n, m: 6.0 * k * n * m,
    )
    d, lengths = CHAIN
    show(
        f"silu(rms_norm(x)) · y on [M, {d}], bytes of arguments and results",
        [("chain", d, m) for m in lengths],
        lambda d, m: str(m),
        lambda d, m: 12.0 * d * m,
    )
    show(
        "softmax of [M, M], bytes of arguments and results",
        [("softmax", m) for m in SOFTMAX],
        lambda m: str(m),
        lambda m: 8.0 * m * m,
    )
    for worker in workers:
        if worker.disturbed > DISTURBED:
            print(f"\n{worker.name}: disturbed, others used {worker.disturbed:.2f} processors while it was timed")
        worker.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--peer-python", default=sys.executable, help="the interpreter that has the peers")
    parser.add_argument("--threads", default="1,2", help="numbers of threads")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--side", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.side:
        name, threads = arguments.side
        serve(lambda: SIDES[name](int(threads)), INSTALL[name])
        return 0
    print(f"Kernels on {machine()}, medians of {arguments.rounds} rounds")
    for threads in map(int, arguments.threads.split(",")):
        compare(threads, arguments.rounds, arguments.peer_python)
    return 0


if __name__ == "__main__":
    sys.exit(main())

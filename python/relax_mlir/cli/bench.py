# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`relax-mlir bench` of a program: how long it takes to compile and to call, next to onnxruntime where that is there.

Both run the same inputs on the same number of threads, in turns. A round is some calls of each, about 10 ms at least;
the time of a call is the median of the rounds.
"""

from __future__ import annotations

import dataclasses
import json
import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from ..dtypes import is_float_array
from ..errors import MissingPackageError, RelaxError
from ..execution.profiling import show_seconds
from ..runtime import Device, KernelTimes, pool_statistics, profile, reset_pool_peak, set_thread_count, thread_count
from .calling import call_errors
from .inputs import bind, complete, describe_array, parse_inputs, parse_sizes
from .notes import note, progress
from .programs import CallableProgram, open_program

_ROUND_SECONDS = 0.01
"""How long the calls of a round take at least."""

_MOST_KERNELS = 30
"""How many kernels are shown."""

_AGAINST = ("auto", "onnxruntime", "none")


@dataclasses.dataclass
class Runner:
    """What is measured.

    Attributes:
      ready: seconds until it can be called: reading, importing and compiling.
      first: seconds of the first call.
      results: the outputs of that call, by name.
      memory: the most bytes of the memory pool that it has used.
      rounds: seconds of a call in each round.
      device: the kind of device that it runs on; empty for the CPU.
    """

    name: str
    run: Callable[[], list[Any]]
    ready: float
    first: float = 0.0
    results: dict[str, Any] = dataclasses.field(default_factory=dict)
    memory: int = 0
    calls: int = 1
    rounds: list[float] = dataclasses.field(default_factory=list)
    device: str = ""

    @property
    def call(self) -> float:
        return statistics.median(self.rounds)

    def begin(self, names: Sequence[str] | None) -> None:
        """The first call, and how many calls make a round; `names` are those of the outputs, None for numbers."""
        reset_pool_peak()
        used = pool_statistics().used
        begin = time.perf_counter()
        results = self.run()
        self.first = time.perf_counter() - begin
        self.memory = pool_statistics().peak - used
        self.results = dict(zip(names or map(str, range(len(results))), results))
        begin = time.perf_counter()
        self.run()
        self.calls = max(1, min(1000, math.ceil(_ROUND_SECONDS / (time.perf_counter() - begin))))

    def measure(self) -> None:
        """One round."""
        begin = time.perf_counter()
        for _ in range(self.calls):
            self.run()
        self.rounds.append((time.perf_counter() - begin) / self.calls)

    def profile(self) -> KernelTimes:
        """The kernels of one more round."""
        with profile() as times:
            for _ in range(self.calls):
                self.run()
            if self.device:
                Device(self.device).synchronize()
        return times

    def to_json(self) -> dict[str, float]:
        return {"ready_seconds": self.ready, "first_call_seconds": self.first, "call_seconds": self.call}


def bench(
    source: str,
    inputs: Sequence[str],
    *,
    sizes: str = "",
    threads: int | None = None,
    rounds: int = 10,
    against: str = "auto",
    target: str | None = None,
    kernels: bool = False,
    as_json: bool = False,
) -> None:
    """Measures a program and shows the times.

    Args:
      inputs: as `parse_inputs` takes them; others are made at random.
      sizes: values of symbols, as `parse_sizes` takes them.
      threads: of the CPU; those of the process unless given.
      kernels: whether to show the times of kernels.
      against: "onnxruntime", "none", or "auto" for onnxruntime where it is installed and the program is an ONNX model.

    Raises:
      RelaxError: an option or an input is wrong, or the program cannot be compiled or called.
    """
    if rounds < 1:
        raise RelaxError(f"--rounds is {rounds}; expected at least 1")
    if against not in _AGAINST:
        raise RelaxError(f"--against is {against!r}; expected one of {', '.join(_AGAINST)}")
    given, symbols = parse_inputs(inputs), parse_sizes(sizes)
    before = thread_count()
    set_thread_count(threads or before)
    try:
        runners, values = _runners(source, given, symbols, against, target)
        for index in range(rounds):
            for runner in runners if index % 2 else reversed(runners):
                with call_errors():
                    runner.measure()
        times = None
        if kernels:
            with call_errors():
                times = runners[0].profile()
        used = thread_count()
    finally:
        set_thread_count(before)
    report = Report(source, used, rounds, values, runners, times)
    if as_json:
        print(json.dumps(report.to_json(), indent=1))
    else:
        report.show()


def _runners(
    source: str, given: Any, symbols: Mapping[str, int], against: str, target: str | None
) -> tuple[list[Runner], dict[str, Any]]:
    """What is measured, each called once, and the inputs."""
    begin = time.perf_counter()
    program = open_program(source, target)
    opened = time.perf_counter() - begin
    if against == "onnxruntime" and program.model is None:
        raise RelaxError(f"'{source}' is not an ONNX model (.onnx), which onnxruntime runs; leave --against out")
    bound = bind(given, program.inputs, program.function)
    values = complete(bound, program.inputs, program.ranges, symbols)
    begin = time.perf_counter()
    with progress(f"compiling {source}"):
        call = program.prepare()
    ours = Runner("relax-mlir", lambda: call(values), opened + time.perf_counter() - begin, device=program.device)
    with call_errors(), progress("the first call"):
        ours.begin(program.outputs)
    if against == "none" or program.model is None:
        return [ours], values
    try:
        other = _onnxruntime(source, program, values)
        other.begin(program.outputs)
    except Exception as error:  # whatever onnxruntime raises: its exceptions have no common class
        reason = str(error) if isinstance(error, MissingPackageError) else f"onnxruntime does not run it: {error}"
        if against == "onnxruntime":
            raise RelaxError(reason) from None
        note(reason, style="dim")
        return [ours], values
    return [ours, other], values


def _onnxruntime(source: str, program: CallableProgram, values: Mapping[str, Any]) -> Runner:
    try:
        import onnxruntime
    except ImportError:
        raise MissingPackageError(
            "onnxruntime is not installed, so there is nothing to compare with; pip install onnxruntime"
        ) from None
    begin = time.perf_counter()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = thread_count()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    names = list(program.outputs or ())
    ready = time.perf_counter() - begin
    return Runner(f"onnxruntime {onnxruntime.__version__}", lambda: session.run(names, values), ready)


def largest_difference(first: Mapping[str, Any], second: Mapping[str, Any]) -> tuple[float, str]:
    """The largest absolute difference of numbers in outputs of the same names, and the name of the output.

    It is infinite where one number is NaN and the other is not, and where types or shapes differ.
    """
    return max(((_difference(value, second[name]), name) for name, value in first.items()), default=(0.0, ""))


def _difference(first: Any, second: Any) -> float:
    if isinstance(first, list) and isinstance(second, list) and len(first) == len(second):
        return max(map(_difference, first, second), default=0.0)
    if first is None or second is None:
        return 0.0 if first is second else math.inf
    first, second = np.asarray(first), np.asarray(second)
    if first.shape != second.shape or first.dtype != second.dtype:
        return math.inf
    if first.dtype.hasobject:
        return 0.0 if (first == second).all() else math.inf
    if not is_float_array(first) and first.dtype.kind != "c":
        return float(abs(first.astype(object) - second.astype(object)).max(initial=0)) if (first != second).any() else 0
    wide = np.complex128 if first.dtype.kind == "c" else np.float64
    first, second = first.astype(wide), second.astype(wide)
    is_same = (first == second) | (np.isnan(first) & np.isnan(second))  # also infinities
    with np.errstate(invalid="ignore"):
        apart = np.where(is_same, 0, np.abs(first - second))
    return float(np.nan_to_num(apart, nan=math.inf, posinf=math.inf).max(initial=0))


# --- reports


@dataclasses.dataclass
class Report:
    """What was measured: ours first, then what it is compared with, if anything."""

    source: str
    threads: int
    rounds: int
    inputs: Mapping[str, Any]
    runners: Sequence[Runner]
    kernels: KernelTimes | None = None

    def to_json(self) -> dict[str, Any]:
        """All of it, in seconds and bytes; a difference that is not finite is null."""
        ours = self.runners[0]
        made: dict[str, Any] = {
            "source": self.source,
            "threads": self.threads,
            "rounds": self.rounds,
            "inputs": {name: _describe(value) for name, value in self.inputs.items()},
            "relax_mlir": {**ours.to_json(), "memory_bytes": ours.memory},
        }
        for other in self.runners[1:]:
            difference, output = largest_difference(ours.results, other.results)
            made["onnxruntime"] = {**other.to_json(), "version": other.name.rpartition(" ")[2]}
            made["speedup"] = other.call / ours.call
            made["largest_difference"] = {"value": difference if math.isfinite(difference) else None, "output": output}
        if self.kernels is not None:
            made.update(self.kernels.to_json())
        return made

    def show(self) -> None:
        """Prints a table."""
        console = Console(highlight=False, markup=False, emoji=False)
        ours = self.runners[0]
        name, threads, rounds = Path(self.source).name, self.threads, self.rounds
        title = f"{name}, {threads} thread{'s' * (threads != 1)}, {rounds} round{'s' * (rounds != 1)}"
        table = Table("", *(runner.name for runner in self.runners), title=title)
        for what, seconds in (
            ("import and compile", lambda runner: runner.ready),
            ("time to first result", lambda runner: runner.ready + runner.first),
            ("call, median", lambda runner: runner.call),
        ):
            table.add_row(what, *(show_seconds(seconds(runner)) for runner in self.runners))
        table.add_row("memory of a call", _bytes(ours.memory))
        console.print(table)
        print("inputs:", ", ".join(f"{name} {_describe(value)}" for name, value in self.inputs.items()) or "none")
        for other in self.runners[1:]:
            difference, output = largest_difference(ours.results, other.results)
            print(f"{other.name} takes {other.call / ours.call:.2f} times as long")
            print(f"largest difference of results: {difference:.3g}" + f" (output {output})" * (difference > 0))
        if self.kernels is not None:
            show_kernels(self.kernels, ours.device)


def show_kernels(times: KernelTimes, device: str) -> None:
    """Prints the slowest kernels of a program on a kind of device; "" is the CPU."""
    print(f"\n{times.table(_MOST_KERNELS)}")
    if device == "cuda":
        print("kernels on CUDA devices are not measured")


def _describe(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_describe, value))}]"
    return describe_array(value) if isinstance(value, np.ndarray) else repr(value)


def _bytes(value: int) -> str:
    for scale, unit in ((2**20, "MiB"), (2**10, "KiB")):
        if value >= scale:
            return f"{value / scale:.1f} {unit}"
    return f"{value} bytes"

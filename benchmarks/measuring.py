#!/usr/bin/env python3
# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shared code of the benchmarks: peers in separate processes that take turns, the roofline, and tables.

Two spinning thread pools in one process distort each other's times, so each side of a comparison is a process that
answers requests, one line of JSON each, and is stopped (SIGSTOP) when it is not its turn:

    benchmark          worker "ours"      worker "onnxruntime"
        | {"tokens": 128} ->|                     |(stopped)
        |<- {"prefill": .2} |                     |
        | SIGSTOP --------->|  SIGCONT, request -> |
"""

from __future__ import annotations

import json
import math
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

DISTURBED = 0.06
"""The processor share that other processes may use during a measurement."""

SECONDS = 0.1
"""What is timed takes at least as long; shorter calls are repeated."""


def _busy_seconds() -> float:
    """The busy time of all processors; zero if the system does not report it."""
    try:
        with open("/proc/stat") as file:
            user, nice, system, _, _, irq, soft, steal = map(int, file.readline().split()[1:9])
    except OSError:
        return 0.0
    return (user + nice + system + irq + soft + steal) / os.sysconf("SC_CLK_TCK")


def _process_seconds(process: int) -> float:
    """The processor time of a process."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _wait_for_quiet(most: float = 20.0) -> None:
    """Waits until the processors are idle, for a limited time."""
    end = time.perf_counter() + most
    while time.perf_counter() < end:
        before = _busy_seconds()
        time.sleep(0.2)
        if _busy_seconds() - before <= 0.02:
            return


class Worker:
    """One side of a comparison.

    `hello` is its first answer once it is ready, with "missing" if it cannot run; `disturbed` is the largest number of
    processors that other processes used during its measurements.
    """

    def __init__(self, name: str, command: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        self.name = name
        self.disturbed = 0.0
        self._errors = tempfile.TemporaryFile("w+")
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            env={**os.environ, **(environment or {})},
        )
        self.hello = self._answer()
        if "missing" not in self.hello:
            self._process.send_signal(signal.SIGSTOP)

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout
        line = self._process.stdout.readline()
        if line:
            return json.loads(line)
        self._process.wait()
        self._errors.seek(0)
        raise RuntimeError(f"{self.name} ended with {self._process.returncode}:\n{self._errors.read()[-2000:]}")

    def ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Lets the worker run until it has answered."""
        assert self._process.stdin
        self._process.send_signal(signal.SIGCONT)
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer = self._answer()
        self._process.send_signal(signal.SIGSTOP)
        return answer

    def ask_undisturbed(self, request: Mapping[str, Any], tries: int = 6) -> dict[str, Any]:
        """Repeats a request that other processes disturb; returns the least disturbed answer."""
        least, best = float("inf"), {}
        for _ in range(tries):
            _wait_for_quiet()
            start, others = time.perf_counter(), _busy_seconds() - _process_seconds(self._process.pid)
            answer = self.ask(request)
            others = _busy_seconds() - _process_seconds(self._process.pid) - others
            disturbed = others / (time.perf_counter() - start)
            if disturbed < least:
                least, best = disturbed, answer
            if disturbed < DISTURBED:
                break
        self.disturbed = max(self.disturbed, least)
        return best

    def close(self) -> None:
        self._process.kill()
        self._process.wait()


def serve(start: Callable[[], Callable[[dict[str, Any]], dict[str, Any]]], install: str) -> None:
    """Runs a worker: `start` returns the function that answers requests; `install` installs its imports."""
    # Libraries print to the standard output, so answers use a separate descriptor.
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def say(answer: Mapping[str, Any]) -> None:
        print(json.dumps(answer), file=out, flush=True)

    try:
        answer = start()
    except ImportError as error:
        say({"missing": f"{error}; install it with: {install}"})
        return
    say(getattr(answer, "hello", {}))
    for line in sys.stdin:
        say(answer(json.loads(line)))


def missing(reason: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """A side that says why it cannot run."""

    def answer(request: dict[str, Any]) -> dict[str, Any]:
        raise AssertionError(reason)

    answer.hello = {"missing": reason}  # type: ignore[attr-defined]
    return answer


def time_of(call: Callable[[], Any]) -> float:
    """Seconds of a call."""
    count = 1
    while True:
        start = time.perf_counter()
        for _ in range(count):
            call()
        seconds = time.perf_counter() - start
        if seconds >= SECONDS:
            return seconds / count
        count = max(count + 1, math.ceil(count * 1.2 * SECONDS / max(seconds, 1e-6)))


def take_turns(
    workers: Sequence[Worker], request: Mapping[str, Any], rounds: int, *, undisturbed: bool = True
) -> dict[str, dict[str, float]]:
    """The median of each number in the workers' answers, over rounds in which each has a turn.

    `undisturbed` waits until other processes leave the processors alone.
    """
    answers: dict[str, list[dict[str, float]]] = {worker.name: [] for worker in workers}
    for turn in range(rounds):
        # Each worker has another neighbor in each round.
        order = workers[turn % len(workers) :] + workers[: turn % len(workers)]
        for worker in order:
            answers[worker.name].append(worker.ask_undisturbed(request) if undisturbed else worker.ask(request))
    return {
        name: {key: statistics.median(answer[key] for answer in given) for key in given[0]}
        for name, given in answers.items()
    }


def report_missing(workers: list[Worker]) -> list[Worker]:
    """The workers that can run; prints the names of the others."""
    for worker in workers:
        if "missing" in worker.hello:
            print(f"{worker.name} is left out: {worker.hello['missing']}", file=sys.stderr)
    return [worker for worker in workers if "missing" not in worker.hello]


def report_disturbed(workers: Sequence[Worker], what: str) -> None:
    """Names the workers beside which other processes used the processors, for a row of a table."""
    for worker in workers:
        if worker.disturbed > DISTURBED:
            used = f"others used {worker.disturbed:.2f} processors meanwhile"
            print(f"{what}, {worker.name}: {used}", file=sys.stderr)


def table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table in Markdown, its columns aligned."""
    cells = [[str(cell) for cell in row] for row in [header, *rows]]
    widths = [max(len(row[column]) for row in cells) for column in range(len(header))]
    lines = []
    for row in cells:
        padded = [cell.rjust(width) if i else cell.ljust(width) for i, (cell, width) in enumerate(zip(row, widths))]
        lines.append("| " + " | ".join(padded) + " |")
    rules = ["-" * (width + 1) + (":" if i else "-") for i, width in enumerate(widths)]
    lines.insert(1, "|" + "|".join(rules) + "|")
    return "\n".join(lines)


ROOFLINE = r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

/* The widest vectors of the machine, and the letter for a register of them. */
#if defined(__AVX512F__)
#define WIDTH 64
#elif defined(__AVX__)
#define WIDTH 32
#else
#define WIDTH 16
#endif
#if defined(__aarch64__)
#define REGISTER "w"
#elif defined(__AVX512F__)
#define REGISTER "v"
#else
#define REGISTER "x"
#endif
enum { THREADS = 64, BYTES = 256 << 20 };
typedef float vec __attribute__((vector_size(WIDTH)));
static int threads;
static pthread_barrier_t barrier;
static double work;
static char *memory[THREADS];
static long set, passes;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

/* Twelve chains hide the latency of a fused multiply-add on two units. */
static void *multiply(void *arg) {
  vec c[12], a, b;
  for (int j = 0; j < 12; ++j)
    c[j] = (vec){0};
  a = (vec){0} + 1.0f;
  b = (vec){0} + 1e-9f;
  __asm__ volatile("" : "+" REGISTER(a), "+" REGISTER(b));
  pthread_barrier_wait(&barrier);
  for (long i = 0; i < passes; ++i)
    for (int j = 0; j < 12; ++j)
      c[j] = c[j] * a + b;
  for (int j = 0; j < 12; ++j)
    __asm__ volatile("" : : REGISTER(c[j]));
  pthread_barrier_wait(&barrier);
  return arg;
}

static void *stream(void *arg) {
  const char *from = memory[(long)arg];
  vec s[8] = {{0}};
  pthread_barrier_wait(&barrier);
  for (long p = 0; p < passes; ++p)
    for (long i = 0; i < set; i += 8 * WIDTH)
      for (int j = 0; j < 8; ++j)
        s[j] += *(const vec *)(from + i + WIDTH * j);
  for (int j = 0; j < 8; ++j)
    __asm__ volatile("" : : REGISTER(s[j]));
  pthread_barrier_wait(&barrier);
  return arg;
}

static double best(void *(*body)(void *)) {
  double least = 1e9;
  for (int round = 0; round < 5; ++round) {
    pthread_t ids[THREADS];
    pthread_barrier_init(&barrier, 0, threads + 1);
    for (long i = 0; i < threads; ++i)
      pthread_create(&ids[i], 0, body, (void *)i);
    pthread_barrier_wait(&barrier);
    double start = now();
    pthread_barrier_wait(&barrier);
    double seconds = now() - start;
    for (int i = 0; i < threads; ++i)
      pthread_join(ids[i], 0);
    if (seconds < least)
      least = seconds;
  }
  return least;
}

int main(int argc, char **argv) {
  threads = argc > 1 ? atoi(argv[1]) : 1;
  passes = 20000000;
  double flops = 2.0 * (WIDTH / sizeof(float)) * 12 * passes * threads / best(multiply);
  for (int i = 0; i < threads; ++i) {
    char *block = mmap(0, BYTES + (2 << 20), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memory[i] = (char *)(((size_t)block + (2 << 20) - 1) & ~(size_t)((2 << 20) - 1));
    madvise(memory[i], BYTES, MADV_HUGEPAGE);
    for (long j = 0; j < BYTES; j += 64)
      memory[i][j] = 1;
  }
  set = BYTES, passes = 1;
  double dram = 1.0 * set * passes * threads / best(stream);
  set = 512 << 10, passes = 2000;
  double cache = 1.0 * set * passes * threads / best(stream);
  printf("{\"flops\": %g, \"bytes\": %g, \"cached_bytes\": %g}\n", flops, dram, cache);
  return 0;
}
"""


def roofline(threads: int) -> dict[str, float]:
    """Peak of f32 multiply-adds in flop/s, and of reads in bytes/s, from memory and in the cache of a core.

    Needs a C compiler; without one, NumPy's matmul and sum replace the first two, and are not peaks.
    """
    compiler = shutil.which(os.environ.get("CC", "cc"))
    if compiler is None:
        print("no C compiler: the roofline is NumPy's product and sum, not the machine's", file=sys.stderr)
        return _numpy_roofline()
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder) / "roofline.c", Path(folder) / "roofline"
        source.write_text(ROOFLINE)
        flags = ["-O3", "-march=native", "-ffp-contract=fast", "-pthread"]
        subprocess.run([compiler, *flags, source, "-o", program], check=True)
        return json.loads(subprocess.run([program, str(threads)], check=True, capture_output=True, text=True).stdout)


def _numpy_roofline() -> dict[str, float]:
    import time

    import numpy as np

    a, big = np.ones((1024, 1024), np.float32), np.ones(64 << 20, np.float32)

    def best(run: Callable[[], Any]) -> float:
        times = []
        for _ in range(5):
            start = time.perf_counter()
            run()
            times.append(time.perf_counter() - start)
        return min(times)

    flops, read = 2 * 1024**3 / best(lambda: a @ a), big.nbytes / best(lambda: big.max())
    return {"flops": flops, "bytes": read, "cached_bytes": read}


def machine() -> str:
    """The processor's units, as far as Linux reports them, without names."""
    try:
        flags = next(line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("flags"))
    except (OSError, StopIteration):
        return f"{os.cpu_count()} processors"
    widest = next(
        (name for name in ("avx512f", "avx2", "avx", "sse2") if f" {name} " in f"{flags} "), "no vector units"
    )
    return f"{os.cpu_count()} processors, {widest}"

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks entries in worker processes, and survives samples that crash or hang.

All samples of an entry are one group, which is one program. A group that fails as a whole is divided until the failing
samples are alone. So a passing entry is fast to check, and a failing one names samples.
"""

from __future__ import annotations

import json
import os
import queue
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from . import results

SECONDS = 60
"""The time limit of a sample; a group has this limit for every four samples."""

MOST_FAILURES = 3
"""The number of failed samples after which an entry is not divided further."""

Sample = tuple[str, int]
"""A sample of an entry: its element type and its number."""

_ENTRIES_EACH = 60
"""The number of entries after which a process is replaced, since PyTorch retains memory of traced programs."""

_FOLDER = Path(__file__).resolve().parent.parent


class WorkerError(Exception):
    """A worker has died, or exceeded its time limit. `kind` is the outcome, the message the reason."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class Worker:
    """A process that answers requests; after it has died, a new one replaces it."""

    def __init__(self, mode: str) -> None:
        self._mode = mode
        self._process: subprocess.Popen[str] | None = None

    def ask(self, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        """The reply to a request.

        Raises:
          WorkerError: there was no reply within the time limit.
        """
        process = self._start()
        assert process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
        except OSError:
            raise self._died() from None
        if not select.select([process.stdout], [], [], seconds)[0]:
            self.stop()
            raise WorkerError("time", f"no result within {seconds:.0f} s")
        line = process.stdout.readline()
        if not line:
            raise self._died()
        return json.loads(line)

    def stop(self) -> None:
        """Terminates the process, if there is one."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _start(self) -> subprocess.Popen[str]:
        if self._process is None:
            # Samples are small, and several workers share the machine.
            path = os.pathsep.join(filter(None, [str(_FOLDER), os.environ.get("PYTHONPATH")]))
            environment = dict(os.environ, PYTHONPATH=path, RELAX_NUM_THREADS="1", OMP_NUM_THREADS="1")
            self._process = subprocess.Popen(
                [sys.executable, "-m", "opinfo.worker", self._mode],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                env=environment,
            )
        return self._process

    def _died(self) -> WorkerError:
        assert self._process is not None
        code = self._process.wait()
        self.stop()
        return WorkerError("crash", signal.Signals(-code).name if code < 0 else f"the process ended with {code}")


def check_entry(worker: Worker, name: str) -> dict[str, Any]:
    """Checks an entry with all its samples, and returns its result (results.py)."""
    start = time.monotonic()
    samples: list[Sample] = []
    outcomes: dict[Sample, Any] = {}
    problem, died = "", None
    try:
        reply = worker.ask({"entry": name}, 2 * SECONDS)
        problem = reply.get("error", "")
        samples = [(dtype, index) for dtype, count in reply.get("dtypes", ()) for index in range(count)]
        outcomes = _check_samples(worker, name, samples)
    except WorkerError as error:
        problem, died = f"the samples: {error}", error.kind
    return results.summarize(name, samples, outcomes, problem, time.monotonic() - start, died)


def _check_samples(worker: Worker, name: str, samples: Sequence[Sample]) -> dict[Sample, Any]:
    """The outcomes of samples, by sample. After enough failures, the remaining samples may have no outcome."""
    found: dict[Sample, Any] = {}
    groups = [list(samples)] if samples else []
    while groups:
        group = groups.pop()
        outcomes = _check_group(worker, {"entry": name, "samples": group})
        if len(group) > 1 and any(outcome["kind"] in results.OF_GROUPS for outcome in outcomes):
            groups += reversed(_divide(group))
            continue
        found.update(zip(group, outcomes))
        if sum(outcome["kind"] in results.FAILED for outcome in found.values()) >= MOST_FAILURES:
            break
    return found


def _divide(group: Sequence[Sample]) -> list[list[Sample]]:
    """The samples of each element type, or two halves if there is only one type."""
    by_dtype: dict[str, list[Sample]] = {}
    for sample in group:
        by_dtype.setdefault(sample[0], []).append(sample)
    if len(by_dtype) > 1:
        return list(by_dtype.values())
    half = len(group) // 2
    return [list(group[:half]), list(group[half:])]


def _check_group(worker: Worker, request: dict[str, Any]) -> list[dict[str, Any]]:
    count = len(request["samples"])
    try:
        reply = worker.ask(request, SECONDS * max(1, count / 4))
    except WorkerError as error:
        return [{"kind": error.kind, "reason": str(error)}] * count
    if "error" in reply:
        return [{"kind": "run", "reason": reply["error"]}] * count
    return reply["outcomes"]


def check_entries(names: Sequence[str], mode: str, jobs: int, report: Callable[[dict[str, Any]], None]) -> None:
    """Checks entries in `jobs` processes, and calls `report` with each result, from one thread at a time."""
    waiting: queue.SimpleQueue[str] = queue.SimpleQueue()
    for name in names:
        waiting.put(name)
    lock = threading.Lock()
    problems: list[BaseException] = []

    def work() -> None:
        worker = Worker(mode)
        try:
            for count in range(1, len(names) + 1):
                result = check_entry(worker, waiting.get_nowait())
                with lock:
                    report(result)
                if count % _ENTRIES_EACH == 0:
                    worker.stop()
        except queue.Empty:
            pass
        except BaseException as error:
            problems.append(error)
        finally:
            worker.stop()

    threads = [threading.Thread(target=work, daemon=True) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if problems:
        raise problems[0]

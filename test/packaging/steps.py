# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Steps of a newcomer, with the seconds that each takes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path


class Steps:
    """Runs commands, and prints the seconds of each when it is over."""

    def __init__(self) -> None:
        self.total = 0.0

    def run(self, name: str, command: Sequence[str | Path], folder: Path) -> str:
        """Returns the command's output; a command that fails ends the program with what it printed."""
        # An environment that is active here must not be used by accident.
        environment = {key: value for key, value in os.environ.items() if key not in ("VIRTUAL_ENV", "PYTHONPATH")}
        start = time.monotonic()
        run = subprocess.run(command, cwd=folder, env=environment, text=True, capture_output=True)
        self._report(name, time.monotonic() - start)
        if run.returncode:
            sys.exit(f"{' '.join(map(str, command))}\n{run.stdout}{run.stderr}")
        return run.stdout

    def write(self, name: str, files: dict[Path, str]) -> None:
        start = time.monotonic()
        for path, text in files.items():
            path.write_text(text)
        self._report(name, time.monotonic() - start)

    def fastest(self, name: str, command: Sequence[str | Path], limit: float) -> bool:
        """Runs a command three times after one that fills caches; whether the fastest run is within the limit."""
        seconds = []
        for _ in range(4):
            start = time.monotonic()
            subprocess.run(command, check=True, cwd="/", stdout=subprocess.DEVNULL)
            seconds.append(time.monotonic() - start)
        best = min(seconds[1:])
        print(f"{best:8.2f} s  {name} (at most {limit} s on an idle machine)", flush=True)
        return best <= limit

    def _report(self, name: str, seconds: float) -> None:
        self.total += seconds
        print(f"{seconds:8.1f} s  {name}", flush=True)

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where the tests find relax-opt, and how they run it."""

import os
import shutil
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE

ROOT = Path(__file__).resolve().parents[2]


def find_tool(name: str) -> str:
    """A built tool: in RELAX_TOOLS_DIR where set, else on PATH (as in test/lit.cfg.py)."""
    tool = shutil.which(name, path=os.environ.get("RELAX_TOOLS_DIR") or os.environ.get("PATH"))
    if not tool:
        raise FileNotFoundError(f"{name} is not on PATH; install the package or set RELAX_TOOLS_DIR")
    return tool


@dataclass(frozen=True)
class Run:
    """How a tool ended. A run that was stopped for its time has the stack trace in `stderr`."""

    returncode: int
    stdout: bytes
    stderr: bytes
    timed_out: bool = False


def relax_opt(*options: str, source: bytes, timeout: float = 60) -> Run:
    """Runs relax-opt on `source`, text or bytecode, for at most `timeout` seconds."""
    command = [find_tool("relax-opt"), *options, "-"]
    with subprocess.Popen(command, stdin=PIPE, stdout=PIPE, stderr=PIPE) as process:
        try:
            stdout, stderr = process.communicate(source, timeout)
            return Run(process.returncode, stdout, stderr)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGABRT)  # LLVM prints the stack
        try:
            stdout, stderr = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            stdout, stderr = process.communicate()
        return Run(process.returncode, stdout, stderr, timed_out=True)

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where the tests find relax-opt, and how they run it."""

import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def find_tool(name: str) -> str:
    """A built tool: in RELAX_TOOLS_DIR where set, else on PATH (as in test/lit.cfg.py)."""
    tool = shutil.which(name, path=os.environ.get("RELAX_TOOLS_DIR") or os.environ.get("PATH"))
    if not tool:
        raise FileNotFoundError(f"{name} is not on PATH; install the package or set RELAX_TOOLS_DIR")
    return tool


def relax_opt(*options: str, source: bytes, timeout: float = 60) -> subprocess.CompletedProcess:
    """Runs relax-opt on `source`, text or bytecode; output and diagnostics are bytes.

    Raises subprocess.TimeoutExpired after `timeout` seconds.
    """
    return subprocess.run(
        [find_tool("relax-opt"), *options, "-"], input=source, capture_output=True, timeout=timeout
    )

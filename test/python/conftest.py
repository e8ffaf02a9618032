# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finding and running relax-opt, and the targets that tests run on."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE
from typing import TYPE_CHECKING

import pytest
import sample

if TYPE_CHECKING:
    from relax_mlir import BlockBuilder

ROOT = Path(__file__).resolve().parents[2]


def find_tool(name: str) -> str:
    """A built tool: in RELAX_TOOLS_DIR if set, otherwise on PATH (as in test/lit.cfg.py)."""
    tool = shutil.which(name, path=os.environ.get("RELAX_TOOLS_DIR") or os.environ.get("PATH"))
    if not tool:
        raise FileNotFoundError(f"{name} is not on PATH; install the package or set RELAX_TOOLS_DIR")
    return tool


@dataclass(frozen=True)
class Run:
    """The outcome of a tool. If it timed out, `stderr` has its stack trace."""

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


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Runs each test of a module on the targets that its `RUNS_ON` names (targets.py)."""
    if names := getattr(metafunc.module, "RUNS_ON", None):
        metafunc.parametrize("target", names, indirect=True)


def pytest_report_header() -> str:
    if sample.EVERYTHING:
        return "all cases"
    return f"a sample of the cases: RELAX_TEST_SAMPLE={sample.seed()} repeats it, RELAX_ALL_CASES=1 takes all"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Takes a sample of the cases (sample.py), except when tests are named individually."""
    if sample.EVERYTHING or any("::" in argument for argument in config.args):
        return
    items[:], others = sample.choose(items, sample.seed())
    config.hook.pytest_deselected(items=others)
    output = os.environ.get("RELAX_TEST_OUTPUT")  # set by tools/run-tests; each worker computes the same
    if output and os.environ.get("PYTEST_XDIST_WORKER", "gw0") == "gw0":
        note = {"seed": sample.seed(), "left": len(others)}
        Path(output, "sample.json").write_text(json.dumps(note))


# Requested by every test: a fixture named only in `pytest_generate_tests` is lost if a test has its own parameters.
@pytest.fixture(autouse=True)
def target(request: pytest.FixtureRequest) -> Iterator[str]:
    """The target of the test; checks that each SPIR-V module it produces is valid."""
    import targets

    targets.current = getattr(request, "param", "cpu")
    if targets.current.startswith("vulkan") and request.node.name.startswith(targets.OFF_ON_LAVAPIPE):
        import vulkan

        if vulkan.is_lavapipe():
            pytest.skip("lavapipe takes zero by anything for zero")
    yield targets.current
    if targets.current.startswith("vulkan"):
        import vulkan

        vulkan.validate()


@pytest.fixture
def bb() -> BlockBuilder:
    from relax_mlir import BlockBuilder

    return BlockBuilder()

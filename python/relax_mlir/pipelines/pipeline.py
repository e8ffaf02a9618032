# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pipelines: sequences of compiler passes and Python passes.

>>> pipeline = Pipeline([DeduceShapes(), my_pass, Canonicalize(), CSE()])
>>> report = pipeline.run(module, timing=True)

A failing C++ pass raises `RelaxError`; its message ends with the `relax-opt` command that reproduces the failure
from a file with the module as it was before that pass.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import re
import shlex
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO, Union

from mlir import ir
from mlir.passmanager import PassManager

from .. import _relax
from ..diagnostics import collected_errors, error_from
from ..errors import RelaxError
from ..files import write_whole
from ..ir_checks import checked_detaching
from ..module import Module
from ..progress import Progress, ProgressLike, reporting
from .passes import BasePass

PythonPass = Callable[[Module], Any]
"""A pass in Python: changes the module in place."""
Step = Union[BasePass, PythonPass, "Pipeline", list[Any], tuple[Any, ...]]
"""A pass, or passes in order."""


@dataclasses.dataclass(frozen=True)
class Timing:
    """The wall time of one step."""

    name: str
    seconds: float


@dataclasses.dataclass(frozen=True)
class Report:
    """The record of a run. `str(report)` is a table of the time that each pass took."""

    timings: tuple[Timing, ...]

    @property
    def seconds(self) -> float:
        return sum(timing.seconds for timing in self.timings)

    def __str__(self) -> str:
        total = self.seconds
        lines = [f"{'seconds':>10}  {'share':>6}  pass"]
        for timing in self.timings:
            share = timing.seconds / total if total else 0
            lines.append(f"{timing.seconds:10.6f}  {share:6.1%}  {timing.name}")
        lines.append(f"{total:10.6f}  {1:6.1%}  total")
        return "\n".join(lines)


def _name(step: BasePass | PythonPass) -> str:
    if isinstance(step, BasePass):
        return step.name
    return getattr(step, "__name__", type(step).__name__)


def _flatten(steps: Iterable[Any]) -> Iterator[BasePass | PythonPass]:
    for step in steps:
        if isinstance(step, Pipeline):
            yield from step.steps
        elif isinstance(step, (list, tuple)):
            yield from _flatten(step)
        elif isinstance(step, BasePass) or callable(step) and not isinstance(step, type):
            yield step
        elif isinstance(step, type) and issubclass(step, BasePass):
            raise RelaxError(f"{step.__name__} is a class; write {step.__name__}()")
        else:
            raise RelaxError(
                f"{step!r} is not a pass; expected one of relax_mlir.pipelines, Pass('name'), a function "
                "of the module, or a Pipeline"
            )


class Pipeline:
    """Passes in order. Pipelines and lists in `steps` are spliced in."""

    def __init__(self, steps: Sequence[Step] = ()) -> None:
        self.steps: tuple[BasePass | PythonPass, ...] = tuple(_flatten(steps))

    def __add__(self, other: Step) -> Pipeline:
        return Pipeline([*self.steps, other])

    def __len__(self) -> int:
        return len(self.steps)

    def to_text(self) -> str:
        """The passes in the syntax of `relax-opt`.

        Raises:
          RelaxError: one of them is a Python function.
        """
        texts = []
        for step in self.steps:
            if not isinstance(step, BasePass):
                raise RelaxError(f"'{_name(step)}' is a pass in Python, which no text can name")
            texts.append(step.to_text())
        return ",".join(texts)

    def __repr__(self) -> str:
        return f"Pipeline([{', '.join(map(_name, self.steps))}])"

    def run(
        self,
        module: Module,
        *,
        print_after: bool | str | Collection[str] = False,
        timing: bool = False,
        verify_each: bool = True,
        reproducer: str | os.PathLike[str] | bool = True,
        file: TextIO | None = None,
        progress: ProgressLike = None,
    ) -> Report:
        """Runs the passes on a module, in place.

        Args:
          print_after: True for every pass, or the names of the passes after which to print the module.
          timing: print a table of the time that each pass took.
          verify_each: verify the module after each pass.
          reproducer: where to write the module before a failing pass, with the pass; True for a file in
            the folder for temporary files, where the newest 16 are kept, False for none.
          file: where to print; stderr by default.
          progress: a function that is called with the number of finished passes, the number of all, and the name of
            the next pass; True shows a bar on a terminal, and prints a line for each pass elsewhere, to stderr.

        Raises:
          RelaxError: a pass failed. The module is as that pass left it.
        """
        file = file or sys.stderr
        names = {print_after} if isinstance(print_after, str) else print_after
        if not isinstance(names, bool):
            unknown = sorted(set(names) - {_name(step) for step in self.steps})
            if unknown:
                raise RelaxError(
                    f"print_after names '{unknown[0]}', which is not a pass of this pipeline; its "
                    f"passes are {', '.join(map(_name, self.steps)) or '(none)'}"
                )
        managers = {
            position: _pass_manager(step, module.context, verify_each)
            for position, step in enumerate(self.steps)
            if isinstance(step, BasePass)
        }
        with reporting(progress or False) as report_progress:
            timings = self._run_steps(module, managers, names, verify_each, reproducer, file, report_progress)
        report = Report(tuple(timings))
        if timing:
            print(report, file=file)
        return report

    def _run_steps(
        self,
        module: Module,
        managers: Mapping[int, PassManager],
        printed: bool | Collection[str],
        verify_each: bool,
        reproducer: str | os.PathLike[str] | bool,
        file: TextIO,
        progress: Progress | None,
    ) -> list[Timing]:
        timings = []
        for position, step in enumerate(self.steps):
            if progress:
                progress(position, len(self.steps), _name(step))
            start = time.perf_counter()
            if isinstance(step, BasePass):
                _run_native(step, managers[position], module, verify_each, reproducer)
            else:
                _run_python(step, module, verify_each, f"{position + 1} of {len(self.steps)}")
            timings.append(Timing(_name(step), time.perf_counter() - start))
            if printed is True or (not isinstance(printed, bool) and _name(step) in printed):
                print(f"// ----- after {_name(step)} -----\n{module}", file=file)
        if progress:
            progress(len(self.steps), len(self.steps), "")
        return timings


def _pass_manager(step: BasePass, context: ir.Context, verify: bool) -> PassManager:
    """A pass manager for one pass; created before anything runs, so that a wrong name changes nothing."""
    try:
        manager = PassManager.parse(_pipeline_text(step), context)
    except (ValueError, ir.MLIRError) as error:
        if not _relax.is_pass_registered(step.argument):
            raise RelaxError(f"there is no pass '{step.argument}'; relax-opt --help lists the passes") from None
        raise RelaxError(f"pass '{step.to_text()}': {error}") from None
    manager.enable_verifier(verify)
    return manager


def _pipeline_text(step: BasePass) -> str:
    return f"builtin.module({step.to_text()})"


def _run_native(
    step: BasePass,
    manager: PassManager,
    module: Module,
    verify: bool,
    reproducer: str | os.PathLike[str] | bool,
) -> None:
    before = module.ir.operation.clone(ip=False) if reproducer is not False else None
    with collected_errors(module.context) as errors:
        succeeded = _relax.run_passes(manager, module.ir.operation)
    if not succeeded:
        error = error_from(errors, "the pass reported no reason")
        message = f"pass '{step.to_text()}' failed\n{error}"
        if before is not None:
            try:
                path = _write_reproducer(before, step, verify, reproducer)
                message += f"\nreplay it with:\n  relax-opt --run-reproducer {shlex.quote(str(path))}"
            except OSError as problem:
                where = f" '{problem.filename}'" if problem.filename else ""
                message += f"\ncannot write the reproducer{where}: {problem.strerror or problem}"
        raise RelaxError(message, error.location, error.diagnostics)


_KEPT_REPRODUCERS = 16
_REPRODUCER = re.compile(r"relax-reproducer-[\w-]+\.mlir", re.ASCII)


def _make_temporary(step: BasePass) -> str:
    """A new file in the folder for temporary files, accessible only to this user; removes this user's oldest ones."""
    handle, name = tempfile.mkstemp(prefix=f"relax-reproducer-{step.argument}-", suffix=".mlir")
    os.close(handle)
    found = []
    with os.scandir(os.path.dirname(name)) as files:
        for file in files:
            if _REPRODUCER.fullmatch(file.name):
                with contextlib.suppress(OSError):  # another process has removed it
                    status = file.stat(follow_symlinks=False)
                    if stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid():
                        found.append((status.st_mtime_ns, file.path))
    for _, path in sorted(found)[:-_KEPT_REPRODUCERS]:
        with contextlib.suppress(OSError):
            os.unlink(path)
    return name


def _write_reproducer(before: ir.Operation, step: BasePass, verify: bool, path: str | os.PathLike[str] | bool) -> Path:
    """Writes a module with the pipeline to run on it, as `mlir-opt` reads it; raises OSError."""
    text = before.get_asm(enable_debug_info=True, assume_verified=False)
    pipeline = _pipeline_text(step).replace("\\", "\\\\").replace('"', '\\"')
    configuration = (
        "{-#\n  external_resources: {\n    mlir_reproducer: {\n"
        f'      pipeline: "{pipeline}",\n'
        "      disable_threading: true,\n"
        f"      verify_each: {'true' if verify else 'false'}\n"
        "    }\n  }\n#-}\n"
    )
    target = Path(_make_temporary(step) if isinstance(path, bool) else path)
    try:
        write_whole(target, f"{text}\n{configuration}".encode(errors="surrogateescape"))
    except OSError:
        if path is True:
            target.unlink(missing_ok=True)
        raise
    return target


def _run_python(step: PythonPass, module: Module, verify: bool, position: str) -> None:
    try:
        with checked_detaching(module.ir.body):
            replaced = step(module)
        if isinstance(replaced, Module) and replaced != module:
            raise RelaxError("a pass changes the module in place; it returned another one")
        if verify:
            module.verify()
    except RelaxError as error:
        raise RelaxError(
            f"Python pass '{_name(step)}' (step {position}) failed\n{error}",
            error.location,
            error.diagnostics,
        ) from error
    except Exception as error:
        if hasattr(error, "add_note"):  # Python 3.11
            error.add_note(f"in Python pass '{_name(step)}' (step {position})")
        raise

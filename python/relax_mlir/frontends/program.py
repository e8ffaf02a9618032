# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A program of another framework as a module; `compiled` has what it becomes when it is compiled."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence

import numpy as np

from ..compiler import Target, compile_code
from ..module import Module
from ..runtime import Executable
from .compiled import BUFFERS, FUNCTION, RANDOM_STATE, SIGNATURE, CompiledProgram, load_program, write_folder
from .signature import Signature, Variants
from .tree import Codec

__all__ = [
    "BUFFERS",
    "FUNCTION",
    "RANDOM_STATE",
    "SIGNATURE",
    "CompiledProgram",
    "Program",
    "Report",
    "load_program",
    "write_folder",
]


@dataclasses.dataclass
class Report:
    """What an import has found out: lines of text under a heading each."""

    sections: dict[str, list[str]] = dataclasses.field(default_factory=dict)

    def add(self, heading: str, lines: Sequence[str]) -> None:
        """Adds lines under a heading."""
        self.sections.setdefault(heading, []).extend(lines)

    def __str__(self) -> str:
        parts = []
        for heading, lines in self.sections.items():
            parts += [heading, *(f"  {line}" for line in lines or ["none"])]
        return "\n".join(parts)


@dataclasses.dataclass
class Program:
    """A program of another framework as a module.

    Attributes:
      module: the function `main`, and those of the variants.
      weights: the values of the module's external weights.
      buffers: the first values of buffers that calls change.
      report: symbols, checks, and ops by converter.
    """

    module: Module
    signature: Signature
    weights: dict[str, np.ndarray]
    buffers: dict[str, np.ndarray]
    report: Report
    codecs: dict[str, Codec] = dataclasses.field(default_factory=dict)
    variants: Variants = Variants()

    def compile(
        self, target: Target | str | None = None, *, use_bounds: bool = False, cached: bool = True
    ) -> CompiledProgram:
        """Compiles the program for this machine; arguments as for `relax_mlir.compile`."""
        executable = Executable(compile_code(self.module, target, use_bounds=use_bounds, cached=cached))
        if executable.code.weights:
            executable.bind_weights({name: self.weights[name] for name in executable.code.weights})
        buffers = {name: value.copy() for name, value in self.buffers.items()}
        return CompiledProgram(executable, self.signature, buffers, self.codecs, self.variants)

    def export(self, folder: str | os.PathLike[str], target: Target | str | None = None) -> None:
        """Compiles the program to a folder that runs without the framework (`load_program`) and without the compiler.

        Raises:
          RelaxError: a pass failed, or the folder cannot be written.
        """
        code = compile_code(self.module, target)
        write_folder(code, folder, self.weights, self.signature, self.buffers, self.variants)

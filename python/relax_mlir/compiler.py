# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiling a module for this machine or another."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from . import _relax
from .errors import collected_errors, error_from
from .module import Module
from .pipelines import Pipeline
from .pipelines.cpu import lower_for_cpu
from .runtime import Executable


@dataclasses.dataclass(frozen=True)
class Target:
    """A CPU, by LLVM's names."""

    triple: str
    cpu: str = ""
    features: str = ""

    @staticmethod
    def host() -> Target:
        """This machine, with all its vector units."""
        return Target(*_relax.host_target())

    @property
    def vector_bits(self) -> int:
        """Bits of the widest vector register."""
        return _relax.vector_bits(self.triple, self.cpu, self.features)


def compile_object(module: Module, target: Target | None = None, pipeline: Pipeline | None = None) -> bytes:
    """The object file of a module, which is not changed.

    Raises:
      RelaxError: a pass failed; the message names the op and its source line.
    """
    target = target or Target.host()
    module = module.clone()
    (pipeline or lower_for_cpu(target.vector_bits)).run(module)
    with collected_errors(module.context) as errors:
        code = _relax.emit_object(module.ir, target.triple, target.cpu, target.features, 3)
    if code is None:
        raise error_from(errors, "no code could be made for the module")
    return code


def compile(
    module: Module, *, weights: Mapping[str, Any] | None = None, pipeline: Pipeline | None = None
) -> Executable:
    """Compiles a module for this machine and loads it; it is not changed.

    Args:
      weights: what `relax.constant weight "name"` stands for; can also be given later.
      pipeline: passes that lead to the LLVM dialect; those of `relax_mlir.pipelines.cpu` by default.

    >>> executable = compile(module)
    >>> y = executable["main"](np.ones((3, 128), np.float32))
    """
    functions = tuple(_public_functions(module))
    executable = Executable(compile_object(module, pipeline=pipeline), functions)
    if weights:
        executable.bind_weights(weights)
    return executable


def _public_functions(module: Module) -> list[str]:
    """Graph functions with a body that may be called from outside."""
    return [
        operation.attributes["sym_name"].value
        for operation in module.ir.body.operations
        if operation.operation.name == "relax.func"
        and "sym_visibility" not in operation.attributes
        and len(operation.regions[0].blocks)
    ]

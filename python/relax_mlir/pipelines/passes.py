# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Passes, as values with typed options.

Each pass of the project is a dataclass, generated from its definition (`DeduceShapes()`); any other pass that
is registered in the process is `Pass("name", **options)`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Union

Entries = Union[Sequence[str], Mapping[Any, Any]]
"""A list of strings, or an equivalent mapping: `{n: 128}` for `["n=128"]`."""


def format_option(name: str, value: Any) -> str:
    """One option in the syntax of a pipeline."""
    return f"{name.rstrip('_').replace('_', '-')}={_format_value(value)}"


def _format_value(value: Any) -> str:
    if isinstance(value, Mapping):
        value = [f"{key}={_format_value(entry)}" for key, entry in value.items()]
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ",".join(map(_format_value, value))
    text = str(value)
    if any(character in text for character in " {}'\"") or not text:
        if "{" in text and text.startswith("{"):
            return text
        quote = '"' if "'" in text else "'"
        return f"{quote}{text}{quote}"
    return text


class BasePass:
    """A step of a pipeline that the compiler runs."""

    argument: ClassVar[str]
    """The name under which the pass is registered."""
    anchor: ClassVar[str] = ""
    """The op on which it runs; empty for the module or any op."""

    def options(self) -> dict[str, Any]:
        """The options that differ from their defaults."""
        return {}

    @property
    def name(self) -> str:
        return self.argument

    def to_text(self) -> str:
        """The pass in the syntax of a pipeline, e.g. `canonicalize{max-iterations=5}`."""
        options = " ".join(format_option(name, value) for name, value in self.options().items())
        text = f"{self.argument}{{{options}}}" if options else self.argument
        return f"{self.anchor}({text})" if self.anchor else text

    def __str__(self) -> str:
        return self.to_text()


class OptionsPass(BasePass):
    """A pass whose options are the fields of a dataclass."""

    def options(self) -> dict[str, Any]:
        return {
            field.name: getattr(self, field.name)
            for field in dataclasses.fields(self)  # type: ignore[arg-type] # each subclass is a dataclass
            if getattr(self, field.name) != field.default
        }


class Pass(BasePass):
    """Any registered pass, by its name: `Pass("lower-affine", anchor="func.func")`.

    Options are keyword arguments, with `_` for `-`. `anchor` names the op inside the module on which
    the pass runs, for a pass that does not run on modules.
    """

    def __init__(self, argument: str, *, anchor: str = "", **options: Any) -> None:
        # Of this pass, where other classes have one of the class.
        self.argument = argument  # type: ignore[misc]
        self.anchor = anchor  # type: ignore[misc]
        self._options = options

    def options(self) -> dict[str, Any]:
        return dict(self._options)

    def __repr__(self) -> str:
        return f"Pass({self.to_text()!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pass) and self.to_text() == other.to_text()

    def __hash__(self) -> int:
        return hash(self.to_text())


@dataclasses.dataclass(frozen=True)
class Canonicalize(OptionsPass):
    """Folds and simplifies each op by its own rules."""

    max_iterations: int = 10
    top_down: bool = True
    region_simplify: str = "normal"

    argument: ClassVar[str] = "canonicalize"


@dataclasses.dataclass(frozen=True)
class SymbolDCE(OptionsPass):
    """Removes private functions that nothing refers to."""

    argument: ClassVar[str] = "symbol-dce"


@dataclasses.dataclass(frozen=True)
class Simplify(OptionsPass):
    """The first phase as one step: inlines, deduces, folds, simplifies shapes, merges and removes code."""

    argument: ClassVar[str] = "relax-simplify"


@dataclasses.dataclass(frozen=True)
class KernelsToLoops(OptionsPass):
    """Kernels become loops over vectors in buffers, some of them on the thread pool."""

    vector_bits: int = 512
    schedule: bool = True
    """Whether to tile, fuse and vectorize; plain loops otherwise."""
    parallel: bool = True
    """Whether loops may run on the thread pool."""

    argument: ClassVar[str] = "relax-cpu-bufferize"


@dataclasses.dataclass(frozen=True)
class LoopsToLLVM(OptionsPass):
    """Loops over memrefs, and host code, become the LLVM dialect."""

    argument: ClassVar[str] = "relax-cpu-to-llvm"


@dataclasses.dataclass(frozen=True)
class KernelsToLaunches(OptionsPass):
    """Kernels with memref boundaries become GPU launches."""

    chip: str = ""
    """The GPU ("sm_90a"), to use chip-specific features; empty for any."""

    argument: ClassVar[str] = "relax-gpu-bufferize"


@dataclasses.dataclass(frozen=True)
class LaunchesToLLVM(OptionsPass):
    """Launches become PTX, and host code the LLVM dialect."""

    chip: str = "sm_80"
    """The GPU; "emulated" for the device that tests use."""

    argument: ClassVar[str] = "relax-cuda-to-llvm"


@dataclasses.dataclass(frozen=True)
class LaunchesToSPIRV(OptionsPass):
    """Launches become a SPIR-V module for each kernel."""

    bound: bool = False
    """For devices without buffer addresses: buffers are bound through descriptor sets."""
    narrow: bool = False
    """For devices that also lack 64-bit integers."""
    overlap: bool = False
    """Kernels can wait for earlier kernels without a barrier."""
    pushed: int = 16
    """The maximal number of push constants of a kernel, in 8-byte words."""

    argument: ClassVar[str] = "relax-gpu-to-spirv"


@dataclasses.dataclass(frozen=True)
class LaunchesToVulkan(LaunchesToSPIRV):
    """Launches become SPIR-V, and host code the LLVM dialect."""

    argument: ClassVar[str] = "relax-vulkan-to-llvm"

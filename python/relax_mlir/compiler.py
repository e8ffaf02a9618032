# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiling a module for this machine or another."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mlir import ir

from . import _relax, cache
from .errors import collected_errors, error_from, fail
from .module import Module
from .pipelines import Pipeline
from .pipelines.cpu import default_pipeline, make_code
from .runtime import Executable


@dataclasses.dataclass(frozen=True)
class Target:
    """A CPU, by LLVM's names: `Target("aarch64-linux-gnu", "cortex-a76")`."""

    triple: str
    cpu: str = ""
    features: str = ""

    @staticmethod
    def host() -> Target:
        """This machine, with all its vector units."""
        return Target(*_relax.host_target())

    @property
    def runs_here(self) -> bool:
        """Whether its code can run in this process."""
        host = Target.host().triple
        systems = ("linux", "darwin", "windows")
        same_system = all((system in self.triple) == (system in host) for system in systems)
        return same_system and self.triple.split("-")[0] == host.split("-")[0]

    @property
    def vector_bits(self) -> int:
        """Bits of the widest vector register."""
        return _relax.vector_bits(self.triple, self.cpu, self.features)


@dataclasses.dataclass(frozen=True)
class Code:
    """An object file, and what is known of what is in it.

    Attributes:
      object: the file, of the target's format.
      functions: each function that can be called, with its parameters and results as text, and the bounds of
        its symbols.
      memory: for each of them `unplanned_bytes`, `planned_bytes` and `peak_bytes`, as expressions.
      weights: the names of the weights that it needs.
      device: the kind of device that its tensors are on, as `Device` has it; empty for the CPU.
    """

    object: bytes
    target: Target
    functions: Mapping[str, Mapping[str, Any]]
    memory: Mapping[str, Mapping[str, str]]
    weights: tuple[str, ...]
    device: str = ""

    def to_json(self) -> dict[str, Any]:
        """All but the object file."""
        values = dataclasses.asdict(self)
        del values["object"]
        return values

    @staticmethod
    def from_json(values: Mapping[str, Any], object: bytes) -> Code:
        """The reverse. A description that is none raises TypeError or KeyError."""
        for name in ("functions", "memory"):
            if not isinstance(values[name], Mapping):
                raise TypeError(f"'{name}' is no mapping")
        fields = {**values, "target": Target(**values["target"]), "weights": tuple(values["weights"])}
        return Code(object=object, **fields)


def compile_code(
    module: Module,
    target: Target | None = None,
    *,
    use_bounds: bool = False,
    pipeline: Pipeline | None = None,
    cached: bool = True,
) -> Code:
    """The code of a module, which is not changed.

    Args:
      target: this machine unless given.
      use_bounds: plan memory for the declared bounds of symbols rather than for the sizes of each call.
      pipeline: what leads to kernels and planned memory, `default_pipeline()` unless given; all that comes after
        it makes code of that (`relax_mlir.pipelines.cpu.make_code`).
      cached: look into the cache on disk (`relax_mlir.cache`), and leave the code there.

    Raises:
      RelaxError: a pass failed; the message names the op and its source line.
    """
    target = target or Target.host()
    key = ""
    cached = cached and pipeline is None
    if cached:
        key = cache.key_of(_compiler_version(), repr((target, use_bounds)), module.to_bytecode())
        if found := cache.read(key):
            return Code.from_json(*found)
    module = module.clone()
    functions = _describe_functions(module)
    weights = _find_weights(module)
    (pipeline or default_pipeline(use_bounds)).run(module)
    memory = describe_memory(module)
    make_code(target.vector_bits).run(module)
    with collected_errors(module.context) as errors:
        object = _relax.emit_object(module.ir, target.triple, target.cpu, target.features, 3)
    if object is None:
        raise error_from(errors, "no code could be made for the module")
    code = Code(object, target, functions, memory, weights)
    if cached:
        cache.write(key, code.to_json(), object)
    return code


def compile(
    module: Module,
    *,
    target: Target | None = None,
    weights: Mapping[str, Any] | None = None,
    use_bounds: bool = False,
    pipeline: Pipeline | None = None,
    cached: bool = True,
) -> Executable:
    """Compiles a module for this machine and loads it; it is not changed.

    Args:
      target: a variant of this machine's CPU, to try another set of vector units.
      weights: what `relax.constant weight "name"` stands for; can also be given later.
      use_bounds, pipeline, cached: as for `compile_code`.

    >>> executable = compile(module)
    >>> y = executable["main"](np.ones((3, 128), np.float32))
    """
    if target and not target.runs_here:
        fail(
            f"code for {target.triple} cannot run on {Target.host().triple}; "
            "compile_code and export make code for others"
        )
    options = {"use_bounds": use_bounds, "pipeline": pipeline, "cached": cached}
    executable = Executable(compile_code(module, target, **options))
    if weights:
        executable.bind_weights(weights)
    return executable


@functools.cache
def _compiler_version() -> str:
    """Changes whenever the compiler does."""
    folder = Path(__file__).parent
    digest = hashlib.sha256(Path(_relax.__file__).read_bytes())
    for source in (Path(__file__), folder / "pipelines" / "cpu.py"):
        digest.update(source.read_bytes())
    return digest.hexdigest()


def _describe_functions(module: Module) -> dict[str, dict[str, Any]]:
    """Graph functions with a body that may be called from outside."""
    described = {}
    for operation in module.ir.body.operations:
        function = operation.operation
        if function.name != "relax.func" or "sym_visibility" in function.attributes or not function.regions[0].blocks:
            continue
        type = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
        entries = list(function.attributes["arg_attrs"]) if "arg_attrs" in function.attributes else []
        parameters = []
        for index, argument in enumerate(function.regions[0].blocks[0].arguments):
            entry = {"name": _name_of(argument.location) or f"arg{index}", "type": str(argument.type)}
            if entries and "relax.symbol" in entries[index]:
                entry["symbol"] = entries[index]["relax.symbol"].value
            parameters.append(entry)
        symbols = {}
        if "relax.symbols" in function.attributes:
            symbols = {entry.name: str(entry.attr) for entry in function.attributes["relax.symbols"]}
        described[function.attributes["sym_name"].value] = {
            "parameters": parameters,
            "results": [str(result) for result in type.results],
            "symbols": symbols,
        }
    return described


def _name_of(location: ir.Location) -> str:
    return location.name_str if location.is_a_name() else ""


def describe_memory(module: Module) -> dict[str, dict[str, str]]:
    """What `relax-plan-memory` noted of each function (`Code.memory`)."""
    described = {}
    for operation in module.ir.body.operations:
        attributes = operation.operation.attributes
        if "relax.memory_plan" in attributes:
            plan = attributes["relax.memory_plan"]
            described[attributes["sym_name"].value] = {
                entry.name: str(entry.attr).removeprefix("#relax.expr<").removesuffix(">").removesuffix(" : i64")
                for entry in plan
            }
    return described


_WEIGHT = "#relax.weight<"


def _find_weights(module: Module) -> tuple[str, ...]:
    names: dict[str, None] = {}

    def visit(operation: ir.Operation) -> ir.WalkResult:
        if operation.name == "relax.constant":
            value = str(operation.attributes["value"])
            if value.startswith(_WEIGHT):
                name = ir.Attribute.parse(value[len(_WEIGHT) : -1], operation.context)
                names[ir.StringAttr(name).value] = None
        return ir.WalkResult.ADVANCE

    for operation in module.ir.body.operations:
        if operation.operation.name == "relax.func":
            operation.operation.walk(visit)
    return tuple(names)

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiling a module for this machine or another."""

from __future__ import annotations

import contextlib
import functools
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mlir import ir

from . import _relax, cache, runtime
from .code import Code
from .diagnostics import collected_errors, error_from
from .errors import fail
from .module import Module
from .pipelines import Pipeline, cpu, gpu, mixed
from .progress import ProgressLike, part_of, reporting
from .target import Target, as_target

__all__ = ["Code", "Target", "compile", "compile_code", "describe_memory"]


def compile_code(
    module: Module,
    target: Target | str | None = None,
    *,
    use_bounds: bool = False,
    pipeline: Pipeline | None = None,
    cached: bool = True,
    progress: ProgressLike = None,
) -> Code:
    """Compiles a module to code; the module is not changed.

    Args:
      target: a `Target`, or a name that `Target.parse` takes; this machine by default.
      use_bounds: plan memory for the declared bounds of symbols rather than for the sizes of each call.
      pipeline: the passes that produce kernels and planned memory, by default `default_pipeline()` of
        `relax_mlir.pipelines.cpu` or `.gpu`; later passes (`make_code` there) generate code from its output.
      cached: whether to use the disk cache (`relax_mlir.cache`).
      progress: a function that is called as `progress(done, total, name)` before each pass, and at the end; True shows
        a bar on a terminal, and prints a line for each pass elsewhere, to stderr. By default what `progress.showing`
        says, or nothing. Code from the cache has no passes.

    Raises:
      RelaxError: a pass failed; the message names the op and its source line.
    """
    _check_module(module)
    target = Target.host() if target is None else as_target(target)
    key = ""
    cached = cached and pipeline is None
    if cached:
        key = cache.key_of(_compiler_version(), repr((target, use_bounds)), module.to_bytecode())
        if found := cache.read(key):
            with contextlib.suppress(ValueError):  # an invalid entry is replaced
                return Code.from_json(*found)
    target.check()
    module = module.clone()
    functions = describe_functions(module)
    weights = _find_weights(module)
    is_mixed = bool(target.chip) and mixed.has_host_functions(module)
    host_weights = _find_weights(module, on_host=True) if is_mixed else ()
    if target.chip:
        _note_places(module, functions)
    lowering = pipeline or _default_pipeline(target, use_bounds, is_mixed)
    code_generation = _make_code(target, is_mixed)
    with reporting(progress) as report:
        steps = len(lowering) + len(code_generation)
        lowering.run(module, progress=part_of(report, 0, steps + 1))
        memory = describe_memory(module)
        code_generation.run(module, progress=part_of(report, len(lowering), steps + 1))
        _note_written(module, functions)
        if report:
            report(steps, steps + 1, "object code")
        object = _emit_object(module, target)
        if report:
            report(steps + 1, steps + 1, "")
    code = Code(object, target, functions, memory, weights, target.device, host_weights, target.required_features)
    if cached:
        cache.write(key, code.to_json(), object)
    return code


def _emit_object(module: Module, target: Target) -> bytes:
    # Emulated code runs only a few times, and takes longer to compile than CPU code.
    optimization = 0 if target.chip == "emulated" else 3
    with collected_errors(module.context) as errors:
        object = _relax.emit_object(module.ir, target.triple, target.cpu, target.features, optimization)
    if object is None:
        raise error_from(errors, "no code could be made for the module")
    return object


def compile(
    module: Module,
    *,
    target: Target | str | None = None,
    weights: Mapping[str, Any] | None = None,
    use_bounds: bool = False,
    pipeline: Pipeline | None = None,
    cached: bool = True,
    progress: ProgressLike = None,
) -> runtime.Executable:
    """Compiles a module for this machine and loads the code; the module is not changed.

    Args:
      target: this machine's CPU by default; "cuda" for its GPU.
      weights: the values of `relax.constant weight "name"`; can also be bound later.
      use_bounds, pipeline, cached, progress: see `compile_code`.

    >>> executable = compile(module)
    >>> y = executable["main"](np.ones((3, 128), np.float32))
    """
    _check_module(module)
    target = None if target is None else as_target(target)
    if weights is not None and not hasattr(weights, "items"):
        fail(f"weights are of type {type(weights).__name__}; expected arrays by name, such as load_file(path) reads")
    if target and not target.runs_here:
        fail(
            f"code for {target.triple} cannot run on {Target.host().triple}; "
            "compile_code and export make code for others"
        )
    if target and (missing := runtime.missing_features(target.required_features)):
        fail(
            f"code for the CPU '{target.cpu or target.triple}' needs {', '.join(missing)}, which this CPU lacks; "
            f"compile_code and export make code for others {runtime.compared_features(target.required_features)}"
        )
    code = compile_code(module, target, use_bounds=use_bounds, pipeline=pipeline, cached=cached, progress=progress)
    executable = runtime.Executable(code)
    if weights:
        executable.bind_weights(weights)
    return executable


def _check_module(module: Any) -> None:
    if not isinstance(module, Module):
        name = type(module).__name__
        hint = {"BlockBuilder": "; call its method module()", "str": "; load(path) and parse(text) make one"}.get(
            name, ""
        )
        fail(f"the program is of type {name}; expected a Module{hint}")


def _default_pipeline(target: Target, use_bounds: bool, is_mixed: bool) -> Pipeline:
    if is_mixed:
        return mixed.default_pipeline(use_bounds, target.chip, target.vector_bits, target.libraries)
    if target.chip:
        return gpu.default_pipeline(use_bounds, target.chip, target.libraries)
    return cpu.default_pipeline(use_bounds, target.vector_bits)


def _make_code(target: Target, is_mixed: bool) -> Pipeline:
    if is_mixed:
        return mixed.make_code(target.chip)
    return gpu.make_code(target.chip) if target.chip else cpu.make_code(target.vector_bits)


@functools.cache
def _compiler_version() -> str:
    """A string that changes whenever the compiler does."""
    folder = Path(__file__).parent
    digest = hashlib.sha256(Path(_relax.__file__).read_bytes())
    own = (Path(__file__), folder / "code.py", folder / "target.py")
    for source in (*own, *sorted((folder / "pipelines").glob("*.py"))):
        digest.update(source.read_bytes())
    return digest.hexdigest()


def describe_functions(module: Module) -> dict[str, dict[str, Any]]:
    """The descriptions of public graph functions with a body."""
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


def _note_places(module: Module, functions: Mapping[str, dict[str, Any]]) -> None:
    """Marks the parameters and results of a device module that are on the host."""
    for operation in module.ir.body.operations:
        function = operation.operation
        name = function.attributes["sym_name"].value if "sym_name" in function.attributes else ""
        if function.name != "relax.func" or name not in functions:
            continue

        def on_host(list_name: str, index: int, function: ir.Operation = function) -> bool:
            entries = function.attributes[list_name] if list_name in function.attributes else ()
            if len(entries) and "relax.device" in entries[index]:
                return ir.StringAttr(entries[index]["relax.device"]).value == "host"
            return mixed.runs_on_host(function)

        described = functions[name]
        for index, parameter in enumerate(described["parameters"]):
            if on_host("arg_attrs", index):
                parameter["place"] = "host"
        if places := [index for index in range(len(described["results"])) if on_host("res_attrs", index)]:
            described["host_results"] = places


def _note_written(module: Module, functions: Mapping[str, Mapping[str, Any]]) -> None:
    """Marks the parameters that functions of the lowered module write into."""
    for operation in module.ir.body.operations:
        attributes = operation.operation.attributes
        if "relax.written" in attributes:
            name = ir.StringAttr(attributes["sym_name"]).value.removeprefix("__tvm_ffi_")
            for index in ir.DenseI64ArrayAttr(attributes["relax.written"]):
                functions[name]["parameters"][index]["written"] = True


def _name_of(location: ir.Location) -> str:
    return location.name_str if location.is_a_name() else ""


def describe_memory(module: Module) -> dict[str, dict[str, str]]:
    """The notes of `relax-plan-memory` on each function (`Code.memory`)."""
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


def _find_weights(module: Module, on_host: bool = False) -> tuple[str, ...]:
    """The names of the weights of all functions, or of those on the host."""
    names: dict[str, None] = {}

    def visit(operation: ir.Operation) -> ir.WalkResult:
        if operation.name == "relax.constant":
            value = str(operation.attributes["value"])
            if value.startswith(_WEIGHT):
                name = ir.Attribute.parse(value[len(_WEIGHT) : -1], operation.context)
                names[ir.StringAttr(name).value] = None
        return ir.WalkResult.ADVANCE

    for operation in module.ir.body.operations:
        if operation.operation.name == "relax.func" and (not on_host or mixed.runs_on_host(operation.operation)):
            operation.operation.walk(visit)
    return tuple(names)

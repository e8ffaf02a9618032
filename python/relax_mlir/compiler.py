# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiling a module for this machine or another."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mlir import ir

from . import _relax, cache
from .errors import RelaxError, collected_errors, error_from, fail
from .module import Module
from .pipelines import Pipeline, cpu, gpu, mixed
from .runtime import Device, Executable


@dataclasses.dataclass(frozen=True)
class Target:
    """A CPU, by LLVM's names, and the GPU that kernels run on, if there is one.

    >>> Target("aarch64-linux-gnu", "cortex-a76")
    >>> Target.cuda("sm_90")

    Attributes:
      chip: the GPU, as "sm_90"; empty where kernels run on the CPU. "sm_90a" is for this chip alone, and has products
        of matrices by warpgroups. "subgroup_8" is any device of Vulkan on which 8 threads exchange
        values, "subgroup_8_bound" any without addresses of buffers as well, "subgroup_8_narrow" without
        integers of 64 bits beside, "subgroup_8_overlap" one whose kernels can wait for others by themselves,
        "subgroup_32_matrices" one where threads multiply matrices as well. "emulated" is a
        device that tests use.
      libraries: what code may call beside its own kernels: "cublaslt" for all products of matrices that cuBLASLt does,
        "cublaslt:auto" for those that it does faster. It is looked for when it is first called.
    """

    triple: str
    cpu: str = ""
    features: str = ""
    chip: str = ""
    libraries: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "libraries", tuple(self.libraries))
        if not re.fullmatch(r"\w*", self.chip):
            raise RelaxError(f"there is no GPU {self.chip!r}")
        for name in self.libraries:
            if name not in ("cublaslt", "cublaslt:auto") or not self.chip:
                raise RelaxError(
                    f"there is no library '{name}' for this target; a GPU of NVIDIA has 'cublaslt', 'cublaslt:auto'"
                )

    @staticmethod
    def host() -> Target:
        """This machine, with all its vector units."""
        return Target(*_relax.host_target())

    @staticmethod
    def cuda(chip: str | None = None, libraries: Sequence[str] = ()) -> Target:
        """A GPU of NVIDIA, beside this machine's CPU; the first one that is here unless `chip` names another.

        Raises:
          DeviceError: there is none here.
        """
        return dataclasses.replace(Target.host(), chip=chip or Device("cuda").architecture, libraries=tuple(libraries))

    @staticmethod
    def vulkan(chip: str | None = None) -> Target:
        """A device of Vulkan, beside this machine's CPU; the first one that is here unless `chip` names a kind.

        Raises:
          DeviceError: there is none here.
        """
        return dataclasses.replace(Target.host(), chip=chip or Device("vulkan").architecture)

    @staticmethod
    def parse(text: str) -> Target:
        """A target by name: "cpu", "cuda", "cuda:sm_90", "cuda:sm_90+cublaslt" with a library, "vulkan",
        "vulkan:subgroup_32", or a triple with or without a CPU ("aarch64-linux-gnu").

        Raises:
          RelaxError: the name has another form.
        """
        text, *libraries = text.split("+")
        kind, colon, rest = text.partition(":")
        if colon and not rest:
            fail(f"'{text}' names nothing behind the colon; expected '{kind}' alone, or what it is, as in 'cuda:sm_90'")
        if libraries and kind != "cuda":
            fail(f"there is no library '{libraries[0]}' for '{text}'")
        if kind == "cuda":
            if rest and rest != "emulated" and not re.fullmatch(r"sm_\d+[af]?", rest):
                fail(f"'{rest}' is no GPU of NVIDIA; they are named 'sm_80', 'sm_90', …")
            return Target.cuda(rest or None, libraries)
        if kind == "vulkan":
            names = r"subgroup_((1|2|4|8|16|32|64|128)(_bound|_narrow|_overlap)?|32_matrices)"
            if rest and not re.fullmatch(names, rest):
                fail(f"'{rest}' is no kind of device of Vulkan; they are named 'subgroup_8', 'subgroup_32', …")
            return Target.vulkan(rest or None)
        if kind == "cpu":
            host = Target.host()
            return Target(host.triple, rest) if rest else host
        if "-" not in kind:
            fail(f"there is no target '{text}'; there are 'cpu', 'cuda', 'cuda:sm_90', 'vulkan', and triples of LLVM")
        return Target(kind, rest)

    @property
    def device(self) -> str:
        """The kind of device that tensors are on; empty for the CPU."""
        return gpu.device_of(self.chip)

    @property
    def runs_here(self) -> bool:
        """Whether its code can run in this process."""
        host = Target.host().triple
        systems = ("linux", "darwin", "windows")
        same_system = all((system in self.triple) == (system in host) for system in systems)
        return same_system and self.triple.split("-")[0] == host.split("-")[0]

    def runs_on(self, device: Device) -> bool:
        """Whether kernels can run on a device: PTX runs on what is newer, that of "sm_90a" on this chip alone, and
        that of "sm_100f" on those with the same first number."""
        if self.device == "vulkan":
            # What a device has need not be used: matrices, addresses of buffers, integers of 64 bits.
            name, kind = re.fullmatch(
                r"(.*?_\d+)(.*)", device.architecture if device.kind == "vulkan" else "_0"
            ).groups()
            kinds = ["_matrices", "_overlap", "", "_bound", "_narrow"]
            return self.chip in [name + each for each in kinds[kinds.index(kind or "_overlap") :]]
        match = re.fullmatch(r"sm_(\d+)(\d)([af]?)", self.chip)
        if not match:
            return self.chip == "emulated"  # whether that is here is known when the code is linked
        capability = (int(match[1]), int(match[2]))
        if match[3] == "a":
            return device.capability == capability
        return device.capability >= capability and (not match[3] or device.capability[0] == capability[0])

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
        its symbols. A parameter that the function writes into has `written`.
      memory: for each of them `unplanned_bytes`, `planned_bytes` and `peak_bytes`, as expressions.
      weights: the names of the weights that it needs.
      device: the kind of device that its tensors are on, as `Device` has it; empty for the CPU. A function may have
        some on the host all the same: parameters with `place`, and results in `host_results`, by their indices.
      host_weights: those that are read on the host, beside a device.
    """

    object: bytes
    target: Target
    functions: Mapping[str, Mapping[str, Any]]
    memory: Mapping[str, Mapping[str, str]]
    weights: tuple[str, ...]
    device: str = ""
    host_weights: tuple[str, ...] = ()

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
        fields = {**values, "target": Target(**values["target"])}
        for name in ("weights", "host_weights"):
            fields[name] = tuple(values.get(name, ()))
        return Code(object=object, **fields)


def compile_code(
    module: Module,
    target: Target | str | None = None,
    *,
    use_bounds: bool = False,
    pipeline: Pipeline | None = None,
    cached: bool = True,
) -> Code:
    """The code of a module, which is not changed.

    Args:
      target: this machine unless given; a name as `Target.parse` takes it.
      use_bounds: plan memory for the declared bounds of symbols rather than for the sizes of each call.
      pipeline: what leads to kernels and planned memory, `default_pipeline()` of `relax_mlir.pipelines.cpu` or `.gpu`
        unless given; all that comes after it makes code of that (`make_code` there).
      cached: look into the cache on disk (`relax_mlir.cache`), and leave the code there.

    Raises:
      RelaxError: a pass failed; the message names the op and its source line.
    """
    target = Target.parse(target) if isinstance(target, str) else target or Target.host()
    key = ""
    cached = cached and pipeline is None
    if cached:
        key = cache.key_of(_compiler_version(), repr((target, use_bounds)), module.to_bytecode())
        if found := cache.read(key):
            return Code.from_json(*found)
    module = module.clone()
    functions = _describe_functions(module)
    weights = _find_weights(module)
    is_mixed = bool(target.chip) and mixed.has_host_functions(module)
    host_weights = _find_weights(module, on_host=True) if is_mixed else ()
    if target.chip:
        _note_places(module, functions)
    (pipeline or _default_pipeline(target, use_bounds, is_mixed)).run(module)
    memory = describe_memory(module)
    _make_code(target, is_mixed).run(module)
    _note_written(module, functions)
    # What is emulated is run a few times, and there is more to compile than for a CPU.
    optimization = 0 if target.chip == "emulated" else 3
    with collected_errors(module.context) as errors:
        object = _relax.emit_object(module.ir, target.triple, target.cpu, target.features, optimization)
    if object is None:
        raise error_from(errors, "no code could be made for the module")
    code = Code(object, target, functions, memory, weights, target.device, host_weights)
    if cached:
        cache.write(key, code.to_json(), object)
    return code


def compile(
    module: Module,
    *,
    target: Target | str | None = None,
    weights: Mapping[str, Any] | None = None,
    use_bounds: bool = False,
    pipeline: Pipeline | None = None,
    cached: bool = True,
) -> Executable:
    """Compiles a module for this machine and loads it; it is not changed.

    Args:
      target: this machine's CPU unless given; "cuda" for its GPU.
      weights: what `relax.constant weight "name"` stands for; can also be given later.
      use_bounds, pipeline, cached: as for `compile_code`.

    >>> executable = compile(module)
    >>> y = executable["main"](np.ones((3, 128), np.float32))
    """
    target = Target.parse(target) if isinstance(target, str) else target
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
    """Changes whenever the compiler does."""
    folder = Path(__file__).parent
    digest = hashlib.sha256(Path(_relax.__file__).read_bytes())
    for source in (Path(__file__), *sorted((folder / "pipelines").glob("*.py"))):
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


def _note_places(module: Module, functions: Mapping[str, dict[str, Any]]) -> None:
    """Marks what is on the host, of a module for a device."""
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
    """Marks the parameters into which a function of the lowered module writes."""
    for operation in module.ir.body.operations:
        attributes = operation.operation.attributes
        if "relax.written" in attributes:
            name = ir.StringAttr(attributes["sym_name"]).value.removeprefix("__tvm_ffi_")
            for index in ir.DenseI64ArrayAttr(attributes["relax.written"]):
                functions[name]["parameters"][index]["written"] = True


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


def _find_weights(module: Module, on_host: bool = False) -> tuple[str, ...]:
    """The names of weights, of all functions or of those on the host."""
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

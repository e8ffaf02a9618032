# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that commands call, from files of every kind, in one form: named inputs, named outputs, and a function.

What a program takes is known before it is compiled, so that wrong inputs are refused first.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import tvm_ffi
from mlir import ir

from .. import compile as compile_module
from .. import dtypes, load
from ..annotations import Annotation, Tensor
from ..compiler import describe_functions
from ..context import default_context
from ..errors import RelaxError
from ..export import is_exported, open_exported
from ..frontends import program as imported
from ..frontends.signature import Input, Signature
from ..frontends.tree import Spec, flatten, unflatten
from ..runtime import Device, Executable, to_host
from ..symbolic import Range
from ..target import Target
from .commands import check_target, imported_kind, read_imported_program
from .inputs import Dim, InputSpec
from .notes import progress

if TYPE_CHECKING:
    from ..frontends.onnx.model import Model

Call = Callable[[Mapping[str, Any]], list[Any]]
"""Calls a program with inputs by name, and gives its outputs in order."""


@dataclasses.dataclass(frozen=True)
class CallableProgram:
    """A program that can be called.

    Attributes:
      function: its name, for messages.
      inputs: what it takes.
      ranges: bounds of symbols.
      outputs: the names of its outputs, numbers where they have none; None where only a call shows how many there are.
      prepare: compiles or loads it.
      device: the kind of device that it runs on; empty for the CPU.
      model: the ONNX model that it is, if it is one.
    """

    function: str
    inputs: tuple[InputSpec, ...]
    ranges: Mapping[str, Range]
    outputs: tuple[str, ...] | None
    prepare: Callable[[], Call]
    model: Model | None = None
    device: str = ""


def is_program(source: str) -> bool:
    """Whether a source is a program rather than a language model."""
    if imported_kind(source) or Path(source).suffix in (".mlir", ".mlirbc"):
        return True
    return is_exported(source) and "config.json" not in open_exported(source).files


def open_program(source: str, target: str | None, function: str = imported.FUNCTION) -> CallableProgram:
    """A program in a file or in an exported folder.

    Args:
      function: which function of the program, where it has several.

    Raises:
      RelaxError: it cannot be read, or has no such function.
    """
    if Path(source).is_dir():
        exported = open_exported(source)
        check_target(exported, target)
        if imported.SIGNATURE in exported.files:
            _require(source, function, [imported.FUNCTION])
            program = _open_folder(source)
        else:
            described = exported.code.functions
            _require(source, function, described)
            program = _of_function(function, described[function], lambda: exported.load())
        return dataclasses.replace(program, device=exported.code.device)
    device = Target.parse(target).device if target else ""
    if imported_kind(source):
        _require(source, function, [imported.FUNCTION])
        if Path(source).suffix == ".onnx" and target in (None, "cpu"):
            return _open_onnx(source)
        return dataclasses.replace(_of_import(read_imported_program(source, None), target), device=device)
    with progress(f"reading {source}"):
        module = load(source)
    described = describe_functions(module)
    _require(source, function, described)
    program = _of_function(function, described[function], lambda: compile_module(module, target=target))
    return dataclasses.replace(program, device=device)


def _require(source: str, function: str, known: Sequence[str] | Mapping[str, Any]) -> None:
    if function not in known:
        choice = f"{', '.join(known)}: choose one with --function" if known else "none"
        raise RelaxError(f"'{source}' has no function '{function}'; it has {choice}")


# --- functions of modules


def _of_function(name: str, described: Mapping[str, Any], open_code: Callable[[], Executable]) -> CallableProgram:
    """A function of a module, whose results have no names."""
    specs = _with_own_names([_spec(entry) for entry in described["parameters"]])

    def prepare() -> Call:
        executable = open_code()
        function, place = executable[name], _placement(executable, name)
        names = [spec.name for spec in specs]

        def call(values: Mapping[str, Any]) -> list[Any]:
            arguments = [place(index, values[name]) for index, name in enumerate(names)]
            return [_to_host(result) for result in _members(function(*arguments))]

        return call

    return CallableProgram(name, specs, _ranges(described), None, prepare)


def _with_own_names(specs: Sequence[InputSpec]) -> tuple[InputSpec, ...]:
    """The inputs with names that tell them apart."""
    names = [spec.name for spec in specs]
    return tuple(
        dataclasses.replace(spec, name=f"{spec.name}#{index}") if names.count(spec.name) > 1 else spec
        for index, spec in enumerate(specs)
    )


def _spec(entry: Mapping[str, Any]) -> InputSpec:
    """What a parameter of a function takes."""
    if symbol := entry.get("symbol"):
        return InputSpec(symbol, "number")
    context = default_context()
    annotation = Annotation.from_mlir(ir.Type.parse(entry["type"], context))
    if not isinstance(annotation, Tensor):
        return InputSpec(entry["name"], "other")
    try:
        dtype = dtypes.to_numpy(annotation.dtype)
    except ValueError:  # a type of MLIR alone
        return InputSpec(entry["name"], "other")
    return InputSpec(entry["name"], "tensor", dtype, annotation.shape)


def _ranges(described: Mapping[str, Any]) -> dict[str, Range]:
    context = default_context()
    symbols = described["symbols"].items()
    return {name: Range.from_mlir(ir.Attribute.parse(text, context)) for name, text in symbols}


def _placement(executable: Executable, name: str) -> Callable[[int, Any], Any]:
    """What brings an argument, by its index, to where the function has it."""
    if not executable.code.device:
        return lambda index, value: value
    device = Device(executable.code.device)
    on_host = [entry.get("place") == "host" for entry in executable.code.functions[name]["parameters"]]
    return lambda index, value: value if on_host[index] or not isinstance(value, np.ndarray) else device.put(value)


def _to_host(result: Any) -> Any:
    return to_host(result) if hasattr(result, "__dlpack__") else result


def _members(results: Any) -> list[Any]:
    """Members of tuples one by one."""
    if isinstance(results, (Sequence, tvm_ffi.Array)):
        return [array for member in results for array in _members(member)]
    return [results]


# --- programs of other frameworks


def _of_import(program: imported.Program, target: str | None) -> CallableProgram:
    described = describe_functions(program.module)[imported.FUNCTION]
    is_bounded = not program.variants.variants
    return _of_signature(program.signature, described, is_bounded, lambda: program.compile(target))


def _open_folder(source: str) -> CallableProgram:
    program = imported.load_program(source)
    described = program.executable.code.functions[imported.FUNCTION]
    return _of_signature(program.signature, described, not program.variants.variants, lambda: program)


def _of_signature(
    signature: Signature,
    described: Mapping[str, Any],
    is_bounded: bool,
    open_program: Callable[[], imported.CompiledProgram],
) -> CallableProgram:
    """A program with a structure of inputs and outputs, whose leaves are the inputs and outputs here.

    Args:
      is_bounded: whether the bounds of the function hold for all calls; variants take sizes beyond them.
    """
    parameters = iter(described["parameters"][len(signature.buffers) :])
    specs: dict[int, InputSpec] = {}
    for index, leaf in enumerate(signature.inputs):
        if leaf.kind != "constant":
            specs[index] = _leaf_spec(leaf, _spec(next(parameters)))
    first = len(signature.buffers)

    def prepare() -> Call:
        program = open_program()
        place = _placement(program.executable, imported.FUNCTION)

        def call(values: Mapping[str, Any]) -> list[Any]:
            leaves = [leaf.value for leaf in signature.inputs]
            for number, (index, spec) in enumerate(specs.items()):
                leaves[index] = place(first + number, values[spec.name])
            args, kwargs = unflatten(signature.input_spec, iter(leaves))
            return list(map(_to_host, flatten(signature.output_spec, program(*args, **kwargs), "outputs")))

        return call

    outputs = tuple(_leaf_names(signature.output_spec))
    ranges = _ranges(described) if is_bounded else {}
    return CallableProgram(imported.FUNCTION, tuple(specs.values()), ranges, outputs, prepare)


def _leaf_spec(leaf: Input, spec: InputSpec) -> InputSpec:
    """What a leaf takes, for which the function has a parameter."""
    if leaf.kind == "integer":
        return InputSpec(leaf.name, "number")
    if leaf.kind == "complex":
        assert spec.shape is not None and spec.dtype is not None
        return InputSpec(leaf.name, "tensor", np.result_type(spec.dtype, np.complex64), spec.shape[:-1])
    return dataclasses.replace(spec, name=leaf.name)


def _leaf_names(spec: Spec, prefix: str = "") -> list[str]:
    """The names of outputs: keys and numbers on the way to a leaf, as `logits` or `states_1`."""
    if spec["kind"] == "leaf":
        return [prefix or "0"]
    keys = spec.get("keys") or range(len(spec["items"]))
    return [
        name
        for key, item in zip(keys, spec["items"])
        for name in _leaf_names(item, f"{prefix}_{key}" if prefix else str(key))
    ]


# --- ONNX models


def _open_onnx(source: str) -> CallableProgram:
    """A model as a session runs it, which makes programs for what no symbolic program covers."""
    from ..frontends.onnx.api import model_inputs
    from ..frontends.onnx.model import read_model
    from ..frontends.onnx.session import InferenceSession

    if not Path(source).is_file():
        raise RelaxError(f"cannot read '{source}': there is no such file")
    model = read_model(source)
    outputs = list(dict.fromkeys(entry.name for entry in model.graph.outputs))

    def prepare() -> Call:
        session = InferenceSession(model)
        return lambda values: session.run(outputs, values)

    specs = tuple(_onnx_spec(entry) for entry in model_inputs(model))
    return CallableProgram(imported.FUNCTION, specs, {}, tuple(outputs), prepare, model)


def _onnx_spec(entry: Any) -> InputSpec:
    from ..frontends.onnx import dtypes as onnx_dtypes
    from ..frontends.onnx.model import OptionalType, SequenceType

    type, name = entry.type, entry.name
    is_optional = isinstance(type, OptionalType)
    if is_optional:
        type = type.element
    if isinstance(type, SequenceType):
        return InputSpec(name, "sequence", None, None, is_optional)
    shape: tuple[Dim, ...] | None = type.shape
    if shape is not None:
        shape = tuple(f"{name}_dim{axis}" if dim is None else dim for axis, dim in enumerate(shape))
    return InputSpec(name, "tensor", onnx_dtypes.to_numpy(type.dtype), shape, is_optional)

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A session with the interface of onnxruntime: a program replaces it by changing one import.

Where an input decides shapes, axes or ranks in ways that no symbolic program covers, one program is compiled for each
value (or shape) that it is given; so are programs for each number of elements of a sequence. The latest are kept.
"""

from __future__ import annotations

import collections
import dataclasses
import os
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...errors import FrontendError
from ...runtime import threads
from ..program import CompiledProgram
from . import dtypes
from .api import Options, build_program, model_inputs, output_dtypes
from .binding import IOBinding, OrtValue, value_of
from .errors import ValueRequiredError
from .model import Model, OptionalType, SequenceType, Source, TensorType, ValueInfo, read_model
from .session_options import CPU, RunOptions, SessionOptions, check_providers
from .symbols import Bounds
from .tensors import to_carrier

_PROGRAMS = 64
"""How many programs of a session are kept."""

_LARGEST = 4096
"""No program is made for the value of an input with more elements."""


@dataclasses.dataclass(frozen=True)
class NodeArg:
    """An input or an output, as onnxruntime describes it.

    Attributes:
      shape: a number, a name, or None for each axis; empty also where the rank is unknown.
      type: such as `tensor(float)`.
    """

    name: str
    shape: list[int | str | None]
    type: str


@dataclasses.dataclass(frozen=True)
class ModelMetadata:
    """What a model says of itself."""

    custom_metadata_map: dict[str, str]
    producer_name: str = ""
    graph_name: str = ""
    graph_description: str = ""
    description: str = ""
    domain: str = ""
    version: int = 0


@dataclasses.dataclass(frozen=True)
class Compilation:
    """How much processor time a session took to make a program: to import the model, and to compile it."""

    import_seconds: float
    compile_seconds: float


class InferenceSession:
    """A model that runs: `InferenceSession(path).run(None, {"x": x})`.

    Args:
      path_or_bytes: the model, as a path or as the bytes of a file.
      sess_options: how it is to run; see `SessionOptions`.
      providers, provider_options: as onnxruntime takes them. All but the CPU's are warned of, and not used.
      symbols, dims: bounds and relations of sizes, as for `from_onnx`.
      folder: where files with tensors of the model are, for a model that is given as bytes.

    Attributes:
      compilations: one for each program that the session has made, in order. One is enough, unless inputs decide what
        a program is.

    Raises:
      ModelFileError, UnsupportedOpError, FrontendError: as `from_onnx`, or an option is not supported.
      TypeError, ValueError: the options or providers have another form.
    """

    def __init__(
        self,
        path_or_bytes: Source | Model,
        sess_options: SessionOptions | None = None,
        providers: Sequence[Any] | None = None,
        provider_options: Sequence[Mapping[str, Any]] | None = None,
        *,
        symbols: Bounds | None = None,
        dims: Mapping[str, str] | None = None,
        folder: str | os.PathLike[str] | None = None,
    ) -> None:
        self._session_options = _check_options(sess_options)
        check_providers(providers, provider_options)
        if isinstance(path_or_bytes, Model):
            self._model = path_or_bytes
        else:
            self._model = read_model(path_or_bytes, folder or self._session_options.folder)
        self._file = "model.onnx"
        if isinstance(path_or_bytes, (str, os.PathLike)):
            self._file = os.path.basename(path_or_bytes)
        self._options = Options({**(symbols or {}), **_fixed(self._session_options, self._model)}, dims or {})
        self._inputs = {entry.name: entry for entry in model_inputs(self._model)}
        self._overridable = {entry.name: entry for entry in self._model.graph.inputs if entry.name not in self._inputs}
        self._outputs = {entry.name: entry for entry in self._model.graph.outputs}  # one may be named twice
        self.compilations: list[Compilation] = []
        self._needed: set[str] = set()
        self._sized: set[str] = set()
        self._programs: collections.OrderedDict[Any, CompiledProgram] = collections.OrderedDict()
        self._lock = threading.Lock()
        if not any(map(_is_open, self._inputs.values())):
            try:
                self._program({})
            except ValueRequiredError as error:
                self._learn(error)

    # --- what onnxruntime's session has

    def run(
        self,
        output_names: Sequence[str] | None,
        input_feed: Mapping[str, Any],
        run_options: RunOptions | None = None,
    ) -> list:
        """The outputs of a call, in order.

        Args:
          output_names: which outputs; None for all.
          input_feed: the inputs by name: arrays, lists for sequences, None for optional ones that are left out. Lists
            of numbers are taken for tensors, and get the element type of the input.

        Raises:
          FrontendError: an input or an output is unknown or missing, or `run_options.terminate` is set.
          TypeError, ValueError: an input has another element type, rank or size; the message names it.
        """
        if run_options is not None and run_options.terminate:
            raise FrontendError("the call was ended: terminate is set in its run_options")
        feeds = self._check(input_feed)
        names = [entry.name for entry in self._model.graph.outputs] if output_names is None else list(output_names)
        for name in names:
            self.check_output(name)
        program = self._program(feeds)
        with threads(self._session_options.intra_op_num_threads or None):
            made = program(**{name: feeds[name] for name in program.signature.names})
        return [_leave(made[name], output_dtypes(self._outputs[name].type)) for name in names]

    def run_with_ort_values(
        self,
        output_names: Sequence[str] | None,
        input_dict_ort_values: Mapping[str, OrtValue],
        run_options: RunOptions | None = None,
    ) -> list[OrtValue]:
        """The same with values; arguments and errors as for `run`."""
        names = [entry.name for entry in self._model.graph.outputs] if output_names is None else list(output_names)
        feeds = {name: value.to_python() for name, value in input_dict_ort_values.items()}
        results = self.run(names, feeds, run_options)
        return [value_of(result, self._outputs[name].type) for name, result in zip(names, results)]

    def io_binding(self) -> IOBinding:
        """What inputs and places for outputs are bound to, for `run_with_iobinding`."""
        return IOBinding(self)

    def run_with_iobinding(self, iobinding: IOBinding, run_options: RunOptions | None = None) -> None:
        """Calls the model with what is bound.

        Raises:
          FrontendError: no output is bound, or the binding belongs to another session.
          FrontendError, TypeError, ValueError: as for `run`; or the memory for an output has another type or shape.
        """
        if iobinding.session is not self:
            raise FrontendError("the binding belongs to another session; make it with io_binding() of this one")
        names = iobinding.output_names
        if not names:
            raise FrontendError(f"no output is bound; the outputs of the model are {', '.join(self._outputs)}")
        results = self.run(names, iobinding.inputs, run_options)
        iobinding.accept([value_of(result, self._outputs[name].type) for name, result in zip(names, results)])

    def get_inputs(self) -> list[NodeArg]:
        """The inputs that a call must give."""
        return list(map(_describe, self._inputs.values()))

    def get_outputs(self) -> list[NodeArg]:
        """The outputs."""
        return list(map(_describe, self._model.graph.outputs))

    def get_overridable_initializers(self) -> list[NodeArg]:
        """The inputs that have a value in the model, which a call may replace."""
        return list(map(_describe, self._overridable.values()))

    def get_session_options(self) -> SessionOptions:
        """The options that the session was made with."""
        return self._session_options

    def get_providers(self) -> list[str]:
        """Where it runs, as onnxruntime names it."""
        return [CPU]

    def get_provider_options(self) -> dict[str, dict[str, str]]:
        """The options of the providers, of which there are none."""
        return {CPU: {}}

    def get_modelmeta(self) -> ModelMetadata:
        """What the model says of itself."""
        model = self._model
        return ModelMetadata(
            dict(model.metadata),
            model.producer,
            model.graph.name,
            model.graph.proto.doc_string,
            model.description,
            model.domain,
            model.version,
        )

    # --- names

    def check_input(self, name: str) -> None:
        """Raises `FrontendError` unless the model has that input."""
        known = {**self._inputs, **self._overridable}
        if name not in known:
            raise FrontendError(f"the model has no input '{name}'; its inputs are {', '.join(known) or 'none'}")

    def check_output(self, name: str) -> None:
        """Raises `FrontendError` unless the model has that output."""
        if name not in self._outputs:
            raise FrontendError(f"the model has no output '{name}'; its outputs are {', '.join(self._outputs)}")

    # --- programs

    def _check(self, feeds: Mapping[str, Any]) -> dict[str, Any]:
        for name in feeds:
            self.check_input(name)
        known = {**self._inputs, **self._overridable}
        for name, entry in self._inputs.items():
            if name not in feeds and not isinstance(entry.type, OptionalType):
                raise FrontendError(f"the input '{name}' is missing; the model needs {', '.join(self._inputs)}")
        given = {name: None for name in self._inputs} | dict(feeds)
        return {name: _enter(value, known[name]) for name, value in given.items()}

    def _program(self, feeds: Mapping[str, Any]) -> CompiledProgram:
        """The program for these inputs, compiled when they are the first of their kind."""
        with self._lock:
            while True:
                options = self._specialize(feeds)
                key = _key(options)
                if key in self._programs:
                    self._programs.move_to_end(key)
                    return self._programs[key]
                start = time.process_time()
                try:
                    built = build_program(self._model, options, self._file)
                except ValueRequiredError as error:
                    if not feeds or not self._learn(error):
                        raise
                    continue
                imported = time.process_time()
                program = self._programs[key] = built.compile()
                self.compilations.append(Compilation(imported - start, time.process_time() - imported))
                if len(self._programs) > _PROGRAMS:
                    self._programs.popitem(last=False)
                return program

    def _learn(self, error: ValueRequiredError) -> bool:
        """Notes the inputs that decide what a program is; whether there is a new one among them."""
        is_new = not (error.inputs <= self._needed and error.shapes <= self._sized)
        self._needed |= error.inputs
        self._sized |= error.shapes
        return is_new

    def _specialize(self, feeds: Mapping[str, Any]) -> Options:
        values: dict[str, Any] = {}
        shapes: dict[str, Any] = {}
        structures: dict[str, Any] = {}
        for name, value in feeds.items():
            entry = self._inputs.get(name) or self._overridable[name]
            type = entry.type
            if isinstance(type, OptionalType):
                structures[name] = value is not None
                type = type.element
            if isinstance(type, SequenceType) and value is not None:
                is_text = output_dtypes(type) == dtypes.STRING
                whole = is_text or name in self._needed
                is_sized = name in self._sized
                structures[name] = [
                    member if whole else list(member.shape) if is_sized else [None] * member.ndim for member in value
                ]
            elif isinstance(type, TensorType) and value is not None:
                if name in self._overridable and value.size > _LARGEST:
                    shapes[name] = list(value.shape)
                elif name in self._needed or name in self._overridable:
                    _check_size(name, value)
                    values[name] = value
                elif name in self._sized:
                    shapes[name] = list(value.shape)
                elif type.shape is None:
                    shapes[name] = [None] * value.ndim
        return dataclasses.replace(self._options, values=values, shapes=shapes, structures=structures)


def _check_options(options: Any) -> SessionOptions:
    if options is None:
        return SessionOptions()
    if not isinstance(options, SessionOptions):
        kind = f"{type(options).__module__}.{type(options).__name__}"
        raise TypeError(f"sess_options is of the type {kind}; expected relax_mlir.onnx.SessionOptions")
    options.check()
    return options


def _fixed(options: SessionOptions, model: Model) -> Bounds:
    """Bounds for the sizes that the options make numbers; names that the model does not have are none of its sizes."""
    types = [entry.type for entry in model.graph.inputs]
    names = {size for type in types if isinstance(type, TensorType) for size in type.shape or ()}
    return {name: (size, size) for name, size in options.sizes.items() if name in names}


def _check_size(name: str, value: np.ndarray) -> None:
    if value.size > _LARGEST:
        raise FrontendError(
            f"a program would have to be made for the value of the input '{name}', which decides shapes, and it has "
            f"{value.size} elements; at most {_LARGEST} are supported"
        )


def _is_open(entry: ValueInfo) -> bool:
    """Whether nothing can be compiled before a call says what an input is."""
    type = entry.type
    return not isinstance(type, TensorType) or type.shape is None or type.dtype == dtypes.STRING


def _key(options: Options) -> Any:
    def freeze(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            content = tuple(value.reshape(-1).tolist()) if value.dtype == object else value.tobytes()
            return value.dtype.str, value.shape, content
        if isinstance(value, Mapping):
            return tuple((key, freeze(entry)) for key, entry in sorted(value.items()))
        return tuple(map(freeze, value)) if isinstance(value, list) else value

    return freeze(options.values), freeze(options.shapes), freeze(options.structures)


def _enter(value: Any, entry: ValueInfo) -> Any:
    """An input as the program takes it: in the type that carries its elements."""
    type = entry.type
    while isinstance(type, OptionalType):
        if value is None:
            return None
        type = type.element
    if isinstance(type, SequenceType):
        if not isinstance(value, (list, tuple)):
            raise TypeError(f"the input '{entry.name}' is a sequence; expected a list, got {value.__class__.__name__}")
        return [_enter(member, ValueInfo(f"{entry.name}[{i}]", type.element)) for i, member in enumerate(value)]
    if not isinstance(type, TensorType):
        raise FrontendError(f"the input '{entry.name}' is a {type}; maps are supported as outputs alone")
    array = value if isinstance(value, np.ndarray) else _as_array(value, entry.name, type)
    if dtypes.from_numpy(array.dtype) != type.dtype:
        raise TypeError(f"the input '{entry.name}' has elements of {array.dtype}; expected {type}")
    if type.shape is not None:
        agrees = len(type.shape) == array.ndim and all(
            not isinstance(size, int) or size == given for size, given in zip(type.shape, array.shape)
        )
        if not agrees:
            raise ValueError(f"the input '{entry.name}' has the shape {list(array.shape)}; expected {list(type.shape)}")
    return to_carrier(array, type.dtype)


def _as_array(value: Any, name: str, type: TensorType) -> np.ndarray:
    """A value that is not an array as one. Python's numbers, also in lists, get the element type of the input."""
    try:
        array = np.asarray(value)
    except ValueError as error:  # lists of different lengths
        raise ValueError(f"the input '{name}' is not a tensor: {error}") from None
    if type.dtype == dtypes.STRING or not isinstance(value, (list, tuple, int, float)):
        return array
    wanted = dtypes.to_numpy(type.dtype)
    if not array.size or array.dtype == np.float64 and dtypes.is_float(type.dtype):
        return array.astype(wanted)
    if array.dtype != np.int64 or type.dtype == "bool":
        return array
    made = array.astype(wanted)
    is_unsigned = type.dtype[0] == "u"
    if not dtypes.is_float(type.dtype) and ((made.astype(np.int64) != array) | is_unsigned & (array < 0)).any():
        raise ValueError(f"the input '{name}' has numbers from {array.min()} to {array.max()}; expected {type}")
    return made


def _leave(value: Any, dtype: str | None) -> Any:
    """An output with the element type of the model."""
    if isinstance(value, list):
        return [_leave(member, dtype) for member in value]
    if value is None or dtype not in dtypes.CARRIERS:
        return value
    return value.astype(dtypes.to_numpy(dtype))


def _describe(entry: ValueInfo) -> NodeArg:
    shape = entry.type.shape if isinstance(entry.type, TensorType) else None
    return NodeArg(entry.name, list(shape or ()), str(entry.type))

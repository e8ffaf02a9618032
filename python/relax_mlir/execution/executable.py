# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled code loaded into this process, as callable functions, with its weights."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import itertools
import mmap
import os
import weakref
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import tvm_ffi

from ..errors import RelaxError, show_source_line, unpicklable
from ..optional import ARRAY, np
from .arguments import (
    _MLIR_NAMES,
    _as_array,
    _is_read_only,
    _results_for,
    _Tensor,
    as_argument,
    to_numpy,
)
from .buffers import bytes_of, tensor_of
from .device import Device, _as_device_argument, _function
from .function import CompiledFunction
from .linked_code import LinkedCode
from .shared_library import _emulator_symbols, compared_features, missing_features

if TYPE_CHECKING:
    from ..code import Code

_MOST_GRAPHS = 1 << 16


class CaptureStatistics(NamedTuple):
    """How often calls were captured, replayed, and found not to be capturable; the current number of graphs.

    `is_capturable`: whether the function can be captured at all, as far as is known. `crowded`: the calls that ran
    normally because equally frequent calls occupy all graphs; more `graphs` for `Executable.captured` would serve them.
    """

    captures: int
    replays: int
    failures: int
    graphs: int
    is_capturable: bool
    crowded: int


class Captured(CompiledFunction):
    """A function of a device module, whose calls are captured as device graphs and replayed.

    A graph is specific to the addresses and sizes of the arguments, to their numbers, and to the stream. The first call
    of a kind runs normally, the second is captured, later calls are replayed: one launch, whatever the number of
    kernels. So capturing pays off if tensors keep their addresses: pass destinations after the arguments, and feed them
    back. If there are more kinds of calls than graphs, the most frequent ones get the graphs, and the others run
    normally (`CaptureStatistics.crowded`).

    Functions that read numbers from the device, call libraries, or take or return functions run normally, and so does
    a call whose capture fails. The graphs and their memory are released with this object.
    """

    def __init__(
        self,
        name: str,
        description: Mapping[str, Any],
        function: tvm_ffi.Function,
        graphs: int,
        wrap: Callable[[Any], Callable[..., Any]],
    ) -> None:
        captured, self._statistics = _function("relax_rt_capture")(function, graphs)
        super().__init__(name, description, wrap(captured))

    def statistics(self) -> CaptureStatistics:
        """Statistics of the captures so far."""
        captures, replays, failures, graphs, is_capturable, crowded = self._statistics()
        return CaptureStatistics(captures, replays, failures, graphs, bool(is_capturable), crowded)


_of_callables: list[Any] = []
"""Code that has returned callables, which is never unloaded."""


class HugePages:
    """Memory in 2-MiB pages, from which sequential reads are nearly twice as fast.

    Arrays are placed one after another in chunks of at least 64 MiB.
    """

    _PAGE, _PIECE = 2 << 20, 64 << 20

    def __init__(self) -> None:
        self._free = memoryview(bytearray())

    def copy(self, array: Any) -> Any:
        """A copy of an array or a contiguous TVM FFI tensor in that memory. Small ones share a page with others."""
        if isinstance(array, tvm_ffi.Tensor):
            source = bytes_of(array)
            place = self._take(source.nbytes)
            place[:] = source
            return tensor_of(place, str(array.dtype), array.shape)
        result = np.frombuffer(self._take(array.nbytes), np.uint8).view(array.dtype).reshape(array.shape)
        result[...] = array
        return result

    def _take(self, size: int) -> memoryview:
        rounded = -(-size // 64) * 64
        if rounded > len(self._free):
            self._free = self._allocate(max(rounded, self._PIECE))
        place, self._free = self._free[:size], self._free[rounded:]
        return place

    def _allocate(self, size: int) -> memoryview:
        try:
            memory = mmap.mmap(-1, size + self._PAGE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        except OSError:
            raise MemoryError(f"no memory for {size >> 20} MiB more") from None
        if hasattr(mmap, "MADV_HUGEPAGE"):
            with contextlib.suppress(OSError):  # a system without huge pages uses normal ones
                memory.madvise(mmap.MADV_HUGEPAGE)
        begin = -ctypes.addressof(ctypes.c_char.from_buffer(memory)) % self._PAGE
        return memoryview(memory)[begin : begin + size]


def _is_array(value: Any) -> bool:
    """Whether a value is an array, or where NumPy is missing, a tensor on the host in its place."""
    if np:
        return isinstance(value, np.ndarray)
    return isinstance(value, tvm_ffi.Tensor) and value.device.type == "cpu"


class _Loaded:
    """Loaded code, and the objects that it needs as long as one of its functions lives."""

    def __init__(self, code: Code) -> None:
        self.linked = LinkedCode(code.object, _emulator_symbols() if code.target.chip == "emulated" else {})
        self.weights: dict[str, Any] = {}
        if code.device or code.weights:
            unload = ctypes.CFUNCTYPE(None)(self.linked.lookup("relax_unload"))
            # The linked code must outlive this call; at the end of the process, no unloading is needed.
            weakref.finalize(self, lambda unload, linked: unload(), unload, self.linked).atexit = False


class Executable:
    """A compiled module: `executable["main"](x)` calls its function `main`.

    The arguments and results of a device module are on the device (`Device`), except for those that it places on the
    host (`relax.device`).

    A call raises `TypeError` or `ValueError` if an argument does not match the function's signature, `MemoryError` if
    memory runs out, and `RecursionError` if calls nest too deeply; the message names the function, the argument, and
    the expected and given values. The module stays usable after an error.

    Arguments may be passed by name: `executable["main"](x, w=w)`. `executable["main"]` shows its parameters.

    Destination tensors may be passed after the arguments, one for each result: the results are copied into them, and
    the call returns None. They must be contiguous, of the right type and shape, and must not overlap each other; they
    may overlap arguments, except one that is returned as another result.
    """

    def __init__(self, code: Code) -> None:
        if missing := missing_features(code.cpu_features):
            raise RelaxError(
                f"the code needs {', '.join(missing)}, which this CPU lacks; "
                f"compile it for this machine, or for an older CPU {compared_features(code.cpu_features)}"
            )
        self.code = code
        self.functions = tuple(code.functions)
        self._loaded = _Loaded(code)
        self.weights = self._loaded.weights
        if any("->" in result for function in code.functions.values() for result in function["results"]):
            # A returned callable cannot keep its code alive.
            _of_callables.append(self._loaded)
        self._callables = {
            name: CompiledFunction(name, code.functions[name], self._with_arrays(name, self._load(name)))
            for name in self.functions
        }

    def _load(self, name: str) -> tvm_ffi.Function:
        address = self._loaded.linked.lookup(f"__tvm_ffi_{name}")
        return tvm_ffi.core.Function.__from_extern_c__(address, keep_alive_object=self._loaded)

    def _with_arrays(self, name: str, function: tvm_ffi.Function) -> Callable[..., Any]:
        """A function that takes arrays of every kind or, on a device, tensors there."""
        device = self.code.device
        signature = self.code.functions[name]
        parameters = signature["parameters"]
        host_results = range(len(signature["results"])) if not device else signature.get("host_results", ())
        # For the arguments, then for the destinations.
        on_host = [not device or parameter.get("place") == "host" for parameter in parameters]
        on_host += [index in host_results for index in range(len(signature["results"]))]
        of_device = functools.partial(_as_device_argument, kind=device)
        converts = [as_argument if is_there else of_device for is_there in on_host]
        written = [index for index, parameter in enumerate(parameters) if parameter.get("written")]
        plain = (ARRAY, int, float, bool)
        has_others = any(text in result for result in signature["results"] for text in _MLIR_NAMES)
        from_plain = to_numpy if has_others or not np else np.from_dlpack

        def describe(index: int) -> str:
            if index >= len(parameters):
                return f"{name}: destination {index - len(parameters)}"
            return f"{name}: argument {index} '{parameters[index]['name']}' ({parameters[index]['type']})"

        def explain(args: tuple[Any, ...]) -> None:
            """Raises an error that names the argument that `convert` rejects."""
            for index, (convert, value) in enumerate(zip(converts, args)):
                try:
                    convert(value)
                except (RelaxError, TypeError) as error:
                    raise type(error)(f"{describe(index)}: {error}") from None

        def check_writable(args: tuple[Any, ...]) -> None:
            for index in (*written, *range(len(parameters), len(args))):
                if index < len(args) and _is_read_only(args[index]):
                    raise RelaxError(f"{describe(index)}: the function writes into this array, which is read-only")

        def call(*args: Any) -> Any:
            if written or len(args) > len(parameters):
                check_writable(args)
            try:
                converted = [convert(arg) for convert, arg in zip(converts, args)]
                converted += args[len(converts) :]  # too many, which the call reports
            except (RelaxError, TypeError):
                explain(args)
                raise
            try:
                result = function(*converted)
            except Exception as error:
                show_source_line(error)
                raise
            if device:
                return _as_array(result)
            if type(result) is not _Tensor:
                return _results_for(args, result)
            # The fast path of most calls: arrays and numbers that need no conversion.
            for value, argument in zip(args, converted):
                if value is not argument or type(value) not in plain:
                    return _results_for(args, result)
            return from_plain(result)

        return call

    def __repr__(self) -> str:
        target = self.code.target
        lines = "".join(f"\n  {self[name]!r}" for name in self.functions)
        return f"<executable for {target.triple}{f' and {target.chip}' if target.chip else ''}{lines}>"

    def _repr_html_(self) -> str:
        return "".join(self[name]._repr_html_() for name in self.functions)

    __reduce__ = unpicklable(
        "it is loaded code; write it with executable.export(folder) and load it with load_exported(folder), or pickle "
        "executable.code and make an Executable of it"
    )

    def __getitem__(self, name: str) -> CompiledFunction:
        function = self._callables.get(name)
        if function is None:
            raise KeyError(f"the module has no function '{name}'; it has {', '.join(self.functions)}")

        return function

    def raw(self, name: str) -> tvm_ffi.Function:
        """The function without conversion of arguments and results: it takes tensors that TVM FFI knows, and returns
        PyTorch tensors if an argument is one. For callers that know what they pass."""
        self[name]  # says which there are
        return self._load(name)

    def captured(self, name: str, graphs: int = 16) -> Captured:
        """The function with its calls captured and replayed (`Captured`): `decode = m.captured("decode")`.

        Args:
          graphs: how many kinds of calls are kept for each stream; the least recently used are dropped.

        Raises:
          RelaxError: the module is for the host.
        """
        if not self.code.device:
            raise RelaxError("only functions of a device are captured, and this module is for the host")
        if not isinstance(graphs, int) or not 1 <= graphs <= _MOST_GRAPHS:
            raise RelaxError(f"{graphs!r} graphs; expected a number from 1 to {_MOST_GRAPHS}")
        self[name]  # says which there are
        wrap = functools.partial(self._with_arrays, name)
        return Captured(name, self.code.functions[name], self._load(name), graphs, wrap)

    def __contains__(self, name: object) -> bool:
        return name in self._callables

    def export(self, folder: str | os.PathLike[str]) -> None:
        """Writes a folder that runs without the compiler (`relax_mlir.export`), with the bound weights."""
        from ..export import export

        export(self.code, folder, self.weights)

    def bind_weights(self, weights: Mapping[str, Any], *, copy: bool = True) -> None:
        """Gives the module's weights their values, by name.

        Args:
          copy: whether to copy arrays to memory that is fast to read (`HugePages`); if not, they are used in place,
            and must not change. For a device, they are always copied to its memory.

        All weights are bound, or none if one is rejected. A call that is running continues with the weights that were
        bound when it began; these are kept until the last such call is over, so both sets need memory for that time.

        Raises:
          ValueError: the module has no such weight, or it has another shape.
          TypeError: it has another element type.
        """
        if not self.code.weights and weights:
            raise ValueError(f"the module has no weight '{next(iter(weights))}'; it has none at all")
        memory = HugePages()
        device = Device(self.code.device) if self.code.device else None
        given: dict[str, Any] = {}
        for name, value in weights.items():
            if device and _is_array(value) and name not in self.code.host_weights:
                given[name] = device.put(value)
            else:
                given[name] = as_argument(memory.copy(value) if copy and _is_array(value) else value)
        if given:
            self._load("bind_weight")(*itertools.chain.from_iterable(given.items()))
            self.weights.update(given)

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The runtime of compiled code: memory, threads, and functions that can be called.

Compiled functions follow the calling convention of TVM FFI: arguments are NumPy arrays (with the types of ml_dtypes),
or tensors of any library that speaks DLPack, and are not copied. Results on the host are NumPy arrays, which are not
copied either; but tensors of PyTorch, or of TVM FFI, where an argument is one. Results on a device are tensors of
PyTorch, or of TVM FFI.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import itertools
import mmap
import operator
import os
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import tvm_ffi

from . import _relax
from .dtypes import to_numpy as to_numpy_dtype
from .errors import DeviceError, RelaxError, show_source_line

if TYPE_CHECKING:
    from .code import Code

_SYMBOLS = (
    "relax_rt_alloc",
    "relax_rt_retain",
    "relax_rt_release",
    "relax_rt_fail",
    "relax_rt_check_stack",
    "relax_rt_check_indices",
    "relax_rt_parallel_for",
    "relax_rt_call",
    "relax_rt_call_library",
    "relax_rt_make_closure",
    "relax_rt_bind_weights",
    "relax_rt_weights",
    "relax_rt_require_cpu",
    "relax_rt_unload_weights",
    "relax_rt_poll",
    "relax_rt_device_alloc",
    "relax_rt_device_scratch",
    "relax_rt_device_launch",
    "relax_rt_device_tensor_map",
    "relax_rt_device_constant",
    "relax_rt_device_read",
    "relax_rt_device_write",
    "relax_rt_device_unload",
    "_mlir_memref_to_llvm_alloc",
    "_mlir_memref_to_llvm_aligned_alloc",
    "_mlir_memref_to_llvm_free",
)


_MOST_THREADS = 1024
_MOST_GRAPHS = 1 << 16

tvm_ffi.register_error("RecursionError", RecursionError)
tvm_ffi.register_error("DeviceError", DeviceError)
tvm_ffi.register_error("KeyboardInterrupt", KeyboardInterrupt)  # in a callback

_EMULATOR_SYMBOLS = (
    "relax_emulator_id",
    "relax_emulator_barrier",
    "relax_emulator_shuffle",
    "relax_emulator_shared",
    "relax_emulator_copy",
    "relax_emulator_end_group",
    "relax_emulator_wait",
    "relax_emulator_load_matrices",
    "relax_emulator_multiply",
)


def _symbols(code: Code) -> Iterator[tuple[str, Any]]:
    """The functions that compiled code calls."""
    for name in _SYMBOLS:
        yield name, getattr(library(), name)
    if code.target.chip == "emulated":
        # GPU code that was compiled for the host; the emulator takes the place of the driver.
        try:
            emulator = ctypes.CDLL(os.environ["RELAX_CUDA_DRIVER"])
            functions = [getattr(emulator, name) for name in _EMULATOR_SYMBOLS]
        except (KeyError, OSError, AttributeError):
            raise DeviceError(
                "code for the emulated device needs it as the driver: RELAX_CUDA_DRIVER is not it. In a checkout "
                f"`make setup` builds it: {library_path().with_name('librelax_emulator.so')}"
            ) from None
        yield from zip(_EMULATOR_SYMBOLS, functions)


class PoolStatistics(NamedTuple):
    """Bytes in use, the most so far, bytes held from the system, and how often it was asked for more."""

    used: int
    peak: int
    held: int
    requests: int


def library_path() -> Path:
    """The runtime's shared library."""
    path = Path(__file__).parent / "lib" / "librelax_runtime.so"
    # An editable install keeps it beside the extension.
    return path if path.exists() else Path(_relax.__file__).parent / "lib" / path.name


@functools.cache
def library() -> ctypes.CDLL:
    """The same, loaded."""
    threads = os.environ.get("RELAX_NUM_THREADS")
    if threads and not (threads.isdecimal() and 1 <= int(threads) <= _MOST_THREADS):
        raise RelaxError(f"RELAX_NUM_THREADS is {threads!r}; expected a number of threads from 1 to {_MOST_THREADS}")
    return ctypes.CDLL(str(library_path()))


def missing_features(features: Iterable[str]) -> tuple[str, ...]:
    """Those features of a CPU, by LLVM's names, that this one or its operating system lacks (`Code.cpu_features`)."""
    names = ",".join(features).encode()
    missing = ctypes.create_string_buffer(len(names) + 1)
    function = library().relax_rt_missing_features
    function.restype = ctypes.c_int64
    function(names, missing, ctypes.c_int64(len(missing)))
    return tuple(missing.value.decode().split(",")) if missing.value else ()


def pool_statistics() -> PoolStatistics:
    """What the memory pool holds now."""
    words = (ctypes.c_int64 * 4)()
    library().relax_rt_pool_statistics(words)
    return PoolStatistics(*words)


def reset_pool_peak() -> None:
    """Counts the peak anew from what is in use now."""
    library().relax_rt_pool_reset_peak()


def trim_pool() -> None:
    """Gives memory that is not in use back to the system."""
    library().relax_rt_pool_trim()


def set_pool_limit(bytes: int | None) -> None:
    """Lets the pool hold no more than so many bytes; a call that needs more raises `MemoryError`."""
    _check_limit(bytes)
    library().relax_rt_pool_set_limit(ctypes.c_int64(bytes or 0))


def _check_limit(bytes: int | None) -> None:
    if bytes is not None and not 0 < bytes < 1 << 63:
        raise RelaxError(f"a limit of {bytes} bytes; expected at least 1, or None")


def thread_count() -> int:
    """The threads that kernels run on, the calling one included."""
    return int(library().relax_rt_thread_count())


def set_thread_count(count: int | None) -> None:
    """Sets it; None for one thread a processor. No call may be running."""
    if count is not None and not 1 <= count <= _MOST_THREADS:
        raise RelaxError(f"{count} threads; expected from 1 to {_MOST_THREADS}, or None")
    library().relax_rt_set_thread_count(ctypes.c_int32(count or 0))


_Tensor = tvm_ffi.Tensor


def as_argument(value: Any) -> Any:
    """What TVM FFI takes for a value; arrays and tensors are not copied.

    Raises:
      RelaxError: the elements are of a type that no compiled function has, or are not what the memory holds: a
        tensor of PyTorch that is a lazy conjugate or negative, or needs a gradient.
    """
    if type(value) is _Tensor:
        return value
    if isinstance(value, np.ndarray):
        if value.dtype in _OF_DLPACK:
            # TVM FFI takes these as they are.
            return value if value.flags.writeable else tvm_ffi.from_dlpack(value.__dlpack__(max_version=(1, 0)))
        return _from_other_dtype(value)
    if isinstance(value, np.generic):
        return value.item() if value.dtype in _OF_DLPACK else as_argument(np.asarray(value))
    if type(value) in (tuple, list):
        return [as_argument(member) for member in value]
    if isinstance(value, (tvm_ffi.core.CObject, int, float, str)):
        return value
    if hasattr(value, "requires_grad"):
        _check_torch(value)
    elif hasattr(value, "__dlpack__"):
        return value if hasattr(value, "__dlpack_c_exchange_api__") else _import(value)
    elif isinstance(value, ReturnedFunction):
        return value.function
    elif callable(value):
        return _Callback(value)
    return value


def _import(value: Any) -> tvm_ffi.Tensor:
    """A tensor of another library, with the note that it is read-only, if it is, which old producers do not give."""
    try:
        capsule = value.__dlpack__(max_version=(1, 0))
    except TypeError:  # a producer that is older than versions
        return tvm_ffi.from_dlpack(value)
    return tvm_ffi.from_dlpack(capsule)


class _Callback:
    """A function of the caller, which is given arrays as it would get them from a call."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def __call__(self, *args: Any) -> Any:
        return as_argument(self._function(*map(_as_array, args)))


class ReturnedFunction:
    """A function that compiled code has returned; it takes and gives what those of a module do."""

    def __init__(self, function: tvm_ffi.Function) -> None:
        self.function = function

    def __call__(self, *args: Any) -> Any:
        return _results_for(args, self.function(*map(as_argument, args)))


_OF_DLPACK = frozenset(map(np.dtype, "?bhilqBHILQefd"))
"""The types that NumPy exports by DLPack, in this machine's byte order."""

_CODES = {"bfloat16": (4, 16), "float8_e4m3fn": (10, 8), "float8_e5m2": (12, 8)}
"""Types of ml_dtypes: DLPack's code and bits. NumPy neither exports nor imports them."""


_MLIR_NAMES = ("bf16", "f8E4M3FN", "f8E5M2")


class _DataType(ctypes.Structure):
    """DLPack's `DLDataType`."""

    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


_DATA_TYPE = 24 + 20
"""Where that is in a tensor of TVM FFI: behind the object's header, and data, device and rank of the tensor."""


def _from_other_dtype(array: np.ndarray) -> Any:
    """A tensor of an array whose type DLPack knows and NumPy does not: of integers that become what they are."""
    codes = _CODES.get(array.dtype.name)
    if codes is None or not array.dtype.isnative:
        raise RelaxError(f"an array of dtype {array.dtype.str!r} ({array.dtype.name}) cannot be an argument")
    tensor = as_argument(array.view(f"u{array.itemsize}"))
    if isinstance(tensor, np.ndarray):
        tensor = tvm_ffi.from_dlpack(tensor)
    # The object is new and nobody else's.
    dtype = _DataType.from_address(tensor.__chandle__() + _DATA_TYPE)
    dtype.code, dtype.bits = codes
    return tensor


def _check_torch(tensor: Any) -> None:
    """Refuses what TVM FFI would hand over as something else."""
    if tensor.requires_grad:
        raise RelaxError("the tensor needs a gradient, which compiled code does not compute; pass x.detach()")
    if tensor.is_conj() or tensor.is_neg():
        raise RelaxError(
            "the tensor is a view that conjugates or negates, and its memory holds other numbers; "
            "pass x.resolve_conj() or x.resolve_neg()"
        )
    if tensor.device.type == "meta":
        raise RelaxError("the tensor is on the device 'meta', and has no memory")
    if str(tensor.layout) != "torch.strided" or tensor.is_quantized:
        raise RelaxError(f"the tensor is not a plain one in memory (layout {tensor.layout}); pass x.to_dense()")


def to_numpy(value: Any) -> Any:
    """A result as NumPy arrays, which are not copied: a tensor of any library, or a sequence of results.

    Elements of bf16 and f8 have the types of ml_dtypes. Other values are returned as they are.
    """
    if isinstance(value, tvm_ffi.Tensor):
        name = str(value.dtype)
        if value.device.type != "cpu":
            raise RelaxError(f"the tensor is on {value.device}; `Device.get` copies it to the host")
        return _view(value, name) if name in _CODES else np.from_dlpack(value)
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, (tuple, list, tvm_ffi.Array)):
        return tuple(map(to_numpy, value))
    return np.from_dlpack(value) if hasattr(value, "__dlpack__") else value


def to_host(value: Any) -> np.ndarray:
    """The elements of a tensor as an array, copied from its device if it is on one."""
    if hasattr(value, "__dlpack_device__") and value.__dlpack_device__()[0] in (_KINDS["cuda"], _KINDS["vulkan"]):
        value = _copy(value, _KINDS["cpu"], 0)
    return np.asarray(to_numpy(value))


class _Memory:
    """Memory of a tensor, kept alive by the array that is made of it."""

    def __init__(self, tensor: tvm_ffi.Tensor, itemsize: int) -> None:
        self.tensor = tensor
        self.__array_interface__ = {
            "version": 3,
            "typestr": f"|u{itemsize}" if itemsize == 1 else f"<u{itemsize}",
            "shape": tuple(tensor.shape),
            "strides": tuple(stride * itemsize for stride in tensor.strides),
            "data": (tensor.data_ptr(), False),
        }


def _view(tensor: tvm_ffi.Tensor, name: str) -> np.ndarray:
    dtype = to_numpy_dtype(name)
    return np.asarray(_Memory(tensor, dtype.itemsize)).view(dtype)


def _as_array(value: Any) -> Any:
    """A value of compiled code with NumPy arrays for the tensors of TVM FFI that are on the host."""
    if type(value) is _Tensor:
        return to_numpy(value) if value.__dlpack_device__()[0] == _KINDS["cpu"] else value
    if isinstance(value, tvm_ffi.Array):
        return tuple(map(_as_array, value))
    return ReturnedFunction(value) if isinstance(value, tvm_ffi.Function) else value


def _has_tensor(value: Any) -> bool:
    """Whether a tensor of TVM FFI is, or is in, an argument."""
    return type(value) is _Tensor or (type(value) in (tuple, list) and any(map(_has_tensor, value)))


def _results_for(args: tuple[Any, ...], result: Any) -> Any:
    """The results of a call on the host: arrays, unless an argument is a tensor of TVM FFI."""
    if type(result) is _Tensor:
        for value in args:
            if type(value) is _Tensor or (type(value) is not np.ndarray and _has_tensor(value)):
                return result
        return _protect(args, to_numpy(result))
    if isinstance(result, tvm_ffi.Array):
        return tuple([_results_for(args, member) for member in result])
    return ReturnedFunction(result) if isinstance(result, tvm_ffi.Function) else result


def _protect(args: Iterable[Any], result: np.ndarray) -> np.ndarray:
    """The result, read-only where it is memory of an argument that is read-only."""
    for value in args:
        if type(value) is np.ndarray:
            if not value.flags.writeable and np.may_share_memory(value, result):
                result.flags.writeable = False
        elif type(value) in (tuple, list):
            _protect(value, result)
        elif hasattr(value, "__dlpack_device__") and value.__dlpack_device__()[0] == _KINDS["cpu"]:
            with contextlib.suppress(TypeError, RuntimeError, BufferError):  # one that NumPy has no type for
                _protect([np.from_dlpack(value)], result)
    return result


def _is_read_only(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return not value.flags.writeable
    return type(value) in (tuple, list) and any(map(_is_read_only, value))


_KINDS = {"cpu": 1, "cuda": 2, "vulkan": 7}
"""DLPack's types of devices."""


@functools.cache
def _function(name: str) -> tvm_ffi.Function:
    """A function of the runtime that follows the convention of TVM FFI."""
    address = ctypes.cast(getattr(library(), name), ctypes.c_void_p).value
    return tvm_ffi.core.Function.__from_extern_c__(address)


def _as_tensor(value: Any) -> tvm_ffi.Tensor:
    if isinstance(value, tvm_ffi.Tensor):
        return value
    if not hasattr(value, "__dlpack__"):
        raise TypeError(f"expected a tensor, got {type(value).__name__}")
    value = as_argument(value)  # of arrays that are read-only, or whose types NumPy lacks
    return value if isinstance(value, tvm_ffi.Tensor) else tvm_ffi.from_dlpack(value)


def _copy(tensor: Any, *device: int) -> tvm_ffi.Tensor:
    """A copy on a device, given by its type and its number."""
    return _function("relax_rt_copy")(_as_tensor(tensor), *device)


def _numbers(value: Any, what: str) -> Any:
    """An array, or what makes one, as an argument; a tensor as it is."""
    given = value if hasattr(value, "__dlpack__") else np.asarray(value)
    if isinstance(given, np.ndarray) and given.dtype.kind in "OSUMm":  # objects, text, times
        came = f"{type(value).__name__}, whose elements are of dtype {given.dtype}"
        raise RelaxError(f"{what}: expected a tensor, or an array of numbers, got {came}")
    return as_argument(given)


class Device:
    """A device that compiled code runs on, and the tensors there.

    Raises `DeviceError` where there is none: no driver, one that is too old, fewer devices. Memory that is not there
    raises `MemoryError`.

    >>> device = Device("cuda", 0)
    >>> y = executable["main"](device.put(x))
    >>> device.get(y)  # a NumPy array; waits for the result

    Attributes:
      kind, index: what it was made of.
      name: the device's, as its driver calls it.
      capability: major and minor version of what it can do: (9, 0).
      memory: how many bytes it has.
      subgroup: how many threads exchange values; 1 where none do.
      architecture: what code is compiled for: LLVM's name with what the chip alone has, "sm_90a"; of Vulkan
        "subgroup_32", "subgroup_32_bound" where it has no addresses of buffers, "subgroup_32_narrow" no integers of
        64 bits, "subgroup_32_matrices" where those threads have matrices together.
    """

    def __init__(self, kind: str = "cuda", index: int = 0) -> None:
        if kind not in _KINDS or kind == "cpu":
            raise DeviceError(f"there is no kind of device '{kind}'; there are 'cuda' and 'vulkan'")
        if not 0 <= operator.index(index) < 1 << 31:
            raise DeviceError(f"there is no device {kind}:{index}")
        self.kind, self.index = kind, index
        described = self._call("relax_rt_device_describe")
        self.name, *capability, self.memory, self.subgroup, self.architecture = described
        self.capability = tuple(capability)
        if kind == "vulkan" and self.name.startswith("llvmpipe"):
            warnings.warn(
                f"{self.name} (Mesa) ends the loops of a thread after 65535 iterations, and results of longer ones are "
                "wrong there (docs/vulkan.md)",
                RuntimeWarning,
                stacklevel=2,
            )

    def __repr__(self) -> str:
        return f"Device({self.kind!r}, {self.index})"

    def put(self, value: Any) -> tvm_ffi.Tensor:
        """A copy of an array or of a tensor, on this device, of the same shape and element type.

        Arrays of ml_dtypes are taken too.
        """
        return _copy(_numbers(value, "put"), _KINDS[self.kind], self.index)

    def write(self, value: Any, tensor: Any) -> None:
        """Writes an array, or a tensor, into a tensor of this device, of the same shape and element type.

        Both must be contiguous. What was put into the stream before sees the old elements, what comes later the new.

        Raises:
          ValueError: the shapes or types differ, or the tensor is on another device or on the host.
        """
        target = _as_tensor(tensor)
        if target.__dlpack_device__() != (_KINDS[self.kind], self.index):
            where = "the host" if target.device.type == "cpu" else str(target.device)
            raise RelaxError(f"write: expected a tensor on {self.kind}:{self.index} to write into, got one on {where}")
        _function("relax_rt_write")(_as_tensor(_numbers(value, "write")), target)

    def get(self, tensor: Any) -> np.ndarray:
        """The elements of a tensor, when they are there. Those that NumPy lacks are of ml_dtypes' types."""
        return to_numpy(_copy(tensor, _KINDS["cpu"], 0))

    def synchronize(self) -> None:
        """Waits until all that was put into its streams is done; raises what has failed there."""
        self._call("relax_rt_device_synchronize")

    def memory_statistics(self) -> PoolStatistics:
        """What its memory pool holds now."""
        return PoolStatistics(*self._call("relax_rt_device_pool_statistics"))

    def reset_memory_peak(self) -> None:
        """Counts the peak anew from what is in use now."""
        self._call("relax_rt_device_pool_reset_peak")

    def trim_memory(self) -> None:
        """Gives memory that is not in use back to the driver."""
        self._call("relax_rt_device_pool_trim")

    def set_memory_limit(self, bytes: int | None) -> None:
        """Lets its pool hold no more than so many bytes; None for as many as there are."""
        _check_limit(bytes)
        self._call("relax_rt_device_pool_set_limit", bytes or 0)

    def _call(self, name: str, *args: Any) -> Any:
        return _function(name)(_KINDS[self.kind], self.index, *args)


def _as_device_argument(value: Any, kind: str) -> Any:
    """What TVM FFI takes for an argument of a function on a device; nothing is moved there unseen."""
    if isinstance(value, np.ndarray):
        raise TypeError(
            f"a NumPy array is in the memory of the host, and the function runs on {kind}; "
            f'put it there first: Device("{kind}").put(array)'
        )
    if type(value) in (tuple, list):
        return [_as_device_argument(member, kind) for member in value]
    if isinstance(value, np.generic) and value.dtype.name in _CODES:
        return float(value)  # a tensor of the host otherwise
    return as_argument(value)


class CaptureStatistics(NamedTuple):
    """How often calls were captured, replayed, and found not to be captured; the graphs there are now.

    `is_capturable`: whether the function can be captured at all, as far as is known. `crowded`: the calls that ran
    because other calls, made as often, have all the graphs; more `graphs` for `Executable.captured` would serve them.
    """

    captures: int
    replays: int
    failures: int
    graphs: int
    is_capturable: bool
    crowded: int


class Captured:
    """A function of a module for a device, whose calls are captured as graphs of the device and replayed.

    A call depends on its arguments' addresses and sizes, on its numbers, and on the stream. The first one of a kind
    runs as always, the second one is captured, later ones are replayed: one launch, whatever the number of kernels.
    So it pays where tensors stay where they are: give destinations behind the arguments, and feed them back.
    Calls of more kinds than there may be graphs: those made most often have them, the others run as always
    (`CaptureStatistics.crowded`).

    Functions that read numbers from the device, call libraries, or take or give functions run as always, and so does
    a call whose capture fails. The graphs and their memory go with this object.
    """

    def __init__(self, function: tvm_ffi.Function, graphs: int, wrap: Callable[[Any], Callable[..., Any]]) -> None:
        captured, self._statistics = _function("relax_rt_capture")(function, graphs)
        self._call = wrap(captured)
        self.__name__ = self.__qualname__ = self._call.__name__

    def __call__(self, *args: Any) -> Any:
        return self._call(*args)

    def statistics(self) -> CaptureStatistics:
        """What has been captured so far."""
        *numbers, is_capturable, crowded = self._statistics()
        return CaptureStatistics(*numbers, bool(is_capturable), crowded)


_of_callables: list[Any] = []
"""Code that gives out callables, which is never unloaded."""


class HugePages:
    """Memory in pages of 2 MiB, for data that is read in order: it comes nearly twice as fast.

    Arrays are placed one behind the other in pieces of at least 64 MiB.
    """

    _PAGE, _PIECE = 2 << 20, 64 << 20

    def __init__(self) -> None:
        self._free = np.empty(0, np.uint8)

    def copy(self, array: np.ndarray) -> np.ndarray:
        """The array in that memory. Small ones share a page with others."""
        size = -(-array.nbytes // 64) * 64
        if size > len(self._free):
            self._free = self._allocate(max(size, self._PIECE))
        place, self._free = self._free[: array.nbytes], self._free[size:]
        result = place.view(array.dtype).reshape(array.shape)
        result[...] = array
        return result

    def _allocate(self, size: int) -> np.ndarray:
        try:
            memory = mmap.mmap(-1, size + self._PAGE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        except OSError:
            raise MemoryError(f"no memory for {size >> 20} MiB more") from None
        if hasattr(mmap, "MADV_HUGEPAGE"):
            with contextlib.suppress(OSError):  # a system without them has the others
                memory.madvise(mmap.MADV_HUGEPAGE)
        data = np.frombuffer(memory, np.uint8)
        return data[-data.ctypes.data % self._PAGE :][:size]


class _Loaded:
    """Code in this process, and what it needs as long as one of its functions lives."""

    def __init__(self, code: Code) -> None:
        self.session = _relax.JITSession()
        self.weights: dict[str, Any] = {}
        for name, function in _symbols(code):
            self.session.define(name, ctypes.cast(function, ctypes.c_void_p).value)
        self.session.add_object(code.object)
        if code.device or code.weights:
            unload = ctypes.CFUNCTYPE(None)(self.session.lookup("relax_unload"))
            # The session must outlive the call; the end of the process needs none.
            weakref.finalize(self, lambda unload, session: unload(), unload, self.session).atexit = False


class Executable:
    """A compiled module: `executable["main"](x)` calls its function `main`.

    The tensors of a module for a device are there, arguments and results (`Device`), but for those that it has on the
    host (`relax.device`).

    A call raises `TypeError` or `ValueError` where an argument is not what the function's signature says,
    `MemoryError` where there is no memory, `RecursionError` where calls nest too deep; the message names the
    function, the argument, and what was expected and given. The module stays usable after an error.

    Tensors may be given behind the arguments, one for each result: the results are copied there, and the call returns
    None. They must be contiguous, of the right type and shape, and lie apart from each other; they may lie in the
    memory of arguments, except of one that comes back as another result.
    """

    def __init__(self, code: Code) -> None:
        if missing := missing_features(code.cpu_features):
            raise RelaxError(
                f"the code needs {', '.join(missing)}, which this CPU lacks; "
                "compile it for this machine, or for an older CPU"
            )
        self.code = code
        self.functions = tuple(code.functions)
        self._loaded = _Loaded(code)
        self.weights = self._loaded.weights
        if any("->" in result for function in code.functions.values() for result in function["results"]):
            # A callable that was returned has no way to keep the code that it is of.
            _of_callables.append(self._loaded)
        self._callables = {name: self._with_arrays(name, self._load(name)) for name in self.functions}

    def _load(self, name: str) -> tvm_ffi.Function:
        address = self._loaded.session.lookup(f"__tvm_ffi_{name}")
        return tvm_ffi.core.Function.__from_extern_c__(address, keep_alive_object=self._loaded)

    def _with_arrays(self, name: str, function: tvm_ffi.Function) -> Callable[..., Any]:
        """A function that takes arrays of every kind; of a device, tensors there."""
        device = self.code.device
        signature = self.code.functions[name]
        parameters = signature["parameters"]
        host_results = range(len(signature["results"])) if not device else signature.get("host_results", ())
        # Of the arguments, then of the destinations.
        on_host = [not device or parameter.get("place") == "host" for parameter in parameters]
        on_host += [index in host_results for index in range(len(signature["results"]))]
        of_device = functools.partial(_as_device_argument, kind=device)
        converts = [as_argument if is_there else of_device for is_there in on_host]
        written = [index for index, parameter in enumerate(parameters) if parameter.get("written")]
        plain = (np.ndarray, int, float, bool)
        has_others = any(text in result for result in signature["results"] for text in _MLIR_NAMES)
        from_plain = to_numpy if has_others else np.from_dlpack

        def describe(index: int) -> str:
            if index >= len(parameters):
                return f"{name}: destination {index - len(parameters)}"
            return f"{name}: argument {index} '{parameters[index]['name']}' ({parameters[index]['type']})"

        def explain(args: tuple[Any, ...]) -> None:
            """Raises an error that names the argument that `convert` refuses."""
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
                converted += args[len(converts) :]  # too many, as the call will say
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
            # What most calls are, without further calls: arrays and numbers that are arguments as they are.
            for value, argument in zip(args, converted):
                if value is not argument or type(value) not in plain:
                    return _results_for(args, result)
            return from_plain(result)

        call.__name__ = call.__qualname__ = name
        return call

    def __getitem__(self, name: str) -> Callable[..., Any]:
        function = self._callables.get(name)
        if function is None:
            raise KeyError(f"the module has no function '{name}'; it has {', '.join(self.functions)}")

        return function

    def captured(self, name: str, graphs: int = 16) -> Captured:
        """The function as one whose calls are captured and replayed (`Captured`): `decode = m.captured("decode")`.

        Args:
          graphs: how many kinds of calls are kept for each stream; those that were not used for longest go.

        Raises:
          RelaxError: the module is for the host.
        """
        if not self.code.device:
            raise RelaxError("only functions of a device are captured, and this module is for the host")
        if not isinstance(graphs, int) or not 1 <= graphs <= _MOST_GRAPHS:
            raise RelaxError(f"{graphs!r} graphs; expected a number from 1 to {_MOST_GRAPHS}")
        self[name]  # says which there are
        return Captured(self._load(name), graphs, functools.partial(self._with_arrays, name))

    def __contains__(self, name: object) -> bool:
        return name in self._callables

    def export(self, folder: str | os.PathLike[str]) -> None:
        """Writes a folder that runs without the compiler (`relax_mlir.export`), with the weights that are bound."""
        from .export import export

        export(self.code, folder, self.weights)

    def bind_weights(self, weights: Mapping[str, Any], *, copy: bool = True) -> None:
        """Gives the module's weights their values, by name.

        Args:
          copy: arrays are copied to memory that is fast to read (`HugePages`); if not, they are used where they are,
            and must not change. For a device they are always copied, to its memory.

        All of them are bound together, or none where one is refused. A call that runs meanwhile goes on with those that
        were bound when it began; those are kept until the last such call is over, so for that time there is memory for
        both.

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
            if device and isinstance(value, np.ndarray) and name not in self.code.host_weights:
                given[name] = device.put(value)
            else:
                given[name] = as_argument(memory.copy(value) if copy and isinstance(value, np.ndarray) else value)
        if given:
            self._load("bind_weight")(*itertools.chain.from_iterable(given.items()))
            self.weights.update(given)

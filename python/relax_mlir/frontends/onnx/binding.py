# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values and bindings with the interface of onnxruntime: `OrtValue` and `IOBinding`.

A binding keeps inputs and places for outputs between the calls of a session. All memory is the host's. Inputs are read
where they lie, at each call; outputs are copied to the places that are bound for them.
"""

from __future__ import annotations

import ctypes
import math
import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import FrontendError
from . import dtypes
from .model import OptionalType, SequenceType, TensorType, ValueType

if TYPE_CHECKING:
    from .session import InferenceSession


class OrtValue:
    """A value of a model: a tensor, a sequence, or an optional value that is left out.

    Args:
      value: an array, a list, or None.
      type: its type in the model; that of the array unless given.
    """

    def __init__(self, value: Any, type: ValueType | None = None) -> None:
        if type is None:
            value = np.asarray(value)
            type = TensorType(_name_of(value.dtype), None)
        self._value = value
        self._type = type

    @staticmethod
    def ortvalue_from_numpy(numpy_obj: Any, device_type: str = "cpu", device_id: int = 0) -> OrtValue:
        """A tensor in the memory of an array, or in a copy where the array is not contiguous.

        Raises:
          FrontendError: the device is not the CPU, or ONNX has no such element type.
        """
        _check_device(device_type, device_id)
        return OrtValue(_as_contiguous(np.asarray(numpy_obj)))

    @staticmethod
    def ortvalue_from_numpy_with_onnx_type(data: np.ndarray, onnx_element_type: int) -> OrtValue:
        """A tensor whose elements have the bits of an array: `uint16` for bfloat16.

        Raises:
          FrontendError: elements of that type have another size than those of the array.
        """
        dtype = _to_numpy(onnx_element_type)
        data = np.asarray(data)
        if dtype.hasobject or dtype.itemsize != data.dtype.itemsize:
            raise FrontendError(f"elements of {data.dtype} do not have the size of {dtype}")
        return OrtValue(_as_contiguous(data).view(dtype))

    @staticmethod
    def ortvalue_from_shape_and_type(
        shape: Sequence[int], element_type: Any, device_type: str = "cpu", device_id: int = 0
    ) -> OrtValue:
        """A tensor whose elements are not set, as a place for an output.

        Args:
          element_type: a type of NumPy, or a number of `onnx.TensorProto`.
        """
        _check_device(device_type, device_id)
        return OrtValue(np.empty(tuple(shape), _to_numpy(element_type)))

    @staticmethod
    def from_dlpack(data: Any, /) -> OrtValue:
        """The tensor of another library, in the same memory."""
        return OrtValue(np.from_dlpack(data))

    def numpy(self) -> np.ndarray:
        """The tensor as an array, in the same memory.

        Raises:
          FrontendError: the value is not a tensor.
        """
        if not isinstance(self._value, np.ndarray):
            raise FrontendError(f"the value has the type {self.data_type()}; only a tensor can be an array")
        return self._value

    def shape(self) -> list[int]:
        """The sizes of a tensor."""
        return list(self.numpy().shape)

    def data_type(self) -> str:
        """The type, such as `tensor(float)`."""
        return str(self._type)

    def element_type(self) -> int:
        """The element type of a tensor as a number of `onnx.TensorProto`."""
        return dtypes.to_code(_name_of(self.numpy().dtype))

    def data_ptr(self) -> int:
        """The address of the first element."""
        return self.numpy().ctypes.data

    def tensor_size_in_bytes(self) -> int:
        """The bytes of the elements."""
        return self.numpy().nbytes

    def device_name(self) -> str:
        """The kind of device whose memory this is."""
        return "cpu"

    def has_value(self) -> bool:
        """False for an optional value that is left out."""
        return self._value is not None

    def is_tensor(self) -> bool:
        """Whether it is a tensor."""
        return isinstance(self._value, np.ndarray)

    def is_tensor_sequence(self) -> bool:
        """Whether it is a sequence."""
        return isinstance(self._value, list)

    def is_sparse_tensor(self) -> bool:
        """Whether it is a sparse tensor, which no value is."""
        return False

    def update_inplace(self, data: Any) -> None:
        """Gives a tensor new elements.

        Raises:
          ValueError: the array has another shape or element type.
        """
        _copy("the value", np.asarray(data), self.numpy())

    def to_python(self) -> Any:
        """The value as `InferenceSession.run` takes and gives it."""
        return self._value

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.numpy(), dtype, copy=copy)

    def __dlpack__(self, **options: Any) -> Any:
        return self.numpy().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.numpy().__dlpack_device__()


class IOBinding:
    """Inputs and places for outputs of the calls of a session (`InferenceSession.run_with_iobinding`)."""

    def __init__(self, session: InferenceSession) -> None:
        self.session = session
        self.inputs: dict[str, Any] = {}
        self._outputs: dict[str, OrtValue | None] = {}
        """What is bound for each output; None where a call makes new memory."""
        self._results: dict[str, OrtValue] = {}

    # --- inputs

    def bind_cpu_input(self, name: str, arr_on_cpu: Any) -> None:
        """Binds an input to an array (or to a list, for a sequence), which each call reads again.

        Raises:
          FrontendError: the model has no such input.
        """
        self.session.check_input(name)
        self.inputs[name] = arr_on_cpu

    def bind_ortvalue_input(self, name: str, ortvalue: OrtValue) -> None:
        """The same with a value."""
        self.bind_cpu_input(name, _require_value(ortvalue).to_python())

    def bind_input(
        self, name: str, device_type: str, device_id: int, element_type: Any, shape: Sequence[int], buffer_ptr: int
    ) -> None:
        """Binds an input to memory, which must stay there as long as it is bound.

        Args:
          element_type: a type of NumPy, or a number of `onnx.TensorProto`.
          buffer_ptr: the address of the first element; all lie one after the other.

        Raises:
          FrontendError: the model has no such input, or the device is not the CPU.
        """
        _check_device(device_type, device_id)
        self.bind_cpu_input(name, _at(buffer_ptr, shape, element_type))

    def clear_binding_inputs(self) -> None:
        """Forgets all inputs."""
        self.inputs.clear()

    def synchronize_inputs(self) -> None:
        """Does nothing, as the host has no work that goes on after a call."""

    # --- outputs

    def bind_output(
        self,
        name: str,
        device_type: str = "cpu",
        device_id: int = 0,
        element_type: Any = None,
        shape: Sequence[int] | None = None,
        buffer_ptr: int | None = None,
    ) -> None:
        """Asks for an output: in new memory at each call, or in memory that must stay there as long as it is bound.

        Args:
          element_type, shape, buffer_ptr: as for `bind_input`.

        Raises:
          FrontendError: the model has no such output, the device is not the CPU, or a pointer has no shape or type.
        """
        _check_device(device_type, device_id)
        self.session.check_output(name)
        place = None
        if buffer_ptr is not None:
            if element_type is None or shape is None:
                raise FrontendError(f"the output '{name}' is bound to memory; give its element type and shape as well")
            place = OrtValue(_at(buffer_ptr, shape, element_type))
        self._outputs[name] = place

    def bind_ortvalue_output(self, name: str, ortvalue: OrtValue) -> None:
        """Binds an output to the memory of a tensor.

        Raises:
          FrontendError: the model has no such output, or the value is not a tensor.
        """
        self.session.check_output(name)
        _require_value(ortvalue).numpy()
        self._outputs[name] = ortvalue

    def clear_binding_outputs(self) -> None:
        """Forgets all outputs, with their results."""
        self._outputs.clear()
        self._results.clear()

    def synchronize_outputs(self) -> None:
        """Does nothing, as for inputs."""

    @property
    def output_names(self) -> list[str]:
        """The outputs that are bound, in the order in which they were bound."""
        return list(self._outputs)

    def accept(self, results: Sequence[OrtValue]) -> None:
        """Takes the outputs of a call: copies those to their places that have one.

        Raises:
          ValueError: a place has another shape or element type than the output.
        """
        for (name, place), result in zip(self._outputs.items(), results):
            if place is not None:
                _copy(f"the memory that is bound for the output '{name}'", result.numpy(), place.numpy())
            self._results[name] = place or result

    def get_outputs(self) -> list[OrtValue]:
        """The outputs of the last call, in the order in which they were bound."""
        return [self._results[name] for name in self._outputs if name in self._results]

    def copy_outputs_to_cpu(self) -> list[Any]:
        """The same as `InferenceSession.run` gives them, copied."""
        values = [value.to_python() for value in self.get_outputs()]
        return [value.copy() if isinstance(value, np.ndarray) else value for value in values]


def value_of(result: Any, type: ValueType | None) -> OrtValue:
    """An output of a session as a value."""
    while isinstance(type, OptionalType) and result is not None:
        type = type.element
    is_other = type is None or isinstance(type, (OptionalType, SequenceType))
    return OrtValue(result, type) if is_other else OrtValue(result)


def _require_value(value: Any) -> OrtValue:
    if not isinstance(value, OrtValue):
        raise TypeError(f"expected an OrtValue of {__name__.partition('.')[0]}.onnx, got {value.__class__.__name__}")
    return value


def _name_of(dtype: np.dtype) -> str:
    name = dtypes.from_numpy(dtype)
    if name is None:
        raise FrontendError(f"ONNX has no tensors with elements of {dtype}")
    return name


def _to_numpy(element_type: Any) -> np.dtype:
    """The type of NumPy for one of NumPy, or for a number of `onnx.TensorProto`."""
    if isinstance(element_type, (int, np.integer)):
        return dtypes.to_numpy(dtypes.from_code(int(element_type), "element_type"))
    dtype = np.dtype(element_type)
    _name_of(dtype)
    return dtype


def _check_device(kind: str, index: int) -> None:
    if kind.lower() != "cpu" or index != 0:
        raise FrontendError(f"sessions run on the device 'cpu' with the index 0; got '{kind}' with the index {index}")


def _as_contiguous(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array).reshape(array.shape)


def _at(address: int, shape: Sequence[int], element_type: Any) -> np.ndarray:
    """The array at an address."""
    dtype, sizes = _to_numpy(element_type), tuple(map(operator.index, shape))
    if dtype.hasobject:
        raise FrontendError("text has no address; bind an array of objects with bind_cpu_input")
    if any(size < 0 for size in sizes):
        raise FrontendError(f"expected sizes of at least 0, got {list(sizes)}")
    count = math.prod(sizes) * dtype.itemsize
    if not count:
        return np.empty(sizes, dtype)
    memory = (ctypes.c_ubyte * count).from_address(operator.index(address))
    return np.frombuffer(memoryview(memory), dtype).reshape(sizes)


def _copy(what: str, source: np.ndarray, target: np.ndarray) -> None:
    """Copies elements, between arrays of one shape and element type."""
    if source.dtype != target.dtype or source.shape != target.shape:
        raise ValueError(
            f"{what} is {target.dtype} of the shape {list(target.shape)}; got {source.dtype} of the shape "
            f"{list(source.shape)}"
        )
    np.copyto(target, source)

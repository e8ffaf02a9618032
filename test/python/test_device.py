# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The runtime's devices, on an emulated one: tensors, calls, memory, and everything that can fail.

The compiled functions are test/emulator/Example.cpp.
"""

import ctypes
import re
import threading
import traceback

import forked
import ml_dtypes
import numpy as np
import pytest
import tvm_ffi
from emulated import blocks, calls, failing, launches, load_example, open_device, run_python

import relax_mlir
from relax_mlir import BlockBuilder, Device, DeviceError, Sym, Tensor, op, runtime
from relax_mlir.execution.device import _function

OUT_OF_MEMORY, LAUNCH_FAILED = 2, 719
X = np.arange(100, dtype=np.float32)


device = pytest.fixture(open_device, scope="module")
functions = pytest.fixture(load_example, scope="module")


def in_use(device):
    return device.memory_statistics().used


# --- devices and tensors


# A forked child opens its own device, and is refused its parent's; neither waits forever.
def test_forks(device):
    run = run_python(forked.program("cuda", "cuda:emulated"))
    assert run.stdout.split() == ["passed"], run.stdout + run.stderr


# Invalid values are reported to the user, once, and have no effect.
@pytest.mark.parametrize("value, told", [("0", 0), ("1", 0), ("", 0), ("yes", 1)])
def test_switches(device, value, told):
    source = """
import numpy as np, relax_mlir
from relax_mlir import BlockBuilder, Tensor, op
bb = BlockBuilder()
with bb.function("main", [Tensor((4,), "f32")]) as function:
    bb.return_(op.exp(*function.params))
main, device = relax_mlir.compile(bb.module(), target="cuda:emulated")["main"], relax_mlir.Device("cuda")
for _ in range(3):
    print(device.get(main(device.put(np.zeros(4, np.float32)))).tolist())
"""
    run = run_python(source, RELAX_DEVICE_SYNCHRONIZE=value)
    assert run.stdout.split("\n")[:3] == [str([1.0] * 4)] * 3, run.stderr
    assert run.stderr.count(f"RELAX_DEVICE_SYNCHRONIZE is '{value}'; expected 0 or 1") == told


def test_devices_are_described(device):
    assert device.name == "emulated device 0"
    assert (device.capability, device.architecture) == ((9, 0), "sm_90a")
    assert device.memory == 1 << 30
    assert repr(Device("cuda", 1)) == "Device('cuda', 1)"
    device.synchronize()


@pytest.mark.parametrize(
    "kind, index", [("cuda", 2), ("cuda", -1), ("cuda", 1 << 32), ("cuda", -(1 << 32)), ("metal", 0), ("cpu", 0)]
)
def test_devices_that_are_not_there(kind, index):
    with pytest.raises(DeviceError, match="there is no"):
        Device(kind, index)


# The runtime, which other callers use too, does not truncate numbers.
@pytest.mark.parametrize("device", [(2, 1 << 32), (2 + (1 << 32), 0), (2, -1), (1 << 62, 1 << 62), (2, 1 << 31)])
def test_numbers_of_devices_are_not_cut(device):
    for name, *args in (
        ["relax_rt_device_describe"],
        ["relax_rt_device_synchronize"],
        ["relax_rt_copy", tvm_ffi.from_dlpack(X)],
    ):
        with pytest.raises(DeviceError, match="there is no device"):
            _function(name)(*args, *device)


def test_limits_of_memory(device):
    for limit in (-1, 0, -(1 << 63), 1 << 63):
        with pytest.raises(ValueError, match="bytes; expected at least 1"):
            device.set_memory_limit(limit)
    with pytest.raises(ValueError, match="a limit of -1 bytes"):
        _function("relax_rt_device_pool_set_limit")(2, 0, -1)
    assert device.get(device.put(X)).tolist() == X.tolist()


# Arguments that are not tensors, or not on this device, are named.
def test_what_is_not_on_the_device(device):
    x = device.put(X)
    for value in (3, None, "x", [1.0]):
        with pytest.raises(TypeError, match="expected a tensor, got"):
            device.get(value)
        with pytest.raises(TypeError, match="expected a tensor, got"):
            device.write(X, value)
    fixed = X.copy()
    fixed.flags.writeable = False
    for host in (X.copy(), fixed):
        with pytest.raises(ValueError, match="write: expected a tensor on cuda:0 to write into, got one on the host"):
            device.write(x, host)
    with pytest.raises(ValueError, match="write: expected a tensor on cuda:1 to write into, got one on cuda:0"):
        Device("cuda", 1).write(X, x)
    with pytest.raises(ValueError, match="write: expected a tensor of a device to write into"):
        _function("relax_rt_write")(x, tvm_ffi.from_dlpack(X.copy()))
    device.write(fixed, x)
    assert device.get(fixed).tolist() == device.get(x).tolist() == X.tolist()


DTYPES = [np.bool_, np.int8, np.uint16, np.int64, np.float16, np.float32, np.float64]
DTYPES += [ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0, 3), (1,), (5, 7), (40, 50)])
def test_arrays_of_every_kind_go_there_and_back(device, dtype, shape):
    array = (np.arange(np.prod(shape)) % 3).reshape(shape).astype(dtype)
    tensor = device.put(array)
    assert tensor.device == tvm_ffi.device("cuda", 0)
    back = device.get(tensor)
    assert (back.dtype, back.shape) == (array.dtype, array.shape)
    assert back.tobytes() == array.tobytes()


def test_strided_arrays_are_made_contiguous(device):
    array = np.arange(24).reshape(4, 6)[::2, ::-1].T
    assert device.get(device.put(array)).tolist() == array.tolist()


def test_tensors_of_a_device_are_copied_to_another(device):
    other = Device("cuda", 1)
    tensor = other.put(device.put(X))
    assert tensor.device == tvm_ffi.device("cuda", 1)
    assert other.get(tensor).tolist() == X.tolist()


def test_numbers_and_lists_are_put(device):
    assert device.get(device.put([1.5, 2.5])).tolist() == [1.5, 2.5]
    assert device.get(device.put(3)).item() == 3


# --- calls


def test_results_are_tensors_of_the_device(device, functions):
    result = functions("add")(device.put(X), device.put(X))
    assert result.device == tvm_ffi.device("cuda", 0)
    assert device.get(result).tolist() == (2 * X).tolist()


def test_calls_run_where_their_tensors_are(functions):
    other = Device("cuda", 1)
    before = in_use(other)
    result = functions("add")(other.put(X), other.put(X))
    assert result.device == tvm_ffi.device("cuda", 1)
    assert in_use(other) > before
    assert other.get(result).tolist() == (2 * X).tolist()


# A grid without blocks launches nothing.
def test_empty_tensors(device, functions):
    before = calls("cuLaunchKernelEx")
    empty = device.put(X[:0])
    assert device.get(functions("add")(empty, empty)).shape == (0,)
    assert calls("cuLaunchKernelEx") == before


# Only a kernel that waits by itself begins before earlier kernels end; the launch requests that from the driver.
def test_launches_that_overlap(device, functions):
    with launches() as made:
        functions("add_to")(device.put(X), device.put(X))
        functions("add")(device.put(X), device.put(X))
        device.synchronize()
    first, second = made
    assert first.endswith(" overlaps") and not second.endswith(" overlaps")


def test_destinations_are_written(device, functions):
    x, out = device.put(X), device.put(np.zeros_like(X))
    assert functions("add")(x, x, out) is None
    assert device.get(out).tolist() == (2 * X).tolist()
    with pytest.raises(ValueError, match="destination 0: expected a tensor on cuda:0, got one on the CPU"):
        functions("add")(x, x, tvm_ffi.from_dlpack(np.zeros_like(X)))
    with pytest.raises(ValueError, match="destination 0: dimension 0 must be 100, got 99"):
        functions("add")(x, x, device.put(X[1:]))


# Written arguments must not overlap others, or must be exactly the result's memory.
def test_tensors_that_overlap(device, functions):
    wide, y = device.put(np.zeros(200, np.float32)), device.put(X)
    x, shifted = view(wide, 0, 100), view(wide, 64, 100)
    add_to = functions("add_to")
    with pytest.raises(ValueError, match="argument 0 'x' .*writes into this tensor, which overlaps argument 1"):
        add_to(x, shifted)
    with pytest.raises(ValueError, match="destination 0: overlaps result 0 in memory"):
        add_to(x, y, shifted)
    assert device.get(x).tolist() == X.tolist()
    copies = calls("cuMemcpyDtoDAsync_v2")
    add_to(x, y, view(wide, 0, 100))
    assert device.get(x).tolist() == (2 * X).tolist()
    assert calls("cuMemcpyDtoDAsync_v2") == copies


def test_a_parameter_that_comes_back_is_the_same_tensor(device, functions):
    x = device.put(X)
    result = functions("add_to")(x, device.put(X))
    assert result.same_as(x)
    assert device.get(x).tolist() == (2 * X).tolist()


@pytest.mark.parametrize("flag", [False, True])
def test_host_code_reads_from_the_device(device, functions, flag):
    x = device.put(X)
    for condition in (flag, device.put(np.array(flag))):
        result = functions("add_if")(condition, x, x)
        assert device.get(result).tolist() == ((1 + flag) * X).tolist()


def test_constants_are_uploaded_once_for_each_device(device, functions):
    for each in (device, Device("cuda", 1)):
        x = each.put(X)
        constant, size = functions("constants")(x)
        held = blocks()
        again, size = functions("constants")(x)
        assert each.get(constant).tolist() == each.get(again).tolist() == [1, 2, 3, 4]
        assert each.get(size).tolist() == [100]
        assert blocks() <= held + 2  # new results, but no new constant


# A Python function runs in the middle of a call, and makes calls itself, also on another device.
def test_calls_within_calls(device, functions):
    other = Device("cuda", 1)

    def inner(x):
        y = other.put(x)
        assert other.get(functions("add")(y, y)).tolist() == (2 * X).tolist()
        with pytest.raises(DeviceError, match="never_meet"):
            functions("add_stuck")(x, x)
        return functions("add")(x, x)

    x = device.put(X)
    assert device.get(functions("add_after")(inner, x, x)).tolist() == (3 * X).tolist()


def test_calls_of_several_threads(device, functions):
    results = {}

    def work(index):
        x = device.put(X + index)
        for _ in range(50):
            x = functions("add")(x, device.put(X))
        results[index] = device.get(x).tolist()

    threads = [threading.Thread(target=work, args=[index]) for index in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {index: (51 * X + index).tolist() for index in range(4)}


# --- weights


def test_weights_of_the_host_are_uploaded(device, functions):
    bind, add_weight = functions("bind_weight"), functions("add_weight")
    x = device.put(X[:4])
    with pytest.raises(ValueError, match="weight 'w' is not bound"):
        add_weight(x)
    before = in_use(device)
    for factor in (1, 2):  # the first set's memory is released
        bind("w", tvm_ffi.from_dlpack(factor * X[:4]))
        assert device.get(add_weight(x)).tolist() == ((1 + factor) * X[:4]).tolist()
        assert in_use(device) == before + 256
    # All of them are on one device, as the arguments of a call are.
    with pytest.raises(ValueError, match="weight 'w' .*: expected a tensor on cuda:0, got one on cuda:1"):
        bind("w", Device("cuda", 1).put(X[:4]))
    with pytest.raises(ValueError, match="arguments are on device 1, and the module's weights on device 0"):
        add_weight(Device("cuda", 1).put(X[:4]))
    # A weight on the device is used in place.
    weight = device.put(X[:4])
    bind("w", weight)
    assert in_use(device) == before + 256
    functions("add_to")(weight, x)
    assert device.get(add_weight(x)).tolist() == (3 * X[:4]).tolist()


# --- code


def test_code_is_loaded_once_for_each_device_and_unloaded(device, functions):
    tensors = [each.put(X) for each in (device, Device("cuda", 1))]
    for _ in range(2):
        functions.unload()
        loads, unloads = calls("cuModuleLoadDataEx"), calls("cuModuleUnload")
        for x in tensors * 2:
            functions("add")(x, x)
        assert calls("cuModuleLoadDataEx") == loads + 2
    functions.unload()
    assert calls("cuModuleUnload") == unloads + 2


# --- memory


def test_memory_is_used_again(device, functions):
    x = device.put(X)
    functions("add")(x, x)
    before = device.memory_statistics()
    for _ in range(100):
        functions("add")(x, x)
    assert device.memory_statistics()[:1] + device.memory_statistics()[2:] == before[:1] + before[2:]


def test_statistics_count_the_peak(device):
    device.reset_memory_peak()
    start = device.memory_statistics()
    assert start.peak == start.used
    tensor = device.put(np.zeros(1 << 20, np.uint8))
    del tensor
    now = device.memory_statistics()
    assert (now.used, now.peak) == (start.used, start.used + (1 << 20))
    assert now.held >= 1 << 20
    device.trim_memory()
    assert device.memory_statistics().held == start.used


def test_memory_limits(device, functions):
    device.trim_memory()
    x = device.put(np.zeros(1 << 20, np.float32))
    device.set_memory_limit(device.memory_statistics().held + (1 << 20))
    try:
        with pytest.raises(MemoryError, match="no memory for 4194304 bytes on cuda:0"):
            functions("add")(x, x)
        small = device.put(X)
        assert device.get(functions("add")(small, small)).tolist() == (2 * X).tolist()
    finally:
        device.set_memory_limit(None)
    functions("add")(x, x)


# Free memory returns to the driver before a call fails.
def test_free_memory_is_given_back_where_there_is_too_little(device):
    device.trim_memory()
    tensor = device.put(np.zeros(600 << 20, np.uint8))
    del tensor
    # The device has 1 GiB, and 640 MiB of it are held.
    assert device.memory_statistics().held >= 600 << 20
    tensor = device.put(np.zeros(768 << 20, np.uint8))
    with pytest.raises(MemoryError):
        device.put(np.zeros(768 << 20, np.uint8))
    del tensor
    device.trim_memory()


def test_a_failed_allocation_is_tried_again(device):
    device.trim_memory()
    with failing("cuMemAlloc_v2", OUT_OF_MEMORY, nth=1):
        assert device.get(device.put(X)).tolist() == X.tolist()


# --- faults

RESULTS = {
    "a tensor of the host": (ValueError, "argument 1 'y' .*: expected a tensor on cuda:0, got one on the CPU"),
    "another device": (ValueError, "argument 1 'y' .*: expected a tensor on cuda:0, got one on cuda:1"),
    "a strided tensor": (ValueError, "argument 1 'y' .*: must be contiguous, as every tensor on cuda:0"),
    "another type": (TypeError, "argument 1 'y' .*: expected elements of type f32, got f64"),
    "another size": (ValueError, "sizes differ: 100 and 50"),
    "no tensor": (TypeError, "argument 1 'y' .*: expected a tensor, got a string"),
}


def wrong_arguments(device):
    return {
        "a tensor of the host": tvm_ffi.from_dlpack(X),
        "another device": Device("cuda", 1).put(X),
        "a strided tensor": strided(device),
        "another type": device.put(X.astype(np.float64)),
        "another size": device.put(X[:50]),
        "no tensor": "x",
    }


class _View:
    """Elements of a tensor of one dimension, through DLPack."""

    def __init__(self, tensor, start, size, step=1):
        self.tensor, self.start, self.size, self.step = tensor, start, size, step

    def __dlpack_device__(self):
        return self.tensor.__dlpack_device__()

    def __dlpack__(self, **options):
        capsule = self.tensor.__dlpack__()
        get = ctypes.pythonapi.PyCapsule_GetPointer
        get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        managed = get(capsule, b"dltensor")
        # DLTensor: data, device, rank, type, then the pointers to sizes and strides.
        shape, strides = (ctypes.c_int64.from_address(managed + offset).value for offset in (24, 32))
        ctypes.c_int64.from_address(managed).value += self.start * X.itemsize
        ctypes.c_int64.from_address(shape).value = self.size
        ctypes.c_int64.from_address(strides).value = self.step
        return capsule


def view(*args):
    return tvm_ffi.from_dlpack(_View(*args))


def strided(device):
    return view(device.put(np.repeat(X, 2)), 0, len(X), 2)


@pytest.fixture(scope="module")
def compiled_sum():
    n = Sym("n")
    builder, x, y = BlockBuilder(), Tensor((n,), "f32"), Tensor((n,), "f32")
    with builder.function("main", [x, y]):
        builder.return_(op.add(x, y))
    return relax_mlir.compile(builder.module(), target="cuda:emulated")["main"]


# Kernels read 16 bytes in one access.
@pytest.mark.parametrize("start", range(6))
@pytest.mark.parametrize("size", [1, 4, 97, 100])
def test_arguments_may_begin_at_any_element(device, compiled_sum, start, size):
    used = in_use(device)
    numbers = np.concatenate([X, X])
    whole, other = device.put(numbers), device.put(X[:size])
    result = compiled_sum(view(whole, start, size), other)
    assert device.get(result).tolist() == (numbers[start : start + size] + X[:size]).tolist()
    del result, whole, other
    assert in_use(device) == used


def test_weights_begin_at_multiples_of_16_bytes(device):
    n = Sym("n")
    builder, x = BlockBuilder(), Tensor((n, 4), "f32")
    with builder.function("main", [x]):
        builder.return_(op.add(x, op.weight("w", Tensor((4,), "f32"))))
    executable = relax_mlir.compile(builder.module(), target="cuda:emulated")
    with pytest.raises(ValueError, match="'w'.*must begin at a multiple of 16 bytes"):
        executable.bind_weights({"w": view(device.put(X), 1, 4)}, copy=False)
    executable.bind_weights({"w": view(device.put(X), 4, 4)}, copy=False)
    assert device.get(executable["main"](device.put(np.zeros((1, 4), np.float32)))).tolist() == [[4, 5, 6, 7]]


@pytest.mark.parametrize("wrong", RESULTS)
def test_wrong_arguments(device, functions, wrong):
    kind, message = RESULTS[wrong]
    with pytest.raises(kind, match=message):
        functions("add")(device.put(X), wrong_arguments(device)[wrong])


def test_a_strided_tensor_of_the_device_is_not_copied(device):
    with pytest.raises(ValueError, match="a tensor on cuda:0 must be contiguous to be copied"):
        device.get(strided(device))


FAULTS = {
    "no memory": ("add", "cuMemAlloc_v2", OUT_OF_MEMORY, MemoryError, "no memory for"),
    "a launch": (
        "add",
        "cuLaunchKernelEx",
        LAUNCH_FAILED,
        DeviceError,
        "launch of 'add' failed on cuda:0: .*LAUNCH_FAIL",
    ),
    "a copy": ("add_if", "cuMemcpyDtoHAsync_v2", 700, DeviceError, "copy from the device failed on cuda:0"),
    "a context": ("add", "cuCtxPushCurrent_v2", 201, DeviceError, "entering the device failed"),
    "a kernel that is missing": ("add_missing", None, 0, DeviceError, "the search for kernel 'missing' failed"),
    "another image": (
        "add_bad",
        None,
        0,
        DeviceError,
        "is an sm_90a; the code may be for another GPU.*\n.*no emulated dev",
    ),
    "a kernel that hangs": ("add_stuck", None, 0, DeviceError, "launch of 'never_meet' failed on cuda:0: .*TIMEOUT"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_thousand_failing_calls_leak_nothing(device, functions, fault):
    name, function, code, kind, message = FAULTS[fault]
    x, condition = device.put(X), device.put(np.array(True))
    args = (condition, x, x) if name == "add_if" else (x, x)
    device.trim_memory()
    held, used, host = blocks(), in_use(device), runtime.pool_statistics().used
    for _ in range(1000):
        with pytest.raises(kind, match=f"(?s){message}") as error:
            if function:
                with failing(function, code):
                    functions(name)(*args)
            else:
                functions(name)(*args)
        del error
    assert (in_use(device), runtime.pool_statistics().used) == (used, host)
    device.trim_memory()
    assert blocks() == held
    # The model stays usable.
    assert device.get(functions("add")(x, x)).tolist() == (2 * X).tolist()


def test_errors_name_the_line_of_the_program(device, functions):
    with pytest.raises(DeviceError) as error, failing("cuLaunchKernelEx", LAUNCH_FAILED):
        functions("add")(device.put(X), device.put(X))
    last = traceback.extract_tb(error.value.__traceback__)[-1]
    assert (last.filename, last.lineno) == ("example.py", 4)


NO_DRIVER = {
    "no name": ({"RELAX_CUDA_DRIVER": ""}, "no CUDA driver: libcuda.so.1"),
    "no library": ({"RELAX_CUDA_DRIVER": "/nowhere/libcuda.so.1"}, "no CUDA driver: .*nowhere"),
    "another library": ({"RELAX_CUDA_DRIVER": "libm.so.6"}, "is too old or not a CUDA driver: it lacks cu"),
    "no device": ({"RELAX_EMULATOR_DEVICES": "0"}, "the CUDA driver finds no device"),
    "an old driver": ({"RELAX_EMULATOR_VERSION": "11040"}, "has version 11.4, but at least 12.0 is required"),
    "a driver that does not start": ({"RELAX_EMULATOR_FAIL": "cuInit:0:999"}, "does not start: error 999"),
    "a device that is lost": ({"RELAX_EMULATOR_FAIL": "cuDevicePrimaryCtxRetain:0:2"}, "cuda:0 cannot be used"),
}


@pytest.mark.parametrize("case", NO_DRIVER)
def test_without_a_usable_driver(case):
    environment, message = NO_DRIVER[case]
    source = """
import os, re
driver = os.environ["RELAX_CUDA_DRIVER"]
import emulated
os.environ["RELAX_CUDA_DRIVER"] = driver
from relax_mlir import Device, DeviceError
for _ in range(2):
    try:
        Device("cuda")
    except DeviceError as error:
        print(error)
"""
    done = run_python(source, **environment)
    lines = done.stdout.splitlines()
    assert len(lines) == 2, done.stderr
    assert lines[0] == lines[1]
    assert re.search(message, lines[0]), lines[0]

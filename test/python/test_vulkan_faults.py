# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Faults of a Vulkan device: typed errors with the op's line, nothing leaks, and the model stays usable.

test/vulkan is the Vulkan loader here: it fails where a test asks for it.
"""

import os
import traceback

import numpy as np
import pytest
import vulkan

import relax_mlir
from relax_mlir import DeviceError

if os.environ.get("RELAX_VULKAN_LOADER") != str(vulkan.LOADER) or not vulkan.LOADER.exists():
    pytest.skip("another Vulkan loader is in use", allow_module_level=True)

from vulkan_faults import (
    LOST,
    OUT_OF_HOST_MEMORY,
    OUT_OF_MEMORY,
    REJECTED,
    TOO_MANY,
    UNKNOWN,
    Unchanged,
    calls,
    failing,
    fails,
)

T = "tensor<?x8xf32, #relax.shape<[n, 8]>>"
MODEL = f"""
relax.func @main(%x: {T}) -> {T}
    attributes {{relax.symbols = {{n = #relax.range<0, 262144>}}}} {{
  %w = relax.constant weight "w" : tensor<8x8xf32>
  %0 = relax.matmul %x, %w : ({T}, tensor<8x8xf32>) -> {T}
  %1 = relax.softmax %0 : ({T}) -> {T}
  %2 = relax.matmul %1, %w : ({T}, tensor<8x8xf32>) -> {T}
  relax.return %2 : {T}
}}
"""
W = np.linspace(-1, 1, 64, dtype=np.float32).reshape(8, 8)
X = np.ones((5, 8), np.float32)
FIRST_LINE, LAST_LINE = 5, 7  # of the matmuls


def expected(x):
    y = np.exp(x @ W)
    return y / y.sum(1, keepdims=True) @ W


def load(target="vulkan"):
    return relax_mlir.compile(relax_mlir.parse(MODEL), target=target, weights={"w": W})


device = pytest.fixture(vulkan.open_device, scope="module")


@pytest.fixture(scope="module")
def model(device):
    return load()


def check(device, model, x=X):
    np.testing.assert_allclose(device.get(model["main"](device.put(x))), expected(x), rtol=1e-5, atol=1e-6)


def line_of(error):
    """The line of the program that an error names; None if it names none."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return last.lineno if last.filename == "-" else None


# Each of these functions may fail at any time, and succeed later.
IN_CALLS = {
    "no memory of the device": ("vkAllocateMemory", OUT_OF_MEMORY, MemoryError, "no memory for .* on vulkan:0"),
    "too many allocations": ("vkAllocateMemory", TOO_MANY, MemoryError, "no memory for"),
    "no memory of the host": ("vkCreateBuffer", OUT_OF_HOST_MEMORY, MemoryError, "no memory for"),
    "memory that no buffer takes": ("vkBindBufferMemory", UNKNOWN, DeviceError, "allocation failed on vulkan:0"),
    "a lost device": ("vkQueueSubmit", LOST, DeviceError, "submitting work to the device failed .* the device is lost"),
    "work that is not taken": ("vkQueueSubmit", OUT_OF_MEMORY, MemoryError, "submitting work to the device failed"),
    "work that does not begin": ("vkBeginCommandBuffer", OUT_OF_MEMORY, MemoryError, "beginning a command list"),
    "work that does not end": ("vkEndCommandBuffer", OUT_OF_HOST_MEMORY, MemoryError, "ending a command list"),
}
MEMORY = ("vkAllocateMemory", "vkCreateBuffer", "vkBindBufferMemory")


@pytest.mark.parametrize("what", IN_CALLS)
def test_a_thousand_faults_within_calls_leak_nothing(device, model, what):
    function, code, kind, message = IN_CALLS[what]
    # Large tensors have a separate allocation.
    x = device.put(np.zeros((1 << 18 if function in MEMORY else 64, 8), np.float32))
    model["main"](x)  # loads code once
    with Unchanged(device):
        for _ in range(1000):
            with failing(function, code), pytest.raises(kind, match=message) as raised:
                model["main"](x)
            line = line_of(raised.value)
            assert line is not None and FIRST_LINE <= line <= LAST_LINE, line
            del raised
    check(device, model)


# A rejected kernel is passed to the driver again at each call, until it is compiled.
@pytest.mark.parametrize(
    "function, code, kind, message",
    [
        ("vkCreateShaderModule", REJECTED, DeviceError, "creating kernel '.*' failed .* the driver rejects the code"),
        ("vkCreateComputePipelines", UNKNOWN, DeviceError, "creating kernel '.*' failed .* unknown error"),
        (
            "vkCreateComputePipelines",
            OUT_OF_MEMORY,
            MemoryError,
            "creating kernel '.*' failed .* no memory of the device",
        ),
    ],
)
def test_a_thousand_kernels_that_the_driver_refuses(device, function, code, kind, message):
    model, x = load(), device.put(X)
    with failing(function, code), Unchanged(device):
        for _ in range(1000):
            with pytest.raises(kind, match=message) as raised:
                model["main"](x)
            assert line_of(raised.value) == FIRST_LINE
            del raised
    check(device, model)


# The work that a copy waits for is lost.
@pytest.mark.parametrize(
    "function, code, kind, message",
    [
        ("vkGetSemaphoreCounterValue", LOST, DeviceError, "waiting for the device failed .* the device is lost"),
        ("vkQueueSubmit", LOST, DeviceError, "submitting work to the device failed"),
    ],
)
def test_a_thousand_copies_that_fail(device, model, function, code, kind, message):
    x = device.put(X)
    device.get(x)
    with failing(function, code), Unchanged(device):
        for _ in range(1000):
            with pytest.raises(kind, match=message):
                device.get(x)
    np.testing.assert_array_equal(device.get(x), X)
    check(device, model)


# A lost device may never have the times of its kernels, so nothing asks for them.
def test_times_of_a_lost_device(device, model):
    x = device.put(X)
    device.synchronize()
    before = calls("vkGetQueryPoolResults")
    with relax_mlir.profile() as times:
        model["main"](x)
        with failing("vkGetSemaphoreCounterValue", LOST), pytest.raises(DeviceError, match="the device is lost"):
            device.synchronize()
    assert not times and calls("vkGetQueryPoolResults") == before
    with relax_mlir.profile() as times:
        check(device, model)
        device.synchronize()
    assert times and calls("vkGetQueryPoolResults") > before


# A queue may take no times, or times of a few bits, which wrap.
@pytest.mark.parametrize("bits, expected", [(0, []), (1, [20])])
def test_times_of_few_bits(device, bits, expected):
    printed = vulkan.run_python(
        f"""
import numpy as np, relax_mlir, test_vulkan_faults as t
device = relax_mlir.Device("vulkan")
main = relax_mlir.compile(relax_mlir.parse(t.ADD.format("tensor<1000xf32>")), target="vulkan")["main"]
x = device.put(np.ones(1000, np.float32))
with relax_mlir.profile() as times:
    for _ in range(20):
        main(x)
    device.synchronize()
assert [kernel.calls for kernel in times] == {expected}, times
assert times.seconds <= 20 * 100e-9, times  # a tick takes less than 100 ns
print("passed")
""",
        RELAX_VULKAN_SET=f"timestamps={bits}",
    )
    assert printed.split() == ["passed"], printed


MAPPING = '''
import numpy as np
from vulkan_faults import *
device = relax_mlir.Device("vulkan")
row, column = "tensor<1x600xf32>", "tensor<500x1xf32>"
outer = relax_mlir.compile(relax_mlir.parse(f"""
relax.func @main(%x: {row}, %y: {column}) -> tensor<500x600xf32> {{
  %0 = relax.add %x, %y : ({row}, {column}) -> tensor<500x600xf32>
  relax.return %0 : tensor<500x600xf32>
}}"""), target="vulkan")
x = outer["main"](device.put(np.ones((1, 600), np.float32)), device.put(np.zeros((500, 1), np.float32)))
with Unchanged(device), failing("vkAllocateMemory", OUT_OF_MEMORY):
    for _ in range(1000):
        fails(lambda: device.get(x), MemoryError, "no memory of the host for a copy of 1200000 bytes")
with Unchanged(device), failing("vkMapMemory", NOT_MAPPED):
    for _ in range(1000):
        fails(lambda: device.get(x), relax_mlir.DeviceError, "mapping memory failed", "the host cannot map its memory")
assert device.get(x).sum() == 300000
print("passed")
'''


# There is no staging memory for a copy.
def test_a_thousand_copies_without_memory(device):
    printed = vulkan.run_python(MAPPING)
    assert printed.split() == ["passed"], printed


# A tensor whose copy failed does not exist: no later call fails instead, or reads it.
def test_tensors_that_do_not_arrive(device, model):
    with failing("vkQueueSubmit", OUT_OF_MEMORY), Unchanged(device):
        for _ in range(1000):
            fails(lambda: device.put(X), MemoryError, "submitting work to the device failed")
    x = device.put(X)
    with failing("vkQueueSubmit", OUT_OF_MEMORY):
        fails(lambda: device.write(2 * X, x), MemoryError)
    device.write(3 * X, x)
    np.testing.assert_array_equal(device.get(x), 3 * X)


# A kept command buffer can be resubmitted when the device accepts work again.
@pytest.mark.parametrize("function, code", [("vkQueueSubmit", LOST), ("vkBeginCommandBuffer", OUT_OF_HOST_MEMORY)])
def test_captured_calls_that_fail(device, function, code):
    model = load()
    captured, x, out = model.captured("main"), device.put(X), device.put(np.zeros_like(X))
    captured(x, out)  # the watched call
    # Failed captures are not errors: the code runs, and fails itself.
    with failing(function, code):
        for _ in range(100):
            fails(lambda: captured(x, out), Exception, "on vulkan:0")
    for _ in range(3):
        captured(x, out)
    np.testing.assert_allclose(device.get(out), expected(X), rtol=1e-5, atol=1e-6)
    if function == "vkQueueSubmit":
        with failing(function, code), Unchanged(device):
            for _ in range(1000):
                fails(lambda: captured(x, out), DeviceError, "submitting work to the device failed")
    device.write(2 * X, x)
    captured(x, out)
    np.testing.assert_allclose(device.get(out), expected(2 * X), rtol=1e-5, atol=1e-6)


def test_a_size_past_a_bound(device, model):
    x = device.put(np.zeros((262145, 8), np.float32))
    with Unchanged(device):
        for _ in range(1000):
            fails(lambda: model["main"](x), ValueError, "symbol 'n' = 262145 exceeds its declared bound 262144")
    check(device, model)


# If copying weights fails, the model has none.
def test_weights_that_do_not_fit(device):
    model = relax_mlir.compile(relax_mlir.parse(MODEL), target="vulkan")
    x = device.put(X)
    with failing("vkQueueSubmit", OUT_OF_MEMORY), Unchanged(device):
        for _ in range(1000):
            fails(lambda: model.bind_weights({"w": W}), MemoryError, "submitting work to the device failed")
    fails(lambda: model["main"](x), ValueError, "weight 'w' is not bound")
    model.bind_weights({"w": W})
    check(device, model)


OPENING = """
from vulkan_faults import *
from relax_mlir import Device, DeviceError, runtime
def times(count, context, kind, *texts):
    with context, Unchanged():
        for _ in range(count):
            fails(lambda: Device("vulkan"), kind, *texts)
with setting("loader", 1 << 22 | 1 << 12):
    fails(lambda: Device("vulkan"), DeviceError, "the Vulkan loader has version 1.1, but at least 1.2 is required")
times(1000, failing("vkCreateInstance", -9), DeviceError, "Vulkan does not start: no driver for a device")
times(20, setting("without vkEnumeratePhysicalDevices", 1), DeviceError, "it lacks vkEnumeratePhysicalDevices")
not_listed = "cannot list the Vulkan devices: the driver does not"
times(1000, failing("vkEnumeratePhysicalDevices", NOT_STARTED), DeviceError, not_listed)
times(1000, setting("devices", 0), DeviceError, "there is no device vulkan:0; the drivers have 0")
times(1000, setting("api", 1 << 22 | 1 << 12), DeviceError, "lacks what kernels need: Vulkan 1.2 (it has 1.1)")
times(1000, setting("timeline", 0), DeviceError, "lacks what kernels need: timelines (timelineSemaphore)")
times(1000, failing("vkCreateDevice", LOST), DeviceError, "opening the device failed", "the device is lost")
times(50, setting("without vkQueueSubmit", 1), DeviceError, "the driver of vulkan:0", "has no vkQueueSubmit")
times(50, failing("vkCreateSemaphore", OUT_OF_MEMORY), MemoryError, "creating a timeline failed")
times(50, failing("vkCreateCommandPool", OUT_OF_HOST_MEMORY), MemoryError, "creating a command pool failed")
times(50, failing("vkCreatePipelineLayout", UNKNOWN), DeviceError, "creating the layout of kernels failed")
device = Device("vulkan")
import test_vulkan_faults as t
t.check(device, t.load())
print("passed")
"""


# A failure while a device is opened leaks nothing, and the next attempt may succeed.
def test_devices_that_do_not_open(device):
    printed = vulkan.run_python(OPENING)
    assert printed.split() == ["passed"], printed


LACKING = {
    "float16=0": ("f16", r"lacks arithmetic in f16 \(Float16\)"),
    "storage16=0": ("f16", r"lacks 16 bits in memory \(StorageBuffer16BitAccess\)"),
    "int8=0": ("i8", r"lacks 8-bit integers \(Int8\)"),
    "storage8=0": ("i8", r"lacks 8 bits in memory \(StorageBuffer8BitAccess\)"),
    "int16=0": ("i16", r"lacks 16-bit integers \(Int16\)"),
    "float64=0": ("f64", r"lacks arithmetic in f64 \(Float64\)"),
    "threads=8": ("f32", "lacks blocks of [0-9]+ threads; it has at most 8"),
}
LACKS = """
import re, numpy as np, relax_mlir, vulkan_faults, test_vulkan_faults as t
device = relax_mlir.Device("vulkan")
def refused(dtype, message):
    vector = f"tensor<?x{{dtype}}, #relax.shape<[n]>>"
    model = relax_mlir.compile(relax_mlir.parse(t.ADD.format(vector)), target="vulkan")
    x = device.put(np.ones(5, dict(f16=np.float16, i8=np.int8, i16=np.int16, f64=np.float64, f32=np.float32)[dtype]))
    with vulkan_faults.Unchanged(device):
        for _ in range(1000):
            error = vulkan_faults.fails(lambda: model["main"](x), relax_mlir.DeviceError)
            assert re.search(message, str(error)), error
    assert t.line_of(error) == 3, error
refused({dtype!r}, {message!r})
if {dtype!r} != "f32":
    t.check(device, t.load())
print("passed")
"""
ADD = """
relax.func @main(%x: {0}) -> {0} {{
  %0 = relax.add %x, %x : ({0}, {0}) -> {0}
  relax.return %0 : {0}
}}"""


# A kernel that needs a missing feature is rejected before the driver sees it; other kernels run.
@pytest.mark.parametrize("lacking", LACKING)
def test_a_thousand_kernels_that_need_more(device, lacking):
    dtype, message = LACKING[lacking]
    printed = vulkan.run_python(LACKS.format(dtype=dtype, message=message), RELAX_VULKAN_SET=lacking)
    assert printed.split() == ["passed"], printed


# If a device limits allocations, smaller tensors are in several allocations, and larger ones are rejected.
def test_allocations_are_limited(device):
    printed = vulkan.run_python(
        """
import numpy as np, vulkan_faults, test_vulkan_faults as t
from relax_mlir import Device
device = Device("vulkan")
model = t.load()
arrays = [np.full(1 << 18, i, np.float32) for i in range(20)]
before = vulkan_faults.objects()["Memory"]
tensors = list(map(device.put, arrays))
assert vulkan_faults.objects()["Memory"] - before >= 10
for tensor, array in zip(tensors, arrays):
    np.testing.assert_array_equal(device.get(tensor), array)
with vulkan_faults.Unchanged(device):
    for _ in range(1000):
        vulkan_faults.fails(lambda: device.put(np.zeros(3 << 20, np.int8)), MemoryError,
                            "no allocation of 3145728 bytes", "allocates at most 2097152 bytes at a time")
t.check(device, model)
print("passed")
""",
        RELAX_VULKAN_SET="allocation=2097152",
    )
    assert printed.split() == ["passed"], printed

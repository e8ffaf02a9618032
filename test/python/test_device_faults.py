# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Faults of a compiled model on a device: errors are typed, nothing leaks, and the model stays usable.

Tests of the runtime alone are in test_device.py, of captured calls in test_device_graphs.py, of both sides of one
module in test_mixed_targets.py.
"""

import gc

import numpy as np
import pytest
import tvm_ffi
from emulated import blocks, failing, objects, run_python

import relax_mlir
from relax_mlir import Device, DeviceError, runtime

OUT_OF_MEMORY, ILLEGAL_ADDRESS = 2, 700
T, ROW = "tensor<?x8xf32, #relax.shape<[n, 8]>>", "tensor<8xf32>"
MODEL = f"""
relax.func @main(%x: {T}, %pair: tuple<{ROW}, {ROW}>) -> {T}
    attributes {{relax.symbols = {{n = #relax.range<0, 64>}}}} {{
  %a = relax.get %pair[0] : (tuple<{ROW}, {ROW}>) -> {ROW}
  %b = relax.get %pair[1] : (tuple<{ROW}, {ROW}>) -> {ROW}
  %w = relax.constant weight "w" : tensor<8x8xf32>
  %0 = relax.matmul %x, %w : ({T}, tensor<8x8xf32>) -> {T}
  %1 = relax.softmax %0 : ({T}) -> {T}
  %2 = relax.matmul %1, %w : ({T}, tensor<8x8xf32>) -> {T}
  %3 = relax.add %2, %a : ({T}, {ROW}) -> {T}
  %4 = relax.matmul %3, %w : ({T}, tensor<8x8xf32>) -> {T}
  %5 = relax.add %4, %b : ({T}, {ROW}) -> {T}
  relax.return %5 : {T}
}}
"""
W = np.linspace(-1, 1, 64, dtype=np.float32).reshape(8, 8)


def expected(x, a, b):
    y = np.exp(x @ W)
    y /= y.sum(1, keepdims=True)
    return (y @ W + a) @ W + b


@pytest.fixture(scope="module")
def device():
    return Device("cuda")


@pytest.fixture(scope="module")
def model(device):
    return relax_mlir.compile(relax_mlir.parse(MODEL), target="cuda:emulated", weights={"w": W})


def arguments(rows=5):
    return np.ones((rows, 8), np.float32), np.arange(8, dtype=np.float32), np.full(8, 2, np.float32)


def put(device, x, a, b):
    return device.put(x), [device.put(a), device.put(b)]


class Unchanged:
    """Checks that the block leaves allocations unchanged."""

    def __init__(self, device):
        self.device = device

    def counts(self):
        gc.collect()
        self.device.trim_memory()
        return blocks(), objects(), self.device.memory_statistics().used, runtime.pool_statistics().used

    def __enter__(self):
        self.before = self.counts()

    def __exit__(self, kind, *_):
        if not kind:
            assert self.counts() == self.before


def fails(call, kind, *texts):
    """The error, without the frames that keep the arguments alive."""
    try:
        call()
    except kind as error:
        message = str(error)
        assert all(text in message for text in texts), message
        return
    pytest.fail(f"no {kind.__name__}")


WRONG = {
    "a size past a bound": (ValueError, "main: argument 0: symbol 'n' = 65 exceeds its declared bound 64"),
    "another size": (ValueError, "argument 0 'arg0'", "dimension 1 must be 8, got 7"),
    "a member on another device": (ValueError, "member 1: expected a tensor on cuda:0, got one on cuda:1"),
    "a member on the host": (
        ValueError,
        "member 0: expected a tensor on cuda:0, got one on the CPU; copy it to cuda:0",
    ),
    "an array": (TypeError, "is in the memory of the host, and the function runs on cuda"),
    "another type": (TypeError, "member 0: expected elements of type f32, got f64"),
    "one member": (ValueError, "expected a tuple of 2, got 1"),
    "a destination past the result": (ValueError, "destination 0: dimension 0 must be 5, got 6"),
    "a destination on another device": (ValueError, "destination 0: expected a tensor on cuda:0, got one on cuda:1"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_thousand_wrong_calls_leak_nothing(device, model, wrong):
    other = Device("cuda", 1)
    x, (a, b) = put(device, *arguments())
    args = {
        "a size past a bound": (put(device, *arguments(65))[0], [a, b]),
        "another size": (device.put(np.ones((5, 7), np.float32)), [a, b]),
        "a member on another device": (x, [a, other.put(arguments()[2])]),
        "a member on the host": (x, [tvm_ffi.from_dlpack(arguments()[1]), b]),
        "an array": (arguments()[0], [a, b]),
        "another type": (x, [device.put(arguments()[1].astype(np.float64)), b]),
        "one member": (x, [a]),
        "a destination past the result": (x, [a, b], device.put(np.ones((6, 8), np.float32))),
        "a destination on another device": (x, [a, b], other.put(np.ones((5, 8), np.float32))),
    }[wrong]
    model["main"](x, [a, b])  # loads code once
    with Unchanged(device):
        for _ in range(1000):
            fails(lambda: model["main"](*args), *WRONG[wrong])
    np.testing.assert_allclose(device.get(model["main"](x, [a, b])), expected(*arguments()), rtol=1e-5)


# Each allocation of a call, and each launch, may be the one that fails.
@pytest.mark.parametrize(
    "function, code, kind",
    [
        ("cuMemAlloc_v2", OUT_OF_MEMORY, MemoryError),
        ("cuLaunchKernelEx", ILLEGAL_ADDRESS, DeviceError),
    ],
)
def test_a_thousand_faults_within_calls_leak_nothing(device, model, function, code, kind):
    x, pair = put(device, *arguments())
    model["main"](x, pair)
    failures = 0
    with Unchanged(device):
        for index in range(1000):
            if function == "cuMemAlloc_v2":
                device.trim_memory()  # so that the call asks for memory
            try:
                # If an allocation fails once, free memory is returned to the driver, and the allocation is retried.
                nth = 0 if function == "cuMemAlloc_v2" else 1 + index % 3
                with failing(function, code, nth):
                    model["main"](x, pair)
            except kind:
                failures += 1
    assert failures == 1000
    np.testing.assert_allclose(device.get(model["main"](x, pair)), expected(*arguments()), rtol=1e-5)


# The device has memory for only a part of a call.
def test_too_little_memory_in_the_middle_of_a_call(device, model):
    x, pair = put(device, *arguments(64))
    model["main"](x, pair)
    device.trim_memory()
    held = device.memory_statistics().held
    seen = set()
    with Unchanged(device):
        for room in (0, 2048, 4096, 8192, 1 << 20):
            device.set_memory_limit(held + room)
            try:
                model["main"](x, pair)
                seen.add("enough")
            except MemoryError as error:
                assert "no memory for" in str(error) and "on cuda:0" in str(error)
                seen.add("too little")
            finally:
                device.set_memory_limit(None)
    assert seen == {"enough", "too little"}


# After weights do not fit, the model has none; with enough memory, they are bound and it runs.
def test_weights_that_do_not_fit(device):
    model = relax_mlir.compile(relax_mlir.parse(MODEL), target="cuda:emulated")
    x, pair = put(device, *arguments())
    with Unchanged(device):
        for _ in range(1000):
            with failing("cuMemAlloc_v2", OUT_OF_MEMORY):
                device.trim_memory()
                fails(lambda: model.bind_weights({"w": W}), MemoryError, "no memory for 256 bytes on cuda:0")
        fails(lambda: model["main"](x, pair), ValueError, "weight 'w' is not bound")
    model.bind_weights({"w": W})
    np.testing.assert_allclose(device.get(model["main"](x, pair)), expected(*arguments()), rtol=1e-5)


# After a kernel fault, a real driver fails at every call. The process continues, and exits normally.
def test_a_device_that_has_failed_for_good():
    program = """
import gc
import numpy as np, relax_mlir
from relax_mlir import Device, DeviceError, runtime
import emulated, test_device_faults as t
device = Device("cuda")
model = relax_mlir.compile(relax_mlir.parse(t.MODEL), target="cuda:emulated", weights={"w": t.W})
captured = model.captured("main")
x, pair = t.put(device, *t.arguments())
for _ in range(3):
    captured(x, pair)
calls = ["cuLaunchKernelEx", "cuMemAlloc_v2", "cuMemFree_v2", "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2",
         "cuMemcpyDtoDAsync_v2", "cuMemsetD32Async", "cuStreamSynchronize", "cuCtxSynchronize", "cuGraphLaunch",
         "cuStreamBeginCapture_v2", "cuModuleUnload", "cuGraphExecDestroy", "cuStreamDestroy_v2"]
for name in calls:
    emulated.emulator.relax_emulator_fail(name.encode(), 0, t.ILLEGAL_ADDRESS)
def refused(call):
    try:
        call()
    except DeviceError as error:
        assert "illegal" in str(error).lower() or "700" in str(error), error
        return 1
    return 0
used = runtime.pool_statistics().used
count = sum(refused(call) for _ in range(1000) for call in (
    lambda: model["main"](x, pair), lambda: captured(x, pair), lambda: device.get(x), device.synchronize))
gc.collect()
assert runtime.pool_statistics().used == used, (runtime.pool_statistics(), used)
del model, captured
gc.collect()
device.trim_memory()
print(count)
"""
    run = run_python(program)
    assert run.stdout.split() == ["4000"] and run.returncode == 0, (run.stdout, run.stderr)


# The driver rejects code for another chip before anything runs.
def test_the_wrong_architecture(device):
    model = relax_mlir.compile(relax_mlir.parse(MODEL), target="cuda:sm_90", weights={"w": W})
    x, pair = put(device, *arguments())
    with pytest.raises(DeviceError, match="the code may be for another GPU"):
        model["main"](x, pair)
    with Unchanged(device):
        for _ in range(20):
            fails(lambda: model["main"](x, pair), DeviceError, "cuda:0")


# Without a device, compiling for "the" device is an error, and compiling for a named chip works.
def test_compiling_without_a_device():
    program = """
import os
driver = os.environ["RELAX_CUDA_DRIVER"]
import test_device_faults as t
os.environ["RELAX_CUDA_DRIVER"] = driver
import relax_mlir
module = relax_mlir.parse(t.MODEL)
try:
    relax_mlir.compile(module, target="cuda")
except relax_mlir.DeviceError as error:
    print(error)
print(len(relax_mlir.compile_code(module, "cuda:sm_80").object) > 0)
try:
    relax_mlir.compile(module, target="cuda:sm_80", weights={"w": t.W})
except relax_mlir.DeviceError as error:
    print(error)
"""
    run = run_python(program, RELAX_CUDA_DRIVER="/nowhere/libcuda.so.1")
    first, made, second = run.stdout.splitlines()
    assert "no CUDA driver: /nowhere" in first and made == "True" and "no CUDA driver: /nowhere" in second, run.stderr

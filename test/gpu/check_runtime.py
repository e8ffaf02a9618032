# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The runtime on a real device: what test/python/test_device.py checks on the emulated one, and its overhead.

    python3 test/gpu/check_runtime.py

Needs a CUDA device, a C++ compiler, PyTorch and apache-tvm-ffi; neither MLIR nor an installed relax-mlir.
"""

import ctypes
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import torch
import tvm_ffi

ROOT = Path(__file__).resolve().parent.parent.parent
CPU, CUDA = 1, 2
X = np.arange(1000, dtype=np.float32)


class DeviceError(RuntimeError):
    """As in relax_mlir."""


tvm_ffi.register_error("DeviceError", DeviceError)


def build(folder: Path) -> ctypes.CDLL:
    """The runtime, and the example with kernels in PTX."""
    image = (ROOT / "test/gpu/example.ptx").read_text()
    kernels = folder / "kernels.cpp"
    kernels.write_text(
        f'extern "C" const char relax_example_image[];\nconst char relax_example_image[] = R"({image})";'
    )
    flags = ["-std=c++17", "-O2", "-fPIC", "-shared", f"-I{ROOT}/lib", f"-L{folder}", f"-Wl,-rpath,{folder}"]
    runtime = sorted(map(str, (ROOT / "lib/Runtime").glob("*.cpp")))
    example = [str(ROOT / "test/emulator/Example.cpp"), str(kernels), "-lrelax_runtime"]
    compiler = os.environ.get("CXX", "c++")
    for name, sources in (("relax_runtime", [*runtime, "-ldl", "-lpthread"]), ("example", example)):
        subprocess.run([compiler, *flags, *sources, "-o", str(folder / f"lib{name}.so")], check=True)
    return ctypes.CDLL(str(folder / "libexample.so"))


folder = tempfile.TemporaryDirectory()
example = build(Path(folder.name))
runtime = ctypes.CDLL(str(Path(folder.name) / "librelax_runtime.so"))


def load(library: ctypes.CDLL, name: str) -> tvm_ffi.Function:
    return tvm_ffi.core.Function.__from_extern_c__(ctypes.cast(getattr(library, name), ctypes.c_void_p).value)


def function(name: str) -> tvm_ffi.Function:
    return load(example, f"__tvm_ffi_{name}")


copy = load(runtime, "relax_rt_copy")
add = function("add")


def put(array: np.ndarray) -> tvm_ffi.Tensor:
    return copy(tvm_ffi.from_dlpack(array), CUDA, 0)


def get(tensor: tvm_ffi.Tensor) -> list:
    return np.from_dlpack(copy(tensor, CPU, 0)).tolist()


def used() -> int:
    return load(runtime, "relax_rt_device_pool_statistics")(CUDA, 0)[0]


def fails(kind: type, text: str, call, *args) -> None:
    try:
        call(*args)
    except kind as error:
        assert text in str(error), error
        print("  as it should be:", str(error).splitlines()[0])
    else:
        raise AssertionError(f"no error with '{text}'")


def check_values() -> None:
    for size in (0, 1, 16, 17, 100_000):  # small ones go another way
        array = np.random.rand(size).astype(np.float32)
        assert get(put(array)) == array.tolist()
    x = put(X)
    assert get(add(x, x)) == (2 * X).tolist()
    for flag in (False, True):
        for condition in (flag, put(np.array(flag))):
            assert get(function("add_if")(condition, x, x)) == ((1 + flag) * X).tolist()
    constant, size = function("constants")(x)
    assert (get(constant), get(size)) == ([1, 2, 3, 4], [1000])
    assert get(function("add_after")(lambda t: add(t, t), x, x)) == (3 * X).tolist()
    function("bind_weight")("w", tvm_ffi.from_dlpack(X[:4]))
    assert get(function("add_weight")(put(X[:4]))) == (2 * X[:4]).tolist()
    out = put(X)
    add(x, x, out)
    assert get(out) == (2 * X).tolist()


def check_torch() -> None:
    """Tensors of PyTorch, on a stream of its own, without waiting."""
    with torch.cuda.stream(torch.cuda.Stream()):
        x = torch.randn(1 << 20, device="cuda")
        result = x
        for _ in range(200):
            result = add(result, x)
        assert isinstance(result, torch.Tensor)
        assert torch.allclose(result, 201 * x, rtol=1e-3)


def check_threads() -> None:
    correct = {}

    def work(index: int) -> None:
        result = put(X + index)
        for _ in range(100):
            result = add(result, put(X))
        correct[index] = get(result) == (101 * X + index).tolist()

    threads = [threading.Thread(target=work, args=[index]) for index in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert correct == dict.fromkeys(range(4), True)


def check_faults() -> None:
    x = put(X)
    before = used()
    fails(DeviceError, "'missing'", function("add_missing"), x, x)
    fails(DeviceError, "is the code for another one?", function("add_bad"), x, x)
    fails(ValueError, "expected a tensor on cuda:0, got one on the CPU", add, x, tvm_ffi.from_dlpack(X))
    fails(DeviceError, "there is no device cuda:99", copy, x, CUDA, 99)
    large = torch.empty(int(torch.cuda.mem_get_info()[0] * 0.9) // 4, device="cuda")
    fails(MemoryError, "no memory for", add, large, large)
    del large
    torch.cuda.empty_cache()
    for _ in range(1000):
        try:
            function("add_missing")(x, x)
        except DeviceError:
            continue
        raise AssertionError("no error")
    assert used() == before
    assert get(add(x, x)) == (2 * X).tolist()


def check_unloading() -> None:
    example.relax_unload()
    x = put(X)
    assert get(add(x, x)) == (2 * X).tolist()


def measure() -> None:
    """Microseconds that the host needs for a call, the least of 20 times 500."""
    x, out, flag = put(X), put(X), put(np.array(True))
    a, b = (torch.from_numpy(X).cuda() for _ in range(2))
    calls = {
        "a + b of PyTorch": lambda: torch.add(a, b),
        "add, PyTorch's tensors": lambda: add(a, b),
        "add": lambda: add(x, x),
        "add to a destination": lambda: add(x, x, out),
        "add where a tensor says so": lambda: function("add_if")(flag, x, x),
    }
    for name, call in calls.items():
        least = float("inf")
        for _ in range(20):
            torch.cuda.synchronize()
            start = time.perf_counter()
            for _ in range(500):
                call()
            least = min(least, (time.perf_counter() - start) / 500)
        print(f"  {least * 1e6:6.2f} us  {name}")


def check_fault_of_a_kernel() -> None:
    """The last check of a process: the device is lost to it."""
    x = put(X)
    fails(DeviceError, "cuda:0", lambda: get(function("add_stuck")(x, x)))
    fails(DeviceError, "cuda:0", lambda: get(x))


def main() -> None:
    print(*load(runtime, "relax_rt_device_describe")(CUDA, 0))
    if sys.argv[1:] == ["fault"]:
        check_fault_of_a_kernel()
        return
    for check in (check_values, check_torch, check_threads, check_faults, check_unloading, measure):
        print(check.__name__, flush=True)
        check()
    # With each launch waited for, the error is that of the launch.
    for wait in ("0", "1"):
        environment = {**os.environ, "RELAX_DEVICE_SYNCHRONIZE": wait}
        subprocess.run([sys.executable, __file__, "fault"], check=True, env=environment)
    print("all is well")


main()

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the runtime on a real device, like test/python/test_device.py on the emulated one, and its overhead.

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
    """As in `relax_mlir`."""


tvm_ffi.register_error("DeviceError", DeviceError)


def build(folder: Path) -> ctypes.CDLL:
    """The runtime, and the example with kernels in PTX."""
    image = (ROOT / "test/gpu/example.ptx").read_text()
    kernels = folder / "kernels.cpp"
    kernels.write_text(
        f'extern "C" const char relax_example_image[];\nconst char relax_example_image[] = R"({image})";\n'
        'extern "C" const char *relax_example_assembly() { return relax_example_image; }\n'
    )
    flags = ["-std=c++17", "-O2", "-fPIC", "-shared", f"-I{ROOT}/lib", f"-L{folder}", f"-Wl,-rpath,{folder}"]
    runtime = sorted(map(str, (ROOT / "lib/Runtime").rglob("*.cpp")))
    example = [str(ROOT / "test/emulator/Example.cpp"), str(kernels), "-lrelax_runtime"]
    compiler = os.environ.get("CXX", "c++")
    for name, sources in (("relax_runtime", [*runtime, "-ldl", "-lpthread"]), ("example", example)):
        subprocess.run([compiler, *flags, *sources, "-o", str(folder / f"lib{name}.so")], check=True)
    return ctypes.CDLL(str(folder / "libexample.so"))


folder = tempfile.TemporaryDirectory()
os.environ["RELAX_CACHE_DIR"] = f"{folder.name}/cache"
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


def capture(name: str, graphs: int = 16) -> tuple:
    """The captured function, and a function that returns the numbers of captures, replays, failures and graphs."""
    captured, statistics = load(runtime, "relax_rt_capture")(function(name), graphs)
    return captured, lambda: tuple(statistics())[:4]


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
    for size in (0, 1, 16, 17, 100_000):  # small ones are uploaded differently
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
    """PyTorch tensors on a separate PyTorch stream, without waiting."""
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
    fails(DeviceError, "the code may be for another GPU", function("add_bad"), x, x)
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


def check_captures() -> None:
    """Replays give the same results as running, on PyTorch's streams, without waiting."""
    x, y = (torch.randn(1 << 16, device="cuda") for _ in range(2))
    add_often, counts = capture("add_often")
    for _ in range(5):
        assert torch.allclose(add_often(x, y, 30), x + 30 * y, rtol=1e-3, atol=1e-4)
    assert counts() == (1, 4, 0, 1), counts()
    out = torch.zeros_like(x)
    torch.cuda.synchronize()
    with torch.cuda.stream(torch.cuda.Stream()):
        for _ in range(5):
            out.zero_()
            add_often(x, y, 30, out)
            assert torch.allclose(out, x + 30 * y, rtol=1e-3, atol=1e-4)
            x += 1  # the contents of tensors are not part of the graph
    torch.cuda.synchronize()
    assert counts() == (2, 8, 0, 2), counts()
    many, counts = capture("many")
    for _ in range(4):
        results = many(x, y)
        assert results[2] == 1 << 16
        total, doubled = torch.from_dlpack(results[0]), torch.from_dlpack(results[4])
        assert torch.allclose(total, x + y) and torch.allclose(doubled, 2 * y)
    assert counts() == (1, 3, 0, 1), counts()
    constants, counts = capture("constants")
    for _ in range(4):
        constant, size = constants(put(X[:5]))
        assert (get(constant), get(size)) == ([1, 2, 3, 4], [5])
    # A function that reads from the device is not captured.
    add_if, counts = capture("add_if")
    for _ in range(4):
        assert torch.allclose(add_if(put(np.array(True)), x, y), x + y)
    assert counts() == (0, 0, 0, 0)


def check_captures_of_threads() -> None:
    """Two functions in several threads, with more kinds of calls than graphs are kept, and trims in between."""
    (add_captured, counts), (add_often, counts_often) = capture("add"), capture("add_often", 3)
    trim = load(runtime, "relax_rt_device_pool_trim")
    correct = {}

    def work(index: int) -> None:
        x = put(X + index)
        correct[index] = True
        for call in range(100):
            times = 1 + (call + index) % 5
            correct[index] &= get(add_captured(x, x)) == (2 * (X + index)).tolist()
            correct[index] &= get(add_often(x, x, times)) == ((1 + times) * (X + index)).tolist()
            if call % 10 == index:
                trim(CUDA, 0)

    threads = [threading.Thread(target=work, args=[index]) for index in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert correct == dict.fromkeys(range(4), True)
    print("  captures, replays, failures, graphs:", counts(), counts_often())
    assert counts()[2] == counts_often()[2] == 0


def check_captures_without_memory() -> None:
    """Graphs are released when tensors need memory, and are captured again."""
    size = int(torch.cuda.mem_get_info()[0] * 0.08) // 4
    x, out = (torch.ones(size, device="cuda") for _ in range(2))
    add_often, counts = capture("add_often")
    for _ in range(3):
        add_often(x, x, 5, out)
    assert counts()[3] == 1, counts()
    tensors = []
    try:
        while counts()[3]:
            tensors.append(add(x, x))
    finally:
        tensors.clear()
    for _ in range(3):
        add_often(x, x, 6, out)
        assert (out == 7).all()
    assert counts()[3] == 1, counts()
    del add_often, counts
    load(runtime, "relax_rt_device_pool_trim")(CUDA, 0)


def check_cubins() -> None:
    """Assembled once, then read from the disk."""
    cache = Path(os.environ["RELAX_CACHE_DIR"])
    x = put(X)

    def load_anew() -> float:
        example.relax_unload()
        start = time.perf_counter()
        add(x, x)
        return (time.perf_counter() - start) * 1e3

    for entry in cache.iterdir():
        entry.unlink()
    cold, warm = load_anew(), min(load_anew() for _ in range(5))
    (entry,) = cache.iterdir()
    print(f"  {entry.stat().st_size} bytes; loaded in {cold:.2f} ms, then {warm:.2f} ms")
    entry.write_bytes(entry.read_bytes()[:-1])  # damaged: rebuilt
    load_anew()
    assert get(add(x, x)) == (2 * X).tolist()


def check_unloading() -> None:
    example.relax_unload()
    x = put(X)
    assert get(add(x, x)) == (2 * X).tolist()


def measure() -> None:
    """Prints microseconds per call: the least host average of 20 runs of 500 calls, and one device average."""
    x, out, flag = put(X), put(X), put(np.array(True))
    a, b = (torch.from_numpy(X).cuda() for _ in range(2))
    calls = {
        "a + b of PyTorch": lambda: torch.add(a, b),
        "add, PyTorch's tensors": lambda: add(a, b),
        "add": lambda: add(x, x),
        "add to a destination": lambda: add(x, x, out),
        "add where a tensor says so": lambda: function("add_if")(flag, x, x),
    }
    often, (replayed, _) = function("add_often"), capture("add_often")
    calls |= {
        "100 kernels, run": lambda: often(x, x, 100, out),
        "100 kernels, replayed": lambda: replayed(x, x, 100, out),
        "100 kernels, replayed, with a new result": lambda: replayed(x, x, 100),
    }
    for name, call in calls.items():
        least = float("inf")
        for _ in range(20):
            torch.cuda.synchronize()
            start = time.perf_counter()
            for _ in range(500):
                call()
            least = min(least, (time.perf_counter() - start) / 500)
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(500):
            call()
        end.record()
        torch.cuda.synchronize()
        device = start.elapsed_time(end) / 500 * 1e3
        print(f"  {least * 1e6:6.2f} us  {device:7.2f} us until it is done  {name}")


def check_fault_of_a_kernel() -> None:
    """Must be the last check of a process, since it loses the device."""
    x = put(X)
    fails(DeviceError, "cuda:0", lambda: get(function("add_stuck")(x, x)))
    fails(DeviceError, "cuda:0", lambda: get(x))


def main() -> None:
    print(*load(runtime, "relax_rt_device_describe")(CUDA, 0))
    if sys.argv[1:] == ["fault"]:
        check_fault_of_a_kernel()
        return
    for check in (
        check_values,
        check_torch,
        check_threads,
        check_captures,
        check_captures_of_threads,
        check_captures_without_memory,
        check_cubins,
        check_faults,
        check_unloading,
        measure,
    ):
        print(check.__name__, flush=True)
        check()
    # With a wait after each launch, the error is attributed to the launch.
    for wait in ("0", "1"):
        environment = {**os.environ, "RELAX_DEVICE_SYNCHRONIZE": wait}
        subprocess.run([sys.executable, __file__, "fault"], check=True, env=environment)
    print("all is well")


main()

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The emulated device alone: its kernels and its driver (test/emulator)."""

import ctypes

import numpy as np
import pytest
from emulated import EXAMPLE, blocks, emulator, failing, run_python

INVALID_VALUE, OUT_OF_MEMORY, INVALID_IMAGE, NOT_FOUND, TIMEOUT = 1, 2, 200, 500, 702

# The function attribute that requests shared memory beyond 48 KiB.
MOST_SHARED = 8


def check(result):
    assert result == 0


class LaunchConfig(ctypes.Structure):
    """CUlaunchConfig."""

    _fields_ = [
        *((name, ctypes.c_uint) for name in ("gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ", "sharedBytes")),
        ("stream", ctypes.c_void_p),
        ("attributes", ctypes.c_void_p),
        ("count", ctypes.c_uint),
    ]


class Machine:
    """The driver's functions, with arrays for memory."""

    def __init__(self):
        check(emulator.cuInit(0))
        context = ctypes.c_void_p()
        check(emulator.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
        check(emulator.cuCtxPushCurrent_v2(context))
        self.example = ctypes.CDLL(str(EXAMPLE))
        self.module = ctypes.c_void_p()
        image = ctypes.addressof(ctypes.c_char.in_dll(self.example, "relax_example_image"))
        self.image = ctypes.c_void_p(image)
        check(emulator.cuModuleLoadDataEx(ctypes.byref(self.module), self.image, 0, None, None))

    def allocate(self, size):
        data = ctypes.c_uint64()
        check(emulator.cuMemAlloc_v2(ctypes.byref(data), ctypes.c_size_t(size)))
        return data

    def put(self, array):
        data = self.allocate(array.nbytes)
        check(emulator.cuMemcpyHtoDAsync_v2(data, array.ctypes.data_as(ctypes.c_void_p), array.nbytes, None))
        return data

    def get(self, data, like):
        result = np.empty_like(like)
        check(emulator.cuMemcpyDtoHAsync_v2(result.ctypes.data_as(ctypes.c_void_p), data, result.nbytes, None))
        check(emulator.cuMemFree_v2(data))
        return result

    def find(self, kernel):
        function = ctypes.c_void_p()
        check(emulator.cuModuleGetFunction(ctypes.byref(function), self.module, kernel.encode()))
        return function

    def launch(self, kernel, grid, block, *args, shared=0):
        pointers = (ctypes.c_void_p * len(args))(*(ctypes.addressof(arg) for arg in args))
        config = LaunchConfig(*grid, *block, shared)
        return emulator.cuLaunchKernelEx(ctypes.byref(config), self.find(kernel), pointers, None)

    def close(self):
        check(emulator.cuModuleUnload(self.module))
        check(emulator.cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p())))


@pytest.fixture
def machine():
    machine = Machine()
    yield machine
    machine.close()


@pytest.mark.parametrize("grid, block", [((1, 1, 1), (1, 1, 1)), ((3, 2, 2), (4, 3, 2)), ((1, 1, 5), (1, 1, 7))])
def test_every_thread_runs_once_and_knows_where(machine, grid, block):
    count = int(np.prod(grid) * np.prod(block))
    zeros = np.full((count, 12), -1)
    out = machine.put(zeros)
    check(machine.launch("ids", grid, block, out))
    # Results are ordered by block, then by thread, with x varying fastest.
    expected = [
        [tx, ty, tz, bx, by, bz, *block, *grid]
        for bz in range(grid[2])
        for by in range(grid[1])
        for bx in range(grid[0])
        for tz in range(block[2])
        for ty in range(block[1])
        for tx in range(block[0])
    ]
    assert machine.get(out, zeros).tolist() == expected


@pytest.mark.parametrize("threads", [1, 2, 32, 64, 1024])
def test_shared_memory_and_barriers(machine, threads):
    x = np.arange(3 * threads).reshape(3, threads)
    data, out = machine.put(x), machine.put(np.zeros(3, np.int64))
    check(machine.launch("block_sum", (3, 1, 1), (threads, 1, 1), out, data))
    assert machine.get(out, np.zeros(3, np.int64)).tolist() == x.sum(1).tolist()
    machine.get(data, x)


def test_shuffles_combine_the_lanes_of_a_warp(machine):
    x = np.arange(256, dtype=np.int32) ** 2 % 97
    data, out = machine.put(x), machine.put(x)
    check(machine.launch("warp_sum", (2, 1, 1), (128, 1, 1), out, data))
    assert machine.get(out, x).tolist() == np.repeat(x.reshape(8, 32).sum(1), 32).tolist()
    machine.get(data, x)


def test_shuffles_by_the_number_of_a_lane(machine):
    x = np.arange(64, dtype=np.int32)
    data, out = machine.put(x), machine.put(x)
    check(machine.launch("rotate", (1, 1, 1), (64, 1, 1), out, data))
    assert machine.get(out, x).tolist() == np.roll(x.reshape(2, 32), -1, axis=1).ravel().tolist()
    machine.get(data, x)


# Shared memory does not start as zeros that a kernel could rely on.
def test_shared_memory_is_not_zero_at_the_start(machine):
    zeros = np.zeros(4, np.int64)
    out = machine.put(zeros)
    check(machine.launch("read_shared", (1, 1, 1), (4, 1, 1), out, shared=32))
    assert (machine.get(out, zeros).view(np.uint8) == 0xCB).all()


def test_threads_that_left_are_not_waited_for(machine):
    zeros = np.zeros(8, np.int64)
    out = machine.put(zeros)
    check(machine.launch("leave_early", (1, 1, 1), (8, 1, 1), out))
    assert machine.get(out, zeros).tolist() == [1, 0] * 4


def test_threads_that_never_meet_are_an_error(machine):
    assert machine.launch("never_meet", (1, 1, 1), (32, 1, 1)) == TIMEOUT
    # The next launch works.
    test_threads_that_left_are_not_waited_for(machine)


@pytest.mark.parametrize(
    "grid, block, shared",
    [
        ((1, 1, 1), (1025, 1, 1), 0),
        ((1, 1, 1), (32, 33, 1), 0),
        ((1, 1, 1), (1, 1, 65), 0),
        ((1, 65536, 1), (1, 1, 1), 0),
        ((0, 1, 1), (1, 1, 1), 0),
        ((1, 1, 1), (1, 1, 1), (48 << 10) + 1),
    ],
)
def test_launches_beyond_the_limits_are_errors(machine, grid, block, shared):
    assert machine.launch("never_meet", grid, block, shared=shared) == INVALID_VALUE


def test_more_shared_memory_is_had_on_request(machine):
    function = machine.find("read_shared")
    check(emulator.cuFuncSetAttribute(function, MOST_SHARED, 100 << 10))
    assert emulator.cuFuncSetAttribute(function, MOST_SHARED, 1 << 20) == INVALID_VALUE
    zeros = np.zeros(1, np.int64)
    out = machine.put(zeros)
    check(machine.launch("read_shared", (1, 1, 1), (1, 1, 1), out, shared=100 << 10))
    machine.get(out, zeros)


def test_copies_stay_within_a_block(machine):
    data, word = machine.allocate(100), ctypes.c_uint64()
    for offset in (-1, 93, 1 << 32):
        at = ctypes.c_uint64(data.value + offset)
        assert emulator.cuMemcpyHtoDAsync_v2(at, ctypes.byref(word), 8, None) == INVALID_VALUE
        assert emulator.cuMemcpyDtoHAsync_v2(ctypes.byref(word), at, 8, None) == INVALID_VALUE
    check(emulator.cuMemcpyDtoHAsync_v2(ctypes.byref(word), data, 8, None))
    assert word.value == 0xCDCDCDCDCDCDCDCD
    check(emulator.cuMemFree_v2(data))


def test_memory_is_counted_and_freed_once(machine):
    before, held = blocks(), emulator.relax_emulator_bytes()
    data = machine.allocate(1000)
    assert (blocks(), emulator.relax_emulator_bytes()) == (before + 1, held + 1000)
    check(emulator.cuMemFree_v2(data))
    assert (blocks(), emulator.relax_emulator_bytes()) == (before, held)
    assert emulator.cuMemFree_v2(data) == INVALID_VALUE
    assert emulator.cuMemAlloc_v2(ctypes.byref(data), ctypes.c_size_t(1 << 40)) == OUT_OF_MEMORY


def test_images_and_kernels_that_are_none(machine):
    module, text = ctypes.c_void_p(), ctypes.create_string_buffer(b"no image at all")
    assert emulator.cuModuleLoadDataEx(ctypes.byref(module), text, 0, None, None) == INVALID_IMAGE
    assert emulator.cuModuleGetFunction(ctypes.byref(module), machine.module, b"none") == NOT_FOUND


def test_errors_are_injected_by_their_number():
    with failing("cuInit", 999, nth=2):
        assert [emulator.cuInit(0) for _ in range(3)] == [0, 999, 0]
    with failing("cuInit", 5):
        assert [emulator.cuInit(0) for _ in range(2)] == [5, 5]
    check(emulator.cuInit(0))


DEATHS = {
    # The host reads memory of the device.
    "ctypes.string_at(machine.allocate(8).value, 8)": "",
    # A kernel writes beyond its memory.
    "data = machine.allocate(100); machine.launch('overrun', (1, 1, 1), (1, 1, 1), data, ctypes.c_int64(100));"
    "emulator.cuMemFree_v2(data)": "memory after a block",
}


@pytest.mark.parametrize("wrong", DEATHS)
def test_wrong_accesses_end_the_process(wrong):
    done = run_python(f"import ctypes; from test_emulator import *; machine = Machine(); {wrong}")
    assert done.returncode < 0
    assert DEATHS[wrong] in done.stderr

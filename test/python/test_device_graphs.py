# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls that are captured and replayed as graphs, on the emulated device.

The compiled functions are test/emulator/Example.cpp.
"""

import gc
import threading

import numpy as np
import pytest
import tvm_ffi
from emulated import blocks, calls, failing, load_example, objects, open_device

import relax_mlir
from relax_mlir import Device, DeviceError, runtime
from relax_mlir.runtime import Captured, CaptureStatistics

OUT_OF_MEMORY, LAUNCH_FAILED = 2, 719
X = np.arange(100, dtype=np.float32)


UNKNOWN = {"parameters": [], "results": [], "symbols": {}}
"""The description of functions that were not compiled."""

device = pytest.fixture(open_device, scope="module")
functions = pytest.fixture(load_example, scope="module")


@pytest.fixture
def captured(functions):
    """Functions of the example as captured functions; the test must release all their resources."""

    def make(name, graphs=16):
        def wrap(function):
            def call(*args):
                return function(*args)

            return call

        return Captured(name, UNKNOWN, functions(name), graphs, wrap)

    return make


def counts(function):
    """The numbers of captures, replays, failures and graphs."""
    return tuple(function.statistics()[:4])


# --- results


# The first call runs, the second is captured and launched, later calls are launched; all give the same results.
def test_replays_give_what_running_gives(device, captured):
    add = captured("add")
    x, y = device.put(X), device.put(3 * X)
    for call in range(5):
        launches = calls("cuLaunchKernelEx")
        assert device.get(add(x, y)).tolist() == (4 * X).tolist()
        assert calls("cuLaunchKernelEx") - launches == (1 if call < 2 else 0)
    assert add.statistics() == CaptureStatistics(1, 4, 0, 1, True, 0)


# The contents of tensors are not part of a graph.
def test_replays_read_the_tensors_of_now(device, functions, captured):
    add = captured("add")
    x, y = device.put(X), device.put(X)
    for call in range(2, 7):
        assert device.get(add(x, y)).tolist() == (call * X).tolist()
        functions("add_to")(x, y)
    assert counts(add) == (1, 4, 0, 1)


# Results have their own memory: the next replay does not change them.
def test_results_outlive_the_next_replay(device, functions, captured):
    add = captured("add")
    x, y = device.put(X), device.put(X)
    results = []
    for _ in range(4):
        results.append(add(x, y))
        functions("add_to")(x, y)
    assert [device.get(result).tolist() for result in results] == [(k * X).tolist() for k in (2, 3, 4, 5)]


def test_memory_is_used_again_within_a_graph(device, captured):
    device.trim_memory()
    add_often = captured("add_often")
    x = device.put(X)
    before = blocks()
    for _ in range(4):
        assert device.get(add_often(x, x, 20)).tolist() == (21 * X).tolist()
    assert counts(add_often) == (1, 3, 0, 1)
    # Two alternating blocks for the runs, two for the graph.
    assert blocks() <= before + 5


# Several functions share memory, as long as one of them has a graph.
def test_graphs_share_their_memory(device, captured):
    functions = [captured("add_often"), captured("add_often"), captured("add")]
    x = device.put(X)
    expected = [20 * X, 7 * X, 2 * X]
    arguments = [(x, x, 19), (x, x, 6), (x, x)]
    held = []
    for function, args, value in zip(functions, arguments, expected, strict=True):
        for _ in range(3):
            assert device.get(function(*args)).tolist() == value.tolist()
        held.append(device.memory_statistics().held)
    assert held[0] == held[1] == held[2]
    for _ in range(3):
        for function, args, value in zip(functions, arguments, expected, strict=True):
            assert device.get(function(*args)).tolist() == value.tolist()
    assert [counts(function) for function in functions] == [(1, 5, 0, 1)] * 3


def test_results_of_every_kind(device, captured):
    many = captured("many")
    x, y = device.put(X), device.put(5 * X)
    for _ in range(4):
        total, same, size, first, second = many(x, y)
        assert same.same_as(x)
        assert size == 100
        assert device.get(total).tolist() == (6 * X).tolist()
        assert device.get(first).tolist() == device.get(second).tolist() == (10 * X).tolist()
    assert counts(many) == (1, 3, 0, 1)


# A constant is returned as a copy; the graph writes the number.
def test_constants_and_numbers(device, captured):
    constants = captured("constants")
    x = device.put(X)
    results = [constants(x) for _ in range(4)]
    for constant, size in results:
        assert (device.get(constant).tolist(), device.get(size).tolist()) == ([1, 2, 3, 4], [100])
    assert counts(constants) == (1, 3, 0, 1)


def test_functions_in_place(device, captured):
    add_to = captured("add_to")
    x, y = device.put(X), device.put(X)
    for call in range(2, 7):  # each of them adds once
        assert add_to(x, y).same_as(x)
        assert device.get(x).tolist() == (call * X).tolist()
    assert counts(add_to) == (1, 4, 0, 1)


def test_empty_tensors(device, captured):
    add = captured("add")
    empty = device.put(X[:0])
    for _ in range(4):
        assert device.get(add(empty, empty)).shape == (0,)
    assert counts(add) == (1, 3, 0, 1)


# --- destinations


# Kernels write destinations directly: a replay is one launch and no copy.
def test_destinations_are_written_without_a_copy(device, captured):
    add_often = captured("add_often")
    x, out = device.put(X), device.put(np.zeros_like(X))
    for _ in range(2):
        add_often(x, x, 3, out)
    copies, launches = calls("cuMemcpyDtoDAsync_v2"), calls("cuGraphLaunch")
    used = device.memory_statistics().used
    for _ in range(3):
        assert add_often(x, x, 3, out) is None
    assert (calls("cuMemcpyDtoDAsync_v2"), calls("cuGraphLaunch")) == (copies, launches + 3)
    assert device.get(out).tolist() == (4 * X).tolist()
    assert device.memory_statistics().used == used
    assert counts(add_often) == (1, 4, 0, 1)


# The destination is read before it is completely written: the result is copied within the graph.
def test_destinations_in_the_memory_of_arguments(device, captured):
    add_often = captured("add_often")
    x, y = device.put(X), device.put(X)
    value = X
    for _ in range(5):
        add_often(x, y, 3, y)
        value = X + 3 * value
        assert device.get(y).tolist() == value.tolist()
    assert counts(add_often) == (1, 4, 0, 1)


# A weight that is used in place may be a destination, too.
def test_destinations_in_the_memory_of_weights(device, functions, captured):
    weight, x = device.put(X[:4]), device.put(X[:4])
    functions("bind_weight")("w", weight)
    add_weight = captured("add_weight")
    for call in range(2, 7):
        add_weight(x, weight)
        assert device.get(weight).tolist() == (call * X[:4]).tolist()
    assert counts(add_weight) == (1, 4, 0, 1)


def test_destinations_that_do_not_fit(device, captured):
    add = captured("add")
    x, out = device.put(X), device.put(X)
    for _ in range(3):
        add(x, x, out)
    for _ in range(3):
        with pytest.raises(ValueError, match="destination 0: dimension 0 must be 100, got 99"):
            add(x, x, device.put(X[1:]))
    assert counts(add) == (1, 2, 0, 1)


# Compiled host code and kernels, with planned memory.
def test_compiled_kernels_are_captured(device):
    T = "tensor<?x8xf32, #relax.shape<[n, 8]>>"
    executable = relax_mlir.compile(
        relax_mlir.parse(f"""
        relax.func @main(%x: {T}, %y: {T}) -> {T} {{
          %0 = relax.add %x, %y : ({T}, {T}) -> {T}
          %1 = relax.softmax %0 {{axis = 1 : i64}} : ({T}) -> {T}
          %2 = relax.multiply %1, %0 : ({T}, {T}) -> {T}
          relax.return %2 : {T}
        }}"""),
        target="cuda:emulated",
    )
    main, replayed = executable["main"], executable.captured("main")
    for size in (3, 1, 5):
        x = device.put(np.random.default_rng(size).random((size, 8), np.float32))
        out = device.put(np.zeros((size, 8), np.float32))
        expected = device.get(main(x, x)).tolist()
        for _ in range(3):
            assert device.get(replayed(x, x)).tolist() == expected
            replayed(x, x, out)
            assert device.get(out).tolist() == expected
    assert counts(replayed) == (6, 12, 0, 6)


# --- keys


def test_other_arguments_are_other_graphs(device, captured):
    add_often = captured("add_often")
    x, y, short = device.put(X), device.put(2 * X), device.put(X[:50])
    kinds = [(x, y, 2), (y, x, 2), (x, y, 3), (short, short, 2)]
    expected = [5 * X, 4 * X, 7 * X, 3 * X[:50]]
    for _ in range(4):
        for args, value in zip(kinds, expected, strict=True):
            assert device.get(add_often(*args)).tolist() == value.tolist()
    assert counts(add_often) == (4, 12, 0, 4)


def test_destinations_are_part_of_the_key(device, captured):
    add = captured("add")
    x, outs = device.put(X), [device.put(np.zeros_like(X)) for _ in range(2)]
    for call in range(6):
        out = outs[call % 2]
        add(x, x, out)
        assert device.get(out).tolist() == (2 * X).tolist()
    assert counts(add) == (2, 4, 0, 2)


def test_streams_have_graphs_of_their_own(device, captured):
    add = captured("add")
    x = device.put(X)
    for handle in (0, 0x1000):
        with tvm_ffi.use_raw_stream(tvm_ffi.device("cuda", 0), handle):
            for _ in range(3):
                assert device.get(add(x, x)).tolist() == (2 * X).tolist()
    assert counts(add) == (2, 4, 0, 2)


def test_devices_have_graphs_of_their_own(captured):
    add = captured("add")
    for device in (Device("cuda", 0), Device("cuda", 1)):
        x = device.put(X)
        for _ in range(3):
            assert device.get(add(x, x)).tolist() == (2 * X).tolist()
    assert counts(add) == (2, 4, 0, 2)


@pytest.fixture
def own_stream():
    """A stream that no other test uses: what is known about earlier calls, and loses weight with them, is its own."""
    with tvm_ffi.use_raw_stream(tvm_ffi.device("cuda", 0), 0x2000):
        yield


# The number of graphs is limited: a more frequent call replaces a less frequent one.
def test_graphs_that_are_not_used_go(device, captured, own_stream):
    add_often = captured("add_often", graphs=2)
    x = device.put(X)
    before = objects()

    def run(times, count):
        for _ in range(count):
            assert device.get(add_often(x, x, times)).tolist() == ((1 + times) * X).tolist()

    for times in (1, 2):
        run(times, 3)
    assert counts(add_often) == (2, 4, 0, 2)
    assert objects() == before + 3  # two graphs and a stream
    run(3, 4)
    assert counts(add_often) == (2, 4, 0, 2) and add_often.statistics().crowded == 3
    run(3, 2)  # the fifth call is captured in the place of 1 or 2
    assert counts(add_often) == (3, 6, 0, 2) and objects() == before + 3
    run(4, 200)  # calls that were frequent long ago are replaced
    assert counts(add_often)[0] == 4 and counts(add_often)[1] > 100 and objects() == before + 3


# With more kinds of calls than graphs, some are replayed, and none are captured repeatedly.
@pytest.mark.parametrize("kinds", [5, 6, 40])
def test_more_kinds_than_graphs(device, captured, kinds):
    add_often = captured("add_often", graphs=4)
    x = device.put(X)
    rounds = 30
    for _ in range(rounds):
        for times in range(1, 1 + kinds):
            assert device.get(add_often(x, x, times)).tolist() == ((1 + times) * X).tolist()
    found = add_often.statistics()
    if kinds > 4 * 4 + 16 + 4:
        # Each is forgotten before it recurs; none is captured.
        assert found.captures <= 4
        return
    assert (found.captures, found.graphs) == (4, 4)
    assert found.replays == 4 * (rounds - 1) and found.crowded == (kinds - 4) * (rounds - 1)


# --- what is not captured


@pytest.mark.parametrize("flag", [False, True])
def test_functions_that_read_from_the_device_run(device, captured, flag):
    add_if = captured("add_if")
    x, condition = device.put(X), device.put(np.array(flag))
    for _ in range(4):
        assert device.get(add_if(condition, x, x)).tolist() == ((1 + flag) * X).tolist()
    assert add_if.statistics() == (0, 0, 0, 0, False, 0)


def test_functions_that_take_functions_run(device, functions, captured):
    add_after, add = captured("add_after"), captured("add")
    x = device.put(X)
    for _ in range(4):
        assert device.get(add_after(lambda t: add(t, t), x, x)).tolist() == (3 * X).tolist()
    assert add_after.statistics() == (0, 0, 0, 0, False, 0)
    # The outer call does not count the inner capture.
    assert add.statistics().captures == 1


def test_errors_of_a_call_are_its_own(device, captured):
    add = captured("add")
    x, short = device.put(X), device.put(X[:50])
    for _ in range(4):
        with pytest.raises(ValueError, match="sizes differ: 100 and 50"):
            add(x, short)
        with pytest.raises(ValueError, match="argument 1 'y' .*: expected a tensor on cuda:0, got one on the CPU"):
            add(x, tvm_ffi.from_dlpack(X))
    assert counts(add) == (0, 0, 0, 0)


# --- faults


def in_use(device):
    return device.memory_statistics().used


CAPTURE = {
    "a stream": ("cuStreamCreate", 1),
    "the begin": ("cuStreamBeginCapture_v2", 1),
    "the first launch": ("cuLaunchKernelEx", 1),
    "a later launch": ("cuLaunchKernelEx", 3),
    "memory": ("cuMemAlloc_v2", 1),
    "the end": ("cuStreamEndCapture", 1),
    "a graph": ("cuGraphInstantiateWithFlags", 1),
}


# Such a call runs normally, and so do later calls of its kind.
@pytest.mark.parametrize("fault", CAPTURE)
def test_what_fails_in_a_capture_runs(device, captured, fault):
    add_often = captured("add_often")
    function, nth = CAPTURE[fault]
    x = device.put(X)
    device.trim_memory()
    before, held, used = objects(), blocks(), in_use(device)
    add_often(x, x, 4)
    failed = calls(function)
    with failing(function, LAUNCH_FAILED, nth=nth):
        assert device.get(add_often(x, x, 4)).tolist() == (5 * X).tolist()
    assert calls(function) >= failed + nth
    assert counts(add_often) == (0, 0, 1, 0)
    assert device.get(add_often(x, x, 4)).tolist() == (5 * X).tolist()
    assert counts(add_often) == (0, 0, 1, 0)
    # A call of another kind is captured.
    for _ in range(2):
        assert device.get(add_often(x, x, 5)).tolist() == (6 * X).tolist()
    assert counts(add_often) == (1, 1, 1, 1)
    del add_often
    device.trim_memory()
    assert (objects(), blocks(), in_use(device)) == (before, held, used)


# The same for numbers that host code writes, and for copies to destinations.
def test_copies_that_fail_in_a_capture(device, captured):
    constants, add = captured("constants"), captured("add")
    x, y = device.put(X), device.put(X)
    constants(x)
    with failing("cuMemsetD32Async", LAUNCH_FAILED, nth=1):
        constant, size = constants(x)
    assert (device.get(constant).tolist(), device.get(size).tolist()) == ([1, 2, 3, 4], [100])
    assert counts(constants) == (0, 0, 1, 0)
    add(x, y, y)
    with failing("cuMemcpyDtoDAsync_v2", LAUNCH_FAILED, nth=1):
        add(x, y, y)
    add(x, y, y)
    assert device.get(y).tolist() == (4 * X).tolist()
    assert counts(add) == (0, 0, 1, 0)


@pytest.fixture
def limited(device):
    """Limits the device to the given number of additional 1-MiB blocks."""

    def limit(blocks):
        device.trim_memory()
        device.set_memory_limit(device.memory_statistics().held + (blocks << 20))

    yield limit
    device.set_memory_limit(None)
    device.trim_memory()


# Memory is not released during a capture; after free memory is released, the capture is retried.
def test_captures_get_the_memory_that_is_free(device, captured, limited):
    x = device.put(np.ones(1 << 18, np.float32))
    limited(3)
    add_often = captured("add_often")
    for _ in range(3):
        # Two blocks for a run, or two for the graph and a result.
        assert (device.get(add_often(x, x, 3)) == 4).all()
    assert counts(add_often) == (1, 2, 0, 1)


# If a graph leaves no memory for its results, such calls run normally.
def test_graphs_without_memory_for_results(device, captured, limited):
    x = device.put(np.ones(1 << 18, np.float32))
    limited(3)
    add_often = captured("add_often")
    result = add_often(x, x, 3)
    for _ in range(3):
        assert (device.get(add_often(x, x, 3)) == 4).all()
    assert counts(add_often) == (1, 0, 1, 0)
    assert (device.get(result) == 4).all()


# When memory runs out, graphs release theirs, and are captured again later.
def test_graphs_give_way(device, captured, limited):
    x, out = (device.put(np.ones(1 << 18, np.float32)) for _ in range(2))
    limited(4)
    add_often = captured("add_often")
    for _ in range(3):
        add_often(x, x, 3, out)
    assert counts(add_often) == (1, 2, 0, 1)
    large = device.put(np.zeros(3 << 20, np.uint8))
    assert counts(add_often) == (1, 2, 0, 0)
    del large
    for _ in range(3):
        add_often(x, x, 3, out)
        assert (device.get(out) == 4).all()
    assert counts(add_often) == (2, 4, 0, 1)


def test_a_launch_that_fails_is_an_error(device, captured):
    add = captured("add")
    x = device.put(X)
    for _ in range(3):
        add(x, x)
    with (
        failing("cuGraphLaunch", LAUNCH_FAILED),
        pytest.raises(DeviceError, match="launch of a graph failed on cuda:0"),
    ):
        add(x, x)
    assert device.get(add(x, x)).tolist() == (2 * X).tolist()
    with failing("cuMemcpyDtoDAsync_v2", LAUNCH_FAILED), pytest.raises(DeviceError, match="copy on the device failed"):
        add(x, x)
    assert device.get(add(x, x)).tolist() == (2 * X).tolist()
    # No memory for the graph: the code runs.
    with failing("cuGraphLaunch", OUT_OF_MEMORY):
        assert device.get(add(x, x)).tolist() == (2 * X).tolist()
    assert add.statistics().graphs == 0


FAULTS = {
    "a launch of a graph": ("cuGraphLaunch", LAUNCH_FAILED, True, DeviceError),
    "a copy of a result": ("cuMemcpyDtoDAsync_v2", LAUNCH_FAILED, True, DeviceError),
    "a capture": ("cuStreamEndCapture", LAUNCH_FAILED, False, None),
    "a graph": ("cuGraphInstantiateWithFlags", OUT_OF_MEMORY, False, None),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_thousand_failing_calls_leak_nothing(device, captured, fault):
    function, code, is_captured, kind = FAULTS[fault]
    add = captured("many", graphs=2)
    x = device.put(X)
    device.trim_memory()
    held, before, used, host = blocks(), objects(), in_use(device), runtime.pool_statistics().used
    for _ in range(2 if is_captured else 0):
        add(x, x)
    others = [x]
    for call in range(1000):
        # New arguments each time, so that every second call captures.
        if not is_captured and call % 2 == 0:
            others.append(device.put(X))
        y = others[-1]
        with failing(function, code):
            if kind:
                with pytest.raises(kind, match="failed on cuda:0") as error:
                    add(x, y)
                del error
            else:
                add(x, y)
    assert add.statistics().failures == (0 if is_captured else 500)
    del y, others
    assert (in_use(device), runtime.pool_statistics().used) == (used, host)
    del add
    device.trim_memory()
    assert (blocks(), objects()) == (held, before)


# --- lifetimes


def test_graphs_go_with_their_function(device, captured):
    device.trim_memory()
    x = device.put(X)
    captured("add")(x, x)  # loads the code
    device.trim_memory()
    before, held = objects(), blocks()
    add = captured("add")
    for _ in range(3):
        add(x, x)
    assert objects() == before + 2  # a graph, a stream
    del add
    gc.collect()
    assert objects() == before
    device.trim_memory()
    assert blocks() == held


# Graphs launch kernels of modules, and read constants and weights: they are released with them.
def test_graphs_go_with_what_they_use(device, functions, captured):
    add, constants, add_weight = captured("add"), captured("constants"), captured("add_weight")
    x, short = device.put(X), device.put(X[:4])
    functions("bind_weight")("w", tvm_ffi.from_dlpack(X[:4]))

    def run(factor):
        for _ in range(3):
            assert device.get(add(x, x)).tolist() == (2 * X).tolist()
            assert device.get(constants(x)[0]).tolist() == [1, 2, 3, 4]
            assert device.get(add_weight(short)).tolist() == ((1 + factor) * X[:4]).tolist()
        assert [function.statistics().graphs for function in (add, constants, add_weight)] == [1, 1, 1]

    run(1)
    functions("bind_weight")("w", tvm_ffi.from_dlpack(2 * X[:4]))
    assert [function.statistics().graphs for function in (add, constants, add_weight)] == [1, 1, 0]
    run(2)
    functions.unload()
    assert [function.statistics().graphs for function in (add, constants, add_weight)] == [0, 0, 0]
    with pytest.raises(ValueError, match="weight 'w' is not bound"):
        add_weight(short)
    functions("bind_weight")("w", tvm_ffi.from_dlpack(2 * X[:4]))
    run(2)


def test_several_threads(device, functions, captured):
    add, add_often = captured("add"), captured("add_often", graphs=3)
    results = {}
    tensors = [device.put(X + index) for index in range(4)]

    def work(index):
        x = tensors[index]
        good = True
        for call in range(100):
            times = 1 + (call + index) % 5  # more kinds than graphs
            good &= device.get(add(x, x)).tolist() == (2 * (X + index)).tolist()
            good &= device.get(add_often(x, x, times)).tolist() == ((1 + times) * (X + index)).tolist()
            if call % 10 == index:
                device.trim_memory()
            if call % 40 == 20 + index:
                functions("bind_weight")("w", tvm_ffi.from_dlpack(X[:4]))
        results[index] = good

    threads = [threading.Thread(target=work, args=[index]) for index in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == dict.fromkeys(range(4), True)
    assert add.statistics().captures == 4
    assert add.statistics().failures == add_often.statistics().failures == 0


def test_bad_limits(functions):
    for graphs in (0, -1, 65537, 1 << 40):
        with pytest.raises(ValueError, match="expected from 1 to 65536 graphs"):
            Captured("add", UNKNOWN, functions("add"), graphs, lambda function: function)

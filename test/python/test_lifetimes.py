# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lifetimes of weights, arguments and results, while others bind, keep and drop values, raise errors, or end
threads."""

import ctypes
import gc
import sys
import threading
import time

import numpy as np
import pytest
import tvm_ffi
from emulated import run_python

import relax_mlir
from relax_mlir import runtime
from relax_mlir.runtime import to_numpy

T = "tensor<?xf32, #relax.shape<[n]>>"
F = f"({T}) -> {T}"
X = np.arange(4, dtype=np.float32)


def compiled(text, **options):
    return relax_mlir.compile(relax_mlir.parse(text), **options)


def weighted(size):
    """main: x + w + w, with the second addition in a function; pair: (w, v), which are bound together."""
    w = f"tensor<{size}xf32>"
    return f"""
    relax.func private @add(%x: {w}) -> {w} {{
      %w = relax.constant weight "w" : {w}
      %0 = relax.add %x, %w : ({w}, {w}) -> {w}
      relax.return %0 : {w}
    }}
    relax.func @main(%x: {w}) -> {w} {{
      %w = relax.constant weight "w" : {w}
      %0 = relax.add %x, %w : ({w}, {w}) -> {w}
      %1 = relax.call @add(%0) : ({w}) -> {w}
      relax.return %1 : {w}
    }}
    relax.func @pair() -> ({w}, {w}) {{
      %w = relax.constant weight "w" : {w}
      %v = relax.constant weight "v" : {w}
      relax.return %w, %v : {w}, {w}
    }}
    relax.func @after(%f: (i64) -> i64) -> {w} {{
      %w = relax.constant weight "w" : {w}
      %c = arith.constant 1 : i64
      %0 = relax.call_closure %f(%c) : (i64) -> i64 calls (i64) -> i64
      %1 = relax.add %w, %w : ({w}, {w}) -> {w}
      relax.return %1 : {w}
    }}
    relax.func private @plus(%w: {w}, %x: {w}) -> {w} {{
      %0 = relax.add %x, %w : ({w}, {w}) -> {w}
      relax.return %0 : {w}
    }}
    relax.func @make() -> (({w}) -> {w}) {{
      %w = relax.constant weight "w" : {w}
      %f = relax.make_closure @plus(%w) : ({w}) -> (({w}) -> {w})
      relax.return %f : ({w}) -> {w}
    }}"""


def full(size, value):
    return np.full(size, value, np.float32)


def use_up_memory(size):
    """Overwrites free memory of that size."""
    return [full(size, np.nan) for _ in range(20)]


# --- weights


# Calls through the C interface, where nothing else keeps the tensors alive.
def test_weights_live_as_long_as_they_are_bound():
    size = 300_000
    module = compiled(weighted(size))
    bind = module._load("bind_weight")
    for name, value in (("w", 3), ("v", 5)):
        bind(name, full(size, value))
    use_up_memory(size)
    assert set(to_numpy(module["main"](full(size, 1)))) == {7}
    assert [set(each) for each in module["pair"]()] == [{3}, {5}]


def test_weights_go_when_others_are_bound_and_with_the_module():
    # Code that returns callables is never unloaded.
    module = compiled(weighted(4).split("relax.func private @plus")[0])
    weights = [full(4, value) for value in (1, 2, 3)]
    before = list(map(sys.getrefcount, weights))
    bind = module._load("bind_weight")
    bind("w", weights[0], "v", weights[1])
    bind("w", weights[2])
    assert list(map(sys.getrefcount, weights)) == [before[0], before[1] + 1, before[2] + 1]
    del module, bind
    gc.collect()
    assert list(map(sys.getrefcount, weights)) == before


# Weights are bound together, or not at all.
def test_weights_are_bound_together_or_not_at_all():
    module = compiled(weighted(4), weights={"w": full(4, 1), "v": full(4, 2)})
    for wrong, error in (
        ({"w": full(4, 5), "v": full(3, 5)}, ValueError),
        ({"w": full(4, 5), "v": np.zeros(4)}, TypeError),
        ({"w": full(4, 5), "u": full(4, 5)}, ValueError),
    ):
        with pytest.raises(error, match="weight '[uv]'"):
            module.bind_weights(wrong)
        assert [each.tolist() for each in module["pair"]()] == [[1] * 4, [2] * 4]
        assert module.weights["w"][0] == 1
    with pytest.raises(TypeError, match="expected a name and a tensor"):
        module._load("bind_weight")("w")
    with pytest.raises(TypeError, match="argument 2: expected the name"):
        module._load("bind_weight")("w", full(4, 5), 3, full(4, 5))


# A call uses the weights of one binding, from its first read to its last.
def test_no_call_mixes_weights_that_are_bound_meanwhile():
    size = 100_000
    module = compiled(weighted(size), weights={"w": full(size, 1), "v": full(size, 1)})
    rounds, is_over, mixed = [], threading.Event(), []

    def call():
        x = full(size, 0)
        while not is_over.is_set():
            values = np.unique(to_numpy(module["main"](x)))
            pair = [each[0] for each in module["pair"]()]
            if len(values) != 1 or values[0] % 2 or pair[0] != pair[1]:
                mixed.append((values[:3], pair))
            rounds.append(None)

    threads = [threading.Thread(target=call) for _ in range(2)]
    for thread in threads:
        thread.start()
    count = 0
    while (count <= 10 or len(rounds) <= 20) and any(thread.is_alive() for thread in threads):
        count += 1
        module.bind_weights({"w": full(size, count), "v": full(size, count)}, copy=False)
        module.weights.clear()
    is_over.set()
    for thread in threads:
        thread.join()
    assert count > 10 and len(rounds) > 20 and not mixed


# The callback binds other weights in the middle of the call, and overwrites all memory that the call does not hold.
def test_a_call_goes_on_with_its_weights():
    size = 300_000
    module = compiled(weighted(size))
    bind = module._load("bind_weight")
    bind("w", full(size, 3), "v", full(size, 3))

    def callback(value):
        bind("w", full(size, 10))
        gc.collect()
        use_up_memory(size)
        return value

    assert set(to_numpy(module["after"](callback))) == {6}
    assert set(to_numpy(module["after"](lambda value: value))) == {20}


def test_callables_keep_the_weights_that_are_bound_to_them():
    size = 300_000
    module = compiled(weighted(size))
    bind = module._load("bind_weight")
    bind("w", full(size, 3), "v", full(size, 3))
    function = module["make"]()
    bind("w", full(size, 10))
    use_up_memory(size)
    assert set(to_numpy(function(full(size, 1)))) == {4}


# The callable reads the weight again: the one bound at its creation, not the current one.
def test_calls_of_callables_use_the_weights_of_their_creation():
    size = 300_000
    body = weighted(size).replace(
        "%0 = relax.add %x, %w", f'%v = relax.constant weight "v" : tensor<{size}xf32>\n      %0 = relax.add %w, %v', 3
    )
    module = compiled(body)
    bind = module._load("bind_weight")
    bind("w", full(size, 3), "v", full(size, 4))
    function = module["make"]()
    bind("w", full(size, 10), "v", full(size, 20))
    use_up_memory(size)
    assert set(to_numpy(function(full(size, 1)))) == {7}
    assert set(to_numpy(module["make"]()(full(size, 1)))) == {30}


def test_a_library_may_keep_a_weight():
    size, kept = 300_000, []

    @tvm_ffi.register_global_func("relax_test.keep", override=True)
    def keep(x, out):
        kept.append(x)

    w = f"tensor<{size}xf32>"
    module = compiled(f"""relax.func @main() -> {w} {{
      %w = relax.constant weight "w" : {w}
      %0 = relax.call_library "relax_test.keep"(%w) : ({w}) -> {w}
      relax.return %0 : {w}
    }}""")
    bind = module._load("bind_weight")
    bind("w", full(size, 3))
    module["main"]()
    bind("w", full(size, 10))
    use_up_memory(size)
    assert set(to_numpy(kept.pop())) == {3}


# --- values passed to callbacks and libraries

APPLY = f"""
relax.func @plain(%x: {T}) -> {T} {{
  %0 = relax.add %x, %x : ({T}, {T}) -> {T}
  relax.return %0 : {T}
}}
relax.func @apply(%f: {F}, %x: {T}) -> {T} {{
  %y = relax.add %x, %x : ({T}, {T}) -> {T}
  %0 = relax.call_closure %f(%y) : ({T}) -> {T} calls {F}
  %1 = relax.add %0, %y : ({T}, {T}) -> {T}
  relax.return %1 : {T}
}}
relax.func @library(%x: {T}) -> {T} {{
  %y = relax.add %x, %x : ({T}, {T}) -> {T}
  %0 = relax.call_library "relax_test.kept"(%y) : ({T}) -> {T}
  %1 = relax.add %y, %0 : ({T}, {T}) -> {T}
  relax.return %1 : {T}
}}
relax.func private @scale(%w: {T}, %f: {F}, %x: {T}) -> {T} {{
  %0 = relax.multiply %x, %w : ({T}, {T}) -> {T}
  %1 = relax.call_closure %f(%0) : ({T}) -> {T} calls {F}
  relax.return %1 : {T}
}}
relax.func private @more(%w: {T}, %x: {T}) -> {T} {{
  %0 = relax.add %x, %w : ({T}, {T}) -> {T}
  relax.return %0 : {T}
}}
relax.func @closures(%g: ({F}) -> i64, %x: {T}) -> i64 {{
  %y = relax.add %x, %x : ({T}, {T}) -> {T}
  %f = relax.make_closure @more(%y) : ({T}) -> ({F})
  %h = relax.make_closure @scale(%y, %f) : ({T}, {F}) -> ({F})
  %0 = relax.call_closure %g(%h) : ({F}) -> i64 calls ({F}) -> i64
  relax.return %0 : i64
}}"""


class Mine(Exception):
    pass


# Memory of a kept value is not reused, however the call ends.
@pytest.mark.parametrize("function", ["apply", "library"])
@pytest.mark.parametrize("fails", [False, True])
def test_tensors_that_others_keep(function, fails):
    module, kept = compiled(APPLY), []
    x = np.ones(1000, np.float32)

    def callback(y):
        kept.append(y)
        if fails:
            raise RuntimeError("mine")
        return y

    @tvm_ffi.register_global_func("relax_test.kept", override=True)
    def library(y, out):
        to_numpy(out)[:] = to_numpy(callback(y))

    gc.collect()
    used = runtime.pool_statistics().used
    for _ in range(3):
        arguments = (x,) if function == "library" else (callback, x)
        if fails:
            with pytest.raises(RuntimeError, match="mine"):
                module[function](*arguments)
        else:
            assert set(module[function](*arguments)) == {4}
    others = [module["plain"](x * 20) for _ in range(8)]
    assert [set(to_numpy(each)) for each in kept] == [{2}] * 3
    kept.clear()
    later = [module["plain"](x * 50) for _ in range(8)]
    assert {value for each in others for value in each} == {40}
    assert {value for each in later for value in each} == {100}
    del others, later
    gc.collect()
    assert runtime.pool_statistics().used == used


# A value that a callback keeps stays valid after its call, also if a function makes that call.
@pytest.mark.parametrize("through", ["a closure", "a function", "a library"])
def test_nothing_writes_over_what_others_keep(through):
    count = f"({T}) -> i64"
    calls = {
        "a closure": f"%n = relax.call_closure %f(%y) : ({T}) -> i64 calls {count}",
        "a function": f"%n = relax.call @hand_on(%f, %y) : ({count}, {T}) -> i64",
        "a library": f"""%o = relax.exp %x : ({T}) -> {T}
          %n = relax.call_library_inplace "relax_test.take"(%o, %y) inplace [0] : ({T}, {T}) -> {T}""",
    }
    module = compiled(f"""
    relax.func @hand_on(%f: {count}, %x: {T}) -> i64 {{
      %0 = relax.call_closure %f(%x) : ({T}) -> i64 calls {count}
      relax.return %0 : i64
    }}
    relax.func @main(%f: {count}, %x: {T}) -> {T} {{
      %y = relax.add %x, %x : ({T}, {T}) -> {T}
      {calls[through]}
      %r = relax.negative %y : ({T}) -> {T}
      %s = relax.exp %r : ({T}) -> {T}
      %t = relax.call @plain(%s) : ({T}) -> {T}
      relax.return %t : {T}
    }}
    relax.func @plain(%x: {T}) -> {T} {{
      %0 = relax.add %x, %x : ({T}, {T}) -> {T}
      relax.return %0 : {T}
    }}""")
    kept = []

    def keep(tensor):
        kept.append(tensor)
        return 1

    @tvm_ffi.register_global_func("relax_test.take", override=True)
    def take(_, tensor):
        kept.append(tensor)

    for _ in range(3):
        module["main"](keep, X)
    for tensor in kept:
        np.testing.assert_array_equal(to_numpy(tensor), 2 * X)
    assert len(kept) == 3


# The same for callables, with everything bound to them, transitively.
@pytest.mark.parametrize("fails", [False, True])
def test_callables_that_others_keep(fails):
    module, kept = compiled(APPLY), []
    x = np.ones(1000, np.float32)
    gc.collect()
    used = runtime.pool_statistics().used

    def callback(f):
        kept.append(f)
        if fails:
            raise RuntimeError("mine")
        return 3

    for _ in range(3):
        if fails:
            with pytest.raises(RuntimeError, match="mine"):
                module["closures"](callback, x)
        else:
            assert module["closures"](callback, x) == 3
    others = [module["plain"](x * 20) for _ in range(8)]
    assert [set(each(x * 5)) for each in kept] == [{12}] * 3
    assert {value for each in others for value in each} == {40}
    kept.clear()
    del others
    gc.collect()
    assert runtime.pool_statistics().used == used


# Many threads drop arguments of other threads' callbacks, while calls continue.
def test_tensors_that_are_dropped_in_other_threads():
    module, failures = compiled(APPLY), []
    mailbox, end = [], time.monotonic() + 2

    def call(seed):
        x = np.full(100, seed, np.float32)

        def callback(y):
            mailbox.append(y)
            return y + 1

        while time.monotonic() < end:
            if set(module["apply"](callback, x)) != {4 * seed + 1}:
                failures.append(seed)

    def drop():
        while time.monotonic() < end:
            if mailbox:
                mailbox.pop()

    threads = [threading.Thread(target=call, args=(seed,)) for seed in (1, 2)]
    threads += [threading.Thread(target=drop) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


# --- the end of threads and of the process


# C libraries free what they keep for a thread after the runtime's own thread-local objects are gone.
def test_results_that_go_at_the_end_of_a_thread():
    module = compiled(APPLY)
    x = tvm_ffi.from_dlpack(np.ones(70_000, np.float32))  # a size that no other test uses
    libc, key = ctypes.CDLL(None), ctypes.c_uint()
    libc.pthread_setspecific.argtypes = (ctypes.c_uint, ctypes.c_void_p)
    ffi = ctypes.CDLL(tvm_ffi.libinfo.find_libtvm_ffi())
    drop = ctypes.cast(ffi.TVMFFIObjectDecRef, ctypes.c_void_p)
    assert libc.pthread_key_create(ctypes.byref(key), drop) == 0

    def work():
        result = module["plain"](x)
        handle = ctypes.c_void_p(result.__chandle__())
        ffi.TVMFFIObjectIncRef(handle)
        libc.pthread_setspecific(key.value, handle)

    def run():
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        end = time.monotonic() + 20  # the system's thread ends later than Python's
        while runtime.pool_statistics().used != used and time.monotonic() < end:
            time.sleep(0.001)

    gc.collect()
    used = runtime.pool_statistics().used
    run()
    requests = runtime.pool_statistics().requests
    for _ in range(5):
        run()
        assert runtime.pool_statistics()[0] == used
    assert runtime.pool_statistics().requests == requests  # the memory was reused
    libc.pthread_key_delete(key)


def test_results_that_go_when_the_process_ends():
    run = run_python(f"""
import ctypes
import numpy as np, tvm_ffi
from relax_mlir import compile, parse
module = compile(parse('''{APPLY}'''))
libc, ffi = ctypes.CDLL(None), ctypes.CDLL(tvm_ffi.libinfo.find_libtvm_ffi())
x = tvm_ffi.from_dlpack(np.ones(1000, np.float32))
results = [module["plain"](x) for _ in range(100)]
for result in results:
    handle = ctypes.c_void_p(result.__chandle__())
    ffi.TVMFFIObjectIncRef(handle)
    assert libc.__cxa_atexit(ffi.TVMFFIObjectDecRef, handle, None) == 0
print("done")
""")
    assert (run.returncode, run.stdout) == (0, "done\n"), run.stderr

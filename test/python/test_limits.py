# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Limits and interruptions of a process: no threads, no memory, forks with threads, Ctrl-C."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from emulated import run_python

T = "tensor<?xf32, #relax.shape<[n]>>"

BEGIN = f"""
import os, signal, sys, threading, time
import numpy as np
import relax_mlir
from relax_mlir import RelaxError, compile, parse, runtime
T = {T!r}
def chain(op, count):
    body = "".join(f"%x{{i + 1}} = relax.{{op}} %x{{i}} : ({{T}}) -> {{T}}\\n" for i in range(count))
    return f"relax.func @main(%x0: {{T}}) -> {{T}} {{{{\\n{{body}}relax.return %x{{count}} : {{T}}\\n}}}}"
"""

# --- threads


def without_threads(source, *count):
    """Runs a program that gets `count` threads, or none, because their stacks do not fit."""
    if resource.getrlimit(resource.RLIMIT_STACK)[1] != resource.RLIM_INFINITY:
        pytest.skip("the size of stacks is limited here")
    # The limit is the stack size of new threads, so that additional threads do not fit.
    program = f"import resource; resource.setrlimit(resource.RLIMIT_STACK, ({1 << 50}, resource.RLIM_INFINITY))\n"
    program += f"import os, sys; os.execv(sys.executable, [sys.executable, '-c', {BEGIN + source!r}])"
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "RELAX_NUM_THREADS": "4"}
    return subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_a_process_that_gets_no_threads_compiles_and_runs():
    run = without_threads("""
try:
    threading.Thread(target=print).start()
    print("there are threads")
except RuntimeError:
    pass
text = "".join(chain("exp", 3).replace("@main", f"@f{i}") for i in range(6)) + chain("exp", 1)
main = compile(parse(text), cached=False)["main"]
print(np.unique(runtime.to_numpy(main(np.zeros(3_000_000, np.float32)))), runtime.thread_count())
""")
    assert run.returncode == 0, run.stderr
    assert run.stdout == "[1.] 1\n"
    assert run.stderr.count("relax-mlir: only 1 of 4 threads could be started") == 1


# --- memory


# Allocations may also fail in kernels, in any thread; the module stays usable, and nothing leaks.
def test_no_memory_in_a_kernel_is_an_error():
    run = run_python(
        BEGIN
        + """
text = f'''
func.func private @scratch(%x: tensor<?xf32> {{relax.shape = #relax.shape<[n]>}},
                           %out: tensor<?xf32> {{relax.shape = #relax.shape<[n]>}}) -> tensor<?xf32> {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%o = %out) -> tensor<?xf32> {{
    %v = tensor.extract %x[%i] : tensor<?xf32>
    %k = arith.fptosi %v : f32 to i64
    %size = arith.index_cast %k : i64 to index
    %e = tensor.empty(%size) : tensor<?xf32>
    %f = linalg.generic {{indexing_maps = [affine_map<(d) -> (d)>], iterator_types = ["parallel"]}}
        outs(%e : tensor<?xf32>) {{
    ^bb0(%a: f32):
      %d = linalg.index 0 : index
      %w = arith.index_cast %d : index to i64
      %b = arith.sitofp %w : i64 to f32
      linalg.yield %b : f32
    }} -> tensor<?xf32>
    %last = arith.subi %size, %c1 : index
    %y = tensor.extract %f[%last] : tensor<?xf32>
    %z = tensor.insert %y into %o[%i] : tensor<?xf32>
    scf.yield %z : tensor<?xf32>
  }}
  return %r : tensor<?xf32>
}}
relax.func @main(%x: {T}) -> {T} {{
  %0 = relax.call_tir @scratch(%x) : ({T}) -> {T}
  relax.return %0 : {T}
}}'''
main = compile(parse(text))["main"]
x = np.full(3, 2.0 ** 20, np.float32)
main(x)
used = runtime.pool_statistics().used
for _ in range(3):
    runtime.trim_pool()
    runtime.set_pool_limit(1 << 20)
    try:
        main(x)
        print("no error")
    except MemoryError as error:
        print(error)
    runtime.set_pool_limit(None)
    assert runtime.pool_statistics().used == used
print((main(x) + 1).tolist() == x.tolist())
"""
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines() == ["main: no memory for the scratch buffers of a kernel"] * 3 + ["True"]


# --- forks


# Forks succeed whatever the parent's other threads are doing: allocating, freeing, calling, binding.
def test_children_of_a_process_whose_threads_work():
    run = run_python(
        BEGIN
        + """
w = "tensor<16xf32>"
module = compile(parse(f'''
relax.func @main(%x: {w}) -> {w} {{
  %w = relax.constant weight "w" : {w}
  %0 = relax.add %x, %w : ({w}, {w}) -> {w}
  relax.return %0 : {w}
}}'''))
x, bind = np.ones(16, np.float32), module._load("bind_weight")
bind("w", x)
is_over = threading.Event()
def work():
    while not is_over.is_set():
        results = [module["main"](x) for _ in range(100)]  # more than a thread keeps
def rebind():
    while not is_over.is_set():
        bind("w", np.ones(16, np.float32))
threads = [threading.Thread(target=each) for each in (work, work, work, rebind)]
for thread in threads:
    thread.start()
for _ in range(40):
    child = os.fork()
    if not child:
        signal.alarm(10)
        results = [module["main"](x) for _ in range(100)]
        bind("w", x * 2)
        os._exit(0 if module["main"](x)[0] == 3 and results[0][0] == 2 else 1)
    status = os.waitpid(child, 0)[1]
    assert status == 0, status
is_over.set()
for thread in threads:
    thread.join()
print("done")
"""
    )
    assert (run.returncode, run.stdout) == (0, "done\n"), run.stderr


# --- Ctrl-C

INTERRUPTED = (
    BEGIN
    + """
signal.signal(signal.SIGALRM, signal.default_int_handler)
def interrupt(call):
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    begin = time.monotonic()
    try:
        call()
        print("returned")
    except KeyboardInterrupt:
        print("interrupted" if time.monotonic() - begin < 20 else "late")
"""
)

LOOP = f"""
relax.func private @count(%k: i64, %x: {T}) -> (i64, {T}) {{{{
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %r:2 = relax.while %zero, %x : (i64, {T}) -> (i64, {T}) {{{{
  ^bb0(%i: i64, %a: {T}):
    %c = arith.cmpi slt, %i, %k : i64
    relax.condition %c : i1
  }}}} do {{{{
  ^bb0(%i: i64, %a: {T}):
    {{body}}
    %j = arith.addi %i, %one : i64
    relax.yield %j, %b : i64, {T}
  }}}}
  relax.return %r#0, %r#1 : i64, {T}
}}}}
relax.func @main(%k: i64, %x: {T}) -> i64 {{{{
  %r:2 = relax.call @count(%k, %x) : (i64, {T}) -> (i64, {T})
  relax.return %r#0 : i64
}}}}
relax.func @apply(%f: (i64) -> i64, %k: i64) -> i64 {{{{
  %0 = relax.call_closure %f(%k) : (i64) -> i64 calls (i64) -> i64
  relax.return %0 : i64
}}}}"""


# Ctrl-C interrupts kernels in a loop, a loop without kernels, and a call in a callback. Afterwards, the call's memory
# is free.
@pytest.mark.parametrize(
    "body, call",
    [
        (f"%b = relax.add %a, %a : ({T}, {T}) -> {T}", "main(10**12, x)"),
        (f"%b = relax.match_cast %a : ({T}) -> {T}\n %p = arith.remsi %i, %k : i64", "main(2**62, x)"),
        (f"%b = relax.add %a, %a : ({T}, {T}) -> {T}", "module['apply'](lambda k: main(k, x), 10**12)"),
    ],
)
def test_long_calls_are_interrupted(body, call):
    run = run_python(
        INTERRUPTED
        + f"""
module = compile(parse({LOOP.format(body=body)!r}))
main, x = module["main"], np.ones(3, np.float32)
main(2, x)
used = runtime.pool_statistics().used
interrupt(lambda: {call})
assert runtime.pool_statistics().used == used
print(main(2, x))
"""
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines() == ["interrupted", "2"]


# A single kernel is interrupted between two pieces of its work, on all threads.
def test_a_long_kernel_is_interrupted():
    run = run_python(
        INTERRUPTED
        + """
m = "tensor<?x?xf32, #relax.shape<[n, n]>>"
main = compile(parse(f'''relax.func @main(%x: {m}) -> {m} {{
  %0 = relax.matmul %x, %x : ({m}, {m}) -> {m}
  relax.return %0 : {m}
}}'''))["main"]
x = np.eye(1500, dtype=np.float32)
def time_of(call):
    begin = time.monotonic()
    try:
        call()
    except KeyboardInterrupt:
        pass
    return time.monotonic() - begin
time_of(lambda: main(x))
for attempt in range(40):  # others may need the processors at any time
    whole = time_of(lambda: main(x))
    signal.setitimer(signal.ITIMER_REAL, whole / 10)
    part = time_of(lambda: main(x))
    if part < 0.7 * whole:
        break
print(part < 0.7 * whole, (main(x) == x).all())
""",
        RELAX_NUM_THREADS="8",
    )
    assert (run.returncode, run.stdout) == (0, "True True\n"), run.stderr


# --- sizes too large to loop over


@pytest.mark.parametrize("op", ["ones", "take", "sum", "sort", "cumsum", "softmax", "transposed"])
def test_dimensions_of_any_size_beside_one_of_zero(op):
    run = run_python(
        BEGIN
        + f"""
from relax_mlir import BlockBuilder, Sym, Tensor, op
n, m = Sym("n"), Sym("m")
builder, x = BlockBuilder(), Tensor((n, m), "f32")
with builder.function("main", [x]):
    builder.return_({{
        "ones": lambda: op.ones([n, m], "f32"),
        "take": lambda: op.add(x, x),
        "sum": lambda: op.sum(x),
        "sort": lambda: op.sort(x, axis=-1),
        "cumsum": lambda: op.cumsum(x, axis=0),
        "softmax": lambda: op.softmax(x, axis=-1),
        "transposed": lambda: op.exp(op.permute_dims(x)),
    }}[{op!r}]())
main = compile(builder.module())["main"]
def empty(*sizes):
    # NumPy strides count bytes, which zero ones keep within bounds.
    return np.lib.stride_tricks.as_strided(np.zeros(1, np.float32), sizes, (0, 0))
for sizes in ((2**40, 0), (0, 2**40), (0, 0), (3, 0)):
    signal.alarm(10)
    try:
        print(main(empty(*sizes)).size)
    except MemoryError:
        # Scratch memory for a row.
        assert {op!r} == "sort" and sizes == (0, 2**40)
"""
    )
    assert run.returncode == 0, (run.returncode, run.stdout, run.stderr)

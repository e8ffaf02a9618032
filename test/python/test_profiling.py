# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times of kernels on the CPU: in Python, and in `relax-mlir bench --kernels`."""

import json
import os
import re
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import tvm_ffi

from relax_mlir import BlockBuilder, Sym, Tensor, compile, load_exported, op, profile
from relax_mlir.cli.bench import Report, Runner, bench
from relax_mlir.execution import profiling
from relax_mlir.execution.profiling import KernelTime, KernelTimes, show_seconds

X = np.ones((64, 4), np.float32)


@tvm_ffi.register_global_func("relax_test.profiled")
def copied(x, out):
    np.from_dlpack(out)[:] = np.from_dlpack(x)


@pytest.fixture(name="module", scope="module")
def module_fixture():
    """Two kernels, the first of two fused ops, and a library function."""
    bb, n = BlockBuilder(), Sym("n")
    x = Tensor((n, 4), "f32", name="x")
    with bb.function("main", [x]):
        y = op.cumsum(op.exp(op.negative(x)), axis=0)
        bb.return_(op.call_library("relax_test.profiled", [y], Tensor((n, 4), "f32")))
    return bb.module()


@pytest.fixture(name="executable", scope="module")
def executable_fixture(module):
    return compile(module)


def counts(times):
    return {kernel.name: kernel.calls for kernel in times}


def test_kernels_of_a_block(executable):
    main = executable["main"]
    main(X)
    with profile() as times:
        main(X)
        main(X)
        assert not times  # until the block ends
    main(X)
    assert len(times) == 3 and set(counts(times).values()) == {2}
    assert "relax_test.profiled" in counts(times) and "cumsum" in counts(times)
    assert all(kernel.function == "main" for kernel in times)
    assert all(re.fullmatch(rf"{re.escape(__file__)}:\d+:\d+", kernel.location) for kernel in times)
    assert [kernel.seconds for kernel in times] == sorted((kernel.seconds for kernel in times), reverse=True)
    (call,) = times.functions
    assert (call.function, call.calls) == ("main", 2) and 0 < times.seconds < call.seconds
    assert sum(map(times.share, times)) == pytest.approx(1) and times[0].mean == times[0].seconds / 2


# A call that fails has no kernels, and an empty tensor needs none.
def test_calls_without_kernels(executable):
    with profile() as times, pytest.raises(ValueError):
        executable["main"](np.ones((2, 3), np.float32))
    assert not times
    with profile() as times:
        executable["main"](X[:0])
    assert counts(times).keys() <= {"relax_test.profiled"}


# What a library function calls back has its own time, which is not counted twice.
def test_library_functions_that_call_back():
    x = Tensor((64, 4), "f32", name="x")
    bb = BlockBuilder()
    for function, library in (("inner", "relax_test.slow"), ("main", "relax_test.outer")):
        with bb.function(function, [x]):
            bb.return_(op.call_library(library, [x], x))
    called = compile(bb.module())
    tvm_ffi.register_global_func("relax_test.slow", lambda x, out: time.sleep(0.1), override=True)
    tvm_ffi.register_global_func("relax_test.outer", lambda x, out: [called["inner"](X)] and None, override=True)
    with profile() as times:
        called["main"](X)
    seconds = {kernel.name: kernel.seconds for kernel in times}
    assert seconds["relax_test.slow"] >= 0.1 and seconds["relax_test.outer"] < 0.1
    assert times.seconds <= times.functions[0].seconds and times.functions[0].function == "main"


# A block that an interrupt ends before it has begun leaves nothing on.
def test_interrupted_blocks(executable, monkeypatch):
    def interrupted():
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr("relax_mlir.execution.profiling._read", interrupted)
        with profile():
            pass
    before = profiling._read()
    executable["main"](X)
    assert profiling._read() == before


# Each block has the calls that began and ended in it, on any thread.
def test_blocks_overlap_on_threads(executable):
    main = executable["main"]
    with profile() as outer:
        main(X)
        with ThreadPoolExecutor(4) as pool, profile() as inner:
            list(pool.map(main, [X] * 40))
        main(X)
    assert counts(inner)["cumsum"] == 40 and counts(outer)["cumsum"] == 42
    assert (inner.functions[0].calls, outer.functions[0].calls) == (40, 42)


def test_folders_are_measured_as_they_are(executable, tmp_path):
    executable.export(tmp_path)
    main = load_exported(tmp_path)["main"]
    with profile() as times:
        main(X)
    assert set(counts(times).values()) == {1} and len(times) == 3


# A child that was forked during a profile measures its own calls.
def test_forked_children(executable):
    with profile() as times:
        child = os.fork()
        if not child:
            with profile() as own:
                executable["main"](X)
            os._exit(0 if counts(own).get("cumsum") == 1 else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert not times


TIMES = KernelTimes(
    [KernelTime("exp", "main", "a.py:3:5", 2, 0.001), KernelTime("matmul<x>", "main", "", 1, 0.003)],
    [KernelTime("", "main", "", 1, 0.005)],
)


def test_tables():
    assert str(TIMES).splitlines() == [
        "total  share  calls    mean  kernel     in    at",
        " 3 ms  75.0%      1    3 ms  matmul<x>  main",
        " 1 ms  25.0%      2  500 µs  exp        main  a.py:3:5",
        "4 ms in 3 runs of kernels",
        "5 ms in 1 call of main",
    ]
    assert TIMES.table(1).splitlines()[1:3] == [" 3 ms  75.0%      1  3 ms  matmul<x>  main", "1 ms in 1 more kernels"]
    assert repr(TIMES) == "<2 kernels, 4 ms>"
    assert "<td>matmul&lt;x&gt;</td>" in TIMES._repr_html_()
    assert TIMES.to_json()["kernels"][1] == {
        "name": "exp", "function": "main", "location": "a.py:3:5", "calls": 2, "seconds": 0.001, "share": 0.25,
    }  # fmt: skip
    assert str(KernelTimes()).endswith("0 µs in 0 runs of kernels") and TIMES[:1] == (TIMES[0],)


@pytest.mark.parametrize(
    "seconds, text", [(0, "0 µs"), (9.999e-4, "1 ms"), (0.9999, "1 s"), (4.2e-8, "0.042 µs"), (12345.6, "12346 s")]
)
def test_seconds(seconds, text):
    assert show_seconds(seconds) == text


def test_bench(module, tmp_path, capsys):
    module.save(tmp_path / "model.mlir")
    bench(str(tmp_path / "model.mlir"), [], sizes="n=8", rounds=1, kernels=True, as_json=True)
    made = json.loads(capsys.readouterr().out)
    assert len(made["kernels"]) == 3 and made["functions"][0]["function"] == "main"
    assert {kernel["calls"] for kernel in made["kernels"]} == {made["functions"][0]["calls"]}
    runner = Runner("relax-mlir", lambda: [], 0.0, rounds=[1.0])
    Report("model.mlir", 1, 1, {}, [runner], TIMES).show()
    assert str(TIMES) in capsys.readouterr().out
    for device, note in (("", False), ("cuda", True)):
        runner = Runner("relax-mlir", lambda: [], 0.0, rounds=[1.0], device=device)
        Report("model.mlir", 1, 1, {}, [runner], KernelTimes()).show()
        shown = capsys.readouterr().out
        assert str(KernelTimes()) in shown and ("kernels on CUDA devices are not measured" in shown) == note
    Report("model.mlir", 1, 1, {}, [runner]).show()
    assert "kernel" not in capsys.readouterr().out

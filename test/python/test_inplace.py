# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""In-place calls: no pass moves a read across them, or makes two tensors share the overwritten memory.

RELAX_FUZZ_SECONDS makes the run longer.
"""

import itertools
import os
import random
import time

import numpy as np
import pytest
import tvm_ffi
from inplace_programs import KERNELS, LIBRARY, Program, library
from test_differential import PIPELINES

import relax_mlir
from relax_mlir import RelaxError, parse
from relax_mlir.runtime import to_numpy

SECONDS = float(os.environ.get("RELAX_FUZZ_SECONDS", "0"))
SIZES = (0, 1, 2, 5, 17, 33)
T, U = "tensor<?x?xf32, #relax.shape<[n, m]>>", "tensor<?x?xf32>"


@pytest.fixture(scope="module", autouse=True)
def registered_library():
    @tvm_ffi.register_global_func(LIBRARY, override=True)
    def triple(x):
        library(np.from_dlpack(x))

    yield
    tvm_ffi.remove_global_func(LIBRARY)


def check(seed):
    program = Program(seed)
    rng = np.random.default_rng(seed)
    pick = random.Random(seed)
    executables = [relax_mlir.compile(program.module, pipeline=pipeline) for pipeline in pick.sample(PIPELINES, 2)]
    executables.append(relax_mlir.compile(program.module, cached=False))
    for first, second in itertools.product((False, True), repeat=2):
        n, m = pick.choice(SIZES), pick.choice(SIZES)
        arrays = {name: rng.standard_normal((n, m)).astype(np.float32) for name in ("x", "y", "state")}
        expected = program.expected({**arrays, "first": first, "second": second})
        for index, executable in enumerate(executables):
            given = {name: array.copy() for name, array in arrays.items()}
            results = executable["main"](*given.values(), first, second)
            for position, (actual, wanted) in enumerate(zip(results, expected)):
                where = f"{seed=} {index=} {position=} {n=} {m=} {first=} {second=}"
                scale = max(1.0, float(np.abs(wanted).max(initial=0)))
                np.testing.assert_allclose(np.from_dlpack(actual), wanted, rtol=1e-4, atol=1e-4 * scale, err_msg=where)
            for name in ("x", "y"):
                np.testing.assert_array_equal(given[name], arrays[name], err_msg=f"{seed=}: '{name}' was changed")


@pytest.mark.parametrize("seed", range(12))
def test_random_programs_that_write_in_place(seed):
    check(seed)


@pytest.mark.skipif(not SECONDS, reason="RELAX_FUZZ_SECONDS is not set: the seeds above are the sample")
def test_more_random_programs_that_write_in_place():
    end = time.monotonic() + SECONDS
    for seed in itertools.count(1000):
        if time.monotonic() > end:
            return
        check(seed)


# ----------------------------------------------------------------------------
# One test per kind

WRITERS = f"""
relax.func private @write(%x: {T}) -> {T} {{
  %0 = relax.call_tir_inplace @double(%x) inplace [0] : ({T}) -> {T}
  relax.return %0 : {T}
}}
relax.func private @same(%x: {T}) -> {T} {{
  relax.return %x : {T}
}}
"""
DOUBLE = f"relax.call_tir_inplace @double(%x) inplace [0] : ({T}) -> {T}"
WRITES = {
    "a kernel": f"%r = {DOUBLE}",
    "a library": f'%r = relax.call_library_inplace "{LIBRARY}"(%x) inplace [0] : ({T}) -> {T}',
    "a function": f"%r = relax.call @write(%x) : ({T}) -> {T}",
    "a closure": f"""%f = relax.make_closure @write() : () -> (({T}) -> {T})
      %r = relax.call_closure %f(%x) : ({T}) -> {T} calls ({T}) -> {T}""",
    "a closure that captures": f"""%f = relax.make_closure @write(%x) : ({T}) -> (() -> {T})
      %u = relax.call_closure %f() : () -> {T} calls () -> tensor<?x?xf32>
      %r = relax.match_cast %u : (tensor<?x?xf32>) -> {T}""",
    "a branch": f"""%r = relax.if %c : i1 -> {T} {{
        %0 = {DOUBLE}
        relax.yield %0 : {T}
      }} else {{
        relax.yield %x : {T}
      }}""",
    "a loop": f"""%r, %once = relax.while %x, %c : ({T}, i1) -> ({T}, i1) {{
      ^bb0(%p: {T}, %go: i1):
        relax.condition %go : i1
      }} do {{
      ^bb0(%p: {T}, %go: i1):
        %0 = relax.call_tir_inplace @double(%p) inplace [0] : ({T}) -> {T}
        relax.yield %0, %no : {T}, i1
      }}""",
}


@pytest.mark.parametrize("kind", WRITES)
def test_no_read_moves_across_a_write(kind):
    """`negative` would be fused with `add`, after the write."""
    source = f"""{KERNELS}{WRITERS}
    relax.func @main(%x: {T}, %y: {T}, %c: i1, %no: i1) -> ({T}, {T}) {{
      %a = relax.negative %x : ({T}) -> {T}
      {WRITES[kind]}
      %b = relax.add %a, %y : ({T}, {T}) -> {T}
      relax.return %b, %r : {T}, {T}
    }}"""
    executable = relax_mlir.compile(parse(source), cached=False)
    x = np.arange(1, 7, dtype=np.float32).reshape(2, 3)
    b, r = executable["main"](x.copy(), np.zeros_like(x), True, False)
    np.testing.assert_array_equal(to_numpy(b), -x)
    np.testing.assert_array_equal(to_numpy(r), x * (3 if "library" in kind else 2))


COPIES = {
    "negative twice": f"""%i = relax.negative %x : ({T}) -> {T}
      %a = relax.negative %i : ({T}) -> {T}""",
    "permute_dims twice": """%i = relax.permute_dims %x axes [1, 0] : (!t) -> !u
      %a = relax.permute_dims %i axes [1, 0] : (!u) -> !t""".replace("!t", T).replace("!u", T.replace("n, m", "m, n")),
    "astype": f"%a = relax.astype %x {{dtype = f32}} : ({T}) -> {T}",
    "multiply by one": f"""%i = relax.constant dense<1.0> : tensor<f32>
      %a = relax.multiply %x, %i : ({T}, tensor<f32>) -> {T}""",
    "maximum of one": f"%a = relax.maximum %x, %x : ({T}, {T}) -> {T}",
    "concat of one": f"%a = relax.concat %x axis 0 : ({T}) -> {T}",
    "pad by nothing": f"%a = relax.pad %x by [0, 0, 0, 0] : ({T}) -> {T}",
    "flip twice": f"""%i = relax.flip %x axis 0 : ({T}) -> {T}
      %a = relax.flip %i axis 0 : ({T}) -> {T}""",
}


@pytest.mark.parametrize("kind", COPIES)
@pytest.mark.parametrize("written", ["%a", "%x"])
def test_what_computes_the_identity_is_a_copy(kind, written):
    """Overwriting the copy preserves the operand, and vice versa; so a fold must not merge them."""
    other = {"%a": "%x", "%x": "%a"}[written]
    source = f"""{KERNELS}
    relax.func @main(%x: {T}) -> ({T}, {T}) {{
      {COPIES[kind]}
      %w = relax.call_tir_inplace @double({written}) inplace [0] : ({T}) -> {T}
      %s = relax.abs {other} : ({T}) -> {T}
      relax.return %w, %s : {T}, {T}
    }}"""
    executable = relax_mlir.compile(parse(source), cached=False)
    x = np.arange(-3, 3, dtype=np.float32).reshape(2, 3)
    given = x.copy()
    w, s = executable["main"](given)
    np.testing.assert_array_equal(to_numpy(w), 2 * x)
    np.testing.assert_array_equal(to_numpy(s), abs(x))
    np.testing.assert_array_equal(given, x if written == "%a" else 2 * x)


def test_equal_tensors_of_which_one_is_written_over_stay_two():
    source = f"""{KERNELS}
    relax.func @main(%x: {T}) -> ({T}, {T}) {{
      %a = relax.exp %x : ({T}) -> {T}
      %b = relax.exp %x : ({T}) -> {T}
      %w = relax.call_tir_inplace @double(%b) inplace [0] : ({T}) -> {T}
      relax.return %a, %w : {T}, {T}
    }}"""
    executable = relax_mlir.compile(parse(source), cached=False)
    x = np.zeros((2, 3), np.float32)
    a, w = executable["main"](x)
    np.testing.assert_array_equal(to_numpy(a), np.ones_like(x))
    np.testing.assert_array_equal(to_numpy(w), 2 * np.ones_like(x))


S = "tensor<2x3xf32>"
CONSTANTS = {
    "a constant": f"%z = relax.constant dense<1.0> : {S}",
    "what folds to a constant": f"""%i = relax.constant dense<-1.0> : {S}
      %z = relax.negative %i : ({S}) -> {S}""",
    "a constant of a branch": f"""%i = relax.constant dense<1.0> : {S}
      %z = relax.if %c : i1 -> {S} {{
        relax.yield %i : {S}
      }} else {{
        %j = relax.constant dense<1.0> : {S}
        relax.yield %j : {S}
      }}""",
}


@pytest.mark.parametrize("kind", CONSTANTS)
def test_a_constant_is_the_same_in_each_call(kind):
    source = f"""{KERNELS}
    relax.func @main(%c: i1) -> {S} {{
      {CONSTANTS[kind]}
      %w = relax.call_tir_inplace @double(%z) inplace [0] : ({S}) -> {S}
      relax.return %w : {S}
    }}"""
    executable = relax_mlir.compile(parse(source), cached=False)
    for condition in (True, True, False):
        np.testing.assert_array_equal(to_numpy(executable["main"](condition)), np.full((2, 3), 2, np.float32))


USES = {
    "a view": f"%v = relax.match_cast %x : ({T}) -> {T}",
    "a tuple": f"""%t = relax.tuple %x, %y : ({T}, {T}) -> tuple<{T}, {T}>
      %v = relax.get %t[0] : (tuple<{T}, {T}>) -> {T}""",
    "a tuple of a branch": f"""%t = relax.if %c : i1 -> tuple<{T}, {T}> {{
        %i = relax.tuple %x, %y : ({T}, {T}) -> tuple<{T}, {T}>
        relax.yield %i : tuple<{T}, {T}>
      }} else {{
        %i = relax.tuple %y, %y : ({T}, {T}) -> tuple<{T}, {T}>
        relax.yield %i : tuple<{T}, {T}>
      }}
      %v = relax.get %t[0] : (tuple<{T}, {T}>) -> {T}""",
    "a branch": f"""%v = relax.if %c : i1 -> {T} {{
        relax.yield %x : {T}
      }} else {{
        relax.yield %y : {T}
      }}""",
    "a view in a branch": f"""%v = relax.if %c : i1 -> {T} {{
        %i = relax.match_cast %x : ({T}) -> {T}
        relax.yield %i : {T}
      }} else {{
        relax.yield %y : {T}
      }}""",
    "a call": f"%v = relax.call @same(%x) : ({T}) -> {T}",
    "a closure": f"""%f = relax.make_closure @same() : () -> (({T}) -> {T})
      %v = relax.call_closure %f(%x) : ({T}) -> {T} calls ({T}) -> {T}""",
    "a closure that captures": f"""%f = relax.make_closure @same(%x) : ({T}) -> (() -> {T})
      %u = relax.call_closure %f() : () -> {T} calls () -> tensor<?x?xf32>
      %v = relax.match_cast %u : (tensor<?x?xf32>) -> {T}""",
    "a loop": f"""%v, %once = relax.while %x, %c : ({T}, i1) -> ({T}, i1) {{
      ^bb0(%a: {T}, %go: i1):
        relax.condition %go : i1
      }} do {{
      ^bb0(%a: {T}, %go: i1):
        relax.yield %y, %no : {T}, i1
      }}""",
}


@pytest.mark.parametrize("kind", USES)
@pytest.mark.parametrize("written", ["%x", "%v"])
def test_what_shares_memory_with_what_is_written_over_is_dead(kind, written):
    """Two values share memory in different ways, and either of them may be written."""
    other = {"%x": "%v", "%v": "%x"}[written]
    source = f"""{KERNELS}{WRITERS}
    relax.func @main(%x: {T}, %y: {T}, %c: i1, %no: i1) -> ({T}, {T}) {{
      {USES[kind]}
      %w = relax.call_tir_inplace @double({written}) inplace [0] : ({T}) -> {T}
      %s = relax.abs {other} : ({T}) -> {T}
      relax.return %w, %s : {T}, {T}
    }}"""
    with pytest.raises(RelaxError, match="overwrites operand 0, which is used afterwards"):
        relax_mlir.compile(parse(source), cached=False)


LOOPS = {
    "yielded twice": ("relax.yield %0, %0, %no", "overwrites operand 0, which is used afterwards"),
    "yields what is outside": ("relax.yield %y, %0, %no", "overwrites operand 0, which is used afterwards"),
    "yielded with a view": ("relax.yield %0, %v, %no", "overwrites operand 0, which is used afterwards"),
}


@pytest.mark.parametrize("kind", LOOPS)
def test_what_the_next_round_would_write_over(kind):
    yielded, message = LOOPS[kind]
    source = f"""{KERNELS}
    relax.func @main(%x: {T}, %y: {T}, %c: i1, %no: i1) -> ({T}, {T}) {{
      %p = relax.exp %x : ({T}) -> {T}
      %q = relax.exp %p : ({T}) -> {T}
      %r:3 = relax.while %p, %q, %c : ({T}, {T}, i1) -> ({T}, {T}, i1) {{
      ^bb0(%a: {T}, %b: {T}, %go: i1):
        relax.condition %go : i1
      }} do {{
      ^bb0(%a: {T}, %b: {T}, %go: i1):
        %0 = relax.call_tir_inplace @double(%a) inplace [0] : ({T}) -> {T}
        %v = relax.match_cast %0 : ({T}) -> {T}
        {yielded} : {T}, {T}, i1
      }}
      relax.return %r#0, %r#1 : {T}, {T}
    }}"""
    with pytest.raises(RelaxError, match=message):
        relax_mlir.compile(parse(source), cached=False)


def test_a_closure_that_writes_what_it_captures_is_called_once():
    call = f"relax.call_closure %f() : () -> {T} calls () -> {U}"
    source = f"""{KERNELS}{WRITERS}
    relax.func @main(%x: {T}) -> ({U}, {U}) {{
      %f = relax.make_closure @write(%x) : ({T}) -> (() -> {T})
      %0 = {call}
      %1 = {call}
      relax.return %0, %1 : {U}, {U}
    }}"""
    with pytest.raises(RelaxError, match="captures operand 0, which @write overwrites at each call"):
        relax_mlir.compile(parse(source), cached=False)


def test_a_write_may_be_in_one_branch():
    """Values that the other branch passes on are not overwritten."""
    source = f"""{KERNELS}
    relax.func @main(%x: {T}, %c: i1) -> {T} {{
      %r = relax.if %c : i1 -> {T} {{
        %0 = {DOUBLE}
        relax.yield %0 : {T}
      }} else {{
        relax.yield %x : {T}
      }}
      %s = relax.negative %r : ({T}) -> {T}
      relax.return %s : {T}
    }}"""
    executable = relax_mlir.compile(parse(source), cached=False)
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(to_numpy(executable["main"](x.copy(), False)), -x)
    np.testing.assert_array_equal(to_numpy(executable["main"](x.copy(), True)), -2 * x)

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scratch memory of kernels: planned with other memory, provided by each call, and correct for any caller."""

import numpy as np
import pytest
from tiny_models import CONFIG, random_weights, write_gguf

import relax_mlir
from relax_mlir import BlockBuilder, Sym, Tensor, models, op, runtime
from relax_mlir.models.generation import Cache
from relax_mlir.pipelines import Pipeline, cpu

T = "tensor<?xf32, #relax.shape<[{}]>>"
# y[i] = x[i] * x[m - 1 - i], computed from all products: m * m numbers that no schedule can avoid.
MIRROR = """
func.func private @mirror(%x: tensor<?xf32> {relax.shape = #relax.shape<[m]>},
                          %out: tensor<?xf32> {relax.shape = #relax.shape<[m]>}) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?xf32>
  %last = arith.subi %m, %c1 : index
  %e = tensor.empty(%m, %m) : tensor<?x?xf32>
  %products = scf.for %i = %c0 to %m step %c1 iter_args(%a = %e) -> tensor<?x?xf32> {
    %row = scf.for %j = %c0 to %m step %c1 iter_args(%b = %a) -> tensor<?x?xf32> {
      %p = tensor.extract %x[%i] : tensor<?xf32>
      %q = tensor.extract %x[%j] : tensor<?xf32>
      %pq = arith.mulf %p, %q : f32
      %c = tensor.insert %pq into %b[%i, %j] : tensor<?x?xf32>
      scf.yield %c : tensor<?x?xf32>
    }
    scf.yield %row : tensor<?x?xf32>
  }
  %y = scf.for %i = %c0 to %m step %c1 iter_args(%a = %out) -> tensor<?xf32> {
    %j = arith.subi %last, %i : index
    %v = tensor.extract %products[%j, %i] : tensor<?x?xf32>
    %b = tensor.insert %v into %a[%i] : tensor<?xf32>
    scf.yield %b : tensor<?xf32>
  }
  return %y : tensor<?xf32>
}
"""
ONE = f"""
relax.func @main(%x: {T.format("n")}) -> {T.format("n")} {{
  %0 = relax.call_tir @mirror(%x) : ({T.format("n")}) -> {T.format("n")}
  relax.return %0 : {T.format("n")}
}}
"""


def mirror(x):
    return x * x[::-1]


def planned(module):
    module = module.clone()
    cpu.default_pipeline().run(module)
    return module


@pytest.mark.parametrize("size", [0, 1, 2, 33, 200])
def test_one_call(size):
    module = relax_mlir.parse(ONE + MIRROR)
    assert "memref.alloc(" not in str(planned(module))
    x = np.arange(size, dtype=np.float32)
    np.testing.assert_array_equal(np.from_dlpack(relax_mlir.compile(module)["main"](x)), mirror(x))


def test_it_counts_as_memory():
    code = relax_mlir.compile_code(relax_mlir.parse(ONE + MIRROR))
    # The returned result, and the products.
    assert code.memory["main"]["planned_bytes"] == "4*n*n + 4*n"


def test_calls_share_it():
    """Two calls of the same kernel never run at the same time, whatever their sizes."""
    n, k = T.format("n"), T.format("k")
    text = f"""
    relax.func @main(%x: {n}, %y: {k}) -> ({n}, {k}) {{
      %0 = relax.call_tir @mirror(%x) : ({n}) -> {n}
      %1 = relax.call_tir @mirror(%y) : ({k}) -> {k}
      relax.return %0, %1 : {n}, {k}
    }}
    """
    module = relax_mlir.parse(text + MIRROR)
    code = relax_mlir.compile_code(module)
    assert code.memory["main"]["planned_bytes"] == "4*k + 4*n + max(4*k*k, 4*n*n)"
    x, y = np.arange(40, dtype=np.float32), np.arange(7, dtype=np.float32)
    for found, of in zip(relax_mlir.compile(module)["main"](x, y), (x, y)):
        np.testing.assert_array_equal(np.from_dlpack(found), mirror(of))


def test_branches_loops_and_recursion():
    n = T.format("n")
    text = f"""
    relax.func @main(%k: i64, %x: {n}) -> {n} {{
      %zero = arith.constant 0 : i64
      %one = arith.constant 1 : i64
      %odd = arith.andi %k, %one : i64
      %isOdd = arith.cmpi ne, %odd, %zero : i64
      %0 = relax.if %isOdd : i1 -> {n} {{
        %1 = relax.call_tir @mirror(%x) : ({n}) -> {n}
        relax.yield %1 : {n}
      }} else {{
        relax.yield %x : {n}
      }}
      %more = arith.cmpi sgt, %k, %one : i64
      %2 = relax.if %more : i1 -> {n} {{
        %next = arith.subi %k, %one : i64
        %3 = relax.call @main(%next, %0) : (i64, {n}) -> {n}
        relax.yield %3 : {n}
      }} else {{
        relax.yield %0 : {n}
      }}
      %4:2 = relax.while %k, %2 : (i64, {n}) -> (i64, {n}) {{
      ^bb0(%left: i64, %y: {n}):
        %goes = arith.cmpi sgt, %left, %one : i64
        relax.condition %goes : i1
      }} do {{
      ^bb0(%left: i64, %y: {n}):
        %5 = relax.call_tir @mirror(%y) : ({n}) -> {n}
        %fewer = arith.subi %left, %one : i64
        relax.yield %fewer, %5 : i64, {n}
      }}
      relax.return %4#1 : {n}
    }}
    """
    executable = relax_mlir.compile(relax_mlir.parse(text + MIRROR))

    def main(k, x):
        x = mirror(x) if k % 2 else x
        x = main(k - 1, x) if k > 1 else x
        for _ in range(k - 1):
            x = mirror(x)
        return x

    x = np.linspace(0.8, 1.1, 9).astype(np.float32)
    for k in (1, 2, 3):
        np.testing.assert_allclose(np.from_dlpack(executable["main"](k, x)), main(k, x), rtol=1e-5)


def test_no_memory_for_it_is_an_error():
    """A failing allocation inside the kernel could only end the process."""
    executable = relax_mlir.compile(relax_mlir.parse(ONE + MIRROR))
    x = np.ones(1024, np.float32)
    runtime.trim_pool()
    runtime.set_pool_limit(1 << 20)
    try:
        with pytest.raises(MemoryError, match="no memory for 4194304 bytes"):
            executable["main"](x)
    finally:
        runtime.set_pool_limit(None)
    assert np.from_dlpack(executable["main"](x)).sum() == 1024


def test_kernels_on_tensors_still_become_code():
    """A pipeline may end with kernels in tensor form, or plan no memory."""
    pipeline = Pipeline([cpu.make_kernels(), cpu.make_destinations(), cpu.plan_memory()])
    module = relax_mlir.parse(ONE + MIRROR)
    x = np.arange(50, dtype=np.float32)
    found = relax_mlir.compile(module, pipeline=pipeline)["main"](x)
    np.testing.assert_array_equal(np.from_dlpack(found), mirror(x))


@pytest.mark.parametrize("layout", ["panels", "quantised"])
def test_a_model_takes_all_its_memory_by_plan(tmp_path, layout):
    """No kernel of a Llama model allocates memory, except for each thread's rows of scores, which come from the pool.

    A second answer as long as the first allocates nothing from the system.
    """
    program = models.build(write_gguf(tmp_path / "x.gguf", random_weights(), quantisation="Q4_1"), layout=layout)
    module = planned(program.module)
    for function in module.ir.body.operations:
        if not str(function.operation.attributes["sym_name"]).strip('"').endswith("_parallel"):
            assert "memref.alloc(" not in str(function)
    executable = program.compile().executable
    cache = Cache(CONFIG, 2, 40)

    def decode():
        for past in range(16):
            executable["forward"](np.ones((2, 1), np.int64), cache.start, cache.keys, cache.values, past)

    decode()
    before = runtime.pool_statistics()
    decode()
    assert runtime.pool_statistics().requests == before.requests


# A number in a size is not a declared bound: no memory is allocated for it.
def test_numbers_beyond_all_memory():
    n, m = Sym("n"), Sym("m")
    bb = BlockBuilder()
    x = Tensor((n, m))
    with bb.function("main", [x]):
        first = op.sort(x[: 2**62], axis=1)
        bb.return_(op.sort(op.concat([first, op.sort(first, axis=0)]), axis=1))
    executable = relax_mlir.compile(bb.module(), use_bounds=True)
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    np.testing.assert_array_equal(np.from_dlpack(executable["main"](x)), np.concatenate([x, x]))

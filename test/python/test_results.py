# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Results of a call: arrays for arrays, tensors for tensors, without a copy."""

import gc
import pickle

import ml_dtypes
import numpy as np
import pytest
import tvm_ffi

import relax_mlir
from relax_mlir import runtime

T = "tensor<?x2xf32, #relax.shape<[n, 2]>>"
F = f"({T}) -> {T}"
X = np.arange(6, dtype=np.float32).reshape(3, 2)


def compiled(text):
    return relax_mlir.compile(relax_mlir.parse(text))


@pytest.fixture(scope="module")
def module():
    return compiled(f"""
    relax.func @main(%x: {T}) -> {T} {{
      %0 = relax.add %x, %x : ({T}, {T}) -> {T}
      relax.return %0 : {T}
    }}
    relax.func @same(%x: {T}) -> {T} {{
      relax.return %x : {T}
    }}
    relax.func @several(%x: {T}, %k: i64) -> ({T}, tuple<{T}, i64>, !relax.shape<[n]>) {{
      %0 = relax.add %x, %x : ({T}, {T}) -> {T}
      %1 = relax.tuple %x, %k : ({T}, i64) -> tuple<{T}, i64>
      %s = relax.shape [n] : !relax.shape<[n]>
      relax.return %0, %1, %s : {T}, tuple<{T}, i64>, !relax.shape<[n]>
    }}
    relax.func @member(%p: tuple<{T}, i64>) -> {T} {{
      %0 = relax.get %p[0] : (tuple<{T}, i64>) -> {T}
      %1 = relax.add %0, %0 : ({T}, {T}) -> {T}
      relax.return %1 : {T}
    }}
    relax.func @zeros(%s: !relax.shape<[n]>) -> {T} {{
      %d = relax.shape [n, 2] : !relax.shape<[n, 2]>
      %0 = relax.zeros %d {{dtype = f32}} : (!relax.shape<[n, 2]>) -> {T}
      relax.return %0 : {T}
    }}
    relax.func private @twice(%x: {T}) -> {T} {{
      %0 = relax.add %x, %x : ({T}, {T}) -> {T}
      relax.return %0 : {T}
    }}
    relax.func @function() -> ({F}) {{
      %f = relax.make_closure @twice() : () -> ({F})
      relax.return %f : {F}
    }}
    relax.func @apply(%f: {F}, %x: {T}) -> {T} {{
      %0 = relax.call_closure %f(%x) : ({T}) -> {T} calls {F}
      relax.return %0 : {T}
    }}""")


# Typical uses of NumPy arrays.
def test_results_are_arrays(module):
    result = module["main"](X)
    assert type(result) is np.ndarray and result.flags.writeable and result.flags.c_contiguous
    assert (result + 1).tolist() == (2 * X + 1).tolist() and np.argmax(result) == 5
    assert np.asarray(result) is result and len(result) == 3 and result[1, 0] == 4 and result[-1].tolist() == [8, 10]
    assert result.shape == (3, 2) and result.dtype == np.float32 and float(result.sum()) == 30
    assert np.from_dlpack(result).tolist() == result.tolist() == list(map(list, result))
    assert pickle.loads(pickle.dumps(result)).tolist() == result.tolist()
    result += 1
    assert module["main"](result).tolist() == (4 * X + 2).tolist()


def test_results_are_not_copied(module):
    used = runtime.pool_statistics().used
    big = np.ones((100_000, 2), np.float32)
    result = module["main"](big)
    assert runtime.pool_statistics().used - used >= big.nbytes  # the memory belongs to the pool
    part = result[::7]
    del result
    gc.collect()
    assert runtime.pool_statistics().used - used >= big.nbytes
    assert set(part.ravel()) == {2}
    del part
    gc.collect()
    assert runtime.pool_statistics().used == used
    assert np.shares_memory(module["same"](big), big)


# Depending on the arguments: arrays, or anything that is converted to tensors; TVM FFI tensors.
@pytest.mark.parametrize("given", [X, X[::-1][::-1], np.asfortranarray(X), X.tolist()])
def test_arrays_for_arrays(module, given):
    if isinstance(given, list):
        with pytest.raises(TypeError, match="expected a tensor, got a sequence"):
            module["main"](given)
    else:
        assert type(module["main"](given)) is np.ndarray


def test_tensors_for_tensors(module):
    x = tvm_ffi.from_dlpack(X)
    for result in (module["main"](x), module["several"](x, 3)[0], module["member"]((x, 3)), module["function"]()(x)):
        assert isinstance(result, tvm_ffi.Tensor)
        assert np.from_dlpack(result).tolist() == (2 * X).tolist()


def test_members_of_several_results(module):
    doubled, (same, number), shape = module["several"](X, 3)
    assert doubled.tolist() == (2 * X).tolist() and same.tolist() == X.tolist() and (number, shape) == (3, (3,))
    assert np.shares_memory(same, X)
    assert module["member"]((X, 3)).tolist() == (2 * X).tolist()


def test_results_without_arguments_that_are_tensors(module):
    assert module["zeros"]((4,)).tolist() == [[0, 0]] * 4


# Callables in both directions take and return the same kinds of values as a module's functions.
def test_functions_take_and_give_arrays(module):
    function = module["function"]()
    assert type(function(X)) is np.ndarray and function(X).tolist() == (2 * X).tolist()
    assert module["apply"](function, X).tolist() == (2 * X).tolist()
    given = []

    def shifted(x):
        given.append(x)
        return x + 100

    assert module["apply"](shifted, X).tolist() == (X + 100).tolist()
    assert type(given[0]) is np.ndarray and np.shares_memory(given[0], X)
    assert module["apply"](lambda x: np.flip(x, 0), X).tolist() == X[::-1].tolist()
    assert module["apply"](module["main"], X).tolist() == (2 * X).tolist()


@pytest.mark.parametrize(
    "dtype, name", [(ml_dtypes.bfloat16, "bf16"), (np.float16, "f16"), (np.bool_, "i1"), (np.uint8, "ui8")]
)
def test_arrays_of_each_kind_of_element(dtype, name):
    t = f"tensor<?x{name}, #relax.shape<[n]>>"
    x = np.array([0, 1, 1]).astype(dtype)
    result = compiled(f"relax.func @main(%x: {t}) -> {t} {{\n relax.return %x : {t}\n}}")["main"](x)
    assert type(result) is np.ndarray and result.dtype == x.dtype and result.tolist() == x.tolist()

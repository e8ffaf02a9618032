# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Indices out of range are an IndexError on the CPU, which names the problem and its position."""

import dataclasses
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tvm_ffi
from elements import DTYPES
from targets import needs_linker

import relax_mlir
from relax_mlir import BlockBuilder, Scalar, Sym, Tensor, op
from relax_mlir.export import export, load_exported
from relax_mlir.runtime import to_numpy

n, m = Sym("n"), Sym("m")


@dataclasses.dataclass(frozen=True)
class Case:
    """An op with indices into `data [rows, 3]`: `build(data, indices, updates)`, and the same in NumPy."""

    build: Callable[..., Any]
    reference: Callable[..., np.ndarray]
    indices: Callable[[Any], tuple]
    updates: Callable[[Any], tuple] | None = None
    operand: str = "indices"
    target: str = "dimension 0 of data"
    op: str = ""
    size: Callable[[int], int] = lambda rows: rows
    """The size of the indexed dimension."""
    expression: str = "n"

    def name(self, key: str) -> str:
        return self.op or key


def put(data, indices, updates):
    result = data.copy()
    result[indices] = updates
    return result


def put_elements(data, indices, updates):
    result = data.copy()
    np.put_along_axis(result, np.where(indices < 0, indices + len(data), indices), updates, 0)
    return result


def take_elements(x, i, _):
    return np.take_along_axis(x, np.where(i < 0, i + len(x), i), 0)


CASES = {
    "take": Case(
        lambda x, i, u: op.take(x, i, axis=0), lambda x, i, u: x[i], lambda m: (m,), target="dimension 0 of x"
    ),
    "take_flat": Case(
        lambda x, i, u: op.take(x, i),
        lambda x, i, u: x.reshape(-1)[i],
        lambda m: (m,),
        target="all elements of x",
        op="take",
        size=lambda rows: 3 * rows,
        expression="3*n",
    ),
    "gather_elements": Case(lambda x, i, u: op.gather_elements(x, i, axis=0), take_elements, lambda m: (m, 3)),
    "gather_nd": Case(lambda x, i, u: op.gather_nd(x, i), lambda x, i, u: x[i[:, 0]], lambda m: (m, 1)),
    "scatter_elements": Case(
        lambda x, i, u: op.scatter_elements(x, i, u, axis=0), put_elements, lambda m: (m, 3), lambda m: (m, 3)
    ),
    "scatter_nd": Case(
        lambda x, i, u: op.scatter_nd(x, i, u), lambda x, i, u: put(x, i[:, 0], u), lambda m: (m, 1), lambda m: (m, 3)
    ),
    "index_tensor": Case(lambda x, i, u: op.index_tensor(x, [i]), lambda x, i, u: x[i], lambda m: (m,)),
    "index_put": Case(lambda x, i, u: op.index_put(x, [i], u), put, lambda m: (m,), lambda m: (m, 3)),
}

ROWS, COUNT = 5, 4


def compile_case(key: str, dtype: str, rows: Any, count: Any) -> Callable[..., np.ndarray]:
    """`main(data, indices)` with updates computed from their size, for static or symbolic sizes."""
    case = CASES[key]
    bb = BlockBuilder()
    operands = [Tensor((rows, 3), "f32", name="data"), Tensor(case.indices(count), dtype, name="indices")]
    if case.updates:
        operands.append(Tensor(case.updates(count), "f32", name="updates"))
    with bb.function("main", operands) as f:
        x, i, *u = f.params
        bb.return_(case.build(x, i, u[0] if u else None))
    main = relax_mlir.compile(bb.module())["main"]

    def call(data: np.ndarray, indices: np.ndarray) -> np.ndarray:
        return main(data, indices, *([updates_of(case, indices)] if case.updates else []))

    return call


def updates_of(case: Case, indices: np.ndarray) -> np.ndarray | None:
    shape = case.updates(len(indices)) if case.updates else ()
    return np.arange(np.prod(shape, dtype=int), dtype=np.float32).reshape(shape) - 100


def data_of(rows: int) -> np.ndarray:
    return np.arange(3 * rows, dtype=np.float32).reshape(rows, 3)


def indices_of(key: str, values: Any, dtype: str) -> np.ndarray:
    """Indices with one of the values in each row."""
    values = np.asarray(values, DTYPES[dtype])
    shape = CASES[key].indices(len(values))
    return np.broadcast_to(values.reshape(-1, *[1] * (len(shape) - 1)), shape).copy()


def message_of(error: pytest.ExceptionInfo) -> str:
    return str(error.value).splitlines()[0]


@pytest.mark.parametrize("key", CASES)
@pytest.mark.parametrize("dtype", ["i32", "i64"])
@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
def test_valid_and_invalid_indices(key, dtype, dynamic):
    case = CASES[key]
    call = compile_case(key, dtype, n if dynamic else ROWS, m if dynamic else COUNT)
    data, size, info = data_of(ROWS), case.size(ROWS), np.iinfo(DTYPES[dtype])
    for values in ([0, size - 1, 1, 2], [-size, -1, 1, 2], [-size + 1, -size, size - 1, size - 2]):
        indices = indices_of(key, values, dtype)
        np.testing.assert_array_equal(
            call(data, indices), case.reference(data, indices, updates_of(case, indices)), strict=True
        )
    for position, bad in enumerate((size, -size - 1, info.max, info.min)):
        values = [0, size - 1, 1, 2]
        values[position] = bad
        with pytest.raises(IndexError) as error:
            call(data, indices_of(key, values, dtype))
        place = ", ".join(str(position if axis == 0 else 0) for axis in range(len(case.indices(1))))
        expression = f"{case.expression} = " if dynamic else ""
        assert message_of(error) == (
            f"main: {case.name(key)}: index {bad} of {case.operand} at [{place}] is out of range for {case.target}, "
            f"whose size is {expression}{size}; expected {-size} to {size - 1}"
        )
        assert "test_check_indices.py" in str(error.value) and "^" in str(error.value)


@pytest.mark.parametrize("key", CASES)
@pytest.mark.parametrize("dtype", ["i32", "i64"])
def test_no_indices_and_no_elements(key, dtype):
    case = CASES[key]
    call = compile_case(key, dtype, n, m)
    for rows in (0, ROWS):
        data, indices = data_of(rows), indices_of(key, [], dtype)
        np.testing.assert_array_equal(call(data, indices), case.reference(data, indices, updates_of(case, indices)))
    for bad in (0, -1):
        with pytest.raises(IndexError) as error:
            call(data_of(0), indices_of(key, [bad], dtype))
        assert message_of(error).endswith(f"whose size is {case.expression} = 0; expected no index")


def compiled(parameters, body, name="main", **options):
    bb = BlockBuilder()
    with bb.function(name, parameters, **options) as f:
        bb.return_(body(*f.params))
    return relax_mlir.compile(bb.module())[name]


def test_tuples_have_a_bound_for_each_member():
    x, i = Tensor((n, 3), "f32"), Tensor((m, 2), "i64")
    main = compiled([x, i], op.gather_nd)
    data = data_of(4)
    np.testing.assert_array_equal(main(data, np.array([[3, -3], [-4, 2]])), [data[3, -3], data[-4, 2]])
    for indices, message in (
        ([[0, 0], [3, 3]], "index 3 of indices at [1, 1] is out of range for dimension 1 of data, whose size is 3;"),
        ([[-5, 9]], "index -5 of indices at [0, 0] is out of range for dimension 0 of data, whose size is n = 4;"),
    ):
        with pytest.raises(IndexError, match=re.escape(message)):
            main(data, np.array(indices))


def test_batches_are_not_indexed():
    x, i = Tensor((n, 3, 2), "f32"), Tensor((n, m, 1), "i32")
    main = compiled([x, i], lambda x, i: op.gather_nd(x, i, batch_dims=1))
    data = np.arange(60, dtype=np.float32).reshape(10, 3, 2)
    np.testing.assert_array_equal(main(data, np.full((10, 1, 1), -3, np.int32))[:, 0], data[:, 0])
    with pytest.raises(IndexError, match="out of range for dimension 1 of data, whose size is 3"):
        main(data, np.full((10, 1, 1), 5, np.int32))


@pytest.mark.parametrize("key", ["index_tensor", "index_put"])
def test_several_index_tensors(key):
    x, i, j = Tensor((n, 3), "f32"), Tensor((m, 1), "i64"), Tensor((2,), "i32")
    body = {
        "index_tensor": lambda x, i, j: op.index_tensor(x, [i, j]),
        "index_put": lambda x, i, j: op.index_put(x, [i, j], np.float32(7)),
    }[key]
    main = compiled([x, i, j], body)
    data, good = data_of(4), (np.array([[3], [-4]]), np.array([0, -3], np.int32))
    expected = data[good] if key == "index_tensor" else put(data, good, 7)
    np.testing.assert_array_equal(main(data, *good), expected)
    with pytest.raises(IndexError) as error:
        main(data, good[0], np.array([1, 3], np.int32))
    assert message_of(error) == (
        f"main: {key}: index 3 of indices[1] at [1] is out of range for dimension 1 of data, whose size is 3; "
        "expected -3 to 2"
    )
    with pytest.raises(IndexError, match=r"index 4 of indices\[0\] at \[1, 0\]"):
        main(data, np.array([[0], [4]]), good[1])


def test_rows_of_a_rotary_table():
    heads = Tensor((1, n, 2, 4), "f32")
    table = Tensor((8, 2), "f32")
    many = compiled(
        [heads, Tensor((n,), "i64"), table], lambda x, p, t: op.rotary_embedding(x, positions=p, cos=t, sin=t)
    )
    first = compiled(
        [heads, Tensor((), "i32"), table], lambda x, p, t: op.rotary_embedding(x, positions=p, cos=t, sin=t)
    )
    x, angles = np.ones((1, 3, 2, 4), np.float32), np.random.default_rng(0).random((8, 2), np.float32)
    np.testing.assert_array_equal(many(x, np.array([5, 6, 7]), angles), first(x, np.array(5, np.int32), angles))
    with pytest.raises(IndexError) as error:
        many(x, np.array([0, -1, 2]), angles)
    assert message_of(error) == (
        "main: rotary_embedding: index -1 of positions at [1] is out of range for dimension 0 of cos, "
        "whose size is 8; expected 0 to 7"
    )
    with pytest.raises(IndexError) as error:
        first(x, np.array(6, np.int32), angles)
    assert re.fullmatch(
        r"main: rotary_embedding: index 6 of positions is out of range for the rows of cos at which x may begin, "
        r"whose size is .* = 6; expected 0 to 5",
        message_of(error),
    )
    with pytest.raises(IndexError, match="expected no index"):
        first(np.ones((1, 9, 2, 4), np.float32), np.array(0, np.int32), angles)


# Tensors of each length around the vector width, with an invalid index at each position.
@pytest.mark.parametrize("dtype", ["i32", "i64"])
def test_every_place_is_looked_at(dtype):
    main = compiled([Tensor((n,), "f32"), Tensor((m,), dtype)], lambda x, i: op.take(x, i, axis=0))
    data = np.zeros(3, np.float32)
    for length in [*range(1, 20), 63, 64, 65, 1000]:
        for place in {0, length // 2, length - 2, length - 1} & set(range(length)):
            for bad in (3, -4):
                indices = np.resize(np.array([-3, 2, 0], DTYPES[dtype]), length)
                main(data, indices)
                indices[place] = bad
                with pytest.raises(IndexError, match=rf"index {bad} of indices at \[{place}\] "):
                    main(data, indices)


# A dimension without elements may be longer than the index type can represent.
def test_sizes_beyond_the_index():
    main = compiled([Tensor((n, 0), "f32"), Tensor((m,), "i32")], lambda x, i: op.take(x, i, axis=0))
    limits = np.iinfo(np.int32)
    for size in (2**31 - 1, 2**31, 2**40):
        indices = [size - 1 if size < 2**31 else limits.max, -limits.max]
        assert main(np.zeros((size, 0), np.float32), np.array(indices, np.int32)).shape == (2, 0)
    assert main(np.zeros((2**31, 0), np.float32), np.array([limits.min], np.int32)).shape == (1, 0)
    with pytest.raises(IndexError, match="index -2147483648 "):
        main(np.zeros((2**31 - 1, 0), np.float32), np.array([limits.min], np.int32))
    with pytest.raises(IndexError, match="index 2147483647 "):
        main(np.zeros((2**31 - 1, 0), np.float32), np.array([limits.max], np.int32))


def test_views_of_the_caller():
    main = compiled([Tensor((n, 3), "f32"), Tensor((m,), "i64")], lambda x, i: op.take(x, i, axis=0))
    indices = np.array([0, 99, 1, -99, 4, 99, 2])
    np.testing.assert_array_equal(main(data_of(5)[::-1], indices[::2]), data_of(5)[::-1][indices[::2]])
    with pytest.raises(IndexError, match=r"index 99 of indices at \[0\] "):
        main(data_of(5), indices[1::2])
    with pytest.raises(IndexError, match=r"index 99 of indices at \[1\] "):
        main(data_of(5), indices[::-1])


def test_views_in_the_program():
    def body(x, i):
        return op.take(x, op.reshape(op.strided_slice(i, [0], [1], [5]), (2, 2)), axis=0)

    main = compiled([Tensor((n, 3), "f32"), Tensor((5,), "i64")], body)
    assert main(data_of(3), np.array([99, 0, 1, -3, 2])).shape == (2, 2, 3)
    with pytest.raises(IndexError, match=r"index 3 of indices at \[1, 0\] "):
        main(data_of(3), np.array([99, 0, 1, 3, 2]))


def test_indices_that_are_computed():
    main = compiled([Tensor((n,), "f32"), Tensor((m,), "i64")], lambda x, i: op.take(x, i * 2 + 1, axis=0))
    np.testing.assert_array_equal(main(np.arange(6, dtype=np.float32), np.array([2, 0, -3])), [5, 1, 1])
    with pytest.raises(IndexError, match=r"index 7 of indices at \[1\] "):
        main(np.arange(6, dtype=np.float32), np.array([2, 3]))


def test_python_indexing():
    main = compiled([Tensor((n, 3), "f32")], lambda x: x[4])
    np.testing.assert_array_equal(main(data_of(5)), data_of(5)[4])
    with pytest.raises(
        IndexError, match="index 4 of indices is out of range for dimension 0 of x, whose size is n = 2"
    ):
        main(data_of(2))


def test_only_the_branch_that_runs():
    bb = BlockBuilder()
    with bb.function("main", [Scalar("i1", name="c"), Tensor((n,), "f32"), Tensor((m,), "i64")]) as f:
        c, x, i = f.params
        with bb.if_(c) as branch:
            with branch.then:
                bb.yield_(op.take(x, i, axis=0))
            with branch.else_:
                bb.yield_(op.take(x, i, axis=0, mode="wrap"))
        bb.return_(branch.result)
    main = relax_mlir.compile(bb.module())["main"]
    x, wild = np.arange(3, dtype=np.float32), np.array([0, 7])
    np.testing.assert_array_equal(main(False, x, wild), [0, 1])
    with pytest.raises(IndexError, match="index 7 of indices"):
        main(True, x, wild)
    np.testing.assert_array_equal(main(True, x, np.array([2, -3])), [2, 0])


def test_what_a_branch_checks_is_checked_again():
    bb = BlockBuilder()
    with bb.function("main", [Scalar("i1", name="c"), Tensor((n,), "f32"), Tensor((m,), "i64")]) as f:
        c, x, i = f.params
        with bb.if_(c) as branch:
            with branch.then:
                bb.yield_(op.take(x, i, axis=0))
            with branch.else_:
                bb.yield_(op.zeros((m,), "f32"))
        bb.return_(op.add(branch.result, op.take(x, i, axis=0)))
    main = relax_mlir.compile(bb.module())["main"]
    for c in (False, True):
        with pytest.raises(IndexError, match="index 7 of indices"):
            main(c, np.arange(3, dtype=np.float32), np.array([0, 7]))


def test_each_round_of_a_loop():
    bb = BlockBuilder()
    with bb.function("main", [Tensor((n,), "f32"), Tensor((), "i64")]) as f:
        x, limit = f.params
        with bb.while_([op.constant(np.int64(0)), op.constant(np.float32(0))]) as loop:
            with loop.condition as (i, total):
                bb.yield_(op.less(i, limit))
            with loop.body as (i, total):
                bb.yield_(op.add(i, op.constant(np.int64(1))), op.add(total, op.take(x, i, axis=0)))
        bb.return_(loop.results[1])
    main = relax_mlir.compile(bb.module())["main"]
    x = np.arange(5, dtype=np.float32)
    for limit in (0, 1, 5):
        assert main(x, np.array(limit)) == x[:limit].sum()
    assert main(x[:0], np.array(0)) == 0
    with pytest.raises(IndexError, match="index 5 of indices is out of range"):
        main(x, np.array(6))


def test_functions_and_closures():
    bb = BlockBuilder()
    with bb.function("pick", [Tensor((n,), "f32", name="x"), Tensor((m,), "i64", name="i")]) as pick:
        with bb.dataflow():
            y = bb.emit_output(op.exp(op.take(*pick.params, axis=0)))
        bb.return_(y)
    with bb.function("main", [Tensor((n,), "f32"), Tensor((m,), "i64")]) as f:
        bb.return_(bb.call(pick, *f.params))
    with bb.function("closed", [Tensor((n,), "f32"), Tensor((m,), "i64")]) as f:
        x, i = f.params
        bb.return_(op.call_closure(op.make_closure(pick, [x]), i))
    executable = relax_mlir.compile(bb.module())
    x = np.arange(3, dtype=np.float32)
    for name in ("pick", "main", "closed"):
        np.testing.assert_allclose(executable[name](x, np.array([-1])), np.exp(x[-1:]), rtol=1e-6)
        with pytest.raises(IndexError) as error:
            executable[name](x, np.array([3]))
        assert message_of(error).endswith(
            ": take: index 3 of indices at [0] is out of range for dimension 0 of x, "
            "whose size is n = 3; expected -3 to 2"
        )


# Earlier writes are not visible to the caller; the check sees the same indices as the op.
def test_checks_keep_their_place_between_writes():
    bb = BlockBuilder()
    with bb.function("main", [Tensor((n,), "f32"), Tensor((m,), "i64"), Tensor((m,), "i64")]) as f:
        x, i, j = f.params
        first = op.index_put(op.negative(x), [i], np.float32(1))
        second = op.index_put(first, [j], np.float32(2))
        bb.return_(op.take(second, i, axis=0))
    main = relax_mlir.compile(bb.module())["main"]
    x = np.arange(4, dtype=np.float32)
    np.testing.assert_array_equal(main(x, np.array([0, 1]), np.array([1, -1])), [1, 2])
    for i, j, bad in (([4, 0], [0, 0], 4), ([0, 0], [0, -5], -5), ([9, 0], [0, 8], 9)):
        with pytest.raises(IndexError, match=f"index {bad} of"):
            main(x, np.array(i), np.array(j))
        np.testing.assert_array_equal(x, np.arange(4))


def test_take_modes():
    x, wild = np.arange(4, dtype=np.float32), np.array([-9, -4, -1, 3, 4, 9])
    results = {
        mode: compiled([Tensor((n,), "f32"), Tensor((m,), "i64")], lambda x, i, mode=mode: op.take(x, i, 0, mode=mode))
        for mode in ("raise", "fast", "clip", "wrap")
    }
    np.testing.assert_array_equal(results["fast"](x, wild), [0, 0, 3, 3, 3, 3])
    np.testing.assert_array_equal(results["clip"](x, wild), np.take(x, wild, mode="clip"))
    np.testing.assert_array_equal(results["wrap"](x, wild), np.take(x, wild, mode="wrap"))
    with pytest.raises(IndexError, match="index -9"):
        results["raise"](x, wild)
    with pytest.raises(relax_mlir.RelaxError, match="raise, fast, clip, wrap"):
        compiled([Tensor((n,), "f32"), Tensor((m,), "i64")], lambda x, i: op.take(x, i, 0, mode="slow"))


def _module():
    bb = BlockBuilder()
    with bb.function("main", [Tensor((n, 3), "f32", name="x"), Tensor((m,), "i64", name="i")]) as f:
        bb.return_(op.take(*f.params, axis=0))
    return bb.module()


@needs_linker
def test_exported_code_checks(tmp_path):
    export(relax_mlir.compile_code(_module()), tmp_path)
    for main in (load_exported(tmp_path)["main"], tvm_ffi.load_module(str(tmp_path / "model.so"))["main"]):
        data = data_of(5)
        np.testing.assert_array_equal(to_numpy(main(data, np.array([4, -5]))), data[[4, -5]])
        with pytest.raises(IndexError, match=r"main: take: index 5 of indices at \[1\] is out of range"):
            main(data, np.array([0, 5]))


C_PROGRAM = r"""
#include "TVMFFI.h"
#include <cstdio>
#include <initializer_list>
extern "C" int __tvm_ffi_main(void *self, const TVMFFIAny *args, int32_t count, TVMFFIAny *result);
int main() {
  float x[6] = {}, out[3];
  int64_t i[1] = {7}, shapes[3][2] = {{2, 3}, {1, 0}, {1, 3}};
  DLTensor tensors[3] = {
      {x, {relax_rt::kDLCPU, 0}, 2, {relax_rt::kDLFloat, 32, 1}, shapes[0], nullptr, 0},
      {i, {relax_rt::kDLCPU, 0}, 1, {relax_rt::kDLInt, 64, 1}, shapes[1], nullptr, 0},
      {out, {relax_rt::kDLCPU, 0}, 2, {relax_rt::kDLFloat, 32, 1}, shapes[2], nullptr, 0}};
  TVMFFIAny args[3] = {}, result{};
  for (int k = 0; k < 3; ++k) {
    args[k].typeIndex = relax_rt::kTensorPointer;
    args[k].pointer = &tensors[k];
  }
  for (int64_t index : {-2, 1, 2, -3}) {
    i[0] = index;
    std::printf("%d\n", __tvm_ffi_main(nullptr, args, 3, &result));
  }
}
"""


@needs_linker
def test_programs_in_c_see_the_error(tmp_path):
    export(relax_mlir.compile_code(_module()), tmp_path)
    (tmp_path / "main.cpp").write_text(C_PROGRAM)
    runtime = Path(__file__).parents[2] / "lib" / "Runtime" / "Core"
    command = ["g++", "-std=c++17", "-O0", f"-I{runtime}", "main.cpp", "model.o", "-L.", "-lrelax_runtime"]
    subprocess.run([*command, "-Wl,-rpath,$ORIGIN", "-lm", "-o", "main"], cwd=tmp_path, check=True)
    run = subprocess.run([tmp_path / "main"], capture_output=True, text=True)
    assert run.stdout.split() == ["0", "0", "-1", "-1"]
    assert "IndexError: main: take: index 2 of indices at [0] is out of range for dimension 0 of x" in run.stderr


X, AT, Y = "tensor<?xf32, #relax.shape<[n]>>", "tensor<?xi64, #relax.shape<[m]>>", "tensor<?xf32, #relax.shape<[m]>>"
HOST_AND_DEVICE = "".join(
    f"""
relax.func @{place}(%x: {X}, %i: {AT}) -> {Y} attributes {{relax.device = "{place}"}} {{
  %0 = relax.take %x, %i axis 0 : ({X}, {AT}) -> {Y}
  relax.return %0 : {Y}
}}"""
    for place in ("host", "device")
)


def test_the_host_beside_a_device():
    import emulated  # noqa: F401 - makes the emulator the driver

    device = relax_mlir.Device("cuda")
    executable = relax_mlir.compile(relax_mlir.parse(HOST_AND_DEVICE), target="cuda:emulated")
    x, wild = np.arange(3, dtype=np.float32), np.array([9, -9, -1])
    np.testing.assert_array_equal(device.get(executable["device"](device.put(x), device.put(wild))), [2, 0, 2])
    np.testing.assert_array_equal(to_numpy(executable["host"](x, wild[2:])), [2])
    with pytest.raises(IndexError, match="host: take: index 9 of indices"):
        executable["host"](x, wild)

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Host code: the parts of a compiled module around its kernels.

This file is longer than 500 lines because all tests run small programs through the same few helpers, and are read by
section.
"""

import gc
import threading

import numpy as np
import pytest
import tvm_ffi

import relax_mlir
from relax_mlir import BlockBuilder, RelaxError, Shape, Sym, Tensor, op, runtime

T = "tensor<?xf32, #relax.shape<[n]>>"
X = np.arange(4, dtype=np.float32)


def compiled(text):
    return relax_mlir.compile(relax_mlir.parse(text))


def to_python(value):
    """Tensors as arrays, sequences as lists."""
    if hasattr(value, "__dlpack__"):
        return np.from_dlpack(value).tolist()
    if isinstance(value, (bool, int, float)):
        return value
    return [to_python(member) for member in value]


def run(text, *args, function="main"):
    return to_python(compiled(text)[function](*args))


# --- control flow


@pytest.mark.parametrize("flag, expected", [(True, [0, 4, 16, 36]), (False, [0, 1, 2, 3])])
def test_branches_of_several_ops(flag, expected):
    text = f"""
    relax.func @main(%c: i1, %x: {T}) -> {T} {{
      %0 = relax.if %c : i1 -> {T} {{
        %1 = relax.add %x, %x : ({T}, {T}) -> {T}
        %2 = relax.multiply %1, %1 : ({T}, {T}) -> {T}
        relax.yield %2 : {T}
      }} else {{
        relax.yield %x : {T}
      }}
      relax.return %0 : {T}
    }}"""
    assert run(text, flag, X) == expected


WHILE = f"""
relax.func @main(%k: i64, %x: {T}) -> ({T}, i64) {{
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %r:2 = relax.while %x, %zero : ({T}, i64) -> ({T}, i64) {{
  ^bb0(%a: {T}, %i: i64):
    %c = arith.cmpi slt, %i, %k : i64
    relax.condition %c : i1
  }} do {{
  ^bb0(%a: {T}, %i: i64):
    %b = relax.add %a, %a : ({T}, {T}) -> {T}
    %d = relax.subtract %b, %a : ({T}, {T}) -> {T}
    %e = relax.add %d, %a : ({T}, {T}) -> {T}
    %j = arith.addi %i, %one : i64
    relax.yield %e, %j : {T}, i64
  }}
  relax.return %r#0, %r#1 : {T}, i64
}}"""


@pytest.mark.parametrize("count", [0, 1, 5])
def test_loops(count):
    assert run(WHILE, count, X) == [(X * 2**count).tolist(), count]


def test_recursion():
    text = f"""
    relax.func @main(%k: i64, %x: {T}) -> {T} {{
      %zero = arith.constant 0 : i64
      %one = arith.constant 1 : i64
      %c = arith.cmpi sgt, %k, %zero : i64
      %0 = relax.if %c : i1 -> {T} {{
        %b = relax.add %x, %x : ({T}, {T}) -> {T}
        %j = arith.subi %k, %one : i64
        %r = relax.call @main(%j, %b) : (i64, {T}) -> {T}
        relax.yield %r : {T}
      }} else {{
        relax.yield %x : {T}
      }}
      relax.return %0 : {T}
    }}"""
    assert run(text, 3, X) == (X * 8).tolist()


# --- values


def test_tuples_shapes_and_expressions_cross_the_boundary():
    text = f"""
    relax.func @main(%t: tuple<{T}, tensor<2xi64>>, %s: !relax.shape<[n, 2]>)
        -> (tuple<tensor<2xi64>, !relax.shape<[2]>>, {T}, index) {{
      %a = relax.get %t[0] : (tuple<{T}, tensor<2xi64>>) -> {T}
      %b = relax.get %t[1] : (tuple<{T}, tensor<2xi64>>) -> tensor<2xi64>
      %s0 = relax.shape [2] : !relax.shape<[2]>
      %u = relax.tuple %b, %s0 : (tensor<2xi64>, !relax.shape<[2]>) -> tuple<tensor<2xi64>, !relax.shape<[2]>>
      %i = relax.sym 2*n + 1 : index
      relax.return %u, %a, %i : tuple<tensor<2xi64>, !relax.shape<[2]>>, {T}, index
    }}"""
    assert run(text, (X, np.array([5, 6])), [4, 2]) == [[[5, 6], [2]], X.tolist(), 9]


def test_constants():
    text = """
    relax.func @main() -> (tensor<3xf32>, tensor<2xi1>) {
      %0 = relax.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
      %1 = relax.constant dense<[true, false]> : tensor<2xi1>
      relax.return %0, %1 : tensor<3xf32>, tensor<2xi1>
    }"""
    assert run(text) == [[1, 2, 3], [True, False]]


def test_shapes_become_tensors_and_tensors_shapes():
    text = f"""
    relax.func @main(%x: {T}, %t: tensor<2xi64>) -> (tensor<1xi64>, tensor<?x?xf32>) {{
      %s = relax.shape_of %x : ({T}) -> !relax.shape<[n]>
      %n = relax.shape_to_tensor %s : (!relax.shape<[n]>) -> tensor<1xi64>
      %u = relax.tensor_to_shape %t : (tensor<2xi64>) -> !relax.shape<2>
      %v = relax.match_cast %u : (!relax.shape<2>) -> !relax.shape<[a, b]>
      %y = relax.reshape %x, %v : ({T}, !relax.shape<[a, b]>) -> tensor<?x?xf32, #relax.shape<[a, b]>>
      relax.return %n, %y : tensor<1xi64>, tensor<?x?xf32, #relax.shape<[a, b]>>
    }}"""
    main = compiled(text)["main"]
    assert to_python(main(X, np.array([2, 2]))) == [[4], [[0, 1], [2, 3]]]
    with pytest.raises(ValueError, match="elements"):
        main(X, np.array([2, 3]))
    with pytest.raises(ValueError, match="element 0 of a shape is -1"):
        main(X, np.array([-1, 4]))


# A match_cast is an alias: its operand stays alive and unchanged.
def test_aliases_keep_their_storage():
    text = f"""
    relax.func @main(%x: {T}) -> {T} {{
      %quarter = relax.constant dense<0.25> : tensor<f32>
      %eighth = relax.constant dense<0.125> : tensor<f32>
      %a = relax.add %x, %quarter : ({T}, tensor<f32>) -> {T}
      %b = relax.match_cast %a : ({T}) -> {T}
      %c = relax.add %x, %eighth : ({T}, tensor<f32>) -> {T}
      %d = relax.add %b, %c : ({T}, {T}) -> {T}
      relax.return %d : {T}
    }}"""
    assert run(text, X) == (2 * X + 0.375).tolist()


def test_parameters_come_back_as_the_same_tensor():
    text = f"relax.func @main(%x: {T}) -> {T} {{\n relax.return %x : {T}\n}}"
    given = tvm_ffi.from_dlpack(X)
    assert np.shares_memory(np.from_dlpack(compiled(text)["main"](given)), X)


def test_shapes_that_came_back_are_arguments():
    bb, n = BlockBuilder(), Sym("n")
    with bb.function("main", [Shape((n,))]):
        bb.return_(op.zeros([n], "f32"))
    assert np.from_dlpack(relax_mlir.compile(bb.module())["main"](tvm_ffi.Shape((3,)))).shape == (3,)


# --- callables

SCALE = f"""
relax.func private @scale(%w: tensor<f32>, %x: {T}) -> {T} {{
  %0 = relax.multiply %x, %w : ({T}, tensor<f32>) -> {T}
  relax.return %0 : {T}
}}
relax.func @make(%w: tensor<f32>) -> (({T}) -> {T}) {{
  %d = relax.add %w, %w : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %f = relax.make_closure @scale(%d) : (tensor<f32>) -> (({T}) -> {T})
  relax.return %f : ({T}) -> {T}
}}
relax.func @apply(%f: ({T}) -> {T}, %x: {T}) -> {T} {{
  %0 = relax.call_closure %f(%x) : ({T}) -> {T} calls ({T}) -> {T}
  relax.return %0 : {T}
}}"""


def test_closures_outlive_the_call_that_made_them():
    module = compiled(SCALE)
    double = module["make"](np.array(1, np.float32))
    gc.collect()
    assert to_python(module["apply"](double, X)) == (2 * X).tolist()
    del module
    gc.collect()
    assert to_python(double(tvm_ffi.from_dlpack(X))) == (2 * X).tolist()


def test_python_functions_are_callables():
    module = compiled(SCALE)

    def shifted(x):
        return tvm_ffi.from_dlpack(np.from_dlpack(x) + 100)

    assert to_python(module["apply"](shifted, X)) == (X + 100).tolist()

    def broken(x):
        raise RuntimeError("of mine")

    with pytest.raises(RuntimeError, match="of mine"):
        module["apply"](broken, X)
    with pytest.raises(ValueError, match="result 0 of a callable: dimension 0 must be n = 4, got 3"):
        module["apply"](lambda x: tvm_ffi.from_dlpack(np.zeros(3, np.float32)), X)
    assert to_python(module["apply"](shifted, X)) == (X + 100).tolist()


LIBRARY = f"""
relax.func @main(%x: {T}) -> {T} {{
  %0 = relax.call_library "relax_test.times"(%x) sym [n] : ({T}) -> {T}
  relax.return %0 : {T}
}}"""


def test_library_functions_are_found_at_run_time():
    module = compiled(LIBRARY)
    tvm_ffi.remove_global_func("relax_test.times") if tvm_ffi.get_global_func("relax_test.times", True) else None
    with pytest.raises(RuntimeError, match="'relax_test.times' is not registered"):
        module["main"](X)

    @tvm_ffi.register_global_func("relax_test.times", override=True)
    def times(x, out, n):
        np.from_dlpack(out)[:] = np.from_dlpack(x) * n

    assert to_python(module["main"](X)) == (X * 4).tolist()


# --- weights

WEIGHTED = """
relax.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %w = relax.constant weight "w" : tensor<2xf32>
  %0 = relax.add %x, %w : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  relax.return %0 : tensor<2xf32>
}
relax.func @plain(%x: tensor<2xf32>) -> tensor<2xf32> {
  relax.return %x : tensor<2xf32>
}"""


def test_weights_are_bound_by_name():
    module = compiled(WEIGHTED)
    x = np.ones(2, np.float32)
    with pytest.raises(ValueError, match="main: weight 'w' is not bound"):
        module["main"](x)
    assert to_python(module["plain"](x)) == [1, 1]
    with pytest.raises(ValueError, match=r"weight 'w' \(tensor f32 \[2\]\): dimension 0 must be 2, got 3"):
        module.bind_weights({"w": np.zeros(3, np.float32)})
    with pytest.raises(TypeError, match="expected elements of type f32, got f64"):
        module.bind_weights({"w": np.zeros(2)})
    with pytest.raises(ValueError, match="no weight 'v'"):
        module.bind_weights({"v": np.zeros(2, np.float32)})
    module.bind_weights({"w": np.array([1, 2], np.float32)})
    assert to_python(module["main"](x)) == [2, 3]


THROUGH = """
relax.func private @weighted(%x: tensor<2xf32>) -> tensor<2xf32> {
  %w = relax.constant weight "w" : tensor<2xf32>
  %0 = relax.add %x, %w : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  relax.return %0 : tensor<2xf32>
}
relax.func private @further(%x: tensor<2xf32>) -> tensor<2xf32> {
  %f = relax.make_closure @weighted() : () -> ((tensor<2xf32>) -> tensor<2xf32>)
  %0 = relax.call_closure %f(%x) : (tensor<2xf32>) -> tensor<2xf32> calls (tensor<2xf32>) -> tensor<2xf32>
  relax.return %0 : tensor<2xf32>
}
relax.func @main(%x: tensor<2xf32>, %c: i1) -> tensor<2xf32> {
  %0 = relax.if %c : i1 -> tensor<2xf32> {
    %f = relax.make_closure @further(%x) : (tensor<2xf32>) -> (() -> tensor<2xf32>)
    %1 = relax.call_closure %f() : () -> tensor<2xf32> calls () -> tensor<2xf32>
    relax.yield %1 : tensor<2xf32>
  } else {
    relax.yield %x : tensor<2xf32>
  }
  relax.return %0 : tensor<2xf32>
}"""


def test_weights_that_closures_reach_are_needed():
    module = compiled(THROUGH)
    x = np.ones(2, np.float32)
    with pytest.raises(ValueError, match="main: weight 'w' is not bound"):
        module["main"](x, True)
    module.bind_weights({"w": np.array([1, 2], np.float32)})
    assert to_python(module["main"](x, True)) == [2, 3]


# The program itself does not call the closure.
RETURNED = (
    THROUGH[: THROUGH.index("relax.func private @further")]
    + """
relax.func @main() -> ((tensor<2xf32>) -> tensor<2xf32>) {
  %f = relax.make_closure @weighted() : () -> ((tensor<2xf32>) -> tensor<2xf32>)
  relax.return %f : (tensor<2xf32>) -> tensor<2xf32>
}"""
)


def test_weights_of_a_returned_closure_are_needed():
    module = compiled(RETURNED)
    with pytest.raises(ValueError, match="main: weight 'w' is not bound"):
        module["main"]()
    module.bind_weights({"w": np.array([1, 2], np.float32)})
    assert to_python(module["main"]()(np.ones(2, np.float32))) == [2, 3]


# --- arguments

BOUNDED = """
relax.func @main(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %y: tensor<?xf32, #relax.shape<[2*n]>>)
    -> tensor<?x4xf32, #relax.shape<[n, 4]>> attributes {relax.symbols = {n = #relax.range<1, 8>}} {
  %0 = relax.add %x, %x : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?x4xf32, #relax.shape<[n, 4]>>)
      -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  relax.return %0 : tensor<?x4xf32, #relax.shape<[n, 4]>>
}"""


def rows(n, dtype=np.float32):
    return np.ones((n, 4), dtype)


@pytest.mark.parametrize(
    "args, error, message",
    [
        ((rows(2),), TypeError, "main: expected 2 arguments, got 1"),
        ((rows(2), 3), TypeError, r"argument 1 .*\(tensor f32 \[2\*n\]\): expected a tensor, got the integer 3"),
        ((rows(2, np.float64), np.ones(4, np.float32)), TypeError, "argument 0 .* type f32, got f64"),
        ((np.ones(4, np.float32), np.ones(4, np.float32)), ValueError, "expected 2 dimensions, got 1"),
        ((np.ones((2, 3), np.float32), np.ones(4, np.float32)), ValueError, "dimension 1 must be 4, got 3"),
        ((rows(2), np.ones(5, np.float32)), ValueError, r"argument 1.*: dimension 0 must be 2\*n = 4, got 5"),
        ((rows(9), np.ones(18, np.float32)), ValueError, "argument 0.*: symbol 'n' = 9 exceeds its declared bound 8"),
        ((rows(0), np.ones(0, np.float32)), ValueError, "symbol 'n' = 0 is below its declared bound 1"),
    ],
)
def test_wrong_arguments_are_named(args, error, message):
    module = compiled(BOUNDED)
    with pytest.raises(error, match=message):
        module["main"](*args)
    assert to_python(module["main"](rows(1), np.ones(2, np.float32))) == [[2.0] * 4]


@pytest.mark.parametrize("given", [np.asfortranarray(rows(3)), np.ones((6, 8), np.float32)[::2, ::2], rows(3)[::-1]])
def test_strided_arguments(given):
    assert to_python(compiled(BOUNDED)["main"](given, np.ones(6, np.float32))) == [[2.0] * 4] * 3


def test_unaligned_and_read_only_arguments():
    data = np.zeros(4 * 12 + 1, np.uint8)
    given = data[1:].view(np.float32).reshape(3, 4)
    given[:] = 1
    given.flags.writeable = False
    assert to_python(compiled(BOUNDED)["main"](given, np.ones(6, np.float32))) == [[2.0] * 4] * 3


# --- invalid and empty sizes


@pytest.mark.parametrize(
    "dims, args, message",
    [
        ("m, n", (2**32, 2**32), "exceeds 64 bits"),
        ("m, n", (2**62, 1), "exceeds 64 bits"),
        ("m + n", (2**62, 2**62), "'m \\+ n' exceeds 64 bits"),
        ("m*n", (2**33, 2**31), r"'m\*n' exceeds 64 bits"),
        ("m mod n", (3, 0), "'m mod n' divides by zero"),
        ("(m*n) floordiv (m + n)", (0, 0), "divides by zero"),
        ("m - n", (2, 5), "'m - n' = -3 is negative"),
        ("m - n, m - n", (2, 5), "'m - n' = -3 is negative"),
    ],
)
def test_sizes_that_are_none_are_errors(dims, args, message):
    bb, m, n = BlockBuilder(), Sym("m"), Sym("n")
    names = {"m": m, "n": n}
    text = dims.replace(" mod ", " % ").replace(" floordiv ", " // ")
    with bb.function("main", [m, n]):
        bb.return_(op.zeros([eval(dim, names) for dim in text.split(", ")], "f32"))
    main = relax_mlir.compile(bb.module())["main"]
    with pytest.raises(ValueError, match=message):
        main(*args)


# The type of the result does not say that it is empty.
def test_a_slice_of_nothing_up_to_a_size_of_the_run():
    bb, n = BlockBuilder(), Sym("n")
    with bb.function("main", [Tensor((0, 3), "f32"), Tensor((n,), "f32")]) as f:
        bb.return_(op.strided_slice(f.params[0], [0], [0], [n], assume_inbound=True))
    main = relax_mlir.compile(bb.module())["main"]
    nothing = np.ones((0, 3), np.float32)
    assert main(nothing, np.ones(0, np.float32)).shape == (0, 3)
    with pytest.raises(ValueError, match="a slice must end in its dimension"):
        main(nothing, np.ones(2, np.float32))


# The sizes of constants are checked, too.
def test_constants_broadcast_as_other_tensors():
    bb, m, k = BlockBuilder(), Sym("m"), Sym("k")
    x, y = Tensor((m,), "f32"), Tensor((k,), "f32")
    with bb.function("main", [x, y]):
        bb.return_(op.add(op.ones([m], "f32"), y))
    main = relax_mlir.compile(bb.module())["main"]
    for sizes, expected in (((3, 3), 3), ((1, 4), 4), ((4, 1), 4)):
        assert np.from_dlpack(main(*(np.ones(size, np.float32) for size in sizes))).shape == (expected,)
    with pytest.raises(ValueError, match="cannot broadcast"):
        main(np.ones(3, np.float32), np.ones(4, np.float32))


# --- destinations


def test_results_are_copied_to_destinations():
    main = compiled(BOUNDED)["main"]
    out = np.zeros((3, 4), np.float32)
    assert main(rows(3), np.ones(6, np.float32), out) is None
    assert out.tolist() == [[2.0] * 4] * 3
    short = np.zeros((2, 4), np.float32)
    for wrong, error in ((short, "dimension 0 must be 3, got 2"), (out.T, "dimension 1 must be 4, got 3")):
        with pytest.raises(ValueError, match=f"main: destination 0: {error}"):
            main(rows(3), np.ones(6, np.float32), wrong)
    with pytest.raises(TypeError, match="destination 0: expected elements of type f32"):
        main(rows(3), np.ones(6, np.float32), out.astype(np.float64))


@pytest.mark.parametrize(
    "dtype, number, error",
    [
        ("f32", 2.5, None),
        ("f32", 3, None),
        ("f64", np.float64(0.1), None),
        ("i8", -128, None),
        ("i64", -(2**63), None),
        ("bool", True, None),
        ("i8", 128, (ValueError, "128 does not fit in i8")),
        ("i32", 2.5, (TypeError, "expected a tensor, got the number 2.5")),
        ("f32", "x", (TypeError, "expected a tensor, got a string")),
    ],
)
def test_numbers_are_tensors_without_dimensions(dtype, number, error):
    bb = BlockBuilder()
    with bb.function("main", [Tensor((), dtype)]) as function:
        bb.return_(op.reshape(function.params[0], (1,)))
    main = relax_mlir.compile(bb.module())["main"]
    if error:
        kind, message = error
        with pytest.raises(kind, match=message):
            main(number)
    else:
        assert np.from_dlpack(main(number))[0] == np.asarray(number, np.from_dlpack(main(number)).dtype)


@pytest.mark.parametrize("name", ["relax_rt_alloc", "bind_weight"])
def test_names_that_compiled_code_uses_are_refused(name):
    with pytest.raises(RelaxError, match="reserved"):
        compiled(WEIGHTED.replace("@plain", f"@{name}"))


# --- memory and threads


def test_failures_and_calls_leave_nothing_behind():
    module = compiled(WHILE)
    before = runtime.pool_statistics().used
    for _ in range(20):
        module["main"](3, X)
        with pytest.raises(TypeError, match="expected elements of type f32, got f64"):
            module["main"](3, X.astype(np.float64))
    gc.collect()
    assert runtime.pool_statistics().used == before


def test_a_steady_state_asks_the_system_for_nothing():
    module = compiled(WHILE)
    for _ in range(3):
        module["main"](3, X)
    before = runtime.pool_statistics().requests
    for _ in range(50):
        module["main"](3, X)
    assert runtime.pool_statistics().requests == before


def test_no_memory_is_an_error_and_the_module_stays_usable():
    module = compiled(BOUNDED.replace("range<1, 8>", "range<1>"))
    big = np.ones((1 << 18, 4), np.float32)
    runtime.trim_pool()
    runtime.set_pool_limit(1 << 20)
    try:
        with pytest.raises(MemoryError, match="no memory for 4194304 bytes"):
            module["main"](big, np.ones(2 << 18, np.float32))
    finally:
        runtime.set_pool_limit(None)
    assert np.from_dlpack(module["main"](big, np.ones(2 << 18, np.float32))).sum() == big.size * 2


def test_several_threads_share_a_module():
    module = compiled(WHILE)
    failures = []

    def work(seed):
        x = np.full(5 + seed, seed, np.float32)
        for _ in range(200):
            result, _ = module["main"](3, x)
            if not np.array_equal(np.from_dlpack(result), x * 8):
                failures.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


# --- programs that cannot be compiled


def test_an_unknown_rank_is_an_error_with_its_place():
    text = "relax.func @main(%x: tensor<*xf32>) -> tensor<*xf32> {\n relax.return %x : tensor<*xf32>\n}"
    with pytest.raises(RelaxError, match="known rank"):
        compiled(text)


IN_PLACE = """
func.func private @zero(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = arith.constant 0.0 : f32
  %1 = linalg.fill ins(%0 : f32) outs(%x : tensor<2xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}
func.func private @helper(%i: index) -> index {
  return %i : index
}
relax.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %c = relax.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = relax.call_tir_inplace @zero(OPERAND) inplace [0] : (tensor<2xf32>) -> tensor<2xf32>
  relax.return %0 : tensor<2xf32>
}"""


def test_constants_are_not_written_to():
    """A copy is written to; test_inplace.py shows that the constant is unchanged in the next call."""
    x = np.ones(2, np.float32)
    assert to_python(compiled(IN_PLACE.replace("OPERAND", "%c"))["main"](x)) == [0, 0]
    assert x.tolist() == [1, 1]
    compiled(IN_PLACE.replace("OPERAND", "%x"))["main"](x)
    assert x.tolist() == [0, 0]


def test_kernels_need_a_body():
    text = """
    func.func private @k(tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    relax.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
      %0 = relax.call_tir @k(%x) : (tensor<2xf32>) -> tensor<2xf32>
      relax.return %0 : tensor<2xf32>
    }"""
    with pytest.raises(RelaxError, match="'k', which has no body"):
        compiled(text)


@pytest.mark.parametrize(
    "triple, cpu, message",
    [
        ("x86_64-linux-gnu", "nocpu", "'nocpu' is not a CPU of x86_64-linux-gnu; LLVM knows .*x86-64-v3"),
        ("aarch64-linux-gnu", "", "cannot run"),
        ("x86_64-windows-msvc", "", "cannot run"),
    ],
)
def test_other_machines_are_refused(triple, cpu, message):
    if triple.split("-")[0] not in (relax_mlir.Target.host().triple.split("-")[0], "aarch64"):
        pytest.skip("the list is for x86-64")
    with pytest.raises(RelaxError, match=message):
        relax_mlir.compile(relax_mlir.parse(WEIGHTED), target=relax_mlir.Target(triple, cpu), cached=False)

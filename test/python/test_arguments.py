# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arguments of compiled functions: element types, arrays that they write into, destinations, depth of calls."""

import gc
import threading

import ml_dtypes
import numpy as np
import pytest
import tvm_ffi
from dlpack import Foreign
from elements import DTYPES

import relax_mlir
from relax_mlir import BlockBuilder, Range, RelaxError, Sym, Tensor, op, runtime
from relax_mlir.runtime import to_numpy

T = "tensor<?xf32, #relax.shape<[n]>>"
X = np.arange(4, dtype=np.float32)


def compiled(text):
    return relax_mlir.compile(relax_mlir.parse(text))


# --- element types

NARROW = {
    "bf16": ml_dtypes.bfloat16,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
}


def identity(dtype):
    t = f"tensor<?x?x{dtype}, #relax.shape<[n, m]>>"
    return compiled(f"relax.func @main(%x: {t}) -> {t} {{\n relax.return %x : {t}\n}}")["main"]


# Arguments and results are passed without a copy, for any strides.
@pytest.mark.parametrize("dtype", NARROW)
def test_types_that_numpy_does_not_export(dtype):
    x = np.arange(6).reshape(2, 3).astype(NARROW[dtype])
    result = identity(dtype)(x)
    assert isinstance(result, np.ndarray) and result.dtype == x.dtype
    np.testing.assert_array_equal(result, x)
    assert np.shares_memory(result, x)
    for view in (x.T, x[::-1, ::2], x[:0], x[:, :1]):
        np.testing.assert_array_equal(identity(dtype)(view), view)
    unaligned = np.zeros(x.nbytes + 1, np.uint8)[1:].view(x.dtype).reshape(x.shape)
    unaligned[:] = x
    unaligned.flags.writeable = False
    np.testing.assert_array_equal(identity(dtype)(unaligned), x)


# The memory of a result lives as long as the array.
def test_results_of_such_types_keep_their_memory():
    t = "tensor<?xbf16, #relax.shape<[n]>>"
    main = compiled(f"""
        relax.func @main(%x: {t}) -> ({t}, tuple<{t}, i64>) {{
          %0 = relax.add %x, %x : ({t}, {t}) -> {t}
          %c = arith.constant 3 : i64
          %1 = relax.tuple %0, %c : ({t}, i64) -> tuple<{t}, i64>
          relax.return %0, %1 : {t}, tuple<{t}, i64>
        }}""")["main"]
    gc.collect()
    used = runtime.pool_statistics().used
    first, (second, number) = main(X.astype(ml_dtypes.bfloat16))
    gc.collect()
    assert first.tolist() == second.tolist() == [0, 2, 4, 6] and number == 3
    del first
    gc.collect()
    assert second.tolist() == [0, 2, 4, 6]
    del second
    gc.collect()
    assert runtime.pool_statistics().used == used


def test_weights_of_such_types(tmp_path):
    text = """
    relax.func @main(%x: tensor<2xbf16>) -> tensor<2xbf16> {
      %w = relax.constant weight "w" : tensor<2xbf16>
      %0 = relax.add %x, %w : (tensor<2xbf16>, tensor<2xbf16>) -> tensor<2xbf16>
      relax.return %0 : tensor<2xbf16>
    }"""
    module = relax_mlir.compile(relax_mlir.parse(text), weights={"w": np.array([1, 2], ml_dtypes.bfloat16)})
    assert module["main"](np.ones(2, ml_dtypes.bfloat16)).tolist() == [2, 3]
    module.export(tmp_path / "model")
    loaded = relax_mlir.load_exported(tmp_path / "model")
    assert loaded["main"](np.ones(2, ml_dtypes.bfloat16)).tolist() == [2, 3]


# A number is rounded to the nearest element, with ties to even.
@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32"])
@pytest.mark.parametrize(
    "number",
    [0.0, -0.0, 1, -2.5, 1 + 2**-11, 1 + 3 * 2**-11, 1 + 2**-8, 1e-7, 6e-8, -3e-41, 65519, 65520, 1e39, np.inf],
)
def test_numbers_are_rounded(dtype, number):
    bb = BlockBuilder()
    with bb.function("main", [Tensor((), dtype)]) as function:
        bb.return_(op.reshape(function.params[0], (1,)))
    result = to_numpy(relax_mlir.compile(bb.module())["main"](number))
    with np.errstate(all="ignore"):
        expected = np.array([number]).astype(DTYPES[dtype])
    np.testing.assert_array_equal(result.view(f"u{result.itemsize}"), expected.view(f"u{result.itemsize}"))
    assert np.isnan(to_numpy(relax_mlir.compile(bb.module())["main"](np.nan)).astype(np.float64))


@pytest.mark.parametrize(
    "given",
    [X.astype(">f4"), X.astype(object), np.array(["a"]), X.astype("datetime64[s]"), X.astype(np.longdouble)]
    + [X.astype(ml_dtypes.float8_e3m4), np.zeros(2, ml_dtypes.int4), np.zeros(2, [("a", "f4")])],
)
def test_types_that_nothing_has_are_refused(given):
    main = compiled(f"relax.func @main(%x: {T}) -> {T} {{\n relax.return %x : {T}\n}}")["main"]
    with pytest.raises(
        RelaxError, match=r"main: argument 0 'arg0' \(.*an array of dtype .* cannot be an argument"
    ) as error:
        main(given)
    assert ("its bytes are swapped: pass x.astype('float32')" in str(error.value)) == (not given.dtype.isnative)


# --- arrays that are written into

KERNELS = """
func.func private @twice(%x: tensor<?xf32> {relax.shape = #relax.shape<[n]>}) -> tensor<?xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      outs(%x : tensor<?xf32>) {
  ^bb0(%a: f32):
    %1 = arith.addf %a, %a : f32
    linalg.yield %1 : f32
  } -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func private @plus(%x: tensor<?xf32> {relax.shape = #relax.shape<[n]>},
                        %y: tensor<?xf32> {relax.shape = #relax.shape<[n]>}) -> tensor<?xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%y : tensor<?xf32>) outs(%x : tensor<?xf32>) {
  ^bb0(%b: f32, %a: f32):
    %1 = arith.addf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<?xf32>
  return %0 : tensor<?xf32>
}"""
SHAPE = "!relax.shape<[n]>"
TWICE = f"relax.call_tir_inplace @twice(%x) inplace [0] : ({T}) -> {T}"
PLUS = f"relax.call_tir_inplace @plus(%x, %y) inplace [0] : ({T}, {T}) -> {T}"


def in_place(body, results=T, returned="%0", parameters=f"%x: {T}", rest=""):
    return f"""{KERNELS}
    {rest}
    relax.func @main({parameters}) -> {results} {{
      {body}
      relax.return {returned} : {results.strip("()")}
    }}"""


HELPER = f"""
relax.func private @helper(%x: {T}) -> {T} {{
  %0 = {TWICE}
  relax.return %0 : {T}
}}
relax.func private @above(%y: {T}) -> {T} {{
  %0 = relax.call @helper(%y) : ({T}) -> {T}
  relax.return %0 : {T}
}}"""


# The function itself, or a callee, writes to the argument.
@pytest.mark.parametrize(
    "text",
    [
        in_place(f"%0 = {TWICE}"),
        in_place(f"%0 = relax.call @above(%x) : ({T}) -> {T}", rest=HELPER),
        in_place(
            f"%f = relax.make_closure @helper() : () -> (({T}) -> {T})\n"
            f"%0 = relax.call_closure %f(%x) : ({T}) -> {T} calls ({T}) -> {T}",
            rest=HELPER,
        ),
    ],
)
def test_read_only_arrays_are_not_written_to(text):
    main = compiled(text)["main"]
    x = X.copy()
    main(x)
    assert x.tolist() == (2 * X).tolist()
    x.flags.writeable = False
    with pytest.raises(RelaxError, match=r"main: argument 0 'arg0' \(.*writes into this array, which is read-only"):
        main(x)
    assert x.tolist() == (2 * X).tolist()
    with pytest.raises(ValueError, match="main: argument 0 'arg0'.*must be contiguous"):
        main(np.ones(8, np.float32)[::2])


# Tensors of any library: DLPack has a read-only flag, and TVM FFI tensors keep their source alive.
@pytest.mark.parametrize("strides", [(1,), None])
@pytest.mark.parametrize("wrap", [lambda x: x, lambda x: tvm_ffi.from_dlpack(x.__dlpack__(max_version=(1, 0)))])
def test_read_only_tensors_of_others_are_not_written_to(wrap, strides):
    module = compiled(in_place(f"%0 = {TWICE}"))
    other = compiled(f"relax.func @main(%x: {T}) -> {T} {{\n relax.return %x : {T}\n}}")
    x = X.copy()
    writable, frozen = (Foreign(x, x.shape, strides, read_only) for read_only in (False, True))
    module["main"](wrap(writable))
    assert x.tolist() == (2 * X).tolist()
    with pytest.raises(ValueError, match=r"main: argument 0 'arg0' \(.*writes into this tensor, which is read-only"):
        module["main"](wrap(frozen))
    with pytest.raises(ValueError, match="main: destination 0: is read-only"):
        other["main"](X, wrap(frozen))
    assert other["main"](X, wrap(writable)) is None and x.tolist() == X.tolist()
    assert to_numpy(other["main"](wrap(frozen))).tolist() == X.tolist()


# A result in read-only memory cannot be written into either.
def test_results_in_read_only_memory_are_read_only():
    text = f"""
    relax.func @main(%x: {T}, %y: {T}) -> ({T}, {T}, {T}) {{
      %0 = relax.add %x, %x : ({T}, {T}) -> {T}
      relax.return %x, %y, %0 : {T}, {T}, {T}
    }}"""
    frozen, y = X.copy(), X.copy()
    frozen.flags.writeable = False
    for given in (frozen, Foreign(X, X.shape, (1,), read_only=True)):
        same, other, new = compiled(text)["main"](given, y)
        assert [each.flags.writeable for each in (same, other, new)] == [False, True, True]
        assert same.tolist() == X.tolist() and np.shares_memory(other, y)


# Other operands of the call must not overlap the written array.
def test_written_arrays_lie_apart():
    main = compiled(in_place(f"%0 = {PLUS}", parameters=f"%x: {T}, %y: {T}"))["main"]
    data = np.ones(8, np.float32)
    assert to_numpy(main(data[:4], data[4:])).tolist() == [2] * 4
    for x, y in ((data[:4], data[3:7]), (data[2:6], data[:4]), (data[:4], data[:4])):
        with pytest.raises(
            ValueError, match="main: argument 0 'arg0'.*writes into this tensor, which overlaps argument 1"
        ):
            main(x, y)
    assert to_numpy(main(data[:0], data[:0])).tolist() == []


# --- destinations

TWO = f"""
relax.func @main(%x: {T}, %y: {T}) -> ({T}, {T}) {{
  %0 = relax.add %x, %y : ({T}, {T}) -> {T}
  %1 = relax.subtract %x, %y : ({T}, {T}) -> {T}
  relax.return %0, %1 : {T}, {T}
}}
relax.func @swap(%x: {T}, %y: {T}) -> ({T}, {T}) {{
  relax.return %y, %x : {T}, {T}
}}"""


def test_destinations_are_checked():
    module = compiled(TWO)
    x, y, out = X.copy(), X + 1, np.zeros(4, np.float32)
    assert module["main"](x, y, x, y) is None  # results are computed before destinations are written
    assert x.tolist() == (2 * X + 1).tolist() and y.tolist() == [-1] * 4
    frozen = out.copy()
    frozen.flags.writeable = False
    wide = np.zeros(7, np.float32)
    for destinations, error, message in (
        ((out, frozen), RelaxError, "destination 1: the function writes into this array, which is read-only"),
        ((out, out), ValueError, "destination 0: overlaps destination 1"),
        ((wide[:4], wide[3:]), ValueError, "destination 0: overlaps destination 1"),
        ((out, wide[::2]), ValueError, "destination 1: must be contiguous"),
        ((out, out.astype(np.float64)), TypeError, "destination 1: expected elements of type f32, got f64"),
        ((out, np.zeros((1, 4), np.float32)), ValueError, "destination 1: expected 1 dimensions, got 2"),
        ((out, wide), ValueError, "destination 1: dimension 0 must be 4, got 7"),
        ((out, 3), TypeError, "destination 1: expected a tensor"),
    ):
        with pytest.raises(error, match=f"main: {message}"):
            module["main"](x, y, *destinations)
        assert not out.any() and not wide.any()  # nothing is written if one destination does not fit
    with pytest.raises(TypeError, match="expected 2 arguments, got 3"):
        module["main"](x, y, out)


# A returned parameter keeps its own memory.
def test_destinations_in_results_that_are_arguments():
    swap = compiled(TWO)["swap"]
    x, y, out = X.copy(), X + 1, np.zeros(4, np.float32)
    assert swap(x, y, y, x) is None
    assert (x.tolist(), y.tolist()) == (X.tolist(), (X + 1).tolist())
    with pytest.raises(ValueError, match="swap: destination 0: overlaps result 1"):
        swap(x, y, x, out)
    assert swap(x, y, out, y) is None
    assert (out.tolist(), y.tolist()) == ((X + 1).tolist(), X.tolist())


# --- uses of overwritten values


@pytest.mark.parametrize(
    "text",
    [
        in_place(f"%0 = {TWICE}\n%1 = relax.add %0, %x : ({T}, {T}) -> {T}", returned="%1"),
        in_place(f"%0 = {TWICE}", returned="%x"),
        # A view of the overwritten value is used.
        in_place(f"%1 = relax.match_cast %x : ({T}) -> {T}\n%0 = {TWICE}", returned="%1"),
        # The call itself uses the value again.
        in_place(f"%0 = {PLUS.replace('%y', '%x')}"),
        # A called function writes the value.
        in_place(f"%0 = relax.call @above(%x) : ({T}) -> {T}", returned="%x", rest=HELPER),
        # The write happens again in each iteration of a loop.
        in_place(
            f"""%0 = relax.while %c : (i1) -> i1 {{
            ^bb0(%a: i1):
              relax.condition %a : i1
            }} do {{
            ^bb0(%a: i1):
              %1 = {TWICE}
              relax.yield %c : i1
            }}""",
            results="i1",
            parameters=f"%x: {T}, %c: i1",
        ),
        # A loop overwrites its initial value.
        in_place(
            f"""%0 = relax.while %y : ({T}) -> {T} {{
            ^bb0(%a: {T}):
              relax.condition %c : i1
            }} do {{
            ^bb0(%x: {T}):
              %1 = {TWICE}
              relax.yield %1 : {T}
            }}""",
            returned="%y",
            parameters=f"%y: {T}, %c: i1",
        ),
    ],
)
def test_what_is_written_over_is_not_used_afterwards(text):
    with pytest.raises(RelaxError, match=r"overwrites operand \d, which (is used afterwards|it uses again)"):
        compiled(text)


# The result may be used, and so may the operand before the write, other branches, other tuple members, and sizes.
@pytest.mark.parametrize(
    "text, expected",
    [
        (in_place(f"%1 = relax.add %x, %x : ({T}, {T}) -> {T}\n%0 = {TWICE}", returned="%1"), 2 * X),
        (in_place(f"%1 = {TWICE}\n%0 = {TWICE.replace('%x', '%1')}"), 4 * X),
        (
            in_place(
                f"""%0 = relax.if %c : i1 -> {T} {{
                  %1 = {TWICE}
                  relax.yield %1 : {T}
                }} else {{
                  relax.yield %x : {T}
                }}""",
                parameters=f"%x: {T}, %c: i1",
            ),
            2 * X,
        ),
        (
            in_place(f"%1 = {TWICE}\n%0 = relax.shape_of %x : ({T}) -> !relax.shape<[n]>", results="!relax.shape<[n]>"),
            4,
        ),
        (
            in_place(
                f"%t = relax.tuple %x, %y : ({T}, {T}) -> tuple<{T}, {T}>\n%1 = {TWICE}\n"
                f"%0 = relax.get %t[1] : (tuple<{T}, {T}>) -> {T}",
                parameters=f"%x: {T}, %y: {T}",
            ),
            X + 1,
        ),
    ],
)
def test_what_may_be_used(text, expected):
    arguments = {1: (X.copy(),), 2: (X.copy(), True if "%c" in text else X + 1)}
    count = 2 if "%c" in text or "%y: tensor" in text.split("@main")[1] else 1
    result = compiled(text)["main"](*arguments[count])
    result = list(result) if isinstance(result, tvm_ffi.Shape) else to_numpy(result)
    np.testing.assert_array_equal(result, expected)


# --- depth

DEEP = f"""
relax.func @main(%k: i64, %x: {T}) -> {T} {{
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %c = arith.cmpi sgt, %k, %zero : i64
  %0 = relax.if %c : i1 -> {T} {{
    %j = arith.subi %k, %one : i64
    %r = relax.call @other(%j, %x) : (i64, {T}) -> {T}
    relax.yield %r : {T}
  }} else {{
    relax.yield %x : {T}
  }}
  relax.return %0 : {T}
}}
relax.func private @other(%k: i64, %x: {T}) -> {T} {{
  %0 = relax.call @main(%k, %x) : (i64, {T}) -> {T}
  relax.return %0 : {T}
}}"""


# Recursion is limited on the main thread and on a thread with a small stack; the module stays usable.
@pytest.mark.parametrize("stack", [None, 256 << 10, 32 << 20])
def test_endless_recursion_is_an_error(stack):
    main = compiled(DEEP)["main"]
    failures = []

    def work():
        before = runtime.pool_statistics().used
        try:
            with pytest.raises(RecursionError, match="main: calls nest too deep"):
                main(10**9, X)
            assert to_numpy(main(300, X)).tolist() == X.tolist()
            assert runtime.pool_statistics().used == before
        except BaseException as error:
            failures.append(error)

    if stack is None:
        work()
    else:
        old = threading.stack_size(stack)
        thread = threading.Thread(target=work)
        try:
            thread.start()
        finally:
            threading.stack_size(old)
        thread.join()
    assert not failures, failures


CHAIN = f"""
relax.func private @after(%f: ({T}) -> {T}, %x: {T}) -> {T} {{
  %0 = relax.call_closure %f(%x) : ({T}) -> {T} calls ({T}) -> {T}
  relax.return %0 : {T}
}}
relax.func private @same(%x: {T}) -> {T} {{
  relax.return %x : {T}
}}
relax.func @chain(%k: i64) -> (({T}) -> {T}) {{
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %f = relax.make_closure @same() : () -> (({T}) -> {T})
  %r:2 = relax.while %f, %zero : (({T}) -> {T}, i64) -> (({T}) -> {T}, i64) {{
  ^bb0(%a: ({T}) -> {T}, %i: i64):
    %c = arith.cmpi slt, %i, %k : i64
    relax.condition %c : i1
  }} do {{
  ^bb0(%a: ({T}) -> {T}, %i: i64):
    %b = relax.make_closure @after(%a) : (({T}) -> {T}) -> (({T}) -> {T})
    %j = arith.addi %i, %one : i64
    relax.yield %b, %j : ({T}) -> {T}, i64
  }}
  relax.return %r#0 : ({T}) -> {T}
}}"""


# Callables that call callables nest as deeply as they are created; so does destroying them.
def test_a_long_chain_of_callables():
    chain = compiled(CHAIN)["chain"]
    x = tvm_ffi.from_dlpack(X.copy())
    assert to_numpy(chain(300)(x)).tolist() == X.tolist()
    deep = chain(1_000_000)
    with pytest.raises(RecursionError, match="calls nest too deep"):
        deep(x)
    del deep
    gc.collect()
    assert to_numpy(chain(3)(x)).tolist() == X.tolist()


# --- messages and sizes

MATRIX = "tensor<?x?xf32, #relax.shape<[n, m]>>"


# Products of sizes, and of strides and sizes, that exceed 64 bits.
@pytest.mark.parametrize(
    "shape, strides, error, message",
    [
        ((2**31, 2**31), (0, 0), ValueError, r"sizes \[2147483648, 2147483648\] has more bytes than 63 bits"),
        ((2**62, 4), (0, 0), ValueError, "more bytes than 63 bits"),
        ((2**61, 1), (1, 1), ValueError, "more bytes than 63 bits"),
        ((2**62 + 1, 2), (0, 1), ValueError, "more bytes than 63 bits"),
        ((2**30, 2**30), (0, 0), MemoryError, "no memory"),
        ((2**22, 2**22), (0, 0), MemoryError, "no memory"),
        ((2, 2), (2**62, 1), ValueError, "strides lead beyond the address space"),
        ((2, 2), (-(2**61), -(2**61)), ValueError, "strides lead beyond the address space"),
        ((-1, 2), (2, 1), ValueError, "dimension 0 must be at least 0, got -1"),
        ((-(2**63), -(2**63)), (0, 0), ValueError, "dimension 0 must be at least 0"),
    ],
)
def test_sizes_that_no_memory_has(shape, strides, error, message):
    module = compiled(f"""
    relax.func @main(%x: {MATRIX}) -> {MATRIX} {{
      %0 = relax.add %x, %x : ({MATRIX}, {MATRIX}) -> {MATRIX}
      relax.return %0 : {MATRIX}
    }}""")
    one = np.ones(1, np.float32)
    limit = 1 << 40  # the memory that the system may promise
    runtime.set_pool_limit(limit)
    try:
        tensor = Foreign(one, shape, strides)
        for given in (tensor, tvm_ffi.from_dlpack(tensor.__dlpack__(max_version=(1, 0)))):
            with pytest.raises(error, match=message):
                module["main"](given)
        with pytest.raises(ValueError, match="destination 0"):
            module["main"](np.ones((1, 1), np.float32), Foreign(one, shape, strides))
    finally:
        runtime.set_pool_limit(None)
    x = np.ones((3, 2), np.float32)
    assert to_numpy(module["main"](Foreign(one, (3, 2), (0, 0)))).tolist() == (2 * x).tolist()


# Without elements, sizes do not matter.
@pytest.mark.parametrize("shape", [(0, 2**62), (2**62, 0), (0, 0)])
def test_sizes_beside_zero(shape):
    main = compiled(f"relax.func @main(%x: {MATRIX}) -> {MATRIX} {{\n relax.return %x : {MATRIX}\n}}")["main"]
    for strides in (None, (0, 0), (2**62, 1)):
        assert main(tvm_ffi.from_dlpack(Foreign(X, shape, strides).__dlpack__(max_version=(1, 0)))).shape == shape


def test_elements_without_memory_are_refused():
    main = compiled(f"relax.func @main(%x: {T}) -> {T} {{\n relax.return %x : {T}\n}}")["main"]
    with pytest.raises(ValueError, match="argument 0 .*its data is null"):
        main(Foreign(None, (3,), (1,)))
    assert main(Foreign(None, (0,), (1,))).shape == (0,)


def test_asserts_name_the_function():
    main = compiled("""
        relax.func @main(%c: i1, %n: i64) -> i64 {
          relax.assert %c, "of mine" : i1
          relax.return %n : i64
        }""")["main"]
    assert main(True, 3) == 3
    with pytest.raises(ValueError, match="^main: of mine"):
        main(False, 3)


# Bounds that may be negative select no elements if they are.
@pytest.mark.parametrize("start, step", [(0, 1), (2, 3), (0, -2)])
def test_arange_to_a_number_that_may_be_negative(start, step):
    bb, m = BlockBuilder(), Sym("m")
    with bb.function("main", [m], symbols={m: Range(-8, 8)}):
        bb.return_(op.arange(start, m, step, dtype="i64"))
    main = relax_mlir.compile(bb.module())["main"]
    for stop in range(-8, 9):
        assert to_numpy(main(stop)).tolist() == list(range(start, stop, step))

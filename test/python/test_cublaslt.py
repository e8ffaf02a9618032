# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matmuls by cuBLASLt, for which test/emulator has a substitute."""

import dataclasses
import gc

import ml_dtypes
import numpy as np
import pytest
from emulated import EMULATOR, calls, failing, objects, run_python

import relax_mlir
from relax_mlir import BlockBuilder, Device, DeviceError, RelaxError, Sym, Target, Tensor, op

ALGORITHM, PRODUCT = "cublasLtMatmulAlgoGetHeuristic", "cublasLtMatmul"
TARGET = Target.cuda("emulated", libraries=["cublaslt"])
TYPES = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}
ACTIVATIONS = {
    "": lambda x: x,
    "relu": lambda x: np.maximum(x, 0),
    "gelu_tanh": lambda x: x * (1 + np.tanh(0.7978845608 * (x + 0.044715 * x**3))) / 2,
}


@pytest.fixture(scope="module", autouse=True)
def library():
    patch = pytest.MonkeyPatch()
    patch.setenv("RELAX_CUBLASLT", str(EMULATOR))
    yield
    patch.undo()


@pytest.fixture(scope="module")
def device():
    return Device("cuda")


def model(dtype="f32", activation="", bias=False, matmul=False, width=24):
    """`activation(x @ w' + bias)`, with rows in two dimensions."""
    bb, (b, n) = BlockBuilder(), (Sym("b"), Sym("n"))
    x, w = Tensor((b, n, 16), dtype), Tensor((16, width) if matmul else (width, 16), dtype)
    v = Tensor((width,), dtype)
    with bb.function("main", [x, w, v]):
        y = op.matmul(x, w) if matmul else op.linear(x, w)
        y = op.add(y, v) if bias else y
        bb.return_(getattr(op, activation)(y) if activation else y)
    return bb.module()


def arguments(dtype="f32", matmul=False, sizes=(2, 3), width=24):
    generator = np.random.default_rng(0)
    shapes = [(*sizes, 16), (16, width) if matmul else (width, 16), (width,)]
    return [generator.standard_normal(shape).astype(TYPES[dtype]) for shape in shapes]


def expected(x, w, v, activation="", bias=False, matmul=False):
    x, w, v = (value.astype(np.float64) for value in (x, w, v))
    return ACTIVATIONS[activation](x @ (w if matmul else w.T) + (v if bias else 0))


@pytest.mark.parametrize(
    "dtype, activation, bias, matmul",
    [
        ("f32", "", False, False),
        ("f32", "relu", False, True),
        ("f16", "", True, False),
        ("f16", "gelu_tanh", False, False),
        ("bf16", "relu", True, False),
        ("bf16", "gelu_tanh", True, True),
    ],
)
def test_products(device, dtype, activation, bias, matmul):
    main = relax_mlir.compile(model(dtype, activation, bias, matmul), target=TARGET)["main"]
    before = calls(PRODUCT)
    for sizes in [(2, 3), (1, 1), (0, 5)]:
        values = arguments(dtype, matmul, sizes)
        result = device.get(main(*map(device.put, values)))
        tolerance = {"f32": 1e-5, "f16": 5e-3, "bf16": 4e-2}[dtype]
        np.testing.assert_allclose(
            result.astype(np.float64), expected(*values, activation, bias, matmul), tolerance, tolerance
        )
    assert calls(PRODUCT) == before + 2  # no call for zero rows


# For a known shape, the library is only called for the matmul.
def test_an_algorithm_is_chosen_once_for_a_shape(device):
    main = relax_mlir.compile(model(width=40), target=TARGET)["main"]
    values = [device.put(value) for value in arguments(width=40)]
    main(*values)
    counts = calls(ALGORITHM), calls(PRODUCT)
    main(*values)
    assert (calls(ALGORITHM), calls(PRODUCT)) == (counts[0], counts[1] + 1)
    main(*map(device.put, arguments(width=40, sizes=(5, 3))))
    assert calls(ALGORITHM) == counts[0] + 1


# Scratch memory is planned: two consecutive matmuls share one storage.
def test_scratch_memory_is_planned():
    bb, n = BlockBuilder(), Sym("n")
    x, w = Tensor((n, 16)), Tensor((16, 16))
    with bb.function("main", [x, w]):
        bb.return_(op.matmul(op.matmul(op.matmul(x, w), w), w))
    plan = relax_mlir.compile_code(bb.module(), TARGET).memory["main"]
    assert plan["unplanned_bytes"] == f"192*n + {3 << 25}"
    assert plan["planned_bytes"] == f"192*n + {1 << 25}"


# Replays of a graph multiply the current elements.
def test_products_are_captured(device):
    executable = relax_mlir.compile(model(bias=True, activation="relu"), target=TARGET)
    main = executable.captured("main")
    x, w, v = arguments()
    there, out = [device.put(value) for value in (x, w, v)], device.put(np.zeros((2, 3, 24), np.float32))
    for step in range(4):
        device.write(x + step, there[0])
        main(*there, out)
        np.testing.assert_allclose(device.get(out), expected(x + step, w, v, "relu", True), 1e-5, 1e-5)
    assert main.statistics().captures == 1 and main.statistics().replays == 3


# The number of rows decides which of two versions of the function is called.
def test_only_where_it_is_faster(device):
    target = dataclasses.replace(TARGET, libraries=("cublaslt:auto",))
    main = relax_mlir.compile(model(bias=True), target=target).captured("main")
    for sizes, count in [((2, 3), 0), ((4, 4), 1), ((0, 4), 0), ((3, 5), 0), ((1, 40), 1)]:  # from 16 rows on, in f32
        values = arguments(sizes=sizes)
        before = calls(PRODUCT)
        for _ in range(3):  # the first one runs, the second one is captured
            result = device.get(main(*map(device.put, values)))
            np.testing.assert_allclose(result, expected(*values, bias=True), 1e-5, 1e-5)
        assert (calls(PRODUCT) > before) == count


def test_libraries_are_named():
    target = Target.parse("cuda:sm_90+cublaslt:auto")
    assert (target.chip, target.libraries) == ("sm_90", ("cublaslt:auto",))
    assert Target(**dataclasses.asdict(target)) == target
    for name in ("cpu+cublaslt", "cuda:sm_90+cublas"):
        with pytest.raises(RelaxError, match="there is no library"):
            Target.parse(name)


def test_unknown_libraries_are_refused():
    for arguments in [("cuda:sm_90", ("cublas",)), ("cpu", ("cublaslt",))]:
        with pytest.raises(RelaxError, match="there is no library '.*' for this target"):
            dataclasses.replace(Target.parse(arguments[0]), libraries=arguments[1])


FAILURES = [
    (PRODUCT, 13, DeviceError),
    (PRODUCT, 3, MemoryError),
    (ALGORITHM, 15, DeviceError),
    ("cublasLtMatmulDescCreate", 3, MemoryError),
    ("cublasLtMatrixLayoutCreate", 7, DeviceError),
]


@pytest.mark.parametrize("case", range(len(FAILURES)))
def test_failures_are_errors_and_leak_nothing(device, case):
    function, code, error = FAILURES[case]
    width = 56 + 8 * case  # a new shape
    main = relax_mlir.compile(model(width=width), target=TARGET)["main"]
    values = [device.put(value) for value in arguments(width=width)]
    gc.collect()
    used, held = device.memory_statistics().used, objects()
    with failing(function, code):
        for _ in range(20):
            with pytest.raises(error, match="of cuBLASLt failed on cuda:0: status"):
                main(*values)
    assert device.memory_statistics().used == used
    if function != PRODUCT:  # the plan of the matmul is kept
        assert objects() == held
    np.testing.assert_allclose(device.get(main(*values)), expected(*arguments(width=width)), 1e-5, 1e-5)


# Without the library, the call fails, and the error says what to do.
def test_a_missing_library_is_an_error():
    program = """
import numpy as np, relax_mlir, test_cublaslt as t
device = relax_mlir.Device("cuda")
main = relax_mlir.compile(t.model(), target=t.TARGET)["main"]
for _ in range(2):
    try:
        main(*map(device.put, t.arguments()))
    except relax_mlir.DeviceError as error:
        assert "the code calls cuBLASLt, which cannot be loaded" in str(error), error
        assert "name it in RELAX_CUBLASLT, or compile without it" in str(error), error
        print("refused")
"""
    run = run_python(program, RELAX_CUBLASLT="/nowhere/libcublasLt.so")
    assert run.stdout.split() == ["refused", "refused"], run.stderr

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""NaN, infinities, signed zeros, subnormals and integer limits: every op gives the same results as NumPy.

Each op that computes elements, converts, sorts or reduces is run with all special values of each supported element type
(with all pairs of them), as whole vectors and one by one, and again with constants, for folders. NumPy's results come
from the tables of the kernel tests. An op of the dialect that is missing from all tables fails
`test_every_op_is_here`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable

import numpy as np
import op_table
import pytest
import special_values as special
import targets
import test_legalize_elementwise as tables
from elements import TOLERANCES
from special_values import ALL_DTYPES, grid, is_float, pairs
from targets import COMPILED as RUNS_ON  # noqa: F401

import relax_mlir
from relax_mlir.pipelines import Pipeline, Simplify

ONE_OF = 8  # all ops by all element types

#
# Computed ops
#

SAME_AS_NUMPY = {
    "abs", "negative", "sign", "square", "sqrt", "ceil", "floor", "round", "trunc", "relu", "add", "subtract",
    "multiply", "divide", "floor_divide", "floor_mod", "mod", "maximum", "minimum", "clip",
}  # fmt: skip
"""Float ops that are exact or correctly rounded: results are bitwise equal to NumPy's."""

ZERO_SIGNS = {
    "maximum": "of 0 and -0 it is either, as processors choose; in NumPy as well",
    "minimum": "as maximum",
    "relu": "as maximum",
    "clip": "as maximum and minimum",
}
"""Ops whose zeros may differ in sign from NumPy's, and the reasons."""


UNARY, BINARY = tables.UNARY, tables.BINARY
REFERENCES: dict[str, Callable[..., np.ndarray]] = {
    **{text: entry[0] for text, entry in UNARY.items()},
    **{text: entry[0] for text, entry in BINARY.items()},
}

IN_OTHER_TESTS = {
    "ewise_fma", "prelu", "where", "astype", "clip", "softmax", "log_softmax", "sum", "prod", "mean", "variance", "std",
    "max", "min", "logsumexp", "any", "all", "argmax", "argmin", "cumsum", "cumprod", "sort", "argsort", "topk",
    "unique", "nonzero", "bucketize", "quantize", "dequantize",
}  # fmt: skip
"""Ops whose special values are covered by separate tests below."""

MOVE_OR_SUM = {
    # Elements are moved unchanged.
    "full", "full_like", "zeros", "zeros_like", "ones", "ones_like", "arange", "eye", "tril", "triu", "meshgrid",
    "reshape", "flatten", "broadcast_to", "permute_dims", "expand_dims", "squeeze", "concat", "stack", "split",
    "repeat", "tile", "flip", "reverse_sequence", "strided_slice", "dynamic_strided_slice", "slice_scatter", "take",
    "gather_elements", "gather_nd", "scatter_elements", "scatter_nd", "index_tensor", "index_put", "one_hot", "pad",
    "pixel_shuffle",
    # Combinations of `multiply` and `add`, in an unspecified order.
    "matmul", "linear", "outer", "einsum", "conv1d", "conv2d", "conv3d", "conv1d_transpose", "conv2d_transpose",
    "conv3d_transpose", "attention", "collapse_sum_to", "collapse_sum_like", "avg_pool1d", "avg_pool2d", "avg_pool3d",
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "max_pool1d", "max_pool2d", "max_pool3d",
    "layer_norm", "rms_norm", "group_norm", "instance_norm", "batch_norm", "rotary_embedding", "resize2d",
    # Compositions of ops (test_composed_ops.py).
    "transpose", "roll", "bmm", "masked_select", "scatter_add", "cummax", "cummin", "grid_sample", "roi_align", "nms",
    # Programs of several ops.
    "scan", "chain", "mlp", "norm",
}  # fmt: skip
"""Ops without their own special values."""


CANCEL = {"sigmoid", "silu", "gelu", "gelu_tanh", "selu", "softplus"}
"""Functions computed as sums or overflowing quotients: far out, errors are small relative to 1, not to the result."""


def name_of(text: str) -> str:
    return text.partition(" ")[0]


def accuracy(name: str, dtype: str) -> float:
    """The tolerance of a finite result."""
    if name in SAME_AS_NUMPY:
        return 0.0
    # For 8-bit floats, the neighboring value.
    return max(TOLERANCES.get(dtype, 2 * float(special.finfo(dtype).eps)), 1e-9)


def expected_of(text: str, dtype: str, *operands: np.ndarray) -> np.ndarray:
    """NumPy's results in the kernels' compute type, rounded to the result type."""
    name = name_of(text)
    if is_float(dtype):
        kind = np.float32 if dtype != "f64" else np.float64
        if dtype != "f64" and name not in SAME_AS_NUMPY and name not in tables.PREDICATES:
            kind = np.float64
        if dtype == "f64" and name in CANCEL:
            kind = np.longdouble  # intermediate results do not overflow
        operands = tuple(operand.astype(kind) for operand in operands)
    with np.errstate(all="ignore"):
        result = np.asarray(REFERENCES[text](*operands))
        if name in tables.PREDICATES or dtype == "i1":
            return result.astype(np.bool_)
        if not is_float(dtype):
            bits = 8 * np.dtype(ALL_DTYPES[dtype]).itemsize
            wrapped = [int(value) & ((1 << bits) - 1) for value in result.ravel()]
            unsigned = np.array(wrapped, np.uint64).astype(f"u{bits // 8}")
            return unsigned.view(ALL_DTYPES[dtype]).reshape(result.shape)
        return result.astype(ALL_DTYPES[dtype])


#
# Programs
#


def operand_type(dims: str, dtype: str) -> str:
    return f"tensor<{'x'.join('?' for _ in dims.split())}x{dtype}, #relax.shape<[{', '.join(dims.split())}]>>"


def function_of(name: str, text: str, dtype: str) -> str:
    """A function of one op on tensors of n elements."""
    op, _, attributes = text.partition(" ")
    operand = operand_type("n", dtype)
    result = operand_type("n", "i1") if op in tables.PREDICATES else operand
    names = ["%x", "%y"][: 2 if text in BINARY else 1]
    return f"""
        relax.func @{name}({", ".join(f"{x}: {operand}" for x in names)}) -> {result} {{
          %0 = relax.{op} {", ".join(names)} {attributes} : ({", ".join([operand] * len(names))}) -> {result}
          relax.return %0 : {result}
        }}"""


@functools.cache
def takes(text: str, dtype: str) -> bool:
    """Whether the op supports the element type."""
    try:
        relax_mlir.parse(function_of("main", text, dtype))
    except relax_mlir.RelaxError:
        return False
    return True


def identifier(text: str) -> str:
    return re.sub(r"\W+", "_", text).strip("_")


@functools.cache
def program(dtype: str, target: str) -> targets.Call:
    """A program with each op that supports the type."""
    functions = [function_of(identifier(text), text, dtype) for text in REFERENCES if takes(text, dtype)]
    return targets.LOADERS[target]("\n".join(functions))


def cases() -> list:
    return [
        pytest.param(text, dtype, id=f"{identifier(text)}-{dtype}")
        for text in REFERENCES
        for dtype in ALL_DTYPES
        if takes(text, dtype)
    ]


#
# Elements
#


# A new op of the dialect must be added here, or listed as having no special values.
def test_every_op_is_here():
    known = {name_of(text) for text in REFERENCES} | IN_OTHER_TESTS | MOVE_OR_SUM
    names = {case.name.partition("-")[0] for case in op_table.CASES.values()}
    assert names - known == set()
    assert known - names == set()


@pytest.mark.parametrize(("text", "dtype"), cases())
def test_elements(text, dtype):
    """Whole vectors, and one by one."""
    name, run = name_of(text), program(dtype, targets.current)
    values = grid(dtype)
    operands = pairs(values) if text in BINARY else (values,)
    expected = expected_of(text, dtype, *operands)
    result = "i1" if name in tables.PREDICATES else dtype
    tolerance = accuracy(name, dtype) if is_float(dtype) else 0.0
    problems = []
    for step in (len(operands[0]), 1):
        # If there are many pairs, only a part of them is run one by one.
        places = range(0, len(operands[0]), step if step > 1 else max(1, len(operands[0]) // 199))
        parts = [run(identifier(text), *(x[i : i + step] for x in operands))[0] for i in places]
        actual = np.concatenate(parts)
        at = np.concatenate([np.arange(len(operands[0]))[i : i + step] for i in places])
        margin = 1e-7 if name in CANCEL else 0.0
        equal = special.same(actual, expected[at], result, tolerance, name not in ZERO_SIGNS, margin)
        problems.append(special.report(name, equal, actual, expected[at], *(x[at] for x in operands)))
    assert not any(problems), "\n".join(problems)


# Conversions between all element types: rounding once, saturation, and wraparound.
@pytest.mark.parametrize("source", ALL_DTYPES)
def test_astype(source):
    run = conversions(source, targets.current)
    problems = []
    for to in ALL_DTYPES:
        x = grid(source)
        expected = special.converted(x, to)
        for step in (len(x), 1):
            actual = np.concatenate([run(f"to_{to}", x[i : i + step])[0] for i in range(0, len(x), step)])
            equal = special.same(actual, expected, to, 0.0)
            problems.append(special.report(f"{source} to {to} ", equal, actual, expected, x))
    assert not any(problems), "\n".join(filter(None, problems))


@functools.cache
def conversions(source: str, target: str) -> targets.Call:
    operand = operand_type("n", source)
    return targets.LOADERS[target](
        "\n".join(
            f"""relax.func @to_{to}(%x: {operand}) -> {operand_type("n", to)} {{
              %0 = relax.astype %x {{dtype = {to}}} : ({operand}) -> {operand_type("n", to)}
              relax.return %0 : {operand_type("n", to)}
            }}"""
            for to in ALL_DTYPES
        )
    )


# Three operands: unselected values do not matter, and products with zero are NaN as in NumPy.
@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16", "f64", "i8", "i32", "ui64"])
def test_three_operands(dtype):
    operand, flags = operand_type("n", dtype), operand_type("n", "i1")
    prelu = f"""relax.func @prelu(%x: {operand}, %y: {operand}) -> {operand} {{
              %0 = relax.prelu %x, %y axis 0 : ({operand}, {operand}) -> {operand}
              relax.return %0 : {operand}
            }}"""
    run = targets.load(f"""relax.func @where(%c: {flags}, %x: {operand}, %y: {operand}) -> {operand} {{
              %0 = relax.where %c, %x, %y : ({flags}, {operand}, {operand}) -> {operand}
              relax.return %0 : {operand}
            }}
            relax.func @ewise_fma(%x: {operand}, %y: {operand}, %z: {operand}) -> {operand} {{
              %0 = relax.ewise_fma %x, %y, %z : ({operand}, {operand}, {operand}) -> {operand}
              relax.return %0 : {operand}
            }}
            {prelu if is_float(dtype) else ""}""")
    x, y = pairs(grid(dtype))
    c = np.random.default_rng(0).random(len(x)) < 0.5
    kind = {"f64": np.float64, "i8": np.int8, "i32": np.int32, "ui64": np.uint64}.get(dtype, np.float32)
    a, b, z = (value.astype(kind) for value in (x, y, np.roll(x, 3)))
    with np.errstate(all="ignore"):
        cases = [("where", (c, x, y), np.where(c, x, y), 0.0)]
        cases.append(("ewise_fma", (x, y, np.roll(x, 3)), (a * b + z).astype(ALL_DTYPES[dtype]), 1e-6))
        if is_float(dtype):
            cases.append(("prelu", (x, y), np.where(a > 0, a, a * b).astype(ALL_DTYPES[dtype]), 0.0))
    for name, operands, expected, tolerance in cases:
        (actual,) = run(name, *operands)
        equal = special.same(actual, expected, dtype, tolerance, zero_signs=name != "ewise_fma")
        assert not (found := special.report(name, equal, actual, expected, *operands)), found


#
# Rows
#


def rows(dtype: str) -> np.ndarray:
    """All triples of special values, as rows."""
    kind = ALL_DTYPES[dtype]
    if dtype == "i1":
        values = np.array([False, True])
    elif is_float(dtype):
        values = np.array([0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan, 3.0]).astype(kind)
    else:
        values = special.few(dtype)
    return np.stack([x.ravel() for x in np.meshgrid(values, values, values, indexing="ij")], axis=1)


def long_rows(dtype: str) -> np.ndarray:
    """Rows of many blocks with one or two special values in them, at either end and within."""
    base = np.resize(np.array([1.0, -0.5, 0.25, 2.0, -3.0, 0.0]), 3017)
    made = []
    for some in ((np.inf,), (-np.inf,), (np.nan,), (np.inf, -np.inf), (np.inf, np.nan), (np.nan, np.nan), ()):
        for places in ((0, 3016), (3016, 5), (1500, 1501), (40, 2800)):
            row = base.copy()
            row[list(places[: len(some)])] = some
            made.append(row)
    return np.array(made).astype(ALL_DTYPES[dtype])


def logsumexp(x: np.ndarray, axis: int) -> np.ndarray:
    return np.logaddexp.reduce(x, axis=axis)


def softmax(x: np.ndarray, axis: int) -> np.ndarray:
    powers = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return powers / np.sum(powers, axis=axis, keepdims=True)


def log_softmax(x: np.ndarray, axis: int) -> np.ndarray:
    shifted = x - np.max(x, axis=axis, keepdims=True)
    return shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))


FLOATS = ("f32", "f16", "bf16", "f64")
INTEGERS = ("i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64")
ROWS = {
    "sum": (np.sum, FLOATS + INTEGERS),
    "prod": (np.prod, FLOATS + INTEGERS),
    "mean": (np.mean, FLOATS),
    "variance": (np.var, FLOATS),
    "std": (np.std, FLOATS),
    "max": (np.max, FLOATS + INTEGERS),
    "min": (np.min, FLOATS + INTEGERS),
    "logsumexp": (logsumexp, FLOATS),
    "any": (np.any, ("i1",)),
    "all": (np.all, ("i1",)),
    "argmax": (np.argmax, FLOATS + INTEGERS),
    "argmin": (np.argmin, FLOATS + INTEGERS),
    "cumsum": (np.cumsum, FLOATS + INTEGERS),
    "cumprod": (np.cumprod, FLOATS + INTEGERS),
    "softmax": (softmax, FLOATS),
    "log_softmax": (log_softmax, FLOATS),
}
"""Ops along an axis, NumPy's results, and the supported types. Signs of zeros are not compared: a sum starts from
0, and it is unspecified which zero is the greatest, also in NumPy."""
KEEP_DIMS = {"cumsum", "cumprod", "softmax", "log_softmax"}


@functools.cache
def row_program(dtype: str, target: str) -> targets.Call:
    functions = []
    for name, (_, dtypes) in ROWS.items():
        for axis in (0, 1):
            if dtype not in dtypes:
                continue
            operand = operand_type("n m", dtype)
            element = "i64" if name.startswith("arg") else dtype
            result = operand if name in KEEP_DIMS else operand_type("m" if axis == 0 else "n", element)
            given = f"[{axis}]" if name in list(ROWS)[:10] else axis
            axis_of = f"{{axis = {axis}}}" if name.endswith("softmax") else f"axis {given}"
            functions.append(f"""
                relax.func @{name}_{axis}(%x: {operand}) -> {result} {{
                  %0 = relax.{name} %x {axis_of} : ({operand}) -> {result}
                  relax.return %0 : {result}
                }}""")
    return targets.LOADERS[target]("\n".join(functions))


@pytest.mark.parametrize(("name", "dtype"), [(name, dtype) for name, (_, dtypes) in ROWS.items() for dtype in dtypes])
def test_rows(name, dtype):
    """Softmax along rows and columns, short and long ones."""
    inputs = [rows(dtype)]
    if is_float(dtype) and name not in ("prod", "cumprod"):
        inputs.append(long_rows(dtype))
    for x in inputs:
        for axis in (0, 1):
            given = np.ascontiguousarray(x if axis == 1 else x.T)
            numbers = special.wide(given)
            with np.errstate(all="ignore"):
                expected = ROWS[name][0](numbers, axis=axis)
                kind = np.int64 if name.startswith("arg") else ALL_DTYPES[dtype]
                expected = np.asarray(expected).astype(kind)
            (actual,) = row_program(dtype, targets.current)(f"{name}_{axis}", given)
            tolerance = max(TOLERANCES[dtype], 1e-9) if is_float(dtype) else 0.0
            element = "i64" if name.startswith("arg") else dtype
            equal = special.same(actual, expected, element, tolerance, zero_signs=False)
            places = np.broadcast_to(np.arange(x.shape[0]), equal.shape) if equal.ndim == 1 else np.arange(equal.size)
            found = special.report(f"{name} along {axis} of row ", equal, actual, expected, places)
            assert not found, found + f"\nrow: {x[np.flatnonzero(~equal)[0]] if equal.ndim == 1 else ''}"


#
# Order
#


def shuffled(dtype: str) -> np.ndarray:
    """All special values, twice, shuffled."""
    values = grid(dtype)
    return np.random.default_rng(len(values)).permutation(np.concatenate([values, values, values[-4:]]))


ORDER_DTYPES = (*FLOATS, *INTEGERS, "i1")


@functools.cache
def order_program(dtype: str, target: str) -> targets.Call:
    x, counted, index = operand_type("n", dtype), f"tensor<?x{dtype}>", operand_type("n", "i64")
    functions = []
    for word in ("", "descending"):
        functions.append(f"""relax.func @sort{word}(%x: {x}) -> ({x}, {index}) {{
              %0 = relax.sort %x axis 0 {word} : ({x}) -> {x}
              %1 = relax.argsort %x axis 0 {word} {{dtype = i64}} : ({x}) -> {index}
              relax.return %0, %1 : {x}, {index}
            }}""")
    for largest in ("true", "false"):
        functions.append(f"""relax.func @topk_{largest}(%x: {x}) -> (tensor<3x{dtype}>, tensor<3xi64>) {{
              %0:2 = relax.topk %x k 3 axis 0 {{largest = {largest}, dtype = i64}}
                : ({x}) -> (tensor<3x{dtype}>, tensor<3xi64>)
              relax.return %0#0, %0#1 : tensor<3x{dtype}>, tensor<3xi64>
            }}""")
    functions.append(f"""relax.func @unique(%x: {x}) -> ({counted}, tensor<?xi64>, {index}, tensor<?xi64>) {{
              %0:4 = relax.unique %x return_index return_inverse return_counts
                : ({x}) -> ({counted}, tensor<?xi64>, {index}, tensor<?xi64>)
              relax.return %0#0, %0#1, %0#2, %0#3 : {counted}, tensor<?xi64>, {index}, tensor<?xi64>
            }}
            relax.func @nonzero(%x: {x}) -> tensor<1x?xi64> {{
              %0 = relax.nonzero %x : ({x}) -> tensor<1x?xi64>
              relax.return %0 : tensor<1x?xi64>
            }}""")
    if dtype != "i1":
        for right in ("", "right"):
            bounds = operand_type("m", dtype)
            functions.append(f"""relax.func @bucketize{right}(%x: {x}, %b: {bounds}) -> {index} {{
                  %0 = relax.bucketize %x, %b {{{right}}} : ({x}, {bounds}) -> {index}
                  relax.return %0 : {index}
                }}""")
    return targets.LOADERS[target]("\n".join(functions))


# NaN is larger than all numbers, and counts as one value; zeros are equal, and keep their order.
@pytest.mark.parametrize("dtype", ORDER_DTYPES)
def test_order(dtype):
    run, x = order_program(dtype, targets.current), shuffled(dtype)
    numbers = special.wide(x)
    distinct, first, inverse, counts = np.unique(numbers, return_index=True, return_inverse=True, return_counts=True)
    for word in ("", "descending"):
        order = np.argsort(-inverse if word else inverse, kind="stable")
        values, places = run(f"sort{word}", x)
        np.testing.assert_array_equal(places, order)
        assert special.same(values, x[order], dtype, 0.0).all()
        values, places = run(f"topk_{'true' if word else 'false'}", x)
        np.testing.assert_array_equal(places, order[:3])
        assert special.same(values, x[order[:3]], dtype, 0.0).all()
    results = run("unique", x)
    assert special.same(results[0], x[first], dtype, 0.0).all() and len(results[0]) == len(distinct)
    for actual, expected in zip(results[1:], (first, inverse, counts), strict=True):
        np.testing.assert_array_equal(actual, expected)
    np.testing.assert_array_equal(run("nonzero", x)[0][0], np.flatnonzero(numbers != 0))
    if dtype == "i1":
        return
    for bounds in (np.sort(numbers), np.sort(numbers)[::3], distinct[:1], distinct[-1:], np.sort(numbers)[:0]):
        for side in ("", "right"):
            expected = np.searchsorted(bounds, numbers, side=side or "left")
            (actual,) = run(f"bucketize{side}", x, bounds.astype(x.dtype))
            np.testing.assert_array_equal(actual, expected, err_msg=f"{side} {bounds}")


# A quotient is clamped to the type, and NaN becomes zero.
@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16", "f64"])
@pytest.mark.parametrize("to", INTEGERS)
def test_quantize(to, dtype):
    x, result = operand_type("n", dtype), operand_type("n", to)
    run = targets.load(f"""relax.func @main(%x: {x}, %s: tensor<{dtype}>) -> {result} {{
          %0 = relax.quantize %x, %s {{out_dtype = {to}}} : ({x}, tensor<{dtype}>) -> {result}
          relax.return %0 : {result}
        }}""")
    values = grid(dtype)
    for scale in (1.0, 0.0, np.inf, np.nan, -1.0):
        wide = np.float64 if dtype == "f64" or to[-2:] in ("32", "64") else np.float32
        with np.errstate(all="ignore"):
            quotient = np.rint(values.astype(wide) / np.asarray(scale).astype(values.dtype).astype(wide))
        expected = special.converted(quotient, to)
        (actual,) = run("main", values, np.asarray(scale).astype(values.dtype))
        found = special.report("quantize", actual == expected, actual, expected, values)
        assert not found, found


#
# Constants
#


def constant(name: str, value: np.generic, dtype: str, size: int) -> str:
    return f"%{name} = relax.constant dense<{special.attribute(value, dtype)}> : tensor<{size}x{dtype}>"


def folded(module: relax_mlir.Module, dtype: str) -> dict[str, np.ndarray]:
    """The result of each function that folders reduced to a constant."""
    found = {}
    for function in module.ir.body.operations:
        *_, returned = function.operation.regions[0].blocks[0].operations
        owner = returned.operation.operands[0].owner
        if getattr(owner, "name", "") == "relax.constant":
            splat = owner.attributes["value"].get_splat_value().value
            found[function.operation.attributes["sym_name"].value] = np.array(splat).astype(ALL_DTYPES[dtype])
    return found


# Folders and kernels compute bitwise the same results.
@pytest.mark.parametrize(("text", "dtype"), cases())
def test_folds(text, dtype):
    op, _, attributes = text.partition(" ")
    result = "i1" if op in tables.PREDICATES else dtype
    values = special.few(dtype)
    operands = pairs(values) if text in BINARY else (values,)
    operand = f"tensor<1x{dtype}>"
    functions = []
    for index, numbers in enumerate(zip(*operands, strict=True)):
        names = ["x", "y"][: len(operands)]
        lines = [constant(name, number, dtype, 1) for name, number in zip(names, numbers, strict=True)]
        functions.append(f"""relax.func @f{index}() -> tensor<1x{result}> {{
              {" ".join(lines)}
              %0 = relax.{op} {", ".join(f"%{name}" for name in names)} {attributes}
                : ({", ".join([operand] * len(names))}) -> tensor<1x{result}>
              relax.return %0 : tensor<1x{result}>
            }}""")
    module = relax_mlir.parse("\n".join(functions))
    Pipeline([Simplify()]).run(module)
    expected = program(dtype, targets.current)(identifier(text), *operands)[0]
    for name, actual in folded(module, result).items():
        index = int(name[1:])
        equal = special.same(actual.reshape(1), expected[index : index + 1], result, 0.0)
        found = special.report(f"folded {op}", equal, actual, expected[index], *(x[index] for x in operands))
        assert not found, found


# A kernel that contains a constant, which later folders see, computes the same.
@pytest.mark.parametrize(("text", "dtype"), cases())
def test_constants_in_kernels(text, dtype):
    op, _, attributes = text.partition(" ")
    result = "i1" if op in tables.PREDICATES else dtype
    values = special.few(dtype)
    constants = values if len(values) < 8 else values[[0, 1, 2, 3, 4, 6, 7, 8]]
    if targets.current.startswith("vulkan"):  # in lavapipe, zero times anything is zero (docs/vulkan.md)
        constants = constants[special.wide(constants) != 0]
    operand, whole = operand_type("n", dtype), operand_type("n", result)
    functions, calls = [], []
    for index, number in enumerate(constants):
        lines = constant("c", number, dtype, 1)
        sides = ("cx", "xc", "cc") if text in BINARY else ("c",)
        for side in sides:
            types = [operand if letter == "x" else f"tensor<1x{dtype}>" for letter in side]
            made = whole if "x" in side else f"tensor<1x{result}>"
            names = ", ".join(f"%{letter}" for letter in side)
            functions.append(f"""relax.func @{side}{index}(%x: {operand}) -> {made} {{
                  {lines}
                  %0 = relax.{op} {names} {attributes} : ({", ".join(types)}) -> {made}
                  relax.return %0 : {made}
                }}""")
            calls.append((f"{side}{index}", [values if letter == "x" else number for letter in side]))
    run = targets.load("\n".join(functions))
    direct = program(dtype, targets.current)
    tolerance = accuracy(op, dtype) if is_float(dtype) else 0.0
    for name, parts in calls:
        size = len(values) if "x" in name else 1
        operands = [np.broadcast_to(part, (size,)).copy() for part in parts]
        (expected,), (actual,) = direct(identifier(text), *operands), run(name, values)
        equal = special.same(actual, expected, result, tolerance, op not in ZERO_SIGNS)
        found = special.report(f"{op} {name}", equal, actual, expected, *operands)
        assert not found, found

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scheduled kernels give the same results as NumPy, at sizes around every block and vector size."""

import math

import numpy as np
import pytest
from kernels import Kernel, function, generic, tensor

ROWS = (0, 1, 2, 3, 5, 6, 7, 13, 33, 64, 65)
MULTIPLY_ADD = "%p = arith.mulf %a, %b : f32\n    %s = arith.addf %acc, %p : f32\n    linalg.yield %s : f32"
ADD = "%s = arith.addf %acc, %a : f32\n    linalg.yield %s : f32"
MAXIMUM = "%s = arith.maximumf %acc, %a : f32\n    linalg.yield %s : f32"


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def random(rng, *shape):
    return rng.standard_normal(shape).astype(np.float32)


def matmul(k: int | str, n: int | str, transposed: bool = False) -> str:
    """x @ w + bias, then ReLU; with a dynamic number of rows."""
    x, out = tensor(("?", k)), tensor(("?", n))
    w = tensor((n, k) if transposed else (k, n))
    bias = tensor((n,))
    body = f"%f = linalg.fill ins(%zero : f32) outs(%out : {out}) -> {out}"
    at = "n, k" if transposed else "k, n"
    body += generic("%m", "m, n, k", "ppr", [("%x", x, "m, k"), ("%w", w, at)], ("%f", out, "m, n"), MULTIPLY_ADD)
    epilogue = "%s = arith.addf %a, %b : f32\n    %t = arith.maximumf %s, %zero : f32\n    linalg.yield %t : f32"
    body += generic("%r", "m, n", "pp", [("%m", out, "m, n"), ("%b", bias, "n")], ("%out", out, "m, n"), epilogue)
    return function([("%x", x), ("%w", w), ("%b", bias), ("%out", out)], [out], ["%r"], body)


@pytest.mark.parametrize("bits", [512, 256, 128])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("k, n", [(48, 40), (7, 130), (64, 64), ("?", "?"), (1, 1)])
def test_matmul(rng, k, n, transposed, bits):
    """Static and dynamic widths that are not multiples of a vector or block, for three vector widths."""
    kernel = Kernel(matmul(k, n, transposed), f"vector-bits={bits}")
    assert "vector<" in kernel.loops and "memref.alloc(" not in kernel.loops
    shapes = [(k, n)] if k != "?" else [(3, 5), (17, 64), (65, 129), (0, 4)]
    for depth, width in shapes:
        w, bias = random(rng, depth, width), random(rng, width)
        for rows in ROWS:
            x, out = random(rng, rows, depth), np.full((rows, width), np.nan, np.float32)
            kernel(x, np.ascontiguousarray(w.T) if transposed else w, bias, out)
            np.testing.assert_allclose(out, np.maximum(x @ w + bias, 0), rtol=1e-4, atol=1e-4)


def test_packed_half_weights(rng):
    """f16 weights in panels of 64 columns, which the body extends."""
    x, w, out = tensor(("?", 96)), tensor((2, 96, 64), "f16"), tensor(("?", 2, 64))
    body = f"%f = linalg.fill ins(%zero : f32) outs(%out : {out}) -> {out}"
    extend = "%e = arith.extf %b : f16 to f32\n    " + MULTIPLY_ADD.replace("%b", "%e")
    operands = [("%x", x, "m, k"), ("%w", w, "b, k, n")]
    body += generic("%r", "b, m, n, k", "pppr", operands, ("%f", out, "m, b, n"), extend)
    kernel = Kernel(function([("%x", x), ("%w", w), ("%out", out)], [out], ["%r"], body))
    weights = random(rng, 2, 96, 64).astype(np.float16)
    for rows in ROWS:
        x, out = random(rng, rows, 96), np.full((rows, 2, 64), np.nan, np.float32)
        kernel(x, weights, out)
        np.testing.assert_allclose(out, np.einsum("mk,bkn->mbn", x, weights.astype(np.float32)), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("bits", [512, 256, 128])
@pytest.mark.parametrize("element", ["f32", "f16"])
@pytest.mark.parametrize("stride", [1, 2])
def test_panels(rng, stride, element, bits):
    """Columns that many rows share are copied first: strided, computed, and for several loops of the sum."""
    kind = np.dtype("float32" if element == "f32" else "float16")
    w, x, out = tensor((30, 4, 3)), tensor((4, "?"), element), tensor((30, "?"))
    body = f"%f = linalg.fill ins(%zero : f32) outs(%out : {out}) -> {out}"
    square = f"%s = arith.mulf %a, %a : {element}\n    linalg.yield %s : {element}"
    body += f"%n = tensor.dim %x, %c1 : {x}\n%e = tensor.empty(%n) : {x}"
    body += generic("%y", "c, j", "pp", [("%x", x, "c, j")], ("%e", x, "c, j"), square)
    widen = "" if element == "f32" else "%v = arith.extf %b : f16 to f32\n    "
    product = MULTIPLY_ADD if element == "f32" else widen + MULTIPLY_ADD.replace("%b", "%v")
    operands = [("%w", w, "i, c, k"), ("%y", x, f"c, j * {stride} + k")]
    body += generic("%r", "i, j, c, k", "pprr", operands, ("%f", out, "i, j"), product)
    kernel = Kernel(function([("%w", w), ("%x", x), ("%out", out)], [out], ["%r"], body), f"vector-bits={bits}")
    assert f"memref<12x{(2 if bits == 256 else 4) * bits // 32}x{element}>" in kernel.loops
    for columns in (0, 1, 3, 7, 8, 9, 16, 33, 70):
        width = max(stride * (columns - 1) + 3, 3) if columns else 2
        weights, values = random(rng, 30, 4, 3), random(rng, 4, width).astype(kind)
        result = np.full((30, columns), np.nan, np.float32)
        kernel(weights, values, result)
        windows = np.zeros((columns, 4, 3), np.float32)
        for j in range(columns):
            windows[j] = (values * values)[:, j * stride : j * stride + 3]
        np.testing.assert_allclose(result, np.einsum("ick,jck->ij", weights, windows), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("bits", [512, 256, 128])
@pytest.mark.parametrize("rows", [5, 30])
def test_merged_loops(rng, rows, bits):
    """Height and width, which are next to each other in all tensors, are one loop; the batch is not."""
    w, x, out = tensor((rows, 8)), tensor(("?", 8, "?", "?")), tensor(("?", rows, "?", "?"))
    bias = tensor((rows,))
    body = f"%f = linalg.fill ins(%zero : f32) outs(%out : {out}) -> {out}"
    operands = [("%w", w, "o, c"), ("%x", x, "n, c, h, w")]
    body += generic("%s", "n, o, h, w, c", "ppppr", operands, ("%f", out, "n, o, h, w"), MULTIPLY_ADD)
    add = "%t = arith.addf %a, %b : f32\n    linalg.yield %t : f32"
    operands = [("%s", out, "n, o, h, w"), ("%bias", bias, "o")]
    body += generic("%r", "n, o, h, w", "pppp", operands, ("%out", out, "n, o, h, w"), add)
    arguments = [("%w", w), ("%x", x), ("%bias", bias), ("%out", out)]
    kernel = Kernel(function(arguments, [out], ["%r"], body), f"vector-bits={bits}")
    assert f"into memref<?x{rows}x?xf32" in kernel.loops
    for n, height, width in [(1, 1, 1), (2, 3, 5), (1, 4, 8), (3, 7, 9), (1, 0, 3), (0, 2, 2), (2, 20, 20)]:
        weights, shift = random(rng, rows, 8), random(rng, rows)
        values, result = random(rng, n, 8, height, width), np.full((n, rows, height, width), np.nan, np.float32)
        kernel(weights, values, shift, result)
        expected = np.einsum("oc,nchw->nohw", weights, values) + shift[:, None, None]
        np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-4)


def test_gated_matmuls(rng):
    """Two contractions of the same rows, and the op that joins them, in one nest."""
    x, w, out = tensor(("?", 24)), tensor((24, 72)), tensor(("?", 72))
    body = f"%f = linalg.fill ins(%zero : f32) outs(%out : {out}) -> {out}"
    for name in ("g", "u"):
        operands = [("%x", x, "m, k"), (f"%w{name}", w, "k, n")]
        body += generic(f"%{name}", "m, n, k", "ppr", operands, ("%f", out, "m, n"), MULTIPLY_ADD)
    silu = """%n = arith.negf %a : f32
    %e = math.exp %n : f32
    %d = arith.addf %e, %one : f32
    %q = arith.divf %a, %d : f32
    %s = arith.mulf %q, %b : f32
    linalg.yield %s : f32"""
    body += generic("%r", "m, n", "pp", [("%g", out, "m, n"), ("%u", out, "m, n")], ("%out", out, "m, n"), silu)
    kernel = Kernel(function([("%x", x), ("%wg", w), ("%wu", w), ("%out", out)], [out], ["%r"], body))
    assert "memref.alloc" not in kernel.loops
    gate, up = random(rng, 24, 72), random(rng, 24, 72)
    for rows in ROWS:
        x, out = random(rng, rows, 24), np.full((rows, 72), np.nan, np.float32)
        kernel(x, gate, up, out)
        g = x @ gate
        np.testing.assert_allclose(out, g / (1 + np.exp(-g)) * (x @ up), rtol=1e-4, atol=1e-4)


def softmax(axis: int, shape=("?", "?")) -> str:
    """Four ops over two loops, the reductions along `axis`."""
    full, kept = tensor(shape), tensor((shape[1 - axis],))
    row, iterators = ("n", "pr") if axis == 1 else ("d", "rp")
    size = f"%s{1 - axis}" if shape[1 - axis] == "?" else ""
    sizes = ", ".join(f"%s{i}" for i in range(2) if shape[i] == "?")
    body = f"""%s0 = tensor.dim %x, %c0 : {full}
  %s1 = tensor.dim %x, %c1 : {full}
  %e = tensor.empty({size}) : {kept}
  %w = tensor.empty({sizes}) : {full}
  %lowest = linalg.fill ins(%minus_infinity : f32) outs(%e : {kept}) -> {kept}
  %none = linalg.fill ins(%zero : f32) outs(%e : {kept}) -> {kept}"""
    exp = "%s = arith.subf %a, %b : f32\n    %t = math.exp %s : f32\n    linalg.yield %t : f32"
    divide = "%s = arith.divf %a, %b : f32\n    linalg.yield %s : f32"
    body += generic("%m", "n, d", iterators, [("%x", full, "n, d")], ("%lowest", kept, row), MAXIMUM)
    body += generic("%ex", "n, d", "pp", [("%x", full, "n, d"), ("%m", kept, row)], ("%w", full, "n, d"), exp)
    body += generic("%sum", "n, d", iterators, [("%ex", full, "n, d")], ("%none", kept, row), ADD)
    operands = [("%ex", full, "n, d"), ("%sum", kept, row)]
    body += generic("%r", "n, d", "pp", operands, ("%out", full, "n, d"), divide)
    return function([("%x", full), ("%out", full)], [full], ["%r"], body)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("shape", [("?", "?"), (5, 100), ("?", 16)])
def test_softmax(rng, axis, shape):
    """Softmax along rows and along columns; the exponentials are kept in the destination."""
    kernel = Kernel(softmax(axis, shape))
    assert "vector<" in kernel.loops and "memref.alloc" not in kernel.loops
    sizes = [(0, 3), (1, 1), (1, 7), (3, 16), (5, 17), (7, 130), (64, 65)] if shape == ("?", "?") else []
    for rows, columns in sizes or [(shape[0] if shape[0] != "?" else 9, shape[1])]:
        x, out = random(rng, rows, columns) * 4, np.full((rows, columns), np.nan, np.float32)
        kernel(x, out)
        if x.size:
            exps = np.exp(x - x.max(axis, keepdims=True))
            np.testing.assert_allclose(out, exps / exps.sum(axis, keepdims=True), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("width", [1, 15, 64, 100])
def test_layer_norm(rng, width):
    """Mean and variance from two reductions in one op each, then scale and shift."""
    full, kept, vector = tensor(("?", width)), tensor(("?",)), tensor((width,))
    body = f"""%rows = tensor.dim %x, %c0 : {full}
  %scale = arith.constant {1 / width} : f32
  %eps = arith.constant 1.0e-5 : f32
  %e = tensor.empty(%rows) : {kept}
  %none = linalg.fill ins(%zero : f32) outs(%e : {kept}) -> {kept}"""
    mean = "%s = arith.mulf %a, %scale : f32\n    linalg.yield %s : f32"
    square = "%s = arith.subf %a, %b : f32\n    %t = arith.mulf %s, %s : f32\n"
    square += "    %u = arith.addf %acc, %t : f32\n    linalg.yield %u : f32"
    last = """%v = arith.mulf %c, %scale : f32
    %w = arith.addf %v, %eps : f32
    %r = math.rsqrt %w : f32
    %s = arith.subf %a, %b : f32
    %t = arith.mulf %s, %r : f32
    %u = arith.mulf %t, %d : f32
    linalg.yield %u : f32"""
    body += generic("%sum", "n, d", "pr", [("%x", full, "n, d")], ("%none", kept, "n"), ADD)
    body += generic("%mean", "n", "p", [("%sum", kept, "n")], ("%e", kept, "n"), mean)
    operands = [("%x", full, "n, d"), ("%mean", kept, "n")]
    body += generic("%var", "n, d", "pr", operands, ("%none", kept, "n"), square)
    operands += [("%var", kept, "n"), ("%w", vector, "d")]
    body += generic("%r", "n, d", "pp", operands, ("%out", full, "n, d"), last)
    kernel = Kernel(function([("%x", full), ("%w", vector), ("%out", full)], [full], ["%r"], body))
    w = random(rng, width)
    for rows in ROWS:
        x, out = random(rng, rows, width), np.full((rows, width), np.nan, np.float32)
        kernel(x, w, out)
        mean = x.mean(1, keepdims=True) if rows else x
        expected = (x - mean) / np.sqrt(((x - mean) ** 2).mean(1, keepdims=True) + 1e-5) * w
        np.testing.assert_allclose(out, expected, rtol=2e-4, atol=2e-4)


def test_attention(rng):
    """Scores, softmax and the weighted sum of values, for each batch and head."""
    q, k, out = tensor(("?", 2, "?", 16)), tensor(("?", 2, "?", 16)), tensor(("?", 2, "?", 16))
    scores, kept = tensor(("?", 2, "?", "?")), tensor(("?", 2, "?"))
    body = f"""%c2 = arith.constant 2 : index
  %b = tensor.dim %q, %c0 : {q}
  %n = tensor.dim %q, %c2 : {q}
  %m = tensor.dim %k, %c2 : {k}
  %e = tensor.empty(%b, %n, %m) : {scores}
  %es = linalg.fill ins(%zero : f32) outs(%e : {scores}) -> {scores}
  %r = tensor.empty(%b, %n) : {kept}
  %lowest = linalg.fill ins(%minus_infinity : f32) outs(%r : {kept}) -> {kept}
  %none = linalg.fill ins(%zero : f32) outs(%r : {kept}) -> {kept}
  %eo = linalg.fill ins(%zero : f32) outs(%out : {out}) -> {out}"""
    exp = "%s = arith.subf %a, %b : f32\n    %t = math.exp %s : f32\n    linalg.yield %t : f32"
    divide = "%s = arith.divf %a, %b : f32\n    linalg.yield %s : f32"
    operands = [("%q", q, "b, h, n, d"), ("%k", k, "b, h, m, d")]
    body += generic("%sc", "b, h, n, m, d", "ppppr", operands, ("%es", scores, "b, h, n, m"), MULTIPLY_ADD)
    at = "b, h, n, m"
    body += generic("%mx", at, "pppr", [("%sc", scores, at)], ("%lowest", kept, "b, h, n"), MAXIMUM)
    operands = [("%sc", scores, at), ("%mx", kept, "b, h, n")]
    body += generic("%ex", at, "pppp", operands, ("%e", scores, at), exp)
    body += generic("%sum", at, "pppr", [("%ex", scores, at)], ("%none", kept, "b, h, n"), ADD)
    operands = [("%ex", scores, at), ("%sum", kept, "b, h, n")]
    body += generic("%p", at, "pppp", operands, ("%e", scores, at), divide)
    operands = [("%p", scores, "b, h, n, m"), ("%v", k, "b, h, m, d")]
    body += generic("%o", "b, h, n, d, m", "ppppr", operands, ("%eo", out, "b, h, n, d"), MULTIPLY_ADD)
    kernel = Kernel(function([("%q", q), ("%k", k), ("%v", k), ("%out", out)], [out], ["%o"], body))
    for batch, queries, keys in ((1, 1, 1), (1, 1, 37), (2, 7, 7), (1, 33, 65), (0, 3, 3)):
        q, out = random(rng, batch, 2, queries, 16), np.full((batch, 2, queries, 16), np.nan, np.float32)
        k, v = random(rng, batch, 2, keys, 16), random(rng, batch, 2, keys, 16)
        kernel(q, k, v, out)
        scores = np.einsum("bhnd,bhmd->bhnm", q, k)
        exps = np.exp(scores - scores.max(-1, keepdims=True)) if scores.size else scores
        expected = np.einsum("bhnm,bhmd->bhnd", exps / exps.sum(-1, keepdims=True), v)
        np.testing.assert_allclose(out, expected, rtol=1e-4, atol=1e-4)


def test_reductions_along_any_axis(rng):
    """Sums of a three-dimensional tensor along each dimension."""
    full = tensor(("?", 3, "?"))
    for axis in range(3):
        loops = ["a", "b", "c"]
        left = loops[:axis] + loops[axis + 1 :]
        kept = tensor([("?", 3, "?")[i] for i in range(3) if i != axis])
        body = f"%f = linalg.fill ins(%zero : f32) outs(%out : {kept}) -> {kept}"
        iterators = "".join("r" if i == axis else "p" for i in range(3))
        operands = [("%x", full, "a, b, c")]
        body += generic("%r", "a, b, c", iterators, operands, ("%f", kept, ", ".join(left)), ADD)
        kernel = Kernel(function([("%x", full), ("%out", kept)], [kept], ["%r"], body))
        for rows, columns in ((1, 1), (5, 70), (0, 4), (4, 0), (17, 16)):
            x = random(rng, rows, 3, columns)
            out = np.full(x.sum(axis).shape, np.nan, np.float32)
            kernel(x, out)
            np.testing.assert_allclose(out, x.sum(axis), rtol=1e-4, atol=1e-4)


def test_transpose_and_gather(rng):
    """Reads that are not contiguous along the lanes, and rows selected by an index tensor."""
    x, out = tensor(("?", "?")), tensor(("?", "?"))
    body = generic("%r", "i, j", "pp", [("%x", x, "j, i")], ("%out", out, "i, j"), "linalg.yield %a : f32")
    kernel = Kernel(function([("%x", x), ("%out", out)], [out], ["%r"], body))
    for shape in ((1, 1), (3, 50), (33, 17), (0, 2)):
        x, out = random(rng, *shape), np.full(shape[::-1], np.nan, np.float32)
        kernel(x, out)
        np.testing.assert_array_equal(out, x.T)

    table, indices, out = tensor((10, "?")), tensor(("?",), "i64"), tensor(("?", "?"))
    take = f"""%at = arith.index_cast %a : i64 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %table[%at, %j] : {table}
    linalg.yield %v : f32"""
    body = generic("%r", "i, j", "pp", [("%indices", indices, "i")], ("%out", out, "i, j"), take)
    parameters = [("%table", table), ("%indices", indices), ("%out", out)]
    kernel = Kernel(function(parameters, [out], ["%r"], body))
    for rows, width in ((1, 1), (4, 40), (9, 16)):
        table, indices = random(rng, 10, width), rng.integers(0, 10, rows)
        out = np.full((rows, width), np.nan, np.float32)
        kernel(table, indices, out)
        np.testing.assert_array_equal(out, table[indices])


def test_concat_and_pad(rng):
    """Kernels may write parts of a destination; padding reads only inside its source."""
    x, y, out = tensor((3, "?")), tensor((3, "?")), tensor((3, "?"))
    body = f"%r = tensor.concat dim(1) %x, %y : ({x}, {y}) -> {out}"
    kernel = Kernel(function([("%x", x), ("%y", y), ("%out", out)], [out], ["%r"], body))
    assert "vector<" in kernel.loops
    for left, right in ((1, 1), (0, 5), (17, 40)):
        x, y, out = random(rng, 3, left), random(rng, 3, right), np.full((3, left + right), np.nan, np.float32)
        kernel(x, y, out)
        np.testing.assert_array_equal(out, np.concatenate([x, y], 1))

    x, out = tensor(("?", "?")), tensor(("?", "?"))
    body = f"""%r = tensor.pad %x low[1, 2] high[0, 3] {{
  ^bb0(%i: index, %j: index):
    tensor.yield %one : f32
  }} : {x} to {out}"""
    kernel = Kernel(function([("%x", x), ("%out", out)], [out], ["%r"], body))
    assert "vector<" in kernel.loops
    for shape in ((1, 1), (3, 50), (0, 2)):
        x, out = random(rng, *shape), np.full((shape[0] + 1, shape[1] + 5), np.nan, np.float32)
        kernel(x, out)
        np.testing.assert_array_equal(out, np.pad(x, ((1, 0), (2, 3)), constant_values=1))


def test_booleans(rng):
    """Comparisons give bytes of 0 and 1, in vectors, in a reduction and in plain loops."""
    x, mask, any_of = tensor(("?", 20)), tensor(("?", 20), "i1"), tensor(("?",), "i1")
    compare = "%v = arith.cmpf ogt, %a, %zero : f32\n    linalg.yield %v : i1"
    either = "%v = arith.ori %acc, %a : i1\n    linalg.yield %v : i1"
    body = generic("%r", "i, j", "pp", [("%x", x, "i, j")], ("%mask", mask, "i, j"), compare)
    body += f"""
  %false = arith.constant false
  %f = linalg.fill ins(%false : i1) outs(%any : {any_of}) -> {any_of}"""
    body += generic("%q", "i, j", "pr", [("%r", mask, "i, j")], ("%f", any_of, "i"), either)
    source = function([("%x", x), ("%mask", mask), ("%any", any_of)], [mask, any_of], ["%r", "%q"], body)
    for options in ("", "schedule=0"):
        kernel = Kernel(source, options)
        for rows in (0, 1, 9):
            values = random(rng, rows, 20) - 1
            mask, any_of = np.zeros((rows, 20), np.bool_), np.zeros(rows, np.bool_)
            kernel(values, mask, any_of)
            np.testing.assert_array_equal(mask, values > 0)
            np.testing.assert_array_equal(any_of, (values > 0).any(1))


def test_plain_loops_agree(rng):
    """A kernel that no schedule takes runs as plain loops: here, a loop over tensors."""
    x = tensor((8,))
    body = f"""%c3 = arith.constant 3 : index
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x) -> ({x}) {{
    %e = tensor.empty() : {x}
    %t = linalg.add ins(%a, %a : {x}, {x}) outs(%e : {x}) -> {x}
    scf.yield %t : {x}
  }}"""
    kernel = Kernel(function([("%x", x), ("%out", x)], [x], ["%r"], body))
    x, out = random(rng, 8), np.zeros(8, np.float32)
    kernel(x, out)
    np.testing.assert_array_equal(out, x * 8)


SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 1e-40, 1, -1, 3e38, -3e38, 88.5, 88.73, 89, -87, -90]
SPECIAL += [-103.5, -104, -110, 1e-8, -1e-8, 1e5, 1e9, 0.5, -0.5, 0.625, 0.93, -0.93]
FUNCTIONS = {
    "exp": (np.exp, -100, 88),
    "expm1": (np.expm1, -20, 80),
    "log": (np.log, 1e-30, 1e5),
    "log1p": (np.log1p, -0.9, 1e5),
    "log2": (np.log2, 1e-30, 1e5),
    "log10": (np.log10, 1e-30, 1e5),
    "tanh": (np.tanh, -10, 10),
    "erf": (np.vectorize(math.erf, otypes=[np.float64]), -5, 5),
    "sin": (np.sin, -1000, 1000),
    "cos": (np.cos, -1000, 1000),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_vectors(rng, name):
    """Errors are a few units in the last place; special values give libm's results."""
    reference, low, high = FUNCTIONS[name]
    x = tensor(("?",))
    call = f"%v = math.{name} %a : f32\n    linalg.yield %v : f32"
    body = generic("%r", "i", "p", [("%x", x, "i")], ("%out", x, "i"), call)
    kernel = Kernel(function([("%x", x), ("%out", x)], [x], ["%r"], body))
    values = np.concatenate([rng.uniform(low, high, 50000), rng.uniform(-1, 1, 50000), SPECIAL]).astype(np.float32)
    out = np.zeros_like(values)
    kernel(values, out)
    with np.errstate(all="ignore"):
        expected = reference(values.astype(np.float64))
        rounded = expected.astype(np.float32)
    np.testing.assert_array_equal(np.isnan(out), np.isnan(rounded))
    infinite = np.isinf(rounded)
    np.testing.assert_array_equal(out[infinite], rounded[infinite])
    finite = np.isfinite(rounded)
    spacing = np.maximum(np.spacing(np.abs(rounded[finite])), 2.0**-149).astype(np.float64)
    # Near a zero of sine and cosine the error is absolute.
    spacing = np.maximum(spacing, 2.0**-26) if name in ("sin", "cos") else spacing
    assert (np.abs(out[finite] - expected[finite]) / spacing).max() < 4

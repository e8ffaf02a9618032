# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""User-written kernels with various forms of code: every target supports the same forms.

Ops of the dialect need only some of these. NumPy or Python computes the expected numbers.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
import targets
from targets import COMPILED as RUNS_ON  # noqa: F401

ONE_OF = 4

KERNEL = """
func.func private @k(%x: tensor<?xKIND> {relax.shape = #relax.shape<[n]>},
                     %p: tensor<?xi64> {relax.shape = #relax.shape<[m]>},
                     %out: tensor<?xKIND> {relax.shape = #relax.shape<[n]>}) -> tensor<?xKIND> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : tensor<?xKIND>
  BODY
  return %result : tensor<?xKIND>
}
relax.func @main(%x: tensor<?xKIND, #relax.shape<[n]>>, %p: tensor<?xi64, #relax.shape<[m]>>)
    -> tensor<?xKIND, #relax.shape<[n]>> {
  %0 = relax.call_tir @k(%x, %p) : (tensor<?xKIND, #relax.shape<[n]>>, tensor<?xi64, #relax.shape<[m]>>)
    -> tensor<?xKIND, #relax.shape<[n]>>
  relax.return %0 : tensor<?xKIND, #relax.shape<[n]>>
}"""

MAP = """
  %result = linalg.generic {
    indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
    iterator_types = ["parallel"]
  } ins(%x : tensor<?xKIND>) outs(%out : tensor<?xKIND>) {
  ^bb0(%a: KIND, %b: KIND):
    POINT
    linalg.yield %r : KIND
  } -> tensor<?xKIND>"""

SUM = """
  %zero = arith.constant 0.0 : f32
  %scalar = tensor.empty() : tensor<f32>
  %start = linalg.fill ins(%zero : f32) outs(%scalar : tensor<f32>) -> tensor<f32>
  %sum = linalg.reduce ins(%x : tensor<?xf32>) outs(%start : tensor<f32>) dimensions = [0]
    (%u: f32, %v: f32) {
      %w = arith.addf %u, %v : f32
      linalg.yield %w : f32
    }
  %total = tensor.extract %sum[] : tensor<f32>"""

POSITION = """
  %p0 = tensor.extract %p[%c0] : tensor<?xi64>
  %begin = arith.index_cast %p0 : i64 to index
  %first = tensor.extract %x[%begin] : tensor<?xf32>"""


def run(body: str, kind: str, *operands: np.ndarray) -> np.ndarray:
    source = KERNEL.replace("BODY", body).replace("KIND", kind)
    return targets.load(source)("main", *operands)[0]


X = np.linspace(0.25, 4, 37, dtype=np.float32)
P = np.array([3, 1, 2], np.int64)

# Code around and inside loops, as text, and its result for x and p.
FORMS = {
    "scalars before a loop": (
        POSITION + MAP.replace("POINT", "%r = arith.addf %a, %first : f32"),
        lambda x, p: x + x[p[0]],
    ),
    "a position from memory": (
        """
  %p0 = tensor.extract %p[%c0] : tensor<?xi64>
  %begin = arith.index_cast %p0 : i64 to index
  %result = tensor.generate %n {
  ^bb0(%i: index):
    %j = arith.addi %i, %begin : index
    %k = arith.remui %j, %n : index
    %v = tensor.extract %x[%k] : tensor<?xf32>
    tensor.yield %v : f32
  } : tensor<?xf32>""",
        lambda x, p: np.roll(x, -p[0]),
    ),
    "a branch before a loop": (
        POSITION
        + """
  %one = arith.constant 1.0 : f32
  %is = arith.cmpi sgt, %begin, %c2 : index
  %chosen = scf.if %is -> f32 {
    %y = tensor.extract %x[%c1] : tensor<?xf32>
    scf.yield %y : f32
  } else {
    scf.yield %one : f32
  }"""
        + MAP.replace("POINT", "%r = arith.mulf %a, %chosen : f32"),
        lambda x, p: x * (x[1] if p[0] > 2 else np.float32(1)),
    ),
    "a number between loops": (
        SUM + MAP.replace("POINT", "%r = arith.divf %a, %total : f32"),
        lambda x, p: x / x.sum(),
    ),
    "a switch in a loop": (
        MAP.replace(
            "POINT",
            """
    %i = linalg.index 0 : index
    %three = arith.constant 3 : index
    %which = arith.remui %i, %three : index
    %r = scf.index_switch %which -> f32
    case 0 {
      %y = arith.negf %a : f32
      scf.yield %y : f32
    }
    case 2 {
      %y = arith.mulf %a, %a : f32
      scf.yield %y : f32
    }
    default {
      scf.yield %a : f32
    }""",
        ),
        lambda x, p: np.choose(np.arange(len(x)) % 3, [-x, x, x * x]),
    ),
    "a switch of which all is the default": (
        MAP.replace(
            "POINT",
            """
    %i = linalg.index 0 : index
    %r = scf.index_switch %i -> f32
    default {
      scf.yield %a : f32
    }""",
        ),
        lambda x, p: x,
    ),
    "a region in a loop": (
        MAP.replace(
            "POINT",
            """
    %r = scf.execute_region -> f32 {
      %y = arith.addf %a, %a : f32
      scf.yield %y : f32
    }""",
        ),
        lambda x, p: x + x,
    ),
    "loops in a loop": (
        MAP.replace(
            "POINT",
            """
    %i = linalg.index 0 : index
    %less = arith.remui %i, %c2 : index
    %power = scf.for %j = %c0 to %less step %c1 iter_args(%s = %a) -> f32 {
      %t = arith.mulf %s, %a : f32
      scf.yield %t : f32
    }
    %limit = arith.constant 9.0 : f32
    %r = scf.while (%s = %power) : (f32) -> f32 {
      %goes = arith.cmpf olt, %s, %limit : f32
      scf.condition(%goes) %s : f32
    } do {
    ^bb0(%s: f32):
      %t = arith.addf %s, %limit : f32
      scf.yield %t : f32
    }""",
        ),
        lambda x, p: (y := np.where(np.arange(len(x)) % 2, x * x, x)) + np.where(y < 9, np.float32(9), 0),
    ),
    "a loop in order": (
        """
  %zero = arith.constant 0.0 : f32
  %result, %last = scf.for %i = %c0 to %n step %c1 iter_args(%t = %out, %s = %zero) -> (tensor<?xf32>, f32) {
    %v = tensor.extract %x[%i] : tensor<?xf32>
    %w = arith.addf %s, %v : f32
    %u = tensor.insert %w into %t[%i] : tensor<?xf32>
    scf.yield %u, %w : tensor<?xf32>, f32
  }""",
        lambda x, p: np.cumsum(x, dtype=np.float32),
    ),
    "a loop in order from a position": (
        """
  %p0 = tensor.extract %p[%c0] : tensor<?xi64>
  %begin = arith.index_cast %p0 : i64 to index
  %whole = linalg.copy ins(%x : tensor<?xf32>) outs(%out : tensor<?xf32>) -> tensor<?xf32>
  %result = scf.for %i = %begin to %n step %c2 iter_args(%t = %whole) -> (tensor<?xf32>) {
    %v = tensor.extract %x[%i] : tensor<?xf32>
    %w = arith.negf %v : f32
    %u = tensor.insert %w into %t[%i] : tensor<?xf32>
    scf.yield %u : tensor<?xf32>
  }""",
        lambda x, p: np.where((np.arange(len(x)) >= p[0]) & ((np.arange(len(x)) - p[0]) % 2 == 0), -x, x),
    ),
    "parts": (
        """
  %h = arith.constant 5 : index
  %rest = arith.subi %n, %h : index
  %tail = tensor.extract_slice %x[5] [%rest] [1] : tensor<?xf32> to tensor<?xf32>
  %head = tensor.extract_slice %x[0] [5] [1] : tensor<?xf32> to tensor<5xf32>
  %result = tensor.concat dim(0) %tail, %head : (tensor<?xf32>, tensor<5xf32>) -> tensor<?xf32>""",
        lambda x, p: np.roll(x, -5),
    ),
    "padding": (
        """
  %pad = arith.constant 7.0 : f32
  %less = arith.subi %n, %c2 : index
  %inner = tensor.extract_slice %x[1] [%less] [1] : tensor<?xf32> to tensor<?xf32>
  %result = tensor.pad %inner low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %pad : f32
  } : tensor<?xf32> to tensor<?xf32>""",
        lambda x, p: np.pad(x[1:-1], 1, constant_values=7),
    ),
    "a parallel loop on slices": (
        """
  %result = scf.forall (%i) in (%n) shared_outs(%o = %out) -> (tensor<?xf32>) {
    %v = tensor.extract %x[%i] : tensor<?xf32>
    %w = arith.addf %v, %v : f32
    %e = tensor.empty() : tensor<1xf32>
    %f = tensor.insert %w into %e[%c0] : tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %f into %o[%i] [1] [1] : tensor<1xf32> into tensor<?xf32>
    }
  }""",
        lambda x, p: x + x,
    ),
    "a parallel loop from a position": (
        """
  %p0 = tensor.extract %p[%c0] : tensor<?xi64>
  %begin = arith.index_cast %p0 : i64 to index
  %whole = linalg.copy ins(%x : tensor<?xf32>) outs(%out : tensor<?xf32>) -> tensor<?xf32>
  %result = scf.forall (%i) = (%begin) to (%n) step (1) shared_outs(%o = %whole) -> (tensor<?xf32>) {
    %v = tensor.extract %x[%i] : tensor<?xf32>
    %w = arith.addf %v, %v : f32
    %e = tensor.empty() : tensor<1xf32>
    %f = tensor.insert %w into %e[%c0] : tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %f into %o[%i] [1] [1] : tensor<1xf32> into tensor<?xf32>
    }
  }""",
        lambda x, p: np.where(np.arange(len(x)) >= p[0], x + x, x),
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_forms(form):
    body, expected = FORMS[form]
    np.testing.assert_allclose(run(body, "f32", X, P), expected(X, P), rtol=1e-5)


UNARY = {
    "math.absf": np.abs, "math.acos": lambda x: np.arccos(x / 5), "math.atan": np.arctan,
    "math.ceil": np.ceil, "math.cos": np.cos, "math.erf": np.vectorize(math.erf),
    "math.exp": np.exp, "math.exp2": np.exp2, "math.expm1": np.expm1,
    "math.floor": np.floor, "math.log": np.log, "math.log10": np.log10, "math.log1p": np.log1p, "math.log2": np.log2,
    "math.round": lambda x: np.floor(x + np.float32(0.5)), "math.roundeven": np.round,
    "math.rsqrt": lambda x: 1 / np.sqrt(x), "math.sin": np.sin, "math.sqrt": np.sqrt, "math.tan": np.tan,
    "math.tanh": np.tanh, "math.trunc": np.trunc, "arith.negf": np.negative,
}  # fmt: skip


# Functions of one real number.
@pytest.mark.parametrize("name", UNARY)
def test_functions(name):
    argument = "%s" if name == "math.acos" else "%a"
    point = f"""
    %five = arith.constant 5.0 : f32
    %s = arith.divf %a, %five : f32
    %r = {name} {argument} : f32"""
    result = run(MAP.replace("POINT", point), "f32", X, P)
    np.testing.assert_allclose(result, UNARY[name](X).astype(np.float32), rtol=2e-5, atol=1e-6)


BINARY = {
    "arith.addf": np.add, "arith.divf": np.divide, "arith.maximumf": np.maximum, "arith.maxnumf": np.fmax,
    "arith.minimumf": np.minimum, "arith.minnumf": np.fmin, "arith.mulf": np.multiply, "arith.remf": np.fmod,
    "arith.subf": np.subtract, "math.atan2": np.arctan2, "math.copysign": np.copysign, "math.powf": np.power,
}  # fmt: skip


# Functions of two real numbers: x and half of x, plus one.
@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two(name):
    point = f"""
    %half = arith.constant 0.5 : f32
    %one = arith.constant 1.0 : f32
    %h = arith.mulf %a, %half : f32
    %s = arith.addf %h, %one : f32
    %r = {name} %a, %s : f32"""
    expected = BINARY[name](X, X * np.float32(0.5) + np.float32(1))
    np.testing.assert_allclose(run(MAP.replace("POINT", point), "f32", X, P), expected, rtol=2e-5, atol=1e-6)


def signed(value: int, bits: int) -> int:
    return (value + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)


# Operations on an integer and 3: Python's results, for unsigned or signed numbers.
INTEGERS = {
    "math.absi %a": lambda a, u, bits: abs(a),
    "math.ctlz %a": lambda a, u, bits: bits - u.bit_length(),
    "math.cttz %a": lambda a, u, bits: (u & -u).bit_length() - 1 if u else bits,
    "math.ctpop %a": lambda a, u, bits: u.bit_count(),
    "arith.addi %a, %three": lambda a, u, bits: a + 3,
    "arith.subi %a, %three": lambda a, u, bits: a - 3,
    "arith.muli %a, %three": lambda a, u, bits: a * 3,
    "arith.divsi %a, %three": lambda a, u, bits: abs(a) // 3 * (-1 if a < 0 else 1),
    "arith.divui %a, %three": lambda a, u, bits: u // 3,
    "arith.remsi %a, %three": lambda a, u, bits: abs(a) % 3 * (-1 if a < 0 else 1),
    "arith.remui %a, %three": lambda a, u, bits: u % 3,
    "arith.floordivsi %a, %three": lambda a, u, bits: a // 3,
    "arith.ceildivsi %a, %three": lambda a, u, bits: -(-a // 3),
    "arith.ceildivui %a, %three": lambda a, u, bits: -(-u // 3),
    "arith.andi %a, %three": lambda a, u, bits: a & 3,
    "arith.ori %a, %three": lambda a, u, bits: a | 3,
    "arith.xori %a, %three": lambda a, u, bits: a ^ 3,
    "arith.shli %a, %three": lambda a, u, bits: a << 3,
    "arith.shrsi %a, %three": lambda a, u, bits: a >> 3,
    "arith.shrui %a, %three": lambda a, u, bits: u >> 3,
    "arith.maxsi %a, %three": lambda a, u, bits: max(a, 3),
    "arith.minsi %a, %three": lambda a, u, bits: min(a, 3),
    "arith.maxui %a, %three": lambda a, u, bits: max(u, 3),
    "arith.minui %a, %three": lambda a, u, bits: min(u, 3),
}


@pytest.mark.parametrize("kind", ["i32", "i64"])
@pytest.mark.parametrize("name", INTEGERS)
def test_integers(name, kind):
    bits = int(kind[1:])
    most = (1 << bits - 1) - 1
    x = np.array([0, 1, 2, 3, 4, 7, -1, -2, -3, -4, -8, 1 << 20, most, -most, 12345, -98765], f"i{bits // 8}")
    point = f"%three = arith.constant 3 : KIND\n%r = {name} : KIND"
    result = run(MAP.replace("POINT", point), kind, x, P)
    expected = [signed(INTEGERS[name](a, a % (1 << bits), bits), bits) for a in x.tolist()]
    np.testing.assert_array_equal(result, expected)


# Ops with two results.
@pytest.mark.parametrize("kind", ["i32", "i64"])
@pytest.mark.parametrize("name", ["arith.mului_extended", "arith.mulsi_extended", "arith.addui_extended"])
def test_two_results(name, kind):
    bits = int(kind[1:])
    most = (1 << bits - 1) - 1
    x = np.array([0, 1, 5, -1, -5, most, -most, 1 << 20], f"i{bits // 8}")
    if name == "arith.addui_extended":
        point = f"""
        %s, %carry = {name} %a, %a : KIND, i1
        %c = arith.extui %carry : i1 to KIND
        %r = arith.addi %s, %c : KIND"""
    else:
        point = f"""
        %low, %high = {name} %a, %a : KIND
        %r = arith.addi %low, %high : KIND"""
    result = run(MAP.replace("POINT", point), kind, x, P)
    expected = []
    for a in x.tolist():
        u = a % (1 << bits)
        whole = 2 * u if "addui" in name else a * a if "mulsi" in name else u * u
        expected.append(signed(whole + (whole >> bits), bits))
    np.testing.assert_array_equal(result, expected)

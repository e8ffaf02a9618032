# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops over tensors that are assembled from others: concatenations, inserted slices and padded tensors.

Elements are computed where they are read once, and stored first where a reduction reads them several times.
"""

from __future__ import annotations

import re

import numpy as np
import pytest
import targets
from targets import COMPILED as RUNS_ON  # noqa: F401

from relax_mlir import BlockBuilder, Tensor, compile, op

KERNEL = """
func.func private @k(%x: tensor<?x?xf32> {relax.shape = #relax.shape<[r, n]>},
                     %y: tensor<?x?xf32> {relax.shape = #relax.shape<[r, m]>},
                     %p: tensor<?xf32> {relax.shape = #relax.shape<[at]>},
                     %out: tensor<?x?xf32> {relax.shape = #relax.shape<[r, n]>}) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %filler = arith.constant 2.0 : f32
  %r = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %m = tensor.dim %y, %c1 : tensor<?x?xf32>
  %at = tensor.dim %p, %c0 : tensor<?xf32>
  %wide = arith.addi %n, %c2 : index
  ASSEMBLED
  LOOPS
  return %result : tensor<?x?xf32>
}
relax.func @main(%x: tensor<?x?xf32, #relax.shape<[r, n]>>, %y: tensor<?x?xf32, #relax.shape<[r, m]>>,
                 %p: tensor<?xf32, #relax.shape<[at]>>) -> tensor<?x?xf32, #relax.shape<[r, n]>> {
  %0 = relax.call_tir @k(%x, %y, %p) :
    (tensor<?x?xf32, #relax.shape<[r, n]>>, tensor<?x?xf32, #relax.shape<[r, m]>>, tensor<?xf32, #relax.shape<[at]>>)
    -> tensor<?x?xf32, #relax.shape<[r, n]>>
  relax.return %0 : tensor<?x?xf32, #relax.shape<[r, n]>>
}"""


def concatenation(x, y, at):
    return np.concatenate([x, y, x, y], 1)[:, at:]


def stack(x, y, at):
    return np.concatenate([x, x + np.float32(1), x], 0)[1:]


def insertion(x, y, at):
    whole = np.concatenate([x, x], 1)
    whole[:, at : at + y.shape[1]] = y
    return whole


def computed_insertion(x, y, at):
    return insertion(x, -y, at)


def overlap(x, y, at):
    return np.concatenate([-x[:, :1], x, x[:, 1:]], 1)


def padding(x, y, at):
    return np.pad(x, [(0, 0), (1, 1)], constant_values=2)


# How a tensor with at least n + 2 columns is assembled (n columns for `stack`), where %at <= n.
ASSEMBLED = {
    concatenation: """
  %all = tensor.concat dim(1) %x, %y, %x, %y :
    (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %tensor = tensor.extract_slice %all[0, %at] [%r, %wide] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>""",
    insertion: """
  %both = tensor.concat dim(1) %x, %x : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %tensor = tensor.insert_slice %y into %both[0, %at] [%r, %m] [1, 1] : tensor<?x?xf32> into tensor<?x?xf32>""",
    computed_insertion: """
  %both = tensor.concat dim(1) %x, %x : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %negative = NEGATIVE(%y)
  %tensor = tensor.insert_slice %negative into %both[0, %at] [%r, %m] [1, 1] : tensor<?x?xf32> into tensor<?x?xf32>""",
    overlap: """
  %negative = NEGATIVE(%x)
  %long = arith.addi %n, %n : index
  %empty = tensor.empty(%r, %long) : tensor<?x?xf32>
  %first = tensor.insert_slice %x into %empty[0, %n] [%r, %n] [1, 1] : tensor<?x?xf32> into tensor<?x?xf32>
  %second = tensor.insert_slice %negative into %first[0, 0] [%r, %n] [1, 1] : tensor<?x?xf32> into tensor<?x?xf32>
  %tensor = tensor.insert_slice %x into %second[0, 1] [%r, %n] [1, 1] : tensor<?x?xf32> into tensor<?x?xf32>""",
    padding: """
  %tensor = tensor.pad %x low[0, 1] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %filler : f32
  } : tensor<?x?xf32> to tensor<?x?xf32>""",
    stack: """
  %one = arith.constant 1.0 : f32
  %more = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%x : tensor<?x?xf32>) outs(%x : tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %one : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  %all = tensor.concat dim(0) %x, %more, %x : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %tensor = tensor.extract_slice %all[1, 0] [%r, %n] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>""",
}

POINTS = """
  %part = tensor.extract_slice %tensor[0, 0] [%r, %n] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
  %result = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%part : tensor<?x?xf32>) outs(%out : tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %v = arith.negf %a : f32
    linalg.yield %v : f32
  } -> tensor<?x?xf32>"""

WINDOWS = """
  %zero = arith.constant 0.0 : f32
  %window = tensor.empty() : tensor<3xf32>
  %start = linalg.fill ins(%zero : f32) outs(%out : tensor<?x?xf32>) -> tensor<?x?xf32>
  %result = linalg.generic {
    indexing_maps = [affine_map<(i, j, k) -> (i, j + k)>, affine_map<(i, j, k) -> (k)>,
                     affine_map<(i, j, k) -> (i, j)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%tensor, %window : tensor<?x?xf32>, tensor<3xf32>) outs(%start : tensor<?x?xf32>) {
  ^bb0(%a: f32, %w: f32, %b: f32):
    %v = arith.addf %b, %a : f32
    linalg.yield %v : f32
  } -> tensor<?x?xf32>"""


NEGATIVE = """linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]
  } ins(OPERAND : tensor<?x?xf32>) outs(OPERAND : tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.negf %a : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>"""

SIZES = [(1, 2, 1, 0), (3, 2, 2, 1), (2, 7, 5, 3), (2, 8, 8, 8), (3, 9, 2, 9), (1, 37, 21, 13), (2, 64, 3, 30)]
"""r, n, m and at: n > 1, at <= n, and at + m <= 2 n."""


def check(assembled, loops, expected):
    made = re.sub(r"NEGATIVE\((.*)\)", lambda match: NEGATIVE.replace("OPERAND", match[1]), ASSEMBLED[assembled])
    run = targets.load(KERNEL.replace("ASSEMBLED", made).replace("LOOPS", loops))
    rng = np.random.default_rng(0)
    for r, n, m, at in SIZES:
        x, y = (rng.standard_normal((r, size), np.float32) for size in (n, m))
        (result,) = run("main", x, y, np.zeros(at, np.float32))
        wanted = expected(assembled(x, y, at), r, n)
        np.testing.assert_allclose(result, wanted, rtol=1e-6, atol=1e-6, err_msg=f"{r}x{n}, {m} at {at}")


@pytest.mark.parametrize("assembled", ASSEMBLED, ids=lambda function: function.__name__)
def test_points(assembled):
    check(assembled, POINTS, lambda tensor, r, n: -tensor[:r, :n])


@pytest.mark.parametrize(
    "assembled", [name for name in ASSEMBLED if name is not stack], ids=lambda function: function.__name__
)
def test_windows(assembled):
    check(assembled, WINDOWS, lambda tensor, r, n: sum(tensor[:, k : k + n] for k in range(3)))


APART = """
  %length = arith.muli %wide, %c2 : index
  %none = arith.constant 0.0 : f32
  %room = tensor.empty(%r, %length) : tensor<?x?xf32>
  %zeros = linalg.fill ins(%none : f32) outs(%room : tensor<?x?xf32>) -> tensor<?x?xf32>
  %apart = tensor.insert_slice %tensor into %zeros[0, 0] [%r, %wide] [1, 2] : tensor<?x?xf32> into tensor<?x?xf32>"""


def test_a_padded_tensor_whose_elements_are_moved_apart():
    """Both are read by windows, and the second one is made of the first."""
    loops = WINDOWS.replace("%result =", "%sums =") + APART
    loops += WINDOWS[WINDOWS.index("  %result =") :].replace("%tensor", "%apart").replace("%start", "%sums")

    def expected(tensor, r, n):
        apart = np.zeros((r, 2 * tensor.shape[1]), np.float32)
        apart[:, ::2] = tensor
        return sum(tensor[:, k : k + n] + apart[:, k : k + n] for k in range(3))

    check(padding, loops, expected)


def test_a_sum_of_one_element_of_a_slice():
    x = Tensor((1, 8), "f32", name="x")
    bb = BlockBuilder()
    with bb.function("main", [x]):
        bb.return_(op.sum(op.strided_slice(x, [1], [2], [3]), [1]))
    main = compile(bb.module())["main"]
    assert main(np.arange(8, dtype=np.float32).reshape(1, 8)).tolist() == [2]

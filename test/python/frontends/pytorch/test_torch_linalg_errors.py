# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Linear algebra that eager mode rejects is rejected, with the line of the model."""

import math

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import linalg_programs  # noqa: E402
import torch_programs as programs  # noqa: E402

from relax_mlir.errors import FrontendError  # noqa: E402

linalg = torch.linalg

pytestmark = pytest.mark.more  # each case exports and compiles a program

SINGULAR = torch.diag(torch.tensor([1.0, 0, 2]))
NEGATIVE = torch.diag(torch.tensor([1.0, -1, 2]))
NAN = torch.full((3, 3), math.nan)

REFUSED = [
    (linalg.cholesky, NEGATIVE, "linalg.cholesky: the input is not positive-definite"),
    (linalg.inv, SINGULAR, "linalg.inv: the input is singular"),
    (lambda x: linalg.solve(x, x), SINGULAR, "linalg.solve: the input is singular"),
    (lambda x: linalg.matrix_power(x, -1), SINGULAR, "linalg.inv: the input is singular"),
    (linalg.eigvalsh, NAN, "aten::_linalg_eigh.default: the algorithm failed to converge"),
    (linalg.svdvals, NAN, "aten::_linalg_svd.default: the algorithm failed to converge"),
]


@pytest.mark.parametrize("index", range(len(REFUSED)))
def test_what_eager_refuses(index):
    """The program runs for a good matrix, and names the op and the line for a bad one."""
    function, bad, message = REFUSED[index]
    run = programs.compiled(lambda x: function(x), (torch.eye(3) * 2,))
    programs.check(run, function, (torch.eye(3) * 2,))
    with pytest.raises(RuntimeError):
        function(bad)
    with pytest.raises(ValueError, match=message) as caught:
        run(bad)
    assert "torch_programs.py" in str(caught.value)


def test_narrow_floats():
    with pytest.raises(FrontendError, match="no linear algebra on elements of f16; convert them to f32 or f64"):
        linalg_programs.compiled(torch.matrix_exp, torch.eye(3, dtype=torch.float16).repeat(2, 1, 1))

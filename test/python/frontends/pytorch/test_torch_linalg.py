# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Factors, equations, inverses and determinants against eager mode: one program for many sizes."""

import math

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import linalg_programs as programs  # noqa: E402
from linalg_programs import RECTANGULAR, SQUARE, positive, randn, symmetric  # noqa: E402

pytestmark = pytest.mark.more  # each case exports and compiles a program

linalg = torch.linalg


def squares(make, *rest):
    """A matrix of each size, with right-hand sides of the same number of rows."""
    return [(make(count, size), *(of(count, size) for of in rest)) for count, size in SQUARE]


def columns(count, size):
    return randn(count, size, 3)


def test_cholesky():
    def function(x):
        return linalg.cholesky(x), linalg.cholesky_ex(x, upper=True)

    programs.compare(function, squares(positive))


def test_cholesky_of_a_triangle():
    """The opposite triangle is not read."""
    run = programs.compiled(
        lambda x, y: (torch.cholesky(x), torch.cholesky(y, upper=True)), positive(2, 5), positive(2, 5)
    )
    x = positive(3, 7)
    noise = torch.full_like(x, math.nan)
    lower, upper = run(x.tril() + noise.triu(1), x.triu() + noise.tril(-1))
    torch.testing.assert_close((lower, upper.mT), (linalg.cholesky(x), linalg.cholesky(x)))


def test_equations_by_cholesky():
    def function(x, b):
        return torch.cholesky_solve(b, x), torch.cholesky_inverse(x, upper=True)

    programs.compare(function, [(linalg.cholesky(x), b) for x, b in squares(positive, columns)])


def test_lu():
    def function(x):
        data, pivots = linalg.lu_factor(x)
        return data, pivots, *torch.lu_unpack(data, pivots)

    programs.compare(function, [(randn(*shape, dtype=torch.float64),) for shape in RECTANGULAR])


def test_lu_without_pivots():
    """Eager mode supports this only on GPUs."""

    def function(x):
        _, lower, upper = linalg.lu(x, pivot=False)
        return lower, upper

    run = programs.compiled(function, positive(2, 5))
    for count, size in SQUARE:
        x = positive(count, size)
        lower, upper = run(x)
        torch.testing.assert_close(lower @ upper, x, rtol=1e-4, atol=1e-4)
        torch.testing.assert_close((lower.tril(), upper.triu()), (lower, upper))


def test_equations():
    def function(x, b):
        return linalg.solve(x, b), linalg.solve(x, b[..., 0]), linalg.solve(x, b.mT, left=False)

    programs.compare(function, squares(randn_square, columns), tolerance=1e-3)


def randn_square(count, size):
    return randn(count, size, size) + 2 * torch.eye(size)


def test_equations_over_a_common_batch():
    def function(x, b):
        return linalg.solve(x, b), linalg.solve_triangular(x.triu(), b, upper=True)

    inputs = [(randn_square(1, size)[0], randn(count, size, 3)) for count, size in SQUARE]
    programs.compare(function, inputs, tolerance=1e-3)


@pytest.mark.parametrize("adjoint", [False, True])
def test_equations_by_lu(adjoint):
    def function(data, pivots, b):
        from_right = linalg.lu_solve(data, pivots, b.mT, left=False, adjoint=adjoint)
        return linalg.lu_solve(data, pivots, b, adjoint=adjoint), from_right

    inputs = [(*linalg.lu_factor(x), b) for x, b in squares(randn_square, columns)]
    programs.compare(function, inputs, tolerance=1e-3)


@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("upper", [False, True])
def test_triangular_equations(upper, unit):
    """The opposite triangle is not read, nor is the diagonal if it is implicitly one."""

    def function(x, b):
        solved = linalg.solve_triangular(x, b, upper=upper, unitriangular=unit)
        from_right = linalg.solve_triangular(x, b.mT, upper=upper, left=False, unitriangular=unit)
        return solved, from_right, torch.triangular_solve(b, x, upper, True, unit)[0]

    programs.compare(function, squares(lambda *shape: 0.3 * randn_square(*shape), columns), tolerance=1e-2)


def test_inverses():
    def function(x):
        return linalg.inv(x), linalg.inv_ex(x), linalg.matrix_power(x, -2)

    programs.compare(function, squares(positive))


def test_tensor_equations():
    def function(x, b):
        return linalg.tensorinv(x, ind=2), linalg.tensorsolve(x, b)

    shapes = ((2, 3, 6), (3, 5, 15))
    inputs = [(randn(*shape) + torch.eye(shape[2]).reshape(shape), randn(*shape[:2])) for shape in shapes]
    programs.compare(function, inputs, tolerance=1e-3)


def test_determinants():
    def function(x):
        return linalg.det(x), linalg.slogdet(x), torch.logdet(x)

    singular = torch.ones(2, 5, 5)
    nan = torch.full((1, 3, 3), math.nan)
    programs.compare(function, [*squares(randn_square), (singular,), (nan,), (torch.zeros(2, 3, 3),)])


def test_infos_of_singular_matrices():
    """Unchecked functions return the position of the first bad pivot."""

    def function(x):
        solution, info = linalg.solve_ex(x, torch.ones_like(x))
        return linalg.lu_factor_ex(x).info, linalg.inv_ex(x).info, info, linalg.cholesky_ex(x).info

    x = torch.eye(5).repeat(4, 1, 1)
    x[1, 2, 2], x[2], x[3, 4, 4] = 0, 0, -1
    programs.compare(function, [(x,), (torch.zeros(1, 1, 1),), (torch.zeros(0, 3, 3),)])


def test_ldl():
    """Zeros on the diagonal require blocks of two rows."""

    def function(x, b):
        factors, pivots = linalg.ldl_factor(x)
        return factors, pivots, linalg.ldl_solve(factors, pivots, b)

    inputs = squares(lambda *shape: symmetric(*shape, dtype=torch.float64), lambda *shape: columns(*shape).double())
    hollow = symmetric(3, 13, torch.float64)
    hollow.diagonal(dim1=-2, dim2=-1).zero_()
    inputs.append((hollow, columns(3, 13).double()))
    programs.compare(function, inputs, tolerance=1e-7)


def test_info_of_ldl():
    x = torch.zeros(2, 3, 3)
    x[1] = torch.eye(3)
    programs.compare(lambda x: linalg.ldl_factor_ex(x), [(symmetric(2, 5),), (x,)])


def test_products():
    """Ops that PyTorch decomposes, some of them for static sizes."""

    def function(x, y):
        parts = linalg.multi_dot([x[0], y[0], x[0]]), linalg.vecdot(x, x), linalg.cross(x[..., :3], x[..., -3:])
        return *parts, linalg.vander(x[0, 0], N=3), torch.trapezoid(x, dx=0.5), linalg.matrix_power(x @ y, 3)

    programs.compare(function, [(randn(2, 5, 7), randn(2, 7, 5))], tolerance=1e-2)


def test_norms():
    def function(x):
        norms = [linalg.matrix_norm(x, order) for order in ("fro", math.inf, -math.inf, 1, -1)]
        return norms, linalg.norm(x), torch.norm(x, "fro", dim=(1, 2))

    programs.compare(function, [(randn(2, 5, 7),)])


def test_matrix_exp():
    """Matrices with small norms, norms that need many halvings, and nonfinite elements."""
    shapes = [(shape[0], shape[1], shape[1]) for shape in SQUARE]
    inputs = [(randn(*shape),) for shape in shapes]
    inputs += [(30 * randn(2, 7, 7) - 200 * torch.eye(7),), (1e-6 * randn(1, 3, 3),)]
    programs.compare(torch.matrix_exp, inputs, tolerance=1e-3)
    run = programs.compiled(torch.matrix_exp, randn(2, 5, 5, dtype=torch.float64))
    x = torch.tensor([[[0.0, 1], [-1, 0]]], dtype=torch.float64) * math.pi
    torch.testing.assert_close(run(x), -torch.eye(2, dtype=torch.float64)[None], rtol=0, atol=1e-14)
    assert run(torch.full((1, 2, 2), math.nan, dtype=torch.float64)).isnan().all()

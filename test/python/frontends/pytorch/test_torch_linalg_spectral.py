# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""QR factors, eigenvalues, singular values and least squares against eager mode.

If the signs of vectors, or vectors of equal eigenvalues, are not unique, the tests compare quantities that do not
depend on them.
"""

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import linalg_programs as programs  # noqa: E402
from linalg_programs import RECTANGULAR, SQUARE, randn, symmetric  # noqa: E402

pytestmark = pytest.mark.more  # each case exports and compiles a program

linalg = torch.linalg

F64 = torch.float64


def test_qr():
    def function(x):
        return linalg.qr(x), linalg.qr(x, mode="complete"), linalg.qr(x, mode="r")

    programs.compare(function, [(randn(*shape),) for shape in RECTANGULAR])


def test_geqrf():
    programs.compare(torch.geqrf, [(randn(*shape),) for shape in RECTANGULAR])


def test_products_with_reflections():
    """`Q` itself, and its products from both sides."""

    def function(x, tau, c):
        products = torch.ormqr(x, tau, c), torch.ormqr(x, tau, c, transpose=True)
        return linalg.householder_product(x, tau), *products, torch.ormqr(x, tau, c.mT, left=False)

    shapes = [shape for shape in RECTANGULAR if shape[1] >= shape[2]]
    programs.compare(function, [(*torch.geqrf(randn(*shape)), randn(*shape[:2], 3)) for shape in shapes])


def test_qr_of_columns_without_a_norm():
    """Zero columns do not change; squares of large and small elements neither overflow nor vanish."""
    x = torch.zeros(3, 5, 3)
    x[1], x[2] = randn(5, 3) * 1e25, randn(5, 3) * 1e-25
    run = programs.compiled(linalg.qr, randn(2, 7, 5))
    q, r = run(x)
    scale = torch.tensor([1, 1e25, 1e-25])[:, None, None]
    torch.testing.assert_close((q @ (r / scale)), x / scale)
    torch.testing.assert_close((q, r / scale), (linalg.qr(x).Q, linalg.qr(x).R / scale))


# --- eigenvalues


def eigen(result, x):
    """Quantities that do not depend on the signs of the eigenvectors."""
    values, vectors = result
    return values, (vectors * values[..., None, :]) @ vectors.mT, vectors.mT @ vectors


@pytest.mark.parametrize("dtype", [torch.float32, F64])
def test_symmetric_eigenvalues(dtype):
    inputs = [(symmetric(*shape, dtype=dtype),) for shape in (*SQUARE, (1, 64))]
    run = programs.compare(linalg.eigh, inputs, eigen, 1e-4 if dtype == torch.float32 else 1e-12)
    equal = torch.stack([torch.ones(6, 6), torch.eye(6), torch.zeros(6, 6)]).to(dtype)
    for x in (equal, equal * 1e25, equal * 1e-25):
        values, product, unit = eigen(run(x), x)
        factor = x.max()
        torch.testing.assert_close((values / factor, product / factor), (linalg.eigvalsh(x) / factor, x / factor))
        torch.testing.assert_close(unit, torch.eye(6, dtype=dtype).expand(3, 6, 6))


def test_eigenvalues_of_a_triangle():
    """The opposite triangle is not read."""

    def function(x):
        return linalg.eigvalsh(x.tril()), linalg.eigvalsh(x.triu(), UPLO="U")

    programs.compare(function, [(symmetric(*shape),) for shape in SQUARE])


# --- singular values


def singular(result, x):
    """Quantities that do not depend on the signs of the singular vectors."""
    u, values, vt = result
    count = values.shape[-1]
    return values, (u[..., :count] * values[..., None, :]) @ vt[..., :count, :], u.mT @ u, vt @ vt.mT


def test_singular_values():
    inputs = [(randn(*shape, dtype=F64),) for shape in RECTANGULAR]
    run = programs.compare(linalg.svd, inputs, singular, 1e-12)
    i = torch.arange(12, dtype=F64)
    hilbert = 1 / (i[:, None] + i + 1)
    graded = torch.diag(10.0**-i) @ randn(12, 12, dtype=F64)
    special = torch.stack([hilbert, graded, torch.ones(12, 12), torch.eye(12), torch.zeros(12, 12)]).to(F64)
    for x in (special, special[:, :7], special * 1e250, special * 1e-250):
        factor = x.max()
        values, product, *units = singular(run(x), x)
        expected = linalg.svdvals(x)
        torch.testing.assert_close(values / factor, expected / factor, rtol=1e-12, atol=1e-12)
        torch.testing.assert_close(product / factor, x / factor, rtol=1e-12, atol=1e-12)
        for unit in units:
            torch.testing.assert_close(unit, torch.eye(unit.shape[1], dtype=F64).expand_as(unit))


def test_reduced_singular_values():
    """PyTorch exports the shapes of wide matrices if the example is one."""
    shapes = ((2, 5, 7), (0, 1, 3), (1, 1, 13), (3, 2, 2))
    programs.compare(lambda x: linalg.svd(x, full_matrices=False), [(randn(*shape),) for shape in shapes], singular)


def test_ranks_and_conditions():
    def function(x):
        return linalg.matrix_rank(x), linalg.cond(x), linalg.matrix_norm(x, "nuc")

    low = randn(2, 5, 2, dtype=F64) @ randn(2, 2, 7, dtype=F64)
    run = programs.compare(function, [(randn(2, 5, 7, dtype=F64),), (randn(1, 3, 13, dtype=F64),)])
    assert run(low)[0].tolist() == [2, 2]


def test_pseudo_inverses():
    """Negligible singular values do not count."""
    x = randn(2, 5, 7, dtype=F64)
    programs.compare(linalg.pinv, [(x,), (randn(1, 3, 13, dtype=F64),), (torch.ones_like(x),)], tolerance=1e-8)


def test_pseudo_inverses_of_symmetric_matrices():
    def function(x, atol):
        return linalg.pinv(x, atol=atol, hermitian=True)

    inputs = [
        (symmetric(count, size, F64), torch.linspace(0, 1, count, dtype=F64)) for count, size in ((2, 5), (3, 13))
    ]
    programs.compare(function, inputs, tolerance=1e-8)


# --- least squares


def test_least_squares():
    def function(a, b):
        return tuple(linalg.lstsq(a, b, driver="gelss"))

    run = programs.compare(function, [(randn(*shape, 5), randn(*shape, 3)) for shape in ((2, 7), (1, 13))])
    with pytest.raises(ValueError, match="a matrix has no full rank: there are no residuals"):
        run(torch.ones(2, 7, 5), torch.ones(2, 7, 3))


def test_least_squares_of_vectors():
    def function(a, b):
        return tuple(linalg.lstsq(a, b, driver="gels"))

    programs.compare(function, [(randn(*shape, 5), randn(*shape)) for shape in ((2, 7), (1, 13))])


def test_least_squares_of_least_norm():
    """There are more unknowns than equations, or redundant equations."""

    def function(a, b):
        solution, _, rank, _ = linalg.lstsq(a, b)
        return solution, rank

    programs.compare(function, [(randn(2, 5, 7), randn(2, 5, 3)), (torch.ones(2, 3, 13), randn(2, 3, 1))])

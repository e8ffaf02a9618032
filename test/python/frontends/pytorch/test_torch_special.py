# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Special functions against eager mode: where their formulas change, in the tails, and at their poles.

For some Bessel functions, the Airy function, and the incomplete gamma functions near their order, eager mode is
accurate only to about 1e-7 (PyTorch 2.13), so these are also compared with exact values computed by mpmath.
"""

import math

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import torch_programs as programs  # noqa: E402

pytestmark = pytest.mark.more  # each case exports and compiles a program

S = torch.special
LINE = torch.cat(
    [
        torch.linspace(-30, 30, 241, dtype=torch.float64),
        torch.tensor([-2.0, 2.0, -8.0, 8.0, 1e-9, -1e-9, 0.3, 0.9999, 5.0, 100.0, -100.0, 700.0], dtype=torch.float64),
        torch.tensor([math.inf, -math.inf, math.nan, -0.0], dtype=torch.float64),
    ]
)

BESSEL = (
    "bessel_j0 bessel_j1 bessel_y0 bessel_y1 spherical_bessel_j0 i0 i0e i1 i1e modified_bessel_i0 modified_bessel_i1"
)
MODIFIED = "modified_bessel_k0 modified_bessel_k1 scaled_modified_bessel_k0 scaled_modified_bessel_k1 airy_ai"
OTHERS = "digamma gammaln erfc erfcx log_ndtr ndtr ndtri entr erfinv"

PAIRS = "xlogy xlog1py zeta"
POLYNOMIALS = (
    *("chebyshev_polynomial_t", "chebyshev_polynomial_u", "chebyshev_polynomial_v", "chebyshev_polynomial_w"),
    *("shifted_chebyshev_polynomial_t", "shifted_chebyshev_polynomial_u", "shifted_chebyshev_polynomial_v"),
    *("shifted_chebyshev_polynomial_w", "hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l"),
    "legendre_polynomial_p",
)


def _compare(names, made, expected, tolerance, scale):
    for name, ours, theirs in zip(names, made, expected):
        torch.testing.assert_close(
            ours,
            theirs,
            rtol=tolerance,
            atol=tolerance * scale,
            equal_nan=True,
            msg=lambda m, name=name: f"{name}: {m}",
        )


@pytest.mark.parametrize("names, tolerance", [(BESSEL, 3e-6), (MODIFIED, 3e-6), (OTHERS, 3e-13)])
def test_functions_of_one_number(names, tolerance):
    names = names.split()

    def model(x):
        return [getattr(S, name)(x) for name in names]

    run = programs.compiled_for_all_sizes(model, (LINE,))
    _compare(names, run(LINE), model(LINE), tolerance, 1.0 if tolerance > 1e-9 else 1e-2)
    for count in (0, 1, 13):
        _compare(names, run(LINE[:count]), model(LINE[:count]), tolerance, 1.0)


def test_single_precision():
    names = "bessel_j1 i1e modified_bessel_k0 digamma gammaln erfcx".split()

    def model(x):
        return [getattr(S, name)(x) for name in names]

    run = programs.compiled_for_all_sizes(model, (LINE.float(),))
    # Eager mode rounds the angle of a reflection to f32.
    x = torch.cat([torch.linspace(0.01, 12, 97), torch.tensor([-0.3, -1.75])])
    _compare(names, run(x), model(x), 5e-6, 1e-1)


# x, then Y0, Y1, Ai(x), Ai(-x), J0, J1, K0 and K1 of x
EXACT = [
    (0.75, -0.1371727693857724, -1.0375945507692854, 0.17933630547864524, 0.5177725751515836)
    + (0.8642422751666486, 0.34924360217486217, 0.6105824221164641, 0.9495804669621403),
    (2.25, 0.5200647624572783, 0.02719205773801714, 0.023654658557747447, 0.06159865877700528)
    + (0.08274985128873404, 0.5483783566469601, 0.08404311197465811, 0.10121630256832526),
    (3.5, 0.1890219439208265, 0.41018841788751187, 0.002584098786989635, -0.37553382314043193)
    + (-0.3801277399872634, 0.1373775273623272, 0.01959889717036849, 0.022239392925923834),
    (5.5, -0.339480592881911, -0.023758238956389618, 3.368531190859981e-05, 0.017781541276574976)
    + (-0.006843869417819197, -0.34143821542904335, 0.0021387085659502875, 0.0023255690088490053),
    (9.0, 0.24993669828502468, 0.10431457519671589, 2.47116843087249e-09, -0.022133721547341403)
    + (-0.09033361118287614, 0.24531178657332528, 5.0881312956459246e-05, 5.363701637945195e-05),
    (30.0, -0.11729573168666403, 0.08442557066174723, 3.2082175915504954e-49, -0.08796818845684216)
    + (-0.08636798358104021, -0.11875106261662294, 2.1324774964630563e-14, 2.1677320018915495e-14),
]


def test_exact_values():
    def model(x):
        return (
            *(S.bessel_y0(x), S.bessel_y1(x), S.airy_ai(x), S.airy_ai(-x), S.bessel_j0(x), S.bessel_j1(x)),
            *(S.modified_bessel_k0(x), S.modified_bessel_k1(x)),
        )

    run = programs.compiled_for_all_sizes(model, (LINE[:9],))
    table = torch.tensor(EXACT, dtype=torch.float64).T.contiguous()
    for made, exact in zip(run(table[0]), table[1:]):
        torch.testing.assert_close(made, exact, rtol=1e-13, atol=1e-15 if exact.abs().min() > 1e-3 else 0.0)


def test_relative_precision_of_tails_and_near_zeros():
    """Numbers for which the naive formula of a logarithm, an inverse or a difference cancels."""

    def model(x, p):
        return torch.erfc(x), torch.lgamma(1 + p), S.ndtri(p), torch.digamma(x), S.log_ndtr(-x)

    run = programs.compiled_for_all_sizes(model, (LINE[:9], LINE[:9]))
    x = torch.tensor([0.4, 0.6, 2.0, 10.0, 20.0, 26.0, 1.5], dtype=torch.float64)
    p = torch.tensor([1e-300, 1e-20, 1e-6, 0.1, 0.4999999, 0.50001, 1 - 1e-10], dtype=torch.float64)
    _compare(["erfc", "lgamma", "ndtri", "digamma", "log_ndtr"], run(x, p), model(x, p), 3e-13, 0.0)


def test_functions_of_two_numbers():
    names = PAIRS.split()

    def model(x, y):
        return [getattr(S, name)(x, y) for name in names]

    run = programs.compiled_for_all_sizes(model, (LINE[:9], LINE[:9]))
    axis = torch.tensor([-3.0, -2.5, 0.0, 0.25, 1.0, 1.5, 2.0, 10.0, 60.0, 300.0, math.nan], dtype=torch.float64)
    x, y = (part.flatten() for part in torch.meshgrid(axis, axis, indexing="ij"))
    _compare(names, run(x, y), model(x, y), 1e-12, 1e-2)


def test_polygamma_and_multivariate_gamma():
    def model(x):
        return [torch.polygamma(n, x) for n in (0, 1, 2, 5)] + [torch.mvlgamma(x.abs() + 2, 3)]

    run = programs.compiled_for_all_sizes(model, (LINE[:9],))
    x = torch.linspace(-5.3, 40, 157, dtype=torch.float64)
    # Eager mode's second derivative is accurate to 1e-9.
    _compare(["0", "1", "2", "5", "mvlgamma"], run(x), model(x), 2e-9, 1e-2)


def test_incomplete_gamma():
    def model(a, x):
        return torch.igamma(a, x), torch.igammac(a, x)

    run = programs.compiled_for_all_sizes(model, (LINE[:9], LINE[:9]))
    orders = [0.0, 1e-10, 0.01, 0.3, 0.5, 1.0, 1.5, 5.0, 9.7, 30.0, 99.0, 101.0, 150.0, 1e3, 1e5, math.inf, -1.0]
    factors = [0.0, 1e-8, 0.05, 0.4, 0.69, 0.71, 0.95, 1.0, 1.001, 1.1, 1.29, 1.31, 2.0, 5.0, math.inf, -1.0]
    a, factor = (part.flatten() for part in torch.meshgrid(*map(torch.tensor, (orders, factors)), indexing="ij"))
    a, factor = a.double(), factor.double()
    for x in (torch.nan_to_num(a * factor, 1.0, math.inf, -math.inf), factor):
        lower, upper = run(a, x)
        _compare(["igamma", "igammac"], (lower, upper), model(a, x), 1e-8, 1e-1)
        inside = torch.isfinite(a) & torch.isfinite(x) & (a > 0) & (x >= 0)
        torch.testing.assert_close((lower + upper)[inside], torch.ones(int(inside.sum()), dtype=torch.float64))
    a = torch.tensor([30.0, 30.0], dtype=torch.float64)
    exact = torch.tensor([0.04343569553326277, 0.06474920118667797], dtype=torch.float64)
    lower, upper = run(a, torch.tensor([21.299999356269836, 38.69999885559082], dtype=torch.float64))
    torch.testing.assert_close(torch.stack([lower[0], upper[1]]), exact, rtol=1e-13, atol=0.0)


def test_orthogonal_polynomials():
    def model(x, n):
        return [getattr(S, name)(x, n) for name in POLYNOMIALS] + [S.legendre_polynomial_p(x, 4)]

    run = programs.compiled_for_all_sizes(model, (LINE[:9], LINE[:9]))
    axis = torch.tensor([-1.0, -0.7, 0.0, 0.3, 0.5, 0.999, 1.0, 1.7], dtype=torch.float64)
    degrees = torch.tensor([-1.0, 0.0, 1.0, 2.0, 3.0, 5.0, 7.0, 12.0, 20.0], dtype=torch.float64)
    x, n = (part.flatten() for part in torch.meshgrid(axis, degrees, indexing="ij"))
    _compare([*POLYNOMIALS, "scalar"], run(x, n), model(x, n), 1e-11, 1.0)

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Complex tensors against eager mode: the ops of a family are one program, compiled once and run at several sizes.

`z [n, m]` and `w [n, m]` are complex, `x [n, m]` is real, `b [n, m]` is Boolean; n and m are dynamic.
"""

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import torch_programs as programs  # noqa: E402

from relax_mlir import op  # noqa: E402
from relax_mlir.errors import UnsupportedOpError  # noqa: E402
from relax_mlir.frontends import torch as relax_torch  # noqa: E402

pytestmark = pytest.mark.more  # each case exports and compiles a program

SIZES = [(5, 3), (1, 1), (7, 1), (1, 5), (13, 2)]

PARTS = [
    lambda z, w, x, b: (z.real, z.imag, z.conj(), z.abs(), z.angle(), z.sgn()),
    lambda z, w, x, b: torch.view_as_real(z) * 2,
    lambda z, w, x, b: torch.view_as_complex(torch.stack([x, -x], -1)),
    lambda z, w, x, b: torch.complex(x, x + 1),
    lambda z, w, x, b: torch.polar(x.abs(), x),
    lambda z, w, x, b: (x.to(torch.complex64), z.to(torch.complex128)),
    lambda z, w, x, b: (z + 1, 2 - z, z * 1j, x * (1 + 2j), z / 3, 1 / z, z - w, z + x),
    lambda z, w, x, b: (z * w, z / w, z.reciprocal(), -z, z.square(), torch.add(z, w, alpha=1 - 2j)),
    lambda z, w, x, b: (torch.addcmul(z, z, w, value=2), torch.addcdiv(z, z, w, value=0.5j)),
    lambda z, w, x, b: (z == w, z != z, z == x, torch.isnan(z), torch.isfinite(z / 0), torch.isreal(z)),
    lambda z, w, x, b: (z.any(), z.all(1), torch.count_nonzero(z, 0), torch.logical_not(z), z.to(torch.bool)),
    lambda z, w, x, b: (torch.isclose(z, w), torch.nan_to_num(z), torch.lerp(z, w, 0.25)),
]

MOVES = [
    lambda z, w, x, b: z.reshape(-1),
    lambda z, w, x, b: (z.T, z.mT, z.mH, z.unsqueeze(1), z.transpose(0, 1).contiguous()),
    lambda z, w, x, b: (z[:1], z[:, -1], z.flip(0), z.roll(1, 1), z.expand(3, -1, -1)),
    lambda z, w, x, b: (torch.cat([z, w], 1), torch.cat([z, x]), torch.stack([z, w])),
    lambda z, w, x, b: (torch.where(b, z, w), torch.where(b, z, 0), z.masked_fill(b, 1 - 1j)),
    lambda z, w, x, b: (z[torch.tensor([0, -1])], z.index_select(1, torch.tensor([0, 0])), z.tril(), z.diagonal()),
    lambda z, w, x, b: (torch.zeros_like(z), torch.ones_like(z), torch.full_like(z, 2 - 1j), torch.empty_like(z) * 0),
    lambda z, w, x, b: torch.eye(3, dtype=torch.complex64) * z[:1, :1],
    lambda z, w, x, b: (torch.nn.functional.pad(z, (1, 2), value=1.0), z.repeat(2, 1), z.clone(), torch.diff(z, dim=0)),
    lambda z, w, x, b: z.index_put((torch.tensor([0, 0]),), w[:1], accumulate=True),
    lambda z, w, x, b: torch.linspace(0, 1 + 1j, 5) * z[:1, :1],
]

REDUCTIONS = [
    lambda z, w, x, b: (z.sum(), z.sum(1), z.sum(0, keepdim=True), z.sum() * 0.5, z.cumsum(1)),
    lambda z, w, x, b: (z.prod(), z.prod(1), z.prod(0, keepdim=True), z.cumprod(0)),
    lambda z, w, x, b: (
        z.norm(),
        torch.linalg.vector_norm(z, math.inf, 1),
        z.var(1, correction=0),
        z.std(0, correction=0),
    ),
    lambda z, w, x, b: (z @ w.mT, z.mH @ w, torch.mv(z, w[0]), torch.outer(z[0], w[0]), torch.vdot(z[0], w[0])),
    lambda z, w, x, b: (torch.nn.functional.linear(z, w, w[:, 0]), torch.addmm(z[:, :1], z, w.mT, beta=2j, alpha=0.5)),
    lambda z, w, x, b: (torch.einsum("ij,kj->ik", z, w), torch.einsum("ij,ij,ij->i", z, w, z), z @ x.mT.to(z.dtype)),
]

FUNCTIONS = [
    *(lambda z, f=f: getattr(torch, f)(z) for f in ("exp", "exp2", "expm1", "log", "log2", "log10", "log1p")),
    *(lambda z, f=f: getattr(torch, f)(z) for f in ("sqrt", "rsqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh")),
    *(lambda z, f=f: getattr(torch, f)(z) for f in ("asin", "acos", "atan", "asinh", "acosh", "atanh", "sigmoid")),
    lambda z: (z**2, z**3, z**0.5, z**-1, z**1.7, z ** (1 + 2j), 2**z, z**z),
]


def _arguments(n, m, dtype=torch.complex64):
    torch.manual_seed(n * 31 + m)
    z, w = torch.randn(n, m, dtype=dtype), torch.randn(n, m, dtype=dtype)
    return z, w, torch.randn(n, m, dtype=dtype.to_real()), torch.rand(n, m) > 0.5


def _family(functions):
    def run(*args):
        return [function(*args) for function in functions]

    return run


@pytest.mark.parametrize("functions", [PARTS, MOVES, REDUCTIONS], ids=["parts", "moves", "reductions"])
def test_ops(functions):
    run = programs.compiled_for_all_sizes(_family(functions), _arguments(5, 3))
    for size in SIZES:
        programs.check(run, _family(functions), _arguments(*size), 2e-5)


def _points(dtype, scale):
    """Numbers in all quadrants, near 0 and 1, and on both axes with zeros of both signs."""
    torch.manual_seed(0)
    axis = torch.tensor([-2.0, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 2.0, 1e-4], dtype=dtype.to_real())
    grid = torch.complex(*torch.meshgrid(axis, axis, indexing="ij")).flatten()
    # At the poles of the inverse functions, eager mode itself has several answers.
    poles = ((grid.real.abs() == 1) & (grid.imag == 0)) | ((grid.imag.abs() == 1) & (grid.real == 0)) | (grid == 0)
    return torch.cat([torch.randn(40, dtype=dtype) * scale, grid[~poles]])


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128], ids=str)
def test_functions(dtype):
    model = _family(FUNCTIONS)
    run = programs.compiled_for_all_sizes(model, (_points(dtype, 1.0),))
    tolerance = 1e-5 if dtype == torch.complex64 else 1e-13
    for scale in (1e-3, 1.0, 6.0):
        z = _points(dtype, scale)
        torch.testing.assert_close(run(z), model(z), rtol=tolerance, atol=tolerance)


def test_great_and_small_numbers():
    def model(z, w):
        return z.abs(), z / w, z.sqrt(), z.log(), z.reciprocal(), z.sgn()

    huge = torch.tensor(
        [3e38 + 3e38j, 1e-30 - 1e-30j, -2e38 + 1e-20j, 4e-39j + 1e-38, 1e20 + 1j], dtype=torch.complex64
    )
    programs.compare(model, (huge, huge.flip(0)), tolerance=1e-5)


def test_no_elements():
    run = programs.compiled_for_all_sizes(lambda z: (z * 2, z.sum(0)), (torch.randn(3, 4, dtype=torch.complex64),))
    doubled, total = run(torch.zeros(0, 4, dtype=torch.complex64))
    assert doubled.shape == (0, 4) and doubled.dtype == torch.complex64
    assert torch.equal(total, torch.zeros(4, dtype=torch.complex64))


def test_means():
    """PyTorch makes the sizes static over which a mean of complex numbers is computed."""
    z = torch.randn(5, 3, dtype=torch.complex64)
    programs.compare(lambda z: (z.mean(), z.mean(0, keepdim=True), torch.std_mean(z, 1)), (z,), shapes=None)


class _Stateful(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(3, 4, dtype=torch.complex64))
        self.register_buffer("total", torch.zeros(4, dtype=torch.complex64))

    def forward(self, z):
        self.total.add_(z.sum(0))
        z.mul_(2)
        return z @ self.weight.mH + self.total.sum()


def test_weights_buffers_and_changed_inputs(tmp_path):
    model = _Stateful().eval()
    z = torch.randn(5, 4, dtype=torch.complex64)
    program = relax_torch.export(model, (z.clone(),), dynamic_shapes={"z": {0: "n"}})
    run = program.compile(cached=False)
    program.export(tmp_path / "folder")
    loaded = relax_torch.load_program(tmp_path / "folder")
    for n in (5, 2, 1):
        z = torch.randn(n, 4, dtype=torch.complex64)
        ours, theirs = z.clone(), z.clone()
        made, expected = run(ours), model(theirs)
        torch.testing.assert_close(made, expected, rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(ours, theirs)
        array = z.numpy().copy()
        made = loaded(array)
        assert made.dtype == np.complex64
        np.testing.assert_allclose(made, expected.detach().numpy(), rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(array, theirs.numpy())


def test_views_as_inputs():
    """Conjugated and strided inputs are read as the values that they represent."""
    run = programs.compiled(lambda z: z * 1j, (torch.randn(5, 3, dtype=torch.complex64),))
    z = torch.randn(3, 7, dtype=torch.complex64)
    for given in (z.mH, z.T, z[:, ::2], z.conj()):
        torch.testing.assert_close(run(given), given * 1j)


def test_real_numbers_for_complex_ones():
    run = programs.compiled(lambda z: z * 1j, (torch.randn(5, dtype=torch.complex64),))
    with pytest.raises(TypeError, match="expected complex numbers, got elements of torch.float32"):
        run(torch.randn(5))
    with pytest.raises(TypeError, match="expected elements of type f32, got f64"):
        run(torch.randn(5, dtype=torch.complex128))


def test_unknown_op_of_complex_numbers_is_named():
    sort = programs.Model(lambda z: torch.ops.aten.native_dropout(z, 0.5, False)[0])
    with pytest.raises(UnsupportedOpError, match="1 complex PyTorch op has no converter:\n  aten::native_dropout"):
        relax_torch.export(sort, (torch.randn(5, dtype=torch.complex64),))


def test_converters_of_users():
    """A custom op has separate converters for complex and for real numbers."""

    @torch.library.custom_op("relaxtest::turn", mutates_args=())
    def turn(z: torch.Tensor) -> torch.Tensor:
        return z * 1j

    turn.register_fake(lambda z: torch.empty_like(z))

    @relax_torch.register_complex("relaxtest::turn")
    def convert(ctx, z):
        return relax_torch.Complex(op.negative(z.imag), z.real)

    programs.compare(lambda z: turn(z) + 1, (torch.randn(5, dtype=torch.complex64),))

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ops that few models use, against eager mode: strided views, segments, pooling with indices, resampling, statistics.

The ops of a family are one program, compiled once and run at several sizes.
"""

import math

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import torch_programs as programs  # noqa: E402

from relax_mlir.errors import FrontendError  # noqa: E402

F = torch.nn.functional
ONE_OF = 3  # each case exports and compiles a program


def together(functions):
    return lambda *args: [function(*args) for function in functions]


def compare(model, args, *others, tolerance=1e-5):
    """Like `programs.compare`, without the check of sizes of 1, which needs another export for each size."""
    return programs.compare(model, args, *others, tolerance=tolerance, check_small=False)


MEMORY = [
    lambda x: x.as_strided((x.shape[0], 2), (x.shape[1], 1)),
    lambda x: x.as_strided((2, 3), (1, 2), 1),
    lambda x: torch.as_strided_copy(x, (3,), (x.shape[1] + 1,)),
    lambda x: torch.as_strided_scatter(x, torch.ones(2, 2), (2, 2), (x.shape[1], 2), 1),
]

SEGMENTS = [
    lambda x: torch.segment_reduce(x, "sum", lengths=torch.tensor([1, 0, 2]), unsafe=True),
    lambda x: torch.segment_reduce(x, "mean", lengths=torch.tensor([1, 0, 2]), unsafe=True),
    lambda x: torch.segment_reduce(x, "max", offsets=torch.tensor([0, 2, 3]), initial=0.25),
    lambda x: torch.segment_reduce(x, "prod", lengths=torch.tensor([[2, 1]] * 3), axis=1, unsafe=True),
    lambda x: torch.nonzero_static(x > 0, size=7, fill_value=-3),
    lambda x: F.pdist(x),
    lambda x: F.pdist(x, 1.5),
]

POOLS = [
    lambda x: F.adaptive_max_pool2d(x[None], (2, 3), return_indices=True),
    lambda x: F.adaptive_max_pool1d(x, 3, return_indices=True),
    lambda x: F.adaptive_max_pool2d(torch.full_like(x, -math.inf), (2, 2), return_indices=True),
    lambda x: F.avg_pool2d(x, 3, 2, 1, ceil_mode=True, divisor_override=5),
    lambda x: F.avg_pool1d((x * 10).long(), 2),
]

IMAGES = [
    lambda x, grid: F.grid_sample(x, grid, "nearest", "border", False),
    lambda x, grid: F.grid_sample(x[:, :, None], F.pad(grid, (0, 1))[:, None], "bilinear", "zeros", True),
    lambda x, grid: F.interpolate(x, (11, 3), mode="bicubic", antialias=True, align_corners=True),
]


@pytest.mark.parametrize("functions", [MEMORY, SEGMENTS], ids=["memory", "segments"])
def test_matrices(functions):
    sizes = [(3, 5), (3, 4), (3, 9)] if functions is not MEMORY else [(4, 5), (5, 6), (7, 4)]
    compare(together(functions), *[(torch.randn(*size),) for size in sizes])


def test_pooling():
    compare(together(POOLS), *[(torch.randn(*size),) for size in [(3, 7, 8), (2, 9, 5), (4, 6, 11)]])


def test_images():
    def some(n, h, w):
        return torch.randn(n, 2, h, w), torch.rand(n, 3, 5, 2) * 2.4 - 1.2

    compare(together(IMAGES), some(2, 6, 7), some(3, 9, 5), tolerance=1e-4)


# Each result depends on sixteen pixels, which takes a while to compile.
@pytest.mark.more
def test_bicubic_samples():
    def function(x, grid):
        return F.grid_sample(x, grid, "bicubic", "reflection", True)

    compare(function, (torch.randn(2, 2, 6, 7), torch.rand(2, 3, 5, 2) * 2.4 - 1.2), tolerance=1e-4)


# The factor is not a short binary fraction, so the guard of the export contains a float.
def test_guards_with_floats():
    def function(x):
        return F.interpolate(x, scale_factor=0.8, mode="bilinear", antialias=True)

    compare(function, (torch.randn(1, 2, 10, 11),), (torch.randn(1, 2, 7, 14),), tolerance=1e-4)


def test_runs_of_equal_elements():
    def function(x):
        return torch.unique_consecutive(x, return_inverse=True, return_counts=True)

    def of_axis(x):
        return torch.unique_consecutive(x, return_counts=True, dim=0)

    x = torch.tensor([[1, 1, 2], [1, 1, 2], [2, 2, 2], [1, 1, 2]])
    for model in (function, of_axis):
        compare(model, (x,), (x.flip(0).repeat(2, 1),), (torch.zeros(5, 4, dtype=torch.int64),))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
def test_next_number(dtype):
    limits = torch.finfo(dtype)
    tiny = limits.smallest_normal
    numbers = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        1.5,
        4.0,
        tiny,
        -tiny,
        tiny * limits.eps,
        limits.max,
        math.inf,
        -math.inf,
        math.nan,
    ]
    x = torch.tensor(numbers).to(dtype)
    x = torch.cat([x, torch.randn(20).to(dtype)])
    lhs, rhs = x.repeat_interleave(len(x)), x.repeat(len(x))
    compare(torch.nextafter, (lhs, rhs), (rhs[1:], lhs[1:]), tolerance=0)


def test_norms_in_training_update_their_statistics():
    def function(x, mean, variance):
        return F.batch_norm(x, mean, variance, training=True, momentum=0.3), F.batch_norm(x, None, None, training=True)

    def instance(x, mean, variance):
        return F.instance_norm(x, mean, variance, momentum=0.3)

    for model in (function, instance):
        run = programs.compiled(model, (torch.randn(4, 3, 5), torch.zeros(3), torch.ones(3)), check_small=False)
        for n in (4, 7):
            x = torch.randn(n, 3, 6) * 2 + 1
            ours, theirs = ([x, torch.zeros(3), torch.ones(3)] for _ in range(2))
            torch.testing.assert_close(run(*ours), model(*theirs), rtol=1e-5, atol=1e-5)
            torch.testing.assert_close(ours, theirs)
            assert not torch.equal(ours[1], torch.zeros(3))


def test_strides_of_what_is_not_contiguous_are_refused():
    with pytest.raises(FrontendError, match="not contiguous"):
        programs.compiled(lambda x: torch.as_strided_copy(x, (2,), (1,)), (torch.randn(3, 5).t(),))


# The kernel has a dynamic size, on which the padding depends.
def test_padding_to_the_same_size_with_a_dynamic_kernel():
    def some(n, k):
        return torch.randn(2, 3, n), torch.randn(4, 3, k)

    compare(lambda x, w: F.conv1d(x, w, padding="same"), some(9, 3), some(12, 5), tolerance=1e-4)

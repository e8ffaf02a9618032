# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Converters against eager mode: the ops of a family are one program, compiled once and run at several sizes.

`x [n, m]` and `y [n, m]` are f32, `i [n, m]` has small i64 values, `b [n, m]` is Boolean; n and m are dynamic.
"""

import math

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import torch_programs as programs  # noqa: E402

F = torch.nn.functional
ONE_OF = 3  # each case exports and compiles a program

ELEMENTWISE = [
    lambda x, y, i, b: x + y,
    lambda x, y, i, b: torch.add(x, y, alpha=3),
    lambda x, y, i, b: i + 1.5,
    lambda x, y, i, b: i / 2,
    lambda x, y, i, b: 2 - i,
    lambda x, y, i, b: torch.rsub(x, 1, alpha=2),
    lambda x, y, i, b: b + b,
    lambda x, y, i, b: b * True,
    lambda x, y, i, b: b * x,
    lambda x, y, i, b: i // -3,
    lambda x, y, i, b: torch.div(x, y, rounding_mode="floor"),
    lambda x, y, i, b: torch.div(x, y, rounding_mode="trunc"),
    lambda x, y, i, b: torch.div(i, 3, rounding_mode="trunc"),
    lambda x, y, i, b: i % -3,
    lambda x, y, i, b: torch.fmod(x, 0.7),
    lambda x, y, i, b: x**2 + x**3 + x.abs() ** 0.5 + x.abs() ** 1.7,
    lambda x, y, i, b: i**2,
    lambda x, y, i, b: torch.maximum(x, y),
    lambda x, y, i, b: torch.fmax(x, torch.where(b, math.nan, y)),
    lambda x, y, i, b: torch.atan2(x, y),
    lambda x, y, i, b: torch.addcmul(x, x, y, value=2),
    lambda x, y, i, b: torch.addcdiv(x, x, y.exp(), value=-0.5),
    lambda x, y, i, b: (x < y) & (i != 2) | ~b,
    lambda x, y, i, b: (i > 0.5) ^ (b == False),  # noqa: E712
    lambda x, y, i, b: torch.where(b, 1.0, 0.0),
    lambda x, y, i, b: torch.where(i > 2, x, 0),
    lambda x, y, i, b: x.masked_fill(b, -math.inf),
    lambda x, y, i, b: x.clamp(-0.5, 0.5),
    lambda x, y, i, b: x.clamp(min=0.25),
    lambda x, y, i, b: torch.clamp(x, y - 0.1, y + 0.1),
    lambda x, y, i, b: i & 3 | 8 ^ i,
    lambda x, y, i, b: (i << 2) >> 1,
    lambda x, y, i, b: torch.logical_xor(i, b),
    lambda x, y, i, b: torch.logical_not(x),
    lambda x, y, i, b: x.exp() + x.sin() * x.cos() + x.tanh() + x.erf() + x.sigmoid() + i.sqrt(),
    lambda x, y, i, b: x.abs().log() + x.abs().log2() + x.abs().log10() + x.abs().log1p() + x.expm1(),
    lambda x, y, i, b: x.ceil() + x.floor() + x.round() + x.trunc() + x.frac() + i.floor(),
    lambda x, y, i, b: torch.round(x * 10, decimals=1),
    lambda x, y, i, b: x.reciprocal() + x.neg() + x.sign() + x.erfc() + x.abs().rsqrt(),
    lambda x, y, i, b: torch.nan_to_num(torch.where(b, math.inf, x)),
    lambda x, y, i, b: torch.isnan(x) | torch.isinf(x / 0) | torch.isfinite(i),
    lambda x, y, i, b: torch.signbit(x * 0.0),
    lambda x, y, i, b: x.to(torch.int32) + b.to(torch.int32),
    lambda x, y, i, b: x.double() / 3,
    lambda x, y, i, b: (x.bfloat16() * 0.1).float(),
    lambda x, y, i, b: torch.lerp(x, y, 0.3),
    lambda x, y, i, b: torch.logaddexp(x, y),
]

ACTIVATIONS = [
    F.relu,
    F.relu6,
    F.gelu,
    lambda x: F.gelu(x, approximate="tanh"),
    F.silu,
    F.mish,
    F.elu,
    lambda x: F.celu(x, 0.7),
    F.selu,
    F.leaky_relu,
    F.hardswish,
    F.hardsigmoid,
    lambda x: F.hardtanh(x, -0.4, 0.3),
    lambda x: F.softplus(x, 2, 3),
    F.logsigmoid,
    F.softsign,
    F.tanhshrink,
    lambda x: F.hardshrink(x, 0.3),
    lambda x: F.softshrink(x, 0.3),
    lambda x: F.threshold(x, 0.1, 20),
    lambda x: F.softmax(x, -1),
    lambda x: F.log_softmax(x, 0),
    lambda x: F.softmax(x, 0, dtype=torch.float64),
]

REDUCTIONS = [
    lambda x, i, b: x.sum(),
    lambda x, i, b: x.sum(0, keepdim=True),
    lambda x, i, b: i.sum(1, dtype=torch.float32),
    lambda x, i, b: b.sum(),
    lambda x, i, b: x.mean((0, 1)),
    lambda x, i, b: x.prod(1),
    lambda x, i, b: (x.amax(1), x.amin((0, 1))),
    lambda x, i, b: x.max(1),
    lambda x, i, b: x.min(0, keepdim=True),
    lambda x, i, b: (x.max(), i.min(), b.max()),
    lambda x, i, b: (x.argmax(), x.argmin(1), x.argmax(0, keepdim=True)),
    lambda x, i, b: (b.any(), i.all(1), x.any(0)),
    lambda x, i, b: (x.var(1), x.std(0, correction=0), x.var()),
    lambda x, i, b: torch.var_mean(x, 1, keepdim=True),
    lambda x, i, b: x.logsumexp(1),
    lambda x, i, b: (x.cumsum(1), i.cumsum(0), x.cumprod(1)),
    lambda x, i, b: b.cumsum(1),
    lambda x, i, b: torch.diff(x, dim=0, prepend=x[:1]),
    lambda x, i, b: torch.count_nonzero(i, 1),
    lambda x, i, b: (x.norm(), x.norm(1, 1), torch.linalg.vector_norm(x, math.inf, 0)),
    lambda x, i, b: x.aminmax(dim=1),
    lambda x, i, b: torch.nansum(torch.where(b, math.nan, x), 1),
]

MANIPULATION = [
    lambda x, i, b: x.reshape(-1),
    lambda x, i, b: x.t().reshape(x.shape[0] * x.shape[1]),
    lambda x, i, b: x.unsqueeze(-1).expand(-1, -1, 3),
    lambda x, i, b: x[:, None, :].transpose(0, 2),
    lambda x, i, b: x.unsqueeze(1).squeeze(1),
    lambda x, i, b: torch.cat([x, torch.zeros(0), i], 1),
    lambda x, i, b: torch.stack([x, x * 2], -1),
    lambda x, i, b: x.split([1, x.shape[1] - 1], 1),
    lambda x, i, b: x[..., 0] + x[..., -1],
    lambda x, i, b: (x[1:], x[:-1], x[:, ::2], x[-1:], x[:, 1:-1]),
    lambda x, i, b: x.narrow(1, 1, 1),
    lambda x, i, b: x.repeat(2, 3),
    lambda x, i, b: x.tile(2),
    lambda x, i, b: x.repeat_interleave(3, 1),
    lambda x, i, b: x.flip(0, 1),
    lambda x, i, b: (x.roll(1, 0), x.roll(-2, 1), x.roll(3)),
    lambda x, i, b: x.unfold(1, 2, 1),
    lambda x, i, b: torch.diagonal(x, 1),
    lambda x, i, b: (x.tril(), x.triu(1)),
    lambda x, i, b: F.pad(x, (1, 2, 3, 0), value=0.5),
    lambda x, i, b: F.pad(x[None], (1, 1), mode="reflect"),
    lambda x, i, b: F.pad(x[None], (1, 2), mode="replicate"),
    lambda x, i, b: F.pad(b, (1, 0), value=True),
    lambda x, i, b: x.movedim(0, 1),
    lambda x, i, b: x.view(x.shape[0], 1, -1).permute(2, 0, 1),
    lambda x, i, b: torch.atleast_3d(x),
    lambda x, i, b: x.clone().contiguous().detach(),
]

CREATION = [
    lambda x: torch.arange(x.shape[0]),
    lambda x: torch.arange(1, x.shape[0] + 3, 2, dtype=torch.float32),
    lambda x: torch.arange(0.0, 1.0, 0.3),
    lambda x: torch.arange(x.shape[1], -1, -1),
    lambda x: torch.linspace(0, 1, 7),
    lambda x: torch.zeros_like(x) + x.new_ones(x.shape[1]),
    lambda x: torch.full((x.shape[0], 2), 0.5),
    lambda x: torch.full_like(x, 3, dtype=torch.int64),
    lambda x: torch.eye(x.shape[1]),
    lambda x: F.one_hot(torch.arange(4) % 3, 5),
    lambda x: torch.tril_indices(3, 4),
    lambda x: torch.meshgrid(torch.arange(x.shape[0]), torch.arange(3), indexing="ij"),
    lambda x: torch.tensor(2.5) * x,
    lambda x: torch.tensor([1, 2, 3]) + x.shape[0],
    lambda x: x * x.shape[0],
    lambda x: x * (x.shape[0] / 2),
    lambda x: x + x.shape[0] // 2 * 3 - x.shape[1] % 2,
]


def together(functions):
    return lambda *args: [function(*args) for function in functions]


def tables(n, m):
    return (
        torch.randn(n, m),
        torch.randn(n, m),
        torch.randint(0, 5, (n, m)),
        torch.rand(n, m) < 0.4,
    )


SIZES = ((1, 7), (2, 2), (6, 13))


def test_elementwise():
    function = together(ELEMENTWISE)
    programs.compare(function, tables(3, 5), *(tables(*size) for size in SIZES), tolerance=1e-4)


def test_activations():
    function = together(ACTIVATIONS)
    programs.compare(function, (torch.randn(3, 5),), *((torch.randn(size),) for size in SIZES))


def test_reductions():
    def some(n, m):
        x, _, i, b = tables(n, m)
        return x, i, b

    programs.compare(together(REDUCTIONS), some(3, 5), some(2, 2), some(7, 13))


def test_manipulation():
    def some(n, m):
        x, _, i, b = tables(n, m)
        return x, i, b

    programs.compare(together(MANIPULATION), some(4, 6), some(5, 7), some(7, 13))


def test_creation():
    programs.compare(together(CREATION), (torch.randn(3, 5),), *((torch.randn(size),) for size in SIZES))


INDEXING = [
    lambda x, i, k, b: x[i],
    lambda x, i, k, b: x[:, i],
    lambda x, i, k, b: x[i, i],
    lambda x, i, k, b: x[i, :, i],
    lambda x, i, k, b: x[:, i, k],
    lambda x, i, k, b: x[i[:, None], k],
    lambda x, i, k, b: x[None, ..., i],
    lambda x, i, k, b: x[-1, i - 2],
    lambda x, i, k, b: x.index_select(1, k),
    lambda x, i, k, b: x.gather(2, torch.zeros_like(x, dtype=torch.int64)[..., :1]),
    lambda x, i, k, b: x.gather(1, x.argsort(1)),
    lambda x, i, k, b: x.index_add(0, i, x[i]),
    lambda x, i, k, b: x.index_copy(1, torch.tensor([1, 0]), x[:, :2] * 2),
    lambda x, i, k, b: x.index_fill(2, k[:1], 7.0),
    lambda x, i, k, b: x.index_put((i,), torch.tensor(1.0)),
    lambda x, i, k, b: x.index_put((i, k), torch.ones(()), accumulate=True),
    lambda x, i, k, b: torch.zeros_like(x).scatter(0, i[:, None, None].expand(-1, 3, 2) % x.shape[0], 1.5),
    lambda x, i, k, b: torch.zeros_like(x).scatter_add(0, torch.zeros_like(x, dtype=torch.int64), x),
    lambda x, i, k, b: x.scatter_reduce(0, torch.zeros_like(x, dtype=torch.int64), x, "amax", include_self=False),
    lambda x, i, k, b: x.scatter_reduce(0, torch.zeros_like(x, dtype=torch.int64), x, "mean"),
    lambda x, i, k, b: x.slice_scatter(x[:1] * 2, 0, 1, 2),
    lambda x, i, k, b: x.select_scatter(x[0] * 2, 0, 1),
    lambda x, i, k, b: x.masked_scatter(b, x * 10),
    lambda x, i, k, b: F.embedding(i, x[:, 0]),
    lambda x, i, k, b: torch.where(b, x, -x).sort(1),
    lambda x, i, k, b: x.topk(2, 1),
    lambda x, i, k, b: x.kthvalue(2, 1),
    lambda x, i, k, b: torch.bucketize(x, torch.tensor([-0.5, 0.0, 0.5])),
    lambda x, i, k, b: torch.searchsorted(x.sort(-1)[0], x, right=True),
    lambda x, i, k, b: torch.histc(i.float(), 4, 0, 3),
]


def mutations(x, i, k, b):
    x = x.clone()
    x[b] = 0.5
    x[i] += 1
    x[:, 1:, 0] = -1
    x[..., ::2].mul_(3)
    return x


@pytest.mark.parametrize(
    "functions",
    [INDEXING[:11], INDEXING[11:15], INDEXING[15:18], INDEXING[18:23], INDEXING[23:], [mutations]],
    ids=["reading", "slices", "places", "parts", "order", "mutations"],
)
def test_indexing(functions):
    def some(n, m, count):
        x = torch.randn(n, m, 4)
        return x, torch.randint(0, 2, (count,)), torch.randint(0, 2, (count,)), torch.rand(n, m, 4) < 0.5

    programs.compare(together(functions), some(3, 5, 7), some(2, 3, 2), some(8, 9, 5))


def test_products():
    def function(x, w, v):
        return [
            x @ w,
            w @ v,
            v @ v,
            torch.addmm(v[:1], x, w, beta=0.5, alpha=2),
            torch.baddbmm(x[None], x[None], (w @ w.t())[None]),
            F.linear(x, w.t(), v),
            torch.einsum("ij,jk->ik", x, w),
            torch.einsum("ij,ik->jk", x, x),
            torch.outer(v, v),
            torch.bmm(x[None], w[None]),
            x[None, None] @ w,
        ]

    def some(n, k, m):
        return torch.randn(n, k), torch.randn(k, m), torch.randn(m)

    programs.compare(function, some(3, 5, 7), some(1, 4, 2), some(9, 11, 13), tolerance=1e-4)


def test_norms_convolutions_and_pooling():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            nn = torch.nn
            self.conv = nn.Conv2d(3, 8, 3, padding=1, stride=2)
            self.same = nn.Conv2d(8, 8, (3, 2), padding="same", groups=4, dilation=2)
            self.up = nn.ConvTranspose2d(8, 6, 3, stride=2, padding=1, output_padding=1)
            self.norms = nn.ModuleList([nn.BatchNorm2d(6), nn.GroupNorm(3, 6), nn.InstanceNorm2d(6, affine=True)])
            self.layer, self.rms = nn.LayerNorm(6), nn.RMSNorm(6)
            self.conv1, self.pool1 = nn.Conv1d(6, 4, 3), nn.MaxPool1d(2)

        def forward(self, x):
            x = self.up(self.same(self.conv(x)))
            for norm in self.norms:
                x = norm(x)
            pools = [
                F.max_pool2d(x, 3, 2, 1),
                F.max_pool2d(x, 2, ceil_mode=True),
                F.avg_pool2d(x, 3, 2, 1),
                F.avg_pool2d(x, 2, count_include_pad=False),
                F.adaptive_avg_pool2d(x, (1, 1)),
                F.adaptive_avg_pool2d(x, (3, None)),
                F.interpolate(x, scale_factor=2, mode="nearest"),
                F.interpolate(x, size=(7, 5), mode="bilinear"),
                F.interpolate(x, size=(4, 9), mode="bicubic", align_corners=True),
                F.pixel_shuffle(self.same.weight[None].reshape(1, 8, 3, 4)[:, :, :2], 2),
            ]
            x = self.rms(self.layer(x.flatten(2).mT)).mT
            return pools, self.pool1(self.conv1(x)), F.interpolate(x, size=9, mode="linear")

    model = Net().eval()
    model.norms[0].running_mean.normal_()
    dim = torch.export.Dim("batch", min=1, max=64)
    images = [torch.randn(count, 3, 12, 16) for count in (3, 1, 7)]
    programs.compare(model, images[:1], *((x,) for x in images), shapes=({0: dim},), tolerance=1e-4)


def test_recurrent_layers():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm = torch.nn.LSTM(4, 5, num_layers=2, bidirectional=True, batch_first=True)
            self.gru = torch.nn.GRU(10, 3, batch_first=True)

        def forward(self, x):
            y, (h, c) = self.lstm(x)
            return self.gru(y), h, c

    model = Net().eval()
    batches = [torch.randn(count, steps, 4) for count, steps in ((7, 3), (1, 5), (5, 1), (1, 1), (2, 11))]
    shapes = {"x": {0: torch.export.Dim.DYNAMIC, 1: torch.export.Dim.DYNAMIC}}
    programs.compare(model, batches[:1], *((x,) for x in batches), shapes=shapes, tolerance=1e-4)


def test_sizes_that_only_the_run_knows():
    def function(x, i):
        positions = x.nonzero()
        chosen = x[x > 0]
        distinct, inverse = torch.unique(i, return_inverse=True)
        return positions, chosen * 2, x.masked_select(x < 0).sum(), distinct, inverse, x[x.sum(1) > 0]

    def some(n, m):
        return torch.randn(n, m), torch.randint(0, 4, (n,))

    programs.compare(function, some(3, 5), some(2, 3), some(7, 11), (torch.zeros(3, 4), some(3, 4)[1]))


def test_repeats_and_numbers_from_tensors():
    def function(x, repeats, count):
        n = count.item()
        torch._check(n >= 0)
        torch._check(n <= x.shape[0])
        return x.repeat_interleave(repeats, 0), x[:n] + n, torch.zeros(n, 2), x * n

    def some(n, count):
        return torch.randn(n, 2), torch.randint(0, 3, (n,)), torch.tensor(count)

    run = programs.compare(function, some(3, 2), some(5, 0), some(7, 7))
    with pytest.raises(ValueError):
        run(*some(3, 4))


def test_control_flow():
    def function(x):
        y = torch.cond(x.sum() > 0, lambda x: x.sin(), lambda x: x * 2, (x,))

        def body(i, z):
            return i + 1, z * 0.5

        _, z = torch.while_loop(lambda i, z: i < 3, body, (torch.tensor(0), x))
        return y, z

    programs.compare(function, (torch.ones(3, 2),), (-torch.ones(2, 2),), (torch.randn(7, 2),))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16], ids=str)
def test_float_types(dtype):
    def function(x, y):
        return [x + y * 0.1, F.gelu(x), F.softmax(x, -1), x @ y.mT, F.layer_norm(x, (8,)), x.mean(), x.sum(0), x / 3]

    def some(n):
        return torch.randn(n, 8).to(dtype), torch.randn(n, 8).to(dtype)

    tolerance = {torch.float64: 1e-6, torch.float16: 4e-3, torch.bfloat16: 3e-2}[dtype]
    programs.compare(function, some(3), some(1), some(11), tolerance=tolerance)


@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8, torch.int16, torch.int32], ids=str)
def test_integer_types(dtype):
    def function(x, y):
        return [x + y, x * 3, x // 2, x % 3, x - 1, x.sum(), x.float() / 2, x > y, x.max(), x.to(torch.bool), -x]

    def some(n):
        return torch.randint(0, 100, (n, 8)).to(dtype), torch.randint(1, 100, (n, 8)).to(dtype)

    programs.compare(function, some(3), some(1), some(11))


def test_zero_dimensional_tensors():
    def function(x, y):
        return x + y, x.sum(), x.softmax(0), x.max(), x.sort(), x.unsqueeze(0), x.cumsum(0), x.argmax(), x.any()

    programs.compare(function, (torch.tensor(1.5), torch.tensor(2)), (torch.tensor(-0.5), torch.tensor(1)))


COMPOSED = [
    lambda x, i: (x.median(), x.median(1), x.nanmedian(0, keepdim=True)),
    lambda x, i: torch.where(i == 2, math.nan, x).median(1)[0],
    lambda x, i: (x.cummax(1), i.cummin(0), (i == 2).cummax(1), (i == 2).cummin(0)),
    lambda x, i: i.mode(1),
    lambda x, i: torch.logcumsumexp(x, 1),
    lambda x, i: (torch.dist(x, x * 2, 3), torch.cdist(x, x[:2])),
    lambda x, i: (torch.gcd(i * 6, i + 4), torch.lcm(i, i + 1)),
    lambda x, i: (torch.copysign(x, -x), torch.ldexp(x, i), torch.hypot(x, x * 2), torch.angle(x)),
    lambda x, i: torch.frexp(x * 100),
    lambda x, i: (torch.lgamma(x), torch.digamma(x.abs() + 0.1), torch.erfinv(x.tanh())),
    lambda x, i: F.max_pool2d(x[None, None], (2, 3), 2, 1, return_indices=True),
    lambda x, i: F.adaptive_max_pool2d(x[None, None], (2, 3)),
    lambda x, i: F.grid_sample(x[None, None], torch.full((1, 2, 3, 2), 0.3), align_corners=False),
    lambda x, i: x.index_reduce(0, i[0, :1] % 2, x[:1], "prod"),
    lambda x, i: torch.diagonal_scatter(x, torch.zeros(x.shape[0]), 0),
    lambda x, i: F.layer_norm(x, (x.shape[1],), eps=-1e-9),
]


@pytest.mark.parametrize("functions", [COMPOSED[:6], COMPOSED[6:10], COMPOSED[10:]], ids=["order", "numbers", "images"])
def test_compositions(functions):
    def some(n, m):
        return torch.randn(n, m), torch.randint(0, 4, (n, m))

    programs.compare(together(functions), some(4, 7), some(5, 9), some(6, 13), tolerance=1e-4)


# Eager mode takes as many differences as there are elements.
def test_differences_of_few_elements():
    def function(x, y):
        return torch.diff(x, dim=1), torch.diff(x, n=3, dim=1), torch.diff(y, dim=1)

    programs.compare(function, (torch.randn(5, 1), torch.randn(5, 0)), (torch.randn(3, 1), torch.randn(3, 0)))

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The layers of `nn`, compiled with values from `load_state_dict` and compared with NumPy."""

import itertools

import numpy as np
import pytest

from relax_mlir import RelaxError, Sym, Tensor, compile, nn, op

n, m, w, h = Sym("n"), Sym("m"), Sym("w"), Sym("h")
rng = np.random.default_rng(0)


def random(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def with_values(model):
    """The state of the model, after it has random values; variances are positive."""
    state = {
        name: abs(random(*tensor.shape)) if "var" in name else random(*tensor.shape)
        for name, tensor in model.assign_names().items()
    }
    model.load_state_dict(state)
    return state


def compiled(model, *params):
    return compile(nn.export(model, {"forward": params}), weights=model.state_dict())["forward"]


def normalized(x, axes, epsilon=1e-5):
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + epsilon)


def convolved(x, weight, bias, strides, padding, dilation, groups):
    """A convolution of any rank by its definition."""
    rank = x.ndim - 2
    x = np.pad(x, [(0, 0), (0, 0), *[(padding, padding)] * rank])
    reach = [(size - 1) * dilation + 1 for size in weight.shape[2:]]
    sizes = [(size - length) // strides + 1 for size, length in zip(x.shape[2:], reach)]
    y = np.zeros((x.shape[0], weight.shape[0], *sizes), np.float32)
    inputs, outputs = weight.shape[1], weight.shape[0] // groups
    for out in range(weight.shape[0]):
        part = x[:, out // outputs * inputs :][:, :inputs]
        for place in itertools.product(*map(range, sizes)):
            window = tuple(slice(at * strides, at * strides + length, dilation) for at, length in zip(place, reach))
            y[(slice(None), out, *place)] = (part[(..., *window)] * weight[out]).sum(tuple(range(1, x.ndim)))
    return y if bias is None else y + bias.reshape(-1, *[1] * rank)


@pytest.mark.parametrize(
    "options",
    [{}, {"strides": 2, "padding": 1}, {"groups": 2, "dilation": 2, "bias": False, "padding": 2}],
    ids=["plain", "strides", "groups"],
)
@pytest.mark.parametrize("rank", [1, 2])
def test_convolutions(rank, options):
    layer = (nn.Conv1d if rank == 1 else nn.Conv2d)(4, 6, 3, **options)
    state = with_values(layer)
    forward = compiled(layer, Tensor((n, 4, *(w, h)[:rank])))
    for batch, size in ((1, 5), (2, 8), (0, 6)):
        x = random(batch, 4, *(size, size + 1)[:rank])
        settings = {"strides": 1, "padding": 0, "dilation": 1, "groups": 1, **options}
        settings.pop("bias", None)
        expected = convolved(x, state["weight"], state.get("bias"), **settings)
        np.testing.assert_allclose(forward(x), expected, rtol=1e-4, atol=1e-4)


def test_normalizations():
    class Norms(nn.Module):
        def __init__(self):
            self.batch = nn.BatchNorm(6)
            self.group = nn.GroupNorm(3, 6)
            self.plain = nn.GroupNorm(2, 6, affine=False)
            self.layer = nn.LayerNorm(5)
            self.layers = nn.LayerNorm((6, 5), bias=False)
            self.rms = nn.RMSNorm(5)

        def forward(self, x):
            return tuple(norm(x) for _, norm in self.children())

    model = Norms()
    state = with_values(model)
    forward = compiled(model, Tensor((n, 6, 5)))
    for batch in (3, 1, 0):
        x = random(batch, 6, 5)
        group, layer = (tuple(state[f"{name}.{part}"] for part in ("weight", "bias")) for name in ("group", "layer"))
        mean, variance, gamma, beta = (
            state[f"batch.{name}"][:, None] for name in ("running_mean", "running_var", "weight", "bias")
        )
        expected = [
            (x - mean) / np.sqrt(variance + 1e-5) * gamma + beta,
            normalized(x.reshape(batch, 3, 2, 5), (2, 3)).reshape(x.shape) * group[0][:, None] + group[1][:, None],
            normalized(x.reshape(batch, 2, 3, 5), (2, 3)).reshape(x.shape),
            normalized(x, -1) * layer[0] + layer[1],
            normalized(x, (1, 2)) * state["layers.weight"],
            x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * state["rms.weight"],
        ]
        for made, wanted in zip(forward(x), expected, strict=True):
            np.testing.assert_allclose(made, wanted, rtol=1e-3, atol=1e-4)


def attended(state, query, key, value, heads, mask):
    """PyTorch's multi-head attention by its formula; the mask is added to the scores."""
    weights, biases = np.split(state["in_proj_weight"], 3), np.split(state["in_proj_bias"], 3)
    parts = [x @ weight.T + bias for x, weight, bias in zip((query, key, value), weights, biases)]
    q, k, v = (part.reshape(*part.shape[:2], heads, part.shape[2] // heads).transpose(0, 2, 1, 3) for part in parts)
    scores = q @ k.transpose(0, 1, 3, 2) / np.sqrt(q.shape[-1]) + mask
    exponents = np.exp(scores - scores.max(-1, keepdims=True))
    made = (exponents / exponents.sum(-1, keepdims=True) @ v).transpose(0, 2, 1, 3).reshape(query.shape)
    return made @ state["out_proj.weight"].T + state["out_proj.bias"]


def test_attention_to_other_positions():
    model = nn.MultiheadAttention(8, 2)
    state = with_values(model)
    forward = compiled(model, Tensor((2, n, 8)), Tensor((2, m, 8)), Tensor((2, m, 8)), Tensor((n, m), "bool"))
    for lengths in ((3, 5), (1, 1), (0, 2)):
        query, key, value = (random(2, length, 8) for length in (*lengths, lengths[1]))
        mask = rng.random(lengths) < 0.6
        mask[:, :1] = True
        hidden = np.where(mask, 0, -np.inf).astype(np.float32)
        expected = attended(state, query, key, value, 2, hidden)
        np.testing.assert_allclose(forward(query, key, value, mask), expected, rtol=1e-3, atol=1e-4)


def test_attention_to_earlier_positions():
    model = nn.MultiheadAttention(8, 4, causal=True)
    state = with_values(model)
    forward = compiled(model, Tensor((n, m, 8)))
    for shape in ((2, 4, 8), (1, 1, 8)):
        x = random(*shape)
        hidden = np.triu(np.full((shape[1], shape[1]), -np.inf, np.float32), 1)
        np.testing.assert_allclose(forward(x), attended(state, x, x, x, 4, hidden), rtol=1e-3, atol=1e-4)


def test_sequences_dropout_and_buffers():
    class Shifted(nn.Module):
        def __init__(self):
            self.offset = nn.Buffer((3,))
            self.table = nn.Buffer(np.arange(3, dtype=np.float32), persistent=False)

        def forward(self, x):
            return x + self.offset - self.table * 2

    model = nn.Sequential(nn.Linear(4, 3), op.relu, nn.Dropout(0.9), Shifted())
    assert [name for name, _ in model.named_parameters()] == ["0.weight"]
    assert [name for name, _ in model.named_buffers()] == ["3.offset", "3.table"]
    state = with_values(model)
    assert sorted(state) == ["0.weight", "3.offset"]
    x = random(5, 4)
    expected = np.maximum(x @ state["0.weight"].T, 0) + state["3.offset"] - np.arange(3) * 2
    np.testing.assert_allclose(compiled(model, Tensor((n, 4)))(x), expected, rtol=1e-4, atol=1e-5)


# Parameters are operands wherever values are: operators on both sides, methods, indices, lists, results.
def test_parameters_in_expressions():
    class Model(nn.Module):
        def __init__(self):
            self.a = nn.Parameter((2, 3))
            self.index = nn.Buffer(np.array([1, 0]))
            self.flag = nn.Buffer(np.array([True, False, True]))

        def forward(self, x):
            y = 2 - self.a * x + self.a.T.reshape(2, 3) / 4
            return y, self.a, y[self.index], op.concat([self.a, x]), (x @ self.a.T).sum(axis=1), self.a[0], ~self.flag

    model = Model()
    a, index, flag = random(2, 3), np.array([1, 0]), np.array([True, False, True])
    model.load_state_dict({"a": a}, strict=False)
    x = random(2, 3)
    y = 2 - a * x + a.T.reshape(2, 3) / 4
    expected = [y, a, y[index], np.concatenate([a, x]), (x @ a.T).sum(1), a[0], ~flag]
    for made, wanted in zip(compiled(model, Tensor((2, 3)))(x), expected, strict=True):
        np.testing.assert_allclose(made, wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "act, message",
    [
        (lambda: nn.Conv2d(4, 6, (3, 3, 3)), "kernel_size has 3 sizes; expected 2, or one number for all"),
        (lambda: nn.Conv1d(5, 6, 3, groups=2), "in_channels is 5, which is not a multiple of groups, 2"),
        (lambda: nn.GroupNorm(0, 6), "channels is 6, which is not a multiple of num_groups, 0"),
        (lambda: nn.MultiheadAttention(6, 4), "features is 6, which is not a multiple of num_heads, 4"),
        (lambda: nn.Dropout(1.5), "p is 1.5; expected a number from 0 to 1"),
        (lambda: nn.Sequential(nn.Dropout(), 3), "module 1 of the sequence is 3; expected an nn.Module or a function"),
        (lambda: nn.ModuleList([nn.Dropout(), op.relu]), "module 1 of the list is <function relu"),
        (lambda: nn.Buffer((2,), persistent=False), "a buffer that is not persistent is a constant, and needs"),
        (lambda: nn.Buffer(np.zeros(2), "f32"), "a buffer takes its type from the array, of float64"),
        (
            lambda: nn.export(nn.BatchNorm(4), {"forward": [Tensor((n,))]}),
            "BatchNorm takes a tensor of known rank, at least 2; got one of rank 1",
        ),
        (
            lambda: nn.export(nn.GroupNorm(2, 4), {"forward": [Tensor(None)]}),
            "GroupNorm takes a tensor of known rank, at least 2; got one of unknown rank",
        ),
    ],
)
def test_errors(act, message):
    with pytest.raises(RelaxError) as caught:
        act()
    assert message in str(caught.value)

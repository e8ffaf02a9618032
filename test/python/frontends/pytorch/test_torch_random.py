# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random numbers: the generator against published results, seeds, and distributions with fixed seeds.

Samples are compared with their distribution function (Kolmogorov-Smirnov distance). With fixed seeds, a test passes
always or never; one in a million correct samples would exceed the bound.
"""

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import torch_programs as programs  # noqa: E402

import relax_mlir  # noqa: E402
from relax_mlir import BlockBuilder, Tensor, op  # noqa: E402
from relax_mlir.errors import FrontendError, RelaxError  # noqa: E402
from relax_mlir.frontends import torch as relax_torch  # noqa: E402
from relax_mlir.op.random import philox4x32  # noqa: E402

# The known answers for philox4x32-10 in kat_vectors of Random123 (Salmon et al., 2011): counter, key, block.
KNOWN_ANSWERS = [
    ([0, 0, 0, 0], [0, 0], [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
    ([0xFFFFFFFF] * 4, [0xFFFFFFFF] * 2, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
    (
        [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
        [0xA4093822, 0x299F31D0],
        [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1],
    ),
]


def test_known_answers():
    builder = BlockBuilder()
    count = len(KNOWN_ANSWERS)
    with builder.function("main", [Tensor((count,), "i64", name=f"w{index}") for index in range(6)]) as function:
        builder.return_(op.stack(philox4x32(function.params[:4], function.params[4:]), 1))
    run = relax_mlir.compile(builder.module(), cached=False)["main"]
    words = np.array([counter + key for counter, key, _ in KNOWN_ANSWERS], np.int64)
    made = run(*(np.ascontiguousarray(column) for column in words.T))
    np.testing.assert_array_equal(made, [block for _, _, block in KNOWN_ANSWERS])


def _philox(block, seed):
    """The block of a seed, with Python's integers."""
    counter, key = [block & 0xFFFFFFFF, block >> 32, 0, 0], [seed & 0xFFFFFFFF, seed >> 32]
    for step in range(10):
        if step:
            key = [(part + add) & 0xFFFFFFFF for part, add in zip(key, (0x9E3779B9, 0xBB67AE85))]
        first, second = counter[0] * 0xD2511F53, counter[2] * 0xCD9E8D57
        counter = [
            *((second >> 32) ^ counter[1] ^ key[0], second & 0xFFFFFFFF),
            *((first >> 32) ^ counter[3] ^ key[1], first & 0xFFFFFFFF),
        ]
    return counter


def test_documented_sequence():
    """The elements of `rand` are the upper 24 bits of the words of the blocks from the offset on."""
    run = programs.compiled_for_all_sizes(lambda x: torch.rand(x.shape), (torch.zeros(3, 5),))
    seed, block = 0x123456789ABCDEF, 0
    run.seed(seed)
    for shape in ((3, 5), (1, 1), (0, 4), (2, 4)):
        count = math.prod(shape)
        blocks = -(-count // 4)
        words = [word for index in range(blocks) for word in _philox(block + index, seed)][:count]
        expected = (np.array(words, np.int64) >> 8).astype(np.float32) * np.float32(2.0**-24)
        np.testing.assert_array_equal(run(torch.zeros(shape)).numpy().reshape(-1), expected)
        block += blocks
        assert run.buffers["relax.random_state"].tolist() == [seed, block]


def test_calls_differ_and_seeds_repeat(tmp_path):
    model = programs.Model(lambda x: (torch.rand_like(x), torch.randn_like(x)))
    program = relax_torch.export(model, (torch.zeros(7),), dynamic_shapes=programs.auto(torch.zeros(7)))
    run = program.compile(cached=False)
    first, second = run(torch.zeros(9)), run(torch.zeros(9))
    assert not torch.equal(first[0], second[0])
    run.seed(0)
    again = run(torch.zeros(9))
    assert all(torch.equal(one, other) for one, other in zip(first, again))
    run.seed(-1)
    assert not torch.equal(run(torch.zeros(9))[0], first[0])

    program.export(tmp_path / "folder")
    loaded = relax_torch.load_program(tmp_path / "folder")
    np.testing.assert_array_equal(loaded(np.zeros(9, np.float32))[1], first[1].numpy())
    np.testing.assert_array_equal(loaded(np.zeros(9, np.float32))[1], second[1].numpy())
    loaded.seed(2**64 - 1)
    run.seed(-1)
    np.testing.assert_array_equal(loaded(np.zeros(5, np.float32))[0], run(torch.zeros(5))[0].numpy())
    with pytest.raises(ValueError, match="seed of 64 bits"):
        run.seed(2**64)


def test_program_without_random_numbers_has_no_seed():
    run = programs.compiled(lambda x: torch.nn.functional.dropout(x, 0.5, False), (torch.randn(3),))
    with pytest.raises(RelaxError, match="draws no random numbers"):
        run.seed(1)


def test_branch_is_refused():
    def model(x):
        return torch.cond(x.sum() > 0, lambda x: x + torch.rand_like(x), lambda x: x - 1, (x,))

    with pytest.raises(FrontendError, match="inside a branch or a loop"):
        programs.compiled(model, (torch.randn(3),))


# --- distributions

ONE_OF = 3  # each case exports and compiles a program

COUNT = 40_000
LIMIT = 2.7 / math.sqrt(COUNT)
"""The probability of a greater distance is about 2 exp(-2 * 2.7^2), one in a million."""


def _distance(sample, distribution):
    """The greatest distance between the sample's distribution function and a continuous one."""
    values = np.sort(np.asarray(sample, np.float64).reshape(-1))
    expected = np.array([distribution(value) for value in values])
    steps = np.arange(len(values) + 1) / len(values)
    return max(np.abs(expected - steps[1:]).max(), np.abs(expected - steps[:-1]).max())


def _normal(x):
    return 0.5 * math.erfc(-x / math.sqrt(2))


CONTINUOUS = {
    "rand": (lambda x: torch.rand_like(x), lambda v: v),
    "rand f64": (lambda x: torch.rand(x.shape, dtype=torch.float64), lambda v: v),
    "uniform": (lambda x: torch.empty_like(x).uniform_(-1, 3), lambda v: (v + 1) / 4),
    "randn": (lambda x: torch.randn_like(x), _normal),
    "randn f64": (lambda x: torch.randn(x.shape, dtype=torch.float64), _normal),
    "normal": (lambda x: torch.normal(x + 1, 2.0), lambda v: _normal((v - 1) / 2)),
    "normal of tensors": (lambda x: torch.normal(x - 1, x + 3), lambda v: _normal((v + 1) / 3)),
    "normal_": (lambda x: torch.empty_like(x).normal_(1, 2), lambda v: _normal((v - 1) / 2)),
    "exponential": (lambda x: torch.empty_like(x).exponential_(2.0), lambda v: 1 - math.exp(-2 * v)),
    "cauchy": (lambda x: torch.empty_like(x).cauchy_(1, 2), lambda v: 0.5 + math.atan((v - 1) / 2) / math.pi),
    "log_normal": (lambda x: torch.empty_like(x).log_normal_(0, 0.5), lambda v: _normal(math.log(v) / 0.5)),
    "rrelu": (lambda x: torch.nn.functional.rrelu(x - 1, 0.1, 0.3, True), lambda v: (v + 0.3) / 0.2),
}


def test_continuous_distributions():
    functions = [function for function, _ in CONTINUOUS.values()]
    run = programs.compiled_for_all_sizes(lambda x: [function(x) for function in functions], (torch.zeros(5),))
    run.seed(7)
    for (name, (_, distribution)), sample in zip(CONTINUOUS.items(), run(torch.zeros(COUNT))):
        assert _distance(sample.numpy(), distribution) < LIMIT, name
    assert [sample.shape for sample in run(torch.zeros(0))] == [(0,)] * len(CONTINUOUS)


def test_draws_are_independent():
    """Neighbors, and the two halves in which normal numbers are generated, do not correlate."""
    run = programs.compiled_for_all_sizes(lambda x: (torch.randn_like(x), torch.randn_like(x)), (torch.zeros(5),))
    first, second = (part.numpy().astype(np.float64) for part in run(torch.zeros(COUNT)))
    half = COUNT // 2
    for one, other in ((first[1:], first[:-1]), (first[:half], first[half:]), (first, second)):
        assert abs(np.mean(one * other)) < 5 / math.sqrt(len(one))
        assert abs(np.mean(one**2 * other**2) - 1) < 15 / math.sqrt(len(one))


def _frequencies(sample, count):
    return np.bincount(np.asarray(sample).reshape(-1), minlength=count) / np.asarray(sample).size


def _agree(frequencies, probabilities, count):
    """Whether frequencies are within five standard deviations."""
    probabilities = np.asarray(probabilities)
    return np.all(np.abs(frequencies - probabilities) <= 5 * np.sqrt(probabilities * (1 - probabilities) / count))


WEIGHTS = torch.tensor([[1.0, 0.0, 3.0, 4.0], [0.0, 5.0, 5.0, 0.0]])


def test_discrete_distributions():
    def model(x):
        p = x + 0.3
        return (
            torch.randint(2, 7, x.shape),
            torch.randint_like(x, 5).long(),
            torch.empty_like(x).random_(3).long(),
            torch.bernoulli(p).long(),
            torch.bernoulli(x, 0.3).long(),
            torch.empty_like(x).bernoulli_(p).long(),
            torch.empty_like(x).geometric_(0.4).long(),
            torch.randperm(x.shape[0]),
        )

    run = programs.compiled_for_all_sizes(model, (torch.zeros(5),))
    run.seed(11)
    made = [part.numpy() for part in run(torch.zeros(COUNT))]
    coin = [0.7, 0.3]
    expected = [[0, 0, *[0.2] * 5], [0.2] * 5, [1 / 3] * 3, coin, coin, coin]
    for sample, probabilities in zip(made, expected):
        assert _agree(_frequencies(sample, len(probabilities)), probabilities, COUNT)
    trials = [0.4 * 0.6 ** (k - 1) for k in range(1, 6)]
    assert _agree(_frequencies(made[6], 6)[1:6], trials, COUNT) and made[6].min() == 1
    assert np.array_equal(np.sort(made[7]), np.arange(COUNT)) and abs(np.mean(np.diff(made[7]) > 0) - 0.5) < 0.02
    for n in (1, 2, 13):
        assert sorted(run(torch.zeros(n))[7].tolist()) == list(range(n))


def test_multinomial():
    def model(w):
        return torch.multinomial(w, COUNT, replacement=True), torch.multinomial(w, 2)

    run = programs.compiled_for_all_sizes(model, (WEIGHTS.repeat(2, 1)[:3],))
    run.seed(3)
    drawn, _ = run(WEIGHTS)
    for row, weights in zip(drawn.numpy(), WEIGHTS.numpy()):
        assert _agree(_frequencies(row, 4), weights / weights.sum(), COUNT)
    count = 4000
    _, pairs = run(WEIGHTS[:1].expand(count, 4).contiguous())
    pairs = pairs.numpy()
    assert np.all(pairs[:, 0] != pairs[:, 1])
    # The second draw has the probabilities that remain after the first.
    p = (WEIGHTS[0] / WEIGHTS[0].sum()).numpy()
    second = [sum(p[i] * p[j] / (1 - p[i]) for i in range(4) if i != j) for j in range(4)]
    assert _agree(_frequencies(pairs[:, 0], 4), p, count) and _agree(_frequencies(pairs[:, 1], 4), second, count)
    with pytest.raises(ValueError, match="a probability is not valid"):
        run(-WEIGHTS)
    with pytest.raises(ValueError, match="all probabilities of a row are zero"):
        run(0 * WEIGHTS)


def test_dropout_while_training():
    class Network(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.drop, self.planes = torch.nn.Dropout(0.25), torch.nn.Dropout2d(0.5)

        def forward(self, x):
            return self.drop(x), self.planes(x[:, :, None, None].expand(-1, -1, 3, 2))

    exported = torch.export.export(
        Network().train(), (torch.ones(3, 5),), dynamic_shapes=({0: torch.export.Dim.AUTO, 1: torch.export.Dim.AUTO},)
    )
    run = relax_torch.from_exported_program(exported, smallest=0).compile(cached=False)
    run.seed(5)
    kept, planes = (part.numpy() for part in run(torch.ones(200, 200)))
    np.testing.assert_allclose(np.unique(kept), [0, 4 / 3], rtol=1e-6)
    assert _agree(np.array([np.mean(kept == 0)]), [0.25], COUNT)
    assert np.array_equal(planes.min((2, 3)), planes.max((2, 3))) and set(np.unique(planes)) == {0, 2}

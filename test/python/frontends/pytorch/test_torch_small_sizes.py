# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sizes of 0 and 1, for which `torch.export` may have traced the other branch without recording a guard."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import torch_programs as programs  # noqa: E402

from relax_mlir.errors import ModelError  # noqa: E402
from relax_mlir.frontends import torch as relax_torch  # noqa: E402
from relax_mlir.frontends.program import load_program  # noqa: E402

AUTO = torch.export.Dim.AUTO


def branch(x):
    return x + 1 if x.shape[0] == 1 else x - 1


@pytest.mark.parametrize("dim", [AUTO, torch.export.Dim("b", min=1, max=64)], ids=["auto", "named"])
def test_a_branch_on_one_has_a_variant(dim):
    run = programs.compiled(branch, (torch.randn(3),), (({0: dim},),))
    for size in (1, 2, 5):
        programs.check(run, branch, (torch.randn(size),))


def test_sizes_that_are_not_tried_are_refused():
    run = programs.compiled(branch, (torch.randn(3),), (({0: AUTO},),), check_small=False)
    programs.check(run, branch, (torch.randn(2),))
    with pytest.raises(ValueError, match="below its declared bound 2"):
        run(torch.randn(1))


def test_from_exported_program_refuses_one_unless_vouched_for():
    model = programs.Model(lambda x: x * 2)
    exported = torch.export.export(model, (torch.randn(3),), dynamic_shapes=programs.auto(torch.randn(3)))
    with pytest.raises(ValueError, match="below its declared bound 2"):
        relax_torch.from_exported_program(exported).compile()(torch.ones(1))
    run = relax_torch.from_exported_program(exported, smallest=1).compile()
    torch.testing.assert_close(run(torch.ones(1)), torch.full((1,), 2.0))
    by_size = relax_torch.from_exported_program(exported, smallest={"args_0.size(0)": 1})
    torch.testing.assert_close(by_size.compile()(torch.ones(1)), torch.full((1,), 2.0))


def test_what_differs_for_one():
    """A size of 1 may cause another branch, rank, constant or loop; two sizes may be 1."""

    def condition(x):
        return torch.ones(1, 4) + x if x.shape[0] != 1 else x * 3

    def squeeze(x):
        return x.squeeze(0) * 2

    def constant(x):
        return x * torch.tensor([2.0, 3.0, 4.0, 5.0]) if x.shape[0] > 1 else x * torch.tensor([6.0, 7.0, 8.0, 9.0])

    for function in (condition, squeeze, constant):
        run = programs.compiled(function, (torch.randn(3, 4),), (({0: AUTO},),))
        programs.check(run, function, (torch.randn(1, 4),))
        programs.check(run, function, (torch.randn(3, 4),))

    def both(x, y):
        if x.shape[0] == 1 and y.shape[0] == 1:
            return x.sum() + y
        return x.sum() - y if x.shape[0] * y.shape[0] > 1 else x.sum() * y

    run = programs.compiled(both, (torch.randn(3), torch.randn(5)))
    for sizes in ((1, 3), (3, 1), (2, 2), (1, 1), (0, 3), (3, 0), (0, 0), (1, 0), (0, 1)):
        programs.check(run, both, tuple(map(torch.randn, sizes)))


def test_ones_together_that_are_as_in_general_where_one_alone_is_not():
    def function(x, y):
        return x.sum() - y if x.shape[0] == 1 and y.shape[0] != 1 else x.sum() + y

    run = programs.compiled(function, (torch.randn(3), torch.randn(5)))
    for sizes in ((1, 1), (1, 3), (3, 1), (2, 2)):
        programs.check(run, function, tuple(map(torch.randn, sizes)))


def test_variants_share_weights_and_buffers(tmp_path):
    class Counting(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(64, 64)
            self.register_buffer("ones", torch.zeros(()))

        def forward(self, x):
            if x.shape[0] == 1:
                self.ones += 1
                return self.linear(x) * 2
            return self.linear(x) + self.ones

    model = Counting().eval()
    program = relax_torch.export(model, (torch.randn(3, 64),), dynamic_shapes={"x": {0: "batch"}})
    assert len(program.variants.variants) == 1 and len(program.weights) == 2
    program.export(tmp_path / "counting")
    for run in (program.compile(cached=False), load_program(tmp_path / "counting")):
        model.ones.zero_()
        for count in (1, 3, 1, 2):
            x = torch.randn(count, 64)
            np.testing.assert_allclose(run(x.numpy()), model(x).detach(), rtol=1e-5, atol=1e-5)
        assert float(run.buffers["ones"]) == 2
    damaged = tmp_path / "counting" / "program.json"
    damaged.write_text(damaged.read_text().replace('"serves"', '"served"'))
    with pytest.raises(ModelError):
        load_program(tmp_path / "counting")


def test_no_elements():
    """Graphs that are the same for a size of 0, and sizes that eager mode rejects."""
    linear, norm, embedding = torch.nn.Linear(4, 3), torch.nn.LayerNorm(4), torch.nn.Embedding(9, 4)
    functions = {
        "linear": lambda x: norm(linear(x) @ torch.ones(3, 4)),
        "reductions": lambda x: (x.sum(), x.sum(0), x.mean(0), x.prod(), (x > 0).any(), (x > 0).all(0), x.std(0)),
        "sorted": lambda x: (x.cumsum(0), x.sort(0).values, x.argsort(0), x.softmax(0)),
        "joined": lambda x: (torch.cat([x, x * 2]), torch.stack([x, x]), x.reshape(-1, 2), x.mT @ x),
        "moved": lambda x: (x.roll(2, 0), x.roll((1, 3), (0, 1)), x.roll(1), x.flip(0)),
        "indexed": lambda x: (embedding((x[:, 0] > 0).long()), x.nonzero(), x[x > 0]),
        "attention": lambda x: torch.nn.functional.scaled_dot_product_attention(x[None], x[None], x[None]),
        "convolution": lambda x: torch.nn.functional.conv1d(x[:, None], torch.ones(2, 1, 3)),
    }

    def model(x):
        return {name: function(x) for name, function in functions.items()}

    run = programs.compiled(model, (torch.randn(3, 4),), (({0: AUTO},),))
    for size in (0, 1, 2):
        x = torch.ones(size, 4)
        torch.testing.assert_close(run(x), model(x), equal_nan=True)
    run = programs.compiled(lambda x: x.amax(0), (torch.randn(3, 4),), (({0: AUTO},),))
    with pytest.raises(ValueError, match="args_0_dim0"):
        run(torch.randn(0, 4))


def test_lengths_of_zero_of_recurrent_layers_are_refused_as_in_eager():
    model = torch.nn.GRU(4, 3, batch_first=True).eval()
    shapes = {"input": {1: AUTO}, "hx": None}
    run = relax_torch.export(model, (torch.randn(2, 5, 4), torch.zeros(1, 2, 3)), dynamic_shapes=shapes).compile()
    run(torch.randn(2, 1, 4), torch.zeros(1, 2, 3))
    with pytest.raises(ValueError, match="input"):
        run(torch.randn(2, 0, 4), torch.zeros(1, 2, 3))


def test_attention_is_right_for_one_token_of_one_batch():
    def function(q, k):
        mask = torch.ones(q.shape[1], k.shape[1], dtype=torch.bool).tril(k.shape[1] - q.shape[1])
        q, k = (x.reshape(x.shape[0], x.shape[1], 2, 4).transpose(1, 2) for x in (q, k))
        return torch.nn.functional.scaled_dot_product_attention(q, k, k, attn_mask=mask)

    sizes = [((2, 3, 8), (2, 5, 8)), ((1, 1, 8), (1, 7, 8)), ((1, 4, 8), (1, 4, 8)), ((3, 1, 8), (3, 1, 8))]
    pairs = [tuple(torch.randn(shape) for shape in pair) for pair in sizes]
    assert not programs.compare(function, *pairs).variants.variants


def test_many_sizes_that_are_tied_are_one():
    """Sizes that are tied to each other, like the cache lengths of all layers, need a single variant. A variant for
    each combination would take thousands of exports."""

    class Caches(torch.nn.Module):
        def forward(self, x, caches):
            return x + sum(cache * 2 for cache in caches)

    caches = [torch.randn(5) for _ in range(12)]
    program = relax_torch.export(
        Caches(), (torch.randn(5), caches), dynamic_shapes={"x": {0: AUTO}, "caches": [{0: AUTO}] * 12}
    )
    assert len(program.variants.places) == 1
    run = program.compile(cached=False)
    for size in (0, 1, 2):
        programs.check(run, Caches(), (torch.randn(size), [torch.randn(size) for _ in range(12)]))
    with pytest.raises(ValueError, match="caches"):
        run(torch.randn(1), [torch.randn(1)] * 11 + [torch.randn(2)])


def test_report_says_which_sizes_are_right():
    program = relax_torch.export(programs.Model(branch), (torch.randn(3),), dynamic_shapes=(({0: AUTO},),))
    text = relax_torch.explain(program)
    assert "args_0.size(0) == 1: by a variant" in text and "args_0.size(0) == 0: right" in text


def test_a_fixed_size_is_reported_with_its_line():
    def function(x):
        for _ in range(x.shape[0]):
            x = x + 1
        return x

    with pytest.warns(RuntimeWarning, match=r"fixed a size.*size\(\)\[0\] == 3"):
        program = relax_torch.export(programs.Model(function), (torch.randn(3),), dynamic_shapes=(({0: AUTO},),))
    assert "== 3" in relax_torch.explain(program)


def test_a_size_of_the_example_that_is_too_small_is_reported():
    with pytest.warns(RuntimeWarning, match=r"args_0.size\(0\) == 1, as in the example"):
        run = programs.compiled(lambda x: x + 1, (torch.randn(1, 3),))
    with pytest.raises(ValueError, match="args_0"):
        run(torch.randn(2, 3))


def test_ones_together_where_a_guard_keeps_out_one_alone():
    def last(x, lengths):
        places = (lengths - 1)[:, None].expand(-1, x.shape[1])[:, :1]
        return x.gather(1, places)

    run = programs.compiled(last, (torch.randn(3, 4), torch.tensor([1, 4, 2])), (({0: AUTO}, {0: AUTO}),))
    programs.check(run, last, (torch.randn(1, 4), torch.tensor([3])))
    programs.check(run, last, (torch.randn(2, 4), torch.tensor([3, 1])))
    with pytest.raises(ValueError, match="n_2|args_1|lengths|below its declared bound"):
        run(torch.randn(1, 4), torch.tensor([3, 1]))

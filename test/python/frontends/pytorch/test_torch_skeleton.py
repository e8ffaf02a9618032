# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Complete models: compiled once, compared with eager mode at sizes of 1, primes and others."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import torch_programs as programs  # noqa: E402

from relax_mlir.frontends import torch as relax_torch  # noqa: E402
from relax_mlir.frontends.program import load_program  # noqa: E402


class Mlp(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = torch.nn.Linear(8, 16), torch.nn.Linear(16, 8)

    def forward(self, x):
        return self.down(torch.relu(self.up(x)))


def test_mlp_with_a_named_batch():
    model = Mlp().eval()
    program = relax_torch.export(model, (torch.randn(5, 8),), dynamic_shapes={"x": {0: "batch"}})
    assert "#relax.shape<[batch, 8]>" in str(program.module)
    run = program.compile()
    for batch in (1, 2, 3, 17):
        programs.check(run, model, (torch.randn(batch, 8),))


def test_folder_runs_with_numpy(tmp_path):
    model = Mlp().eval()
    program = relax_torch.export(model, (torch.randn(5, 8),), dynamic_shapes={"x": {0: "batch"}})
    program.export(tmp_path / "mlp")
    run = load_program(tmp_path / "mlp")
    x = np.random.default_rng(0).standard_normal((3, 8), np.float32)
    y = run(x)
    assert isinstance(y, np.ndarray)
    np.testing.assert_allclose(y, model(torch.from_numpy(x)).detach(), rtol=1e-5, atol=1e-5)
    with pytest.raises(TypeError, match="needs the argument 'x'"):
        run()


def test_tied_weights_are_one_weight():
    class Tied(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.embed, self.head = torch.nn.Embedding(32, 8), torch.nn.Linear(8, 32, bias=False)
            self.head.weight = self.embed.weight

        def forward(self, ids):
            return self.head(self.embed(ids))

    model = Tied().eval()
    ids = torch.randint(32, (3, 5))
    program = relax_torch.export(model, (ids,), dynamic_shapes={"ids": {0: "b", 1: "s"}})
    assert len(program.weights) == 1
    programs.check(program.compile(), model, (ids[:1, :1],))


def test_structure_of_inputs_and_outputs():
    class Nested(torch.nn.Module):
        def forward(self, pair, *, scale, named=None):
            first, second = pair
            return {"sum": first + second * named["z"], "rest": (second, None, first.shape[0]), "flag": True}

    model = Nested().eval()
    pair = [torch.randn(3, 4), torch.randn(3, 4)]
    options = {"scale": 2, "named": {"z": torch.randn(4)}}
    dim = torch.export.Dim.AUTO
    shapes = {"pair": [{0: dim}, {0: dim}], "scale": None, "named": {"z": None}}
    run = relax_torch.export(model, (pair,), options, dynamic_shapes=shapes).compile()
    for count in (1, 7):
        pair = [torch.randn(count, 4), torch.randn(count, 4)]
        made, expected = run(pair, **options), model(pair, **options)
        torch.testing.assert_close(made["sum"], expected["sum"])
        assert made["rest"][0] is pair[1]
        assert made["rest"][1:] == (None, count) and made["flag"] is True
    with pytest.raises(ValueError, match="scale: the program was made for 2, got 3"):
        run(pair, scale=3, named=options["named"])
    with pytest.raises(TypeError, match=r"arguments\[1\]\['named'\]: expected the keys 'z'"):
        run(pair, scale=2, named={})
    with pytest.raises(TypeError, match="by name"):
        run(pair, scale=2)


def test_changed_buffers_and_inputs_are_written_in_place(tmp_path):
    class Counter(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("total", torch.zeros(4))

        def forward(self, x, cache):
            self.total.add_(x.sum(0))
            cache[:, 1:].mul_(2)
            return self.total * 1.5, cache

    model = Counter().eval()
    x, cache = torch.randn(3, 4), torch.randn(3, 5)
    dim = torch.export.Dim.AUTO
    program = relax_torch.export(model, (x, cache), dynamic_shapes={"x": {0: dim}, "cache": {0: dim}})
    run = program.compile()
    for count in (3, 1, 6):
        x, cache = torch.randn(count, 4), torch.randn(count, 5)
        other = cache.clone()
        expected, changed = model(x, other)
        made, returned = run(x, cache)
        torch.testing.assert_close(made, expected)
        torch.testing.assert_close(cache, changed)
        assert returned is cache
        np.testing.assert_allclose(run.buffers["total"], model.total, rtol=1e-5, atol=1e-5)
    run.export(tmp_path / "counter")
    loaded = load_program(tmp_path / "counter")
    np.testing.assert_array_equal(loaded.buffers["total"], run.buffers["total"])
    cache = np.ones((2, 5), np.float32)
    loaded(np.ones((2, 4), np.float32), cache)
    np.testing.assert_array_equal(cache, [[1, 2, 2, 2, 2]] * 2)


def test_narrow_weights_stay_narrow():
    model = Mlp().eval().to(torch.bfloat16)
    program = relax_torch.export(model, (torch.randn(3, 8).bfloat16(),), dynamic_shapes={"x": {0: "n"}})
    assert {str(value.dtype) for value in program.weights.values()} == {"bfloat16"}
    programs.check(program.compile(), model, (torch.randn(5, 8).bfloat16(),), 2e-2)


def test_results_have_memory_of_their_own_as_in_eager():
    """A function may return an input, or the same tensor twice, where eager mode returns new memory."""

    def function(x):
        total = x + 1
        return x.clone(), x * 1, x.contiguous(), x.view(-1), x.to(torch.float32), torch.cat([x]), total, x + 1, total

    run = programs.compiled(function, (torch.zeros(4),))
    for size in (5, 1):
        x = torch.randn(size)
        for made, expected in zip(run(x), function(x)):
            torch.testing.assert_close(made, expected)
            assert (made.data_ptr() == x.data_ptr()) == (expected.data_ptr() == x.data_ptr())
        results = run(x)
        results[6].zero_()
        torch.testing.assert_close(results[7], x + 1)
        assert results[8] is results[6] or not results[8].any()

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sizes: names, bounds, relations between inputs, and arithmetic on them."""

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import torch_programs as programs  # noqa: E402

from relax_mlir.frontends import torch as relax_torch  # noqa: E402
from relax_mlir.frontends.torch.symbols import SymbolTable  # noqa: E402
from relax_mlir.symbolic import Sym  # noqa: E402

AUTO, Dim = torch.export.Dim.AUTO, torch.export.Dim


def test_names_come_from_the_user_or_from_the_input():
    class Sum(torch.nn.Module):
        def forward(self, x, y):
            return x.sum(1), y * 2

    shapes = {"x": {0: Dim("rows", min=1, max=50), 1: AUTO}, "y": {0: "length"}}
    program = relax_torch.export(Sum(), (torch.randn(3, 5), torch.randn(7)), dynamic_shapes=shapes)
    text = str(program.module)
    assert "#relax.shape<[rows, x_dim1]>" in text and "#relax.shape<[length]>" in text
    assert "rows = #relax.range<1, 50>" in text
    with pytest.raises(ValueError, match="'rows' = 51"):
        program.compile()(torch.randn(51, 5), torch.randn(7))


def test_derived_sizes():
    class Cut(torch.nn.Module):
        def forward(self, x, y):
            return x.reshape(-1, 8).sum(1) + y[:-1]

    n = Dim("n", min=2, max=32)
    model, shapes = Cut(), {"x": {0: 8 * n}, "y": {0: n + 1}}
    run = programs.compiled(model, (torch.randn(24), torch.randn(4)), shapes)
    for count in (2, 5, 32):
        programs.check(run, model, (torch.randn(8 * count), torch.randn(count + 1)))
    with pytest.raises(ValueError, match="x"):
        run(torch.randn(25), torch.randn(4))
    with pytest.raises(ValueError, match="y"):
        run(torch.randn(24), torch.randn(5))


def test_sizes_with_a_constant_sum():
    def function(x, y):
        assert x.shape[0] + y.shape[0] == 10
        return torch.cat([x, y]) * 2

    run = programs.compiled(function, (torch.randn(3), torch.randn(7)))
    programs.check(run, function, (torch.randn(6), torch.randn(4)))
    with pytest.raises(ValueError, match="args_1"):
        run(torch.randn(6), torch.randn(5))


def test_guard_that_is_the_only_relation():
    def function(x):
        n = x.shape[0]
        assert (n * n + n) % 8 == 0
        return x + 1

    run = programs.compiled(function, (torch.randn(7),))
    for size in (8, 15, 16):
        programs.check(run, function, (torch.randn(size),))
    with pytest.raises(ValueError, match="args_0: the program was exported for inputs with"):
        run(torch.randn(9))


def test_branch_on_a_range():
    def function(x):
        return x * 2 if x.shape[0] > 4 else x

    run = programs.compiled(function, (torch.randn(7),))
    programs.check(run, function, (torch.randn(5),))
    with pytest.raises(ValueError, match="args_0"):
        run(torch.randn(4))


def test_guards_over_nested_inputs():
    class Nested(torch.nn.Module):
        def forward(self, x, caches):
            for cache in caches:
                assert cache["k"].shape[0] % x.shape[0] == 0
            return x + caches[0]["k"].sum() + caches[1]["k"].sum()

    model = Nested()

    def some(n, first, second):
        return torch.randn(n), [{"k": torch.randn(first)}, {"k": torch.randn(second)}]

    shapes = {"x": {0: AUTO}, "caches": [{"k": {0: AUTO}}, {"k": {0: AUTO}}]}
    run = programs.compiled(model, some(3, 6, 9), shapes)
    programs.check(run, model, some(4, 8, 20))
    with pytest.raises(ValueError, match="caches_1_k"):
        run(*some(4, 8, 21))


def test_equal_sizes_of_two_inputs():
    def function(x, y):
        return x + y

    run = programs.compiled(function, (torch.randn(3), torch.randn(3)))
    programs.check(run, function, (torch.randn(5), torch.randn(5)))
    with pytest.raises(ValueError, match="args_1"):
        run(torch.randn(5), torch.randn(4))


def test_integer_inputs_and_results():
    class Times(torch.nn.Module):
        def forward(self, x, n):
            return x * n, x.shape[0] * n, x[:n], torch.full((n,), 0.5)

    model, shapes = Times(), {"x": {0: AUTO}, "n": Dim.DYNAMIC}
    run = programs.compiled(model, (torch.randn(5), 3), shapes)
    for size, n in ((7, 4), (3, 2)):
        made, expected = run(torch.ones(size), n), model(torch.ones(size), n)
        assert made[1] == expected[1] and isinstance(made[1], int)
        torch.testing.assert_close(made, expected)
    with pytest.raises(TypeError, match="n: expected an integer"):
        run(torch.ones(3), 1.5)


def test_arithmetic_on_sizes():
    def function(x):
        n, m = x.shape
        sizes = [n // 2, -(-n // 3), (n + m) % 5, max(n, m), min(n, 7), n * m - n, n**2]
        return [torch.ones(size) for size in sizes] + [x * (n / 2), x * n**0.5, torch.tensor(n), n, m - n]

    programs.compare(function, (torch.randn(9, 5),), *((torch.randn(s),) for s in ((4, 4), (11, 3), (7, 30))))


def test_resizing_by_a_factor():
    def function(x):
        return torch.nn.functional.interpolate(x, scale_factor=1.5, mode="nearest", recompute_scale_factor=True)

    programs.compare(function, (torch.randn(2, 3, 6),), (torch.randn(3, 3, 9),), (torch.randn(2, 3, 31),))


def test_weights_that_are_not_saved_and_constants():
    class Constants(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("table", torch.randn(100), persistent=False)

        def forward(self, x):
            return x + self.table[: x.shape[0]] + torch.tensor([0.5])

    model = Constants()
    run = programs.compiled(model, (torch.randn(5),), {"x": {0: Dim("n", max=100)}})
    for size in (3, 100):
        programs.check(run, model, (torch.randn(size),))
    with pytest.raises(ValueError, match="'n' = 101"):
        run(torch.randn(101))


def test_symbols_have_names_whatever_they_are_called_after():
    table = SymbolTable()
    made = [table.unused(base) for base in ("0_above", "x.y", "x.y", "min", "")]
    assert made == ["size_0_above", "x_y", "x_y_2", "min_2", "size_"]
    assert all(Sym(name) is not None for name in made)

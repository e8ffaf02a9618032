# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Branches, loops and scans of PyTorch, whose bodies are graphs."""

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import torch_programs as programs  # noqa: E402
from torch._higher_order_ops.map import map as map_rows  # noqa: E402
from torch._higher_order_ops.scan import scan  # noqa: E402
from torch._higher_order_ops.while_loop import while_loop  # noqa: E402

AUTO = torch.export.Dim.AUTO


def check(function, *cases):
    """Compares with eager mode for some inputs, whose sizes are all dynamic."""
    run = programs.compiled(function, cases[0], check_small=False)
    for case in cases:
        programs.check(run, function, case)


def test_a_branch_on_values():
    weight = torch.randn(4)

    def function(x, y):
        def first(x, y):
            return (x * weight).sum(-1), y + 1

        def second(x, y):
            return x[..., 0] - 3, y * y

        total, other = torch.cond(x.sum() > 0, first, second, (x, y))
        return total * 2, other

    x = torch.rand(3, 4)
    check(function, (x, torch.randn(5)), (-x, torch.randn(5)), (-torch.rand(7, 4), torch.randn(2)))


def test_a_branch_on_a_size():
    def function(x):
        return torch.cond(x.shape[0] > 4, lambda x: x * 2, lambda x: x - 1, (x,))

    run = programs.compiled(function, (torch.randn(3),), check_small=False)
    programs.check(run, function, (torch.randn(3),))


def test_branches_in_branches():
    def function(x):
        def outer(x):
            return torch.cond(x.max() > 1, lambda x: x / x.max(), lambda x: x * 10, (x,))

        return torch.cond(x.min() > 0, outer, lambda x: -x, (x,))

    check(function, (torch.rand(3) + 2,), (torch.rand(5) / 2 + 0.1,), (-torch.rand(2),))


def test_a_loop():
    """Newton's iteration for square roots, until it is accurate enough."""

    def function(x):
        def goes_on(step, guess):
            return (step < 50) & ((guess * guess - x).abs().max() > 1e-4)

        def body(step, guess):
            return step + 1, (guess + x / guess) / 2

        return while_loop(goes_on, body, (torch.tensor(0), torch.ones_like(x)))

    run = programs.compiled(function, (torch.rand(3),), check_small=False)
    for size in (3, 8):
        x = torch.rand(size) * 100 + 1
        steps, root = run(x)
        assert 5 < int(steps) < 50
        torch.testing.assert_close(root, x.sqrt(), rtol=1e-4, atol=1e-4)


def test_a_scan_with_a_cell():
    cell = torch.nn.LSTMCell(4, 3)

    class Layer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.cell = cell

        def forward(self, x):
            def step(state, row):
                hidden, memory = self.cell(row, state)
                return (hidden, memory), hidden.clone()

            zeros = torch.zeros(x.shape[1], 3)
            (hidden, memory), rows = scan(step, (zeros, zeros.clone()), x)
            return rows, hidden, memory

    model = Layer().eval()
    run = programs.compiled(model, (torch.randn(5, 2, 4),), ({0: AUTO, 1: AUTO},), check_small=False)
    for length, batch in ((5, 2), (11, 3), (2, 7)):
        x = torch.randn(length, batch, 4)
        state, rows = (torch.zeros(batch, 3), torch.zeros(batch, 3)), []
        with torch.no_grad():
            for row in x:
                state = cell(row, state)
                rows.append(state[0])
        torch.testing.assert_close(run(x), (torch.stack(rows), *state), rtol=1e-5, atol=1e-5)


def test_a_map():
    def function(x, scale):
        return map_rows(lambda row, scale: (row * scale).cumsum(0), x, scale)

    check(function, (torch.randn(3, 4), torch.randn(4)), (torch.randn(6, 5), torch.randn(5)))

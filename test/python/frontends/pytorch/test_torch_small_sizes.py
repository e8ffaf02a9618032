# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sizes of 1, for which `torch.export` may have traced the other branch without a note of it."""

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import torch_programs as programs  # noqa: E402

from relax_mlir.frontends import torch as relax_torch  # noqa: E402

AUTO = torch.export.Dim.AUTO


def branch(x):
    return x + 1 if x.shape[0] == 1 else x - 1


@pytest.mark.parametrize("dim", [AUTO, torch.export.Dim("b", min=1, max=64)], ids=["auto", "named"])
def test_a_branch_on_one_is_refused(dim):
    run = programs.compiled(branch, (torch.randn(3),), (({0: dim},),))
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


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.squeeze(0) * 2,
        lambda x: torch.ones(3, 4) + x if x.shape[0] != 1 else x,
    ],
    ids=["squeeze", "condition"],
)
def test_what_differs_for_one_is_refused(function):
    run = programs.compiled(function, (torch.randn(3, 4),), (({0: AUTO},),))
    with pytest.raises(ValueError):
        run(torch.randn(1, 4))


def test_ones_together_may_be_refused_where_each_alone_is_right():
    def function(x, y):
        return x.sum() + y if x.shape[0] * y.shape[0] == 1 else x.sum() - y

    run = programs.compiled(function, (torch.randn(3), torch.randn(5)))
    for sizes in ((1, 3), (3, 1), (2, 2)):
        programs.check(run, function, tuple(map(torch.randn, sizes)))
    with pytest.raises(ValueError, match=r"args_0.size\(0\) == 1 and args_1.size\(0\) == 1"):
        run(torch.randn(1), torch.randn(1))


def test_attention_is_right_for_one_token_of_one_batch():
    def function(q, k):
        mask = torch.ones(q.shape[1], k.shape[1], dtype=torch.bool).tril(k.shape[1] - q.shape[1])
        q, k = (x.reshape(x.shape[0], x.shape[1], 2, 4).transpose(1, 2) for x in (q, k))
        return torch.nn.functional.scaled_dot_product_attention(q, k, k, attn_mask=mask)

    sizes = [((2, 3, 8), (2, 5, 8)), ((1, 1, 8), (1, 7, 8)), ((1, 4, 8), (1, 4, 8)), ((3, 1, 8), (3, 1, 8))]
    pairs = [tuple(torch.randn(shape) for shape in pair) for pair in sizes]
    programs.compare(function, *pairs)


def test_report_says_which_sizes_are_right():
    program = relax_torch.export(programs.Model(branch), (torch.randn(3),), dynamic_shapes=(({0: AUTO},),))
    assert "args_0.size(0) == 1: refused" in relax_torch.explain(program)


def test_a_fixed_size_is_reported_with_its_line():
    def function(x):
        for _ in range(x.shape[0]):
            x = x + 1
        return x

    with pytest.warns(RuntimeWarning, match=r"fixed a size.*size\(\)\[0\] == 3"):
        program = relax_torch.export(programs.Model(function), (torch.randn(3),), dynamic_shapes=(({0: AUTO},),))
    assert "== 3" in relax_torch.explain(program)

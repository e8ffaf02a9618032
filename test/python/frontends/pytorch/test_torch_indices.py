# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Indices, classes and counts that eager mode rejects: the program rejects them at run time."""

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import torch_programs as programs  # noqa: E402

F = torch.nn.functional

X = torch.randn(4, 5)
LABELS = torch.tensor([4, 0, 2, 1])


def row(*numbers):
    return torch.tensor(numbers)


def refused(function, good, bad, message):
    """The program gives the same results as eager mode for the good arguments, and both reject the bad ones."""
    run = programs.compare(function, good)
    for args in bad:
        with pytest.raises((IndexError, RuntimeError)):
            function(*args)
        with pytest.raises((IndexError, ValueError), match=message):
            run(*args)
    programs.check(run, function, good)


@pytest.mark.parametrize("loss", [F.cross_entropy, F.nll_loss], ids=["cross_entropy", "nll_loss"])
def test_targets_of_losses(loss):
    good = X, row(4, -100, 2, 1)
    bad = [(X, row(4, 0, -1, 1)), (X, row(4, 0, 5, 1))]
    refused(loss, good, bad, "target of a loss.* is negative|out of range|out of bounds")


def test_targets_of_losses_with_weights():
    def loss(x, target, weight):
        return F.cross_entropy(x, target, weight, ignore_index=-1, label_smoothing=0.1)

    weight = torch.rand(5)
    bad = [(X, row(4, 0, -2, 1), weight), (X, row(5, 0, 2, 1), weight)]
    refused(loss, (X, row(4, -1, 2, 1), weight), bad, "negative|out of range|out of bounds")


def test_one_hot():
    bad = [(row(4, 0, -1),), (row(4, 0, 5),)]
    refused(lambda x: F.one_hot(x, 5), (row(4, 0, 2),), bad, "a class is (negative|not below num_classes)")


def test_bincount():
    refused(lambda x: torch.bincount(x, minlength=3), (row(4, 0, 4),), [(row(4, -1, 4),)], "an element is negative")


def test_repeats():
    def function(x, repeats):
        return x.repeat_interleave(repeats, 0)

    refused(function, (X, row(4, 0, 2, 1)), [(X, row(4, -1, 2, 1))], "a number of repeats is negative")

    def sized(x, repeats):
        return x.repeat_interleave(repeats, 0, output_size=7)

    refused(sized, (X, row(4, 0, 2, 1)), [(X, row(4, 0, 1, 1))], "do not add up to output_size")


FUNCTIONS = {
    "gather": lambda x, i: x.gather(1, i[:, None]),
    "index_select": lambda x, i: x.index_select(1, i),
    "index_add": lambda x, i: x.index_add(1, i, x[:, :4]),
    "index_copy": lambda x, i: x.index_copy(1, i, x[:, :4]),
    "scatter": lambda x, i: x.scatter(1, i[:, None], 3.0),
    "scatter_add": lambda x, i: x.scatter_add(1, i[:, None], x),
    "scatter_reduce": lambda x, i: x.scatter_reduce(1, i[:, None], x, "amax"),
}


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS.keys())
def test_negative_indices(function):
    refused(function, (X, LABELS), [(X, row(4, 0, -1, 1))], "is negative")


def test_indices_that_are_numbers_of_the_run():
    def function(x, i):
        y = x.clone()
        y[i.item()] = 7
        return x[:, i.item()], y, y.select_scatter(y[:, 0], 1, i.item())

    run = programs.compare(function, *((X, torch.tensor(i)) for i in (2, 3, -1, -4)))
    for wrong in (4, -5):
        with pytest.raises(IndexError):
            function(X, torch.tensor(wrong))
        with pytest.raises((IndexError, ValueError), match="out of range|assertion failed"):
            run(X, torch.tensor(wrong))

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Buffers and inputs that a model changes: updated in place, or copied if the old value is still needed."""

import copy

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import torch_programs as programs  # noqa: E402

import relax_mlir  # noqa: E402
from relax_mlir.frontends import torch as relax_torch  # noqa: E402
from relax_mlir.frontends.program import load_program  # noqa: E402
from relax_mlir.runtime import pool_statistics, reset_pool_peak  # noqa: E402

AUTO = torch.export.Dim.AUTO
ROWS, WIDTH = 4096, 64
BYTES = ROWS * WIDTH * 4


class Cache(torch.nn.Module):
    """A model with a large buffer, to which a function of the buffer and the inputs writes."""

    def __init__(self, function, buffer=None):
        super().__init__()
        self.function = function
        self.register_buffer("cache", torch.randn(ROWS, WIDTH) if buffer is None else buffer)

    def forward(self, *args):
        return self.function(self.cache, *args)


def index_copy(cache, x, at):
    cache.index_copy_(0, at, x)
    return cache[:8].sum(1)


def index_copy_of_columns(cache, x, at):
    cache.index_copy_(1, at, x.mT[:1].expand(cache.shape[0], -1))
    return cache[:8].sum(1)


def put(cache, x, at):
    cache[at] = x
    return cache[:8].sum(1)


def put_columns(cache, x, at):
    cache[:, at] = x[:, 0]
    return cache[:8].sum(1)


def put_and_add(cache, x, at):
    cache.index_put_((at,), x, accumulate=True)
    return cache[:8].sum(1)


def one_row(cache, x, at):
    cache[5] = x[0]
    cache[-1] += x[1]
    return cache[:8].sum(1)


def a_slice(cache, x, at):
    cache[2 : 2 + x.shape[0]] = x
    return cache[:8].sum(1)


def scatter(cache, x, at):
    cache.scatter_(0, at[:, None].expand_as(x), x)
    return cache[:8].sum(1)


def twice(cache, x, at):
    cache[at] = x
    y = cache[:8].sum(1)
    cache[at + 1] = x * 2
    return y + cache[:8].sum(1)


IN_PLACE = (index_copy, index_copy_of_columns, put, put_columns, one_row, a_slice, scatter)


def arguments(count):
    return torch.randn(count, WIDTH), torch.randperm(WIDTH - 1)[:count]


def exported(model):
    shapes = (({0: AUTO}, {0: AUTO}),)
    return relax_torch.export(model, arguments(5), dynamic_shapes=shapes, check_small=False)


def peak(call, *args):
    """The peak memory of a call, and its result."""
    reset_pool_peak()
    before = pool_statistics().used
    result = call(*args)
    return pool_statistics().peak - before, result


@pytest.mark.parametrize("function", IN_PLACE, ids=lambda function: function.__name__)
def test_buffers_are_written_where_they_are(function):
    model = Cache(function)
    run = exported(copy.deepcopy(model)).compile(cached=False)
    place = run.buffers["cache"].ctypes.data
    for count in (2, 3):
        args = arguments(count)
        taken, made = peak(run, *args)
        torch.testing.assert_close(made, model(*args), rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(run.buffers["cache"], model.cache, rtol=1e-6)
        assert taken < BYTES / 2
    assert run.buffers["cache"].ctypes.data == place


@pytest.mark.parametrize("function", [put_and_add, twice], ids=lambda function: function.__name__)
def test_buffers_that_are_read_between_updates(function):
    model = Cache(function)
    run = exported(copy.deepcopy(model)).compile(cached=False)
    for count in (3, 7):
        programs.check(run, model, arguments(count), tolerance=1e-4)
        np.testing.assert_allclose(run.buffers["cache"], model.cache, rtol=1e-6)


def test_without_donation_the_cache_would_be_copied():
    """Counterpart of the test above: a program that also returns the old value needs the memory of another cache."""

    def function(cache, x, at):
        old = cache.clone()
        cache[at] = x
        return old

    model = Cache(function)
    run = exported(copy.deepcopy(model)).compile(cached=False)
    taken, old = peak(run, *arguments(3))
    assert taken >= BYTES
    np.testing.assert_array_equal(old, model.cache)


class Inputs(torch.nn.Module):
    def forward(self, keys, x, at):
        keys.index_copy_(1, at, x)
        return keys.sum((0, 1))


def test_inputs_of_any_capacity_are_written_where_they_are():
    shapes = {"keys": {0: AUTO, 1: AUTO}, "x": {0: AUTO, 1: AUTO}, "at": {0: AUTO}}
    example = torch.zeros(3, 11, WIDTH), torch.randn(3, 5, WIDTH), torch.arange(5)
    program = relax_torch.export(Inputs(), example, dynamic_shapes=shapes, check_small=False)
    run = program.compile(cached=False)
    for batch, capacity, count in ((2, 2048, 4), (4, 4096, 2)):
        keys, x, at = torch.randn(batch, capacity, WIDTH), torch.randn(batch, count, WIDTH), torch.arange(count) * 3
        wanted = keys.clone()
        expected = Inputs()(wanted, x, at)
        taken, made = peak(run, keys, x, at)
        assert taken < keys.nbytes / 4
        torch.testing.assert_close(made, expected, rtol=1e-4, atol=1e-3)
        torch.testing.assert_close(keys, wanted)
    # Noncontiguous inputs are updated through a copy, and so are NumPy arrays.
    keys = torch.randn(2, WIDTH, 11).mT
    wanted = keys.clone()
    Inputs()(wanted, x[:2], at)
    run(keys, x[:2], at)
    torch.testing.assert_close(keys, wanted)
    array = np.zeros((2, 11, WIDTH), np.float32)
    run(array, x[:2].numpy(), at.numpy())
    np.testing.assert_array_equal(array[:, [0, 3]], x[:2])
    array.flags.writeable = False
    with pytest.raises(ValueError, match="keys.*read-only"):
        run(array, x[:2].numpy(), at.numpy())


def changed(function, *sizes):
    """A model that changes its inputs, and its result."""

    class Model(torch.nn.Module):
        def forward(self, *tensors):
            return function(*tensors)

    tensors = [torch.arange(float(size)) for size in sizes]
    run = relax_torch.export(Model(), tuple(tensors)).compile(cached=False)
    mine, theirs = [torch.randn(size) for size in sizes], []
    theirs = [tensor.clone() for tensor in mine]
    for _ in range(2):
        made, expected = run(*mine), function(*theirs)
        torch.testing.assert_close(made, expected)
        torch.testing.assert_close(mine, theirs)
    return made, expected, mine


def test_old_values_that_are_returned():
    def function(x):
        old = x.clone()
        x[1] = 5.0
        return old, x + 1, old[:2] + x[:2]

    changed(function, 4)


def test_values_that_change_places():
    def function(x, y):
        x[1] = 7.0
        kept = x.clone()
        x.copy_(y)
        y.copy_(kept)
        return x.sum()

    changed(function, 4, 4)


def test_a_value_that_two_inputs_get():
    def function(x, y):
        x[1] = 7.0
        y.copy_(x)
        return None

    changed(function, 4, 4)


def test_what_is_returned_is_not_changed_by_the_next_call():
    class Counter(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("seen", torch.zeros(3))

        def forward(self, x):
            self.seen[1] = self.seen[1] + x[0]
            return self.seen.clone(), self.seen.reshape(1, 3)

    run = relax_torch.export(Counter(), (torch.ones(3),)).compile(cached=False)
    first = run(torch.ones(3))
    second = run(torch.ones(3))
    for value, wanted in ((first[0], 1.0), (first[1], 1.0), (second[0], 2.0), (second[1], 2.0)):
        np.testing.assert_array_equal(np.asarray(value).ravel(), [0.0, wanted, 0.0])


def test_an_input_that_is_changed_must_lie_apart_from_others():
    class Both(torch.nn.Module):
        def forward(self, x, y):
            x[0] = 1.0
            return x + y

    run = relax_torch.export(Both(), (torch.zeros(4), torch.zeros(4))).compile(cached=False)
    x = torch.zeros(4)
    with pytest.raises(ValueError, match="x"):
        run(x, x)


@pytest.mark.parametrize("donated", [False, True])
def test_parameters_are_written_over_where_the_module_donates_them(donated):
    program = exported(Cache(put, torch.zeros(70, WIDTH)))
    if not donated:
        del program.module.ir.body.operations[0].attributes["relax.donated"]
    executable = relax_mlir.compile(program.module, cached=False)
    cache = np.zeros((70, WIDTH), np.float32)
    updated, _ = executable["main"](cache, np.ones((2, WIDTH), np.float32), np.array([1, 3]))
    assert cache.any() == donated and np.asarray(updated)[[1, 3]].all()


def test_exported_folders_write_in_place(tmp_path):
    model = Cache(index_copy)
    exported(copy.deepcopy(model)).export(tmp_path / "cache")
    run = load_program(tmp_path / "cache")
    for count in (3, 7):
        args = arguments(count)
        taken, made = peak(run, *(arg.numpy() for arg in args))
        np.testing.assert_allclose(made, model(*args), rtol=1e-4, atol=1e-4)
        assert taken < BYTES / 4
    np.testing.assert_allclose(run.buffers["cache"], model.cache, rtol=1e-6)


def test_running_statistics():
    """All elements of a buffer change: each new value is computed from the old value at the same position."""

    class Mean(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("mean", torch.zeros(4))
            self.register_buffer("count", torch.tensor(0))

        def forward(self, x):
            self.mean.mul_(0.9).add_(x.mean(0), alpha=0.1)
            self.count += 1
            return x - self.mean

    model = Mean()
    run = relax_torch.export(copy.deepcopy(model), (torch.randn(3, 4),), dynamic_shapes={"x": {0: AUTO}}).compile()
    for count in (1, 3, 7):
        x = torch.randn(count, 4)
        programs.check(run, model, (x,))
    np.testing.assert_allclose(run.buffers["mean"], model.mean, rtol=1e-5)
    assert int(run.buffers["count"]) == 3

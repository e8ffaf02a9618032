# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Launches of a captured call that wait for one another, and not for barriers in the list of commands."""

import numpy as np
import pytest
import vulkan
from test_vulkan_faults import X, expected, load
from vulkan_faults import Unchanged, calls, failing, fails

import relax_mlir
from relax_mlir import Device, DeviceError

KERNELS = 3  # of the model


@pytest.fixture(scope="module")
def device():
    vulkan.require()
    return Device("vulkan")


def target_of(device):
    return f"vulkan:subgroup_{device.subgroup}_overlap"


@pytest.fixture(scope="module")
def model(device):
    return load(target_of(device))


def capture(device, model, x):
    """A captured call, which has been recorded, its argument and its result; and the barriers of its list."""
    captured = model.captured("main")
    x, out = device.put(x), device.put(np.zeros_like(x))
    captured(x, out)
    before = calls("vkCmdPipelineBarrier")
    captured(x, out)
    return captured, x, out, calls("vkCmdPipelineBarrier") - before


def check(device, out, x):
    np.testing.assert_allclose(device.get(out), expected(x), rtol=1e-5, atol=1e-6)


# There is one before the counts are cleared, and one after, however many launches there are. Lists are replayed, and
# may follow one another.
def test_launches_wait_for_one_another(device, model, monkeypatch):
    results = {}
    for is_on in "01":
        monkeypatch.setenv("RELAX_DEVICE_OVERLAP", is_on)
        captured, x, out, barriers = capture(device, model, X)
        results[is_on] = barriers
        check(device, out, X)
        for factor in (2, -1, 3):
            device.write(factor * X, x)
            for _ in range(3):
                captured(x, out)
            check(device, out, factor * X)
        assert captured.statistics()[0] == 1
    assert results == {"0": KERNELS, "1": 2}


@pytest.mark.parametrize("rows", [0, 1, 7, 1009, 100_003])
def test_sizes(device, model, monkeypatch, rows):
    monkeypatch.setenv("RELAX_DEVICE_OVERLAP", "1")
    x = np.random.default_rng(rows).standard_normal((rows, 8)).astype(np.float32)
    captured, given, out, _ = capture(device, model, x)
    captured(given, out)
    check(device, out, x)


# The counts of a list have parts of its memory: longer lists clear more of them, and go on.
def test_many_launches(device, monkeypatch):
    monkeypatch.setenv("RELAX_DEVICE_OVERLAP", "1")
    count, tensor = 600, "tensor<8x8xf32>"
    steps = "".join(
        f"  %{i} = relax.matmul %{i - 1 if i else 'x'}, %w : ({tensor}, {tensor}) -> {tensor}\n" for i in range(count)
    )
    module = relax_mlir.parse(
        f"relax.func @main(%x: {tensor}) -> {tensor} {{\n"
        f'  %w = relax.constant weight "w" : {tensor}\n{steps}  relax.return %{count - 1} : {tensor}\n}}'
    )
    turn = np.roll(np.eye(8, dtype=np.float32), 1, axis=1)
    model = relax_mlir.compile(module, target=target_of(device), weights={"w": turn})
    x = np.arange(64, dtype=np.float32).reshape(8, 8)
    captured, given, out, barriers = capture(device, model, x)
    captured(given, out)
    np.testing.assert_array_equal(device.get(out), np.roll(x, count % 8, axis=1))
    assert barriers < count / 50


# Lists that wait within themselves are handed over one behind the other.
def test_lists_follow_one_another(device, model, monkeypatch):
    monkeypatch.setenv("RELAX_DEVICE_OVERLAP", "1")
    first, x, out, _ = capture(device, model, X)
    second, y, other, _ = capture(device, model, 2 * np.ones((64, 8), np.float32))
    for _ in range(20):
        first(x, out)
        second(y, other)
    check(device, out, X)
    check(device, other, 2 * np.ones((64, 8), np.float32))


# What a kernel waits for has run on every device that does launches in order; where it has not, a call says so, and
# the next ones are right.
def test_a_launch_that_never_runs(device, model, monkeypatch):
    monkeypatch.setenv("RELAX_DEVICE_OVERLAP", "1")
    captured = model.captured("main")
    x, out = device.put(X), device.put(np.zeros_like(X))
    captured(x, out)
    with failing("vkCmdDispatch", -13, nth=2):
        captured(x, out)
    fails(lambda: device.get(out), DeviceError, "waited too long", "RELAX_DEVICE_OVERLAP=0")
    del captured
    captured, x, out, _ = capture(device, model, X)
    check(device, out, X)


def test_captures_that_fail_leak_nothing(device, model, monkeypatch):
    monkeypatch.setenv("RELAX_DEVICE_OVERLAP", "1")
    captured, x, out, _ = capture(device, model, X)
    del captured
    with Unchanged(device):
        for _ in range(20):
            captured = model.captured("main")
            captured(x, out)
            with failing("vkAllocateMemory", -2):
                captured(x, out)
            del captured
    check(device, out, X)

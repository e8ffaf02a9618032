# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Launches of a captured call that wait for one another without barriers in the command buffer."""

import numpy as np
import pytest
import vulkan
from test_vulkan_faults import X, expected, load
from vulkan_faults import Unchanged, calls, failing, fails

import relax_mlir
from relax_mlir import DeviceError

KERNELS = 3  # kernels of the model


device = pytest.fixture(vulkan.open_device, scope="module")


def target_of(device):
    return f"vulkan:subgroup_{device.subgroup}_overlap"


@pytest.fixture(scope="module")
def model(device):
    return load(target_of(device))


def capture(device, model, x):
    """A recorded captured call, its argument and result, and the number of barriers in its command buffer."""
    captured = model.captured("main")
    x, out = device.put(x), device.put(np.zeros_like(x))
    captured(x, out)
    before = calls("vkCmdPipelineBarrier")
    captured(x, out)
    return captured, x, out, calls("vkCmdPipelineBarrier") - before


def check(device, out, x):
    np.testing.assert_allclose(device.get(out), expected(x), rtol=1e-5, atol=1e-6)


# One barrier precedes the clearing of the counters, and one follows it, for any number of launches. Command buffers are
# replayed, and may follow one another.
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


# The counters are parts of the command buffer's memory: longer command buffers clear more of them.
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


# MLIR has no op for atomic loads, so the serialized module is rewritten.
def test_counts_are_loaded(device):
    _, made = vulkan.with_modules(lambda: load(target_of(device))["main"](device.put(X)))
    atomic_load, atomic_or = 227, 241
    for module in made:
        words = np.fromfile(module, np.uint32).tolist()
        found, at = set(), 5
        while at < len(words):
            found.add(words[at] & 0xFFFF)
            at += words[at] >> 16
        assert atomic_load in found and atomic_or not in found
    assert len(made) == KERNELS


# In a launch of more than 1056 blocks of four rows each, fewer blocks do the work of several blocks each, the last ones
# of fewer than others. Uncaptured launches use all blocks.
@pytest.mark.parametrize("rows", [4224, 4228, 8192, 9973])
def test_grid_stride(device, monkeypatch, rows):
    small, large = "tensor<1x64xf32>", f"tensor<1x{rows}xf32>"
    up, down = f"tensor<{rows}x64xf32>", f"tensor<64x{rows}xf32>"
    steps = "".join(
        f"""
          %h{i} = relax.linear %x{i}, %up : ({small}, {up}) -> {large}
          %g{i} = relax.linear %x{i}, %gate : ({small}, {up}) -> {large}
          %r{i} = relax.relu %g{i} : ({large}) -> {large}
          %m{i} = relax.multiply %h{i}, %r{i} : ({large}, {large}) -> {large}
          %x{i + 1} = relax.linear %m{i}, %down : ({large}, {down}) -> {small}"""
        for i in range(3)
    )
    module = relax_mlir.parse(
        f"""relax.func @main(%x0: {small}) -> {small} {{
          %up = relax.constant weight "up" : {up}
          %gate = relax.constant weight "gate" : {up}
          %down = relax.constant weight "down" : {down}{steps}
          relax.return %x3 : {small}
        }}"""
    )
    random = np.random.default_rng(rows)
    shapes = {"up": (rows, 64), "gate": (rows, 64), "down": (64, rows)}
    weights = {name: random.standard_normal(shape).astype(np.float32) / 30 for name, shape in shapes.items()}
    model = relax_mlir.compile(module, target=target_of(device), weights=weights)
    x = expected = random.standard_normal((1, 64)).astype(np.float32)
    for _ in range(3):
        expected = (expected @ weights["up"].T * np.maximum(expected @ weights["gate"].T, 0)) @ weights["down"].T
    barriers = {}
    for is_on in "01":
        monkeypatch.setenv("RELAX_DEVICE_OVERLAP", is_on)
        captured, given, out, barriers[is_on] = capture(device, model, x)
        for _ in range(3):
            captured(given, out)
        np.testing.assert_allclose(device.get(out), expected, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(device.get(model["main"](given)), expected, rtol=1e-4, atol=1e-4)
    # GPUs that run more such blocks at the same time than may wait use all of them.
    if rows > 4224 and vulkan.is_lavapipe():
        assert barriers["1"] == 2 < barriers["0"], barriers


# Command buffers with internal waits are submitted one after another.
def test_lists_follow_one_another(device, model, monkeypatch):
    monkeypatch.setenv("RELAX_DEVICE_OVERLAP", "1")
    first, x, out, _ = capture(device, model, X)
    second, y, other, _ = capture(device, model, 2 * np.ones((64, 8), np.float32))
    for _ in range(20):
        first(x, out)
        second(y, other)
    check(device, out, X)
    check(device, other, 2 * np.ones((64, 8), np.float32))


# On every device that runs launches in order, the awaited launch has run; if it has not, a call reports that, and later
# calls are right.
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

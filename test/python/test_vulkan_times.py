# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernel times on a Vulkan device, and the code that runs on each device."""

import gc
import re

import numpy as np
import pytest
import vulkan

import relax_mlir
from relax_mlir import Target

VECTOR = "tensor<?xf32, #relax.shape<[n]>>"
ADD = f"""
relax.func @main(%x: {VECTOR}) -> {VECTOR} {{
  %0 = relax.add %x, %x : ({VECTOR}, {VECTOR}) -> {VECTOR}
  relax.return %0 : {VECTOR}
}}"""


device = pytest.fixture(vulkan.open_device, scope="module")


# All launches of a kernel are one line, printed once; nothing is printed unless requested.
def test_times_are_told(device, monkeypatch, capfd):
    main = relax_mlir.compile(relax_mlir.parse(ADD), target="vulkan")["main"]
    x = device.put(np.ones(1000, np.float32))
    main(x)
    device.synchronize()
    assert not capfd.readouterr().err
    monkeypatch.setenv("RELAX_DEVICE_TIMES", "1")
    for _ in range(3):
        main(x)
    device.synchronize()
    assert re.fullmatch(r" *\d+\.\d us +3 x \S*add\S*\n", capfd.readouterr().err)
    device.synchronize()
    assert not capfd.readouterr().err
    # Unloading code also waits for the device, and leaves the times for a later request.
    main(x)
    other = relax_mlir.compile(relax_mlir.parse(ADD.replace("add", "subtract")), target="vulkan")
    other["main"](x)
    del other
    gc.collect()
    assert not capfd.readouterr().err
    device.synchronize()
    assert "1 x" in capfd.readouterr().err


# A profile has the times of what the host has waited for.
def test_profiles(device, capfd):
    main = relax_mlir.compile(relax_mlir.parse(ADD.replace("main", "profiled")), target="vulkan")["profiled"]
    x = device.put(np.ones(1000, np.float32))
    main(x)
    device.synchronize()
    with relax_mlir.profile() as times:
        main(x)
        main(x)
        device.synchronize()
    (kernel,) = times
    assert (kernel.name, kernel.function, kernel.calls) == ("add", "profiled", 2) and "-:3:" in kernel.location
    assert 0 < kernel.seconds < 1 and times.functions[0].calls == 2
    with relax_mlir.profile() as times:
        device.synchronize()
    assert not times and not capfd.readouterr().err


# Code without cooperative matrices runs on devices that have them, but not the other way round.
def test_matrices_are_a_chip_of_their_own(device):
    plain = f"subgroup_{device.subgroup}"
    assert Target.parse(f"vulkan:{plain}").runs_on(device)
    if device.architecture == plain:
        assert not Target.parse("vulkan:subgroup_32_matrices").runs_on(device)
    with pytest.raises(relax_mlir.RelaxError, match="there is no GPU 'subgroup_8_matrices'"):
        Target.parse("vulkan:subgroup_8_matrices")

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mesa defects (docs/vulkan.md): if a test fails here, the workaround for its defect can be removed."""

import re
import shutil
import subprocess

import numpy as np
import pytest
import vulkan

import relax_mlir
from relax_mlir import Device

VECTOR = "tensor<?xf32, #relax.shape<[n]>>"


@pytest.fixture(scope="module")
def device():
    vulkan.require()
    if not vulkan.is_lavapipe() or Device("vulkan").capability > (1, 3) or "LLVM 15" not in Device("vulkan").name:
        pytest.skip("the defects are in lavapipe of Mesa 22.3")
    return Device("vulkan")


@pytest.fixture
def changed(tmp_path):
    """Runs a function with its only SPIR-V module rewritten as text."""
    if not shutil.which("spirv-as"):
        pytest.skip("there is no spirv-as (spirv-tools)")
    from vulkan_faults import loader

    def run(function, change):
        before, (module,) = vulkan.with_modules(function)
        text = subprocess.run(["spirv-dis", str(module)], check=True, capture_output=True, text=True).stdout
        command = ["spirv-as", "--target-env", "spv1.5", "-", "-o", str(tmp_path / "changed.spv")]
        subprocess.run(command, input=change(text), text=True, check=True)
        loader.relax_vulkan_replace(str(tmp_path / "changed.spv").encode())
        return before, function()

    return run


# Zero times anything is zero if the zero is a constant.
def test_mesa_takes_zero_by_infinity_for_zero(device):
    source = f"""
relax.func @main(%x: {VECTOR}) -> {VECTOR} {{
  %0 = relax.constant dense<0.0> : tensor<f32>
  %1 = relax.multiply %x, %0 : ({VECTOR}, tensor<f32>) -> {VECTOR}
  relax.return %1 : {VECTOR}
}}"""
    x = np.array([1, np.inf, np.nan], np.float32)
    times_zero = relax_mlir.compile(relax_mlir.parse(source), target="vulkan")
    assert device.get(times_zero["main"](device.put(x))).tolist() == [0, 0, 0]


# The loops of a thread end after 65535 iterations; the device warns of this.
def test_mesa_ends_loops(device):
    source = f"""
relax.func @main(%x: {VECTOR}) -> tensor<f32> {{
  %0 = relax.sum %x : ({VECTOR}) -> tensor<f32>
  relax.return %0 : tensor<f32>
}}"""
    total = relax_mlir.compile(relax_mlir.parse(source), target="vulkan:subgroup_1")["main"]
    sums = {size: device.get(total(device.put(np.ones(size, np.float32)))) for size in (4 << 20, 5 << 20)}
    assert sums[4 << 20] == sums[5 << 20] < 4 << 20
    with pytest.warns(RuntimeWarning, match="ends the loops of a thread after 65535 iterations"):
        Device("vulkan")


# Values widened by OpSConvert compare wrongly; our kernels, which extend the sign by arithmetic, are right.
def test_mesa_compares_what_is_widened_as_unsigned(device, changed):
    vector = "tensor<?x{}, #relax.shape<[n]>>"
    source = f"""
relax.func @main(%x: {vector.format("i32")}) -> {vector.format("i1")} {{
  %0 = relax.astype %x {{dtype = i64}} : ({vector.format("i32")}) -> {vector.format("i64")}
  %1 = relax.constant dense<2> : tensor<i64>
  %2 = relax.less %0, %1 : ({vector.format("i64")}, tensor<i64>) -> {vector.format("i1")}
  relax.return %2 : {vector.format("i1")}
}}"""
    x = device.put(np.array([-3, 1, 2, 5], np.int32))

    def run():
        return device.get(relax_mlir.compile(relax_mlir.parse(source), target="vulkan")["main"](x)).tolist()

    def change(text):
        # The kernel compares i32, which suffice here; the rewrite compares widened values.
        widened = r"%wide\2 = OpSConvert %ulong %\2\n%\1 = OpSLessThan %bool %wide\2 %two"
        text, count = re.subn(r"%(\w+) = OpSLessThan %bool %(\w+) %uint_2\b", widened, text)
        assert count
        return re.sub(r"(?m)^(.* = OpFunction )", r"%two = OpConstant %ulong 2\n\1", text, count=1)

    assert changed(run, change) == ([True, True, False, False], [False] * 4)


# f64 halves are rounded towards zero; our kernels, which round by an addition and a subtraction, are right.
def test_mesa_rounds_halves_of_f64_towards_zero(device, changed):
    vector = VECTOR.replace("f32", "f64")
    source = "relax.func @main(%x: {0}) -> {0} {{ %0 = relax.{1} %x : ({0}) -> {0}  relax.return %0 : {0} }}"
    x = device.put(np.array([0.5, 1.5, 2.5, 3.5]))

    def run(op):
        return device.get(relax_mlir.compile(relax_mlir.parse(source.format(vector, op)), target="vulkan")["main"](x))

    def change(text):
        text, count = re.subn(r"(OpExtInst %double %\w+) FAbs", r"\1 RoundEven", text)
        assert count
        return text

    assert run("round").tolist() == [0, 2, 2, 4]
    before, after = changed(lambda: run("abs"), change)
    if after.tolist() == [0, 2, 2, 4]:
        pytest.skip("Mesa compiles rounding to an instruction of this CPU, which is right")
    assert (before.tolist(), after.tolist()) == ([0.5, 1.5, 2.5, 3.5], [0, 1, 2, 3])

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules with some functions on the host and others on a device.

The emulated device ends the process if one side touches the memory of the other.
"""

import gc

import numpy as np
import pytest
from emulated import blocks, calls, failing

import relax_mlir
from relax_mlir import BlockBuilder, Device, RelaxError, Sym, Tensor, op, runtime
from relax_mlir.cli.calling import call

T = "tensor<?xf32, #relax.shape<[n]>>"
RIGHT = f"""
relax.func private @cumulate(%x: {T}) -> {T} attributes {{relax.device = "host"}} {{
  %0 = relax.cumsum %x {{axis = 0}} : ({T}) -> {T}
  %1 = relax.add %0, %x : ({T}, {T}) -> {T}
  relax.return %1 : {T}
}}
relax.func @main(%x: {T}) -> {T} {{
  %0 = relax.add %x, %x : ({T}, {T}) -> {T}
  %1 = relax.to_device %0 to "host" : ({T}) -> {T}
  %2 = relax.call @cumulate(%1) : ({T}) -> {T}
  %3 = relax.to_device %2 to "device" : ({T}) -> {T}
  %4 = relax.add %3, %0 : ({T}, {T}) -> {T}
  relax.return %4 : {T}
}}
relax.func @from_the_host(%x: {T}) -> {T} attributes {{relax.device = "host"}} {{
  %0 = relax.to_device %x to "device" : ({T}) -> {T}
  %1 = relax.call @main(%0) : ({T}) -> {T}
  %2 = relax.to_device %1 to "host" : ({T}) -> {T}
  %3 = relax.subtract %2, %x : ({T}, {T}) -> {T}
  relax.return %3 : {T}
}}
relax.func @alone(%x: {T}) -> {T} attributes {{relax.device = "host"}} {{
  %0 = relax.add %x, %x : ({T}, {T}) -> {T}
  relax.return %0 : {T}
}}
"""


def expected(x):
    return 2 * np.cumsum(x, dtype=np.float32) + 4 * x


@pytest.fixture(scope="module")
def device():
    return Device("cuda")


@pytest.fixture(scope="module")
def executable():
    return relax_mlir.compile(relax_mlir.parse(RIGHT), target="cuda:emulated")


@pytest.mark.parametrize("size", [0, 1, 5, 1000])
def test_both_sides_compute(device, executable, size):
    x = np.arange(size, dtype=np.float32)
    np.testing.assert_allclose(device.get(executable["main"](device.put(x))), expected(x))
    result = executable["from_the_host"](x)
    np.testing.assert_allclose(runtime.to_numpy(result), expected(x) - x)


# With bounds, each side has one arena.
def test_memory_of_both_sides_by_bounds(device):
    bounds = "attributes {relax.symbols = {n = #relax.range<0, 1000>}}"
    module = relax_mlir.parse(RIGHT.replace(f"@main(%x: {T}) -> {T} {{", f"@main(%x: {T}) -> {T} {bounds} {{"))
    executable = relax_mlir.compile(module, target="cuda:emulated", use_bounds=True)
    assert executable.code.memory["main"]["planned_storages"] == "3"  # and the result
    for size in (0, 3, 1000):
        x = np.arange(size, dtype=np.float32)
        np.testing.assert_allclose(device.get(executable["main"](device.put(x))), expected(x))


# The same module runs on the CPU, where both sides coincide.
def test_the_same_module_runs_on_the_cpu_alone():
    executable = relax_mlir.compile(relax_mlir.parse(RIGHT))
    x = np.arange(5, dtype=np.float32)
    for name, wanted in [("main", expected(x)), ("from_the_host", expected(x) - x)]:
        np.testing.assert_allclose(runtime.to_numpy(executable[name](x)), wanted)


# A function that needs no device does not use one.
def test_a_function_of_the_host_launches_nothing(executable):
    before = calls("cuLaunchKernelEx"), calls("cuStreamSynchronize")
    np.testing.assert_array_equal(runtime.to_numpy(executable["alone"](np.ones(3, np.float32))), [2, 2, 2])
    assert (calls("cuLaunchKernelEx"), calls("cuStreamSynchronize")) == before


def test_arguments_are_where_the_signature_says(device, executable):
    x = np.ones(3, np.float32)
    with pytest.raises(TypeError, match="a NumPy array is in the memory of the host, and the function runs on cuda"):
        executable["main"](x)
    with pytest.raises(ValueError, match="from_the_host: argument 0 .*expected a tensor on the CPU, got one on cuda:0"):
        executable["from_the_host"](device.put(x))


# Destinations are on the side of their results.
def test_destinations_of_both_sides(device):
    executable = relax_mlir.compile(
        relax_mlir.parse(f"""
        relax.func @main(%x: {T}, %y: {T} {{relax.device = "host"}}) -> ({T}, {T} {{relax.device = "host"}}) {{
          %0 = relax.add %x, %x : ({T}, {T}) -> {T}
          %1 = relax.call @host(%y) : ({T}) -> {T}
          relax.return %0, %1 : {T}, {T}
        }}
        relax.func private @host(%x: {T}) -> {T} attributes {{relax.device = "host"}} {{
          %0 = relax.multiply %x, %x : ({T}, {T}) -> {T}
          relax.return %0 : {T}
        }}"""),
        target="cuda:emulated",
    )
    x, y = device.put(np.arange(3, dtype=np.float32)), np.arange(3, dtype=np.float32)
    there, here = executable["main"](x, y)
    assert device.get(there).tolist() == [0, 2, 4] and runtime.to_numpy(here).tolist() == [0, 1, 4]
    there, here = device.put(np.zeros(3, np.float32)), np.zeros(3, np.float32)
    executable["main"](x, y, there, here)
    assert device.get(there).tolist() == [0, 2, 4] and here.tolist() == [0, 1, 4]
    # A graph would not reread a number that a host kernel reads.
    captured = executable.captured("main")
    for _ in range(3):
        y += 1
        assert runtime.to_numpy(captured(x, y)[1]).tolist() == (y * y).tolist()
    assert captured.statistics().captures == 0 and not captured.statistics().is_capturable


# A weight may be read on either side, and on both.
def test_weights_of_both_sides(device):
    executable = relax_mlir.compile(
        relax_mlir.parse("""
        relax.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32> {relax.device = "host"}) {
          %0 = relax.constant weight "both" : tensor<2xf32>
          %1 = relax.constant weight "there" : tensor<2xf32>
          %2 = relax.add %0, %1 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
          %3 = relax.add %2, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
          %4 = relax.call @host() : () -> tensor<2xf32>
          relax.return %3, %4 : tensor<2xf32>, tensor<2xf32>
        }
        relax.func private @host() -> tensor<2xf32> attributes {relax.device = "host"} {
          %0 = relax.constant weight "both" : tensor<2xf32>
          %1 = relax.constant weight "here" : tensor<2xf32>
          %2 = relax.add %0, %1 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
          relax.return %2 : tensor<2xf32>
        }"""),
        target="cuda:emulated",
        weights={name: np.full(2, value, np.float32) for name, value in [("both", 1), ("there", 10), ("here", 100)]},
    )
    there, here = executable["main"](device.put(np.zeros(2, np.float32)))
    assert device.get(there).tolist() == [11, 11] and runtime.to_numpy(here).tolist() == [101, 101]


# Branches on values that the host computed, and a loop whose end the host decides.
def test_control_flow_by_the_host(device):
    executable = relax_mlir.compile(
        relax_mlir.parse(f"""
        relax.func private @less(%x: {T}) -> tensor<i1> attributes {{relax.device = "host"}} {{
          %0 = relax.sum %x : ({T}) -> tensor<f32>
          %1 = relax.constant dense<100.0> : tensor<f32>
          %2 = relax.less %0, %1 : (tensor<f32>, tensor<f32>) -> tensor<i1>
          relax.return %2 : tensor<i1>
        }}
        relax.func @main(%x: {T}) -> {T} {{
          %0 = relax.while %x : ({T}) -> {T} {{
          ^bb0(%a: {T}):
            %1 = relax.to_device %a to "host" : ({T}) -> {T}
            %2 = relax.call @less(%1) : ({T}) -> tensor<i1>
            relax.condition %2 : tensor<i1>
          }} do {{
          ^bb0(%a: {T}):
            %1 = relax.add %a, %a : ({T}, {T}) -> {T}
            relax.yield %1 : {T}
          }}
          relax.return %0 : {T}
        }}"""),
        target="cuda:emulated",
    )
    assert device.get(executable["main"](device.put(np.array([1, 2], np.float32)))).tolist() == [64, 128]


# A call that fails midway releases its memory on both sides.
@pytest.mark.parametrize(
    "function", ["cuMemAlloc_v2", "cuMemcpyDtoHAsync_v2", "cuMemcpyHtoDAsync_v2", "cuLaunchKernelEx"]
)
def test_failures_leak_nothing(device, executable, function):
    x = device.put(np.arange(70, dtype=np.float32))
    executable["main"](x)
    gc.collect()
    used, host = device.memory_statistics().used, runtime.pool_statistics().used
    device.trim_memory()
    held = blocks()
    for _ in range(20):
        with failing(function, 2), pytest.raises(MemoryError, match="on cuda:0"):
            device.trim_memory()
            executable["main"](x)
    assert (device.memory_statistics().used, runtime.pool_statistics().used) == (used, host)
    device.trim_memory()
    assert blocks() == held
    np.testing.assert_allclose(device.get(executable["main"](x)), expected(np.arange(70, dtype=np.float32)))


def test_the_builder_places_functions(device):
    bb, n = BlockBuilder(), Sym("n")
    with bb.function("host", [x := Tensor((n,))], private=True, device="host") as host:
        bb.return_(op.exp(x))
    with bb.function("main", [x := Tensor((n,))]):
        bb.return_(op.to_device(bb.call(host, op.to_device(x, place="host")), place="device"))
    executable = relax_mlir.compile(bb.module(), target="cuda:emulated")
    x = np.linspace(0, 1, 7, dtype=np.float32)
    np.testing.assert_allclose(device.get(executable["main"](device.put(x))), np.exp(x), rtol=1e-6)
    with pytest.raises(RelaxError, match="there is no place 'cuda'"):
        bb.function("other", device="cuda").__enter__()


def test_a_wrong_mix_is_an_error_at_its_line():
    bb, n = BlockBuilder(), Sym("n")
    with bb.function("main", [x := Tensor((n,))]):
        y = op.to_device(x, place="host")
        bb.return_(op.exp(y))
    with pytest.raises(RelaxError, match="operand 0 is on the host, and the function runs on the device") as caught:
        relax_mlir.compile(bb.module())
    assert caught.value.location.file.endswith("test_mixed_targets.py")


# The command line places arguments on the side where the function takes them.
def test_the_command_line_puts_arguments_where_they_are_taken(tmp_path):
    program, output = tmp_path / "program.mlir", tmp_path / "results.npz"
    program.write_text(RIGHT)
    for name in ("main", "from_the_host"):
        call(str(program), ["5xf32"], function=name, outputs=[str(output)], target="cuda:emulated")
        assert np.load(output)["arr_0"].shape == (5,)


# The metadata of an exported folder contain the place of each value.
def test_places_are_exported(tmp_path, executable):
    executable.export(tmp_path)
    loaded = relax_mlir.load_exported(tmp_path)
    assert loaded.code.functions["from_the_host"]["parameters"][0]["place"] == "host"
    np.testing.assert_array_equal(runtime.to_numpy(loaded["alone"](np.ones(3, np.float32))), [2, 2, 2])
    assert f"(arg0: {T} on the host) -> ({T} on the host) */" in (tmp_path / "model.h").read_text()

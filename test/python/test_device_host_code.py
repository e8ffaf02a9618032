# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Host code for a device, compiled and run, without kernels.

The emulated device ends the process if host code touches a tensor itself.
"""

import gc

import ml_dtypes
import numpy as np
import pytest
import tvm_ffi
from elements import NAMES
from emulated import blocks, calls, failing, objects

import relax_mlir
from relax_mlir import Code, Device, Executable, _relax, pipelines
from relax_mlir.compiler import _find_weights, describe_functions
from relax_mlir.pipelines.cpu import default_pipeline

T = "tensor<?xf32, #relax.shape<[n]>>"
X = np.arange(4, dtype=np.float32)


@pytest.fixture(scope="module")
def device():
    return Device("cuda")


def compiled(text):
    """A module without kernels."""
    module = relax_mlir.parse(text)
    functions, weights = describe_functions(module), _find_weights(module)
    target = relax_mlir.Target.host()
    default_pipeline().run(module)
    lowering = [pipelines.LowerToHost(device="cuda"), pipelines.KernelsToLoops(128), pipelines.LoopsToLLVM()]
    pipelines.Pipeline(lowering).run(module)
    object = _relax.emit_object(module.ir, target.triple, target.cpu, target.features, 3)
    return Executable(Code(object, target, functions, {}, weights, device="cuda"))


def test_parameters_pass_through(device):
    x = device.put(X)
    result = compiled(f"relax.func @main(%x: {T}) -> {T} {{ relax.return %x : {T} }}")["main"](x)
    assert result.same_as(x)


@pytest.mark.parametrize("flag", [False, True])
def test_conditions_are_read(device, flag):
    main = compiled(f"""
    relax.func @main(%c: tensor<i1>, %x: {T}, %y: {T}) -> {T} {{
      %0 = relax.if %c : tensor<i1> -> {T} {{
        relax.yield %x : {T}
      }} else {{
        relax.yield %y : {T}
      }}
      relax.return %0 : {T}
    }}""")["main"]
    x, y = device.put(X), device.put(-X)
    for condition in (flag, device.put(np.array(flag))):
        assert main(condition, x, y).same_as(x if flag else y)


def test_assertions_are_checked(device):
    main = compiled(f"""
    relax.func @main(%c: tensor<i1>, %x: {T}) -> {T} {{
      relax.assert %c, "it must hold" : tensor<i1>
      relax.return %x : {T}
    }}""")["main"]
    x = device.put(X)
    assert main(device.put(np.array(True)), x).same_as(x)
    with pytest.raises(ValueError, match="it must hold"):
        main(device.put(np.array(False)), x)


CONSTANTS = {
    "f32": ("tensor<2x2xf32>", "dense<[[1.5, 2.5], [3.5, 4.5]]>", [[1.5, 2.5], [3.5, 4.5]]),
    "bool": ("tensor<3xi1>", "dense<[true, false, true]>", [True, False, True]),
    "scalar": ("tensor<i64>", "dense<-7>", -7),
    "empty": ("tensor<0xf32>", "dense<[]>", []),
    "large": ("tensor<1000xi32>", "dense<9>", [9] * 1000),
}


@pytest.mark.parametrize("case", CONSTANTS)
def test_constants(device, case):
    type, value, expected = CONSTANTS[case]
    main = compiled(f"""
    relax.func @main() -> {type} {{
      %0 = relax.constant {value} : {type}
      relax.return %0 : {type}
    }}""")["main"]
    for _ in range(2):
        assert device.get(main()).tolist() == expected


# The memory of constants is released with the last function of the module.
def test_constants_are_unloaded(device):
    device.trim_memory()
    held = blocks()
    executable = compiled("""
    relax.func @main() -> tensor<2xf32> {
      %0 = relax.constant dense<[1.0, 2.0]> : tensor<2xf32>
      relax.return %0 : tensor<2xf32>
    }""")
    main = executable["main"]
    assert device.get(main()).tolist() == [1, 2]
    del executable
    gc.collect()
    assert device.get(main()).tolist() == [1, 2]
    device.trim_memory()
    assert blocks() == held + 1
    del main
    gc.collect()
    assert blocks() == held


def test_sizes_are_read_and_written(device):
    main = compiled(f"""
    relax.func @main(%x: {T}, %s: tensor<2xi64>) -> (tensor<?x?xf32>, tensor<2xi64>) {{
      %0 = relax.tensor_to_shape %s : (tensor<2xi64>) -> !relax.shape<2>
      %1 = relax.match_cast %0 : (!relax.shape<2>) -> !relax.shape<[a, b]>
      %2 = relax.reshape %x, %1 : ({T}, !relax.shape<[a, b]>) -> tensor<?x?xf32, #relax.shape<[a, b]>>
      %3 = relax.shape_to_tensor %1 : (!relax.shape<[a, b]>) -> tensor<2xi64>
      %4 = relax.match_cast %2 : (tensor<?x?xf32, #relax.shape<[a, b]>>) -> tensor<?x?xf32>
      relax.return %4, %3 : tensor<?x?xf32>, tensor<2xi64>
    }}""")["main"]
    x = device.put(X)
    result, sizes = main(x, device.put(np.array([2, 2])))
    assert device.get(result).tolist() == X.reshape(2, 2).tolist()
    assert device.get(sizes).tolist() == [2, 2]
    with pytest.raises(ValueError, match="element 0 of a shape is -2, which is negative"):
        main(x, device.put(np.array([-2, -2])))


# The device type is also known for functions without tensors.
def test_functions_without_tensors(device):
    main = compiled("""
    relax.func @main() -> !relax.shape<2> {
      %0 = relax.constant dense<[3, 4]> : tensor<2xi64>
      %1 = relax.tensor_to_shape %0 : (tensor<2xi64>) -> !relax.shape<2>
      relax.return %1 : !relax.shape<2>
    }""")["main"]
    assert list(main()) == [3, 4]


def test_weights_are_put_on_the_device(device):
    executable = compiled("""
    relax.func @main() -> (tensor<4xf32>, tensor<2xbf16>) {
      %0 = relax.constant weight "a" : tensor<4xf32>
      %1 = relax.constant weight "b" : tensor<2xbf16>
      relax.return %0, %1 : tensor<4xf32>, tensor<2xbf16>
    }""")
    used = device.memory_statistics().used
    with pytest.raises(ValueError, match="weight 'a' is not bound"):
        executable["main"]()
    executable.bind_weights({"a": X, "b": device.put(np.array([1, 2], ml_dtypes.bfloat16))})
    assert [device.get(result).tolist() for result in executable["main"]()] == [X.tolist(), [1, 2]]
    # The executable owns the weights, and releases them.
    del executable
    assert device.memory_statistics().used == used


def test_arrays_of_the_host_are_refused(device):
    main = compiled(f"relax.func @main(%x: {T}) -> {T} {{ relax.return %x : {T} }}")["main"]
    with pytest.raises(TypeError, match=r'main: argument 0 .*put it there first: Device\("cuda"\)\.put\(array\)'):
        main(X)
    with pytest.raises(ValueError, match="argument 0 .*: expected a tensor on cuda:0, got one on the CPU"):
        main(tvm_ffi.from_dlpack(X))


def test_numbers_of_every_kind_become_tensors(device):
    for dtype in (np.float32, np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e5m2):
        type_ = f"tensor<{NAMES[np.dtype(dtype)]}>" if np.dtype(dtype) in NAMES else "tensor<f8E5M2>"
        main = compiled(f"relax.func @main(%x: {type_}) -> {type_} {{ relax.return %x : {type_} }}")["main"]
        assert device.get(main(dtype(1.5))).item() == device.get(main(1.5)).item() == 1.5


# Results are views of the device's memory, which NumPy cannot reach.
@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16])
def test_results_stay_on_the_device(device, dtype):
    type_ = f"tensor<4x{NAMES[np.dtype(dtype)]}>"
    main = compiled(f"relax.func @main(%x: {type_}) -> {type_} {{ relax.return %x : {type_} }}")["main"]
    result = main(device.put(X.astype(dtype)))
    with pytest.raises(relax_mlir.RelaxError, match=r"the tensor is on cuda:0; `Device.get` copies it"):
        relax_mlir.runtime.to_numpy(result)
    assert device.get(result).tolist() == X.tolist()


def test_a_read_that_fails_ends_the_call(device):
    main = compiled("""
    relax.func @main(%s: tensor<2xi64>) -> !relax.shape<2> {
      %0 = relax.tensor_to_shape %s : (tensor<2xi64>) -> !relax.shape<2>
      relax.return %0 : !relax.shape<2>
    }""")["main"]
    sizes = device.put(np.array([1, 2]))
    before = calls("cuMemcpyDtoHAsync_v2")
    with (
        pytest.raises(relax_mlir.DeviceError, match="copy from the device failed"),
        failing("cuMemcpyDtoHAsync_v2", 700),
    ):
        main(sizes)
    assert calls("cuMemcpyDtoHAsync_v2") == before + 1
    assert list(main(sizes)) == [1, 2]


# A compiled function is captured by its name, with the same results.
def test_functions_are_captured(device):
    executable = compiled(f"""
    relax.func @main(%x: {T}) -> ({T}, tensor<2xf32>, !relax.shape<[n]>) {{
      %0 = relax.constant dense<[1.0, 2.0]> : tensor<2xf32>
      %1 = relax.shape_of %x : ({T}) -> !relax.shape<[n]>
      relax.return %x, %0, %1 : {T}, tensor<2xf32>, !relax.shape<[n]>
    }}""")
    before = objects()
    main = executable.captured("main", graphs=2)
    for size in (4, 3):
        x = device.put(X[:size])
        for _ in range(3):
            same, constant, shape = main(x)
            assert same.same_as(x)
            assert (device.get(constant).tolist(), list(shape)) == ([1, 2], [size])
    assert main.statistics() == (2, 4, 0, 2, True, 0)
    with pytest.raises(TypeError, match="main: argument 0 .*a NumPy array is in the memory of the host"):
        main(X)
    # The captured function keeps the code alive, and releases its graphs.
    del executable
    gc.collect()
    assert list(main(x)[2]) == [3]
    del main
    gc.collect()
    assert objects() == before


# Host code depends on values read from the device: it runs each time.
def test_functions_that_read_are_not_captured(device):
    executable = compiled("""
    relax.func @main(%s: tensor<2xi64>) -> !relax.shape<2> {
      %0 = relax.tensor_to_shape %s : (tensor<2xi64>) -> !relax.shape<2>
      relax.return %0 : !relax.shape<2>
    }""")
    main = executable.captured("main")
    for sizes in ([1, 2], [3, 4], [5, 6]):
        assert list(main(device.put(np.array(sizes)))) == sizes
    assert main.statistics() == (0, 0, 0, 0, False, 0)


def test_what_is_no_function_to_capture(device):
    executable = compiled(f"relax.func @main(%x: {T}) -> {T} {{ relax.return %x : {T} }}")
    with pytest.raises(KeyError, match="no function 'other'"):
        executable.captured("other")
    for graphs in (0, 1 << 40, 1 << 80, "a"):
        with pytest.raises(relax_mlir.RelaxError, match=f"{graphs!r} graphs; expected a number from 1 to 65536"):
            executable.captured("main", graphs=graphs)
    host = relax_mlir.compile(relax_mlir.parse(f"relax.func @main(%x: {T}) -> {T} {{ relax.return %x : {T} }}"))
    with pytest.raises(relax_mlir.RelaxError, match="this module is for the host"):
        host.captured("main")

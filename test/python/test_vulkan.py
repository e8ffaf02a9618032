# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Vulkan devices: failures, caches, captured calls. Ops are tested in test_legalize_*.py."""

import concurrent.futures
import ctypes
import shutil
import subprocess
import traceback

import forked
import numpy as np
import pytest
import sample
import tvm_ffi
import vulkan
from conftest import find_tool
from test_vulkan_models import built

import relax_mlir
from relax_mlir import Device, DeviceError, RelaxError, Target
from relax_mlir.pipelines import KernelsToLaunches, LaunchesToSPIRV, LowerToHost, Pipeline, gpu

VECTOR = "tensor<?xf32, #relax.shape<[n]>>"
ADD = f"""
relax.func @main(%x: {VECTOR}, %y: {VECTOR}) -> {VECTOR} {{
  %0 = relax.add %x, %y : ({VECTOR}, {VECTOR}) -> {VECTOR}
  relax.return %0 : {VECTOR}
}}"""
SINE = f"""
relax.func @main(%x: {VECTOR}) -> {VECTOR} {{
  %0 = relax.sin %x : ({VECTOR}) -> {VECTOR}
  relax.return %0 : {VECTOR}
}}"""
SUM = f"""
relax.func @main(%x: {VECTOR}) -> tensor<f32> {{
  %0 = relax.sum %x : ({VECTOR}) -> tensor<f32>
  relax.return %0 : tensor<f32>
}}"""


device = pytest.fixture(vulkan.open_device, scope="module")


@pytest.fixture(scope="module")
def add(device):
    return relax_mlir.compile(relax_mlir.parse(ADD), target="vulkan")


def test_the_device_is_described(device):
    assert device.name and device.capability >= (1, 2) and device.memory > 0
    assert device.architecture.removesuffix("_matrices") == f"subgroup_{device.subgroup}"
    assert Target.parse("vulkan").device == "vulkan"
    assert Target.parse("vulkan").runs_on(device)
    assert not Target.parse("vulkan:subgroup_128").runs_on(device)
    with pytest.raises(RelaxError, match="'sm_90' is not a GPU for vulkan"):
        Target.parse("vulkan:sm_90")


NO_DRIVER = {
    "no loader": ({"RELAX_VULKAN_LOADER": "/nowhere/libvulkan.so"}, "no Vulkan loader: .*nowhere"),
    "another library": (
        {"RELAX_VULKAN_LOADER": "libm.so.6"},
        "too old or not a Vulkan loader: it lacks vkGetInstanceProcAddr",
    ),
    "no driver": (
        {"VK_ICD_FILENAMES": "/nowhere.json", "VK_DRIVER_FILES": "/nowhere.json"},
        "Vulkan|there is no device",
    ),
}


@pytest.mark.parametrize("case", NO_DRIVER)
def test_without_a_driver(device, case):
    environment, message = NO_DRIVER[case]
    source = f"""
import re, relax_mlir
try:
    relax_mlir.Device("vulkan")
except relax_mlir.DeviceError as error:
    print("ok" if re.search({message!r}, str(error)) else error)
"""
    assert vulkan.run_python(source, **environment).strip().endswith("ok")


def test_devices_that_are_not_there(device):
    for index in (-1, 99):
        with pytest.raises(DeviceError, match=f"there is no device vulkan:{index}"):
            Device("vulkan", index)


# A forked child opens its own device, and is refused its parent's; neither waits forever.
def test_forks(device):
    printed = vulkan.run_python(forked.program("vulkan", "vulkan"))
    assert printed.split() == ["passed"], printed


# Sizes from no element to more blocks than a device accepts in one launch.
@pytest.mark.parametrize("size", [0, 1, 255, 1001, 65536 * 256 + 3])
def test_sizes(device, add, size):
    x = np.arange(size, dtype=np.float32)
    np.testing.assert_array_equal(device.get(add["main"](device.put(x), device.put(x))), 2 * x)


# Code for another subgroup width is rejected with the line of the program; the process stays usable.
def test_code_for_another_device(device, add):
    other = 2 * device.subgroup
    wrong = relax_mlir.compile(relax_mlir.parse(SUM), target=f"vulkan:subgroup_{other}")
    x = np.ones(5, np.float32)
    for _ in range(3):
        with pytest.raises(
            DeviceError,
            match=f'lacks subgroups of {other} threads .* its subgroups have.*; the target for it is "vulkan:subgroup_',
        ) as error:
            wrong["main"](device.put(x))
        last = traceback.extract_tb(error.value.__traceback__)[-1]
        assert (last.filename, last.lineno) == ("-", 3)
    assert device.get(add["main"](device.put(x), device.put(x))).tolist() == [2] * 5


# Memory that the runtime did not allocate is rejected: it would lead to device loss.
def test_memory_of_others(device, add):
    class Head(ctypes.Structure):
        _fields_ = [("data", ctypes.c_void_p), ("type", ctypes.c_int32), ("id", ctypes.c_int32)]

    x = device.put(np.ones(5, np.float32))
    array = np.zeros(5, np.float32)
    other = tvm_ffi.from_dlpack(array)
    head = Head.from_address(other.__chandle__() + 24)  # after the header of an object
    head.type, head.id = x.__dlpack_device__()
    place = head.data
    for address in (place, place + 4, 16):
        head.data = address
        for arguments in ((x, other), (other, x), (x, x, other)):
            with pytest.raises(ValueError, match="the runtime has not allocated this memory on vulkan:0"):
                add["main"](*arguments)
    head.data, head.type = place, 1
    assert device.get(add["main"](x, x)).tolist() == [2] * 5 and not array.any()


# Without shuffles, threads use shared memory; such code runs everywhere.
def test_code_without_shuffles(device):
    total = relax_mlir.compile(relax_mlir.parse(SUM), target="vulkan:subgroup_1")
    for size in (0, 1, 1000, 100001):
        x = np.arange(size, dtype=np.float32) % 7
        assert device.get(total["main"](device.put(x))) == x.sum()


# The code for every subgroup width is valid, for a decoder in each element type.
@pytest.mark.skipif(not shutil.which("spirv-val"), reason="there is no spirv-val (spirv-tools)")
@pytest.mark.parametrize("dtype", [pytest.param("f32", marks=pytest.mark.more), "bf16"])
@pytest.mark.parametrize(
    "chip",
    ["subgroup_1", "subgroup_8", "subgroup_32", "subgroup_8_overlap", "subgroup_8_bound", "subgroup_4_narrow"],
)
def test_modules_are_valid(tmp_path, chip, dtype):
    module = built(tmp_path, dtype).module.clone()
    gpu.default_pipeline(chip=chip).run(module)
    to_spirv = LaunchesToSPIRV(**gpu.options_of(chip))
    Pipeline([LowerToHost(device="vulkan"), KernelsToLaunches(chip), to_spirv]).run(module)
    kernels = [op for op in module.ir.body.operations if op.operation.name == "spirv.module"]
    assert len(kernels) > 50
    # Validating all kernels takes long, so a normal run takes a part of them.
    for kernel in sample.part(kernels, 8):
        binary = tmp_path / "kernel.spv"
        command = [find_tool("relax-translate"), "--serialize-spirv", "-o", str(binary), "-"]
        subprocess.run(command, input=str(kernel), text=True, check=True)
        subprocess.run(["spirv-val", "--target-env", "vulkan1.2", str(binary)], check=True)


def test_a_thousand_failing_calls_leak_nothing(device, add):
    x = device.put(np.ones(1 << 20, np.float32))
    device.trim_memory()
    before = device.memory_statistics()
    device.set_memory_limit(before.held)
    try:
        for _ in range(1000):
            with pytest.raises(MemoryError, match="no memory for"):
                add["main"](x, x)
    finally:
        device.set_memory_limit(None)
    assert device.memory_statistics().used == before.used
    assert device.get(add["main"](x, x)).sum() == 2 << 20


def test_tensors_are_copied_and_written(device):
    x = np.random.default_rng(0).standard_normal((300, 7)).astype(np.float32)
    tensor = device.put(x)
    copy = device.put(tensor)
    device.write(2 * x, tensor)
    np.testing.assert_array_equal(device.get(tensor), 2 * x)
    np.testing.assert_array_equal(device.get(copy), x)
    for value in (None, [None, 1], "text", np.array(["2026-01-01"], "datetime64[s]")):
        with pytest.raises(RelaxError, match="put: expected a tensor, or an array of numbers, got "):
            device.put(value)
        with pytest.raises(RelaxError, match="write: expected a tensor, or an array of numbers, got "):
            device.write(value, tensor)


# A call is recorded once, and resubmitted afterwards.
def test_calls_are_captured(device, add):
    captured = add.captured("main")
    x, y, out = (device.put(np.full(1000, value, np.float32)) for value in (1, 2, 0))
    for _ in range(4):
        captured(x, y, out)
        assert device.get(out).tolist() == [3] * 1000
    device.write(np.full(1000, 5, np.float32), x)
    captured(x, y, out)
    assert device.get(out).tolist() == [7] * 1000
    assert captured.statistics()[:4] == (1, 4, 0, 1)


VALIDATED = '''
import os
import numpy as np, relax_mlir, test_vulkan as t, test_vulkan_faults as faults
from relax_mlir import Device
device = Device("vulkan")
for op, result, *shapes in OPS:
    dtype = np.dtype(dict(f32="f4", f16="f2", f64="f8", i8="i1", i1="f4", i32="i4")[result.split("x")[-1]])
    arrays = [np.linspace(-1, 1, int(np.prod(shape))).reshape(shape).astype(dtype) for shape in shapes]
    element = dict(f4="f32", f2="f16", f8="f64", i1="i8", i4="i32")[dtype.str[1:]]
    types = ["tensor<" + "".join(f"{size}x" for size in shape) + element + ">" for shape in shapes]
    parameters = ", ".join(f"%{i}: {type}" for i, type in enumerate(types))
    main = relax_mlir.compile(relax_mlir.parse(f"""
relax.func @main({parameters}) -> tensor<{result}> {{
  %r = relax.{op} : ({", ".join(types)}) -> tensor<{result}>
  relax.return %r : tensor<{result}>
}}"""), target="vulkan")["main"]
    device.get(main(*map(device.put, arrays)))
os.environ["RELAX_DEVICE_OVERLAP"] = "1"
for target in ("vulkan", f"vulkan:subgroup_{device.subgroup}_overlap"):
    if target != "vulkan" and "addresses=0" in os.environ["RELAX_VULKAN_SET"]:
        continue
    model = faults.load(target)
    faults.check(device, model)
    captured, x, out = model.captured("main"), device.put(faults.X), device.put(np.zeros_like(faults.X))
    for _ in range(4):
        captured(x, out)
    np.testing.assert_allclose(device.get(out), faults.expected(faults.X), rtol=1e-5, atol=1e-6)
large = np.arange(5 << 20, dtype=np.float32)  # in pieces
np.testing.assert_array_equal(device.get(device.put(large)), large)
device.trim_memory()
print("passed")
'''
FEW_OPS = [
    ("sum %0", "f32", (10000,)),
    ("add %0, %1", "5x7xf16", (5, 7), (5, 7)),
    ("add %0, %1", "35xi8", (35,), (35,)),
]
OTHER_OPS = [
    ("matmul %0, %1", "33x65xf32", (33, 40), (40, 65)),
    ("matmul %0, %1", "1x65xf32", (1, 40), (40, 65)),
    ("add %0, %1", "5x7xf64", (5, 7), (5, 7)),
    ("exp %0", "1001xf32", (1001,)),
    ("greater %0, %1", "1001xi1", (1001,), (1001,)),
    ("sort %0 axis 1", "3x700xf32", (3, 700)),
    ("cumsum %0 {axis = 0}", "5000xf32", (5000,)),
    ("conv2d %0, %1", "1x4x6x6xf32", (1, 3, 8, 8), (4, 3, 3, 3)),
    ("max_pool2d %0", "1x3x8x8xf32", (1, 3, 8, 8)),
    ("rms_norm %0 weight %1 axes [-1]", "4x300xf32", (4, 300), (300,)),
    ("attention %0, %1, %2", "1x9x2x16xf32", (1, 9, 2, 16), (1, 9, 2, 16), (1, 9, 2, 16)),
]


# Khronos' validation layer reports nothing for kernels, copies, captured calls, and the end of a process.
def test_validation_is_silent(device):
    if not vulkan.has_validation():
        pytest.skip("there is no VK_LAYER_KHRONOS_validation (vulkan-validationlayers)")
    layer = {"VK_INSTANCE_LAYERS": "VK_LAYER_KHRONOS_validation"}
    source = VALIDATED.replace("OPS", repr(FEW_OPS + list(sample.part(OTHER_OPS, 4))), 1)
    for settings in sample.part(["", "addresses=0"], 2):
        printed = vulkan.run_python(source, RELAX_VULKAN_SET=settings, **layer)
        assert printed.split() == ["passed"], printed


# A command buffer is released with the code that it launches, which an exported model may unload.
def test_lists_go_with_their_code(device):
    model = relax_mlir.compile(relax_mlir.parse(ADD), target="vulkan")
    add, x = model.captured("main"), device.put(np.arange(5, dtype=np.float32))
    for _ in range(2):
        for _ in range(3):
            np.testing.assert_array_equal(device.get(add(x, x)), [0, 2, 4, 6, 8])
        assert add.statistics().graphs == 1
        ctypes.CFUNCTYPE(None)(model._loaded.linked.lookup("relax_unload"))()
        assert add.statistics().graphs == 0


# The header of a folder documents where tensors are.
def test_headers(device, tmp_path):
    relax_mlir.export.export(relax_mlir.compile_code(relax_mlir.parse(ADD), "vulkan"), tmp_path)
    assert "kDLVulkan" in (tmp_path / "model.h").read_text()


CACHED = """
import numpy as np, vulkan_faults, test_vulkan_faults as t
from relax_mlir import Device
device = Device("vulkan")
t.check(device, t.load())
print(vulkan_faults.loader.relax_vulkan_cache_bytes())
"""


def kept(folder):
    """The cache entries with kernels compiled by drivers."""
    files = {path: path.read_bytes() for path in folder.glob("*.relax")}
    return {path: data for path, data in files.items() if b'{"kind": "pipeline"}' in data[:160]}


# The driver gets its compiled kernels back in the next process; damaged ones are regenerated.
def test_kernels_are_kept_on_disk(device, tmp_path):
    if not vulkan.LOADER.exists():
        pytest.skip("the loader of the tests is not there")
    variables = {"RELAX_CACHE_DIR": str(tmp_path), "RELAX_VULKAN_SET": "cache=1"}
    assert vulkan.run_python(CACHED, **variables).split() == ["0"]
    entries = kept(tmp_path)
    each = 32 + len("what a driver has made of a kernel") + 1
    assert len(entries) >= 2 and all(b"what a driver has made" in data for data in entries.values())
    assert vulkan.run_python(CACHED, **variables).split() == [str(each * len(entries))]
    first, second = list(entries)[:2]
    first.write_bytes(entries[first][:-1])
    second.write_bytes(b"")
    assert vulkan.run_python(CACHED, **variables).split() == [str(each * (len(entries) - 2))]
    assert kept(tmp_path) == entries
    # Another driver does not use these kernels; and several processes write at the same time.
    variables["RELAX_VULKAN_SET"] += ",driver=7"
    with concurrent.futures.ThreadPoolExecutor() as threads:
        printed = list(threads.map(lambda _: vulkan.run_python(CACHED, **variables).split(), range(3)))
    assert all(len(text) == 1 and int(text[0]) <= each * len(entries) for text in printed), printed
    assert len(kept(tmp_path)) == 2 * len(entries)


BOUND = """
import pathlib, tempfile
import numpy as np, relax_mlir, vulkan_faults, test_vulkan as t, test_vulkan_models as models
device = relax_mlir.Device("vulkan")
assert device.architecture == f"subgroup_{device.subgroup}_bound"
add = relax_mlir.compile(relax_mlir.parse(t.ADD), target="vulkan")
for size in (0, 1, 255, 1001, 9 << 20):
    x = np.arange(size, dtype=np.float32)
    np.testing.assert_array_equal(device.get(add["main"](device.put(x), device.put(x))), 2 * x)
t.test_calls_are_captured(device, add)
t.test_code_for_another_device(device, add)
x = device.put(x[:5])
def work():
    device.get(add["main"](x, x))
def refused():
    with vulkan_faults.failing("vkAllocateDescriptorSets", vulkan_faults.OUT_OF_MEMORY):
        vulkan_faults.fails(lambda: add["main"](x, x), MemoryError, "binding buffers failed")
    device.get(x)
for call in (work, refused):
    for _ in range(20):
        call()  # some sets are kept
    with vulkan_faults.Unchanged(device):
        for _ in range(1000):
            call()
assert device.get(add["main"](x, x)).tolist() == [0, 2, 4, 6, 8]
addressed = relax_mlir.compile(relax_mlir.parse(t.ADD), target=f"vulkan:subgroup_{device.subgroup}")
vulkan_faults.fails(lambda: addressed["main"](x, x), relax_mlir.DeviceError, "lacks buffer addresses", "_bound")
# The parameters do not fit in the push constants.
vector = "tensor<?xf32, #relax.shape<[n]>>"
sum = "\\n".join(
    f"  %s{i} = relax.add %{f's{i - 1}' if i > 1 else 'x0'}, %x{i} : ({vector}, {vector}) -> {vector}"
    for i in range(1, 20)
)
many = relax_mlir.compile(relax_mlir.parse(
    f"relax.func @main({', '.join(f'%x{i}: {vector}' for i in range(20))}) -> {vector} {{\\n{sum}"
    f"\\n  relax.return %s19 : {vector}\\n}}"), target="vulkan")
arrays = [np.full(1000, i, np.float32) for i in range(20)]
assert device.get(many["main"](*map(device.put, arrays))).tolist() == [190] * 1000
if DECODES:
    with tempfile.TemporaryDirectory() as folder:
        build = lambda: models.built(pathlib.Path(folder), layout="groups", quantisation="Q8_0")
        assert models.tokens_of(build().compile(target="vulkan")) == models.tokens_of(build().compile())
print("passed")
"""


# Code for a device without buffer addresses gives the same results; the validation layer is silent.
def test_buffers_that_are_bound(device):
    source = BOUND.replace("DECODES", repr(sample.EVERYTHING))
    layer = {"VK_INSTANCE_LAYERS": "VK_LAYER_KHRONOS_validation"} if vulkan.has_validation() else {}
    printed = vulkan.run_python(source, RELAX_VULKAN_SET="addresses=0", **layer)
    assert printed.split() == ["passed"], printed


# Bound buffers are limited in number and size.
@pytest.mark.parametrize(
    "limits, message",
    [
        ("addresses=0,bindings=2", "launch of '.*': .* lacks 3 bound buffers per kernel; it has at most 2"),
        ("addresses=0,range=2097152", "no allocation of 4194304 bytes: .* allocates at most 2097152 bytes at a time"),
        ("range=2097152", "launch of '.*': .* binds buffers of at most 2097152 bytes, not of 33554432"),
    ],
)
def test_limits_of_what_is_bound(device, limits, message):
    program = f"""
import re, numpy as np, relax_mlir, vulkan_faults, test_vulkan as t
device = relax_mlir.Device("vulkan")
add = relax_mlir.compile(relax_mlir.parse(t.ADD), target=f"vulkan:subgroup_{{device.subgroup}}_bound")
def call():
    x = device.put(np.ones(1 << 20 if "addresses=0,range" in {limits!r} else 5, np.float32))
    add["main"](x, x)
for _ in range(100):
    error = vulkan_faults.fails(call, Exception)
    assert re.search({message!r}, str(error)), error
print("passed")
"""
    printed = vulkan.run_python(program, RELAX_VULKAN_SET=limits)
    assert printed.split() == ["passed"], printed


# Some functions run on the host, others on the device (test_mixed_targets.py).
def test_host_and_device_in_one_module(device):
    from test_mixed_targets import RIGHT, expected

    mixed = relax_mlir.compile(relax_mlir.parse(RIGHT), target="vulkan")
    for size in (0, 1, 5, 1000):
        x = np.arange(size, dtype=np.float32)
        np.testing.assert_allclose(device.get(mixed["main"](device.put(x))), expected(x))
        result = mixed["from_the_host"](x)
        np.testing.assert_allclose(relax_mlir.runtime.to_numpy(result), expected(x) - x)
    with pytest.raises(
        ValueError, match="from_the_host: argument 0 .*expected a tensor on the CPU, got one on vulkan:0"
    ):
        mixed["from_the_host"](device.put(x))
    captured = mixed.captured("main")
    for _ in range(3):
        np.testing.assert_allclose(device.get(captured(device.put(x))), expected(x))
    assert captured.statistics().captures == 0


SECOND = """
import numpy as np, relax_mlir, vulkan_faults, test_vulkan as t, test_vulkan_faults as faults
device = relax_mlir.Device("vulkan")
assert device.name.startswith("SwiftShader") and device.architecture.endswith("_narrow"), device.architecture
add = relax_mlir.compile(relax_mlir.parse(t.ADD), target="vulkan")
for size in (0, 1, 255, 1001, 65536 * 256 + 3):
    x = np.arange(size, dtype=np.float32)
    np.testing.assert_array_equal(device.get(add["main"](device.put(x), device.put(x))), 2 * x)
t.test_calls_are_captured(device, add)
model = faults.load()
for rows in (0, 1, 7, 1000):
    faults.check(device, model, np.linspace(-1, 1, 8 * rows, dtype=np.float32).reshape(rows, 8))
total = relax_mlir.compile(relax_mlir.parse(t.SUM), target="vulkan")
for size in (0, 1, 1000, 100001):
    x = np.arange(size, dtype=np.float32) % 7
    assert device.get(total["main"](device.put(x))) == x.sum()
sine = relax_mlir.compile(relax_mlir.parse(t.SINE), target="vulkan")
x = np.array([0.5, 1e4, -1e5, 1e7, 1e20, -3.4e38], np.float32)
np.testing.assert_allclose(device.get(sine["main"](device.put(x))), np.sin(x.astype(np.float64)), rtol=1e-6)
long = relax_mlir.compile(relax_mlir.parse(t.ADD.replace("f32", "i64")), target="vulkan")
x = device.put(np.arange(5))
for _ in range(100):
    vulkan_faults.fails(lambda: long["main"](x, x), relax_mlir.DeviceError, "lacks 64-bit integers")
print("passed")
"""


# Another driver: only 32-bit integers, and subgroups of 4.
def test_swiftshader(device):
    icd = vulkan.swiftshader()
    printed = vulkan.run_python(SECOND, VK_ICD_FILENAMES=icd, VK_DRIVER_FILES=icd)
    assert printed.split() == ["passed"], printed


# No kernel needs 64-bit integers, even if the device has them; indices must fit in 32 bits.
def test_without_long_integers(device):
    if not vulkan.LOADER.exists():
        pytest.skip("the loader of the tests is not there")
    source = SECOND.replace('device.name.startswith("SwiftShader") and ', "")
    layer = {"VK_INSTANCE_LAYERS": "VK_LAYER_KHRONOS_validation"} if vulkan.has_validation() else {}
    printed = vulkan.run_python(source, RELAX_VULKAN_SET="int64=0", **layer)
    assert printed.split() == ["passed"], printed

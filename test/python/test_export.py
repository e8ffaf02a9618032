# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exported folders, and compiled code in the cache."""

import _ctypes
import ctypes
import dataclasses
import gc
import json
import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tvm_ffi
from emulated import EMULATOR, objects, run_python
from exporting import (  # noqa: F401
    EXPECTED,
    HEADERS,
    RUNTIME,
    WEIGHTS,
    X,
    change_metadata,
    folder_fixture,
    module,
    original_fixture,
    placed,
    result,
)
from targets import needs_linker

import relax_mlir
from relax_mlir import BlockBuilder, Device, Sym, Target, Tensor, op
from relax_mlir.errors import DeviceError, ModelError, RelaxError, WeightError
from relax_mlir.export import VERSION, export, link_shared
from relax_mlir.runtime import library_path, to_host


@needs_linker
@pytest.mark.parametrize("mapped", [True, False])
def test_an_exported_model_computes_the_same(original, mapped):
    np.testing.assert_allclose(result(relax_mlir.load_exported(original, mapped=mapped)), EXPECTED, rtol=1e-6)


# Functions outlive their model, and models of one folder have separate weights.
@needs_linker
def test_functions_keep_what_they_need(original):
    first = relax_mlir.load_exported(original)["main"]
    second = relax_mlir.load_exported(original)
    x = placed(second, X)
    del second
    gc.collect()
    np.testing.assert_allclose(to_host(first(x)), EXPECTED, rtol=1e-6)


# Only the shared library needs a linker.
def test_without_a_linker_all_but_the_library_is_there(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.delenv("CC", raising=False)
    with pytest.warns(RuntimeWarning, match="model.so is not made, all else is: a shared library needs a linker"):
        export(relax_mlir.compile_code(module()), tmp_path / "model", WEIGHTS)
    assert not (tmp_path / "model" / "model.so").exists()
    np.testing.assert_allclose(result(relax_mlir.load_exported(tmp_path / "model")), EXPECTED, rtol=1e-6)
    with pytest.raises(RelaxError, match="a shared library needs a linker"):
        link_shared(tmp_path / "model" / "model.o", tmp_path / "model" / "model.so", tmp_path / "model")


def test_linkers_with_options(tmp_path, monkeypatch):
    monkeypatch.setenv("CC", "cc -Wl,--build-id=sha1")
    export(relax_mlir.compile_code(module()), tmp_path / "model", WEIGHTS)
    assert (tmp_path / "model" / "model.so").exists()


# Of a runtime of another version, the library says so when it is loaded, and not in the first call.
@needs_linker
def test_missing_functions_are_noticed_at_once(tmp_path):
    source, code, library = (tmp_path / name for name in ("model.c", "model.o", "model.so"))
    source.write_text("void relax_rt_missing(void); void run(void) { relax_rt_missing(); }")
    subprocess.run(["cc", "-c", "-fPIC", source, "-o", code], check=True)
    shutil.copy(library_path(), tmp_path / "librelax_runtime.so")
    link_shared(code, library, tmp_path)
    with pytest.raises(OSError, match="undefined symbol: relax_rt_missing"):
        ctypes.CDLL(str(library), os.RTLD_LAZY)


# Any program can load the library through tvm_ffi, without this package, before or after the runtime.
@needs_linker
@pytest.mark.parametrize("is_runtime_first", [False, True])
def test_the_library_runs_alone(original, is_runtime_first):
    program = f"""
import ctypes
if {is_runtime_first}:
    ctypes.CDLL({str(original / "librelax_runtime.so")!r})
import numpy as np, sys, tvm_ffi
put, get = tvm_ffi.from_dlpack, np.from_dlpack
ctypes.CDLL({str(EMULATOR)!r}, ctypes.RTLD_GLOBAL)  # kernels that are emulated call it
if kind := {{"": 0, "cuda": 2, "vulkan": 7}}[{json.loads((original / "metadata.json").read_text())["device"]!r}]:
    runtime = ctypes.CDLL({str(original / "librelax_runtime.so")!r})
    copy = tvm_ffi.core.Function.__from_extern_c__(ctypes.cast(runtime.relax_rt_copy, ctypes.c_void_p).value)
    put, get = lambda x: copy(tvm_ffi.from_dlpack(x), kind, 0), lambda x: np.from_dlpack(copy(x, 1, 0))
m = tvm_ffi.load_module({str(original / "model.so")!r})
w = tvm_ffi.from_dlpack(np.arange(4, dtype=np.float32))
m.bind_weight("w", w)
print(get(m.main(put(np.ones((2, 4), np.float32)))).sum())
try:
    m.main(put(np.ones((65, 4), np.float32)))
except ValueError as error:
    print(error)
assert "relax_mlir" not in sys.modules and "mlir" not in sys.modules
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd="/")
    assert run.returncode == 0, run.stderr
    total, message, place = run.stdout.splitlines()
    assert float(total) == pytest.approx(EXPECTED.sum())
    assert "symbol 'n' = 65 exceeds its declared bound 64" in message and place.startswith("  at ")


@needs_linker
@pytest.mark.parametrize(
    "name, change, error, message",
    [
        ("model.o", lambda data: data[:3000], ModelError, "is damaged; export"),
        ("model.o", lambda data: data[:-1] + b"x", ModelError, "is damaged; export"),
        ("weights.safetensors", lambda data: data[:40], WeightError, "has 40 bytes; expected"),
        ("weights.safetensors", lambda data: data[:4], WeightError, "has 4 bytes; expected"),
        ("weights.safetensors", lambda data: data.replace(b"F32", b"F16"), WeightError, r"of shape \[4\] has 16 bytes"),
        ("weights.safetensors", lambda data: data.replace(b'"w"', b'"v"'), WeightError, "damaged, or of another model"),
        ("metadata.json", lambda data: b"{", ModelError, "is damaged: Expecting property name"),
        ("metadata.json", lambda data: b'{"version": %d}' % VERSION, ModelError, "of another version"),
        ("metadata.json", lambda data: b"[" * 100000, ModelError, "is damaged: it nests too deep"),
        ("metadata.json", lambda data: b'{"version": ' + b"[" * 100000, ModelError, "is damaged: it nests too deep"),
        ("metadata.json", lambda data: b'{"version": ' + b"1" * 10000 + b"}", ModelError, "is damaged: Exceeds the"),
        ("metadata.json", lambda data: data.replace(b'"main"', b'"niam"'), ModelError, "is damaged; export"),
        ("metadata.json", lambda data: data.replace(b"[n, 4]", b"[n, 5]"), ModelError, "is damaged; export"),
        ("weights.safetensors", lambda data: struct.pack("<Q", 100000) + b"[" * 100000, WeightError, "bytes; expected"),
        ("weights.safetensors", lambda data: struct.pack("<Q", 1) + b"3", WeightError, "has 9 bytes; expected"),
        (
            "metadata.json",
            lambda data: data.replace(b'"version": %d' % VERSION, b'"version": 0'),
            ModelError,
            "is damaged; export|its format is 0, expected",
        ),
    ],
)
def test_damaged_folders_are_errors(folder, name, change, error, message):
    path = folder / name
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(error, match=f"{name}.*({message})"):
        relax_mlir.load_exported(folder)


# Manual or accidental changes of the metadata: types, names, and claims that only the code could disprove.
@needs_linker
def test_any_change_of_metadata_is_an_error(folder):
    path = folder / "metadata.json"
    metadata = json.loads(path.read_text())

    def changed(value):
        """The value with one part changed, for each part and several changes."""
        yield from (other for other in (None, 1, "x", [], [1], {}, {"a": 1}) if other != value)
        if isinstance(value, dict):
            for key, member in value.items():
                yield {name: member for name, member in value.items() if name != key}
                yield from ({**value, key: other} for other in changed(member))
            yield {**value, "more": 1}
        if isinstance(value, list):
            for index, member in enumerate(value):
                yield from (value[:index] + [other] + value[index + 1 :] for other in changed(member))

    for key in metadata:
        for value in changed(metadata[key]):
            path.write_text(json.dumps({**metadata, key: value}))
            with pytest.raises(ModelError, match="is damaged|of another version"):
                relax_mlir.load_exported(folder)
    path.write_text(json.dumps(metadata))
    relax_mlir.load_exported(folder)


@needs_linker
@pytest.mark.parametrize("name", ["model.o", "metadata.json", "weights.safetensors"])
def test_missing_files_are_named(folder, name):
    (folder / name).unlink()
    with pytest.raises(ModelError, match=name):
        relax_mlir.load_exported(folder)


def test_weights_without_a_value_are_named(tmp_path):
    with pytest.raises(RelaxError, match="1 weights have no value: w"):
        relax_mlir.compile(module()).export(tmp_path / "model")


# Names come from the program: for any names, the header compiles to the same code, and displays them as they are.
@pytest.mark.parametrize(
    "name, shown",
    [
        ("x */ #error */", r"x *\/ #error *\/: tensor"),
        ("/*", r"/\*: tensor"),
        ("*", "(*: tensor"),
        ("a\nb\r\0c", r"a\u000ab\u000d\u0000c: tensor"),
        ("\u202e\u2066", r"\u202e\u2066: tensor"),
        ("größe", "größe: tensor"),
    ],
)
def test_names_in_the_header(tmp_path, monkeypatch, name, shown):
    monkeypatch.setattr("relax_mlir.export.link_shared", lambda *_, **__: None)
    bb = BlockBuilder()
    with bb.function("main", [Tensor((4,), "f32", name=name)]) as function:
        bb.return_(op.exp(*function.params))
    export(relax_mlir.compile_code(bb.module(), cached=False), tmp_path)
    text = (tmp_path / "model.h").read_text(encoding="utf-8")
    assert shown in text
    if shutil.which("gcc"):
        subprocess.run(["gcc", "-Werror", "-fsyntax-only", "-x", "c", tmp_path / "model.h"], check=True)
        subprocess.run(["gcc", "-Werror", "-fsyntax-only", "-x", "c++", tmp_path / "model.h"], check=True)
    with pytest.raises(TypeError, match=r"(?s)main: .*expected a tensor"):
        relax_mlir.load_exported(tmp_path)["main"](3)


def test_the_header_says_how_long_things_live(original):
    text = (original / "model.h").read_text()
    assert "the caller keeps them alive until the call returns" in text and "A tensor of TVM FFI is held" in text


# --- devices


def on_device(tmp_path, **changes):
    """A folder for the emulated device with changed metadata."""
    relax_mlir.compile(module(), weights=WEIGHTS, target="cuda:emulated").export(tmp_path)
    change_metadata(tmp_path, **changes)
    return tmp_path


# Loading the folder copies weights to the device; exporting writes them from there.
@needs_linker
def test_weights_go_to_the_device_and_back(tmp_path):
    first = relax_mlir.load_exported(on_device(tmp_path / "first"))
    assert str(first.weights["w"].device) == "cuda:0"
    first.export(tmp_path / "second")
    assert to_host(relax_mlir.load_exported(tmp_path / "second").weights["w"]).tolist() == WEIGHTS["w"].tolist()


@needs_linker
def test_calls_of_a_loaded_model_are_captured(tmp_path):
    model = relax_mlir.load_exported(on_device(tmp_path))
    main, x, out = model.captured("main"), placed(model, X), placed(model, 0 * X)
    for _ in range(3):
        main(x, out)
    np.testing.assert_allclose(to_host(out), EXPECTED, rtol=1e-6)
    assert main.statistics()[:3] == (1, 2, 0)


# Code, constants and weights leave the device with the library, or earlier on request.
@needs_linker
@pytest.mark.parametrize("is_closed", [False, True])
def test_a_library_leaves_nothing_behind(tmp_path, is_closed):
    on_device(tmp_path)
    ctypes.CDLL(str(EMULATOR), ctypes.RTLD_GLOBAL)
    device = Device("cuda")
    x, w = device.put(X), tvm_ffi.from_dlpack(WEIGHTS["w"])
    used, held = device.memory_statistics().used, objects()
    model = ctypes.CDLL(str(tmp_path / "model.so"))
    bind, main = (
        tvm_ffi.core.Function.__from_extern_c__(ctypes.cast(function, ctypes.c_void_p).value)
        for function in (model.__getattr__("__tvm_ffi_bind_weight"), model.__getattr__("__tvm_ffi_main"))
    )
    for _ in range(2):
        bind("w", w)
        np.testing.assert_allclose(to_host(main(x)), EXPECTED, rtol=1e-6)
        assert device.memory_statistics().used > used and objects() > held
        if is_closed:
            _ctypes.dlclose(model._handle)
            break
        model.relax_unload()
        assert (device.memory_statistics().used, objects()) == (used, held)
        with pytest.raises(ValueError, match="weight 'w' is not bound"):
            main(x)
    assert (device.memory_statistics().used, objects()) == (used, held)


# Writing a folder for a GPU does not need one; its assembly is in the object file.
@needs_linker
def test_code_for_a_gpu_that_is_not_here(tmp_path):
    export(relax_mlir.compile_code(module(), "cuda:sm_90"), tmp_path, WEIGHTS)
    assert b".target sm_90" in (tmp_path / "model.o").read_bytes()
    metadata = json.loads((tmp_path / "metadata.json").read_text())
    assert (metadata["device"], metadata["target"]["chip"]) == ("cuda", "sm_90")
    header = (tmp_path / "model.h").read_text()
    assert "on a GPU (sm_90)" in header and "void relax_unload(void);" in header and "kDLCUDA" in header


# Host code calls the runtime for tensor maps, which matmuls by warpgroups need.
@needs_linker
def test_code_with_maps_of_tensors_is_linked(tmp_path):
    bb, n = BlockBuilder(), Sym("n")
    with bb.function("main", [Tensor((n, 256), "bf16"), Tensor((256, 256), "bf16")]) as function:
        bb.return_(op.matmul(*function.params))
    export(relax_mlir.compile_code(bb.module(), "cuda:sm_90a"), tmp_path)
    assert b"relax_rt_device_tensor_map" in (tmp_path / "model.o").read_bytes()
    assert "main" in relax_mlir.load_exported(tmp_path)


@needs_linker
def test_a_device_that_cannot_run_the_code(tmp_path):
    target = dataclasses.asdict(Target.cuda("sm_100"))
    with pytest.raises(DeviceError, match=r"compiled for sm_100, and cuda:0 \(emulated device 0\) is an sm_90"):
        relax_mlir.load_exported(on_device(tmp_path, target=target))


# A colon must be followed by a name: an empty name is an error, and never means this machine's device.
@pytest.mark.parametrize("name", ["cuda:", "vulkan:", "cpu:", "aarch64-linux-gnu:", "cuda:+cublaslt", ":"])
def test_targets_without_a_chip(name):
    with pytest.raises(RelaxError, match="names nothing after the colon"):
        Target.parse(name)


@pytest.mark.parametrize(
    "chip, runs", [("sm_80", 1), ("sm_90", 1), ("sm_90a", 1), ("sm_89a", 0), ("sm_100", 0), ("sm_80f", 0)]
)
def test_chips_that_a_device_runs(chip, runs):
    assert Target.cuda(chip).runs_on(Device("cuda")) == bool(runs)


@needs_linker
def test_a_machine_without_a_device(tmp_path):
    source = f"""
import relax_mlir
try:
    relax_mlir.load_exported({str(on_device(tmp_path))!r})
except relax_mlir.DeviceError as error:
    print(error)
"""
    run = run_python(source, RELAX_CUDA_DRIVER="/nowhere/libcuda.so.1")
    assert f"'{tmp_path}' was compiled for emulated, a device of cuda: no CUDA driver" in run.stdout, run.stderr


@needs_linker
def test_the_emulated_device_is_no_real_one(tmp_path, monkeypatch):
    on_device(tmp_path)
    for driver in ("/nowhere/libcuda.so.1", str(library_path())):
        monkeypatch.setenv("RELAX_CUDA_DRIVER", driver)
        with pytest.raises(DeviceError, match="RELAX_CUDA_DRIVER is not it"):
            relax_mlir.load_exported(tmp_path)


# A C++ program that uses the header, the runtime and the driver, with its own memory, stream and weights.
@needs_linker
@pytest.mark.skipif(not shutil.which("g++"), reason="the program is compiled by g++, which is not installed")
def test_a_host_with_a_device_without_python(tmp_path):
    on_device(tmp_path)
    command = [
        "g++",
        "-std=c++17",
        f"-I{HEADERS}",
        f"-I{tmp_path}",
        str(Path(__file__).parent / "host_device.cpp"),
    ]
    command += [str(tmp_path / "model.so"), str(tmp_path / "librelax_runtime.so"), str(EMULATOR)]
    command += ["-Wl,--no-as-needed", f"-Wl,-rpath,{tmp_path}:{EMULATOR.parent}", "-o", str(tmp_path / "host")]
    subprocess.run(command, check=True)
    ran = subprocess.run([tmp_path / "host"], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    np.testing.assert_allclose([float(line) for line in ran.stdout.split()], EXPECTED.flatten(), rtol=1e-5)
    assert "expected a tensor on cuda:0, got one on the CPU" in ran.stderr


# --- other machines


def test_code_for_another_machine_is_an_object_file(tmp_path):
    code = relax_mlir.compile_code(module(), Target("aarch64-linux-gnu", "cortex-a76"))
    export(code, tmp_path, WEIGHTS)
    header = (tmp_path / "model.o").read_bytes()[:20]
    assert header[:4] == b"\x7fELF" and struct.unpack_from("<H", header, 18) == (183,)  # EM_AARCH64
    assert "__tvm_ffi_main(" in (tmp_path / "model.h").read_text()
    if not Target.host().triple.startswith("aarch64"):
        with pytest.raises(ModelError, match="compiled for aarch64-linux-gnu"):
            relax_mlir.load_exported(tmp_path)


CROSS, QEMU = shutil.which("aarch64-linux-gnu-g++"), shutil.which("qemu-aarch64") or shutil.which("qemu-aarch64-static")


# The runtime and a host are built for the other machine, and run there with only the object file.
@pytest.mark.parametrize(
    "triple, cpu, compiler, run",
    [
        pytest.param(None, "", shutil.which("g++"), [], marks=needs_linker),
        pytest.param(
            "aarch64-linux-gnu",
            "cortex-a76",
            CROSS,
            [QEMU, "-L", "/usr/aarch64-linux-gnu"],
            marks=pytest.mark.skipif(
                not (CROSS and QEMU), reason="needs g++-aarch64-linux-gnu and qemu-user, which are not installed"
            ),
        ),
    ],
)
def test_a_host_without_python(tmp_path, triple, cpu, compiler, run):
    bb, n = BlockBuilder(), Sym("n")
    with bb.function("main", [Tensor((n, 4), "f32", name="x"), Tensor((4, 3), "f32", name="w")]) as function:
        bb.return_(op.tanh(op.matmul(*function.params)))
    export(relax_mlir.compile_code(bb.module(), Target(triple, cpu) if triple else None), tmp_path)
    command = [
        compiler,
        "-std=c++17",
        "-O0",
        f"-I{RUNTIME.parent}",
        f"-I{HEADERS}",
        str(Path(__file__).parent / "host.cpp"),
    ]
    command += [*map(str, sorted(RUNTIME.rglob("*.cpp"))), str(tmp_path / "model.o"), "-o", str(tmp_path / "host")]
    subprocess.run([*command, "-lpthread", "-lm"], check=True)
    ran = subprocess.run(
        [*run, str(tmp_path / "host"), str(tmp_path / "model.o")], capture_output=True, text=True, cwd=tmp_path
    )
    assert ran.returncode == 0, ran.stderr
    expected = 2 * [count * 3 * np.tanh(2.0) for count in (0, 1, 7, 65)]
    np.testing.assert_allclose([float(line) for line in ran.stdout.split()], expected, rtol=1e-5)
    assert ran.stderr.count("main: expected 2 arguments, got 0") == 2

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled models in folders, and compiled code in the cache."""

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

import relax_mlir
from relax_mlir import BlockBuilder, Range, Sym, Target, Tensor, cache, op
from relax_mlir.errors import ModelError, RelaxError, WeightError
from relax_mlir.export import export

needs_linker = pytest.mark.skipif(not shutil.which("cc"), reason="model.so is linked by a C compiler; there is none")


def module(function=op.exp):
    bb, n = BlockBuilder(), Sym("n")
    x = Tensor((n, 4), "f32", name="x")
    with bb.function("main", [x], symbols={n: Range(1, 64)}):
        bb.return_(op.add(function(x), op.weight("w", Tensor((4,), "f32"))))
    return bb.module()


WEIGHTS = {"w": np.arange(4, dtype=np.float32)}
X = np.ones((2, 4), np.float32)
EXPECTED = np.exp(X) + WEIGHTS["w"]


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / "model"
    relax_mlir.compile(module(), weights=WEIGHTS).export(folder)
    return folder


@pytest.fixture
def folder(original, tmp_path):
    return shutil.copytree(original, tmp_path / "copy")


def result(model):
    return np.from_dlpack(model["main"](X))


@needs_linker
@pytest.mark.parametrize("mapped", [True, False])
def test_an_exported_model_computes_the_same(original, mapped):
    np.testing.assert_allclose(result(relax_mlir.load_exported(original, mapped=mapped)), EXPECTED, rtol=1e-6)


# Functions outlive the model that they are of, and models of one folder have weights of their own.
@needs_linker
def test_functions_keep_what_they_need(original):
    first = relax_mlir.load_exported(original)["main"]
    second = relax_mlir.load_exported(original)
    del second
    gc.collect()
    np.testing.assert_allclose(np.from_dlpack(first(X)), EXPECTED, rtol=1e-6)


@needs_linker
def test_a_folder_is_replaced(folder):
    before = relax_mlir.load_exported(folder)
    relax_mlir.compile(module(op.negative), weights=WEIGHTS).export(folder)
    after = relax_mlir.load_exported(folder)
    np.testing.assert_allclose(result(after), WEIGHTS["w"] - X)
    np.testing.assert_allclose(result(before), EXPECTED, rtol=1e-6)


# Any program loads the library through tvm_ffi, without this package.
@needs_linker
def test_the_library_runs_alone(original):
    program = f"""
import numpy as np, sys, tvm_ffi
m = tvm_ffi.load_module({str(original / "model.so")!r})
w = tvm_ffi.from_dlpack(np.arange(4, dtype=np.float32))
m.bind_weight("w", w)
print(np.from_dlpack(m.main(tvm_ffi.from_dlpack(np.ones((2, 4), np.float32)))).sum())
try:
    m.main(tvm_ffi.from_dlpack(np.ones((65, 4), np.float32)))
except ValueError as error:
    print(error)
assert "relax_mlir" not in sys.modules and "mlir" not in sys.modules
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd="/")
    assert run.returncode == 0, run.stderr
    total, message = run.stdout.splitlines()
    assert float(total) == pytest.approx(EXPECTED.sum())
    assert "symbol 'n' = 65 exceeds its declared bound 64" in message


@needs_linker
@pytest.mark.parametrize(
    "name, change, error",
    [
        ("model.o", lambda data: data[:3000], ModelError),
        ("model.o", lambda data: data[:-1] + b"x", ModelError),
        ("weights.safetensors", lambda data: data[:40], WeightError),
        ("weights.safetensors", lambda data: data[:4], WeightError),
        ("weights.safetensors", lambda data: data.replace(b"F32", b"F16"), WeightError),
        ("weights.safetensors", lambda data: data.replace(b'"w"', b'"v"'), WeightError),
        ("metadata.json", lambda data: b"{", ModelError),
        ("metadata.json", lambda data: b'{"version": 1}', ModelError),
        ("metadata.json", lambda data: data.replace(b'"version": 1', b'"version": 0'), ModelError),
    ],
)
def test_damaged_folders_are_errors(folder, name, change, error):
    path = folder / name
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(error):
        relax_mlir.load_exported(folder)


@needs_linker
def test_wrong_metadata_is_an_error(folder):
    metadata = json.loads((folder / "metadata.json").read_text())
    for key, value in (("target", 3), ("functions", None), ("weights", 1)):
        (folder / "metadata.json").write_text(json.dumps({**metadata, key: value}))
        with pytest.raises(ModelError):
            relax_mlir.load_exported(folder)


@needs_linker
@pytest.mark.parametrize("name", ["model.o", "metadata.json", "weights.safetensors"])
def test_missing_files_are_named(folder, name):
    (folder / name).unlink()
    with pytest.raises(ModelError, match=name):
        relax_mlir.load_exported(folder)


@needs_linker
def test_offsets_of_weights_stay_in_the_file(folder):
    path = folder / "weights.safetensors"
    data = path.read_bytes()
    (size,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8 : 8 + size])
    header["w"]["data_offsets"] = [-16, 0]
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data[8 + size :])
    with pytest.raises(WeightError):
        relax_mlir.load_exported(folder)


def test_weights_without_a_value_are_named(tmp_path):
    with pytest.raises(RelaxError, match="1 weights have no value: w"):
        relax_mlir.compile(module()).export(tmp_path / "model")


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


RUNTIME = Path(__file__).resolve().parents[2] / "lib" / "Runtime"
CROSS, QEMU = shutil.which("aarch64-linux-gnu-g++"), shutil.which("qemu-aarch64") or shutil.which("qemu-aarch64-static")


# The runtime and a host are built for the machine, and run there with the object file and nothing else.
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
    command = [compiler, "-std=c++17", "-O1", f"-I{RUNTIME}", str(Path(__file__).parent / "host.cpp")]
    command += [*map(str, sorted(RUNTIME.glob("*.cpp"))), str(tmp_path / "model.o"), "-o", str(tmp_path / "host")]
    subprocess.run([*command, "-lpthread", "-lm"], check=True)
    ran = subprocess.run([*run, str(tmp_path / "host")], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    expected = [count * 3 * np.tanh(2.0) for count in (0, 1, 7, 65)]
    np.testing.assert_allclose([float(line) for line in ran.stdout.split()], expected, rtol=1e-5)
    assert "main: expected 2 arguments, got 0" in ran.stderr


# --- the cache


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("RELAX_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_code_is_found_again(own_cache):
    first = relax_mlir.compile_code(module())
    (entry,) = own_cache.iterdir()
    assert relax_mlir.compile_code(module()) == first
    relax_mlir.compile_code(module(), use_bounds=True)
    assert len(list(own_cache.iterdir())) == 2
    # An entry that is damaged is made anew.
    for damaged in (b"", b"x" * 100, entry.read_bytes()[:-1], entry.read_bytes()[:-1] + b"x"):
        entry.write_bytes(damaged)
        assert relax_mlir.compile_code(module()) == first
        assert cache.read(entry.name)


def test_the_cache_does_not_grow_without_end(own_cache, monkeypatch):
    monkeypatch.setenv("RELAX_CACHE_BYTES", "25000")
    for number in range(4):
        cache.write(str(number), {}, bytes(10000))
        os.utime(own_cache / str(number), (number, number))
    assert sorted(entry.name for entry in own_cache.iterdir()) == ["2", "3"]


def test_a_folder_that_cannot_be_written_is_no_cache(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("RELAX_CACHE_DIR", str(tmp_path / "file" / "cache"))
    assert relax_mlir.compile_code(module()).object

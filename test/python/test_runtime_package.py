# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The runtime without the compiler: its modules, in an interpreter that has neither MLIR nor NumPy.

The package is made of the files that the wheel has, next to the library of this build; test/packaging/runtime_wheel.py
tries the wheel itself.
"""

import array
import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT

import relax_mlir
from relax_mlir import BlockBuilder, Range, Sym, Tensor, op
from relax_mlir.errors import RelaxError
from relax_mlir.execution.buffers import bytes_of, from_buffer, tensor_of, to_memoryview
from relax_mlir.frontends.compiled import write_folder
from relax_mlir.frontends.signature import Input, Output, Signature
from relax_mlir.frontends.tree import LEAF
from relax_mlir.runtime import library_path

try:
    import tomllib
except ModuleNotFoundError:
    from pip._vendor import tomli as tomllib

RUNTIME = ROOT / "packaging" / "runtime"


def module(*, weight=False):
    bb, n = BlockBuilder(), Sym("n")
    with bb.function("main", [Tensor((n, 4), "f32", name="x")], symbols={n: Range(1, 64)}) as function:
        (x,) = function.params
        y = op.exp(x)
        bb.return_(op.add(y, op.weight("w", Tensor((4,), "f32"))) if weight else y)
    return bb.module()


@pytest.fixture(name="folder", scope="module")
def folder_fixture(tmp_path_factory):
    folder = tmp_path_factory.mktemp("exported") / "model"
    relax_mlir.compile(module(weight=True), weights={"w": np.arange(4, dtype=np.float32)}).export(folder)
    return folder


@pytest.fixture(name="site", scope="module")
def site_fixture(tmp_path_factory):
    """A folder with what the wheel installs, and TVM FFI."""
    site = tmp_path_factory.mktemp("site")
    package = site / "relax_mlir_runtime"
    listed = re.search(r"set\(modules([^)]*)\)", (RUNTIME / "CMakeLists.txt").read_text())[1].split()
    for name in listed:
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).symlink_to(ROOT / "python" / "relax_mlir" / name)
    (package / "__init__.py").symlink_to(RUNTIME / "relax_mlir_runtime" / "__init__.py")
    (package / "lib").mkdir()
    (package / "lib" / "librelax_runtime.so").symlink_to(library_path())
    for name in ("tvm_ffi", "typing_extensions"):
        origin = Path(importlib.util.find_spec(name).origin)
        origin = origin.parent if origin.name == "__init__.py" else origin
        (site / origin.name).symlink_to(origin)
    return site


def run(site, program, *args, packages=()):
    """Runs a program that sees the standard library and the site alone, and other packages that are named."""
    for name in packages:
        origin = Path(importlib.util.find_spec(name).origin).parent
        for path in (origin, origin.with_name(f"{name}.libs")):
            if path.exists() and not (site / path.name).exists():
                (site / path.name).symlink_to(path)
    command = [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, sys.argv[1])\n{program}"]
    ran = subprocess.run([*command, str(site), *map(str, args)], capture_output=True, text=True, cwd="/", timeout=120)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


WITHOUT_NUMPY = """
import array, math
from relax_mlir_runtime import ModelError, RelaxError, load, load_program, to_memoryview

for mapped in (True, False):
    model = load(sys.argv[2], mapped=mapped)
    for n in (1, 5):
        x = array.array("f", range(4 * n))
        y = model["main"](memoryview(x).cast("B").cast("f", [n, 4]))
        assert y.shape == (n, 4) and str(y.dtype) == "float32", (y.shape, y.dtype)
        for row, got in enumerate(to_memoryview(y).tolist()):
            expected = [math.exp(4 * row + k) + k for k in range(4)]
            assert all(math.isclose(a, b, rel_tol=1e-5) for a, b in zip(got, expected)), (got, expected)
        assert to_memoryview(model["main"](y)).shape == (n, 4)
narrow = memoryview(array.array("f", [0] * 3)).cast("B").cast("f", [1, 3])
double = memoryview(array.array("d", [0] * 4)).cast("B").cast("d", [1, 4])
for wrong, kind in (([[1.0]], TypeError), (narrow, ValueError), (double, TypeError)):
    try:
        model["main"](wrong)
    except kind as error:
        print(error)
    else:
        raise AssertionError(wrong)
for read in (load, load_program):
    try:
        read("/nowhere")
    except RelaxError as error:
        print(error)
assert not {name.partition(".")[0] for name in sys.modules} & {"mlir", "numpy", "llvm", "relax_mlir", "safetensors"}
"""


def test_a_model_runs_without_mlir_and_numpy(site, folder):
    lines = run(site, WITHOUT_NUMPY, folder).splitlines()
    assert "main: argument 0 'x' (tensor f32 [n, 4])" in lines[0]
    assert lines[1] == "main: argument 0 'x' (tensor f32 [n, 4]): dimension 1 must be 4, got 3"
    assert lines[2] == "main: argument 0 'x' (tensor f32 [n, 4]): expected elements of type f32, got f64"
    assert "'/nowhere' is not an exported model" in lines[3]
    assert "needs NumPy, which is missing" in lines[4]


WITH_NUMPY = """
import numpy as np
from relax_mlir_runtime import MissingPackageError, load
model = load(sys.argv[2])
x = np.ones((3, 4), np.float32)
y = model["main"](x)
assert isinstance(y, np.ndarray)
np.testing.assert_allclose(y, np.exp(x) + np.arange(4), rtol=1e-5)
try:
    model.export(sys.argv[3])
except MissingPackageError as error:
    print(error)
load(sys.argv[4]).export(sys.argv[3])
np.testing.assert_allclose(load(sys.argv[3])["main"](x), np.exp(x), rtol=1e-5)
assert "mlir" not in sys.modules and "relax_mlir" not in sys.modules
"""


# Folders are written, too; weights need safetensors.
def test_numpy_is_used_where_it_is(site, folder, tmp_path):
    relax_mlir.compile(module()).export(tmp_path / "plain")
    lines = run(site, WITH_NUMPY, folder, tmp_path / "copy", tmp_path / "plain", packages=["numpy"])
    assert "needs NumPy and safetensors, which are not installed: pip install" in lines


PROGRAM = """
import numpy as np
from relax_mlir_runtime import ModelError, load_program
program = load_program(sys.argv[2])
for n in (1, 4):
    x = np.full((n, 4), 2, np.float32)
    results = program(x=x)
    assert list(results) == ["y", "given"] and results["given"] is x
    np.testing.assert_allclose(results["y"], np.exp(x), rtol=1e-5)
for wrong in ({"z": x}, {"x": x, "z": x}):
    try:
        program(**wrong)
    except TypeError as error:
        print(error)
    else:
        raise AssertionError(wrong)
try:
    load_program(sys.argv[3])
except ModelError as error:
    print(error)
assert "mlir" not in sys.modules and "relax_mlir" not in sys.modules
"""


def test_programs_of_other_frameworks(site, folder, tmp_path):
    spec = {"kind": "tuple", "items": [{"kind": "tuple", "items": [LEAF]}, {"kind": "dict", "keys": [], "items": []}]}
    outputs = {"kind": "dict", "keys": ["y", "given"], "items": [LEAF, LEAF]}
    signature = Signature(("x",), spec, outputs, (Input("x", "tensor"),), (Output("tensor"), Output("input")))
    write_folder(relax_mlir.compile_code(module()), tmp_path / "program", {}, signature, {})
    lines = run(site, PROGRAM, tmp_path / "program", folder, packages=["numpy"]).splitlines()
    assert lines[0] == "the program needs the argument 'x'"
    assert lines[1] == "the program has no argument 'z'; its arguments are: 'x'"
    assert "holds no imported program" in lines[2]


# The compiler's package requires what the runtime's package requires, and the version is the same.
def test_the_package_requires_what_the_compiler_requires():
    compiler = tomllib.loads((ROOT / "pyproject.toml").read_text())
    runtime = tomllib.loads((RUNTIME / "pyproject.toml").read_text())
    assert set(runtime["project"]["dependencies"]) <= set(compiler["project"]["dependencies"])
    assert runtime["project"]["requires-python"] == compiler["project"]["requires-python"]
    assert (RUNTIME / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()


# --- memory without NumPy


@pytest.mark.parametrize("code", "bhilqBHILQfd")
def test_buffers_become_tensors_and_back(code):
    buffer = array.array(code, range(6))
    tensor = from_buffer(memoryview(buffer).cast("B").cast(code, [2, 3]))
    assert tensor.shape == (2, 3) and tensor.data_ptr() == buffer.buffer_info()[0]
    assert to_memoryview(tensor).tolist() == [[0, 1, 2], [3, 4, 5]]
    to_memoryview(tensor)[1, 2] = 9
    assert buffer[5] == 9
    np.testing.assert_array_equal(np.from_dlpack(tensor), np.array([[0, 1, 2], [3, 4, 9]]))


# The tensor needs the memory; `bytearray` reports its users.
def test_a_tensor_keeps_its_buffer():
    data = bytearray(16)
    tensor = tensor_of(memoryview(data), "float32", (4,))
    with pytest.raises(BufferError):
        data.extend(b"more")
    view = bytes_of(tensor)
    del tensor
    with pytest.raises(BufferError):
        data.extend(b"more")
    del view
    data.extend(b"more")


@pytest.mark.parametrize("shape", [(), (0,), (0, 3), (3, 0)])
def test_buffers_of_few_elements(shape):
    count = int(np.prod(shape))
    tensor = tensor_of(memoryview(bytearray(4 * count)), "float32", shape)
    assert tensor.shape == shape and to_memoryview(tensor).nbytes == 4 * count


def test_buffers_that_are_no_arguments():
    numbers = memoryview(array.array("f", range(6)))
    with pytest.raises(RelaxError, match="expected a contiguous buffer of numbers"):
        from_buffer(numbers[::2])
    with pytest.raises(RelaxError, match="format 'c'"):
        from_buffer(numbers.cast("B").cast("c"))
    with pytest.raises(RelaxError, match="expected 12 contiguous ones for float32 of shape \\(3,\\)"):
        tensor_of(numbers, "float32", (3,))
    with pytest.raises(RelaxError, match="no elements of type bfloat16"):
        to_memoryview(tensor_of(memoryview(bytearray(4)), "bfloat16", (2,)))
    half = tensor_of(memoryview(bytearray(4)), "float16", (2,))
    if sys.version_info < (3, 12):
        with pytest.raises(RelaxError, match="no elements of type float16"):
            to_memoryview(half)
    else:
        assert to_memoryview(half).tolist() == [0, 0]


def test_compiled_functions_take_buffers():
    main = relax_mlir.compile(module())["main"]
    x = array.array("f", range(8))
    y = main(memoryview(x).cast("B").cast("f", [2, 4]))
    np.testing.assert_allclose(y, np.exp(np.arange(8, dtype=np.float32).reshape(2, 4)), rtol=1e-5)
    with pytest.raises(RelaxError, match="main: argument 0 'x' .*expected a contiguous buffer"):
        main(memoryview(x)[::2])

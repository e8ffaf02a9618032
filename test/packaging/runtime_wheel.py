# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Installs the runtime's wheel in an environment of its own, runs an exported model there, and reports sizes.

python test/packaging/runtime_wheel.py dist/relax_mlir_runtime-*.whl

It is not one of the tests of `make test`, since building the wheel compiles the runtime a second time, and the
environment is filled from the package index: `make test-runtime-wheel`. test/python/test_runtime_package.py tests the
same modules without either.
"""

import argparse
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

import numpy as np

import relax_mlir
from relax_mlir import BlockBuilder, Range, Sym, Tensor, op

MOST = 40
"""MB that the environment may have without NumPy."""

PROGRAM = """
import array, importlib.util, math, sys
import relax_mlir_runtime as runtime

folder, with_numpy = sys.argv[1], sys.argv[2] == "numpy"
for name in ("mlir", "llvm", "relax_mlir"):
    assert not importlib.util.find_spec(name), f"{name} is installed"
main = runtime.load(folder)["main"]
for n in (1, 7):
    data = array.array("f", [k / 10 for k in range(8 * n)])
    x = memoryview(data).cast("B").cast("f", [n, 8])
    if with_numpy:
        import numpy as np

        x = np.asarray(x)
    y = main(x)
    assert tuple(y.shape) == (n, 3), y.shape
    assert isinstance(y, np.ndarray) if with_numpy else not importlib.util.find_spec("numpy")
    rows = y.tolist() if with_numpy else runtime.to_memoryview(y).tolist()
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            expected = math.tanh(sum(data[8 * i + k] * (k - 3 * j) / 100 for k in range(8)))
            assert math.isclose(value, expected, rel_tol=1e-4, abs_tol=1e-6), (i, j, value, expected)
try:
    main(memoryview(bytearray(4 * 5)).cast("f", [1, 5]))
except ValueError as error:
    assert "dimension 1 must be 8, got 5" in str(error), error
else:
    raise AssertionError("a wrong shape is not an error")
print(runtime.__version__)
"""


def export(folder: Path) -> None:
    """A matmul with a weight and a dynamic number of rows."""
    bb, n = BlockBuilder(), Sym("n")
    with bb.function("main", [Tensor((n, 8), "f32", name="x")], symbols={n: Range(1, 64)}) as function:
        (x,) = function.params
        bb.return_(op.tanh(op.matmul(x, op.weight("w", Tensor((8, 3), "f32")))))
    weight = np.array([[(k - 3 * j) / 100 for j in range(3)] for k in range(8)], np.float32)
    relax_mlir.compile(bb.module(), weights={"w": weight}).export(folder)


def size_of(folder: Path) -> float:
    return sum(path.lstat().st_size for path in folder.rglob("*")) / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheel", type=Path)
    wheel = parser.parse_args().wheel.resolve()
    with tempfile.TemporaryDirectory() as name:
        folder, environment = Path(name, "model"), Path(name, "environment")
        export(folder)
        venv.create(environment, with_pip=False, symlinks=True)
        python = environment / "bin" / "python"

        def install(*packages: str) -> None:
            pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "-q", "--disable-pip-version-check"]
            subprocess.run([*pip, *packages], check=True)

        def run(kind: str) -> str:
            command = [str(python), "-I", "-c", PROGRAM, str(folder), kind]
            return subprocess.run(command, check=True, cwd="/", stdout=subprocess.PIPE, text=True).stdout.strip()

        install("--no-deps", str(wheel))
        install("apache-tvm-ffi>=0.1.13.post2,!=0.1.14,!=0.1.15,!=0.1.15.post0,<0.2")
        version = run("plain")
        assert version == relax_mlir.__version__, version
        plain = size_of(environment)
        install("numpy", "ml_dtypes")
        run("numpy")
        print(f"relax-mlir-runtime {version}: {wheel.stat().st_size / 1e6:.2f} MB, {wheel.name}")
        print(f"environment: {plain:.1f} MB; with NumPy {size_of(environment):.1f} MB")
        if plain > MOST:
            sys.exit(f"the environment has {plain:.1f} MB; expected at most {MOST}")


if __name__ == "__main__":
    main()

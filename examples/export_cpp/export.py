# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A compiled model called from C++: this file writes a folder, main.cpp calls the functions in it.

The C++ program needs neither Python nor TVM FFI, only the folder and one header of this package.

    python examples/export_cpp/export.py layer       # prints the two commands that follow
    cmake -S examples/export_cpp -B layer-build -DMODEL_DIR=layer -DRELAX_INCLUDE_DIR=...
    cmake --build layer-build && layer-build/main
"""

import sys
from pathlib import Path

import numpy as np

from relax_mlir import BlockBuilder, Range, Sym, Tensor, compile_code, op
from relax_mlir.export import export
from relax_mlir.runtime import library_path


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit("expected the folder to write to: python export.py FOLDER")
    folder = Path(sys.argv[1]).resolve()

    bb, n = BlockBuilder(), Sym("n")
    x, w = Tensor((n, 4), "f32", name="x"), Tensor((4, 3), "f32", name="w")
    with bb.function("layer", [x, w], symbols={n: Range(1, 64)}):
        bias = op.weight("bias", Tensor((3,), "f32"))
        bb.return_(op.tanh(op.add(op.matmul(x, w), bias)))
    # `load_exported` binds the weights of the folder; a program in C++ binds its own (main.cpp).
    export(compile_code(bb.module()), folder, {"bias": np.zeros(3, np.float32)})

    include = library_path().parent.parent / "include"
    source, build = Path(__file__).resolve().parent, f"{folder}-build"
    print(f"cmake -S {source} -B {build} -DMODEL_DIR={folder} -DRELAX_INCLUDE_DIR={include}")
    print(f"cmake --build {build} && {build}/main")


if __name__ == "__main__":
    main()

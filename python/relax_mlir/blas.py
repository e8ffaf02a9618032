# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matmuls by a BLAS: an example of an optional library that is found at run time.

>>> from relax_mlir import blas, compile
>>> from relax_mlir.pipelines import Pipeline
>>> from relax_mlir.pipelines.cpu import default_pipeline
>>> blas.register()
>>> executable = compile(module, pipeline=Pipeline([blas.dispatch(), default_pipeline()]))

The patterns in blas.mlir select the matmuls that the library computes; `DispatchLibrary(table=...)` takes any other
table. The compiler's own kernels are as fast; use a library where it is faster, or where a certain one is required.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import tvm_ffi

from .errors import RelaxError
from .pipelines import DispatchLibrary

_ROW_MAJOR, _PLAIN, _TRANSPOSED = 101, 111, 112


def dispatch() -> DispatchLibrary:
    """The pass that turns matmuls into library calls; run it before `default_pipeline()`."""
    return DispatchLibrary(table=str(Path(__file__).parent / "blas.mlir"))


def find() -> tuple[Path | str, str]:
    """A BLAS on this machine, and the prefix of its function names.

    Raises:
      RelaxError: no BLAS was found.
    """
    if spec := importlib.util.find_spec("scipy_openblas32"):
        for folder in spec.submodule_search_locations or ():
            if files := sorted((Path(folder) / "lib").glob("libscipy_openblas.*")):
                return files[0], "scipy_"
    for name in ("openblas", "blis", "cblas"):
        if found := ctypes.util.find_library(name):
            return found, ""
    raise RelaxError(
        "no BLAS was found; install one with: pip install scipy-openblas32 (or libopenblas0 of Debian), or name one"
    )


def register(path: str | Path | None = None, prefix: str = "") -> None:
    """Makes `blas.sgemm` and `blas.sgemm_nt` known to compiled code.

    Args:
      path: a shared library with the C interface of BLAS; the one that `find` returns by default.
      prefix: the prefix of its function names.
    """
    if path is None:
        path, prefix = find()
    try:
        sgemm = getattr(ctypes.CDLL(str(path)), f"{prefix}cblas_sgemm")
    except (OSError, AttributeError) as error:
        raise RelaxError(f"'{path}' is not a BLAS: {error}") from None
    sgemm.restype = None

    def product(transposed: bool) -> Any:
        def call(a: Any, b: Any, out: Any) -> None:
            x, y, z = np.from_dlpack(a), np.from_dlpack(b), np.from_dlpack(out)
            (m, k), n = x.shape, z.shape[1]
            if not x.size or not y.size:
                z[...] = 0  # some libraries reject empty matrices
                return
            pointer, one, zero = ctypes.c_void_p, ctypes.c_float(1), ctypes.c_float(0)
            sgemm(
                *(_ROW_MAJOR, _PLAIN, _TRANSPOSED if transposed else _PLAIN, m, n, k, one),
                *(pointer(x.ctypes.data), k, pointer(y.ctypes.data), k if transposed else n),
                *(zero, pointer(z.ctypes.data), n),
            )

        return call

    tvm_ffi.register_global_func("blas.sgemm", product(transposed=False), override=True)
    tvm_ffi.register_global_func("blas.sgemm_nt", product(transposed=True), override=True)

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of ONNX.

>>> from relax_mlir.frontends.onnx import from_onnx
>>> program = from_onnx("model.onnx", symbols={"batch": Range(1, 64)})
>>> run = program.compile()
>>> y = run(x=x)["y"]

`from_onnx` gives a `Program`: a module, its weights, and the inputs and outputs by name. `InferenceSession` has the
interface of onnxruntime. The package onnx is not needed to run what was compiled
(`relax_mlir.frontends.program.load_program`).

Raises `MissingPackageError` where the package onnx is not installed.
"""

try:
    import onnx as _onnx  # noqa: F401
except ImportError:
    from ...errors import MissingPackageError

    raise MissingPackageError("importing ONNX models needs the package onnx: pip install 'relax-mlir[onnx]'") from None

from ..program import CompiledProgram, Program, load_program
from .api import explain, from_onnx
from .errors import ModelFileError, ValueRequiredError
from .lowering import Lowering
from .registry import register
from .session import InferenceSession

__all__ = [
    "CompiledProgram",
    "InferenceSession",
    "Lowering",
    "ModelFileError",
    "Program",
    "ValueRequiredError",
    "explain",
    "from_onnx",
    "load_program",
    "register",
]

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of PyTorch.

>>> from relax_mlir.frontends import torch as relax_torch
>>> program = relax_torch.export(model, (x,), dynamic_shapes={"x": {0: "batch"}})
>>> run = program.compile()
>>> y = run(x)

`export` exports a model and imports it; `from_exported_program` imports what `torch.export` has made or loaded. The
result is a `Program`: a module, its weights, and the structure of inputs and outputs. PyTorch is not needed to run what
was compiled (`relax_mlir.frontends.program.load_program`).

Raises `MissingPackageError` where PyTorch is not installed.
"""

import contextlib as _contextlib

try:
    import torch as _torch  # noqa: F401
except ImportError:
    from ...errors import MissingPackageError

    raise MissingPackageError(
        "importing programs of PyTorch needs it: pip install torch (2.10 or newer; CPU wheels are enough)"
    ) from None

from torch._dynamo import register_backend as _register_backend  # noqa: E402

from ..dynamo import relax as _relax  # noqa: E402
from ..program import CompiledProgram, Program, load_program
from . import converters as _converters  # noqa: F401 - registers the converters
from .api import explain, export, from_exported_program
from .complex_lifting import register_complex
from .complex_values import Complex
from .lowering import Lowering
from .registry import register

with _contextlib.suppress(AssertionError):  # the entry point of an installed package has registered it
    _register_backend(_relax, name="relax")

__all__ = [
    "CompiledProgram",
    "Complex",
    "Lowering",
    "Program",
    "explain",
    "export",
    "from_exported_program",
    "load_program",
    "register",
    "register_complex",
]

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""relax-mlir: a compiler for machine-learning programs whose shapes are known only at run time.

>>> from relax_mlir import BlockBuilder, Range, Sym, Tensor, op
>>> bb, n = BlockBuilder(), Sym("n")
>>> x = Tensor((n, 128), "f32")
>>> with bb.function("main", [x], symbols={n: Range(1, 2048)}):
...     bb.return_(op.exp(x))
>>> print(bb.module())

Importing this package registers the relax dialect with every context of the `mlir` package that is created
afterwards; `register(context)` does so for an existing context. It also makes the mutating methods of that package
check their preconditions, which MLIR only asserts (`ir_checks`).
"""

# The libraries of the `mlir` package must be loaded before the extension that links them.
import mlir.ir as _ir  # noqa: F401, I001
from mlir._mlir_libs._mlir import globals as _globals
import typing as _typing

from .context import default_context, register
from .errors import (
    ContextLengthError,
    DeviceError,
    FrontendError,
    MissingPackageError,
    ModelError,
    RelaxError,
    TokenizerError,
    UnsupportedOpError,
    WeightError,
)
from .ir_checks import install as _install_checks
from .location import SourceLocation
from .symbolic import Facts, Range, Sym, Unification, ceildiv, unify
from .annotations import Annotation, Callable, Object, Scalar, Shape, Tensor, Tuple
from .values import Value
from .module import Module, load, parse
from .builder import BlockBuilder, Function
from . import nn, op, pipelines, runtime
from .compiler import Code, Target, compile, compile_code
from .runtime import KernelTimes, profile
from .export import load_exported

if _typing.TYPE_CHECKING:
    from .runtime import Device, Executable
else:

    def __getattr__(name: str) -> object:
        """What `relax_mlir.runtime` imports when it is used."""
        if name not in ("Device", "Executable"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = value = getattr(runtime, name)
        return value

    def __dir__() -> list[str]:
        """All names, also of what is imported when it is used."""
        return sorted({*globals(), *__all__})


_install_checks()
_globals.append_dialect_search_prefix(f"{__name__}.dialects")  # where MLIR finds op classes when it first needs them

__version__ = "0.1.0"

__all__ = [
    "Annotation",
    "BlockBuilder",
    "Callable",
    "Code",
    "ContextLengthError",
    "Device",
    "DeviceError",
    "Executable",
    "Facts",
    "FrontendError",
    "Function",
    "MissingPackageError",
    "ModelError",
    "KernelTimes",
    "Module",
    "Object",
    "Range",
    "RelaxError",
    "Scalar",
    "Shape",
    "SourceLocation",
    "Sym",
    "Target",
    "Tensor",
    "TokenizerError",
    "Tuple",
    "Unification",
    "UnsupportedOpError",
    "Value",
    "WeightError",
    "ceildiv",
    "compile",
    "compile_code",
    "default_context",
    "load",
    "load_exported",
    "nn",
    "op",
    "parse",
    "pipelines",
    "profile",
    "register",
    "unify",
]

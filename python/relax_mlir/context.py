# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The MLIR contexts in which programs live.

Importing `relax_mlir` adds the dialect to the registry of the `mlir` package, so every context created
afterwards knows it, and registers the passes in the process. `register` adds the dialect to an existing context.
"""

from __future__ import annotations

import threading

from mlir import ir
from mlir._mlir_libs._mlir import globals as _globals

from . import _relax

_lock = threading.Lock()
_default: ir.Context | None = None

_relax.register_dialect(ir.get_dialect_registry())
# The prefix under which the bindings look for the classes of a dialect. Without it, they search for the module again
# for every attribute.
_globals.append_dialect_search_prefix("relax_mlir.dialects")


def register(context: ir.Context) -> None:
    """Loads the relax dialect into any context."""
    _relax.load_dialect(context)


def default_context() -> ir.Context:
    """The context that is used if none is given.

    It is created on first use and lives as long as the process. It is never entered; inside `with context:`, that
    context is used instead, in that thread.
    """
    global _default
    with _lock:
        if _default is None:
            _default = ir.Context()
            register(_default)
    return _default


def resolve_context(context: ir.Context | None = None) -> ir.Context:
    """The given context, or else the one that this thread has entered, or else the default one."""
    if context is not None:
        register(context)
        return context
    try:
        entered = ir.Context.current
    except ValueError:  # none is entered
        entered = None
    if entered is None:
        return default_context()
    register(entered)
    return entered

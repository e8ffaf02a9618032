# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The entry point through which `torch.compile(model, backend="relax")` finds the backend.

PyTorch registers what it has loaded from an entry point, and `relax_mlir.frontends.torch` registers the backend when it
is imported. Both may happen in either order, so the entry point is a module that imports the other only when called.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


def relax(graph_module: Any, example_inputs: Sequence[Any], **arguments: Any) -> Callable[..., Any]:
    """Compiles a graph of `torch.compile`; see `relax_mlir.frontends.torch.compile_backend.relax`."""
    from .torch.compile_backend import relax as compile

    return compile(graph_module, example_inputs, **arguments)

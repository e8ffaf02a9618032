# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which nodes of a graph only show another tensor, and share its memory in eager."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import torch

from ...errors import FrontendError


def is_view(node: Any) -> bool:
    """Whether an op shows its first operand: its schema says that the result aliases it, and writes nothing."""
    schema = getattr(node.target, "_schema", None) if node.op == "call_function" else None
    if schema is None or schema.is_mutable or not node.args or not isinstance(node.args[0], torch.fx.Node):
        return False
    return any(result.alias_info is not None for result in schema.returns)


def view_root(node: Any, is_root: Callable[[Any], bool] = lambda node: False) -> tuple[Any, list[Any]]:
    """The tensor that a node shows, and the views that lead to it, last one first.

    Args:
      is_root: where to stop, even if that is a view itself.
    """
    views = []
    while not is_root(node):
        if node.target is operator.getitem and is_view(node.args[0]):
            views.append(node)
            node = node.args[0].args[0]
        elif is_view(node) and isinstance(node.meta.get("val"), torch.Tensor):
            views.append(node)
            node = node.args[0]
        else:
            break
    return node, views


_SQUEEZES = {torch.ops.aten.squeeze.default, torch.ops.aten.squeeze.dim, torch.ops.aten.squeeze.dims}


def guard_kept_axes(graph: Any) -> None:
    """Has PyTorch trace again for a size of 1 where `squeeze` kept an axis because its size was not known to be 1.

    Without it a size of 1 would run through the graph of other sizes, which has an axis more than eager.
    """
    for node in graph.nodes:
        if node.op != "call_function" or node.target not in _SQUEEZES:
            continue
        sizes = node.args[0].meta["val"].shape
        chosen = node.args[1] if len(node.args) > 1 else list(range(len(sizes)))
        for axis in [chosen] if isinstance(chosen, int) else chosen:
            size = sizes[axis] if sizes else 1
            if isinstance(size, torch.SymInt) and size.node.has_hint() and not bool(size != 1):
                raise FrontendError(
                    f"squeeze was traced for a size of axis {axis} other than 1, and the size is 1; "
                    "compile for it without backed_size_oblivious"
                )

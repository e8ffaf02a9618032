# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numbers from tensors, and assertions."""

from __future__ import annotations

from typing import Any

import torch

from .... import op
from ....values import Value
from ..lowering import Lowering
from ..registry import register
from ..scalars import define_item, define_size


@register("aten::item", "aten::_local_scalar_dense")
def item(ctx: Lowering, x: Value) -> Any:
    """An integer becomes a symbol; other numbers stay a tensor of rank 0.

    The trace has a Boolean as a symbol, too, which is compared with 1, and computes with it.
    """
    x = op.reshape(x, ())
    example = ctx.result
    if isinstance(example, torch.SymInt):
        if example.node.expr.is_Symbol:
            return define_item(ctx.symbols, x, example.node.expr)
        # Assertions leave one value for it, as those of `0 <= n <= x.shape[0]` where the size is 0.
        value = ctx.symbols.expr(example)
        ctx.check(op.equal(op.astype(x, "i64"), ctx.integer(value)), f"the element must be {value}")
        return value
    if isinstance(example, torch.SymBool):
        for symbol in example.node.expr.free_symbols - ctx.symbols.values.keys():
            define_size(ctx.symbols, op.astype(x, "i64"), "item", symbol)
    return op.astype(x, "f64") if isinstance(example, torch.SymFloat) else x


@register("aten::_assert_scalar")
def assert_scalar(ctx: Lowering, condition: Any, message: str) -> None:
    """A condition on sizes, of `torch._check` or of the trace itself."""
    if isinstance(condition, Value):
        op.assert_(op.reshape(ctx.cast(condition, "bool"), ()), message)
    else:
        ctx.require(condition, message)


@register("aten::_assert_async.msg", "aten::_functional_assert_async.msg")
def assert_tensor(ctx: Lowering, condition: Value, message: str, *args: Any) -> None:
    op.assert_(op.reshape(ctx.cast(condition, "bool"), ()), message)


@register("aten::sym_size", "aten::sym_numel", "aten::sym_storage_offset", "aten::sym_stride")
def known_size(ctx: Lowering, *args: Any) -> Any:
    """What the trace knows."""
    return ctx.symbols.expr(ctx.result)

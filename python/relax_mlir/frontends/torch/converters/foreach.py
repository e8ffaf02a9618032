# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ops on lists of tensors, as optimizers use them: the op of one tensor, for each tensor of the list."""

from __future__ import annotations

import types
from typing import Any

import torch

from ....values import Value
from ..lowering import Lowering
from ..registry import registry
from . import elementwise, functions, reduction  # noqa: F401 - have what is done with each tensor

_PREFIX = "aten::_foreach_"

_OF_ONE = {"norm": "linalg_vector_norm"}
"""Ops that have another name for one tensor."""

_BY_NAME = {"addcmul": ("value", "scalars"), "addcdiv": ("value", "scalars")}
"""Arguments that the op of one tensor has by the name `value`."""


def foreach(ctx: Lowering, *args: Any, **kwargs: Any) -> list[Value]:
    """The results, one for each tensor."""
    node, base = ctx.node, ctx.name[len(_PREFIX) :].partition(".")[0]
    target, convert = _op_of_one(base), registry.find(ctx.name)
    assert convert is not None  # the op that is being converted has one
    made = []
    try:
        for index, example in enumerate(ctx.results):
            values, named = _arguments_of(node, args, kwargs, base, index)
            sources, _ = _arguments_of(node, node.args, node.kwargs, base, index)
            ctx.node = types.SimpleNamespace(target=target, args=sources, kwargs=named, meta={"val": example}, users={})
            made.append(convert(ctx, *values, **named))
    finally:
        ctx.node = node
    return made


def _arguments_of(node: Any, args: Any, kwargs: Any, base: str, index: int) -> tuple[list[Any], dict[str, Any]]:
    """What the op of one tensor is given for a tensor of the list."""
    values: list[Any] = []
    named: dict[str, Any] = {}
    for position, described in enumerate(node.target._schema.arguments):
        if position < len(args):
            value = args[position]
        elif described.name in kwargs:
            value = kwargs[described.name]
        else:
            continue
        value = value[index] if isinstance(value, (list, tuple)) else value
        if described.kwarg_only or described.name in _BY_NAME.get(base, ()):
            named["value" if described.name == "scalars" else described.name] = value
        else:
            values.append(value)
    return values, named


def _op_of_one(base: str) -> Any:
    packet = getattr(torch.ops.aten, _OF_ONE.get(base, base), None)
    if packet is None:
        return None
    names = packet.overloads()
    return getattr(packet, next((name for name in ("Tensor", "default", "Tensor_Tensor") if name in names), names[0]))


def _register() -> None:
    """Registers the ops on lists that have a converter for one tensor."""
    names = {name.partition(".")[0] for name in torch._C._dispatch_get_all_op_names() if name.startswith(_PREFIX)}
    for name in sorted(names):
        target = None if name.endswith("_") else _op_of_one(name[len(_PREFIX) :])
        if target is not None and registry.find(f"{target._schema.name}.{target._overloadname}"):
            registry.register(name)(foreach)


_register()

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which ops PyTorch takes apart before a program is imported.

PyTorch's own decompositions serve ops that have no converter. Those that have one, or that mean more whole than in
parts (products, attention, norms, convolutions, activations), are kept: a linear map stays one op rather than a view, a
transposed copy and a product. Keeping attention is needed for right results, too: its decomposition does not trace for
all strides with dynamic sizes.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import warnings
from collections.abc import Iterator
from typing import Any

import torch
from torch.fx import _pytree as fx_pytree
from torch.utils import _pytree as pytree

from ...errors import FrontendError
from .same_graph import user_nodes
from .tree import children_of

_KEPT = """
linear matmul einsum scaled_dot_product_attention
layer_norm rms_norm group_norm instance_norm batch_norm softmax log_softmax _safe_softmax
silu gelu mish hardswish hardsigmoid leaky_relu elu celu selu softplus glu logsigmoid relu6 hardtanh prelu
conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d
max_pool1d max_pool2d max_pool3d avg_pool1d avg_pool2d avg_pool3d
adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d
embedding_bag _embedding_bag embedding pad upsample_nearest2d upsample_bilinear2d upsample_bicubic2d
upsample_linear1d upsample_nearest1d pixel_shuffle pixel_unshuffle
lstm gru std var std_mean var_mean one_hot stack split split_with_sizes unbind roll masked_fill repeat_interleave
tile diff addmm bmm baddbmm addmv mv dot addcmul addcdiv square rsub where trace outer
nan_to_num erfc logsumexp cumsum cumprod index_add index_copy index_fill scatter_add select_scatter slice_scatter
""".split()

_KEPT_BEHIND_AUTOGRAD = """
_softmax _log_softmax native_layer_norm native_group_norm native_dropout threshold
_scaled_dot_product_flash_attention_for_cpu
""".split()
"""Forms that composite ops have behind autograd."""


def decomposition_table(updating: frozenset[str] = frozenset()) -> dict[Any, Any]:
    """PyTorch's table of decompositions, without what is kept.

    Args:
      updating: norms that are taken apart all the same (`updating_norms`).
    """
    return dict(_table(updating))


@functools.cache
def _table(updating: frozenset[str]) -> dict[Any, Any]:
    """PyTorch makes its table anew each time, which takes longer than many a model does."""
    kept = set(_KEPT) - updating
    return {
        op: function for op, function in torch.export.default_decompositions().items() if _base_name(op) not in kept
    }


_UPDATED = {"aten::batch_norm": (3, 5), "aten::instance_norm": (3, 5)}
"""Norms that may update running statistics: the position of the running mean, and of what says that they do."""


def updating_norms(graph: Any) -> frozenset[str]:
    """The norms of a graph that update running statistics."""
    return frozenset(filter(None, map(_that_updates, graph.nodes)))


def _that_updates(node: Any) -> str | None:
    """The name of an op that would change its arguments unseen, which only its decomposition shows."""
    schema = getattr(node.target, "_schema", None)
    places = _UPDATED.get(schema.name) if schema is not None else None
    if places is None or any(len(node.args) <= place or node.args[place] in (None, False) for place in places):
        return None
    return _base_name(node.target)


@functools.cache
def autograd_table() -> dict[Any, Any]:
    """The table for graphs behind autograd: PyTorch's for gradients and for all else that has no converter."""
    kept = {*_KEPT, *_KEPT_BEHIND_AUTOGRAD}
    aten = torch.ops.aten
    on_gpu = torch._decomp.get_decompositions([aten._batch_norm_with_update_functional, aten.batch_norm_backward])
    table = {**torch._decomp.core_aten_decompositions(), **on_gpu}
    return {op: function for op, function in table.items() if _base_name(op) not in kept}


def _base_name(op: Any) -> str:
    return op._schema.name.partition("::")[2] if hasattr(op, "_schema") else str(op)


def decompose(program: Any) -> Any:
    """The program in functional form: mutations are outputs, and ops without a converter are taken apart.

    Raises:
      FrontendError: PyTorch fails to do that.
    """
    with warnings.catch_warnings(), _plain_structures(program.call_spec.in_spec):
        warnings.simplefilter("ignore", FutureWarning)  # of PyTorch, about itself
        try:
            made = program.run_decompositions(decomposition_table(updating_norms(program.graph)))
        except Exception as error:  # of many kinds, as converters of PyTorch's own fail
            text = str(error).strip().partition("\n")[0]
            raise FrontendError(
                f"PyTorch cannot bring the program into functional form: {type(error).__name__}: {text}; "
                "where an input is an object with tensors in it, pass these instead and make the object in the model"
            ) from error
    _rename_inputs(made, [node.name for node in user_nodes(program)])
    return made


def _rename_inputs(program: Any, names: list[str]) -> None:
    """Gives the inputs of a program the names that guards have for them: those of members of objects change when a
    program is traced again."""
    renamed: dict[str, str] = {}
    for node, name in zip(user_nodes(program), names):
        if node.name != name:
            old = node.name
            node._rename(name)
            renamed[old] = node.name
    signature = program.graph_signature
    for spec in (*signature.input_specs, *signature.output_specs):
        if getattr(spec.arg, "name", None) in renamed:
            spec.arg.name = renamed[spec.arg.name]
        if spec.kind.name == "USER_INPUT_MUTATION" and spec.target in renamed:
            spec.target = renamed[spec.target]


@contextlib.contextmanager
def _plain_structures(spec: Any) -> Iterator[None]:
    """Lets lists take the place of objects among the inputs, meanwhile.

    PyTorch makes the objects again to trace the program a second time. Objects that make tensors when they are made,
    as caches of transformers do, would add these to the program as constants without values.
    """
    kinds = {kind for kind in _kinds(spec) if kind not in pytree.BUILTIN_TYPES and kind in pytree.SUPPORTED_NODES}
    nodes = {kind: pytree.SUPPORTED_NODES[kind] for kind in kinds}
    of_fx = {kind: fx_pytree.SUPPORTED_NODES.get(kind) for kind in kinds}
    try:
        for kind, node in nodes.items():
            pytree.SUPPORTED_NODES[kind] = _replace(node, unflatten_fn=lambda members, context: list(members))
            fx_pytree.SUPPORTED_NODES[kind] = lambda members, spec: list(members)
        yield
    finally:
        for kind, node in nodes.items():
            pytree.SUPPORTED_NODES[kind] = node
            fx_pytree.SUPPORTED_NODES.pop(kind)
            if of_fx[kind] is not None:
                fx_pytree.SUPPORTED_NODES[kind] = of_fx[kind]


def _replace(node: Any, **fields: Any) -> Any:
    return node._replace(**fields) if hasattr(node, "_replace") else dataclasses.replace(node, **fields)


def _kinds(spec: Any) -> Iterator[type]:
    """The types of a structure and of what is in it."""
    yield spec.type
    for child in children_of(spec):
        yield from _kinds(child)

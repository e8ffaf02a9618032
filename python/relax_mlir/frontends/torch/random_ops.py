# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random numbers of compiled graphs, which PyTorch draws.

They come from PyTorch's generators, so that a seed gives the numbers of eager and a generator's state is what it is
there. What is drawn depends on sizes and numbers alone, so it is drawn before the compiled function is called, in the
order of the graph, and is an argument of it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch

from .graph_call import CallWriter

aten = torch.ops.aten

_OF_SHAPE = {
    *(aten.rand_like.default, aten.randn_like.default, aten.randint_like.default, aten.randint_like.low_dtype),
    *(aten.bernoulli.p, aten.uniform.default, aten.normal_functional.default, aten.exponential.default),
    *(aten.geometric.default, aten.log_normal.default, aten.cauchy.default),
    *(aten.random.default, aten.random.to, getattr(aten.random, "from")),
}
"""Ops that read of a tensor its sizes and type alone."""

_DROPOUTS = {aten.native_dropout.default, aten.dropout.default}


def _keep(x: torch.Tensor, probability: float) -> torch.Tensor:
    """What dropout of eager keeps of a tensor: ones and zeros, drawn in the order in which the tensor is in memory.

    `torch.bernoulli` draws in the order of the indices, which is another one for a tensor that is not contiguous.
    """
    return torch.empty_like(x).bernoulli_(probability)


class Draw(NamedTuple):
    """A call that draws: the placeholder that takes the place of its node, the op, and what it is given."""

    placeholder: Any
    target: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def take_out_random(graph: Any) -> list[Draw]:
    """Takes what is drawn out of a graph, in order.

    Ops whose number of draws depends on what is in a tensor stay, and are refused where they are converted.
    """
    draws = []
    for node in list(graph.nodes):
        if node.op != "call_function":
            continue
        if node.target in _DROPOUTS:
            if node.args[2] is False or not node.args[1]:
                continue
            node = _dropped(graph, node)
        if node.target is aten.multinomial.default:
            node = _drawn_for_multinomial(graph, node)
        elif node.target is not _keep and not _is_draw(node):
            continue
        with graph.inserting_before(next(entry for entry in graph.nodes if entry.op != "placeholder")):
            placeholder = graph.placeholder(f"{node.name}_drawn")
        placeholder.meta.update(node.meta)
        node.replace_all_uses_with(placeholder)
        draws.append(Draw(placeholder, node.target, node.args, node.kwargs))
        graph.erase_node(node)
    return draws


def _is_draw(node: Any) -> bool:
    if torch.Tag.nondeterministic_seeded not in getattr(node.target, "tags", ()):
        return False
    tensors = [operand for operand in node.all_input_nodes if isinstance(operand.meta.get("val"), torch.Tensor)]
    return isinstance(node.meta["val"], torch.Tensor) and (not tensors or node.target in _OF_SHAPE)


def _dropped(graph: Any, node: Any) -> Any:
    """Puts what eager does in place of a dropout: the operand times a mask that is drawn, scaled."""
    x, p, _ = node.args
    example = node.meta["val"] if node.target is aten.dropout.default else node.meta["val"][0]
    scale = 0.0 if p == 1 else 1.0 / (1.0 - p)
    with graph.inserting_before(node):
        keep = _insert(graph, node, _keep, (x, 1.0 - p), example)
        scaled = _insert(graph, node, aten.mul.Tensor, (keep, scale), example)
        result = _insert(graph, node, aten.mul.Tensor, (x, scaled), example)
    if node.target is aten.dropout.default:
        node.replace_all_uses_with(result)
        graph.erase_node(node)
        return keep
    with graph.inserting_before(node):
        mask = _insert(graph, node, aten.ne.Scalar, (keep, 0), node.meta["val"][1])
    for user in list(node.users):
        user.replace_all_uses_with((result, mask)[user.args[1]])
        graph.erase_node(user)
    graph.erase_node(node)
    return keep


def _drawn_for_multinomial(graph: Any, node: Any) -> Any:
    """Gives a multinomial op the numbers that eager draws for it, as its argument `drawn`.

    Eager takes exponential numbers of the shape of the probabilities, or, for several samples with replacement, a
    uniform number for each sample.
    """
    x, count, *rest = node.args
    with graph.inserting_before(node):
        if rest and rest[0] and count != 1:
            sizes = list(node.meta["val"].shape)
            drawn = _insert(graph, node, aten.rand.default, (sizes,), node.meta["val"].to(torch.float64))
            drawn.kwargs = {"dtype": torch.float64, "device": x.meta["val"].device}
        else:
            drawn = _insert(graph, node, aten.exponential.default, (x, 1.0), x.meta["val"])
    node.kwargs = {"drawn": drawn}
    return drawn


def _insert(graph: Any, source: Any, target: Any, args: tuple[Any, ...], example: torch.Tensor) -> Any:
    node = graph.call_function(target, args)
    node.meta.update({**source.meta, "val": example})
    return node


def draw(writer: CallWriter, given: Draw) -> None:
    """Writes the call that draws."""
    name, args, first = f"d{given.placeholder.name}", list(given.args), []
    if given.target in _OF_SHAPE or given.target is _keep:
        example = args.pop(0).meta["val"]
        kinds = {"dtype": example.dtype, "device": example.device}
        first = [writer.call(torch.empty_strided, [list(example.shape), list(example.stride())], kinds)]
    writer.line(f"{name} = {writer.call(given.target, args, given.kwargs, *first)}")
    writer.define(given.placeholder, name)

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a model computes where sizes are 0 or 1.

`torch.export` assumes that a dynamic size is at least 2 and keeps no note of it: a model that asks
`x.shape[0] == 1` is exported with the other branch, and the program would silently be wrong for 1. So the model is
exported again with an example of each such size, and the graphs are compared with the size set to that number
(`same_graph.py`). Where they compute the same, the program serves that size as well. Where they differ, the new export
is a variant of the program, which serves it. Where the model cannot be traced, as one that fails in eager, the size is
refused.

Sizes that are small together are one more case each, so that what is known of sizes alone says nothing of them.
"""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import io
import itertools
import logging
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import sympy
import torch
from torch.export import Dim
from torch.utils import _pytree as pytree

from .guards import equal_sizes, related_sizes
from .same_graph import Place, compute_same, user_nodes
from .tree import plain

Sizes = frozenset[tuple[Place, int]]
"""The sizes that are small in a call, with their values. All other sizes that could be are 2 or more."""

_MOST_TOGETHER = 3
"""With at most this many sizes all combinations of ones are tried; with more, pairs."""

_MOST_WITH_ZERO = 2
"""At most this many sizes are tried together where one of them is 0."""

_MOST_ZEROS = 6
"""Zeros are tried with at most this many sizes: what is not tried together has to be refused."""

_MOST_EXPORTS = 64
_MOST_VARIANTS = 8
"""More variants are not made, since each is compiled."""


@dataclasses.dataclass(frozen=True)
class _Size:
    """A size that may be small.

    Attributes:
      place: where it is read first.
      symbols: what the export calls it, wherever it stands.
      places: where it stands as it is.
      values: those to find out about.
    """

    place: Place
    symbols: tuple[sympy.Symbol, ...]
    places: tuple[Place, ...]
    values: tuple[int, ...]


@dataclasses.dataclass
class Variant:
    """An export of the model in which some small sizes are numbers.

    Attributes:
      sizes: those; none for the general program.
      exported: the program.
      serves: the sizes for which it is known to be right, each with the guards that it has there in addition.
    """

    sizes: Sizes
    exported: Any
    serves: dict[Sizes, tuple[str, ...]]


@dataclasses.dataclass
class SmallSizes:
    """What is known of small sizes.

    Attributes:
      places: where sizes are read that may be small, each with all places of that size.
      variants: the general program, then those for sizes for which it is wrong.
      refused: what cannot be traced, or would be one export or variant too many.
    """

    places: dict[Place, tuple[Place, ...]]
    variants: list[Variant]
    refused: list[Sizes]

    def not_served(self, variant: Variant) -> list[Sizes]:
        """Small sizes for which a variant is not known to be right, in addition to those that it is made for; none
        of which has a part that is such already."""
        own = {place for place, _ in variant.sizes}
        found: list[Sizes] = []
        rest = {place: (1, 0) for place in self.places if place not in own}
        for chosen in _choices(rest, _MOST_TOGETHER + 1):
            if (variant.sizes | chosen) not in variant.serves and not any(part <= chosen for part in found):
                found.append(chosen)
        return found


def find_small_sizes(
    model: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], exported: Any, strict: bool
) -> SmallSizes:
    """For which small sizes a program of that model is right, alone and together, with variants for others."""
    nodes = user_nodes(exported)
    sizes = {size.place: size for size in _sizes(exported, nodes)}
    found = SmallSizes({place: size.places for place, size in sizes.items()}, [Variant(frozenset(), exported, {})], [])
    related = _related(exported, nodes, found)
    untraceable: list[Sizes] = []
    ones = _MOST_TOGETHER if len(sizes) <= _MOST_TOGETHER else 2
    zeros = _MOST_WITH_ZERO if len(sizes) <= _MOST_WITH_ZERO else 1
    count = 0
    for chosen in _choices({place: size.values for place, size in sizes.items()}, max(ones, zeros)):
        if len(chosen) > (zeros if any(value == 0 for _, value in chosen) else ones):
            continue
        small = None
        if count < _MOST_EXPORTS and not any(_rules_out(part, chosen, related) for part in untraceable):
            count += 1
            values = {symbol: value for place, value in chosen for symbol in sizes[place].symbols}
            small = _export(model, args, kwargs, nodes, values, strict)
            if small is None:
                untraceable.append(chosen)
        if small is None or not _place(found, chosen, small):
            found.refused.append(chosen)
    return found


def _related(exported: Any, nodes: Sequence[Any], found: SmallSizes) -> list[set[Place]]:
    """For each guard of the export the sizes that it reads."""
    numbers = {node.name: index for index, node in enumerate(nodes)}
    firsts = {place: first for first, places in found.places.items() for place in places}
    read = related_sizes(getattr(exported, "_guards_code", ()) or ())
    return [{firsts.get((numbers.get(name, -1), axis), (-1, -1)) for name, axis in sizes} for sizes in read]


def _rules_out(part: Sizes, chosen: Sizes, related: Sequence[set[Place]]) -> bool:
    """Whether the model cannot be traced for some sizes either, since it cannot for a part of them.

    A guard may hold for sizes that are small together, and not where one alone is: `len(lengths) <= batch`.
    """
    own, others = {place for place, _ in part}, {place for place, _ in chosen - part}
    return part <= chosen and not any(own & places and others & places for places in related)


def _choices(values: Mapping[Place, Sequence[int]], most: int) -> Iterator[Sizes]:
    """At most `most` of these sizes that are small together; fewer come first, and the first values of each."""
    for count in range(1, min(most, len(values)) + 1):
        chosen = [
            tuple(zip(places, picked))
            for places in itertools.combinations(values, count)
            for picked in itertools.product(*(values[place] for place in places))
        ]
        yield from map(frozenset, sorted(chosen, key=lambda choice: sum(value == 0 for _, value in choice)))


def _place(found: SmallSizes, chosen: Sizes, small: Any) -> bool:
    """Finds the variant that computes what the model does with these sizes, or makes one."""
    everywhere = {place: value for first, value in chosen for place in found.places[first]}
    firsts = {place: first for first, places in found.places.items() for place in places}
    for variant in found.variants:
        with contextlib.suppress(Exception):  # of arithmetic on sizes, as a division by zero
            if _is_next(variant, chosen) and compute_same(variant.exported, small, everywhere, firsts):
                variant.serves[chosen] = tuple(_guards(small))
                return True
    if len(found.variants) > _MOST_VARIANTS:
        return False
    found.variants.append(Variant(chosen, small, {chosen: ()}))
    return True


def _is_next(variant: Variant, chosen: Sizes) -> bool:
    """Whether a variant serves all parts of some sizes, so that it has no bound that keeps them out."""
    parts = (chosen - {size} for size in chosen - variant.sizes)
    return variant.sizes <= chosen and all(part == variant.sizes or part in variant.serves for part in parts)


def _sizes(exported: Any, nodes: Sequence[Any]) -> list[_Size]:
    """The sizes that may be small. Those that a guard of the export says are equal are one."""
    places: dict[sympy.Symbol, list[Place]] = {}
    for index, node in enumerate(nodes):
        if isinstance(node.meta.get("val"), torch.Tensor):
            for axis, size in enumerate(node.meta["val"].shape):
                expr = size.node.expr if isinstance(size, torch.SymInt) else None
                if expr is not None and expr.is_Symbol:
                    places.setdefault(expr, []).append((index, axis))
    groups = {symbol: [symbol] for symbol in places}
    at = {place: symbol for symbol, found in places.items() for place in found}
    numbers = {node.name: index for index, node in enumerate(nodes)}
    for (name, axis), (other, other_axis) in equal_sizes(getattr(exported, "_guards_code", ()) or ()):
        first, second = at.get((numbers.get(name, -1), axis)), at.get((numbers.get(other, -1), other_axis))
        if first is not None and second is not None and groups[first] is not groups[second]:
            groups[first] += groups[second]
            for symbol in groups[second]:
                groups[symbol] = groups[first]
    found = []
    for group in {id(group): group for group in groups.values()}.values():
        least = [_least(exported, symbol) for symbol in group]
        if max(least) <= 2:
            all_places = sorted(place for symbol in group for place in places[symbol])
            is_empty = 1 not in least and len(groups) <= _MOST_ZEROS
            found.append(_Size(all_places[0], tuple(group), tuple(all_places), (1, 0) if is_empty else (1,)))
    return sorted(found, key=lambda size: size.place)


def _least(exported: Any, symbol: sympy.Symbol) -> int:
    """The lower bound of a size; that of one which has none is 2 or 0."""
    bounds = exported.range_constraints.get(symbol)
    return 2 if bounds is None else int(bounds.lower)


def _export(
    model: Any,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    nodes: Sequence[Any],
    values: Mapping[sympy.Symbol, int],
    strict: bool,
) -> Any:
    """Exports the model with these values of sizes; None where PyTorch cannot trace it."""
    leaves, spec = pytree.tree_flatten((args, dict(kwargs)))
    shapes: list[Any] = []
    resized: list[Any] = []
    for leaf, node in zip(leaves, nodes):
        example = node.meta.get("val")
        if not isinstance(leaf, torch.Tensor) or not isinstance(example, torch.Tensor):
            shapes.append(Dim.AUTO if isinstance(example, torch.SymInt) else None)
            resized.append(leaf)
            continue
        exprs = [size.node.expr if isinstance(size, torch.SymInt) else None for size in example.shape]
        fixed = [expr is None or bool(expr.free_symbols & values.keys()) for expr in exprs]
        shapes.append({axis: Dim.STATIC if is_fixed else Dim.AUTO for axis, is_fixed in enumerate(fixed)})
        resized.append(_resized(leaf, [None if expr is None else _hint(expr, values, nodes) for expr in exprs]))
    try:
        with quiet():
            small_args, small_kwargs = pytree.tree_unflatten(resized, spec)
            return torch.export.export(
                model,
                small_args,
                small_kwargs,
                dynamic_shapes=as_argument_shapes(model, *plain(spec, iter(shapes))),
                strict=strict,
            )
    except Exception:  # whatever the trace of such an example fails with: nothing is known of it
        return None


def as_argument_shapes(model: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Shapes by the names of the model's arguments, as `torch.export` wants them."""
    forward = model.forward if isinstance(model, torch.nn.Module) else model
    return dict(inspect.signature(forward).bind(*args, **kwargs).arguments)


def _hint(expr: sympy.Expr, chosen: Mapping[sympy.Symbol, int], nodes: Sequence[Any]) -> int:
    """The value of a size in the example, with some symbols set to numbers."""
    values = {symbol: sympy.Integer(value) for symbol, value in chosen.items()}
    for node in nodes:
        example = node.meta.get("val")
        for size in example.shape if isinstance(example, torch.Tensor) else ():
            if isinstance(size, torch.SymInt) and size.node.expr.is_Symbol:
                values.setdefault(size.node.expr, sympy.Integer(size.node.hint))
    return int(expr.subs(values))


def _resized(tensor: torch.Tensor, sizes: Sequence[int | None]) -> torch.Tensor:
    """The tensor with other sizes, by taking its elements in order, again from the first where there are too few."""
    with torch.no_grad():
        for axis, size in enumerate(sizes):
            if size is not None and size != tensor.shape[axis]:
                places = torch.arange(size, device=tensor.device) % max(tensor.shape[axis], 1)
                tensor = tensor.index_select(axis, places)
    return tensor


def _guards(exported: Any) -> Iterator[str]:
    """The guards and bounds of a program, as guards over its inputs."""
    yield from getattr(exported, "_guards_code", ()) or ()
    for node in user_nodes(exported):
        example = node.meta.get("val")
        for axis, size in enumerate(example.shape if isinstance(example, torch.Tensor) else ()):
            bounds = exported.range_constraints.get(size.node.expr) if isinstance(size, torch.SymInt) else None
            if bounds is None:
                continue
            text = f"L['{node.name}'].size()[{axis}]"
            if bounds.lower > 2:
                yield f"{text} >= {int(bounds.lower)}"
            if isinstance(bounds.upper, (int, sympy.Integer)) and not str(bounds.upper).startswith("int_oo"):
                yield f"{text} <= {int(bounds.upper)}"


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keeps what a failing export prints, whole graphs among it, from the terminal."""
    level = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                yield
    finally:
        logging.disable(level)

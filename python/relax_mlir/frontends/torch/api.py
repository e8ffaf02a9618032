# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The functions that users call: exporting a model, importing what was exported, and what is known of it."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch
from torch.export import Dim
from torch.utils import _pytree as pytree

from ...errors import FrontendError, ModelError
from ..program import Program
from .decompositions import decompose
from .exported import Part, SmallPattern, build_program, show_pattern
from .recurrent_ops import dynamic_recurrence
from .same_graph import Place, user_nodes
from .small_sizes import SmallSizes, Variant, as_argument_shapes, find_small_sizes, quiet
from .symbols import SizeNames
from .tree import pair


def from_exported_program(
    exported: Any,
    *,
    names: SizeNames | None = None,
    smallest: int | Mapping[str, int] = 2,
) -> Program:
    """Imports a program of `torch.export`.

    Args:
      exported: an `ExportedProgram`, or the path of a `.pt2` file, which `torch.export.load` reads; nothing of it is
        run here beyond that.
      names: of dynamic sizes, by input and axis: `{"input_ids": {0: "batch", 1: "length"}}`. An input is named as the
        program names it; a size without a name is called `input_ids_dim1`.
      smallest: the least size for which the program is known to be right. `torch.export` assumes 2 for every dynamic
        size, and a model that asks for 1 takes the wrong branch there without notice, so 1 is refused unless the caller
        vouches for it: for all sizes, or by `{"input_ids.size(1)": 1}`. `export` finds out by itself.

    Returns:
      The program with the function `main`. Sizes outside of the export's ranges and guards are errors where it runs.

    Raises:
      UnsupportedOpError: ops have no converter; the message lists all of them with their lines.
      FrontendError: a guard, a size or an element type is not understood; the message names it.
      ModelError: the file cannot be read.
    """
    exported = _load(exported) if isinstance(exported, (str, os.PathLike)) else exported
    return build_program([Part(decompose(exported), _smallest(exported, smallest))], names=names)


def export(
    model: torch.nn.Module,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any] | None = None,
    *,
    dynamic_shapes: Any = None,
    strict: bool = False,
    names: SizeNames | None = None,
    check_small: bool = True,
) -> Program:
    """Exports a model by `torch.export`, finds out what it computes for sizes of 0 and 1, and imports it.

    Where the model computes something else for such a size, the program has a variant for it, which takes its place in
    calls with that size; they share weights and buffers. Sizes for which the model cannot be traced are refused where
    the program runs; `explain` lists them.

    Args:
      model: in evaluation mode; it is traced with gradients switched off.
      args, kwargs: an example. Different sizes should be different numbers above 2, since equal ones, and 1, may be
        taken for constants.
      dynamic_shapes: as for `torch.export.export`. In place of a `Dim` a name makes a size dynamic and names it:
        `{"x": {0: "batch"}}`.
      strict: as for `torch.export.export`.
      names: of sizes, as for `from_exported_program`.
      check_small: export once more for each size (and for combinations) with an example of 1, and of 0, to find out
        whether the program is right for it. Without, such sizes are refused where the program runs.

    Raises:
      UnsupportedOpError, FrontendError: as for `from_exported_program`; what `torch.export` raises.

    A size that was asked to be dynamic and is not raises a `RuntimeWarning` that names the line which fixed it.
    """
    kwargs = dict(kwargs or {})
    shapes = _with_dims(dynamic_shapes)
    with torch.no_grad(), dynamic_recurrence(model), quiet():
        exported = torch.export.export(model, args, kwargs, dynamic_shapes=shapes, strict=strict)
    nodes = [node.name for node in user_nodes(exported)]
    asked = _asked(model, args, kwargs, dynamic_shapes, nodes)
    found_names = {**_names_of(asked), **(names or {})}
    frozen = _frozen(exported, asked)
    for line in frozen:
        warnings.warn(f"torch.export has fixed a size that was to be dynamic: {line}", RuntimeWarning, stacklevel=2)
    found = SmallSizes({}, [Variant(frozenset(), exported, {})], [])
    if check_small:
        with torch.no_grad(), dynamic_recurrence(model):
            found = find_small_sizes(model, args, kwargs, exported, strict)
    return build_program(
        [_part(found, variant, nodes) for variant in found.variants],
        names=found_names,
        places=list(found.places),
        fixed=frozen,
        untraced=[show_pattern(_pattern(sizes, nodes)) for sizes in found.refused],
    )


def _part(found: SmallSizes, variant: Variant, nodes: Sequence[str]) -> Part:
    """A variant with the sizes for which it is right, by their texts."""
    smallest: dict[str, int] = {}
    refused: list[SmallPattern] = []
    not_served = found.not_served(variant)
    own = {place for place, _ in variant.sizes}
    for place, everywhere in found.places.items():
        if place in own:
            continue
        values = [value for value in (0, 1) if variant.sizes | {(place, value)} in variant.serves]
        if values:
            smallest |= {_text(each, nodes): values[0] for each in everywhere}
        if values == [0]:
            refused.append(_pattern({(place, 1)}, nodes))
    refused += [_pattern(sizes, nodes) for sizes in not_served if len(sizes) > 1]
    guards = [(_pattern(sizes - variant.sizes, nodes), codes) for sizes, codes in variant.serves.items() if codes]
    serves = (
        ()
        if not variant.sizes
        else tuple(tuple((leaf, axis, value) for (leaf, axis), value in sorted(sizes)) for sizes in variant.serves)
    )
    cases = tuple(show_pattern(_pattern(sizes, nodes)) for sizes in variant.serves)
    return Part(decompose(variant.exported), smallest, refused, guards, serves, cases)


def _text(place: Place, nodes: Sequence[str]) -> str:
    return f"{nodes[place[0]]}.size({place[1]})"


def _pattern(sizes: Iterable[tuple[Place, int]], nodes: Sequence[str]) -> SmallPattern:
    return tuple((_text(place, nodes), value) for place, value in sorted(sizes))


def explain(program: Program | Any) -> str:
    """What is known of a program: its symbols with bounds and sources, checks at entry, sizes that the export fixed and
    why, and how often each op is used. Takes a `Program`, an `ExportedProgram`, or the path of a `.pt2` file."""
    if not isinstance(program, Program):
        program = from_exported_program(program)
    return str(program.report)


def _load(path: Any) -> Any:
    try:
        with quiet():
            return torch.export.load(path)
    except Exception as error:  # whatever PyTorch finds wrong with the file
        text = str(error).strip().partition("\n")[0]
        raise ModelError(f"'{path}' is not a program that PyTorch {torch.__version__} can load: {text}") from None


def _smallest(exported: Any, smallest: int | Mapping[str, int]) -> Mapping[str, int]:
    """The least sizes, by the text of the size."""
    texts = [
        f"{node.name}.size({axis})"
        for node in exported.graph.nodes
        if node.op == "placeholder" and isinstance(node.meta.get("val"), torch.Tensor)
        for axis, _ in enumerate(node.meta["val"].shape)
    ]
    if isinstance(smallest, int):
        return dict.fromkeys(texts, smallest)
    for size in smallest:
        if size not in texts:
            raise FrontendError(f"smallest: '{size}' is not a size of an input; expected one such as '{texts[0]}'")
    return smallest


def _with_dims(shapes: Any) -> Any:
    """The shapes with `Dim.AUTO` in place of names."""
    return pytree.tree_map(lambda size: Dim.AUTO if isinstance(size, str) else size, shapes)


def _asked(
    model: Any, args: Sequence[Any], kwargs: Mapping[str, Any], shapes: Any, nodes: Sequence[str]
) -> dict[str, dict[int, Any]]:
    """What `dynamic_shapes` asks for: for each placeholder the axes that it names."""
    if shapes is None:
        return {}
    bound = as_argument_shapes(model, args, kwargs)
    by_argument = shapes if isinstance(shapes, Mapping) else dict(zip(bound, shapes))
    leaves = list(pair(pytree.tree_flatten(bound)[1], by_argument))
    if len(leaves) != len(nodes):
        return {}
    return {
        node: dict(spec.items() if isinstance(spec, Mapping) else enumerate(spec))
        for node, spec in zip(nodes, leaves)
        if isinstance(spec, (Mapping, list, tuple))
    }


def _names_of(asked: Mapping[str, Mapping[int, Any]]) -> dict[str, dict[int, str]]:
    """The names of sizes that are in the shapes: of `Dim("batch")` or "batch"."""
    found: dict[str, dict[int, str]] = {}
    for node, sizes in asked.items():
        for axis, size in sizes.items():
            name = size if isinstance(size, str) else getattr(size, "__name__", None)
            if isinstance(name, str) and name.isidentifier() and not isinstance(size, type(Dim.AUTO)):
                found.setdefault(node, {})[axis] = name
    return found


def _frozen(exported: Any, asked: Mapping[str, Mapping[int, Any]]) -> list[str]:
    """Sizes of inputs that were to be dynamic and became numbers, with the line that needed it."""
    examples = {node.name: node.meta.get("val") for node in user_nodes(exported)}
    modes = [example.fake_mode for example in examples.values() if hasattr(example, "fake_mode")]
    env = modes[0].shape_env if modes else None
    lines = []
    for symbol, value in getattr(env, "replacements", {}).items():
        if not getattr(value, "is_Integer", False):
            continue
        sources = getattr(env, "var_to_sources", {}).get(symbol, ())
        names = ", ".join(source.name() if callable(source.name) else str(source.name) for source in sources)
        if names:
            reason = getattr(env, "replacements_slocs", {}).get(symbol)
            lines.append(f"{names} == {value}" + (f", needed {_reason(reason)}" if reason is not None else ""))
    for name, sizes in asked.items():
        for axis, size in sizes.items():
            # The trace has no symbol for what is 0 or 1 in the example.
            value = examples[name].shape[axis] if isinstance(examples[name], torch.Tensor) else None
            is_static = size is None or isinstance(size, int) or size == Dim.STATIC
            if not is_static and type(value) is int and value in (0, 1):
                lines.append(f"{name}.size({axis}) == {value}, as in the example; give it an example of 2 or more")
    return lines


def _reason(reason: Any) -> str:
    """Where the trace was: the user's line, else that of the library."""
    frame = getattr(reason, "maybe_user_loc", None) or getattr(reason, "user_loc", None) or reason
    frame = getattr(frame, "framework_loc", None) or frame
    if hasattr(frame, "lineno"):
        return f"at {frame.filename}:{frame.lineno} in {frame.name}"
    return f"at {frame}".replace("\n", " ")

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The functions that users call: exporting a model, importing what was exported, and what is known of it."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch.export import Dim
from torch.utils import _pytree as pytree

from ...errors import FrontendError, ModelError
from ..program import Program
from .decompositions import decompose
from .exported import build_program
from .recurrent_ops import dynamic_recurrence
from .small_sizes import Small, as_argument_shapes, find_small_sizes, quiet
from .symbols import SizeNames


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
    least = _smallest(exported, smallest)
    return build_program(decompose(exported), names=names, smallest=least)


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
    """Exports a model by `torch.export`, finds out for which sizes of 1 the program is right, and imports it.

    Args:
      model: in evaluation mode; it is traced with gradients switched off.
      args, kwargs: an example. Different sizes should be different numbers above 2, since equal ones, and 1, may be
        taken for constants.
      dynamic_shapes: as for `torch.export.export`. In place of a `Dim` a name makes a size dynamic and names it:
        `{"x": {0: "batch"}}`.
      strict: as for `torch.export.export`.
      names: of sizes, as for `from_exported_program`.
      check_small: export once more for each size (and for combinations) with an example of 1, to find out whether the
        program is right for it. Without, sizes of 1 are refused where the program runs.

    Raises:
      UnsupportedOpError, FrontendError: as for `from_exported_program`; what `torch.export` raises.

    A size that was asked to be dynamic and is not raises a `RuntimeWarning` that names the line which fixed it.
    """
    kwargs = dict(kwargs or {})
    shapes = _with_dims(dynamic_shapes)
    with torch.no_grad(), dynamic_recurrence(), quiet():
        exported = torch.export.export(model, args, kwargs, dynamic_shapes=shapes, strict=strict)
    found_names = {**_names_of(model, args, kwargs, dynamic_shapes, exported), **(names or {})}
    frozen = _frozen(exported)
    for line in frozen:
        warnings.warn(f"torch.export has fixed a size that was to be dynamic: {line}", RuntimeWarning, stacklevel=2)
    smalls: list[Small] = []
    if check_small:
        with torch.no_grad(), dynamic_recurrence():
            smalls = find_small_sizes(model, args, kwargs, exported, strict)
    nodes = [spec.arg.name for spec in exported.graph_signature.input_specs if spec.kind.name == "USER_INPUT"]

    def text(place: tuple[int, int]) -> str:
        return f"{nodes[place[0]]}.size({place[1]})"

    alone = {small.sizes[0]: small for small in smalls if len(small.sizes) == 1}
    smallest = {text(place): 1 for place, small in alone.items() if small.is_right}
    refused = [tuple((text(place), 1) for place in small.sizes) for small in smalls if not small.is_right]
    guards = [(tuple((text(place), 1) for place in small.sizes), small.guards) for small in smalls if small.guards]
    notes = {"sizes that the export fixed": frozen, "sizes of 1": [_describe(small, text) for small in smalls]}
    program = decompose(exported)
    return build_program(
        program,
        names=found_names,
        smallest=smallest,
        refused=[pattern for pattern in refused if len(pattern) > 1],
        small_guards=guards,
        notes=notes,
    )


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
        raise ModelError(f"'{path}' is no program that PyTorch {torch.__version__} can load: {text}") from None


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
            raise FrontendError(f"smallest: '{size}' is no size of an input; expected one such as '{texts[0]}'")
    return smallest


def _with_dims(shapes: Any) -> Any:
    """The shapes with `Dim.AUTO` in place of names."""
    return pytree.tree_map(lambda size: Dim.AUTO if isinstance(size, str) else size, shapes)


def _names_of(
    model: Any, args: Sequence[Any], kwargs: Mapping[str, Any], shapes: Any, exported: Any
) -> dict[str, dict[int, str]]:
    """The names of sizes that are in the shapes: of `Dim("batch")` or "batch"."""
    if shapes is None:
        return {}
    bound = as_argument_shapes(model, args, kwargs)
    by_argument = shapes if isinstance(shapes, Mapping) else dict(zip(bound, shapes))
    nodes = [spec.arg.name for spec in exported.graph_signature.input_specs if spec.kind.name == "USER_INPUT"]
    places: list[tuple[str, Any]] = []
    _pair(bound, by_argument, places)
    found: dict[str, dict[int, str]] = {}
    if len(places) != len(nodes):
        return found
    for node, (_, spec) in zip(nodes, places):
        if not isinstance(spec, (Mapping, list, tuple)):
            continue
        sizes = spec.items() if isinstance(spec, Mapping) else enumerate(spec)
        for axis, size in sizes:
            name = size if isinstance(size, str) else getattr(size, "__name__", None)
            if isinstance(name, str) and name.isidentifier() and not isinstance(size, type(Dim.AUTO)):
                found.setdefault(node, {})[axis] = name
    return found


def _pair(value: Any, spec: Any, places: list[tuple[str, Any]]) -> None:
    """The leaves of a value, each with its shape."""
    if isinstance(value, Mapping):
        for key, member in value.items():
            _pair(member, spec.get(key) if isinstance(spec, Mapping) else None, places)
    elif isinstance(value, (list, tuple)):
        for index, member in enumerate(value):
            _pair(member, spec[index] if isinstance(spec, (list, tuple)) and index < len(spec) else None, places)
    else:
        places.append(("", spec))


def _frozen(exported: Any) -> list[str]:
    """Sizes of inputs that were to be dynamic and became numbers, with the line that needed it."""
    env = next(
        (
            node.meta["val"].fake_mode.shape_env
            for node in exported.graph.nodes
            if node.op == "placeholder" and hasattr(node.meta.get("val"), "fake_mode")
        ),
        None,
    )
    lines = []
    for symbol, value in getattr(env, "replacements", {}).items():
        if not getattr(value, "is_Integer", False):
            continue
        sources = getattr(env, "var_to_sources", {}).get(symbol, ())
        names = ", ".join(source.name() if callable(source.name) else str(source.name) for source in sources)
        if names:
            reason = getattr(env, "replacements_slocs", {}).get(symbol)
            lines.append(f"{names} == {value}" + (f", needed {_reason(reason)}" if reason is not None else ""))
    return lines


def _reason(reason: Any) -> str:
    """Where the trace was: the user's line, else that of the library."""
    frame = getattr(reason, "maybe_user_loc", None) or getattr(reason, "user_loc", None) or reason
    frame = getattr(frame, "framework_loc", None) or frame
    if hasattr(frame, "lineno"):
        return f"at {frame.filename}:{frame.lineno} in {frame.name}"
    return f"at {frame}".replace("\n", " ")


def _describe(small: Small, text: Any) -> str:
    sizes = " and ".join(f"{text(place)} == 1" for place in small.sizes)
    return f"{sizes}: {'right' if small.is_right else 'refused, the model computes something else or was not traced'}"

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Memory plans as pictures: each tensor in its storage over time, and what the plan saves."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import MissingPackageError, RelaxError
from ..files import write_whole
from ..module import Module
from .plan import Plan, PlannedTensor, Storage, plans_of
from .results import unique_stem

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FORMATS = (".png", ".svg", ".pdf")

_MOST_NAMES = 60
"""How many steps have their names below the picture."""


def draw(module: Module, sizes: Mapping[str, int] | None = None, path: Path | None = None) -> Iterator[Path]:
    """Writes one picture for each function of a module whose memory is planned.

    Args:
      sizes: values of symbols; others have `plan.DEFAULT_SIZE`, as far as their bounds allow.
      path: the file (.png, .svg or .pdf). If there are several functions, their names are appended. By default
        "<function>-memory.png" in the working directory.

    Raises:
      RelaxError: a size or the path is wrong, or a picture cannot be written.
      MissingPackageError: matplotlib is not installed.
    """
    check_drawing(path)
    plans = plans_of(module, sizes or {})
    used: set[str] = set()
    for plan in plans:
        name = unique_stem(plan.function, used)
        target = path or Path(f"{name}-memory.png")
        if path and len(plans) > 1:
            target = path.with_name(f"{path.stem}-{name}{path.suffix}")
        content = _picture(plan, target.suffix.lower().removeprefix("."))
        try:
            write_whole(target, content.getbuffer())
        except OSError as error:
            raise RelaxError(f"cannot write '{target}': {error.strerror or error}") from None
        yield target


def check_drawing(path: Path | None) -> None:
    """Checks that `draw` can draw to a path, which costs less than a plan to draw.

    Raises:
      RelaxError: the path ends in something else than a picture.
      MissingPackageError: matplotlib is not installed.
    """
    if path and path.suffix.lower() not in _FORMATS:
        raise RelaxError(f"cannot draw to '{path}'; expected a file that ends in {', '.join(_FORMATS)}")
    try:
        import matplotlib.figure  # noqa: F401
    except ModuleNotFoundError:
        raise MissingPackageError("drawing takes matplotlib; install it with: pip install matplotlib") from None


def _picture(plan: Plan, format: str) -> io.BytesIO:
    import matplotlib
    from matplotlib.figure import Figure

    width = min(max(10.0, 0.25 * len(plan.steps)), 60.0)
    figure = Figure(figsize=(width, min(max(5.0, 0.5 * len(plan.storages)), 20.0)), layout="constrained")
    over_time, totals = figure.subplots(1, 2, width_ratios=[width - 2, 2])
    scale, unit = _unit(max(plan.planned, plan.unplanned or 0))
    _draw_storages(over_time, plan, scale)
    sizes = f" for {plan.describe_sizes()}" if plan.sizes else ""
    over_time.set_title(f"{plan.function}{sizes}", parse_math=False)  # "$" is a character of names
    over_time.set(ylabel=f"storages, {unit}")
    _draw_totals(totals, plan, scale)
    totals.set(title=unit)
    content = io.BytesIO()
    with matplotlib.rc_context({"svg.fonttype": "none"}):  # text that can be searched
        figure.savefig(content, dpi=120, format=format)
    return content


def _draw_storages(axes: Axes, plan: Plan, scale: float) -> None:
    """Storages one above the other, from step to step, with their tensors."""
    bottom = 0.0
    colors = {op: f"C{index % 10}" for index, op in enumerate(dict.fromkeys(plan.steps))}
    for storage in plan.storages:
        height = storage.bytes / scale
        _draw_box(axes, storage, bottom, height, facecolor="0.92", edgecolor="0.6")
        for tensor in storage.tensors:
            place, size = bottom + tensor.offset / scale, tensor.bytes / scale
            box = _draw_box(axes, tensor, place, size, facecolor=colors[tensor.op], edgecolor="0.2", alpha=0.6)
            label = f"{tensor.name} {tensor.op}\n{tensor.type}"
            middle = (tensor.begin + tensor.end) / 2
            text = axes.text(middle, place + size / 2, label, ha="center", va="center", fontsize=6)
            text.set(parse_math=False, clip_on=True, clip_path=box)  # what does not fit is cut off
        bottom += height
    axes.set(xlim=(-0.5, len(plan.steps) - 0.5), ylim=(0, bottom or 1))
    if len(plan.steps) <= _MOST_NAMES:
        axes.set_xticks(range(len(plan.steps)), plan.steps, rotation=45, ha="right", fontsize=7, parse_math=False)
    else:
        axes.set(xlabel="step")


def _draw_box(axes: Axes, life: Storage | PlannedTensor, bottom: float, height: float, **style: Any) -> Any:
    """The time from the begin to the end of something, both included."""
    return axes.barh(bottom, life.end - life.begin + 1, height, life.begin - 0.5, align="edge", **style)[0]


def _draw_totals(axes: Axes, plan: Plan, scale: float) -> None:
    totals = {"one by one": plan.unplanned, "planned": plan.planned, "lower bound": plan.lower_bound}
    known = {name: bytes / scale for name, bytes in totals.items() if bytes is not None}
    bars = axes.bar(range(len(known)), list(known.values()), color="0.6")
    axes.bar_label(bars, [f"{value:.4g}" for value in known.values()], fontsize=8)
    axes.set_xticks(range(len(known)), list(known), rotation=45, ha="right", fontsize=7)
    axes.margins(y=0.1)


def _unit(bytes: int) -> tuple[float, str]:
    for scale, unit in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if bytes >= scale:
            return scale, unit
    return 1, "bytes"

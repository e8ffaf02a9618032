# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How long kernels take on CPUs and on Vulkan devices (lib/Runtime/Core/KernelTimes.h)."""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import html
from collections.abc import Iterator, Sequence
from typing import Any, overload

from .shared_library import library


@dataclasses.dataclass(frozen=True)
class KernelTime:
    """The runs of a kernel in a profile.

    Attributes:
      name: the kernel, or the library function.
      function: the function of the program that calls a kernel on the CPU; for library functions, and for kernels on
        devices, the function that was called from the outside.
      location: the program's line, as "file:line:column"; empty if it is not known. A kernel of several fused ops has
        the line of one of them.
      calls: how often it ran.
      seconds: how long it ran in all: on the CPU as the calling thread saw it, on a device as the device did. Kernels
        and library functions that a library function calls on its thread are counted by themselves alone.
    """

    name: str
    function: str
    location: str
    calls: int
    seconds: float

    @property
    def mean(self) -> float:
        """Seconds of a run."""
        return self.seconds / self.calls


class KernelTimes(Sequence[KernelTime]):
    """The kernels of a profile, the slowest first; `print(times)` shows a table.

    Attributes:
      functions: the calls from the outside, by function: how often, also if they failed or their arguments were
        refused, and how long in all. Next to kernels, a call checks arguments, computes sizes and allocates memory. A
        call on a device returns before its kernels have run.
    """

    def __init__(self, kernels: Sequence[KernelTime] = (), functions: Sequence[KernelTime] = ()) -> None:
        self._set(kernels, functions)

    def _set(self, kernels: Sequence[KernelTime], functions: Sequence[KernelTime]) -> None:
        self._kernels = tuple(sorted(kernels, key=lambda kernel: -kernel.seconds))
        self.functions = tuple(sorted(functions, key=lambda function: -function.seconds))

    @overload
    def __getitem__(self, index: int) -> KernelTime: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[KernelTime]: ...
    def __getitem__(self, index: int | slice) -> KernelTime | Sequence[KernelTime]:
        return self._kernels[index]

    def __len__(self) -> int:
        return len(self._kernels)

    @property
    def seconds(self) -> float:
        """How long the kernels ran in all."""
        return sum(kernel.seconds for kernel in self)

    def share(self, kernel: KernelTime) -> float:
        """The part of a kernel in the time of all kernels, from 0 to 1."""
        return kernel.seconds / self.seconds if self.seconds else 0.0

    def to_json(self) -> dict[str, Any]:
        """All times as JSON values, in seconds."""
        return {
            "kernels": [{**dataclasses.asdict(kernel), "share": self.share(kernel)} for kernel in self],
            "functions": [
                {"function": function.function, "calls": function.calls, "seconds": function.seconds}
                for function in self.functions
            ],
        }

    def table(self, limit: int | None = None) -> str:
        """The times as text, a line for each kernel.

        Args:
          limit: how many kernels are shown, the slowest ones; all by default.
        """
        rows = self._rows(limit)
        numbers = [max(map(len, column)) for column in zip(_TITLES, *rows)]
        lines = []
        for row in (_TITLES, *rows):
            cells = [cell.rjust(width) for cell, width in zip(row[:_NUMBERS], numbers)]
            cells += [cell.ljust(width) for cell, width in zip(row[_NUMBERS:], numbers[_NUMBERS:])]
            lines.append("  ".join(cells).rstrip())
        return "\n".join([*lines, *self._summary(limit)])

    def __str__(self) -> str:
        return self.table()

    def __repr__(self) -> str:
        return f"<{len(self)} kernels, {show_seconds(self.seconds)}>"

    def _repr_html_(self) -> str:
        def row(cells: Sequence[str], tag: str) -> str:
            return f"<tr>{''.join(f'<{tag}>{html.escape(cell)}</{tag}>' for cell in cells)}</tr>"

        body = "".join(row(cells, "td") for cells in self._rows(None))
        caption = "<br>".join(map(html.escape, self._summary(None)))
        return f"<table><caption>{caption}</caption>{row(_TITLES, 'th')}{body}</table>"

    def _rows(self, limit: int | None) -> list[tuple[str, ...]]:
        return [
            (
                show_seconds(kernel.seconds),
                f"{self.share(kernel):.1%}",
                str(kernel.calls),
                show_seconds(kernel.mean),
                kernel.name,
                kernel.function,
                kernel.location,
            )
            for kernel in self[:limit]
        ]

    def _summary(self, limit: int | None) -> list[str]:
        left = self[limit:] if limit is not None else ()
        lines = [f"{show_seconds(sum(kernel.seconds for kernel in left))} in {len(left)} more kernels"] if left else []
        lines.append(f"{show_seconds(self.seconds)} in {sum(kernel.calls for kernel in self)} runs of kernels")
        for call in self.functions:
            plural = "s" * (call.calls != 1)
            lines.append(f"{show_seconds(call.seconds)} in {call.calls} call{plural} of {call.function}")
        return lines


_TITLES = ("total", "share", "calls", "mean", "kernel", "in", "at")
_NUMBERS = 4
"""How many columns are numbers."""


def show_seconds(seconds: float) -> str:
    """A time with three digits and its unit: "1.23 ms"."""
    value, unit = next(
        ((seconds / scale, unit) for scale, unit in ((1.0, "s"), (1e-3, "ms")) if seconds >= 0.9995 * scale),
        (seconds / 1e-6, "µs"),
    )
    return f"{value:.3g} {unit}" if value < 999.5 else f"{value:.0f} {unit}"


@contextlib.contextmanager
def profile() -> Iterator[KernelTimes]:
    """Measures the kernels that run in a block, on CPUs and on Vulkan devices, in calls on all threads.

    >>> with profile() as times:
    ...     main(x)
    >>> print(times)

    The times are there when the block ends. Code need not be compiled for it, and exported folders are measured too.
    Times of calls at the same time on several threads add up. On a device, end the block with `device.synchronize()`:
    a kernel counts in the block in which the host has waited for it. Replayed calls (`Executable.captured`) are not
    measured there, and CUDA devices not at all.
    """
    times = KernelTimes()
    before = _read()
    change = library().relax_rt_profile
    begun: list[int] = []
    try:
        # One step of the interpreter, so that an interrupt comes before both the begin and its note, or after both.
        begun.extend(map(change, (ctypes.c_int32(1),)))
        yield times
    finally:
        if begun:
            change(ctypes.c_int32(-1))
        after = _read()
        found = []
        for key, (calls, nanoseconds) in after.items():
            calls_before, nanoseconds_before = before.get(key, (0, 0))
            if calls > calls_before:
                seconds = (nanoseconds - nanoseconds_before) / 1e9
                found.append(KernelTime(*key, calls - calls_before, seconds))
        times._set([one for one in found if one.name], [one for one in found if not one.name])


class _Times(ctypes.Structure):
    """RelaxTimes."""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_char_p),
        ("location", ctypes.c_char_p),
        ("calls", ctypes.c_int64),
        ("nanoseconds", ctypes.c_int64),
    ]


def _read() -> dict[tuple[str, str, str], tuple[int, int]]:
    """The sums since the process began: the number of runs and their nanoseconds by name, function and location."""
    after = library().relax_rt_times
    after.restype, after.argtypes = ctypes.POINTER(_Times), [ctypes.POINTER(_Times)]
    found = {}
    entry = after(None)
    while entry:
        times = entry.contents
        name, function, location = (
            text.decode(errors="replace") for text in (times.name, times.function, times.location)
        )
        found[name, function, location] = (times.calls, times.nanoseconds)
        entry = after(entry)
    return found

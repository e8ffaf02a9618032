# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The user's line for a node of a graph.

`torch.export` keeps a stack trace as text with each node, outermost frame first, frames of libraries included. The line
that a user can change is the last one outside of installed packages; where all of them are inside, the last one counts.
"""

from __future__ import annotations

import functools
import re
import sysconfig
from typing import Any

from ...location import SourceLocation

_FRAME = re.compile(r'^\s*File "(?P<file>[^"]+)", line (?P<line>\d+)(?:, in (?P<function>\S+))?', re.MULTILINE)

_INSTALLED = tuple({"/site-packages/", "/dist-packages/", sysconfig.get_path("stdlib") + "/"})


def location_of(node: Any) -> SourceLocation | None:
    """The user's line that made a node; None where the export kept no stack."""
    trace = node.meta.get("stack_trace")
    return _location(trace) if trace else None


@functools.lru_cache(maxsize=4096)
def _location(trace: str) -> SourceLocation | None:
    frames = [
        SourceLocation(match["file"], int(match["line"]), 0, match["function"] or "")
        for match in _FRAME.finditer(trace)
    ]
    own = [frame for frame in frames if not any(part in frame.file for part in _INSTALLED)]
    return next(iter(reversed(own or frames)), None)

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Chooses the cases of a normal test run.

Many op tests run for several targets, element types and combinations of options. A normal run takes a part of
them (`share_of`), and each commit takes another part, so that over time all of them run. The choice depends only on a
seed and the name of the case: all workers of a run agree on it, and `RELAX_TEST_SAMPLE=SEED` repeats it.
`RELAX_ALL_CASES=1` (`make test-all`) takes all cases.
"""

from __future__ import annotations

import os
import subprocess
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import pytest

_T = TypeVar("_T")

EVERYTHING = bool(os.environ.get("RELAX_ALL_CASES"))
MORE = 6
"""One in this number of the cases marked as `more` runs."""


def seed() -> str:
    """The seed of the choice: RELAX_TEST_SAMPLE, or else the commit of the checkout, or else "0"."""
    if chosen := os.environ.get("RELAX_TEST_SAMPLE"):
        return chosen
    command = ["git", "rev-parse", "--short=12", "HEAD"]
    try:
        done = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True)
    except OSError:
        return "0"
    return done.stdout.strip() or "0"


def part(items: Sequence[_T], share: int) -> Sequence[_T]:
    """One in `share` of the items, which differ with each commit; all items if all cases run."""
    return items if EVERYTHING else items[zlib.crc32(seed().encode()) % share :: share]


def share_of(item: pytest.Item) -> int:
    """The number of cases like this one of which a normal run takes one."""
    import targets

    name = item.callspec.params.get("target") if hasattr(item, "callspec") else None
    share = max(targets.SAMPLED.get(name, 1), getattr(item.module, "ONE_OF", 1))
    return max(share, MORE) if item.get_closest_marker("more") else share


def _group(item: pytest.Item) -> tuple[str | None, str]:
    """The group of which at least one case runs: one test on one target, or all tests on a rare target."""
    import targets

    name = item.callspec.params.get("target") if hasattr(item, "callspec") else None
    return name, "" if name in targets.RARE else item.nodeid.partition("[")[0]


def choose(items: Sequence[pytest.Item], chosen_by: str) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """Divides the cases into chosen and other cases."""

    def rank(item: pytest.Item) -> int:
        return zlib.crc32(f"{chosen_by} {item.nodeid}".encode())

    first: dict[tuple[str | None, str], pytest.Item] = {}
    for item in items:
        if item.get_closest_marker("more"):
            continue
        group = _group(item)
        if group not in first or rank(item) < rank(first[group]):
            first[group] = item
    least = set(map(id, first.values()))
    taken, others = [], []
    for item in items:
        is_taken = id(item) in least or rank(item) % share_of(item) == 0
        (taken if is_taken else others).append(item)
    return taken, others

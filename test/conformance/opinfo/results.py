# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The results of entries, and the file that stores them.

A result is a dictionary, one line of JSON in a file:

    entry     the name
    status    "pass", "fail", or "excluded", if PyTorch exports no sample of it
    reason    of a status other than "pass", in one line; "kind" is the kind of failure
    dtypes    for each element type how many samples there are, passed, were not exported, and have constant sizes
    failures  the samples that failed: element type, number, kind and reason
    seconds, time: how long it took, and when it ended
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

KINDS = {
    "pass": "the result is the same as eager's",
    "eager": "PyTorch does not run the sample",
    "export": "PyTorch does not export the sample",
    "wrong": "the result differs",
    "crash": "the process died",
    "time": "no result in time",
    "run": "an error where the program ran",
    "import": "an error while the program was imported or compiled",
    "missing": "an op has no converter",
}
"""The outcomes of a sample; failures are ordered from the most to the least severe."""

EXCLUDED = ("eager", "export")
"""Outcomes that are not counted, because PyTorch itself fails."""

OF_GROUPS = ("eager", "export", "crash", "time", "run", "import", "missing")
"""Outcomes that are reported for a whole group although a single sample may cause them."""

FAILED = tuple(kind for kind in KINDS if kind not in ("pass", *EXCLUDED))


def summarize(
    name: str,
    samples: Sequence[tuple[str, int]],
    outcomes: Mapping[Any, Any],
    problem: str,
    seconds: float,
    died: str | None = None,
) -> dict[str, Any]:
    """The result of an entry.

    Args:
      samples: element type and number of each.
      outcomes: the outcomes of the checked samples.
      problem: why there are no samples.
      died: "crash" or "time" if the process ended while it made the samples, which is a failure.
    """
    checked = [
        {"dtype": sample[0], "sample": sample[1], **outcomes[sample]} for sample in samples if sample in outcomes
    ]
    failures = [entry for entry in checked if entry["kind"] in FAILED]
    result: dict[str, Any] = {"entry": name, "status": "pass", "kind": "pass", "reason": ""}
    if failures:
        first = min(failures, key=lambda entry: FAILED.index(entry["kind"]))
        result.update(status="fail", kind=first["kind"], reason=f"{first['dtype']}: {first['reason']}")
    elif died is not None:
        result.update(status="fail", kind=died, reason=problem)
    elif not any(entry["kind"] == "pass" for entry in checked):
        reason = checked[0]["reason"] if checked else problem or "it has no samples on the CPU"
        result.update(status="excluded", kind="export", reason=reason)
    result["dtypes"] = _counts(samples, checked)
    result["failures"] = [{key: entry[key] for key in ("dtype", "sample", "kind", "reason")} for entry in failures]
    result.update(seconds=round(seconds, 1), time=round(time.time()))
    return result


def _counts(samples: Sequence[tuple[str, int]], checked: Sequence[Any]) -> dict[str, dict[str, int]]:
    counts: dict[str, dict[str, int]] = {}
    for dtype in dict.fromkeys(dtype for dtype, _ in samples):
        own = [entry for entry in checked if entry["dtype"] == dtype]
        counts[dtype] = {
            "samples": sum(sample[0] == dtype for sample in samples),
            "passed": sum(entry["kind"] == "pass" for entry in own),
            "excluded": sum(entry["kind"] in EXCLUDED for entry in own),
            "static": sum(bool(entry.get("is_static")) for entry in own),
        }
    return counts


def append(path: Path, result: Mapping[str, Any]) -> None:
    """Adds a line to a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(result) + "\n")


def read(paths: Iterable[Path]) -> dict[str, dict[str, Any]]:
    """The newest result of each entry. A line that an interrupted run left incomplete is ignored."""
    found: dict[str, dict[str, Any]] = {}
    for result in _lines(paths):
        known = found.get(result["entry"])
        if known is None or known["time"] <= result["time"]:
            found[result["entry"]] = result
    return dict(sorted(found.items()))


def _lines(paths: Iterable[Path]) -> Iterator[dict[str, Any]]:
    for path in paths:
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                yield json.loads(line)
            except ValueError:
                continue

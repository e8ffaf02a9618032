# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A process that checks groups of samples: each input line is a request in JSON, each output line a reply.

    {"entry": "abs"}                                             asks for the element types and the numbers of samples
    -> {"dtypes": [["float32", 12], ["int64", 12]]}
    {"entry": "abs", "samples": [["float32", 0]]}                checks these samples in one program
    -> {"outcomes": [{"kind": "pass", "reason": "", "is_static": false}, …]}

The output of PyTorch and of compiled code goes to stderr. A sample may crash the process; the pool then starts another
one.
"""

from __future__ import annotations

import dataclasses
import json
import logging
import os
import sys
import warnings
from typing import Any, TextIO

import torch

from .entries import all_entries, dtype_name
from .modes import Mode, find_mode


def answer(mode: Mode, request: dict[str, Any], known: dict[Any, Any]) -> dict[str, Any]:
    """The reply to a request. `known` caches the samples of the most recently requested entry."""
    entry = all_entries()[request["entry"]]
    if entry.name not in known:
        known.clear()
        known[entry.name] = {dtype_name(dtype): mode.samples(entry, dtype) for dtype in mode.dtypes(entry)}
    samples = known[entry.name]
    if "samples" not in request:
        return {"dtypes": [[name, len(found)] for name, found in samples.items()]}
    chosen = [samples[dtype][index] for dtype, index in request["samples"]]
    return {"outcomes": [dataclasses.asdict(outcome) for outcome in mode.check(entry, chosen)]}


def serve(mode: Mode, requests: TextIO, replies: TextIO) -> None:
    """Answers until the input ends."""
    known: dict[Any, Any] = {}
    for line in requests:
        try:
            reply = answer(mode, json.loads(line), known)
        except Exception as error:  # of the samples themselves
            reply = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(reply), file=replies, flush=True)


def main() -> None:
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    warnings.simplefilter("ignore")
    logging.disable(logging.ERROR)
    torch.set_num_threads(1)
    serve(find_mode(sys.argv[1]), sys.stdin, replies)


if __name__ == "__main__":
    main()

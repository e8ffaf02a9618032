# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Texts that end an answer."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence

from ..errors import RelaxError


def check_stop(stop: Sequence[str]) -> None:
    """Rejects stop strings that no answer can be compared with.

    Raises:
      RelaxError: `stop` is not a list of texts, or one of them is empty.
    """
    if isinstance(stop, str) or not all(isinstance(text, str) and text for text in stop):
        raise RelaxError(f"stop is {stop!r}; expected a list of texts, none of them empty")


def until(pieces: Iterable[str], stop: Sequence[str]) -> Generator[str, None, bool]:
    """The text of the pieces before the stop string that is complete first, in pieces, and whether there is one.

    A text that may be the beginning of a stop string is held until the next pieces show whether it is.
    """
    held = ""
    for piece in pieces:
        held += piece
        if found := [(at + len(text), at) for text in stop if (at := held.find(text)) >= 0]:
            if before := held[: min(found)[1]]:
                yield before
            return True
        begun = max((n for text in stop for n in range(1, len(text)) if held.endswith(text[:n])), default=0)
        sure = len(held) - begun
        if sure:
            yield held[:sure]
        held = held[sure:]
    if held:
        yield held
    return False

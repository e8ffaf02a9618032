# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Texts that end an answer."""

import random

import pytest

from relax_mlir import RelaxError
from relax_mlir.models.stopping import check_stop, until


def collect(pieces, stop):
    """The pieces that come through, and whether a stop string was found."""
    found, generator = [], until(iter(pieces), stop)
    while True:
        try:
            found.append(next(generator))
        except StopIteration as end:
            return found, end.value


@pytest.mark.parametrize(
    "pieces, stop, expected, is_found",
    [
        (["a", "b"], [], ["a", "b"], False),
        (["ab", "cd"], ["bc"], ["a"], True),
        (["a", "b", "x"], ["bc"], ["a", "bx"], False),
        (["a", "b"], ["bc"], ["a", "b"], False),  # the beginning of one at the end of the text
        (["aab"], ["ab"], ["a"], True),
        (["a", "a", "b"], ["ab"], ["a"], True),
        (["one two"], ["two", "ne"], ["o"], True),
        (["aba"], ["aba", "b"], ["a"], True),  # the one that is complete first
        (["aba"], ["ba", "aba"], [], True),
        (["abc"], ["abc"], [], True),
    ],
)
def test_until(pieces, stop, expected, is_found):
    assert collect(pieces, stop) == (expected, is_found)


# However a text is cut into pieces, it ends before the first stop string, and none of it is held without need.
def test_pieces():
    generator = random.Random(0)
    for _ in range(500):
        text = "".join(generator.choices("ab", k=12))
        stop = ["".join(generator.choices("ab", k=generator.randint(1, 4))) for _ in range(2)]
        pieces, rest = [], text
        while rest:
            size = generator.randint(1, 4)
            pieces.append(rest[:size])
            rest = rest[size:]
        places = [(text.find(part) + len(part), text.find(part)) for part in stop if part in text]
        found, is_found = collect(pieces, stop)
        assert ("".join(found), is_found) == (text[: min(places)[1]] if places else text, bool(places))


# Nothing is read beyond the piece that completes a stop string.
def test_no_piece_too_many():
    pieces = iter(["a", "b", "c"])
    assert collect(pieces, ["b"]) == (["a"], True)
    assert next(pieces) == "c"


@pytest.mark.parametrize("stop", ["text", [""], ["a", ""], [1]])
def test_wrong(stop):
    with pytest.raises(RelaxError, match="stop is .*; expected a list of texts"):
        check_stop(stop)

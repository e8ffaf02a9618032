# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Text, which is worked on while importing: its elements are constants, or inputs that a program is made for."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from .... import op
from ....symbolic import ExprLike
from ....values import Value
from .. import dtypes
from ..data import Data
from ..known import each, rule
from ..lowering import Lowering
from ..registry import register


def _text(elements: Any, shape: tuple[int, ...]) -> Data:
    made = np.empty(len(elements), object)
    made[:] = elements
    return Data(dtypes.STRING, made.reshape(shape))


@rule("StringConcat")
def concat(ctx: Lowering, lhs: Data, rhs: Data) -> Data:
    return Data(dtypes.STRING, each(lambda a, b: a + b, lhs.elements, rhs.elements))


@rule("RegexFullMatch")
def full_match(ctx: Lowering, x: Data) -> Data:
    try:
        pattern = re.compile(ctx.text("pattern"))
    except re.error as error:
        raise ctx.unsupported(f"the pattern is not valid: {error}", "pattern") from None
    flat = [pattern.fullmatch(text) is not None for text in x.elements.reshape(-1)]
    return Data("bool", np.asarray(flat, bool).reshape(x.shape))


@rule("StringSplit")
def split(ctx: Lowering, x: Data) -> list[Data]:
    """The parts of each text, padded with empty ones to the longest, and how many there are."""
    delimiter, most = ctx.text("delimiter", "") or None, ctx.int("maxsplit", -1)
    parts = [text.split(delimiter, most) for text in x.elements.reshape(-1)]
    longest = max(map(len, parts), default=0)
    flat = [part for row in parts for part in [*row, *[""] * (longest - len(row))]]
    counts = np.asarray(list(map(len, parts)), np.int64).reshape(x.shape)
    return [_text(flat, (*x.shape, longest)), Data("i64", counts)]


@rule("StringNormalizer")
def normalize(ctx: Lowering, x: Data) -> Data:
    """Text without stop words, in one case; nothing left gives one empty text."""
    action, sensitive = ctx.text("case_change_action", "NONE"), bool(ctx.int("is_case_sensitive", 0))
    if action not in ("NONE", "LOWER", "UPPER"):
        raise ctx.unsupported(f"the action '{action}'", "case_change_action")
    if x.ndim not in (1, 2):
        ctx.fail(f"text of rank {x.ndim}; expected rank 1, or rank 2 with one row")
    stops = ctx.attribute("stopwords", [])
    stops = set(stops if sensitive else map(str.lower, stops))
    texts = [text for text in x.elements.reshape(-1) if (text if sensitive else text.lower()) not in stops]
    changes: dict[str, Callable[[str], str]] = {"NONE": str, "LOWER": str.lower, "UPPER": str.upper}
    change = changes[action]
    texts = [change(text) for text in texts] or [""]
    return _text(texts, (len(texts),) if x.ndim == 1 else (1, len(texts)))


def _pool(ctx: Lowering) -> list[tuple[int, ...]]:
    """The n-grams, each as a tuple of its parts, in the order of the attribute."""
    items = ctx.attribute("pool_int64s", None)
    if items is None:
        items = ctx.attribute("pool_strings")
    starts = ctx.ints("ngram_counts")
    grams = []
    for length, (start, end) in enumerate(zip(starts, [*starts[1:], len(items)]), 1):
        grams += [tuple(items[at : at + length]) for at in range(start, end, length)]
    return grams


@register("TfIdfVectorizer")
def tf_idf(ctx: Lowering, x: Value) -> Value:
    """How often each n-gram occurs in a row, with up to some places skipped between its parts."""
    grams = _pool(ctx)
    shortest, longest = ctx.int("min_gram_length"), ctx.int("max_gram_length")
    indexes, mode = ctx.ints("ngram_indexes"), ctx.text("mode")
    if mode not in ("TF", "IDF", "TFIDF"):
        raise ctx.unsupported(f"the mode '{mode}'", "mode")
    rows = op.astype(op.expand_dims(x, [0]) if x.ndim == 1 else x, "i64")
    count, width = rows.shape
    columns: list[Value | None] = [None] * (max(indexes) + 1)
    weights = ctx.attribute("weights", [1.0] * len(grams))
    factors = [1.0] * len(columns)
    for gram, index, weight in zip(grams, indexes, weights):
        factors[index] = weight
        if shortest <= len(gram) <= longest:
            columns[index] = _occurrences(ctx, rows, gram, width)
    zero = op.zeros((count,), "f32")
    made = op.stack([zero if column is None else column for column in columns], 1)
    factor = op.constant(np.asarray(factors, np.float32))
    if mode == "IDF":
        made = op.astype(op.greater(made, ctx.scalar(0, "f32")), "f32")
    if mode != "TF":
        made = op.multiply(made, factor)
    return op.reshape(made, (len(columns),)) if x.ndim == 1 else made


def _occurrences(ctx: Lowering, rows: Value, gram: tuple[int, ...], width: ExprLike) -> Value:
    total = None
    skips = range(1) if len(gram) == 1 else range(ctx.int("max_skip_count") + 1)
    for skip in skips:
        step = skip + 1
        reach = (len(gram) - 1) * step
        # Behind the end there is nothing; a number that no part is stands there.
        padded = op.pad(rows, [0, 0, 0, reach], pad_value=max(gram) + 1)
        found: Value | None = None
        for place, part in enumerate(gram):
            piece = op.strided_slice(padded, [1], [place * step], [width + place * step])
            same = op.equal(piece, ctx.scalar(part, "i64"))
            found = same if found is None else op.logical_and(found, same)
        assert found is not None  # a gram has at least one part
        counted = op.sum(op.astype(found, "f32"), [1])
        total = counted if total is None else op.add(total, counted)
    assert total is not None
    return total


@rule("TfIdfVectorizer")
def tf_idf_of_text(ctx: Lowering, x: Data) -> Data | None:
    """Of text, by its place in the pool."""
    if x.dtype != dtypes.STRING:
        return None
    words = {word: place for place, word in enumerate(dict.fromkeys(ctx.attribute("pool_strings")))}
    made = np.asarray([words.get(text, -1) for text in x.elements.reshape(-1)], np.int64)
    ctx.node.attributes["pool_int64s"] = [words[word] for word in ctx.attribute("pool_strings")]
    value = tf_idf(ctx, op.constant(made.reshape(x.shape)))
    return Data("f32", value=value)

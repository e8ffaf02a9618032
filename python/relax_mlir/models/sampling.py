# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The next token, from logits."""

from __future__ import annotations

import dataclasses
import math
import operator
from collections.abc import Sequence

import numpy as np

from ..errors import RelaxError


@dataclasses.dataclass(frozen=True)
class Sampling:
    """Sampling parameters. A temperature of 0 takes the most likely token, and the filters have no effect.

    First, the logits of tokens that the sequence has already, in its prompt or its answer, are divided by
    `repetition_penalty` if they are positive, and multiplied by it if not (arXiv 1909.05858): more than 1 makes
    repetitions less likely.

    The logits are divided by the temperature. Then three filters apply in turn: `top_k` keeps that number of the most
    likely tokens (0: all), `top_p` the fewest whose probabilities reach that sum, and `min_p` those that are at least
    that fraction as likely as the first. The same seed gives the same tokens; without a seed, they differ.
    """

    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    seed: int | None = None
    repetition_penalty: float = 1.0

    def __post_init__(self) -> None:
        for name, valid, expected in (
            ("temperature", lambda value: math.isfinite(value) and value >= 0, "a number from 0"),
            ("top_k", lambda value: operator.index(value) >= 0, "a number of tokens, or 0 for all"),
            ("top_p", lambda value: 0 < value <= 1, "more than 0 and at most 1"),
            ("min_p", lambda value: 0 <= value <= 1, "from 0 to 1"),
            ("seed", lambda value: value is None or operator.index(value) >= 0, "an integer from 0"),
            ("repetition_penalty", lambda value: math.isfinite(value) and value > 0, "a positive number"),
        ):
            value = getattr(self, name)
            try:
                holds = valid(value)
            except (TypeError, ValueError, OverflowError):
                holds = False
            if not holds:
                raise RelaxError(f"{name} is {value!r}; expected {expected}")


class Sampler:
    """Samples tokens for the sequences of a batch, each with its own random generator."""

    def __init__(self, sampling: Sampling, batch: int = 1, prompts: Sequence[Sequence[int]] | None = None) -> None:
        """`prompts`: the tokens that each sequence has already, which the repetition penalty concerns."""
        self._sampling = sampling
        self._seen = [set(tokens) for tokens in prompts or [()] * batch]
        sequences = np.random.SeedSequence(sampling.seed).spawn(batch)
        self._generators = [np.random.default_rng(sequence) for sequence in sequences]

    def __call__(self, logits: np.ndarray) -> np.ndarray:
        """The next token of each sequence, from logits [b, vocab]: i64 [b]."""
        if logits.ndim != 2 or len(logits) != len(self._generators):
            raise RelaxError(f"expected logits of shape [{len(self._generators)}, vocab], got {list(logits.shape)}")
        if not np.isfinite(logits.max(-1)).all():  # the maximum is NaN if any element is
            raise RelaxError("the logits hold NaN or infinity: no token can be drawn from them")
        is_penalized = self._sampling.repetition_penalty != 1
        if is_penalized:
            logits = self._penalize(logits)
        if self._sampling.temperature == 0:
            drawn = logits.argmax(-1).astype(np.int64)
        else:
            drawn = np.array([self._draw(row, rng) for row, rng in zip(logits, self._generators)], np.int64)
        if is_penalized:
            for tokens, token in zip(self._seen, drawn):
                tokens.add(int(token))
        return drawn

    def _penalize(self, logits: np.ndarray) -> np.ndarray:
        """The logits with those of tokens that a sequence has already changed."""
        result, penalty = logits.astype(np.float64), self._sampling.repetition_penalty
        for row, tokens in zip(result, self._seen):
            ids = list(tokens)
            values = row[ids]
            row[ids] = np.where(values > 0, values / penalty, values * penalty)
        return result

    def _draw(self, logits: np.ndarray, generator: np.random.Generator) -> int:
        ids, probabilities = candidates(logits, self._sampling)
        # The position of a random number in the running sum; rounding of the sum must not lead past the end.
        total = np.cumsum(probabilities)
        place = np.searchsorted(total, generator.random() * total[-1], side="right")
        return int(ids[min(place, len(ids) - 1)])


def candidates(logits: np.ndarray, sampling: Sampling) -> tuple[np.ndarray, np.ndarray]:
    """The candidate tokens, the most likely first, and their probabilities."""
    values = logits.astype(np.float64)
    ids = np.arange(len(values))
    if 0 < sampling.top_k < len(values):
        ids = np.argpartition(values, -int(sampling.top_k))[-int(sampling.top_k) :]
    ids = ids[np.argsort(-values[ids], kind="stable")]
    # The largest logit is subtracted before the division, so that a low temperature does not overflow.
    weights = np.exp((values[ids] - values[ids[0]]) / sampling.temperature)
    probabilities = weights / weights.sum()
    if sampling.top_p < 1:
        count = int(np.searchsorted(np.cumsum(probabilities), sampling.top_p)) + 1
        ids, probabilities = ids[:count], probabilities[:count]
    if sampling.min_p > 0:
        count = int(np.count_nonzero(probabilities >= sampling.min_p * probabilities[0]))
        ids, probabilities = ids[:count], probabilities[:count]
    return ids, probabilities / probabilities.sum()

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sampling tokens from logits."""

import json
from pathlib import Path

import numpy as np
import pytest

from relax_mlir import RelaxError
from relax_mlir.models import Sampler, Sampling
from relax_mlir.models.sampling import candidates

RECORD = json.loads((Path(__file__).parent / "references" / "sampling.json").read_text(encoding="utf-8"))

LOGITS = np.log(np.array([0.1, 0.4, 0.05, 0.25, 0.2], np.float32))


# Greedy takes the largest logit, the first of several.
def test_greedy():
    logits = np.array([[1, 3, 2, 3], [0, 0, 0, 0]], np.float32)
    assert Sampler(Sampling(), 2)(logits).tolist() == [1, 0]


@pytest.mark.parametrize(
    "sampling, ids",
    [
        (Sampling(1.0), [1, 3, 4, 0, 2]),
        (Sampling(1.0, top_k=2), [1, 3]),
        (Sampling(1.0, top_k=99), [1, 3, 4, 0, 2]),
        (Sampling(1.0, top_p=0.6), [1, 3]),
        (Sampling(1.0, top_p=0.66), [1, 3, 4]),
        (Sampling(1.0, top_p=1e-9), [1]),
        (Sampling(1.0, min_p=0.49), [1, 3, 4]),
        (Sampling(1.0, min_p=1.0), [1]),
        # A low temperature makes the first token so likely that its probability alone reaches the sum.
        (Sampling(0.1, top_p=0.9), [1]),
        (Sampling(1.0, top_k=3, top_p=0.8, min_p=0.6), [1, 3]),
    ],
)
def test_candidates(sampling, ids):
    found, probabilities = candidates(LOGITS, sampling)
    assert found.tolist() == ids
    expected = np.exp(LOGITS[ids].astype(np.float64) / sampling.temperature)
    np.testing.assert_allclose(probabilities, expected / expected.sum())


# A sum that is reached exactly needs no further token.
def test_sum_that_is_reached():
    found, probabilities = candidates(np.log([0.5, 0.25, 0.25]), Sampling(1.0, top_p=0.5))
    assert found.tolist() == [0] and probabilities.tolist() == [1.0]


# The penalty divides positive logits and multiplies others, of tokens in the prompt and of drawn ones, by sequence.
def test_repetition_penalty():
    logits = np.array([[4, 3, -1, -2], [4, 3, -1, -2]], np.float32)
    sampler = Sampler(Sampling(repetition_penalty=2.0), 2, [[0], []])
    assert [sampler(logits).tolist() for _ in range(3)] == [[1, 0], [0, 1], [0, 0]]
    # 4 / 8 and 3 / 8 are still more than the logits of tokens that were never seen.
    sampler = Sampler(Sampling(repetition_penalty=8.0), 1, [[0, 1, 2]])
    assert sampler(np.array([[4, 3, -1, 0.4]], np.float32)).tolist() == [0]
    assert sampler(np.array([[-4, -3, -1, -7]], np.float32)).tolist() == [3]
    drawn = Sampler(Sampling(1.0, seed=0, repetition_penalty=1e9), 500, [[0, 1, 2]] * 500)
    assert set(drawn(np.tile(np.float32([9, 9, 9, 0.1]), (500, 1))).tolist()) == {0, 1, 2, 3}
    assert (logits == np.float32([4, 3, -1, -2])).all(), "the caller's logits were changed"


# Tokens are as frequent as their probabilities.
def test_frequencies():
    sampler = Sampler(Sampling(1.0, seed=1), 4000)
    drawn = sampler(np.tile(LOGITS, (4000, 1)))
    np.testing.assert_allclose(np.bincount(drawn, minlength=5) / 4000, np.exp(LOGITS), atol=0.03)


# The seed decides; a sequence is sampled the same, whatever else is in the batch.
def test_seed():
    logits = np.random.default_rng(0).standard_normal((3, 50)).astype(np.float32)

    def draw(seed, batch):
        sampler = Sampler(Sampling(2.0, seed=seed), batch)
        return [sampler(logits[:batch]).tolist() for _ in range(20)]

    assert draw(1, 3) == draw(1, 3) != draw(2, 3)
    assert [step[:2] for step in draw(1, 3)] == draw(1, 2)


# The candidates and their probabilities match transformers (references/), for all combinations.
@pytest.mark.parametrize("case", RECORD["cases"], ids=lambda case: "-".join(map(str, case["options"].values())))
def test_candidates_of_transformers(case):
    found, probabilities = candidates(np.array(RECORD["logits"]), Sampling(**case["options"]))
    assert found.tolist() == case["ids"]
    np.testing.assert_allclose(probabilities, case["probabilities"], rtol=1e-6, atol=1e-9)


# Logits at the limits of floats: the same equally likely candidates at any temperature.
# (At the largest one, 3e38 above another is still infinitely more likely.)
@pytest.mark.parametrize(
    "row, drawn",
    [
        ([-np.inf, 0, -np.inf], {1}),
        ([3e38, -3e38, 0], {0}),
        ([-3e38, -3e38, -3e38], {0, 1, 2}),
        ([3e38, 3e38, -np.inf], {0, 1}),
        ([1e-45, -1e-45, 0], {0, 1, 2}),
    ],
)
@pytest.mark.parametrize("temperature", [0.0, 1e-3, 1.0, 100.0])
def test_extreme_logits(row, drawn, temperature):
    logits = np.tile(np.array(row, np.float32), (200, 1))
    found = Sampler(Sampling(temperature, seed=0), 200)(logits)
    assert set(found.tolist()) == ({int(np.argmax(row))} if temperature == 0 else drawn)
    if temperature:
        ids, probabilities = candidates(logits[0], Sampling(temperature))
        likely = dict(zip(ids.tolist(), probabilities.tolist()))
        assert [likely[i] for i in range(3)] == [1 / len(drawn) if i in drawn else 0 for i in range(3)]


@pytest.mark.parametrize("row", [[0, np.nan], [np.nan, 0], [np.inf, 0], [-np.inf, -np.inf]])
@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_no_numbers(row, temperature):
    with pytest.raises(RelaxError, match="the logits hold NaN or infinity: no token can be drawn from them"):
        Sampler(Sampling(temperature))(np.array([row], np.float32))


@pytest.mark.parametrize(
    "options",
    [
        {"temperature": -1},
        {"temperature": float("nan")},
        {"top_k": -1},
        {"top_p": 0},
        {"top_p": 1.5},
        {"min_p": -0.1},
        {"seed": -1},
        {"repetition_penalty": 0},
        {"repetition_penalty": float("inf")},
    ],
)
def test_wrong_options(options):
    with pytest.raises(RelaxError, match=f"{next(iter(options))} is .*; expected"):
        Sampling(**options)

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Records sampling.json: the candidate tokens and their probabilities, as transformers computes them.

pip install torch==2.13.0 transformers==5.24.0
python test/python/references/record_sampling.py
"""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import torch
import transformers

HERE = Path(__file__).resolve().parent


def main() -> None:
    logits = np.random.default_rng(0).normal(0, 2.5, 40).round(3).tolist()
    cases = []
    values = itertools.product((1.0, 0.3, 2.5), (0, 1, 7), (1.0, 0.9, 0.4), (0.0, 0.05, 0.5))
    for temperature, top_k, top_p, min_p in values:
        # In the order in which `generate` applies them.
        steps = [transformers.TemperatureLogitsWarper(temperature)] if temperature != 1 else []
        steps += [transformers.TopKLogitsWarper(top_k)] if top_k else []
        steps += [transformers.TopPLogitsWarper(top_p)] if top_p < 1 else []
        steps += [transformers.MinPLogitsWarper(min_p)] if min_p else []
        scores = torch.tensor([logits], dtype=torch.float64)
        for step in steps:
            scores = step(None, scores)
        probabilities = scores.softmax(-1)[0]
        ids = [i for i in probabilities.argsort(descending=True).tolist() if probabilities[i] > 0]
        options = {"temperature": temperature, "top_k": top_k, "top_p": top_p, "min_p": min_p}
        cases.append(
            {"options": options, "ids": ids, "probabilities": [round(float(probabilities[i]), 9) for i in ids]}
        )
    record = {
        "by": f"record_sampling.py with transformers {transformers.__version__}",
        "logits": logits,
        "cases": cases,
    }
    (HERE / "sampling.json").write_text(json.dumps(record, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

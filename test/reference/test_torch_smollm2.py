# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Greedy decoding of an exported SmolLM2 gives the same tokens as transformers, on 20 prompts."""

import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="PyTorch is not installed; `make reference` installs it")
pytest.importorskip("transformers", reason="`make reference` installs transformers")

sys.path.insert(0, str(Path(__file__).parents[1] / "python" / "frontends" / "pytorch"))

from smollm2 import Compared  # noqa: E402
from test_smollm2 import PROMPTS  # noqa: E402


def test_greedy_decoding():
    Compared().check(PROMPTS, 24)

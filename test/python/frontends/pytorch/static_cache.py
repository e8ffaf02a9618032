# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An exported decoder of transformers that takes its static cache as inputs, and greedy decoding with it."""

from __future__ import annotations

from typing import Any

import torch
from transformers.cache_utils import StaticCache

from relax_mlir.frontends import torch as relax_torch


class Step(torch.nn.Module):
    """`logits(input_ids [b, n], position [], keys, values)`, which writes `n` tokens at the position into the caches.

    Keys and values have a tensor `[b, heads, capacity, size]` for each layer.
    """

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(
        self, input_ids: torch.Tensor, position: torch.Tensor, keys: list[torch.Tensor], values: list[torch.Tensor]
    ) -> torch.Tensor:
        cache = StaticCache(config=self.model.config, max_cache_len=keys[0].shape[2])
        for layer, key, value in zip(cache.layers, keys, values):
            layer.keys, layer.values, layer.is_initialized = key, value, True
            layer.cumulative_length = position.clone()
            layer.dtype, layer.device, layer.max_batch_size = key.dtype, key.device, key.shape[0]
            layer.max_cache_len = key.shape[2]
        positions = position + torch.arange(input_ids.shape[1])
        return self.model(input_ids, past_key_values=cache, position_ids=positions[None]).logits


def caches(model: Any, batch: int, capacity: int) -> list[torch.Tensor]:
    """Empty keys or values of all layers."""
    config = model.config
    size = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    shape = (batch, config.num_key_value_heads, capacity, size)
    return [torch.zeros(shape) for _ in range(config.num_hidden_layers)]


def program(model: Any, batch: Any, capacity: Any, length: Any = "length") -> relax_torch.Program:
    """The exported step; a size given as text is dynamic, with that name."""
    sizes = {axis: size for axis, size in ((0, batch), (2, capacity)) if isinstance(size, str)}
    shapes = {
        "input_ids": {axis: size for axis, size in ((0, batch), (1, length)) if isinstance(size, str)},
        "position": None,
        "keys": [sizes] * model.config.num_hidden_layers,
        "values": [sizes] * model.config.num_hidden_layers,
    }
    rows = 3 if isinstance(batch, str) else batch
    cache = [caches(model, rows, 17 if isinstance(capacity, str) else capacity) for _ in range(2)]
    example = (torch.randint(3, 100, (rows, 5)), torch.tensor(0), *cache)
    return relax_torch.export(Step(model).eval(), example, dynamic_shapes=shapes)


def decode(run: relax_torch.CompiledProgram, model: Any, tokens: list[int], count: int, capacity: int) -> list[int]:
    """The most likely tokens after a prompt."""
    keys, values = caches(model, 1, capacity), caches(model, 1, capacity)
    found, position, given = [], 0, tokens
    for _ in range(count):
        logits = run(torch.tensor([given]), torch.tensor(position), keys, values)
        position += len(given)
        given = [int(logits[0, -1].argmax())]
        found += given
    return found

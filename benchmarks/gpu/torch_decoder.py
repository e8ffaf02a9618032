# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An idiomatic PyTorch decoder of the Llama family, with a static cache that is written in place."""

from __future__ import annotations

from collections.abc import Mapping

import torch
import torch.nn.functional as F


class Decoder(torch.nn.Module):
    """`forward(tokens [b, n], places [b, n])` returns the logits that follow the last token, `[b, vocabulary]` in f32.

    A single token of each sequence attends to all `rows` of the cache, and masks rows after its place. Several tokens
    are a prompt that begins at row 0: they attend to one another causally, without a mask tensor.
    """

    def __init__(
        self,
        weights: Mapping[str, torch.Tensor],
        layers: int,
        heads: int,
        key_heads: int,
        size: int,
        tied: bool,
        batch: int,
        rows: int,
    ) -> None:
        super().__init__()
        self.weights = dict(weights)
        self.layers, self.heads, self.key_heads, self.size, self.tied = layers, heads, key_heads, size, tied
        shape = (batch, key_heads, rows, size)
        make = lambda: [torch.zeros(shape, device="cuda", dtype=torch.bfloat16) for _ in range(layers)]  # noqa: E731
        self.keys, self.values = make(), make()
        # torch.compile's graphs may update static tensors in place, and read them without copying.
        for tensor in (*self.keys, *self.values, *self.weights.values()):
            torch._dynamo.mark_static_address(tensor)

    def weight(self, layer: int, name: str) -> torch.Tensor:
        return self.weights[f"model.layers.{layer}.{name}.weight"]

    def norm(self, x: torch.Tensor, gain: torch.Tensor) -> torch.Tensor:
        wide = x.float()
        return (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-5)).to(x.dtype) * gain

    def turn(self, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        first, second = x.float().chunk(2, -1)
        return torch.cat([first * cos - second * sin, second * cos + first * sin], -1).to(x.dtype)

    def forward(self, tokens: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        count, length = tokens.shape
        is_prompt = length > 1
        embedding = self.weights["model.embed_tokens.weight"]
        x = embedding[tokens]
        pairs = torch.arange(0, self.size, 2, device="cuda").float() / self.size
        angles = places[..., None, None].float() * 10000.0**-pairs
        cos, sin = angles.cos(), angles.sin()
        rows = self.keys[0].shape[2]
        seen = None if is_prompt else torch.arange(rows, device="cuda") <= places[:, None, :, None]
        sequences = torch.arange(count, device="cuda")[:, None]
        for layer in range(self.layers):
            h = self.norm(x, self.weight(layer, "input_layernorm"))
            q = (h @ self.weight(layer, "self_attn.q_proj").T).view(count, length, self.heads, self.size)
            k = (h @ self.weight(layer, "self_attn.k_proj").T).view(count, length, self.key_heads, self.size)
            v = (h @ self.weight(layer, "self_attn.v_proj").T).view(count, length, self.key_heads, self.size)
            q, k = self.turn(q, cos, sin).transpose(1, 2), self.turn(k, cos, sin)
            keys, values = self.keys[layer], self.values[layer]
            if is_prompt:
                keys[:, :, :length], values[:, :, :length] = k.transpose(1, 2), v.transpose(1, 2)
                keys, values = k.transpose(1, 2), v.transpose(1, 2)
            else:
                keys[sequences, :, places] = k
                values[sequences, :, places] = v
            a = F.scaled_dot_product_attention(q, keys, values, seen, is_causal=is_prompt, enable_gqa=True)
            x = x + a.transpose(1, 2).reshape(count, length, -1) @ self.weight(layer, "self_attn.o_proj").T
            h = self.norm(x, self.weight(layer, "post_attention_layernorm"))
            gated = F.silu(h @ self.weight(layer, "mlp.gate_proj").T) * (h @ self.weight(layer, "mlp.up_proj").T)
            x = x + gated @ self.weight(layer, "mlp.down_proj").T
        head = embedding if self.tied else self.weights["lm_head.weight"]
        return (self.norm(x[:, -1], self.weights["model.norm.weight"]) @ head.T).float()

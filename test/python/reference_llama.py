# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The decoder in NumPy: the reference for the compiled one, and its substitute where only its calls matter."""

from __future__ import annotations

import numpy as np

from relax_mlir.models.checkpoint import Checkpoint
from relax_mlir.models.config import LlamaConfig


def _rms_norm(x: np.ndarray, weight: np.ndarray, epsilon: float) -> np.ndarray:
    return x / np.sqrt(np.mean(x * x, -1, keepdims=True) + np.float32(epsilon)) * weight


def _softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


class ReferenceLlama:
    """Has the call interface of a compiled program: `reference["forward"](tokens, start, keys, values, t)`."""

    def __init__(self, config: LlamaConfig, checkpoint: Checkpoint) -> None:
        self.config = config
        self.weights = {name: checkpoint.tensor(name).dense() for name in checkpoint.names()}

    def __getitem__(self, name: str):
        return getattr(self, name)

    def forward(self, tokens, start, keys, values, past):
        return self.forward_all(tokens, start, keys, values, past)[:, -1]

    def forward_all(self, tokens, start, keys, values, past):
        config, weights = self.config, self.weights
        assert past + tokens.shape[1] <= keys.shape[4]
        x = weights["model.embed_tokens.weight"][tokens]
        for layer in range(config.num_layers):
            path = f"model.layers.{layer}"
            normed = _rms_norm(x, weights[f"{path}.input_layernorm.weight"], config.rms_norm_eps)
            x = x + self._attention(
                normed, f"{path}.self_attn", start, keys[layer].transpose(0, 3, 1, 2), values[layer], past
            )
            normed = _rms_norm(x, weights[f"{path}.post_attention_layernorm.weight"], config.rms_norm_eps)
            gate, up = self._linear(normed, f"{path}.mlp.gate_proj"), self._linear(normed, f"{path}.mlp.up_proj")
            x = x + self._linear(gate / (1 + np.exp(-gate)) * up, f"{path}.mlp.down_proj")
        x = _rms_norm(x, weights["model.norm.weight"], config.rms_norm_eps)
        return self._linear(x, "model.embed_tokens" if config.tie_embeddings else "lm_head")

    def _linear(self, x, path):
        y = x @ self.weights[f"{path}.weight"].T
        bias = self.weights.get(f"{path}.bias")
        return y if bias is None else y + bias

    def _attention(self, x, path, start, keys, values, past):
        config = self.config
        batch, length, _ = x.shape
        q = self._linear(x, f"{path}.q_proj").reshape(batch, length, config.num_heads, config.head_dim)
        k, v = (
            self._linear(x, f"{path}.{name}").reshape(batch, length, config.num_kv_heads, config.head_dim)
            for name in ("k_proj", "v_proj")
        )
        if config.qk_norm:
            q = _rms_norm(q, self.weights[f"{path}.q_norm.weight"], config.rms_norm_eps)
            k = _rms_norm(k, self.weights[f"{path}.k_norm.weight"], config.rms_norm_eps)
        positions = np.arange(past, past + length)
        keys[:, past : past + length] = self._turned(k, positions)
        values[:, past : past + length] = v
        seen = keys[:, : past + length].repeat(config.group, 2)
        scores = np.einsum("bihd,bjhd->bhij", self._turned(q, positions), seen) / np.sqrt(np.float32(config.head_dim))
        rows = np.arange(past + length)
        hidden = (rows > positions[:, None]) | (rows < np.asarray(start)[:, None, None])
        weights = _softmax(np.where(hidden[:, None], np.float32(-1e30), scores))
        attended = np.einsum("bhij,bjhd->bihd", weights, values[:, : past + length].repeat(config.group, 2))
        return self._linear(attended.reshape(batch, length, -1), f"{path}.o_proj")

    def _turned(self, x, positions):
        config = self.config
        size = config.rope_dim or config.head_dim
        angles = config.rope_theta ** (-np.arange(0, size, 2, dtype=np.float64) / size) * config.rope_scale
        if config.rope_factors:
            angles = angles / np.array(config.rope_factors)
        angles = positions[:, None] * angles
        cos, sin = (f(angles).astype(np.float32)[:, None] for f in (np.cos, np.sin))
        y = x.copy()
        if config.rope_layout == "interleaved":
            first, second = slice(0, size, 2), slice(1, size, 2)
        else:
            first, second = slice(0, size // 2), slice(size // 2, size)
        y[..., first] = x[..., first] * cos - x[..., second] * sin
        y[..., second] = x[..., first] * sin + x[..., second] * cos
        return y

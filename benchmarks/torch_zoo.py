# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch models for `torch_models.py`: small models of each family, with random weights.

Each entry of `ZOO` creates a model and a function from batch and length to its input tensors. The axes that depend on
these two are dynamic.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import nn


class Entry(NamedTuple):
    """A model, its inputs for a batch and a length, and the axes of each input that are dynamic."""

    model: nn.Module
    inputs: Callable[[int, int], tuple[torch.Tensor, ...]]
    axes: tuple[tuple[int, ...], ...]


WIDE = {"hidden_size": 256, "num_hidden_layers": 4, "num_attention_heads": 8, "intermediate_size": 704}
DECODER = {
    **WIDE,
    "num_key_value_heads": 4,
    "vocab_size": 4096,
    "max_position_embeddings": 1024,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}


class Wrapped(nn.Module):
    """A transformers model with positional inputs, and one tensor as its result."""

    def __init__(self, model: Any, names: list[str], output: str, **flags: Any) -> None:
        super().__init__()
        self.model, self.names, self.output, self.flags = model, names, output, flags

    def forward(self, *args: torch.Tensor) -> torch.Tensor:
        return getattr(self.model(**dict(zip(self.names, args)), **self.flags), self.output)


def _made(class_name: str, config_name: str, options: dict[str, Any]) -> Any:
    import transformers

    kind = getattr(transformers, class_name)
    config = getattr(transformers, config_name)(**options)
    config._attn_implementation = "sdpa" if kind._supports_sdpa else "eager"
    return kind(config).eval()


def _ids(batch: int, length: int) -> torch.Tensor:
    return torch.arange(batch * length).reshape(batch, length) % 4000 + 3


def _decoder(kind: str, **options: Any) -> Callable[[], Entry]:
    def make() -> Entry:
        name = f"{kind}LMHeadModel" if kind == "GPT2" else f"{kind}ForCausalLM"
        model = Wrapped(_made(name, f"{kind}Config", DECODER | options), ["input_ids"], "logits", use_cache=False)
        return Entry(model, lambda batch, length: (_ids(batch, length),), ((0, 1),))

    return make


def _encoder(kind: str, **options: Any) -> Callable[[], Entry]:
    def make() -> Entry:
        config = {**WIDE, "vocab_size": 4096, "max_position_embeddings": 1024, **options}
        model = Wrapped(_made(f"{kind}Model", f"{kind}Config", config), ["input_ids"], "last_hidden_state")
        return Entry(model, lambda batch, length: (_ids(batch, length),), ((0, 1),))

    return make


def _sequence_to_sequence() -> Entry:
    options = {"vocab_size": 4096, "d_model": 256, "d_kv": 32, "d_ff": 704, "num_layers": 4, "num_heads": 8}
    model = _made("T5ForConditionalGeneration", "T5Config", options | {"decoder_start_token_id": 0})
    wrapped = Wrapped(model, ["input_ids", "decoder_input_ids"], "logits", use_cache=False)
    return Entry(wrapped, lambda batch, length: (_ids(batch, length), _ids(batch, 16)), ((0, 1), (0,)))


def _images(kind: str) -> Callable[[], Entry]:
    def make() -> Entry:
        model = _made(f"{kind}Model", f"{kind}Config", WIDE | {"image_size": 128, "patch_size": 16})
        wrapped = Wrapped(model, ["pixel_values"], "last_hidden_state")
        return Entry(wrapped, lambda batch, length: (torch.ones(batch, 3, 128, 128),), ((0,),))

    return make


def _sound() -> Entry:
    options = {"vocab_size": 4096, "d_model": 256, "num_mel_bins": 80, "max_source_positions": 128}
    for side in ("encoder", "decoder"):
        options |= {f"{side}_layers": 4, f"{side}_attention_heads": 8, f"{side}_ffn_dim": 704}
    options |= {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1}
    model = _made("WhisperForConditionalGeneration", "WhisperConfig", options)
    wrapped = Wrapped(model, ["input_features", "decoder_input_ids"], "logits", use_cache=False)
    return Entry(wrapped, lambda batch, length: (torch.ones(batch, 80, 256), _ids(batch, length)), ((0,), (0, 1)))


class _Residual(nn.Module):
    def __init__(self, inner: int, outer: int, stride: int) -> None:
        super().__init__()
        layers: list[nn.Module] = [nn.Conv2d(inner, outer, 3, stride, 1, bias=False), nn.BatchNorm2d(outer), nn.ReLU()]
        self.main = nn.Sequential(*layers, nn.Conv2d(outer, outer, 3, 1, 1, bias=False), nn.BatchNorm2d(outer))
        self.short = nn.Conv2d(inner, outer, 1, stride, bias=False) if stride > 1 else nn.Identity()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.main(x) + self.short(x))


def _convolutions() -> Entry:
    sizes = ((64, 64, 1), (64, 128, 2), (128, 256, 2), (256, 512, 2))
    stem = (nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1))
    head = (nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000))
    model = nn.Sequential(*stem, *(_Residual(*size) for size in sizes), *head).eval()
    return Entry(model, lambda batch, length: (torch.ones(batch, 3, 128, 128),), ((0,),))


class _Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.LSTM(128, 256, num_layers=2, batch_first=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x)[0]


def _recurrent() -> Entry:
    return Entry(_Recurrent().eval(), lambda batch, length: (torch.ones(batch, length, 128),), ((0, 1),))


class _Recommender(nn.Module):
    """Sums of embeddings, and a network over them and dense features."""

    def __init__(self) -> None:
        super().__init__()
        self.bags = nn.ModuleList(nn.EmbeddingBag(10000, 64, mode="sum") for _ in range(4))
        self.top = nn.Sequential(
            nn.Linear(4 * 64 + 16, 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, 1)
        )

    def forward(self, dense: torch.Tensor, values: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
        return self.top(torch.cat([dense, *(bag(values, offsets) for bag in self.bags)], 1))


def _recommender() -> Entry:
    def inputs(batch: int, length: int) -> tuple[torch.Tensor, ...]:
        values = torch.arange(batch * length) * 7 % 10000
        return torch.ones(batch, 16), values, torch.arange(batch) * length

    return Entry(_Recommender().eval(), inputs, ((0,), (0,), (0,)))


class _Graph(nn.Module):
    """Two rounds in which each node gets the mean of its neighbors."""

    def __init__(self) -> None:
        super().__init__()
        self.own = nn.ModuleList(nn.Linear(64, 64) for _ in range(2))
        self.others = nn.ModuleList(nn.Linear(64, 64) for _ in range(2))

    def forward(self, x: torch.Tensor, edges: torch.Tensor) -> torch.Tensor:
        count = torch.zeros(x.shape[0]).index_add(0, edges[1], torch.ones(edges.shape[1])).clamp(min=1)
        for own, others in zip(self.own, self.others):
            mean = torch.zeros_like(x).index_add(0, edges[1], x[edges[0]]) / count[:, None]
            x = torch.relu(own(x) + others(mean))
        return x


def _graph() -> Entry:
    def inputs(batch: int, length: int) -> tuple[torch.Tensor, ...]:
        nodes = 16 * length
        edges = torch.stack(
            [torch.arange(4 * nodes * batch) * 31 % nodes, torch.arange(4 * nodes * batch) * 17 % nodes]
        )
        return torch.ones(nodes, 64), edges

    return Entry(_Graph().eval(), inputs, ((0,), (1,)))


ZOO: dict[str, Callable[[], Entry]] = {
    "llama": _decoder("Llama"),
    "qwen3": _decoder("Qwen3", head_dim=32),
    "gemma2": _decoder("Gemma2", head_dim=32),
    "gpt2": _decoder("GPT2", n_embd=256, n_layer=4, n_head=8),
    "mixtral": _decoder("Mixtral", num_local_experts=4, num_experts_per_tok=2),
    "mamba": _decoder("Mamba", state_size=16),
    "bert": _encoder("Bert"),
    "distilbert": _encoder("DistilBert", dim=256, n_layers=4, n_heads=8, hidden_dim=704),
    "t5": _sequence_to_sequence,
    "vit": _images("ViT"),
    "dinov2": _images("Dinov2"),
    "whisper": _sound,
    "resnet": _convolutions,
    "lstm": _recurrent,
    "dlrm": _recommender,
    "gnn": _graph,
}

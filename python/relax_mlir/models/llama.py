# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The decoder of the Llama family, with a KV cache that is written in place.

    forward(tokens [b, n], start [b], keys, values, t) -> logits [b, vocab]

takes `n` tokens of each of `b` sequences that follow the `t` tokens in the cache, and returns the logits that follow
the last one; `forward_all` returns the logits of all positions. The same function serves the prompt and each step after
it. `keys [layers, b, kv_heads, head_dim, c]` and `values [layers, b, c, kv_heads, head_dim]` have space for `c` tokens;
rows `t` to `t + n` are written. Sequences of different lengths are padded at the front: `start` is the first row of
each.

    decode(tokens [b], positions [b], keys, values, m) -> logits [b, vocab]

takes one token of each sequence, each at its own position, and reads at most `m` rows of the cache. The host knows only
`m` and the sizes, so that a GPU may replay one step for the next (`m` grows in large increments).

Between attention and projections, all tokens of all sequences are the rows of one matrix `[b * n, hidden]`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from .. import nn, op
from ..annotations import Tensor
from ..errors import ModelError
from ..module import Module
from ..symbolic import ExprLike, Range, Sym
from ..values import Value
from . import kernels
from .config import LlamaConfig
from .matrix import Epilogue, Matrix

FUNCTIONS = ("forward", "forward_all", "decode")
"""The functions that a program can have."""

MakeMatrix = Callable[[str, int, int], Matrix]
"""Makes a matrix from its path, rows and columns."""


@dataclasses.dataclass
class _Step:
    """State that all layers of one call share. Writes replace the caches."""

    batch: ExprLike
    length: ExprLike
    seen: Value
    """Determines the cache rows that a query sees: the starts of sequences, or their positions."""
    count: Sym
    """The number of rows in the cache before; for `decode`, the number of rows to read."""
    keys: Value
    values: Value
    cos: Value
    sin: Value
    at_positions: bool = False

    @property
    def rows(self) -> ExprLike:
        return self.batch * self.length


class Projection(nn.Module):
    """A matrix, and a bias if the configuration has one for it."""

    def __init__(self, config: LlamaConfig, make: MakeMatrix, path: str, rows: int, columns: int) -> None:
        self.weight = make(f"{path}.weight", rows, columns)
        has_bias = path.rpartition(".")[2] in config.biases
        self.bias = nn.Parameter((rows,), config.dtype) if has_bias else None

    def forward(self, x: Value, then: Epilogue | None = None, *operands: Value) -> Value:
        """The matmul with the bias, and an element-wise epilogue."""
        if self.bias is None:
            return self.weight.project(x, then, *operands)

        def biased(y: Value, bias: Value, *rest: Value) -> Value:
            return then(y + bias, *rest) if then else y + bias

        return self.weight.project(x, biased, self.bias, *operands)


class Attention(nn.Module):
    """Attention with grouped heads over the cache."""

    def __init__(self, config: LlamaConfig, make: MakeMatrix, path: str, layer: int) -> None:
        self._config = config
        self._layer = layer
        hidden, size = config.hidden_size, config.head_dim
        queries, keys = config.num_heads * size, config.num_kv_heads * size
        self.q_proj = Projection(config, make, f"{path}.q_proj", queries, hidden)
        self.k_proj = Projection(config, make, f"{path}.k_proj", keys, hidden)
        self.v_proj = Projection(config, make, f"{path}.v_proj", keys, hidden)
        self.o_proj = Projection(config, make, f"{path}.o_proj", hidden, queries)
        if config.qk_norm:
            self.q_norm = nn.RMSNorm(size, config.rms_norm_eps, config.dtype)
            self.k_norm = nn.RMSNorm(size, config.rms_norm_eps, config.dtype)
        layers, heads = config.num_layers, config.num_kv_heads
        sizes = (layers, heads, size, config.dtype)
        self._update_keys, self._update_values = kernels.keys_update(*sizes), kernels.values_update(*sizes)
        pairs = (config.rope_dim or size) // 2
        self._append = kernels.append_at(layers, heads, config.group, size, pairs, config.rope_layout, config.dtype)
        heads_and_scale = (layers, heads, config.group, size, size**-0.5, config.dtype)
        self._attend = (kernels.attend(*heads_and_scale), kernels.attend_at(*heads_and_scale))

    def kernels(self) -> list[nn.Kernel]:
        return [self._update_keys, self._update_values, self._append, *self._attend]

    def _heads(self, x: Value, step: _Step, count: int) -> Value:
        return op.reshape(x, (step.batch, step.length, count, self._config.head_dim))

    def _turn(self, x: Value, step: _Step) -> Value:
        config = self._config
        return op.rotary_embedding(x, cos=step.cos, sin=step.sin, layout=config.rope_layout, rotary_dim=config.rope_dim)

    def forward(self, x: Value, residual: Value, step: _Step) -> Value:
        config = self._config
        q = self._heads(self.q_proj(x), step, config.num_heads)
        k = self._heads(self.k_proj(x), step, config.num_kv_heads)
        v = self._heads(self.v_proj(x), step, config.num_kv_heads)
        if config.qk_norm:
            q, k = self.q_norm(q), self.k_norm(k)
        if step.at_positions:
            q = self._appended(q, k, v, step)
        else:
            q, k = self._turn(q, step), self._turn(k, step)
            step.keys = self._written(self._update_keys, k, step.keys, step)
            step.values = self._written(self._update_values, v, step.values, step)
        grouped = (step.batch, step.length, config.num_kv_heads, config.group, config.head_dim)
        attended = op.call_tir(
            self._attend[step.at_positions].name,
            [op.reshape(q, grouped), step.keys, step.values, step.seen],
            Tensor(grouped, config.dtype),
            sym=[self._layer, step.count],
        )
        joined = op.reshape(attended, (step.rows, config.num_heads * config.head_dim))
        return self.o_proj(joined, op.add, residual)

    def _written(self, update: nn.Kernel, rows: Value, cache: Value, step: _Step) -> Value:
        return op.call_tir_inplace(update.name, [rows, cache], cache.annotation, [1], sym=[self._layer, step.count])

    def _appended(self, q: Value, k: Value, v: Value, step: _Step) -> Value:
        """The rotated queries; keys and values are added to the caches."""
        config = self._config
        rows = [op.reshape(x, (step.batch, *x.shape[2:])) for x in (q, k, v)]
        queries = Tensor((step.batch, config.num_heads, config.head_dim), config.dtype)
        results = [queries, step.keys.annotation, step.values.annotation]
        turned, step.keys, step.values = op.call_tir_inplace(
            self._append.name,
            [*rows, step.cos, step.sin, step.seen, step.keys, step.values],
            results,
            [-1, 6, 7],
            sym=[self._layer],
        )
        return turned


class Mlp(nn.Module):
    """The gated feed-forward network."""

    def __init__(self, config: LlamaConfig, make: MakeMatrix, path: str) -> None:
        hidden, inner = config.hidden_size, config.intermediate_size
        self.gate_proj = Projection(config, make, f"{path}.gate_proj", inner, hidden)
        self.up_proj = Projection(config, make, f"{path}.up_proj", inner, hidden)
        self.down_proj = Projection(config, make, f"{path}.down_proj", hidden, inner)

    def forward(self, x: Value, residual: Value) -> Value:
        gate = self.gate_proj(x, op.silu)
        return self.down_proj(self.up_proj(x, op.multiply, gate), op.add, residual)


class DecoderLayer(nn.Module):
    """Attention and the feed-forward network, each with a norm before it and a residual connection."""

    def __init__(self, config: LlamaConfig, make: MakeMatrix, path: str, layer: int) -> None:
        self.input_layernorm = nn.RMSNorm(config.hidden_size, config.rms_norm_eps, config.dtype)
        self.self_attn = Attention(config, make, f"{path}.self_attn", layer)
        self.post_attention_layernorm = nn.RMSNorm(config.hidden_size, config.rms_norm_eps, config.dtype)
        self.mlp = Mlp(config, make, f"{path}.mlp")

    def forward(self, x: Value, step: _Step) -> Value:
        x = self.self_attn(self.input_layernorm(x), x, step)
        return self.mlp(self.post_attention_layernorm(x), x)


class Embeddings(nn.Module):
    """A row for each token."""

    def __init__(self, config: LlamaConfig, make: MakeMatrix) -> None:
        self.weight = make("model.embed_tokens.weight", config.vocab_size, config.hidden_size)

    def kernels(self) -> Sequence[nn.Kernel]:
        return self.weight.row_kernels()

    def forward(self, tokens: Value) -> Value:
        return self.weight.rows(tokens)


class Decoder(nn.Module):
    """From tokens to hidden states."""

    def __init__(self, config: LlamaConfig, make: MakeMatrix) -> None:
        self.embed_tokens = Embeddings(config, make)
        self.layers = nn.ModuleList(
            DecoderLayer(config, make, f"model.layers.{layer}", layer) for layer in range(config.num_layers)
        )
        self.norm = nn.RMSNorm(config.hidden_size, config.rms_norm_eps, config.dtype)

    def forward(self, tokens: Value, step: _Step) -> Value:
        x = self.embed_tokens(op.reshape(tokens, (step.rows,)))
        for layer in self.layers:
            x = layer(x, step)
        return x


class Llama(nn.Module):
    """The decoder with its head. Paths of parameters are those of Hugging Face's checkpoints."""

    def __init__(self, config: LlamaConfig, make: MakeMatrix) -> None:
        window = config.sliding_window
        if window is not None and window < config.context_length:
            raise ModelError(
                f"the model's attention looks back {window} tokens, and the context has {config.context_length}: "
                f"attention over a sliding window is not known; use at most {window} tokens of context "
                f"(context_length={window}, --context {window})"
            )
        self.config = config
        self.model = Decoder(config, make)
        if not config.tie_embeddings:
            self.lm_head = Projection(config, make, "lm_head", config.vocab_size, config.hidden_size)

    def kernels(self) -> Sequence[nn.Kernel]:
        pairs = (self.config.rope_dim or self.config.head_dim) // 2
        makers = (kernels.rotary_table, kernels.rotary_table_at)
        return [make(function, pairs) for make in makers for function in ("cos", "sin")]

    def forward(self, tokens: Value, start: Value, keys: Value, values: Value, past: Value) -> Value:
        """The logits that follow the last token: [b, vocab]."""
        step = self._step(tokens, start, keys, values)
        x = op.reshape(self.model(tokens, step), (step.batch, step.length, self.config.hidden_size))
        last = op.strided_slice(x, [1], [step.length - 1], [step.length])
        return self._head(op.reshape(last, (step.batch, self.config.hidden_size)))

    def forward_all(self, tokens: Value, start: Value, keys: Value, values: Value, past: Value) -> Value:
        """The logits that follow each token: [b, n, vocab]."""
        step = self._step(tokens, start, keys, values)
        logits = self._head(self.model(tokens, step))
        return op.reshape(logits, (step.batch, step.length, self.config.vocab_size))

    def decode(self, tokens: Value, positions: Value, keys: Value, values: Value, rows: Value) -> Value:
        """The logits that follow one token of each sequence, at its position: [b, vocab]."""
        (batch,), capacity, count = tokens.shape, keys.shape[4], Sym("m")
        op.require_at_most(count, capacity, "the cache has fewer rows than are to be looked at: m is more than c")
        frequencies = op.constant(self.config.rope_frequencies(), "f64")
        table = Tensor((batch, *frequencies.shape), "f32")
        cos, sin = (op.call_tir(kernel.name, [frequencies, positions], table) for kernel in self.kernels()[2:])
        step = _Step(batch, 1, positions, count, keys, values, cos, sin, at_positions=True)
        return self._head(self.model(tokens, step))

    def _step(self, tokens: Value, start: Value, keys: Value, values: Value) -> _Step:
        (batch, length), capacity, past = tokens.shape, keys.shape[4], Sym("t")
        op.require_at_most(past + length, capacity, "the tokens do not fit in the cache: t + n is more than c")
        frequencies = op.constant(self.config.rope_frequencies(), "f64")
        table = Tensor((length, *frequencies.shape), "f32")
        cos, sin = (op.call_tir(kernel.name, [frequencies], table, sym=[past]) for kernel in self.kernels()[:2])
        return _Step(batch, length, start, past, keys, values, cos, sin)

    def _head(self, x: Value) -> Value:
        x = self.model.norm(x)
        logits = self.model.embed_tokens.weight.project(x) if self.config.tie_embeddings else self.lm_head(x)
        return logits if self.config.dtype == "f32" else op.astype(logits, "f32")

    def export(self, functions: Sequence[str] = ("forward",)) -> Module:
        """The program with the given subset of `forward`, `forward_all` and `decode`."""
        config = self.config
        b, n, c, t, m = Sym("b"), Sym("n"), Sym("c"), Sym("t"), Sym("m")
        layers, heads, size = config.num_layers, config.num_kv_heads, config.head_dim

        def params(function: str) -> list[Tensor | Sym]:
            at_positions = function == "decode"
            return [
                Tensor((b,) if at_positions else (b, n), "i64", name="tokens"),
                Tensor((b,), "i64", name="positions" if at_positions else "start"),
                Tensor((layers, b, heads, size, c), config.dtype, name="keys"),
                Tensor((layers, b, c, heads, size), config.dtype, name="values"),
                m if at_positions else t,
            ]

        limit = config.context_length
        symbols = {b: Range(1), n: Range(1, limit), c: Range(1, limit), t: Range(0, limit - 1), m: Range(1, limit)}
        return nn.export(self, {name: params(name) for name in functions}, symbols=symbols)

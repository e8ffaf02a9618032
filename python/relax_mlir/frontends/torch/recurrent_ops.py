# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Recurrent layers as ops of our own while a model is exported.

PyTorch's trace of `lstm` and `gru` takes the steps apart, which makes the length of a sequence a constant. Meanwhile
the layers of `torch.nn` call these ops, whose results have the length of the input.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
from torch.nn.modules import rnn

from .selective_scan import dynamic_selective_scan


@torch.library.custom_op("relax_mlir::lstm", mutates_args=())
def lstm(
    x: torch.Tensor,
    states: list[torch.Tensor],
    weights: list[torch.Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """`torch.lstm` of a padded batch."""
    return torch.lstm(x, states, weights, has_biases, num_layers, dropout, train, bidirectional, batch_first)


@lstm.register_fake
def _(x: Any, states: Any, weights: Any, *options: Any) -> Any:
    return (_output(x, states[0], *options[4:6]), *map(torch.empty_like, states))


def _output(x: torch.Tensor, state: torch.Tensor, bidirectional: bool, batch_first: bool) -> torch.Tensor:
    """The output: the input with the features of all directions."""
    torch._check(x.shape[1 if batch_first else 0] > 0, lambda: "expected a sequence of at least one element")
    return x.new_empty((*x.shape[:2], state.shape[-1] * (2 if bidirectional else 1)))


def _simple(name: str) -> Any:
    """An op with one state."""

    def function(
        x: torch.Tensor,
        state: torch.Tensor,
        weights: list[torch.Tensor],
        has_biases: bool,
        num_layers: int,
        dropout: float,
        train: bool,
        bidirectional: bool,
        batch_first: bool,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        return getattr(torch, name)(
            x, state, weights, has_biases, num_layers, dropout, train, bidirectional, batch_first
        )

    # Annotations are read from the function, and are text where they are not evaluated.
    function.__annotations__ = {key: eval(kind) for key, kind in function.__annotations__.items()}
    op = torch.library.custom_op(f"relax_mlir::{name}", function, mutates_args=())

    def fake(x: Any, state: Any, weights: Any, *options: Any) -> Any:
        return _output(x, state, *options[4:6]), torch.empty_like(state)

    op.register_fake(fake)
    return op


_OPS = {"lstm": lstm, **{name: _simple(name) for name in ("gru", "rnn_tanh", "rnn_relu")}}


class _Replaced:
    """What `torch.nn` calls, with our ops for batches; packed sequences go where they went."""

    def __init__(self, original: Any) -> None:
        self._original = original

    def __getattr__(self, name: str) -> Any:
        function = getattr(self._original, name)
        if name not in _OPS:
            return function

        def call(*args: Any) -> Any:
            is_batch = isinstance(args[3], bool)  # else sizes of batches come second, and all else is one later
            return _OPS[name](*args) if is_batch else function(*args)

        return call


@contextlib.contextmanager
def dynamic_recurrence(model: Any) -> Iterator[None]:
    """Lets recurrent layers of a model keep the length of sequences dynamic, meanwhile."""
    original = rnn._VF
    rnn._VF = _Replaced(original)
    try:
        with dynamic_selective_scan(model):
            yield
    finally:
        rnn._VF = original

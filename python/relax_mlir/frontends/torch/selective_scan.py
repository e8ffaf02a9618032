# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The recurrence of selective state spaces (Mamba and its relatives) as a scan while a model is exported.

Models of transformers call it by the interface of the package `mamba_ssm`, `selective_scan_fn`, and bring an
implementation in PyTorch for machines without that package: a loop of Python over time, which `torch.export` takes
apart into steps of a fixed number. Meanwhile the function below takes the place of each function that implements this
interface; it is a scan, whose length stays dynamic.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import sys
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch._higher_order_ops.scan import scan
from torch.nn import functional

_PACKAGE, _NAME = "mamba_ssm", "selective_scan_fn"

_CHOICES = {"use_mambapy", "use_associative_scan"}
"""Arguments that choose among implementations of the same."""


def selective_scan(
    u: torch.Tensor,
    delta: torch.Tensor,
    A: torch.Tensor,
    B: torch.Tensor,
    C: torch.Tensor,
    D: torch.Tensor | None = None,
    z: torch.Tensor | None = None,
    delta_bias: torch.Tensor | None = None,
    delta_softplus: bool = False,
    return_last_state: bool = False,
) -> Any:
    """`selective_scan_fn` of `mamba_ssm`: for each time, with a state `[batch, d, n]` that begins with zeros,

        state = exp(delta * A) * state + delta * B * u
        y = state @ C + D * u, times silu(z)

    Args:
      u, delta, z: `[batch, d, length]`.
      A: `[d, n]`.
      B, C: `[batch, n, length]`.
      D, delta_bias: `[d]`.

    Returns:
      y `[batch, d, length]`, and the last state if it is asked for.
    """
    if delta_bias is not None:
        delta = delta + delta_bias.to(delta.dtype)[..., None]
    if delta_softplus:
        delta = functional.softplus(delta)

    def step(state: torch.Tensor, row: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, torch.Tensor]:
        step_u, step_delta, step_b, step_c = row
        entering = step_delta[..., None] * step_b[:, None].float() * step_u[..., None].float()
        state = torch.exp(A * step_delta[..., None]) * state + entering
        return state, torch.matmul(state.to(u.dtype), step_c[..., None])[..., 0]

    rows = tuple(part.permute(2, 0, 1) for part in (u, delta, B, C))
    start = torch.zeros(u.shape[0], u.shape[1], A.shape[1], dtype=torch.float32, device=u.device)
    state, y = scan(step, start, rows)
    y = y.permute(1, 2, 0)
    if D is not None:
        y = y + u * D[:, None]
    if z is not None:
        y = y * functional.silu(z)
    return (y, state) if return_last_state else y


@contextlib.contextmanager
def dynamic_selective_scan(model: Any) -> Iterator[None]:
    """Lets the modules of a model that call such a function keep the length of sequences dynamic, meanwhile."""
    modules = model.modules() if isinstance(model, torch.nn.Module) else ()
    sources = [sys.modules[name] for name in dict.fromkeys(type(module).__module__ for module in modules)]
    found = [
        (source, name, value)
        for source in sources
        for name, value in vars(source).items()
        if callable(value) and _implements(value)
    ]
    try:
        for source, name, value in found:
            setattr(source, name, _in_place_of(value))
        yield
    finally:
        for source, name, value in found:
            setattr(source, name, value)


def _implements(function: Any) -> bool:
    """Whether transformers has made a function for the interface: it keeps the names of the package's function."""
    while inspect.isfunction(function):
        names = inspect.getclosurevars(function).nonlocals
        if (names.get("package"), names.get("func_name")) == (_PACKAGE, _NAME):
            return True
        function = getattr(function, "__wrapped__", None)
    return False


def _in_place_of(original: Callable[..., Any]) -> Callable[..., Any]:
    """`selective_scan`, but the original where it is given what the interface does not have."""
    known = inspect.signature(selective_scan).parameters

    @functools.wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        kwargs = {name: value for name, value in kwargs.items() if name not in _CHOICES and value is not None}
        if len(args) > len(known) or not kwargs.keys() <= known.keys():
            return original(*args, **kwargs)
        return selective_scan(*args, **kwargs)

    return call

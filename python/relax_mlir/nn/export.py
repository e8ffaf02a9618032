# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From a tree of modules to a program."""

from __future__ import annotations

import copy
import dataclasses
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..annotations import Annotation
from ..builder import BlockBuilder, Parameter
from ..errors import fail
from ..module import Module as Program
from ..pipelines import Pipeline, SymbolDCE
from ..symbolic import Sym, SymbolRanges
from .module import Module


@dataclasses.dataclass(frozen=True)
class Kernel:
    """A kernel in MLIR text: a `func.func` of that name (see `op.call_tir`)."""

    name: str
    text: str


def export(
    model: Module,
    functions: Mapping[str, Sequence[Parameter]],
    *,
    symbols: SymbolRanges | None = None,
    builder: BlockBuilder | None = None,
) -> Program:
    """A program with one function for each of these methods of the model.

    Args:
      functions: the parameters of each method, annotations and symbols. Annotations without a name are named after
        the method's arguments.
      symbols: declared bounds; each function takes the bounds of the symbols in its parameters.

    Raises:
      RelaxError: the model has no such method, or it takes other arguments; modules or parameters are in plain lists;
        an error of an op, at the line in the model.
    """
    own = builder is None
    builder = builder or BlockBuilder()
    model.assign_names()
    added: dict[str, Kernel] = {}
    for _, module in model.named_modules():
        for kernel in module.kernels():
            if added.setdefault(kernel.name, kernel) != kernel:
                fail(f"two kernels are named '{kernel.name}' and differ")
    for kernel in added.values():
        builder.add_kernels(kernel.text)
    for name, params in functions.items():
        method = getattr(model, name, None)
        if method is None:
            fail(f"{type(model).__name__} has no method '{name}'")
        params = _named(method, params, f"{type(model).__name__}.{name}")
        used = _symbols(params)
        ranges = {symbol: bound for symbol, bound in (symbols or {}).items() if str(symbol) in used}
        with builder.function(name, params, symbols=ranges) as function:
            results = method(*function.params)
            builder.return_(*(results if isinstance(results, tuple) else (results,)))
    program = builder.module()
    if own:
        Pipeline([SymbolDCE()]).run(program)  # kernels of functions that were not requested
    return program


def _named(method: Callable[..., Any], params: Sequence[Parameter], what: str) -> list[Parameter]:
    """The parameters, with the names of the method's arguments where they have none."""
    if isinstance(params, (Annotation, Sym)):
        fail(f"expected a list of parameters for {what}, got {params!r}")
    signature = inspect.signature(method)
    try:
        bound = signature.bind(*params)
    except TypeError as error:
        fail(f"{what}{signature} cannot take {len(params)} parameters: {error}")
    names: list[str] = []
    for name, value in bound.arguments.items():
        is_rest = signature.parameters[name].kind is inspect.Parameter.VAR_POSITIONAL
        names += [f"{name}{index}" for index in range(len(value))] if is_rest else [name]
    return [_with_name(param, name) for param, name in zip(params, names)]


def _with_name(param: Parameter, name: str) -> Parameter:
    if not isinstance(param, Annotation) or param.name:
        return param
    param = copy.copy(param)
    param.name = name
    return param


def _symbols(params: Sequence[Parameter]) -> set[str]:
    names: set[str] = set()
    for param in params:
        dims = [param] if isinstance(param, Sym) else getattr(param, "shape", None) or getattr(param, "dims", None)
        names.update(*(dim.symbols for dim in dims or () if isinstance(dim, Sym)))
    return names

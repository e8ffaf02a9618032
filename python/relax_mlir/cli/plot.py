# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Memory plans as pictures: which storage is in use while which op runs, for one size of each symbol."""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Iterator, Mapping
from pathlib import Path

from mlir import ir

from .. import _relax
from ..errors import MissingPackageError, RelaxError
from ..files import write_whole
from ..module import Module
from .results import unique_stem


@dataclasses.dataclass
class Life:
    """A storage: its bytes, the ops between which it is alive, and the tensors that lie in it."""

    bytes: int
    begin: int
    end: int
    tensors: int = 0


def lives(function: ir.Operation, sizes: Mapping[str, int], default: int) -> list[Life]:
    """The storages of a function whose memory is planned.

    Args:
      sizes: values of symbols; `default` is that of all others.
    """
    found: dict[ir.Value, Life] = {}
    position = 0

    def visit(operation: ir.Operation) -> ir.WalkResult:
        nonlocal position
        position += 1
        if operation.name == "relax.alloc_storage":
            expr = operation.attributes["bytes"]
            names = sorted(set(_relax.expr_symbols(expr)))
            bytes = _relax.expr_evaluate(expr, names, [sizes.get(name, default) for name in names])
            found[operation.results[0]] = Life(bytes or 0, position, position)
        for operand in operation.operands:
            for storage, life in found.items():
                if operand == storage:
                    life.end = position
                    life.tensors += operation.name == "relax.tensor_from_storage"
        return ir.WalkResult.ADVANCE

    for block in function.regions[0].blocks:
        for operation in block.operations:
            operation.operation.walk(visit)
    return list(found.values())


def draw(module: Module, default: int = 128) -> Iterator[Path]:
    """Writes one picture for each function, in the working directory."""
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        raise MissingPackageError("drawing takes matplotlib; install it with: pip install matplotlib") from None
    used: set[str] = set()
    for operation in module.ir.body.operations:
        function = operation.operation
        if function.name != "relax.func" or not function.regions[0].blocks:
            continue
        name = ir.StringAttr(function.attributes["sym_name"]).value
        storages = lives(function, {"b": 1}, default)
        figure = Figure(figsize=(9, 4), layout="constrained")
        axes = figure.subplots()
        bottom = 0.0
        for life in storages:
            mebibytes = life.bytes / 2**20
            axes.barh(bottom + mebibytes / 2, life.end - life.begin, mebibytes, life.begin, edgecolor="white")
            bottom += mebibytes
        axes.set(title=f"{name}: storages, symbols = {default}", xlabel="op", ylabel="MiB")
        path = Path(f"{unique_stem(name, used)}-memory.png")
        content = io.BytesIO()
        figure.savefig(content, dpi=120, format="png")
        try:
            write_whole(path, content.getbuffer())
        except OSError as error:
            raise RelaxError(f"cannot write '{path}': {error.strerror or error}") from None
        yield path

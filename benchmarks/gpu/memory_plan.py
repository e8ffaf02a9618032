#!/usr/bin/env python3
# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Activation memory on a GPU with and without a plan: decoders of the Llama family in bf16.

    .venv/bin/python benchmarks/gpu/memory_plan.py [--models 135m 1b 8b] [--chip sm_90a]

The analog of table 2 of the paper (arXiv 2311.02103), like benchmarks/memory_plan.py for the CPU. No GPU is needed: the
compiled function contains a call's allocations and frees, and this script simulates the runtime's pool
(lib/Runtime/Core/Pool.h), which reuses blocks of the same size class. The baseline takes every tensor from that pool,
and returns it after its last use. The variants are the plan, kernels that write over their inputs, and, for prompts, a
plan for the declared bounds.
"""

from __future__ import annotations

import argparse
import collections
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))  # for the benchmarks' shared code

from llm import SIZES
from measuring import table
from mlir import ir

from relax_mlir import Module, Sym
from relax_mlir.models import matrix
from relax_mlir.models.config import LlamaConfig
from relax_mlir.models.llama import Llama
from relax_mlir.pipelines import InlineDataflow, InsertKills, LowerCallTIR, Pipeline, PlanMemory, ReuseInPlace, cpu, gpu

CONTEXT = 4096
PREFILL = [(1, n) for n in (32, 128, 512, 1024, 2048)]
DECODE = [(b, 1) for b in (1, 4, 16, 32, 64)]
ROWS = 1280  # rows of the cache that a step reads

PHASES = {
    "pool": ([], []),
    "plan": ([], [PlanMemory(use_bounds=False)]),
    "in place": ([ReuseInPlace()], [PlanMemory(use_bounds=False)]),
    "by bounds": ([ReuseInPlace()], [PlanMemory(use_bounds=True)]),
}
"""The passes before kernels become launches, and after."""


def lowered(module: Module, phase: str, chip: str) -> Module:
    """The module with calls of launches and explicit memory."""
    before, after = PHASES[phase]
    steps = [cpu.make_kernels(many_threads=True), gpu.fuse_kernels(), InlineDataflow(), LowerCallTIR(), *before]
    module = module.clone()
    Pipeline([*steps, gpu.make_launches(chip), *after, InsertKills()]).run(module)
    return module


def events(module: Module, name: str) -> list[tuple[int, Sym | None]]:
    """A function's allocations and frees in order: block numbers, with a size for allocations and None for frees."""
    function = next(
        operation.operation
        for operation in module.ir.body.operations
        if operation.operation.name == "relax.func" and ir.StringAttr(operation.attributes["sym_name"]).value == name
    )
    places: dict[ir.Value, int] = {}
    found: list[tuple[int, Sym | None]] = []
    for operation in function.regions[0].blocks[0].operations:
        if operation.operation.name == "relax.alloc_storage":
            size = str(operation.attributes["bytes"]).removeprefix("#relax.expr<").removesuffix(">")
            places[operation.results[0]] = len(places)
            found.append((places[operation.results[0]], Sym.parse(size)))
        elif operation.operation.name == "relax.kill" and operation.operands[0] in places:
            found.append((places[operation.operands[0]], None))
    return found


def size_class(count: int) -> int:
    """The size of the pool's block for `count` bytes: a quarter of a power of two, or a multiple of it."""
    if count <= 256:
        return 256
    quarter = 1 << ((count - 1).bit_length() - 3)
    return -(-count // quarter) * quarter


def count(
    found: list[tuple[int, Sym | None]], sizes: dict[str, int], held: collections.Counter[int]
) -> tuple[int, int]:
    """The sum of a call's allocations, and their peak; updates `held`, the content of the pool."""
    free = held.copy()
    blocks: dict[int, int] = {}
    total = used = peak = 0
    for place, size in found:
        if size is None:
            block = blocks[place]
            used -= block
            free[block] += 1
            continue
        taken = size.evaluate({name: sizes[name] for name in size.symbols})
        total += taken
        block = blocks[place] = size_class(taken)
        used += block
        peak = max(peak, used)
        if free[block]:
            free[block] -= 1
        else:
            held[block] += 1
    return total, peak


def mib(count: int) -> str:
    return f"{count / 2**20:.2f}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--models", nargs="*", default=list(SIZES), choices=SIZES)
    parser.add_argument("--chip", default="sm_90a")
    arguments = parser.parse_args()
    for name in arguments.models:
        vocabulary, *widths, tied = SIZES[name]
        config = LlamaConfig(vocabulary, *widths, CONTEXT, tie_embeddings=tied, dtype="bf16")
        model = Llama(config, lambda _, n, k: matrix.make(n, k, "groups", "F32", "bf16"))
        module = model.export(("forward", "decode"))
        modules = {phase: lowered(module, phase, arguments.chip) for phase in PHASES}
        for function, shapes in (("forward", PREFILL), ("decode", DECODE)):
            phases = [phase for phase in PHASES if function == "forward" or phase != "by bounds"]
            found = {phase: events(modules[phase], function) for phase in phases}
            held: dict[str, collections.Counter[int]] = {phase: collections.Counter() for phase in phases}
            rows = []
            for batch, length in shapes:
                sizes = {"b": batch, "n": length, "t": 0, "r": ROWS}
                counts = {phase: count(found[phase], sizes, held[phase]) for phase in phases}
                saving = f"{1 - counts['in place'][1] / counts['pool'][1]:.0%}"
                peaks = [mib(peak) for _, peak in counts.values()]
                rows.append([f"{batch} × {length}", mib(counts["pool"][0]), *peaks, saving])
            kept = {phase: sum(size * number for size, number in held[phase].items()) for phase in phases}
            saving = f"{1 - kept['in place'] / kept['pool']:.0%}"
            rows.append(["held after all", "", *map(mib, kept.values()), saving])
            print(f"\n{name}, {function}: memory of activations, MiB\n")
            print(table(["b × n", "sum of tensors", *phases, "saved"], rows), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

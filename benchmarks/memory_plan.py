#!/usr/bin/env python3
# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Activation memory with and without a plan: SmolLM2-135M, prompts of 128 to 1024 tokens and batches of 1 to 64.

The analog of table 2 of the paper (arXiv 2311.02103), where planning saves 22 % and 40 %. The baseline is the same
program with the same kernels, which takes every tensor from the runtime's pool when it is created, and returns it after
its last use. The variants add the plan, the scratch memory of kernels in the plan, and kernels that write over their
inputs. The runtime's own statistics measure each variant: the most bytes in use at the same time (peak), and the pool's
memory from the system after all sizes in a row (held). Both include the logits, which are the same for all.

    .venv/bin/python benchmarks/memory_plan.py [--layout panels]
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
from measuring import table

from relax_mlir import Sym, Target, compiler, runtime
from relax_mlir.models import loading
from relax_mlir.models.generation import Cache, LanguageModel
from relax_mlir.pipelines import (
    InlineDataflow,
    InsertKills,
    KernelsToLoops,
    LiftWorkspace,
    LowerCallTIR,
    Pipeline,
    PlanMemory,
    ReuseInPlace,
    cpu,
)

CONTEXT = 1024
PREFILL = [(1, n) for n in (128, 256, 512, 1024)]
DECODE = [(b, 1) for b in (1, 2, 4, 8, 16, 32, 64)]
PAST = 128  # tokens in the cache before a decoded one

LIFTED = [KernelsToLoops(Target.host().vector_bits), LiftWorkspace()]
PHASES = {
    "pool": [],
    "plan": [PlanMemory(use_bounds=False)],
    "lifted": [*LIFTED, PlanMemory(use_bounds=False)],
    "in place": [ReuseInPlace(), *LIFTED, PlanMemory(use_bounds=False)],
    "by bounds": [ReuseInPlace(), *LIFTED, PlanMemory(use_bounds=True)],
}
"""The passes from explicit destinations to kills."""

SUMS = ("unplanned", "planned", "peak")
"""The expressions of Code.memory in the table."""


def compiled(program: loading.Program, passes: list, weights: dict[str, np.ndarray]) -> LanguageModel:
    """The model compiled with these memory passes."""
    memory = [InlineDataflow(), LowerCallTIR(), *passes, InsertKills()]
    pipeline = Pipeline([cpu.make_kernels(), cpu.fuse_kernels(), *memory])
    executable = compiler.compile(program.module, weights=weights, pipeline=pipeline)
    return LanguageModel(executable, program.config, program.tokenizer)


def evaluate(expression: str, batch: int, length: int) -> int:
    """The value of a size expression of Code.memory, in bytes."""
    expr = Sym.parse(expression)
    sizes = {"b": batch, "n": length, "t": PAST if length == 1 else 0}
    return expr.evaluate({name: sizes[name] for name in expr.symbols})


def run(model: LanguageModel, sizes: list[tuple[int, int]]) -> tuple[list[int], int]:
    """The peak of each size, each starting with an empty pool, and the memory held after all sizes in a row."""

    def call(batch: int, length: int) -> None:
        past = PAST if length == 1 else 0
        cache = Cache(model.config, batch, past + length)
        cache.length = past
        model.logits(np.full((batch, length), 5), cache)

    peaks = []
    for batch, length in sizes:
        runtime.trim_pool()
        base = runtime.pool_statistics().used
        runtime.reset_pool_peak()
        call(batch, length)
        peaks.append(runtime.pool_statistics().peak - base)
    runtime.trim_pool()
    base = runtime.pool_statistics().held
    for size in sizes:
        call(*size)
    held = runtime.pool_statistics().held - base
    runtime.trim_pool()
    return peaks, held


def mib(count: int) -> str:
    return f"{count / 2**20:.2f}"


def saved(now: int, before: int) -> str:
    return f"{1 - now / before:.0%}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--layout", default="panels", choices=("panels", "quantised"))
    arguments = parser.parse_args()
    # One thread, so that no thread caches blocks that another needs.
    runtime.set_thread_count(1)
    program = loading.build("smollm2", layout=arguments.layout, context_length=CONTEXT)
    weights = {name: program.weights[name] for name in program.weights}
    plan = compiler.compile_code(program.module).memory["forward"]
    bounded = compiler.compile_code(program.module, use_bounds=True).memory["forward"]
    print("bytes of activations as expressions\n")
    for name, memory in (("by sizes", plan), (f"by bounds, n <= {CONTEXT}", bounded)):
        print(f"  {name}: {memory}")

    models = {name: compiled(program, passes, weights) for name, passes in PHASES.items()}
    for title, sizes in (("prefill", PREFILL), (f"decode, {PAST} tokens in the cache", DECODE)):
        # A plan for the longest prompt is of no use for single tokens.
        results = {name: run(m, sizes) for name, m in models.items() if title == "prefill" or name != "by bounds"}
        rows = []
        for index, (batch, length) in enumerate(sizes):
            all, planned, least = (evaluate(plan[f"{key}_bytes"], batch, length) for key in SUMS)
            peaks = {name: found[index] for name, (found, _) in results.items()}
            saving = saved(peaks["in place"], peaks["pool"])
            beyond = mib(peaks["in place"] - planned)
            rows.append([f"{batch} × {length}", *map(mib, (all, planned, least, *peaks.values())), saving, beyond])
        held = {name: count for name, (_, count) in results.items()}
        rows.append(["held after all", "", "", "", *map(mib, held.values()), saved(held["in place"], held["pool"]), ""])
        header = ["b × n", "sum of tensors", "planned", "live at most", *results, "saved", "beyond the plan"]
        print(f"\n{title}: expressions, and peaks of the pool, MiB\n")
        print(table(header, rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())

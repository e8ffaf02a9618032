# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`relax-mlir inspect`: what a program is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from mlir import ir
from rich.console import Console
from rich.table import Table
from rich.text import Text

from .. import load
from ..annotations import Annotation, Tensor
from ..compiler import Code, describe_memory
from ..export import open_exported
from ..models import build
from ..models.config import LlamaConfig
from ..models.exported import is_exported, read_description
from ..module import Module
from ..pipelines.cpu import default_pipeline
from ..symbolic import Range
from .commands import refuse_imported_program, refuse_options
from .inputs import parse_sizes
from .plan import plans_of


def inspect(
    source: str, *, layout: str | None, sizes: str | None = None, plot: bool = False, output: Path | None = None
) -> None:
    """Shows what a model or a program is.

    Args:
      sizes: values of symbols, as `parse_sizes` takes them.
      plot, output: whether, and where, to draw the memory plan (`plot.draw`).
    """
    values = parse_sizes(sizes or "")
    if plot:
        from .plot import check_drawing

        check_drawing(output)
    # Names and paths are text of others, in which "[x]" and ":x:" are just that.
    console = Console(highlight=False, markup=False, emoji=False)
    if Path(source).suffix in (".mlir", ".mlirbc"):
        refuse_options(source, "is a program, not a model", {"layout": layout})
        module = load(source)
        show_module(module, console)
        show_memory(module, console, values, plot, output)
        return
    if is_exported(source):
        given = {"layout": layout, "sizes": sizes, "plot": plot or None, "output": output}
        refuse_options(source, "was compiled with its options", given)
        exported = open_exported(source)
        show_code(exported.code, console)
        if "config.json" in exported.files:
            console.print(_describe_config(read_description(exported).config, Path(source).name))
        return
    refuse_imported_program(source)
    program = build(source, layout=layout)
    config = program.config
    table = _describe_config(config, program.path.name)
    formats = ", ".join(f"{count} {name}" for name, count in program.weights.formats().most_common())
    table.add_row("tensors in the file", formats)
    table.add_row("weights in memory", f"{program.weights.nbytes / 2**20:.1f} MiB in {len(program.weights)} tensors")
    row = 8 * config.num_layers * config.num_kv_heads * config.head_dim
    table.add_row("cache", f"{row / 2**10:.1f} KiB a token")
    if program.tokenizer:
        table.add_row("tokens that end an answer", ", ".join(map(str, sorted(program.tokenizer.stop_ids))))
        table.add_row("chat template", "yes" if program.tokenizer.chat_template else "no")
    console.print(table)
    show_module(program.module, console)
    show_memory(program.module, console, values, plot, output)


def _describe_config(config: LlamaConfig, name: str) -> Table:
    """The sizes and variants of a model; `name` is the title if it has none itself."""
    table = Table("", "", show_header=False, title=config.name or name)
    for field in (
        "num_layers hidden_size intermediate_size num_heads num_kv_heads head_dim vocab_size context_length"
    ).split():
        table.add_row(field, str(getattr(config, field)))
    rope = [config.rope_layout, f"theta {config.rope_theta:g}"]
    if config.rope_dim not in (None, config.head_dim):
        rope.append(f"{config.rope_dim} of {config.head_dim} elements")
    if config.rope_scale != 1:
        rope.append(f"positions times {config.rope_scale:g}")
    if config.rope_factors:
        rope.append(f"{len(config.rope_factors)} factors")
    table.add_row("rope", ", ".join(rope))
    table.add_row("rms_norm_eps", f"{config.rms_norm_eps:g}")
    table.add_row("tie_embeddings", "yes" if config.tie_embeddings else "no")
    table.add_row("biases", ", ".join(config.biases) or "none")
    table.add_row("qk_norm", "yes" if config.qk_norm else "no")
    if config.sliding_window:
        table.add_row("sliding_window", str(config.sliding_window))
    return table


def show_module(module: Module, console: Console) -> None:
    """The functions of a program, their symbols, the ops in them, and its kernels."""
    functions = [operation.operation for operation in module.ir.body.operations]
    calls: Counter[str] = Counter()
    for function in functions:
        if function.name == "relax.func":
            _show_function(function, console, calls)
    kernels = [function for function in functions if function.name == "func.func"]
    if kernels:
        table = Table("kernel", "calls", title="kernels")
        for kernel in kernels:
            name = ir.StringAttr(kernel.attributes["sym_name"]).value
            table.add_row(name, str(calls[name]))
        console.print(table)


def show_code(code: Code, console: Console) -> None:
    """What is known of a compiled program."""
    gpu = f" and the GPU {code.target.chip}" if code.target.chip else ""
    size, machine = len(code.object), f"{code.target.triple}, {code.target.cpu}{gpu}"
    console.print(f"{size} bytes of code for {machine}; {len(code.weights)} weights")
    for name, function in code.functions.items():
        parameters = ", ".join(f"{entry['name']}: {entry['type']}" for entry in function["parameters"])
        _show_signature(console, name, parameters, ", ".join(function["results"]))
        for symbol, bounds in function["symbols"].items():
            console.print(f"  {symbol}: {bounds}")
        for key, value in code.memory.get(name, {}).items():
            console.print(f"  {key}: {value}")


def _show_signature(console: Console, name: str, parameters: str, results: str) -> None:
    console.print(Text.assemble((name, "bold"), f"({parameters}) → {results}"))


def show_memory(
    module: Module, console: Console, sizes: Mapping[str, int], plot: bool = False, output: Path | None = None
) -> None:
    """What the memory of activations comes to, with and without a plan; and the plan over time."""
    planned = module.clone()
    default_pipeline().run(planned)
    plans = plans_of(planned, sizes) if sizes else []
    table = Table("function", "one by one", "planned", "lower bound", title="memory of a call, in bytes")
    for name, plan in describe_memory(planned).items():
        table.add_row(name, *(plan.get(f"{key}_bytes", "") for key in ("unplanned", "planned", "peak")))
        for one in plans:
            if one.function == name:
                values = (one.unplanned, one.planned, one.lower_bound)
                table.add_row(f"  for {one.describe_sizes()}", *(str(value) for value in values))
    if table.row_count:
        console.print(table)
    if plot:
        from .plot import draw

        for path in draw(planned, sizes, output):
            console.print(f"wrote {path}")


def _show_function(function: ir.Operation, console: Console, calls: Counter[str]) -> None:
    attributes = function.attributes
    signature = ir.FunctionType(ir.TypeAttr(attributes["function_type"]).value)
    entries = list(attributes["arg_attrs"]) if "arg_attrs" in attributes else []
    parameters = []
    for index, type in enumerate(signature.inputs):
        symbol = entries[index]["relax.symbol"].value if entries and "relax.symbol" in entries[index] else None
        parameters.append(symbol or _describe(type))
    results = ", ".join(map(_describe, signature.results))
    _show_signature(console, attributes["sym_name"].value, ", ".join(parameters), results)
    if "relax.symbols" in attributes:
        ranges = attributes["relax.symbols"]
        for entry in ranges:
            bounds = Range.from_mlir(entry.attr)
            above = "" if bounds.upper is None else f" ≤ {bounds.upper}"
            console.print(f"  {bounds.lower} ≤ {entry.name}{above}")
    ops: Counter[str] = Counter()

    def count(operation: ir.Operation) -> ir.WalkResult:
        ops[operation.name] += 1
        if "callee" in operation.attributes:
            calls[ir.FlatSymbolRefAttr(operation.attributes["callee"]).value] += 1
        return ir.WalkResult.ADVANCE

    for region in function.regions:
        for block in region.blocks:
            for operation in block.operations:
                operation.operation.walk(count)
    console.print("  " + ", ".join(f"{number} {name.removeprefix('relax.')}" for name, number in ops.most_common()))


def _describe(type: ir.Type) -> str:
    annotation = Annotation.from_mlir(type)
    if isinstance(annotation, Tensor) and annotation.shape is not None:
        dims = ", ".join("?" if dim is None else str(dim) for dim in annotation.shape)
        return f"{annotation.dtype}[{dims}]"
    return repr(annotation)

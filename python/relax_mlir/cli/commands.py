# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the subcommands do."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import tvm_ffi
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from .. import compile as compile_module
from .. import dtypes, load
from .. import load_exported as load_exported_code
from ..compiler import compile_code
from ..errors import ModelError, RelaxError
from ..export import export as export_code
from ..export import read_code
from ..models import LanguageModel, Sampling, build
from ..models.exported import is_exported, load_exported
from ..models.loading import Program, options_for
from ..runtime import Device, Executable, to_host

# Answers go to the standard output, everything about them beside it.
notes = Console(stderr=True, highlight=False)


@contextmanager
def progress(text: str, total: int | None = None) -> Iterator[Any]:
    """A bar that disappears when the work is done; gives what moves it on."""
    columns = [SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()]
    with Progress(*columns, console=notes, transient=True, disable=not notes.is_terminal) as bars:
        task = bars.add_task(text, total=total)
        yield lambda done: bars.update(task, completed=done)


def compile_program(program: Program, target: str) -> LanguageModel:
    """Compiles, with a bar for the weights."""
    begin = time.perf_counter()
    with progress("compiling", len(program.weights)) as advance:
        program.weights.on_read = advance
        model = program.compile(target=target)
    seconds = time.perf_counter() - begin
    size = program.weights.nbytes / 2**20
    notes.print(f"[dim]{program.path.name}: {size:.0f} MiB of weights, ready in {seconds:.1f} s[/dim]")
    return model


def open_model(name: str, options: Mapping[str, Any]) -> LanguageModel:
    """A model, compiled unless it is an exported folder."""
    if is_exported(name):
        check_target(name, options["target"])
        with progress(f"reading {name}"):
            return load_exported(name)
    target = options["target"] or "cpu"
    return compile_program(read_program(name, options["layout"], options["context"], target), target)


def read_program(name: str, layout: str | None, context: int | None, target: str) -> Program:
    """A model before it is compiled, with matrices as they are best for a target."""
    options = options_for(target)
    if layout:
        options["layout"] = layout
    with progress(f"reading {name}"):
        return build(name, context_length=context, **options)


def check_target(folder: str, wanted: str | None) -> None:
    """An exported folder runs on what it was compiled for, and nowhere else."""
    if not wanted:
        return
    compiled = read_code(folder).target
    kind, _, chip = wanted.partition(":")
    device = kind if kind in ("cuda", "vulkan") else ""
    if compiled.device != device or (device and chip not in ("", compiled.chip)):
        has = f"{compiled.device}:{compiled.chip}" if compiled.chip else "cpu"
        raise ModelError(f"'{folder}' was compiled for {has}, not for {wanted}; leave --target out, or compile it anew")


# --- compile and run


def export(source: str, output: Path, *, layout: str | None, context: int | None, target: str) -> None:
    if Path(source).suffix in (".mlir", ".mlirbc"):
        with progress(f"compiling {source}"):
            export_code(compile_code(load(source), target), output)
        notes.print(f"wrote {output}")
        return
    program = read_program(source, layout, context, target)
    with progress("compiling", len(program.weights)) as advance:
        program.weights.on_read = advance
        program.export(output, target)
    notes.print(f"wrote {output}")


_ARGUMENT = re.compile(r"((?:\d+x)*)([a-wyz]+\d*\w*)$")


def parse_argument(text: str, generator: np.random.Generator) -> Any:
    """An argument of a function: a file, a number, or a shape to fill at random."""
    if text.endswith(".npy"):
        try:
            return np.load(text, allow_pickle=False)
        except (OSError, ValueError, EOFError, MemoryError) as error:
            raise RelaxError(f"cannot read '{text}': {error}") from None
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    match = _ARGUMENT.match(text)
    if not match:
        raise RelaxError(f"argument {text!r} is no .npy file, number or shape such as 2x128xf32")
    try:
        dtype = dtypes.to_numpy(match[2])
    except ValueError as error:
        raise RelaxError(f"argument {text!r}: {error}") from None
    try:
        array = np.empty(tuple(map(int, match[1].split("x")[:-1])), dtype)
    except (MemoryError, ValueError, OverflowError):  # the latter two: more than there are addresses
        raise RelaxError(f"argument {text!r}: there is no memory for so many elements") from None
    elements, piece = array.reshape(-1), 1 << 16  # a piece at a time, as the generator has types of its own
    for begin in range(0, len(elements), piece):
        part = elements[begin : begin + piece]
        if dtypes.is_float(match[2]):
            part[...] = generator.standard_normal(len(part))
        else:
            part[...] = generator.integers(0, 2 if match[2] == "bool" else 100, len(part))
    return array


def open_executable(source: str, target: str | None) -> Executable:
    """A program in a file, compiled, or one of an exported folder."""
    if Path(source).is_dir():
        check_target(source, target)
        return load_exported_code(source)
    with progress(f"compiling {source}"):
        return compile_module(load(source), target=target)


def call(source: str, arguments: Sequence[str], *, function: str, output: Path | None, target: str | None) -> None:
    generator = np.random.default_rng(0)
    values = [parse_argument(text, generator) for text in arguments]
    executable = open_executable(source, target)
    device = Device(executable.code.device) if executable.code.device else None
    parameters = executable.code.functions.get(function, {}).get("parameters", ())
    if len(values) > len(parameters) and function in executable.code.functions:
        count = f"{len(parameters)} argument{'s' * (len(parameters) != 1)}"
        raise RelaxError(f"'{function}' takes {count}, got {len(values)}")
    try:
        if device:
            on_host = [parameter.get("place") == "host" for parameter in parameters]
            for index, value in enumerate(values):
                if isinstance(value, np.ndarray) and not (index < len(on_host) and on_host[index]):
                    values[index] = device.put(value)
        results = executable[function](*values)
        arrays = [to_host(result) if hasattr(result, "__dlpack__") else result for result in _flatten(results)]
    except (TypeError, ValueError, MemoryError, RuntimeError, OverflowError, KeyError) as error:
        raise RelaxError(error.args[0] if isinstance(error, KeyError) else str(error)) from None
    for index, result in enumerate(arrays):
        what = f"{list(result.shape)} {result.dtype}\n" if isinstance(result, np.ndarray) else ""
        print(f"result {index}: {what}{result}")
    if output:
        try:
            np.savez(output, *(result for result in arrays if isinstance(result, np.ndarray)))
        except OSError as error:
            raise RelaxError(f"cannot write '{output}': {error.strerror}") from None


def _flatten(results: Any) -> list[Any]:
    """Members of tuples one by one."""
    if isinstance(results, (Sequence, tvm_ffi.Array)):
        return [array for member in results for array in _flatten(member)]
    return [results]


# --- generate and chat


def _write(pieces: Iterator[str]) -> None:
    for piece in pieces:
        sys.stdout.write(piece)
        sys.stdout.flush()
    sys.stdout.write("\n")


def _check_max_tokens(count: int | None) -> None:
    """Before a model is read, which takes long."""
    if count is not None and count < 1:
        raise RelaxError(f"--max-tokens is {count}; expected at least 1")


def _speeds(model: LanguageModel) -> str:
    s = model.statistics
    return (
        f"prompt {s.prompt_tokens} tokens, {s.prompt_rate:.1f} tokens/s; "
        f"answer {s.new_tokens} tokens, {s.decode_rate:.1f} tokens/s"
    )


def answer(
    name: str,
    prompt: str,
    *,
    raw: bool,
    system: str | None,
    max_tokens: int | None,
    sampling: Sampling,
    options: Mapping[str, Any],
) -> None:
    _check_max_tokens(max_tokens)
    if prompt == "-":
        try:
            prompt = sys.stdin.buffer.read().decode()
        except UnicodeDecodeError as error:
            raise RelaxError(f"the standard input is no text in {error.encoding}: {error.reason}") from None
    model = open_model(name, options)
    messages = [{"role": "system", "content": system}] if system else []
    messages.append({"role": "user", "content": prompt})
    if raw or not model.tokenizer.chat_template:
        pieces = model.stream(prompt, max_new_tokens=max_tokens, sampling=sampling)
    else:
        pieces = model.stream(messages, max_new_tokens=max_tokens, sampling=sampling)
    _write(pieces)
    notes.print(f"[dim]{_speeds(model)}[/dim]")


def talk(
    name: str, *, system: str | None, max_tokens: int | None, sampling: Sampling, options: Mapping[str, Any]
) -> None:
    _check_max_tokens(max_tokens)
    model = open_model(name, options)
    conversation = model.chat(system=system)
    while True:
        try:
            text = notes.input("[bold]> [/bold]").strip()
        except (EOFError, KeyboardInterrupt):
            return
        if not text:
            return
        if text == "/clear":
            conversation.clear()
            continue
        try:
            _write(conversation.say(text, max_new_tokens=max_tokens, sampling=sampling))
        except KeyboardInterrupt:
            notes.print("\n[dim]stopped[/dim]")
        except RelaxError as error:
            notes.print(f"[red]{error}[/red]")
        else:
            notes.print(f"[dim]{_speeds(model)}[/dim]")


# --- bench


def _numbers(text: str, what: str) -> list[int]:
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if not numbers or min(numbers) < 1:
        raise RelaxError(f"{what} is {text!r}; expected numbers such as 1,16,128")
    return numbers


def measure(name: str, prompts: str, batches: str, steps: int, *, options: Mapping[str, Any]) -> None:
    lengths, sizes = _numbers(prompts, "--prompts"), _numbers(batches, "--batches")
    if steps < 1:
        raise RelaxError(f"--steps is {steps}; expected at least 1")
    model = open_model(name, options)
    title = ", ".join(filter(None, (name, options["layout"])))
    table = Table("batch", "prompt", "prompt, tokens/s", "answer, tokens/s", title=title)
    generator = np.random.default_rng(0)
    for batch in sizes:
        for length in lengths:
            if length + steps > model.config.context_length:
                raise ModelError(
                    f"{length} + {steps} tokens are more than the context of {model.config.context_length}"
                )
            tokens = generator.integers(0, model.config.vocab_size, (batch, length))
            rates = [_measure(model, tokens, steps) for _ in range(3)]
            prompt, decode = (sorted(column)[1] for column in zip(*rates))
            table.add_row(str(batch), str(length), f"{prompt:.1f}", f"{decode:.1f}")
    Console(highlight=False).print(table)


def _measure(model: LanguageModel, tokens: np.ndarray, steps: int) -> tuple[float, float]:
    """Tokens per second of the prompt, and of the steps after it."""
    batch, length = tokens.shape
    cache = model.new_cache(batch, length + steps)
    begin = time.perf_counter()
    logits = model.logits(tokens, cache)
    middle = time.perf_counter()
    for _ in range(steps):
        logits = model.logits(logits.argmax(-1)[:, None], cache)
    end = time.perf_counter()
    return batch * length / (middle - begin), batch * steps / (end - middle)

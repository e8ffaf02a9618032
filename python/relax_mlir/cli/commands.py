# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the subcommands do."""

from __future__ import annotations

import dataclasses
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from .. import load
from ..compiler import compile_code
from ..errors import ContextLengthError, ModelError, RelaxError
from ..export import Exported, check_folder, open_exported
from ..export import export as export_code
from ..frontends.program import Program as ImportedProgram
from ..models import LanguageModel, Sampling, Tokenizer, build
from ..models.exported import Description, is_exported, load_exported, read_description
from ..models.generation import check_lengths
from ..models.loading import Program, options_for
from ..models.matrix import FLOATS8, QUANTISATIONS
from ..runtime import profile
from ..target import Target
from .messages import read_message
from .notes import note, notes, progress

Check = Callable[["Program | Description"], None]
"""What refuses a model for what a command is to do with it, before the model is compiled or its weights are read."""


def compile_program(program: Program, target: str) -> LanguageModel:
    """Compiles, with a bar for the weights."""
    begin = time.perf_counter()
    with progress("compiling", len(program.weights)) as advance:
        program.weights.on_read = advance
        model = program.compile(target=target)
    seconds = time.perf_counter() - begin
    size = program.weights.nbytes / 2**20
    note(f"{program.path.name}: {size:.0f} MiB of weights, ready in {seconds:.1f} s", style="dim")
    return model


def open_model(name: str, options: Mapping[str, Any], check: Check | None = None) -> LanguageModel:
    """A model, compiled unless it is an exported folder."""
    if is_exported(name):
        refuse_options(name, "was compiled with its options", _of_models(options))
        exported = open_exported(name)
        check_target(exported, options["target"])
        with progress(f"reading {name}"):
            description = read_description(exported)
            if check:
                check(description)
            return load_exported(name, description)
    target = options["target"] or "cpu"
    program = read_program(name, {**options, "target": target})
    if check:
        check(program)
    return compile_program(program, target)


def _of_models(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that change how a model is compiled, but for its target."""
    return {name: options[name] for name in ("layout", "quantize", "context")}


def refuse_options(source: str, why: str, options: Mapping[str, Any]) -> None:
    """Refuses options, by name, that have no effect on a source. Options that were not given are None."""
    given = [f"--{name}" for name, value in options.items() if value is not None]
    if given:
        raise ModelError(f"'{source}' {why}; leave {' and '.join(given)} out")


def read_program(name: str, options: Mapping[str, Any]) -> Program:
    """A model before it is compiled, with matrices as they are best for the target.

    Args:
      options: the target, and what `_of_models` takes.
    """
    chosen, quantize = options_for(options["target"]), options["quantize"]
    if options["layout"]:
        chosen["layout"] = options["layout"]
    if quantize is not None:
        layout = chosen.setdefault("layout", "quantised")
        if quantize not in QUANTISATIONS:
            raise ModelError(f"--quantize is {quantize!r}; expected one of {', '.join(QUANTISATIONS)}")
        expected = ("groups",) if quantize in FLOATS8 else ("quantised", "groups")
        if layout not in expected:
            raise ModelError(f"--quantize {quantize} needs --layout {' or '.join(expected)}, got {layout}")
        chosen["quantisation"] = quantize
    with progress(f"reading {name}"):
        return build(name, context_length=options["context"], **chosen)


def check_target(exported: Exported, wanted: str | None) -> None:
    """An exported folder runs on what it was compiled for, and nowhere else; "cpu", "cuda" and "vulkan" are any."""
    if not wanted:
        return
    compiled = exported.code.target
    if wanted in ("cpu", "cuda", "vulkan"):
        is_same, name = (compiled.device or "cpu") == wanted, wanted
    else:
        target = Target.parse(wanted)
        compared = ("chip", "libraries") if target.chip else ("triple", "cpu", "chip")
        is_same = all(getattr(compiled, field) == getattr(target, field) for field in compared)
        name = _describe_target(target)
    if not is_same:
        raise ModelError(
            f"'{exported.folder}' was compiled for {_describe_target(compiled)}, not for {name}; "
            "leave --target out, or compile it again"
        )


def _describe_target(target: Target) -> str:
    if target.chip:
        return "+".join((f"{target.device}:{target.chip}", *target.libraries))
    return f"{target.triple}:{target.cpu}" if target.cpu else target.triple


# --- compile and explain


@contextmanager
def warnings_as_notes() -> Iterator[None]:
    """Shows warnings about what is done without lines of this package."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RuntimeWarning)
        yield
    for warning in caught:
        notes.print(f"warning: {warning.message}", markup=False)


def export(source: str, output: Path, *, options: Mapping[str, Any], smallest: int | None) -> None:
    with warnings_as_notes():
        _export(source, output, options, smallest)


def _export(source: str, output: Path, options: Mapping[str, Any], smallest: int | None) -> None:
    target = options["target"]
    if kind := imported_kind(source):
        refuse_options(source, f"is {kind}, not a language model", _of_models(options))
        program = read_imported_program(source, smallest)
        with progress(f"compiling {source}"):
            program.export(output, target)
        note(f"wrote {output}")
        return
    if smallest is not None:
        raise ModelError(f"'{source}' is not a PyTorch program (.pt2); leave --smallest out")
    if Path(source).suffix in (".mlir", ".mlirbc"):
        refuse_options(source, "is a program, not a model", _of_models(options))
        check_folder(output)
        with progress(f"compiling {source}"):
            export_code(compile_code(load(source), target), output)
        note(f"wrote {output}")
        return
    check_folder(output)
    model = read_program(source, options)
    with progress("compiling", len(model.weights)) as advance:
        model.weights.on_read = advance
        model.export(output, target)
    note(f"wrote {output}")


_IMPORTED = {".pt2": "a program of PyTorch", ".onnx": "an ONNX model"}
"""Files of other frameworks, by suffix."""


def imported_kind(source: str) -> str | None:
    """What a file of another framework is; None for other sources."""
    return None if Path(source).is_dir() else _IMPORTED.get(Path(source).suffix)


def refuse_imported_program(source: str) -> None:
    """Refuses a file of another framework where only what it is compiled to can be used."""
    if kind := imported_kind(source):
        raise ModelError(
            f"'{source}' is {kind}; compile it first: relax-mlir compile {source} -o FOLDER "
            "(relax-mlir explain shows its sizes)"
        )


def read_imported_program(source: str, smallest: int | None) -> ImportedProgram:
    """A program that `torch.export.save` wrote, or an ONNX model, imported."""
    if Path(source).is_dir():
        raise ModelError(f"'{source}' is a folder; expected a program of PyTorch (.pt2), or an ONNX model (.onnx)")
    if Path(source).suffix not in _IMPORTED:
        raise ModelError(
            f"'{source}' is neither a program of PyTorch, a .pt2 file, which torch.export.save writes, nor an ONNX "
            "model, an .onnx file"
        )
    if not Path(source).is_file():
        raise ModelError(f"cannot read '{source}': there is no such file")
    if Path(source).suffix == ".onnx":
        if smallest is not None:
            raise ModelError(f"'{source}' is not a PyTorch program (.pt2); leave --smallest out")
        from ..frontends.onnx import from_onnx

        with progress(f"importing {source}"):
            return from_onnx(source)
    from ..frontends.torch import from_exported_program

    with progress(f"importing {source}"):
        return from_exported_program(source, smallest=2 if smallest is None else smallest)


def explain(source: str, smallest: int | None) -> None:
    """Shows what is known of a program of another framework."""
    print(read_imported_program(source, smallest).report)


# --- generate and chat


@dataclasses.dataclass(frozen=True)
class Answers:
    """How a model answers: the system message, the most tokens, sampling, and the texts that end an answer.

    Raises:
      RelaxError: an option is invalid, which is reported before a model is read.
    """

    system: str | None
    max_tokens: int | None
    sampling: Sampling
    stop: tuple[str, ...]

    def __post_init__(self) -> None:
        if self.max_tokens is not None and self.max_tokens < 1:
            raise RelaxError(f"--max-tokens is {self.max_tokens}; expected at least 1")
        if "" in self.stop:
            raise RelaxError("--stop is ''; expected a text that is not empty")

    @property
    def options(self) -> dict[str, Any]:
        """The options of `LanguageModel.stream` and `Chat.say`."""
        return {"max_new_tokens": self.max_tokens, "sampling": self.sampling, "stop": self.stop}


def _write(pieces: Iterator[str]) -> None:
    for piece in pieces:
        sys.stdout.write(piece)
        sys.stdout.flush()
    sys.stdout.write("\n")


def _tokenizer_of(model: Program | Description) -> Tokenizer:
    if model.tokenizer is None:
        raise ModelError(f"the model has no tokenizer, which text needs: {model.no_tokenizer}")
    return model.tokenizer


def _speeds(model: LanguageModel) -> str:
    s = model.statistics
    return (
        f"prompt {s.prompt_tokens} tokens, {s.prompt_rate:.1f} tokens/s; "
        f"answer {s.new_tokens} tokens, {s.decode_rate:.1f} tokens/s"
    )


def _note_end(model: LanguageModel, advice: str = "") -> None:
    """Says how fast an answer was, and whether it lacks its end."""
    if model.statistics.end == "context":
        note(f"the answer ends here, as the context of {model.config.context_length} tokens is full{advice}", "yellow")
    note(_speeds(model), style="dim")


def _read_prompt(prompt: str | None, file: str | None) -> str:
    """The prompt, from the command line or from a file, as it is."""
    if prompt is not None and file is not None:
        raise RelaxError("there is a prompt, and --prompt-file as well; leave one of them out")
    if prompt is None and file is None:
        raise RelaxError("there is no prompt; give it after the model, or name a file with --prompt-file")
    if prompt not in (None, "-"):
        return prompt
    what = "the standard input" if file in (None, "-") else f"--prompt-file '{file}'"
    try:
        data = sys.stdin.buffer.read() if file in (None, "-") else Path(file).read_bytes()
        return data.decode()
    except OSError as error:
        raise RelaxError(f"{what} cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise RelaxError(f"{what} is not text in {error.encoding}: {error.reason}") from None


def answer(
    name: str,
    prompt: str | None,
    prompt_file: str | None,
    answers: Answers,
    *,
    raw: bool,
    options: Mapping[str, Any],
) -> None:
    system = answers.system
    if raw and system:
        raise RelaxError(
            "--system has no effect with --raw, which continues the prompt as it is; leave one of them out"
        )
    text = _read_prompt(prompt, prompt_file)
    messages = [{"role": "system", "content": system}] if system else []
    messages.append({"role": "user", "content": text})

    def check(described: Program | Description) -> None:
        tokenizer = _tokenizer_of(described)
        if system and not tokenizer.chat_template:
            raise ModelError("the model has no chat template, and so no place for --system; leave it out")
        is_chat = not raw and tokenizer.chat_template
        ids = tokenizer.encode_chat(messages) if is_chat else tokenizer.encode(text)
        check_lengths([len(ids)], answers.max_tokens, described.config.context_length)

    model = open_model(name, options, check)
    is_text = raw or not model.tokenizer.chat_template
    _write(model.stream(text if is_text else messages, **answers.options))
    _note_end(model)


def talk(name: str, answers: Answers, *, options: Mapping[str, Any]) -> None:
    system = answers.system

    def check(described: Program | Description) -> None:
        # A template shows what it refuses, such as a system message, when it is used.
        messages = [{"role": "system", "content": system}] if system else []
        _tokenizer_of(described).encode_chat([*messages, {"role": "user", "content": "hello"}])

    model = open_model(name, options, check)
    conversation = model.chat(system=system)
    while True:
        try:
            text = read_message(notes)
        except (EOFError, KeyboardInterrupt):
            return
        if not text:
            return
        if text == "/clear":
            conversation.clear()
            continue
        try:
            _write(conversation.say(text, **answers.options))
        except KeyboardInterrupt:
            note("\nstopped", style="dim")
        except ContextLengthError as error:
            note(f"{error}, or enter /clear to forget the conversation", style="red")
        except RelaxError as error:
            note(str(error), style="red")
        else:
            _note_end(model, "; enter /clear to forget the conversation")


# --- bench


def _numbers(text: str, what: str) -> list[int]:
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if not numbers or min(numbers) < 1:
        raise RelaxError(f"{what} is {text!r}; expected numbers such as 1,16,128")
    return numbers


def measure(
    name: str, prompts: str, batches: str, steps: int, *, options: Mapping[str, Any], kernels: bool = False
) -> None:
    """Measures a language model and shows the rates; with `kernels`, also the kernels of the last row of the table."""
    lengths, sizes = _numbers(prompts, "--prompts"), _numbers(batches, "--batches")
    if steps < 1:
        raise RelaxError(f"--steps is {steps}; expected at least 1")

    def check(described: Program | Description) -> None:
        context = described.config.context_length
        if max(lengths) + steps > context:
            raise ModelError(f"{max(lengths)} + {steps} tokens are more than the context of {context}")

    model = open_model(name, options, check)
    title = ", ".join(filter(None, (name, options["layout"], options["quantize"])))
    table = Table("batch", "prompt", "prompt, tokens/s", "answer, tokens/s", title=title)
    generator = np.random.default_rng(0)
    for batch in sizes:
        for length in lengths:
            tokens = generator.integers(0, model.config.vocab_size, (batch, length))
            rates = [_measure(model, tokens, steps) for _ in range(3)]
            prompt, decode = (sorted(column)[1] for column in zip(*rates))
            table.add_row(str(batch), str(length), f"{prompt:.1f}", f"{decode:.1f}")
    Console(highlight=False, markup=False, emoji=False).print(table)
    if kernels:
        from .bench import show_kernels

        with profile() as times:
            _measure(model, tokens, steps)
            if model.device:
                model.device.synchronize()
        show_kernels(times, model.device.kind if model.device else "")


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

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The subcommands of `relax-mlir`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from ..models import Sampling

app = typer.Typer(
    help="Compiles programs whose shapes are known at run time, and runs language models.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

ModelArgument = Annotated[
    str,
    typer.Argument(
        metavar="MODEL",
        help="A .gguf file, a folder in Hugging Face's form, an exported folder, or 'smollm2' where it is installed.",
    ),
]
ProgramArgument = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE",
        help="An ONNX model (.onnx), a program of PyTorch (.pt2) or in a .mlir file, or an exported folder.",
    ),
]
Inputs = Annotated[
    list[str] | None,
    typer.Option(
        "--input",
        "-i",
        help="name=VALUE, or VALUE by position; may be given repeatedly. VALUE is x.npy, a number, or a shape with a "
        "type, such as 2x128xf32, filled at random; all.npz holds inputs under their names.",
    ),
]
Layout = Annotated[
    str | None,
    typer.Option(
        help="How matrices lie in memory: panels (f32, the default), quantised (as the file has them); "
        "on a GPU groups (as the file has them, the default), plain."
    ),
]
Quantize = Annotated[
    str | None,
    typer.Option(
        "--quantize",
        metavar="FORMAT",
        help="Quantize matrices as they are read, to Q4_0, Q4_1 or Q8_0; on a GPU also to F8_E4M3 or F8_E5M2.",
    ),
]
Where = Annotated[
    str | None,
    typer.Option(
        "--target",
        help="Where it runs: cpu, the default, cuda for a GPU of NVIDIA, or vulkan. An exported folder knows it.",
    ),
]
WhereTo = Annotated[
    str,
    typer.Option(
        "--target",
        help="What it is for: cpu, cuda or vulkan for the device that is here, cpu:x86-64-v3,+avx512bf16, cuda:sm_90, "
        "vulkan:subgroup_32, aarch64-linux-gnu, …",
    ),
]
Smallest = Annotated[
    int | None,
    typer.Option(
        help="The least dynamic size for which a .pt2 program is known to be right; the export itself assumes 2."
    ),
]
Context = Annotated[int | None, typer.Option(help="A bound on the tokens of a sequence.")]
MaxTokens = Annotated[int | None, typer.Option("--max-tokens", "-n", help="The most tokens to generate.")]
Temperature = Annotated[float, typer.Option(help="0 takes the most likely token; higher is more surprising.")]
TopK = Annotated[int, typer.Option(help="Draw from so many of the most likely tokens; 0 from all.")]
TopP = Annotated[float, typer.Option(help="Draw from the fewest tokens whose probabilities reach this.")]
MinP = Annotated[float, typer.Option(help="Draw from tokens at least this fraction as likely as the first.")]
Seed = Annotated[int | None, typer.Option(help="The same seed gives the same text.")]
RepetitionPenalty = Annotated[
    float, typer.Option(help="More than 1 makes tokens less likely that the prompt or the answer has already.")
]
Stop = Annotated[
    list[str] | None,
    typer.Option("--stop", help="A text that ends the answer, which does not include it; may be given repeatedly."),
]
Threads = Annotated[int | None, typer.Option(min=1, max=1024, help="Threads of the CPU; one per core by default.")]
Function = Annotated[str, typer.Option("--function", "-f", help="Which function of the program.")]


def _show_version(wanted: bool) -> None:
    if wanted:
        from .. import __version__

        print(f"relax-mlir {__version__}")
        raise typer.Exit


def _sampling(**values: Any) -> Sampling:
    """The sampling parameters; an error names the option."""
    from ..errors import RelaxError
    from ..models import Sampling

    try:
        return Sampling(**values)
    except RelaxError as error:
        name, _, rest = str(error).partition(" ")
        if name not in values:
            raise
        raise RelaxError(f"--{name.replace('_', '-')} {rest}") from None


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and leave.")
    ] = False,
) -> None:
    pass


@app.command("compile")
def compile_(
    source: Annotated[
        str, typer.Argument(metavar="SOURCE", help="A model, also of ONNX, or a program in a .mlir or a .pt2 file.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder to write.")],
    layout: Layout = None,
    quantize: Quantize = None,
    context: Context = None,
    target: WhereTo = "cpu",
    smallest: Smallest = None,
) -> None:
    """Compiles a model to a folder, which generate, chat and bench take as it is, or a program, which run takes."""
    from .commands import export

    options = {"layout": layout, "quantize": quantize, "context": context, "target": target}
    export(source, output, options=options, smallest=smallest)


@app.command()
def explain(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="A program of PyTorch (.pt2), or an ONNX model.")],
    smallest: Smallest = None,
) -> None:
    """Shows the sizes of a program of PyTorch or ONNX with their bounds, what is checked at a call, and its ops."""
    from .commands import explain as show

    show(source, smallest)


@app.command()
def run(
    source: ProgramArgument,
    arguments: Annotated[
        list[str] | None,
        typer.Argument(metavar="ARGUMENT...", help="Inputs, as for --input."),
    ] = None,
    inputs: Inputs = None,
    function: Function = "main",
    output: Annotated[
        list[str] | None,
        typer.Option(
            "--output", "-o", help="A .npz file for all results, or name=file.npy for one; may be given repeatedly."
        ),
    ] = None,
    save: Annotated[Path | None, typer.Option("--save", help="A folder for the results, a .npy file each.")] = None,
    threads: Threads = None,
    target: Where = None,
) -> None:
    """Calls a model, or a function of a program, and shows its results."""
    from ..runtime import threads as using_threads
    from .calling import call

    arguments = [*(arguments or []), *(inputs or [])]
    with using_threads(threads):
        call(source, arguments, function=function, outputs=output or [], folder=save, target=target)


@app.command()
def generate(
    model: ModelArgument,
    prompt: Annotated[str | None, typer.Argument(help="The prompt; - reads it from the standard input.")] = None,
    prompt_file: Annotated[
        str | None,
        typer.Option("--prompt-file", metavar="FILE", help="A text file with the prompt; - is the standard input."),
    ] = None,
    raw: Annotated[
        bool, typer.Option("--raw", help="Continue the prompt as it is, without the chat template.")
    ] = False,
    system: Annotated[str | None, typer.Option(help="The message that tells the model how to behave.")] = None,
    max_tokens: MaxTokens = None,
    temperature: Temperature = 0.0,
    top_k: TopK = 0,
    top_p: TopP = 1.0,
    min_p: MinP = 0.0,
    repetition_penalty: RepetitionPenalty = 1.0,
    seed: Seed = None,
    stop: Stop = None,
    layout: Layout = None,
    quantize: Quantize = None,
    context: Context = None,
    threads: Threads = None,
    target: Where = None,
) -> None:
    """Answers a prompt; the text comes as it is made."""
    from ..runtime import threads as using_threads
    from .commands import Answers, answer

    sampling = _sampling(
        temperature=temperature,
        top_k=top_k,
        top_p=top_p,
        min_p=min_p,
        seed=seed,
        repetition_penalty=repetition_penalty,
    )
    answers = Answers(system, max_tokens, sampling, tuple(stop or ()))
    options = {"layout": layout, "quantize": quantize, "context": context, "target": target}
    with using_threads(threads):
        answer(model, prompt, prompt_file, answers, raw=raw, options=options)


@app.command()
def chat(
    model: ModelArgument,
    system: Annotated[str | None, typer.Option(help="The message that tells the model how to behave.")] = None,
    max_tokens: MaxTokens = None,
    temperature: Temperature = 0.7,
    top_k: TopK = 40,
    top_p: TopP = 0.95,
    min_p: MinP = 0.0,
    repetition_penalty: RepetitionPenalty = 1.0,
    seed: Seed = None,
    stop: Stop = None,
    layout: Layout = None,
    quantize: Quantize = None,
    context: Context = None,
    threads: Threads = None,
    target: Where = None,
) -> None:
    """Talks with a model. An empty line or the end of the input leaves; /clear forgets.

    A message of several lines can be pasted in a terminal, or stands between lines of three quotes.
    """
    from ..runtime import threads as using_threads
    from .commands import Answers, talk

    sampling = _sampling(
        temperature=temperature,
        top_k=top_k,
        top_p=top_p,
        min_p=min_p,
        seed=seed,
        repetition_penalty=repetition_penalty,
    )
    options = {"layout": layout, "quantize": quantize, "context": context, "target": target}
    with using_threads(threads):
        talk(model, Answers(system, max_tokens, sampling, tuple(stop or ())), options=options)


@app.command()
def inspect(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="A model, or a program in a .mlir file.")],
    layout: Layout = None,
    sizes: Annotated[
        str | None,
        typer.Option(
            help="Values of symbols, such as batch=8,seq=128, for which to show the memory in bytes; others are 128."
        ),
    ] = None,
    plot: Annotated[bool, typer.Option("--plot", help="Draw each tensor in its memory over time.")] = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Where to draw: a .png, .svg or .pdf file [FUNCTION-memory.png]."),
    ] = None,
) -> None:
    """Shows what a model or a program is: signatures, symbols with their bounds, kernels, sizes."""
    from .inspection import inspect as show

    show(source, layout=layout, sizes=sizes, plot=plot or output is not None, output=output)


@app.command()
def bench(
    source: Annotated[
        str, typer.Argument(metavar="SOURCE", help="A language model, as for generate, or a program, as for run.")
    ],
    prompts: Annotated[str | None, typer.Option(help="Of language models: lengths of prompts [1,16,128,512].")] = None,
    batches: Annotated[str | None, typer.Option(help="Of language models: sizes of batches [1].")] = None,
    steps: Annotated[int | None, typer.Option(help="Of language models: tokens after each prompt [32].")] = None,
    layout: Layout = None,
    quantize: Quantize = None,
    inputs: Inputs = None,
    sizes: Annotated[
        str | None,
        typer.Option(help="Of programs: the sizes of random inputs by symbol, such as batch=8,seq=128."),
    ] = None,
    threads: Threads = None,
    rounds: Annotated[int | None, typer.Option(help="Of programs: rounds whose median is shown [10].")] = None,
    against: Annotated[
        str | None,
        typer.Option(help="Of ONNX models: auto (onnxruntime, if it is installed), onnxruntime, or none [auto]."),
    ] = None,
    kernels: Annotated[
        bool, typer.Option("--kernels", help="Show how long each kernel takes, except on CUDA devices.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Of programs: write JSON, in seconds and bytes.")] = False,
    target: Where = None,
) -> None:
    """Measures a language model, in tokens per second, or a program: compiling, and the median of calls."""
    from ..runtime import threads as using_threads
    from .commands import measure, refuse_options
    from .programs import is_program

    of_models = {"prompts": prompts, "batches": batches, "steps": steps, "layout": layout, "quantize": quantize}
    of_programs = {"input": inputs, "sizes": sizes, "rounds": rounds, "against": against, "json": as_json or None}
    if is_program(source):
        refuse_options(source, "is a program, not a language model", of_models)
        from .bench import bench as measure_program

        measure_program(
            source,
            inputs or [],
            sizes=sizes or "",
            threads=threads,
            rounds=10 if rounds is None else rounds,
            against=against or "auto",
            target=target,
            kernels=kernels,
            as_json=as_json,
        )
        return
    refuse_options(source, "is a language model, not a program", of_programs)
    options = {"layout": layout, "quantize": quantize, "context": None, "target": target}
    with using_threads(threads):
        lengths, sizes_of_batches = prompts or "1,16,128,512", batches or "1"
        measure(source, lengths, sizes_of_batches, 32 if steps is None else steps, options=options, kernels=kernels)

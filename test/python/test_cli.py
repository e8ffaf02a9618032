# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command `relax-mlir`."""

import contextlib
import dataclasses
import errno
import importlib.metadata
import io
import json
import os
import pty
import re
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from targets import needs_linker
from tiny_models import CONFIG, random_weights, smollm2, write_gguf, write_hugging_face

from relax_mlir import RelaxError, Target, parse
from relax_mlir.cli import commands, programs
from relax_mlir.cli.app import app
from relax_mlir.cli.calling import call
from relax_mlir.cli.commands import read_program
from relax_mlir.cli.inputs import parse_argument
from relax_mlir.cli.messages import read_message
from relax_mlir.export import Exported
from relax_mlir.models import Program, build
from relax_mlir.runtime import library_path, thread_count

EMULATOR = str(library_path().with_name("librelax_emulator.so"))

OPTIONS = {"layout": None, "quantize": None, "context": None, "target": "cpu"}

PROGRAM = """
relax.func @main(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %y: tensor<4xf32>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
    attributes {relax.symbols = {n = #relax.range<1, 64>}} {
  %0 = relax.add %x, %y
      : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<4xf32>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  relax.return %0 : tensor<?x4xf32, #relax.shape<[n, 4]>>
}
"""


def relax_mlir(*arguments, status=0, stdin="", **environment):
    """The output of the command, on both streams."""
    command = [sys.executable, "-c", "from relax_mlir.cli import main; main()", *map(str, arguments)]
    run = subprocess.run(
        command, capture_output=True, text=True, input=stdin, timeout=120, env={**os.environ, **environment}
    )
    assert run.returncode == status, run.stdout + run.stderr
    assert "Traceback" not in run.stderr
    return run.stdout + run.stderr


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "program.mlir"
    path.write_text(PROGRAM)
    return path


def test_help():
    text = relax_mlir("--help")
    for command in ("compile", "run", "generate", "chat", "inspect", "bench"):
        assert command in text


# The results of a call are printed, and written to files.
def test_run(program, tmp_path):
    x = np.arange(8, dtype=np.float32).reshape(2, 4)
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", x[0])
    text = relax_mlir("run", program, tmp_path / "x.npy", tmp_path / "y.npy", "-o", tmp_path / "out.npz")
    assert "result 0: [2, 4] float32" in text
    np.testing.assert_array_equal(np.load(tmp_path / "out.npz")["arr_0"], x + x[0])
    assert "result 0: [3, 4]" in relax_mlir("run", program, "3x4xf32", "4xf32")


# A model runs on the given target; an invalid target is an error, not a traceback.
def test_targets(tmp_path):
    path = write_gguf(tmp_path / "x.gguf", random_weights())
    sizes = ["--prompts", "2", "--steps", "2", "--layout", "plain"]
    for target in ("cpu", "cuda:emulated"):
        text = relax_mlir("bench", path, *sizes, "--target", target, RELAX_CUDA_DRIVER=EMULATOR)
        assert "tokens/s" in text
    text = relax_mlir("bench", path, *sizes, "--target", "cuda", status=1, RELAX_CUDA_DRIVER="/nowhere/libcuda.so.1")
    assert "no CUDA driver" in text
    assert "there is no target 'tpu'" in relax_mlir("bench", path, *sizes, "--target", "tpu", status=1)


# Paths and names are plain text: text that rich would interpret as markup or an emoji is shown literally.
@needs_linker
def test_names_are_not_markup(tmp_path, capsys):
    folder = tmp_path / "[bold]x[" / "y]"
    folder.mkdir(parents=True)
    path = folder / "[red]:smile:.mlir"
    path.write_text(PROGRAM.replace("@main", '@"[red]main[/q]:smile:"'))

    def shown(*arguments):
        app(list(map(str, arguments)), standalone_mode=False)
        captured = capsys.readouterr()
        return (captured.out + captured.err).replace("\n", "")

    assert "[red]main[/q]:smile:(f32[n, 4], f32[4])" in shown("inspect", path)
    assert f"wrote {path}.out" in shown("compile", path, "-o", f"{path}.out")
    assert "[red]main[/q]:smile:(" in shown("inspect", f"{path}.out")
    model = write_gguf(folder / "[red]:smile:.gguf", random_weights())
    assert f"wrote {folder / 'out[/z]'}" in shown("compile", model, "-o", folder / "out[/z]")
    assert "[red]:smile:.gguf" in shown("inspect", model)
    text = shown("bench", model, "--prompts", "1", "--steps", "1", "--kernels")
    assert "[red]:smile:.gguf: 0 MiB of weights" in text and "s in 2 calls of forward" in text


# All of the command's consoles show text literally.
def test_consoles_know_no_markup():
    for source in Path(commands.__file__).parent.glob("*.py"):
        for made in re.findall(r"(?:Console|TextColumn)\(.*", source.read_text()):
            assert "markup=False" in made, (source, made)


# Output that cannot be written is an error, unless the reader has closed the pipe.
def test_output_that_cannot_be_written(program):
    command = [sys.executable, "-c", "from relax_mlir.cli import main; main()"]
    for arguments in (["run", program, "2x4xf32", "4xf32"], ["--version"]):
        with open("/dev/full", "w") as full:
            run = subprocess.run([*command, *map(str, arguments)], stdout=full, stderr=subprocess.PIPE, text=True)
        assert run.returncode == 1
        assert run.stderr == "error: cannot write the output: No space left on device\n"
    closed = f"{sys.executable} -c 'from relax_mlir.cli import main; main()' --version"
    assert subprocess.run(f"{closed} >&- 2>&- <&-", shell=True, capture_output=True).returncode == 0


# Results are written atomically.
def test_results_that_cannot_be_written(program, tmp_path, monkeypatch):
    for place, message in ((tmp_path, "it is a folder"), (tmp_path / "no" / "x.npz", "there is no folder")):
        assert message in relax_mlir("run", program, "2x4xf32", "4xf32", "-o", place, status=1)

    def fail(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("os.replace", fail)
    (tmp_path / "x.npz").write_text("before")
    with pytest.raises(RelaxError, match="cannot write '.*x.npz': No space left on device"):
        call(str(program), ["2x4xf32", "4xf32"], outputs=[str(tmp_path / "x.npz")])
    assert (tmp_path / "x.npz").read_text() == "before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["program.mlir", "x.npz"]


# A link is followed to the file that it names, and files with guessable temporary names stay.
def test_results_go_where_a_link_leads(program, tmp_path):
    (tmp_path / "link.npz").symlink_to(tmp_path / "there.npz")
    planted = tmp_path / f".link.npz.{os.getpid()}.part"
    planted.symlink_to(tmp_path / "secret")
    call(str(program), ["2x4xf32", "4xf32"], outputs=[str(tmp_path / "link.npz")])
    assert np.load(tmp_path / "there.npz")["arr_0"].shape == (2, 4) and (tmp_path / "link.npz").is_symlink()
    assert planted.is_symlink() and not (tmp_path / "secret").exists()


# Function names that are invalid as file names do not make two pictures collide.
def test_pictures_of_functions_whose_names_look_alike(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    from relax_mlir.cli.plot import draw
    from relax_mlir.pipelines.cpu import default_pipeline

    function = "relax.func @{} (%x: tensor<4xf32>) -> tensor<4xf32> {{\n" + (
        "  %0 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>\n  relax.return %0 : tensor<4xf32>\n}}\n"
    )
    module = parse("".join(map(function.format, ('"a.b"', '"a-b"', "a_b"))))
    default_pipeline().run(module)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a_b-memory.png").symlink_to(tmp_path / "picture.png")
    names = ["a_b-2-memory.png", "a_b-3-memory.png", "a_b-memory.png"]
    assert sorted(map(str, draw(module))) == names
    assert sorted(path.name for path in tmp_path.iterdir()) == [*names, "picture.png"]


# A read error is not reported as a write error, and characters that the terminal's encoding lacks are escaped.
def test_errors_of_the_system(program, tmp_path):
    text = relax_mlir("run", "x" * 300, status=1)
    assert "File name too long" in text and "cannot write the output" not in text
    command = [sys.executable, "-c", "from relax_mlir.cli import main; main()"]
    (tmp_path / "größe.mlir").write_text(Path(program).read_text())
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C.UTF-8"}
    run = subprocess.run(
        [*command, "run", "größe→.mlir"], cwd=tmp_path, capture_output=True, text=True, env=environment
    )
    assert run.returncode == 1 and "Traceback" not in run.stderr and "\\u2192.mlir" in run.stderr
    run = subprocess.run(
        [*command, "inspect", "größe.mlir"], cwd=tmp_path, capture_output=True, text=True, env=environment
    )
    assert run.returncode == 0 and "Traceback" not in run.stderr, run.stderr


# For CPU code, too, the compiled target is compared with the requested one.
@needs_linker
def test_the_target_of_a_folder_for_a_cpu(program, tmp_path):
    relax_mlir("compile", program, "-o", tmp_path / "folder", "--target", "cpu:x86-64")
    arguments = [tmp_path / "folder", "2x4xf32", "4xf32"]
    compiled = re.escape(f"{Target.host().triple}:x86-64")
    for target, name in (
        ("cpu:skylake", re.escape(f"{Target.host().triple}:skylake")),
        ("aarch64-linux-gnu:cortex-a76", "aarch64-linux-gnu:cortex-a76"),
        ("cuda:sm_90", "cuda:sm_90"),
        ("vulkan", "vulkan"),
    ):
        text = " ".join(relax_mlir("run", *arguments, "--target", target, status=1).split())
        assert re.search(f"was compiled for {compiled}, not for {name};", text), text
    assert "there is no target 'tpu'" in relax_mlir("run", *arguments, "--target", "tpu", status=1)
    for target in ("cpu", "cpu:x86-64"):
        assert "result 0: [2, 4] float32" in relax_mlir("run", *arguments, "--target", target)


# An invalid prompt, argument or option is reported before a model is compiled or its weights are read.
@pytest.fixture
def nothing_is_compiled(monkeypatch):
    def fail(*arguments, **options):
        raise AssertionError("it was compiled, or its weights were read")

    monkeypatch.setattr(Program, "compile", fail)
    monkeypatch.setattr(programs, "compile_module", fail)
    monkeypatch.setattr(commands, "load_exported", fail)
    monkeypatch.setattr(Exported, "load", fail)


def small_model(path, template="{{ messages[-1].content }}"):
    tokenizers = pytest.importorskip("tokenizers")
    path = write_hugging_face(path, random_weights())
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel({f"w{i}": i for i in range(100)}, unk_token="w0"))
    words.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    words.save(str(path / "tokenizer.json"))
    (path / "tokenizer_config.json").write_text(json.dumps({"chat_template": template}))
    return path


@pytest.mark.parametrize(
    "template, arguments, message",
    [
        ("", ["generate", "MODEL", ""], "a prompt is empty"),
        ("", ["generate", "MODEL", "w1 " * 200], "the prompt has 200 tokens, the context 128"),
        ("", ["generate", "MODEL", "w1 w2", "--context", "1"], "the prompt has 2 tokens, the context 1"),
        ("", ["generate", "MODEL", "w1", "--system", "w2"], "no chat template, and so no place for --system"),
        ("", ["chat", "MODEL"], "no chat template"),
        ("x", ["generate", "MODEL", "w1", "--raw", "--system", "w2"], "--system has no effect with --raw"),
        ("{{ raise_exception('no system') }}", ["chat", "MODEL", "--system", "w2"], "no system"),
        ("{{ raise_exception('no users') }}", ["generate", "MODEL", "w2"], "no users"),
        (
            "x",
            ["bench", "MODEL", "--prompts", "1,120", "--steps", "9"],
            "120 [+] 9 tokens are more than the context of",
        ),
        ("x", ["compile", "MODEL", "-o", "MODEL"], "holds something else"),
        ("x", ["generate", "MODEL", "w1", "--layout", "other"], "unknown layout 'other'"),
        ("x", ["generate", "MODEL", "w1", "--target", "tpu"], "there is no target 'tpu'"),
        ("x", ["generate", "MODEL"], "there is no prompt; give it after the model, or name a file with --prompt-file"),
        ("x", ["generate", "MODEL", "w1", "--prompt-file", "-"], "a prompt, and --prompt-file as well; leave one"),
        ("x", ["generate", "MODEL", "--prompt-file", "MODEL"], "--prompt-file '.*' cannot be read: Is a directory"),
        ("x", ["generate", "MODEL", "--prompt-file", "WEIGHTS"], "--prompt-file '.*' is not text in utf-8: "),
        ("x", ["generate", "MODEL", "w1", "--stop", "a", "--stop", ""], "--stop is ''; expected a text"),
        ("x", ["chat", "MODEL", "--stop", ""], "--stop is ''; expected a text that is not empty"),
        (
            "x",
            ["generate", "MODEL", "w1", "--repetition-penalty", "0"],
            "--repetition-penalty is 0.0; expected a posit",
        ),
        ("x", ["generate", "MODEL", "w1", "--quantize", "Q4"], "--quantize is 'Q4'; expected one of Q4_0, Q4_1, Q8_0"),
        ("x", ["compile", "MODEL", "-o", "y", "--quantize", "F8_E4M3"], "F8_E4M3 needs --layout groups, got quantised"),
        (
            "x",
            ["chat", "MODEL", "--quantize", "Q4_0", "--layout", "plain"],
            "--quantize Q4_0 needs --layout quantised or groups, got plain",
        ),
        ("x", ["compile", "PROGRAM", "-o", "y", "--quantize", "Q4_0"], "not a model; leave --quantize out"),
        ("x", ["bench", "PROGRAM", "--quantize", "Q4_0"], "not a language model; leave --quantize out"),
        ("x", ["run", "PROGRAM", "4xf32"], "'main' takes 2 arguments, got 1"),
        ("x", ["run", "PROGRAM", "2x4xf32", "4xf32", "-f", "other"], "has no function 'other'; it has main"),
        ("x", ["compile", "PROGRAM", "-o", "x", "--layout", "plain"], "is a program, not a model; leave --layout out"),
        ("x", ["inspect", "PROGRAM", "--layout", "plain"], "is a program, not a model; leave --layout out"),
    ],
)
def test_known_before(tmp_path, program, nothing_is_compiled, template, arguments, message):
    path = small_model(tmp_path / "x", template)
    files = {"MODEL": path, "PROGRAM": program, "WEIGHTS": path / "model.safetensors"}
    arguments = [str(files.get(argument, argument)) for argument in arguments]
    with pytest.raises(RelaxError, match=message):
        app(arguments, standalone_mode=False)


# The same holds for exported folders, which were compiled with their options.
@needs_linker
def test_known_before_of_exported_folders(tmp_path, program, nothing_is_compiled):
    path = small_model(tmp_path / "x")
    folder = tmp_path / "folder"
    build(path).export(folder)
    for arguments, message in (
        (["generate", folder, ""], "a prompt is empty"),
        (["generate", folder, "w1 " * 200], "the prompt has 200 tokens, the context 128"),
        (["generate", folder, "w1", "--layout", "plain"], "was compiled with its options; leave --layout out"),
        (["chat", folder, "--context", "5", "--layout", "plain"], "leave --layout and --context out"),
        (["bench", folder, "--layout", "plain"], "leave --layout out"),
        (["generate", folder, "w1", "--quantize", "Q8_0"], "leave --quantize out"),
        (["inspect", folder, "--layout", "plain"], "leave --layout out"),
        (["bench", folder, "--prompts", "128"], "128 [+] 32 tokens are more than the context"),
        (["compile", folder, "-o", tmp_path / "other"], "is an exported folder, which is compiled already"),
        (["run", folder, "4xf32", "-f", "forward"], "'forward' takes 5 arguments, got 1"),
    ):
        with pytest.raises(RelaxError, match=message):
            app(list(map(str, arguments)), standalone_mode=False)


# A program's folder is not a language model; and results go only to valid destinations.
@needs_linker
def test_a_program_is_no_model(program, tmp_path):
    text = relax_mlir("compile", program, "-o", tmp_path / "folder")
    assert text.startswith("wrote ")
    text = relax_mlir("chat", tmp_path / "folder", status=1)
    assert "holds a program and no language model" in " ".join(text.split())
    for source in (program, tmp_path / "folder"):
        text = relax_mlir("run", source, "2x4xf32", "4xf32", "2x4xf32", status=1)
        assert "'main' takes 2 arguments, got 3" in text


# A folder runs on the target that it was compiled for, whether the command names that target or not.
@needs_linker
def test_folders_for_a_device(program, tmp_path):
    driver = {"RELAX_CUDA_DRIVER": EMULATOR}
    x = np.arange(8, dtype=np.float32).reshape(2, 4)
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", x[0])
    arguments = [tmp_path / "x.npy", tmp_path / "y.npy", "-o", tmp_path / "out.npz"]
    relax_mlir("compile", program, "-o", tmp_path / "folder", "--target", "cuda:emulated", **driver)
    for source, target in (
        (program, ["--target", "cuda:emulated"]),
        (tmp_path / "folder", ["--target", "cuda"]),
        (tmp_path / "folder", []),
    ):
        assert "result 0: [2, 4] float32" in relax_mlir("run", source, *arguments, *target, **driver)
        np.testing.assert_array_equal(np.load(tmp_path / "out.npz")["arr_0"], x + x[0])
    for wanted in ("cpu", "cuda:sm_90"):
        text = relax_mlir("run", tmp_path / "folder", *arguments, "--target", wanted, status=1, **driver)
        assert f"compiled for cuda:emulated, not for {wanted}" in " ".join(text.split())
    # A folder can also be inspected on a machine without its device.
    text = relax_mlir("inspect", tmp_path / "folder", RELAX_CUDA_DRIVER="/nowhere/libcuda.so.1")
    assert "and the GPU emulated" in " ".join(text.split())


@needs_linker
def test_a_model_in_a_folder_for_a_device(tmp_path):
    driver = {"RELAX_CUDA_DRIVER": EMULATOR}
    tokenizers = pytest.importorskip("tokenizers")
    path = write_hugging_face(tmp_path / "x", random_weights())
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel({f"w{i}": i for i in range(100)}, unk_token="w0"))
    words.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    words.save(str(path / "tokenizer.json"))
    target = ["--target", "cuda:emulated"]
    options = ["w3 w1 w4", "--raw", "-n", "3"]
    relax_mlir("compile", path, "-o", tmp_path / "folder", *target, **driver)
    texts = [relax_mlir("generate", source, *options, *target, **driver) for source in (path, tmp_path / "folder")]
    answers = [text.partition("prompt ")[0].splitlines()[0] for text in texts]
    assert "answer 3 tokens" in texts[1] and answers[0] == answers[1]
    sizes = ["--prompts", "2", "--steps", "2"]
    assert "tokens/s" in relax_mlir("bench", tmp_path / "folder", *sizes, **driver)


def test_inspect_program(program):
    text = relax_mlir("inspect", program)
    assert "main(f32[n, 4], f32[4]) → f32[n, 4]" in text and "1 ≤ n ≤ 64" in text and "1 add" in text


def test_inspect_model(tmp_path):
    path = write_gguf(tmp_path / "x.gguf", random_weights(), quantisation="Q4_1")
    text = relax_mlir("inspect", path, "--layout", "quantised")
    assert "decode_q4_1_64x64" in text and "context_length" in text and "0 ≤ t ≤ 127" in text


# The variants of a model are shown, whatever form it has.
@needs_linker
def test_inspect_shows_variants(tmp_path):
    config = dataclasses.replace(CONFIG, rms_norm_eps=1e-6, rope_theta=5e5, tie_embeddings=False)
    gguf = write_gguf(tmp_path / "x.gguf", random_weights(config), config, quantisation="Q8_0")
    folder = write_hugging_face(tmp_path / "y", random_weights(), attention_bias=False)
    build(folder).export(tmp_path / "z")
    for source, *expected in (
        (gguf, "interleaved, theta 500000", "rms_norm_eps +│ 1e-06", "tie_embeddings +│ no", "16 Q8_0, 5 F32"),
        (folder, "half_split, theta 10000", "rms_norm_eps +│ 1e-05", "tie_embeddings +│ yes", "20 F32"),
        (tmp_path / "z", "half_split, theta 10000", "biases +│ none", "tie_embeddings +│ yes", "num_layers +│ 2"),
    ):
        text = relax_mlir("inspect", source)
        for pattern in expected:
            assert re.search(pattern, text), (pattern, text)


# Options of an answer: each changes it as it says, and those that must not change it do not.
def test_answers(tmp_path, capsys):
    path = small_model(tmp_path / "x")
    (tmp_path / "prompt.txt").write_text("w3 w1 w4")

    def answer(*options, prompt=("w3 w1 w4",)):
        app(["generate", str(path), *prompt, "--raw", *options], standalone_mode=False)
        captured = capsys.readouterr()
        return captured.out.split(), " ".join(captured.err.split())

    words, notes = answer("-n", "20")
    assert len(words) == 20 and "context" not in notes
    assert answer("-n", "20", prompt=("--prompt-file", str(tmp_path / "prompt.txt")))[0] == words
    assert answer("-n", "20", "--threads", "1")[0] == words
    at = next(index for index, word in enumerate(words) if index > 1 and word not in words[:index])
    assert answer("-n", "20", "--stop", "other", "--stop", f"{words[at]}")[0] == words[:at]
    others, _ = answer("-n", "20", "--repetition-penalty", "1e30")
    assert len({"w3", "w1", "w4", *others}) == 23
    words, notes = answer()
    assert len(words) == 126 and "the answer ends here, as the context of 128 tokens is full" in notes


def test_threads_are_restored(program, capsys):
    before = thread_count()
    app(["run", str(program), "2x4xf32", "4xf32", "--threads", "3"], standalone_mode=False)
    assert thread_count() == before
    assert "'--threads'" in relax_mlir("run", program, "--threads", "0", status=2)


# Floats are quantized, to the layout that the target has for it.
def test_quantize(tmp_path):
    path = str(write_hugging_face(tmp_path / "x", random_weights()))
    for target, quantize, dtypes in (
        ("cpu", None, {"float32"}),
        ("cpu", "Q8_0", {"float32", "float16", "int8"}),
        ("cuda:sm_90", "F8_E4M3", {"float32", "float8_e4m3fn"}),
    ):
        weights = read_program(path, {**OPTIONS, "target": target, "quantize": quantize}).weights
        assert {str(weights[name].dtype) for name in weights} == dtypes


# A message is a line, or lies between three quotes; the end of the input ends it too.
def test_messages_of_several_lines(monkeypatch):
    text = 'one\n"""two\n  three\n"""\n"""four"""\n\n"""five\n six'
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    console = Console(file=io.StringIO())
    assert [read_message(console) for _ in range(5)] == ["one", "two\n  three", "four", "", "five\n six"]
    with pytest.raises(EOFError):
        read_message(console)


# A text of several lines that is pasted into a terminal is one message.
def test_messages_that_are_pasted():
    readline = pytest.importorskip("readline")
    if "libedit" in (readline.__doc__ or ""):
        pytest.skip("libedit has no bracketed paste")
    source = """
from rich.console import Console
from relax_mlir.cli.messages import read_message
console = Console(stderr=True)
print("got", [read_message(console) for _ in range(2)])
"""
    child, terminal = pty.fork()
    if not child:
        os.environ["TERM"] = "xterm"
        os.execv(sys.executable, [sys.executable, "-c", source])
    shown = b""
    with contextlib.suppress(OSError):  # the end of the terminal
        while b"> " not in shown:
            shown += os.read(terminal, 1000)
        os.write(terminal, b"\x1b[200~one\ntwo\x1b[201~\rthree\r")
        while True:
            shown += os.read(terminal, 1000)
    os.close(terminal)
    assert os.waitpid(child, 0)[1] == 0, shown
    assert b"got ['one\\ntwo', 'three']" in shown, shown


def test_inspect_smollm2():
    smollm2()
    assert "49152" in relax_mlir("inspect", "smollm2")


# An error is one message, without an internal stack trace.
@pytest.mark.parametrize(
    "arguments, message",
    [
        (["inspect", "nothing.gguf"], "there is no model at 'nothing.gguf'"),
        (["inspect", "nothing.mlir"], "cannot read 'nothing.mlir'"),
        (
            ["inspect", "nothing.pt2"],
            "'nothing.pt2' is a program of PyTorch; compile it first: relax-mlir compile nothing.pt2 -o FOLDER",
        ),
        (["run", "nothing.pt2"], "cannot read 'nothing.pt2': there is no such file"),
        (["explain", "nothing.mlir"], "'nothing.mlir' is neither a program of PyTorch, a .pt2 file"),
        (["explain", "."], "'.' is a folder; expected a program of PyTorch (.pt2), or an ONNX model (.onnx)"),
        (["generate", "nothing", "hello"], "there is no model at 'nothing'"),
        (["generate", "smollm2", "hello", "--top-p", "2"], "--top-p is 2.0; expected"),
        (["bench", "smollm2", "--prompts", "a"], "--prompts is 'a'; expected numbers"),
        (["generate", "nothing", "hello", "-n", "0"], "--max-tokens is 0; expected at least 1"),
        (["chat", "nothing", "--max-tokens", "-3"], "--max-tokens is -3; expected at least 1"),
        (["run", "nothing.mlir", "99999999999x128xf32"], "argument '99999999999x128xf32': there is no memory"),
        (["run", "nothing.mlir", "99999999999x99999999999xi8"], "argument '99999999999x99999999999xi8': there is no"),
    ],
)
def test_errors(arguments, message):
    assert "error: " + message in relax_mlir(*arguments, status=1)


# Users of the command have no Python code that an error could refer to.
def test_errors_have_no_place_in_python(program):
    for target in ("tpu", "cuda:", "cpu+cublaslt"):
        text = relax_mlir("run", program, "2x4xf32", "4xf32", "--target", target, status=1)
        assert text.lstrip().startswith("error: ") and "main.py" not in text and "\n  at " not in text, text


def test_models_have_no_place_in_python(tmp_path):
    program = read_program(str(write_gguf(tmp_path / "x.gguf", random_weights())), OPTIONS)
    text = program.module.ir.operation.get_asm(enable_debug_info=True)
    assert "loc(unknown)" in text and ".py" not in text and "<unknown>" not in text


def test_version():
    assert relax_mlir("--version") == f"relax-mlir {importlib.metadata.version('relax-mlir')}\n"


# Arguments are filled in chunks: temporaries are small.
def test_large_arguments_are_made_in_place():
    generator = np.random.default_rng(0)
    tracemalloc.start()
    value = parse_argument("3x1000000xf16", generator)
    assert tracemalloc.get_traced_memory()[1] < value.nbytes + (2 << 20)
    tracemalloc.stop()
    assert 0.9 < value.std(dtype=np.float64) < 1.1 and len(np.unique(value[2])) > 1000


@pytest.mark.parametrize(
    "text, shape, dtype",
    [
        ("2x128xf32", (2, 128), "float32"),
        ("3xi64", (3,), "int64"),
        ("f16", (), "float16"),
        ("0x4xbool", (0, 4), "bool"),
    ],
)
def test_random_arguments(text, shape, dtype):
    value = parse_argument(text, np.random.default_rng(0))
    assert value.shape == shape and value.dtype == dtype


def test_arguments():
    generator = np.random.default_rng(0)
    assert parse_argument("3", generator) == 3 and parse_argument("0.5", generator) == 0.5
    for text in ("x", "2xx3xf32", "2xf33", "nothing.npy"):
        with pytest.raises(RelaxError, match="argument|cannot read"):
            parse_argument(text, generator)

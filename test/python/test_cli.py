# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command `relax-mlir`."""

import importlib.metadata
import os
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from targets import needs_linker
from tiny_models import random_weights, smollm2, write_gguf, write_hugging_face

from relax_mlir import RelaxError
from relax_mlir.cli.commands import parse_argument, read_program
from relax_mlir.runtime import library_path

EMULATOR = str(library_path().with_name("librelax_emulator.so"))

PROGRAM = """
relax.func @main(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %y: tensor<4xf32>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
    attributes {relax.symbols = {n = #relax.range<1, 64>}} {
  %0 = relax.add %x, %y
      : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<4xf32>) -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  relax.return %0 : tensor<?x4xf32, #relax.shape<[n, 4]>>
}
"""


def relax_mlir(*arguments, status=0, stdin="", **environment):
    """What the command writes, to either stream."""
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


# The results of a call are shown, and written.
def test_run(program, tmp_path):
    x = np.arange(8, dtype=np.float32).reshape(2, 4)
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", x[0])
    text = relax_mlir("run", program, tmp_path / "x.npy", tmp_path / "y.npy", "-o", tmp_path / "out.npz")
    assert "result 0: [2, 4] float32" in text
    np.testing.assert_array_equal(np.load(tmp_path / "out.npz")["arr_0"], x + x[0])
    assert "result 0: [3, 4]" in relax_mlir("run", program, "3x4xf32", "4xf32")


# A model runs where the command says; what is no target is an error, not a traceback.
def test_targets(tmp_path):
    path = write_gguf(tmp_path / "x.gguf", random_weights())
    sizes = ["--prompts", "2", "--steps", "2", "--layout", "plain"]
    for target in ("cpu", "cuda:emulated"):
        text = relax_mlir("bench", path, *sizes, "--target", target, RELAX_CUDA_DRIVER=EMULATOR)
        assert "tokens/s" in text
    text = relax_mlir("bench", path, *sizes, "--target", "cuda", status=1, RELAX_CUDA_DRIVER="/nowhere/libcuda.so.1")
    assert "no CUDA driver" in text
    assert "there is no target 'tpu'" in relax_mlir("bench", path, *sizes, "--target", "tpu", status=1)


# A folder of a program is no language model; and what is no argument is no place for a result.
@needs_linker
def test_a_program_is_no_model(program, tmp_path):
    text = relax_mlir("compile", program, "-o", tmp_path / "folder")
    assert text.startswith("wrote ")
    text = relax_mlir("chat", tmp_path / "folder", status=1)
    assert "holds a program and no language model" in " ".join(text.split())
    for source in (program, tmp_path / "folder"):
        text = relax_mlir("run", source, "2x4xf32", "4xf32", "2x4xf32", status=1)
        assert "'main' takes 2 arguments, got 3" in text


# A folder runs on what it was compiled for, whether the command names that or not.
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
    # What a folder holds is told where its device is not, too.
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


def test_inspect_smollm2():
    smollm2()
    assert "49152" in relax_mlir("inspect", "smollm2")


# An error is one message, and no stack trace of ours.
@pytest.mark.parametrize(
    "arguments, message",
    [
        (["inspect", "nothing.gguf"], "there is no model at 'nothing.gguf'"),
        (["inspect", "nothing.mlir"], "cannot read 'nothing.mlir'"),
        (["generate", "nothing", "hello"], "there is no model at 'nothing'"),
        (["generate", "smollm2", "hello", "--top-p", "2"], "top_p is 2.0; expected"),
        (["bench", "smollm2", "--prompts", "a"], "--prompts is 'a'; expected numbers"),
        (["generate", "nothing", "hello", "-n", "0"], "--max-tokens is 0; expected at least 1"),
        (["chat", "nothing", "--max-tokens", "-3"], "--max-tokens is -3; expected at least 1"),
        (["run", "nothing.mlir", "99999999999x128xf32"], "argument '99999999999x128xf32': there is no memory"),
        (["run", "nothing.mlir", "99999999999x99999999999xi8"], "argument '99999999999x99999999999xi8': there is no"),
    ],
)
def test_errors(arguments, message):
    assert "error: " + message in relax_mlir(*arguments, status=1)


# Whoever uses the command has no Python code that an error could be in.
def test_errors_have_no_place_in_python(program):
    for target in ("tpu", "cuda:", "cpu+cublaslt"):
        text = relax_mlir("run", program, "2x4xf32", "4xf32", "--target", target, status=1)
        assert text.lstrip().startswith("error: ") and "main.py" not in text and "\n  at " not in text, text


def test_models_have_no_place_in_python(tmp_path):
    program = read_program(str(write_gguf(tmp_path / "x.gguf", random_weights())), None, None, "cpu")
    text = program.module.ir.operation.get_asm(enable_debug_info=True)
    assert "loc(unknown)" in text and ".py" not in text and "<unknown>" not in text


def test_version():
    assert relax_mlir("--version") == f"relax-mlir {importlib.metadata.version('relax-mlir')}\n"


# Arguments are filled a piece at a time: what is made beside them is small.
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

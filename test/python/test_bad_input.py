# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Invalid input of every kind gives a single message that names it, and breaks nothing."""

import os
import subprocess
import sys

import numpy as np
import pytest
from tiny_models import CONFIG, random_weights, write_gguf, write_hugging_face

from relax_mlir import RelaxError, cli, runtime
from relax_mlir.models import Sampling

pytest.importorskip("typer")
pytest.importorskip("gguf")

PROGRAM = """
relax.func @main(%x: tensor<?x4xf32, #relax.shape<[n, 4]>>, %y: tensor<?xf32, #relax.shape<[2*n]>>, %k: i64)
    -> tensor<?x4xf32, #relax.shape<[n, 4]>> attributes {relax.symbols = {n = #relax.range<1, 64>}} {
  %0 = relax.add %x, %x
      : (tensor<?x4xf32, #relax.shape<[n, 4]>>, tensor<?x4xf32, #relax.shape<[n, 4]>>)
      -> tensor<?x4xf32, #relax.shape<[n, 4]>>
  relax.return %0 : tensor<?x4xf32, #relax.shape<[n, 4]>>
}
"""


@pytest.fixture
def command(monkeypatch, capsys):
    """Runs the command line in this process; returns its status and its output."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["relax-mlir", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        captured = capsys.readouterr()
        return ended.value.code or 0, captured.out + captured.err

    return run


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "program.mlir"
    path.write_text(PROGRAM)
    return path


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["2x4xf32", "4xf32"], "'main' takes 3 arguments, got 2"),
        (["2x4xf64", "4xf32", "1"], "the input 'arg0' is f64[2, 4]; expected f32[n, 4]"),
        (["2x4xbf16", "4xf32", "1"], "the input 'arg0' is bf16[2, 4]; expected f32[n, 4]"),
        (["8xf32", "4xf32", "1"], "the input 'arg0' is f32[8]; expected f32[n, 4]"),
        (["2x5xf32", "4xf32", "1"], "the input 'arg0' is f32[2, 5]; expected f32[n, 4]"),
        (["2x4xf32", "5xf32", "1"], "the input 'arg1' has the size 5 on axis 0; expected 2*n = 4"),
        (["0x4xf32", "0xf32", "1"], "the input 'arg0' has n = 0 on axis 0; expected 1 <= n <= 64"),
        (["65x4xf32", "130xf32", "1"], "the input 'arg0' has n = 65 on axis 0; expected 1 <= n <= 64"),
        (["2x4xf32", "4xf32", "1.5"], "expected an integer, got the number 1.5"),
        (["2x4xf32", "4xf32", "nan"], "expected an integer, got the number nan"),
        (["2x4xf32", "4xf32", str(1 << 80)], "expected an integer, got an object of another type"),
        (["-2x4xf32", "4xf32", "1"], "No such option"),
        (["99999999999x99999999999xf32", "4xf32", "1"], "there is no memory for so many elements"),
        (["9999999x99999xf64", "4xf32", "1"], "there is no memory for so many elements"),
        (["2x4xf33", "4xf32", "1"], "unknown dtype 'f33'"),
        (["empty.npy", "4xf32", "1"], "cannot read 'empty.npy'"),
        (["text.npy", "4xf32", "1"], "cannot read 'text.npy'"),
        (["cut.npy", "4xf32", "1"], "cannot read 'cut.npy'"),
        (["objects.npy", "4xf32", "1"], "cannot read 'objects.npy'"),
        (["folder.npy", "4xf32", "1"], "cannot read 'folder.npy'"),
        (["swapped.npy", "4xf32", "1"], "dtype '>f4'"),
        (["2x4xf32", "4xf32", "1", "-f", "nothing"], "no function 'nothing'; it has main"),
        (["2x4xf32", "4xf32", "1", "-o", "folder/x.npz"], "cannot write 'folder/x.npz'"),
    ],
)
def test_arguments_of_a_program(command, program, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.npy").write_bytes(b"")
    (tmp_path / "text.npy").write_text("hello")
    np.save(tmp_path / "cut.npy", np.ones((2, 4), np.float32))
    (tmp_path / "cut.npy").write_bytes((tmp_path / "cut.npy").read_bytes()[:-5])
    np.save(tmp_path / "objects.npy", np.array([[None] * 4]), allow_pickle=True)
    np.save(tmp_path / "swapped.npy", np.ones((2, 4), ">f4"))
    (tmp_path / "folder.npy").mkdir()
    status, text = command("run", program, *arguments)
    assert status and message in text.replace("\n", " ")


@pytest.mark.parametrize(
    "content, message",
    [
        (b"", "is empty; expected a module"),
        (b"module {}", "has no function 'main'"),
        (b"\0\xff\xfe", "error"),
        (b"relax.func @main(", "expected"),
        (b"ML\xefR\x01garbage", "error"),
        (b"relax.func @main() { relax.return }\n" * 2, "redefinition of symbol"),
        (b"module {" * 200000, "nests deeper than 500 levels"),
        (b"func.func @f(%x: " + b"tuple<" * 200000, "nests deeper than 500 levels"),
    ],
)
def test_programs_that_are_none(command, tmp_path, content, message):
    path = tmp_path / "program.mlir"
    path.write_bytes(content)
    status, text = command("run", path)
    assert status and message in text


@pytest.mark.parametrize(
    "options, message",
    [
        (["--temperature", "nan"], "--temperature is nan; expected a number from 0"),
        (["--temperature", "-1"], "--temperature is -1.0; expected a number from 0"),
        (["--temperature", "inf"], "--temperature is inf; expected a number from 0"),
        (["--top-p", "nan"], "--top-p is nan; expected more than 0 and at most 1"),
        (["--min-p", "nan"], "--min-p is nan; expected from 0 to 1"),
        (["--top-k", "-1"], "--top-k is -1; expected a number of tokens"),
        (["--seed", "-1"], "--seed is -1; expected an integer from 0"),
        (["--context", "0"], "context"),
        (["--context", "-1"], "context"),
        (["--context", "999999999999"], "context"),
        (["--layout", "nothing"], "nothing"),
    ],
)
def test_options_of_generation(command, tmp_path, options, message):
    path = write_gguf(tmp_path / "x.gguf", random_weights())
    status, text = command("generate", path, "hello", *options)
    assert status and message in text and "Traceback" not in text


@pytest.mark.parametrize(
    "options",
    [{"top_k": float("nan")}, {"top_k": 1.5}, {"top_k": "3"}, {"seed": float("inf")}, {"seed": "x"}]
    + [{"temperature": "hot"}, {"temperature": None}, {"top_p": None}, {"temperature": 10**400}],
)
def test_sampling_of_other_types(options):
    with pytest.raises(RelaxError, match=f"{next(iter(options))} is .*; expected"):
        Sampling(**options)


# A model truncated anywhere, or with any part overwritten, is rejected or is a different model; nothing crashes.
@pytest.mark.parametrize("kind", ["gguf", "safetensors"])
def test_damaged_models(command, tmp_path, kind):
    weights = random_weights()
    if kind == "gguf":
        file = model = write_gguf(tmp_path / "x.gguf", weights)
    else:
        model = tmp_path / "model"
        model.mkdir()
        write_hugging_face(model, weights, CONFIG)
        file = next(model.glob("*.safetensors"))
    whole = file.read_bytes()
    for size in (0, 3, 8, 9, 24, 100, len(whole) // 2, len(whole) - 100):
        file.write_bytes(whole[:size])
        status, text = command("inspect", model)
        assert status == 1 and "error: " in text and "Traceback" not in text, size
    generator = np.random.default_rng(0)
    for _ in range(60):
        damaged = bytearray(whole)
        place = int(generator.integers(0, 2000))
        damaged[place : place + 8] = generator.bytes(8)
        file.write_bytes(damaged)
        status, text = command("inspect", model)
        assert status in (0, 1) and "Traceback" not in text


# Weights that are not finite are reported when they are used, not in the text.
def test_weights_that_are_no_numbers(command, tmp_path):
    weights = random_weights()
    name = next(name for name in weights if "norm" in name)
    weights[name] = np.full_like(weights[name], np.nan)
    path = write_gguf(tmp_path / "x.gguf", weights)
    status, text = command("generate", path, "hello", "--raw", "--max-tokens", "2")
    assert status == 1 and "error: " in text


def python(code, **variables):
    environment = {**os.environ, **variables}
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=300)


@pytest.mark.parametrize("value", ["abc", "0", "-1", "100000", "1.5", " ", "2x", "9" * 40])
def test_numbers_of_threads(value, monkeypatch):
    monkeypatch.setenv("RELAX_NUM_THREADS", value)
    with pytest.raises(RelaxError, match="RELAX_NUM_THREADS is .*; expected a number of threads from 1 to 1024"):
        runtime.library.__wrapped__()
    # A host without Python gets an error, and continues.
    path = runtime.library_path()
    run = python(f"import ctypes; print(ctypes.CDLL({str(path)!r}).relax_rt_thread_count())", RELAX_NUM_THREADS=value)
    assert run.returncode == 0 and 1 <= int(run.stdout) <= 1024
    assert "RELAX_NUM_THREADS is" in run.stderr


def test_limits_of_the_runtime():
    for count in (0, -1, 1025, 1 << 40):
        with pytest.raises(RelaxError, match="threads; expected from 1 to 1024"):
            runtime.set_thread_count(count)
    for limit in (0, -1, 1 << 63):
        with pytest.raises(RelaxError, match="bytes; expected at least 1"):
            runtime.set_pool_limit(limit)

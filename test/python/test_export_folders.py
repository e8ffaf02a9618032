# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exports to a folder either replace or do not change it; unrelated files always stay."""

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from exporting import (  # noqa: F401
    EXPECTED,
    WEIGHTS,
    X,
    change_metadata,
    contents,
    folder_fixture,
    module,
    original_fixture,
    result,
    without_weights,
)
from targets import needs_linker

import relax_mlir
from relax_mlir import BlockBuilder, Target, Tensor, op
from relax_mlir.errors import ModelError, RelaxError
from relax_mlir.export import VERSION, export, is_exported, open_exported


@needs_linker
def test_a_folder_is_replaced(folder):
    before = relax_mlir.load_exported(folder)
    relax_mlir.compile(module(op.negative), weights=WEIGHTS, target=before.code.target).export(folder)
    after = relax_mlir.load_exported(folder)
    np.testing.assert_allclose(result(after), WEIGHTS["w"] - X)
    np.testing.assert_allclose(result(before), EXPECTED, rtol=1e-6)


# A folder never contains the code of two programs: code for another machine has no shared library.
@needs_linker
def test_nothing_is_left_of_what_is_replaced(folder):
    export(relax_mlir.compile_code(without_weights(), Target("aarch64-linux-gnu", "cortex-a76")), folder)
    assert sorted(path.name for path in folder.iterdir()) == ["metadata.json", "model.h", "model.o"]


# Wherever writing fails, an existing folder is unchanged, and a new one does not exist.
@needs_linker
@pytest.mark.parametrize(
    "case", ["the linker fails", "no linker of that name", "the disk is full", "a weight is wrong"]
)
def test_a_folder_is_as_it_was_when_export_fails(folder, tmp_path, monkeypatch, case):
    weights = WEIGHTS
    if case == "the linker fails":
        monkeypatch.setenv("CC", "false")
        message = r"linking '.*' failed with status 1: \S*false -shared"
    elif case == "no linker of that name":
        monkeypatch.setenv("CC", "/nowhere/cc")
        message = "CC is '/nowhere/cc', which is not on PATH"
    elif case == "the disk is full":
        monkeypatch.setattr("relax_mlir.export.write_metadata", fill_disk)
        message = "cannot write '.*': No space left on device"
    else:
        weights, message = {"w": np.array(["text"])}, "cannot write '.*weights.safetensors': "
    before = contents(folder)
    code = relax_mlir.compile_code(module(op.negative))
    for target in (folder, tmp_path / "new" / "folder"):
        with pytest.raises(RelaxError, match=message):
            export(code, target, weights)
    assert contents(folder) == before
    assert not (tmp_path / "new").exists()


# A folder in place of a file is detected before anything is changed.
@needs_linker
@pytest.mark.parametrize("name", ["model.h", "model.o", "model.so", "metadata.json", "weights.safetensors"])
def test_a_folder_in_the_way(folder, name):
    (folder / name).unlink()
    (folder / name).mkdir()
    before = {path.name: path.is_dir() or path.read_bytes() for path in folder.iterdir()}
    match = "holds something else" if name == "metadata.json" else f"'{name}' in it is a folder"
    with pytest.raises(RelaxError, match=match):
        export(relax_mlir.compile_code(module(op.negative)), folder, WEIGHTS)
    assert {path.name: path.is_dir() or path.read_bytes() for path in folder.iterdir()} == before


# Whichever file cannot be replaced or removed, earlier steps are undone.
@needs_linker
@pytest.mark.parametrize("failing", range(6))
def test_replacing_is_undone(folder, monkeypatch, failing):
    before, steps = contents(folder), 0

    def count(function):
        def counted(*args, **kwargs):
            nonlocal steps
            if isinstance(args[0], Path) and args[0].parent.name in ("new", folder.name):
                steps += 1
                if steps == failing + 1:
                    raise OSError(5, os.strerror(5))
            return function(*args, **kwargs)

        return counted

    code = relax_mlir.compile_code(without_weights(), Target("aarch64-linux-gnu", "cortex-a76"))
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", count(os.replace))
        patch.setattr(Path, "unlink", count(Path.unlink))
        with pytest.raises(RelaxError, match="cannot write '.*': Input/output error"):
            export(code, folder)
    assert contents(folder) == before


# Unrelated files: in a folder that was not exported, files with our names, and files in an exported folder.
@needs_linker
@pytest.mark.parametrize(
    "others",
    [
        {"weights.safetensors": "theirs"},
        {"model.so": "theirs", "librelax_runtime.so": "theirs"},
        {"metadata.json": '{"name": "a data set"}'},
        {"metadata.json": json.dumps({"version": VERSION, "seal": "0" * 64, "files": {"notes.txt": "0"}})},
        {"notes.txt": "theirs"},
    ],
)
def test_files_of_others_stay(tmp_path, others):
    for name, text in others.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(ModelError, match="holds something else; name a folder that is empty or new"):
        export(relax_mlir.compile_code(without_weights()), tmp_path)
    assert contents(tmp_path) == {name: text.encode() for name, text in others.items()}


def test_files_of_others_in_an_exported_folder(tmp_path):
    code = relax_mlir.compile_code(without_weights())
    export(code, tmp_path)
    for name in ("notes.txt", "weights.safetensors", "config.json"):
        (tmp_path / name).write_text("theirs")
    before = contents(tmp_path)
    export(code, tmp_path)
    assert contents(tmp_path).keys() == before.keys() and (tmp_path / "weights.safetensors").read_text() == "theirs"
    before = contents(tmp_path)
    for options in ({"companions": lambda staging: (staging / "config.json").write_text("{}")}, {"weights": WEIGHTS}):
        with pytest.raises(RelaxError, match="in it is not of what was written there before; move it elsewhere"):
            export(
                relax_mlir.compile_code(module() if "weights" in options else without_weights()), tmp_path, **options
            )
        assert contents(tmp_path) == before


# Valid metadata may name a file outside of the folder, which is not removed.
def test_names_outside_of_the_folder_stay(tmp_path):
    folder = tmp_path / "model"
    (tmp_path / "mine").write_text("mine")
    code = relax_mlir.compile_code(without_weights())
    export(code, folder)
    change_metadata(folder, files={"../mine": "0", str(tmp_path / "mine"): "0"})
    export(code, folder)
    assert (tmp_path / "mine").read_text() == "mine"


# A folder with only the leftovers of a killed process counts as empty.
def test_a_folder_that_an_export_did_not_finish(tmp_path):
    (tmp_path / ".relax-export-abc").mkdir()
    export(relax_mlir.compile_code(without_weights()), tmp_path)
    relax_mlir.load_exported(tmp_path)


# Additional files may have any names, except those that every folder has.
def test_companions(tmp_path):
    code = relax_mlir.compile_code(without_weights())
    export(code, tmp_path, companions=lambda staging: (staging / "labels.txt").write_text("one\ntwo"))
    assert open_exported(tmp_path).companions() == {"labels.txt": b"one\ntwo"}
    (tmp_path / "labels.txt").write_text("one")
    relax_mlir.load_exported(tmp_path)
    with pytest.raises(ModelError, match="labels.txt' is damaged"):
        open_exported(tmp_path).companions()
    before = contents(tmp_path)
    for name in ("model.o", "metadata.json", "model.h", "weights.safetensors"):
        with pytest.raises(RelaxError, match=f"companions wrote '{name}'; expected files, named other than"):
            export(code, tmp_path, companions=lambda staging, name=name: (staging / name).write_text(""))
    with pytest.raises(RelaxError, match="companions wrote 'sub'; expected files"):
        export(code, tmp_path, companions=lambda staging: (staging / "sub").mkdir())
    assert contents(tmp_path) == before
    export(code, tmp_path)
    assert not (tmp_path / "labels.txt").exists()


def test_which_folders_are_exported(tmp_path):
    export(relax_mlir.compile_code(without_weights()), tmp_path / "model")
    assert is_exported(tmp_path / "model") and not is_exported(tmp_path)
    for text, expected in (('{"name": "a data set"}', False), ("[]", False), ("{", True)):
        (tmp_path / "model" / "metadata.json").write_text(text)
        assert is_exported(tmp_path / "model") == expected
    (tmp_path / "model" / "model.o").unlink()
    assert not is_exported(tmp_path / "model")


def fill_disk(*_):
    raise OSError(28, os.strerror(28))


# Any file may be the one for which the disk is too small: the limit takes each size up to the last one that fails.
@needs_linker
def test_nothing_is_left_on_a_full_disk(tmp_path, monkeypatch):
    monkeypatch.setattr("relax_mlir.export.link_shared", lambda *_, **__: None)  # the linker reports errors itself
    code = relax_mlir.compile_code(with_large_weight())
    weights = {"w": np.zeros(1 << 20, np.float32)}
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    for limit in (0, 300, len(code.object) - 1, len(code.object), 100_000, 4 << 20):
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
            with pytest.raises(RelaxError, match="cannot write '.*File too large"):
                export(code, tmp_path / "new" / "model", weights)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert not (tmp_path / "new").exists()
    export(code, tmp_path / "new" / "model", weights)
    modes = {path.stat().st_mode & 0o666 for path in (tmp_path / "new" / "model").iterdir()}
    assert len(modes) == 1  # users who can read the code can read the weights


def with_large_weight():
    bb, big = BlockBuilder(), Tensor((1 << 20,), "f32")
    with bb.function("main", [big]) as function:
        bb.return_(op.add(*function.params, op.weight("w", big)))
    return bb.module()


# Files are replaced, not written into: processes that mapped the old files keep them.
@needs_linker
def test_files_in_use_are_replaced(folder):
    before = {path.name: path.stat().st_ino for path in folder.iterdir()}
    held = [path.open("rb") for path in folder.iterdir()]  # so that inode numbers are not reused
    code = relax_mlir.load_exported(folder).code
    export(code, folder, WEIGHTS)
    after = {path.name: path.stat().st_ino for path in folder.iterdir()}
    assert before.keys() == after.keys() and not before.items() & after.items()
    for file in held:
        file.close()


# A process that runs the old library continues, and so does one that has the old weights mapped.
@needs_linker
def test_a_folder_that_runs_is_replaced(tmp_path):
    export(relax_mlir.compile_code(module()), tmp_path, WEIGHTS)
    program = f"""
import numpy as np, sys, tvm_ffi, relax_mlir
library = tvm_ffi.load_module({str(tmp_path / "model.so")!r})
w = tvm_ffi.from_dlpack(np.arange(4, dtype=np.float32))
library.bind_weight("w", w)
model = relax_mlir.load_exported({str(tmp_path)!r})
x = np.ones((2, 4), np.float32)
for line in sys.stdin:
    print(np.from_dlpack(library.main(tvm_ffi.from_dlpack(x))).sum(), model["main"](x).numpy().sum()
          if hasattr(model["main"](x), "numpy") else np.from_dlpack(model["main"](x)).sum(), flush=True)
"""
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as run:
        for step in range(2):
            run.stdin.write("\n")
            run.stdin.flush()
            first, second = map(float, run.stdout.readline().split())
            assert first == pytest.approx(EXPECTED.sum()) and second == pytest.approx(EXPECTED.sum())
            if step == 0:
                export(relax_mlir.compile_code(module(op.negative)), tmp_path, {"w": WEIGHTS["w"] + 1})
        run.stdin.close()
        assert run.wait() == 0

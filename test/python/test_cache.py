# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cache of compiled code: the files that it reads, writes, and never touches.

The runtime's part of it (DiskCache.cpp) follows the same rules; test_device_code_cache.py tests it.
"""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import relax_mlir
from relax_mlir import RelaxError, cache

T = "tensor<4xf32>"
KEY, OTHER = cache.key_of("key"), cache.key_of("other")


def program(name):
    body = f"%0 = relax.{name} %x, %x : ({T}, {T}) -> {T}\n relax.return %0 : {T}"
    return relax_mlir.parse(f"relax.func @main(%x: {T}) -> {T} {{\n {body}\n}}")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("RELAX_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("RELAX_CACHE_BYTES", raising=False)
    return tmp_path / "cache"


def entries(folder):
    return sorted(folder.glob("*.relax"))


def run(name):
    return np.from_dlpack(relax_mlir.compile(program(name))["main"](np.full(4, 3, np.float32)))


def test_code_is_found_again(folder):
    first = relax_mlir.compile_code(program("add"))
    (entry,) = folder.iterdir()
    assert relax_mlir.compile_code(program("add")) == first
    relax_mlir.compile_code(program("add"), use_bounds=True)
    assert len(entries(folder)) == 2
    # A damaged entry is regenerated.
    good = entry.read_bytes()
    for damaged in (b"", good[:60], good[:-1], good[:-1] + b"x", good + b"x", b"x" + good[1:]):
        entry.write_bytes(damaged)
        assert relax_mlir.compile_code(program("add")) == first
        assert entry.read_bytes() == good


# An entry is valid only under its own key: two swapped entries are both regenerated.
def test_entries_are_bound_to_their_keys(folder):
    assert run("add").tolist() == [6] * 4
    (add,) = entries(folder)
    assert run("multiply").tolist() == [9] * 4
    (multiply,) = set(entries(folder)) - {add}
    first, second = add.read_bytes(), multiply.read_bytes()
    add.write_bytes(second)
    multiply.write_bytes(first)
    assert run("add").tolist() == [6] * 4 and run("multiply").tolist() == [9] * 4
    assert (add.read_bytes(), multiply.read_bytes()) == (first, second)


# An entry with an invalid description is regenerated, even if the cache wrote it.
@pytest.mark.parametrize("text", ["", "{", "null", "[]", "3", '{"target": null}', "[" * 100000])
def test_odd_descriptions_are_made_again(folder, monkeypatch, text):
    code = relax_mlir.compile_code(program("add"))
    (entry,) = entries(folder)
    monkeypatch.setattr(json, "dumps", lambda *_, **__: text)
    cache.write(entry.stem, {}, code.object)
    monkeypatch.undo()
    monkeypatch.setenv("RELAX_CACHE_DIR", str(folder))
    assert relax_mlir.compile_code(program("add")) == code


def test_only_this_user_can_read_and_write_entries(folder):
    previous = os.umask(0)
    try:
        cache.write(KEY, {}, b"object")
    finally:
        os.umask(previous)
    (entry,) = folder.iterdir()
    assert entry.stat().st_mode & 0o777 == 0o600
    assert folder.stat().st_mode & 0o777 == 0o700


def plant_open(entry):
    entry.chmod(0o666)


def plant_group(entry):
    entry.chmod(0o660)


def plant_foreign(entry):
    if os.geteuid():
        pytest.skip("only root gives files away")
    os.chown(entry, 61234, -1)


def plant_link(entry):
    entry.rename(entry.with_suffix(".elsewhere"))
    entry.symlink_to(entry.with_suffix(".elsewhere"))


def plant_pipe(entry):
    entry.unlink()
    os.mkfifo(entry)


def plant_folder(entry):
    entry.unlink()
    entry.mkdir()


# Files that another user may have placed there do not run: they are not read, and nothing waits for them.
@pytest.mark.parametrize("plant", [plant_open, plant_group, plant_foreign, plant_link, plant_pipe, plant_folder])
def test_planted_entries_are_not_read(folder, plant):
    cache.write(KEY, {"a": 1}, b"object")
    assert cache.read(KEY) == ({"a": 1}, b"object")
    (entry,) = folder.iterdir()
    plant(entry)
    assert cache.read(KEY) is None
    cache.write(KEY, {"a": 2}, b"new")
    if plant is not plant_folder:
        assert cache.read(KEY) == ({"a": 2}, b"new") and not entry.is_symlink()
    assert not list(folder.glob(".*"))


def test_the_cache_does_not_grow_without_end(folder, monkeypatch):
    monkeypatch.setenv("RELAX_CACHE_BYTES", "25000")
    keys = [cache.key_of(str(number)) for number in range(4)]
    for number, key in enumerate(keys):
        cache.write(key, {}, bytes(10000))
        os.utime(folder / f"{key}.relax", (number, number))
    assert {entry.stem for entry in entries(folder)} == set(keys[2:])


# The folder may be any folder: files that are not entries stay, whatever their name or age.
def test_files_of_others_stay(folder, monkeypatch):
    folder.mkdir()
    others = ["thesis.tex", ".hidden", KEY, f"{KEY}.relax", f"{OTHER}.relax.txt", "x.relax", f".{KEY}.part"]
    for name in others:
        (folder / name).write_bytes(b"precious " * 1000)
        os.utime(folder / name, (1, 1))
    (folder / "below").mkdir()
    link = folder / f"{cache.key_of('link')}.relax"
    link.symlink_to(folder / "thesis.tex")
    monkeypatch.setenv("RELAX_CACHE_BYTES", "0")
    for key in (OTHER, cache.key_of("third")):
        cache.write(key, {}, b"object")
        assert cache.read(key) is None  # the limit is 0
    assert {path.name for path in folder.iterdir()} == {*others, "below", link.name}
    assert all((folder / name).read_bytes() == b"precious " * 1000 for name in others)


# Leftovers of a killed process are removed after an hour, and not before.
def test_parts_that_are_left_go(folder):
    cache.write(KEY, {}, b"object")
    old, new = folder / f".{OTHER}.abc123.part", folder / f".{OTHER}.abc124.part"
    for path in (old, new):
        path.write_bytes(b"half")
        path.chmod(0o600)
    os.utime(old, (1, 1))
    cache.write(KEY, {}, b"object")
    assert not old.exists() and new.exists()


@pytest.mark.parametrize(
    "variables, expected",
    [
        ({"RELAX_CACHE_DIR": "x/y", "HOME": "/h"}, "x/y"),
        ({"RELAX_CACHE_DIR": "", "HOME": "/h"}, None),
        ({"XDG_CACHE_HOME": "/c", "HOME": "/h"}, "/c/relax-mlir"),
        ({"XDG_CACHE_HOME": "relative", "HOME": "/h"}, "/h/.cache/relax-mlir"),
        ({"XDG_CACHE_HOME": "", "HOME": "/h"}, "/h/.cache/relax-mlir"),
        ({"HOME": ""}, None),
        ({}, None),
    ],
)
def test_where_the_cache_is(monkeypatch, variables, expected):
    for name in ("RELAX_CACHE_DIR", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert (str(found) if (found := cache.folder()) else None) == expected
    if expected is None:
        cache.write(KEY, {}, b"object")
        assert cache.read(KEY) is None
        assert run("add").tolist() == [6] * 4


# An unusable cache is the same as no cache.
@pytest.mark.parametrize("kind", ["read-only", "a file", "below a file", "a device"])
def test_folders_that_cannot_be_used(kind, tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    if kind == "read-only":
        folder.mkdir(mode=0o500)
    elif kind == "a device":
        folder = "/dev/null"
    else:
        folder.write_text("")
        folder = folder / "below" if kind == "below a file" else folder
    monkeypatch.setenv("RELAX_CACHE_DIR", str(folder))
    assert run("add").tolist() == [6] * 4


def test_the_limit_of_the_cache(folder, monkeypatch):
    for value in ("abc", "-1", "1.5"):
        monkeypatch.setenv("RELAX_CACHE_BYTES", value)
        with pytest.raises(RelaxError, match="RELAX_CACHE_BYTES is .*; expected a number of bytes"):
            cache.write(KEY, {}, b"object")
        # The error is reported before any work is done.
        with pytest.raises(RelaxError, match="RELAX_CACHE_BYTES is"):
            cache.read(KEY)
    monkeypatch.setenv("RELAX_CACHE_BYTES", "0")
    cache.write(KEY, {}, b"object")
    assert cache.read(KEY) is None


# Processes that share a cache, write the same entries and remove each other's.
def test_processes_share_a_cache(folder):
    code = """
import relax_mlir
for k in range(8):
    text = f"relax.func @main(%x: i64) -> i64 {{ %c = arith.constant {k} : i64 relax.return %c : i64 }}"
    for _ in range(3):
        assert relax_mlir.compile(relax_mlir.parse(text))["main"](3) == k
"""
    environment = {**os.environ, "RELAX_CACHE_BYTES": "20000"}
    runs = [subprocess.Popen([sys.executable, "-c", code], env=environment, stderr=subprocess.PIPE) for _ in range(2)]
    for run in runs:
        _, errors = run.communicate(timeout=300)
        assert run.returncode == 0, errors.decode()
    assert not list(folder.glob(".*"))  # nothing half written

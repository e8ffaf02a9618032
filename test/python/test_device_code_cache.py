# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The disk cache of machine code, on the emulated device; the compiled functions are test/emulator/Example.cpp."""

import os

import numpy as np
import pytest
from emulated import calls, failing, load_example, objects, open_device
from test_cache import plant_foreign, plant_group, plant_link, plant_open, plant_pipe

from relax_mlir import cache as format

X = np.arange(100, dtype=np.float32)


device = pytest.fixture(open_device, scope="module")
functions = pytest.fixture(load_example, scope="module")


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("RELAX_CACHE_DIR", str(tmp_path / "some" / "cache"))
    return tmp_path / "some" / "cache"


def entries(folder):
    return [path for path in folder.iterdir() if not path.name.startswith(".")]


@pytest.fixture
def run_text(device, functions):
    """Loads the assembly module again, runs it, and returns whether it was assembled."""

    def run():
        functions.unload()
        before = calls("cuLinkComplete")
        x = device.put(X)
        assert device.get(functions("add_text")(x, x)).tolist() == (2 * X).tolist()
        return calls("cuLinkComplete") > before

    return run


def test_code_is_assembled_once(cache, run_text):
    before = objects()
    assert run_text()
    (entry,) = entries(cache)
    assert len(entry.stem) == 64 and entry.suffix == ".relax"
    assert entry.stat().st_mode & 0o777 == 0o600
    assert not run_text()
    assert entries(cache) == [entry]
    assert objects() - before <= 1  # the module


# The Python cache reads the same entries, so it can check them.
def test_entries_have_the_format_of_the_cache(cache, run_text):
    run_text()
    description, code = format.read(entries(cache)[0].stem)
    assert description == {"kind": "cubin"}
    assert code.startswith(b"CUBINEMU")


DAMAGES = {
    "empty": lambda data: b"",
    "cut off": lambda data: data[:-1],
    "a bit": lambda data: data[:-1] + bytes([data[-1] ^ 1]),
    "longer": lambda data: data + b"x",
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_entries_are_made_anew(cache, run_text, damage):
    run_text()
    (entry,) = entries(cache)
    good = entry.read_bytes()
    entry.write_bytes(DAMAGES[damage](good))
    assert run_text()
    assert entry.read_bytes() == good


# An entry is valid only under its own key.
def test_entries_are_bound_to_their_keys(cache, run_text, monkeypatch):
    run_text()
    (first,) = entries(cache)
    monkeypatch.setenv("RELAX_EMULATOR_VERSION", "12090")
    run_text()
    (second,) = set(entries(cache)) - {first}
    assert not run_text()
    good, other = second.read_bytes(), first.read_bytes()
    second.write_bytes(other)
    assert run_text()
    assert second.read_bytes() == good


@pytest.mark.parametrize("plant", [plant_open, plant_group, plant_foreign, plant_link, plant_pipe])
def test_planted_entries_are_not_read(cache, run_text, plant):
    run_text()
    (entry,) = entries(cache)
    plant(entry)
    assert run_text()
    assert not run_text() and not entry.is_symlink()


# An intact entry that the driver rejects is regenerated, too.
def test_entries_that_the_driver_refuses(cache, run_text):
    run_text()
    with failing("cuModuleLoadDataEx", 200, nth=1):
        assert run_text()
    assert not run_text()


@pytest.mark.parametrize("function", ["cuLinkCreate_v2", "cuLinkAddData_v2", "cuLinkComplete"])
def test_without_the_linker_the_driver_assembles(cache, run_text, device, functions, function):
    functions.unload()
    before = objects()
    x = device.put(X)
    with failing(function, 999):
        assert device.get(functions("add_text")(x, x)).tolist() == (2 * X).tolist()
    assert objects() - before <= 1
    assert not cache.exists() or not entries(cache)


# A newer driver may have a better assembler.
def test_another_driver_assembles_anew(cache, run_text, monkeypatch):
    assert run_text()
    monkeypatch.setenv("RELAX_EMULATOR_VERSION", "12090")
    assert run_text()
    assert len(entries(cache)) == 2


def test_without_a_folder_there_is_no_cache(tmp_path, run_text, monkeypatch):
    monkeypatch.setenv("RELAX_CACHE_DIR", "")
    assert not run_text()  # the driver caches it itself
    (tmp_path / "file").touch()
    monkeypatch.setenv("RELAX_CACHE_DIR", str(tmp_path / "file" / "cache"))
    assert run_text()
    assert run_text()


def test_the_oldest_entries_go(cache, run_text, monkeypatch):
    old, thesis = format.key_of("old"), cache / "thesis.tex"
    format.write(old, {}, bytes(5000))
    thesis.write_bytes(bytes(5000))
    part = cache / f".{old}.abc123.part"
    part.write_bytes(b"half")
    part.chmod(0o600)
    for path in (cache / f"{old}.relax", thesis, part):
        os.utime(path, (1, 1))
    monkeypatch.setenv("RELAX_CACHE_BYTES", "5010")
    run_text()
    (entry,) = set(cache.iterdir()) - {thesis}
    assert entry.suffix == ".relax" and entry.stem != old


# Without a home there is no folder for the cache, and the driver assembles each time.
def test_without_a_home_there_is_no_cache(run_text, monkeypatch):
    for name in ("RELAX_CACHE_DIR", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    assert not run_text()
    assert not run_text()

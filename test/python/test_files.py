# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Atomically written files, and temporary files: permissions, links, and cleanup."""

import os
import stat
import tempfile

import pytest

from relax_mlir import RelaxError, parse
from relax_mlir.files import write_whole
from relax_mlir.pipelines import Pass, Pipeline

MODULE = "relax.func @f(%x: tensor<?xf32, #relax.shape<[n]>>) -> !relax.shape<[n]> {\n" + (
    " %0 = relax.shape_of %x : (tensor<?xf32, #relax.shape<[n]>>) -> !relax.shape<[n]>\n"
    " relax.return %0 : !relax.shape<[n]>\n}\n"
)


def test_a_file_is_replaced(tmp_path):
    path = tmp_path / "file"
    write_whole(path, b"one")
    with path.open("rb") as held:
        write_whole(path, b"two")
        assert held.read() == b"one" and path.read_bytes() == b"two"
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_permissions(tmp_path):
    previous = os.umask(0o027)
    try:
        write_whole(tmp_path / "new", b"")
    finally:
        os.umask(previous)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640
    (tmp_path / "new").chmod(0o600)
    write_whole(tmp_path / "new", b"more")
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o600


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_devices_are_written_into(tmp_path):
    write_whole(tmp_path / "link", b"")
    (tmp_path / "link").unlink()
    (tmp_path / "link").symlink_to("/dev/null")
    write_whole(tmp_path / "link", b"text")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    with pytest.raises(RelaxError, match="cannot write '/dev/full': No space left"):
        parse(MODULE).save("/dev/full")


# If writing fails, no temporary file is left, and the old file stays.
@pytest.mark.parametrize("failing", ["write", "replace"])
def test_what_fails_leaves_nothing(tmp_path, monkeypatch, failing):
    path = tmp_path / "file.mlir"
    path.write_text("old")

    def fail(*_):
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "replace" if failing == "replace" else "fchmod", fail)
    with pytest.raises(RelaxError, match="cannot write '.*file.mlir': No space left"):
        parse(MODULE).save(path)
    assert path.read_text() == "old" and [entry.name for entry in tmp_path.iterdir()] == ["file.mlir"]


# Another user could plant a link under a guessable name; here, every name that is not random is such a link.
def test_no_link_is_followed(tmp_path, monkeypatch):
    secret = tmp_path / "secret"
    secret.write_text("secret")
    folder = tmp_path / "shared"
    folder.mkdir()
    opened = []
    true_open = os.open

    def open_(path, flags, *mode, **options):
        if str(path).startswith(str(folder)):
            opened.append(os.path.basename(path))
            assert flags & os.O_EXCL and flags & os.O_NOFOLLOW
            os.symlink(secret, path)  # created at the last moment
        return true_open(path, flags, *mode, **options)

    monkeypatch.setattr(os, "open", open_)
    with pytest.raises(RelaxError, match="cannot write '.*': File exists"):
        parse(MODULE).save(folder / "model.mlir")
    with pytest.raises(RelaxError, match="cannot write '.*': File exists"):
        parse(MODULE).save(folder / "model.mlir")
    assert secret.read_text() == "secret" and len(set(opened)) == 2


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives links away")
def test_links_of_others_in_shared_folders(tmp_path):
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o1777)
    (tmp_path / "mine").write_text("mine")
    link = folder / "model.mlir"
    link.symlink_to(tmp_path / "mine")
    parse(MODULE).save(link)  # one's own link is followed
    assert "relax.func" in (tmp_path / "mine").read_text() and link.is_symlink()
    (tmp_path / "mine").write_text("mine")
    os.lchown(link, 61234, -1)
    with pytest.raises(RelaxError, match="it is a link of another user, in a folder that all users write to"):
        parse(MODULE).save(link)
    assert (tmp_path / "mine").read_text() == "mine"


# Each link on the way is checked, not only the first one.
@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives links away")
def test_links_of_others_on_the_way(tmp_path):
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    (tmp_path / "mine").write_text("mine")
    (shared / "theirs").symlink_to(tmp_path / "mine")
    (tmp_path / "link").symlink_to("shared/theirs")
    (tmp_path / "first").symlink_to("link")
    parse(MODULE).save(tmp_path / "first")
    assert (tmp_path / "mine").read_bytes() != b"mine"
    (tmp_path / "mine").write_text("mine")
    os.lchown(shared / "theirs", 61234, -1)
    with pytest.raises(RelaxError, match="it is a link of another user, in a folder that all users write to"):
        parse(MODULE).save(tmp_path / "first")
    assert (tmp_path / "mine").read_text() == "mine"


def test_links_in_a_circle(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(RelaxError, match="cannot write '.*': Too many levels of symbolic links"):
        parse(MODULE).save(tmp_path / "a")


# Names may be as long as the system allows, also with multi-byte characters.
@pytest.mark.parametrize("name", ["x" * 255, "€" * 85])
def test_long_names(tmp_path, name):
    for data in (b"one", b"two"):
        write_whole(tmp_path / name, data)
        assert (tmp_path / name).read_bytes() == data


def test_files_that_are_read_only(tmp_path, monkeypatch):
    path = tmp_path / "file.mlir"
    path.write_text("old")
    path.chmod(0o444)
    monkeypatch.setattr(os, "access", lambda path, mode: not (mode & os.W_OK and os.stat(path).st_mode & 0o222 == 0))
    with pytest.raises(RelaxError, match="cannot write '.*file.mlir': the file is read-only"):
        parse(MODULE).save(path)
    assert path.read_text() == "old"


# Hard links of a file keep its old content.
def test_hard_links(tmp_path):
    write_whole(tmp_path / "file", b"one")
    os.link(tmp_path / "file", tmp_path / "other")
    write_whole(tmp_path / "file", b"two")
    assert (tmp_path / "other").read_bytes() == b"one"


# --- reproducers


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def fail_once():
    with pytest.raises(RelaxError) as caught:
        Pipeline([Pass("transform-interpreter", entry_point="nowhere")]).run(parse(MODULE))
    return str(caught.value)


# The newest few stay; so do other users' files and files of other kinds.
def test_failed_passes_do_not_fill_the_folder(temporary):
    others = ["thesis.tex", "transform-interpreter-abc.mlir", "relax-reproducer-.txt"]
    for name in others:
        (temporary / name).write_text("")
        os.utime(temporary / name, (1, 1))
    messages = [fail_once() for _ in range(20)]
    found = sorted(temporary.glob("relax-reproducer-*.mlir"))
    assert len(found) == 16 and all((temporary / name).exists() for name in others)
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in found)
    assert all(any(str(path) in message for message in messages[-16:]) for path in found)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_reproducers_of_others_stay(temporary):
    planted = temporary / "relax-reproducer-x-abc.mlir"
    planted.write_text("")
    os.utime(planted, (1, 1))
    os.lchown(planted, 61234, -1)
    for _ in range(17):
        fail_once()
    assert planted.exists() and len(list(temporary.glob("relax-reproducer-*.mlir"))) == 17


# The error is reported, whether or not it can be reproduced.
def test_a_reproducer_that_cannot_be_written(temporary, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(temporary / "no" / "folder"))
    message = fail_once()
    assert message.startswith("pass 'transform-interpreter") and "nowhere" in message
    assert "cannot write the reproducer" in message and "No such file" in message and "--run-reproducer" not in message

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Atomic writing of files.

A reader never sees half a file, a process that has the old file open or mapped keeps it, and a failure leaves nothing
behind. The new file is created next to the old one, under an unpredictable name that must not exist, so nothing that
another user created there is followed or written into.

Since the file is new, it belongs to the user who writes it, and other hard links keep the old content. The folder must
allow new files.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Collection, Iterator
from pathlib import Path

STAGING = ".relax-export-"
"""The prefix of the names of folders in which `replaced_files` collects files."""

_MOST_LINKS = 40  # as Linux follows


def write_whole(path: Path, data: bytes | memoryview) -> None:
    """Writes a file, or replaces its content; raises OSError.

    The file keeps its permissions; a file that this user may not write is refused. A link stays, and its target is
    written; a device or a pipe is written into.
    """
    path = _target_of(path)
    try:
        status = path.stat()
    except FileNotFoundError:
        status = None
    if status and not stat.S_ISREG(status.st_mode):
        path.write_bytes(data)
        return
    if status and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, "the file is read-only", str(path))
    partial = path.with_name(f".relax-{secrets.token_hex(8)}.part")
    handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666)
    try:
        with open(handle, "wb") as file:
            if status:
                os.fchmod(handle, stat.S_IMODE(status.st_mode))
            file.write(data)
        os.replace(partial, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(partial)
        raise


def _target_of(path: Path) -> Path:
    """The final target of a link. Links of other users are rejected by the rules of Linux
    (`fs.protected_symlinks`)."""
    for _ in range(_MOST_LINKS + 1):
        if not path.is_symlink():
            return path
        folder, owner = path.parent.stat(), path.lstat().st_uid
        is_shared = folder.st_mode & stat.S_ISVTX and folder.st_mode & stat.S_IWOTH
        if is_shared and owner not in (os.geteuid(), folder.st_uid):
            raise PermissionError(
                errno.EACCES, "it is a link of another user, in a folder that all users write to", str(path)
            )
        path = path.parent / os.readlink(path)
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))


@contextlib.contextmanager
def replaced_files(folder: Path, owned: Collection[str], last: str) -> Iterator[Path]:
    """Yields a private folder, whose files replace those of `folder` after the block, `last` at the end.

    Files named in `owned` that the block does not create are removed; other files are neither replaced nor removed. If
    the block or the replacement fails, `folder` is as before, or does not exist if it did not. Raises OSError.

    Each file is replaced atomically, but not all of them together: until `last` is replaced, a reader may see new files
    next to old ones. A killed process leaves such a mix, and a folder whose name begins with `STAGING`.
    """
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(dir=folder, prefix=STAGING))
        try:
            new = staging / "new"
            new.mkdir()
            yield new
            _replace(new, folder, staging / "old", owned, last)
        finally:
            shutil.rmtree(staging, ignore_errors=True)
    except BaseException:
        for path in made:
            with contextlib.suppress(OSError):
                path.rmdir()  # empty folders only
        raise


def _replace(new: Path, folder: Path, old: Path, owned: Collection[str], last: str) -> None:
    """Moves the files of `new` to `folder`, and the existing files to `old`; moves them back if anything fails."""
    names = sorted((path.name for path in new.iterdir()), key=lambda name: (name == last, name))
    stale = sorted(set(owned) - set(names))
    present = {name for name in (*names, *stale) if os.path.lexists(folder / name)}
    for name in sorted(present):
        path = folder / name
        if path.is_dir() and not path.is_symlink():
            raise IsADirectoryError(errno.EISDIR, f"'{name}' in it is a folder; move it elsewhere", str(path))
        if name not in owned:
            raise FileExistsError(
                errno.EEXIST, f"'{name}' in it is not of what was written there before; move it elsewhere", str(path)
            )
    old.mkdir()
    changed = []
    try:
        for name in sorted(present):
            _keep(folder / name, old / name)
        for name in names:
            changed.append(name)
            os.replace(new / name, folder / name)
        for name in stale:
            changed.append(name)
            (folder / name).unlink(missing_ok=True)
    except BaseException:
        for name in reversed(changed):
            if name in present:
                os.replace(old / name, folder / name)
            else:
                (folder / name).unlink(missing_ok=True)
        raise


def _keep(path: Path, old: Path) -> None:
    """Hard-links a file, or copies it if hard links are not supported."""
    try:
        os.link(path, old, follow_symlinks=False)
    except OSError:
        shutil.copy2(path, old, follow_symlinks=False)

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files that are written whole or not at all.

A reader never sees half a file, a process that has the old file open or mapped keeps it, and what fails leaves nothing
there. The new file is made next to the old one, under a name that nobody can guess and that must be new, so nothing
that another user has put there is followed or written into.

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
"""How the names of folders begin in which `replaced_files` collects files."""

_MOST_LINKS = 40  # as Linux follows


def write_whole(path: Path, data: bytes | memoryview) -> None:
    """Writes a file, or replaces its content; raises OSError.

    The file keeps its permissions; one that this user may not write is refused. A link stays, and what it points to is
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
    """Where a link leads, through any number of links, none of which another user may have put there: each is checked
    as Linux does it (`fs.protected_symlinks`)."""
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
    """Gives a private folder; the files that the block makes there then replace those of `folder`, `last` at the end.

    Files named in `owned` that the block does not make are removed; other files are neither replaced nor removed. Where
    the block or replacing fails, `folder` is as before, and does not exist if it did not. Raises OSError.

    Each file is replaced in one step, all of them are not: a reader may see new files next to old ones until `last` is
    there, and a process that is killed leaves such a mix, and a folder whose name begins with `STAGING`.
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
                path.rmdir()  # of those that are empty
        raise


def _replace(new: Path, folder: Path, old: Path, owned: Collection[str], last: str) -> None:
    """Moves the files of `new` to `folder`; puts the files that were there to `old`, and back where something fails."""
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
    """Gives a file a second name, or a copy where there are no hard links."""
    try:
        os.link(path, old, follow_symlinks=False)
    except OSError:
        shutil.copy2(path, old, follow_symlinks=False)

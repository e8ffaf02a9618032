# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files that are written whole or not at all.

A reader never sees half a file, a process that has the old file open or mapped keeps it, and what fails leaves nothing
behind. The new file is made next to the old one, under a name that nobody can guess and that must be new, so nothing
that another user has put there is followed or written into.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path


def write_whole(path: Path, data: bytes) -> None:
    """Writes a file, or replaces its content; raises OSError.

    The file keeps its permissions. A link stays, and what it points to is written; a device or a pipe is written into.
    """
    path = _target_of(path)
    try:
        status = path.stat()
    except FileNotFoundError:
        status = None
    if status and not stat.S_ISREG(status.st_mode):
        path.write_bytes(data)
        return
    partial = path.with_name(f".{path.name[:200]}.{secrets.token_hex(8)}.part")
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
    """Where a link leads, unless another user may have put it there: as Linux has it (`fs.protected_symlinks`)."""
    if not path.is_symlink():
        return path
    folder, owner = path.parent.stat(), path.lstat().st_uid
    is_shared = folder.st_mode & stat.S_ISVTX and folder.st_mode & stat.S_IWOTH
    if is_shared and owner not in (os.geteuid(), folder.st_uid):
        raise PermissionError(13, "it is a link of another user, in a folder that all users write to", str(path))
    return Path(os.path.realpath(path))


@contextlib.contextmanager
def replaced_files(folder: Path, stale: Sequence[str], last: str) -> Iterator[Path]:
    """Gives a private folder; the files that the block makes there then replace those of `folder`, `last` at the end.

    Files named in `stale` that the block does not make are removed. Where the block fails, `folder` is as before, and
    does not exist if it did not. Raises OSError.
    """
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(dir=folder, prefix=".relax-export-"))
        try:
            yield staging
            names = sorted((path.name for path in staging.iterdir()), key=lambda name: (name == last, name))
            for name in set(stale) - set(names):
                (folder / name).unlink(missing_ok=True)
            for name in names:
                os.replace(staging / name, folder / name)
        finally:
            shutil.rmtree(staging, ignore_errors=True)
    except BaseException:
        for path in made:
            with contextlib.suppress(OSError):
                path.rmdir()  # of those that are empty
        raise

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A disk cache of compiled code, keyed by its inputs.

The cache is in the folder that RELAX_CACHE_DIR names, which may contain other files as well, or else in `relax-mlir` in
the user's cache folder. If RELAX_CACHE_DIR is empty, no such folder is known (no HOME), or the folder cannot be used,
there is no cache; that is not an error.

An entry is one file, `<key>.relax`. lib/Runtime/Core/DiskCache.cpp reads and writes the same format:

    8 bytes    "RELAXC3" and a line feed
    32 bytes   the SHA-256 of everything that follows
    64 bytes   the key, in hexadecimal
    8 bytes    the length of the description, little-endian
               the description, in JSON
               the object file

An entry is code that will run, so it is read only if this user owns it and nobody else can write it. An entry that is
damaged, or that has another key, is ignored. The least recently used entries are removed when the entries exceed
RELAX_CACHE_BYTES (1 GiB); only entries, and partial entries that a process left behind, are removed.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import stat
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .errors import RelaxError

_LIMIT = 1 << 30
_MAGIC = b"RELAXC3\n"
_DIGEST, _KEY, _LENGTH = 32, 64, 8
_ENTRY = re.compile(r"[0-9a-f]{64}\.relax")
_PART = re.compile(r"\.[0-9a-f]{64}\.\w+\.part", re.ASCII)
_PART_SECONDS = 3600
"""Age in seconds after which no process is still writing a partial entry."""


def folder() -> Path | None:
    """The folder of the entries; None if there is no cache."""
    named = os.environ.get("RELAX_CACHE_DIR")
    if named is not None:
        return Path(named) if named else None
    caches, home = os.environ.get("XDG_CACHE_HOME", ""), os.environ.get("HOME", "")
    if os.path.isabs(caches):
        return Path(caches, "relax-mlir")
    return Path(home, ".cache", "relax-mlir") if os.path.isabs(home) else None


def key_of(*parts: str | bytes) -> str:
    """The key of an entry that is computed from these parts."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()


def read(key: str) -> tuple[Any, bytes] | None:
    """The description and the object file of an entry; None if there is none.

    Raises:
      RelaxError: RELAX_CACHE_BYTES is not a number, which is reported before anything is compiled.
    """
    _read_limit()
    where = folder()
    data = _read_entry(where / f"{key}.relax") if where else None
    if data is None or not data.startswith(_MAGIC):
        return None
    checksum, content = data[len(_MAGIC) :][:_DIGEST], memoryview(data)[len(_MAGIC) + _DIGEST :]
    if hashlib.sha256(content).digest() != checksum or bytes(content[:_KEY]) != key.encode():
        return None
    rest = content[_KEY:]
    size = int.from_bytes(rest[:_LENGTH], "little")
    try:
        return json.loads(bytes(rest[_LENGTH:][:size])), bytes(rest[_LENGTH + size :])
    except (ValueError, RecursionError):
        return None


def write(key: str, description: Mapping[str, Any], object: bytes) -> None:
    """Writes an entry. An unwritable folder is not an error; then there is no cache."""
    limit, where = _read_limit(), folder()
    if where is None:
        return
    text = json.dumps(description).encode()
    content = key.encode() + len(text).to_bytes(_LENGTH, "little") + text + object
    with contextlib.suppress(OSError):
        where.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Readers never see half an entry: the file is new, and accessible only to this user.
        handle, part = tempfile.mkstemp(dir=where, prefix=f".{key}.", suffix=".part")
        try:
            with open(handle, "wb") as file:
                file.write(_MAGIC + hashlib.sha256(content).digest())
                file.write(content)
            os.replace(part, where / f"{key}.relax")
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(part)
            raise
        _shrink(where, limit)


def _read_limit() -> int:
    text = os.environ.get("RELAX_CACHE_BYTES") or str(_LIMIT)
    if not text.isdecimal():
        raise RelaxError(f"RELAX_CACHE_BYTES is {text!r}; expected a number of bytes")
    return int(text)


def _is_trusted(status: os.stat_result) -> bool:
    """Whether only this user can have written a file."""
    return (
        stat.S_ISREG(status.st_mode)
        and status.st_uid == os.geteuid()
        and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    )


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[int | None]:
    """Opens a trusted file; None if it is not trusted. Does not follow links or wait for pipes."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        yield None
        return
    try:
        yield handle if _is_trusted(os.fstat(handle)) else None
    finally:
        os.close(handle)


def _read_entry(path: Path) -> bytes | None:
    with _opened(path) as handle:
        if handle is None:
            return None
        try:
            with open(handle, "rb", closefd=False) as file:
                data = file.read()
            os.utime(handle)  # marks it as recently used
        except OSError:
            return None
        return data


def _is_entry(path: Path) -> bool:
    with _opened(path) as handle:
        return handle is not None and os.read(handle, len(_MAGIC)) == _MAGIC


def _shrink(where: Path, limit: int) -> None:
    """Removes the least recently used entries when the cache is too large."""
    entries, total = [], 0
    with os.scandir(where) as files:
        for file in files:
            is_part = bool(_PART.fullmatch(file.name))
            if not is_part and not _ENTRY.fullmatch(file.name):
                continue
            with contextlib.suppress(OSError):  # another process has removed it
                status = file.stat(follow_symlinks=False)
                if not _is_trusted(status):
                    continue
                if not is_part:
                    entries.append((status.st_mtime_ns, status.st_size, Path(file.path)))
                    total += status.st_size
                elif time.time() - status.st_mtime > _PART_SECONDS:
                    os.unlink(file.path)
    for _, size, path in sorted(entries):
        if total <= limit:
            break
        with contextlib.suppress(OSError):
            if _is_entry(path):
                os.unlink(path)
                total -= size

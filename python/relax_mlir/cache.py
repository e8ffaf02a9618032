# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled code on disk, under a key of what it was made of.

In the folder that RELAX_CACHE_DIR names, else in `relax-mlir` of the user's folder for caches. An entry is one
file: a checksum, a description in JSON, and the object file. One that is damaged is as if it were not there. Entries
that have not been used for long are removed when the folder grows beyond RELAX_CACHE_BYTES (1 GiB).
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .errors import RelaxError

_LIMIT = 1 << 30


def folder() -> Path:
    """Where the entries are."""
    if named := os.environ.get("RELAX_CACHE_DIR"):
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "relax-mlir"


def key_of(*parts: str | bytes) -> str:
    """The key of what is made of these parts."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()


def read(key: str) -> tuple[dict[str, Any], bytes] | None:
    """The description and the object file of an entry; None where there is none.

    Raises:
      RelaxError: RELAX_CACHE_BYTES is no number, which is told before anything is compiled.
    """
    _read_limit()
    path = folder() / key
    try:
        data = path.read_bytes()
    except OSError:
        return None
    checksum, content = data[:32], data[32:]
    if hashlib.sha256(content).digest() != checksum:
        return None
    with contextlib.suppress(OSError):
        os.utime(path)  # it has been used
    size = int.from_bytes(content[:8], "little")
    return json.loads(content[8 : 8 + size]), content[8 + size :]


def write(key: str, description: Mapping[str, Any], object: bytes) -> None:
    """Makes an entry. A folder that cannot be written to is no error: there is no cache then."""
    text = json.dumps(description).encode()
    content = len(text).to_bytes(8, "little") + text + object
    with contextlib.suppress(OSError):
        folder().mkdir(parents=True, exist_ok=True)
        # A reader never sees half an entry.
        with tempfile.NamedTemporaryFile(dir=folder(), prefix=".", delete=False) as file:
            try:
                file.write(hashlib.sha256(content).digest() + content)
                file.flush()
                os.replace(file.name, folder() / key)
            except OSError:
                os.unlink(file.name)
                raise
        _shrink()


def _read_limit() -> int:
    text = os.environ.get("RELAX_CACHE_BYTES") or str(_LIMIT)
    if not text.isdecimal():
        raise RelaxError(f"RELAX_CACHE_BYTES is {text!r}; expected a number of bytes")
    return int(text)


def _shrink() -> None:
    limit = _read_limit()
    entries = sorted((entry.stat().st_mtime, entry.stat().st_size, entry.path) for entry in os.scandir(folder()))
    total = sum(size for _, size, _ in entries)
    for _, size, path in entries:
        if total <= limit:
            break
        with contextlib.suppress(OSError):
            os.unlink(path)
        total -= size

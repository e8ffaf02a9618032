# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reading files of other programs; turns any failure into an error that names the file.

Readers check what they know, and report what they expected. Any other exception that a damaged file causes, in them or
in a package, is caught here (`reading`), so that callers see a `RelaxError` and never an internal traceback.
"""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from .errors import ModelError, RelaxError

_Result = TypeVar("_Result")

_LFS = b"version https://git-lfs.github.com/spec/"


@contextmanager
def reading(path: str | os.PathLike[str], kind: type[ModelError] = ModelError) -> Iterator[None]:
    """Turns exceptions while reading a file into an error of type `kind`; errors of this package pass through.

    The original exception is the error's `__cause__` if it says more than the message.
    """
    try:
        yield
    except RelaxError:
        raise
    except MemoryError:
        raise kind(f"'{path}' does not fit in memory") from None
    except OSError as error:
        raise kind(f"cannot read '{path}': {error.strerror or error}") from None
    except Exception as error:
        raise kind(f"'{path}' is damaged, or of a form that is not known: {_describe(error)}") from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # raised by Rust packages; not an Exception
            raise
        raise kind(f"'{path}' is damaged, or of a form that is not known: {_describe(error)}") from error


def reads(
    kind: type[ModelError] = ModelError, source: str | None = None
) -> Callable[[Callable[..., _Result]], Callable[..., _Result]]:
    """Wraps a function in `reading`. Its first argument is the path, unless `source` names it in messages."""

    def decorate(function: Callable[..., _Result]) -> Callable[..., _Result]:
        @functools.wraps(function)
        def wrapped(argument: Any, *args: Any, **options: Any) -> _Result:
            with reading(source or argument, kind):
                return function(argument, *args, **options)

        return wrapped

    return decorate


def _describe(error: BaseException) -> str:
    text = str(error)
    return f"{type(error).__name__}: {text[:200]}{'…' if len(text) > 200 else ''}"


def require_content(
    path: str | os.PathLike[str], kind: type[ModelError] = ModelError, data: bytes | None = None
) -> None:
    """Rejects a Git LFS pointer: a few lines of text in place of a file that was not downloaded.

    Args:
      data: the content of the file, if it was read already.

    Raises:
      ModelError: the file is a pointer, or cannot be read.
    """
    if data is None:
        with reading(path, kind), open(path, "rb") as file:
            data = file.read(len(_LFS))
    if data.startswith(_LFS):
        raise kind(
            f"'{path}' is a Git LFS pointer, not the file itself; "
            "run 'git lfs pull' in its repository, or download the file"
        )


class FolderFiles(Mapping[str, bytes]):
    """The files of a folder and its subfolders, by names such as "a.txt" and "b/c.txt"; each is read on access."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and (self._folder / name).is_file()

    def __getitem__(self, name: str) -> bytes:
        if name not in self:
            raise KeyError(name)
        with reading(self._folder / name):
            return (self._folder / name).read_bytes()

    def __iter__(self) -> Iterator[str]:
        paths = (*self._folder.glob("*"), *self._folder.glob("*/*"))
        return (path.relative_to(self._folder).as_posix() for path in paths if path.is_file())

    def __len__(self) -> int:
        return sum(1 for _ in self)


def read_json(path: str | os.PathLike[str]) -> Any:
    """The value in a JSON file.

    Raises:
      ModelError: the file cannot be read, is not JSON, or repeats a key of an object.
    """
    with reading(path):
        data = Path(path).read_bytes()
    return parse_json(path, data)


def parse_json(path: str | os.PathLike[str], data: bytes) -> Any:
    """The JSON value in the content of a file."""
    require_content(path, data=data)
    with reading(path):
        try:
            text = data.decode("utf-8")
            value = json.loads(text, object_pairs_hook=_object)
            if "\\u" in text:  # an escape can denote half of a surrogate pair
                json.dumps(value, ensure_ascii=False).encode()
            return value
        except (ValueError, RecursionError) as error:
            raise ModelError(f"'{path}' is not valid JSON: {error}") from None


def read_object(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The object in a JSON file.

    Raises:
      ModelError: as for `read_json`, or the value is not an object.
    """
    return _as_object(path, read_json(path))


def parse_object(path: str | os.PathLike[str], data: bytes) -> dict[str, Any]:
    """The JSON object in the content of a file."""
    return _as_object(path, parse_json(path, data))


def _as_object(path: str | os.PathLike[str], values: Any) -> dict[str, Any]:
    if not isinstance(values, Mapping):
        raise ModelError(f"'{path}' holds {_KINDS[type(values)]} in JSON; expected an object")
    return dict(values)


_KINDS = {
    type(None): "null",
    bool: "true or false",
    int: "a number",
    float: "a number",
    str: "a string",
    list: "an array",
}


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        for key, value in pairs:
            if values[key] != value:
                raise ValueError(f"the key {key!r} has two values")
    return values

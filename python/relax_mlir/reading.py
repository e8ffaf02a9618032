# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reading files that other programs wrote: the one place where what goes wrong becomes an error that names the file.

Readers check what they know, and say what they expected. Whatever else a damaged file makes them or a package raise
(`reading`) is caught here, so that a caller sees a `RelaxError` and never a traceback from inside.
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
    """Turns what reading a file raises into an error of type `kind`; errors of this package pass.

    The original exception is the error's `__cause__` where it says more than the message.
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
        if type(error).__name__ != "PanicException":  # of packages in Rust; it is not an Exception
            raise
        raise kind(f"'{path}' is damaged, or of a form that is not known: {_describe(error)}") from error


def reads(
    kind: type[ModelError] = ModelError, source: str | None = None
) -> Callable[[Callable[[Any], _Result]], Callable[[Any], _Result]]:
    """Makes `reading` part of a function. Its argument is the path, unless messages have `source` for it."""

    def decorate(function: Callable[[Any], _Result]) -> Callable[[Any], _Result]:
        @functools.wraps(function)
        def wrapped(argument: Any) -> _Result:
            with reading(source or argument, kind):
                return function(argument)

        return wrapped

    return decorate


def _describe(error: BaseException) -> str:
    text = str(error)
    return f"{type(error).__name__}: {text[:200]}{'…' if len(text) > 200 else ''}"


def require_content(path: str | os.PathLike[str], kind: type[ModelError] = ModelError) -> None:
    """Refuses a Git LFS pointer: a few lines of text that stand for a file that was not downloaded.

    Raises:
      ModelError: the file is a pointer, or cannot be read.
    """
    with reading(path, kind), open(path, "rb") as file:
        if file.read(len(_LFS)) == _LFS:
            raise kind(
                f"'{path}' is a Git LFS pointer, not the file itself; "
                "run 'git lfs pull' in its repository, or download the file"
            )


def read_json(path: str | os.PathLike[str]) -> Any:
    """The value in a JSON file.

    Raises:
      ModelError: the file cannot be read, is not JSON, or gives one key of an object two values.
    """
    require_content(path)
    with reading(path):
        try:
            text = Path(path).read_text(encoding="utf-8")
            value = json.loads(text, object_pairs_hook=_object)
            if "\\u" in text:  # which can write half a character
                json.dumps(value, ensure_ascii=False).encode()
            return value
        except (ValueError, RecursionError) as error:
            raise ModelError(f"'{path}' is not valid JSON: {error}") from None


def read_object(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The object in a JSON file.

    Raises:
      ModelError: as `read_json`, or the value is not an object.
    """
    values = read_json(path)
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

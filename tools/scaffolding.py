# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What tools/new-op and tools/new-pass share: names, C++ layout, and changes of files, made all or not at all."""

from __future__ import annotations

import difflib
import keyword
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LICENSE = (
    "Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.",
    "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception",
)
MAX_NAME = 24
"""The longest name, so that its declarations fit in 80 columns."""


class ScaffoldError(Exception):
    """A request that cannot be met, with what to do about it."""


class Changes:
    """New files and changed files of the checkout, which `apply` writes together.

    Paths are relative to the root of the checkout.
    """

    def __init__(self, root: Path = ROOT) -> None:
        self.root = root
        self._texts: dict[str, str] = {}

    def read(self, path: str) -> str:
        """The text of a file, with the changes made so far."""
        return self._texts[path] if path in self._texts else (self.root / path).read_text()

    def create(self, path: str, text: str) -> None:
        if (self.root / path).exists():
            raise ScaffoldError(f"{path} exists; choose another name, or remove the file")
        self._texts[path] = text

    def append(self, path: str, text: str) -> None:
        self._texts[path] = self.read(path) + text

    def insert_before(self, path: str, line: str, text: str, after: str = "") -> None:
        """Inserts text before the first line that matches the pattern `line`, behind the first that matches `after`."""
        lines = self.read(path).splitlines(keepends=True)
        start = _find(path, lines, after, 0) if after else 0
        at = _find(path, lines, line, start)
        self._texts[path] = "".join([*lines[:at], text, *lines[at:]])

    def apply(self, dry_run: bool) -> None:
        """Writes all files and lists them; with `dry_run`, prints what would change and writes nothing."""
        for path, text in self._texts.items():
            file = self.root / path
            old = file.read_text() if file.exists() else None
            if dry_run:
                before = [] if old is None else old.splitlines(keepends=True)
                name = "/dev/null" if old is None else f"a/{path}"
                sys.stdout.writelines(difflib.unified_diff(before, text.splitlines(keepends=True), name, f"b/{path}"))
                continue
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
            print(f"{'created' if old is None else 'changed'} {path}")


def _find(path: str, lines: Sequence[str], pattern: str, start: int) -> int:
    for index in range(start, len(lines)):
        if re.search(pattern, lines[index]):
            return index
    raise ScaffoldError(f"{path} has no line like '{pattern}', where the new text belongs; was it moved?")


def check_name(name: str, separator: str, what: str, example: str) -> list[str]:
    """The words of a name, which are lower-case letters and digits, joined by `separator`."""
    if not re.fullmatch(rf"[a-z][a-z0-9]*({separator}[a-z0-9]+)*", name):
        raise ScaffoldError(
            f"'{name}' is not the name of {what}; expected lower-case words joined by '{separator}', as in {example}"
        )
    if len(name) > MAX_NAME:
        raise ScaffoldError(f"'{name}' has {len(name)} characters; expected at most {MAX_NAME}")
    if keyword.iskeyword(name):
        raise ScaffoldError(f"'{name}' is a keyword of Python, which cannot name {what}")
    return name.split(separator)


def check_choice(choice: str, choices: Sequence[str], what: str) -> None:
    if choice not in choices:
        raise ScaffoldError(f"there is no {what} '{choice}'; expected one of {', '.join(sorted(choices))}")


def camel(words: Sequence[str], first: Callable[[str], str] = str.capitalize) -> str:
    """`["merge", "casts"]` -> `MergeCasts`; `first` makes the first word."""
    return first(words[0]) + "".join(word.capitalize() for word in words[1:])


def license_comment(comment: str) -> str:
    return "".join(f"{comment} {line}\n" for line in LICENSE)


def cpp_header(name: str, title: str) -> str:
    """The first lines of a C++ file."""
    start = f"//===- {name} - {title} "
    if len(start) > 75:
        start = f"//===- {name} "
    rule = "//===" + "-" * 70 + "===//\n"
    return f"{start.ljust(75, '-')}===//\n//\n{license_comment('//')}//\n{rule}"


def cpp_declaration(head: str, parameters: Sequence[str]) -> str:
    """`head(parameters) {` in lines of 80 columns, aligned behind the parenthesis as clang-format does."""
    lines = [f"{head}("]
    indent = " " * len(lines[0])
    for index, parameter in enumerate(parameters):
        piece = parameter + (") {" if index + 1 == len(parameters) else ",")
        if lines[-1].endswith(("(", " ")) or len(lines[-1]) + 1 + len(piece) <= 80:
            lines[-1] += piece if lines[-1].endswith(("(", " ")) else " " + piece
        else:
            lines.append(indent + piece)
    return "\n".join(lines) + "\n"


def run(main: Callable[[], None]) -> None:
    """Runs a tool; an error of its user is one line."""
    try:
        main()
    except ScaffoldError as error:
        sys.exit(f"{Path(sys.argv[0]).name}: {error}")

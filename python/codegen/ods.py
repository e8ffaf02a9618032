# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ODS records of ops and passes, read from the JSON that `llvm-tblgen --dump-json` writes."""

from __future__ import annotations

import dataclasses
import json
import keyword
import re
import textwrap
from pathlib import Path
from typing import Any


class Records:
    """The records of one `.td` file."""

    def __init__(self, path: str) -> None:
        self._records = json.loads(Path(path).read_text())

    def __getitem__(self, name: str) -> dict[str, Any]:
        return self._records[name]

    def of_class(self, name: str) -> list[dict[str, Any]]:
        """All records of a class, sorted by name."""
        return [self[record] for record in self._records["!instanceof"].get(name, [])]

    def deref(self, value: dict[str, Any]) -> dict[str, Any]:
        return self[value["def"]]

    def arguments(self, dag: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
        """Name and constraint of each entry of `(ins ...)` or `(outs ...)`."""
        entries = []
        for constraint, name in dag["args"]:
            record = self.deref(constraint)
            if "OpVariable" in classes(record):  # Arg<...> and Res<...> wrap a constraint
                record = self.deref(record["constraint"])
            entries.append((name or "", record))
        return entries


def classes(record: dict[str, Any]) -> list[str]:
    return record["!superclasses"]


def identifier(name: str) -> str:
    """The name, changed if it is a Python keyword."""
    return name + "_" if keyword.iskeyword(name) else name


def prose(record: dict[str, Any]) -> str:
    """The description without its MLIR examples."""
    text = textwrap.dedent(record["description"].expandtabs()).strip()
    text = re.split(r"^\s*Example:\s*$", text, flags=re.MULTILINE)[0].strip()
    text = re.sub(r"^(?:(?:Before|After):\n\n)?```.*?^```\n*", "", text, flags=re.MULTILINE | re.DOTALL)
    return text.strip()


def docstring(record: dict[str, Any], indent: str, extra: str = "") -> str:
    """Summary and description as the docstring of a function or class."""
    summary = record["summary"].strip()
    summary = summary[:1].upper() + summary[1:]
    text = f"{summary}." if not summary.endswith(".") else summary
    body = "\n\n".join(part for part in (prose(record), extra) if part)
    if body:
        text += "\n\n" + body + "\n"
    text = text.replace("\\", "\\\\").replace('"""', "'''")
    return textwrap.indent(f'"""{text}"""', indent).replace(f"\n{indent}\n", "\n\n")


HEADER = '''# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""{summary} Generated from ODS; do not edit."""
'''


@dataclasses.dataclass(frozen=True)
class Parameter:
    """A parameter of a Python function."""

    name: str
    type: str
    default: str | None = None

    def __str__(self) -> str:
        default = "" if self.default is None else f" = {self.default}"
        return f"{self.name}: {self.type}{default}"

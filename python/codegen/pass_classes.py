# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes `relax_mlir/pipelines/_generated.py`: one dataclass with typed options for each pass.

pass_classes.py _generated.py phase.json...
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from ods import HEADER, Records, docstring, identifier

# The C++ type of an option -> its type in Python.
_TYPES = {
    "bool": "bool",
    "std::string": "str",
    "float": "float",
    "double": "float",
}


def _python_type(cpp: str) -> str:
    cpp = cpp.replace("::std::", "std::").strip()
    if cpp in _TYPES:
        return _TYPES[cpp]
    return "int" if re.fullmatch(r"u?int(\d+_t)?|unsigned|long|size_t", cpp) else "str"


def _default(option: dict[str, Any], type: str) -> str:
    text = (option.get("defaultValue") or "").strip()
    if type == "bool":
        return {"true": "True", "false": "False"}.get(text, "False")
    if type in ("int", "float"):
        try:
            return repr(int(text, 0) if type == "int" else float(text))
        except ValueError:
            return "None"
    return repr(text.strip('"')) if text.startswith('"') else '""'


def _pass(records: Records, record: dict[str, Any]) -> str:
    name = record["!name"].removesuffix("Pass")
    options = []
    notes = []
    for reference in record["options"]:
        option = records.deref(reference)
        argument = option["argument"]
        field = identifier(argument.replace("-", "_"))
        type = _python_type(option["type"])
        if "ListOption" in option["!superclasses"]:
            type, default = ("Entries" if type == "str" else f"Sequence[{type}]"), "()"
        else:
            default = _default(option, type)
            if default == "None":
                type += " | None"
        options.append(f"    {field}: {type} = {default}\n")
        notes.append(f"  {field}: {option['description'].strip()}")
    extra = "Options:\n" + "\n".join(notes) if notes else ""
    anchor = re.search(r"OperationPass<(.*)>", record["baseClass"])
    anchor_name = {"::mlir::relax::FuncOp": "relax.func", "::mlir::func::FuncOp": "func.func"}.get(
        anchor.group(1) if anchor else "", ""
    )
    text = f"@dataclasses.dataclass(frozen=True)\nclass {name}(OptionsPass):\n"
    text += docstring(record, "    ", extra) + "\n\n" + "".join(options)
    text += "\n" if options else ""
    text += f'    argument: ClassVar[str] = "{record["argument"]}"\n'
    if anchor_name:
        text += f'    anchor: ClassVar[str] = "{anchor_name}"\n'
    return text


def main(target: str, *sources: str) -> None:
    passes = []
    for source in sources:
        records = Records(source)
        passes += [(r["!name"], _pass(records, r)) for r in records.of_class("PassBase")]
    passes.sort()
    names = [name.removesuffix("Pass") for name, _ in passes]
    text = HEADER.format(summary="The passes of the project.")
    text += (
        "\n# ruff: noqa: E501\n"
        "from __future__ import annotations\n\n"
        "import dataclasses\n"
        "from collections.abc import Sequence\n"
        "from typing import ClassVar\n\n"
        "from .passes import Entries, OptionsPass\n\n"
    )
    text += "__all__ = [\n" + "".join(f'    "{name}",\n' for name in names) + "]\n\n\n"
    text += "\n\n".join(body for _, body in passes)
    Path(target).write_text(text)


if __name__ == "__main__":
    main(*sys.argv[1:])

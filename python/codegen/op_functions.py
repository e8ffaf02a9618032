# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes `relax_mlir/op/_generated.py`: one typed function for each op of the dialect.

    op_functions.py ops.json _generated.py

A function takes the op's operands and attributes in the order of ODS (those without a default first) and
creates the op where the builder is. Ops with regions and terminators have no function: the builder makes
them. Calls and casts, whose results no rule deduces, are written by hand.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from ods import HEADER, Parameter, Records, classes, docstring, identifier

# MLIR's name of an attribute constraint -> the converter in op/support.py and
# the type in Python.
_ATTRIBUTES = {
    "I64Attr": ("i64", "int"),
    "SI64Attr": ("i64", "int"),
    "I32Attr": ("i32", "int"),
    "BoolAttr": ("boolean", "bool"),
    "F64Attr": ("f64", "float"),
    "F32Attr": ("f32", "float"),
    "StrAttr": ("string", "str"),
    "TypeAttr": ("dtype", "DTypeLike"),
    "DenseI64ArrayAttr": ("i64_array", "Sequence[int] | int"),
    "DenseF64ArrayAttr": ("f64_array", "Sequence[float] | float"),
    "DenseBoolArrayAttr": ("bool_array", "Sequence[bool]"),
    "FlatSymbolRefAttr": ("function_name", "str"),
    "UnitAttr": ("unit", "bool"),
    "Relax_SymExprAttr": ("expression", "ExprLike"),
    "Relax_SymExprArrayAttr": ("expressions", "Sequence[ExprLike]"),
    "Relax_ShapeAttr": ("shape", "Sequence[DimLike]"),
    "TypedAttrInterface": ("scalar", "float | int | bool | np.generic"),
}
# Hand-written in op/core.py.
_BY_HAND = {
    "broadcast_to",
    "call",
    "call_closure",
    "call_library",
    "call_tir",
    "call_tir_inplace",
    "collapse_sum_to",
    "constant",
    "einsum",
    "make_closure",
    "match_cast",
    "reshape",
    "split",
    "tuple",
}
_BY_PASSES = {"check_indices"}
"""Ops that passes insert, and programs do not hold."""
_NUMBERS = ("i64", "i32", "f64", "f32")


class Argument:
    """An operand or an attribute of an op."""

    def __init__(self, records: Records, name: str, record: dict[str, Any]) -> None:
        self.name = name
        self.is_attribute = "Attr" in classes(record)
        self.optional = False
        self.default: str | None = None
        if self.is_attribute:
            self._read_attribute(records, record)
        else:
            self._read_operand(records, record)

    def _read_attribute(self, records: Records, record: dict[str, Any]) -> None:
        default = ""
        self.converter, self.type = "attribute", "ir.Attribute | str"
        while True:
            parents = classes(record)
            if "OptionalAttr" in parents:
                self.optional = True
            if "DefaultValuedAttr" in parents or "DefaultValuedOptionalAttr" in parents:
                self.optional = True
                default = record["defaultValue"]
            name = record["!name"]
            if name in _ATTRIBUTES:
                self.converter, self.type = _ATTRIBUTES[name]
            elif "EnumAttr" in parents:
                self.converter, self.type = f'enum("{record["mnemonic"]}")', "str"
            elif "TypedArrayAttrBase" in parents:
                element = records.deref(record["elementAttr"])["!name"]
                if element == "Relax_SymExprAttr":
                    self.converter, self.type = "expressions", "Sequence[ExprLike]"
            elif "AnyAttrOf" in parents and {a["def"] for a in record["allowedAttributes"]} == {"F64Attr", "I64Attr"}:
                self.converter, self.type = "number", "float | int"
            elif name == "TypeAttr" or "TypeAttrBase" in parents:
                self.converter, self.type = _ATTRIBUTES["TypeAttr"]
            elif "baseAttr" in record and record["baseAttr"]:
                record = records.deref(record["baseAttr"])
                continue
            break
        if self.converter == "unit":
            self.optional = True
        self.default = _literal(default, self.converter)

    def _read_operand(self, records: Records, record: dict[str, Any]) -> None:
        self.suffix = ""
        if "Variadic" in classes(record):
            self.suffix = "*"
        elif "Optional" in classes(record):
            self.suffix = "?"
            self.optional = True
        if self.suffix:
            record = records.deref(record["baseType"])
        self.kind = _operand_kind(records, record) + self.suffix
        self.type = "Sequence[Operand]" if self.suffix == "*" else "Operand"

    def parameter(self) -> Parameter:
        if not self.optional:
            return Parameter(identifier(self.name), self.type)
        if self.default is not None:
            return Parameter(identifier(self.name), self.type, self.default)
        return Parameter(identifier(self.name), f"{self.type} | None", "None")


def _operand_kind(records: Records, record: dict[str, Any]) -> str:
    name = record["!name"]
    if name == "Relax_ShapeType":
        return "shape"
    if name == "Index":
        return "index"
    if "TensorOf" in classes(record) or "0DTensorOf" in classes(record):
        return "tensor"
    return "any"


def _literal(default: str, converter: str) -> str | None:
    """The Python form of an ODS default, if it has one."""
    default = default.strip()
    if converter == "boolean":
        return {"true": "True", "false": "False"}.get(default)
    if converter in _NUMBERS:
        try:
            return repr(int(default)) if converter.startswith("i") else repr(float(default))
        except ValueError:
            return None
    if converter.startswith("enum"):
        return repr(default.rpartition("::")[2].lower()) if default else None
    if converter == "string":
        return repr(default.strip('"')) if default else None
    if converter in ("i64_array", "f64_array"):
        entries = default.strip("{}").strip()
        return f"({entries},)" if entries else None
    if converter == "unit":
        return "False"
    return None


def _is_deduced(records: Records, op: dict[str, Any]) -> bool:
    names = {trait.get("def", "") for trait in op["traits"]}
    return "Relax_DeducedOp" in classes(op) or "SameOperandsAndResultType" in names


def _function(records: Records, op: dict[str, Any]) -> str:
    arguments = [Argument(records, *entry) for entry in records.arguments(op["arguments"])]
    parameters = [argument.parameter() for argument in arguments]
    parameters = [p for p in parameters if p.default is None] + [p for p in parameters if p.default is not None]
    results = records.arguments(op["results"])
    deduced = not results or _is_deduced(records, op)
    many = any("Variadic" in classes(record) for _, record in results)
    if not deduced:
        kind = "Sequence[TypeLike]" if many else "TypeLike"
        parameters.append(Parameter("*, results" if many or len(results) > 1 else "*, result", kind))
    operands = [f'("{a.name}", {identifier(a.name)}, "{a.kind}")' for a in arguments if not a.is_attribute]
    attributes = [f'"{a.name}": ({identifier(a.name)}, support.{a.converter})' for a in arguments if a.is_attribute]
    call = [f'"relax.{op["opName"]}"', f"[{', '.join(operands)}]", f"{{{', '.join(attributes)}}}"]
    if not deduced:
        call.append("results" if many or len(results) > 1 else "[result]")
    elif not results:
        call.append("[]")
    if any(trait.get("def") == "AttrSizedOperandSegments" for trait in op["traits"]):
        call.append("segmented=True")
    returns = (
        "Any"
        if many
        else ("None", "Value")[len(results)]
        if len(results) < 2
        else (f"tuple[{', '.join(['Value'] * len(results))}]")
    )
    body = ",\n        ".join(call)
    signature = ",\n    ".join(map(str, parameters))
    if parameters:
        signature = f"\n    {signature},\n"
    name = identifier(op["opName"])
    returned = "return " if results else ""
    return (
        f"def {name}({signature}) -> {returns}:\n"
        f"{docstring(op, '    ')}\n"
        f"    {returned}support.emit(\n        {body},\n    )\n"
    )


def _has_function(records: Records, op: dict[str, Any]) -> bool:
    traits = {trait.get("def", "") for trait in op["traits"]}
    return not op["regions"]["args"] and "Terminator" not in traits and op["opName"] not in _BY_HAND | _BY_PASSES


def main(source: str, target: str) -> None:
    records = Records(source)
    ops = [op for op in records.of_class("Relax_Op") if _has_function(records, op)]
    ops.sort(key=lambda op: op["opName"])
    text = HEADER.format(summary="One function for each op of the dialect.")
    text += (
        "\n# ruff: noqa: A001, A002, E501\n"
        "from __future__ import annotations\n\n"
        "from collections.abc import Sequence\n"
        "from typing import Any\n\n"
        "import numpy as np\n"
        "from mlir import ir\n\n"
        "from ..annotations import DimLike, TypeLike\n"
        "from ..dtypes import DTypeLike\n"
        "from ..symbolic import ExprLike\n"
        "from ..values import Value\n"
        "from . import support\n"
        "from .support import Operand\n\n"
    )
    names = [identifier(op["opName"]) for op in ops]
    text += "__all__ = [\n" + "".join(f'    "{name}",\n' for name in names) + "]\n\n\n"
    text += "\n\n".join(_function(records, op) for op in ops)
    Path(target).write_text(text)


if __name__ == "__main__":
    main(*sys.argv[1:])

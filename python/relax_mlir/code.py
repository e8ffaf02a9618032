# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled code with its description, which the cache and exported folders keep as JSON."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from .schema import check
from .target import Target


@dataclasses.dataclass(frozen=True)
class Code:
    """An object file and its description.

    Attributes:
      object: the file's content, in the target's format.
      functions: each function that can be called, with its parameters and results as text, and the bounds of
        its symbols. A parameter that the function writes into has `written`.
      memory: for each function `unplanned_bytes`, `planned_bytes` and `peak_bytes`, as expressions.
      weights: the names of the weights that the code needs.
      device: the kind of device that its tensors are on, as `Device` names it; empty for the CPU. Some tensors of a
        function may still be on the host: parameters with `place`, and results whose indices are in `host_results`.
      host_weights: in code for a device, the weights that are read on the host.
      cpu_features: the CPU features that the code needs, under LLVM's names (`Target.required_features`). The object
        file contains the same list, and refuses to run without them.
    """

    object: bytes
    target: Target
    functions: Mapping[str, Mapping[str, Any]]
    memory: Mapping[str, Mapping[str, str]]
    weights: tuple[str, ...]
    device: str = ""
    host_weights: tuple[str, ...] = ()
    cpu_features: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Everything except the object file, as JSON values."""
        values = dataclasses.asdict(self)
        del values["object"]
        return values

    @staticmethod
    def from_json(values: Any, object: bytes) -> Code:
        """The inverse of `to_json`. An invalid description raises ValueError, which names the field."""
        check(values, _SCHEMA, "the description")
        try:
            target = Target(**values["target"])
        except ValueError as error:
            raise ValueError(f"the description.target: {error}") from None
        if values["device"] != target.device:
            raise ValueError(f"the device is {values['device']!r}, and the chip {target.chip!r} is not one of it")
        for name, function in values["functions"].items():
            results = len(function["results"])
            if any(not 0 <= index < results for index in function.get("host_results", ())):
                raise ValueError(f"the description.functions.{name}.host_results are not among {results} results")
        for name in ("weights", "host_weights", "cpu_features"):
            if len(set(values[name])) != len(values[name]):
                raise ValueError(f"the description.{name} has a name twice")
        lists = {name: tuple(values[name]) for name in ("weights", "host_weights", "cpu_features")}
        return Code(object=object, **{**values, **lists, "target": target})


_PARAMETER = {"name": str, "type": str, "symbol?": str, "place?": str, "written?": bool}
_SCHEMA = {
    "target": {"triple": str, "cpu": str, "features": str, "chip": str, "libraries": [str]},
    "functions": {str: {"parameters": [_PARAMETER], "results": [str], "symbols": {str: str}, "host_results?": [int]}},
    "memory": {str: {str: str}},
    "weights": [str],
    "device": str,
    "host_weights": [str],
    "cpu_features": [str],
}

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `torch.compile(model, backend="relax", options={...})` takes, and the device that a graph is compiled for."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

import torch

from ...errors import FrontendError
from ...runtime import Device
from ...target import Target, as_target
from .locations import location_of


@dataclasses.dataclass(frozen=True)
class CompileOptions:
    """Options of the backend.

    Attributes:
      target: what to compile for, as for `relax_mlir.compile`; the device of the tensors unless given.
      use_bounds: plan memory for the declared bounds of sizes rather than for the sizes of each call.
      cached: look for code in the cache on disk, and leave it there.
    """

    target: Target | str | None = None
    use_bounds: bool = False
    cached: bool = True

    @staticmethod
    def read(options: Mapping[str, Any] | None, mode: str | None) -> CompileOptions:
        """The options as `torch.compile` has been given them.

        Raises:
          FrontendError: an option is unknown, or its value is of another type; the message names it.
        """
        if mode not in (None, "default"):
            raise FrontendError(f"the backend 'relax' has no mode '{mode}'; leave it out, or use options={{...}}")
        given = dict(options or {})
        known = {field.name: field for field in dataclasses.fields(CompileOptions)}
        for name, value in given.items():
            if name not in known:
                raise FrontendError(f"the backend 'relax' has no option '{name}'; there are {', '.join(known)}")
            expected = (str, Target, type(None)) if name == "target" else bool
            if not isinstance(value, expected):
                wanted = "the name of a target or a Target" if name == "target" else "True or False"
                raise FrontendError(f"the option '{name}' is {value!r}; expected {wanted}")
        return CompileOptions(**given)

    def target_for(self, device: torch.device) -> Target:
        """What code for tensors on a device is compiled for.

        Raises:
          FrontendError: the target that was asked for is another device, or none is known for this one.
        """
        if self.target is None:
            return _target_of(device)
        target = as_target(self.target)
        if (target.device or "cpu") != device.type:
            raise FrontendError(
                f"the option 'target' is for {target.device or 'cpu'}, but the tensors are on {device}; "
                "move the model and its inputs there, or leave the option out"
            )
        return target


def _target_of(device: torch.device) -> Target:
    if device.type == "cpu":
        return Target.host()
    if device.type == "cuda":
        index = device.index if device.index is not None else torch.cuda.current_device()
        return Target.cuda(Device("cuda", index).architecture)
    raise FrontendError(f"the tensors are on {device}; expected cpu or cuda")


def device_of(nodes: Iterable[Any]) -> torch.device:
    """The device of a graph: that of its tensors. Those of rank 0 on the CPU go with any device, as in eager.

    Raises:
      FrontendError: the tensors are on several devices; the message names the op that is on another one.
    """
    found: torch.device | None = None
    for node in nodes:
        example = node.meta.get("val")
        for part in example if isinstance(example, (tuple, list)) else [example]:
            if not isinstance(part, torch.Tensor) or (part.ndim == 0 and part.device.type == "cpu"):
                continue
            found = found or part.device
            if part.device != found:
                location = location_of(node)
                raise FrontendError(
                    f"'{node.name}' is on {part.device}, other tensors of the graph on {found}; expected one device, "
                    "since compiled code moves nothing from one to another"
                    + (f"\n  {location.show()}" if location else ""),
                    location,
                )
    return found or torch.device("cpu")

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reading images and volumes at places of a grid."""

from __future__ import annotations

from .... import op
from ....values import Value
from ..lowering import Lowering
from ..registry import register

_MODES = ("bilinear", "nearest", "bicubic")
_PADDINGS = ("zeros", "border", "reflection")


@register("aten::grid_sampler_2d", "aten::grid_sampler_3d", "aten::grid_sampler")
def grid_sample(
    ctx: Lowering, x: Value, grid: Value, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Value:
    return op.grid_sample(x, grid, _MODES[interpolation_mode], _PADDINGS[padding_mode], align_corners)

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The ops, as functions that build into the innermost open function.

Most are generated from ODS, with the summary and constraints of the op as their docstring. Arguments
may be values, the annotations of parameters, numbers and arrays (which become constants), and for
shapes tuples of numbers and symbols. Contradictions raise `RelaxError` with the user's line.
"""

from . import _generated
from ._generated import *  # noqa: F403 - the list of names is generated, too
from .composed import bmm, cummax, cummin, masked_select, roll, scatter_add, transpose
from .core import (
    broadcast_to,
    call_closure,
    call_library,
    call_tir,
    call_tir_inplace,
    collapse_sum_to,
    constant,
    einsum,
    make_closure,
    make_tuple,
    match_cast,
    require_at_most,
    reshape,
    split,
    weight,
)
from .image import grid_sample, nms, roi_align
from .random import Generator
from .scan import scan

__all__ = [
    "Generator",
    "bmm",
    "broadcast_to",
    "call_closure",
    "call_library",
    "call_tir",
    "call_tir_inplace",
    "collapse_sum_to",
    "constant",
    "cummax",
    "cummin",
    "einsum",
    "grid_sample",
    "make_closure",
    "make_tuple",
    "masked_select",
    "match_cast",
    "nms",
    "require_at_most",
    "reshape",
    "roi_align",
    "roll",
    "scan",
    "scatter_add",
    "split",
    "transpose",
    "weight",
]
__all__ += _generated.__all__

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The ops, as functions that build into the innermost open function.

Most are generated from ODS, with the summary and constraints of the op as their docstring. Arguments
may be values, the annotations of parameters, numbers and arrays (which become constants), and for
shapes tuples of numbers and symbols. Contradictions raise `RelaxError` with the user's line.
"""

from . import _generated
from ._generated import *  # noqa: F403 - the list of names is generated, too
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
from .scan import scan

__all__ = [
    "broadcast_to",
    "call_closure",
    "call_library",
    "call_tir",
    "call_tir_inplace",
    "collapse_sum_to",
    "constant",
    "einsum",
    "make_closure",
    "make_tuple",
    "match_cast",
    "require_at_most",
    "reshape",
    "scan",
    "split",
    "weight",
]
__all__ += _generated.__all__

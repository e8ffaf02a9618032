# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The relax dialect for those who work with MLIR's own Python classes.

Op classes (`MatmulOp`) and functions (`matmul`) are generated from ODS. Attributes and types have one class
each; what MLIR hands out as an attribute or type of this dialect is of that class.
"""

# ruff: noqa: F401, F403
from ..symbolic import Sym
from ._relax_classes import (
    ObjectType,
    RangeAttr,
    ShapeAttr,
    ShapeType,
    StorageType,
    SymExprAttr,
    WeightAttr,
    tensor_dims,
    tensor_type,
)
from ._relax_ops_gen import *
from ._relax_ops_gen import _Dialect

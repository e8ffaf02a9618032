# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The relax dialect for users of MLIR's own Python classes.

Op classes (`MatmulOp`) and functions (`matmul`) are generated from ODS. Attributes and types have one class
each, to which MLIR casts the attributes and types of this dialect.
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

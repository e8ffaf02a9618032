# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Classes of `mlir.ir`, for the annotations of arguments.

`mlir.ir` does not say that it is typed (`py.typed`), so that mypy takes its classes for `Any`, and a union with one of
them for a union that accepts every argument. The extension module whose classes `mlir.ir` re-exports has types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mlir._mlir_libs._mlir.ir import Attribute, Context, Type, Value
else:
    from mlir.ir import Attribute, Context, Type, Value

__all__ = ["Attribute", "Context", "Type", "Value"]

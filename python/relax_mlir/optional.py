# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""NumPy, which programs that load compiled code can do without.

Where it is missing, `np` is None, `ARRAY` and `SCALAR` are types without instances, and results are TVM FFI tensors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["ARRAY", "SCALAR", "np"]

if TYPE_CHECKING:
    import numpy as np
else:
    try:
        import numpy as np
    except ModuleNotFoundError:
        np = None


class _Missing:
    """The type of the arrays of a package that is missing."""


ARRAY: Any = np.ndarray if np else _Missing
SCALAR: Any = np.generic if np else _Missing

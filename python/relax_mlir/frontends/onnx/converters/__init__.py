# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The converters of ONNX's ops, a file for each family; importing them registers them."""

from . import (  # noqa: F401
    activation,
    cast,
    convolution,
    create,
    elementwise,
    image,
    index,
    linear,
    loss,
    manipulate,
    normalization,
    pooling,
    reduction,
    resize,
    scatter,
)

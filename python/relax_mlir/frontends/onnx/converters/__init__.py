# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The converters of ONNX's ops, a file for each family; importing them registers them."""

from . import (  # noqa: F401
    activation,
    attention,
    cast,
    control,
    convolution,
    create,
    elementwise,
    image,
    index,
    linear,
    loss,
    manipulate,
    microsoft,
    ml,
    normalization,
    pooling,
    quantized,
    random,
    recurrent,
    reduction,
    resize,
    scatter,
    sequence,
    signal,
    state,
    text,
    trees,
)

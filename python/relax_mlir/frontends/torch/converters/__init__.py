# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The converters of PyTorch's ops, a file for each family; importing this package registers them."""

from . import (  # noqa: F401
    activation,
    attention,
    complex_basic,
    complex_functions,
    control,
    convolution,
    create,
    elementwise,
    fft,
    functions,
    index,
    linear,
    manipulate,
    normalization,
    numbers,
    pooling,
    quantized,
    random,
    recurrent,
    reduction,
    resize,
    sampling,
    scalar,
    scatter,
    sort,
    special,
    statistics,
)

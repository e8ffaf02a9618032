# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests against PyTorch, in an environment of their own: `make reference`."""


import pytest

pytest.importorskip("torch", reason="PyTorch is not installed; `make reference` installs it and runs these tests")


# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What tests of the builder share; the fixture `bb` is in conftest.py."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from relax_mlir import RelaxError


def error_of(build: Callable[[], object]) -> RelaxError:
    """The error that `build` raises."""
    with pytest.raises(RelaxError) as caught:
        build()
    return caught.value

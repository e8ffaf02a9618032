# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The docstrings of generated functions and classes, from descriptions in ODS."""

import runpy
from pathlib import Path

import pytest

CODEGEN = Path(__file__).parents[2] / "python" / "codegen"


@pytest.mark.parametrize(
    ("description", "docstring"),
    [
        ("A.\n\nBefore:\n\n```mlir\nx\n```\n\nAfter:\n\n```mlir\ny\n```\n", "A."),
        ("A.\n\n```mlir\nx\n```\n\nB.", "A.\n\nB."),
        ("A.\n\nBefore:\n\n```mlir\nx\n```\n\nB.", "A.\n\nB."),
        ("A.\n\nExample:\n\n```mlir\nx\n```\n", "A."),
    ],
)
def test_prose_is_what_examples_leave(description, docstring):
    prose = runpy.run_path(str(CODEGEN / "ods.py"))["prose"]
    assert prose({"description": description}) == docstring

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The Python code of the page about additions runs, and the files that the page names exist."""

import re

import numpy as np
import pytest
from compiled import source_of
from conftest import ROOT

PAGE = (ROOT / "docs" / "extending.md").read_text()


def test_the_python_code_runs():
    pytest.importorskip("torch")
    pytest.importorskip("onnx")
    from relax_mlir.frontends import torch as relax_torch
    from relax_mlir.frontends.onnx.registry import registry

    names = {}
    try:
        exec("".join(re.findall(r"^```python\n(.*?)^```", PAGE, re.M | re.S)), names)
    finally:
        relax_torch.register.__self__.converters.pop("mylib::demean", None)
        registry.converters.pop("com.example::Demean", None)
    ones = np.ones(3, np.float32)
    source = source_of("relax.negative %0", [ones], [ones])
    [result] = names["LOADERS"]["plain-cpu"](source)("main", ones)
    np.testing.assert_array_equal(result, -ones)


# What the page sends readers to exists, except what its own examples add.
def test_the_files_exist():
    named = re.findall(r"`((?:lib|test|tools|dialects|python)/[\w./-]+)`", PAGE)
    assert len(named) > 15
    added = {
        "lib/Transforms/Simplify/RemoveAsserts.cpp",
        "test/Transforms/Simplify/remove-asserts.mlir",
        "test/python/test_legalize_demean.py",
    }
    missing = [name for name in named if not (ROOT / name).exists() and name not in added]
    assert not missing

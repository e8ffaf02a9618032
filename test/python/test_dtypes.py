# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Element types under all of their names."""

import ml_dtypes
import numpy as np
import pytest
from mlir import ir

from relax_mlir import RelaxError, Tensor, default_context, dtypes


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("f32", "f32"),
        ("float32", "f32"),
        (np.float32, "f32"),
        (np.dtype("float32"), "f32"),
        (float, "f32"),
        (int, "i64"),
        (bool, "bool"),
        ("i1", "bool"),
        (np.bool_, "bool"),
        ("bf16", "bf16"),
        ("bfloat16", "bf16"),
        (ml_dtypes.bfloat16, "bf16"),
        (np.dtype(ml_dtypes.float8_e4m3fn), "f8e4m3fn"),
        (np.uint8, "u8"),
        ("ui8", "u8"),
        (np.int64, "i64"),
    ],
)
def test_names(given, name):
    assert dtypes.normalize(given) == name


def test_torch_dtypes_go_by_their_name():
    class dtype:
        def __init__(self, name):
            self.name = name

        def __str__(self):
            return f"torch.{self.name}"

    dtype.__module__ = "torch"
    assert dtypes.normalize(dtype("bfloat16")) == "bf16"
    assert dtypes.normalize(dtype("int64")) == "i64"


@pytest.mark.parametrize("wrong", ["float33", "complex64", np.complex64, None, 3, "", "datetime64", object()])
def test_unknown_names_are_errors(wrong):
    with pytest.raises(ValueError, match="unknown dtype"):
        dtypes.normalize(wrong)
    with pytest.raises(RelaxError, match="unknown dtype"):
        Tensor((4,), wrong)


@pytest.mark.parametrize("name", dtypes._TABLE)
def test_every_name_round_trips(name):
    context = default_context()
    type = dtypes.to_mlir(name, context)
    assert dtypes.from_mlir(type) == name
    assert dtypes.normalize(type) == name
    assert dtypes.normalize(dtypes.to_numpy(name)) == name
    assert Tensor((4,), name).to_mlir(context) == ir.Type.parse(f"tensor<4x{type}>", context)

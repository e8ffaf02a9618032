# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A sample of ONNX's node suite; the list of passing cases only grows."""

import sys
from pathlib import Path

import pytest

pytest.importorskip("onnx", reason="the package onnx is not installed")
sys.path.insert(0, str(Path(__file__).parents[3] / "conformance"))

import onnx_suite  # noqa: E402
import sample  # noqa: E402

ALL = sorted((name, mode) for name, modes in onnx_suite.read_passing().items() for mode in modes)
PASSING = [(name, mode) for name, mode in ALL if mode in onnx_suite.MODES]
MODELS = [(name, mode) for name, mode in ALL if mode == "models"]
SHARE = 80
"""One in this number of cases runs; each commit runs other cases."""


@pytest.fixture(scope="module")
def cases():
    return {case.name: case for case in onnx_suite.collect()}


def test_the_list_is_not_empty():
    assert len(PASSING) > 2600
    assert len(MODELS) > 130


@pytest.mark.parametrize("name, mode", sample.part(PASSING, SHARE))
def test_case(cases, name, mode):
    assert onnx_suite.attempt(cases[name], mode) == ("pass", "")


@pytest.mark.parametrize("name, mode", sample.part(MODELS, SHARE))
def test_model(name, mode):
    (case,) = [case for case in onnx_suite.collect_stored(mode) if case.name == name]
    assert onnx_suite.attempt(case, mode) == ("pass", "")

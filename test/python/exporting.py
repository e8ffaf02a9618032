# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exported models for tests, for each target."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import vulkan

import relax_mlir
from relax_mlir import BlockBuilder, Device, Range, Sym, Tensor, op
from relax_mlir.export import write_metadata
from relax_mlir.runtime import to_host

RUNTIME = Path(__file__).resolve().parents[2] / "lib" / "Runtime"
HEADERS = RUNTIME / "Core"
"""The folder of the runtime's public headers."""


def module(function=op.exp):
    bb, n = BlockBuilder(), Sym("n")
    x = Tensor((n, 4), "f32", name="x")
    with bb.function("main", [x], symbols={n: Range(1, 64)}):
        bb.return_(op.add(function(x), op.weight("w", Tensor((4,), "f32"))))
    return bb.module()


WEIGHTS = {"w": np.arange(4, dtype=np.float32)}
X = np.ones((2, 4), np.float32)
EXPECTED = np.exp(X) + WEIGHTS["w"]


@pytest.fixture(name="original", scope="module", params=["cpu", "cuda:emulated", "vulkan"])
def original_fixture(request, tmp_path_factory):
    """An exported model, for each target."""
    if request.param == "vulkan":
        vulkan.require()
    folder = tmp_path_factory.mktemp("models") / "model"
    relax_mlir.compile(module(), weights=WEIGHTS, target=request.param).export(folder)
    return folder


@pytest.fixture(name="folder")
def folder_fixture(original, tmp_path):
    return shutil.copytree(original, tmp_path / "copy")


def placed(model, array):
    """An argument of a model's functions."""
    return Device(model.code.device).put(array) if model.code.device else array


def result(model):
    return to_host(model["main"](placed(model, X)))


def change_metadata(folder, **changes):
    """Changes the metadata as if the folder had been written this way."""
    path = folder / "metadata.json"
    metadata = json.loads(path.read_text())
    del metadata["seal"]
    write_metadata(path, {**metadata, **changes})


def without_weights():
    bb = BlockBuilder()
    with bb.function("main", [Tensor((4,), "f32", name="x")]) as function:
        bb.return_(op.exp(*function.params))
    return bb.module()


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An ONNX model: its named dimensions stay dynamic, and a folder runs it without the package onnx.

Needs onnx: pip install 'relax-mlir[onnx]'

    python examples/onnx_model.py [model.onnx]

Without an argument, the example makes a small model. With one, it prints what an import finds in that model.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from relax_mlir import Range
from relax_mlir.frontends.onnx import explain, from_onnx
from relax_mlir.frontends.program import load_program

WEIGHT = np.linspace(-1, 1, 8 * 4, dtype=np.float32).reshape(8, 4)


def make_model(path: Path) -> None:
    """Writes a model that multiplies and then flattens: `Shape` and `Concat` compute the size of its result."""
    nodes = [
        helper.make_node("MatMul", ["x", "weight"], ["product"]),
        helper.make_node("Relu", ["product"], ["positive"]),
        helper.make_node("Shape", ["x"], ["batch"], start=0, end=1),
        helper.make_node("Concat", ["batch", "rest"], ["size"], axis=0),
        helper.make_node("Reshape", ["positive", "size"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "flat_layer",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", "length", 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", "flat"])],
        [numpy_helper.from_array(WEIGHT, "weight"), numpy_helper.from_array(np.array([-1], np.int64), "rest")],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)]), path)


def main() -> None:
    if len(sys.argv) > 1:
        print(explain(sys.argv[1]))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "layer.onnx"
        make_model(path)
        program = from_onnx(path, symbols={"batch": Range(1, 64)})
        print(program.report)

        run = program.compile()
        program.export(Path(folder) / "exported")
        loaded = load_program(Path(folder) / "exported")
        for batch, length in ((1, 1), (3, 10)):
            x = np.random.default_rng(0).standard_normal((batch, length, 8)).astype(np.float32)
            y = run(x=x)["y"]
            np.testing.assert_allclose(y, np.maximum(x @ WEIGHT, 0).reshape(batch, -1), rtol=1e-4, atol=1e-5)
            np.testing.assert_array_equal(loaded(x=x)["y"], y)
            print(f"x {x.shape} -> y {y.shape}: agrees with NumPy, and so does the exported folder")


if __name__ == "__main__":
    main()

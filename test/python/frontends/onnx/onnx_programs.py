# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Helpers for the tests of the ONNX front end: small models, and calls of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from relax_mlir.frontends.onnx import InferenceSession

F32, I64, BOOL, I8, U8 = (
    onnx.TensorProto.FLOAT,
    onnx.TensorProto.INT64,
    onnx.TensorProto.BOOL,
    onnx.TensorProto.INT8,
    onnx.TensorProto.UINT8,
)

Value = tuple[str, int, Any]
"""A name, an element type, and a shape."""


def node(kind: str, inputs: str, outputs: str, **attributes: Any) -> Any:
    """A node with inputs and outputs separated by spaces; "_" omits an input. An op may have a domain: `com.x::Op`."""
    domain, _, op_type = kind.rpartition("::")
    names = ["" if name == "_" else name for name in inputs.split()]
    return helper.make_node(op_type, names, outputs.split(), domain=domain, **attributes)


def graph(
    nodes: Sequence[Any], inputs: Sequence[Value], outputs: Sequence[Value], constants: Mapping[str, Any] | None = None
) -> Any:
    """A graph with constants as initializers."""
    infos = [[helper.make_tensor_value_info(*value) for value in part] for part in (inputs, outputs)]
    tensors = [numpy_helper.from_array(np.asarray(array), name) for name, array in (constants or {}).items()]
    return helper.make_graph(list(nodes), "test", *infos, tensors)


def model(
    nodes: Sequence[Any],
    inputs: Sequence[Value],
    outputs: Sequence[Value],
    constants: Mapping[str, Any] | None = None,
    *,
    opset: int = 21,
    domains: Sequence[str] = ("com.microsoft", "ai.onnx.ml"),
    functions: Sequence[Any] = (),
) -> Any:
    """A model of one graph."""
    imports = [helper.make_opsetid("", opset), *(helper.make_opsetid(domain, 3) for domain in domains)]
    made = graph(nodes, inputs, outputs, constants)
    return helper.make_model(made, opset_imports=imports, functions=list(functions))


def run(made: Any, **feeds: Any) -> list[Any]:
    """The outputs of a model."""
    return InferenceSession(made.SerializeToString()).run(None, feeds)


def run_op(kind: str, *operands: Any, opset: int = 21, outputs: int = 1, **attributes: Any) -> Any:
    """The result of one op, whose operands have symbolic sizes; None omits an operand."""
    names = [f"x{index}" if operand is not None else "_" for index, operand in enumerate(operands)]
    given = {name: np.asarray(operand) for name, operand in zip(names, operands) if operand is not None}
    inputs = [
        (name, helper.np_dtype_to_tensor_dtype(array.dtype), [f"{name}_{axis}" for axis in range(array.ndim)])
        for name, array in given.items()
    ]
    results = [f"y{index}" for index in range(outputs)]
    made = model(
        [node(kind, " ".join(names), " ".join(results), **attributes)],
        inputs,
        [(name, F32, None) for name in results],
        opset=opset,
    )
    found = run(made, **given)
    return found[0] if outputs == 1 else found

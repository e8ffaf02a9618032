# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ops whose functions are not generated.

The results of calls across levels, casts, constants and tuples depend on more than operands and
attributes; reshape, broadcast_to and split take one argument in place of two in the op.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Union

from mlir import ir

from .. import _relax, mlir_types
from ..annotations import Annotation, Tensor, TypeLike
from ..dtypes import DTypeLike
from ..errors import fail
from ..scope import current_function
from ..symbolic import ExprLike, Sym
from ..values import Value
from . import support
from .support import Operand

Results = Union[TypeLike, Sequence[TypeLike]]


def _as_list(results: Results) -> list[TypeLike]:
    if isinstance(results, (Annotation, mlir_types.Type)):
        return [results]
    try:
        return list(results)
    except TypeError:
        fail(f"expected the annotations of the results, got {results!r}")


def constant(value: Any, dtype: DTypeLike | None = None) -> Value:
    """A constant tensor from a number, a (nested) list or an array.

    Without `dtype`, arrays keep theirs, and Python's `float`, `int` and `bool` are f32, i64 and bool.
    """
    scope = current_function()
    return scope.wrap(support.constant(scope, value, dtype, "constant"))


def weight(name: str, annotation: Tensor) -> Value:
    """A tensor of the model's weight file, by its name there."""
    scope = current_function()
    try:
        attribute = _relax.weight_attr(scope.context, name)
    except (TypeError, ValueError) as error:
        fail(f"weight: {error}")
    type = support.result_type(scope, annotation)
    return scope.wrap(scope.create("relax.constant", (), {"value": attribute}, [type]).result)


def match_cast(value: Operand, annotation: TypeLike) -> Value:
    """Asserts that a value has a finer type; checked at run time if it cannot be proved.

    Symbols that are plain dimensions of `annotation` and not yet defined are defined here, and may be
    used afterwards.
    """
    scope = current_function()
    operand = support.as_operand(scope, value, name="match_cast: value")
    type = support.result_type(scope, annotation, defines=True)
    result = scope.create("relax.match_cast", [operand], {}, [type]).result
    scope.define_symbols([type])
    return scope.wrap(result)


def call_tir(kernel: str, args: Sequence[Operand], out: Results, sym: Sequence[ExprLike] = ()) -> Any:
    """Calls a kernel: a `func.func` that takes the inputs, then one destination for each result.

    Args:
      kernel: the name of a function of this module; see `BlockBuilder.add_kernels`.
      args: the inputs.
      out: the annotations of the results.
      sym: values of the integer parameters that follow the kernel's destinations.
    """
    return support.emit(
        "relax.call_tir",
        [("args", args, "tensor*")],
        {
            "callee": (kernel, support.function_name),
            "sym_args": (sym or None, support.expressions),
        },
        _as_list(out),
    )


def call_tir_inplace(
    kernel: str,
    args: Sequence[Operand],
    out: Results,
    inplace_indices: Sequence[int],
    sym: Sequence[ExprLike] = (),
) -> Any:
    """Calls a kernel whose results reuse the storage of inputs, which die here.

    Result `i` takes the storage of `args[inplace_indices[i]]`; -1 allocates a new one.
    """
    return support.emit(
        "relax.call_tir_inplace",
        [("args", args, "tensor*")],
        {
            "callee": (kernel, support.function_name),
            "inplace_indices": (inplace_indices, support.i64_array),
            "sym_args": (sym or None, support.expressions),
        },
        _as_list(out),
    )


def call_library(
    function: str, args: Sequence[Operand], out: Results, sym: Sequence[ExprLike] = (), *, borrows: bool = False
) -> Any:
    """Calls a function that a library registers under a name, in destination-passing style.

    Args:
      function: the name in TVM FFI's registry. It is called with the arguments, then the results to write, then `sym`.
        It must not write into the arguments: other ops may read them, and constants are in read-only memory, so that
        writing to one ends the process.
      out: annotations of the results.
      borrows: whether the library keeps none of its tensors after it has returned. Only then is their memory planned
        together with other tensors.
    """
    return support.emit(
        "relax.call_library",
        [("args", args, "tensor*")],
        {
            "library_function": (function, support.string),
            "sym_args": (sym or None, support.expressions),
            "relax.borrows": (borrows, support.unit),
        },
        _as_list(out),
    )


def make_closure(function: Any, captures: Sequence[Operand] = ()) -> Value:
    """A function of the module as a value, with its leading arguments bound."""
    scope = current_function()
    name = getattr(function, "name", function)
    callee = scope.builder._find(name) if isinstance(name, str) else None
    if callee is None or "function_type" not in callee.attributes:
        fail(f"the module has no function {name!r}; build or declare it first")
    signature = ir.TypeAttr(callee.attributes["function_type"]).value
    if len(captures) > len(signature.inputs):
        fail(f"{len(captures)} arguments are bound, '{name}' has {len(signature.inputs)} parameters")
    rest = ir.FunctionType.get(signature.inputs[len(captures) :], signature.results, context=scope.context)
    return support.emit(
        "relax.make_closure",
        [("captures", captures, "any*")],
        {"callee": (name, support.function_name)},
        [rest],
    )


def call_closure(callee: Operand, *args: Operand) -> Any:
    """Calls a value of function type. The result types follow from the arguments."""
    scope = current_function()
    return support.call_like(scope, "relax.call_closure", [callee, *args], {}, None)


def make_tuple(*members: Operand) -> Value:
    """A tuple of values."""
    if len(members) == 1 and isinstance(members[0], (list, tuple)):
        members = tuple(members[0])
    return support.emit("relax.tuple", [("members", members, "any*")], {})


def _to_shape(name: str, operand: str, x: Operand, shape: Any) -> Value:
    """Creates an op whose target shape is a value or, which gives finer types, a list of expressions."""
    if isinstance(shape, (Value, Annotation, ir.Value)):
        return support.emit(f"relax.{name}", [(operand, x, "tensor"), ("shape", shape, "shape")], {})
    dims = [shape] if hasattr(shape, "__index__") or isinstance(shape, Sym) else shape
    return support.emit(f"relax.{name}", [(operand, x, "tensor")], {"dims": (dims, support.expressions)})


def reshape(x: Operand, shape: Operand | Sequence[ExprLike]) -> Value:
    """The same elements, in row-major order, in another shape.

    The shape is a value or a list of numbers and expressions, one of which may be -1, for the remaining
    elements. It is an error if the numbers of elements provably differ; if that cannot be decided, it is
    checked at run time.
    """
    return _to_shape("reshape", "x", x, shape)


def broadcast_to(x: Operand, shape: Operand | Sequence[ExprLike]) -> Value:
    """The tensor, broadcast to a shape as in NumPy."""
    return _to_shape("broadcast_to", "x", x, shape)


def collapse_sum_to(data: Operand, shape: Operand | Sequence[ExprLike]) -> Value:
    """The inverse of broadcasting: sums over the dimensions that a broadcast to `data` would add."""
    return _to_shape("collapse_sum_to", "data", data, shape)


def split(x: Operand, indices_or_sections: int | Sequence[ExprLike], axis: int = 0) -> tuple[Value, ...]:
    """Splits a tensor into parts along a dimension.

    A number gives the number of parts, the last of which are smaller if the dimension is not divisible;
    a list gives the positions at which to split.
    """
    if hasattr(indices_or_sections, "__index__"):
        attribute = {"sections": (indices_or_sections, support.i64)}
    else:
        attribute = {"indices": (indices_or_sections, support.expressions)}
    parts = support.emit("relax.split", [("x", x, "tensor")], {**attribute, "axis": (axis, support.i64)})
    return parts if isinstance(parts, tuple) else (parts,)


def einsum(subscripts: str, *operands: Operand | Sequence[Operand]) -> Value:
    """Sum of products by index letters, as NumPy's: `op.einsum("ij,jk->ik", a, b)`.

    `subscripts` assigns a letter to each dimension of each operand, with commas between operands, and after `->` the
    letters of the result. `...` stands for any number of dimensions, which broadcast. Without `->` the result has the
    letters that occur once, in alphabetical order. The docs of `relax.einsum` have the details.

    Args:
      operands: tensors of one element type, a float or an integer, one by one or as one list.

    Raises:
      RelaxError: the letters do not fit the operands, or sizes of a letter differ.
    """
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = tuple(operands[0])
    attributes = {"subscripts": (subscripts, support.string)}
    return support.emit("relax.einsum", [("operands", operands, "tensor*")], attributes)


def require_at_most(value: ExprLike, limit: ExprLike, message: str) -> None:
    """Checks `value <= limit` at run time; fails with `message` otherwise."""
    scope = current_function()
    operands = [support.as_operand(scope, entry, "index", name="require_at_most") for entry in (value, limit)]
    # arith's predicate 3 is "sle".
    predicate = ir.IntegerAttr.get(ir.IntegerType.get_signless(64, scope.context), 3)
    condition = scope.create("arith.cmpi", operands, {"predicate": predicate}).result
    attributes = {
        "message": ir.StringAttr.get(message, scope.context),
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 0, 0], scope.context),
    }
    scope.create("relax.assert", [condition], attributes, results=[])

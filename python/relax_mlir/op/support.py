# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conversion of Python arguments to operands and attributes, and the creation of ops.

The functions of `relax_mlir.op` are generated from ODS and call `emit`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, Union

import numpy as np
from mlir import ir

from .. import _relax, dtypes, mlir_types
from ..annotations import Annotation, Tensor, as_type, dims_to_mlir, parse_dims
from ..diagnostics import collected_errors, error_from
from ..errors import RelaxError, fail
from ..scope import FunctionScope, current_function
from ..symbolic import Sym, as_expr, symbols_of
from ..values import Deferred, Value

Number = Union[bool, int, float, np.generic]
Numbers = Union[Sequence[Number], Sequence[Sequence[Number]], Sequence[Sequence[Sequence[Number]]]]
"""Nested lists of numbers. Their depth is bounded: for type checkers, lists of any depth would include strings."""


class HostTensor(Protocol):
    """A `torch.Tensor`, or a tensor with the same methods."""

    def detach(self) -> Any: ...
    def numpy(self) -> Any: ...


Array = Union["np.ndarray[Any, Any]", HostTensor]
Operand = Union[Value, Annotation, Deferred, mlir_types.Value, Array, Number, Numbers, Sym, Sequence[Union[Sym, int]]]
"""A value; a parameter of a function (its annotation) or of a model; a number, a nested list or an array, which
become constants; a shape."""

# --- operands


def as_operand(
    scope: FunctionScope, value: Any, kind: str = "any", like: str | None = None, name: str = "value"
) -> ir.Value:
    """The MLIR value of an argument; other arguments become a constant, a shape or an integer.

    `kind` is the kind that the op expects: "tensor", "shape", "index" or "any". `like` is the dtype of
    the op's other operands, which numbers take.
    """
    if isinstance(value, (Value, Annotation, Deferred, ir.Value)):
        resolved = scope.resolve(value)
        if kind == "tensor" and isinstance(resolved.type, ir.IndexType):
            fail(
                f"{name} is an integer, not a tensor; op.shape_to_tensor((n,)).reshape(()) is the tensor of a size 'n'"
            )
        return resolved
    if isinstance(value, (ir.OpView, ir.Operation)):
        return scope.resolve(value.operation.result)
    if value is None:
        fail(f"{name} is None; expected a value")
    if kind == "index" or (isinstance(value, Sym) and kind != "shape"):
        if kind == "tensor":
            tensor = f"op.shape_to_tensor(({value},)).reshape(())"
            fail(f"{name} is the expression '{value}'; expected a tensor, such as {tensor}")
        expr = expression(scope, value, name)
        return scope.create("relax.sym", attributes={"expr": expr}).result
    if kind == "shape" or (kind == "any" and isinstance(value, (tuple, list)) and _is_shape(value)):
        attribute = shape(scope, value, name)
        return scope.create("relax.shape", attributes={"dims": attribute}).result
    return constant(scope, value, like, name)


def _is_shape(dims: Sequence[Any]) -> bool:
    return all(isinstance(dim, Sym) or hasattr(dim, "__index__") for dim in dims)


def constant(scope: FunctionScope, value: Any, dtype: Any = None, name: str = "value") -> ir.Value:
    """A constant from a number, a list or an array. A number takes `dtype` if it can."""
    if hasattr(value, "detach") and hasattr(value, "numpy"):  # torch
        value = value.detach().cpu().numpy()
    is_number = isinstance(value, (bool, int, float, np.generic))
    try:
        array = np.asarray(value)
    except (ValueError, OverflowError) as error:
        fail(f"{name} is not a constant: {error}")
    if array.dtype.kind not in "biufV" and array.dtype.name not in dtypes._BY_NAME:
        fail(f"{name} is {value!r}; expected a value, a number, an array or an annotation")
    try:
        source = dtypes.normalize(array.dtype)
        if not isinstance(value, (np.ndarray, np.generic)):
            if dtype is None:
                # Python's own numbers, which NumPy reads as 64-bit numbers.
                source = {"f64": "f32"}.get(source, source)
            elif is_number and dtypes.is_float(source) and not dtypes.is_float(dtype):
                fail(f"{name} is {value!r}, which is not of type {dtype}; convert the tensor first")
        target = source if dtype is None else dtypes.normalize(dtype)
        with np.errstate(over="ignore", invalid="ignore"):
            converted = array.astype(dtypes.to_numpy(target))
    except ValueError as error:
        if isinstance(error, RelaxError):
            raise
        fail(str(error))
    if array.dtype.kind in "biuf" and not dtypes.is_float(target) and target != "bool":
        wrong = converted != array
        if np.any(wrong):
            what = repr(value) if is_number else f"an array with {array[wrong].flat[0].item()!r}"
            fail(f"{name} is {what}, which does not fit in {target}")
    if is_number and dtypes.is_float(target) and np.isfinite(array) and not np.isfinite(converted.astype("f8")):
        fail(f"{name} is {value!r}, which is beyond the largest {target}")
    type = Tensor(array.shape, target).to_mlir(scope.context)
    attribute = dense(converted, target, type)
    return scope.create("relax.constant", attributes={"value": attribute}, results=[type]).result


def dense(array: np.ndarray, dtype: str, type: ir.Type) -> ir.Attribute:
    """The elements of an array as a dense attribute of a tensor type."""
    array = np.ascontiguousarray(array).reshape(array.shape)
    context = type.context
    if dtype == "bool":
        return ir.DenseElementsAttr.get(array, context=context)
    if dtype in ("i4", "u4"):
        body = str(array.tolist()) if array.size else ""
        return ir.Attribute.parse(f"dense<{body}> : {type}", context)
    if array.dtype.kind not in "iuf" or dtype in ("bf16", "f8e4m3fn", "f8e5m2"):
        array = array.view(np.dtype(f"u{array.dtype.itemsize}"))
    return ir.DenseElementsAttr.get(array, type=type, context=context)


# --- attributes: each converter takes the scope, the argument and its name

Converter = Callable[[FunctionScope, Any, str], ir.Attribute]


def expression(scope: FunctionScope, value: Any, name: str) -> ir.Attribute:
    try:
        expr = Sym.parse(value) if isinstance(value, str) else value
        expr = as_expr(expr, scope.context)
    except (TypeError, ValueError, ArithmeticError) as error:
        fail(f"{name}: {error}")
    scope.require_symbols(set(expr.symbols))
    return expr


def expressions(scope: FunctionScope, value: Any, name: str) -> ir.Attribute:
    return ir.ArrayAttr.get([expression(scope, entry, name) for entry in _entries(value, name)], scope.context)


def shape(scope: FunctionScope, value: Any, name: str) -> ir.Attribute:
    dims = dims_to_mlir(parse_dims(value), scope.context)
    scope.require_symbols(symbols_of(dims))
    try:
        return _relax.shape_attr(scope.context, dims)
    except ValueError as error:
        fail(f"{name}: {error}")


def dtype(scope: FunctionScope, value: Any, name: str) -> ir.Attribute:
    try:
        return ir.TypeAttr.get(dtypes.to_mlir(value, scope.context), scope.context)
    except ValueError as error:
        fail(f"{name}: {error}")


def _integer(value: Any, name: str, bits: int = 64) -> int:
    if isinstance(value, Sym) and value.is_constant:
        value = value.value
    if isinstance(value, (bool, np.bool_)) or not hasattr(value, "__index__"):
        fail(f"{name} is {value!r}; expected an integer")
    number = value.__index__()
    if not -(2 ** (bits - 1)) <= number < 2 ** (bits - 1):
        fail(f"{name} is {number}, which does not fit in {bits} bits")
    return number


def i64(scope: FunctionScope, value: Any, name: str) -> ir.Attribute:
    type = ir.IntegerType.get_signless(64, scope.context)
    return ir.IntegerAttr.get(type, _integer(value, name))


def i32(scope: FunctionScope, value: Any, name: str) -> ir.Attribute:
    type = ir.IntegerType.get_signless(32, scope.context)
    return ir.IntegerAttr.get(type, _integer(value, name, 32))


def i64_array(scope: FunctionScope, value: Any, name: str) -> ir.Attribute:
    if hasattr(value, "__index__"):
        value = (value,)
    return ir.DenseI64ArrayAttr.get([_integer(entry, name) for entry in _entries(value, name)], scope.context)


def boolean(scope: FunctionScope, value: Any, name: str) -> ir.Attribute:
    if not isinstance(value, (bool, np.bool_)):
        fail(f"{name} is {value!r}; expected True or False")
    return ir.BoolAttr.get(bool(value), scope.context)


def _number(value: Any, name: str) -> float:
    if isinstance(value, (bool, str)) or not (hasattr(value, "__float__") or hasattr(value, "__index__")):
        fail(f"{name} is {value!r}; expected a number")
    return float(value)


def f64(scope: FunctionScope, value: Any, name: str) -> ir.Attribute:
    location = ir.Location.unknown(scope.context)
    return ir.FloatAttr.get(ir.F64Type.get(scope.context), _number(value, name), loc=location)


def f32(scope: FunctionScope, value: Any, name: str) -> ir.Attribute:
    location = ir.Location.unknown(scope.context)
    return ir.FloatAttr.get(ir.F32Type.get(scope.context), _number(value, name), loc=location)


def number(scope: FunctionScope, value: Any, name: str, like: str | None = None) -> ir.Attribute:
    """A 64-bit integer or float: a float if the op's tensors are floats, or else as written."""
    if hasattr(value, "__index__") and not (like and dtypes.is_float(like)):
        return i64(scope, value, name)
    return f64(scope, value, name)


def scalar(scope: FunctionScope, value: Any, name: str) -> ir.Attribute:
    """A number with its type: NumPy's scalars keep theirs, Python's are f32, i64 and bool."""
    type_name = dtypes.normalize(value.dtype if isinstance(value, np.generic) else type(value))
    element = dtypes.to_mlir(type_name, scope.context)
    if dtypes.is_float(type_name):
        return ir.FloatAttr.get(element, float(value), loc=ir.Location.unknown(scope.context))
    if type_name == "bool":
        return ir.BoolAttr.get(bool(value), scope.context)
    return ir.IntegerAttr.get(element, _integer(value, name))


def f64_array(scope: FunctionScope, value: Any, name: str) -> ir.Attribute:
    if hasattr(value, "__float__"):
        value = (value,)
    return ir.DenseF64ArrayAttr.get([_number(entry, name) for entry in _entries(value, name)], scope.context)


def bool_array(scope: FunctionScope, value: Any, name: str) -> ir.Attribute:
    return ir.DenseBoolArrayAttr.get([bool(entry) for entry in _entries(value, name)], scope.context)


def string(scope: FunctionScope, value: Any, name: str) -> ir.Attribute:
    if not isinstance(value, str):
        fail(f"{name} is {value!r}; expected a string")
    return ir.StringAttr.get(value, scope.context)


def function_name(scope: FunctionScope, value: Any, name: str) -> ir.Attribute:
    value = getattr(value, "name", value)
    if not isinstance(value, str):
        fail(f"{name} is {value!r}; expected a function's name")
    return ir.FlatSymbolRefAttr.get(value, scope.context)


def unit(scope: FunctionScope, value: Any, name: str) -> ir.Attribute | None:
    return ir.UnitAttr.get(scope.context) if value else None


def enum(mnemonic: str) -> Converter:
    """The converter of an enum of this dialect, written as a string."""

    def convert(scope: FunctionScope, value: Any, name: str) -> ir.Attribute:
        if not isinstance(value, str):
            fail(f"{name} is {value!r}; expected a string")
        try:
            return ir.Attribute.parse(f"#relax.{mnemonic}<{value}>", scope.context)
        except ir.MLIRError as error:
            fail(f"{name} is {value!r}: {error.error_diagnostics[0].message}")

    return convert


def attribute(scope: FunctionScope, value: Any, name: str) -> ir.Attribute:
    """Any attribute, given as an attribute or as text."""
    if isinstance(value, str):
        try:
            return ir.Attribute.parse(value, scope.context)
        except ir.MLIRError as error:
            fail(f"{name}: {error.error_diagnostics[0].message}")
    fail(f"{name} is {value!r}; expected an attribute or its text")


def _entries(value: Any, name: str) -> list[Any]:
    if isinstance(value, str):
        fail(f"{name} is {value!r}; expected a list")
    try:
        return list(value)
    except TypeError:
        fail(f"{name} is {value!r}; expected a list")


# --- ops


def emit(
    name: str,
    operands: Sequence[tuple[str, Any, str]],
    attributes: Mapping[str, tuple[Any, Converter]],
    results: Sequence[Any] | None = None,
    segmented: bool = False,
) -> Any:
    """Creates an op in the function that is being built, and returns its results.

    Args:
      operands: name, argument and kind of each; a kind that ends in "*" takes a list, one that ends
        in "?" may be None.
      attributes: argument and converter of each; None leaves an attribute at its default.
      results: annotations of the results, if the op does not deduce them.
      segmented: whether the op records the number of operands of each argument.
    """
    scope = current_function()
    values: list[ir.Value] = []
    sizes: list[int] = []
    common = _common_dtype(scope, operands)
    for argument_name, argument, kind in operands:
        like = None if argument_name == "indices" else common  # integers, whatever they index
        if kind.endswith("?") and argument is None:
            sizes.append(0)
            continue
        if kind.endswith("*"):
            entries = _entries(argument, f"{name[6:]}: {argument_name}")
            sizes.append(len(entries))
            values += [
                as_operand(scope, entry, kind[:-1], like, f"{name[6:]}: {argument_name}[{index}]")
                for index, entry in enumerate(entries)
            ]
            continue
        sizes.append(1)
        kind = kind.rstrip("?")
        values.append(as_operand(scope, argument, kind, like, f"{name[6:]}: {argument_name}"))
    converted = {}
    for attribute_name, (argument, convert) in attributes.items():
        if argument is None:
            continue
        if not isinstance(argument, ir.Attribute) or isinstance(argument, Sym):
            what = f"{name[6:]}: {attribute_name}"
            argument = number(scope, argument, what, common) if convert is number else convert(scope, argument, what)
        if argument is not None:
            converted[attribute_name] = argument
    if segmented:
        converted["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get(sizes, scope.context)
    types = None if results is None else [result_type(scope, result) for result in results]
    operation = scope.create(name, values, converted, types)
    return wrap_results(scope, operation)


def result_type(scope: FunctionScope, result: Any, defines: bool = False) -> ir.Type:
    """The type of a declared result, whose symbols must be defined unless the op defines them."""
    try:
        type = as_type(result, scope.context)
    except RelaxError:
        raise
    except (ValueError, OverflowError) as error:
        fail(str(error))
    names = _type_symbols(Annotation.from_mlir(type))
    if defines:
        names -= set(_relax.type_defined_symbols(type))
    scope.require_symbols(names)
    return type


def _type_symbols(annotation: Annotation) -> set[str]:
    dims = getattr(annotation, "shape", None) or getattr(annotation, "dims", None) or ()
    names = symbols_of(dim for dim in dims if isinstance(dim, Sym))
    for member in getattr(annotation, "members", ()):
        names |= _type_symbols(member)
    return names


def wrap_results(scope: FunctionScope, operation: ir.Operation) -> Any:
    """The results as users see them: one value, a tuple, or None."""
    results = tuple(scope.wrap(result) for result in operation.results)
    if not results:
        return None
    return results[0] if len(results) == 1 else results


def _common_dtype(scope: FunctionScope, operands: Sequence[tuple[str, Any, str]]) -> str | None:
    """The dtype of the first operand that already is a tensor."""
    for _, argument, kind in operands:
        entries = argument if kind.endswith("*") and isinstance(argument, (list, tuple)) else [argument]
        for entry in entries:
            if isinstance(entry, Tensor):
                return entry.dtype
            if isinstance(entry, Deferred) and entry.dtype != "bool":
                return entry.dtype
            if isinstance(entry, (Value, ir.Value)):
                annotation = Annotation.from_mlir(entry.type)
                # The dtype of a mask or an index says nothing about numbers next to it.
                if isinstance(annotation, Tensor) and annotation.dtype != "bool":
                    return annotation.dtype
            if isinstance(entry, (np.ndarray, np.generic)):
                return dtypes.normalize(entry.dtype)
    return None


def call_like(
    scope: FunctionScope,
    name: str,
    arguments: Sequence[Any],
    attributes: dict[str, ir.Attribute],
    callee: ir.Operation | None,
) -> Any:
    """Creates a call whose result types follow from the callee's signature."""
    operands = [as_operand(scope, argument, name=f"argument {i}") for i, argument in enumerate(arguments)]
    # First created without results: deduction reads its operands and the facts at its position.
    draft = scope.create(name, operands, attributes, results=[], check=False)
    with collected_errors(scope.context) as errors:
        types = _relax.deduce_call(draft, callee)
    draft.erase()
    if types is None:
        raise error_from(errors, f"'{name}' cannot be called like this")
    return wrap_results(scope, scope.create(name, operands, attributes, types))

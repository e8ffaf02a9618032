# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors whose elements are known while importing: constants, and what models compute of sizes.

A rule computes the result of an op from elements that are numbers, expressions over symbols, or conditions on them.
What it cannot express exactly it leaves to the converter of the op, which builds the op on tensors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...dtypes import integer_range
from ...symbolic import ExprLike, Sym
from ..conditions import Condition, compare, junction, negate, prove
from . import dtypes
from .data import Data, Operand, simplify
from .lowering import Lowering
from .model import Node

LIMIT = 4096
"""Tensors of more elements are not computed while importing."""

Rule = Callable[..., Any]
"""Takes the lowering and the operands; gives arrays, `Data`, lists of them for several results, or None."""

_RULES: dict[str, Rule] = {}
_PARTIAL: set[str] = set()


class NotKnown(Exception):
    """The result of a rule has no exact expression."""


def rule(*ops: str, partial: bool = False) -> Callable[[Rule], Rule]:
    """Registers the rule of ops of ONNX's domain (or `domain::Op`).

    Args:
      partial: whether the rule takes operands whose elements are not known.
    """

    def add(function: Rule) -> Rule:
        for name in ops:
            full = name if "::" in name else f"onnx::{name}"
            _RULES[full] = function
            if partial:
                _PARTIAL.add(full)
        return function

    return add


def has_rule(node: Node) -> bool:
    """Whether an op may be computed while importing."""
    return node.kind in _RULES


def evaluate(ctx: Lowering, operands: Sequence[Operand]) -> list[Operand] | None:
    """The results of a node, where they follow from what is known; None where they do not."""
    kind = ctx.node.kind
    function = _RULES.get(kind)
    if function is None or kind in ctx.importer.model.functions:
        return None
    if kind not in _PARTIAL and not all(map(_is_known, operands)):
        return None
    try:
        made = function(ctx, *operands)
    except NotKnown:
        return None
    if made is None:
        return None
    first = next((operand for operand in operands if isinstance(operand, Data)), None)
    results = made if isinstance(made, (list, tuple)) else [made]
    return [
        entry if isinstance(entry, (Data, list)) else _result(ctx, entry, first.dtype if first else "i64")
        for entry in results
    ]


def _result(ctx: Lowering, elements: np.ndarray, dtype: str) -> Data:
    elements = simplify(np.asarray(elements), dtype)
    if elements.dtype == bool:
        dtype = "bool"
    elif elements.dtype != object:
        elements = elements.astype(dtypes.to_numpy(dtypes.carrier(dtype)), copy=False)
    return Data(dtype, elements)


def _is_known(operand: Operand) -> bool:
    if operand is None:
        return True
    return isinstance(operand, Data) and operand.elements is not None and operand.elements.size <= LIMIT


def objects(array: np.ndarray) -> np.ndarray:
    """An array of Python's numbers, to compute with expressions."""
    return array if array.dtype == object else array.astype(object)


def each(function: Callable[..., Any], *arrays: np.ndarray) -> np.ndarray:
    """A function of each element, with broadcasting."""
    spread = np.broadcast_arrays(*map(objects, arrays))
    flat = [function(*entries) for entries in zip(*(part.reshape(-1) for part in spread))]
    made = np.empty(len(flat), object)
    made[:] = flat
    return made.reshape(spread[0].shape)


def _is_number(*operands: Data) -> bool:
    return all(operand.is_constant for operand in operands)


# --- arithmetic


def _arithmetic(name: str, of_numbers: Callable[..., Any], of_sizes: Callable[..., Any] | None = None) -> None:
    @rule(name)
    def compute(ctx: Lowering, *operands: Data) -> Any:
        if dtypes.CARRIERS.keys() & {operand.dtype for operand in operands} or not operands:
            raise NotKnown
        arrays = [operand.elements for operand in operands]
        if any(operand.dtype in ("str", "bool") for operand in operands):
            raise NotKnown
        if _is_number(*operands):
            with np.errstate(all="ignore"):
                made = of_numbers(ctx, *arrays)
            if made is None:
                raise NotKnown
            return np.asarray(made)
        if of_sizes is None or dtypes.is_float(operands[0].dtype):
            raise NotKnown
        return each(lambda *entries: of_sizes(ctx, *entries), *arrays)


def _fold(function: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def folded(ctx: Lowering, *entries: Any) -> Any:
        made = entries[0]
        for entry in entries[1:]:
            made = function(made, entry)
        return made

    return folded


def _divide_numbers(ctx: Lowering, lhs: np.ndarray, rhs: np.ndarray) -> Any:
    """The quotient; of integers, rounded towards zero."""
    if lhs.dtype.kind not in "iu":
        return lhs / rhs
    if not np.all(rhs):
        return None
    quotient = np.abs(lhs.astype(object)) // np.abs(rhs.astype(object))
    return np.where((lhs < 0) != (rhs < 0), -quotient, quotient).astype(lhs.dtype)


def _divide_sizes(ctx: Lowering, lhs: ExprLike, rhs: ExprLike) -> ExprLike:
    if ctx.facts.less_equal(0, lhs) and ctx.facts.less(0, rhs):
        return lhs // rhs
    raise NotKnown


def _remainder(ctx: Lowering, lhs: Any, rhs: Any) -> Any:
    if ctx.int("fmod", 0) or not (isinstance(rhs, np.ndarray) or ctx.facts.less(0, rhs)):
        raise NotKnown
    if isinstance(rhs, np.ndarray) and (rhs.dtype.kind not in "iu" or not np.all(rhs)):
        raise NotKnown
    return lhs % rhs


def _absolute(ctx: Lowering, value: ExprLike) -> ExprLike:
    if ctx.facts.less_equal(0, value):
        return value
    raise NotKnown


def _pick(which: Callable[..., Any]) -> Callable[..., Any]:
    def pick(lhs: ExprLike, rhs: ExprLike) -> ExprLike:
        return which(lhs, rhs)

    return _fold(pick)


_arithmetic("Add", _fold(np.add), _fold(lambda a, b: a + b))
_arithmetic("Sub", _fold(np.subtract), _fold(lambda a, b: a - b))
_arithmetic("Mul", _fold(np.multiply), _fold(lambda a, b: a * b))
_arithmetic("Sum", _fold(np.add), _fold(lambda a, b: a + b))
_arithmetic("Div", _divide_numbers, _divide_sizes)
_arithmetic("Mod", _remainder, _remainder)
_arithmetic("Neg", lambda ctx, x: -x, lambda ctx, x: -x)
_arithmetic("Abs", lambda ctx, x: np.abs(x), _absolute)
_arithmetic("Min", _fold(np.minimum), _pick(Sym.min))
_arithmetic("Max", _fold(np.maximum), _pick(Sym.max))
_arithmetic("Floor", lambda ctx, x: np.floor(x))
_arithmetic("Ceil", lambda ctx, x: np.ceil(x))
_arithmetic("Round", lambda ctx, x: np.rint(x))
_arithmetic("Sqrt", lambda ctx, x: np.sqrt(x))
_arithmetic("Reciprocal", lambda ctx, x: (1 / x).astype(x.dtype))


# --- conditions


def _comparison(name: str, predicate: str, of_numbers: Callable[..., Any]) -> None:
    @rule(name)
    def compute(ctx: Lowering, lhs: Data, rhs: Data) -> Any:
        if lhs.dtype == dtypes.STRING or _is_number(lhs, rhs):
            return np.asarray(of_numbers(lhs.elements, rhs.elements), bool)
        if dtypes.is_float(lhs.dtype) or lhs.dtype == "bool":
            raise NotKnown
        return Data("bool", simplify(each(lambda a, b: _decide(ctx, predicate, a, b), *_elements(lhs, rhs)), "bool"))


def _elements(*operands: Data) -> list[np.ndarray]:
    return [operand.elements for operand in operands]


def _decide(ctx: Lowering, predicate: str, lhs: ExprLike, rhs: ExprLike) -> Condition:
    condition = compare(predicate, lhs, rhs)
    known = prove(condition, ctx.facts)
    return condition if known is None else known


_comparison("Equal", "==", np.equal)
_comparison("Less", "<", np.less)
_comparison("LessOrEqual", "<=", np.less_equal)
_comparison("Greater", ">", np.greater)
_comparison("GreaterOrEqual", ">=", np.greater_equal)


@rule("And", "Or")
def _junction(ctx: Lowering, lhs: Data, rhs: Data) -> Data:
    kind = ctx.node.op.lower()
    made = each(lambda a, b: junction(kind, [_truth(a), _truth(b)]), *_elements(lhs, rhs))
    return Data("bool", simplify(made, "bool"))


@rule("Not")
def _negation(ctx: Lowering, x: Data) -> Data:
    return Data("bool", simplify(each(lambda a: negate(_truth(a)), *_elements(x)), "bool"))


def _truth(entry: Any) -> Condition:
    return bool(entry) if isinstance(entry, (bool, np.bool_)) else entry


@rule("Where")
def _where(ctx: Lowering, condition: Data, lhs: Data, rhs: Data) -> Data:
    def choose(truth: Any, a: Any, b: Any) -> Any:
        if isinstance(truth, (bool, np.bool_)):
            return a if truth else b
        if a is b or a == b:
            return a
        raise NotKnown

    if _is_number(condition, lhs, rhs) and lhs.dtype != dtypes.STRING:
        return Data(lhs.dtype, np.where(condition.elements, lhs.elements, rhs.elements))
    return Data(lhs.dtype, simplify(each(choose, *_elements(condition, lhs, rhs)), lhs.dtype))


@rule("Cast")
def _cast(ctx: Lowering, x: Data) -> Data:
    return _converted(x, ctx.dtype("to"))


@rule("CastLike")
def _cast_like(ctx: Lowering, x: Data, like: Data) -> Data:
    return _converted(x, like.dtype)


def _converted(x: Data, dtype: str) -> Data:
    """Between plain numbers, where NumPy's rule is ours: not from floats to integers that do not hold them."""
    if dtype == x.dtype:
        return x
    if dtypes.STRING in (dtype, x.dtype) or {dtype, x.dtype} & dtypes.CARRIERS.keys() or "8e" in dtype + x.dtype:
        raise NotKnown
    elements = x.elements
    assert elements is not None
    if elements.dtype == object:
        if dtype not in ("i32", "i64", "u64") or x.dtype == "bool":
            raise NotKnown
        return Data(dtype, elements)
    if dtypes.is_float(x.dtype) and not dtypes.is_float(dtype) and dtype != "bool":
        low, high = integer_range(dtype)
        if not (np.all(np.isfinite(elements)) and np.all(elements >= low) and np.all(elements <= high)):
            raise NotKnown
    with np.errstate(all="ignore"):
        return Data(dtype, elements.astype(dtypes.to_numpy(dtype)))


# --- shapes


@rule("Shape", partial=True)
def _shape(ctx: Lowering, x: Data) -> Data:
    rank = x.ndim
    start, end = (_clamp(ctx.int(name, default), rank) for name, default in (("start", 0), ("end", rank)))
    made = np.empty(max(0, end - start), object)
    made[:] = x.shape[start:end]
    return Data("i64", simplify(made, "i64"))


def _clamp(position: int, rank: int) -> int:
    return min(max(position + rank if position < 0 else position, 0), rank)


@rule("Size", partial=True)
def _size(ctx: Lowering, x: Data) -> Data:
    made = np.empty((), object)
    made[()] = math.prod(x.shape)
    return Data("i64", simplify(made, "i64"))


@rule("Identity", partial=True)
def _identity(ctx: Lowering, x: Operand) -> Any:
    return [x] if isinstance(x, list) else x


@rule("Gather")
def _gather(ctx: Lowering, x: Data, indices: Data) -> Data:
    if not indices.is_constant:
        raise NotKnown
    return Data(x.dtype, simplify(_array(np.take(x.elements, indices.elements, ctx.int("axis", 0))), x.dtype))


def _array(made: Any) -> np.ndarray:
    """An array, also where NumPy gives the element of an array of rank 0."""
    if isinstance(made, np.ndarray):
        return made
    found = np.empty((), object if not isinstance(made, np.generic) else made.dtype)
    found[()] = made
    return found


@rule("Concat")
def _concat(ctx: Lowering, *parts: Data) -> Data:
    arrays = _elements(*parts)
    if any(array.dtype == object for array in arrays):
        arrays = list(map(objects, arrays))
    return Data(parts[0].dtype, np.concatenate(arrays, ctx.int("axis")))


@rule("Unsqueeze")
def _unsqueeze(ctx: Lowering, x: Data, axes: Data | None = None) -> Data:
    found = axes_of(ctx, axes, "axes")
    return Data(x.dtype, np.expand_dims(x.elements, tuple(found)), name=x.name)


@rule("Squeeze")
def _squeeze(ctx: Lowering, x: Data, axes: Data | None = None) -> Data:
    found = axes_of(ctx, axes, "axes", None)
    return Data(x.dtype, np.squeeze(x.elements, None if found is None else tuple(found)), name=x.name)


def axes_of(ctx: Lowering, operand: Data | None, attribute: str, default: Any = ()) -> Any:
    """Axes as an operand, as newer versions of an op have them, or as an attribute."""
    if operand is not None:
        if not operand.is_constant:
            raise NotKnown
        return [int(axis) for axis in operand.elements.reshape(-1)]
    return ctx.ints(attribute, default)


@rule("Transpose")
def _transpose(ctx: Lowering, x: Data) -> Data:
    return Data(x.dtype, np.ascontiguousarray(np.transpose(x.elements, ctx.ints("perm", None))))


@rule("Reshape")
def _reshape(ctx: Lowering, x: Data, shape: Data | None = None) -> Data:
    sizes = axes_of(ctx, shape, "shape")
    if not ctx.int("allowzero", 0):
        sizes = [x.shape[axis] if size == 0 else size for axis, size in enumerate(sizes)]
    return Data(x.dtype, x.elements.reshape(sizes), name=x.name)


@rule("Expand")
def _expand(ctx: Lowering, x: Data, shape: Data) -> Data:
    sizes = np.broadcast_shapes(x.shape, tuple(axes_of(ctx, shape, "shape")))
    if math.prod(sizes) > LIMIT:
        raise NotKnown
    return Data(x.dtype, np.broadcast_to(x.elements, sizes).copy())


@rule("Tile")
def _tile(ctx: Lowering, x: Data, repeats: Data) -> Data:
    counts = axes_of(ctx, repeats, "repeats")
    if math.prod(counts) * x.elements.size > LIMIT:
        raise NotKnown
    return Data(x.dtype, np.tile(x.elements, counts))


@rule("Slice")
def _slice(ctx: Lowering, x: Data, *limits: Data | None) -> Data:
    names = ("starts", "ends", "axes", "steps")
    given = dict(zip(names, limits))
    starts, ends, axes, steps = (axes_of(ctx, given.get(name), name, None) for name in names)
    index = [slice(None)] * x.ndim
    for place, axis in enumerate(axes if axes is not None else range(len(starts))):
        step = steps[place] if steps is not None else 1
        end = None if step < 0 and ends[place] < -x.shape[axis] else ends[place]
        index[axis] = slice(starts[place], end, step)
    return Data(x.dtype, np.ascontiguousarray(x.elements[tuple(index)]))


@rule("Split")
def _split(ctx: Lowering, x: Data, lengths: Data | None = None) -> list[Data]:
    axis, count = ctx.int("axis", 0), len(ctx.node.outputs)
    sizes = axes_of(ctx, lengths, "split", None)
    if sizes is None:
        part = -(-x.shape[axis] // count)
        sizes = [max(0, min(part, x.shape[axis] - part * index)) for index in range(count)]
    return [Data(x.dtype, part) for part in np.split(x.elements, np.cumsum(sizes)[:-1], axis)]


@rule("ConstantOfShape")
def _constant_of_shape(ctx: Lowering, shape: Data) -> Data:
    sizes = axes_of(ctx, shape, "shape")
    value = ctx.tensor("value") if "value" in ctx.node.attributes else Data("f32", np.zeros(1, np.float32))
    if math.prod(sizes) > LIMIT:
        raise NotKnown
    return Data(value.dtype, np.full(sizes, value.elements.reshape(-1)[0]))


@rule("Range")
def _range(ctx: Lowering, start: Data, limit: Data, delta: Data) -> Data:
    if not _is_number(start, limit, delta) or "8e" in start.dtype:
        raise NotKnown
    first, last, step = (part.elements.reshape(-1)[0] for part in (start, limit, delta))
    count = max(0, math.ceil((float(last) - float(first)) / float(step))) if step else LIMIT + 1
    if count > LIMIT or dtypes.is_float(start.dtype):
        raise NotKnown
    return Data(start.dtype, (first + np.arange(count, dtype=np.int64) * step).astype(first.dtype))


@rule("ReduceProd", "ReduceSum", "ReduceMax", "ReduceMin")
def _reduce(ctx: Lowering, x: Data, axes: Data | None = None) -> Data:
    """Reductions of sizes; floats are left to the program, whose sums are more exact."""
    if dtypes.is_float(x.dtype) or x.dtype == "bool" or not x.elements.size:
        raise NotKnown
    found = axes_of(ctx, axes, "axes", None)
    if not found and ctx.int("noop_with_empty_axes", 0):
        return x
    step = {
        "ReduceProd": lambda a, b: a * b,
        "ReduceSum": lambda a, b: a + b,
        "ReduceMax": lambda a, b: Sym.max(a, b) if isinstance(a, Sym) or isinstance(b, Sym) else max(a, b),
        "ReduceMin": lambda a, b: Sym.min(a, b) if isinstance(a, Sym) or isinstance(b, Sym) else min(a, b),
    }[ctx.node.op]
    over = ctx.axes(found, x.ndim) if found else list(range(x.ndim))
    made = objects(x.elements)
    for axis in over:
        parts = np.split(made, made.shape[axis], axis)
        made = parts[0]
        for part in parts[1:]:
            made = each(step, made, part)
    if not ctx.int("keepdims", 1):
        made = made.reshape([size for axis, size in enumerate(made.shape) if axis not in over])
    return Data(x.dtype, simplify(made, x.dtype))

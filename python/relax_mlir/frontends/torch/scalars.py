# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numbers that only a run knows, as tensors of rank 0: floats of sizes, and sizes that no expression of ours means.

`torch.export` computes with sizes in Python: `x * (n / 2)`, `int(n ** 0.5)`, `n & 7`. What is a float is computed in
f64, as Python does. What is an integer but not an expression over symbols becomes a symbol of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import sympy

from ... import op
from ...annotations import Shape
from ...errors import FrontendError
from ...symbolic import ExprLike, Sym
from ...values import Value
from .symbols import SymbolTable, Untranslatable


class ScalarBuilder:
    """Builds the value of sympy's expressions over symbols that are known."""

    def __init__(self, symbols: SymbolTable) -> None:
        self._symbols = symbols

    def size(self, expr: sympy.Expr) -> ExprLike:
        """An integer that is not an expression of ours, as a new symbol."""
        if expr.is_Symbol:
            raise FrontendError(f"the size '{expr}' of the program is used before an op defines it")
        computed = self._symbols.computed
        if expr not in computed:
            computed[expr] = define_size(self._symbols, self.tensor(expr, "i64"), "size")
        return computed[expr]

    def tensor(self, expr: sympy.Expr, dtype: str) -> Value:
        """The value of an expression, in f64 or i64."""
        if dtype == "i64":
            try:
                return _integer(self._symbols._translate(expr))
            except Untranslatable:
                pass
        if expr.is_number and dtype == "f64":
            return op.constant(np.float64(float(expr)))
        name = type(expr).__name__
        rule = _RULES.get(name)
        if rule is None:
            if dtype == "f64":
                return op.astype(self.tensor(expr, "i64"), "f64")
            raise FrontendError(f"the number {expr} of the program cannot be computed: {name} is not known")
        made = rule(self, expr, dtype)
        return made if made.dtype == dtype else op.astype(made, dtype)

    def all(self, expr: sympy.Expr, dtype: str) -> list[Value]:
        """The values of the operands."""
        return [self.tensor(arg, dtype) for arg in expr.args]


def define_size(symbols: SymbolTable, value: Value, name: str, symbol: Any = None) -> Sym:
    """A symbol for the value of an integer tensor with one element, which must not be negative."""
    sym = symbols.define(symbol) if symbol is not None else Sym(symbols.unused(name))
    op.match_cast(op.tensor_to_shape(op.reshape(value, (1,))), Shape((sym,)))
    return sym


def define_item(symbols: SymbolTable, value: Value, symbol: sympy.Symbol) -> ExprLike:
    """What the value of an integer tensor of rank 0 is for a symbol of the export; it may be negative.

    A symbol of ours is not negative, so the value is the difference of two, of which one is zero.
    """
    value = op.astype(value, "i64")
    zero = op.constant(np.int64(0))
    if symbols.is_size(symbol):
        return define_size(symbols, value, "item", symbol)
    above = define_size(symbols, op.maximum(value, zero), f"{symbol}_above")
    below = define_size(symbols, op.maximum(op.negative(value), zero), f"{symbol}_below")
    symbols.values[symbol] = above - below
    return symbols.values[symbol]


def _integer(value: ExprLike) -> Value:
    if not isinstance(value, Sym):
        return op.constant(np.int64(value))
    return op.reshape(op.arange(value, value + 1, 1, "i64"), ())


def _fold(function: Callable[[Value, Value], Value]) -> Any:
    def rule(builder: ScalarBuilder, expr: sympy.Expr, dtype: str) -> Value:
        result, *others = builder.all(expr, dtype)
        for value in others:
            result = function(result, value)
        return result

    return rule


def _of_floats(function: Callable[..., Value]) -> Any:
    return lambda builder, expr, dtype: function(*builder.all(expr, "f64"))


def _of_integers(function: Callable[..., Value]) -> Any:
    return lambda builder, expr, dtype: function(*builder.all(expr, "i64"))


def _piecewise(builder: ScalarBuilder, expr: sympy.Expr, dtype: str) -> Value:
    """The value of the first condition that holds."""
    *cases, (value, _) = expr.args
    result = builder.tensor(value, dtype)
    for value, condition in reversed(cases):
        result = op.where(_truth(builder, condition), builder.tensor(value, dtype), result)
    return result


def _truth(builder: ScalarBuilder, condition: sympy.Basic) -> Value:
    compare = _COMPARISONS.get(type(condition).__name__)
    if compare is None:
        raise FrontendError(f"the condition {condition} of the program cannot be computed")
    return compare(*builder.all(condition, "i64"))


_COMPARISONS: dict[str, Callable[[Value, Value], Value]] = {
    "Equality": op.equal,
    "Unequality": op.not_equal,
    "StrictLessThan": op.less,
    "LessThan": op.less_equal,
    "StrictGreaterThan": op.greater,
    "GreaterThan": op.greater_equal,
}

_RULES: dict[str, Any] = {
    "Piecewise": _piecewise,
    "Add": _fold(op.add),
    "Mul": _fold(op.multiply),
    "Max": _fold(op.maximum),
    "Min": _fold(op.minimum),
    "ToFloat": _of_integers(lambda x: op.astype(x, "f64")),
    "IntTrueDiv": _of_floats(op.divide),
    "FloatTrueDiv": _of_floats(op.divide),
    "FloatPow": _of_floats(op.power),
    "Pow": _of_floats(op.power),
    "PowByNatural": _of_integers(op.power),
    "OpaqueUnaryFn_sqrt": _of_floats(op.sqrt),
    "OpaqueUnaryFn_log2": _of_floats(op.log2),
    "OpaqueUnaryFn_exp": _of_floats(op.exp),
    "OpaqueUnaryFn_log": _of_floats(op.log),
    "TruncToInt": _of_floats(lambda x: op.astype(op.trunc(x), "i64")),
    "FloorToInt": _of_floats(lambda x: op.astype(op.floor(x), "i64")),
    "CeilToInt": _of_floats(lambda x: op.astype(op.ceil(x), "i64")),
    "RoundToInt": _of_floats(lambda x: op.astype(op.round(x), "i64")),
    "TruncToFloat": _of_floats(op.trunc),
    "BitwiseFn_bitwise_and": _of_integers(op.bitwise_and),
    "BitwiseFn_bitwise_or": _of_integers(op.bitwise_or),
    "BitwiseFn_bitwise_xor": _of_integers(op.bitwise_xor),
    "FloorDiv": _of_integers(op.floor_divide),
    "Mod": _of_integers(op.floor_mod),
    "PythonMod": _of_integers(op.floor_mod),
}

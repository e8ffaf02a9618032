# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Symbolic dimensions: expressions, their bounds, and a prover.

>>> n = Sym("n")
>>> (2 * n + 4) // 2
n + 2
>>> Facts({n: Range(1, 2048)}).less(n, 4096)
True
"""

from __future__ import annotations

import dataclasses
import numbers
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Union

from mlir import ir

from . import _relax
from .context import resolve_context
from .mlir_types import Attribute

# The forms of an expression, in the compiler's order.
_KINDS = (
    "constant",
    "symbol",
    "product",
    "floordiv",
    "ceildiv",
    "mod",
    "min",
    "max",
    "broadcast",
    "sum",
)
_PRODUCT, _FLOORDIV, _CEILDIV, _MOD, _MIN, _MAX, _BROADCAST, _SUM = range(2, 10)

ExprLike = Union["Sym", int]
"""What is accepted where an expression is expected."""
SymbolNumbers = Union[Mapping["Sym", int], Mapping[str, int], Mapping[Union["Sym", str], int]]
SymbolExprs = Union[Mapping["Sym", ExprLike], Mapping[str, ExprLike], Mapping[Union["Sym", str], ExprLike]]


class Sym(Attribute):
    """A 64-bit integer expression over named symbols.

    `Sym("n")` is the symbol `n`; arithmetic gives expressions. Expressions are kept in one canonical
    form, so `==` and `hash` compare their meaning in nearly all cases, also against integers and
    across contexts; use `Facts` to prove more. `//` and `%` round towards minus infinity, as in
    Python.

    Raises:
      OverflowError: a constant leaves 64 bits.
      ZeroDivisionError: division by the constant zero.
      ValueError: not a symbol's name; a broadcast of two different constants.
    """

    def __init__(self, value: str | int | ir.Attribute, *, context: ir.Context | None = None) -> None:
        if isinstance(value, ir.Attribute):
            if not _relax.is_expr(value):
                raise ValueError(f"{value} is not a symbolic expression")
            super().__init__(value)
        elif isinstance(value, str):
            super().__init__(_relax.expr_symbol(resolve_context(context), value))
        else:
            super().__init__(_constant(value, resolve_context(context)))

    @staticmethod
    def parse(text: str, *, context: ir.Context | None = None) -> Sym:  # type: ignore[override] # of text alone
        """Parses an expression, e.g. `(n + 3) floordiv 4`."""
        return Sym(_relax.expr_parse(resolve_context(context), text))

    def __reduce__(self) -> tuple[Any, ...]:
        return Sym.parse, (str(self),)  # in the default context of the process that unpickles it

    def __copy__(self) -> Sym:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Sym:
        return self

    # --- inspection

    @property
    def kind(self) -> str:
        """One of constant, symbol, sum, product, floordiv, ceildiv, mod, min, max, broadcast."""
        return _KINDS[_relax.expr_kind(self)]

    @property
    def operands(self) -> tuple[Sym, ...]:
        """The parts; a sum is `value + Σ coefficients[i] * operands[i]`."""
        return tuple(_relax.expr_operands(self))

    @property
    def coefficients(self) -> tuple[int, ...]:
        """The factors of the operands of a sum; ones for other forms."""
        return tuple(_relax.expr_coefficients(self))

    @property
    def value(self) -> int:
        """The constant, or the constant term of a sum."""
        return _relax.expr_value(self)

    @property
    def name(self) -> str:
        """The name of a symbol; empty for other forms."""
        return _relax.expr_name(self)

    @property
    def is_constant(self) -> bool:
        return self.kind == "constant"

    @property
    def is_symbol(self) -> bool:
        return self.kind == "symbol"

    @property
    def symbols(self) -> tuple[str, ...]:
        """The names of the symbols that occur, sorted."""
        return tuple(sorted(set(_relax.expr_symbols(self))))

    def __str__(self) -> str:
        return _relax.expr_text(self)

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        if isinstance(other, numbers.Integral):
            return self.is_constant and self.value == other
        if not isinstance(other, ir.Attribute):
            return NotImplemented
        if self.context is other.context:
            return ir.Attribute.__eq__(self, other)
        return _relax.is_expr(other) and str(self) == str(Sym(other))

    def __hash__(self) -> int:
        return hash(self.value) if self.is_constant else hash(str(self))

    def __int__(self) -> int:
        if not self.is_constant:
            raise TypeError(f"'{self}' is symbolic: it has no value before run time")
        return self.value

    def __bool__(self) -> bool:
        if not self.is_constant:
            raise TypeError(f"whether '{self}' is zero is not known before run time")
        return self.value != 0

    def _no_order(self, other: object) -> bool:
        raise TypeError(
            "symbolic expressions have no order that Python could use; "
            "write Sym.min(a, b) and Sym.max(a, b), or ask Facts(...).less(a, b)"
        )

    __lt__ = __le__ = __gt__ = __ge__ = _no_order

    # --- arithmetic

    def __add__(self, other: ExprLike) -> Sym:
        return self._combine(_SUM, self, other)

    __radd__ = __add__

    def __sub__(self, other: ExprLike) -> Sym:
        value = _coerce(other, self.context)
        return NotImplemented if value is None else _relax.expr_sub(self, value)

    def __rsub__(self, other: ExprLike) -> Sym:
        value = _coerce(other, self.context)
        return NotImplemented if value is None else _relax.expr_sub(value, self)

    def __neg__(self) -> Sym:
        return self._combine(_PRODUCT, self, -1)

    def __mul__(self, other: ExprLike) -> Sym:
        return self._combine(_PRODUCT, self, other)

    __rmul__ = __mul__

    def __floordiv__(self, other: ExprLike) -> Sym:
        return self._combine(_FLOORDIV, self, other)

    def __rfloordiv__(self, other: ExprLike) -> Sym:
        return self._combine(_FLOORDIV, other, self)

    def __mod__(self, other: ExprLike) -> Sym:
        return self._combine(_MOD, self, other)

    def __rmod__(self, other: ExprLike) -> Sym:
        return self._combine(_MOD, other, self)

    def ceildiv(self, other: ExprLike) -> Sym:
        """The quotient, rounded towards plus infinity."""
        return self._checked(_CEILDIV, self, other)

    @staticmethod
    def min(first: ExprLike, *others: ExprLike) -> Sym:
        return Sym._checked(_MIN, first, *others)

    @staticmethod
    def max(first: ExprLike, *others: ExprLike) -> Sym:
        return Sym._checked(_MAX, first, *others)

    @staticmethod
    def broadcast(first: ExprLike, *others: ExprLike) -> Sym:
        """The size of a dimension that is broadcast from these: the operand that is not 1."""
        return Sym._checked(_BROADCAST, first, *others)

    @staticmethod
    def _combine(kind: int, *operands: Any) -> Sym:
        context = next(operand.context for operand in operands if isinstance(operand, Sym))
        values = [_coerce(operand, context) for operand in operands]
        if any(value is None for value in values):
            return NotImplemented
        return _relax.expr_combine(kind, values)

    @staticmethod
    def _checked(kind: int, *operands: ExprLike) -> Sym:
        context = next((operand.context for operand in operands if isinstance(operand, Sym)), None) or resolve_context()
        return _relax.expr_combine(kind, [as_expr(operand, context) for operand in operands])

    # --- values

    def substitute(self, values: SymbolExprs) -> Sym:
        """Replaces symbols, all of them simultaneously."""
        names, exprs = _split(values)
        return _relax.expr_substitute(self, names, [as_expr(expr, self.context) for expr in exprs])

    def evaluate(self, values: SymbolNumbers | None = None) -> int:
        """The value under an assignment of all symbols.

        Raises:
          ValueError: a symbol has no value, or a broadcast of different sizes.
          ZeroDivisionError, OverflowError: as in Python; the result has 64 bits.
        """
        names, numbers = _split(values or {})
        missing = [name for name in self.symbols if name not in names]
        if missing:
            raise ValueError(f"no value for symbol '{missing[0]}' of '{self}'")
        for number in numbers:
            _constant(number, self.context)  # checks its size
        result = _relax.expr_evaluate(self, names, [int(number) for number in numbers])
        if result is None:
            self.substitute(dict(zip(names, numbers)))  # raises the error
            raise ValueError(f"'{self}' is undefined for {dict(zip(names, numbers))}")
        return result


def _constant(value: Any, context: ir.Context) -> ir.Attribute:
    try:
        number = value.__index__()
    except AttributeError:
        raise TypeError(f"expected an integer or an expression, got {value!r}") from None
    if not -(2**63) < number < 2**63:
        raise OverflowError(f"{number} does not fit in 64 bits")
    return _relax.expr_constant(context, number)


def _coerce(value: Any, context: ir.Context) -> ir.Attribute | None:
    """The operand as an expression of this context; None if it is not an expression."""
    if isinstance(value, Sym):
        if value.context is context:
            return value
        return _relax.expr_parse(context, str(value))
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        return None
    return _constant(value, context)


def as_expr(value: ExprLike, context: ir.Context) -> Sym:
    """`value` as an expression of `context`."""
    expr = _coerce(value, context)
    if expr is None:
        raise TypeError(f"expected an integer or a Sym, got {value!r}")
    return Sym(expr)


def _name(symbol: Sym | str) -> str:
    if isinstance(symbol, str):
        return symbol
    if not isinstance(symbol, Sym) or not symbol.is_symbol:
        raise ValueError(f"'{symbol}' is not a symbol")
    return symbol.name


def _split(values: Mapping[Any, Any]) -> tuple[list[str], list[Any]]:
    return [_name(symbol) for symbol in values], list(values.values())


def ceildiv(lhs: ExprLike, rhs: ExprLike) -> Sym:
    """The quotient of two expressions, rounded towards plus infinity."""
    return Sym._checked(_CEILDIV, lhs, rhs)


# MLIR casts attributes of this kind to Sym.
ir.register_type_caster(_relax.expr_typeid())(Sym)


@dataclasses.dataclass(frozen=True)
class Range:
    """The values that a symbol may take: `lower <= n <= upper`, a multiple of `multiple_of`.

    `upper` is None if there is no upper bound.
    """

    lower: int = 0
    upper: int | None = None
    multiple_of: int = 1

    def __post_init__(self) -> None:
        self.to_mlir(resolve_context())  # raises an error if the bounds are invalid

    def to_mlir(self, context: ir.Context) -> ir.Attribute:
        """`#relax.range` of these bounds."""
        for bound in (self.lower, self.upper, self.multiple_of):
            if bound is not None:
                _constant(bound, context)
        return _relax.range_attr(context, self.lower, self.upper, self.multiple_of)

    @staticmethod
    def from_mlir(attr: ir.Attribute) -> Range:
        if not _relax.is_range_attr(attr):
            raise ValueError(f"{attr} is not a #relax.range")
        return Range(*_relax.range_attr_bounds(attr))


SymbolRanges = Union[Mapping[Sym, Range], Mapping[str, Range], Mapping[Union[Sym, str], Range]]


def ranges_to_mlir(ranges: SymbolRanges, context: ir.Context) -> ir.DictAttr:
    """The dictionary that `relax.symbols` holds."""
    entries = {}
    for symbol, bounds in ranges.items():
        if not isinstance(bounds, Range):
            raise TypeError(f"expected a Range for symbol '{symbol}', got {bounds!r}")
        entries[_name(symbol)] = bounds.to_mlir(context)
    return ir.DictAttr.get(entries, context=context)


class Facts:
    """Declared facts about symbols, and a prover that uses them.

    Every query returns True or False if that holds for all assignments that respect the
    declarations, and None if neither can be proved. Undeclared symbols are
    non-negative.
    """

    def __init__(self, ranges: SymbolRanges | None = None, *, context: ir.Context | None = None):
        self._context = resolve_context(context)
        self._ranges = ranges_to_mlir(ranges or {}, self._context)

    def __reduce__(self) -> tuple[Any, ...]:
        return Facts, ({entry.name: Range.from_mlir(entry.attr) for entry in self._ranges},)

    def equal(self, lhs: ExprLike, rhs: ExprLike) -> bool | None:
        return _relax.prove_equal(self._ranges, self._expr(lhs), self._expr(rhs))

    def less(self, lhs: ExprLike, rhs: ExprLike) -> bool | None:
        return _relax.prove_less(self._ranges, self._expr(lhs), self._expr(rhs))

    def less_equal(self, lhs: ExprLike, rhs: ExprLike) -> bool | None:
        return _relax.prove_less_equal(self._ranges, self._expr(lhs), self._expr(rhs))

    def divisible(self, value: ExprLike, divisor: ExprLike) -> bool | None:
        return _relax.prove_divisible(self._ranges, self._expr(value), self._expr(divisor))

    def interval(self, value: ExprLike) -> tuple[int | None, int | None]:
        """The least and the greatest possible value; None if there is no bound."""
        return _relax.expr_interval(self._ranges, self._expr(value))

    def simplify(self, value: ExprLike) -> Sym:
        """An equal expression that is simpler under the facts."""
        return _relax.expr_simplify(self._ranges, self._expr(value))

    def _expr(self, value: ExprLike) -> Sym:
        return as_expr(value, self._context)


@dataclasses.dataclass(frozen=True)
class Unification:
    """The solution of a list of equations."""

    bindings: dict[str, Sym]
    """The solutions found for the symbols of the patterns."""
    undecided: list[tuple[Sym, Sym | None]]
    """Equations that hold for some assignments only, to be checked at run time."""


def unify(
    patterns: Sequence[ExprLike],
    actuals: Sequence[ExprLike | None],
    ranges: SymbolRanges | None = None,
    pattern_ranges: SymbolRanges | None = None,
    *,
    context: ir.Context | None = None,
) -> Unification:
    """Solves `patterns[i] == actuals[i]` for the symbols of the patterns.

    An actual value of None is unknown. The symbols of patterns and actual values are distinct
    even if their names agree. Raises ValueError, with both sides, on a contradiction.

    >>> unify([2 * Sym("k")], [14]).bindings
    {'k': 7}
    """
    context = resolve_context(context)
    bindings, undecided = _relax.unify(
        context,
        ranges_to_mlir(ranges or {}, context),
        ranges_to_mlir(pattern_ranges or {}, context),
        [as_expr(pattern, context) for pattern in patterns],
        [None if actual is None else as_expr(actual, context) for actual in actuals],
    )
    return Unification(dict(bindings), list(undecided))


def symbols_of(exprs: Iterable[Sym | None]) -> set[str]:
    """The names of all symbols in some expressions."""
    return {name for expr in exprs if expr is not None for name in _relax.expr_symbols(expr)}


def as_dims(dims: Iterable[Sym | None]) -> tuple[int | Sym | None, ...]:
    """Dimensions as users see them: a number, an expression, or None if unknown."""
    return tuple(dim.value if dim is not None and dim.is_constant else dim for dim in dims)

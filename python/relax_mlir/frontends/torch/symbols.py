# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From the symbols of an exported program to those of a function.

`torch.export` names a size `s33` and does not say where it comes from. Here each symbol gets its name from the first
input that has it as a size (`input_ids_dim1`), or from the user. A symbol that stands in no input alone, as in `8*s`
or `10 - s`, is computed from the size that it stands in, which gets the name.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Union

import sympy

from ...errors import FrontendError
from ...symbolic import ExprLike, Facts, Range, Sym
from ..conditions import Condition, compare, junction, negate

_FLOAT_BITS = 53


class Untranslatable(Exception):
    """An expression that is not one of symbolic sizes; its value has to be computed where the program runs."""


@dataclasses.dataclass(frozen=True)
class Source:
    """Where a symbol is read: the size of an input's axis, or (axis None) an input that is an integer."""

    input: str
    axis: int | None

    def __str__(self) -> str:
        return self.input if self.axis is None else f"{self.input}.size({self.axis})"


@dataclasses.dataclass(frozen=True)
class Bound:
    """What the export says of an expression: it is at least `lower`, and at most `upper` if there is a bound."""

    expr: sympy.Expr
    lower: int | None
    upper: int | None


SizeNames = Mapping[str, Union[Mapping[int, str], Sequence[Union[str, None]]]]
"""The user's names of sizes: for each input a name for some axes."""


class SymbolTable:
    """The symbols of one program.

    Attributes:
      values: what each of the export's symbols is, as an expression of ours.
      ranges: the declared bounds of our symbols.
      sources: where each of our symbols is read.
      checks: conditions that follow from the bounds of the export, with what they are about.
      computed: symbols for what is not an expression of others.
      compute: makes such a symbol, in the function that is being built.
    """

    def __init__(self, names: SizeNames | None = None) -> None:
        self.values: dict[sympy.Symbol, ExprLike] = {}
        self.ranges: dict[Sym, Range] = {}
        self.sources: dict[str, Source] = {}
        self.checks: list[tuple[Condition, str]] = []
        self._dims: dict[tuple[str, int], Sym] = {}
        self._names = names or {}
        self._used: set[str] = set()
        self._facts: Facts | None = None
        self._bounds: Mapping[sympy.Expr, Bound] = {}
        self.computed: dict[sympy.Expr, Sym] = {}
        self.compute: Callable[[sympy.Expr], ExprLike] | None = None

    # --- definitions

    def define_inputs(
        self, inputs: Sequence[tuple[str, Any]], constraints: Mapping[sympy.Expr, Any], smallest: Mapping[str, int]
    ) -> None:
        """Defines the symbols of all inputs.

        Args:
          inputs: names, with sizes as sympy's expressions: a sequence for a tensor, one expression for an integer.
          constraints: the ranges of the export (`range_constraints`).
          smallest: for a size, by its text ("input_ids.size(1)"), the least value for which the program is known to
            be right; 2 for others, which is what the export assumes.
        """
        bounds = [Bound(sympy.sympify(expr), *_limits(range_)) for expr, range_ in constraints.items()]
        by_symbol = {bound.expr: bound for bound in bounds if bound.expr.is_Symbol}
        self._bounds = by_symbol
        for name, sizes in inputs:
            if isinstance(sizes, sympy.Expr):
                if sizes.is_Symbol and sizes not in self.values:
                    self._define(sizes, Source(name, None), by_symbol.get(sizes), 0)
                continue
            for axis, size in enumerate(sizes):
                if size.is_Symbol and size not in self.values:
                    source = Source(name, axis)
                    self._define(size, source, by_symbol.get(size), smallest.get(str(source), 2))
        for name, sizes in inputs:
            if not isinstance(sizes, sympy.Expr):
                for axis, size in enumerate(sizes):
                    self._solve(Source(name, axis), size, by_symbol)
        for bound in bounds:
            if not bound.expr.is_Symbol and bound.expr.free_symbols <= self.values.keys():
                self._check_bound(bound)

    def _define(self, symbol: sympy.Symbol, source: Source, bound: Bound | None, least: int) -> None:
        sym = self._new_symbol(source)
        lower = bound.lower if bound and bound.lower is not None else 0
        # A bound of 2 is what every size has that is not bounded: no other sizes were traced.
        lower = least if lower <= 2 and source.axis is not None else lower
        self.values[symbol] = sym
        self.ranges[sym] = Range(lower, bound.upper if bound else None)

    def _new_symbol(self, source: Source) -> Sym:
        given = self._names.get(source.input, {})
        if isinstance(given, Mapping):
            wanted = given.get(source.axis) if source.axis is not None else None
        else:
            wanted = given[source.axis] if source.axis is not None and source.axis < len(given) else None
        base = wanted or (source.input if source.axis is None else f"{source.input}_dim{source.axis}")
        name = self.unused(base)
        self.sources[name] = source
        sym = Sym(name)
        if source.axis is not None:
            self._dims[source.input, source.axis] = sym
        return sym

    def unused(self, base: str) -> str:
        """A name that no symbol has yet."""
        base = re.sub(r"\W", "_", base)
        base = base if re.match(r"[^\W\d]", base) else f"size_{base}"
        name, number = base, 2
        while name in self._used or not _is_name(name):
            name, number = f"{base}_{number}", number + 1
        self._used.add(name)
        return name

    def _solve(self, source: Source, size: sympy.Expr, by_symbol: Mapping[sympy.Expr, Bound]) -> None:
        """Defines the one unknown symbol of a size such as `8*s` or `10 - s`, from that size."""
        unknown = sorted(size.free_symbols - self.values.keys(), key=str)
        if not unknown:
            return
        if len(unknown) > 1:
            raise FrontendError(
                f"{source} is {size}, which has the unknown sizes {', '.join(map(str, unknown))}; "
                "no other input says one of them"
            )
        symbol = unknown[0]
        poly = sympy.Poly(size, symbol) if size.is_polynomial(symbol) else None
        factor = poly.coeff_monomial(symbol) if poly is not None and poly.degree() == 1 else None
        if factor is None or not factor.is_Integer or size.subs(symbol, 0).free_symbols - self.values.keys():
            raise FrontendError(
                f"{source} is {size}; expected a size from which '{symbol}' follows, such as 8*{symbol}"
            )
        dim = self._new_symbol(source)
        rest = self.expr(size.subs(symbol, 0))
        count = int(factor)
        distance = dim - rest if count > 0 else rest - dim
        is_multiple = count > 0 and isinstance(rest, int) and rest == 0
        self.ranges[dim] = Range(0, None, abs(count) if is_multiple else 1)
        if abs(count) != 1 and not is_multiple:
            self.checks.append((compare("==", distance % abs(count), 0), f"{source} is {size} for a whole number"))
        self.values[symbol] = distance // abs(count)
        self._facts = None
        bound = by_symbol.get(symbol)
        self._check_bound(bound or Bound(symbol, 0, None))

    def _check_bound(self, bound: Bound) -> None:
        expr = self.expr(bound.expr)
        for predicate, limit in ((">=", bound.lower), ("<=", bound.upper)):
            if limit is not None:
                self.checks.append((compare(predicate, expr, limit), f"{bound.expr} {predicate} {limit}"))

    def define(self, symbol: sympy.Symbol) -> Sym:
        """A new symbol for one that only the run knows, as the number of elements that are not zero."""
        sym = Sym(self.unused(str(symbol)))
        self.values[symbol] = sym
        return sym

    def is_size(self, symbol: sympy.Symbol) -> bool:
        """Whether the export says that a symbol is not negative."""
        bound = self._bounds.get(symbol)
        return bound is not None and bound.lower is not None and bound.lower >= 0

    @contextmanager
    def inner(self) -> Iterator[None]:
        """Forgets afterwards what is defined meanwhile, as the symbols of a branch are not known behind it."""
        before = dict(self.values), dict(self.computed)
        try:
            yield
        finally:
            self.values, self.computed = before

    # --- use

    def known(self, size: Any) -> ExprLike | None:
        """The size that an integer or a SymInt means; None where one of its symbols is not known."""
        expr = sympy.sympify(size.node.expr if hasattr(size, "node") else size)
        return self.expr(expr) if expr.free_symbols <= self.values.keys() else None

    @property
    def facts(self) -> Facts:
        """What is declared of all symbols."""
        if self._facts is None:
            self._facts = Facts(self.ranges)
        return self._facts

    def dims(self, name: str, sizes: Sequence[sympy.Expr]) -> tuple[ExprLike, ...]:
        """The sizes of an input."""
        return tuple(
            self._dims[name, axis] if (name, axis) in self._dims else self.expr(size) for axis, size in enumerate(sizes)
        )

    def expr(self, expr: Any) -> ExprLike:
        """The size that an integer, a SymInt or sympy's expression means.

        Raises:
          FrontendError: it is not one of known symbols, and nothing computes it where the program runs.
        """
        if isinstance(expr, int):
            return expr
        node = getattr(expr, "node", None)
        expr = sympy.sympify(node.expr if node is not None else expr)
        try:
            made = self._translate(expr)
        except Untranslatable as problem:
            if self.compute is None:
                raise FrontendError(f"the size {expr} cannot be computed: {problem}") from None
            made = self.compute(expr)
        if not isinstance(made, Sym):
            return int(made)
        made = self.facts.simplify(made)
        return made.value if made.is_constant else made

    def _translate(self, expr: sympy.Expr) -> ExprLike:
        if expr.is_Integer:
            return int(expr)
        if expr.is_Symbol:
            if expr not in self.values:
                raise Untranslatable(f"'{expr}' is not known here")
            return self.values[expr]
        rule = _RULES.get(type(expr).__name__)
        if rule is None:
            raise Untranslatable(f"{type(expr).__name__} is not an operation on sizes")
        return rule(self, expr)

    def condition(self, expr: Any) -> Condition:
        """The condition that a Boolean, a SymBool or sympy's relation means."""
        if isinstance(expr, bool):
            return expr
        node = getattr(expr, "node", None)
        expr = node.expr if node is not None else expr
        name = type(expr).__name__
        if name in ("BooleanTrue", "BooleanFalse"):
            return name == "BooleanTrue"
        if name in _RELATIONS:
            return compare(_RELATIONS[name], *map(self.expr, expr.args))
        if name in ("And", "Or"):
            return junction(name.lower(), [self.condition(arg) for arg in expr.args])
        if name == "Not":
            return negate(self.condition(expr.args[0]))
        raise FrontendError(f"the condition '{expr}' is not one of sizes ({name})")


_RELATIONS = {
    "Equality": "==",
    "Unequality": "!=",
    "StrictLessThan": "<",
    "LessThan": "<=",
    "StrictGreaterThan": ">",
    "GreaterThan": ">=",
}


def _limits(range_: Any) -> tuple[int | None, int | None]:
    """The bounds of a range, None for infinite ones."""

    def limit(value: Any) -> int | None:
        return int(value) if isinstance(value, int) or getattr(value, "is_Integer", False) else None

    return limit(range_.lower), limit(range_.upper)


def _is_name(name: str) -> bool:
    try:
        Sym(name)
    except ValueError:
        return False
    return True


# --- rules of translation, by the name of sympy's or PyTorch's class


def _arguments(table: SymbolTable, expr: sympy.Expr) -> list[ExprLike]:
    return [table._translate(arg) for arg in expr.args]


def _sum(table: SymbolTable, expr: sympy.Expr) -> ExprLike:
    total: ExprLike = 0
    for term in _arguments(table, expr):
        total = total + term
    return total


def _product(table: SymbolTable, expr: sympy.Expr) -> ExprLike:
    product: ExprLike = 1
    for factor in _arguments(table, expr):
        product = product * factor
    return product


def _power(table: SymbolTable, expr: sympy.Expr) -> ExprLike:
    base, exponent = expr.args
    if not exponent.is_Integer or exponent < 0:
        raise Untranslatable(f"a power with the exponent {exponent}")
    value = table._translate(base)
    result: ExprLike = 1
    for _ in range(int(exponent)):
        result = result * value
    return result


def _floordiv(table: SymbolTable, expr: sympy.Expr) -> ExprLike:
    lhs, rhs = _arguments(table, expr)
    return lhs // rhs


def _mod(table: SymbolTable, expr: sympy.Expr) -> ExprLike:
    lhs, rhs = _arguments(table, expr)
    return lhs % rhs


def _modular_indexing(table: SymbolTable, expr: sympy.Expr) -> ExprLike:
    base, divisor, modulus = _arguments(table, expr)
    return (base // divisor) % modulus


def _shift(table: SymbolTable, expr: sympy.Expr) -> ExprLike:
    value, bits = expr.args
    if not bits.is_Integer:
        raise Untranslatable(f"a shift by {bits}")
    power = 2 ** int(bits)
    value = table._translate(value)
    return value * power if type(expr).__name__ == "LShift" else value // power


def _rounded(table: SymbolTable, expr: sympy.Expr) -> ExprLike:
    """`CeilToInt`, `FloorToInt` and `TruncToInt` of a quotient, or of a product with a factor that is exact."""
    numerator, denominator = _quotient(table, expr.args[0])
    kind = type(expr).__name__
    if kind == "CeilToInt":
        return Sym(numerator).ceildiv(denominator) if not isinstance(numerator, Sym) else numerator.ceildiv(denominator)
    if kind == "TruncToInt":
        least, _ = table.facts.interval(numerator)
        if least is None or least < 0:
            raise Untranslatable(f"{expr.args[0]} may be negative, and is rounded towards zero")
    return numerator // denominator


def _quotient(table: SymbolTable, expr: sympy.Expr) -> tuple[ExprLike, ExprLike]:
    """Numerator and denominator of a float that is an exact quotient of sizes."""
    name = type(expr).__name__
    if name == "IntTrueDiv":
        lhs, rhs = _arguments(table, expr)
        return lhs, rhs
    if name == "ToFloat":
        return table._translate(expr.args[0]), 1
    if name == "Mul" and len(expr.args) == 2 and expr.args[0].is_Float and type(expr.args[1]).__name__ == "ToFloat":
        numerator, denominator = float(expr.args[0]).as_integer_ratio()
        # Products of floats are exact where no bit is lost; sizes are below 2**31.
        if numerator.bit_length() + 31 <= _FLOAT_BITS:
            return numerator * table._translate(expr.args[1].args[0]), denominator
    raise Untranslatable(f"{expr} is a float")


def _limit(table: SymbolTable, expr: sympy.Expr) -> ExprLike:
    kind = Sym.max if type(expr).__name__ == "Max" else Sym.min
    return kind(*_arguments(table, expr))


_RULES: dict[str, Callable[[SymbolTable, sympy.Expr], ExprLike]] = {
    "Add": _sum,
    "Mul": _product,
    "Pow": _power,
    "PowByNatural": _power,
    "FloorDiv": _floordiv,
    "CleanDiv": _floordiv,
    "Mod": _mod,
    "PythonMod": _mod,
    "ModularIndexing": _modular_indexing,
    "LShift": _shift,
    "RShift": _shift,
    "Max": _limit,
    "Min": _limit,
    "CeilToInt": _rounded,
    "FloorToInt": _rounded,
    "TruncToInt": _rounded,
    "Identity": lambda table, expr: table._translate(expr.args[0]),
}

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Symbolic algebra and prover against brute force.

A random tree of operations is evaluated with Python's unbounded integers, and as a canonical
expression of the compiler. Both must agree wherever the tree is defined: always for small numbers, and for
sizes around 2**31 unless the compiler reports an overflow.
"""

from __future__ import annotations

import itertools

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from mlir import ir

from relax_mlir import Facts, Range, Sym, ceildiv, unify

NAMES = ("a", "b", "c")
SMALL = (0, 1, 2, 3, 5, 8)
LARGE = (0, 1, 7, 2**31 - 1, 2**31, 2**31 + 1)
CONSTANTS = (0, 1, 2, 3, 4, 7, -1, -2, 16, 2**31, -(2**31))

leaves = st.sampled_from(NAMES) | st.sampled_from(CONSTANTS)
trees = st.recursive(
    leaves,
    lambda parts: st.tuples(
        st.sampled_from(("+", "-", "*", "floordiv", "ceildiv", "mod", "min", "max", "broadcast")),
        parts,
        parts,
    ),
    max_leaves=8,
)
assignments = st.fixed_dictionaries({name: st.sampled_from(SMALL + LARGE) for name in NAMES})


def build(tree):
    """The compiler's expression of a tree."""
    if isinstance(tree, (str, int)):
        return Sym(tree)
    operator, lhs, rhs = tree[0], build(tree[1]), build(tree[2])
    match operator:
        case "+":
            return lhs + rhs
        case "-":
            return lhs - rhs
        case "*":
            return lhs * rhs
        case "floordiv":
            return lhs // rhs
        case "ceildiv":
            return ceildiv(lhs, rhs)
        case "mod":
            return lhs % rhs
    return getattr(Sym, operator)(lhs, rhs)


def try_build(tree):
    """The expression; skips trees whose constants overflow or divide by zero."""
    try:
        return build(tree)
    except (OverflowError, ZeroDivisionError, ValueError):
        assume(False)


def compute(tree, values):
    """The value of a tree, or None if it is undefined."""
    if isinstance(tree, str):
        return values[tree]
    if isinstance(tree, int):
        return tree
    lhs, rhs = compute(tree[1], values), compute(tree[2], values)
    if lhs is None or rhs is None:
        return None
    match tree[0]:
        case "+":
            return lhs + rhs
        case "-":
            return lhs - rhs
        case "*":
            return lhs * rhs
        case "floordiv":
            return lhs // rhs if rhs else None
        case "ceildiv":
            return -(-lhs // rhs) if rhs else None
        case "mod":
            return lhs % rhs if rhs else None
        case "min":
            return min(lhs, rhs)
        case "max":
            return max(lhs, rhs)
    return lhs if rhs in (1, lhs) else rhs if lhs == 1 else None


def evaluate(expr, values):
    """The compiler's value, or None if it reports an overflow or an undefined operation."""
    try:
        return expr.evaluate(values)
    except (OverflowError, ZeroDivisionError, ValueError):
        return None


def small_assignments():
    return [dict(zip(NAMES, values)) for values in itertools.product((0, 1, 2, 5), repeat=len(NAMES))]


def all_assignments():
    return small_assignments() + [
        dict(zip(NAMES, values)) for values in itertools.product((0, 1, 2**31), repeat=len(NAMES))
    ]


# --- canonical form


@settings(max_examples=300, deadline=None)
@given(trees, assignments)
def test_canonical_form_agrees_with_brute_force(tree, values):
    expr = try_build(tree)
    expected = compute(tree, values)
    if expected is None:
        return
    actual = evaluate(expr, values)
    if actual is None:
        # Only overflow may prevent it.
        assert max(abs(value) for value in values.values()) > 8 or _has_large_constant(tree)
    else:
        assert actual == expected


def _has_large_constant(tree):
    if isinstance(tree, int):
        return abs(tree) > 16
    return isinstance(tree, tuple) and any(map(_has_large_constant, tree[1:]))


@settings(max_examples=300, deadline=None)
@given(trees)
def test_text_round_trips(tree):
    expr = try_build(tree)
    assert Sym.parse(str(expr)) == expr
    # The attribute that contains it, too.
    attribute = ir.Attribute.parse(f"#relax.expr<{expr}>", expr.context)
    assert isinstance(attribute, Sym)
    assert attribute == expr


@settings(max_examples=200, deadline=None)
@given(trees, trees)
def test_equal_expressions_have_equal_values(first, second):
    lhs, rhs = try_build(first), try_build(second)
    if lhs != rhs:
        return
    assert hash(lhs) == hash(rhs)
    for values in all_assignments():
        one, two = compute(first, values), compute(second, values)
        assert one is None or two is None or one == two


@settings(max_examples=200, deadline=None)
@given(trees, st.dictionaries(st.sampled_from(NAMES), trees), assignments)
def test_substitution_agrees_with_brute_force(tree, replacements, values):
    expr = try_build(tree)
    exprs = {name: try_build(replacement) for name, replacement in replacements.items()}
    try:
        result = expr.substitute(exprs)
    except (OverflowError, ZeroDivisionError, ValueError):
        return
    inner = {name: compute(replacements[name], values) if name in replacements else values[name] for name in NAMES}
    if None in inner.values():
        return
    expected = compute(tree, inner)
    actual = evaluate(result, values)
    assert expected is None or actual is None or actual == expected


@given(st.permutations([2 * Sym("a"), Sym("b") * Sym("a"), Sym(3), Sym("c") // 2, Sym("a") % Sym("b")]))
@settings(max_examples=30, deadline=None)
def test_order_of_operands_does_not_matter(operands):
    expected = 2 * Sym("a") + Sym("b") * Sym("a") + 3 + Sym("c") // 2 + Sym("a") % Sym("b")
    assert sum(operands[1:], operands[0]) == expected


def test_identities():
    n, m = Sym("n"), Sym("m")
    assert n + n == 2 * n
    assert n - n == 0
    assert (n + 1) * (n - 1) == n * n - 1
    assert (n + m) * 2 == 2 * m + 2 * n
    assert (4 * n + 8) // 4 == n + 2
    assert (4 * n + 3) // 4 == n
    assert (4 * n + 5) % 4 == 1
    assert ceildiv(4 * n + 1, 4) == n + 1
    assert Sym.min(n, n) == n
    assert Sym.min(3, 5) == 3
    assert Sym.max(n, m) == Sym.max(m, n)
    assert Sym.broadcast(n, 1) == n
    assert -n + n == 0
    assert 7 - n == -(n - 7)


def test_division_rounds_as_pythons():
    for value, divisor in itertools.product((-7, -1, 0, 1, 7), (-3, -1, 1, 3)):
        assert Sym(value) // divisor == value // divisor
        assert Sym(value) % divisor == value % divisor
        assert ceildiv(value, divisor) == -(-value // divisor)


# --- inspection


def test_parts():
    n, m = Sym("n"), Sym("m")
    expr = 3 * n + 2 * n * m + 5
    assert expr.kind == "sum"
    assert expr.value == 5
    parts = dict(zip(map(str, expr.operands), expr.coefficients))
    assert (
        sum(coefficient * operand for operand, coefficient in zip(expr.operands, expr.coefficients)) + expr.value
        == expr
    )
    assert sorted(parts.values()) == [2, 3]
    assert expr.symbols == ("m", "n")
    assert (n // m).kind == "floordiv"
    assert (n // m).operands == (n, m)
    assert n.is_symbol and n.name == "n"
    assert Sym(4).is_constant and int(Sym(4)) == 4


def test_expressions_compare_across_contexts():
    other = ir.Context()
    assert Sym("n", context=other) == Sym("n")
    assert hash(Sym("n", context=other)) == hash(Sym("n"))
    assert Sym("n") + Sym("m", context=other) == Sym("n") + Sym("m")
    assert Sym("n", context=other) != Sym("m")
    assert Sym(4) == 4 and hash(Sym(4)) == hash(4)


def test_a_symbolic_value_is_no_number():
    n = Sym("n")
    with pytest.raises(TypeError, match="before run time"):
        int(n)
    with pytest.raises(TypeError, match="before run time"):
        bool(n)
    for compare in (lambda: n < 3, lambda: n >= Sym("m"), lambda: min(n, Sym("m"))):
        with pytest.raises(TypeError, match="Sym.min"):
            compare()
    with pytest.raises(TypeError, match="unsupported operand .* 'Sym' and 'float'"):
        n + 1.5
    with pytest.raises(TypeError, match="unsupported operand .* 'Sym' and 'str'"):
        n + "m"


# --- errors


def test_overflow_is_an_error():
    n, big = Sym("n"), 2**62
    for overflow in (
        lambda: Sym(2**63),
        lambda: Sym(-(2**63)),
        lambda: n + 2**63,
        lambda: Sym(big) * 2,
        lambda: Sym(big) + big,
        lambda: (n * big) * 4,
        lambda: (n * big) + (n * big),
        lambda: (n * big).substitute({n: 2}),
        lambda: (n * n).evaluate({n: 2**32}),
        lambda: n.evaluate({n: 2**63}),
        lambda: Sym.parse("9223372036854775808"),
    ):
        with pytest.raises(OverflowError, match="does not fit in 64 bits|overflows 64 bits"):
            overflow()


def test_division_by_zero_is_an_error():
    n, m = Sym("n"), Sym("m")
    for divide in (
        lambda: n // 0,
        lambda: n % 0,
        lambda: ceildiv(n, 0),
        lambda: n // (m - m),
        lambda: (n // m).substitute({m: 0}),
        lambda: (n // m).evaluate({n: 1, m: 0}),
        lambda: Sym.parse("n mod 0"),
    ):
        with pytest.raises(ZeroDivisionError, match="division by zero"):
            divide()


def test_wrong_values_are_errors():
    n, m = Sym("n"), Sym("m")
    with pytest.raises(ValueError, match="'max length' is not a valid symbol name"):
        Sym("max length")
    with pytest.raises(ValueError, match="no value for symbol 'm'"):
        (n + m).evaluate({n: 1})
    with pytest.raises(ValueError, match="cannot broadcast 2 with 3"):
        Sym.broadcast(2, 3)
    with pytest.raises(ValueError, match="cannot broadcast 2 with 3"):
        Sym.broadcast(n, m).evaluate({n: 2, m: 3})
    with pytest.raises(ValueError, match="column"):
        Sym.parse("n +")
    with pytest.raises(ValueError, match="is not a symbol"):
        n.substitute({n + 1: 2})
    with pytest.raises(TypeError, match="expected an integer or an expression, got 1.5"):
        Sym(1.5)


def test_deeply_nested_text_is_an_error_or_works():
    assert Sym.parse(" + ".join(["n"] * 10_000)) == 10_000 * Sym("n")
    with pytest.raises(ValueError, match="column 257: symbolic expression nests more than 256 levels deep"):
        Sym.parse("(" * 100_000 + "n" + ")" * 100_000)
    text = "n"
    for _ in range(1_000):
        text = f"({text} floordiv m)"
    with pytest.raises(ValueError, match="symbolic expression nests more than 256 levels deep"):
        Sym.parse(text)


# --- ranges


def test_ranges():
    assert Range(1, 16, multiple_of=4).multiple_of == 4
    with pytest.raises(ValueError, match="upper bound 2 is below the lower bound 3"):
        Range(3, 2)
    with pytest.raises(ValueError, match="multiple_of must be positive, got 0"):
        Range(0, multiple_of=0)
    with pytest.raises(OverflowError, match="9223372036854775808 does not fit in 64 bits"):
        Range(0, 2**63)


# --- prover


@st.composite
def declarations(draw):
    """Ranges for some symbols, and assignments that respect them."""
    ranges, choices = {}, []
    for name in NAMES:
        multiple = draw(st.sampled_from((1, 1, 2, 4)))
        lower = draw(st.sampled_from((0, 1, 2, 4, 2**31)))
        upper = draw(st.sampled_from((None, 0, 1, 3, 8)))
        first = -(-lower // multiple) * multiple
        values = [first + multiple * step for step in (0, 1, 2)]
        if upper is not None:
            upper += values[0]
            values = [value for value in values if value <= upper]
        else:
            values.append((2**31 // multiple + lower) * multiple)
        if draw(st.booleans()):
            ranges[name] = Range(lower, upper, multiple)
        else:
            values = [0, 1, 2, 2**31]
        choices.append(values)
    return ranges, [dict(zip(NAMES, values)) for values in itertools.product(*choices)]


def _check(answer, holds, tree_values):
    """A proved answer must hold wherever the expressions are defined."""
    if answer is None:
        return
    for values in tree_values:
        if None not in values:
            assert holds(*values) is answer


@settings(max_examples=400, deadline=None)
@given(trees, trees, declarations())
def test_prover_never_lies(first, second, declared):
    ranges, points = declared
    lhs, rhs = try_build(first), try_build(second)
    facts = Facts(ranges)
    values = [(compute(first, point), compute(second, point)) for point in points]
    _check(facts.equal(lhs, rhs), lambda a, b: a == b, values)
    _check(facts.less(lhs, rhs), lambda a, b: a < b, values)
    _check(facts.less_equal(lhs, rhs), lambda a, b: a <= b, values)
    _check(
        facts.divisible(lhs, rhs),
        lambda a, b: a % b == 0,
        [(a, b) for a, b in values if b != 0],
    )


@settings(max_examples=300, deadline=None)
@given(trees, declarations())
def test_interval_and_simplification_are_sound(tree, declared):
    ranges, points = declared
    expr = try_build(tree)
    facts = Facts(ranges)
    lower, upper = facts.interval(expr)
    simple = facts.simplify(expr)
    for point in points:
        value = compute(tree, point)
        if value is None:
            continue
        assert lower is None or lower <= value
        assert upper is None or value <= upper
        again = evaluate(simple, point)
        assert again is None or again == value


def test_prover_decides_what_it_should():
    n, m = Sym("n"), Sym("m")
    facts = Facts({n: Range(1, 2048), m: Range(16, 4096, multiple_of=16)})
    assert facts.equal(n + 1, n) is False
    assert facts.equal(n, m) is None
    assert facts.less(n, 4096) is True
    assert facts.less_equal(n, 2048) is True
    assert facts.less_equal(n, 0) is False
    assert facts.divisible(m, 16) is True
    assert facts.divisible(m * n, 8) is True
    assert facts.divisible(m + 1, 2) is False
    assert facts.interval(n + m) == (17, 2048 + 4096)
    assert facts.interval(Sym("free")) == (0, None)
    assert facts.simplify(m % 16) == 0
    assert facts.simplify(Sym.max(n, 1)) == n


# --- unification


linear = st.tuples(st.sampled_from(NAMES), st.sampled_from((1, 2, 3, 7)), st.integers(0, 9)).map(
    lambda parts: ("+", ("*", parts[1], parts[0]), parts[2])
)


@settings(max_examples=300, deadline=None)
@given(st.lists(linear | trees, min_size=1, max_size=5), assignments)
def test_unification_finds_what_was_put_in(patterns, solution):
    values = [compute(pattern, solution) for pattern in patterns]
    assume(all(value is not None and 0 <= value < 2**63 for value in values))
    found = unify([try_build(pattern) for pattern in patterns], values)
    # A solution exists, so there is no contradiction, and every binding is the original one.
    for name, value in found.bindings.items():
        assert value == solution[name]


@settings(max_examples=300, deadline=None)
@given(st.lists(linear, min_size=1, max_size=4), st.lists(st.integers(0, 12), min_size=4, max_size=4))
def test_unification_rejects_only_what_has_no_solution(patterns, values):
    values = values[: len(patterns)]
    exprs = [build(pattern) for pattern in patterns]

    def solutions():
        for point in itertools.product(range(13), repeat=len(NAMES)):
            env = dict(zip(NAMES, point))
            if all(compute(pattern, env) == value for pattern, value in zip(patterns, values)):
                yield env

    try:
        found = unify(exprs, values)
    except ValueError:
        assert next(solutions(), None) is None
        return
    if not found.undecided:
        env = {name: 0 for name in NAMES} | {name: int(v) for name, v in found.bindings.items()}
        for expr, value in zip(exprs, values):
            assert expr.evaluate(env) == value


def test_unification():
    n, m, k = Sym("n"), Sym("m"), Sym("k")
    assert unify([2 * k], [14]).bindings == {"k": 7}
    assert unify([n + 1], [m]).bindings == {"n": m - 1}
    assert unify([n, 2 * n], [m, 2 * m]).undecided == []
    assert unify([n], [None]).bindings == {}
    assert unify([n * m, n], [12, 3]).bindings == {"n": 3, "m": 4}
    # Names on the two sides are independent.
    assert unify([n, m], [m, n]).bindings == {"n": m, "m": n}
    for patterns, actuals in (([2 * k], [13]), ([n, n], [3, 4]), ([n + 1], [0]), ([Sym(3)], [4])):
        with pytest.raises(ValueError, match="expected"):
            unify(patterns, actuals)
    with pytest.raises(ValueError, match="equation 0: expected n <= 2048, got 4096"):
        unify([n], [4096], pattern_ranges={n: Range(1, 2048)})

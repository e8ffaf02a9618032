# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The guards of an exported program: relations of input sizes for which it was traced.

The export keeps them as Python expressions over `L['input_ids'].size()[1]`. They are parsed here, never run, and
become checks at the entry of the function. A guard that a bound of the sizes implies needs none. Many only ask whether
a size is 0 or 1, as the trace does of every size; they are checked as well, since another program was not traced.
"""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

import sympy
from torch.utils._sympy import functions as sizes

from ...errors import FrontendError
from ...symbolic import ExprLike, Sym
from ..conditions import Condition, compare, junction, negate

SizeOf = Callable[[str, int], ExprLike]
"""The size of an input's axis, by the name of its placeholder."""


@dataclasses.dataclass(frozen=True)
class Computation:
    """How sizes that need floats, such as `math.trunc(0.8*n)`, become symbols: as the program computes them itself.

    Attributes:
      size_of: the size of an input's axis as the export has it.
      compute: the size that such an expression means.
    """

    size_of: Callable[[str, int], sympy.Expr]
    compute: Callable[[sympy.Expr], ExprLike]


@dataclasses.dataclass(frozen=True)
class Guard:
    """A guard: its text with readable names, what it means, and the input that it is about."""

    text: str
    condition: Condition
    inputs: tuple[str, ...]

    @property
    def message(self) -> str:
        """What the error says where the guard does not hold."""
        subject = self.inputs[0] if self.inputs else "the inputs"
        return f"{subject}: the program was exported for inputs with {self.text}"


class _Reader:
    """Translates the syntax tree of a guard."""

    def __init__(self, size_of: SizeOf, integers: Mapping[str, ExprLike], floats: Computation) -> None:
        self._size_of = size_of
        self._floats = floats
        self._integers = integers
        self.inputs: dict[str, None] = {}

    def condition(self, node: ast.expr) -> Condition:
        if isinstance(node, ast.BoolOp):
            kind = "and" if isinstance(node.op, ast.And) else "or"
            return junction(kind, [self.condition(value) for value in node.values])
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return negate(self.condition(node.operand))
        if isinstance(node, ast.Compare) and _asks_for_overflow(node):
            return True
        if isinstance(node, ast.Compare):
            sides = [self.size(side) for side in (node.left, *node.comparators)]
            predicates = [_PREDICATES[type(op)] for op in node.ops if type(op) in _PREDICATES]
            if len(predicates) == len(node.ops):
                parts = [compare(p, a, b) for p, a, b in zip(predicates, sides, sides[1:])]
                return junction("and", parts)
        if isinstance(node, ast.Constant) and isinstance(node.value, bool):
            return node.value
        raise _Unreadable(ast.unparse(node))

    def size(self, node: ast.expr) -> ExprLike:
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            return node.value
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return 0 - self.size(node.operand)
        if isinstance(node, ast.BinOp):
            return self._binary(node)
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.Subscript):
            return self._input(node)
        raise _Unreadable(ast.unparse(node))

    def _binary(self, node: ast.BinOp) -> ExprLike:
        lhs, kind = self.size(node.left), type(node.op)
        if kind is ast.Pow and isinstance(node.right, ast.Constant) and isinstance(node.right.value, int):
            result: ExprLike = 1
            for _ in range(node.right.value):
                result = result * lhs
            return result
        operation = _OPERATIONS.get(kind)
        if operation is None:
            raise _Unreadable(ast.unparse(node))
        return operation(lhs, self.size(node.right))

    def _call(self, node: ast.Call) -> ExprLike:
        name = ast.unparse(node.func)
        if name in ("min", "max"):
            return (Sym.min if name == "min" else Sym.max)(*map(self.size, node.args))
        if name in ("torch.sym_float", "float", "int") and len(node.args) == 1:
            return self.size(node.args[0])
        rounded = _ROUNDING.get(name)
        argument = node.args[0] if len(node.args) == 1 else None
        if rounded and isinstance(argument, ast.BinOp) and isinstance(argument.op, ast.Div):
            # Sizes are not negative, so that rounding towards zero is rounding down.
            return rounded(self.size(argument.left), self.size(argument.right))
        return self._floats.compute(self._symbolic(node))

    def _symbolic(self, node: ast.expr) -> sympy.Expr:
        """An expression with floats as the export has those of sizes."""
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            return sympy.sympify(node.value)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -self._symbolic(node.operand)
        if isinstance(node, ast.BinOp) and type(node.op) in _SYMBOLIC_OPERATIONS:
            return _SYMBOLIC_OPERATIONS[type(node.op)](self._symbolic(node.left), self._symbolic(node.right))
        if isinstance(node, ast.Call) and len(node.args) == 1 and ast.unparse(node.func) in _SYMBOLIC_FUNCTIONS:
            return _SYMBOLIC_FUNCTIONS[ast.unparse(node.func)](self._symbolic(node.args[0]))
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Call):
            name, axis = self._axis(node)
            return self._floats.size_of(name, axis)
        raise _Unreadable(ast.unparse(node))

    def _axis(self, node: ast.Subscript) -> tuple[str, int]:
        """The input and the axis of `L['kv'][0][1].size()[2]`."""
        size = _size_of(node)
        if size is None:
            raise _Unreadable(ast.unparse(node))
        self.inputs[size[0]] = None
        return size

    def _input(self, node: ast.Subscript) -> ExprLike:
        """`L['kv'][0][1].size()[2]`, or `L['n']` for an integer."""
        if isinstance(node.value, ast.Call):
            return self._size_of(*self._axis(node))
        name = _placeholder(node)
        if name not in self._integers:
            raise _Unreadable(ast.unparse(node))
        self.inputs[name] = None
        return self._integers[name]


class _Unreadable(Exception):
    pass


def _asks_for_overflow(node: ast.Compare) -> bool:
    """Whether a comparison is `a <= 2**63 - 1 - b`: that a sum of sizes has 64 bits, which a run checks of all sums."""
    limit = node.comparators[-1]
    if len(node.ops) != 1 or not isinstance(node.ops[0], (ast.Lt, ast.LtE)) or not isinstance(limit, ast.BinOp):
        return False
    terms = (limit.left, limit.right) if isinstance(limit.op, ast.Add) else (limit.left,)
    return any(isinstance(term, ast.Constant) and term.value == 2**63 - 1 for term in terms)


_PREDICATES = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}

_OPERATIONS: dict[type, Callable[[ExprLike, ExprLike], ExprLike]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Mod: lambda a, b: a % b,
}


_SYMBOLIC_OPERATIONS: dict[type, Callable[[sympy.Expr, sympy.Expr], sympy.Expr]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: (sizes.IntTrueDiv if a.is_integer and b.is_integer else sizes.FloatTrueDiv)(a, b),
    ast.FloorDiv: lambda a, b: sizes.FloorDiv(a, b),
}

_SYMBOLIC_FUNCTIONS: dict[str, Callable[[sympy.Expr], sympy.Expr]] = {
    "math.trunc": sizes.TruncToInt,
    "math.floor": sizes.FloorToInt,
    "math.ceil": sizes.CeilToInt,
    "torch.sym_float": sizes.ToFloat,
    "float": sizes.ToFloat,
}

_ROUNDING: dict[str, Callable[[ExprLike, ExprLike], ExprLike]] = {
    "math.trunc": lambda a, b: a // b,
    "math.floor": lambda a, b: a // b,
    "math.ceil": lambda a, b: -(-a // b),
}


def _placeholder(node: ast.expr) -> str:
    """The name of the placeholder of `L['kv'][0][1]`: the parts, as `torch.export` joins them."""
    parts: list[str] = []
    while isinstance(node, (ast.Subscript, ast.Attribute)):
        if isinstance(node, ast.Attribute):
            parts.append(node.attr)
        else:
            parts.append(str(ast.literal_eval(node.slice)))
        node = node.value
    return re.sub(r"\W", "_", "_".join(reversed(parts)))


def _readable(text: str) -> str:
    """The guard with `input_ids.size(1)` for `L['input_ids'].size()[1]`."""

    def replace(match: re.Match[str]) -> str:
        name = _placeholder(ast.parse(match[1], mode="eval").body)
        return f"{name}.size({match[2]})"

    text = re.sub(r"(L(?:\[[^\]]*\]|\.\w+(?!\())+)\.size\(\)\[(\d+)\]", replace, text)
    return re.sub(r"L\['(\w+)'\]", r"\1", text)


def equal_sizes(codes: Sequence[str]) -> Iterator[tuple[tuple[str, int], tuple[str, int]]]:
    """The pairs of sizes, each an input and an axis of it, of which a guard says that they are equal."""
    for code in codes:
        try:
            tree = ast.parse(code, mode="eval").body
        except SyntaxError:  # `read_guards` reports it
            continue
        if isinstance(tree, ast.Compare) and len(tree.ops) == 1 and isinstance(tree.ops[0], ast.Eq):
            sides = _size_of(tree.left), _size_of(tree.comparators[0])
            if sides[0] and sides[1]:
                yield sides[0], sides[1]


def related_sizes(codes: Sequence[str]) -> Iterator[set[tuple[str, int]]]:
    """For each guard the sizes that it reads, each an input and an axis of it."""
    for code in codes:
        with contextlib.suppress(SyntaxError):  # `read_guards` reports it
            yield {size for node in ast.walk(ast.parse(code, mode="eval")) if (size := _size_of(node))}


def _size_of(node: ast.AST) -> tuple[str, int] | None:
    """The input and the axis of `L['x'].size()[1]`; None of other expressions."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Constant):
        return None
    call = node.value
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr != "size":
        return None
    axis = node.slice.value
    return (_placeholder(call.func.value), axis) if isinstance(axis, int) else None


def read_guards(
    codes: Sequence[str], size_of: SizeOf, integers: Mapping[str, ExprLike], floats: Computation
) -> list[Guard]:
    """The guards of a program, without those that stand twice.

    Args:
      codes: as the export keeps them (`_guards_code`).
      size_of: the size of an input's axis.
      integers: inputs that are integers.
      floats: how sizes that need floats become symbols, in the function that is being built.

    Raises:
      FrontendError: a guard is not understood; the message has its text.
    """
    guards: dict[str, Guard] = {}
    for code in codes:
        text = _readable(code)
        try:
            tree = ast.parse(code, mode="eval").body
            reader = _Reader(size_of, integers, floats)
            condition = reader.condition(tree)
        except (_Unreadable, SyntaxError, KeyError, ValueError) as problem:
            raise FrontendError(
                f"the guard '{text}' of the exported program is not understood: {problem}; "
                "export the program so that this relation is not needed, or report the guard"
            ) from None
        guards.setdefault(text, Guard(text, condition, tuple(reader.inputs)))
    return list(guards.values())

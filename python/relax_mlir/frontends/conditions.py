# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conditions on symbolic sizes: what is proved of them while compiling, and checked where the program runs."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable, Sequence
from typing import Any, Union

from mlir import ir

from ..op.support import as_operand
from ..scope import FunctionScope, current_function
from ..symbolic import ExprLike, Facts, Sym

_PREDICATES = {"==": 0, "!=": 1, "<": 2, "<=": 3, ">": 4, ">=": 5}
"""Of `arith.cmpi`: signed."""

_NEGATED = {"==": "!=", "!=": "==", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}

_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclasses.dataclass(frozen=True)
class Compare:
    """`lhs predicate rhs`, of two expressions."""

    predicate: str
    lhs: ExprLike
    rhs: ExprLike

    def __str__(self) -> str:
        return f"{self.lhs} {self.predicate} {self.rhs}"


@dataclasses.dataclass(frozen=True)
class Junction:
    """All of some conditions ("and"), or one of them ("or")."""

    kind: str
    operands: tuple[Condition, ...]

    def __str__(self) -> str:
        return f" {self.kind} ".join(f"({operand})" for operand in self.operands)


Condition = Union[Compare, Junction, bool]


def negate(condition: Condition) -> Condition:
    """The opposite of a condition."""
    if isinstance(condition, bool):
        return not condition
    if isinstance(condition, Compare):
        return Compare(_NEGATED[condition.predicate], condition.lhs, condition.rhs)
    kind = "or" if condition.kind == "and" else "and"
    return Junction(kind, tuple(map(negate, condition.operands)))


def prove(condition: Condition, facts: Facts) -> bool | None:
    """Whether a condition always holds (True), never does (False), or neither is known."""
    if isinstance(condition, bool):
        return condition
    if isinstance(condition, Junction):
        found = [prove(operand, facts) for operand in condition.operands]
        decides = condition.kind == "or"
        if decides in found:
            return decides
        return None if None in found else not decides
    lhs, rhs = condition.lhs, condition.rhs
    predicate = condition.predicate
    if predicate in ("==", "!="):
        # A remainder that is always zero is better known as divisibility.
        known = facts.equal(lhs, rhs)
        if known is None and rhs == 0 and isinstance(lhs, Sym) and lhs.kind == "mod":
            known = facts.divisible(*lhs.operands)
        if known is None and (facts.less(lhs, rhs) or facts.less(rhs, lhs)):
            known = False
        return known if known is None or predicate == "==" else not known
    if predicate in (">", ">="):
        lhs, rhs = rhs, lhs
    return facts.less(lhs, rhs) if predicate in ("<", ">") else facts.less_equal(lhs, rhs)


def require(condition: Condition, message: str, facts: Facts | None = None) -> bool:
    """Checks a condition where the program runs, unless it is proved; gives whether a check was built.

    Args:
      message: what the error says where the condition does not hold. "%0" and "%1" stand for the values of both sides
        of a comparison.
    """
    known = prove(condition, facts) if facts else (condition if isinstance(condition, bool) else None)
    if known:
        return False
    scope = current_function()
    operands: list[ir.Value] = []
    if isinstance(condition, Compare):
        operands = [_operand(scope, side) for side in (condition.lhs, condition.rhs)]
    sizes = [1, *(1 if index < len(operands) else 0 for index in range(2))]
    scope.create(
        "relax.assert",
        [_build(scope, condition), *operands],
        {
            "message": ir.StringAttr.get(message, scope.context),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get(sizes, scope.context),
        },
        results=[],
    )
    return True


def build(condition: Condition) -> ir.Value:
    """A condition as a Boolean value (`i1`) of the function that is being built."""
    return _build(current_function(), condition)


def _operand(scope: FunctionScope, side: ExprLike) -> ir.Value:
    return as_operand(scope, side, "index", name="condition")


def _build(scope: FunctionScope, condition: Condition) -> ir.Value:
    if isinstance(condition, bool):
        element = ir.IntegerType.get_signless(1, scope.context)
        attribute = ir.IntegerAttr.get(element, int(condition))
        return scope.create("arith.constant", attributes={"value": attribute}, results=[element]).result
    if isinstance(condition, Junction):
        name = "arith.andi" if condition.kind == "and" else "arith.ori"
        return _reduce(scope, name, [_build(scope, operand) for operand in condition.operands])
    number = ir.IntegerAttr.get(ir.IntegerType.get_signless(64, scope.context), _PREDICATES[condition.predicate])
    sides = [_operand(scope, side) for side in (condition.lhs, condition.rhs)]
    return scope.create("arith.cmpi", sides, {"predicate": number}).result


def _reduce(scope: FunctionScope, name: str, values: Sequence[ir.Value]) -> ir.Value:
    result, *others = values
    for value in others:
        result = scope.create(name, [result, value], {}).result
    return result


def compare(predicate: str, lhs: ExprLike, rhs: ExprLike) -> Condition:
    """A comparison; its truth where both sides are numbers."""
    sides = [side.value if isinstance(side, Sym) and side.is_constant else side for side in (lhs, rhs)]
    if all(not isinstance(side, Sym) for side in sides):
        return _COMPARE[predicate](*sides)
    return Compare(predicate, *sides)


def junction(kind: str, operands: Sequence[Condition]) -> Condition:
    """All ("and") or one ("or") of some conditions; simpler where some are known."""
    decides = kind == "or"
    if decides in [operand for operand in operands if isinstance(operand, bool)]:
        return decides
    rest = [operand for operand in operands if not isinstance(operand, bool)]
    if not rest:
        return not decides
    return rest[0] if len(rest) == 1 else Junction(kind, tuple(rest))

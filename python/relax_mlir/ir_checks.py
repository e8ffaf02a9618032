# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Precondition checks for IR mutations by Python passes.

MLIR trusts its callers: erasing an op that is still in use, or moving an op into itself, fails an assertion or reads
freed memory. `install` makes the methods of the `mlir` package check first, and raise `RelaxError` with the reason.
Otherwise, their behavior is unchanged.

Values of an erased op, and ops that were inside it, must not be used afterwards: that cannot be checked.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from mlir import ir

from .errors import RelaxError
from .location import SourceLocation

_OperationBase = ir.Operation.__mro__[1]


class _State(threading.local):
    """The active walks and passes of a thread."""

    def __init__(self) -> None:
        self.walks: list[list[Any]] = []  # for each walk, the op that it began at and the op that it visits
        self.detached: list[ir.Operation] | None = None  # ops that the running pass has detached


_state = _State()


def _fail(operation: Any, message: str) -> None:
    raise RelaxError(f"'{operation.name}' op {message}", SourceLocation.from_mlir(operation.location))


def _is_inside(operation: Any, ancestor: Any) -> bool:
    """Whether an op is `ancestor`, or is nested in it."""
    while operation is not None:
        if operation == ancestor:
            return True
        operation = _parent(operation)
    return False


def _parent(operation: Any) -> Any:
    """The parent op; None for a module, and for an op that is in no block."""
    try:
        parent = operation.parent
    except ValueError:
        return None
    return parent and parent.operation


def _describe(operation: Any) -> str:
    location = SourceLocation.from_mlir(operation.location)
    return f"'{operation.name}'" + (f" at {location}" if location else "")


def _user(value: ir.Value, inside: Any = None) -> str | None:
    """A description of an op that uses a value and is not in `inside`; None if there is none."""
    for use in value.uses:
        owner = use.owner.operation
        if inside is None or not _is_inside(owner, inside):
            return _describe(owner)
    return None


def _check_erase(operation: ir.Operation) -> None:
    if _parent(operation) is None and operation.name == "builtin.module":
        _fail(operation, "is a whole module, which goes when nothing refers to it; it cannot be erased")
    for index, result in enumerate(operation.results):
        user = _user(result, operation)
        if user:
            _fail(operation, f"cannot be erased: {user} uses its result {index}; replace its uses first")
    for root, visited in _state.walks:
        if _is_inside(operation, root) and not (visited and _is_inside(operation, visited)):
            _fail(
                operation,
                "cannot be erased by the callback of a walk that visits another op; collect what is to go, "
                "and erase it after the walk",
            )


def _check_move(operation: ir.Operation, other: ir.Operation) -> None:
    for moved, role in ((operation, "moved"), (other, "the place to move to")):
        if _parent(moved) is None:
            _fail(moved, f"is in no block, so it cannot be {role}")
    if operation != other and _is_inside(other, operation):
        _fail(operation, "cannot be moved into itself")


def _check_insert(operation: ir.Operation, block: ir.Block) -> None:
    """Checks the insertion of an op, which may already be in a block, into a block."""
    try:
        owner = block.owner
    except ValueError:  # the block's region is in no op
        owner = None
    if owner is not None and _is_inside(_operation(owner), operation):
        _fail(operation, "cannot be moved into itself")


def _check_insert_point(operation: ir.Operation, point: ir.InsertionPoint) -> None:
    if operation == point.ref_operation and _parent(operation) is not None:
        _fail(operation, "cannot be inserted before itself")
    if _parent(operation) is not None:
        _fail(operation, "is in a block already; detach it first, or move it")
    _check_insert(operation, point.block)


def _check_append_to(block: ir.Block, region: ir.Region) -> None:
    if any(_is_inside(_operation(region.owner), operation.operation) for operation in block.operations):
        raise RelaxError("a block cannot be moved into a region of an op that is in it")


def _check_erase_argument(block: ir.Block, index: int) -> None:
    arguments = block.arguments
    if not 0 <= index < len(arguments):
        raise RelaxError(f"the block has {len(arguments)} arguments; there is none with index {index}")
    user = _user(arguments[index])
    if user:
        raise RelaxError(f"argument {index} of a block cannot be erased: {user} uses it; replace its uses first")


def _detach(original: Callable[..., Any]) -> Callable[..., Any]:
    """Keeps a detached op until its pass ends, which erases it before the values of the program that it uses."""

    @functools.wraps(original)
    def detach(self: Any) -> Any:
        operation = _operation(self)
        if _parent(operation) is None:
            _fail(operation, "is in no block, so it cannot be detached")
        if _state.detached is not None:
            _state.detached.append(operation)
        return original(self)

    return detach


@contextmanager
def checked_detaching(body: ir.Block) -> Iterator[None]:
    """Erases ops that a pass leaves detached; raises an error if they are in use. `body` takes ops that must stay."""
    outer, _state.detached = _state.detached, []
    try:
        yield
        failed = False
    except BaseException:
        failed = True
        raise
    finally:
        detached, _state.detached = _state.detached, outer
        left = [operation for operation in detached if _is_detached(operation)]
        for operation in left:
            ir.InsertionPoint.at_block_begin(body).insert(operation)
        # Users first, since the ops may use each other.
        for operation in reversed([] if failed else left):
            for index, result in enumerate(operation.results):
                user = _user(result, operation)
                if user:
                    _fail(operation, f"was detached, but {user} uses its result {index}; put it into a block again")
            operation.erase()


def _is_detached(operation: ir.Operation) -> bool:
    """Whether an op that has operands or results is in no block; other ops may be kept for later."""
    try:
        return not operation.attached and len(operation.operands) + len(operation.results) > 0
    except RuntimeError:  # the op was erased
        return False


def _walk(original: Callable[..., None]) -> Callable[..., None]:
    """Records the visited op, so that no other op is erased; does not walk into erased ops."""

    @functools.wraps(original)
    def walk(self: Any, callback: Callable[[Any], Any], *args: Any, **kwargs: Any) -> None:
        entry = [_operation(self), None]
        errors: list[BaseException] = []

        def visit(operation: Any) -> Any:
            entry[1] = _operation(operation)
            try:
                result = callback(operation)
            except BaseException as error:
                errors.append(error)
                return ir.WalkResult.INTERRUPT
            try:
                entry[1].name  # noqa: B018 - raises for an erased op
            except RuntimeError:
                entry[1] = None
                return result if result == ir.WalkResult.INTERRUPT else ir.WalkResult.SKIP
            return result

        _state.walks.append(entry)
        try:
            original(self, visit, *args, **kwargs)
        finally:
            _state.walks.pop()  # walks nest like a stack; equal entries are not identical
        if errors:
            raise errors[0]

    return walk


def _operation(self: Any) -> ir.Operation:
    return self.operation if isinstance(self, ir.OpView) else self


def _checked(owner: Any, name: str, check: Callable[..., None]) -> None:
    """Makes a method check its arguments first."""
    original = getattr(owner, name)

    @functools.wraps(original)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        check(self, *args, **kwargs)
        return original(self, *args, **kwargs)

    setattr(owner, name, method)


def _safe_iteration(owner: Any) -> None:
    """Iterates over a snapshot of the ops, so that each of them may be erased."""
    original = owner.__iter__

    @functools.wraps(original)
    def iterate(self: Any) -> Iterator[Any]:
        return iter(list(original(self)))

    owner.__iter__ = iterate


def _replace_all_uses_with(original: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(original)
    def replace(self: ir.Value, *args: Any, **kwargs: Any) -> None:
        # The only overload with other values, under the name that the binding gives them.
        if (*args, *kwargs.values())[:1] != (self,):
            original(self, *args, **kwargs)

    return replace


@functools.cache
def install() -> None:
    """Adds the checks to the classes of the `mlir` package, once."""
    _checked(_OperationBase, "erase", lambda self: _check_erase(_operation(self)))
    for name in ("move_before", "move_after"):
        _checked(_OperationBase, name, lambda self, other: _check_move(_operation(self), _operation(other)))
    _checked(ir.Block, "erase_argument", _check_erase_argument)
    _checked(ir.Block, "append", lambda self, operation: _check_insert(_operation(operation), self))
    _checked(ir.Block, "append_to", _check_append_to)
    _checked(ir.InsertionPoint, "insert", lambda self, operation: _check_insert_point(_operation(operation), self))
    _OperationBase.detach_from_parent = _detach(_OperationBase.detach_from_parent)
    _OperationBase.walk = _walk(_OperationBase.walk)
    ir.Value.replace_all_uses_with = _replace_all_uses_with(ir.Value.replace_all_uses_with)
    _safe_iteration(ir.OperationList)
    _safe_iteration(ir.Block)

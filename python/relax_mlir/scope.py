# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The function that is being built, and the insertion point in it.

One thread builds one function at a time in each builder; functions of different builders, in one thread
or in several, do not see each other. `op.*` creates ops in the thread's innermost open function.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any

from mlir import ir

from . import _relax
from .annotations import Annotation, Callable
from .diagnostics import relax_errors, verify
from .errors import RelaxError, fail
from .location import caller_location
from .symbolic import ExprLike, Sym, as_expr
from .values import Deferred, Value

_thread = threading.local()


def open_functions() -> list[FunctionScope]:
    """The functions that this thread is building, innermost last."""
    if not hasattr(_thread, "functions"):
        _thread.functions = []
    return _thread.functions


def current_function() -> FunctionScope:
    """The innermost function that this thread is building."""
    functions = open_functions()
    if not functions:
        fail("no function is being built; open one with `with bb.function(name, params):`")
    return functions[-1]


class Fate:
    """Whether a block was abandoned. Values refer to this rather than to their frame, which refers to values."""

    __slots__ = ("kind", "failed")

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.failed = False


class Frame:
    """A block under construction, and the symbols that are visible in it."""

    def __init__(self, kind: str, block: ir.Block, symbols: set[str]) -> None:
        self.kind = kind
        self.fate = Fate(kind)
        self.block = block
        self.symbols = symbols
        self.outputs: list[Value] | None = None  # of a dataflow block
        self.terminated = False


class FunctionScope:
    """A `relax.func` under construction."""

    def __init__(self, name: str, func: ir.Operation, block: ir.Block, symbols: set[str]) -> None:
        self.name = name
        self.func = func
        self.context: ir.Context = func.context
        self.frames = [Frame("function", block, symbols)]
        self.parameter_symbols = frozenset(symbols)
        self.params: tuple[Value, ...] = ()
        self.bound: dict[int, tuple[Annotation, Value]] = {}
        self.builder: Any = None
        self.declared_results = False
        self.failed = False
        self.closed = False

    @property
    def frame(self) -> Frame:
        return self.frames[-1]

    @property
    def ranges(self) -> ir.Attribute | None:
        """The declared bounds of the function's symbols."""
        attributes = self.func.attributes
        return attributes["relax.symbols"] if "relax.symbols" in attributes else None

    def proves_less(self, lhs: ExprLike, rhs: ExprLike) -> bool:
        """Whether `lhs < rhs` follows from the declared bounds."""
        ranges = self.ranges or ir.DictAttr.get({}, context=self.context)
        return bool(_relax.prove_less(ranges, as_expr(lhs, self.context), as_expr(rhs, self.context)))

    @contextmanager
    def block(self, kind: str, block: ir.Block, *, shares_symbols: bool) -> Iterator[Frame]:
        """Builds in another block while the context is active."""
        outer = self.frame.symbols
        frame = Frame(kind, block, outer if shares_symbols else set(outer))
        self.frames.append(frame)
        try:
            yield frame
        except BaseException:
            frame.fate.failed = True
            raise
        finally:
            self.frames.pop()

    def wrap(self, value: ir.Value) -> Value:
        return Value(value, self)

    # --- operands

    def resolve(self, value: Any) -> ir.Value:
        """The MLIR value of a value or of a parameter's annotation, after checking that it is usable here."""
        if isinstance(value, Annotation):
            _, bound = self.bound.get(id(value), (None, None))
            if bound is None:
                hint = f" named '{value.name}'" if value.name else ""
                fail(
                    f"{value!r}{hint} is not a parameter of function '{self.name}'; list it in bb.function(name, [...])"
                )
            return bound.ir
        if isinstance(value, Deferred):
            value = value.value
        if isinstance(value, Value):
            if value._scope is not self:
                fail(
                    f"the value belongs to function '{value._scope.name}', but '{self.name}' is "
                    "being built; pass it as a parameter"
                )
            value = value.ir
        self._check_visible(value)
        return value

    def _check_visible(self, value: ir.Value) -> None:
        owner = value.owner
        block = owner if isinstance(owner, ir.Block) else owner.operation.block
        if any(frame.block == block for frame in reversed(self.frames)):
            return
        fail(
            "the value was made inside a block that is closed; pass it out with bb.emit_output "
            "(dataflow) or bb.yield_ (branches and loops)"
        )

    def require_symbols(self, names: set[str]) -> None:
        """Checks that symbols are defined at the insertion point."""
        missing = sorted(names - self.frame.symbols)
        if missing:
            fail(
                f"symbol '{missing[0]}' is not defined in function '{self.name}'; it is defined where it "
                f"stands alone as a dimension of a parameter or of the type of an op.match_cast"
            )

    def define_symbols(self, types: Sequence[ir.Type]) -> None:
        for type in types:
            self.frame.symbols.update(_relax.type_defined_symbols(type))

    # --- ops

    def create(
        self,
        name: str,
        operands: Sequence[ir.Value] = (),
        attributes: dict[str, ir.Attribute] | None = None,
        results: Sequence[ir.Type] | None = None,
        regions: int = 0,
        check: bool = True,
    ) -> ir.Operation:
        """Creates an op at the insertion point; deduces its result types unless given."""
        frame = self.frame
        if frame.terminated:
            fail(f"the {frame.kind} has ended: nothing can follow its last statement")
        with relax_errors(), closing(_relax.DeductionScope(frame.block.owner.operation)):
            operation = ir.Operation.create(
                name,
                results=results,
                operands=list(operands),
                attributes=attributes or {},
                regions=regions,
                loc=caller_location().to_mlir(self.context),
                ip=ir.InsertionPoint(frame.block),
                infer_type=results is None,
            )
        if check:
            verify_or_discard(operation)
        return operation

    def terminate(self, name: str, operands: Sequence[ir.Value]) -> None:
        self.create(name, operands, results=[], check=False)
        self.frame.terminated = True


def discard(operation: ir.Operation) -> None:
    """Removes an op from the program; it stays alive as long as Python refers to anything in it."""
    if not sys.is_finalizing():  # during shutdown, nobody sees it anyway
        operation.detach_from_parent()


def verify_or_discard(operation: ir.Operation) -> None:
    try:
        verify(operation)
    except RelaxError:
        discard(operation)
        raise


def parameter_symbols(params: Sequence[Annotation | Sym], types: Sequence[ir.Type]) -> set[str]:
    """The symbols that parameters define."""
    names = {param.name for param in params if isinstance(param, Sym)}
    for param, type in zip(params, types):
        if not isinstance(param, (Sym, Callable)):
            names.update(_relax.type_defined_symbols(type))
    return names

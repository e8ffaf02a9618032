# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Building programs: functions, dataflow blocks, branches, loops.

All of this is in one file, because it opens and closes blocks of one builder and is best read together.

>>> bb = BlockBuilder()
>>> n = Sym("n")
>>> x, w = Tensor((n, 128), "f32"), Tensor((128, 256), "f32")
>>> with bb.function("main", [x, w], symbols={n: Range(1, 2048)}):
...     with bb.dataflow():
...         y = bb.emit(op.matmul(x, w))
...         out = bb.emit_output(y)
...     bb.return_(out)
>>> module = bb.module()
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, TypeVar, Union, overload

from mlir import ir

from . import mlir_types
from .annotations import Annotation, TypeLike, as_type, join, keep_symbols
from .context import resolve_context
from .diagnostics import verify
from .errors import RelaxError, fail, unpicklable
from .location import caller_frame, caller_location
from .module import Module, parse
from .scope import (
    FunctionScope,
    current_function,
    discard,
    open_functions,
    parameter_symbols,
    verify_or_discard,
)
from .symbolic import Sym, SymbolRanges, ranges_to_mlir
from .values import Value

if TYPE_CHECKING:
    from .op.support import Operand

_Values = TypeVar("_Values", bound="tuple[Value, ...]")

Parameter = Union[Annotation, Sym]
"""An annotation, or a symbol: an integer parameter that carries its value."""


class Function:
    """A function of a builder, which `bb.function` returns and `bb.call` takes."""

    def __init__(self, scope: FunctionScope) -> None:
        self._scope = scope

    @property
    def name(self) -> str:
        return self._scope.name

    @property
    def params(self) -> tuple[Value, ...]:
        """The values of the parameters, in order."""
        return self._scope.params

    def __repr__(self) -> str:
        return f"Function({self.name!r})"

    __reduce__ = unpicklable("it belongs to its builder; pickle bb.module() instead")


class BlockBuilder:
    """Builds a module, function by function.

    Result types are deduced as the program is built, and every op records the line of the user's file
    that created it. Contradictions raise `RelaxError` with that line.
    """

    def __init__(self, context: mlir_types.Context | None = None) -> None:
        self.context: ir.Context = resolve_context(context)
        self._module = ir.Module.create(caller_location().to_mlir(self.context))

    __reduce__ = unpicklable("pickle bb.module() instead")

    # --- functions

    @contextmanager
    def function(
        self,
        name: str,
        params: Sequence[Parameter] = (),
        *,
        symbols: SymbolRanges | None = None,
        results: Sequence[TypeLike] | None = None,
        private: bool = False,
        pure: bool = False,
        primitive: bool = False,
        device: str | None = None,
        attrs: Mapping[str, mlir_types.Attribute] | None = None,
    ) -> Iterator[Function]:
        """Opens a function; ops built inside `with` form its body.

        Args:
          params: annotations, which represent the parameters inside the function; a `Sym` is an
            integer parameter that carries the symbol's value.
          symbols: declared bounds, checked whenever the function is entered.
          results: result types, if they should be coarser than those of the returned values, or if the
            function calls itself. By default, the types of the returned values.
          private: whether the function is visible only inside the module.
          pure: whether it has no side effects, so that dataflow blocks may call it.
          primitive: whether its body becomes one kernel, which no other op joins; a function like that is private and
            pure. Compiling it is an error if its body cannot be one kernel.
          device: "host" for a function that runs on the host in a module for a device, with its tensors there;
            `op.to_device` copies between host and device.
        """
        self._require_idle(name)
        if device is not None:
            if device not in ("host", "device"):
                fail(f"there is no place {device!r}; there are 'host' and 'device'")
            attrs = {**(attrs or {}), "relax.device": ir.StringAttr.get(device, self.context)}
        if primitive:
            attrs = {**(attrs or {}), "relax.primitive": ir.UnitAttr.get(self.context)}
        if isinstance(params, Iterator):
            params = list(params)
        func, types = self._create_function(
            name, params, symbols, results, private or primitive, pure or primitive, attrs
        )
        caller = caller_location()
        # The name in a parameter's location is the parameter's name, not that of a Python function.
        location = caller.to_mlir(self.context)
        unnamed = dataclasses.replace(caller, function="").to_mlir(self.context)
        names = _parameter_names(params)
        block = ir.Block.create_at_start(
            func.regions[0],
            types,
            [ir.Location.name(n, childLoc=location, context=self.context) if n else unnamed for n in names],
        )
        scope = FunctionScope(name, func, block, parameter_symbols(params, types))
        scope.params = tuple(scope.wrap(argument) for argument in block.arguments)
        for param, value in zip(params, scope.params):
            if isinstance(param, Annotation):
                scope.bound[id(param)] = (param, value)
        scope.builder = self
        scope.declared_results = results is not None
        open_functions().append(scope)
        try:
            yield Function(scope)
            if not scope.frame.terminated:
                fail(f"function '{name}' returns nothing; end it with bb.return_(value)")
            verify(func)
        except BaseException:
            scope.failed = True
            discard(func)
            raise
        finally:
            scope.closed = True
            open_functions().remove(scope)

    def declare(
        self,
        name: str,
        params: Sequence[Parameter],
        results: Sequence[TypeLike] | TypeLike,
        *,
        symbols: SymbolRanges | None = None,
        pure: bool = False,
    ) -> None:
        """Declares a function whose body is elsewhere."""
        self._require_idle(name)
        if isinstance(results, (Annotation, mlir_types.Type)):
            results = [results]
        func, _ = self._create_function(name, params, symbols, results, True, pure, None)
        verify_or_discard(func)

    def _create_function(
        self,
        name: str,
        params: Sequence[Parameter],
        symbols: SymbolRanges | None,
        results: Sequence[TypeLike] | None,
        private: bool,
        pure: bool,
        attrs: Mapping[str, ir.Attribute] | None,
    ) -> tuple[ir.Operation, list[ir.Type]]:
        context = self.context
        if not isinstance(name, str) or not name:
            fail(f"expected the function's name, got {name!r}")
        if self._find(name) is not None:
            fail(f"the module has a function '{name}' already; choose another name")
        if isinstance(params, (Annotation, Sym)):
            fail("expected a list of parameters; write bb.function(name, [x])")
        seen: dict[int, int] = {}
        for index, param in enumerate(params):
            if not isinstance(param, (Annotation, Sym)):
                fail(f"parameter {index} is {param!r}; expected an annotation such as Tensor(...)")
            if isinstance(param, Annotation) and seen.setdefault(id(param), index) != index:
                fail(
                    f"parameters {seen[id(param)]} and {index} are the same {param!r} object; "
                    "make one annotation for each"
                )
            if isinstance(param, Sym) and not param.is_symbol:
                fail(f"parameter {index} is the expression '{param}'; expected a plain symbol")
        index_type = ir.IndexType.get(context)
        with _wrong_type():
            types = [index_type if isinstance(param, Sym) else param.to_mlir(context) for param in params]
            result_types = [as_type(result, context) for result in results or ()]
            ranges = ranges_to_mlir(symbols or {}, context)
        attributes = {
            "sym_name": ir.StringAttr.get(name, context),
            "function_type": ir.TypeAttr.get(ir.FunctionType.get(types, result_types, context), context),
            **(attrs or {}),
        }
        if private:
            attributes["sym_visibility"] = ir.StringAttr.get("private", context)
        if pure:
            attributes["pure"] = ir.UnitAttr.get(context)
        if symbols:
            attributes["relax.symbols"] = ranges
        if any(isinstance(param, Sym) for param in params):
            attributes["arg_attrs"] = ir.ArrayAttr.get(
                [
                    ir.DictAttr.get(
                        {"relax.symbol": ir.StringAttr.get(param.name, context)} if isinstance(param, Sym) else {},
                        context,
                    )
                    for param in params
                ],
                context,
            )
        func = ir.Operation.create(
            "relax.func",
            attributes=attributes,
            regions=1,
            loc=caller_location().to_mlir(context),
            ip=ir.InsertionPoint(self._module.body),
        )
        return func, types

    def return_(self, *values: Operand | Sequence[Operand]) -> None:
        """Ends the function with its results."""
        scope = self._scope()
        if len(values) == 1 and isinstance(values[0], (list, tuple)):
            values = tuple(values[0])
        if scope.frame.kind != "function":
            fail(f"bb.return_ inside a {scope.frame.kind}; a function returns once, at its end: close the block first")
        operands = [_operand(scope, value) for value in values]
        if not scope.declared_results:
            visible = set(scope.parameter_symbols)
            types = [
                keep_symbols(Annotation.from_mlir(operand.type), visible).to_mlir(self.context) for operand in operands
            ]
            inputs = [value.type for value in scope.params]
            scope.func.attributes["function_type"] = ir.TypeAttr.get(
                ir.FunctionType.get(inputs, types, self.context), self.context
            )
        scope.terminate("relax.return", operands)

    def call(self, function: Function | str, *args: Operand) -> Any:
        """Calls a function of this module. The result types follow from the arguments."""
        scope = self._scope()
        name = function.name if isinstance(function, Function) else function
        callee = self._find(name)
        if callee is None:
            fail(f"the module has no function '{name}'; build or declare it first")
        if callee == scope.func and not scope.declared_results:
            fail(
                f"function '{name}' calls itself: its result types must be declared, "
                "with bb.function(..., results=[...])"
            )
        from .op.support import call_like

        attributes = {"callee": ir.FlatSymbolRefAttr.get(name, self.context)}
        if "pure" in callee.attributes:
            attributes["pure"] = ir.UnitAttr.get(self.context)
        return call_like(scope, "relax.call", list(args), attributes, callee)

    # --- blocks

    @contextmanager
    def dataflow(self) -> Iterator[None]:
        """Opens a block without side effects and control flow. `emit_output` passes values out."""
        scope = self._scope()
        outputs: list[Value] = []
        operation = scope.create("relax.dataflow", results=[], regions=1, check=False)
        block = ir.Block.create_at_start(operation.regions[0])
        try:
            with scope.block("dataflow block", block, shares_symbols=True) as frame:
                frame.outputs = outputs
                yield
                scope.terminate("relax.output", [output.ir for output in outputs])
        except BaseException:
            discard(operation)
            raise
        final = self._with_results(scope, operation, [output.type for output in outputs])
        for output, result in zip(outputs, final.results):
            output._ir, output._fate = result, scope.frame.fate

    @overload
    def emit(self, value: _Values) -> _Values: ...
    @overload
    def emit(self, value: Operand) -> Value: ...
    def emit(self, value: Any) -> Any:
        """Returns the value of an op unchanged; marks the statements of a program."""
        scope = self._scope()
        if isinstance(value, tuple):
            return tuple(self.emit(member) for member in value)
        return scope.wrap(_operand(scope, value))

    @overload
    def emit_output(self, value: _Values) -> _Values: ...
    @overload
    def emit_output(self, value: Operand) -> Value: ...
    def emit_output(self, value: Any) -> Any:
        """Passes a value out of the dataflow block; the returned value is also usable after the block."""
        scope = self._scope()
        outputs = scope.frame.outputs
        if outputs is None:
            fail("bb.emit_output outside a dataflow block; open one with `with bb.dataflow():`")
        if isinstance(value, tuple):
            return tuple(self.emit_output(member) for member in value)
        output = scope.wrap(_operand(scope, value))
        outputs.append(output)
        return output

    @contextmanager
    def if_(self, condition: Operand) -> Iterator[Branches]:
        """Opens a branch.

        >>> with bb.if_(condition) as branch:
        ...     with branch.then:
        ...         bb.yield_(op.exp(x))
        ...     with branch.else_:
        ...         bb.yield_(x)
        >>> y = branch.result
        """
        scope = self._scope()
        operand = _operand(scope, condition)
        operation = scope.create("relax.if", [operand], results=[], regions=2, check=False)
        branches = Branches(scope, operation)
        try:
            yield branches
            types = branches._result_types()
        except BaseException:
            discard(operation)
            raise
        final = self._with_results(scope, operation, types)
        branches._results = tuple(scope.wrap(result) for result in final.results)

    @contextmanager
    def while_(self, inits: Sequence[Operand], types: Sequence[TypeLike] | None = None) -> Iterator[Loop]:
        """Opens a loop over carried values.

        The carried values have the same types in every iteration: the types of `inits`, or the coarser types
        in `types`, where a dimension that changes must be None.

        >>> with bb.while_([i, x]) as loop:
        ...     with loop.condition as (i, x):
        ...         bb.yield_(op.less(i, limit))
        ...     with loop.body as (i, x):
        ...         bb.yield_(op.add(i, 1), op.exp(x))
        >>> i, x = loop.results
        """
        scope = self._scope()
        operands = [_operand(scope, value) for value in inits]
        with _wrong_type():
            carried = (
                [operand.type for operand in operands]
                if types is None
                else [as_type(type, self.context) for type in types]
            )
        operation = scope.create("relax.while", operands, results=carried, regions=2, check=False)
        loop = Loop(scope, operation, carried)
        try:
            yield loop
            loop._require_complete()
            verify(operation)
        except BaseException:
            discard(operation)
            raise

    def yield_(self, *values: Operand | Sequence[Operand]) -> None:
        """Ends a branch or a loop's body with its values, or a loop's condition with the condition."""
        scope = self._scope()
        if len(values) == 1 and isinstance(values[0], (list, tuple)):
            values = tuple(values[0])
        operands = [_operand(scope, value) for value in values]
        kind = scope.frame.kind
        if kind == "loop condition":
            if len(operands) != 1:
                fail(f"a loop condition yields one value, got {len(operands)}")
            scope.terminate("relax.condition", operands)
        elif kind in ("branch", "loop body"):
            scope.terminate("relax.yield", operands)
        else:
            fail(f"bb.yield_ inside a {kind}; it ends branches and loops")

    def _with_results(self, scope: FunctionScope, operation: ir.Operation, types: Sequence[ir.Type]) -> ir.Operation:
        """Recreates the op with its results, whose number is known only once the body is built."""
        if not types:
            verify(operation)
            return operation
        with operation.context:
            final = ir.Operation.create(
                operation.name,
                results=list(types),
                operands=list(operation.operands),
                regions=len(operation.regions),
                loc=operation.location,
                ip=ir.InsertionPoint(operation),
            )
        for source, target in zip(operation.regions, final.regions):
            for block in list(source.blocks):
                block.append_to(target)
        operation.erase()
        verify_or_discard(final)
        return final

    # --- the module

    def add_kernels(self, text: str) -> None:
        """Adds the functions of a module in MLIR text: tensor programs for `op.call_tir`."""
        self._require_idle("the kernels")
        source = parse(text, context=self.context)
        for operation in list(source.ir.body.operations):
            name = operation.attributes["sym_name"].value if "sym_name" in operation.attributes else ""
            if self._find(name) is not None:
                fail(f"the module has a function '{name}' already; choose another name")
            self._module.body.append(operation.operation.clone(ip=False))

    def module(self) -> Module:
        """The verified module. Building may continue; the module grows with it."""
        if any(scope.builder is self for scope in open_functions()):
            fail("bb.module() inside a function; close it first")
        module = Module(self._module)
        module.verify()
        return module

    def _find(self, name: str) -> ir.Operation | None:
        for operation in self._module.body.operations:
            if "sym_name" in operation.attributes and operation.attributes["sym_name"].value == name:
                return operation.operation
        return None

    def _require_idle(self, name: str) -> None:
        for scope in open_functions():
            if scope.builder is self:
                fail(f"function '{scope.name}' is still open; close it before {name!r} is built")

    def _scope(self) -> FunctionScope:
        scope = current_function()
        if scope.builder is not self:
            fail(f"function '{scope.name}' of another builder is open; use that builder, or close the function first")
        return scope


class Branches:
    """The two branches of `bb.if_`."""

    def __init__(self, scope: FunctionScope, operation: ir.Operation) -> None:
        self._scope = scope
        self._operation = operation
        self._yielded: dict[int, list[Annotation]] = {}
        self._results: tuple[Value, ...] | None = None

    @property
    def then(self) -> AbstractContextManager[None]:
        return self._branch(0)

    @property
    def else_(self) -> AbstractContextManager[None]:
        return self._branch(1)

    @property
    def results(self) -> tuple[Value, ...]:
        """The values of the branch, after the `with`."""
        if self._results is None:
            fail("the results of a branch exist after its `with` block")
        return self._results

    @property
    def result(self) -> Value:
        """The only value of the branch."""
        if len(self.results) != 1:
            fail(f"the branches yield {len(self.results)} values; use .results")
        return self.results[0]

    @contextmanager
    def _branch(self, index: int) -> Iterator[None]:
        name = ("then", "else_")[index]
        if index in self._yielded:
            fail(f"branch.{name} has been built already")
        block = ir.Block.create_at_start(self._operation.regions[index])
        scope = self._scope
        visible = set(scope.frame.symbols)
        with scope.block("branch", block, shares_symbols=False) as frame:
            yield
            if not frame.terminated:
                scope.terminate("relax.yield", [])
        values = list(block.operations)[-1].operands
        self._yielded[index] = [keep_symbols(Annotation.from_mlir(value.type), visible) for value in values]

    def _result_types(self) -> list[ir.Type]:
        for index, name in enumerate(("then", "else_")):
            if index not in self._yielded:
                fail(f"branch.{name} is missing; open it with `with branch.{name}:`")
        then, other = self._yielded[0], self._yielded[1]
        if len(then) != len(other):
            fail(f"branch.then yields {len(then)} values, branch.else_ yields {len(other)}")
        return [join(a, b).to_mlir(self._scope.context) for a, b in zip(then, other)]


class Loop:
    """The two parts of `bb.while_`."""

    def __init__(self, scope: FunctionScope, operation: ir.Operation, types: list[ir.Type]) -> None:
        self._scope = scope
        self._operation = operation
        self._types = types
        self._built: set[int] = set()

    @property
    def condition(self) -> AbstractContextManager[tuple[Value, ...]]:
        return self._part(0, "loop condition")

    @property
    def body(self) -> AbstractContextManager[tuple[Value, ...]]:
        return self._part(1, "loop body")

    @property
    def results(self) -> tuple[Value, ...]:
        """The carried values, after the loop."""
        return tuple(self._scope.wrap(result) for result in self._operation.results)

    @property
    def result(self) -> Value:
        """The only carried value, after the loop."""
        if len(self._types) != 1:
            fail(f"the loop carries {len(self._types)} values; use .results")
        return self.results[0]

    @contextmanager
    def _part(self, index: int, kind: str) -> Iterator[tuple[Value, ...]]:
        if index in self._built:
            fail(f"the {kind} has been built already")
        scope = self._scope
        location = caller_location().to_mlir(scope.context)
        block = ir.Block.create_at_start(self._operation.regions[index], self._types, [location] * len(self._types))
        with scope.block(kind, block, shares_symbols=False) as frame:
            yield tuple(scope.wrap(argument) for argument in block.arguments)
            if not frame.terminated:
                fail(f"the {kind} yields nothing; end it with bb.yield_")
        self._built.add(index)

    def _require_complete(self) -> None:
        for index, name in enumerate(("condition", "body")):
            if index not in self._built:
                fail(f"loop.{name} is missing; open it with `with loop.{name} as values:`")


def _operand(scope: FunctionScope, value: Any) -> ir.Value:
    from .op.support import as_operand

    return as_operand(scope, value)


@contextmanager
def _wrong_type() -> Iterator[None]:
    """Reports the compiler's errors about an annotation at the user's line."""
    try:
        yield
    except RelaxError:
        raise
    except (ValueError, OverflowError, TypeError, ir.MLIRError) as error:
        fail(str(error))


def _parameter_names(params: Sequence[Parameter]) -> list[str | None]:
    """The names of parameters: as given, or else the names of the caller's variables that hold them."""
    frame = caller_frame()
    variables = {id(value): name for name, value in frame.f_locals.items()} if frame else {}
    return [param.name or variables.get(id(param)) if isinstance(param, Annotation) else param.name for param in params]

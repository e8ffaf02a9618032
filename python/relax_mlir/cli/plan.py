# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Memory plans as numbers: which storage holds which tensor while which op runs, for one value of each symbol."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence

from mlir import ir

from .. import _relax, dtypes
from ..annotations import Annotation, Shape, Tensor, Tuple
from ..errors import RelaxError
from ..module import Module
from ..symbolic import Range, Sym
from .inputs import describe_range

DEFAULT_SIZE = 128
"""The value of symbols that are not given, as far as their bounds allow."""

_LARGEST = 2**63 - 1
"""The largest value of a symbol."""


@dataclasses.dataclass
class PlannedTensor:
    """A tensor in a storage.

    Attributes:
      name: of the value in the planned program, such as `%2`.
      op: the kernel or the library function that writes it.
      type: its element type and shape, such as `f32[n, 64]`.
      offset, bytes: its place in the storage.
      begin, end: the first and the last step that use it.
    """

    name: str
    op: str
    type: str
    offset: int
    bytes: int
    begin: int
    end: int


@dataclasses.dataclass
class Storage:
    """A storage: its bytes, the first and the last step of its life, and the tensors in it."""

    bytes: int
    begin: int
    end: int
    tensors: list[PlannedTensor] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True)
class Plan:
    """The planned memory of a function.

    Attributes:
      sizes: the values of its symbols.
      steps: the ops that run, in order; the terminator is the last one.
      unplanned, lower_bound: the bytes if each tensor had its own memory, and those that tensors need at the same time
        at most; None if the function has no `relax.memory_plan`.
    """

    function: str
    sizes: Mapping[str, int]
    steps: tuple[str, ...]
    storages: tuple[Storage, ...]
    unplanned: int | None
    lower_bound: int | None

    @property
    def planned(self) -> int:
        """The bytes of all storages."""
        return sum(storage.bytes for storage in self.storages)

    def describe_sizes(self) -> str:
        """`n = 128, m = 4`."""
        return ", ".join(f"{name} = {size}" for name, size in self.sizes.items())


def plans_of(module: Module, sizes: Mapping[str, int]) -> list[Plan]:
    """The plan of each graph function of a module after `relax-plan-memory` and `relax-insert-kills`.

    Args:
      sizes: values of symbols; others have `DEFAULT_SIZE`, as far as their bounds allow.

    Raises:
      RelaxError: no function has a given symbol, its value is out of bounds, or a size has no value or a negative one.
    """
    functions = [operation.operation for operation in module.ir.body.operations]
    functions = [one for one in functions if one.name == "relax.func" and one.regions[0].blocks]
    return [_plan_of(function, values) for function, values in zip(functions, _sizes_for(functions, sizes))]


def _plan_of(function: ir.Operation, sizes: Mapping[str, int]) -> Plan:
    name = ir.StringAttr(function.attributes["sym_name"]).value
    walk = _Walk(function, sizes)
    walk.visit(function.regions[0].blocks)
    notes = function.attributes["relax.memory_plan"] if "relax.memory_plan" in function.attributes else None

    def noted(key: str) -> int | None:
        return None if notes is None else _evaluate(Sym(ir.DictAttr(notes)[key]), sizes)

    storages = tuple(walk.storages)
    return Plan(name, sizes, tuple(walk.steps), storages, noted("unplanned_bytes"), noted("peak_bytes"))


def _sizes_for(functions: Iterable[ir.Operation], given: Mapping[str, int]) -> list[dict[str, int]]:
    """The value of each symbol in each function."""
    symbols = [_symbols(function) for function in functions]
    known = sorted(set().union(*symbols))
    for name in given:
        if name not in known:
            raise RelaxError(f"--sizes has '{name}'; the symbols of the program are {', '.join(known) or 'none'}")
    return [{name: _size(name, bounds, given.get(name)) for name, bounds in one.items()} for one in symbols]


def _size(name: str, bounds: Range, given: int | None) -> int:
    if given is None:
        size = max(DEFAULT_SIZE, bounds.lower)
        size = size if bounds.upper is None else min(size, bounds.upper)
        rounded = size // bounds.multiple_of * bounds.multiple_of
        return rounded if rounded >= bounds.lower else rounded + bounds.multiple_of
    if given > _LARGEST:
        raise RelaxError(f"--sizes says {name}={given}; expected at most {_LARGEST}")
    if given < bounds.lower or bounds.upper is not None and given > bounds.upper or given % bounds.multiple_of:
        raise RelaxError(f"--sizes says {name}={given}; expected {describe_range(name, bounds)}")
    return given


def _symbols(function: ir.Operation) -> dict[str, Range]:
    """The symbols in the parameters, storages and tensors of a function, with their bounds."""
    declared = function.attributes["relax.symbols"] if "relax.symbols" in function.attributes else ()
    bounds = {entry.name: Range.from_mlir(entry.attr) for entry in declared}
    names = dict.fromkeys(bounds)
    for entry in function.attributes["arg_attrs"] if "arg_attrs" in function.attributes else ():
        if "relax.symbol" in entry:  # an integer
            names[ir.StringAttr(entry["relax.symbol"]).value] = None

    def visit(operation: ir.Operation) -> ir.WalkResult:
        for key in ("bytes", "offset"):
            if key in operation.attributes:
                names.update(dict.fromkeys(_relax.expr_symbols(operation.attributes[key])))
        arguments = [
            argument for region in operation.regions for block in region.blocks for argument in block.arguments
        ]
        for value in (*operation.results, *arguments):
            names.update(dict.fromkeys(_symbols_of(Annotation.from_mlir(value.type))))
        return ir.WalkResult.ADVANCE

    function.walk(visit)
    return {name: bounds.get(name, Range()) for name in names}


def _symbols_of(annotation: Annotation) -> Iterator[str]:
    if isinstance(annotation, Tuple):
        for member in annotation.members:
            yield from _symbols_of(member)
    elif isinstance(annotation, (Tensor, Shape)):
        for dim in (annotation.dims if isinstance(annotation, Shape) else annotation.shape) or ():
            if isinstance(dim, Sym):
                yield from dim.symbols


def _evaluate(expr: Sym, sizes: Mapping[str, int]) -> int:
    """The value of a number of bytes or elements.

    Raises:
      RelaxError: it has none for these sizes, or is negative.
    """
    given = ", ".join(f"{name} = {sizes[name]}" for name in expr.symbols)
    try:
        value = expr.evaluate({name: sizes[name] for name in expr.symbols})
    except (ValueError, ZeroDivisionError, OverflowError) as error:
        reason = f"has no value for {given}: {error}"
    else:
        if value >= 0:
            return value
        reason = f"is {value} for {given}, and a size is not negative"
    raise RelaxError(f"'{expr}' {reason}; give other values with --sizes")


_WRITERS = {"relax.call_tir_inplace": "callee", "relax.call_library_inplace": "library_function"}
"""Ops that write into tensors, and the attribute with the name of what writes."""

_VIEWS = {
    f"relax.{name}"
    for name in ("reshape", "flatten", "expand_dims", "squeeze", "match_cast", "tuple", "get", "constant", "kill")
    + ("sym", "shape", "make_shape", "shape_of", "dim")
}
"""Ops that take no time: they are not steps."""


@dataclasses.dataclass
class _Place:
    """The part of a storage from an offset on, and the tensor that was last written there, if any."""

    storage: Storage
    offset: int
    tensor: PlannedTensor | None = None


class _Walk:
    """Follows tensors through a function, in the order in which its ops run.

    A branch or a loop may choose a value from several places: all of them are in use as long as the value is. What a
    loop uses from the outside is in use until the loop ends, and what an iteration hands to the next one from the start
    of the loop on.
    """

    def __init__(self, function: ir.Operation, sizes: Mapping[str, int]) -> None:
        self._sizes = sizes
        self._names = ir.AsmState(function)
        self.steps: list[str] = []
        self.storages: list[Storage] = []
        self._storage_of: dict[ir.Value, Storage] = {}
        self._places_of: dict[ir.Value, list[_Place]] = {}

    def visit(self, blocks: Iterable[ir.Block]) -> None:
        for block in blocks:
            for view in block.operations:
                self._visit(view.operation)

    def _visit(self, operation: ir.Operation) -> None:
        if operation.name == "relax.alloc_storage":
            bytes = _evaluate(Sym(operation.attributes["bytes"]), self._sizes)
            storage = Storage(bytes, len(self.steps), len(self.steps))
            self.storages.append(storage)
            self._storage_of[operation.results[0]] = storage
        elif operation.name == "relax.tensor_from_storage":
            offset = _evaluate(Sym(operation.attributes["offset"]), self._sizes)
            self._places_of[operation.results[0]] = [_Place(self._storage_of[operation.operands[0]], offset)]
        elif operation.name in _WRITERS:
            self._write(operation)
        else:
            if operation.name.startswith("relax.") and operation.name not in _VIEWS:  # others compute numbers
                self.steps.append(operation.name.removeprefix("relax."))
                self._use(operation.operands)
            self._forward(operation)

    def _use(self, values: Iterable[ir.Value]) -> None:
        """The tensors and their storages are in use during the latest step."""
        now = len(self.steps) - 1
        for value in values:
            for place in self._places_of.get(value, ()):
                place.storage.end = now
                if place.tensor:
                    place.tensor.end = now

    def _write(self, operation: ir.Operation) -> None:
        op = _text(operation.attributes[_WRITERS[operation.name]])
        self.steps.append(op)
        self._use(operation.operands)
        now = len(self.steps) - 1
        for result, index in zip(operation.results, ir.DenseI64ArrayAttr(operation.attributes["inplace_indices"])):
            places = []
            for place in self._places_of.get(operation.operands[index], ()):
                type, bytes = self._describe(result.type, place.storage.bytes - place.offset)
                tensor = PlannedTensor(result.get_name(self._names), op, type, place.offset, bytes, now, now)
                place.storage.tensors.append(tensor)
                places.append(_Place(place.storage, place.offset, tensor))
            self._places_of[result] = places

    def _describe(self, type: ir.Type, most: int) -> tuple[str, int]:
        """The text of a tensor's type, and its bytes: `most` if they are not known."""
        annotation = Annotation.from_mlir(type)
        if not isinstance(annotation, Tensor) or annotation.shape is None:
            return str(type), most
        text = f"{annotation.dtype}[{', '.join('?' if dim is None else str(dim) for dim in annotation.shape)}]"
        try:
            bytes = dtypes.to_numpy(annotation.dtype).itemsize
        except ValueError:  # a type of MLIR alone
            return text, most
        for dim in annotation.shape:
            if dim is None:
                return text, most
            bytes *= dim if isinstance(dim, int) else _evaluate(dim, self._sizes)
        return text, min(bytes, most)

    def _forward(self, operation: ir.Operation) -> None:
        """The results of other ops may be in the places of their operands, or of what their regions yield."""
        is_loop = operation.name == "relax.while"
        carried = operation.operands if is_loop else ()
        yielded: list[Sequence[ir.Value]] = [carried] if carried else []
        begin = len(self.steps)
        for region in operation.regions:
            for argument, value in zip(region.blocks[0].arguments, carried):
                self._places_of[argument] = list(self._places_of.get(value, ()))
            self.visit(region.blocks)
            last = list(region.blocks[0].operations)[-1].operation
            if last.name == "relax.yield":
                yielded.append(last.operands)
        for values in yielded:  # used until the branch or the loop ends
            self._use(values)
        if is_loop:
            self._stretch(begin, yielded[-1])
        for index, result in enumerate(operation.results):
            sources = [values[index] for values in yielded] if operation.regions else operation.operands
            self._places_of[result] = [place for source in sources for place in self._places_of.get(source, ())]

    def _stretch(self, begin: int, handed: Sequence[ir.Value]) -> None:
        """Extends the lives of tensors to all iterations of a loop that began at a step."""
        now = len(self.steps) - 1
        for storage in self.storages:
            lives: list[Storage | PlannedTensor] = [storage, *storage.tensors]
            for life in lives:
                if life.begin < begin <= life.end:
                    life.end = now
        for value in handed:
            for place in self._places_of.get(value, ()):
                place.storage.begin = min(place.storage.begin, begin)
                if place.tensor:
                    place.tensor.begin = min(place.tensor.begin, begin)


def _text(attribute: ir.Attribute) -> str:
    if isinstance(attribute, ir.FlatSymbolRefAttr):
        return attribute.value
    return ir.StringAttr(attribute).value

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inputs on the command line: what the text says, and whether it is what a program takes."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Union

import numpy as np

from .. import dtypes
from ..errors import RelaxError
from ..reading import reading
from ..symbolic import Range, Sym

Dim = Union[int, str, Sym, None]
"""A size: a number, the name of a symbol, an expression, or unknown."""


@dataclasses.dataclass(frozen=True)
class InputSpec:
    """What a program takes for an input.

    Attributes:
      kind: "tensor", "number", "sequence" (of tensors), or "other", which nothing is known of.
      dtype: the element type; None unless it is a tensor or a sequence.
      shape: None where the rank is unknown.
      is_optional: whether it may be left out.
    """

    name: str
    kind: str
    dtype: np.dtype | None = None
    shape: tuple[Dim, ...] | None = None
    is_optional: bool = False

    def __str__(self) -> str:
        if self.kind != "tensor" or self.dtype is None:
            return {"number": "an integer", "sequence": "a .npz file with a sequence"}.get(self.kind, "an argument")
        sizes = "..." if self.shape is None else ", ".join("?" if dim is None else str(dim) for dim in self.shape)
        return f"{_short_name(self.dtype)}[{sizes}]"


def describe_array(array: np.ndarray) -> str:
    """The element type and the shape of an array: `f32[2, 8]`."""
    return f"{_short_name(array.dtype)}[{', '.join(map(str, array.shape))}]"


def _short_name(dtype: np.dtype) -> str:
    if dtype.kind in "OSUT":
        return "text"
    try:
        return dtypes.normalize(dtype)
    except ValueError:
        return dtype.name


# --- text


@dataclasses.dataclass(frozen=True)
class Given:
    """A value on the command line; `name` is None where it is given by position."""

    name: str | None
    value: Any
    text: str


def parse_inputs(texts: Sequence[str]) -> list[Given]:
    """The values of `name=VALUE` or `VALUE`. A .npz file without a name holds inputs under their names.

    Raises:
      RelaxError: a value is not known, or a file cannot be read.
    """
    generator = np.random.default_rng(0)
    given = []
    for text in texts:
        name, is_named, rest = text.partition("=")
        value = parse_argument(rest if is_named else text, generator)
        if isinstance(value, dict) and not is_named:
            given += [Given(key, array, text) for key, array in value.items()]
        else:
            given.append(Given(name if is_named else None, value, text))
    return given


_ARGUMENT = re.compile(r"((?:\d+x)*)([a-wyz]+\d*\w*)$")


def parse_argument(text: str, generator: np.random.Generator) -> Any:
    """An argument of a function: a file, a number, or a shape to fill at random. A .npz file is a dictionary."""
    if text.endswith((".npy", ".npz")):
        return _load(text)
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    match = _ARGUMENT.match(text)
    if not match:
        raise RelaxError(f"argument {text!r} is not a .npy or .npz file, a number, or a shape such as 2x128xf32")
    try:
        dtype = dtypes.to_numpy(match[2])
    except ValueError as error:
        raise RelaxError(f"argument {text!r}: {error}") from None
    try:
        array = np.empty(tuple(map(int, match[1].split("x")[:-1])), dtype)
    except (MemoryError, ValueError, OverflowError):  # the latter two: more than there are addresses
        raise RelaxError(f"argument {text!r}: there is no memory for so many elements") from None
    fill(array, generator, 2 if match[2] == "bool" else 100)
    return array


def _load(path: str) -> Any:
    with reading(path):
        try:
            found = np.load(path, allow_pickle=False)
            if isinstance(found, np.ndarray):
                return found
            with found:
                return dict(found)
        except (ValueError, EOFError) as error:
            raise RelaxError(f"cannot read '{path}': {error}") from None


def fill(array: np.ndarray, generator: np.random.Generator, count: int) -> None:
    """Random elements: of the normal distribution for floats, below `count` for the others."""
    elements, piece = array.reshape(-1), 1 << 16  # a piece at a time, as the generator has types of its own
    is_float = dtypes.is_float_array(array)
    for begin in range(0, len(elements), piece):
        part = elements[begin : begin + piece]
        if is_float or array.dtype.kind == "c":
            part[...] = generator.standard_normal(len(part))
        else:
            part[...] = generator.integers(0, count, len(part))


# --- values for inputs


def bind(given: Sequence[Given], specs: Sequence[InputSpec], function: str) -> dict[str, Any]:
    """The values by the names of inputs.

    Raises:
      RelaxError: a name is unknown, or given twice; or there are more values than inputs.
    """
    known = [spec.name for spec in specs]
    bound: dict[str, Any] = {}
    for entry in given:
        if entry.name is None:
            continue
        if entry.name not in known:
            names = ", ".join(known) or "none"
            raise RelaxError(f"'{function}' has no input '{entry.name}' ({entry.text}); its inputs are {names}")
        if entry.name in bound:
            raise RelaxError(f"the input '{entry.name}' is given twice")
        bound[entry.name] = entry.value
    left = (name for name in known if name not in bound)
    for entry in given:
        if entry.name is None:
            name = next(left, None)
            if name is None:
                raise RelaxError(f"'{function}' takes {_count(len(known))}, got {len(given)}")
            bound[name] = entry.value
    return bound


def require_all(bound: Mapping[str, Any], specs: Sequence[InputSpec], function: str) -> None:
    """Refuses inputs that are missing.

    Raises:
      RelaxError: there are such, which it names.
    """
    missing = [spec for spec in specs if spec.name not in bound and not spec.is_optional]
    if missing:
        texts = "; ".join(f"'{spec.name}', {spec}" for spec in missing)
        raise RelaxError(f"'{function}' takes {_count(len(specs))}, got {len(bound)}: missing {texts}")


def _count(number: int) -> str:
    return f"{number} argument{'s' * (number != 1)}"


def fit(
    bound: Mapping[str, Any], specs: Sequence[InputSpec], ranges: Mapping[str, Range]
) -> tuple[dict[str, Any], dict[str, int]]:
    """The values with the types of the inputs, and the sizes that they give to symbols.

    Args:
      ranges: bounds of symbols.

    Raises:
      RelaxError: an input has another element type, rank or size; the message has both.
    """
    values, sizes = {}, _Sizes(ranges)
    for spec in specs:
        if spec.name in bound:
            value = values[spec.name] = _convert(spec, bound[spec.name])
            if spec.kind == "tensor" and spec.shape is not None:
                sizes.take(spec, value.shape)
            elif spec.kind == "number":
                sizes.take(dataclasses.replace(spec, shape=(spec.name,)), (value,))
    sizes.check_expressions()
    return values, sizes.values


def _convert(spec: InputSpec, value: Any) -> Any:
    if spec.kind == "sequence":
        if not isinstance(value, dict):
            raise RelaxError(f"the input '{spec.name}' is a sequence; expected a .npz file, got {_describe(value)}")
        return list(value.values())
    if spec.kind == "other":
        return value
    if spec.kind == "number":
        if not isinstance(value, int) and not (isinstance(value, np.ndarray) and _is_integer(value)):
            raise RelaxError(f"the input '{spec.name}' is {_describe(value)}; expected an integer")
        return int(value)
    dtype = spec.dtype
    assert dtype is not None
    array = value
    if isinstance(value, int) or isinstance(value, float) and dtypes.is_float_array(np.empty(0, dtype)):
        array = _number(spec, value)
    if isinstance(array, np.ndarray) and array.dtype.kind == "V" and array.dtype.itemsize == dtype.itemsize:
        array = array.view(dtype)  # .npy files do not name the types of ml_dtypes
    if isinstance(array, np.ndarray) and not array.dtype.isnative:
        raise RelaxError(
            f"the input '{spec.name}' has the dtype '{array.dtype.str}', which is in the byte order of other machines; "
            f"expected {spec}"
        )
    if not isinstance(array, np.ndarray) or not _is_same(array.dtype, dtype) or not _is_shape(spec.shape, array.shape):
        raise RelaxError(f"the input '{spec.name}' is {_describe(value)}; expected {spec}")
    return array


def _number(spec: InputSpec, value: float) -> np.ndarray:
    try:
        return np.asarray(value, spec.dtype)
    except OverflowError:
        raise RelaxError(f"the input '{spec.name}' is {value}, which does not fit; expected {spec}") from None


def _is_integer(array: np.ndarray) -> bool:
    return array.ndim == 0 and array.dtype.kind in "iu"


def _is_same(given: np.dtype, wanted: np.dtype) -> bool:
    return given == wanted or wanted.kind == "O" and given.kind in "SUT"


def _is_shape(shape: tuple[Dim, ...] | None, given: tuple[int, ...]) -> bool:
    if shape is None:
        return True
    return len(shape) == len(given) and all(not isinstance(dim, int) or dim == size for dim, size in zip(shape, given))


def _describe(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return describe_array(value)
    return "a .npz file" if isinstance(value, dict) else repr(value)


class _Sizes:
    """The values of symbols, found in shapes."""

    def __init__(self, ranges: Mapping[str, Range]) -> None:
        self.values: dict[str, int] = {}
        self._ranges = ranges
        self._sources: dict[str, str] = {}
        self._expressions: list[tuple[InputSpec, int, Sym, int]] = []

    def take(self, spec: InputSpec, shape: tuple[int, ...]) -> None:
        assert spec.shape is not None
        for axis, (dim, size) in enumerate(zip(spec.shape, shape)):
            if isinstance(dim, Sym) and not dim.is_symbol:
                self._expressions.append((spec, axis, dim, size))
            elif dim is not None and not isinstance(dim, int):
                self._define(spec, axis, str(dim), size)

    def _define(self, spec: InputSpec, axis: int, symbol: str, size: int) -> None:
        place = f"the input '{spec.name}' has {symbol} = {size} on axis {axis}"
        if self.values.setdefault(symbol, size) != size:
            raise RelaxError(f"{place}; the input '{self._sources[symbol]}' has {symbol} = {self.values[symbol]}")
        self._sources.setdefault(symbol, spec.name)
        bounds = self._ranges.get(symbol)
        if bounds and not (
            bounds.lower <= size <= (size if bounds.upper is None else bounds.upper) and size % bounds.multiple_of == 0
        ):
            raise RelaxError(f"{place}; expected {describe_range(symbol, bounds)}")

    def check_expressions(self) -> None:
        for spec, axis, dim, size in self._expressions:
            if all(symbol in self.values for symbol in dim.symbols) and dim.evaluate(self.values) != size:
                raise RelaxError(
                    f"the input '{spec.name}' has the size {size} on axis {axis}; expected {dim} = "
                    f"{dim.evaluate(self.values)}"
                )


def describe_range(symbol: str, bounds: Range) -> str:
    """The bounds of a symbol: `1 <= n <= 64, a multiple of 4`."""
    upper = "" if bounds.upper is None else f" <= {bounds.upper}"
    multiple = f", a multiple of {bounds.multiple_of}" if bounds.multiple_of > 1 else ""
    return f"{bounds.lower} <= {symbol}{upper}{multiple}"


# --- random inputs


def parse_sizes(text: str) -> dict[str, int]:
    """The sizes in `batch=8,seq=128`.

    Raises:
      RelaxError: it is not such a list.
    """
    sizes = {}
    for part in filter(None, text.split(",")):
        name, _, size = part.rpartition("=")
        if not name or not size.strip().isdecimal():
            raise RelaxError(f"--sizes has the part {part!r}; expected sizes such as batch=8,seq=128")
        sizes[name.strip()] = int(size)
    return sizes


def symbols_of(specs: Sequence[InputSpec]) -> Iterator[str]:
    """The symbols in the shapes of inputs; a number is one under its own name."""
    for spec in specs:
        if spec.kind == "number":
            yield spec.name
        for dim in spec.shape or ():
            if isinstance(dim, Sym):
                yield from dim.symbols
            elif isinstance(dim, str):
                yield dim


def complete(
    bound: Mapping[str, Any], specs: Sequence[InputSpec], ranges: Mapping[str, Range], sizes: Mapping[str, int]
) -> dict[str, Any]:
    """The values with random ones for inputs that are not given: normal floats, and integers that are 0 or 1.

    Args:
      sizes: values of symbols, for those that the given inputs do not decide.

    Raises:
      RelaxError: as `fit`; a size is missing or unknown; or an input cannot be made.
    """
    known = set(symbols_of(specs))
    for name in sizes:
        if name not in known:
            raise RelaxError(f"--sizes has '{name}'; the sizes of the inputs are {', '.join(sorted(known)) or 'none'}")
    values, found = fit(bound, specs, ranges)
    for name, size in found.items():
        if sizes.get(name, size) != size:
            raise RelaxError(f"--sizes says {name}={sizes[name]}; the given inputs have {name}={size}")
    found = {**sizes, **found}
    left = [spec for spec in specs if spec.name not in values and not spec.is_optional]
    missing = sorted(set(symbols_of(left)) - found.keys())
    if missing:
        texts = ", ".join(describe_range(name, ranges[name]) if name in ranges else name for name in missing)
        example = ",".join(f"{name}={max(8, ranges[name].lower) if name in ranges else 8}" for name in missing)
        raise RelaxError(f"the inputs have sizes that are not given: {texts}; say, for example, --sizes {example}")
    generator = np.random.default_rng(0)
    for spec in left:
        values[spec.name] = _make(spec, found, generator)
    return fit(values, specs, ranges)[0]


def _make(spec: InputSpec, sizes: Mapping[str, int], generator: np.random.Generator) -> Any:
    if spec.kind == "number":
        return sizes[spec.name]
    if spec.kind != "tensor" or spec.dtype is None or spec.dtype.hasobject or spec.shape is None or None in spec.shape:
        raise RelaxError(f"the input '{spec.name}' is {spec}, which is not made at random; give it with --input")
    shape = [_size(dim, sizes) for dim in spec.shape]
    try:
        array = np.empty(shape, spec.dtype)
    except (MemoryError, ValueError, OverflowError):
        raise RelaxError(f"there is no memory for the input '{spec.name}' with the shape {shape}") from None
    fill(array, generator, 2)
    return array


def _size(dim: Dim, sizes: Mapping[str, int]) -> int:
    if isinstance(dim, Sym):
        return dim.evaluate(sizes)
    return dim if isinstance(dim, int) else sizes[str(dim)]

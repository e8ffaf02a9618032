# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of compiled code as Python callables, with signatures that tools and people can read."""

from __future__ import annotations

import functools
import html
import inspect
import keyword
from collections.abc import Callable, Mapping
from typing import Any

from ..errors import unpicklable

_MISSING = object()


class _Signature:
    """`__signature__` of the instances, and none of the class, as `inspect.signature` expects them."""

    def __get__(self, function: CompiledFunction | None, owner: type) -> inspect.Signature | None:
        return None if function is None else function._signature


class CompiledFunction:
    """A function of compiled code: `function(x, w)` or `function(x, w=w)`.

    Arguments are passed by position, or by the names of the parameters, which `inspect.signature(function)` and
    `repr(function)` show with their types. Destinations for the results may follow the arguments, all by position
    (`Executable`).
    """

    __signature__ = _Signature()

    def __init__(self, name: str, description: Mapping[str, Any], call: Callable[..., Any]) -> None:
        self.__name__ = self.__qualname__ = name
        self._description = description
        self._call = call

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._call(*self._positional(args, kwargs)) if kwargs else self._call(*args)

    def _positional(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        names = self._names
        if len(args) > len(names):
            raise TypeError(
                f"{self.__name__}: {len(args)} arguments by position and {len(kwargs)} by name; expected "
                f"{len(names)}, and destinations only after arguments that are all passed by position"
            )
        values = [*args, *[_MISSING] * (len(names) - len(args))]
        for name, value in kwargs.items():
            index = self._positions.get(name)
            if index is None:
                known = ", ".join(map(repr, names)) or "none"
                raise TypeError(f"{self.__name__}: no parameter is named '{name}'; the parameters are {known}")
            if values[index] is not _MISSING:
                raise TypeError(f"{self.__name__}: argument {index} '{name}' is passed twice")
            values[index] = value
        for index, value in enumerate(values):
            if value is _MISSING:
                raise TypeError(f"{self.__name__}: argument {index} '{names[index]}' is missing")
        return values

    @functools.cached_property
    def _names(self) -> list[str]:
        """The names of the parameters as Python can have them: those that it cannot, or that occur twice, by number."""
        given = [parameter["name"] for parameter in self._description["parameters"]]
        names = []
        for index, name in enumerate(given):
            if not name.isidentifier() or keyword.iskeyword(name) or given.count(name) > 1:
                name = f"arg{index}"
                while name in given or name in names:
                    name += "_"
            names.append(name)
        return names

    @functools.cached_property
    def _positions(self) -> dict[str, int]:
        given = [parameter["name"] for parameter in self._description["parameters"]]
        positions = {name: index for index, name in enumerate(given) if given.count(name) == 1}
        return {**positions, **{name: index for index, name in enumerate(self._names)}}

    @functools.cached_property
    def _types(self) -> list[Any]:
        """Annotations of the parameters; `int` for a size."""
        parameters = self._description["parameters"]
        return [int if "symbol" in parameter else _annotation(parameter["type"]) for parameter in parameters]

    @functools.cached_property
    def _results(self) -> list[Any]:
        return [_annotation(text) for text in self._description["results"]]

    @functools.cached_property
    def _signature(self) -> inspect.Signature:
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        parameters = [inspect.Parameter(name, kind, annotation=type_) for name, type_ in zip(self._names, self._types)]
        destinations = "destinations" if "destinations" not in self._names else "destinations_"
        parameters.append(inspect.Parameter(destinations, inspect.Parameter.VAR_POSITIONAL))
        results = self._results[0] if len(self._results) == 1 else tuple(self._results)
        return inspect.Signature(parameters, return_annotation=results)

    def __repr__(self) -> str:
        bounds = ", ".join(self._bounds())
        return f"<compiled function {self._text()}{f' for {bounds}' if bounds else ''}>"

    def _text(self) -> str:
        """`main(x: f32[n, 128]) -> f32[n, 256]`"""
        parameters = ", ".join(f"{name}: {_show(type_)}" for name, type_ in zip(self._names, self._types))
        results = ", ".join(map(_show, self._results))
        return f"{self.__name__}({parameters}) -> {results if len(self._results) == 1 else f'({results})'}"

    def _bounds(self) -> list[str]:
        """The declared bounds of symbols, as `1 <= n <= 2048`."""
        return [_show_range(name, text) for name, text in self._description["symbols"].items()]

    def _repr_html_(self) -> str:
        rows = [(name, _show(type_)) for name, type_ in zip(self._names, self._types)]
        rows += [("returns", _show(result)) for result in self._results]
        rows += [("where", bound) for bound in self._bounds()]
        cells = "".join(f"<tr><th>{html.escape(name)}</th><td>{html.escape(text)}</td></tr>" for name, text in rows)
        return f"<table><caption>{html.escape(self.__name__)}</caption>{cells}</table>"

    __reduce__ = unpicklable(
        "write the executable with executable.export(folder), and load it with load_exported(folder)"
    )


def _annotation(text: str) -> Any:
    """The annotation of an MLIR type; its text where there is no compiler, or if a damaged description has no type."""
    try:
        from mlir import ir

        from ..annotations import Annotation
        from ..context import default_context
    except ModuleNotFoundError:  # the runtime alone
        return text
    try:
        return Annotation.from_mlir(ir.Type.parse(text, default_context()))
    except (ir.MLIRError, ValueError):
        return text


def _show(annotation: Any) -> str:
    if annotation is int:
        return "int"
    if not hasattr(annotation, "shape"):
        return str(annotation)
    if annotation.shape is None:
        return f"{annotation.dtype}[...]"
    return f"{annotation.dtype}[{', '.join('?' if dim is None else str(dim) for dim in annotation.shape)}]"


def _show_range(name: str, text: str) -> str:
    try:
        from mlir import ir

        from ..context import default_context
        from ..symbolic import Range
    except ModuleNotFoundError:  # the runtime alone
        return f"{name}: {text}"
    try:
        bounds = Range.from_mlir(ir.Attribute.parse(text, default_context()))
    except (ir.MLIRError, ValueError):
        return f"{name}: {text}"
    upper = "" if bounds.upper is None else f" <= {bounds.upper}"
    multiple = "" if bounds.multiple_of == 1 else f", a multiple of {bounds.multiple_of}"
    return f"{bounds.lower} <= {name}{upper}{multiple}"

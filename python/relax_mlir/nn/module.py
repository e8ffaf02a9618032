# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Parameters, and modules that contain them under names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, Union, overload

from .. import op
from ..annotations import DimLike, Tensor
from ..errors import fail
from ..operators import Operators
from ..values import Deferred, Value
from .state import Mismatch, check_value, same_values

if TYPE_CHECKING:
    from .export import Kernel


class Parameter(Deferred):
    """A tensor of the weight file. Its name is its path in the tree, once that is known, unless one is given.

    In expressions and as an operand of ops it is a value: `x @ self.weight + self.bias`. `data` is its value for
    `state_dict`, as `load_state_dict` has set it; None before.
    """

    def __init__(self, shape: Sequence[DimLike] | int, dtype: str = "f32", *, name: str = "") -> None:
        self.annotation = Tensor(shape, dtype)
        if self.annotation.shape is None or any(not isinstance(dim, int) for dim in self.annotation.shape):
            fail(f"a {self._kind} has a fixed size, got the shape {self.annotation.shape}")
        self.data: Any = None
        self._name = name
        self._path = ""

    _kind = "parameter"

    @property
    def name(self) -> str:
        """The name that was given, or else the path in the tree; empty before the path is known."""
        return self._name or self._path

    @name.setter
    def name(self, name: str) -> None:
        self._name = name

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.annotation.shape)

    @property
    def dtype(self) -> str:
        return self.annotation.dtype

    @property
    def value(self) -> Value:
        """The tensor as a value in the function that is being built."""
        if not self.name:
            fail(f"{self!r} has no name yet: nn.export names parameters, as does module.assign_names()")
        return op.weight(self.name, self.annotation)

    def __bool__(self) -> bool:
        fail(
            f"whether {self!r} is zero is not known before run time; for an optional one, write `is None` or "
            "`is not None`"
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {self.shape}, {self.dtype!r})"


class Buffer(Parameter):
    """A tensor that is not trained, such as running statistics or a table of positions.

    >>> self.running_mean = nn.Buffer((features,))
    >>> self.positions = nn.Buffer(np.arange(512), persistent=False)

    Args:
      shape: the shape, or an array, whose shape, type and value the buffer takes.
      dtype: the element type, "f32" by default; that of an array is the array's.
      persistent: whether it is in the weight file and in `state_dict`, as parameters are. Otherwise it needs a value,
        which is a constant of the program.
    """

    _kind = "buffer"

    def __init__(
        self, shape: Sequence[DimLike] | int | Any, dtype: str | None = None, *, persistent: bool = True, name: str = ""
    ) -> None:
        given: Any = shape
        if isinstance(given, (Operators, Deferred)):
            fail(f"a buffer takes the value of an array, got {given!r}; expected an array or a shape")
        has_value = hasattr(given, "shape") and hasattr(given, "dtype")
        if has_value and dtype is not None:
            fail(f"a buffer takes its type from the array, of {given.dtype}; convert that to {dtype}")
        if not has_value and not persistent:
            fail("a buffer that is not persistent is a constant, and needs its value: nn.Buffer(array, ...)")
        if has_value:
            super().__init__(tuple(given.shape), given.dtype, name=name)
            self.data = given
        else:
            super().__init__(shape, dtype or "f32", name=name)
        self.persistent = persistent

    @property
    def value(self) -> Value:
        return super().value if self.persistent else op.constant(self.data)


def join(*parts: str) -> str:
    """A path in the tree, joined from the non-empty parts."""
    return ".".join(part for part in parts if part)


class LoadResult(NamedTuple):
    """The names that `load_state_dict(strict=False)` passed over."""

    missing: tuple[str, ...]
    """Names of the model that the state does not have."""
    unexpected: tuple[str, ...]
    """Names of the state that the model does not have."""


class Module:
    """A part of a model: parameters and submodules, as attributes, and `forward`, which builds ops.

    Lists of modules are `ModuleList`s: modules in plain lists are refused, because their parameters have no path.
    """

    unused_names: Sequence[str] = ()
    """Names that checkpoints have for this module, and that `forward` does not need; `load_state_dict` ignores them."""

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no forward")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.forward(*args, **kwargs)

    def kernels(self) -> Iterable[Kernel]:
        """The kernels that `forward` of this module itself, not of its submodules, calls by name."""
        return ()

    def children(self) -> Iterator[tuple[str, Module]]:
        """The modules directly in this one, by attribute.

        Raises:
          RelaxError: an attribute is a list, a tuple or a dictionary with modules or parameters.
        """
        for name, value in self._attributes():
            if isinstance(value, Module):
                yield name, value
            elif kind := _kind_inside(value):
                fail(
                    f"{type(self).__name__}.{name} is a {type(value).__name__} with {kind}s, which are not found "
                    f"there; {_ADVICE[kind]}"
                )

    def _attributes(self) -> Iterable[tuple[str, Any]]:
        """Where modules may be."""
        return vars(self).items()

    def named_modules(self, prefix: str = "") -> Iterator[tuple[str, Module]]:
        """This module and all below it, with their paths."""
        yield prefix, self
        for name, child in self.children():
            yield from child.named_modules(join(prefix, name))

    def named_parameters(self, prefix: str = "") -> Iterator[tuple[str, Parameter]]:
        """All parameters with their paths; a parameter that occurs twice is listed once, under its first path."""
        return ((path, tensor) for path, tensor in self._all_tensors(prefix) if not isinstance(tensor, Buffer))

    def named_buffers(self, prefix: str = "") -> Iterator[tuple[str, Buffer]]:
        """All buffers with their paths, each once."""
        return ((path, tensor) for path, tensor in self._all_tensors(prefix) if isinstance(tensor, Buffer))

    def _all_tensors(self, prefix: str = "", *, repeated: bool = False) -> Iterator[tuple[str, Parameter]]:
        """Parameters and buffers with their paths: each once under its first path or, if `repeated`, under all."""
        seen: set[int] = set()
        for path, module in self.named_modules(prefix):
            for name, value in vars(module).items():
                if isinstance(value, Parameter) and (repeated or id(value) not in seen):
                    seen.add(id(value))
                    yield join(path, name), value

    def _stored_tensors(self, prefix: str = "") -> dict[str, Parameter]:
        """What the weight file has, by name: parameters and persistent buffers."""
        named: dict[str, Parameter] = {}
        for path, tensor in self._all_tensors(prefix):
            if isinstance(tensor, Buffer) and not tensor.persistent:
                continue
            name = tensor._name or path
            if named.setdefault(name, tensor) is not tensor:
                fail(f"two parameters are named '{name}'; a name stands for one tensor of the weight file")
        return named

    def assign_names(self, prefix: str = "") -> dict[str, Parameter]:
        """Names each parameter and persistent buffer by its path; those named by hand keep their names."""
        named = self._stored_tensors(prefix)
        for name, tensor in named.items():
            tensor._path = name
        return named

    def state_dict(self) -> dict[str, Any]:
        """The values of parameters and persistent buffers, by name: the weights of the exported program.

        >>> executable = compile(nn.export(model, functions), weights=model.state_dict())

        Raises:
          RelaxError: some have no value yet; the message names all of them.
        """
        named = self._stored_tensors()
        if missing := [name for name, tensor in named.items() if tensor.data is None]:
            fail(f"no values for {_quoted(missing)}; load_state_dict sets them")
        return {name: tensor.data for name, tensor in named.items()}

    def load_state_dict(self, state: Mapping[str, Any], *, strict: bool = True) -> LoadResult:
        """Sets the values of parameters and persistent buffers. Nothing is set if there is an error.

        Args:
          state: arrays or tensors by name, as `state_dict` of this or of an equal PyTorch module returns them. They
            are not copied.
          strict: whether missing and unexpected names are errors.

        Returns:
          The missing and unexpected names, without those in `unused_names`.

        Raises:
          RelaxError: names are missing or unexpected, or a value has another shape or element type. The message names
            all of them.
        """
        named = self._stored_tensors()
        names: dict[str, str] = {name: name for name in named}
        by_tensor = {id(tensor): name for name, tensor in named.items()}
        # Tied parameters have one name in the program, and several in checkpoints of PyTorch.
        for path, tensor in self._all_tensors(repeated=True):
            if id(tensor) in by_tensor:
                names.setdefault(path, by_tensor[id(tensor)])
        ignored = {join(path, name) for path, module in self.named_modules() for name in module.unused_names}
        unexpected = tuple(name for name in state if name not in names and name not in ignored)
        values: dict[str, Any] = {}
        wrong: list[str] = []
        for name, value in state.items():
            if name not in names:
                continue
            first = names[name]
            try:
                value = check_value(value, named[first].shape, named[first].dtype)
            except Mismatch as error:
                wrong.append(f"'{name}' {error}")
                continue
            if first in values and not same_values(values[first], value):
                wrong.append(f"'{name}' and '{first}' are one tensor of the model, and differ in the state")
            values.setdefault(first, value)
        refused = {names[name] for name in state if name in names}
        missing = tuple(name for name in named if name not in refused)
        if strict:
            wrong += [f"missing: {_quoted(missing)}"] if missing else []
            wrong += [f"unexpected: {_quoted(unexpected)}"] if unexpected else []
        if wrong:
            fail(f"the state does not fit {type(self).__name__}:\n  " + "\n  ".join(wrong))
        for name, value in values.items():
            named[name].data = value
        return LoadResult(missing, unexpected)

    def __repr__(self) -> str:
        own = [
            f"{name}: {value.dtype}[{', '.join(map(str, value.shape))}]"
            for name, value in vars(self).items()
            if isinstance(value, Parameter)
        ]
        below = [f"{name}: {child!r}" for name, child in self.children()]
        if not below:
            return f"{type(self).__name__}({', '.join(own)})"
        lines = "".join(f"\n{part}," for part in own + below).replace("\n", "\n  ")
        return f"{type(self).__name__}({lines}\n)"


_ADVICE = {
    "module": "use nn.ModuleList",
    "parameter": "make each an attribute, or put it in a module of an nn.ModuleList",
}


def _kind_inside(value: Any) -> str | None:
    """What a container holds at any depth, "module" or "parameter"; None for others."""
    if isinstance(value, Mapping):
        value = value.values()
    elif not isinstance(value, (list, tuple, set, frozenset)):
        return None
    for entry in value:
        if isinstance(entry, Module):
            return "module"
        if isinstance(entry, Parameter):
            return "parameter"
        if kind := _kind_inside(entry):
            return kind
    return None


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


Self = TypeVar("Self", bound="ModuleList")
Layer = Union[Module, Callable[..., Any]]
"""A module, or a function of values such as `op.relu`, which has no parameters."""


class ModuleList(Module):
    """Modules in order; their paths are their positions. Indexing and slicing are those of a list."""

    def __init__(self, modules: Iterable[Module] = ()) -> None:
        self._modules: list[Any] = []
        self.extend(modules)

    def _check(self, position: int, module: Any) -> None:
        if not isinstance(module, Module):
            fail(f"module {position} of the list is {module!r}; expected an nn.Module")

    def _attributes(self) -> Iterable[tuple[str, Any]]:
        yield from ((str(index), module) for index, module in enumerate(self._modules))
        yield from ((name, value) for name, value in vars(self).items() if name != "_modules")

    def append(self, module: Module) -> None:
        self.insert(len(self), module)

    def extend(self, modules: Iterable[Module]) -> None:
        for module in modules:
            self.append(module)

    def insert(self, index: int, module: Module) -> None:
        self._check(index, module)
        self._modules.insert(index, module)

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules)

    @overload
    def __getitem__(self, index: int) -> Any: ...

    @overload
    def __getitem__(self: Self, index: slice) -> Self: ...

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            part = type(self).__new__(type(self))
            part._modules = self._modules[index]
            return part
        return self._modules[index]


class Sequential(ModuleList):
    """Modules that are called in order, each with the result of the one before.

    >>> nn.Sequential(nn.Linear(8, 16), op.relu, nn.Linear(16, 4))

    Functions such as `op.relu` may be among them; they have a position, and no parameters.
    """

    def __init__(self, *modules: Layer) -> None:
        super().__init__(modules)  # type: ignore[arg-type]

    def _check(self, position: int, module: Any) -> None:
        if not callable(module):
            fail(f"module {position} of the sequence is {module!r}; expected an nn.Module or a function of values")

    def forward(self, x: Any) -> Any:
        for module in self:
            x = module(x)
        return x

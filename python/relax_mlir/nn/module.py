# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Parameters, and modules that contain them under names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from .. import op
from ..annotations import DimLike, Tensor
from ..errors import fail
from ..values import Value

if TYPE_CHECKING:
    from .export import Kernel


class Parameter:
    """A tensor of the weight file. Its name is its path in the tree, once that is known."""

    def __init__(self, shape: Sequence[DimLike], dtype: str = "f32", *, name: str = "") -> None:
        self.annotation = Tensor(shape, dtype)
        if any(not isinstance(dim, int) for dim in self.annotation.shape or ()):
            fail(f"a parameter has a fixed size, got the shape {self.annotation.shape}")
        self.name = name

    @property
    def shape(self) -> tuple[int, ...]:
        return self.annotation.shape  # type: ignore[return-value]

    @property
    def dtype(self) -> str:
        return self.annotation.dtype

    @property
    def value(self) -> Value:
        """The tensor as a value in the function that is being built."""
        if not self.name:
            fail(f"{self!r} has no name yet: nn.export names parameters, as does module.assign_names()")
        return op.weight(self.name, self.annotation)

    def __repr__(self) -> str:
        return f"Parameter({self.name!r}, {self.shape}, {self.dtype!r})"


def join(*parts: str) -> str:
    """A path in the tree, joined from the non-empty parts."""
    return ".".join(part for part in parts if part)


class Module:
    """A part of a model: parameters and submodules, as attributes, and `forward`, which builds ops."""

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no forward")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.forward(*args, **kwargs)

    def kernels(self) -> Iterable[Kernel]:
        """The kernels that `forward` of this module itself, not of its submodules, calls by name."""
        return ()

    def children(self) -> Iterator[tuple[str, Module]]:
        """The modules directly in this one, by attribute."""
        for name, value in vars(self).items():
            if isinstance(value, Module):
                yield name, value

    def named_modules(self, prefix: str = "") -> Iterator[tuple[str, Module]]:
        """This module and all below it, with their paths."""
        yield prefix, self
        for name, child in self.children():
            yield from child.named_modules(join(prefix, name))

    def named_parameters(self, prefix: str = "") -> Iterator[tuple[str, Parameter]]:
        """All parameters with their paths; a parameter that occurs twice is listed once, under its first path."""
        seen: set[int] = set()
        for path, module in self.named_modules(prefix):
            for name, value in vars(module).items():
                if isinstance(value, Parameter) and id(value) not in seen:
                    seen.add(id(value))
                    yield join(path, name), value

    def assign_names(self, prefix: str = "") -> dict[str, Parameter]:
        """Names each parameter by its path; parameters named by hand keep their names."""
        named: dict[str, Parameter] = {}
        for path, parameter in self.named_parameters(prefix):
            parameter.name = parameter.name or path
            if named.setdefault(parameter.name, parameter) is not parameter:
                fail(f"two parameters are named '{parameter.name}'; a name stands for one tensor of the weight file")
        return named


class ModuleList(Module):
    """Modules in order; their paths are their positions."""

    def __init__(self, modules: Iterable[Module] = ()) -> None:
        self._modules = list(modules)

    def children(self) -> Iterator[tuple[str, Module]]:
        return ((str(index), module) for index, module in enumerate(self._modules))

    def append(self, module: Module) -> None:
        self._modules.append(module)

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules)

    def __getitem__(self, index: int) -> Module:
        return self._modules[index]

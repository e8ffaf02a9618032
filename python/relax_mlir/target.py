# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compilation targets: a CPU with its features, and optionally a GPU."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence

from . import runtime
from .errors import RelaxError, fail


@dataclasses.dataclass(frozen=True)
class Target:
    """A CPU, by LLVM's names, and optionally the GPU that kernels run on.

    >>> Target("aarch64-linux-gnu", "cortex-a76")
    >>> Target.cuda("sm_90")

    Attributes:
      chip: the GPU, such as "sm_90"; empty if kernels run on the CPU. Code for "sm_90a" runs on this chip only, and has
        matmuls by warpgroups. "subgroup_8" is any Vulkan device with subgroups of 8 threads, "subgroup_8_bound" also
        runs without buffer addresses, "subgroup_8_narrow" also without 64-bit integers, "subgroup_8_overlap" needs
        kernels that can wait for other kernels, "subgroup_32_matrices" cooperative matrices. "emulated" is a device
        for tests.
      libraries: libraries that code may call in addition to its own kernels: "cublaslt" for all matmuls that cuBLASLt
        supports, "cublaslt:auto" for those that it computes faster. The library is opened when it is first called.
    """

    triple: str
    cpu: str = ""
    features: str = ""
    chip: str = ""
    libraries: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "libraries", tuple(self.libraries))
        _ = self.device  # raises for a name that is not one of a GPU
        for name in self.libraries:
            if name not in ("cublaslt", "cublaslt:auto") or not self.chip:
                raise RelaxError(
                    f"there is no library '{name}' for this target; a GPU of NVIDIA has 'cublaslt', 'cublaslt:auto'"
                )

    @staticmethod
    def host() -> Target:
        """This machine, with all its vector units."""
        return _host()

    @staticmethod
    def cuda(chip: str | None = None, libraries: Sequence[str] = ()) -> Target:
        """An NVIDIA GPU with this machine's CPU; the first GPU of this machine unless `chip` names another.

        Raises:
          DeviceError: this machine has no such GPU.
        """
        chip = chip or runtime.Device("cuda").architecture
        return dataclasses.replace(Target.host(), chip=chip, libraries=tuple(libraries))

    @staticmethod
    def vulkan(chip: str | None = None) -> Target:
        """A Vulkan device with this machine's CPU; the first device of this machine unless `chip` names a kind.

        Raises:
          DeviceError: this machine has no Vulkan device.
        """
        return dataclasses.replace(Target.host(), chip=chip or runtime.Device("vulkan").architecture)

    @staticmethod
    def parse(text: str) -> Target:
        """A target by name: "cpu", "cuda", "cuda:sm_90", "cuda:sm_90+cublaslt" with a library, "vulkan",
        "vulkan:subgroup_32", or a triple with or without a CPU ("aarch64-linux-gnu").

        Raises:
          RelaxError: the name has another form.
        """
        text, *libraries = text.split("+")
        kind, colon, rest = text.partition(":")
        if colon and not rest:
            fail(f"'{text}' names nothing behind the colon; expected '{kind}' alone, or what it is, as in 'cuda:sm_90'")
        if libraries and kind != "cuda":
            fail(f"there is no library '{libraries[0]}' for '{text}'")
        if kind in ("cuda", "vulkan") and rest and runtime.device_of(rest) != kind:
            examples = "'sm_80', 'sm_90', …" if kind == "cuda" else "'subgroup_8', 'subgroup_32', …"
            fail(f"'{rest}' is not a GPU for {kind}; those are named {examples}")
        if kind == "cuda":
            return Target.cuda(rest or None, libraries)
        if kind == "vulkan":
            return Target.vulkan(rest or None)
        if kind == "cpu":
            host = Target.host()
            return Target(host.triple, rest) if rest else host
        if "-" not in kind:
            fail(f"there is no target '{text}'; there are 'cpu', 'cuda', 'cuda:sm_90', 'vulkan', and triples of LLVM")
        return Target(kind, rest)

    @property
    def device(self) -> str:
        """The kind of device that tensors are on; empty for the CPU."""
        return runtime.device_of(self.chip)

    @property
    def runs_here(self) -> bool:
        """Whether code for this target can run in this process."""
        architecture, system = runtime.machine().split("-")
        return self.triple.split("-")[0] == architecture and system in self.triple

    def runs_on(self, device: runtime.Device) -> bool:
        """Whether kernels can run on a device: PTX also runs on newer chips, PTX for "sm_90a" only on this chip, and
        PTX for "sm_100f" on chips with the same first number."""
        return device.kind == self.device and runtime.runs_on(self.chip, device.architecture)

    @property
    def required_features(self) -> tuple[str, ...]:
        """The CPU features beyond the architecture's baseline that the code needs, under LLVM's names."""
        from . import _relax  # loading code needs no compiler

        return tuple(_relax.required_features(self.triple, self.cpu, self.features))

    @property
    def vector_bits(self) -> int:
        """Bits of the widest vector register."""
        from . import _relax

        return _relax.vector_bits(self.triple, self.cpu, self.features)


@functools.cache
def _host() -> Target:
    from . import _relax

    triple, cpu, features = _relax.host_target()
    # LLVM infers features that it cannot query from the CPU's name; missing ones must not be used.
    missing = runtime.missing_features(_relax.required_features(triple, cpu, features))
    return Target(triple, cpu, ",".join([features, *(f"-{name}" for name in missing)]).strip(","))

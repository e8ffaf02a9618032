# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compilation targets: a CPU with its features, and optionally a GPU."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence

from . import runtime
from .errors import fail


@dataclasses.dataclass(frozen=True)
class Target:
    """A CPU, by LLVM's names, and optionally the GPU that kernels run on.

    >>> Target.for_cpu("x86-64-v3", ["+avx512bf16"])
    >>> Target.for_cpu("cortex-a76", triple="aarch64-linux-gnu")
    >>> Target.cuda("sm_90")

    Attributes:
      triple: the system, such as "x86_64-linux-gnu".
      cpu: a CPU or an ISA level, such as "znver4" or "x86-64-v3"; empty for the baseline of the architecture.
      features: the features that differ from those of the CPU, each with its sign, such as "+avx512bf16,-fma"; they are
        a set, so their order does not matter.
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
        object.__setattr__(self, "features", runtime.check_target(self.features, self.chip, self.libraries))

    @staticmethod
    def host() -> Target:
        """This machine, with all its vector units."""
        return _host()

    @staticmethod
    def for_cpu(cpu: str, features: Sequence[str] = (), triple: str = "") -> Target:
        """A CPU or an ISA level, by LLVM's name, with ("+avx512bf16") and without ("-fma") features.

        Args:
          cpu: such as "znver4", "x86-64-v3" or "cortex-a76"; "native" is this machine's CPU, "generic" the baseline.
          triple: the system, such as "aarch64-linux-gnu"; this machine's by default.

        Raises:
          RelaxError: LLVM knows no such triple, CPU or feature, or features contradict each other. The message lists
            the names that LLVM knows.
        """
        host = Target.host()
        if cpu == "native" and not triple:
            target = host._with_changes(",".join(features))
        else:
            target = Target(triple or host.triple, cpu, ",".join(features))
        target.check()
        return target

    def _with_changes(self, features: str) -> Target:
        """The target with and without features, and with what these need, without what needs them."""
        from . import _relax

        changes = runtime.check_target(features, "", ())
        changed = _relax.change_features(self.triple, self.cpu, self.features, changes)
        return dataclasses.replace(self, features=changed)

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
        """A target by name: "cpu", "cpu:x86-64-v3", "cpu:x86-64-v3,+avx512bf16" with a feature, "cpu:native,-avx512f"
        without one; "cuda", "cuda:sm_90", "cuda:sm_90+cublaslt" with a library; "vulkan", "vulkan:subgroup_32"; or a
        triple, with a CPU or without ("aarch64-linux-gnu:cortex-a76").

        Raises:
          RelaxError: the name has another form, or LLVM knows no such triple, CPU or feature.
          DeviceError: this machine has no such device, and the name does not say which GPU it is for.
        """
        name = runtime.read_target(text)
        if name.device == "cuda":
            return Target.cuda(name.chip or None, name.libraries)
        if name.device == "vulkan":
            return Target.vulkan(name.chip or None)
        if not name.triple and not name.cpu:
            return Target.host()
        return Target.for_cpu(name.cpu, [name.features], name.triple)

    def check(self) -> None:
        """Checks that LLVM knows the triple, the CPU and the features, and that these do not contradict each other.

        Raises:
          RelaxError: something is wrong; the message lists the names that LLVM knows.
        """
        from . import _relax

        if message := _relax.check_target(self.triple, self.cpu, self.features):
            fail(message)

    @property
    def device(self) -> str:
        """The kind of device that tensors are on; empty for the CPU."""
        return runtime.device_of(self.chip)

    @property
    def runs_here(self) -> bool:
        """Whether code for this target can run in this process."""
        return runtime.runs_here(self.triple)

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


def as_target(target: Target | str) -> Target:
    """A target that may be given by its name.

    Raises:
      RelaxError: it is neither a target nor the name of one (`Target.parse`).
    """
    if isinstance(target, Target):
        return target
    if not isinstance(target, str):
        fail(f"the target is of type {type(target).__name__}; expected a Target, or a name such as 'cpu' or 'cuda'")
    return Target.parse(target)


@functools.cache
def _host() -> Target:
    from . import _relax

    triple, cpu, features = _relax.host_target()
    # LLVM infers features that it cannot query from the CPU's name; missing ones must not be used.
    missing = runtime.missing_features(_relax.required_features(triple, cpu, features))
    return Target(triple, cpu, features)._with_changes(",".join(f"-{name}" for name in missing))

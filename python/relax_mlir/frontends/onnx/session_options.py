# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Options of sessions and of calls, with the names that onnxruntime gives them.

An option falls into one of three kinds: it is honored; it changes at most how onnxruntime works and never the results,
and is accepted; or it asks for something that a session here does not do, which is an error when the session is made.
"""

from __future__ import annotations

import dataclasses
import enum
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from ...errors import FrontendError

CPU = "CPUExecutionProvider"
"""The provider that sessions run on."""


class GraphOptimizationLevel(enum.IntEnum):
    """How much onnxruntime changes a graph."""

    ORT_DISABLE_ALL = 0
    ORT_ENABLE_BASIC = 1
    ORT_ENABLE_EXTENDED = 2
    ORT_ENABLE_LAYOUT = 3
    ORT_ENABLE_ALL = 99


class ExecutionMode(enum.IntEnum):
    """Whether onnxruntime runs independent nodes at the same time."""

    ORT_SEQUENTIAL = 0
    ORT_PARALLEL = 1


class ExecutionOrder(enum.IntEnum):
    """The order in which onnxruntime runs nodes."""

    DEFAULT = 0
    PRIORITY_BASED = 1
    MEMORY_EFFICIENT = 2


_KEY_PREFIXES = ("session.", "optimization.", "ep.", "mlas.", "memory.", "ep_factory_registry.")
"""How keys of session settings begin in onnxruntime."""

_REFUSED_SETTINGS = {
    ("session.set_denormal_as_zero", "1"): "denormal numbers are kept",
    ("session.load_model_format", "ORT"): "only files of ONNX are read",
}

_FOLDER_SETTING = "session.model_external_initializers_file_folder_path"


@dataclasses.dataclass(slots=True)
class SessionOptions:
    """The options that a session is made with.

    `intra_op_num_threads` is honored: the calls of the session run on that many threads; 0 means as many as the process
    uses (`relax_mlir.runtime.set_thread_count`). `add_free_dimension_override_by_name` is honored too. The other fields
    are accepted and have no effect, except those that ask for a file (`enable_profiling`, `optimized_model_filepath`),
    which a session refuses. An unknown field is an `AttributeError`.
    """

    intra_op_num_threads: int = 0
    inter_op_num_threads: int = 0
    log_severity_level: int = -1
    log_verbosity_level: int = 0
    logid: str = ""
    graph_optimization_level: GraphOptimizationLevel = GraphOptimizationLevel.ORT_ENABLE_ALL
    execution_mode: ExecutionMode = ExecutionMode.ORT_SEQUENTIAL
    execution_order: ExecutionOrder = ExecutionOrder.DEFAULT
    enable_cpu_mem_arena: bool = True
    enable_mem_pattern: bool = True
    enable_mem_reuse: bool = True
    enable_profiling: bool = False
    optimized_model_filepath: str = ""
    profile_file_prefix: str = "onnxruntime_profile_"
    use_deterministic_compute: bool = False
    use_per_session_threads: bool = True
    _settings: dict[str, str] = dataclasses.field(default_factory=dict, repr=False)
    _sizes: dict[str, int] = dataclasses.field(default_factory=dict, repr=False)

    def add_session_config_entry(self, key: str, value: str) -> None:
        """Sets an option of onnxruntime by its key.

        Raises:
          FrontendError: the key is not one of onnxruntime's, or the value asks for other results than those here.
        """
        if not key.startswith(_KEY_PREFIXES):
            raise FrontendError(f"there is no session setting '{key}'; they begin with {', '.join(_KEY_PREFIXES)}")
        if reason := _REFUSED_SETTINGS.get((key, value)):
            raise FrontendError(f"the session setting {key}={value} is not supported: {reason}; leave it out")
        self._settings[key] = value

    def get_session_config_entry(self, key: str) -> str:
        """The value that was set for a key.

        Raises:
          FrontendError: none was set.
        """
        if key not in self._settings:
            raise FrontendError(f"the session setting '{key}' has not been set")
        return self._settings[key]

    def add_free_dimension_override_by_name(self, name: str, size: int) -> None:
        """Makes a named size of the model's inputs a number, which calls must then have."""
        self._sizes[name] = size

    def add_free_dimension_override_by_denotation(self, denotation: str, size: int) -> None:
        """Not supported, as denotations of axes are not read."""
        raise FrontendError(
            f"sizes are not known by their denotation '{denotation}'; use add_free_dimension_override_by_name"
        )

    def register_custom_ops_library(self, path: str) -> None:
        """Not supported: an op of one's own needs a converter."""
        raise FrontendError(
            f"kernels of other libraries ('{path}') are not called; register a converter for each op of it "
            "(relax_mlir.frontends.onnx.register)"
        )

    def add_initializer(self, name: str, value: Any) -> None:
        """Not supported: initializers are those of the model."""
        raise FrontendError(f"the initializer '{name}' cannot be replaced; change it in the model, or make it an input")

    def add_external_initializers(self, names: Sequence[str], values: Sequence[Any]) -> None:
        """Not supported, likewise."""
        for name, value in zip(names, values):
            self.add_initializer(name, value)

    @property
    def sizes(self) -> Mapping[str, int]:
        """The sizes that were made numbers, by name."""
        return self._sizes

    @property
    def folder(self) -> str | None:
        """Where files with tensors of the model are, where a setting says so."""
        return self._settings.get(_FOLDER_SETTING)

    def check(self) -> None:
        """Refuses what a session does not do.

        Raises:
          FrontendError: an option asks for it; the message names the option.
        """
        count = self.intra_op_num_threads
        if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count <= 1024:
            raise FrontendError(f"intra_op_num_threads is {count!r}; expected a number from 0 to 1024")
        if self.enable_profiling:
            raise FrontendError("enable_profiling is set, and no profile is written; leave it out")
        if self.optimized_model_filepath:
            raise FrontendError("optimized_model_filepath is set, and no optimized model is written; leave it out")


@dataclasses.dataclass(slots=True)
class RunOptions:
    """The options of a call. Of these `terminate` has an effect: a call with it is refused."""

    log_severity_level: int = -1
    log_verbosity_level: int = 0
    logid: str = ""
    only_execute_path_to_fetches: bool = False
    terminate: bool = False
    _settings: dict[str, str] = dataclasses.field(default_factory=dict, repr=False)

    def add_run_config_entry(self, key: str, value: str) -> None:
        """Sets an option of onnxruntime by its key; none has an effect."""
        self._settings[key] = value

    def get_run_config_entry(self, key: str) -> str:
        """The value that was set for a key.

        Raises:
          FrontendError: none was set.
        """
        if key not in self._settings:
            raise FrontendError(f"the run setting '{key}' has not been set")
        return self._settings[key]

    def add_active_adapter(self, adapter: Any) -> None:
        """Not supported: weights are those of the model."""
        raise FrontendError("adapters are not supported; merge the adapter into the model's weights")


def check_providers(providers: Sequence[Any] | None, options: Sequence[Mapping[str, Any]] | None) -> None:
    """Warns of providers that are not here, as onnxruntime does; the session then runs on the CPU.

    Args:
      providers: names, or pairs of a name and a dictionary of options.
      options: the options of each provider, where `providers` has only names.

    Raises:
      TypeError, ValueError: the arguments have another form.
    """
    if isinstance(providers, str):
        raise TypeError(f"providers is the text '{providers}'; expected a list: ['{providers}']")
    given = list(providers or ())
    if options is not None and len(options) != len(given):
        raise ValueError(f"provider_options has {len(options)} members for {len(given)} providers")
    for entry in given:
        name = entry[0] if isinstance(entry, (tuple, list)) and len(entry) == 2 else entry
        if not isinstance(name, str):
            raise TypeError(f"providers has the member {entry!r}; expected a name, or a name with its options")
        if name != CPU:
            warnings.warn(
                f"the provider '{name}' is not available, and the session runs on the CPU; available is {CPU}",
                UserWarning,
                stacklevel=3,
            )

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exported folders: compiled models that run without the compiler.

    model.so              the code; exports `__tvm_ffi_<function>` for each function
    librelax_runtime.so   memory and threads; found next to the code
    model.o, model.h      the same code, for programs in C that link it
    weights.safetensors   the weights, if there are any
    metadata.json         signatures, symbols with their bounds, memory plans, names of weights, checksums of the files

Any program can load it with `tvm_ffi.load_module("model.so")` and bind the weights with `bind_weight(name, tensor)`.
`load_exported` links `model.o` into the process; each load has weights of its own.

The folder of a device model has the same files: kernels are in `model.o`, and the driver assembles them when they first
run. Tensors are on the device; weights are copied there when they are bound. `model.h` documents this for C programs.

Loading a folder runs the code in it. Checksums detect damage, not malice: docs/security.md.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
import shlex
import shutil
import stat
import subprocess
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import runtime
from .code import Code
from .errors import DeviceError, ModelError, RelaxError, WeightError
from .files import STAGING, replaced_files
from .header import header_of
from .reading import reading
from .schema import check, parse_json
from .stored_weights import SCHEMA, map_weights, save_weights

if TYPE_CHECKING:
    import numpy as np

VERSION = 5
"""The version of the folder's format."""

METADATA, OBJECT, WEIGHTS = "metadata.json", "model.o", "weights.safetensors"
_LIBRARY, _RUNTIME, _HEADER = "model.so", "librelax_runtime.so", "model.h"
_OWN = (METADATA, OBJECT, _LIBRARY, _RUNTIME, _HEADER)
"""Files that any exported folder may have; its metadata list all other files."""


def export(
    code: Code,
    folder: str | os.PathLike[str],
    weights: Mapping[str, Any] | None = None,
    *,
    companions: Callable[[Path], object] | None = None,
) -> None:
    """Writes a folder, or replaces an earlier export in it.

    Files are replaced, not written into, once all of them are complete: processes that use the old files keep them, and
    if writing fails, the folder is unchanged. Files are replaced one after another, the metadata last, so loading the
    folder during that time may fail. Files that do not belong to an export stay, and are never replaced.

    Code for this machine is linked to a shared library; code for another machine stays an object file, which
    `link_shared` links with a cross-compiler. If there is no linker, a warning says so, and only the shared library is
    missing.

    Code for a device can also be written on a machine without such a device.

    Args:
      companions: writes additional files of the model to a folder; `Exported.companions` reads them.

    Raises:
      ModelError: the folder contains something else.
      RelaxError: a weight is missing, linking failed, or the folder cannot be written.
    """
    folder = Path(folder)
    owned = check_folder(folder)
    missing = [name for name in code.weights if name not in (weights or {})]
    if missing:
        raise RelaxError(f"{len(missing)} weights have no value: {', '.join(missing[:5])}; pass them to export")
    try:
        with replaced_files(folder, owned, METADATA) as staging:
            if companions:
                companions(staging)
            files: dict[str, Any] = {path.name: _digest_of_companion(path) for path in sorted(staging.iterdir())}
            (staging / OBJECT).write_bytes(code.object)
            files[OBJECT] = hashlib.sha256(code.object).hexdigest()
            if weights and code.weights:
                mode = (staging / OBJECT).stat().st_mode
                values = {name: weights[name] for name in code.weights}
                files[WEIGHTS] = save_weights(values, staging / WEIGHTS, stat.S_IMODE(mode))
            (staging / _HEADER).write_text(header_of(code), encoding="utf-8")
            write_metadata(staging / METADATA, {"version": VERSION, "files": files, **code.to_json()})
            if code.target.runs_here:
                _make_library(code, staging)
    except OSError as error:
        raise RelaxError(f"cannot write '{folder}': {error.strerror or error}") from None


def check_folder(folder: str | os.PathLike[str]) -> Sequence[str]:
    """Refuses to export over anything else than an earlier export, whose file names it returns.

    Raises:
      ModelError: there is a file of that name, or a folder that is neither empty nor one that `export` wrote.
    """
    folder = Path(folder)
    with reading(folder):
        if not os.path.lexists(folder):
            return ()
        if folder.is_dir():
            with contextlib.suppress(ModelError):
                files = _read_metadata(folder).get("files")
                return (*_OWN, *(name for name in files or () if name == WEIGHTS or _is_companion(name)))
            if all(path.name.startswith(STAGING) for path in folder.iterdir()):
                return ()
    raise ModelError(f"'{folder}' holds something else; name a folder that is empty or new, or remove it")


def _digest_of_companion(path: Path) -> str:
    if not _is_companion(path.name) or not path.is_file():
        raise RelaxError(
            f"companions wrote '{path.name}'; expected files, named other than {', '.join((*_OWN, WEIGHTS))}"
        )
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _is_companion(name: str) -> bool:
    """Whether a name is that of a file directly in the folder that is not one of `_OWN`."""
    return name == os.path.basename(name) and name not in ("", ".", "..", *_OWN, WEIGHTS) and "\0" not in name


def _make_library(code: Code, folder: Path) -> None:
    """Links the object file of a folder, if there is a linker."""
    shutil.copy2(runtime.library_path(), folder / _RUNTIME)
    linker = _find_linker()
    if linker is None:
        warnings.warn(f"{_LIBRARY} is not made, all else is: {_NO_LINKER}", RuntimeWarning, stacklevel=4)
        return
    # Closing the library releases bound weights and device memory.
    options = ["-Wl,-fini=relax_unload"] if code.device or code.weights else []
    link_shared(folder / OBJECT, folder / _LIBRARY, folder, linker, options=options)


def write_metadata(path: Path, description: Mapping[str, Any]) -> None:
    """Writes a description with its own checksum, since it cannot be verified against the code."""
    sealed = {**description, "seal": _seal_of(description)}
    path.write_text(json.dumps(sealed, indent=1) + "\n", encoding="utf-8")


def _seal_of(description: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(description, sort_keys=True).encode()).hexdigest()


_NO_LINKER = "a shared library needs a linker, and none of cc, gcc and clang is on PATH; install one, or set CC"


def find_linker() -> str:
    """A command that links for this machine: CC, or a C compiler that is on PATH.

    Raises:
      RelaxError: there is no compiler, or the one that CC names is missing.
    """
    linker = _find_linker()
    if linker is None:
        raise RelaxError(_NO_LINKER)
    return linker


def _find_linker() -> str | None:
    if named := os.environ.get("CC"):
        if not shutil.which((shlex.split(named) or [""])[0]):
            raise RelaxError(f"CC is {named!r}, which is not on PATH; expected a C compiler, or no CC")
        return named
    return next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)


def link_shared(
    object: Path, output: Path, runtime_folder: Path, linker: str | None = None, *, options: Sequence[str] = ()
) -> None:
    """Links an object file with the runtime, which is loaded from the folder of the result. A function that the runtime
    lacks is an error when the result is loaded, not when it is called.

    Args:
      linker: a command, with options if needed; `find_linker()` by default.

    Raises:
      RelaxError: there is no linker, or it fails.
    """
    command = [*shlex.split(linker or find_linker()), "-shared", "-o", str(output), str(object), f"-L{runtime_folder}"]
    command += ["-lrelax_runtime", "-Wl,-rpath,$ORIGIN", "-Wl,-z,now", "-lm", *options]
    try:
        run = subprocess.run(command, capture_output=True, text=True, errors="replace")
    except OSError as error:
        raise RelaxError(f"cannot run the linker '{command[0]}': {error.strerror}") from None
    if run.returncode:
        how = f"failed with status {run.returncode}: {shlex.join(command)}"
        raise RelaxError(f"linking '{output}' {how}\n{run.stderr.strip()}".rstrip())


def is_exported(path: str | os.PathLike[str]) -> bool:
    """Whether `export` wrote a folder, damaged or not: metadata have a version and a seal, or code lies next to
    unreadable metadata. Other programs, too, write files named metadata.json."""
    file = Path(path) / METADATA
    try:
        metadata = parse_json(file.read_bytes())
    except OSError:
        return False
    except ValueError:
        return (Path(path) / OBJECT).is_file()
    return isinstance(metadata, dict) and {"version", "seal"} <= metadata.keys()


@dataclasses.dataclass(frozen=True)
class Exported:
    """An exported folder whose metadata and code were read and checked.

    Attributes:
      code: the code and its description; it need not be for this machine.
      files: the metadata of each file.
    """

    folder: Path
    code: Code
    files: Mapping[str, Any]

    def companions(self) -> Mapping[str, bytes]:
        """The companion files that `export` wrote, by name.

        Raises:
          ModelError: one of them is missing or damaged.
        """
        return {name: _read_checked(self.folder, name, self.files) for name in self.files if _is_companion(name)}

    def load(
        self, *, mapped: bool = True, check_weight: Callable[[str, np.ndarray], object] | None = None
    ) -> runtime.Executable:
        """Loads this folder like `load_exported`, without reading it again."""
        return _load(self, mapped, check_weight)


def open_exported(folder: str | os.PathLike[str]) -> Exported:
    """Reads an exported folder, except for its weights and companions.

    Raises:
      ModelError: something is missing or damaged, or was made by another version.
    """
    folder = Path(folder)
    path = folder / METADATA
    metadata = _read_metadata(folder)
    version = metadata.pop("version")
    if version != VERSION or isinstance(version, bool):
        raise _of_another_version(path, version)
    files = metadata.pop("files", None)
    try:
        check(files, dict, "files")
        if strange := [name for name in files if name not in (OBJECT, WEIGHTS) and not _is_companion(name)]:
            raise ValueError(f"files has a field {strange[0]!r}, which is not the name of a file in the folder")
        companions = {name: str for name in files if _is_companion(name)}
        check(files, {OBJECT: str, f"{WEIGHTS}?": SCHEMA, **companions}, "files")
        code = Code.from_json(metadata, b"")
        if bool(code.weights) != (WEIGHTS in files):
            raise ValueError(f"it names {len(code.weights)} weights, and the files {', '.join(files)}")
        _ = code.target.runs_here  # reads the triple
    except ValueError as error:
        raise ModelError(f"'{path}' is damaged: {error}; export the model again") from None
    return Exported(folder, dataclasses.replace(code, object=_read_checked(folder, OBJECT, files)), files)


def read_code(folder: str | os.PathLike[str]) -> Code:
    """The code of an exported folder and its description; the code need not be for this machine.

    Raises:
      ModelError: something is missing or damaged, or was made by another version.
    """
    return open_exported(folder).code


def _read_metadata(folder: Path) -> dict[str, Any]:
    """The metadata without their seal, which is valid; nothing else is checked."""
    path = folder / METADATA
    try:
        text = path.read_bytes()
    except OSError as error:
        raise _missing(folder, error) from None
    try:
        metadata = parse_json(text)
        check(metadata, dict, "it")
    except ValueError as error:
        raise ModelError(f"'{path}' is damaged: {error}; export the model again") from None
    if "version" not in metadata or "seal" not in metadata:
        raise _of_another_version(path, metadata.get("version"))
    if metadata.pop("seal") != _seal_of(metadata):
        raise ModelError(f"'{path}' is damaged; export the model again")
    return metadata


def _of_another_version(path: Path, version: Any) -> ModelError:
    return ModelError(
        f"'{path}' is of another version of relax-mlir: its format is {version!r}, expected {VERSION}; "
        "export the model again"
    )


def _read_checked(folder: Path, name: str, files: Mapping[str, Any]) -> bytes:
    try:
        data = (folder / name).read_bytes()
    except OSError as error:
        raise _missing(folder, error) from None
    if hashlib.sha256(data).hexdigest() != files[name]:
        raise ModelError(f"'{folder / name}' is damaged; export the model again")
    return data


def _missing(folder: Path, error: OSError) -> ModelError:
    return ModelError(f"'{folder}' is not an exported model: {error.filename}: {error.strerror}")


def load_exported(
    folder: str | os.PathLike[str],
    *,
    mapped: bool = True,
    check_weight: Callable[[str, np.ndarray], object] | None = None,
) -> runtime.Executable:
    """Loads an exported folder, and runs the code in it: load only what you trust (docs/security.md).

    Args:
      mapped: whether weights stay in the mapped file, so that processes share them and loading takes no time; if not,
        they are copied to memory that is faster to read (`relax_mlir.runtime.HugePages`). A mapped file must not be
        truncated or written into as long as the model is used; `export` replaces it. A mapped file's checksum covers
        a sample, a copied file's checksum all of its content.
      check_weight: called with each weight; raises an error if the weight is not as expected.

    The weights of a device model are copied to the device in either case.

    Raises:
      ModelError: something is missing or damaged, or was made for another machine; weights raise
        its subclass WeightError.
      DeviceError: the model is for a device, and no device of this machine can run it.
    """
    return open_exported(folder).load(mapped=mapped, check_weight=check_weight)


def _load(
    exported: Exported, mapped: bool, check_weight: Callable[[str, np.ndarray], object] | None
) -> runtime.Executable:
    folder, code = exported.folder, exported.code
    if not code.target.runs_here:
        raise ModelError(f"'{folder}' was compiled for {code.target.triple}, this machine is {runtime.machine()}")
    if missing := runtime.missing_features(code.cpu_features):
        raise ModelError(
            f"'{folder}' was compiled for a CPU with {', '.join(missing)}, which this one lacks; "
            f"export the model for this CPU, or for an older one {runtime.compared_features(code.cpu_features)}"
        )
    if code.device:
        _check_device(code, folder)
    try:
        executable = runtime.Executable(code)
    except DeviceError:
        raise
    except (KeyError, ValueError) as error:
        raise ModelError(f"'{folder / METADATA}' is damaged: {error}; export the model again") from None
    except RuntimeError as error:  # metadata may name functions that the code lacks
        raise ModelError(f"'{folder / OBJECT}' cannot be linked: {error}") from None
    if code.weights:
        file = folder / WEIGHTS
        weights = map_weights(file, exported.files[WEIGHTS], whole=not mapped)
        if lacking := [name for name in code.weights if name not in weights]:
            raise WeightError(f"'{file}' lacks the weight '{lacking[0]}'")
        if check_weight:
            for name in code.weights:
                check_weight(name, weights[name])
        try:
            executable.bind_weights({name: weights[name] for name in code.weights}, copy=not mapped)
        except (TypeError, ValueError) as error:
            raise WeightError(f"'{file}': {error}") from None
    return executable


def _check_device(code: Code, folder: Path) -> None:
    """Rejects code whose kernels the device cannot run, before weights are read."""
    try:
        device = runtime.Device(code.device)
    except DeviceError as error:
        raise DeviceError(
            f"'{folder}' was compiled for {code.target.chip}, a device of {code.device}: {error}"
        ) from None
    if not code.target.runs_on(device):
        raise DeviceError(
            f"'{folder}' was compiled for {code.target.chip}, and {device.kind}:{device.index} "
            f"({device.name}) is an {device.architecture}; export the model for that"
        )

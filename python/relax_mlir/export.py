# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled models in folders, that run without the compiler.

    model.so              the code; exports `__tvm_ffi_<function>` for each function
    librelax_runtime.so   memory and threads; found beside the code
    model.o, model.h      the same code, for programs in C that link it
    weights.safetensors   the weights, if there are any
    metadata.json         signatures, symbols with their bounds, memory plans, names of weights

`tvm_ffi.load_module("model.so")` calls it from any program, which binds the weights by `bind_weight(name, tensor)`.
`load_exported` links `model.o` into the process, with weights of its own, however often a folder is loaded.

A folder of a model for a device has the same files: kernels are in `model.o`, and the driver assembles them where they
first run. Tensors are those of the device; weights are copied there when they are bound. `model.h` says what a program
in C needs to know of that.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import re
import shlex
import shutil
import struct
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from . import runtime
from .compiler import Code, Target
from .dtypes import to_numpy as to_numpy_dtype
from .errors import DeviceError, ModelError, RelaxError, WeightError

VERSION = 3
"""Of what is in the folder."""


def export(code: Code, folder: str | os.PathLike[str], weights: Mapping[str, Any] | None = None) -> None:
    """Writes a folder.

    Code for this machine is linked to a shared library; code for another stays an object file, which `link_shared`
    links with a cross-compiler.

    Code for a device is written where there is none as well.

    Raises:
      RelaxError: a weight is missing, or the folder cannot be written.
    """
    folder = Path(folder)
    missing = [name for name in code.weights if name not in (weights or {})]
    if missing:
        raise RelaxError(f"{len(missing)} weights have no value: {', '.join(missing[:5])}; pass them to export")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "model.o").write_bytes(code.object)
        (folder / "model.h").write_text(_header(code))
        # Those of another program, which may have none, or for another machine.
        for name in ("model.so", "weights.safetensors"):
            (folder / name).unlink(missing_ok=True)
        if weights and code.weights:
            _save_weights({name: weights[name] for name in code.weights}, folder / "weights.safetensors")
        checksum = hashlib.sha256(code.object).hexdigest()
        write_metadata(folder / "metadata.json", {"version": VERSION, "checksum": checksum, **code.to_json()})
    except OSError as error:
        raise RelaxError(f"cannot write '{folder}': {error.strerror}") from None
    if code.target.runs_here:
        shutil.copy2(runtime.library_path(), folder / "librelax_runtime.so")
        # What is bound, and what a device holds, goes with the library.
        options = ["-Wl,-fini=relax_unload"] if code.device or code.weights else []
        link_shared(folder / "model.o", folder / "model.so", folder, options=options)


def write_metadata(path: Path, description: Mapping[str, Any]) -> None:
    """Writes a description with a checksum of its own: what it says of the code cannot be read from the code."""
    sealed = {**description, "seal": _seal_of(description)}
    path.write_text(json.dumps(sealed, indent=1) + "\n")


def _seal_of(description: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(description, sort_keys=True).encode()).hexdigest()


def _save_weights(weights: Mapping[str, Any], path: Path) -> None:
    from safetensors.numpy import save_file

    save_file({name: np.ascontiguousarray(runtime.to_host(value)) for name, value in weights.items()}, path)


def find_linker() -> str:
    """A compiler that links for this machine."""
    for name in filter(None, (os.environ.get("CC"), "cc", "gcc", "clang")):
        if path := shutil.which(name):
            return path
    raise RelaxError(
        "a shared library needs a linker, and none of cc, gcc and clang is on PATH; install one, or set CC. "
        "The object file model.o is written"
    )


def link_shared(
    object: Path, output: Path, runtime_folder: Path, linker: str | None = None, *, options: Sequence[str] = ()
) -> None:
    """Links an object file with the runtime, which is looked for beside the result."""
    command = [linker or find_linker(), "-shared", "-o", str(output), str(object), f"-L{runtime_folder}"]
    command += ["-lrelax_runtime", "-Wl,-rpath,$ORIGIN", "-lm", *options]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        how = f"failed with status {run.returncode}: {shlex.join(command)}"
        raise RelaxError(f"linking '{output}' {how}\n{run.stderr.strip()}".rstrip())


def _header(code: Code) -> str:
    lines = [
        "/* Functions of a compiled model, with the calling convention of TVM FFI. Made by relax-mlir. */",
        "#ifndef RELAX_MODEL_H",
        "#define RELAX_MODEL_H",
        "#include <stdint.h>",
        "struct TVMFFIAny; /* of tvm/ffi/c_api.h, or of RelaxRuntime.h's neighbour TVMFFI.h */",
        *(_ON_A_DEVICE.format(chip=code.target.chip, **_OF_DEVICES[code.device]).splitlines() if code.device else ()),
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
    ]
    entries = [(name, function) for name, function in code.functions.items() if re.fullmatch(r"\w+", name)]
    for name, function in entries:
        arguments = ", ".join(
            f"{entry['name']}: {entry['type']}{_ON_HOST if entry.get('place') else ''}"
            for entry in function["parameters"]
        )
        on_host = function.get("host_results", ())
        results = ", ".join(
            f"{type}{_ON_HOST if index in on_host else ''}" for index, type in enumerate(function["results"])
        )
        lines += [f"/* ({arguments}) -> ({results}) */", _declaration(name)]
    if code.weights:
        lines += [_OF_WEIGHTS, _declaration("bind_weight")]
    if code.device or code.weights:
        lines += ["/* Gives back code, constants and weights; so does dlclose of model.so. No call is under way. */"]
        lines += ["void relax_unload(void);"]
    lines += ["#ifdef __cplusplus", "}", "#endif", "#endif"]
    return "\n".join(lines) + "\n"


_OF_WEIGHTS = """\
/* (name, tensor), or several such pairs, which are bound together or not at all. A tensor of TVM FFI is held until
   another one is bound in its place and the last call that uses it is over; the memory of a bare DLTensor must stay as
   long. Calls that run meanwhile use what was bound when they began. */"""
_ON_HOST = " on the host"
_ON_A_DEVICE = """\
/* The functions run on a GPU ({chip}).
   Tensors, but for those on the host: DLTensors whose device is of type {type} and whose data is an address there.
   They are contiguous, and all of a call are on one device: that of the first tensor argument, or device 0 where there
   is none. relax_rt_copy of RelaxRuntime.h makes and copies tensors of TVM FFI.
{text}
   Tensors given behind the arguments, one for each result, are written likewise.
   Weights: a tensor of the host is copied to the device when it is bound, a tensor of the device is used where it is.
   All are on one device: that of the first one, or 0.
   relax_rt_capture gives a function whose calls are captured as graphs of the device. */"""
_OF_DEVICES = {
    "cuda": {
        "type": "kDLCUDA",
        "text": """\
   Other memory is the caller's, in the device's primary context.
   Stream: the one of TVMFFIEnvGetStream(type, number), which libtvm_ffi has and a program without it may define
   (`void *TVMFFIEnvGetStream(int32_t, int32_t)`); else the default stream. A call puts its work there and returns,
   so whoever reads a result waits for the stream.""",
    },
    "vulkan": {
        "type": "kDLVulkan",
        "text": """\
   The device reads and writes no other memory.
   Work is done in the order of the calls. A call hands its work over and returns; relax_rt_copy to the host waits
   for it, as does relax_rt_device_synchronize.""",
    },
}


def _declaration(name: str) -> str:
    return f"int __tvm_ffi_{name}(void *self, const struct TVMFFIAny *args, int32_t count, struct TVMFFIAny *result);"


def read_code(folder: str | os.PathLike[str]) -> Code:
    """What a folder that `export` wrote says of its code, and the code, which need not be for this machine.

    Raises:
      ModelError: something is missing or damaged, or was made by another version.
    """
    folder = Path(folder)
    path = folder / "metadata.json"
    try:
        metadata = json.loads(path.read_text())
        object = (folder / "model.o").read_bytes()
    except OSError as error:
        raise ModelError(f"'{folder}' is no exported model: {error.filename}: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise ModelError(f"'{path}' is damaged; export the model again") from None
    if not isinstance(metadata, dict) or metadata.get("version") != VERSION:
        raise ModelError(f"'{path}' is of another version of relax-mlir; export the model again")
    if metadata.pop("seal", None) != _seal_of(metadata):
        raise ModelError(f"'{path}' is damaged; export the model again")
    del metadata["version"]
    if hashlib.sha256(object).hexdigest() != metadata.pop("checksum", None):
        raise ModelError(f"'{folder / 'model.o'}' is damaged; export the model again")
    try:
        code = Code.from_json(metadata, object)
        if not isinstance(code.target.chip, str) or code.device != code.target.device:
            raise TypeError("the chip is not one of the device")
        _ = code.target.runs_here  # reads the triple
    except (TypeError, KeyError, AttributeError, ValueError):
        raise ModelError(f"'{path}' is damaged; export the model again") from None
    return code


def load_exported(folder: str | os.PathLike[str], *, mapped: bool = True) -> runtime.Executable:
    """Loads a folder that `export` wrote.

    Args:
      mapped: weights stay in the mapped file, so that processes share them and loading takes no time; if not, they
        are copied to memory that is faster to read (`relax_mlir.runtime.HugePages`).

    A model for a device has its weights there afterwards, whatever `mapped` is.

    Raises:
      ModelError: something is missing or damaged, or was made for another machine; WeightError is one.
      DeviceError: the model is for a device, and there is none here that can run it.
    """
    folder = Path(folder)
    code = read_code(folder)
    if not code.target.runs_here:
        raise ModelError(f"'{folder}' was compiled for {code.target.triple}, this machine is {Target.host().triple}")
    if code.device:
        _check_device(code, folder)
    executable = runtime.Executable(code)
    if code.weights:
        file = folder / "weights.safetensors"
        weights = map_weights(file)
        if missing := [name for name in code.weights if name not in weights]:
            raise WeightError(f"'{file}' lacks the weight '{missing[0]}'")
        try:
            executable.bind_weights({name: weights[name] for name in code.weights}, copy=not mapped)
        except (TypeError, ValueError) as error:
            raise WeightError(f"'{file}': {error}") from None
    return executable


def _check_device(code: Code, folder: Path) -> None:
    """Refuses code that no kernel of would run, before weights are read."""
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


_DTYPES = {
    "F64": "f8",
    "F32": "f4",
    "F16": "f2",
    "I64": "i8",
    "I32": "i4",
    "I16": "i2",
    "I8": "i1",
    "U64": "u8",
    "U32": "u4",
    "U16": "u2",
    "U8": "u1",
    "BOOL": "?",
}
_OTHER_DTYPES = {"BF16": "bfloat16", "F8_E4M3": "float8_e4m3fn", "F8_E5M2": "float8_e5m2"}


def map_weights(path: Path) -> dict[str, np.ndarray]:
    """The tensors of a safetensors file, as views of the mapped file.

    Raises:
      WeightError: the file cannot be read, is cut short or damaged.
    """
    try:
        with path.open("rb") as file:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        raise WeightError(f"cannot read '{path}': {getattr(error, 'strerror', None) or error}") from None
    damaged = WeightError(f"'{path}' is truncated or damaged; export the model again")
    if len(data) < 8:
        raise damaged
    (size,) = struct.unpack_from("<Q", data)
    if size > len(data) - 8:
        raise damaged
    try:
        header: dict[str, Any] = json.loads(data[8 : 8 + size])
        header.pop("__metadata__", None)
        return {name: _view(data, 8 + size, entry) for name, entry in header.items()}
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        raise damaged from None


def _view(data: mmap.mmap, start: int, entry: Mapping[str, Any]) -> np.ndarray:
    name = entry["dtype"]
    dtype = to_numpy_dtype(_OTHER_DTYPES[name]) if name in _OTHER_DTYPES else np.dtype(f"<{_DTYPES[name]}")
    count = int(np.prod(entry["shape"], dtype=object))
    begin, end = entry["data_offsets"]
    if begin < 0 or end - begin != count * dtype.itemsize:
        raise ValueError
    return np.frombuffer(data, dtype, count, start + begin).reshape(entry["shape"])

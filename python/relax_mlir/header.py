# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The C header of an exported folder, which documents how C programs call the code."""

from __future__ import annotations

import re

from .code import Code


def header_of(code: Code) -> str:
    """The text of `model.h`."""
    lines = [
        "/* Functions of a compiled model, with the calling convention of TVM FFI. Made by relax-mlir. */",
        "#ifndef RELAX_MODEL_H",
        "#define RELAX_MODEL_H",
        "#include <stdint.h>",
        "struct TVMFFIAny; /* of tvm/ffi/c_api.h, or of TVMFFI.h, which is next to RelaxRuntime.h */",
        *_LIFETIMES.splitlines(),
        *(_ON_A_DEVICE.format(chip=code.target.chip, **_OF_DEVICES[code.device]).splitlines() if code.device else ()),
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
    ]
    entries = [(name, function) for name, function in code.functions.items() if re.fullmatch(r"\w+", name, re.ASCII)]
    for name, function in entries:
        arguments = ", ".join(
            f"{escape(entry['name'])}: {escape(entry['type'])}{_ON_HOST if entry.get('place') else ''}"
            for entry in function["parameters"]
        )
        on_host = function.get("host_results", ())
        results = ", ".join(
            f"{escape(type)}{_ON_HOST if index in on_host else ''}" for index, type in enumerate(function["results"])
        )
        lines += [f"/* ({arguments}) -> ({results}) */", _declaration(name)]
    if code.weights:
        lines += [_OF_WEIGHTS, _declaration("bind_weight")]
    if code.device or code.weights:
        lines += ["/* Gives back code, constants and weights; so does dlclose of model.so. No call is under way. */"]
        lines += ["void relax_unload(void);"]
    lines += ["#ifdef __cplusplus", "}", "#endif", "#endif"]
    return "\n".join(lines) + "\n"


def escape(text: str) -> str:
    """Escapes text for a C comment, so that it can neither end the comment nor be displayed misleadingly.

    Non-printing characters, including those that change the direction of text, become \\u....
    """
    printed = "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in text)
    return printed.replace("*/", "*\\/").replace("/*", "/\\*")


_LIFETIMES = """\
/* A function returns 0, or -1 with an error raised (TVMFFIErrorSetRaised), or printed where the process has no TVM FFI.
   The first call of any of them checks that the CPU has what the code was compiled for.
   Arguments: the caller keeps them alive until the call returns. The result is the caller's: an object of TVM FFI with
   a reference, which TVMFFIObjectDecRef ends; its memory is the runtime's, so librelax_runtime.so stays loaded until
   it is gone. Tensors given behind the arguments, one for each result, are written and nothing is returned.
   Functions may be called from several threads. No call is under way when the library is closed. */"""
_OF_WEIGHTS = """\
/* (name, tensor), or several such pairs, which are bound together or not at all, and all before the first call.
   A tensor of TVM FFI is held until another one is bound in its place and the last call that uses it is over; the
   memory of a bare DLTensor must stay as long. Calls that run meanwhile use what was bound when they began. */"""
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

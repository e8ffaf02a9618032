# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels in tensor form as text, and a runner for them on NumPy arrays.

A kernel goes through relax-opt to the LLVM dialect, and through MLIR's own execution engine into
the process. Threads are simulated in order; chunks of parallel loops are counted.
"""

import ctypes
import re
from collections.abc import Sequence

import numpy as np
from conftest import relax_opt
from mlir import ir
from mlir.execution_engine import ExecutionEngine

_BODY = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
_PARALLEL_FOR = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
_libc = ctypes.CDLL(None)

MLIR_TYPES = {"float32": "f32", "float16": "f16", "float64": "f64", "int32": "i32", "int64": "i64", "int8": "i8"}


class Kernel:
    """The one kernel of `source`, named `k`, compiled with `options` of relax-cpu-bufferize."""

    def __init__(self, source: str, options: str = "", name: str = "k"):
        passes = ["--relax-convert-kernel-boundary", f"--relax-cpu-bufferize={options}"]
        loops = relax_opt(*passes, source=source.encode())
        assert loops.returncode == 0, loops.stderr.decode()
        self.loops = loops.stdout.decode()
        lowered = relax_opt("--relax-cpu-to-llvm", source=loops.stdout)
        assert lowered.returncode == 0, lowered.stderr.decode()
        self.chunks = 0
        with ir.Context():
            module = ir.Module.parse(lowered.stdout.decode())
            self._engine = ExecutionEngine(module, opt_level=2)
        self._callbacks = [_PARALLEL_FOR(self._parallel_for)]
        self._register("relax_rt_parallel_for", self._callbacks[0])
        self._register("_mlir_memref_to_llvm_alloc", _libc.malloc)
        self._register("_mlir_memref_to_llvm_free", _libc.free)
        # The packed form takes an array of pointers to the arguments.
        address = self._engine.raw_lookup(name)
        assert address, f"no kernel {name}"
        self._call = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(address)

    def _register(self, name, function):
        self._engine.raw_register_runtime(name, ctypes.cast(function, ctypes.c_void_p))

    def _parallel_for(self, body, closure, count, grain):
        run = _BODY(body)
        for first in range(0, count, grain):
            self.chunks += 1
            run(closure, first, min(first + grain, count))

    def __call__(self, *arguments: np.ndarray | int):
        """Runs the kernel on contiguous arrays and integers in its parameter order; writes the destinations."""
        values: list[ctypes._SimpleCData] = []
        for argument in arguments:
            if isinstance(argument, np.ndarray):
                assert argument.flags.c_contiguous
                pointer = argument.ctypes.data
                values += [ctypes.c_void_p(pointer), ctypes.c_void_p(pointer), ctypes.c_int64(0)]
                values += [ctypes.c_int64(size) for size in argument.shape]
                values += [ctypes.c_int64(stride // argument.itemsize) for stride in argument.strides]
            else:
                values.append(ctypes.c_int64(argument))
        packed = (ctypes.c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
        self._call(packed)


def tensor(shape: Sequence[int | str], element: str = "f32") -> str:
    """`tensor<?x4xf32>` for ("?", 4)."""
    return "tensor<" + "".join(f"{size}x" for size in shape) + element + ">"


def generic(result: str, loops: str, iterators: str, inputs, output, body: str) -> str:
    """A linalg.generic: `loops` "i, j", `iterators` "pr", operands as (value, type, map results)."""
    operands = [*inputs, output]
    maps = ", ".join(f"affine_map<({loops}) -> ({at})>" for _, _, at in operands)
    kinds = ", ".join({"p": '"parallel"', "r": '"reduction"'}[kind] for kind in iterators)
    ins = ""
    if inputs:
        values, types = ", ".join(i[0] for i in inputs), ", ".join(i[1] for i in inputs)
        ins = f"ins({values} : {types})"
    arguments = []
    for number, (_, kind, _) in enumerate(operands):
        element = kind.removesuffix(">").split("<")[1].split("x")[-1]
        name = "acc" if number == len(inputs) else "abcdefgh"[number]
        arguments.append((name, element))
    # Names in a body must not shadow outer names.
    local = [name for name, _ in arguments] + re.findall(r"^\s*%(\w+) =", body, re.MULTILINE)
    body = re.sub(r"%(\w+)", lambda match: f"%local_{match[1]}" if match[1] in local else match[0], body)
    block = ", ".join(f"%local_{name}: {element}" for name, element in arguments)
    return f"""
  {result} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}
      {ins} outs({output[0]} : {output[1]}) {{
  ^bb0({block}):
    {body}
  }} -> {output[1]}"""


def function(parameters: Sequence[tuple[str, str]], results: Sequence[str], values: Sequence[str], body: str) -> str:
    """`func.func private @k` with a body of text."""
    signature = ", ".join(f"{name}: {kind}" for name, kind in parameters)
    return f"""
func.func private @k({signature}) -> ({", ".join(results)}) {{
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %minus_infinity = arith.constant 0xFF800000 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  {body}
  return {", ".join(values)} : {", ".join(results)}
}}
"""

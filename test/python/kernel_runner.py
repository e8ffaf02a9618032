# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the output of `relax-legalize`: kernels by MLIR's execution engine, and the code around
them by a small interpreter.

Only upstream passes lower the kernels, so these tests are independent of any target's lowering.
Destinations start as garbage, which reveals elements that are not written.
"""

import ctypes
import itertools
import re
from pathlib import Path

import numpy as np
import targets
from conftest import relax_opt
from elements import DTYPES, assert_close, random
from mlir import ir
from mlir.execution_engine import ExecutionEngine
from mlir.passmanager import PassManager

import relax_mlir
from relax_mlir import _relax

__all__ = ["DTYPES", "AssertionFailed", "Interpreter", "Program", "assert_close", "legalize", "random", "single"]

# The library that copies non-contiguous memory.
RUNNER_LIBRARY = Path(ir.__file__).parent / "lib" / "libmlir_c_runner_utils.so"

# A private function whose result is its destination loses the result. A kernel that only copies
# loses its destination if it is canonicalized first.
BUFFERIZATION = """builtin.module(
  empty-tensor-to-alloc-tensor,
  one-shot-bufferize{bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map},
  canonicalize, drop-equivalent-buffer-results)"""

LOOPS = "builtin.module(buffer-deallocation-pipeline, canonicalize, func.func(convert-linalg-to-loops))"

LOWERING = """builtin.module(
  canonicalize, cse, expand-strided-metadata, lower-affine,
  convert-math-to-funcs, convert-scf-to-cf, math-expand-ops{ops=rsqrt}, convert-math-to-libm, arith-expand,
  convert-math-to-llvm, convert-arith-to-llvm, convert-cf-to-llvm, finalize-memref-to-llvm, convert-func-to-llvm,
  reconcile-unrealized-casts)"""


class AssertionFailed(Exception):
    """A `relax.assert` of the program does not hold."""


def legalize(source: str, *options: str) -> str:
    """The program after `relax-legalize`."""
    run = relax_opt("--relax-legalize", "--relax-dce", *options, source=source.encode())
    assert run.returncode == 0, run.stderr.decode()
    return run.stdout.decode()


def _widen_booleans(text: str) -> str:
    """Rewrites a program for memory in which a Boolean takes a byte."""
    count = itertools.count()

    def load(match: re.Match) -> str:
        byte = f"%byte_{next(count)}"
        return f"{byte} = {match[2]}\n{match[1]} = arith.trunci {byte} : i8 to i1"

    def store(match: re.Match) -> str:
        byte = f"%byte_{next(count)}"
        return f"{byte} = arith.extui {match[1]} : i1 to i8\nmemref.store {byte}, {match[2]}"

    text = re.sub(r"(%\S+) = (memref\.load .* : memref<(?:.*x)?i1(?:, .*)?>)", load, text)
    text = re.sub(r"memref\.store (%\S+), (.* : memref<(?:.*x)?i1(?:, .*)?>)", store, text)
    return re.sub(r"memref<((?:[^<>]*x)?)i1\b", r"memref<\1i8", text)


class Interpreter:
    """A runnable program: `program("main", x, y)` returns the results as NumPy arrays."""

    def __init__(self, source: str) -> None:
        self.text = legalize(source)
        self.module = relax_mlir.parse(self.text)
        self.engine = self._compile()
        self.calls: list[str] = []

    def _compile(self) -> ExecutionEngine:
        kernels = [op for op in self.module.ir.body.operations if op.operation.name == "func.func"]
        text = "\n".join(kernel.operation.get_asm(use_local_scope=True) for kernel in kernels)
        text = re.sub(r"\{relax\.(shape = #relax\.shape<[^>]*>|symbol = \"\w*\")\}", "", text)
        text = re.sub(r" attributes \{relax\.computed_sizes = \[.*?\]\}(?= \{$)", "", text, flags=re.MULTILINE)
        with self.module.context:
            module = ir.Module.parse(text)
            PassManager.parse(BUFFERIZATION).run(module.operation)
            for function in module.body.operations:
                del function.attributes["sym_visibility"]
                function.attributes["llvm.emit_c_interface"] = ir.UnitAttr.get()
            PassManager.parse(LOOPS).run(module.operation)
            module = ir.Module.parse(_widen_booleans(str(module)))
            PassManager.parse(LOWERING).run(module.operation)
            return ExecutionEngine(module, opt_level=1, shared_libs=[str(RUNNER_LIBRARY)])

    def __call__(self, name: str, *arguments: object) -> list[np.ndarray]:
        return _Frame(self).run(self.module[name], arguments)


class Program:
    """A runnable program on the current target, whose failed checks are an `AssertionFailed`, too."""

    def __init__(self, source: str) -> None:
        self._call = targets.load(source)

    def __call__(self, name: str, *arguments: object) -> list[np.ndarray]:
        try:
            return self._call(name, *arguments)
        except ValueError as error:
            raise AssertionFailed(str(error)) from error


class _Frame:
    """A call of one graph function."""

    def __init__(self, program: Interpreter) -> None:
        self.program = program
        self.symbols: dict[str, int] = {}
        self.values: dict[ir.Value, object] = {}

    def run(self, function: ir.Operation, arguments: tuple) -> list[np.ndarray]:
        block = function.regions[0].blocks[0]
        attributes = function.attributes["arg_attrs"] if "arg_attrs" in function.attributes else None
        for index, (parameter, argument) in enumerate(zip(block.arguments, arguments, strict=True)):
            self.values[parameter] = argument
            if attributes and "relax.symbol" in attributes[index]:
                self.symbols[attributes[index]["relax.symbol"].value] = argument
            self.bind(parameter.type, argument)
        return self.execute(block)

    def execute(self, block: ir.Block) -> list:
        for view in block.operations:
            op = view.operation
            operands = [self.values[operand] for operand in op.operands]
            if op.name in ("relax.return", "relax.output", "relax.yield"):
                return operands
            handler = getattr(self, op.name.replace(".", "_"))
            results = handler(op, *operands)
            for result, value in zip(op.results, results, strict=True):
                self.values[result] = value
        raise AssertionError("a block without an end")

    # Symbols and shapes.

    def evaluate(self, expr: object) -> int:
        names = _relax.expr_symbols(expr)
        value = _relax.expr_evaluate(expr, names, [self.symbols[name] for name in names])
        if value is None:
            raise AssertionFailed(f"{expr} is undefined for {self.symbols}")
        return value

    def dims(self, type_: ir.Type) -> list:
        return _relax.tensor_type_dims(type_, ir.RankedTensorType(type_).rank)

    def shape(self, type_: ir.Type) -> tuple[int, ...]:
        return tuple(self.evaluate(dim) for dim in self.dims(type_))

    def bind(self, type_: ir.Type, value: object) -> None:
        if isinstance(value, np.ndarray) and isinstance(type_, ir.RankedTensorType):
            for dim, size in zip(self.dims(type_), value.shape, strict=True):
                if dim is not None and len(_relax.expr_symbols(dim)) == 1 and str(dim) == _relax.expr_symbols(dim)[0]:
                    self.symbols.setdefault(str(dim), size)

    # Ops.

    def relax_call_tir(self, op: ir.Operation, *operands: np.ndarray) -> list[np.ndarray]:
        results = []
        for result in op.results:
            type_ = ir.RankedTensorType(result.type)
            array = np.empty(self.shape(result.type), DTYPES[str(type_.element_type)])
            array.view(np.uint8 if array.ndim else array.dtype)[...] = 1  # garbage that kernels must not rely on
            results.append(array)
        kernel = op.attributes["callee"].value
        self.program.calls.append(kernel)
        arguments = [_pointer(np.ascontiguousarray(operand)) for operand in operands]
        arguments += [_pointer(result) for result in results]
        for expr in op.attributes["sym_args"] if "sym_args" in op.attributes else []:
            arguments.append(ctypes.pointer(ctypes.c_int64(self.evaluate(expr))))
        self.program.engine.invoke(kernel, *arguments)
        return results

    def relax_constant(self, op: ir.Operation) -> list[np.ndarray]:
        type_ = ir.RankedTensorType(op.results[0].type)
        dtype = DTYPES[str(type_.element_type)]
        elements = op.attributes["value"]
        if elements.is_splat:
            return [np.full(type_.shape, elements.get_splat_value().value, dtype)]
        return [np.array([element for element in elements]).reshape(type_.shape).astype(dtype)]

    def relax_reshape(self, op: ir.Operation, x: np.ndarray) -> list[np.ndarray]:
        return [x.reshape(self.shape(op.results[0].type))]

    def relax_match_cast(self, op: ir.Operation, x: object) -> list:
        self.bind(op.results[0].type, x)
        return [x]

    def relax_sym(self, op: ir.Operation) -> list[int]:
        return [self.evaluate(op.attributes["expr"])]

    def relax_shape(self, op: ir.Operation) -> list[None]:
        return [None]

    relax_shape_of = relax_shape_to_tensor = relax_make_shape = lambda self, op, *_: [None]

    def relax_dataflow(self, op: ir.Operation) -> list:
        return self.execute(op.regions[0].blocks[0])

    def arith_cmpi(self, op: ir.Operation, lhs: int, rhs: int) -> list[bool]:
        compare = {0: lhs == rhs, 1: lhs != rhs, 2: lhs < rhs, 3: lhs <= rhs, 4: lhs > rhs, 5: lhs >= rhs}
        return [compare[ir.IntegerAttr(op.attributes["predicate"]).value]]

    def arith_ori(self, op: ir.Operation, lhs: bool, rhs: bool) -> list[bool]:
        return [lhs or rhs]

    def relax_assert(self, op: ir.Operation, condition: object, *shown: int) -> list:
        if not condition:
            message = op.attributes["message"].value
            for index, value in enumerate(shown):
                message = message.replace(f"%{index}", str(value))
            raise AssertionFailed(message)
        return []


def _pointer(array: np.ndarray) -> object:
    """A pointer to a pointer to the memref descriptor of an array."""
    rank = array.ndim
    strides = [stride // array.itemsize for stride in array.strides]
    descriptor = (ctypes.c_int64 * (3 + 2 * rank))(array.ctypes.data, array.ctypes.data, 0, *array.shape, *strides)
    pointer = ctypes.pointer(ctypes.cast(descriptor, ctypes.c_void_p))
    pointer.keep = (array, descriptor)
    return pointer


def tensor_type(dims: tuple, dtype: str) -> str:
    """The text of a tensor type; a dimension is a number or an expression."""
    sizes = "".join(f"{dim if isinstance(dim, int) else '?'}x" for dim in dims)
    if all(isinstance(dim, int) for dim in dims):
        return f"tensor<{sizes}{dtype}>"
    return f"tensor<{sizes}{dtype}, #relax.shape<[{', '.join(map(str, dims))}]>>"


def single(op: str, operands: list[tuple], *results: tuple, symbols: str = "") -> Program:
    """A program of one op: `single("softmax %0 axis 1", [("n", 4, "f32")], ("n", 4, "f32"))`.

    A symbol that is not a plain dimension of an operand is a parameter before the operands.
    """
    inputs = [tensor_type(dims[:-1], dims[-1]) for dims in operands]
    outputs = [tensor_type(dims[:-1], dims[-1]) for dims in results]
    plain = {dim for dims in operands for dim in dims[:-1]}
    words = {word for dims in operands for dim in dims[:-1] for word in re.findall(r"[a-z]\w*", str(dim))}
    missing = sorted(words - plain - {"min", "max", "floordiv", "ceildiv", "mod", "broadcast"})
    parameters = [f'%{name}: index {{relax.symbol = "{name}"}}' for name in missing]
    parameters += [f"%{index}: {type_}" for index, type_ in enumerate(inputs)]
    names = ", ".join(f"%r{index}" for index in range(len(outputs)))
    result = f"({', '.join(outputs)})"
    attributes = f"attributes {{relax.symbols = {{{symbols}}}}}" if symbols else ""
    return Program(f"""
        relax.func @main({", ".join(parameters)}) -> {result} {attributes} {{
          {names} = relax.{op} : ({", ".join(inputs)}) -> {result}
          relax.return {names} : {", ".join(outputs)}
        }}""")

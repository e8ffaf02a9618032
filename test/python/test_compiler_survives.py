# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Unsupported programs are errors that name the reason; none of them ends the process."""

import numpy as np
import pytest
from mlir import ir

import relax_mlir
from relax_mlir import BlockBuilder, RelaxError, Sym, Tensor, op
from relax_mlir.pipelines import LowerToHost, Pipeline, cpu

TARGETS = ["cpu", "cuda:sm_90", "vulkan:subgroup_8"]
HELD = ["i1", "i8", "i16", "i32", "i64", "ui8", "ui64", "si8", "f16", "bf16", "f32", "f64", "f8E4M3FN", "f8E5M2"]
NOT_HELD = ["i2", "i3", "i4", "i7", "i24", "i128", "ui4", "f80", "f128", "tf32", "f4E2M1FN", "f6E2M3FN", "f8E4M3"]


def compiled(source, target="cpu"):
    return relax_mlir.compile_code(relax_mlir.parse(source), target, cached=False)


def program(body, element):
    x, y = f"tensor<4x{element}>", f"tensor<2x2x{element}>"
    bodies = {
        "kernel": f"%0 = relax.concat %x, %x axis 0 : ({x}, {x}) -> tensor<8x{element}>\n"
        f"relax.return %0 : tensor<8x{element}>",
        "view": f"%0 = relax.reshape %x to [2, 2] : ({x}) -> {y}\nrelax.return %0 : {y}",
        "nothing": f"relax.return %x : {x}",
    }
    result = {"kernel": f"tensor<8x{element}>", "view": y, "nothing": x}[body]
    return f"relax.func @main(%x: {x}) -> {result} {{\n{bodies[body]}\n}}"


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("element", NOT_HELD)
@pytest.mark.parametrize("body", ["kernel", "view", "nothing"])
def test_elements_without_code(target, element, body):
    with pytest.raises(RelaxError, match=f"there is no code for elements of type '{element}'"):
        compiled(program(body, element), target)


@pytest.mark.parametrize("element", HELD)
def test_elements_with_code(element):
    for target in TARGETS:
        compiled(program("kernel", element), target)


@pytest.mark.parametrize(
    "source, message",
    [
        (
            r'relax.func @"a\00b"(%x: tensor<4xf32>) -> tensor<4xf32> { relax.return %x : tensor<4xf32> }',
            "contains a NUL",
        ),
        (r'relax.func @""(%x: tensor<4xf32>) -> tensor<4xf32> { relax.return %x : tensor<4xf32> }', "is empty"),
        (
            "relax.func @main(%x: !relax.storage, %y: tensor<4xf32>) -> tensor<4xf32> "
            "{ relax.return %y : tensor<4xf32> }",
            r"parameter 0 is of type '!relax.storage', and a storage lives within one call",
        ),
        (
            "relax.func @main(%x: tuple<tensor<4xf32>, !relax.storage>) -> tuple<tensor<4xf32>, !relax.storage> "
            "{ relax.return %x : tuple<tensor<4xf32>, !relax.storage> }",
            r"parameter 0 is of type 'tuple<tensor<4xf32>, !relax.storage>', and a storage lives within one call",
        ),
    ],
)
def test_functions_without_symbols(source, message):
    with pytest.raises(RelaxError, match=message):
        compiled(source)


def exponential():
    bb, n = BlockBuilder(), Sym("n")
    x = Tensor((n, 4), "f32", name="x")
    with bb.function("main", [x]):
        bb.return_(op.exp(x))
    return bb.module()


def test_modules_that_are_lowered():
    module = exponential()
    cpu.lower_for_cpu(256).run(module)
    for again in (cpu.default_pipeline(), cpu.lower_for_cpu(256)):
        with pytest.raises(RelaxError, match="the module was lowered before; compile the program as it was before"):
            again.run(module)
    with pytest.raises(RelaxError, match="the module was lowered before"):
        relax_mlir.compile(module, cached=False)


# Both sizes, the function once, and the line of the program with a marker under it.
@pytest.mark.parametrize(
    "build, shapes, sizes, message",
    [
        (
            lambda x, y: op.concat([x, y], 0),
            [("n", 12), ("n", None)],
            [(2, 12), (2, 11)],
            r"main: concat: joined tensors must agree in dimension 1: \w+ = 11, expected 12",
        ),
        (
            lambda x, y: op.concat([x, y], 0),
            [("n", "m"), ("n", None)],
            [(2, 12), (2, 11)],
            r"main: concat: joined tensors must agree in dimension 1: (\w+ = 12, \w+ = 11|\w+ = 11, \w+ = 12)\n",
        ),
        (
            op.matmul,
            [("n", 12), (None, 4)],
            [(2, 12), (11, 4)],
            r"main: matmul: sizes must be equal: \w+ and 12: \w+ = 11, expected 12",
        ),
        (
            lambda x: op.reshape(x, (Sym("n"), 3)),
            [("n", "m")],
            [(2, 12)],
            r"main: reshape: reshape must keep the number of elements: m\*n = 24, 3\*n = 6",
        ),
    ],
)
def test_sizes_that_differ(build, shapes, sizes, message):
    bb = BlockBuilder()
    shapes = [tuple(Sym(dim) if isinstance(dim, str) else dim for dim in shape) for shape in shapes]
    tensors = [Tensor(shape, "f32", name=f"x{index}") for index, shape in enumerate(shapes)]
    with bb.function("main", tensors):
        bb.return_(build(*tensors))
    main = relax_mlir.compile(bb.module())["main"]
    with pytest.raises(ValueError, match=rf"^{message}") as error:
        main(*(np.ones(size, np.float32) for size in sizes))
    lines = str(error.value).split("\n")
    assert lines[1].startswith(f"  at {__file__}:") and lines[2].strip() and lines[3].strip() == "^"


# A program in a context that allows unregistered ops.
def test_ops_that_are_not_registered():
    context = relax_mlir.parse("module {}").context
    source = """relax.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = "some.op"(%x) : (tensor<4xf32>) -> tensor<4xf32>
      relax.return %0 : tensor<4xf32>
    }"""
    context.allow_unregistered_dialects = True
    try:
        module = relax_mlir.Module(ir.Module.parse(source, context))
        with pytest.raises(RelaxError, match="'some.op' op cannot be lowered to host code"):
            Pipeline([LowerToHost()]).run(module)
    finally:
        context.allow_unregistered_dialects = False

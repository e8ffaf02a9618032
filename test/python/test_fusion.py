# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs of kernel calls compute bitwise the same before and after fusion.

The samples are always the same. With RELAX_FUZZ_SECONDS (make fuzz), the test continues with other seeds.
"""

import math
import os
import random
import re
import time

import numpy as np
import pytest
from kernel_machine import Kernel
from mlir import ir

from relax_mlir import BlockBuilder, Sym, Tensor, op, parse
from relax_mlir.pipelines import AnnotateKernelPatterns, FuseOps, FuseTIR, Legalize, Pipeline

SECONDS = float(os.environ.get("RELAX_FUZZ_SECONDS", 0))
SAMPLES = 60

SHAPES = {"V": "n", "H": "2*n", "M": "n, 4", "T": "4, n", "W": "4, 4", "Q": "4, 4", "R": "4"}
PLACES = {"i": "(i)", "ij": "(i, j)", "ji": "(j, i)", "j": "(j)", "-": "()"}


def kernel_type(kind, symbol="a"):
    """The type of a parameter, and its shape annotation."""
    dims = SHAPES[kind].replace("n", symbol)
    sizes = "".join("4x" if dim == "4" else "?x" for dim in dims.split(", "))
    type = f"tensor<{sizes}{'i8' if kind == 'Q' else 'f32'}>"
    return type, f" {{relax.shape = #relax.shape<[{dims}]>}}" if "?" in type else ""


def graph_type(kind):
    type, shape = kernel_type(kind, "n")
    return f"{type[:-1]}, #relax.shape<[{SHAPES[kind]}]>>" if shape else type


class KernelText:
    """One loop nest, written `ij <- ij, j`: the indices of its writes and reads."""

    def __init__(self, inputs, output, places, body, reductions="", fill=None, integer=False, then=""):
        self.inputs, self.output, self.places, self.body = inputs, output, places, body
        self.reductions, self.fill, self.integer, self.then = reductions, fill, integer, then

    def text(self, name):
        write, reads = self.places.split(" <- ") if " <- " in self.places else (self.places, "")
        reads = reads.split(", ") if reads else []
        loops = "ij" if any("j" in place for place in [write, *reads]) else "i"
        # A tensor that the body looks up is not an operand of the nest.
        looked_up = self.inputs[len(reads) :]
        out, shape = kernel_type(self.output)
        parameters = [f"%x{k}: {''.join(kernel_type(kind))}" for k, kind in enumerate(self.inputs)]
        parameters.append(f"%d: {out}{shape}")
        if self.integer:
            parameters.append('%s: index {relax.symbol = "s"}')
        maps = ", ".join(f"affine_map<({', '.join(loops)}) -> {PLACES[place]}>" for place in [*reads, write])
        kinds = ", ".join('"reduction"' if loop in self.reductions else '"parallel"' for loop in loops)
        types = ", ".join(kernel_type(kind)[0] for kind in self.inputs[: len(reads)])
        ins = f"ins({', '.join(f'%x{k}' for k in range(len(reads)))} : {types}) " if reads else ""
        arguments = ", ".join(
            [f"%e{k}: {'i8' if kind == 'Q' else 'f32'}" for k, kind in enumerate(self.inputs[: len(reads)])]
            + ["%o: f32"]
        )
        lines = [f"func.func private @{name}({', '.join(parameters)}) -> ({out}{shape}) {{"]
        init = "%d"
        if self.fill is not None:
            lines += [f"%c = arith.constant {self.fill} : f32"]
            lines += [f"%init = linalg.fill ins(%c : f32) outs(%d : {out}) -> {out}"]
            init = "%init"
        if looked_up:
            lines += ["%zero = arith.constant 0 : index", f"%size = tensor.dim %x0, %zero : {kernel_type('V')[0]}"]
        nest = f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}"
        lines += [f"%r = {nest} {ins}outs({init} : {out}) {{", f"^bb0({arguments}):", self.body]
        lines += ["linalg.yield %y : f32", f"}} -> {out}"]
        result = "%r"
        if self.then:
            update = 'linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}'
            lines += [f"%q = {update} outs(%r : {out}) {{", "^bb0(%o: f32):", self.then, "linalg.yield %y : f32"]
            lines += [f"}} -> {out}"]
            result = "%q"
        return "\n".join([*lines, f"return {result} : {out}", "}"])


NEGATE = "%y = arith.negf %e0 : f32"
TANH = "%y = math.tanh %e0 : f32"
ADD = "%y = arith.addf %e0, %e1 : f32"
MULTIPLY = "%y = arith.mulf %e0, %e1 : f32"
COPY = "%k = arith.constant 0.0 : f32\n%y = arith.addf %e0, %k : f32"
SUM = "%y = arith.addf %o, %e0 : f32"
HALVE = "%k = arith.constant 0.5 : f32\n%y = arith.mulf %o, %k : f32"
SHIFT = "%k = arith.index_cast %s : index to i64\n%f = arith.sitofp %k : i64 to f32\n%y = arith.addf %e0, %f : f32"
INDEX = "%k = linalg.index 0 : index\n%l = arith.index_cast %k : index to i64\n%y = arith.sitofp %l : i64 to f32"
LOOK_UP = """%k = linalg.index 0 : index
%l = linalg.index 1 : index
%p = arith.addi %k, %l : index
%t = arith.remsi %p, %size : index
%y = tensor.extract %x0[%t] : tensor<?xf32>"""

KERNELS = {
    "negate_v": KernelText("V", "V", "i <- i", NEGATE),
    "tanh_v": KernelText("V", "V", "i <- i", TANH),
    "add_v": KernelText("VV", "V", "i <- i, i", ADD),
    "shift_v": KernelText("V", "V", "i <- i", SHIFT, integer=True),
    "iota": KernelText("", "V", "i", INDEX),
    "tanh_h": KernelText("H", "H", "i <- i", TANH),
    "shift_h": KernelText("H", "H", "i <- i", SHIFT, integer=True),
    "tanh_m": KernelText("M", "M", "ij <- ij", TANH),
    "multiply_m": KernelText("MM", "M", "ij <- ij, ij", MULTIPLY),
    "bias": KernelText("MR", "M", "ij <- ij, j", ADD),
    "column": KernelText("MV", "M", "ij <- ij, i", ADD),
    "outer": KernelText("VR", "M", "ij <- i, j", MULTIPLY),
    "transpose": KernelText("M", "T", "ij <- ji", COPY),
    "back": KernelText("T", "M", "ij <- ji", COPY),
    "look_up": KernelText("V", "M", "ij", LOOK_UP),
    "sum": KernelText("M", "V", "i <- ij", SUM, reductions="j", fill=0.0),
    "mean": KernelText("M", "V", "i <- ij", SUM, reductions="j", fill=0.0, then=HALVE),
    "decode": KernelText("Q", "W", "ij <- ij", "%y = arith.sitofp %e0 : i8 to f32"),
    "scale": KernelText("WR", "W", "ij <- ij, j", MULTIPLY),
    "tanh_r": KernelText("R", "R", "i <- i", TANH),
}
MATMUL = """
func.func private @matmul(%x: tensor<?x4xf32> {relax.shape = #relax.shape<[a, 4]>}, %w: tensor<4x4xf32>,
    %d: tensor<?x4xf32> {relax.shape = #relax.shape<[a, 4]>})
    -> (tensor<?x4xf32> {relax.shape = #relax.shape<[a, 4]>}) {
  %c = arith.constant 0.0 : f32
  %0 = linalg.fill ins(%c : f32) outs(%d : tensor<?x4xf32>) -> tensor<?x4xf32>
  %1 = linalg.matmul ins(%x, %w : tensor<?x4xf32>, tensor<4x4xf32>) outs(%0 : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
}
"""
KINDS = {**{name: (kernel.inputs, kernel.output) for name, kernel in KERNELS.items()}, "matmul": ("MW", "M")}


def random_program(seed):
    """A function that takes one tensor of each kind."""
    chance = random.Random(seed)
    values = {kind: [f"%{kind}"] for kind in SHAPES}
    lines = []
    for index in range(chance.randint(3, 20)):
        name = chance.choice(sorted(KINDS))
        inputs, output = KINDS[name]
        operands = ", ".join(chance.choice(values[kind] + values[kind][-2:]) for kind in inputs)
        sym = f" sym [{chance.choice(['n', '3*n + 1'])}]" if name.startswith("shift") else ""
        types = ", ".join(graph_type(kind) for kind in inputs)
        lines.append(f"%{index} = relax.call_tir @{name}({operands}){sym} : ({types}) -> {graph_type(output)}")
        values[output].append(f"%{index}")
    results = [(values[kind][-1], graph_type(kind)) for kind in SHAPES if len(values[kind]) > 1]
    parameters = ", ".join(f"%{kind}: {graph_type(kind)}" for kind in SHAPES)
    types = ", ".join(type for _, type in results)
    lines.append(f"relax.return {', '.join(value for value, _ in results)} : {types}")
    kernels = "\n".join(kernel.text(name) for name, kernel in KERNELS.items())
    body = "\n".join(lines)
    return f"relax.func @main({parameters}) -> ({types}) {{\n{body}\n}}\n{kernels}\n{MATMUL}"


def shape_of(type, symbols):
    """The sizes of a tensor of the graph."""
    encoded = re.search(r"#relax.shape<\[(.*)\]>", str(type))
    dims = encoded.group(1).split(",") if encoded else re.findall(r"(\d+)x", str(type))
    return [Sym.parse(dim.strip()).evaluate(symbols) for dim in dims]


def run(module, arguments, symbols):
    with module.context:
        functions = {ir.StringAttr(op.attributes["sym_name"]).value: op.operation for op in module.ir.body.operations}
        block = functions["main"].regions[0].blocks[0]
        values = dict(zip(block.arguments, arguments))
        calls = 0
        for op in block.operations:
            operation = op.operation
            operands = [values[operand] for operand in operation.operands]
            if operation.name == "relax.return":
                return operands, calls
            assert operation.name == "relax.call_tir", operation.name
            calls += 1
            kernel = Kernel(functions[ir.FlatSymbolRefAttr(operation.attributes["callee"]).value])
            integers = [Sym(expr).evaluate(symbols) for expr in operation.attributes["sym_args"]]
            destinations = [np.full(shape_of(result.type, symbols), math.nan) for result in operation.results]
            values.update(zip(operation.results, kernel(operands, destinations, integers)))


def check(seed):
    symbols = {"n": 3}
    chance = np.random.default_rng(seed)
    arguments = [
        chance.integers(-8, 8, shape_of(graph_type(kind), symbols))
        if kind == "Q"
        else chance.standard_normal(shape_of(graph_type(kind), symbols))
        for kind in SHAPES
    ]
    text = random_program(seed)
    expected, before = run(parse(text), arguments, symbols)
    module = parse(text)
    Pipeline([AnnotateKernelPatterns(), FuseOps(), FuseTIR()]).run(module)
    computed, after = run(module, arguments, symbols)
    for want, have in zip(expected, computed):
        np.testing.assert_array_equal(have, want, err_msg=f"seed {seed}\n{module}")
    return before, after


def test_fused_programs_compute_the_same():
    end, seed, before, after = time.monotonic() + SECONDS, 0, 0, 0
    while seed < SAMPLES or time.monotonic() < end:
        unfused, fused = check(seed)
        before, after, seed = before + unfused, after + fused, seed + 1
    assert after < 0.9 * before, "hardly anything is fused"


@pytest.mark.parametrize("other", ["same", "transposed"])
def test_values_that_are_read_twice_are_not_copied_again_and_again(other):
    """If each step of a chain reads the last one twice, the size of the fused kernels is linear in the steps."""
    steps = 20
    bb, x = BlockBuilder(), Tensor((Sym("n"), Sym("n")), "f32")
    with bb.function("main", [x]):
        value = x
        for step in range(steps):
            read = value if other == "same" else op.permute_dims(value, [1, 0])
            value = op.add(op.multiply(value, read), op.constant(np.float32(step)))
        bb.return_(value)
    module = bb.module()
    Pipeline([Legalize(), AnnotateKernelPatterns(), FuseOps(), FuseTIR()]).run(module)
    text = str(module)
    assert text.count("relax.call_tir") < (2 if other == "same" else steps)
    assert text.count("arith.mulf") <= (1 if other == "same" else 4) * steps + 1

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A typed program of most of the public API: `mypy --strict` (test_typing.py) and strict pyright report nothing."""

from __future__ import annotations

import numpy as np

import relax_mlir
from relax_mlir import BlockBuilder, Device, Executable, Module, Range, Sym, Target, Tensor, Value, compile, nn, op
from relax_mlir.pipelines import CSE, Canonicalize, DeduceShapes, Pass, Pipeline, cpu


def scaled(x: Value, factor: float) -> Value:
    """Operators, NumPy arrays and numbers as operands."""
    rows, columns = x.shape
    y: Value = op.softmax(x * factor + np.ones(4, np.float32), axis=-1)
    z = op.reshape(op.where(op.greater(y, 0.5), y, 1 - y), (rows * columns,))
    return op.reshape(-z[::2], (rows, -1))


class Mlp(nn.Module):
    def __init__(self, features: int, hidden: int) -> None:
        self.up = nn.Linear(features, hidden)
        self.down = nn.Linear(hidden, features, bias=True)

    def forward(self, x: Value) -> Value:
        hidden: Value = self.down(op.relu(self.up(x)))
        return hidden


def count_functions(module: Module) -> None:
    print(len(module.functions), module.to_text(locations=True))


def build() -> Module:
    bb, n = BlockBuilder(), Sym("n")
    x = Tensor((n, 4), "f32", name="x")
    w = Tensor([4, "m"], np.float16)
    with bb.function("main", [x, w], symbols={n: Range(1, 2048), Sym("m"): Range(1, 8)}) as function:
        with bb.dataflow():
            product = bb.emit(op.matmul(x, op.astype(w, "f32")))
            values, indices = bb.emit(op.topk(product, 1, axis=0))
            mean, variance = bb.emit((op.mean(product), op.variance(product, [0], keepdims=True)))
            normalized, new_mean, new_variance = op.batch_norm(x, mean, mean, mean, variance, axis=1)
            out = bb.emit_output(op.concat([product, product], axis=1))
        with bb.if_(op.full((), True, "bool")) as branch:
            with branch.then:
                bb.yield_(out)
            with branch.else_:
                bb.yield_(out + 1)
        with bb.while_([x]) as loop:
            with loop.condition as (carried,):
                bb.yield_(op.any(op.less(carried, 1.0)))
            with loop.body as (carried,):
                bb.yield_(op.exp(carried))
        first, *rest = op.split(branch.result, 2)
        result: Value = op.call_tir("kernel", [first], Tensor((n, 4), "f32"))
        bb.return_(loop.result, result)
    print(function.name, function.params[0].dtype, 2 * n + 1, n.symbols)
    print(values, indices, normalized, new_mean, new_variance, rest)
    return bb.module()


def run(module: Module, target: Target | str | None = None) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    pipeline = Pipeline([DeduceShapes(), count_functions, Canonicalize(max_iterations=3), CSE(), Pass("symbol-dce")])
    report = (pipeline + cpu.default_pipeline()).run(module, timing=True)
    print(report.seconds, sum(timing.seconds for timing in report.timings))
    executable: Executable = compile(module, target=target, weights={"w": np.ones(4)})
    y = executable["main"](np.ones((3, 4), np.float32))
    executable.export("folder")
    again = relax_mlir.load_exported("folder")
    device = Device("cuda", 0)
    put = device.get(device.put(again["main"](y)))
    print(put.shape)
    result: np.ndarray[tuple[int, ...], np.dtype[np.float32]] = np.asarray(y, np.float32)
    return result


def main() -> None:
    n = Sym("n")
    module = nn.export(Mlp(4, 8), {"forward": [Tensor((n, 4))]}, symbols={n: Range(1, 16)})
    module.save("module.mlir")
    run(relax_mlir.load("module.mlir"))
    run(relax_mlir.parse(str(build())))
    facts = relax_mlir.Facts({n: Range(1, 16)})
    smaller: bool | None = facts.less(n, 17)
    print(smaller, relax_mlir.ceildiv(n, 4).evaluate({"n": 3}))

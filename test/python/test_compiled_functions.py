# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled functions as Python callables: names of arguments, signatures, and what people see of them."""

import inspect

import numpy as np
import pytest

from relax_mlir import BlockBuilder, Range, Shape, Sym, Tensor, compile, nn, op
from relax_mlir.execution.function import CompiledFunction

n = Sym("n")


@pytest.fixture(scope="module")
def executable():
    bb = BlockBuilder()
    x, y, m = Tensor((n, 4), name="x"), Tensor((n, 4), name="y"), Sym("m")
    symbols = {n: Range(1, 2048), m: Range(0, multiple_of=8)}
    with bb.function("main", [x, y, m], symbols=symbols):
        bb.return_(x - y, op.zeros((m,), "i32"))
    x = Tensor((n, 4), name="x")
    with bb.function("single", [x]):
        bb.return_(op.sum(x, axis=1))
    return compile(bb.module())


def test_arguments_by_name(executable):
    main = executable["main"]
    x, y = np.ones((3, 4), np.float32), np.full((3, 4), 3, np.float32)
    for results in (main(x, y, 8), main(x, y, m=8), main(x, m=8, y=y), main(m=8, y=y, x=x)):
        assert (results[0] == -2).all() and results[1].shape == (8,)
    out = np.empty((3,), np.float32)
    assert executable["single"](x, out) is None and (out == 4).all()


@pytest.mark.parametrize(
    "args, kwargs, message",
    [
        ((), {"x": 1, "z": 2}, "main: no parameter is named 'z'; the parameters are 'x', 'y', 'm'"),
        ((1,), {"x": 1}, "main: argument 0 'x' is passed twice"),
        ((1,), {"m": 1}, "main: argument 1 'y' is missing"),
        (
            (1, 2, 3, 4),
            {"m": 1},
            "main: 4 arguments by position and 1 by name; expected 3, and destinations",
        ),
    ],
)
def test_wrong_names(executable, args, kwargs, message):
    with pytest.raises(TypeError) as caught:
        executable["main"](*args, **kwargs)
    assert message in str(caught.value)


def test_signature(executable):
    signature = inspect.signature(executable["main"])
    assert list(signature.parameters) == ["x", "y", "m", "destinations"]
    assert signature.parameters["x"].annotation == Tensor((n, 4)) and signature.parameters["m"].annotation is int
    assert signature.return_annotation == (Tensor((n, 4)), Tensor((Sym("m"),), "i32"))
    assert inspect.signature(executable["single"]).return_annotation == Tensor((n,))
    assert signature.bind(1, 2, m=3).arguments == {"x": 1, "y": 2, "m": 3}
    assert list(inspect.signature(CompiledFunction).parameters) == ["name", "description", "call"]
    assert executable["main"].__name__ == "main"


def test_representations(executable):
    main = "<compiled function main(x: f32[n, 4], y: f32[n, 4], m: int) -> (f32[n, 4], i32[m]) for "
    bounds = ["1 <= n <= 2048", "0 <= m, a multiple of 8"]
    assert repr(executable["main"]) in (f"{main}{', '.join(bounds)}>", f"{main}{', '.join(bounds[::-1])}>")
    assert repr(executable["single"]) == "<compiled function single(x: f32[n, 4]) -> f32[n]>"
    shown = repr(executable).splitlines()
    assert shown[0] == f"<executable for {executable.code.target.triple}" and len(shown) == 3
    page = executable._repr_html_()
    assert page.count("<table>") == 2 and "<th>x</th><td>f32[n, 4]</td>" in page and "1 &lt;= n" in page


def describe(*parameters, results=("tensor<4xf32>",)):
    entries = [{"name": name, "type": type_} for name, type_ in parameters]
    return {"parameters": entries, "results": list(results), "symbols": {}}


# Names that Python cannot have, or that occur twice, have a number in the signature.
def test_names_that_python_cannot_have():
    parameters = [(name, "tensor<*xf16>") for name in ("input.1", "class", "x", "x")]
    function = CompiledFunction(
        "f", describe(*parameters, ("s", "!relax.shape<[n, 4]>"), ("e", "no type")), lambda *a: a
    )
    assert list(inspect.signature(function).parameters)[:5] == ["arg0", "arg1", "arg2", "arg3", "s"]
    assert function(1, 2, arg2=3, arg3=4, s=5, e=6) == (1, 2, 3, 4, 5, 6)
    assert function(arg1=2, arg2=3, arg3=4, s=5, e=6, **{"input.1": 1}) == (1, 2, 3, 4, 5, 6)
    with pytest.raises(TypeError, match="no parameter is named 'x'"):
        function(1, 2, x=3)
    assert "arg0: f16[...]" in repr(function) and "e: no type" in repr(function)
    assert inspect.signature(function).parameters["s"].annotation == Shape((n, 4))
    # The name that is made up may be that of another parameter.
    function = CompiledFunction("f", describe(("arg1", "tensor<f32>"), ("x.y", "tensor<f32>")), lambda *a: a)
    assert list(inspect.signature(function).parameters)[:2] == ["arg1", "arg1_"]
    assert function(arg1=1, arg1_=2) == (1, 2)


def test_names_of_models():
    class Pair(nn.Module):
        def forward(self, query, key):
            return query - key

    forward = compile(nn.export(Pair(), {"forward": [Tensor((n,)), Tensor((n,))]}))["forward"]
    assert forward(key=np.ones(2, np.float32), query=np.zeros(2, np.float32)).tolist() == [-1, -1]

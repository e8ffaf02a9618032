# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules: the names of their parameters, and the programs that they build."""

import pytest

from relax_mlir import Range, RelaxError, Sym, Tensor, nn, op, parse

n = Sym("n")

KERNEL = """
func.func private @twice(%x: tensor<?xf32> {relax.shape = #relax.shape<[n]>},
    %y: tensor<?xf32> {relax.shape = #relax.shape<[n]>}) -> (tensor<?xf32> {relax.shape = #relax.shape<[n]>})
"""


class Mlp(nn.Module):
    def __init__(self):
        self.up = nn.Linear(8, 16, bias=True)
        self.down = nn.Linear(16, 8)

    def forward(self, x):
        return self.down(op.relu(self.up(x)))


class Stack(nn.Module):
    def __init__(self, shared=False):
        self.embed = nn.Embedding(32, 8)
        first = Mlp()
        self.layers = nn.ModuleList([first, first if shared else Mlp()])
        self.norm = nn.RMSNorm(8)
        self.scale = nn.Parameter((8,))

    def forward(self, ids):
        x = self.embed(ids)
        for layer in self.layers:
            x = x + layer(x)
        return self.norm(x) * self.scale.value


# A parameter's name is its path: attributes, and positions in lists.
def test_names():
    names = [name for name, _ in Stack().named_parameters()]
    assert names == [
        "scale",
        "embed.weight",
        "layers.0.up.weight",
        "layers.0.up.bias",
        "layers.0.down.weight",
        "layers.1.up.weight",
        "layers.1.up.bias",
        "layers.1.down.weight",
        "norm.weight",
    ]


# A module that occurs twice has its parameters once.
def test_shared_module():
    stack = Stack(shared=True)
    assert list(stack.assign_names()) == [name for name, _ in Stack().named_parameters() if "layers.1" not in name]
    module = nn.export(stack, {"forward": [Tensor((n,), "i64")]})
    assert str(module).count('weight "layers.0.up.weight"') == 2
    assert "layers.1" not in str(module)


# The program of a tree has symbolic shapes and weights by name, and survives a round trip through text.
def test_export():
    module = nn.export(Stack(), {"forward": [Tensor((n,), "i64")]}, symbols={n: Range(1, 64)})
    text = str(module)
    assert 'relax.constant weight "layers.1.down.weight" : tensor<8x16xf32>' in text
    assert "tensor<?x8xf32, #relax.shape<[n, 8]>>" in text
    assert "relax.symbols = {n = #relax.range<1, 64>}" in text
    assert str(parse(text)) == text


# Several methods become several functions; each declares only the symbols of its own parameters.
def test_several_functions():
    class Two(nn.Module):
        def first(self, x):
            return op.exp(x), op.log(x)

        def second(self, x):
            return op.exp(x)

    m = Sym("m")
    functions = {"first": [Tensor((n,))], "second": [Tensor((m,))]}
    module = nn.export(Two(), functions, symbols={n: Range(1, 4), m: Range(1, 8)})
    assert module.functions == ["first", "second"]
    assert str(module["second"].attributes["relax.symbols"]) == "{m = #relax.range<1, 8>}"


# The program contains each kernel of all modules once.
def test_kernels():
    class Twice(nn.Module):
        def __init__(self, text=KERNEL):
            self._text = text

        def kernels(self):
            return [nn.Kernel("twice", self._text)]

        def forward(self, x):
            return op.call_tir("twice", [x], x.annotation)

    class Both(nn.Module):
        def __init__(self, *parts):
            self.parts = nn.ModuleList(parts)

        def forward(self, x):
            for part in self.parts:
                x = part(x)
            return x

    module = nn.export(Both(Twice(), Twice()), {"forward": [Tensor((n,))]})
    assert module.functions == ["twice", "forward"]
    with pytest.raises(RelaxError, match="two kernels are named 'twice' and differ"):
        nn.export(Both(Twice(), Twice(KERNEL.replace("%x", "%z"))), {"forward": [Tensor((n,))]})


@pytest.mark.parametrize(
    "act, message",
    [
        (lambda: nn.Parameter((n, 4)), "a parameter has a fixed size"),
        (lambda: nn.export(Mlp(), {"backward": []}), "Mlp has no method 'backward'"),
        (lambda: nn.export(nn.Linear(4, 4), {"forward": [Tensor((n, 5))]}), "5"),
        (lambda: nn.Linear(4, 4)(None), "has no name yet"),
    ],
)
def test_errors(act, message):
    with pytest.raises(RelaxError, match=message):
        act()


# Two parameters cannot both be given the same name by hand.
def test_same_name_twice():
    class Pair(nn.Module):
        def __init__(self):
            self.a, self.b = nn.Parameter((2,), name="w"), nn.Parameter((2,), name="w")

    with pytest.raises(RelaxError, match="two parameters are named 'w'"):
        Pair().assign_names()

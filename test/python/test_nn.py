# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules: the names of their parameters, and the programs that they build."""

import numpy as np
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
        return self.norm(x) * self.scale


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


# Lists of modules are found in a ModuleList, and refused elsewhere, however deep.
@pytest.mark.parametrize(
    "value, message",
    [
        (
            lambda: [nn.Linear(4, 4)],
            "Holder.parts is a list with modules, which are not found there; use nn.ModuleList",
        ),
        (lambda: {"a": (1, [nn.Linear(4, 4)])}, "Holder.parts is a dict with modules"),
        (
            lambda: (nn.Parameter((2,)),),
            "Holder.parts is a tuple with parameters, which are not found there; make each",
        ),
    ],
)
def test_modules_in_lists(value, message):
    class Holder(nn.Module):
        def __init__(self):
            self.parts = value()

        def forward(self, x):
            return x

    with pytest.raises(RelaxError, match=message):
        nn.export(Holder(), {"forward": [Tensor((4,))]})


def test_module_lists():
    layers = nn.ModuleList(nn.Linear(2, size) for size in (3, 4, 5))
    layers.insert(0, nn.Linear(2, 2))
    layers.extend([nn.Linear(2, 6)])
    assert [layer.weight.shape[0] for layer in layers] == [2, 3, 4, 5, 6]
    assert [layer.weight.shape[0] for layer in layers[1:3]] == [3, 4]
    assert layers[-1].weight.shape == (6, 2) and len(layers) == 5
    assert list(layers.assign_names())[-1] == "4.weight"
    assert repr(nn.Sequential(nn.Linear(2, 3, bias=True), op.relu)) == (
        "Sequential(\n  0: Linear(weight: f32[3, 2], bias: f32[3]),\n)"
    )


# Parameters of functions are named after the arguments of the method, unless they have a name.
def test_parameter_names():
    class Three(nn.Module):
        def forward(self, query, key, *others, scale=None):
            return query + key + others[0] + others[1]

    x = Tensor((4,))
    module = nn.export(Three(), {"forward": [x, Tensor((4,), name="k"), Tensor((4,)), Tensor((4,))]})
    text = module.to_text(locations=True)
    for name in ("query", "k", "others0", "others1"):
        assert f'loc("{name}"(' in text
    assert x.name is None


@pytest.mark.parametrize(
    "params, message",
    [
        ([], r"Mlp.forward\(x\) cannot take 0 parameters: missing a required argument: 'x'"),
        ([Tensor((n, 8)), Tensor((n, 8))], r"Mlp.forward\(x\) cannot take 2 parameters: too many positional arguments"),
        (Tensor((n, 8)), "expected a list of parameters for Mlp.forward, got Tensor"),
    ],
)
def test_parameters_that_do_not_fit(params, message):
    with pytest.raises(RelaxError, match=message):
        nn.export(Mlp(), {"forward": params})


def test_a_parameter_is_not_a_condition():
    with pytest.raises(RelaxError, match="is zero is not known before run time; for an optional one, write `is None`"):
        bool(nn.Parameter((2,)))


# A part that was exported by itself gets the names of the whole when the whole is exported.
def test_names_of_a_part():
    mlp, stack = Mlp(), Stack()
    stack.layers.append(mlp)
    assert list(mlp.assign_names())[0] == "up.weight"
    assert list(stack.assign_names())[-2] == "layers.2.down.weight"
    assert mlp.up.weight.name == "layers.2.up.weight"
    assert list(mlp.load_state_dict({}, strict=False).missing) == ["up.weight", "up.bias", "down.weight"]


def values_of(model):
    return {name: np.ones(tensor.shape, np.float32) for name, tensor in model.assign_names().items()}


def test_state_dict():
    model = Mlp()
    with pytest.raises(RelaxError, match="no values for 'up.weight', 'up.bias', 'down.weight'; load_state_dict sets"):
        model.state_dict()
    state = values_of(model)
    assert model.load_state_dict(state) == ((), ())
    assert all(model.state_dict()[name] is value for name, value in state.items())
    assert list(model.state_dict()) == list(state)


# All that is wrong is in one message, and nothing is set.
def test_states_that_do_not_fit():
    model = Mlp()
    state = values_of(model)
    del state["up.bias"]
    state |= {"up.weight": np.ones((8, 16), np.float32), "down.weight": np.ones((8, 16)), "x": 1, "y.z": 2}
    with pytest.raises(RelaxError) as caught:
        model.load_state_dict(state)
    assert str(caught.value).split("\n  at ")[0] == (
        "the state does not fit Mlp:\n"
        "  'up.weight' has f32[8, 16]; expected f32[16, 8]\n"
        "  'down.weight' has f64[8, 16]; expected f32[8, 16]\n"
        "  missing: 'up.bias'\n"
        "  unexpected: 'x', 'y.z'"
    )
    assert model.up.weight.data is None
    with pytest.raises(RelaxError, match="'up.weight' is a list; expected an array"):
        model.load_state_dict({"up.weight": [1]}, strict=False)
    result = model.load_state_dict({"down.weight": np.ones((8, 16), np.float32), "x": 1}, strict=False)
    assert result.missing == ("up.weight", "up.bias") and result.unexpected == ("x",)
    assert model.down.weight.data is not None


# Tied parameters have one value, under each of their names; the count of batches of PyTorch's norms is ignored.
def test_states_of_tied_parameters():
    stack = Stack(shared=True)
    state = values_of(stack)
    other = {name.replace("layers.0", "layers.1"): value for name, value in state.items()}
    assert stack.load_state_dict(state | other) == ((), ())
    assert stack.load_state_dict(other) == ((), ())
    wrong = other["layers.1.up.bias"] + 1
    with pytest.raises(RelaxError, match="'layers.1.up.bias' and 'layers.0.up.bias' are one tensor of the model"):
        stack.load_state_dict(state | {"layers.1.up.bias": wrong})
    norm = nn.Sequential(nn.BatchNorm(3))
    state = values_of(norm) | {"0.num_batches_tracked": np.int64(7)}
    assert sorted(state) == ["0.bias", "0.num_batches_tracked", "0.running_mean", "0.running_var", "0.weight"]
    assert norm.load_state_dict(state) == ((), ())


def test_states_of_pytorch():
    torch = pytest.importorskip("torch")
    model = Mlp()
    state = {name: torch.nn.Parameter(torch.ones(*tensor.shape)) for name, tensor in model.assign_names().items()}
    model.load_state_dict(state)
    assert not model.up.weight.data.requires_grad
    with pytest.raises(RelaxError, match=r"'up.bias' has bf16\[16\]; expected f32\[16\]"):
        model.load_state_dict(state | {"up.bias": torch.ones(16, dtype=torch.bfloat16)})


def test_module_lists_with_parts_of_their_own():
    class Encoder(nn.Sequential):
        def __init__(self, features):
            super().__init__(nn.Linear(features, features))
            self.norm = nn.LayerNorm(features)

    encoder = Encoder(4)
    assert [name for name, _ in encoder.named_parameters()] == ["0.weight", "norm.weight", "norm.bias"]
    assert isinstance(encoder[:1], Encoder) and len(encoder[:1]) == 1
    encoder.more = [nn.Linear(4, 4)]
    with pytest.raises(RelaxError, match="Encoder.more is a list with modules, which are not found there"):
        list(encoder.children())


def test_values_of_tied_parameters_may_be_nan():
    class Tied(nn.Module):
        def __init__(self):
            self.first = nn.Linear(1, 1)
            self.second = nn.Linear(1, 1)
            self.second.weight = self.first.weight

    weight = np.full((1, 1), np.nan, np.float32)
    Tied().load_state_dict({"first.weight": weight, "second.weight": weight.copy()})


@pytest.mark.parametrize("make", [lambda: nn.Buffer(Tensor((3,))), lambda: nn.Buffer(nn.Parameter((3,)))])
def test_buffers_take_arrays(make):
    with pytest.raises(RelaxError, match="a buffer takes the value of an array, got .*; expected an array or a shape"):
        make()


def test_parameters_have_shapes():
    with pytest.raises(RelaxError, match="a parameter has a fixed size, got the shape None"):
        nn.Parameter(None)

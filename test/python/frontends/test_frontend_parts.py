# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The common parts of front ends, without any framework: structures, conditions, registries, calls."""

import json

import numpy as np
import pytest

from relax_mlir import BlockBuilder, Facts, ModelError, Range, RelaxError, Sym, Tensor, UnsupportedOpError, compile, op
from relax_mlir.frontends.conditions import Compare, compare, junction, negate, prove, require
from relax_mlir.frontends.program import CompiledProgram
from relax_mlir.frontends.registry import Registry, Use
from relax_mlir.frontends.signature import Input, Output, Signature
from relax_mlir.frontends.tree import LEAF, check_spec, count_leaves, flatten, unflatten
from relax_mlir.location import SourceLocation

SPEC = {
    "kind": "tuple",
    "items": [
        LEAF,
        {"kind": "dict", "keys": ["a", "b"], "items": [LEAF, {"kind": "list", "items": [LEAF, LEAF]}]},
    ],
}


def test_structures_are_taken_apart_and_made_again():
    value = (1, {"b": [3, 4], "a": 2})
    leaves = flatten(SPEC, value)
    assert leaves == [1, 2, 3, 4] and count_leaves(SPEC) == 4
    assert unflatten(json.loads(json.dumps(SPEC)), iter(leaves)) == value


@pytest.mark.parametrize(
    "value, message",
    [
        ((1,), "x: expected a tuple of 2 members, got 1"),
        (1, "x: expected a tuple of 2 members, got int"),
        ((1, {"a": 2}), r"x\[1\]: expected the keys 'a', 'b', got 'a'"),
        ((1, {"a": 2, "b": [3]}), r"x\[1\]\['b'\]: expected a list of 2 members, got 1"),
        ((1, 5), r"x\[1\]: expected a dictionary, got 5"),
    ],
)
def test_other_structures_are_refused_with_the_place(value, message):
    with pytest.raises(TypeError, match=message):
        flatten(SPEC, value, "x")


def test_objects_whose_type_is_not_there_become_dictionaries():
    spec = {"kind": "object", "type": "no.such.module:Output", "keys": ["logits"], "items": [LEAF]}
    assert unflatten(spec, iter([1])) == {"logits": 1}
    spec = {"kind": "object", "type": "relax_mlir.symbolic:Range", "keys": ["lower", "upper"], "items": [LEAF, LEAF]}
    assert unflatten(spec, iter([1, 2])) == Range(1, 2)
    assert flatten(spec, Range(3, 4)) == [3, 4]


@pytest.mark.parametrize("spec", [None, {}, {"kind": "file"}, {"kind": "list"}, {"kind": "dict", "items": [LEAF]}])
def test_damaged_structures_are_noticed(spec):
    with pytest.raises(RelaxError):
        check_spec(spec)


def test_conditions_are_proved_or_refuted():
    n, m = Sym("n"), Sym("m")
    facts = Facts({n: Range(2, 8), m: Range(0, None, 4)})
    assert prove(compare("<=", n, 8), facts) is True
    assert prove(compare("==", n, 1), facts) is False
    assert prove(compare("!=", n, 9), facts) is True
    assert prove(compare("==", m % 4, 0), facts) is True
    assert prove(compare("<", n, m), facts) is None
    assert compare("==", 3, 3) is True
    either = junction("or", [compare("<", n, m), compare(">", n, 1)])
    assert prove(either, facts) is True and prove(negate(either), facts) is False
    assert negate(Compare("<", n, m)) == Compare(">=", n, m)
    assert junction("and", [True, True]) is True and junction("and", [compare("<", n, m), False]) is False


def test_conditions_are_checked_where_the_program_runs():
    n, m = Sym("n"), Sym("m")
    x, y = Tensor((n,), name="x"), Tensor((m,), name="y")
    builder = BlockBuilder()
    with builder.function("main", [x, y]):
        condition = junction("or", [compare("==", n, 2 * m), compare("==", n % 5, 0)])
        assert require(condition, "x and y do not fit")
        assert require(compare("<=", m, 6), "%0 is more than %1")
        assert not require(True, "never")
        builder.return_(op.exp(x))
    main = compile(builder.module())["main"]
    for sizes in ((4, 2), (10, 3)):
        main(*(np.ones(size, np.float32) for size in sizes))
    with pytest.raises(ValueError, match="x and y do not fit"):
        main(np.ones(4, np.float32), np.ones(3, np.float32))
    with pytest.raises(ValueError, match="7 is more than 6"):
        main(np.ones(5, np.float32), np.ones(7, np.float32))


def test_registries_list_all_that_is_missing():
    registry = Registry("Test", "register it")

    @registry.register("ns::known", "ns::other.overload")
    def convert(ctx):
        return ctx

    assert registry.find("ns::known.default") is convert and registry.find("ns::other.default") is None
    line = SourceLocation("model.py", 3, 0, "forward")
    with pytest.raises(UnsupportedOpError) as caught:
        registry.require([Use("ns::known", None), Use("ns::a.x", line), Use("ns::a.x", line), Use("ns::b", None)])
    assert caught.value.ops == {"ns::a.x": 2, "ns::b": 1} and caught.value.location == line
    assert str(caught.value).splitlines() == [
        "2 Test ops have no converter:",
        "  ns::a.x, used 2 times",
        "    at model.py:3 in forward",
        "  ns::b, used once",
        "register it",
    ]
    with pytest.raises(RelaxError, match="has a converter already"):
        registry.register("ns::known")
    registry.register("ns::known", replace=True)(print)
    assert registry.find("ns::known") is print


def test_calls_bind_arguments_as_the_model_does():
    n = Sym("n")
    x, y = Tensor((n,), name="x"), Tensor((n,), name="y")
    builder = BlockBuilder()
    with builder.function("main", [x, y]):
        builder.return_(op.add(x, y), op.multiply(x, y))
    spec = {
        "kind": "tuple",
        "items": [{"kind": "tuple", "items": [LEAF]}, {"kind": "dict", "keys": ["y"], "items": [LEAF]}],
    }
    signature = Signature(
        ("x",),
        spec,
        {"kind": "list", "items": [LEAF, LEAF, LEAF]},
        (Input("x", "tensor"), Input("y", "tensor")),
        (Output("tensor", 1), Output("input", 0), Output("constant", 0, "done")),
        (),
        (("input", 1, 0),),
    )
    signature = Signature.from_json(json.loads(json.dumps(signature.to_json())))
    run = CompiledProgram(compile(builder.module()), signature)
    a, b = np.array([1, 2], np.float32), np.array([3, 4], np.float32)
    product, same, done = run(x=a, y=b)
    assert product.tolist() == [3, 8] and same is a and done == "done"
    assert b.tolist() == [4, 6]  # the sum is written into y
    with pytest.raises(TypeError, match="the program has no argument 'z'; its arguments are: 'x', 'y'"):
        run(a, y=b, z=1)
    with pytest.raises(ModelError, match="damaged"):
        Signature.from_json({"names": []})

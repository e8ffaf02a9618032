# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The builder: its output, its locations, contexts and threads."""

import threading

import numpy as np
import pytest
from builders import error_of
from mlir import ir

from relax_mlir import (
    BlockBuilder,
    Callable,
    Object,
    Range,
    RelaxError,
    Shape,
    SourceLocation,
    Sym,
    Tensor,
    Tuple,
    Value,
    op,
    parse,
)
from relax_mlir.compiler import compile_code
from relax_mlir.pipelines import Pipeline, Simplify

n, m = Sym("n"), Sym("m")


# --- output


def test_matmul(bb):
    x, w = Tensor((n, 128), "f32"), Tensor((128, 256), "f32")
    with bb.function("main", [x, w], symbols={n: Range(1, 2048)}) as main:
        with bb.dataflow():
            y = bb.emit(op.matmul(x, w))
            out = bb.emit_output(y)
        bb.return_(out)
    assert main.name == "main"
    assert y.shape == (n, 256) and y.dtype == "f32" and y.ndim == 2
    assert str(bb.module()) == str(
        parse(
            """
      relax.func @main(%x: tensor<?x128xf32, #relax.shape<[n, 128]>>, %w: tensor<128x256xf32>)
          -> tensor<?x256xf32, #relax.shape<[n, 256]>>
          attributes {relax.symbols = {n = #relax.range<1, 2048>}} {
        %0 = relax.dataflow -> tensor<?x256xf32, #relax.shape<[n, 256]>> {
          %1 = relax.matmul %x, %w : (tensor<?x128xf32, #relax.shape<[n, 128]>>, tensor<128x256xf32>)
            -> tensor<?x256xf32, #relax.shape<[n, 256]>>
          relax.output %1 : tensor<?x256xf32, #relax.shape<[n, 256]>>
        }
        relax.return %0 : tensor<?x256xf32, #relax.shape<[n, 256]>>
      }"""
        )
    )


def test_parameters_of_every_kind(bb):
    x = Tensor((n,), "f32")
    params = [x, Sym("k"), Shape((n, 4)), Object(), Tuple(Tensor((m,)), Shape(ndim=2)), Callable([x], x)]
    with bb.function("f", params) as f:
        tensor, integer, shape, thing, pair, callable = f.params
        first, second = pair
        assert first.shape == (m,) and second.shape == (None, None)
        assert shape.shape == (n, 4) and len(pair) == 2 and pair[-1].annotation == Shape(ndim=2)
        called = op.call_closure(callable, tensor)
        assert called.shape == (n,)
        bb.return_(tensor, op.make_tuple(thing, shape), integer, called)
    assert '{relax.symbol = "k"}' in str(bb.module())


def test_symbols_of_integers_are_usable(bb):
    with bb.function("f", [Sym("k")]):
        bb.return_(op.shape((Sym("k"), 4)))
    assert "-> !relax.shape<[k, 4]>" in str(bb.module())


def test_match_cast_defines_symbols(bb):
    x = Tensor((None,), "f32")
    k = Sym("k")
    with bb.function("f", [x]):
        with bb.dataflow():
            y = op.match_cast(x, Tensor((k,), "f32"))
            out = bb.emit_output(op.exp(y))
        assert out.shape == (k,)
        size = op.shape((2 * k,))  # visible after the dataflow block
        bb.return_(out, size)
    # The caller does not know k, so the result type does not name it.
    assert "-> (tensor<?xf32>, !relax.shape<1>)" in str(bb.module())


def test_declared_results_are_kept(bb):
    x = Tensor((n,), "f32")
    with bb.function("f", [x], results=[Tensor((None,), "f32")]):
        bb.return_(x)
    assert "-> tensor<?xf32> {" in str(bb.module())


def test_functions_call_each_other(bb):
    k = Sym("k")
    with bb.function("half", [Tensor((2 * k,)), Shape((k,))], private=True) as half:
        bb.return_(op.match_cast(half.params[0], Tensor((2 * k,))))
    x = Tensor((14,))
    with bb.function("main", [x]):
        y = bb.call(half, x, (7,))
        assert y.shape == (14,)
        bb.return_(y)
    with bb.function("again", [x], results=[Tensor((14,))]) as again:
        bb.return_(bb.call(again, x))  # recursion, with a declared result
    bb.declare("elsewhere", [Tensor((k,))], Tensor((k + 1,)))
    with bb.function("user", [Tensor((n,), name="x")]) as user:
        assert bb.call("elsewhere", user.params[0]).shape == (n + 1,)
        bb.return_(bb.call("elsewhere", user.params[0]))
    assert "relax.call @half" in str(bb.module())


def test_contradicting_call_is_an_error_at_its_line(bb):
    bb.declare("f", [Tensor((4, n))], Tensor((n,)))
    x = Tensor((5, 2))
    with pytest.raises(RelaxError, match="expected 4, got 5") as caught:
        with bb.function("main", [x]):
            bb.call("f", x)
    assert "bb.call(" in caught.value.location.text


def test_kernels(bb):
    bb.add_kernels("""
      func.func private @exp(%x: tensor<?xf32> {relax.shape = #relax.shape<[m]>},
                             %out: tensor<?xf32> {relax.shape = #relax.shape<[m]>},
                             %m: index {relax.symbol = "m"}) -> tensor<?xf32>
    """)
    x = Tensor((n,), "f32")
    with bb.function("main", [x]):
        y = op.call_tir("exp", [x], Tensor((n,), "f32"), sym=[n])
        z = op.call_library("lib.exp", [y], Tensor((n,), "f32"))
        bb.return_(op.call_library("lib.log", [z], Tensor((n,), "f32"), borrows=True))
    text = str(bb.module())
    assert "relax.call_tir @exp(%arg0) sym [n]" in text
    first, second = [line for line in text.splitlines() if "relax.call_library" in line]
    assert '"lib.exp"' in first and "relax.borrows" not in first
    assert '"lib.log"' in second and "{relax.borrows}" in second
    with pytest.raises(RelaxError, match="already"):
        bb.add_kernels("func.func private @exp()")


def test_closures(bb):
    w, x = Tensor((4,)), Tensor((4,))
    bb.declare("scale", [w, x], Tensor((4,)))
    with bb.function("main", [w, x]):
        scale = op.make_closure("scale", [w])
        assert scale.annotation == Callable([Tensor((4,))], Tensor((4,)))
        bb.return_(op.call_closure(scale, x))
    bb.module()


def test_branches(bb):
    x, y = Tensor((n,)), Tensor((m,))
    with bb.function("f", [x, y]):
        with bb.if_(op.constant(True)) as branch:
            with branch.then:
                bb.yield_(op.exp(x), x)
            with branch.else_:
                bb.yield_(y, x)
        joined, same = branch.results
        assert joined.shape == (None,) and same.shape == (n,)
        bb.return_(joined)
    bb.module()


def test_symbols_of_a_branch_stay_there(bb):
    x, k = Tensor((None,)), Sym("k")
    with bb.function("f", [x]):
        with bb.if_(op.constant(True)) as branch:
            with branch.then:
                bb.yield_(op.match_cast(x, Tensor((k,))))
            with branch.else_:
                bb.yield_(x)
        assert branch.result.shape == (None,)
        with pytest.raises(RelaxError, match="symbol 'k' is not defined"):
            op.shape((k,))
        bb.return_(branch.result)
    bb.module()


def test_loops(bb):
    x = Tensor((n,))
    with bb.function("f", [x]):
        with bb.while_([x], types=[Tensor((None,))]) as loop:
            with loop.condition as (value,):
                bb.yield_(op.constant(False))
            with loop.body as (value,):
                assert value.shape == (None,)
                bb.yield_(op.exp(value))
        bb.return_(loop.result)
    assert "relax.while" in str(bb.module())


def test_several_outputs_and_none(bb):
    x = Tensor((n,))
    with bb.function("f", [x]):
        with bb.dataflow():
            first, second = bb.emit_output((op.exp(x), op.exp(x)))
            inside = op.add(first, second)  # an output is usable inside, too
            bb.emit_output(inside)
        with bb.dataflow():
            op.exp(first)
        bb.return_(first, second)
    text = str(bb.module())
    assert "%0:3 = relax.dataflow ->" in text and "relax.output %1, %2, %3 :" in text
    assert "relax.dataflow {" in text and "relax.return %0#0, %0#1 :" in text


# --- locations


def test_ops_know_the_line_that_made_them(bb):
    x = Tensor((n,), "f32")

    def layer():
        return op.exp(x)

    with bb.function("f", [x]):
        y = layer()
        bb.return_(y)
    location = SourceLocation.from_mlir(y.ir.owner.location)
    assert location.file == __file__
    assert location.text.strip() == "return op.exp(x)"
    assert location.function == "layer"
    assert location.text[location.column - 1 :].startswith("op.exp(x)")


def test_parameters_are_named_as_their_variables(bb):
    activations = Tensor((n,), "f32")
    with bb.function("f", [activations, Tensor((4,), name="given")]) as f:
        bb.return_(activations)
    text = f.params[0].ir.owner.owner.operation.get_asm(enable_debug_info=True)
    assert 'loc("activations"' in text and 'loc("given"' in text


# --- contexts and threads


def test_user_contexts():
    context = ir.Context()
    bb = BlockBuilder(context)
    x = Tensor((n, 4), "bf16")  # annotations and symbols are made in another context
    with bb.function("f", [x], symbols={n: Range(1, 8)}):
        y = op.exp(x)
        assert y.shape == (n, 4)
        bb.return_(op.match_cast(y, Tensor((n, 4), "bf16")))
    module = bb.module()
    assert module.context is context
    with ir.Context() as entered:
        assert BlockBuilder().context is entered


def test_builders_in_several_threads():
    failures = []

    def build(index):
        try:
            for _ in range(10):
                bb = BlockBuilder()
                x = Tensor((Sym(f"n{index}"), 4), "f32")
                with bb.function("f", [x]):
                    y = x
                    for _ in range(10):
                        y = op.add(y, x)
                        with pytest.raises(RelaxError, match=f"is {index + 5}"):
                            op.add(y, op.constant([0.0] * (index + 5)))
                    assert y.shape == (Sym(f"n{index}"), 4)
                    bb.return_(y)
                assert str(bb.module()).count("relax.add") == 10
        except BaseException as error:  # noqa: BLE001
            failures.append(error)

    threads = [threading.Thread(target=build, args=(index,)) for index in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures


def test_values_are_thin(bb):
    x = Tensor((n,))
    with bb.function("f", [x]) as f:
        value = f.params[0]
        assert isinstance(value, Value) and isinstance(value.ir, ir.Value)
        assert value.type == x.to_mlir(bb.context)
        bb.return_(op.exp(value.ir))  # values of the mlir package are welcome
    bb.module()


def test_values_of_a_failed_block_are_safe(bb):
    x = Tensor((n,))
    kept = []
    with bb.function("f", [x]):
        with pytest.raises(KeyError, match="of the caller"):
            with bb.dataflow():
                kept.append(op.exp(x))
                kept.append(bb.emit_output(kept[0]))
                raise KeyError("of the caller")
        for value in kept:
            assert "given up" in repr(value)
            assert "dataflow block that was given up" in str(error_of(lambda value=value: value.shape))
            assert "dataflow block that was given up" in str(error_of(lambda value=value: op.exp(value)))
        bb.return_(x)


def test_values_that_a_pass_erased_still_have_their_type(bb):
    x = Tensor((n,))
    with bb.function("f", [x]):
        dead = op.sin(x)
        bb.return_(x)
    Pipeline([Simplify()]).run(bb.module())
    assert dead.shape == (n,)
    assert repr(dead) == 'Value(Tensor((n,), "f32"))'


def test_parameters_may_be_an_iterator(bb):
    x = Tensor((n,))
    with bb.function("f", (p for p in [x])) as function:
        bb.return_(x)
    assert len(function.params) == 1


@pytest.mark.parametrize(
    "values, dtype, found",
    [([1, 2, 300], "u8", "300"), ([-1], "u64", "-1"), (np.array([1.7, 2.0]), "i8", "1.7")],
)
def test_elements_that_do_not_fit(bb, values, dtype, found):
    with bb.function("f", [Tensor((n,))]):
        assert f"{found}, which does not fit in {dtype}" in str(error_of(lambda: op.constant(values, dtype)))
        bb.return_()


def test_none_means_the_default(bb):
    x = Tensor((4,))
    with bb.function("f", [x]):
        assert op.argsort(x, axis=None).shape == op.softmax(x, axis=None).shape == (4,)
        bb.return_(x)


# A compiled function names its parameters after variables and annotations, not after the Python function that built
# them.
def test_names_of_parameters():
    def build():
        bb = BlockBuilder()
        weight = Tensor((4,), "f32")
        with bb.function("main", [Tensor((4,), "f32"), weight, Tensor((4,), "f32", name="bias")]) as f:
            bb.return_(f.params[0])
        return bb.module()

    parameters = compile_code(build(), cached=False).functions["main"]["parameters"]
    assert [parameter["name"] for parameter in parameters] == ["arg0", "weight", "bias"]

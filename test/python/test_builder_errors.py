# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Errors of the builder: what they say, and at which line."""

import pytest
from builders import error_of

from relax_mlir import BlockBuilder, Range, RelaxError, Sym, Tensor, compile, compile_code, op

n, m = Sym("n"), Sym("m")


def body(module):
    """The text of a module without the line around it, stripped."""
    return [line.strip() for line in str(module).splitlines()]


def test_contradiction_shows_both_sides_and_the_line(bb):
    x, w = Tensor((n, 128)), Tensor((64, 256))

    def build():
        with bb.function("main", [x, w]):
            bb.return_(op.matmul(x, w))

    error = error_of(build)
    assert "128" in str(error) and "64" in str(error) and "'relax.matmul'" in str(error)
    assert "bb.return_(op.matmul(x, w))" in str(error)
    assert f"{__file__}:{error.location.line}" in str(error)
    assert error.location.text.strip() == "bb.return_(op.matmul(x, w))"
    # The failed function is gone; its name is free, and the builder stays usable.
    with bb.function("main", [x]):
        bb.return_(x)
    assert bb.module().functions == ["main"]


def test_errors_leave_the_builder_usable_inside_a_function(bb):
    x, y = Tensor((2,)), Tensor((3,))
    with bb.function("main", [x, y]):
        with pytest.raises(RelaxError, match="broadcast"):
            op.add(x, y)
        bb.return_(op.add(x, x))
    assert str(bb.module()).count("relax.add") == 1


def test_no_function():
    assert "no function is being built" in str(error_of(lambda: op.exp(Tensor((4,)))))
    bb = BlockBuilder()
    for use in (lambda: bb.emit(1), lambda: bb.return_(), lambda: bb.dataflow().__enter__()):
        assert "no function is being built" in str(error_of(use))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda bb, x: bb.emit_output(op.exp(x)), "bb.emit_output outside a dataflow block"),
        (lambda bb, x: bb.yield_(x), "bb.yield_ inside a function"),
        (lambda bb, x: op.exp(Tensor((n,))), "is not a parameter of function 'f'"),
        (lambda bb, x: op.exp("x"), "exp: x is 'x'"),
        (lambda bb, x: op.exp(None), "exp: x is None"),
        (lambda bb, x: op.less(x, n + 1), "such as op.shape_to_tensor((n + 1,)).reshape(())"),
        (lambda bb, x: op.less(x, op.sym(n)), "less: rhs is an integer, not a tensor; op.shape_to_tensor"),
        (lambda bb, x: op.shape((Sym("q"),)), "symbol 'q' is not defined in function 'f'"),
        (lambda bb, x: op.match_cast(x, Tensor((2 * Sym("q"),))), "symbol 'q' is not defined"),
        (lambda bb, x: op.match_cast(x, Tensor((n, 2))), "match_cast"),
        (lambda bb, x: bb.call("missing", x), "no function 'missing'"),
        (lambda bb, x: bb.call("f", x), "calls itself"),
        (lambda bb, x: bb.module(), "inside a function"),
        (lambda bb, x: bb.function("g").__enter__(), "still open"),
        (lambda bb, x: bb.add_kernels(""), "still open"),
        (lambda bb, x: BlockBuilder().return_(x), "of another builder is open"),
        (lambda bb, x: bool(op.constant(True)), "bb.if_"),
        (lambda bb, x: list(op.exp(x)), "only a tuple"),
        (lambda bb, x: len(op.exp(x)), "has no length"),
        (lambda bb, x: op.make_tuple(x)[1], "has no member 1"),
        (lambda bb, x: op.shape((n,)).dtype, "has no dtype"),
        (lambda bb, x: op.make_closure("f", [x, x]), "2 arguments are bound"),
        (lambda bb, x: op.call_tir("nothing", [x], 3), "expected the annotations"),
        (lambda bb, x: op.weight("", Tensor((4,))), "weight"),
        (lambda bb, x: op.constant(object()), "constant"),
        (lambda bb, x: op.constant([[1], [2, 3]]), "constant"),
        (lambda bb, x: op.constant(300, "i8"), "does not fit in i8"),
        (lambda bb, x: op.constant(1e300, "f32"), "is beyond the largest f32"),
        (lambda bb, x: op.constant(1.5, "i8"), "is not of type i8"),
        (lambda bb, x: op.constant(2**64), "constant"),
    ],
)
def test_wrong_use(bb, wrong, message):
    x = Tensor((n,), "f32")

    def build():
        with bb.function("f", [x]):
            wrong(bb, x)
            bb.return_(x)

    error = error_of(build)
    assert message in str(error)
    assert error.location.file == __file__
    # No function or block is left open.
    with bb.function("f", [x]):
        bb.return_(x)
    bb.module()


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda bb: compile(bb), "of type BlockBuilder; expected a Module; call its method module()"),
        (lambda bb: compile("model.mlir"), "of type str; expected a Module; load(path)"),
        (lambda bb: compile_code(3), "of type int; expected a Module"),
        (lambda bb: compile(bb.module(), target=3), "the target is of type int"),
        (lambda bb: compile_code(bb.module(), 3), "the target is of type int"),
        (lambda bb: compile(bb.module(), weights="w.safetensors"), "weights are of type str; expected arrays by name"),
    ],
)
def test_what_cannot_be_compiled(bb, build, message):
    error = error_of(lambda: build(bb))
    assert message in str(error)
    assert error.location.file == __file__


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ([3], "parameter 0 is 3"),
        (Tensor((4,)), "expected a list of parameters"),
        ([Sym("n") + 1], "parameter 0 is the expression 'n + 1'"),
        ([Tensor((4,))] * 2, "parameters 0 and 1 are the same"),
    ],
)
def test_wrong_parameters(bb, params, message):
    assert message in str(error_of(lambda: bb.function("f", params).__enter__()))


def test_wrong_functions(bb):
    x = Tensor((n,))
    with bb.function("f", [x]):
        bb.return_(x)
    assert "already" in str(error_of(lambda: bb.function("f", [x]).__enter__()))
    assert "expected the function's name" in str(error_of(lambda: bb.function("").__enter__()))

    def without_return():
        with bb.function("g", [x]):
            op.exp(x)

    assert "returns nothing" in str(error_of(without_return))

    def after_return():
        with bb.function("g", [x]):
            bb.return_(x)
            op.exp(x)

    assert "has ended" in str(error_of(after_return))

    def unknown_range():
        with bb.function("g", [x], symbols={"z": Range(1, 2)}):
            bb.return_(x)

    assert "'z'" in str(error_of(unknown_range))

    def return_in_dataflow():
        with bb.function("g", [x]):
            with bb.dataflow():
                bb.return_(x)

    assert "inside a dataflow block" in str(error_of(return_in_dataflow))

    def undefined_in_parameter():
        with bb.function("g", [Tensor((n + 1,))]) as g:
            bb.return_(g.params[0])

    assert "'n'" in str(error_of(undefined_in_parameter))


def test_values_of_other_places(bb):
    x = Tensor((n,))
    kept = []
    with bb.function("f", [x]):
        with bb.dataflow():
            kept.append(op.exp(x))
            out = bb.emit_output(kept[0])
        assert "bb.emit_output" in str(error_of(lambda: op.exp(kept[0])))
        bb.return_(out)
    with bb.function("g", [x]):
        assert "belongs to function 'f'" in str(error_of(lambda: op.exp(kept[0])))
        bb.return_(x)
    bb.module()


def test_values_of_a_failed_function_are_safe(bb):
    x = Tensor((n,))
    kept = []

    def build():
        with bb.function("f", [x]):
            with bb.dataflow():
                kept.append(op.exp(x))
                raise RuntimeError("the user's own")

    with pytest.raises(RuntimeError, match="own"):
        build()
    assert "given up" in repr(kept[0])
    assert "given up" in str(error_of(lambda: kept[0].shape))
    assert bb.module().functions == []


def test_incomplete_branches_and_loops(bb):
    x = Tensor((n,))

    def no_else():
        with bb.function("f", [x]):
            with bb.if_(op.constant(True)) as branch:
                with branch.then:
                    bb.yield_(x)

    def counts_differ():
        with bb.function("f", [x]):
            with bb.if_(op.constant(True)) as branch:
                with branch.then:
                    bb.yield_(x)
                with branch.else_:
                    bb.yield_()

    def twice():
        with bb.function("f", [x]):
            with bb.if_(op.constant(True)) as branch:
                with branch.then:
                    bb.yield_(x)
                with branch.then:
                    bb.yield_(x)

    def no_body():
        with bb.function("f", [x]):
            with bb.while_([x]) as loop:
                with loop.condition:
                    bb.yield_(op.constant(True))

    def no_yield():
        with bb.function("f", [x]):
            with bb.while_([x]) as loop:
                with loop.condition:
                    pass

    def early():
        with bb.function("f", [x]):
            with bb.if_(op.constant(True)) as branch:
                branch.results  # noqa: B018

    for build, message in (
        (no_else, "branch.else_ is missing"),
        (counts_differ, "yields 1 values"),
        (twice, "built already"),
        (no_body, "loop.body is missing"),
        (no_yield, "yields nothing"),
        (early, "after its"),
    ):
        assert message in str(error_of(build)), build.__name__
    assert bb.module().functions == []

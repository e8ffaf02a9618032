# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""In-place calls on values that loops carry, and that branches, tuples and functions pass on.

Uses of overwritten values are rejected, and nothing else.
"""

import numpy as np
import pytest
from inplace_programs import KERNELS

import relax_mlir
from relax_mlir import RelaxError, parse
from relax_mlir.runtime import to_numpy

T = "tensor<?x?xf32, #relax.shape<[n, m]>>"
TT = f"tuple<{T}, {T}>"
REFUSED = "overwrites operand 0, which is used afterwards"
X = np.arange(1, 7, dtype=np.float32).reshape(2, 3)


def double(name):
    return f"relax.call_tir_inplace @double({name}) inplace [0] : ({T}) -> {T}"


def compiled(source):
    return relax_mlir.compile(parse(KERNELS + source), cached=False)


def loop(inits, condition, body, count=1):
    """A loop `%r` that carries `count` tensors and `%go`, and runs once if `%c`. Its body yields `%no`."""
    types = ", ".join([T] * count + ["i1"])
    arguments = ", ".join(f"%{name}: {T}" for name in "pq"[:count]) + ", %go: i1"
    return f"""%r:{count + 1} = relax.while {inits}, %c : ({types}) -> ({types}) {{
    ^bb0({arguments}):
      {condition}
      relax.condition %go : i1
    }} do {{
    ^bb0({arguments}):
      {body}, %no : {types}
    }}"""


def main(body, results):
    types = ", ".join([T] * (results.count(",") + 1))
    return f"""relax.func @main(%x: {T}, %y: {T}, %c: i1, %no: i1) -> ({types}) {{
      %z = relax.exp %x : ({T}) -> {T}
      {body}
      relax.return {results} : {types}
    }}"""


USES_IN_LOOPS = {
    "of the initial value": f"%s = relax.abs %z : ({T}) -> {T}",
    "of a view of it": f"""%v = relax.match_cast %z : ({T}) -> {T}
      %s = relax.abs %v : ({T}) -> {T}""",
    "of it in a branch": f"""%s = relax.if %go : i1 -> {T} {{
        %i = relax.abs %z : ({T}) -> {T}
        relax.yield %i : {T}
      }} else {{
        %i = relax.abs %y : ({T}) -> {T}
        relax.yield %i : {T}
      }}""",
}


@pytest.mark.parametrize("kind", USES_IN_LOOPS)
@pytest.mark.parametrize("where", ["before the write", "after the write", "in the condition"])
def test_a_loop_uses_what_it_writes_over(kind, where):
    """The first iteration overwrites the initial value."""
    # The written value is not dead.
    write, use = f"%n = {double('%p')}", f"{USES_IN_LOOPS[kind]}\n%d = {double('%s')}"
    body = {"before the write": use + "\n" + write, "after the write": write + "\n" + use}.get(where, write)
    condition = use if where == "in the condition" else ""
    source = main(loop("%z", condition, body + "\nrelax.yield %n"), "%r#0")
    with pytest.raises(RelaxError, match="'relax.call_tir_inplace' op " + REFUSED):
        compiled(source)


@pytest.mark.parametrize("use", ["body", "a view in the body", "the result", "a call after the loop"])
def test_a_condition_writes_over_what_the_body_and_the_result_are(use):
    body = {
        "body": f"%n = relax.abs %p : ({T}) -> {T}",
        "a view in the body": f"""%v = relax.match_cast %p : ({T}) -> {T}
          %n = relax.abs %v : ({T}) -> {T}""",
    }.get(use, f"%n = relax.abs %y : ({T}) -> {T}")
    after = {
        "the result": f"%s = relax.abs %r#0 : ({T}) -> {T}",
        "a call after the loop": f"%s = {double('%r#0')}",
    }.get(use, f"%s = relax.abs %y : ({T}) -> {T}")
    source = main(loop("%z", f"%w = {double('%p')}", body + "\nrelax.yield %n") + after, "%s")
    with pytest.raises(RelaxError, match=REFUSED):
        compiled(source)


def test_a_condition_writes_over_what_nobody_else_uses():
    """Only the condition reads what it has doubled."""
    condition = f"""%w = {double("%p")}
      %big = relax.less %w, %w : ({T}, {T}) -> tensor<?x?xi1, #relax.shape<[n, m]>>"""
    source = main(
        loop("%z", condition, f"%n = relax.abs %y : ({T}) -> {T}\nrelax.yield %n")
        + f"%s = relax.abs %y : ({T}) -> {T}",
        "%s",
    )
    np.testing.assert_array_equal(to_numpy(compiled(source)["main"](X, -X, True, False)), X)


def test_a_condition_in_a_condition():
    """The write is in the condition of a loop that is in the condition of another."""
    inner = f"""%i:2 = relax.while %p, %go : ({T}, i1) -> ({T}, i1) {{
      ^bb0(%j: {T}, %k: i1):
        %w = {double("%j")}
        relax.condition %no : i1
      }} do {{
      ^bb0(%j: {T}, %k: i1):
        %l = relax.exp %y : ({T}) -> {T}
        relax.yield %l, %k : {T}, i1
      }}"""
    source = main(loop("%z", inner, f"%n = relax.abs %p : ({T}) -> {T}\nrelax.yield %n"), "%r#0")
    with pytest.raises(RelaxError, match=REFUSED):
        compiled(source)


@pytest.mark.parametrize("used", ["%z", "%u"])
def test_values_that_change_places_in_a_loop_before_the_write(used):
    """The write is after the loop, whose first result may be either initial value."""
    source = main(
        f"""%u = relax.exp %y : ({T}) -> {T}
        {loop("%z, %u", "", "relax.yield %q, %p", count=2)}
        %w = {double("%r#0")}
        %s = relax.abs {used} : ({T}) -> {T}""",
        "%w, %s",
    )
    with pytest.raises(RelaxError, match=REFUSED):
        compiled(source)


def test_a_loop_that_ends_before_the_write():
    """The loop may yield outer values, since it writes nothing."""
    body = f"""%n = relax.if %no : i1 -> {T} {{
        relax.yield %p : {T}
      }} else {{
        relax.yield %u : {T}
      }}
      relax.yield %n"""
    source = main(
        f"""%u = relax.negative %y : ({T}) -> {T}
        {loop("%z", "", body)}
        %w = {double("%r#0")}""",
        "%w",
    )
    executable = compiled(source)
    np.testing.assert_array_equal(to_numpy(executable["main"](X, X, True, False)), -2 * X)
    np.testing.assert_allclose(to_numpy(executable["main"](X, X, False, False)), 2 * np.exp(X), rtol=1e-6)


# ----------------------------------------------------------------------------
# Results of functions

ONE = "relax.constant dense<1.0> : tensor<f32>"
S = "tensor<2x3xf32>"


@pytest.mark.parametrize("visibility", ["", "private"])
def test_a_function_that_returns_a_constant(visibility):
    """A call overwrites the function's result, which must be unchanged in the next call."""
    source = f"""
    relax.func {visibility} @one(%c: i1) -> {S} {{
      %0 = relax.if %c : i1 -> {S} {{
        %i = relax.constant dense<1.0> : {S}
        relax.yield %i : {S}
      }} else {{
        %j = relax.constant dense<3.0> : {S}
        relax.yield %j : {S}
      }}
      relax.return %0 : {S}
    }}
    relax.func @main(%c: i1) -> {S} {{
      %0 = relax.call @one(%c) : (i1) -> {S}
      %w = {double("%0").replace(T, S)}
      relax.return %w : {S}
    }}"""
    executable = compiled(source)
    for condition, value in ((True, 2), (False, 6), (True, 2)):
        np.testing.assert_array_equal(to_numpy(executable["main"](condition)), np.full((2, 3), value, np.float32))


@pytest.mark.parametrize("visibility", ["", "private"])
@pytest.mark.parametrize("call", ["call", "closure"])
def test_a_copy_that_a_function_returns_is_a_copy(visibility, call):
    """An identity op is not replaced by its operand if callers overwrite the result."""
    called = {
        "call": f"%0 = relax.call @copy(%x) : ({T}) -> {T}",
        "closure": f"""%f = relax.make_closure @copy() : () -> (({T}) -> {T})
          %0 = relax.call_closure %f(%x) : ({T}) -> {T} calls ({T}) -> {T}""",
    }[call]
    source = f"""
    relax.func {visibility} @copy(%x: {T}) -> {T} {{
      %1 = {ONE}
      %0 = relax.multiply %x, %1 : ({T}, tensor<f32>) -> {T}
      relax.return %0 : {T}
    }}
    relax.func @main(%x: {T}) -> ({T}, {T}) {{
      {called}
      %w = {double("%0")}
      %s = relax.abs %x : ({T}) -> {T}
      relax.return %w, %s : {T}, {T}
    }}"""
    given = X.copy()
    w, s = compiled(source)["main"](given)
    np.testing.assert_array_equal(to_numpy(w), 2 * X)
    np.testing.assert_array_equal(to_numpy(s), X)
    np.testing.assert_array_equal(given, X)


def test_a_copy_of_what_a_call_returns_is_a_copy():
    """The write is to the call's argument, which it returns."""
    source = f"""
    relax.func @same(%x: {T}) -> {T} attributes {{pure}} {{
      relax.return %x : {T}
    }}
    relax.func @main(%x: {T}) -> ({T}, {T}) {{
      %v = relax.call pure @same(%x) : ({T}) -> {T}
      %1 = {ONE}
      %a = relax.multiply %v, %1 : ({T}, tensor<f32>) -> {T}
      %w = {double("%x")}
      %s = relax.abs %a : ({T}) -> {T}
      relax.return %w, %s : {T}, {T}
    }}"""
    w, s = compiled(source)["main"](X.copy())
    np.testing.assert_array_equal(to_numpy(w), 2 * X)
    np.testing.assert_array_equal(to_numpy(s), X)


# ----------------------------------------------------------------------------
# Members of tuples

TUPLES = {
    "a tuple": f"%t = relax.tuple %z, %u : ({T}, {T}) -> {TT}",
    "a tuple of a branch": f"""%t = relax.if %c : i1 -> {TT} {{
        %i = relax.tuple %z, %u : ({T}, {T}) -> {TT}
        relax.yield %i : {TT}
      }} else {{
        %i = relax.tuple %z, %u : ({T}, {T}) -> {TT}
        relax.yield %i : {TT}
      }}""",
    "a tuple of a tuple": f"""%i = relax.tuple %z, %u : ({T}, {T}) -> {TT}
      %j = relax.tuple %i, %y : ({TT}, {T}) -> tuple<{TT}, {T}>
      %t = relax.get %j[0] : (tuple<{TT}, {T}>) -> {TT}""",
    "a tuple of a loop": f"""%i = relax.tuple %z, %u : ({T}, {T}) -> {TT}
      %t, %once = relax.while %i, %c : ({TT}, i1) -> ({TT}, i1) {{
      ^bb0(%j: {TT}, %go: i1):
        relax.condition %go : i1
      }} do {{
      ^bb0(%j: {TT}, %go: i1):
        %k = relax.get %j[0] : ({TT}) -> {T}
        %l = relax.get %j[1] : ({TT}) -> {T}
        %m = relax.tuple %k, %l : ({T}, {T}) -> {TT}
        relax.yield %m, %no : {TT}, i1
      }}""",
}


def with_tuple(kind, used):
    return main(
        f"""%u = relax.negative %y : ({T}) -> {T}
        {TUPLES[kind]}
        %v = relax.get %t[0] : ({TT}) -> {T}
        %w = {double("%v")}
        {used}""",
        "%w, %s",
    )


# All members of a nested tuple count as one value.
@pytest.mark.parametrize("kind", sorted(set(TUPLES) - {"a tuple of a tuple"}))
@pytest.mark.parametrize("used", ["%u", "%t[1]"])
def test_a_member_of_a_tuple_is_not_another_one(kind, used):
    get = f"%o = relax.get %t[1] : ({TT}) -> {T}\n" if used == "%t[1]" else ""
    source = with_tuple(kind, f"{get}%s = relax.abs {'%o' if get else used} : ({T}) -> {T}")
    w, s = compiled(source)["main"](np.zeros_like(X), X, True, False)
    np.testing.assert_array_equal(to_numpy(w), np.full_like(X, 2))
    np.testing.assert_array_equal(to_numpy(s), X)


@pytest.mark.parametrize("kind", TUPLES)
@pytest.mark.parametrize("used", ["the member", "its value", "the tuple"])
def test_a_member_of_a_tuple_is_dead_with_what_it_is(kind, used):
    uses = {
        "the member": f"%o = relax.get %t[0] : ({TT}) -> {T}\n%s = relax.abs %o : ({T}) -> {T}",
        "its value": f"%s = relax.abs %z : ({T}) -> {T}",
        "the tuple": f"""%o = relax.if %c : i1 -> {TT} {{
            relax.yield %t : {TT}
          }} else {{
            relax.yield %t : {TT}
          }}
          %p = relax.get %o[0] : ({TT}) -> {T}
          %s = relax.abs %p : ({T}) -> {T}""",
    }
    with pytest.raises(RelaxError, match=REFUSED):
        compiled(with_tuple(kind, uses[used]))

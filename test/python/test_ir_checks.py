# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Invalid mutations by Python passes raise errors; nothing ends the process."""

import re

import pytest
from mlir import ir

from relax_mlir import RelaxError, parse
from relax_mlir.pipelines import Pipeline

T = "tensor<4xf32>"
SOURCE = f"""
relax.func @main(%x: {T}, %unused: tensor<2xi64>, %c: i1) -> {T} {{
  %0 = relax.exp %x : ({T}) -> {T}
  %1 = relax.if %c : i1 -> {T} {{
    %3 = relax.abs %0 : ({T}) -> {T}
    relax.yield %3 : {T}
  }} else {{
    relax.yield %x : {T}
  }}
  %2 = relax.tanh %1 : ({T}) -> {T}
  relax.return %2 : {T}
}}
relax.func private @other(%x: {T}) -> {T} {{
  relax.return %x : {T}
}}
"""


def block_of(module):
    return module["main"].regions[0].blocks[0]


def ops_of(module):
    return [op.operation for op in block_of(module).operations]


def erase_used(module):
    ops_of(module)[0].erase()


def erase_argument_in_use(module):
    block_of(module).erase_argument(0)


def erase_missing_argument(module):
    block_of(module).erase_argument(7)


def erase_module(module):
    module.ir.operation.erase()


def move_into_itself(module):
    branch = ops_of(module)[1]
    branch.move_before(branch.regions[0].blocks[0].operations[0])


def move_into_itself_by_name(module):
    branch = ops_of(module)[1]
    branch.move_before(other=branch.regions[0].blocks[0].operations[0])


def append_to_itself(module):
    branch = ops_of(module)[1]
    branch.regions[0].blocks[0].append(branch)


def append_to_itself_by_name(module):
    branch = ops_of(module)[1]
    branch.regions[0].blocks[0].append(operation=branch)


def insert_into_itself(module):
    branch = ops_of(module)[1]
    inner = branch.regions[0].blocks[0]
    ir.InsertionPoint.at_block_begin(inner).insert(branch.detach_from_parent())


def insert_before_an_op_in_itself(module):
    branch = ops_of(module)[1]
    ir.InsertionPoint(branch.regions[0].blocks[0].operations[0]).insert(operation=branch.detach_from_parent())


def insert_what_is_in_a_block(module):
    ops = ops_of(module)
    ir.InsertionPoint(ops[0]).insert(ops[2])


def move_a_block_into_itself(module):
    block_of(module).append_to(ops_of(module)[1].regions[0])


def move_what_is_detached(module):
    ops = ops_of(module)
    ops[2].detach_from_parent().move_before(ops[0])


def move_to_what_is_detached(module):
    ops = ops_of(module)
    ops[2].move_after(ops[3].detach_from_parent())


def detach_twice(module):
    ops_of(module)[3].detach_from_parent().detach_from_parent()


def detach_for_good(module):
    ops_of(module)[0].detach_from_parent()


def walk_and_erase_the_parent(module):
    def visit(op):
        if op.name == "relax.yield":
            op.parent.erase()
        return ir.WalkResult.ADVANCE

    module.ir.operation.walk(visit)


def walk_and_erase_the_next(module):
    def visit(op):
        if op.name == "relax.tanh":
            ops_of(module)[3].erase()
        return ir.WalkResult.ADVANCE

    module.ir.operation.walk(visit)


WRONG = {
    erase_used: "'relax.exp' op cannot be erased: 'relax.abs' at -:5:10 uses its result 0; replace its uses first",
    erase_argument_in_use: "argument 0 of a block cannot be erased: ",
    erase_missing_argument: "the block has 3 arguments; there is none with index 7",
    erase_module: "'builtin.module' op is a whole module",
    move_into_itself: "'relax.if' op cannot be moved into itself",
    move_into_itself_by_name: "'relax.if' op cannot be moved into itself",
    append_to_itself: "'relax.if' op cannot be moved into itself",
    append_to_itself_by_name: "'relax.if' op cannot be moved into itself",
    insert_into_itself: "'relax.if' op cannot be moved into itself",
    insert_before_an_op_in_itself: "'relax.if' op cannot be moved into itself",
    insert_what_is_in_a_block: "'relax.tanh' op is in a block already; detach it first, or move it",
    move_a_block_into_itself: "a block cannot be moved into a region of an op that is in it",
    move_what_is_detached: "'relax.tanh' op is in no block, so it cannot be moved",
    move_to_what_is_detached: "'relax.return' op is in no block, so it cannot be the place to move to",
    detach_twice: "'relax.return' op is in no block, so it cannot be detached",
    detach_for_good: "'relax.exp' op was detached, but 'relax.abs' at -:5:10 uses its result 0",
    walk_and_erase_the_parent: "'relax.if' op cannot be erased: ",
    walk_and_erase_the_next: "'relax.return' op cannot be erased by the callback of a walk that visits another op",
}


@pytest.mark.parametrize("change", WRONG, ids=lambda change: change.__name__)
def test_a_wrong_change_is_an_error(change):
    with pytest.raises(RelaxError, match=re.escape(WRONG[change])) as raised:
        Pipeline([change]).run(parse(SOURCE))
    assert f"Python pass '{change.__name__}'" in str(raised.value)


def erase_terminator(module):
    ops_of(module)[3].erase()


def move_behind_a_use(module):
    ops = ops_of(module)
    ops[0].move_after(ops[2])


def replace_by_another_type(module):
    ops_of(module)[0].result.replace_all_uses_with(block_of(module).arguments[1])


def set_another_type(module):
    ops_of(module)[0].result.set_type(ir.Type.parse("tensor<5xi1>", module.context))


def use_another_function(module):
    ops_of(module)[0].operands[0] = module["other"].regions[0].blocks[0].arguments[0]


def erase_argument_alone(module):
    block_of(module).erase_argument(1)


def append_to_the_module(module):
    module.ir.body.append(ops_of(module)[0])


VERIFIED = [
    erase_terminator,
    move_behind_a_use,
    replace_by_another_type,
    set_another_type,
    use_another_function,
    erase_argument_alone,
    append_to_the_module,
]


@pytest.mark.parametrize("change", VERIFIED, ids=lambda change: change.__name__)
def test_the_verifier_finds_the_rest(change):
    with pytest.raises(RelaxError, match=f"Python pass '{change.__name__}'"):
        Pipeline([change]).run(parse(SOURCE))


def test_what_is_right_works_as_before():
    def change(module):
        first, branch, last, end = ops_of(module)
        last.result.replace_all_uses_with(branch.result)
        last.result.replace_all_uses_with(last.result)
        last.erase()
        first.move_before(first)
        detached = branch.detach_from_parent()
        ir.InsertionPoint(end).insert(detached)

        def visit(op):
            if op.name == "relax.func" and "other" in str(op.attributes["sym_name"]):
                op.erase()
            return ir.WalkResult.ADVANCE

        module.ir.operation.walk(visit, ir.WalkOrder.PRE_ORDER)

    module = parse(SOURCE)
    Pipeline([change]).run(module)
    assert module.functions == ["main"] and "relax.tanh" not in str(module)


def test_ops_may_go_while_their_block_is_gone_through():
    module = parse("\n".join(f"relax.func private @f{index}()" for index in range(8)))

    def change(module):
        for op in module.ir.body.operations:
            op.operation.erase()

    Pipeline([change]).run(module)
    assert module.functions == []


def test_errors_of_callbacks_are_as_raised():
    class Mine(Exception):
        pass

    def visit(op):
        raise Mine

    with pytest.raises(Mine):
        parse(SOURCE).ir.operation.walk(visit)


# An outer walk visits the same op at which an inner walk begins.
def test_walks_in_walks():
    visited = []

    def inner(op):
        visited.append(op.name)
        return ir.WalkResult.ADVANCE

    def outer(op):
        op.walk(inner)
        return ir.WalkResult.ADVANCE

    module = parse(SOURCE)
    module.ir.operation.walk(outer)
    assert visited.count("relax.abs") == 4  # by the op itself, the branch, the function and the module
    first = ops_of(module)[0]
    first.walk(lambda op: (first.walk(inner), ir.WalkResult.ADVANCE)[1])  # equal entries


# Valid mutations stay allowed.
def test_ops_move_to_other_blocks():
    def change(module):
        ops = ops_of(module)
        inner = ops[1].regions[0].blocks[0]
        copy = ops[0].clone()
        ir.InsertionPoint.at_block_begin(inner).insert(copy)
        copy.move_after(other=inner.operations[1].operation)
        inner.operations[1].operation.results[0].replace_all_uses_with(copy.results[0])

    module = parse(SOURCE)
    Pipeline([change]).run(module)
    assert str(module).count("relax.exp") == 2

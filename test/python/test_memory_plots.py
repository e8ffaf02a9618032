# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`relax-mlir inspect --plot`: which tensor is where in the memory of a call, and when."""

import re
from pathlib import Path

import pytest

from relax_mlir import MissingPackageError, RelaxError, parse
from relax_mlir.cli.inspection import inspect
from relax_mlir.cli.plan import plans_of
from relax_mlir.cli.plot import draw

T = "tensor<?xf32, #relax.shape<[n]>>"
PLANNED = f"""
func.func private @exp(%x: {T}, %out: {T}) -> {T}
func.func private @add(%x: {T}, %y: {T}, %out: {T}) -> {T}
relax.func @main(%x: {T}) -> {T} attributes {{
    relax.symbols = {{n = #relax.range<4, 100, multiple_of = 8>}},
    relax.memory_plan = {{unplanned_bytes = #relax.expr<12*n>, planned_bytes = #relax.expr<8*n + 64>,
                          peak_bytes = #relax.expr<8*n>}}}} {{
  %s = relax.alloc_storage 4*n + 64 align 64 : !relax.storage
  %a = relax.tensor_from_storage %s at 64 : !relax.storage -> {T}
  %0 = relax.call_tir_inplace @exp(%x, %a) inplace [1] : ({T}, {T}) -> {T}
  %t = relax.alloc_storage 4*n align 64 : !relax.storage
  %b = relax.tensor_from_storage %t at 0 : !relax.storage -> {T}
  %1 = relax.call_library_inplace "lib.log"(%0, %b) inplace [1] : ({T}, {T}) -> {T}
  %i = arith.constant 0 : index
  %v = relax.reshape %0 to [n] : ({T}) -> {T}
  %2 = relax.call_tir_inplace @add(%v, %1, %b) inplace [2] : ({T}, {T}, {T}) -> {T}
  relax.kill %s : !relax.storage
  relax.return %2 : {T}
}}"""


def shown(plan):
    return [
        [(tensor.op, tensor.type, tensor.offset, tensor.bytes, tensor.begin, tensor.end) for tensor in storage.tensors]
        for storage in plan.storages
    ]


def test_tensors_lie_in_storages():
    (plan,) = plans_of(parse(PLANNED), {"n": 8})
    assert plan.steps == ("exp", "lib.log", "add", "return") and plan.sizes == {"n": 8}
    assert [(storage.bytes, storage.begin, storage.end) for storage in plan.storages] == [(96, 0, 2), (32, 1, 3)]
    type = "f32[n]"
    assert shown(plan) == [[("exp", type, 64, 32, 0, 2)], [("lib.log", type, 0, 32, 1, 2), ("add", type, 0, 32, 2, 3)]]
    assert len({tensor.name for storage in plan.storages for tensor in storage.tensors}) == 3
    assert (plan.unplanned, plan.planned, plan.lower_bound) == (96, 128, 64)


# A tensor that a branch or a loop hands on lives as long as what it becomes.
def test_control_flow():
    (plan,) = plans_of(
        parse(f"""
func.func private @exp(%x: {T}, %out: {T}) -> {T}
relax.func @main(%x: {T}, %c: i1) -> {T} {{
  %s = relax.alloc_storage 4*n align 64 : !relax.storage
  %a = relax.tensor_from_storage %s at 0 : !relax.storage -> {T}
  %0 = relax.call_tir_inplace @exp(%x, %a) inplace [1] : ({T}, {T}) -> {T}
  %1 = relax.if %c : i1 -> {T} {{
    relax.yield %0 : {T}
  }} else {{
    relax.yield %x : {T}
  }}
  %2 = relax.while %1 : ({T}) -> {T} {{
  ^bb0(%i: {T}):
    relax.condition %c : i1
  }} do {{
  ^bb0(%i: {T}):
    %t = relax.alloc_storage 4*n align 64 : !relax.storage
    %b = relax.tensor_from_storage %t at 0 : !relax.storage -> {T}
    %3 = relax.call_tir_inplace @exp(%i, %b) inplace [1] : ({T}, {T}) -> {T}
    relax.yield %3 : {T}
  }}
  relax.return %2 : {T}
}}"""),
        {},
    )
    assert plan.steps == ("exp", "if", "yield", "yield", "while", "condition", "exp", "yield", "return")
    (first,), (second,) = shown(plan)
    assert first[-2:] == (0, 8) and second[-2:] == (5, 8) and first[3] == 512
    assert [(storage.begin, storage.end) for storage in plan.storages] == [(0, 8), (5, 8)]
    assert plan.unplanned is plan.lower_bound is None


# All iterations need what a loop uses from the outside, and the first kernel of the next one what the last one made.
def test_lives_in_loops():
    (plan,) = plans_of(
        parse(f"""
func.func private @exp(%x: {T}, %out: {T}) -> {T}
func.func private @add(%x: {T}, %y: {T}, %out: {T}) -> {T}
relax.func @main(%x: {T}, %c: i1) -> {T} {{
  %s = relax.alloc_storage 4*n align 64 : !relax.storage
  %a = relax.tensor_from_storage %s at 0 : !relax.storage -> {T}
  %0 = relax.call_tir_inplace @exp(%x, %a) inplace [1] : ({T}, {T}) -> {T}
  %1 = relax.while %x : ({T}) -> {T} {{
  ^bb0(%i: {T}):
    relax.condition %c : i1
  }} do {{
  ^bb0(%i: {T}):
    %t = relax.alloc_storage 4*n align 64 : !relax.storage
    %b = relax.tensor_from_storage %t at 0 : !relax.storage -> {T}
    %2 = relax.call_tir_inplace @add(%i, %0, %b) inplace [2] : ({T}, {T}, {T}) -> {T}
    %u = relax.alloc_storage 4*n align 64 : !relax.storage
    %d = relax.tensor_from_storage %u at 0 : !relax.storage -> {T}
    %3 = relax.call_tir_inplace @exp(%2, %d) inplace [1] : ({T}, {T}) -> {T}
    relax.yield %3 : {T}
  }}
  relax.return %1 : {T}
}}"""),
        {},
    )
    assert plan.steps == ("exp", "while", "condition", "add", "exp", "yield", "return")
    lives = [(0, 5), (3, 4), (2, 6)]
    assert [(storage.begin, storage.end) for storage in plan.storages] == lives
    assert [tensor[-2:] for (tensor,) in shown(plan)] == lives


# Symbols of a program need not be in its storages.
def test_symbols_of_parameters():
    module = parse(f"""
relax.func @main(%x: {T}, %k: index {{relax.symbol = "k"}}, %s: !relax.shape<[m]>) -> {T} {{
  relax.return %x : {T}
}}""")
    assert plans_of(module, {"n": 2, "k": 3})[0].sizes == {"n": 2, "k": 3, "m": 128}


# Sizes for which a storage has no size are refused by name.
@pytest.mark.parametrize(
    "bytes, sizes, message",
    [
        ("4*n", {"n": 2**63}, "--sizes says n=9223372036854775808; expected at most 9223372036854775807"),
        ("4*n", {"n": 2**62}, "'4*n' has no value for n = 4611686018427387904: .*; give other values with --sizes"),
        ("4*n - 8", {"n": 1}, "'4*n - 8' is -4 for n = 1, and a size is not negative; give other values with --sizes"),
        ("8 floordiv n", {"n": 0}, "has no value for n = 0: "),
    ],
)
def test_storages_without_a_size(bytes, sizes, message):
    module = parse(f"""
relax.func @main(%x: {T}) -> {T} attributes {{relax.symbols = {{n = #relax.range<0>}}}} {{
  %s = relax.alloc_storage {bytes} align 64 : !relax.storage
  relax.return %x : {T}
}}""")
    with pytest.raises(RelaxError, match=message.replace("*n", r"\*n").replace("(", r"\(")):
        plans_of(module, sizes)


def test_sizes():
    module = parse(PLANNED)
    assert plans_of(module, {})[0].sizes == {"n": 96}  # the greatest within the bounds
    with pytest.raises(RelaxError, match="--sizes has 'm'; the symbols of the program are n"):
        plans_of(module, {"m": 3})
    for wrong in (0, 12, 104):
        with pytest.raises(RelaxError, match=f"--sizes says n={wrong}; expected 4 <= n <= 100"):
            plans_of(module, {"n": wrong})


def test_pictures(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    module = parse(PLANNED)
    assert list(draw(module)) == [Path("main-memory.png")]
    assert list(draw(module, {"n": 16}, tmp_path / "plan.svg")) == [tmp_path / "plan.svg"]
    text = (tmp_path / "plan.svg").read_text()
    for label in ("main for n = 16", "add", "lib.log", "f32[n]", "one by one", "planned", "lower bound"):
        assert label in text
    two = parse(PLANNED.replace("relax.func @main", "relax.func @other") + PLANNED[PLANNED.index("relax.func") :])
    assert [path.name for path in draw(two, {}, tmp_path / "plan.svg")] == ["plan-other.svg", "plan-main.svg"]


# The signs are part of the names; matplotlib would read formulas.
def test_pictures_of_odd_names(tmp_path):
    pytest.importorskip("matplotlib")
    module = parse(PLANNED.replace("@main", '@"$x_1$"').replace("@exp", '@"a$^$b"'))
    assert list(draw(module, {}, tmp_path / "plan.SVG")) == [tmp_path / "plan.SVG"]
    text = (tmp_path / "plan.SVG").read_text()
    assert "$x_1$ for n = 96" in text and "a$^$b" in text


def test_pictures_that_cannot_be_drawn(tmp_path, monkeypatch):
    module = parse(PLANNED)
    with pytest.raises(RelaxError, match="cannot draw to 'plan.gif'; expected a file that ends in .png, .svg, .pdf"):
        list(draw(module, {}, Path("plan.gif")))
    # The answer does not wait for the model.
    with pytest.raises(RelaxError, match="cannot draw to 'plan.gif'"):
        inspect("missing.gguf", layout=None, plot=True, output=Path("plan.gif"))
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    with pytest.raises(MissingPackageError, match="pip install matplotlib"):
        list(draw(module, {}, tmp_path / "plan.svg"))
    assert not list(tmp_path.iterdir())


# The table has the memory for given sizes next to its formula.
def test_inspect(tmp_path, capsys):
    path = tmp_path / "program.mlir"
    path.write_text(f"""relax.func @main(%x: {T}) -> {T} {{
  %0 = relax.exp %x : ({T}) -> {T}
  relax.return %0 : {T}
}}""")
    inspect(str(path), layout=None, sizes="n=10")
    assert re.search(r"main +│ 4\*n +│ 4\*n +│ 4\*n .*\n.*for n = 10 +│ 40 +│ 40 +│ 40 ", capsys.readouterr().out)
    with pytest.raises(RelaxError, match="--sizes has 'm'"):
        inspect(str(path), layout=None, sizes="m=10")
    path.write_text(f"""relax.func @main(%x: {T}) -> tensor<1x?xi64> {{
  %0 = relax.nonzero %x : ({T}) -> tensor<1x?xi64>
  relax.return %0 : tensor<1x?xi64>
}}""")
    inspect(str(path), layout=None, sizes="n=10")
    assert "n = 10" in capsys.readouterr().out

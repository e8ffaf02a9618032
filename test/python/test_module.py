# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules as text, bytecode and files."""

import subprocess
import sys

import numpy as np
import pytest
from mlir import ir

from relax_mlir import BlockBuilder, Module, Range, RelaxError, Sym, Tensor, load, op, parse

n = Sym("n")


@pytest.fixture
def module():
    bb = BlockBuilder()
    x = Tensor((n, 4), "f32")
    with bb.function("main", [x], symbols={n: Range(1, 2048, multiple_of=2)}):
        with bb.dataflow():
            y = bb.emit_output(op.add(op.exp(x), np.arange(4, dtype=np.float32)))
        bb.return_(op.match_cast(y, Tensor((n, 4))), op.shape((2 * n // 3, Sym.min(n, 7))))
    return bb.module()


def test_text_round_trips(module):
    assert str(parse(str(module))) == str(module)
    again = parse(module.to_text(locations=True))
    assert again.to_text(locations=True) == module.to_text(locations=True)


def test_bytecode_round_trips(module):
    again = parse(module.to_bytecode())
    assert str(again) == str(module)
    assert again.to_text(locations=True) == module.to_text(locations=True)


@pytest.mark.parametrize("name", ["model.mlir", "model.mlirbc", "model"])
def test_files_round_trip(module, tmp_path, name):
    path = tmp_path / name
    module.save(path)
    assert str(load(path)) == str(module)
    assert [entry.name for entry in tmp_path.iterdir()] == [name]
    is_bytecode = path.read_bytes().startswith(b"ML\xefR")
    assert is_bytecode == (name != "model.mlir")


def test_inspection(module):
    assert module.functions == ["main"]
    assert "main" in module and "other" not in module
    assert module["main"].name == "relax.func"
    with pytest.raises(KeyError, match="other"):
        module["other"]
    assert repr(module) == "Module(main)"


def test_clone_shares_nothing(module):
    text = str(module)
    copy = module.clone()
    assert str(copy) == text and copy != module
    copy["main"].attributes["sym_name"] = ir.StringAttr.get("other", module.context)
    assert str(module) == text


# --- bad input


def test_missing_and_unreadable_files(tmp_path, module):
    with pytest.raises(RelaxError, match=r"cannot read '.*missing.mlir': No such file"):
        load(tmp_path / "missing.mlir")
    with pytest.raises(RelaxError, match=r"cannot read"):
        load(tmp_path)
    with pytest.raises(RelaxError, match=r"cannot write '.*': No such file"):
        module.save(tmp_path / "no" / "folder.mlir")
    (tmp_path / "empty.mlir").write_text(" \n")
    with pytest.raises(RelaxError, match="is empty"):
        load(tmp_path / "empty.mlir")


def test_errors_name_the_file_and_the_line(tmp_path):
    path = tmp_path / "wrong.mlir"
    path.write_text("relax.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n  relax.return %y : tensor<4xf32>\n}\n")
    with pytest.raises(RelaxError, match="cannot load") as caught:
        load(path)
    assert "undeclared SSA value" in str(caught.value)
    assert "relax.return %y" in str(caught.value)
    assert caught.value.location.line == 2 and caught.value.location.file == str(path)


@pytest.mark.parametrize(
    "text, message",
    [
        ("relax.func @f(", "expected non-function type"),
        ("relax.func @f() { relax.nothing }", "custom op 'relax.nothing' is unknown"),
        ("func.func @f(%x: tensor<?xf32, #relax.shape<[n floordiv 0]>>)", "division by zero"),
        ("relax.func private @f(!relax.shape<[9223372036854775808]>)", "does not fit in 64 bits"),
        (
            "relax.func @f() attributes {relax.symbols = {n = #relax.range<3, 2>}} { relax.return }",
            "upper bound 2 is below the lower bound 3",
        ),
        ("\0", "it is neither bytecode nor text: it holds a zero byte"),
        ("\udcff", "surrogates not allowed"),
        ("}" * 1000, "expected operation name in quotes"),
    ],
)
def test_bad_text_is_an_error(text, message):
    with pytest.raises(RelaxError, match=message):
        parse(text)


def test_truncated_bytecode_is_an_error(module):
    """Bytecode truncated at every length, in a separate process, which an assertion or a fault would end."""
    program = """
import sys
from relax_mlir import RelaxError, parse
data = sys.stdin.buffer.read()
assert parse(data)
for size in range(1, len(data)):
    try:
        parse(data[:size])
    except RelaxError as error:
        assert str(error)
    else:
        raise AssertionError(f"accepted {size} of {len(data)} bytes")
print("survived")
"""
    result = subprocess.run(
        [sys.executable, "-c", program], input=module.to_bytecode(), capture_output=True, timeout=300
    )
    assert result.returncode == 0, result.stderr.decode(errors="replace")[-2000:]
    assert b"survived" in result.stdout


def test_text_that_is_no_utf8_is_an_error():
    for damage in (b"\xff", b"\xc3", b"\xed\xa0\x80"):
        for text in (b"relax.func @%s(", b'relax.func @f() attributes {"%s" = 1} {', b'func.func @"%s"() {'):
            with pytest.raises(
                RelaxError, match="expected to start with letter or '_'|expected operation name in quotes"
            ):
                parse(text % damage)


def test_invalid_modules_are_found_by_verify():
    operation = parse("relax.func @f(%x: tensor<4xf32>) -> tensor<4xf32> { relax.return %x : tensor<4xf32> }")
    operation["f"].attributes["function_type"] = ir.TypeAttr.get(
        ir.FunctionType.get([], [], operation.context), operation.context
    )
    with pytest.raises(RelaxError, match="entry block must have 0 arguments to match function signature"):
        operation.verify()
    assert isinstance(operation, Module)


def test_parse_of_a_path_points_to_load(tmp_path):
    with pytest.raises(RelaxError, match=r"parse takes text or bytecode, got \w*Path; for a file, load\(path\)"):
        parse(tmp_path / "model.mlir")


def test_clone_keeps_attributes_of_the_module():
    module = parse("module attributes {foo.x = 1 : i64} {}")
    assert str(module.clone()) == str(module)


def test_save_through_a_link_keeps_the_link(tmp_path):
    link = tmp_path / "link.mlir"
    link.symlink_to(tmp_path / "target.mlir")
    parse("module {}").save(link)
    assert link.is_symlink()
    assert str(load(tmp_path / "target.mlir")) == str(load(link))

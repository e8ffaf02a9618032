# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pipelines: passes with typed options, Python between them, printing, timing, reproducers."""

import io
import re
import shlex
import subprocess
from pathlib import Path

import numpy as np
import pytest
from conftest import find_tool
from mlir import ir

from relax_mlir import BlockBuilder, RelaxError, Sym, Tensor, _relax, compile, op, parse, pipelines
from relax_mlir.pipelines import (
    CSE,
    BindSymbols,
    Canonicalize,
    DeduceShapes,
    Pass,
    Pipeline,
    Simplify,
    cpu,
    gpu,
)

TWICE = """
relax.func @main(%x: tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>> {
  %0 = relax.exp %x : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
  %1 = relax.exp %x : (tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
  %2 = relax.add %0, %1 : (tensor<?xf32, #relax.shape<[n]>>, tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>
  relax.return %2 : tensor<?xf32, #relax.shape<[n]>>
}
"""  # noqa: E501


@pytest.fixture
def module():
    return parse(TWICE)


def test_passes_and_python_in_order(module):
    seen = []

    def count(module):
        seen.append(str(module).count("relax.exp"))

    report = Pipeline([count, CSE(), count, [Canonicalize(), Pipeline([count])]]).run(module)
    assert seen == [2, 1, 1]
    assert [timing.name for timing in report.timings] == [
        "count",
        "relax-cse",
        "count",
        "canonicalize",
        "count",
    ]
    assert "total" in str(report) and report.seconds > 0


def test_every_registered_pass_is_reachable(module):
    """Python has a class for each pass of relax-opt, and vice versa."""
    listing = subprocess.run([find_tool("relax-opt"), "--help"], capture_output=True, text=True).stdout
    registered = set(re.findall(r"^ +--(relax-[\w-]+)", listing, flags=re.MULTILINE))
    classes = {
        cls.argument: cls
        for cls in vars(pipelines).values()
        if isinstance(cls, type)
        and issubclass(cls, pipelines.BasePass)
        and getattr(cls, "argument", "").startswith("relax-")
    }
    assert registered, listing
    assert registered == set(classes)
    for argument, cls in classes.items():
        assert _relax.is_pass_registered(argument)
        assert cls.__doc__ and cls.__doc__[0].isupper()
        assert cls().to_text().split("(")[-1].startswith(argument)


@pytest.mark.parametrize(
    ("step", "text"),
    [
        (CSE(), "relax-cse"),
        (BindSymbols({"n": 128, Sym("m"): 4}), "relax-bind-symbols{symbols=n=128,m=4}"),
        (BindSymbols(["n=128"], function="main"), "relax-bind-symbols{symbols=n=128 function=main}"),
        (Canonicalize(), "canonicalize"),
        (Canonicalize(max_iterations=5, top_down=False), "canonicalize{max-iterations=5 top-down=false}"),
        (Pass("lower-affine", anchor="func.func"), "func.func(lower-affine)"),
        (Pass("inline", max_iterations=3), "inline{max-iterations=3}"),
        (Pass("p", names=["a", "b"]), "p{names=a,b}"),
        (Pass("p", values={"n": 128, "m": 4}), "p{values=n=128,m=4}"),
        (Pass("p", text="two words"), "p{text='two words'}"),
    ],
)
def test_passes_as_text(step, text):
    assert step.to_text() == text


def test_equal_passes_are_equal():
    assert Canonicalize() == Canonicalize() != Canonicalize(max_iterations=1)
    assert Pass("cse") == Pass("cse") != Pass("inline")
    assert len(Pipeline([CSE()]) + [Canonicalize()]) == 2
    assert repr(Pipeline([CSE(), Canonicalize()])) == "Pipeline([relax-cse, canonicalize])"


def test_upstream_passes_run(module):
    Pipeline([Pass("inline"), Pass("cse"), Pass("strip-debuginfo")]).run(module)
    assert str(module).count("relax.exp") == 1


def test_passes_of_the_project_run(module):
    Pipeline([DeduceShapes(), BindSymbols({"n": 128}), Simplify()]).run(module)
    assert "tensor<128xf32>" in str(module)
    assert str(module).count("relax.exp") == 1
    with pytest.raises(RelaxError, match="relax-bind-symbols"):
        Pipeline([BindSymbols({"z": 3})]).run(module, reproducer=False)


def test_printing(module):
    out = io.StringIO()
    Pipeline([CSE(), Canonicalize()]).run(module, print_after="relax-cse", timing=True, file=out)
    text = out.getvalue()
    assert text.count("relax.func @main") == 1
    assert text.startswith("// ----- after relax-cse -----")
    assert re.search(r"^ +\d+\.\d+ +\d+\.\d% +canonicalize$", text, flags=re.MULTILINE)
    out = io.StringIO()
    Pipeline([CSE(), Canonicalize()]).run(module, print_after=True, file=out)
    assert out.getvalue().count("relax.func @main") == 2
    with pytest.raises(RelaxError, match="print_after names 'cs'"):
        Pipeline([CSE()]).run(module, print_after=["cs"])


def test_what_is_no_pass(module):
    with pytest.raises(RelaxError, match="write CSE()"):
        Pipeline([CSE])
    with pytest.raises(RelaxError, match="is not a pass"):
        Pipeline(["cse"])
    text = str(module)
    # Names and options are checked before anything runs.
    with pytest.raises(RelaxError, match="there is no pass 'relax-nothing'"):
        Pipeline([CSE(), Pass("relax-nothing")]).run(module)
    with pytest.raises(RelaxError, match="no-such"):
        Pipeline([CSE(), Pass("canonicalize", no_such=1)]).run(module)
    assert str(module) == text


def test_failing_pass_writes_a_reproducer(tmp_path):
    module = parse("func.func @f(%x: memref<?xf32>) { return }")
    path = tmp_path / "it failed.mlir"
    # This pass fails on a module without the sequence that it should interpret.
    step = Pass("transform-interpreter", entry_point="nowhere")
    with pytest.raises(RelaxError, match="pass 'transform-interpreter") as caught:
        Pipeline([CSE(), step]).run(module, reproducer=path)
    message = str(caught.value)
    assert caught.value.diagnostics
    command = message.splitlines()[-1].strip()
    assert command.startswith("relax-opt --run-reproducer")
    # The file contains the module before that pass, and the command fails in the same way.
    words = shlex.split(command)
    assert words[-1] == str(path)
    assert "@f(%arg0: memref<?xf32>" in path.read_text()
    replay = subprocess.run([find_tool(words[0]), *words[1:]], capture_output=True, text=True)
    assert replay.returncode != 0
    assert caught.value.diagnostics[0].splitlines()[0] in replay.stderr


def test_reproducers_go_to_a_temporary_file_or_nowhere(tmp_path):
    module = parse("module {}")
    step = Pass("transform-interpreter", entry_point="nowhere")
    with pytest.raises(RelaxError) as caught:
        Pipeline([step]).run(module)
    path = Path(str(caught.value).split()[-1])
    assert path.is_file()
    path.unlink()
    with pytest.raises(RelaxError) as caught:
        Pipeline([step]).run(module, reproducer=False)
    assert "--run-reproducer" not in str(caught.value)
    with pytest.raises(RelaxError, match="cannot write the reproducer"):
        Pipeline([step]).run(module, reproducer=tmp_path / "no" / "folder.mlir")


def test_errors_of_python_passes(module):
    def breaks(module):
        list(module["main"].regions[0].blocks[0].operations)[-1].operation.erase()

    def refuses(module):
        raise RelaxError("no thanks")

    def crashes(module):
        raise KeyError("mine")

    with pytest.raises(RelaxError, match=r"Python pass 'refuses' \(step 2 of 2\) failed\nno thanks"):
        Pipeline([CSE(), refuses]).run(module)
    with pytest.raises(KeyError, match="mine"):
        Pipeline([crashes]).run(module)
    with pytest.raises(RelaxError, match="Python pass 'breaks'"):
        Pipeline([breaks]).run(module)


def test_module_that_a_pass_returns_is_refused(module):
    with pytest.raises(RelaxError, match="in place"):
        Pipeline([lambda module: module.clone()]).run(module)
    Pipeline([lambda module: module]).run(module)


CHAIN = """
relax.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relax.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = relax.exp %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = relax.exp %1 : (tensor<4xf32>) -> tensor<4xf32>
  relax.return %2 : tensor<4xf32>
}
"""


def called(module):
    """The kernels that `main` calls, in order."""
    operations = [operation.operation for operation in module["main"].regions[0].blocks[0].operations]
    return [str(call.attributes["callee"]) for call in operations if call.name == "relax.call_tir"]


def group_first_two(module):
    """Marks the first two calls of kernels as one group."""
    operations = module["main"].regions[0].blocks[0].operations
    first, second = [each.operation for each in operations if each.operation.name == "relax.call_tir"][:2]
    kernel = first.attributes["callee"]
    group = parse(f"""
        relax.func private @own(%x: tensor<4xf32>) -> tensor<4xf32> attributes {{pure, relax.primitive}} {{
          %0 = relax.call_tir {kernel}(%x) : (tensor<4xf32>) -> tensor<4xf32>
          %1 = relax.call_tir {kernel}(%0) : (tensor<4xf32>) -> tensor<4xf32>
          relax.return %1 : tensor<4xf32>
        }}
        func.func private {kernel}(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    """)
    module.ir.body.append(group["own"].clone(ip=False))
    attributes = {"callee": ir.FlatSymbolRefAttr.get("own", module.context), "pure": ir.UnitAttr.get(module.context)}
    with first.location, ir.InsertionPoint(second):
        call = ir.Operation.create("relax.call", [second.results[0].type], [first.operands[0]], attributes)
    second.results[0].replace_all_uses_with(call.results[0])
    second.erase()
    first.erase()


# Groups of a user's pass come first: the default passes neither take them apart nor add to them.
@pytest.mark.parametrize("target", [cpu, gpu], ids=["cpu", "gpu"])
def test_own_fusion(target):
    by_default, own = parse(CHAIN), parse(CHAIN)
    (target.make_kernels() + target.fuse_kernels()).run(by_default)
    assert len(called(by_default)) == 1
    (target.make_kernels() + target.fuse_kernels([group_first_two])).run(own)
    names = called(own)
    assert len(names) == 2 and names[0] == "@own" and names[1] != "@own"
    assert "group_first_two" in repr(target.default_pipeline(own_fusion=[group_first_two]))


# A function that the program marks is one kernel, which neither grows nor is taken apart, whatever fusion would do.
@pytest.mark.parametrize("target", [cpu, gpu], ids=["cpu", "gpu"])
def test_primitive_functions(target):
    bb, n = BlockBuilder(), Sym("n")
    with bb.function("scores", [Tensor((n, 8), "f32"), Tensor((8, 8), "f32")], primitive=True) as scores:
        x, w = scores.params
        bb.return_(op.matmul(op.softmax(op.matmul(x, w)), w))
    with bb.function("main", [Tensor((n, 8), "f32"), Tensor((8, 8), "f32")]) as main:
        x, w = main.params
        bb.return_(op.exp(bb.call(scores, op.exp(x), w)))
    module = bb.module()
    lowered = module.clone()
    (target.make_kernels() + target.fuse_kernels()).run(lowered)
    names = called(lowered)
    assert len(names) == 3 and names[1] == "@scores"
    if target is cpu:
        x, w = np.random.default_rng(0).standard_normal((2, 8, 8), np.float32)
        exponentials = np.exp(np.exp(x) @ w)
        expected = np.exp(exponentials / exponentials.sum(1, keepdims=True) @ w)
        np.testing.assert_allclose(compile(module)["main"](x, w), expected, rtol=1e-4)


def test_primitive_function_that_is_not_one_kernel():
    bb = BlockBuilder()
    with bb.function("flat", [Tensor((4, 4), "f32")], primitive=True) as flat:
        bb.return_(op.reshape(op.exp(flat.params[0]), (16,)))
    with bb.function("main", [Tensor((4, 4), "f32")]) as main:
        bb.return_(bb.call(flat, main.params[0]))
    with pytest.raises(RelaxError, match=r"@flat cannot become one kernel: it holds relax.reshape") as caught:
        compile(bb.module(), cached=False)
    assert str(caught.value).count("test_pipelines.py") == 2  # the function, and the op that is in the way

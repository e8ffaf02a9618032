# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Unsupported models and invalid calls, and their error messages."""

import subprocess
import sys

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import torch_programs as programs  # noqa: E402

from relax_mlir import FrontendError, ModelError, UnsupportedOpError, WeightError, op  # noqa: E402
from relax_mlir.frontends import torch as relax_torch  # noqa: E402
from relax_mlir.frontends.torch.decompositions import _KEPT  # noqa: E402
from relax_mlir.frontends.torch.registry import registry  # noqa: E402


@torch.library.custom_op("relax_test::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@torch.library.custom_op("relax_test::thrice", mutates_args=())
def thrice(x: torch.Tensor) -> torch.Tensor:
    return x * 3


twice.register_fake(torch.empty_like)
thrice.register_fake(torch.empty_like)


class Custom(torch.nn.Module):
    def forward(self, x):
        y = twice(x) + twice(x)
        return thrice(y)


SHAPES = {"x": {0: torch.export.Dim.AUTO}}


def test_all_missing_ops_are_reported_with_their_lines():
    with pytest.raises(UnsupportedOpError) as caught:
        programs.compiled(Custom(), (torch.randn(3),), SHAPES)
    assert caught.value.ops == {"relax_test::twice.default": 2, "relax_test::thrice.default": 1}
    message = str(caught.value)
    assert "2 PyTorch ops have no converter" in message
    assert "relax_test::twice.default, used 2 times" in message
    assert "y = twice(x) + twice(x)" in message and "return thrice(y)" in message
    assert caught.value.location.text.strip() == "y = twice(x) + twice(x)"


def test_converters_of_users():
    @relax_torch.register("relax_test::twice")
    def convert_twice(ctx, x):
        return op.multiply(x, ctx.tensor(2, x.dtype))

    @relax_torch.register("relax_test::thrice.default")
    def convert_thrice(ctx, x):
        return op.multiply(x, ctx.tensor(3, x.dtype))

    try:
        programs.compare(Custom(), (torch.randn(3),), (torch.randn(7),), shapes=SHAPES)
        with pytest.raises(ValueError, match="has a converter already"):
            relax_torch.register("relax_test::twice")(convert_twice)
    finally:
        del registry.converters["relax_test::twice"], registry.converters["relax_test::thrice.default"]


@pytest.mark.parametrize(
    "convert, message",
    [
        (lambda ctx, x: op.astype(x, "i64"), "elements of i64, expected f32"),
        (lambda ctx, x: op.expand_dims(x, [0]), "gives rank 2, expected 1"),
        (lambda ctx, x: op.concat([x, x]), "a size of 2*args_0_dim0, expected args_0_dim0"),
        (lambda ctx, x: 3, "gives 3, expected a tensor"),
        (lambda ctx: ctx, "does not take these arguments"),
    ],
    ids=["dtype", "rank", "size", "kind", "arguments"],
)
def test_wrong_converters_are_noticed(convert, message):
    relax_torch.register("relax_test::twice")(convert)
    try:
        with pytest.raises(FrontendError) as caught:
            programs.compiled(lambda x: twice(x), (torch.randn(3),), check_small=False)
        assert message in str(caught.value) and "relax_test::twice" in str(caught.value)
    finally:
        del registry.converters["relax_test::twice"]


def test_run_time_errors_name_the_line():
    class Scattered(torch.nn.Module):
        def forward(self, x, source):
            mask = x > 0
            return x.masked_scatter(mask, source)

    shapes = {"x": {0: torch.export.Dim.AUTO}, "source": {0: torch.export.Dim.AUTO}}
    run = programs.compiled(Scattered(), (torch.ones(3), torch.ones(5)), shapes)
    with pytest.raises(ValueError) as caught:
        run(torch.ones(4), torch.ones(3))
    message = str(caught.value)
    assert "true more often than the source has elements" in message
    assert "return x.masked_scatter(mask, source)" in message and "test_torch_errors.py" in message


def test_conditions_of_the_model_are_checked():
    class Checked(torch.nn.Module):
        def forward(self, x, count):
            n = count.item()
            torch._check(n >= 2, lambda: "too few")
            torch._check(n <= 5)
            return torch.full((n,), 0.5) + x

    run = programs.compiled(Checked(), (torch.ones(()), torch.tensor(3)), None)
    assert run(torch.ones(()), torch.tensor(4)).shape == (4,)
    for wrong in (1, 6):
        with pytest.raises(ValueError, match=r"Runtime assertion failed|too few|_check"):
            run(torch.ones(()), torch.tensor(wrong))


def test_a_square_example_ties_both_sizes():
    run = programs.compiled(lambda x: x + x.mT, (torch.randn(5, 5),))
    programs.check(run, lambda x: x + x.mT, (torch.randn(7, 7),))
    with pytest.raises(ValueError, match="args_0"):
        run(torch.randn(7, 6))


def test_a_program_that_pytorch_cannot_make_functional(monkeypatch):
    exported = torch.export.export(torch.nn.ReLU(), (torch.randn(3),))

    def fails(table):
        raise RuntimeError("no rule for this\nand more")

    monkeypatch.setattr(exported, "run_decompositions", fails)
    with pytest.raises(FrontendError, match="functional form: RuntimeError: no rule for this; where an input"):
        relax_torch.from_exported_program(exported)


def test_wrong_inputs():
    run = programs.compiled(lambda x: x + 1, (torch.randn(3, 4),), (({0: torch.export.Dim.AUTO},),))
    for wrong, what in (
        (torch.randn(3, 4).double(), "args_0"),
        (torch.randn(3), "args_0"),
        (torch.randn(3, 5), "args_0"),
    ):
        with pytest.raises((TypeError, ValueError), match=what):
            run(wrong)
    with pytest.raises(TypeError, match="takes 1 arguments by position, got 2|members"):
        run(torch.randn(3, 4), torch.randn(3, 4))


def test_arguments_by_name():
    class Both(torch.nn.Module):
        def forward(self, x, y, *, scale):
            return x * scale + y

    x, y, scale = torch.randn(3), torch.randn(3), torch.randn(3)
    run = relax_torch.export(Both().eval(), (x, y), {"scale": scale}).compile()
    torch.testing.assert_close(run(x, scale=scale, y=y), x * scale + y)
    for args, kwargs, what in (
        ((x, y), {"scale": scale, "x": y}, "got two values for the argument 'x'"),
        ((x, y), {"scale": scale, "z": y}, "has no argument 'z'; its arguments are: 'x', 'y', 'scale'"),
        ((x, y), {}, "needs the argument 'scale' by name"),
        ((x,), {"scale": scale}, "needs the argument 'y'"),
    ):
        with pytest.raises(TypeError, match=what):
            run(*args, **kwargs)


def test_unknown_elements_are_refused_by_name():
    with pytest.raises(FrontendError, match="elements of type torch.complex32 are not supported"):
        programs.compiled(lambda x: x.clone(), (torch.zeros(3, dtype=torch.complex32),), None)


def test_weights_without_elements():
    with torch.device("meta"):
        model = torch.nn.Linear(4, 4)
    with pytest.raises(WeightError, match="'weight' is on the device 'meta'"):
        relax_torch.export(model.eval(), (torch.randn(3, 4, device="meta"),))


def test_files_that_are_no_programs(tmp_path):
    (tmp_path / "x.pt2").write_bytes(b"no zip file")
    with pytest.raises(ModelError, match="is not a program that PyTorch"):
        relax_torch.from_exported_program(tmp_path / "x.pt2")


def test_saved_programs_keep_guards(tmp_path):
    def even(x):
        assert x.shape[0] % 3 == 0
        return x.reshape(-1, 3)

    exported = torch.export.export(
        programs.Model(even), (torch.randn(9),), dynamic_shapes=programs.auto(torch.randn(9))
    )
    torch.export.save(exported, tmp_path / "x.pt2")
    run = relax_torch.from_exported_program(tmp_path / "x.pt2").compile()
    torch.testing.assert_close(run(torch.arange(6.0)), torch.arange(6.0).reshape(2, 3))
    with pytest.raises(ValueError, match="args_0"):
        run(torch.arange(7.0))


def test_vouching_for_a_size_that_is_none():
    exported = torch.export.export(
        torch.nn.ReLU(), (torch.randn(3),), dynamic_shapes={"input": {0: torch.export.Dim.AUTO}}
    )
    with pytest.raises(FrontendError, match=r"'x.size\(0\)' is not a size of an input"):
        relax_torch.from_exported_program(exported, smallest={"x.size(0)": 1})


def test_kept_ops_have_converters():
    have = {name.partition("::")[2].partition(".")[0] for name in registry.converters}
    assert [name for name in _KEPT if name not in have] == []


def test_importing_the_package_does_not_import_the_front_end():
    program = "import sys, relax_mlir, relax_mlir.frontends.program; print('relax_mlir.frontends.torch' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert result.stdout.strip() == "False", result.stderr


def test_without_pytorch_the_error_says_what_to_install():
    program = """
import sys

sys.modules["torch"] = None
try:
    import relax_mlir.frontends.torch
except ImportError as error:
    print(type(error).__name__, error)
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert result.stdout.startswith("MissingPackageError") and "pip install torch" in result.stdout, result.stderr


def test_an_input_that_gets_another_shape_is_named():
    def function(x):
        x.t_()
        x[0] = 1
        return x

    with pytest.raises(FrontendError, match=r"changes the shape of the input 'args_0' from \[s\d+, 4\] to \[4, s"):
        programs.compiled(function, (torch.randn(5, 4),), (({0: torch.export.Dim.AUTO},),), check_small=False)

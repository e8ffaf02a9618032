# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`torch.compile(backend="relax")` without gradients: results, strides, memory, sizes, errors."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from torch._dynamo.exc import BackendCompilerFailed  # noqa: E402
from torch._dynamo.testing import CompileCounterWithBackend  # noqa: E402
from torch.fx.experimental import _config as shape_config  # noqa: E402

from relax_mlir.errors import FrontendError, UnsupportedOpError  # noqa: E402
from relax_mlir.frontends.torch import compile_backend  # noqa: E402
from relax_mlir.frontends.torch.lowering import op_name  # noqa: E402


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    torch.manual_seed(0)
    yield
    torch._dynamo.reset()


def check(function, *args, tolerance=1e-5, **options):
    """Compares one call with eager mode: values, types and strides. Returns the compiled function."""
    compiled = torch.compile(function, backend="relax", fullgraph=True, **options)
    compare(compiled, function, *args, tolerance=tolerance)
    return compiled


def compare(compiled, function, *args, tolerance=1e-5):
    with torch.no_grad():
        copies = [arg.clone() if isinstance(arg, torch.Tensor) else arg for arg in args]
        made, expected = compiled(*args), function(*copies)
    torch.testing.assert_close(made, expected, rtol=tolerance, atol=tolerance, equal_nan=True)
    torch.testing.assert_close(args, tuple(copies), rtol=tolerance, atol=tolerance)
    pairs = zip(made, expected) if isinstance(made, (tuple, list)) else [(made, expected)]
    for mine, other in pairs:
        if isinstance(other, torch.Tensor):
            assert mine.stride() == other.stride()


@pytest.fixture
def compiled_ops(monkeypatch):
    """The ops of the graphs that the backend compiles."""
    ops, compile_graph = [], compile_backend.compile_graph

    def recording(module, *args, **kwargs):
        ops.extend(op_name(node) for node in module.graph.nodes if node.op == "call_function")
        return compile_graph(module, *args, **kwargs)

    monkeypatch.setattr(compile_backend, "compile_graph", recording)
    return ops


def test_mlp_keeps_linear_maps_whole(compiled_ops):
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 8)).eval()
    check(model, torch.randn(5, 8))
    assert compiled_ops.count("aten::linear.default") == 2


@pytest.mark.parametrize(
    "norm, whole",
    [
        (torch.nn.BatchNorm1d, "aten::_native_batch_norm_legit_no_training.default"),
        (torch.nn.InstanceNorm1d, "aten::instance_norm.default"),
    ],
)
def test_norms_update_their_running_statistics(norm, whole, compiled_ops):
    mine, other = (norm(4, affine=True, track_running_stats=True) for _ in range(2))
    compiled = torch.compile(mine, backend="relax")
    with torch.no_grad():
        for _ in range(2):
            x = torch.randn(3, 4, 7)
            torch.testing.assert_close(compiled(x), other(x))
    torch.testing.assert_close(mine.running_mean, other.running_mean)
    torch.testing.assert_close(mine.running_var, other.running_var)
    assert whole not in compiled_ops
    mine.eval(), other.eval()
    with torch.no_grad():
        torch.testing.assert_close(torch.compile(mine, backend="relax")(x), other(x))
    assert whole in compiled_ops


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16", "int64", "int32", "uint8", "bool"])
def test_element_types(dtype):
    dtype = getattr(torch, dtype)
    x = torch.randn(3, 4).to(dtype) if dtype.is_floating_point else torch.randint(0, 2, (3, 4)).to(dtype)
    check(lambda x, y: (torch.maximum(x, y), x == y, torch.where(x.bool(), x, y)), x, x.flip(0))


def test_results_have_the_strides_of_the_trace():
    def function(x):
        y = x + 1
        turned = y.t(), y.permute(1, 0).contiguous()
        return *turned, y[:, None].expand(-1, 3, -1), (y * 2)[:, 1:3], y.sum(0, keepdim=True)

    check(function, torch.randn(5, 4))
    check(lambda x: torch.nn.functional.conv2d(x, torch.ones(2, 3, 2, 2)), torch.randn(2, 3, 5, 4))
    check(lambda x: x * 2, torch.randn(5, 4).t())
    check(lambda x: x * 2, torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last))


def test_views_of_inputs_share_their_memory():
    compiled = check(lambda x: (x, x.t(), x[1:], x.view(-1), x.clone(), x * 1), torch.randn(4, 4))
    x = torch.randn(4, 4)
    same, turned, part, flat, copy, product = compiled(x)
    x[1, 2] = 7
    assert same is x and turned[2, 1] == 7 and part[0, 2] == 7 and flat[6] == 7
    assert copy[1, 2] != 7 and product[1, 2] != 7


def test_results_share_no_memory_unless_they_do_in_eager():
    def function(x):
        y = x + 1
        return y, y.clone(), x + 1, y.view(-1)

    first, second, third, view = torch.compile(function, backend="relax")(torch.zeros(2, 3))
    first[0, 0] = 5
    assert second[0, 0] == 1 and third[0, 0] == 1 and view[0] == 5


def test_inputs_are_changed_in_place():
    def swap(x, y):
        old = x.clone()
        x.copy_(y)
        y.copy_(old)
        return x.sum(), old

    check(swap, torch.randn(3), torch.randn(3))

    def cache(keys, new, position):
        keys.index_copy_(1, position, new)
        return keys * 2

    check(cache, torch.zeros(2, 8, 3), torch.randn(2, 2, 3), torch.tensor([4, 5]))

    def returned(x):
        x.add_(1)
        return x[0], x

    compiled = check(returned, torch.randn(3, 2))
    x = torch.zeros(3, 2)
    row, whole = compiled(x)
    row[0] = 9
    assert x[0, 0] == 9 and whole.data_ptr() == x.data_ptr()

    base = torch.arange(6.0)
    expected = base.clone()
    overlapping = torch.compile(lambda x, y: x.add_(y), backend="relax")
    overlapping(base[:4], base[2:])
    expected[:4].add_(expected[2:].clone())
    torch.testing.assert_close(base, expected)


def test_running_statistics():
    compiled, eager = torch.nn.BatchNorm1d(3), torch.nn.BatchNorm1d(3)
    run = torch.compile(compiled, backend="relax")
    for _ in range(2):
        x = torch.randn(5, 3)
        with torch.no_grad():
            torch.testing.assert_close(run(x), eager(x))
    torch.testing.assert_close(compiled.state_dict(), eager.state_dict())


def test_nothing_is_copied():
    x = torch.randn(64, 64)
    compiled = torch.compile(lambda x: torch._dynamo.graph_break() or x.view(-1), backend="relax")
    assert compiled(x).data_ptr() == x.data_ptr()


# --- sizes


def test_sizes_of_one_and_zero_without_compiling_again():
    def function(x, w):
        return torch.softmax(x @ w, -1), x.shape[0] * 2, x.reshape(-1)

    counter = CompileCounterWithBackend("relax")
    compiled = torch.compile(function, backend=counter, fullgraph=True)
    w = torch.randn(4, 3)
    for size in (5, 7, 1, 0, 2):
        x = torch.randn(size, 4)
        torch._dynamo.mark_dynamic(x, 0)
        with shape_config.patch(backed_size_oblivious=True):
            compare(compiled, function, x, w)
    assert counter.frame_count == 1


def test_automatic_dynamic_sizes():
    def function(x, n):
        return x * n, x.shape[0] // 2 + n, x.shape[0] / 4, n * 0.5, x * (x.shape[0] / 3)

    counter = CompileCounterWithBackend("relax")
    compiled = torch.compile(function, backend=counter)
    for size, n in ((5, 3), (6, 4), (9, -7), (12, 100)):
        compare(compiled, function, torch.randn(size, 2), n)
    assert counter.frame_count == 2


def test_floats_as_arguments():
    compiled = torch.compile(lambda x, s: (x * s, s + 1), backend="relax")
    for scale in (1.5, 2.5, -3.25):
        compare(compiled, lambda x, s: (x * s, s + 1), torch.randn(3), scale)


def test_squeeze_of_a_size_that_becomes_one():
    def function(x):
        return x.squeeze(0) * 2

    counter = CompileCounterWithBackend("relax")
    compiled = torch.compile(function, backend=counter)
    for size in (3, 5, 1):
        x = torch.randn(size, 4)
        torch._dynamo.maybe_mark_dynamic(x, 0)
        with shape_config.patch(backed_size_oblivious=size == 3):
            compare(compiled, function, x)
    assert counter.frame_count == 2
    torch._dynamo.reset()
    torch._dynamo.mark_dynamic(x, 0)
    with shape_config.patch(backed_size_oblivious=True):
        with pytest.raises(BackendCompilerFailed, match="squeeze was traced"):
            compiled(x)


def test_squeeze_of_a_size_without_an_example():
    def function(x):
        return x.squeeze(0) * 2

    compiled = torch.compile(function, backend="relax")
    for size in (3, 1):
        x = torch.randn(size, 4)
        torch._dynamo.decorators.mark_unbacked(x, 0)
        if size == 1:
            with pytest.raises(ValueError, match="axis 0 was traced for sizes other than 1"):
                compiled(x)
        else:
            compare(compiled, function, x)


def test_transformations_and_modes_inside():
    def function(x):
        with torch.no_grad():
            y = torch.func.vmap(lambda row: row.sum() * row)(x)
        return y + torch.func.grad(lambda z: (z**3).sum())(x)

    check(function, torch.randn(3, 4))


def test_sizes_that_only_a_run_knows():
    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True, capture_scalar_outputs=True):
        compiled = check(lambda x: (x[x > 0] * 2, (x > 0).sum().item() + 1), torch.tensor([1.0, -1, 2]))
        compare(compiled, lambda x: (x[x > 0] * 2, (x > 0).sum().item() + 1), torch.tensor([-1.0, -1, -2]))


# --- models


def test_attention_and_norms():
    class Block(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.norm, self.qkv, self.out = torch.nn.LayerNorm(16), torch.nn.Linear(16, 48), torch.nn.Linear(16, 16)

        def forward(self, x):
            q, k, v = self.qkv(self.norm(x)).view(*x.shape[:2], 3, 4, 4).permute(2, 0, 3, 1, 4)
            made = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            return x + self.out(made.transpose(1, 2).reshape(x.shape))

    model = Block().eval()
    compiled = check(model, torch.randn(2, 5, 16))
    compare(compiled, model, torch.randn(3, 7, 16))


def test_inference_mode_and_autocast():
    model = torch.nn.Linear(8, 4)
    compiled = torch.compile(model, backend="relax")
    x = torch.randn(3, 8)
    with torch.inference_mode():
        torch.testing.assert_close(compiled(x), model(x))
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        made = compiled(x)
        assert made.dtype == torch.bfloat16
        torch.testing.assert_close(made, model(x), rtol=2e-2, atol=2e-2)


def test_random_numbers_are_those_of_eager():
    def function(x):
        return torch.nn.functional.dropout(x, 0.25) + torch.rand_like(x), torch.randn(3), torch.randint(9, (4,))

    compiled = torch.compile(function, backend="relax", fullgraph=True)
    x = torch.randn(50, 7)
    with torch.no_grad():
        torch.manual_seed(3)
        made = compiled(x)
        torch.manual_seed(3)
        torch.testing.assert_close(made, function(x))


def test_random_numbers_of_tensors_that_are_not_contiguous_are_those_of_eager():
    def function(x):
        return torch.nn.functional.dropout(x.T, 0.5), torch.nn.functional.dropout(x.expand(3, -1, -1), 0.5)

    compiled = torch.compile(function, backend="relax", fullgraph=True)
    for requires_grad in (False, True):
        x = torch.randn(5, 7, requires_grad=requires_grad)
        torch.manual_seed(3)
        made = compiled(x)
        torch.manual_seed(3)
        torch.testing.assert_close(made, function(x))
        assert [y.stride() for y in made] == [y.stride() for y in function(x)]


def test_samples_of_probabilities_are_those_of_eager():
    def function(x):
        return x.multinomial(1), x.multinomial(2), x.multinomial(9, replacement=True)

    compiled = torch.compile(function, backend="relax", fullgraph=True)
    x = torch.rand(20, 4)
    torch.manual_seed(3)
    made = compiled(x)
    torch.manual_seed(3)
    torch.testing.assert_close(made, function(x))
    with pytest.raises(ValueError, match="multinomial.default: a probability is not valid"):
        compiled(-x)


def test_attention_that_drops_without_gradients():
    model = torch.nn.MultiheadAttention(8, 2, dropout=0.5)
    compiled = torch.compile(model, backend="relax")
    x = torch.randn(3, 5, 8)
    with torch.no_grad():
        torch.manual_seed(3)
        made = compiled(x, x, x, need_weights=False)[0]
        torch.manual_seed(3)
        torch.testing.assert_close(made, model(x, x, x, need_weights=False)[0])


def test_draws_that_depend_on_elements_are_refused():
    compiled = torch.compile(lambda x: torch.nn.functional.rrelu(x, training=True), backend="relax")
    with pytest.raises(BackendCompilerFailed, match="depends on what is in a tensor, which torch.compile cannot draw"):
        compiled(torch.randn(3))


# --- errors and options


@torch.library.custom_op("relax_test::unknown", mutates_args=())
def unknown(x: torch.Tensor) -> torch.Tensor:
    return x.clone()


@torch.library.custom_op("relax_test::unknown_too", mutates_args=())
def unknown_too(x: torch.Tensor) -> torch.Tensor:
    return x.clone()


unknown.register_fake(torch.empty_like)
unknown_too.register_fake(torch.empty_like)


def test_ops_without_a_converter_are_listed_with_lines():
    def function(x):
        y = unknown(x)
        return unknown_too(y)

    with pytest.raises(BackendCompilerFailed) as caught:
        torch.compile(function, backend="relax")(torch.randn(3, 3))
    error = caught.value.inner_exception
    assert isinstance(error, UnsupportedOpError)
    assert {"relax_test::unknown.default", "relax_test::unknown_too.default"} == set(error.ops)
    assert re.search(r"test_torch_compile.py:\d+ in function: return unknown_too\(y\)", str(error))


def test_complex_inputs_are_named():
    with pytest.raises(BackendCompilerFailed, match="input '.*' of the graph is complex"):
        torch.compile(lambda x: x * 2, backend="relax")(torch.randn(3, dtype=torch.complex64))


def test_errors_at_run_time_name_the_line():
    def function(x, index):
        return x.index_select(0, index)

    compiled = torch.compile(function, backend="relax")
    compiled(torch.randn(3, 2), torch.tensor([0, 2]))
    with pytest.raises((IndexError, ValueError), match=r"(?s)test_torch_compile.py:\d+.*x.index_select\(0, index\)"):
        compiled(torch.randn(3, 2), torch.tensor([0, 3]))


def test_tensors_on_several_devices_name_the_line():
    with pytest.raises(BackendCompilerFailed, match=r"(?s)on meta, other tensors of the graph on cpu.*x.to\("):
        torch.compile(lambda x: x.to("meta"), backend="relax")(torch.randn(3))


def test_options():
    model = torch.nn.Linear(4, 2)
    x = torch.randn(3, 4)
    with torch.no_grad():
        torch.testing.assert_close(torch.compile(model, backend="relax", options={"target": "cpu"})(x), model(x))
        for options, message in (
            ({"targets": "cpu"}, "no option 'targets'; there are target, use_bounds, cached"),
            ({"cached": 3}, "the option 'cached' is 3; expected True or False"),
            ({"target": "vulkan:subgroup_32"}, "is for vulkan, but the tensors are on cpu"),
        ):
            torch._dynamo.reset()
            with pytest.raises(BackendCompilerFailed, match=message) as caught:
                torch.compile(model, backend="relax", options=options)(x)
            assert isinstance(caught.value.inner_exception, FrontendError)


def test_entry_point():
    """In a separate process, so that PyTorch looks up the backend in an installed package that is not imported yet."""
    text = (Path(__file__).parents[4] / "pyproject.toml").read_text()
    (value,) = re.findall(r'torch_dynamo_backends\]\nrelax = "(.*)"', text)
    program = f"""
import torch
from importlib.metadata import EntryPoint
from torch._dynamo.backends import registry
registry._BACKENDS["relax"] = EntryPoint("relax", {value!r}, "torch_dynamo_backends")
made = torch.compile(lambda x: x + 1, backend="relax")(torch.ones(2))
assert made.tolist() == [2, 2]
import relax_mlir.frontends.torch
assert registry.lookup_backend("relax")
"""
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")
def test_cuda():
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.GELU(), torch.nn.Linear(16, 8)).cuda()
    compiled = torch.compile(model, backend="relax")
    with torch.no_grad(), torch.cuda.stream(torch.cuda.Stream()):
        for size in (3, 5):
            x = torch.randn(size, 8, device="cuda")
            torch.testing.assert_close(compiled(x), model(x), rtol=1e-4, atol=1e-4)
    x = torch.randn(4, 8, device="cuda")
    expected = torch.autograd.grad(model(x).square().sum(), list(model.parameters()))
    made = torch.autograd.grad(compiled(x).square().sum(), list(model.parameters()))
    torch.testing.assert_close(made, expected, rtol=1e-4, atol=1e-4)

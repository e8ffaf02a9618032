# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`torch.compile(backend="relax")` with gradients: of ops, of models, and in complete training steps."""

import copy

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from torch._dynamo.testing import CompileCounterWithBackend  # noqa: E402
from torch.nn import functional as F  # noqa: E402

import relax_mlir.frontends.torch  # noqa: E402, F401 - registers the backend

ONE_OF = 3  # each case exports and compiles a program


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    torch.manual_seed(0)
    yield
    torch._dynamo.reset()


def leaves(*shapes, dtype=torch.float64):
    return [torch.randn(shape, dtype=dtype, requires_grad=True) for shape in shapes]


def check(function, *args, tolerance=1e-9, compiled=None):
    """Compares results and gradients with eager mode. Returns the compiled function."""
    compiled = compiled or torch.compile(function, backend="relax", fullgraph=True)
    inputs = [arg for arg in args if isinstance(arg, torch.Tensor) and arg.requires_grad]
    made, expected = (as_list(run(*args)) for run in (compiled, function))
    torch.testing.assert_close(made, expected, rtol=tolerance, atol=tolerance)
    wanted = [index for index, result in enumerate(expected) if result.requires_grad]
    assert [result.requires_grad for result in made] == [result.requires_grad for result in expected]
    outer = [torch.randn_like(expected[index]) for index in wanted]
    gradients = [
        torch.autograd.grad([results[index] for index in wanted], inputs, outer, allow_unused=True)
        for results in (made, expected)
    ]
    torch.testing.assert_close(*gradients, rtol=tolerance, atol=tolerance)
    return compiled


def as_list(result):
    return list(result) if isinstance(result, (tuple, list)) else [result]


CASES = {
    "linear": (lambda x, w, b: F.linear(x, w, b).relu(), (2, 3, 4), (5, 4), (5,)),
    "matmul": (lambda x, y: (x @ y, x.mT @ x), (3, 4), (4, 5)),
    "activations": (lambda x: (F.gelu(x), F.silu(x), F.gelu(x, approximate="tanh"), F.softplus(x), F.elu(x)), (3, 4)),
    "softmax": (lambda x: (x.softmax(-1), x.log_softmax(0), x.logsumexp(1)), (3, 4)),
    "layer_norm": (lambda x, w, b: F.layer_norm(x, (4,), w, b), (2, 3, 4), (4,), (4,)),
    "rms_norm": (lambda x, w: F.rms_norm(x, (4,), w), (2, 3, 4), (4,)),
    "group_norm": (lambda x, w, b: F.group_norm(x, 2, w, b), (2, 4, 3, 5), (4,), (4,)),
    "batch_norm": (lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True), (3, 4, 5, 2), (4,), (4,)),
    "conv1d": (lambda x, w, b: F.conv1d(x, w, b, padding=1), (2, 3, 7), (4, 3, 3), (4,)),
    "conv2d": (lambda x, w, b: F.conv2d(x, w, b, stride=2, padding=1), (2, 3, 8, 7), (4, 3, 3, 3), (4,)),
    "conv2d_grouped": (
        lambda x, w: F.conv2d(x, w, dilation=(1, 2), stride=(3, 1), groups=2),
        (2, 4, 8, 9),
        (6, 2, 3, 2),
    ),
    "conv_transpose2d": (
        lambda x, w: F.conv_transpose2d(x, w, stride=2, padding=1, output_padding=1, groups=2),
        (2, 4, 5, 3),
        (4, 3, 3, 3),
    ),
    "conv_transpose1d": (
        lambda x, w: F.conv_transpose1d(x, w, stride=2, dilation=3, output_padding=2),
        (2, 3, 5),
        (3, 4, 2),
    ),
    "max_pool2d": (lambda x: F.max_pool2d(x, 3, 2, padding=1), (2, 3, 7, 8)),
    "avg_pool2d": (
        lambda x: (F.avg_pool2d(x, 3, 2, padding=1), F.avg_pool2d(x, (2, 3), 2, 1, True, False)),
        (2, 3, 7, 8),
    ),
    "adaptive_avg_pool2d": (lambda x: (F.adaptive_avg_pool2d(x, (3, 2)), F.adaptive_avg_pool2d(x, 1)), (2, 3, 7, 5)),
    "padding": (lambda x: [F.pad(x, (2, 1, -1, 2), mode=m) for m in ("replicate", "reflect")], (2, 3, 4, 5)),
    "distances": (lambda x, y: [torch.cdist(x, y, p) for p in (1.0, 2.0, 3.0, float("inf"))], (2, 4, 3), (2, 5, 3)),
    "adaptive_max_pool2d": (lambda x: F.adaptive_max_pool2d(x, (3, 2)), (2, 3, 7, 5)),
    "attention": (lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True), *[(2, 3, 5, 4)] * 3),
    "attention_mask": (
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, torch.ones(5, 6, dtype=torch.bool).tril(), scale=0.3),
        *((2, 3, 5, 4), (2, 3, 6, 4), (2, 3, 6, 4)),
    ),
    "attention_groups": (
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, enable_gqa=True),
        *((2, 4, 5, 4), (2, 2, 6, 4), (2, 2, 6, 4)),
    ),
    "embedding": (lambda w: F.embedding(torch.tensor([[1, 2, 1], [0, 3, 2]]), w, padding_idx=2), (5, 4)),
    "cross_entropy": (lambda x: F.cross_entropy(x, torch.tensor([1, 0, -100]), label_smoothing=0.1), (3, 5)),
    "views": (lambda x: (x.t()[1:].unsqueeze(0), x.view(-1)[::2], torch.cat([x, x * 2], 1).chunk(2)[0]), (4, 4)),
    "indices": (
        lambda x: (x[[2, 0, 2]], x.gather(1, torch.tensor([[0, 1]])), x.index_select(1, torch.tensor([1]))),
        (3, 4),
    ),
    "reductions": (lambda x: (x.mean(0), x.amax(1), x.prod(1), x.std(), x.cumsum(0), x.norm()), (3, 4)),
    "broadcast": (lambda x, y: (x * y + y, torch.where(x > 0, x, y), x.clamp(-1, 1)), (3, 4), (4,)),
}


@pytest.mark.parametrize("name", CASES)
def test_gradients(name):
    function, *shapes = CASES[name]
    check(function, *leaves(*shapes))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_narrow_types(dtype):
    def function(x, w, b):
        return F.layer_norm(x @ w, (4,), b, b).softmax(-1)

    check(function, *leaves((3, 5), (5, 4), (4,), dtype=dtype), tolerance=3e-2)


def test_dynamic_sizes_need_one_compilation():
    counter = CompileCounterWithBackend("relax")

    def function(x, w):
        return torch.softmax(x @ w, -1).sum(0), x.shape[0]

    compiled = torch.compile(function, backend=counter, dynamic=True)
    for size in (7, 5, 8):
        x, w = leaves((size, 4), (4, 3))
        check(lambda *args: function(*args)[0], x, w, compiled=lambda *args: compiled(*args)[0])
    assert counter.frame_count == 1


def test_saved_tensors_and_results_are_apart():
    (x,) = leaves((3,))
    y = torch.compile(lambda x: (x.exp(), x.detach().clone()), backend="relax")(x)
    y[1].add_(1)
    torch.testing.assert_close(x + 1, y[1])
    with torch.no_grad():
        y[0].mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y[0].sum().backward()


# --- models


class Convolutional(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm = torch.nn.Conv2d(1, 4, 3, padding=1), torch.nn.BatchNorm2d(4)
        self.second, self.head = torch.nn.Conv2d(4, 6, 3, stride=2), torch.nn.Linear(6, 3)

    def forward(self, x):
        x = F.max_pool2d(self.norm(self.first(x)).relu(), 2)
        return self.head(F.adaptive_avg_pool2d(self.second(x).relu(), 1).flatten(1))


class Language(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(17, 16)
        layer = torch.nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, activation="gelu", batch_first=True)
        self.layers = torch.nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.head = torch.nn.Linear(16, 17)
        self.head.weight = self.embed.weight

    def forward(self, ids):
        mask = torch.nn.Transformer.generate_square_subsequent_mask(ids.shape[1])
        return self.head(self.layers(self.embed(ids), mask=mask, is_causal=True)).transpose(1, 2)


def train(model, forward, batches, optimizer, compiles_step=False):
    """The loss of each step."""
    optimizer = optimizer(model.parameters())

    def step():
        optimizer.step()

    step = torch.compile(step, backend="relax") if compiles_step else step
    losses = []
    for inputs, targets in batches:
        optimizer.zero_grad()
        loss = F.cross_entropy(forward(inputs), targets)
        loss.backward()
        step()
        losses.append(loss.item())
    return losses


@pytest.mark.parametrize(
    ("kind", "optimizer"), [("cnn", "sgd"), ("cnn", "compiled adamw"), ("lm", "adamw"), ("lm", "compiled sgd")]
)
def test_training_converges_as_eager_does(kind, optimizer):
    if kind == "cnn":
        model = Convolutional()
        batches = [(torch.randn(8, 1, 10, 10), torch.randint(3, (8,)))] * 6
    else:
        model = Language()
        ids = torch.randint(17, (4, 9))
        batches = [(ids[:, :-1], ids[:, 1:])] * 6
    is_sgd = optimizer.endswith("sgd")
    make = (lambda p: torch.optim.SGD(p, 0.1, momentum=0.9)) if is_sgd else (lambda p: torch.optim.AdamW(p, 0.01))
    other = copy.deepcopy(model)
    expected = train(other, other, batches, make)
    made = train(model, torch.compile(model, backend="relax"), batches, make, optimizer.startswith("compiled"))
    torch.testing.assert_close(made, expected, rtol=1e-3, atol=1e-4)
    assert made[-1] < made[0]
    if is_sgd:  # AdamW divides by the magnitude of a gradient, even if that is only a rounding error
        torch.testing.assert_close(model.state_dict(), other.state_dict(), rtol=1e-3, atol=1e-4)


def test_dropout_draws_as_eager_does():
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Dropout(0.4), torch.nn.Linear(8, 2))
    compiled = torch.compile(model, backend="relax")
    x = torch.randn(5, 8)
    gradients = []
    for run in (compiled, model):
        torch.manual_seed(1)
        gradients.append(torch.autograd.grad(run(x).square().sum(), list(model.parameters())))
    torch.testing.assert_close(*gradients)


def test_llama():
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    config = transformers.LlamaConfig(
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        vocab_size=61,
    )
    model = transformers.LlamaForCausalLM(config)
    compiled = torch.compile(model, backend="relax")
    ids = torch.randint(61, (2, 7))
    with torch.no_grad():
        torch.testing.assert_close(
            compiled(ids, use_cache=False).logits, model(ids, use_cache=False).logits, rtol=1e-4, atol=1e-5
        )
    gradients = [
        torch.autograd.grad(run(ids, labels=ids, use_cache=False).loss, list(model.parameters()))
        for run in (compiled, model)
    ]
    torch.testing.assert_close(*gradients, rtol=1e-3, atol=1e-5)

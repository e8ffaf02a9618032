# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random valid programs with symbolic shapes.

A program grows op by op. Each builder picks operands that fit (an earlier value, or a new
parameter), writes the op, and states the result type with its own formula for every dimension, so
that a program is valid only if relax-opt deduces the same. Dimensions are integers, expressions
as text, or None for an unknown one.
"""

import random
import re
from dataclasses import dataclass, field

from conftest import ROOT

SYMBOLS = ("n", "m", "k", "batch")
FLOATS = ("f32", "f16", "bf16")


def add(*dims):
    if None in dims:
        return None
    texts = [dim for dim in dims if isinstance(dim, str)]
    constant = sum(dim for dim in dims if isinstance(dim, int))
    if not texts:
        return constant
    return " + ".join(texts + ([str(constant)] if constant else []))


def mul(dim, factor):
    if dim is None or factor == 0:
        return 0 if factor == 0 else None
    return dim * factor if isinstance(dim, int) else f"{factor}*({dim})"


def floordiv(dim, divisor):
    if dim is None:
        return None
    return dim // divisor if isinstance(dim, int) else f"({dim}) floordiv {divisor}"


def shape_text(dims):
    return "[" + ", ".join("?" if dim is None else str(dim) for dim in dims) + "]"


def tensor_type(dims, dtype):
    sizes = "".join(f"{dim if isinstance(dim, int) else '?'}x" for dim in dims)
    if any(isinstance(dim, str) for dim in dims):
        return f"tensor<{sizes}{dtype}, #relax.shape<{shape_text(dims)}>>"
    return f"tensor<{sizes}{dtype}>"


def array(values):
    return "array<i64: " + ", ".join(map(str, values)) + ">"


def attributes(**values):
    """`{a = 1, b = 2}` in the order of names, or nothing."""
    return " {" + ", ".join(f"{name} = {values[name]}" for name in sorted(values)) + "}" if values else ""


@dataclass(frozen=True)
class Value:
    name: str
    dims: tuple
    dtype: str

    @property
    def type(self):
        return tensor_type(self.dims, self.dtype)

    @property
    def rank(self):
        return len(self.dims)

    @property
    def is_float(self):
        return self.dtype in FLOATS


def known_ops():
    """The ops of the dialect, as the reference lists them."""
    text = "".join(page.read_text() for page in (ROOT / "docs/generated/ops").glob("*.md"))
    return set(re.findall(r"^### `relax\.(\w+)`", text, re.M))


BUILDERS = []


def builder(*ops):
    """Registers a method that adds an op, if the dialect has all of `ops`."""

    def register(function):
        BUILDERS.append((ops, function))
        return function

    return register


@dataclass
class Program:
    """One relax.func, named `name`, of about `size` ops."""

    rng: random.Random
    name: str
    size: int
    parameters: list = field(default_factory=list)
    values: list = field(default_factory=list)
    lines: list = field(default_factory=list)
    counter: int = 0

    def fresh(self):
        self.counter += 1
        return f"%v{self.counter}"

    def dim(self):
        choices = [*SYMBOLS, *SYMBOLS, 1, 2, 3, 4, 7, 8, 64, "2*n", "n + 1", "n*m", "4*k + 3", "max(n, m)"]
        return self.rng.choice(choices)

    def parameter(self, dims, dtype):
        value = Value(f"%p{len(self.parameters)}", tuple(dims), dtype)
        self.parameters.append(value)
        self.values.append(value)
        return value

    def pick(self, rank=None, floats=True):
        """A value that fits, or a new parameter if there is none, or by chance."""
        fitting = [
            value for value in self.values if (rank is None or value.rank == rank) and (not floats or value.is_float)
        ]
        if fitting and self.rng.random() < 0.85:
            return self.rng.choice(fitting[-12:])
        dims = [self.dim() for _ in range(self.rng.randint(1, 4) if rank is None else rank)]
        return self.parameter(dims, self.rng.choice(FLOATS))

    def emit(self, text, operands, dims, dtype):
        """`text` is the op with its operands and attributes. Sometimes the type is made coarser."""
        dims = tuple(dims)
        if self.rng.random() < 0.1:
            dims = tuple(None if self.rng.random() < 0.3 else dim for dim in dims)
        result = Value(self.fresh(), dims, dtype)
        types = ", ".join(operand if isinstance(operand, str) else operand.type for operand in operands)
        self.lines.append(f"{result.name} = relax.{text} : ({types}) -> {result.type}")
        self.values.append(result)
        return result

    def build(self):
        known = known_ops()
        able = [function for ops, function in BUILDERS if known.issuperset(ops)]
        for _ in range(self.size):
            self.rng.choice(able)(self)
        return self.text()

    def text(self):
        results = self.values[-min(2, len(self.values)) :]
        # Symbols that match_cast defines inside are unknown outside.
        inner = [tuple(None if re.search(r"\bs\d+\b", str(dim)) else dim for dim in value.dims) for value in results]
        types = ", ".join(tensor_type(dims, value.dtype) for dims, value in zip(inner, results))
        listed = [f"{value.name}: {value.type}" for value in self.parameters]
        listed.append(f"%shape: !relax.shape<{shape_text(SYMBOLS)}>")
        ranges = {name: "#relax.range<0>" for name in SYMBOLS if self.rng.random() < 0.3}
        ranges |= {
            name: f"#relax.range<1, 1048576, multiple_of = {self.rng.choice((1, 16))}>"
            for name in SYMBOLS
            if self.rng.random() < 0.2
        }
        declared = f" attributes {{relax.symbols = {attributes(**ranges).strip()}}}" if ranges else ""
        body = "\n".join(f"  {line}" for line in self.lines)
        names = ", ".join(value.name for value in results)
        returned = ", ".join(value.type for value in results)
        return (
            f"relax.func @{self.name}({', '.join(listed)}) -> ({types}){declared} {{\n"
            f"{body}\n  relax.return {names} : {returned}\n}}\n"
        )


# ----------------------------------------------------------------------------
# Element-wise


UNARY = ("exp", "sqrt", "tanh", "relu", "sigmoid", "silu", "gelu", "negative", "abs", "erf", "rsqrt")
BINARY = ("add", "subtract", "multiply", "divide", "maximum", "minimum", "power")


@builder("exp")
def unary(p):
    x = p.pick()
    op = p.rng.choice([name for name in UNARY if name in known_ops()])
    p.emit(f"{op} {x.name}", [x], x.dims, x.dtype)


@builder("add")
def binary(p):
    """Broadcasts by fewer dimensions and by ones."""
    x = p.pick()
    kept = x.dims[p.rng.randint(0, x.rank) :]
    y = p.parameter([1 if p.rng.random() < 0.3 else dim for dim in kept], x.dtype)
    op = p.rng.choice([name for name in BINARY if name in known_ops()])
    first, second = (x, y) if p.rng.random() < 0.5 else (y, x)
    # Against an unknown dimension, one leaves it unknown and anything else may.
    p.emit(f"{op} {first.name}, {second.name}", [first, second], x.dims, x.dtype)


@builder("astype")
def astype(p):
    x = p.pick()
    dtype = p.rng.choice(("f32", "f16", "i32", "i64"))
    p.emit(f"astype {x.name} {{dtype = {dtype}}}", [x], x.dims, dtype)


@builder("where")
def where(p):
    x = p.pick()
    c, y = p.parameter(x.dims, "i1"), p.parameter(x.dims, x.dtype)
    p.emit(f"where {c.name}, {x.name}, {y.name}", [c, x, y], x.dims, x.dtype)


# ----------------------------------------------------------------------------
# Linear algebra, attention


@builder("matmul")
def matmul(p):
    x = p.pick(rank=p.rng.choice((2, 3)))
    w = p.parameter([x.dims[-1], p.dim()], x.dtype)
    p.emit(f"matmul {x.name}, {w.name}", [x, w], [*x.dims[:-1], w.dims[1]], x.dtype)


@builder("attention")
def attention(p):
    b, n, m, d = p.dim(), p.dim(), p.dim(), p.rng.choice((8, 64))
    kv = p.rng.choice((1, 2, 4))
    q = p.parameter([b, n, kv * p.rng.choice((1, 4)), d], "f16")
    k = p.parameter([b, m, kv, d], "f16")
    v = p.parameter([b, m, kv, p.rng.choice((d, 16))], "f16")
    operands = [q, k, v]
    if p.rng.random() < 0.3:
        operands.append(p.parameter([n, m], p.rng.choice(("i1", "f16"))))
    options = {"causal_mask": p.rng.choice(('"TopLeft"', '"BottomRight"'))} if p.rng.random() < 0.6 else {}
    names = ", ".join(operand.name for operand in operands)
    p.emit(f"attention {names}{attributes(**options)}", operands, [b, n, q.dims[2], v.dims[3]], "f16")


@builder("rotary_embedding")
def rotary_embedding(p):
    x = p.parameter([p.dim(), p.dim(), 4, 64], "f16")
    offset = {"offset": f"#relax.expr<{p.rng.choice(SYMBOLS)} + 1>"} if p.rng.random() < 0.5 else {}
    layout = {"layout": '"interleaved"'} if p.rng.random() < 0.5 else {}
    p.emit(f"rotary_embedding {x.name}{attributes(**offset, **layout)}", [x], x.dims, x.dtype)


# ----------------------------------------------------------------------------
# Windows


def window_count(dim, padding, span, stride):
    return add(floordiv(add(dim, padding - span), stride), 1)


@builder("conv1d", "conv2d", "conv3d")
def convolution(p):
    spatial = p.rng.choice((1, 2, 2, 3))
    x = p.pick(rank=spatial + 2)
    kernel = [p.rng.choice((1, 3)) for _ in range(spatial)]
    stride, padding = p.rng.choice((1, 1, 2)), p.rng.choice((1, 2))
    w = p.parameter([p.dim(), x.dims[1], *kernel], x.dtype)
    options = {"strides": array([stride]), "padding": array([padding])}
    dims = [window_count(dim, 2 * padding, k, stride) for dim, k in zip(x.dims[2:], kernel)]
    # A static axis of size 0 has no window.
    if all(not isinstance(dim, int) or dim > 0 for dim in dims):
        text = f"conv{spatial}d {x.name}, {w.name}{attributes(**options)}"
        p.emit(text, [x, w], [x.dims[0], w.dims[0], *dims], x.dtype)


@builder("max_pool1d", "avg_pool2d")
def pooling(p):
    spatial = p.rng.choice((1, 2))
    x = p.pick(rank=spatial + 2)
    stride, size = p.rng.choice((1, 2)), p.rng.choice((1, 2, 3))
    padding = size // 2
    dims = [window_count(dim, 2 * padding, size, stride) for dim in x.dims[2:]]
    if all(not isinstance(dim, int) or dim > 0 for dim in dims):
        options = {"pool_size": array([size]), "strides": array([stride]), "padding": array([padding])}
        op = p.rng.choice(("max", "avg"))
        text = f"{op}_pool{spatial}d {x.name}{attributes(**options)}"
        p.emit(text, [x], [*x.dims[:2], *dims], x.dtype)


@builder("adaptive_avg_pool2d")
def adaptive_pooling(p):
    x = p.pick(rank=4)
    if 0 not in x.dims:
        size = [p.dim(), p.dim()]
        p.emit(f"adaptive_avg_pool2d {x.name} to {shape_text(size)}", [x], [*x.dims[:2], *size], x.dtype)


@builder("pad")
def pad(p):
    x = p.pick()
    widths = [p.rng.choice((0, 1, 2, "n", "-n mod 16")) for _ in range(2 * x.rank)]
    dims = [add(dim, *widths[2 * axis : 2 * axis + 2]) for axis, dim in enumerate(x.dims)]
    p.emit(f"pad {x.name} by {shape_text(widths)}", [x], dims, x.dtype)


@builder("resize2d", "shape")
def resize2d(p):
    x = p.pick(rank=4)
    if 0 not in x.dims:
        size, name = [p.dim(), p.dim()], p.fresh()
        type_ = f"!relax.shape<{shape_text(size)}>"
        p.lines.append(f"{name} = relax.shape {shape_text(size)} : {type_}")
        p.emit(f"resize2d {x.name}, {name}", [x, type_], [*x.dims[:2], *size], x.dtype)


@builder("pixel_shuffle")
def pixel_shuffle(p):
    channels, height, width = p.dim(), p.dim(), p.dim()
    x = p.parameter([p.dim(), mul(channels, 4), height, width], "f32")
    dims = [x.dims[0], channels, mul(height, 2), mul(width, 2)]
    p.emit(f"pixel_shuffle {x.name} by 2", [x], dims, x.dtype)


@builder("quantize", "dequantize")
def quantize(p):
    x = p.pick()
    scale = p.parameter([x.dims[-1]] if x.rank and p.rng.random() < 0.5 else [], "f32")
    dims = x.dims
    q = p.emit(f"quantize {x.name}, {scale.name}", [x, scale], dims, "i8")
    p.emit(f"dequantize {q.name}, {scale.name}", [q, scale], q.dims, "f32")


# ----------------------------------------------------------------------------
# Shapes, casts, structure


@builder("match_cast")
def match_cast(p):
    """Names an unknown dimension, or asserts a known one."""
    x = p.pick()
    dims = [f"s{p.counter}{axis}" if dim is None else dim for axis, dim in enumerate(x.dims)]
    p.emit(f"match_cast {x.name}", [x], dims, x.dtype)


@builder("shape_of", "dim", "sym")
def shape_values(p):
    x = p.pick()
    shape = f"!relax.shape<{shape_text(x.dims)}>"
    p.lines.append(f"{p.fresh()} = relax.shape_of {x.name} : ({x.type}) -> {shape}")
    if x.rank:
        axis = p.rng.randrange(-x.rank, x.rank)
        p.lines.append(f"{p.fresh()} = relax.dim {x.name}, {axis} : ({x.type}) -> index")
    p.lines.append(f"{p.fresh()} = relax.sym {p.dim()} : index")


@builder("tuple", "get")
def tuples(p):
    x, y = p.pick(), p.pick(floats=False)
    name = p.fresh()
    type_ = f"tuple<{x.type}, {y.type}>"
    p.lines.append(f"{name} = relax.tuple {x.name}, {y.name} : ({x.type}, {y.type}) -> {type_}")
    p.emit(f"get {name}[1]", [type_], y.dims, y.dtype)


@builder("dataflow", "output", "exp")
def dataflow(p):
    x, name = p.pick(), p.fresh()
    inner = p.fresh()
    p.lines += [
        f"{name} = relax.dataflow -> {x.type} {{",
        f"  {inner} = relax.exp {x.name} : ({x.type}) -> {x.type}",
        f"  relax.output {inner} : {x.type}",
        "}",
    ]
    p.values.append(Value(name, x.dims, x.dtype))


@builder("if", "yield", "exp")
def branch(p):
    x, name, inner = p.pick(), p.fresh(), p.fresh()
    c = p.parameter([], "i1")
    p.lines += [
        f"{name} = relax.if {c.name} : {c.type} -> {x.type} {{",
        f"  {inner} = relax.exp {x.name} : ({x.type}) -> {x.type}",
        f"  relax.yield {inner} : {x.type}",
        "} else {",
        f"  relax.yield {x.name} : {x.type}",
        "}",
    ]
    p.values.append(Value(name, x.dims, x.dtype))


# ----------------------------------------------------------------------------
# Reductions, normalization, movement


@builder("sum", "mean", "max")
def reduction(p):
    x = p.pick()
    if x.rank:
        axis = p.rng.randrange(x.rank)
        keep = p.rng.random() < 0.5
        dims = [*x.dims[:axis], *([1] if keep else []), *x.dims[axis + 1 :]]
        text = f"{p.rng.choice(('sum', 'mean', 'max'))} {x.name} axis [{axis}]{' keepdims' if keep else ''}"
        p.emit(text, [x], dims, x.dtype)


@builder("softmax")
def softmax(p):
    x = p.pick()
    if x.rank:
        p.emit(f"softmax {x.name} axis {p.rng.randrange(x.rank)}", [x], x.dims, x.dtype)


@builder("rms_norm")
def rms_norm(p):
    x = p.pick()
    if x.rank:
        w = p.parameter([x.dims[-1]], x.dtype)
        p.emit(f"rms_norm {x.name} weight {w.name} axes [-1]", [x, w], x.dims, x.dtype)


@builder("permute_dims")
def permute_dims(p):
    x = p.pick(floats=False)
    axes = list(range(x.rank))
    p.rng.shuffle(axes)
    if axes:
        p.emit(f"permute_dims {x.name} axes {axes}", [x], [x.dims[axis] for axis in axes], x.dtype)


@builder("expand_dims")
def expand_dims(p):
    x = p.pick(floats=False)
    axis = p.rng.randint(0, x.rank)
    if x.rank < 5:
        p.emit(f"expand_dims {x.name} axis [{axis}]", [x], [*x.dims[:axis], 1, *x.dims[axis:]], x.dtype)


@builder("concat")
def concat(p):
    x = p.pick(floats=False)
    if x.rank:
        axis = p.rng.randrange(x.rank)
        y = p.parameter([*x.dims[:axis], p.dim(), *x.dims[axis + 1 :]], x.dtype)
        dims = [*x.dims[:axis], add(x.dims[axis], y.dims[axis]), *x.dims[axis + 1 :]]
        p.emit(f"concat {x.name}, {y.name} axis {axis}", [x, y], dims, x.dtype)


@builder("stack")
def stack(p):
    x = p.pick(floats=False)
    if x.rank < 5:
        y = p.parameter(x.dims, x.dtype)
        axis = p.rng.randint(0, x.rank)
        dims = [*x.dims[:axis], 2, *x.dims[axis:]]
        p.emit(f"stack {x.name}, {y.name} axis {axis}", [x, y], dims, x.dtype)


@builder("reshape")
def reshape(p):
    """Splits a dimension by one of its factors."""
    last, factor = p.dim(), p.rng.choice((2, 3, 8))
    x = p.parameter([p.dim(), mul(last, factor)], "f32")
    dims = [x.dims[0], last, factor]
    p.emit(f"reshape {x.name} to {shape_text(dims)}", [x], dims, "f32")


@builder("take")
def take(p):
    x = p.pick(floats=False)
    if x.rank:
        axis = p.rng.randrange(x.rank)
        i = p.parameter([p.dim()], "i64")
        dims = [*x.dims[:axis], *i.dims, *x.dims[axis + 1 :]]
        p.emit(f"take {x.name}, {i.name} axis {axis}", [x, i], dims, x.dtype)


@builder("sort", "argsort")
def sort(p):
    x = p.pick()
    if x.rank:
        p.emit(f"sort {x.name} axis {p.rng.randrange(x.rank)}", [x], x.dims, x.dtype)


def random_program(seed, name="main", size=20):
    """The text of one relax.func; the same for the same arguments."""
    return Program(random.Random(f"{seed}/{name}"), name, size).build()


def random_module(seed, functions=4, size=20):
    return "\n".join(random_program(seed, f"f{index}", size) for index in range(functions))

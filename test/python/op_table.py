# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every op of the dialect that computes, with operands whose dimensions have names.

A row has a function that builds an op from its operands, and the operands: `"n k"` is a two-dimensional f32 tensor,
`"m:i64"` has another type. Equal letters are equal sizes. Tests vary the sizes, and which of them are known at compile
time.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from relax_mlir import op

SIZES = {"n": 3, "m": 4, "k": 5, "h": 2, "c": 4, "b": 2, "i": 6, "j": 7}
"""The default size of each letter."""


@dataclasses.dataclass(frozen=True, eq=False)
class Case:
    """An op and its operands."""

    name: str
    build: Callable[..., Any]
    operands: tuple[str, ...]
    """`"n 4 k:i64"`: letters and numbers, and the element type."""
    sizes: dict[str, int] = dataclasses.field(default_factory=dict)
    """Sizes of letters that SIZES lacks."""

    @property
    def letters(self) -> list[str]:
        return sorted({dim for operand in self.operands for dim in dims_of(operand) if isinstance(dim, str)})

    def size(self, letter: str) -> int:
        return self.sizes.get(letter, SIZES[letter])


def dims_of(operand: str) -> list[int | str]:
    """The dimensions of an operand, numbers and letters."""
    return [int(dim) if dim.isdigit() else dim for dim in operand.partition(":")[0].split()]


def dtype_of(operand: str) -> str:
    """The element type of an operand."""
    return operand.partition(":")[2] or "f32"


_BITS = {
    name: "i32" for name in ("bitwise_not", "bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift")
}
_TRUTH = dict.fromkeys(("logical_not", "logical_and", "logical_or", "logical_xor"), "bool")


def _elementwise() -> list[Case]:
    """Element-wise ops whose only operands are x, or x1 and x2."""
    others = {case.name.partition("-")[0] for case in _CASES} - {"add"} | NOT_COMPUTING
    cases = []
    for name in op.__all__:
        function = getattr(op, name)
        if name in others or not inspect.isfunction(function):
            continue
        parameters = [p.name for p in inspect.signature(function).parameters.values() if p.default is p.empty]
        dtype = {**_BITS, **_TRUTH}.get(name, "f32")
        if parameters == ["x"]:
            cases.append(Case(name, function, (f"n k:{dtype}",)))
        elif len(parameters) == 2 and parameters[0] in ("lhs", "x1"):
            cases.append(Case(name, function, (f"n k:{dtype}", f"k:{dtype}")))
        else:
            raise AssertionError(f"op.{name}({', '.join(parameters)}) has no row in op_table.py")
    return cases


NOT_COMPUTING = {
    "call", "call_closure", "call_library", "call_library_inplace", "call_tir", "call_tir_inplace", "constant", "dim",
    "get", "make_closure", "make_shape", "make_tuple", "match_cast", "require_at_most", "shape", "shape_of", "sym",
    "shape_to_tensor", "tensor_to_shape", "to_device", "tuple", "weight", "alloc_storage", "tensor_from_storage",
    "kill", "assert_",
}  # fmt: skip
"""Functions of `op` that create no kernel."""


def _reductions() -> list[Case]:
    cases = []
    for name in ("sum", "prod", "mean", "variance", "std", "max", "min", "logsumexp"):
        function = getattr(op, name)
        cases += [
            Case(f"{name}-rows", lambda x, f=function: f(x, axis=[1]), ("n k",)),
            Case(f"{name}-columns", lambda x, f=function: f(x, axis=[0]), ("n k",)),
            Case(f"{name}-all", lambda x, f=function: f(x), ("n k",)),
            Case(f"{name}-middle", lambda x, f=function: f(x, axis=[1], keepdims=True), ("n m k",)),
        ]
    for name in ("any", "all"):
        function = getattr(op, name)
        cases += [
            Case(f"{name}-rows", lambda x, f=function: f(x, axis=[1]), ("n k:bool",)),
            Case(f"{name}-all", lambda x, f=function: f(x), ("n k:bool",)),
        ]
    for name in ("argmax", "argmin"):
        function = getattr(op, name)
        cases += [
            Case(f"{name}-rows", lambda x, f=function: f(x, axis=1), ("n k",)),
            Case(f"{name}-columns", lambda x, f=function: f(x, axis=0), ("n k",)),
        ]
    for name in ("cumsum", "cumprod"):
        function = getattr(op, name)
        cases += [
            Case(f"{name}-rows", lambda x, f=function: f(x, axis=1), ("n k",)),
            Case(f"{name}-columns", lambda x, f=function: f(x, axis=0), ("n k",)),
        ]
    return cases


def _joined(parts: Sequence[Any]) -> Any:
    return op.concat(list(parts), 0)


_CASES = [
    *_reductions(),
    # Element-wise, with attributes or more operands.
    Case("astype", lambda x: op.astype(x, "i32"), ("n k",)),
    Case("clip", lambda x: op.clip(x, 0.0, 1.0), ("n k",)),
    Case("prelu", lambda x, a: op.prelu(x, a, axis=1), ("n k", "k")),
    Case("where", op.where, ("n 1:bool", "k", "n k")),
    Case("add-column", op.add, ("n k", "n 1")),
    Case("add-outer", op.add, ("n 1", "k")),
    Case("ewise_fma", op.ewise_fma, ("n k", "k", "n 1")),
    # Creation.
    Case("full", lambda x, v: op.full(op.shape_of(x), v), ("n k", "")),
    Case("full_like", op.full_like, ("n k", "")),
    Case("zeros_like", op.zeros_like, ("n k",)),
    Case("ones_like", op.ones_like, ("n k",)),
    Case("zeros", lambda x: op.zeros(x.shape, "f32"), ("n k",)),
    Case("ones", lambda x: op.ones(x.shape, "i64"), ("n k",)),
    Case("arange", lambda x: op.arange(0, x.shape[0], 1, dtype="i64"), ("n",)),
    Case("eye", lambda x: op.eye(x.shape[0], x.shape[1], dtype="f32"), ("n k",)),
    Case("tril", op.tril, ("b n k",)),
    Case("triu", op.triu, ("n k",)),
    Case("meshgrid", lambda x, y: op.meshgrid([x, y]), ("n", "k")),
    # Linear algebra.
    Case("matmul", op.matmul, ("n k", "k m")),
    Case("matmul-vector", op.matmul, ("n k", "k")),
    Case("matmul-batch", op.matmul, ("b n k", "k m")),
    Case("matmul-batches", op.matmul, ("b n k", "b k m")),
    Case("matmul-f16", op.matmul, ("n k:f16", "k m:f16")),
    Case("matmul-wide", op.matmul, ("n k:bf16", "k m:bf16"), {"n": 40, "k": 32, "m": 64}),
    Case("linear", op.linear, ("n k", "m k", "m")),
    Case("outer", op.outer, ("n", "k")),
    Case("einsum", lambda x, y: op.einsum("bij,bjk->bik", [x, y]), ("b n k", "b k m")),
    # Normalization.
    Case("softmax-rows", op.softmax, ("n k",)),
    Case("softmax-columns", lambda x: op.softmax(x, axis=0), ("n k",)),
    Case("log_softmax-rows", op.log_softmax, ("n k",)),
    Case("layer_norm", lambda x, g, b: op.layer_norm(x, gamma=g, beta=b, axes=[-1]), ("n k", "k", "k")),
    Case("rms_norm", lambda x, g: op.rms_norm(x, weight=g, axes=[-1]), ("n k", "k")),
    Case(
        "group_norm",
        lambda x, g, b: op.group_norm(x, gamma=g, beta=b, num_groups=2, channel_axis=1, axes=[2]),
        ("n 4 k", "4", "4"),
    ),
    Case(
        "instance_norm",
        lambda x, g, b: op.instance_norm(x, gamma=g, beta=b, channel_axis=1, axes=[2]),
        ("n c k", "c", "c"),
    ),
    Case("batch_norm", lambda x, *p: op.batch_norm(x, *p, axis=1)[0], ("n c k", "c", "c", "c", "c")),
    # Attention.
    Case("attention", op.attention, ("b n h 8", "b m h 8", "b m h 8")),
    Case(
        "attention-causal",
        lambda q, k, v: op.attention(q, k, v, causal_mask="BottomRight"),
        ("b n h 8:f16", "b m h 8:f16", "b m h 8:f16"),
        {"n": 4, "m": 9},
    ),
    Case("attention-bias", lambda q, k, v, a: op.attention(q, k, v, a), ("b n 4 8", "b m 2 8", "b m 2 8", "n m")),
    Case("rotary_embedding", lambda x, p: op.rotary_embedding(x, p), ("b n h 8", "n:i64")),
    # Convolution and pooling.
    Case("conv1d", lambda x, w: op.conv1d(x, w, padding=[1]), ("b c i", "m c 3")),
    Case("conv2d", lambda x, w: op.conv2d(x, w, padding=[1]), ("b c i j", "m c 3 3")),
    Case("conv3d", lambda x, w: op.conv3d(x, w, padding=[1]), ("b 2 i 3 3", "m 2 3 3 3")),
    Case("conv1d_transpose", lambda x, w: op.conv1d_transpose(x, w, strides=[2]), ("b c i", "c m 2")),
    Case("conv2d_transpose", lambda x, w: op.conv2d_transpose(x, w, strides=[2]), ("b c i j", "c m 2 2")),
    Case("conv3d_transpose", op.conv3d_transpose, ("b 2 i 3 3", "2 m 2 2 2")),
    *[
        Case(f"{kind}_pool{n}d", lambda x, f=f"{kind}_pool{n}d", n=n: getattr(op, f)(x, pool_size=[2]), (dims,))
        for kind in ("max", "avg")
        for n, dims in ((1, "b c i"), (2, "b c i j"), (3, "b c i 3 3"))
    ],
    *[
        Case(
            f"adaptive_avg_pool{n}d", lambda x, f=f"adaptive_avg_pool{n}d": getattr(op, f)(x, output_size=[2]), (dims,)
        )
        for n, dims in ((1, "b c i"), (2, "b c i j"), (3, "b c i 3 3"))
    ],
    # Images.
    Case("pad", lambda x: op.pad(x, [1, 2, 0, 1]), ("n k",)),
    Case("pad-reflect", lambda x: op.pad(x, [1, 1, 0, 0], pad_mode="reflect"), ("n k",)),
    Case("resize2d", lambda x: op.resize2d(x, (4, 5)), ("b c i j",)),
    Case("pixel_shuffle", lambda x: op.pixel_shuffle(x, 2), ("b 4 i j",)),
    # Rearrangement.
    Case("scan", lambda z, x: op.scan(lambda s, row: (op.add(s, row),) * 2, z, x), ("k", "n k")),
    Case("reshape", lambda x: op.reshape(x, (x.shape[0], x.shape[1] * x.shape[2])), ("n m k",)),
    Case("reshape-flat", lambda x: op.reshape(x, -1), ("n k",)),
    Case("flatten", op.flatten, ("n k",)),
    Case("broadcast_to", lambda x, y: op.broadcast_to(x, y.shape), ("k", "n k")),
    Case("collapse_sum_to", lambda x: op.collapse_sum_to(x, (1, x.shape[1])), ("n k",)),
    Case("collapse_sum_like", op.collapse_sum_like, ("n k", "1 k")),
    Case("permute_dims", lambda x: op.permute_dims(x, [1, 0, 2]), ("n m k",)),
    Case("expand_dims", lambda x: op.expand_dims(op.exp(x), [0, -1]), ("n k",)),
    Case("squeeze", lambda x: op.squeeze(x, [1]), ("n 1 k",)),
    Case("concat", lambda x, y: op.concat([x, y], 0), ("n k", "m k")),
    Case("concat-columns", lambda x, y: op.concat([op.exp(x), y, x], 1), ("n k", "n m")),
    Case("stack", lambda x, y: op.stack([x, y], 1), ("n k", "n k")),
    Case("stack-last", lambda x, y: op.stack([x, y], -1), ("n k", "n k")),
    Case("split", lambda x: _joined(op.split(x, 8, 0)), ("n k",)),
    Case("split-at", lambda x: _joined(op.split(x, [1, 2], 0)), ("n k",)),
    Case("split-parts", lambda x: op.split(x, 2, 1)[0], ("n k",)),
    Case("repeat", lambda x: op.repeat(x, 2, axis=0), ("n k",)),
    Case("repeat-flat", lambda x: op.repeat(x, 2), ("n k",)),
    Case("tile", lambda x: op.tile(x, [2, 3]), ("n k",)),
    Case("flip", lambda x: op.flip(x, 1), ("n k",)),
    Case(
        "reverse_sequence",
        lambda x, lengths: op.reverse_sequence(x, lengths, seq_axis=0, batch_axis=1),
        ("n k", "k:i64"),
    ),
    # Slices.
    Case("strided_slice", lambda x: op.exp(x[1:]), ("n k",)),
    Case("strided_slice-end", lambda x: op.exp(x[:, 5:]), ("n k",)),
    Case("strided_slice-empty", lambda x: op.exp(x[2:2]), ("n k",)),
    Case("strided_slice-last", lambda x: x[-2:], ("n k",)),
    Case("strided_slice-steps", lambda x: x[::2, 1::3], ("n k",)),
    Case("strided_slice-back", lambda x: x[::-1], ("n k",)),
    Case("dynamic_strided_slice", op.dynamic_strided_slice, ("n k", "2:i64", "2:i64", "2:i64")),
    Case("slice_scatter", lambda x, y: op.slice_scatter(x, y, 0, 0, y.shape[0]), ("i k", "n k")),
    Case("slice_scatter-end", lambda x, y: op.slice_scatter(x, y[0:0], 0, 2, 2), ("i k", "n k")),
    # Indices.
    Case("take", lambda x, i: op.take(x, i, axis=0), ("n k", "m:i64")),
    Case("take-columns", lambda x, i: op.take(x, i, axis=1), ("n k", "m 2:i32")),
    Case("gather_elements", lambda x, i: op.gather_elements(x, i, axis=1), ("n k", "n m:i64")),
    Case("gather_nd", op.gather_nd, ("n k", "m 1:i64")),
    Case("scatter_elements", lambda x, i, u: op.scatter_elements(x, i, u, axis=1), ("n k", "n m:i64", "n m")),
    Case(
        "scatter_elements-add",
        lambda x, i, u: op.scatter_elements(x, i, u, axis=0, reduction="add"),
        ("n k", "m k:i64", "m k"),
    ),
    Case("scatter_nd", op.scatter_nd, ("n k", "m 1:i64", "m k")),
    Case("index_tensor", lambda x, i: op.index_tensor(x, [i]), ("n k", "m:i64")),
    Case("index_put", lambda x, i, v: op.index_put(x, [i], v), ("n k", "m:i64", "m k")),
    Case("index_put-add", lambda x, i, v: op.index_put(x, [i], v, accumulate=True), ("n k", "m:i64", "m k")),
    Case("one_hot", lambda i: op.one_hot(i, 4, on_value=1.0, off_value=0.0), ("n k:i64",)),
    # Compositions.
    Case("transpose", op.transpose, ("n m k",)),
    Case("roll", lambda x: op.roll(x, (1, -2), (0, 1)), ("n k",)),
    Case("bmm", op.bmm, ("b n k", "b k m")),
    Case("masked_select", op.masked_select, ("n k", "n k:bool")),
    Case("scatter_add", op.scatter_add, ("4 k", "m k:i64", "m k")),
    Case("cummax", lambda x: op.cummax(x, 0)[0], ("n k",)),
    Case("cummin", lambda x: op.cummin(x, 1)[1], ("n k",)),
    Case("grid_sample", op.grid_sample, ("b c 4 5", "b n m 2")),
    Case("roi_align", lambda x, boxes, batches: op.roi_align(x, boxes, batches, 2), ("2 c 4 5", "n 4", "n:i64")),
    Case("nms", lambda boxes, scores: op.nms(boxes, scores, 0.5), ("n 4", "n")),
    # Quantization.
    Case("quantize", op.quantize, ("n k", "k", ":i8")),
    Case("dequantize", lambda x, s: op.dequantize(x, s), ("n k:i8", "k")),
    # Sorting.
    Case("sort-rows", lambda x: op.sort(x, axis=1), ("n k",)),
    Case("sort-columns", lambda x: op.sort(x, axis=0, descending=True), ("n k",)),
    Case("argsort", lambda x: op.argsort(x, axis=1), ("n k",)),
    Case("topk", lambda x: op.topk(x, k=2)[0], ("n k",)),
    Case("topk-none", lambda x: op.topk(x, k=0)[0], ("n k",)),
    Case("unique", op.unique, ("n k",)),
    Case("unique-inverse", lambda x: op.unique(x, return_inverse=True)[1], ("n k",)),
    Case("nonzero", op.nonzero, ("n k:bool",)),
    Case("bucketize", op.bucketize, ("n k", "m")),
    # Several ops, which are fused.
    Case("chain", lambda x, g: op.rms_norm(op.exp(x) + 1, weight=g, axes=[-1]) * 2, ("n k", "k")),
    Case(
        "mlp",
        lambda x, w, v: op.matmul(op.silu(op.matmul(x, w)) * op.matmul(x, v), op.permute_dims(w)),
        ("n k", "k m", "k m"),
    ),
    Case("norm-of-sums", lambda x, y: op.softmax(op.matmul(x, y)) / op.sum(x, axis=[1], keepdims=True), ("n k", "k m")),
]

CASES = {case.name: case for case in [*_CASES, *_elementwise()]}

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Annotations: the accepted arguments, and the round trip through MLIR types."""

import pytest
from mlir import ir

from relax_mlir import (
    Annotation,
    Callable,
    Object,
    RelaxError,
    Scalar,
    Shape,
    Sym,
    Tensor,
    Tuple,
    default_context,
)
from relax_mlir.annotations import join, keep_symbols

n, m = Sym("n"), Sym("m")

ANNOTATIONS = [
    (Tensor((n, 128), "f32"), "tensor<?x128xf32, #relax.shape<[n, 128]>>"),
    (Tensor((2 * n + 1, None), "bool"), "tensor<?x?xi1, #relax.shape<[2*n + 1, ?]>>"),
    (Tensor((2, 3), "bf16"), "tensor<2x3xbf16>"),
    (Tensor((), "i64"), "tensor<i64>"),
    (Tensor((None, None), "f16"), "tensor<?x?xf16>"),
    (Tensor(None, "f32"), "tensor<*xf32>"),
    (Tensor((0, 2**62), "u8"), "tensor<0x4611686018427387904xui8>"),
    (Shape((n, 4)), "!relax.shape<[n, 4]>"),
    (Shape(ndim=2), "!relax.shape<2>"),
    (Shape(()), "!relax.shape<[]>"),
    (Shape(), "!relax.shape<*>"),
    (Object(), "!relax.object"),
    (Tuple(Tensor((n,), "f32"), Shape((n,))), "tuple<tensor<?xf32, #relax.shape<[n]>>, !relax.shape<[n]>>"),
    (Tuple(), "tuple<>"),
    (
        Callable([Tensor((n,), "f32")], Tensor((n,), "f32")),
        "(tensor<?xf32, #relax.shape<[n]>>) -> tensor<?xf32, #relax.shape<[n]>>",
    ),
    (Scalar("index"), "index"),
    (Scalar("bool"), "i1"),
]


@pytest.mark.parametrize(("annotation", "text"), ANNOTATIONS, ids=[text for _, text in ANNOTATIONS])
def test_annotations_are_types(annotation, text):
    context = default_context()
    type = ir.Type.parse(text, context)
    assert annotation.to_mlir(context) == type
    again = Annotation.from_mlir(type)
    assert again == annotation
    assert hash(again) == hash(annotation)
    assert again.to_mlir(context) == type


def test_dimensions_may_be_text():
    assert Tensor(("n", "2*n", "?", "4")) == Tensor((n, 2 * n, None, 4))
    assert Tensor("n") == Tensor((n,))
    assert Tensor(7) == Tensor((7,))
    assert Tensor((n, 4)) != Tensor((m, 4))
    assert repr(Tensor((n, None), "f16")) == 'Tensor((n, ?), "f16")'


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: Tensor((-1,)), "dimension 0 is -1"),
        (lambda: Tensor((4, Sym(-3))), "dimension 1 is -3"),
        (lambda: Tensor((2**63,)), "dimension 0 is 9223372036854775808"),
        (lambda: Tensor((1.5,)), "dimension 0 is 1.5 of type float"),
        (lambda: Tensor((True,)), "dimension 0 is True"),
        (lambda: Tensor(("n +",)), "dimension 0: in 'n"),
        (lambda: Tensor(("n // 2",)), "dimension 0"),
        (lambda: Tensor(("n floordiv 0",)), "division by zero"),
        (lambda: Tensor(3.0), "expected a shape"),
        (lambda: Shape((n, 4), ndim=3), "2 dimensions, ndim is 3"),
        (lambda: Tuple(n), "expected an annotation"),
        (lambda: Callable([n], []), "expected an annotation"),
        (lambda: Scalar("f99"), "unknown dtype"),
    ],
)
def test_wrong_annotations_name_the_place(wrong, message):
    with pytest.raises(RelaxError) as caught:
        wrong()
    assert message in str(caught.value)
    assert caught.value.location.file == __file__


def test_coarser_annotations():
    x = Tensor((n, m, 4), "f32")
    assert keep_symbols(x, {"n"}) == Tensor((n, None, 4), "f32")
    assert keep_symbols(Tuple(x, Shape((m,))), {"n"}) == Tuple(Tensor((n, None, 4)), Shape((None,)))
    assert join(x, Tensor((n, 3, 4))) == Tensor((n, None, 4))
    assert join(x, Tensor((n,))) == Tensor(None)
    assert join(x, Tensor((n, m, 4), "f16")) == Object()
    assert join(Shape((n, 2)), Shape((n, 3))) == Shape((n, None))
    assert join(x, Shape((n,))) == Object()

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A library that implements graph ops."""

import numpy as np
import pytest

import relax_mlir
from relax_mlir import BlockBuilder, RelaxError, Sym, Tensor, blas, op
from relax_mlir.pipelines import Pipeline
from relax_mlir.pipelines.cpu import default_pipeline


@pytest.fixture(scope="module")
def products():
    try:
        blas.register()
    except RelaxError as error:
        pytest.skip(str(error))
    bb, m, k = BlockBuilder(), Sym("m"), Sym("k")
    with bb.function("main", [Tensor((m, k), "f32"), Tensor((k, 5), "f32"), Tensor((5, k), "f32")]) as function:
        x, w, v = function.params
        bb.return_(op.relu(op.matmul(x, w)), op.linear(x, v))
    pipeline = Pipeline([blas.dispatch(), default_pipeline()])
    planned = bb.module().clone()
    pipeline.run(planned)
    assert str(planned).count("call_library_inplace") == 2
    return relax_mlir.compile(bb.module(), pipeline=pipeline)["main"]


@pytest.mark.parametrize("m, k", [(0, 3), (3, 0), (1, 1), (7, 13), (65, 33)])
def test_products_are_the_library_s(products, m, k):
    rng = np.random.default_rng(0)
    x, w, v = (rng.standard_normal(shape).astype(np.float32) for shape in ((m, k), (k, 5), (5, k)))
    first, second = map(np.from_dlpack, products(x, w, v))
    np.testing.assert_allclose(first, np.maximum(x @ w, 0), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(second, x @ v.T, rtol=1e-4, atol=1e-5)


def test_what_is_no_library_is_an_error(tmp_path):
    with pytest.raises(RelaxError, match="is not a BLAS"):
        blas.register(tmp_path / "none.so")

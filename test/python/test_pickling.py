# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pickling: what descriptions of programs survive, and what the error says for what cannot be pickled."""

import copy
import multiprocessing
import pickle

import numpy as np
import pytest

from relax_mlir import BlockBuilder, Callable, Facts, Object, Range, Scalar, Shape, Sym, Tensor, Tuple, compile, nn, op
from relax_mlir.runtime import Executable

n, m = Sym("n"), Sym("m")
VALUES = [
    n,
    Sym(7),
    (n + 3) // 4 * m - 2 % (m + 1),
    Sym.broadcast(n, m),
    Sym.max(n, 0),
    Range(1, 2048, 8),
    Tensor((n, None, 2 * m), "bf16", name="x"),
    Tensor(None, "i4"),
    Tuple(Shape((n, 4)), Object(), Scalar("index")),
    Callable([Tensor((n,))], Tensor((n,))),
]


@pytest.mark.parametrize("protocol", [2, pickle.HIGHEST_PROTOCOL])
def test_descriptions(protocol):
    restored = pickle.loads(pickle.dumps(VALUES, protocol))
    assert restored == VALUES and restored[6].name == "x"
    assert copy.deepcopy(VALUES) == VALUES and copy.copy(n) is n
    assert pickle.loads(pickle.dumps(Facts({n: Range(1, 8)}), protocol)).less(0, n) is True


def program():
    bb = BlockBuilder()
    x = Tensor((n, 4), name="x")
    with bb.function("main", [x], symbols={n: Range(0, 8)}):
        bb.return_(op.relu(x))
    return bb


def test_modules():
    module = program().module()
    for restored in (pickle.loads(pickle.dumps(module)), copy.copy(module), copy.deepcopy(module)):
        assert restored.to_text(locations=True) == module.to_text(locations=True) and restored.ir is not module.ir
    assert module._repr_html_().startswith("<pre>module {") and "tensor&lt;?x4xf32" in module._repr_html_()


def _compiled_elsewhere(module):
    return compile(module)["main"](-np.ones((2, 4), np.float32))


# Another process, which has its own context.
def test_modules_in_another_process():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert (pool.apply(_compiled_elsewhere, (program().module(),)) == 0).all()


def test_models():
    model = nn.Sequential(nn.Linear(4, 2), nn.BatchNorm(2))
    model.load_state_dict({"0.weight": np.ones((2, 4), np.float32)}, strict=False)
    restored = pickle.loads(pickle.dumps(model))
    assert repr(restored) == repr(model) and (restored[0].weight.data == 1).all()


def test_code():
    executable = compile(program().module())
    restored = Executable(pickle.loads(pickle.dumps(executable.code)))
    assert (restored["main"](-np.ones((2, 4), np.float32)) == 0).all()


def test_what_cannot_be_pickled():
    bb = program()
    executable = compile(bb.module())
    x = Tensor((n,))
    with bb.function("other", [x]) as function:
        value = op.exp(x)
        bb.return_(value)
    for thing, message in [
        (
            executable,
            "Executable objects cannot be pickled: it is loaded code; write it with executable.export",
        ),
        (executable["main"], "CompiledFunction objects cannot be pickled: write the executable with executable.export"),
        (bb, "BlockBuilder objects cannot be pickled: pickle bb.module() instead"),
        (function, "Function objects cannot be pickled: it belongs to its builder; pickle bb.module() instead"),
        (value, "Value objects cannot be pickled: it belongs to the function that is being built; pickle bb.module()"),
    ]:
        with pytest.raises(TypeError) as caught:
            pickle.dumps(thing)
        assert message in str(caught.value)

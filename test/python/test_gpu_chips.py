# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Code for real NVIDIA GPUs, compiled without one: supported and rejected chips."""

import dataclasses

import pytest

from relax_mlir import BlockBuilder, RelaxError, Sym, Target, Tensor, compile_code, op

N = Sym("n")


def module(parameters, body):
    builder = BlockBuilder()
    with builder.function("main", parameters):
        builder.return_(body(*parameters))
    return builder.module()


def normed_product(dtype="bf16"):
    parameters = [Tensor((N, 64), dtype), Tensor((64,), dtype), Tensor((128, 64), dtype)]
    return module(parameters, lambda x, g, w: op.silu(op.linear(op.rms_norm(x, [-1], g), w)))


CHIPS = "80 86 87 89 90 90a 100 100a 100f 103 110 120 120a 121".split()


@pytest.mark.parametrize("chip", CHIPS)
def test_chips(chip):
    code = compile_code(normed_product(), f"cuda:sm_{chip}")
    assert f".target sm_{chip}".encode() in code.object


@pytest.mark.parametrize("chip", ["sm_75", "sm_52", "sm_91", "sm_90f", "sm_80a", "sm_999", "sm_9000000000000000000000"])
def test_chips_that_there_are_not(chip):
    with pytest.raises(RelaxError, match=f"there is no GPU '{chip}'"):
        compile_code(normed_product(), f"cuda:{chip}")


@pytest.mark.parametrize("chip", ["SM_90", "sm_", "emulatedx", "banana", "subgroup_0", "subgroup_3", "subgroup_", "\0"])
def test_targets_of_chips_that_there_are_not(chip):
    with pytest.raises(RelaxError, match="there is no GPU"):
        compile_code(normed_product(), dataclasses.replace(Target.host(), chip=chip))


@pytest.mark.parametrize("name", ["cuda+", "cuda:sm_90+", "cuda:sm_90++cublaslt", "cuda:sm_90+cublaslt+"])
def test_libraries_have_names(name):
    with pytest.raises(RelaxError, match="names no library after '\\+'; expected one, as in"):
        Target.parse(name)


def test_no_library_is_empty():
    for libraries in ([""], ["cublaslt", ""]):
        with pytest.raises(RelaxError, match="there is no library ''"):
            Target.cuda("sm_90", libraries)
    assert Target.cuda("sm_90", ["cublaslt", "cublaslt:auto"]) == Target.parse("cuda:sm_90+cublaslt+cublaslt:auto")


# Kernels that count along memory, like vectors.
COUNTING = {
    "arange": ([Tensor((N,), "f32")], lambda x: op.add(x, op.astype(op.arange(0, N, 1, "i64"), "f32"))),
    "tril": ([Tensor((N, 64), "f16")], lambda x: op.tril(x)),
    "rotary": ([Tensor((1, N, 2, 64), "bf16")], lambda x: op.rotary_embedding(x)),
    "partial rotary": ([Tensor((1, N, 2, 64), "f32")], lambda x: op.rotary_embedding(x, rotary_dim=32)),
    "interleaved rotary": ([Tensor((1, N, 2, 64), "f32")], lambda x: op.rotary_embedding(x, layout="interleaved")),
}


@pytest.mark.parametrize("name", COUNTING)
def test_counting(name):
    assert compile_code(module(*COUNTING[name]), "cuda:sm_90").object


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32"])
@pytest.mark.parametrize("weights", ["f8e4m3fn", "f8e5m2"])
@pytest.mark.parametrize("chip", ["sm_80", "sm_90a"])
def test_small_floats(dtype, weights, chip):
    parameters = [Tensor((N, 256), dtype), Tensor((128, 256), weights)]
    assert compile_code(module(parameters, lambda x, w: op.linear(x, op.astype(w, dtype))), f"cuda:{chip}").object

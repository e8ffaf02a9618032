# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch tensors as arguments and results."""

import ml_dtypes
import numpy as np
import pytest

import relax_mlir
from relax_mlir import RelaxError

torch = pytest.importorskip("torch", reason="PyTorch is not installed; `make reference` installs it")

DTYPES = {
    "f32": torch.float32,
    "f64": torch.float64,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "i8": torch.int8,
    "i64": torch.int64,
    "ui8": torch.uint8,
    "i1": torch.bool,
}


def tensor(dtype, dims="[n, 4]"):
    return f"tensor<?x4x{dtype}, #relax.shape<{dims}>>"


ZERO_KERNEL = """
func.func private @zero(%x: tensor<?x4xf32> {relax.shape = #relax.shape<[n, 4]>}) -> tensor<?x4xf32> {
  %0 = arith.constant 0.0 : f32
  %1 = linalg.fill ins(%0 : f32) outs(%x : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
}"""


def compiled(body, dtype="f32", parameters=("x",)):
    """A function of matrices, whose result is %0."""
    listed = ", ".join(f"%{name}: {tensor(dtype)}" for name in parameters)
    source = f"""
    {ZERO_KERNEL}
    relax.func @main({listed}) -> {tensor(dtype)} {{
      {body}
      relax.return %0 : {tensor(dtype)}
    }}"""
    return relax_mlir.compile(relax_mlir.parse(source))["main"]


def double(dtype="f32"):
    return compiled(f"%0 = relax.add %x, %x : ({tensor(dtype)}, {tensor(dtype)}) -> {tensor(dtype)}", dtype)


def copy_of(dtype):
    return compiled(f"%0 = relax.flip %x axis 0 : ({tensor(dtype)}) -> {tensor(dtype)}", dtype)


ZERO = f"%0 = relax.call_tir_inplace @zero(%x) inplace [0] : ({tensor('f32')}) -> {tensor('f32')}"


# Results are PyTorch tensors if an argument is.
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_type_comes_back(dtype):
    x = torch.arange(12).reshape(3, 4).to(DTYPES[dtype])
    y = copy_of(dtype)(x)
    assert isinstance(y, torch.Tensor) and y.dtype == x.dtype
    assert torch.equal(y, x.flip(0))


# Nothing is copied: an in-place function writes to the argument itself, and returns it.
def test_memory_is_shared():
    x = torch.ones(3, 4)
    y = compiled(ZERO)(x)
    assert not x.any() and y.data_ptr() == x.data_ptr()


# As for NumPy arrays, any strides are supported, and memory need not be aligned.
@pytest.mark.parametrize(
    "make",
    [
        lambda x: x.t().contiguous().t(),
        lambda x: torch.stack([x, x], 2)[:, :, 1],
        lambda x: torch.cat([x, x])[::2][: len(x)] * 0 + x,
        lambda x: torch.cat([torch.zeros(1), x.flatten()])[1:].reshape(x.shape),
        lambda x: x[:1].expand(3, 4),
        lambda x: x[:0],
    ],
)
def test_views(make):
    x = make(torch.arange(12.0).reshape(3, 4))
    assert torch.equal(double()(x), 2 * x)


def test_strided_tensors_are_not_written_to():
    x = torch.ones(4, 3).t()
    with pytest.raises(ValueError, match=r"main: argument 0 'arg0' .*must be contiguous"):
        compiled(ZERO)(x)
    assert x.all()


def needs_gradient():
    return torch.ones(3, 4, requires_grad=True)


def negative():
    return torch.view_as_complex(torch.ones(3, 4, 2)).conj().imag


@pytest.mark.parametrize(
    "make, message",
    [
        (needs_gradient, r"needs a gradient.*x\.detach\(\)"),
        (lambda: torch.nn.Parameter(torch.ones(3, 4)), "needs a gradient"),
        (lambda: torch.view_as_complex(torch.ones(3, 4, 2)).conj(), r"conjugates or negates.*resolve_conj"),
        (negative, "conjugates or negates"),
        (lambda: torch.ones(3, 4).to_sparse(), r"not a plain one.*torch\.sparse_coo"),
    ],
)
def test_what_holds_other_numbers_is_refused(make, message):
    with pytest.raises(RelaxError, match=f"main: argument 0 'arg0' .*{message}"):
        double()(make())
    x = needs_gradient()
    assert torch.equal(double()(x.detach()), 2 * x.detach())


@pytest.mark.parametrize(
    "make, error, message",
    [
        (lambda: torch.ones(3, 4, device="meta"), RelaxError, "the tensor is on the device 'meta', and has no memory"),
        (lambda: torch.ones(3, 4, dtype=torch.cfloat), TypeError, "expected elements of type f32, got type 5 of 64 bi"),
    ],
)
def test_wrong_tensors_are_errors(make, error, message):
    with pytest.raises(error, match=f"main: argument 0 'arg0' .*{message}"):
        double()(make())


# A call may have both kinds of arguments, and write a result to a tensor of the caller.
def test_arrays_and_tensors_mix():
    t = tensor("f32")
    main = compiled(f"%0 = relax.add %x, %y : ({t}, {t}) -> {t}", parameters=("x", "y"))
    x = torch.arange(12.0).reshape(3, 4)
    assert torch.equal(main(x, x.numpy()), 2 * x)
    out = torch.empty(3, 4)
    assert main(x, x, out) is None
    assert torch.equal(out, 2 * x)


def test_weights_are_tensors_too():
    text = """
    relax.func @main(%x: tensor<2xbf16>) -> tensor<2xbf16> {
      %w = relax.constant weight "w" : tensor<2xbf16>
      %0 = relax.add %x, %w : (tensor<2xbf16>, tensor<2xbf16>) -> tensor<2xbf16>
      relax.return %0 : tensor<2xbf16>
    }"""
    module = relax_mlir.compile(relax_mlir.parse(text), weights={"w": torch.tensor([1, 2], dtype=torch.bfloat16)})
    assert module["main"](torch.ones(2, dtype=torch.bfloat16)).tolist() == [2, 3]
    assert module["main"](np.ones(2, ml_dtypes.bfloat16)).tolist() == [2, 3]

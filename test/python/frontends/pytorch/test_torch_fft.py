# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fourier transforms against eager mode: with dynamic lengths, and with static lengths of all kinds.

Errors are relative to the greatest element, since each element of a transform is a sum of all inputs.
"""

import math

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import torch_programs as programs  # noqa: E402

pytestmark = pytest.mark.more  # each case exports and compiles a program

fft = torch.fft
EPSILON = {torch.complex64: 2.0**-23, torch.complex128: 2.0**-52}
LENGTHS = [1, 2, 3, 4, 8, 13, 31, 97, 100, 128, 257, 1000, 4099]


def _check(run, model, *args, factor=4.0):
    """The tolerance is a few units in the last place of the greatest element, times the logarithm of the length."""
    made, expected = run(*args), model(*args)
    made, expected = (value if isinstance(value, (tuple, list)) else [value] for value in (made, expected))
    for ours, theirs in zip(made, expected):
        assert ours.shape == theirs.shape and ours.dtype == theirs.dtype
        if not theirs.numel():
            continue
        epsilon = EPSILON[theirs.dtype.to_complex()]
        length = max(args[0].numel(), 2)
        bound = factor * epsilon * math.log2(length) * float(theirs.abs().max())
        assert float((ours - theirs).abs().max()) <= bound, (args[0].shape, float((ours - theirs).abs().max()) / bound)


def _signal(*shape, dtype=torch.complex64):
    torch.manual_seed(sum(shape))
    return torch.randn(*shape, dtype=dtype)


@pytest.mark.parametrize("name, dtype", [("fft", torch.complex64), ("ifft", torch.complex128)])
def test_any_length_of_one_program(name, dtype):
    model = getattr(fft, name)
    run = programs.compiled_for_all_sizes(model, (_signal(3, 5, dtype=dtype),))
    for n in LENGTHS:
        _check(run, model, _signal(2, n, dtype=dtype))
    assert run(_signal(0, 7, dtype=dtype)).shape == (0, 7)


def _compiled_for_rows(model, example):
    """A program in which only the first axis is dynamic."""
    return programs.compiled(model, (example,), (({0: torch.export.Dim.AUTO},),))


@pytest.mark.parametrize("n", [1, 6, 31, 64, 67, 210, 1024, 1009])
def test_fixed_lengths(n):
    """Small lengths are computed as a product with a matrix; other lengths have small factors, or are prime."""

    def model(z):
        return fft.fft(z), fft.ifft(z, norm="ortho")

    run = _compiled_for_rows(model, _signal(3, n))
    for rows in (3, 1, 8):
        _check(run, model, _signal(rows, n))


def test_real_signals_of_any_length():
    def model(x):
        spectrum = fft.rfft(x)
        return spectrum, fft.irfft(spectrum, x.shape[-1])

    run = programs.compiled_for_all_sizes(model, (_signal(3, 9).real,))
    for n in (1, 2, 3, 4, 16, 97, 300):
        _check(run, model, _signal(2, n).real.contiguous())


def test_two_axes_of_any_length():
    run = programs.compiled_for_all_sizes(fft.ifft2, (_signal(3, 4, 5),))
    for shape in ((3, 4, 5), (2, 7, 1), (1, 97, 8)):
        _check(run, fft.ifft2, _signal(*shape))


@pytest.mark.parametrize("norm", ["forward", "backward", "ortho"])
def test_norms_and_sizes(norm):
    """Signals are padded and trimmed to a given size."""

    def model(z):
        return (
            *(fft.fft(z, 12, norm=norm), fft.ifft(z, 3, norm=norm), fft.rfft(z.real, 8, norm=norm)),
            *(fft.irfft(z, 11, norm=norm), fft.irfft(z, norm=norm), fft.hfft(z, 9, norm=norm)),
            fft.ihfft(z.real, norm=norm),
        )

    run = _compiled_for_rows(model, _signal(5, 7))
    for rows in (5, 1, 12):
        _check(run, model, _signal(rows, 7))


def test_more_axes():
    def model(z):
        x = z.real
        return (
            *(fft.fft2(z), fft.ifft2(z, norm="ortho"), fft.fftn(z, dim=(1, 2)), fft.rfft2(x), fft.irfft2(z)),
            *(fft.irfftn(z, s=(4, 6)), fft.hfft2(z), fft.ihfftn(x, dim=(2, 1)), fft.hfftn(z, s=(3, 8), norm="ortho")),
        )

    run = _compiled_for_rows(model, _signal(3, 4, 5))
    for rows in (3, 1, 4):
        _check(run, model, _signal(rows, 4, 5))


def test_shifts_and_frequencies():
    def model(x):
        return fft.fftshift(x), fft.ifftshift(x, dim=1), fft.fftfreq(9) + x[0, 0], fft.rfftfreq(10, 0.25) + x[0, 0]

    run = programs.compiled_for_all_sizes(model, (_signal(3, 5).real,))
    for shape in ((3, 5), (1, 1), (4, 6)):
        _check(run, model, _signal(*shape).real.contiguous())


@pytest.mark.parametrize("center", [True, False])
def test_short_time_transform_and_back(center):
    window = torch.hann_window(16, periodic=True) + 0.1

    def model(x):
        frames = torch.stft(x, 16, 4, 16, window, center=center, return_complex=True)
        return frames, torch.istft(frames, 16, 4, 16, window, center=center)

    run = programs.compiled(model, (_signal(2, 60).real,))
    for n in (60, 37, 100):
        _check(run, model, _signal(3, n).real.contiguous())

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Weight matrices of a model, in their memory layouts.

A matrix `[n, k]` of the checkpoint can be multiplied (`project`) and read by row (`rows`), so that an embedding and
an output head may share it.

    plain       values [n, k]
    groups      codes  [n, k / 32, 16 or 32], scales and minima [n, k / 32]; 8-bit floats [n, k] and scales [n]
    panels      panels [n / 64, k, 64]
    quantised   codes  [n / 64, k / 32, 16 or 32, 64], scales and minima [n / 64, k / 32, 64]

The first two are for GPUs, whose threads share rows. The others store 64 rows side by side, so that a matmul on a CPU
reads memory in order, 64 results at a time. The last panel is padded with zero rows. A separate kernel dequantizes
quantized matrices, and fusion merges it into the matmul.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .. import op
from ..annotations import Tensor
from ..dtypes import to_numpy
from ..errors import fail
from ..nn import Kernel, Module, Parameter
from ..op.support import Operand
from ..values import Value
from . import kernels, quantised
from .kernels import PANEL
from .quantised import GROUP

if TYPE_CHECKING:
    from .checkpoint import CheckpointTensor

Epilogue = Callable[..., Value]
"""An element-wise operation on the result of a matmul."""

LAYOUTS = ("plain", "groups", "panels", "quantised")

FLOATS8 = {"F8_E4M3": "f8e4m3fn", "F8_E5M2": "f8e5m2"}
"""Formats of 8-bit floats with a scale for each row, under safetensors' names, and their element types."""

QUANTISATIONS = (*quantised.QUANTISED, *FLOATS8)
"""The formats that matrices can be quantized to."""


class StoredParameter(Parameter):
    """A parameter that is computed from a tensor of the checkpoint, whose name is the path of the matrix."""

    def __init__(
        self,
        shape: Sequence[int],
        dtype: str,
        origin_shape: Sequence[int],
        convert: Callable[[CheckpointTensor], np.ndarray],
    ) -> None:
        super().__init__(shape, dtype)
        self.origin_shape = tuple(origin_shape)
        self.convert = convert

    @property
    def origin(self) -> str:
        """The name of the checkpoint's tensor."""
        return self.name.rpartition(".")[0]


class Matrix(Module, abc.ABC):
    """A weight matrix with `rows` outputs and `columns` inputs."""

    def __init__(self, rows: int, columns: int) -> None:
        self.shape = (rows, columns)

    def project(self, x: Value, then: Epilogue | None = None, *operands: Value | Parameter) -> Value:
        """`then(x @ transpose(self), *operands)`: [m, rows], for `x [m, columns]`.

        `then` is element-wise, and its operands are [m, rows] or [rows]. It is applied directly to the result of the
        matmul, before that is rearranged, so that both are fused.
        """
        product = self._product(x)
        return then(product, *operands) if then else product

    def _product(self, x: Value) -> Value:
        raise NotImplementedError

    @abc.abstractmethod
    def rows(self, ids: Value) -> Value:
        """The rows with the indices `ids [m]`: [m, columns]. Calls `row_kernels`.

        An index outside the matrix is an IndexError on the CPU.
        """

    def row_kernels(self) -> Sequence[Kernel]:
        return ()


class PlainMatrix(Matrix):
    """The layout of the checkpoint."""

    def __init__(self, rows: int, columns: int, dtype: str = "f32") -> None:
        super().__init__(rows, columns)
        self.values = StoredParameter(
            (rows, columns), dtype, (rows, columns), lambda tensor: tensor.dense().astype(to_numpy(dtype), copy=False)
        )

    def _product(self, x: Value) -> Value:
        return op.linear(x, self.values)

    def rows(self, ids: Operand) -> Value:
        return op.take(self.values, ids, axis=0)


class _PanelledMatrix(Matrix):
    def _panels(self) -> int:
        return -(-self.shape[0] // PANEL)

    def project(self, x: Value, then: Epilogue | None = None, *operands: Value | Parameter) -> Value:
        (m, _), rows, panels = x.shape, self.shape[0], self._panels()
        product = self._product(x)
        if rows % PANEL == 0:
            if then:
                split = [op.reshape(y, (*y.shape[:-1], panels, PANEL)) for y in operands]
                product = then(product, *split)
            return op.reshape(product, (m, rows))
        joined = op.strided_slice(op.reshape(product, (m, panels * PANEL)), [1], [0], [rows])
        return then(joined, *operands) if then else joined

    @abc.abstractmethod
    def _parts(self) -> Sequence[Parameter]: ...

    def rows(self, ids: Value) -> Value:
        (kernel,), (m,) = self.row_kernels(), ids.shape
        return op.call_tir(kernel.name, [ids, *self._parts()], Tensor((m, self.shape[1]), "f32"))


class PanelMatrix(_PanelledMatrix):
    """Panels of floats."""

    def __init__(self, rows: int, columns: int) -> None:
        super().__init__(rows, columns)
        shape = (self._panels(), columns, PANEL)
        self.panels = StoredParameter(shape, "f32", (rows, columns), load_panels)

    def row_kernels(self) -> Sequence[Kernel]:
        return [kernels.panel_rows(*self.shape)]

    def _parts(self) -> Sequence[Parameter]:
        return [self.panels]

    def _product(self, x: Value) -> Value:
        return op.einsum("mk,pkw->mpw", [x, self.panels])


class _QuantisedParts(Matrix):
    """The common parts of matrices in a GGML format: codes, scales and minima, rearranged by `arrange`."""

    in_panels: bool

    def __init__(self, rows: int, columns: int, quantisation: str, dtype: str = "f32") -> None:
        super().__init__(rows, columns)
        if quantisation not in quantised.QUANTISED:
            fail(f"no layout for {quantisation} in memory; expected one of {', '.join(quantised.QUANTISED)}")
        if columns % GROUP:
            fail(f"a matrix of {columns} columns cannot be {quantisation}: the columns come in groups of {GROUP}")
        self.quantisation = quantisation
        self.dtype = dtype
        blocks, size = columns // GROUP, GROUP // quantised.halves(quantisation)
        count, lanes = (-(-rows // PANEL), (PANEL,)) if self.in_panels else (rows, ())
        arrange = pack_blocks if self.in_panels else np.ascontiguousarray

        def stored(shape: tuple[int, ...], dtype: str, part: Callable[[np.ndarray], np.ndarray]) -> StoredParameter:
            return StoredParameter(
                (count, blocks, *shape, *lanes),
                dtype,
                (rows, columns),
                lambda tensor: arrange(part(tensor.blocks_as(quantisation))).reshape(count, blocks, *shape, *lanes),
            )

        self.codes = stored((size,), "i8", lambda blocks: codes_of(blocks, quantisation))
        self.scales = stored((), "f16", scales_of)
        self.minima = stored((), "f16", minima_of) if quantised.has_minimum(quantisation) else None

    def kernels(self) -> Sequence[Kernel]:
        return [quantised.decode(self.quantisation, *self.shape, self.dtype, self.in_panels)]

    def row_kernels(self) -> Sequence[Kernel]:
        return [quantised.quantised_rows(self.quantisation, *self.shape, self.dtype, self.in_panels)]

    def _parts(self) -> Sequence[Parameter]:
        return [self.codes, self.scales] + ([] if self.minima is None else [self.minima])

    def _product(self, x: Value) -> Value:
        m, columns = x.shape
        parts = quantised.halves(self.quantisation)
        inner = (columns // GROUP, parts, GROUP // parts)
        lanes = (PANEL,) if self.in_panels else ()
        (decode,) = self.kernels()
        count = self.codes.shape[0]
        values = op.call_tir(decode.name, self._parts(), Tensor((count, *inner, *lanes), self.dtype))
        equation = "mbhj,pbhjw->mpw" if self.in_panels else "mbhj,nbhj->mn"
        return op.einsum(equation, [op.reshape(x, (m, *inner)), values])


class GroupedMatrix(_QuantisedParts):
    """The groups of each row in a GGML format, dequantized as the matmul reads them."""

    in_panels = False

    def rows(self, ids: Value) -> Value:
        (kernel,), (m,) = self.row_kernels(), ids.shape
        return op.call_tir(kernel.name, [ids, *self._parts()], Tensor((m, self.shape[1]), self.dtype))


class ScaledMatrix(Matrix):
    """8-bit floats, which the matmul reads directly, and a scale for each row, which is applied to its results."""

    def __init__(self, rows: int, columns: int, quantisation: str, dtype: str = "f32") -> None:
        super().__init__(rows, columns)
        self.dtype, element = dtype, FLOATS8[quantisation]
        origin = (rows, columns)
        self.codes = StoredParameter(origin, element, origin, lambda tensor: scaled_parts(tensor.dense(), element)[0])
        self.scales = StoredParameter((rows,), "f32", origin, lambda tensor: scaled_parts(tensor.dense(), element)[1])

    def _product(self, x: Value) -> Value:
        sums = op.linear(x, op.astype(self.codes, self.dtype), out_dtype="f32")
        return op.astype(op.multiply(sums, self.scales), self.dtype)

    def rows(self, ids: Operand) -> Value:
        codes, scales = (op.take(part, ids, axis=0) for part in (self.codes, self.scales))
        values = op.multiply(op.astype(codes, "f32"), op.expand_dims(scales, axis=[1]))
        return op.astype(values, self.dtype)


class QuantisedMatrix(_QuantisedParts, _PanelledMatrix):
    """Groups in a GGML format within panels."""

    in_panels = True


def make(rows: int, columns: int, layout: str, quantisation: str = "F32", dtype: str = "f32") -> Matrix:
    """A matrix in a layout, whose elements are multiplied in type `dtype`.

    "groups" and "quantised" keep the quantization if supported; otherwise they become "plain", or "panels".
    """
    if layout == "groups" and quantisation in FLOATS8:
        return ScaledMatrix(rows, columns, quantisation, dtype)
    keeps = quantisation in quantised.QUANTISED and columns % GROUP == 0
    if layout == "groups" and keeps:
        return GroupedMatrix(rows, columns, quantisation, dtype)
    if layout in ("plain", "groups"):
        return PlainMatrix(rows, columns, dtype)
    if dtype != "f32" and layout in LAYOUTS:
        fail(f"matrices of {dtype} have the layout 'plain' or 'groups', got '{layout}'")
    if layout == "quantised" and keeps:
        return QuantisedMatrix(rows, columns, quantisation)
    if layout in LAYOUTS:
        return PanelMatrix(rows, columns)
    fail(f"unknown layout {layout!r}; expected one of {', '.join(LAYOUTS)}")


# --- from the checkpoint's layout to panels


def _padded(array: np.ndarray) -> np.ndarray:
    """Pads the rows with zeros to a whole number of panels."""
    missing = -len(array) % PANEL
    return np.pad(array, [(0, missing)] + [(0, 0)] * (array.ndim - 1)) if missing else array


def pack_panels(matrix: np.ndarray) -> np.ndarray:
    """[n, k] to [n / 64, k, 64]."""
    padded = _padded(matrix)
    panels = padded.reshape(len(padded) // PANEL, PANEL, matrix.shape[1])
    return np.ascontiguousarray(panels.transpose(0, 2, 1))


def load_panels(tensor: CheckpointTensor) -> np.ndarray:
    """A matrix of a checkpoint as panels of floats."""
    if tensor.format not in quantised.QUANTISED:
        return pack_panels(tensor.dense())
    # Bytes are faster to rearrange than the floats that they decode to.
    blocks, quantisation = tensor.blocks(), tensor.format
    codes, scales = pack_blocks(codes_of(blocks, quantisation)), pack_blocks(scales_of(blocks)).astype(np.float32)
    panels, groups, size, width = codes.shape
    values = np.empty((panels, groups, GROUP // size, size, width), np.float32)
    with np.errstate(all="ignore"):  # non-finite values are reported with the tensor's name
        if quantisation == "Q8_0":
            np.multiply(codes, scales, out=values[:, :, 0])
        else:
            codes = codes.view(np.uint8)
            for half, nibbles in enumerate((codes & 15, codes >> 4)):
                numbers = nibbles.view(np.int8) - np.int8(8) if quantisation == "Q4_0" else nibbles
                np.multiply(numbers, scales, out=values[:, :, half])
        if quantised.has_minimum(quantisation):
            values += pack_blocks(minima_of(blocks)).astype(np.float32)[:, :, None]
    return values.reshape(panels, groups * GROUP, width)


def codes_of(blocks: np.ndarray, quantisation: str) -> np.ndarray:
    """The codes `i8 [n, k / 32, 16 or 32]` of GGML's blocks `u8 [n, k / 32, bytes]`.

    A block is a scale, a minimum if the format has one, and the codes: byte `j` holds element `j`; if two elements
    share a byte, element `j` is in the low half and element `j + 16` in the high half.
    """
    header = 4 if quantised.has_minimum(quantisation) else 2
    return blocks[:, :, header:].view("i1")


def scaled_parts(values: np.ndarray, dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """Codes [n, k] of an 8-bit type and scales `f32 [n]`: the largest element of a row maps to the largest code.

    A row of zeros has the scale 1.
    """
    import ml_dtypes

    element = to_numpy(dtype)
    most = np.abs(values).max(axis=1, initial=0).astype(np.float32)
    scales = np.where(most > 0, most / np.float32(ml_dtypes.finfo(element).max), np.float32(1)).astype(np.float32)
    # For rows close to zero, quotients may exceed the largest code.
    limit = float(ml_dtypes.finfo(element).max)
    return np.clip(values / scales[:, None], -limit, limit).astype(element), scales


def scales_of(blocks: np.ndarray) -> np.ndarray:
    """The scales of blocks, `f16 [n, k / 32, 1]`."""
    return np.ascontiguousarray(blocks[:, :, :2]).view("<f2")


def minima_of(blocks: np.ndarray) -> np.ndarray:
    """The minima of blocks, `f16 [n, k / 32, 1]`."""
    return np.ascontiguousarray(blocks[:, :, 2:4]).view("<f2")


def pack_blocks(part: np.ndarray) -> np.ndarray:
    """[n, groups, size] to [n / 64, groups, size, 64]."""
    padded = _padded(part)
    panels = padded.reshape(len(padded) // PANEL, PANEL, *part.shape[1:])
    return np.ascontiguousarray(panels.transpose(0, 2, 3, 1))

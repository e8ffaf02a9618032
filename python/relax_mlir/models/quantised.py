# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of quantized matrices: the formats, and their dequantization.

Each format defines how the 32 elements of a group are stored (HALVES × BYTES, in the order of the columns), how many
bytes they take, and how an element is computed from its byte, scale and minimum. Groups are stored in panels of 64
rows, with the rows innermost, or row by row.
"""

from __future__ import annotations

from ..nn import Kernel
from .kernels import PANEL, make_kernel, narrowed, row_text

GROUP = 32
"""The number of elements of a row that share a scale in GGML's formats."""

_DECODE = """
func.func private @$NAME(
    %codes: $CODES, %scales: $SCALES,
    $MINIMUM_PARAMETER
    %dest: $ELEMENTS)
    -> $ELEMENTS {
  %decoded = linalg.generic {
      indexing_maps = [affine_map<$LOOPS -> $AT_CODE>, $SCALE_MAPS
                       affine_map<$LOOPS -> $LOOPS>],
      iterator_types = [$PARALLEL]}
      ins(%codes, %scales$MINIMUM : $CODES, $SCALES$MINIMUM_TYPE)
      outs(%dest : $ELEMENTS) {
  ^bb0(%code: i8, %scale: f16, $MINIMUM_ARGUMENT%out: $T):
    %half = linalg.index 2 : index
    $ELEMENT
    $NARROW
    linalg.yield $RESULT : $T
  } -> $ELEMENTS
  return %decoded : $ELEMENTS
}
"""

_ROWS = """
func.func private @$NAME(
    %ids: tensor<?xi64> {relax.shape = #relax.shape<[m]>, relax.index_bound = $COUNT : i64},
    %codes: $CODES, %scales: $SCALES,
    $MINIMUM_PARAMETER
    %dest: tensor<?x${K}x$T> {relax.shape = #relax.shape<[m, $K]>})
    -> (tensor<?x${K}x$T> {relax.shape = #relax.shape<[m, $K]>}) {
  %rows = linalg.generic {
      indexing_maps = [affine_map<(m, k) -> (m)>, affine_map<(m, k) -> (m, k)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<?xi64>) outs(%dest : tensor<?x${K}x$T>) {
  ^bb0(%id: i64, %out: $T):
    $ROW
    %k = linalg.index 1 : index
    %group = arith.constant $GROUP : index
    %bytes = arith.constant $BYTES : index
    %block = arith.divui %k, %group : index
    %offset = arith.remui %k, %group : index
    %half = arith.divui %offset, %bytes : index
    %byte = arith.remui %offset, %bytes : index
    %code = tensor.extract %codes[$CODE_PLACE] : $CODES
    %scale = tensor.extract %scales[$SCALE_PLACE] : $SCALES
    $MINIMUM_EXTRACT
    $ELEMENT
    $NARROW
    linalg.yield $RESULT : $T
  } -> tensor<?x${K}x$T>
  return %rows : tensor<?x${K}x$T>
}
"""

_NIBBLE = """%four = arith.constant 4 : i8
    %fifteen = arith.constant 15 : i8
    %first = arith.constant 0 : index
    %high = arith.shrui %code, %four : i8
    %low = arith.andi %code, %fifteen : i8
    %is_low = arith.cmpi eq, %half, %first : index
    %nibble = arith.select %is_low, %low, %high : i8
    %number = arith.uitofp %nibble : i8 to f32
    %d = arith.extf %scale : f16 to f32
    """

_ELEMENTS = {
    "Q4_0": _NIBBLE
    + """%eight = arith.constant 8.0 : f32
    %centred = arith.subf %number, %eight : f32
    %element = arith.mulf %centred, %d : f32""",
    "Q4_1": _NIBBLE
    + """%m = arith.extf %minimum : f16 to f32
    %product = arith.mulf %number, %d : f32
    %element = arith.addf %product, %m : f32""",
    "Q8_0": """%number = arith.sitofp %code : i8 to f32
    %d = arith.extf %scale : f16 to f32
    %element = arith.mulf %number, %d : f32""",
}

QUANTISED = tuple(_ELEMENTS)
"""The formats that stay quantized in memory."""


def halves(quantisation: str) -> int:
    """The number of elements that share a byte."""
    return 1 if quantisation == "Q8_0" else 2


def has_minimum(quantisation: str) -> bool:
    return quantisation == "Q4_1"


def _text(quantisation: str, rows: int, columns: int, dtype: str, in_panels: bool) -> dict[str, object]:
    """The variables of the templates."""
    blocks, parts = columns // GROUP, halves(quantisation)
    size = GROUP // parts
    # In panels, `w` is the innermost dimension.
    count, row, inner, lane = (-(-rows // PANEL), "%panel", ", w", ", %lane") if in_panels else (rows, "%row", "", "")
    width = f"x{PANEL}" if in_panels else ""
    scales = f"tensor<{count}x{blocks}{width}xf16>"
    loops = f"(p, b, h, j{inner})"
    minimum = has_minimum(quantisation)
    narrow, result = narrowed("element", dtype)
    return {
        "K": columns,
        "COUNT": rows,
        "T": dtype,
        "GROUP": GROUP,
        "BYTES": size,
        "CODES": f"tensor<{count}x{blocks}x{size}{width}xi8>",
        "SCALES": scales,
        "ELEMENTS": f"tensor<{count}x{blocks}x{parts}x{size}{width}x{dtype}>",
        "LOOPS": loops,
        "AT_CODE": f"(p, b, j{inner})",
        "PARALLEL": ", ".join(['"parallel"'] * (5 if in_panels else 4)),
        "SCALE_MAPS": f"affine_map<{loops} -> (p, b{inner})>," * (2 if minimum else 1),
        "ROW": row_text(rows, in_panels),
        "CODE_PLACE": f"{row}, %block, %byte{lane}",
        "SCALE_PLACE": f"{row}, %block{lane}",
        "ELEMENT": _ELEMENTS[quantisation],
        "NARROW": narrow,
        "RESULT": result,
        "MINIMUM": ", %minima" if minimum else "",
        "MINIMUM_TYPE": f", {scales}" if minimum else "",
        "MINIMUM_PARAMETER": f"%minima: {scales}," if minimum else "",
        "MINIMUM_ARGUMENT": "%minimum: f16, " if minimum else "",
        "MINIMUM_EXTRACT": (f"%minimum = tensor.extract %minima[{row}, %block{lane}] : {scales}" if minimum else ""),
    }


def _make(name: str, template: str, quantisation: str, rows: int, columns: int, dtype: str, in_panels: bool) -> Kernel:
    where = "" if in_panels else f"_by_rows_{dtype}"
    name = f"{name}_{quantisation.lower()}{where}_{rows}x{columns}"
    return make_kernel(name, template, **_text(quantisation, rows, columns, dtype, in_panels))


def decode(quantisation: str, rows: int, columns: int, dtype: str = "f32", in_panels: bool = True) -> Kernel:
    """The elements of a quantized matrix: `[p, k / 32, halves, 32 / halves, 64]`; by rows, without the last one."""
    return _make("decode", _DECODE, quantisation, rows, columns, dtype, in_panels)


def quantised_rows(quantisation: str, rows: int, columns: int, dtype: str = "f32", in_panels: bool = True) -> Kernel:
    """The rows `ids [m]` of a quantized matrix."""
    return _make("rows", _ROWS, quantisation, rows, columns, dtype, in_panels)

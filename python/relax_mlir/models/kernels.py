# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of the language models that no graph op expresses.

The KV cache `[layers, b, c, h, d]` is written in place and read as far as it is filled; the layer and the number
of filled rows are integer arguments, so that one kernel serves every layer and every step. Kernels also read rows of
matrices in panels of 64 rows; the kernels of quantized matrices are in quantised.py.
"""

from __future__ import annotations

from string import Template

from ..nn import Kernel

PANEL = 64
"""Rows of a matrix that are stored side by side: the rows of one tile of the matmul."""


def make_kernel(name: str, text: str, **values: object) -> Kernel:
    return Kernel(name, Template(text).substitute(NAME=name, **values))


# --- the cache

_CACHE_UPDATE = """
func.func private @$NAME(
    %new: tensor<?x?x${H}x${D}x$T> {relax.shape = #relax.shape<[b, n, $H, $D]>},
    %cache: $CACHE {relax.shape = #relax.shape<$SHAPE>},
    %layer: index {relax.symbol = "layer"}, %past: index {relax.symbol = "t"})
    -> ($CACHE {relax.shape = #relax.shape<$SHAPE>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %new, %c0 : tensor<?x?x${H}x${D}x$T>
  %n = tensor.dim %new, %c1 : tensor<?x?x${H}x${D}x$T>
  %place = tensor.extract_slice %cache$BEGIN $SIZE [1, 1, 1, 1, 1] : $CACHE to $PLACE
  %written = linalg.generic {
      indexing_maps = [affine_map<$LOOPS -> (b, n, h, d)>, affine_map<$LOOPS -> $LOOPS>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%new : tensor<?x?x${H}x${D}x$T>) outs(%place : $PLACE) {
  ^bb0(%in: $T, %out: $T):
    linalg.yield %in : $T
  } -> $PLACE
  %result = tensor.insert_slice %written into %cache$BEGIN $SIZE [1, 1, 1, 1, 1] : $PLACE into $CACHE
  return %result : $CACHE
}
"""


def _value_cache(layers: int, heads: int, size: int, dtype: str) -> dict[str, object]:
    """Template variables of the value cache `[l, b, c, h, d]`."""
    cache, shape = f"tensor<{layers}x?x?x{heads}x{size}x{dtype}>", f"[{layers}, b, c, {heads}, {size}]"
    return {"H": heads, "D": size, "T": dtype, "CACHE": cache, "SHAPE": shape}


def _key_cache(layers: int, heads: int, size: int, dtype: str) -> dict[str, object]:
    """Template variables of the key cache `[l, b, h, d, c]`: products with a query read memory in order."""
    cache, shape = f"tensor<{layers}x?x{heads}x{size}x?x{dtype}>", f"[{layers}, b, {heads}, {size}, c]"
    return {"H": heads, "D": size, "T": dtype, "CACHE": cache, "SHAPE": shape}


def values_update(layers: int, heads: int, size: int, dtype: str = "f32") -> Kernel:
    """Writes `new [b, n, h, d]` after the `t` rows in a layer of the value cache."""
    return make_kernel(
        f"values_update_{layers}x{heads}x{size}",
        _CACHE_UPDATE,
        **_value_cache(layers, heads, size, dtype),
        PLACE=f"tensor<?x?x{heads}x{size}x{dtype}>",
        BEGIN="[%layer, 0, %past, 0, 0]",
        SIZE=f"[1, %b, %n, {heads}, {size}]",
        LOOPS="(b, n, h, d)",
    )


def keys_update(layers: int, heads: int, size: int, dtype: str = "f32") -> Kernel:
    """Writes `new [b, n, h, d]` after the `t` rows in a layer of the key cache."""
    return make_kernel(
        f"keys_update_{layers}x{heads}x{size}",
        _CACHE_UPDATE,
        **_key_cache(layers, heads, size, dtype),
        PLACE=f"tensor<?x{heads}x{size}x?x{dtype}>",
        BEGIN="[%layer, 0, 0, 0, %past]",
        SIZE=f"[1, %b, {heads}, {size}, %n]",
        LOOPS="(b, h, d, n)",
    )


_APPEND_AT = """
func.func private @$NAME(
    %q: memref<?x${Q}x${D}x$T> {relax.shape = #relax.shape<[b, $Q, $D]>},
    %k: memref<?x${H}x${D}x$T> {relax.shape = #relax.shape<[b, $H, $D]>},
    %v: memref<?x${H}x${D}x$T> {relax.shape = #relax.shape<[b, $H, $D]>},
    %cos: memref<?x${P}xf32> {relax.shape = #relax.shape<[b, $P]>},
    %sin: memref<?x${P}xf32> {relax.shape = #relax.shape<[b, $P]>},
    %positions: memref<?xi64> {relax.shape = #relax.shape<[b]>},
    %keys: memref<${L}x?x${H}x${D}x?x$T> {relax.shape = #relax.shape<[$L, b, $H, $D, c]>},
    %values: memref<${L}x?x?x${H}x${D}x$T> {relax.shape = #relax.shape<[$L, b, c, $H, $D]>},
    %turned: memref<?x${Q}x${D}x$T> {relax.shape = #relax.shape<[b, $Q, $D]>},
    %layer: index {relax.symbol = "layer"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %pairs = arith.constant $P : index
  %queries = arith.constant $Q : index
  %turning = arith.constant $TURNING : index
  %heads = arith.constant $ALL : index
  %half = arith.constant $HALF : index
  %b = memref.dim %q, %c0 : memref<?x${Q}x${D}x$T>
  %c = memref.dim %values, %c2 : memref<${L}x?x?x${H}x${D}x$T>
  %last = arith.subi %c, %c1 : index
  scf.parallel (%i, %h, %p) = (%c0, %c0, %c0) to (%b, %heads, %half) step (%c1, %c1, %c1) {
    %given = memref.load %positions[%i] : memref<?xi64>
    %asked = arith.index_cast %given : i64 to index
    %raised = arith.maxsi %asked, %c0 : index
    %place = arith.minsi %raised, %last : index
    %is_query = arith.cmpi ult, %h, %queries : index
    %has_angle = arith.cmpi ult, %h, %turning : index
    %in_pairs = arith.cmpi ult, %p, %pairs : index
    %turns = arith.andi %has_angle, %in_pairs : i1
    %even = arith.muli %p, %c2 : index
    %odd = arith.addi %even, %c1 : index
    $PAIR
    %key_head = arith.subi %h, %queries : index
    %value_head = arith.subi %h, %turning : index
    %x:2 = scf.if %is_query -> ($T, $T) {
      %0 = memref.load %q[%i, %h, %e0] : memref<?x${Q}x${D}x$T>
      %1 = memref.load %q[%i, %h, %e1] : memref<?x${Q}x${D}x$T>
      scf.yield %0, %1 : $T, $T
    } else {
      %2:2 = scf.if %has_angle -> ($T, $T) {
        %0 = memref.load %k[%i, %key_head, %e0] : memref<?x${H}x${D}x$T>
        %1 = memref.load %k[%i, %key_head, %e1] : memref<?x${H}x${D}x$T>
        scf.yield %0, %1 : $T, $T
      } else {
        %0 = memref.load %v[%i, %value_head, %e0] : memref<?x${H}x${D}x$T>
        %1 = memref.load %v[%i, %value_head, %e1] : memref<?x${H}x${D}x$T>
        scf.yield %0, %1 : $T, $T
      }
      scf.yield %2#0, %2#1 : $T, $T
    }
    %y:2 = scf.if %turns -> ($T, $T) {
      %a = memref.load %cos[%i, %p] : memref<?x${P}xf32>
      %s = memref.load %sin[%i, %p] : memref<?x${P}xf32>
      %real = arith.$WIDEN
      %imaginary = arith.$WIDEN_1
      %0 = arith.mulf %real, %a : f32
      %1 = arith.mulf %imaginary, %s : f32
      %2 = arith.subf %0, %1 : f32
      %3 = arith.mulf %imaginary, %a : f32
      %4 = arith.mulf %real, %s : f32
      %5 = arith.addf %3, %4 : f32
      %6 = arith.$NARROW
      %7 = arith.$NARROW_1
      scf.yield %6, %7 : $T, $T
    } else {
      scf.yield %x#0, %x#1 : $T, $T
    }
    scf.if %is_query {
      memref.store %y#0, %turned[%i, %h, %e0] : memref<?x${Q}x${D}x$T>
      memref.store %y#1, %turned[%i, %h, %e1] : memref<?x${Q}x${D}x$T>
    } else {
      scf.if %has_angle {
        memref.store %y#0, %keys[%layer, %i, %key_head, %e0, %place] : memref<${L}x?x${H}x${D}x?x$T>
        memref.store %y#1, %keys[%layer, %i, %key_head, %e1, %place] : memref<${L}x?x${H}x${D}x?x$T>
      } else {
        memref.store %y#0, %values[%layer, %i, %place, %value_head, %e0] : memref<${L}x?x?x${H}x${D}x$T>
        memref.store %y#1, %values[%layer, %i, %place, %value_head, %e1] : memref<${L}x?x?x${H}x${D}x$T>
      }
    }
  }
  return
}
"""

# The elements that rotate together; elements beyond the pairs are copied.
_PAIRS = {
    "half_split": """%behind = arith.addi %p, %pairs : index
    %e0 = arith.select %in_pairs, %p, %even : index
    %e1 = arith.select %in_pairs, %behind, %odd : index""",
    "interleaved": """%e0 = arith.addi %even, %c0 : index
    %e1 = arith.addi %odd, %c0 : index""",
}


def append_at(layers: int, kv_heads: int, group: int, size: int, pairs: int, layout: str, dtype: str = "f32") -> Kernel:
    """The rotary embedding of one token of each sequence, and its row of the caches.

    Rotates `q [b, h * g, d]`, and writes the rotated `k [b, h, d]` to row `positions [b]` of a layer of the key cache,
    never beyond its rows, and `v [b, h, d]` to that row of the value cache. The first `2 * pairs` elements of a head
    are rotated, by the angles of `cos` and `sin [b, pairs]`, in the pairs of `relax.rotary_embedding` for the layout.
    """
    queries = kv_heads * group
    widen, narrow = "extf {} : {} to f32", "truncf {} : f32 to {}"
    if dtype == "f32":  # no conversion
        widen = narrow = "bitcast {} : f32 to {}"
    return make_kernel(
        f"append_at_{layers}x{kv_heads}x{group}x{size}",
        _APPEND_AT,
        **_value_cache(layers, kv_heads, size, dtype),
        L=layers,
        P=pairs,
        Q=queries,
        TURNING=queries + kv_heads,
        ALL=queries + 2 * kv_heads,
        HALF=size // 2,
        PAIR=_PAIRS[layout],
        WIDEN=widen.format("%x#0", dtype),
        WIDEN_1=widen.format("%x#1", dtype),
        NARROW=narrow.format("%2", dtype),
        NARROW_1=narrow.format("%5", dtype),
    )


# Masked scores are finite, and below the initial maximum, so that a query without a key has the sum zero.
_ATTEND = """
func.func private @$NAME(
    %q: tensor<?x?x${H}x${G}x${D}x$T> {relax.shape = #relax.shape<[b, n, $H, $G, $D]>},
    %keys: tensor<${L}x?x${H}x${D}x?x$T> {relax.shape = #relax.shape<[$L, b, $H, $D, c]>},
    %values: tensor<${L}x?x?x${H}x${D}x$T> {relax.shape = #relax.shape<[$L, b, c, $H, $D]>},
    %start: tensor<?xi64> {relax.shape = #relax.shape<[b]>},
    %dest: tensor<?x?x${H}x${G}x${D}x$T> {relax.shape = #relax.shape<[b, n, $H, $G, $D]>},
    %layer: index {relax.symbol = "layer"}, %past: index {relax.symbol = "$COUNT"})
    -> (tensor<?x?x${H}x${G}x${D}x$T> {relax.shape = #relax.shape<[b, n, $H, $G, $D]>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant -1.0e29 : f32
  %b = tensor.dim %q, %c0 : tensor<?x?x${H}x${G}x${D}x$T>
  %n = tensor.dim %q, %c1 : tensor<?x?x${H}x${G}x${D}x$T>
  $ROWS
  %k = tensor.extract_slice %keys[%layer, 0, 0, 0, 0] [1, %b, $H, $D, %m] [1, 1, 1, 1, 1]
      : tensor<${L}x?x${H}x${D}x?x$T> to tensor<?x${H}x${D}x?x$T>
  %v = tensor.extract_slice %values[%layer, 0, 0, 0, 0] [1, %b, %m, $H, $D] [1, 1, 1, 1, 1]
      : tensor<${L}x?x?x${H}x${D}x$T> to tensor<?x?x${H}x${D}x$T>

  %e0 = tensor.empty(%b, %n, %m) : tensor<?x${H}x${G}x?x?xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<?x${H}x${G}x?x?xf32>) -> tensor<?x${H}x${G}x?x?xf32>
  %s1 = linalg.generic {
      indexing_maps = [affine_map<(b, h, g, i, j, d) -> (b, i, h, g, d)>,
                       affine_map<(b, h, g, i, j, d) -> (b, h, d, j)>,
                       affine_map<(b, h, g, i, j, d) -> (b, h, g, i, j)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<?x?x${H}x${G}x${D}x$T>, tensor<?x${H}x${D}x?x$T>)
      outs(%s0 : tensor<?x${H}x${G}x?x?xf32>) {
  ^bb0(%x: $T, %y: $T, %sum: f32):
    $WIDEN_X
    $WIDEN_Y
    %0 = arith.mulf $X, $Y : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<?x${H}x${G}x?x?xf32>
  %s2 = linalg.generic {
      indexing_maps = [affine_map<(b, h, g, i, j) -> (b)>, affine_map<(b, h, g, i, j) -> (b, h, g, i, j)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%start : tensor<?xi64>) outs(%s1 : tensor<?x${H}x${G}x?x?xf32>) {
  ^bb0(%first: i64, %s: f32):
    %scale = arith.constant $SCALE : f32
    %hidden = arith.constant -1.0e30 : f32
    %j = linalg.index 4 : index
    $SEEN
    %scaled = arith.mulf %s, %scale : f32
    %0 = arith.select %seen, %scaled, %hidden : f32
    linalg.yield %0 : f32
  } -> tensor<?x${H}x${G}x?x?xf32>

  %e1 = tensor.empty(%b, %n) : tensor<?x${H}x${G}x?xf32>
  %m0 = linalg.fill ins(%lowest : f32) outs(%e1 : tensor<?x${H}x${G}x?xf32>) -> tensor<?x${H}x${G}x?xf32>
  %max = linalg.generic {
      indexing_maps = [affine_map<(b, h, g, i, j) -> (b, h, g, i, j)>, affine_map<(b, h, g, i, j) -> (b, h, g, i)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%s2 : tensor<?x${H}x${G}x?x?xf32>) outs(%m0 : tensor<?x${H}x${G}x?xf32>) {
  ^bb0(%s: f32, %most: f32):
    %0 = arith.maximumf %s, %most : f32
    linalg.yield %0 : f32
  } -> tensor<?x${H}x${G}x?xf32>
  %s3 = linalg.generic {
      indexing_maps = [affine_map<(b, h, g, i, j) -> (b, h, g, i)>, affine_map<(b, h, g, i, j) -> (b, h, g, i, j)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%max : tensor<?x${H}x${G}x?xf32>) outs(%s2 : tensor<?x${H}x${G}x?x?xf32>) {
  ^bb0(%most: f32, %s: f32):
    %0 = arith.subf %s, %most : f32
    %1 = math.exp %0 : f32
    linalg.yield %1 : f32
  } -> tensor<?x${H}x${G}x?x?xf32>
  %e2 = tensor.empty(%b, %n) : tensor<?x${H}x${G}x?xf32>
  %t0 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<?x${H}x${G}x?xf32>) -> tensor<?x${H}x${G}x?xf32>
  %total = linalg.generic {
      indexing_maps = [affine_map<(b, h, g, i, j) -> (b, h, g, i, j)>, affine_map<(b, h, g, i, j) -> (b, h, g, i)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%s3 : tensor<?x${H}x${G}x?x?xf32>) outs(%t0 : tensor<?x${H}x${G}x?xf32>) {
  ^bb0(%s: f32, %sum: f32):
    %0 = arith.addf %sum, %s : f32
    linalg.yield %0 : f32
  } -> tensor<?x${H}x${G}x?xf32>

  %sums = tensor.empty(%b, %n) : tensor<?x?x${H}x${G}x${D}xf32>
  %y0 = linalg.fill ins(%zero : f32) outs(%sums : tensor<?x?x${H}x${G}x${D}xf32>) -> tensor<?x?x${H}x${G}x${D}xf32>
  %y1 = linalg.generic {
      indexing_maps = [affine_map<(b, i, h, g, d, j) -> (b, h, g, i, j)>,
                       affine_map<(b, i, h, g, d, j) -> (b, j, h, d)>,
                       affine_map<(b, i, h, g, d, j) -> (b, i, h, g, d)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%s3, %v : tensor<?x${H}x${G}x?x?xf32>, tensor<?x?x${H}x${D}x$T>)
      outs(%y0 : tensor<?x?x${H}x${G}x${D}xf32>) {
  ^bb0(%x: f32, %y: $T, %sum: f32):
    $WIDEN_Y
    %0 = arith.mulf %x, $Y : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<?x?x${H}x${G}x${D}xf32>
  %y2 = linalg.generic {
      indexing_maps = [affine_map<(b, i, h, g, d) -> (b, h, g, i)>, affine_map<(b, i, h, g, d) -> (b, i, h, g, d)>,
                       affine_map<(b, i, h, g, d) -> (b, i, h, g, d)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%total, %y1 : tensor<?x${H}x${G}x?xf32>, tensor<?x?x${H}x${G}x${D}xf32>)
      outs(%dest : tensor<?x?x${H}x${G}x${D}x$T>) {
  ^bb0(%sum: f32, %y: f32, %out: $T):
    %tiny = arith.constant 1.0e-30 : f32
    %divisor = arith.maximumf %sum, %tiny : f32
    %0 = arith.divf %y, %divisor : f32
    $NARROW
    linalg.yield $RESULT : $T
  } -> tensor<?x?x${H}x${G}x${D}x$T>
  return %y2 : tensor<?x?x${H}x${G}x${D}x$T>
}
"""


# The cache rows that a query sees, and the number of rows to read.
_CAUSAL = {
    "COUNT": "t",
    "ROWS": "%m = arith.addi %past, %n : index",
    "SEEN": """%i = linalg.index 3 : index
    %position = arith.addi %i, %past : index
    %begin = arith.index_cast %first : i64 to index
    %early = arith.cmpi sle, %j, %position : index
    %own = arith.cmpi sge, %j, %begin : index
    %seen = arith.andi %early, %own : i1""",
}
_AT_POSITIONS = {
    "COUNT": "m",
    "ROWS": "%m = arith.addi %past, %c0 : index",
    "SEEN": """%position = arith.index_cast %first : i64 to index
    %seen = arith.cmpi sle, %j, %position : index""",
}


def attend(layers: int, kv_heads: int, group: int, size: int, scale: float, dtype: str = "f32") -> Kernel:
    """Causal attention of `q [b, n, h, g, d]` over the first `t + n` rows of a layer of the cache.

    `start [b]` is the first row that belongs to each sequence: the rows before it are padding. Scores and sums are f32
    for all element types.
    """
    return _attend("attend", _CAUSAL, layers, kv_heads, group, size, scale, dtype)


def attend_at(layers: int, kv_heads: int, group: int, size: int, scale: float, dtype: str = "f32") -> Kernel:
    """Attention of one query of each sequence, `q [b, 1, h, g, d]`, over the rows up to its position `[b]`.

    Reads the first `m` rows of the cache: no position may be beyond them.
    """
    return _attend("attend_at", _AT_POSITIONS, layers, kv_heads, group, size, scale, dtype)


def _attend(
    name: str, seen: dict[str, str], layers: int, kv_heads: int, group: int, size: int, scale: float, dtype: str
) -> Kernel:
    name = f"{name}_{layers}x{kv_heads}x{group}x{size}"
    (widen_x, x), (widen_y, y) = _widened("x", dtype), _widened("y", dtype)
    narrow, result = narrowed("0", dtype)
    sizes = {"L": layers, "H": kv_heads, "G": group, "D": size, "T": dtype, "SCALE": f"{scale:.9e}"}
    values = {"WIDEN_X": widen_x, "X": x, "WIDEN_Y": widen_y, "Y": y, "NARROW": narrow, "RESULT": result}
    return make_kernel(name, _ATTEND, **sizes, **values, **seen)


def _widened(name: str, dtype: str) -> tuple[str, str]:
    """An op that converts an argument to f32 if needed, and the name of the result."""
    if dtype == "f32":
        return "", f"%{name}"
    return f"%{name}32 = arith.extf %{name} : {dtype} to f32", f"%{name}32"


def narrowed(name: str, dtype: str) -> tuple[str, str]:
    """An op that converts an f32 to an element type if needed, and the name of the result."""
    if dtype == "f32":
        return "", f"%{name}"
    return f"%narrow = arith.truncf %{name} : f32 to {dtype}", "%narrow"


# --- rotary embedding

# Angles grow to thousands of turns: whole turns are subtracted before the conversion to f32.
_ROTARY_TABLE = """
func.func private @$NAME(
    %frequencies: tensor<${P}xf64>, $POSITIONS %dest: tensor<?x${P}xf32> {relax.shape = #relax.shape<[n, $P]>}
    $PARAMETER) -> (tensor<?x${P}xf32> {relax.shape = #relax.shape<[n, $P]>}) {
  %table = linalg.generic {
      indexing_maps = [affine_map<(n, p) -> (p)>, $MAP affine_map<(n, p) -> (n, p)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%frequencies$INPUT : tensor<${P}xf64>$TYPE) outs(%dest : tensor<?x${P}xf32>) {
  ^bb0(%frequency: f64, $ARGUMENT %out: f32):
    %turn = arith.constant 6.283185307179586 : f64
    %per_radian = arith.constant 0.15915494309189535 : f64
    $INTEGER
    %number = arith.sitofp %integer : i64 to f64
    %angle = arith.mulf %number, %frequency : f64
    %turns = arith.mulf %angle, %per_radian : f64
    %whole = math.floor %turns : f64
    %fraction = arith.subf %turns, %whole : f64
    %rest = arith.mulf %fraction, %turn : f64
    %small = arith.truncf %rest : f64 to f32
    %0 = math.$FUNCTION %small : f32
    linalg.yield %0 : f32
  } -> tensor<?x${P}xf32>
  return %table : tensor<?x${P}xf32>
}
"""


_FROM_PAST = {
    "POSITIONS": "",
    "PARAMETER": ', %past: index {relax.symbol = "t"}',
    "MAP": "",
    "INPUT": "",
    "TYPE": "",
    "ARGUMENT": "",
    "INTEGER": """%i = linalg.index 0 : index
    %position = arith.addi %i, %past : index
    %integer = arith.index_cast %position : index to i64""",
}
_GIVEN = {
    "POSITIONS": "%positions: tensor<?xi64> {relax.shape = #relax.shape<[n]>},",
    "PARAMETER": "",
    "MAP": "affine_map<(n, p) -> (n)>,",
    "INPUT": ", %positions",
    "TYPE": ", tensor<?xi64>",
    "ARGUMENT": "%integer: i64,",
    "INTEGER": "",
}


def rotary_table(function: str, pairs: int) -> Kernel:
    """Cosine or sine of the angle of each pair at the positions from `t` on: [n, pairs]."""
    return make_kernel(f"rotary_{function}_{pairs}", _ROTARY_TABLE, FUNCTION=function, P=pairs, **_FROM_PAST)


def rotary_table_at(function: str, pairs: int) -> Kernel:
    """Cosine or sine at given positions `[n]`: [n, pairs]."""
    return make_kernel(f"rotary_{function}_at_{pairs}", _ROTARY_TABLE, FUNCTION=function, P=pairs, **_GIVEN)


# --- matrices in panels

_PANEL_ROWS = """
func.func private @$NAME(
    %ids: tensor<?xi64> {relax.shape = #relax.shape<[m]>, relax.index_bound = $COUNT : i64},
    %panels: tensor<${P}x${K}x${W}xf32>,
    %dest: tensor<?x${K}xf32> {relax.shape = #relax.shape<[m, $K]>})
    -> (tensor<?x${K}xf32> {relax.shape = #relax.shape<[m, $K]>}) {
  %rows = linalg.generic {
      indexing_maps = [affine_map<(m, k) -> (m)>, affine_map<(m, k) -> (m, k)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<?xi64>) outs(%dest : tensor<?x${K}xf32>) {
  ^bb0(%id: i64, %out: f32):
    $ROW
    %k = linalg.index 1 : index
    %0 = tensor.extract %panels[%panel, %k, %lane] : tensor<${P}x${K}x${W}xf32>
    linalg.yield %0 : f32
  } -> tensor<?x${K}xf32>
  return %rows : tensor<?x${K}xf32>
}
"""

# An index outside the matrix fails on the CPU; on a device, it reads the first or last row, never other memory.
_ROW = """%c0 = arith.constant 0 : i64
    %last = arith.constant $LAST : i64
    %raised = arith.maxsi %id, %c0 : i64
    %clamped = arith.minsi %raised, %last : i64
    %row = arith.index_cast %clamped : i64 to index"""

_IN_PANEL = """
    %width = arith.constant $W : index
    %panel = arith.divui %row, %width : index
    %lane = arith.remui %row, %width : index"""


def row_text(rows: int, panels: bool) -> str:
    """The row of `%id`, and with `panels` its panel and lane."""
    return Template(_ROW + _IN_PANEL if panels else _ROW).substitute(LAST=rows - 1, W=PANEL)


def panel_rows(rows: int, columns: int) -> Kernel:
    """The rows `ids [m]` of a matrix in panels `[p, k, 64]`."""
    panels = -(-rows // PANEL)
    return make_kernel(
        f"rows_{rows}x{columns}", _PANEL_ROWS, P=panels, K=columns, W=PANEL, COUNT=rows, ROW=row_text(rows, panels=True)
    )

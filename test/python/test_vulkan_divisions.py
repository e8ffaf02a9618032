# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Divisions that Vulkan drivers get wrong, or that Vulkan leaves undefined (lib/Target/SPIRV/KernelDivision.cpp)."""

import numpy as np
import pytest
import vulkan

import relax_mlir

device = pytest.fixture(vulkan.open_device, scope="module")


def run(device, op, *operands):
    """Runs an op on two operands of symbolic length."""
    shape = "tensor<?x{}, #relax.shape<[n]>>"
    names = {"f": "f", "i": "i", "u": "ui"}
    types = [shape.format(names[x.dtype.kind] + str(8 * x.dtype.itemsize)) for x in operands]
    parameters = ", ".join(f"%{i}: {kind}" for i, kind in enumerate(types))
    module = relax_mlir.parse(
        f"""relax.func @main({parameters}) -> {types[0]} {{
          %r = {op} {", ".join(f"%{i}" for i in range(len(operands)))} : ({", ".join(types)}) -> {types[0]}
          relax.return %r : {types[0]}
        }}"""
    )
    executable = relax_mlir.compile(module, target="vulkan")
    return device.get(vulkan.skipping(executable["main"])(*map(device.put, operands)))


LARGE = [2**32 - 1, 2**32, 2**32 + 1, 2**33 - 1, 2**40 + 12345, 2**62 + 7, 2**63 - 1]


def pairs(dtype):
    """Pairs of numbers around word boundaries, with signs for signed types."""
    info = np.iinfo(dtype)
    some = np.array([1, 2, 3, 7, 100, info.max - 1, info.max], np.uint64)
    near = np.array([1 << k for k in range(info.bits)], np.uint64)
    numbers = np.concatenate([some, near, near - np.uint64(1), near + np.uint64(1), np.array(LARGE, np.uint64)])
    numbers = np.unique(numbers[numbers <= info.max]).astype(dtype)
    if info.min < 0:
        numbers = np.concatenate([-numbers, np.array([0, info.min], dtype), numbers])
    x, y = (side.ravel() for side in np.meshgrid(numbers, numbers))
    is_undefined = y == 0
    if info.min < 0:
        is_undefined |= (x == info.min) & (y == -1)
    return x[~is_undefined], y[~is_undefined]


# All words of long numbers count, and signs of remainders match NumPy.
@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64, np.uint32, np.uint64])
@pytest.mark.parametrize(("op", "of"), [("relax.floor_divide", np.floor_divide), ("relax.floor_mod", np.mod)])
def test_integers(device, op, of, dtype):
    x, y = pairs(dtype)
    np.testing.assert_array_equal(run(device, op, x, y), of(x, y))


KERNEL = """
func.func private @divide(%x: tensor<?xKIND> {{relax.shape = #relax.shape<[n]>}},
                          %y: tensor<?xKIND> {{relax.shape = #relax.shape<[n]>}},
                          %out: tensor<?xKIND> {{relax.shape = #relax.shape<[n]>}}) -> tensor<?xKIND> {{
  {constant}
  %0 = linalg.generic {{
    indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
    iterator_types = ["parallel"]
  }} ins(%x, %y : tensor<?xKIND>, tensor<?xKIND>) outs(%out : tensor<?xKIND>) {{
  ^bb0(%a: KIND, %b: KIND, %c: KIND):
    %1 = arith.{op} %a, {by} : KIND
    linalg.yield %1 : KIND
  }} -> tensor<?xKIND>
  return %0 : tensor<?xKIND>
}}
relax.func @main(%x: tensor<?xKIND, #relax.shape<[n]>>, %y: tensor<?xKIND, #relax.shape<[n]>>)
    -> tensor<?xKIND, #relax.shape<[n]>> {{
  %0 = relax.call_tir @divide(%x, %y) : (tensor<?xKIND, #relax.shape<[n]>>, tensor<?xKIND, #relax.shape<[n]>>)
    -> tensor<?xKIND, #relax.shape<[n]>>
  relax.return %0 : tensor<?xKIND, #relax.shape<[n]>>
}}"""


def truncated(op, x, y):
    """The truncating division or remainder, with Python's unbounded integers."""
    results = []
    for a, b in zip(x.tolist(), y.tolist(), strict=True):
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        results.append(quotient if op.startswith("div") else a - quotient * b)
    return np.array(results, x.dtype)


CASES = [
    (op, kind, by)
    for op in ("div", "rem")
    for kind in map(np.dtype, ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"))
    for by in (None, 1, 3, 8, -5, 2**40, 2**40 + 1, 2**63)
    if by is None or np.iinfo(kind).min <= by <= np.iinfo(kind).max
]


# Quotients and remainders in kernels, also by constants.
@pytest.mark.parametrize(("op", "kind", "constant"), CASES)
def test_kernels(device, op, kind, constant):
    op, bits = f"{op}{'s' if kind.kind == 'i' else 'u'}i", 8 * kind.itemsize
    x, y = pairs(kind)
    stored = np.dtype(f"i{kind.itemsize}")  # the signless type in kernels
    source = KERNEL.format(
        constant=f"%by = arith.constant {np.array(constant, kind).view(stored)} : KIND" if constant else "",
        op=op,
        by="%by" if constant else "%b",
    ).replace("KIND", f"i{bits}")
    if constant:
        y = np.full_like(x, constant)
    call = vulkan.skipping(relax_mlir.compile(relax_mlir.parse(source), target="vulkan")["main"])
    found = device.get(call(device.put(x.view(stored)), device.put(y.view(stored))))
    np.testing.assert_array_equal(found.view(kind), truncated(op, x, y))


# Any divisor that is a normal number.
@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_far_quotients(device, dtype):
    info = np.finfo(dtype)
    numbers = np.array([info.max, info.max / 3, info.tiny * 1.7, 1.5, 7, 0, np.inf, np.nan], dtype)
    powers = 2.0 ** np.arange(info.minexp, info.maxexp)
    numbers = np.concatenate([-numbers, numbers, powers.astype(dtype)])
    x, y = (side.ravel() for side in np.meshgrid(numbers, numbers))
    with np.errstate(all="ignore"):
        expected = x / y
    found = run(device, "relax.divide", x, y)
    # Subnormal numbers may be flushed to zero.
    is_tiny = np.abs(expected) < info.tiny
    assert (np.abs(found[is_tiny]) <= info.tiny).all()
    np.testing.assert_array_max_ulp(found[~is_tiny], expected[~is_tiny], 3)


# A loop that continues from a remainder: each thread reads its own elements in all iterations.
@pytest.mark.parametrize("length", [5, 1000, 100_003])
def test_loops_behind_divisions(device, length):
    kind = "tensor<?x?x?xf32, #relax.shape<[a, b, n]>>"
    out = "tensor<?x?x?xf32, #relax.shape<[a, b, n - 2]>>"
    module = relax_mlir.parse(
        f"""relax.func @main(%x: {kind}) -> {out} {{
          %r = relax.max_pool1d %x {{pool_size = array<i64: 3>}} : ({kind}) -> {out}
          relax.return %r : {out}
        }}"""
    )
    x = np.random.default_rng(length).standard_normal((2, 3, length)).astype(np.float32)
    call = vulkan.skipping(relax_mlir.compile(module, target="vulkan")["main"])
    expected = np.maximum(np.maximum(x[..., :-2], x[..., 1:-1]), x[..., 2:])
    np.testing.assert_array_equal(device.get(call(device.put(x))), expected)

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Padding, resizing and pixel shuffling against NumPy and plain Python."""

import itertools
from math import ceil, floor

import numpy as np
import pytest
from compiled import check, execute, source_of
from elements import COMMON_DTYPES, compare, is_float, tolerance_of
from targets import COMPILED as RUNS_ON  # noqa: F401

ONE_OF = 4  # combinations of all options of the ops

DTYPES = [*COMMON_DTYPES, np.int32, np.int64, np.uint8]
MODES = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}


def values(shape: tuple[int, ...], dtype: type = np.float32) -> np.ndarray:
    generator = np.random.default_rng(sum(shape))
    if is_float(dtype):
        return generator.standard_normal(shape).astype(dtype)
    return generator.integers(0, 256, shape).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "shape,widths",
    [
        ((7,), [2, 3]),
        ((3, 5), [1, 2, 0, 4]),
        ((3, 5), [0, 0, 0, 0]),
        ((2, 3, 4), [0, 0, 2, 0, 1, 3]),
        ((0, 3), [0, 0, 1, 1]),
    ],
)
def test_pad(shape, widths, mode, dtype):
    x = values(shape, dtype)
    expected = np.pad(x, np.reshape(widths, (-1, 2)), mode=MODES[mode])
    check(f'relax.pad %0 by [{", ".join(map(str, widths))}] {{pad_mode = "{mode}"}}', [x], [expected])


def test_pad_by_a_value():
    x = values((2, 3))
    expected = np.pad(x, ((1, 0), (0, 2)), constant_values=1.5)
    check("relax.pad %0 by [1, 0, 0, 2] {pad_value = 1.5 : f64}", [x], [expected])
    x = values((3,), np.uint8)
    check("relax.pad %0 by [1, 2] {pad_value = 250 : i64}", [x], [np.pad(x, (1, 2), constant_values=250)])


def test_pad_of_nothing():
    x = values((0, 3))
    check("relax.pad %0 by [2, 1, 1, 0]", [x], [np.zeros((3, 4), np.float32)])
    check('relax.pad %0 by [0, 0, 1, 0] {pad_mode = "replicate"}', [x], [np.zeros((0, 4), np.float32)])


def test_crop():
    x = values((7, 5))
    check("relax.pad %0 by [-2, -1, 1, -3]", [x], [np.pad(x[2:6, :2], ((0, 0), (1, 0)))])


def test_pad_to_a_multiple():
    source = source_of("relax.pad %0 by [0, -n mod 8]", [values((5,))], [values((8,))], [["n"]])
    for size in (0, 1, 7, 8, 9):
        x = values((size,))
        np.testing.assert_array_equal(execute(source, x)[0], np.pad(x, (0, -size % 8)))


@pytest.mark.parametrize(
    "mode,width,size,message",
    [
        ("reflect", 3, 3, "must be less than the size"),
        ("circular", 4, 3, "must be at most the size"),
        ("replicate", 1, 0, "must be 0 where the size is 0"),
        ("constant", -4, 3, "crops more than there is"),
    ],
)
def test_pad_checks_its_widths(mode, width, size, message):
    x = values((size,))
    source = source_of(f'relax.pad %0 by [{width}, 0] {{pad_mode = "{mode}"}}', [x], [x], [["n"]])
    assert execute(source, values((9,)))[0].shape == (9 + width,)
    with pytest.raises(ValueError, match=message):
        execute(source, x)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape,factor", [((2, 12, 3, 5), 2), ((18, 2, 1), 3), ((2, 3, 0, 4, 3), 2), ((1, 4, 0, 3), 2)])
def test_pixel_shuffle(shape, factor, dtype):
    x = values(shape, dtype)
    *batch, c, h, w = shape
    split = x.reshape(*batch, c // factor**2, factor, factor, h, w)
    n = len(batch)
    moved = split.transpose(*range(n), n, n + 3, n + 1, n + 4, n + 2)
    expected = moved.reshape(*batch, c // factor**2, h * factor, w * factor)
    check(f"relax.pixel_shuffle %0 by {factor}", [x], [expected])


def test_pixel_shuffle_checks_channels():
    x = values((4, 2, 2))
    source = source_of("relax.pixel_shuffle %0 by 2", [x], [x], [["c", "h", "w"]])
    with pytest.raises(ValueError, match="must be a multiple of upscale_factor squared"):
        execute(source, values((6, 2, 2)))


def coordinate(at: int, have: int, wanted: int, mode: str, roi: tuple[float, float]) -> float:
    if mode == "half_pixel" or (mode == "pytorch_half_pixel" and wanted > 1):
        return (at + 0.5) * have / wanted - 0.5
    if mode == "pytorch_half_pixel":
        return 0.0
    if mode == "align_corners":
        return at * (have - 1) / (wanted - 1) if wanted > 1 else 0.0
    if mode == "asymmetric":
        return at * have / wanted
    if mode == "tf_half_pixel_for_nn":
        return (at + 0.5) * have / wanted
    low, high = roi[0] * (have - 1), roi[1] * (have - 1)
    return low + at * (high - low) / (wanted - 1) if wanted > 1 else 0.5 * (low + high)


ROUNDING = {
    "round": round,
    "floor": floor,
    "ceil": ceil,
    "round_prefer_floor": lambda x: ceil(x - 0.5),
    "round_prefer_ceil": lambda x: floor(x + 0.5),
}


def taps(at, have, wanted, mode, roi, method, rounding, alpha, exclude):
    """Positions and weights along one axis, and whether the point is outside."""
    where = coordinate(at, have, wanted, mode, roi)
    outside = mode == "tf_crop_and_resize" and not 0 <= where <= have - 1
    clamp = lambda index: min(max(index, 0), have - 1)  # noqa: E731
    if method == "nearest_neighbor":
        return [(clamp(ROUNDING[rounding](where)), 1.0)], outside
    base, fraction = floor(where), where - floor(where)
    if method == "linear":
        return [(clamp(base), 1 - fraction), (clamp(base + 1), fraction)], outside
    found = []
    for tap in range(-1, 3):
        d = abs(tap - fraction)
        if d <= 1:
            weight = (alpha + 2) * d**3 - (alpha + 3) * d**2 + 1
        else:
            weight = alpha * d**3 - 5 * alpha * d**2 + 8 * alpha * d - 4 * alpha
        found.append((base + tap, 0.0 if exclude and not 0 <= base + tap < have else weight))
    total = sum(weight for _, weight in found) if exclude else 1.0
    return [(clamp(index), weight / total) for index, weight in found], outside


def resized(
    x,
    size,
    method="linear",
    coordinate_transformation_mode="half_pixel",
    rounding_method="round",
    cubic_alpha=-0.75,
    cubic_exclude=False,
    roi=(0.0, 0.0, 1.0, 1.0),
    extrapolation_value=0.0,
) -> np.ndarray:
    """Resizes [N, C, H, W], in f64."""
    result = np.zeros((*x.shape[:2], *size))
    for position in itertools.product(*map(range, size)):
        axes = [
            taps(
                *(at, h, o, coordinate_transformation_mode, (roi[a], roi[2 + a])),
                *(method, rounding_method, cubic_alpha, cubic_exclude),
            )
            for a, (at, h, o) in enumerate(zip(position, x.shape[2:], size, strict=True))
        ]
        if axes[0][1] or axes[1][1]:
            result[:, :, position[0], position[1]] = extrapolation_value
            continue
        for (y, wy), (z, wx) in itertools.product(axes[0][0], axes[1][0]):
            result[:, :, position[0], position[1]] += wy * wx * x[:, :, y, z].astype(np.float64)
    return result


def attributes(**values: object) -> str:
    def text(value: object) -> str:
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, float):
            return f"{value!r} : f64"
        return f'"{value}"' if isinstance(value, str) else f"array<f64: {', '.join(map(str, value))}>"

    return "{" + ", ".join(f"{name} = {text(value)}" for name, value in values.items()) + "}"


def resize_op(size, **rest) -> tuple[str, dict]:
    """The op, and the arguments that `source_of` needs for its second operand."""
    height, width = size
    type_ = f"!relax.shape<[{height}, {width}]>"
    before = f"%size = relax.shape [{height}, {width}] : {type_}"
    return f"relax.resize2d %0, %size {attributes(**rest)}", {"types": type_, "before": before}


def check_resize(x, size, wanted=None, **rest):
    expected = (resized(x, size, **rest) if wanted is None else wanted).astype(x.dtype)
    op, more = resize_op(size, **rest)
    for dims in (None, [["n", "c", "h", "w"]]):
        result = execute(source_of(op, [x], [expected], dims, **more), x)[0]
        compare(result, expected, tolerance_of(x.dtype))


COORDINATES = [
    "half_pixel",
    "align_corners",
    "asymmetric",
    "pytorch_half_pixel",
    "tf_half_pixel_for_nn",
    "tf_crop_and_resize",
]
SIZES = [
    ((2, 3, 4, 5), (8, 10)),
    ((1, 2, 5, 7), (3, 4)),
    ((1, 1, 4, 6), (1, 1)),
    ((1, 1, 1, 1), (3, 2)),
    ((0, 2, 3, 3), (2, 2)),
]


@pytest.mark.parametrize("mode", COORDINATES)
@pytest.mark.parametrize("method", ["nearest_neighbor", "linear", "cubic"])
@pytest.mark.parametrize(
    "shape,size,dtype", [(*sizes, np.float32) for sizes in SIZES] + [(*SIZES[1], dtype) for dtype in COMMON_DTYPES[1:]]
)
def test_resize(shape, size, method, mode, dtype):
    check_resize(values(shape, dtype), size, method=method, coordinate_transformation_mode=mode)


@pytest.mark.parametrize("rounding", ROUNDING)
@pytest.mark.parametrize("mode", ["half_pixel", "align_corners", "asymmetric"])
@pytest.mark.parametrize("shape,size", SIZES)
def test_resize_rounding(shape, size, mode, rounding):
    check_resize(
        values(shape), size, method="nearest_neighbor", coordinate_transformation_mode=mode, rounding_method=rounding
    )


@pytest.mark.parametrize("method", ["nearest_neighbor", "linear", "cubic"])
def test_resize_of_a_region(method):
    check_resize(
        values((1, 2, 6, 7)),
        (5, 4),
        method=method,
        coordinate_transformation_mode="tf_crop_and_resize",
        roi=(0.25, -0.5, 0.75, 1.25),
        extrapolation_value=7.0,
    )


def test_cubic_variants():
    x = values((1, 2, 5, 6))
    check_resize(x, (9, 4), method="cubic", cubic_alpha=-0.5)
    check_resize(x, (9, 4), method="cubic", cubic_exclude=True)


@pytest.mark.parametrize("method", ["nearest_neighbor", "linear", "cubic"])
def test_resize_of_integers(method):
    x = values((1, 2, 4, 5), np.uint8)
    x[0, 0, ::2] = 255
    expected = np.clip(np.round(resized(x, (7, 3), method=method)), 0, 255)
    op, more = resize_op((7, 3), method=method)
    result = execute(source_of(op, [x], [x], **more), x)[0].astype(int)
    assert np.abs(result - expected).max() <= (0 if method == "nearest_neighbor" else 1)
    op = op.replace("{", "{out_dtype = f32, ")
    result = execute(source_of(op, [x], [x.astype(np.float32)], **more), x)[0]
    np.testing.assert_allclose(result, resized(x, (7, 3), method=method), rtol=1e-4, atol=1e-4)


def test_resize_layout():
    x = values((2, 3, 4, 5))
    expected = resized(x, (6, 3)).astype(np.float32).transpose(0, 2, 3, 1)
    nhwc = np.ascontiguousarray(x.transpose(0, 2, 3, 1))
    op, more = resize_op((6, 3), layout="NHWC")
    result = execute(source_of(op, [nhwc], [expected], **more), nhwc)[0]
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-5)


def test_resize_to_symbolic_size():
    x = values((1, 1, 3, 4))
    op, more = resize_op(("2*h", "2*w"), method="nearest_neighbor")
    result = execute(source_of(op, [x], [x], [[1, 1, "h", "w"]], **more), x)[0]
    np.testing.assert_array_equal(result, x.repeat(2, 2).repeat(2, 3))


def test_resize_of_nothing():
    x = values((1, 1, 0, 2))
    op, more = resize_op((2, 2))
    with pytest.raises(ValueError, match="data is empty along 'H'"):
        execute(source_of(op, [x], [x], [["n", "c", "h", "w"]], **more), x)

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ops that are compositions of others, with dynamic sizes, compared with NumPy and with their definitions."""

import itertools
import math

import numpy as np
import pytest

from relax_mlir import BlockBuilder, Range, RelaxError, Sym, Tensor, compile, op

ONE_OF = 6
n, k, m = Sym("n"), Sym("k"), Sym("m")
rng = np.random.default_rng(0)


def random(*shape, dtype="f4"):
    return rng.standard_normal(shape).astype(dtype)


def compiled(body, *params, symbols=None):
    bb = BlockBuilder()
    with bb.function("main", params, symbols=symbols):
        results = body(*params)
        bb.return_(*(results if isinstance(results, (tuple, list)) else [results]))
    return compile(bb.module())["main"]


def check(made, expected, tolerance=0.0):
    made = made if isinstance(made, tuple) else (made,)
    for one, wanted in zip(made, expected, strict=True):
        assert one.shape == np.shape(wanted)
        np.testing.assert_allclose(one, wanted, rtol=tolerance, atol=tolerance)


ROLLS = [(1, None), (-2, None), (1, 0), (-3, 1), ((1, 2), (0, 1)), (2, (0, 1)), (0, 0)]


@pytest.mark.parametrize("symbols", [None, {n: Range(1, 9), k: Range(1, 9)}], ids=["any", "declared"])
def test_roll_and_transpose(symbols):
    calls = [lambda x, roll, by=by, axis=axis: roll(x, by, axis) for by, axis in ROLLS]
    main = compiled(
        lambda x: [*(call(x, op.roll) for call in calls), op.transpose(x), op.transpose(x, (0, 1))],
        Tensor((n, k)),
        symbols=symbols,
    )
    for shape in ((3, 4), (1, 1), *(((0, 3), (2, 0)) if symbols is None else ())):
        x = random(*shape)
        check(main(x), [*(call(x, np.roll) for call in calls), x.T, x])


def test_roll_by_a_symbol():
    main = compiled(lambda x, by: op.roll(x, by, -1), Tensor((5,)), n)
    x = random(5)
    for by in (0, 1, 7):
        check(main(x, by), [np.roll(x, by)])


def test_bmm():
    main = compiled(op.bmm, Tensor((n, 3, k)), Tensor((m, k, 2)))
    for batch, depth in ((2, 4), (1, 1), (0, 3), (2, 0)):
        x, y = random(batch, 3, depth), random(batch, depth, 2)
        check(main(x, y), [x @ y], 1e-5)
    with pytest.raises(ValueError, match="2"):
        main(random(1, 3, 4), random(2, 4, 2))  # would broadcast in op.matmul


def test_masked_select():
    def body(x, mask, row):
        return op.masked_select(x, mask), op.masked_select(x, row), op.masked_select(row, mask)

    main = compiled(body, Tensor((n, k)), Tensor((n, k), "bool"), Tensor((k,), "bool"))
    for shape in ((3, 4), (1, 1), (0, 2), (2, 0)):
        x, mask, row = random(*shape), random(*shape) > 0, random(shape[1]) > 0
        rows = np.broadcast_to(row, shape)
        check(main(x, mask, row), [x[mask], x[rows], rows[mask]])
    x = random(2, 2)
    for value in (True, False):
        check(main(x, np.full((2, 2), value), np.full(2, value))[0], [x.ravel() if value else x.ravel()[:0]])


def test_scatter_add():
    main = compiled(
        lambda x, i, u: (op.scatter_add(x, i, u), op.scatter_add(x, i, u, axis=1)),
        Tensor((4, 4)),
        Tensor((n, k), "i64"),
        Tensor((n, k)),
    )
    for shape in ((3, 4), (1, 1), (0, 2), (2, 0)):
        x, indices, updates = random(4, 4), rng.integers(0, 4, shape), random(*shape)
        first, second = x.copy(), x.copy()
        rows, columns = np.indices(shape)
        np.add.at(first, (indices, columns), updates)
        np.add.at(second, (rows, indices), updates)
        check(main(x, indices, updates), [first, second], 1e-6)


def running(x, axis, better):
    """The running extreme by its definition: the last of equal elements counts, and NaN stays."""
    x = np.moveaxis(x, axis, 0)
    values, places = x.copy(), np.zeros(x.shape, np.int64)
    for index in range(1, len(x)):
        takes = np.isnan(x[index]) | (better(x[index], values[index - 1]) & ~np.isnan(values[index - 1]))
        values[index] = np.where(takes, x[index], values[index - 1])
        places[index] = np.where(takes, index, places[index - 1])
    return np.moveaxis(values, 0, axis), np.moveaxis(places, 0, axis)


def test_running_extremes():
    main = compiled(lambda x: (*op.cummax(x, 0), *op.cummin(x, -1)), Tensor((n, k)))
    for shape in ((4, 5), (1, 1), (0, 2), (2, 0)):
        x = rng.integers(-2, 3, shape).astype("f4")
        x[1:2, 2:3] = np.nan
        check(main(x), [*running(x, 0, np.greater_equal), *running(x, 1, np.less_equal)])
    main = compiled(lambda x: op.cummax(x, 0), Tensor((n,), "u8"))
    x = np.array([3, 0, 3, 255, 7], np.uint8)
    check(main(x), [[3, 3, 3, 255, 255], [0, 0, 2, 3, 3]])
    main = compiled(lambda x: op.cummin(x, 0), Tensor((n,), "bool"))
    check(main(np.array([True, True, False, True])), [[True, True, False, False], [0, 1, 2, 2]])


def sampled(x, grid, mode, padding, corners):
    """`grid_sample` of images by PyTorch's definition, pixel by pixel."""
    _, _, *sizes = x.shape
    result = np.zeros((x.shape[0], x.shape[1], *grid.shape[1:3]))

    def place(value, size):
        return (value + 1) / 2 * (size - 1) if corners else ((value + 1) * size - 1) / 2

    def padded(at, size):
        if padding == "reflection":
            low, span = (0, size - 1) if corners else (-0.5, size)
            turns, rest = divmod(abs(at - low), span) if span else (0, -low)
            at = rest + low if turns % 2 == 0 else span - rest + low
        return min(max(at, 0), size - 1) if padding != "zeros" else at

    def cubic(d, a=-0.75):
        d = abs(d)
        return (a + 2) * d**3 - (a + 3) * d**2 + 1 if d <= 1 else a * (d**3 - 5 * d**2 + 8 * d - 4)

    def taps(at, size):
        if mode == "nearest":
            return [(round(padded(at, size)), 1.0)]
        at = padded(at, size) if mode == "bilinear" else at
        low = math.floor(at)
        if mode == "bilinear":
            return [(low, 1 - (at - low)), (low + 1, at - low)]
        return [(padded(low + step, size), cubic(at - low - step)) for step in (-1, 0, 1, 2)]

    for b, i, j in np.ndindex(*grid.shape[:3]):
        axes = [taps(place(float(grid[b, i, j, 1 - axis]), sizes[axis]), sizes[axis]) for axis in range(2)]
        for (row, first), (column, second) in itertools.product(*axes):
            if 0 <= row < sizes[0] and 0 <= column < sizes[1]:
                result[b, :, i, j] += x[b, :, int(row), int(column)] * first * second
    return result


def test_grid_sample():
    kinds = [
        ("bilinear", "zeros", False),
        ("bilinear", "reflection", True),
        ("nearest", "border", False),
        ("bicubic", "reflection", False),
        ("bicubic", "zeros", True),
    ]
    main = compiled(
        lambda x, grid: [op.grid_sample(x, grid, *kind) for kind in kinds],
        Tensor((n, 2, k, m)),
        Tensor((n, 3, Sym("j"), 2)),
    )
    for sizes, width in (((2, 4, 5), 2), ((1, 1, 1), 1), ((0, 3, 3), 2), ((2, 3, 3), 0)):
        x = random(sizes[0], 2, *sizes[1:])
        grid = rng.uniform(-1.6, 1.6, (sizes[0], 3, width, 2)).astype("f4")
        check(main(x, grid), [sampled(x, grid, *kind) for kind in kinds], 1e-3)


# A grid of the centers of all voxels reads the volume as it is.
def test_grid_sample_of_volumes():
    main = compiled(
        lambda x, grid: op.grid_sample(x, grid, align_corners=True), Tensor((1, 2, n, 3, 4)), Tensor((1, n, 3, 4, 3))
    )
    x = random(1, 2, 5, 3, 4)
    axes = [np.linspace(-1, 1, size) for size in x.shape[2:]]
    grid = np.stack(np.meshgrid(*axes, indexing="ij")[::-1], -1)[None].astype("f4")
    check(main(x, grid), [x], 1e-5)


def pooled(x, boxes, batches, size, scale, ratio, aligned):
    """`roi_align` with means by torchvision's definition."""
    _, channels, *limits = x.shape
    result = np.zeros((len(boxes), channels, *size))

    def read(image, y, x):
        if not (-1 <= y <= limits[0] and -1 <= x <= limits[1]):
            return np.zeros(channels)
        y, x = min(max(y, 0), limits[0] - 1), min(max(x, 0), limits[1] - 1)
        low, left = int(y), int(x)
        high, right = min(low + 1, limits[0] - 1), min(left + 1, limits[1] - 1)
        down, along = y - low, x - left
        top = image[:, low, left] * (1 - along) + image[:, low, right] * along
        return top * (1 - down) + (image[:, high, left] * (1 - along) + image[:, high, right] * along) * down

    for index, (box, batch) in enumerate(zip(boxes, batches)):
        x1, y1, x2, y2 = (float(value) * scale - (0.5 if aligned else 0) for value in box)
        lengths = (y2 - y1, x2 - x1) if aligned else (max(y2 - y1, 1), max(x2 - x1, 1))
        cell = [length / count for length, count in zip(lengths, size)]
        counts = [ratio or math.ceil(length) for length in cell]
        for i, j in np.ndindex(*size):
            places = itertools.product(range(counts[0]), range(counts[1]))
            values = [
                read(x[batch], y1 + (i + (a + 0.5) / counts[0]) * cell[0], x1 + (j + (b + 0.5) / counts[1]) * cell[1])
                for a, b in places
            ]
            result[index, :, i, j] = sum(values) / max(len(values), 1)
    return result


def test_roi_align():
    kinds = [((2, 3), 1.0, 2, False), ((2, 2), 0.5, 0, True)]
    main = compiled(
        lambda x, boxes, batches: [op.roi_align(x, boxes, batches, *kind) for kind in kinds],
        Tensor((n, 2, 6, k)),
        Tensor((m, 4)),
        Tensor((m,), "i64"),
    )
    x = random(2, 2, 6, 7)
    boxes = np.array([[0, 0, 3.5, 4], [1.2, 2, 9, 8], [-3, -1, 2, 2], [4, 4, 4, 4]], np.float32)
    batches = np.array([0, 1, 1, 0])
    for count in (4, 1, 0):
        arguments = (x, boxes[:count], batches[:count])
        check(main(*arguments), [pooled(*arguments, *kind) for kind in kinds], 1e-4)


def test_nms():
    def expected(boxes, scores, threshold):
        left = []
        for index in np.argsort(-scores, kind="stable"):
            for other in left:
                low, high = (
                    np.maximum(boxes[index, :2], boxes[other, :2]),
                    np.minimum(boxes[index, 2:], boxes[other, 2:]),
                )
                common = np.prod(np.maximum(high - low, 0))
                areas = [np.prod(boxes[i, 2:] - boxes[i, :2]) for i in (index, other)]
                if common / (sum(areas) - common) > threshold:
                    break
            else:
                left.append(index)
        return np.array(left, np.int64)

    main = compiled(lambda boxes, scores: op.nms(boxes, scores, 0.4), Tensor((n, 4)), Tensor((m,)))
    for count in (12, 1, 0):
        corners = rng.uniform(0, 6, (count, 2))
        boxes = np.concatenate([corners, corners + rng.uniform(1, 5, (count, 2))], 1).astype("f4")
        scores = rng.integers(0, 5, count).astype("f4")
        check(main(boxes, scores), [expected(boxes, scores, 0.4)])
    with pytest.raises(ValueError, match="3"):
        main(np.zeros((2, 4), "f4"), np.zeros(3, "f4"))


def test_random_numbers():
    count = 4096

    def body(state, x):
        random = op.Generator(state)
        drawn = [
            random.uniform((n,), low=-1, high=3),
            random.normal((n,), "f64", mean=2, std=0.5),
            random.integers(-2, 3, (n,), "i32"),
            random.permutation(n),
            random.uniform((2, n), "bf16"),
            random.integers(0, x, (n,)),
        ]
        return [*drawn, random.state]

    main = compiled(body, Tensor((2,), "i64"), Tensor((n,), "i64"))
    bounds = np.arange(1, count + 1)
    *drawn, state = main(np.array([7, 0]), bounds)
    uniform, normal, integers, permutation, narrow, below = drawn
    assert uniform.min() >= -1 and uniform.max() <= 3 and abs(uniform.mean() - 1) < 0.1
    assert abs(normal.mean() - 2) < 0.05 and abs(normal.std() - 0.5) < 0.05 and normal.dtype == np.float64
    assert sorted(set(integers.tolist())) == [-2, -1, 0, 1, 2] and integers.dtype == np.int32
    assert sorted(permutation.tolist()) == list(range(count)) and permutation[:5].tolist() != [0, 1, 2, 3, 4]
    assert narrow.shape == (2, count) and (below >= 0).all() and (below < bounds).all()
    # The same state gives the same numbers, the state that it returns others.
    again = main(np.array([7, 0]), bounds)
    assert all(np.array_equal(one, other) for one, other in zip(drawn, again))
    assert not np.array_equal(main(state, bounds)[0], uniform) and state[0] == 7 and state[1] > 0
    assert not np.array_equal(main(np.array([8, 0]), bounds)[0], uniform)
    for size in (1, 0):
        assert main(np.array([7, 0]), bounds[:size])[3].tolist() == list(range(size))
    with pytest.raises(ValueError, match="integers: high is not greater than low"):
        main(np.array([7, 0]), np.array([1, 0]))


x, y, state = Tensor((n, 4)), Tensor((3, 4, 5)), Tensor((2,), "i64")
image, grid = Tensor((n, 3, 8, 8)), Tensor((n, 4, 4, 2))
boxes, scores, batches = Tensor((k, 4)), Tensor((k,)), Tensor((k,), "i64")


@pytest.mark.parametrize(
    "wrong, message",
    [
        (lambda: op.roll(x, 1, 2), "roll: axis is 2; the tensor has 2 dimensions"),
        (lambda: op.roll(x, (1, 2)), "roll: 2 shifts without axes; expected one"),
        (lambda: op.roll(x, (1, 2, 3), (0, 1)), "roll: 3 shifts for 2 axes"),
        (lambda: op.roll(x, 1, "0"), "roll: axis is '0'; expected an integer"),
        (lambda: op.transpose(x, (0, 0)), "axes"),
        (lambda: op.bmm(x, x), 'bmm: lhs is Tensor((n, 4), "f32"); expected a tensor of rank 3'),
        (lambda: op.bmm(y, Tensor((4, 5, 2))), "Tensor((4, 5, 2)"),
        (lambda: op.masked_select(x, x), "masked_select: mask has the type f32; expected bool"),
        (lambda: op.masked_select(x, [True, False]), "masked_select: sizes 4 and 2 do not broadcast"),
        (lambda: op.cummax(x, 2), "cummax: axis is 2; the tensor has 2 dimensions"),
        (lambda: op.scatter_add(x, x, x), "indices"),
        (lambda: op.grid_sample(x, grid), "expected rank 4 of both, or 5"),
        (lambda: op.grid_sample(image, grid, "linear"), "grid_sample: mode is 'linear'; expected one of 'bilinear'"),
        (lambda: op.grid_sample(image, grid, padding_mode="wrap"), "padding_mode is 'wrap'; expected one of 'zeros'"),
        (lambda: op.grid_sample(image, op.concat([grid, grid], 3)), "grid has 4 coordinates; expected 2"),
        (lambda: op.roi_align(image, boxes, batches, 2, mode="min"), "roi_align: mode is 'min'; expected one of 'avg'"),
        (lambda: op.roi_align(image, scores, batches, 2), 'roi_align: boxes is Tensor((k,), "f32"); expected a tensor'),
        (lambda: op.roi_align(image, boxes, batches, (1, 2, 3)), "output_size has 3 numbers; expected rows and"),
        (lambda: op.nms(x, x, 0.5), 'nms: scores is Tensor((n, 4), "f32"); expected a tensor of rank 1'),
        (lambda: op.nms(op.concat([boxes, boxes], 1), scores, 0.5), "nms: boxes have 8 coordinates; expected 4"),
        (lambda: op.Generator(scores), 'Generator: state is Tensor((k,), "f32"); expected Tensor((2,), "i64")'),
        (lambda: op.Generator(state).uniform((2,), "i32"), "uniform: the type is i32; expected f16, bf16, f32 or f64"),
        (lambda: op.Generator(state).normal((2,), std=-1), "normal: std is -1; expected at least 0"),
        (lambda: op.Generator(state).normal((None,)), "normal: a size of the shape is unknown"),
        (lambda: op.Generator(state).integers(3, 3, (2,)), "integers: high is 3, and low is 3; expected low < high"),
        (lambda: op.Generator(state).integers(-(2**63), 2**63 - 1, (2,)), "expected fewer than 2^63, of i64"),
        (
            lambda: op.Generator(state).integers(0, 2**64, (2,), "u64"),
            "there are 18446744073709551616 numbers",
        ),
        (lambda: op.Generator(state).integers(0, 3, (2,), "f32"), "integers: the type is f32; expected integers"),
    ],
)
def test_errors(wrong, message):
    bb = BlockBuilder()
    params = [x, y, state, image, grid, boxes, scores, batches]
    with pytest.raises(RelaxError) as caught, bb.function("main", params):
        wrong()
    assert message in str(caught.value)
    assert caught.value.location.file == __file__

# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decides whether a result matches the result of eager mode. All tolerances and exceptions are in this file.

- Structure, element types and shapes must be equal, for all entries.
- Integers and Booleans must be equal. Floats may differ by the tolerances of `torch.testing.assert_close`, or, where
  rounding errors accumulate, may have at most twice the greatest error that eager mode has against the same computation
  in f64. Infinities and NaNs must be where eager mode, or the f64 result, has them.
- Non-unique matrix factors (`linalg`, `svd`, `qr`) that are not equal are compared after OpInfo's own post-processing
  (`output_process_fn_grad`), such as their product.
- Ops that draw random numbers (two eager calls with different seeds differ) are compared by distribution: the elements
  of many draws, by a two-sample Kolmogorov-Smirnov test.
- If an op returns positions (`topk`, `kthvalue`, `median`), any of several equal elements is allowed: the elements at
  the positions are compared, and no position may occur twice.
- Orders (`argsort`) are compared by the elements at the positions.
- Values that PyTorch leaves uninitialized (`empty`) are not compared.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch.testing._comparison import default_tolerances
from torch.utils import _pytree as pytree

NOT_UNIQUE = ("linalg.", "svd", "qr", "geqrf", "pca_lowrank", "lobpcg", "eig", "symeig")
"""Name prefixes of entries whose results are factors."""

UNINITIALIZED = ("empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided")
"""Operators whose results have no values."""

WITH_POSITIONS = ("topk", "kthvalue", "median", "nanmedian")
"""Operators whose results are elements and their positions along an axis."""

ORDERS = ("argsort",)
"""Operators whose results are only positions along an axis."""

DRAWS = 40
"""The number of calls of an op that draws random numbers, to sample its distribution."""

_LEVEL = 1e-9
"""The significance level: less probable differences between two samples of a distribution are failures."""


class Mismatch(Exception):
    """Two results differ; the message says how."""


def check_same(actual: Any, expected: Any, exact: Any = None) -> None:
    """Compares two results.

    Args:
      exact: the result of the same computation in f64, if there is one.

    Raises:
      Mismatch: they differ.
    """
    pairs = _pairs(actual, expected)
    references = pytree.tree_leaves(exact) if exact is not None else [None] * len(pairs)
    if len(references) != len(pairs):
        references = [None] * len(pairs)
    for index, ((have, want), reference) in enumerate(zip(pairs, references)):
        where = f"result {index}: " if len(pairs) > 1 else ""
        check_type(have, want, where)
        if isinstance(want, torch.Tensor):
            _check_values(have, want, reference, where)


def check_positions(x: torch.Tensor, actual: Any, expected: Any) -> None:
    """Compares elements of a tensor, and checks that the positions refer to them.

    Raises:
      Mismatch: the elements differ, or they are not at the positions along any axis.
    """
    check_like(actual, expected)
    values, places = actual
    check_same(values, expected[0])
    for axis in range(max(x.ndim, 1)):
        dropped = places.ndim < x.ndim
        found, at = (part.unsqueeze(axis) if dropped else part for part in (values, places))
        try:
            read = x.gather(axis, at)
        except RuntimeError:  # the shapes belong to another axis
            continue
        ordered = at.sort(axis).values if at.ndim else at
        is_once = not at.ndim or bool((ordered.diff(dim=axis) != 0).all())
        if read.shape == found.shape and is_once and torch.allclose(read.double(), found.double(), 0, 0, True):
            return
    raise Mismatch("the elements are not at the positions")


def check_order(x: torch.Tensor, axis: int, actual: torch.Tensor, expected: torch.Tensor) -> None:
    """Compares positions by the elements at them; each position must occur once.

    Raises:
      Mismatch: the elements differ, or an element is left out.
    """
    check_like(actual, expected)
    if not x.ndim:
        return check_same(actual, expected)
    check_same(actual.sort(axis).values, expected.sort(axis).values)
    check_same(x.gather(axis, actual), x.gather(axis, expected))


def check_like(actual: Any, expected: Any) -> None:
    """Compares only structure, element types and shapes."""
    for have, want in _pairs(actual, expected):
        check_type(have, want, "")


def check_distribution(actual: Sequence[Any], expected: Sequence[Any]) -> None:
    """Compares the elements of many draws.

    Raises:
      Mismatch: a result differs in type, or the elements are unlikely to have the same distribution.
    """
    for have, want in zip(actual, expected):
        check_like(have, want)
    have, want = (_elements(draws) for draws in (actual, expected))
    for index, (mine, theirs) in enumerate(zip(have, want)):
        if min(mine.numel(), theirs.numel()) == 0:
            continue
        distance, limit = _kolmogorov_smirnov(mine, theirs)
        if distance > limit:
            raise Mismatch(f"result {index}: another distribution, distance {distance:.3f}, at most {limit:.3f}")


def _elements(draws: Sequence[Any]) -> list[torch.Tensor]:
    """For each result that is a tensor, the elements of all draws."""
    leaves = [[leaf for leaf in pytree.tree_leaves(draw) if isinstance(leaf, torch.Tensor)] for draw in draws]
    return [torch.cat([part.detach().reshape(-1).to(torch.float64) for part in parts]) for parts in zip(*leaves)]


def _kolmogorov_smirnov(lhs: torch.Tensor, rhs: torch.Tensor) -> tuple[float, float]:
    """The greatest distance between two distribution functions, and the limit that random samples may reach."""
    lhs, rhs = lhs.sort().values, rhs.sort().values
    places = torch.cat([lhs, rhs])
    shares = [torch.searchsorted(side, places, right=True) / side.numel() for side in (lhs, rhs)]
    distance = (shares[0] - shares[1]).abs().max().item()
    scale = math.sqrt((lhs.numel() + rhs.numel()) / (lhs.numel() * rhs.numel()))
    return distance, scale * math.sqrt(-0.5 * math.log(_LEVEL / 2))


def _pairs(actual: Any, expected: Any) -> list[tuple[Any, Any]]:
    have, have_spec = pytree.tree_flatten(_plain(actual))
    want, want_spec = pytree.tree_flatten(_plain(expected))
    if have_spec != want_spec:
        raise Mismatch(f"another structure: {_short(have_spec)}, expected {_short(want_spec)}")
    return list(zip(have, want))


def _plain(tree: Any) -> Any:
    """A result with shapes as tuples, as programs return them."""
    return pytree.tree_map(lambda x: tuple(x) if isinstance(x, torch.Size) else x, tree, is_leaf=_is_shape)


def _is_shape(x: Any) -> bool:
    return isinstance(x, torch.Size)


def _short(spec: Any) -> str:
    return " ".join(str(spec).split())[:80]


def check_type(have: Any, want: Any, where: str) -> None:
    """Compares the type and shape of a leaf, and the value of one that is not a tensor."""
    if not isinstance(want, torch.Tensor):
        is_same = type(have) is type(want) and (have == want or (have != have and want != want))
        if not is_same:
            raise Mismatch(f"{where}{have!r}, expected {want!r}")
        return
    if not isinstance(have, torch.Tensor):
        raise Mismatch(f"{where}a {type(have).__name__}, expected a tensor")
    if have.dtype != want.dtype:
        raise Mismatch(f"{where}elements of {have.dtype}, expected {want.dtype}")
    if have.shape != want.shape:
        raise Mismatch(f"{where}shape {list(have.shape)}, expected {list(want.shape)}")


def _check_values(have: torch.Tensor, want: torch.Tensor, exact: Any, where: str) -> None:
    have, want = have.detach().resolve_conj().resolve_neg(), want.detach().resolve_conj().resolve_neg()
    try:
        torch.testing.assert_close(have, want, equal_nan=True)
        return
    except AssertionError as error:
        text = str(error)
    is_inexact = want.dtype.is_floating_point or want.dtype.is_complex
    if is_inexact and isinstance(exact, torch.Tensor) and _is_as_exact(have, want, exact):
        return
    raise Mismatch(f"{where}{_describe(have, want, text)}")


def _is_as_exact(have: torch.Tensor, want: torch.Tensor, exact: torch.Tensor) -> bool:
    """Whether the errors against f64 are at most twice the greatest error of eager."""
    if exact.shape != want.shape:
        return False
    wide = torch.complex128 if want.dtype.is_complex else torch.float64
    exact = exact.detach().to(wide)
    rounded = exact.to(want.dtype).to(wide)  # out-of-range values of a narrow type become infinite
    have, want = have.to(wide), want.to(wide)
    is_finite = torch.isfinite(have) & torch.isfinite(rounded)
    special = ~is_finite & ~torch.isclose(have, rounded, equal_nan=True) & ~torch.isclose(have, want, equal_nan=True)
    if special.any():
        return False
    both = is_finite & torch.isfinite(want)
    error = (want - exact)[both].abs()
    limit = 2 * error.max().item() if error.numel() else 0.0
    tolerance = 2 * torch.finfo(want.dtype).eps
    return bool(((have - exact)[is_finite].abs() <= limit + tolerance * exact[is_finite].abs()).all())


def _describe(have: torch.Tensor, want: torch.Tensor, text: str) -> str:
    """The number of elements that exceed the tolerances, and the first of them, in one line."""
    if have.dtype == torch.bool or not have.numel():
        have, want = have.to(torch.int64), want.to(torch.int64)
    rtol, atol = default_tolerances(want)
    wrong = ~torch.isclose(have, want, rtol=rtol, atol=atol, equal_nan=True)
    if not wrong.any():
        return " ".join(text.split())[:120]
    place = tuple(index.item() for index in wrong.nonzero()[0]) if wrong.ndim else ()
    count = int(wrong.sum())
    values = f"{have[place].item()!r} at {list(place)}, expected {want[place].item()!r}"
    return f"{count} of {have.numel()} elements are wrong: {values}"

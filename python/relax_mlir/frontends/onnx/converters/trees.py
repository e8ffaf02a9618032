# Part of relax-mlir, licensed under Apache-2.0 WITH LLVM-exception.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ensembles of decision trees of `ai.onnx.ml`, as loops that take one step down all trees at a time."""

from __future__ import annotations

import collections
from collections.abc import Sequence
from typing import Any

import numpy as np

from .... import op
from ....values import Value
from .. import dtypes
from ..data import Data
from ..lowering import Lowering
from ..registry import register
from .ml import floats, labels_of, transformed

_ML = "ai.onnx.ml::"


def table_of(ctx: Lowering, values: np.ndarray) -> Value:
    """Numbers of all nodes; those of many are a weight of the program."""
    dtype = dtypes.from_numpy(values.dtype)
    return ctx.value(Data(str(dtype), values, name=ctx.importer.weight_name(values, f"{ctx.node.outputs[0]}.nodes")))


class _Trees:
    """Trees as arrays over all nodes, leaves included.

    Each node has a feature, a number to compare with, and where to go on; a leaf goes on to itself.
    """

    def __init__(self, feature: Any, split: Any, mode: Any, yes: Any, no: Any, missing: Any) -> None:
        self.feature, self.mode, self.missing = np.asarray(feature, np.int64), list(mode), np.asarray(missing, bool)
        self.split = np.asarray(split)
        self.yes, self.no = np.asarray(yes, np.int64), np.asarray(no, np.int64)

    def depth(self, roots: Any) -> int:
        """The most steps from a root to a leaf."""
        level, depth = set(map(int, roots)), 0
        while True:
            level = {int(after) for node in level for after in (self.yes[node], self.no[node]) if after != node}
            if not level:
                return depth
            depth += 1
            if depth > len(self.feature):
                raise ValueError("the nodes of a tree lead back to one another")

    def walk(self, ctx: Lowering, x: Value, roots: Any) -> Value:
        """The leaf of each row in each tree: [rows, trees]."""
        rows, count = x.shape[0], len(roots)
        start = op.broadcast_to(op.constant(np.asarray(roots, np.int64).reshape(1, -1)), (rows, count))
        feature, split = table_of(ctx, self.feature), table_of(ctx, self.split.astype(dtypes.to_numpy(x.dtype)))
        yes, no = table_of(ctx, self.yes), table_of(ctx, self.no)

        def step(state: tuple[Value, ...], _: None) -> tuple[tuple[Value, ...], None]:
            (at,) = state
            value = op.gather_elements(x, op.take(feature, at, 0), 1)
            taken = self._decide(ctx, value, op.take(split, at, 0), at)
            return (op.where(taken, op.take(yes, at, 0), op.take(no, at, 0)),), None

        (leaf,), _ = op.scan(step, (start,), length=self.depth(roots))
        return leaf

    def _decide(self, ctx: Lowering, value: Value, split: Value, at: Value) -> Value:
        compare = {
            "BRANCH_LEQ": op.less_equal,
            "BRANCH_LT": op.less,
            "BRANCH_GTE": op.greater_equal,
            "BRANCH_GT": op.greater,
            "BRANCH_EQ": op.equal,
            "BRANCH_NEQ": op.not_equal,
        }
        made = None
        for kind in sorted(set(self.mode) - {"LEAF"}):
            if kind not in compare:
                raise ctx.unsupported(f"nodes of the kind '{kind}'", "nodes_modes")
            part = compare[kind](value, split)
            mine = op.take(table_of(ctx, np.asarray([entry == kind for entry in self.mode])), at, 0)
            made = part if made is None else op.where(mine, part, made)
        if made is None:
            made = op.zeros(tuple(value.shape), "bool")
        if self.missing.any():
            tracks = op.take(table_of(ctx, self.missing), at, 0)
            made = op.logical_or(made, op.logical_and(tracks, op.isnan(value)))
        return made


def _aggregated(ctx: Lowering, parts: Value, kind: str) -> Value:
    """[rows, trees, targets] as [rows, targets]."""
    functions = {"SUM": op.sum, "MIN": op.min, "MAX": op.max, "AVERAGE": op.mean}
    if kind not in functions:
        raise ctx.unsupported(f"the aggregation '{kind}'", "aggregate_function")
    return functions[kind](parts, [1])


_MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ", "BRANCH_MEMBER")
_AGGREGATES = ("AVERAGE", "SUM", "MIN", "MAX")
_TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")


@register(f"{_ML}TreeEnsemble")
def tree_ensemble(ctx: Lowering, x: Value) -> Value:
    """Leaves are numbered by themselves in the model; here they follow the inner nodes."""
    modes = [_choice(ctx, "nodes_modes", _MODES, mode) for mode in ctx.tensor("nodes_modes").elements]
    features, splits = list(ctx.ints("nodes_featureids")), list(floats(ctx, "nodes_splits"))
    yes, no = (
        # Leaf i is -1 - i until the number of inner nodes is known.
        [
            -1 - at if is_leaf else at
            for at, is_leaf in zip(ctx.ints(f"nodes_{kind}nodeids"), ctx.ints(f"nodes_{kind}leafs"))
        ]
        for kind in ("true", "false")
    )
    missing = list(ctx.ints("nodes_missing_value_tracks_true", [0] * len(features)))
    members = floats(ctx, "membership_values")
    _expand_members(modes, features, splits, yes, no, missing, [] if members is None else members.tolist())
    inner, leaves = len(features), len(ctx.ints("leaf_targetids"))
    ends = list(range(inner, inner + leaves))
    yes, no = ([inner - 1 - at if at < 0 else at for at in part] + ends for part in (yes, no))
    trees = _Trees(
        features + [0] * leaves,
        np.asarray(splits + [0] * leaves),
        modes + ["LEAF"] * leaves,
        yes,
        no,
        missing + [0] * leaves,
    )
    leaf = op.subtract(trees.walk(ctx, x, ctx.ints("tree_roots")), ctx.scalar(inner, "i64"))
    weights = np.zeros((leaves, ctx.int("n_targets", 1)))
    targets = ctx.ints("leaf_targetids")
    if not all(0 <= target < weights.shape[1] for target in targets):
        ctx.fail(f"the attribute 'leaf_targetids' names targets beyond the {weights.shape[1]} that there are")
    weights[np.arange(leaves), targets] = floats(ctx, "leaf_weights")
    parts = op.take(op.constant(weights.astype(dtypes.to_numpy(x.dtype))), leaf, 0)
    made = _aggregated(ctx, parts, _choice(ctx, "aggregate_function", _AGGREGATES, ctx.int("aggregate_function", 1)))
    return transformed(ctx, made, _choice(ctx, "post_transform", _TRANSFORMS, ctx.int("post_transform", 0)))


def _choice(ctx: Lowering, attribute: str, names: Sequence[str], number: int) -> str:
    """The name that a number of an attribute stands for."""
    if not 0 <= number < len(names):
        raise ctx.unsupported(f"the number {number}; expected one of 0 to {len(names) - 1}", attribute)
    return names[number]


def _expand_members(
    modes: list[str], features: list, splits: list, yes: list[int], no: list[int], missing: list, members: list[float]
) -> None:
    """Makes each node that asks for one of several numbers a row of nodes that ask for one each.

    The numbers of all such nodes follow each other, with NaN behind those of each.
    """
    groups: list[list[float]] = [[]]
    for number in members:
        if number != number:
            groups.append([])
        else:
            groups[-1].append(number)
    waiting = iter(groups)
    for node in range(len(modes)):
        if modes[node] != "BRANCH_MEMBER":
            continue
        modes[node] = "BRANCH_EQ"
        first, *others = next(waiting)
        splits[node], otherwise, at = first, no[node], node
        for number in others:
            no[at] = len(modes)
            at = len(modes)
            modes.append("BRANCH_EQ")
            features.append(features[node])
            splits.append(number)
            yes.append(yes[node])
            no.append(otherwise)
            missing.append(0)


def _classic(ctx: Lowering) -> tuple[_Trees, list[int], dict[tuple[int, int], int]]:
    """Trees by the attributes that name each node by its tree and its number there; roots and places of nodes."""
    tree_ids, node_ids = ctx.ints("nodes_treeids"), ctx.ints("nodes_nodeids")
    places = {key: place for place, key in enumerate(zip(tree_ids, node_ids))}
    modes = ctx.attribute("nodes_modes")

    def targets(name: str) -> list[int]:
        found = []
        for place, (tree, node) in enumerate(zip(tree_ids, ctx.ints(name))):
            if modes[place] != "LEAF" and (tree, node) not in places:
                ctx.fail(f"the attribute '{name}' leads to the node {node} of tree {tree}, which there is not")
            found.append(place if modes[place] == "LEAF" else places[tree, node])
        return found

    yes, no = targets("nodes_truenodeids"), targets("nodes_falsenodeids")
    reached = {at for place in range(len(modes)) for at in (yes[place], no[place]) if at != place}
    roots = [place for place in range(len(modes)) if place not in reached]
    splits = floats(ctx, "nodes_values" if "nodes_values" in ctx.node.attributes else "nodes_values_as_tensor")
    missing = ctx.ints("nodes_missing_value_tracks_true", None) or [0] * len(modes)
    trees = _Trees(ctx.ints("nodes_featureids"), splits, modes, yes, no, missing)
    return trees, roots, places


def _scores(ctx: Lowering, x: Value, prefix: str, ids: str, count: int) -> tuple[Value, bool]:
    """The weights of all leaves that a row reaches, for each target; whether one target alone has weights."""
    trees, roots, places = _classic(ctx)
    weights: dict[tuple[int, int], float] = collections.defaultdict(float)
    given = floats(
        ctx, f"{prefix}_weights" if f"{prefix}_weights" in ctx.node.attributes else f"{prefix}_weights_as_tensor"
    )
    named = ctx.ints(ids)
    for tree, node, target, weight in zip(ctx.ints(f"{prefix}_treeids"), ctx.ints(f"{prefix}_nodeids"), named, given):
        if (tree, node) not in places:
            ctx.fail(f"the attribute '{prefix}_nodeids' names the node {node} of tree {tree}, which there is not")
        if not 0 <= target < count:
            ctx.fail(f"the attribute '{ids}' names the target {target} of {count}")
        weights[places[tree, node], target] += float(weight)
    wide = "f64" if x.dtype == "f64" else "f32"
    table = np.zeros((len(places), count), dtypes.to_numpy(wide))
    for (place, target), weight in weights.items():
        table[place, target] = weight
    leaf = trees.walk(ctx, ctx.cast(x, wide), roots)
    parts = op.take(table_of(ctx, table), leaf, 0)
    made = _aggregated(ctx, parts, ctx.text("aggregate_function", "SUM"))
    base = floats(ctx, "base_values", None)
    if base is not None and base.size in (1, count):
        made = op.add(made, op.constant(base.astype(dtypes.to_numpy(wide))))
    return made, len(set(named)) == 1


@register(f"{_ML}TreeEnsembleRegressor")
def tree_ensemble_regressor(ctx: Lowering, x: Value) -> Value:
    made, _ = _scores(ctx, x, "target", "target_ids", ctx.int("n_targets", 1))
    return op.astype(transformed(ctx, made, ctx.text("post_transform", "NONE")), "f32")


@register(f"{_ML}TreeEnsembleClassifier")
def tree_ensemble_classifier(ctx: Lowering, x: Value) -> tuple[Value, Value]:
    """The class with the best score; where only one of two classes has weights, its score decides."""
    labels = labels_of(ctx)
    scores, is_single = _scores(ctx, x, "class", "class_ids", len(labels))
    scores = op.astype(scores, "f32")
    table, kind = op.constant(np.asarray(labels, np.int64)), ctx.text("post_transform", "NONE")
    if not (is_single and len(labels) == 2):
        return op.take(table, op.argmax(scores, 1), 0), transformed(ctx, scores, kind)
    score = op.sum(scores, [1], True)
    share = op.sigmoid(score) if kind == "LOGISTIC" else score
    limit = ctx.scalar(0.0 if kind == "LOGISTIC" or min(floats(ctx, "class_weights")) < 0 else 0.5, "f32")
    chosen = op.astype(op.greater(op.reshape(score, (score.shape[0],)), limit), "i64")
    both = op.concat([op.subtract(ctx.scalar(1, "f32"), share), share], 1)
    return op.take(table, chosen, 0), both

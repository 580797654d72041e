"""What a fitted tree must satisfy: brute force, and fits of the same problem in other forms."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from scipy.optimize import linear_sum_assignment

from pellucid import BSIMM, EMN, IMM, ExGreedy, ExShallow, scan
from pellucid._utils.estimators import is_background
from pellucid.tree.measures import conditions_per_leaf

from .exact import Exact, nearest_shares, partition_cost, to_float
from .numbers import is_in_domain
from .tree_cases import CENTERS, SEEDED, SEPARATING, TreeCase, other_storage, take_rows

POWER = {"kmeans": 2, "kmedians": 1}
EPS = np.finfo(float).eps


class WrongResult(AssertionError):
    """A result that is not what the problem asks for."""


def require(condition, message: str) -> None:
    if not condition:
        raise WrongResult(message)


def check_tree(case: TreeCase, model, rng) -> None:
    """Labels, leaves, counts, costs and rules of a fitted tree."""
    tree, X, weight = model.tree_, case.X, case.weights
    inner = ~tree.is_leaf
    require(np.isfinite(tree.threshold[inner]).all(), "a threshold is not finite")
    leaf = route(tree, X)
    require(np.array_equal(model.apply(case.given), leaf), "apply differs from the splits")
    position = tree.cluster[leaf]
    expected = model.cluster_names_[position]
    require(np.array_equal(model.labels_, expected), "labels_ differ from the leaves")
    require(
        np.array_equal(model.predict(case.given), model.labels_), "predict differs from labels_"
    )
    require(model.n_leaves_ == tree.n_leaves, "n_leaves_ is wrong")
    k = len(model.cluster_names_)
    n_leaves = model._max_leaves(k)
    if case.name == "ExplainableKMeans" and case.y is not None:
        n_leaves = model._label_leaves(k)[1]
    require(tree.n_leaves <= n_leaves, "more leaves than allowed")
    if case.name in SEPARATING and not getattr(model, "polish", False):
        clusters = tree.cluster[tree.leaves]
        require(len(set(clusters.tolist())) == len(clusters), "two leaves of one cluster")

    reference = positions(model.reference_labels_, model.cluster_names_)
    _check_reference(case, model, reference)
    counted = (weight > 0) & (reference >= 0)
    _check_counts(tree, leaf, counted, weight)
    _check_rules(model, X, leaf, reference, weight)
    if case.name == "ExplainableKMeans" or getattr(model, "polish", False):
        _check_names(position[counted], reference[counted], weight[counted], k)
    _check_cost(model.inertia_, "inertia_", case, np.where(reference >= 0, position, -1))
    _check_cost(model.reference_inertia_, "reference_inertia_", case, reference)
    require(np.isfinite(model.cluster_centers_).all(), "a cluster center is not finite")
    importances = model.feature_importances_
    require(np.isfinite(importances).all() and (importances >= 0).all(), "importances are wrong")
    if case.name == "OptimalTree":
        _check_optimum(case, model, position, reference, rng)


def route(tree, X: np.ndarray) -> np.ndarray:
    """Leaf of each row, split by split."""
    leaf = np.zeros(len(X), dtype=np.intp)
    for node in range(tree.node_count):  # parents come before their children
        if tree.children_left[node] >= 0:
            at = np.flatnonzero(leaf == node)
            left = X[at, tree.feature[node]] <= tree.threshold[node]
            leaf[at] = np.where(left, tree.children_left[node], tree.children_right[node])
    return leaf


def positions(labels, names) -> np.ndarray:
    """Place of each label among the names; -1 for noise."""
    where = {name: i for i, name in enumerate(names.tolist())}
    return np.array([where.get(label, -1) for label in labels.tolist()], dtype=np.intp)


def _check_reference(case, model, reference):
    if case.y is not None:
        drops = case.reference == "labels" and is_background(model.noise)
        kept = case.y != -1 if drops else np.ones(len(case.y), dtype=bool)
        same = np.array_equal(model.reference_labels_[kept], np.asarray(case.y)[kept])
        require(same and (reference[~kept] < 0).all(), "reference_labels_ differ from y")
    elif case.reference in ("centers", "rows", "near") and len(case.X) <= 100:
        power = POWER[case.objective]
        own, least = nearest_shares(case.X, np.asarray(model.reference), reference, power)
        # Distances are computed in floating point: an error of a few units of the last place.
        wrong = [a for a, b in zip(own, least) if a * (1 << 40) > b * ((1 << 40) + 1)]
        scale = max(float(np.abs(case.X).max()), 1e-100)
        require(not wrong or _close_beside(case, reference, scale), "a row is not with its nearest")


def _close_beside(case, reference, scale):
    """Whether rounding of values of this scale explains that a center is not the nearest."""
    X, centers = case.X / scale, np.asarray(case.model.reference) / scale
    power = POWER[case.objective]
    distances = (np.abs(X[:, None] - centers) ** power).sum(axis=2) ** (1 / power)
    own = distances[np.arange(len(X)), reference]
    return bool((own <= distances.min(axis=1) + 64 * EPS * max(1.0, np.abs(centers).max())).all())


def _check_counts(tree, leaf, counted, weight):
    n_rows = np.bincount(leaf[counted], minlength=tree.node_count)
    require(
        np.array_equal(tree.n_node_samples[tree.leaves], n_rows[tree.leaves]),
        "n_node_samples of a leaf is wrong",
    )
    for node in tree.leaves:
        expected = math.fsum(weight[counted & (leaf == node)])
        found = tree.weighted_n_node_samples[node]
        total = math.fsum(weight[counted])
        # Each weight is rounded to a multiple of at most 2**-50 of the total weight.
        close = abs(found - expected) <= (1e-12 + len(weight) * 2.0**-51) * total
        require(close, f"weighted_n_node_samples of a leaf is {found}, not {expected}")


def _check_rules(model, X, leaf, reference, weight):
    """Each rule holds for exactly the rows of its leaf; its share and purity are right."""
    rules = [rule for cluster in model.rules_ for rule in cluster.rules]
    require(sorted(r.leaf for r in rules) == model.tree_.leaves.tolist(), "leaves without a rule")
    labeled = reference >= 0
    for rule in rules:
        holds = np.ones(len(X), dtype=bool)
        for condition in rule.conditions:
            holds &= condition.holds(X)
        at = leaf == rule.leaf
        require(np.array_equal(holds, at), f"rule {rule.text!r} does not describe its leaf")
        require(np.array_equal(_text_holds(rule.text, X), at), f"text {rule.text!r} is wrong")
        total = math.fsum(weight[at & labeled] / weight.max())
        agrees = at & labeled & (model.labels_ == model.reference_labels_)
        if total > 0:
            purity = math.fsum(weight[agrees] / weight.max()) / total
            require(abs(rule.purity - purity) <= 1e-9, f"purity {rule.purity}, not {purity}")
        require(0 <= rule.share <= 1 + 1e-12, f"share {rule.share}")


def _text_holds(text: str, X: np.ndarray) -> np.ndarray:
    """Rows for which the text of a rule is true; numbers are read back from the text."""
    holds = np.ones(len(X), dtype=bool)
    for part in [] if text == "always" else text.split(" and "):
        words = part.split(" ")
        if len(words) == 5:  # low < column <= high
            column = X[:, int(words[2][1:])]
            holds &= (column > float(words[0])) & (column <= float(words[4]))
        else:
            column, value = X[:, int(words[0][1:])], float(words[2])
            holds &= column <= value if words[1] == "≤" else column > value
    return holds


def _check_names(position, reference, weight, k):
    """No other names of the clusters of a tree agree with the reference for more weight."""
    table = np.zeros((k, k))
    np.add.at(table, (position, reference), weight)
    agree = table.trace()
    most = table[linear_sum_assignment(table, maximize=True)].sum()
    require(
        agree >= most * (1 - 1e-9),
        f"the names agree for a weight of {agree}; other names would for {most}",
    )


def _check_cost(found, name, case, labels):
    require(np.isfinite(found) and found >= 0, f"{name} is {found}")
    if len(case.X) > 100:
        return
    exact = partition_cost(case.X, labels, case.weights, POWER[case.objective])
    apart = abs(Fraction(float(found)) - exact)
    wrong = apart > exact / 10**9 and apart > exact / 10**9 + cost_tolerance(case)
    require(not wrong, f"{name} is {found}, not {to_float(exact)}")


def cost_tolerance(case) -> Fraction:
    """Absolute error that rounding may cause in a cost, apart from a relative error.

    The means are rounded to floats: equal rows may cost a square of a rounding error instead of 0.
    """
    X, power = case.X, POWER[case.objective]
    largest = Fraction(float(np.abs(X).max(initial=0)))
    total = sum(map(Fraction, case.weights.tolist()))
    moved = (4 * largest * Fraction(EPS)) ** 2 if power == 2 else 0
    return X.shape[1] * moved * total + Fraction(1, 10**300)


def _check_optimum(case, model, position, reference, rng):
    """The objective of OptimalTree is that of its tree, and no other method's is less."""
    X, weight = case.X, case.weights
    counted = reference >= 0
    total = math.fsum(weight[counted])

    def mistakes(position):
        return math.fsum(weight[counted & (position != reference)])

    if model.criterion != "mistakes" or model.polish:
        return
    found = mistakes(position)
    slack = 1e-9 * total
    require(abs(model.objective_ - found) <= slack, f"objective_ {model.objective_}, not {found}")
    require(model.lower_bound_ <= model.objective_ + slack, "lower_bound_ is above objective_")
    rivals = [IMM, EMN, ExGreedy, ExShallow, BSIMM]
    rival = rivals[rng.integers(len(rivals))]
    case.n_fits += 1
    other = rival(
        model.n_clusters,
        reference=model.reference,
        noise=model.noise,
        threshold_style=model.threshold_style,
        n_jobs=1,
        random_state=0,
    ).fit(case.given, case.y, sample_weight=case.weight)
    theirs = mistakes(other.tree_.cluster[route(other.tree_, X)])
    require(found <= theirs + slack, f"{found} mistakes; {rival.__name__} makes {theirs}")


def same_tree(a, b) -> bool:
    """Whether two trees have the same splits and clusters."""
    names = ("feature", "threshold", "children_left", "children_right", "cluster")
    return all(np.array_equal(getattr(a, n), getattr(b, n), equal_nan=True) for n in names)


def check_variants(case: TreeCase, model, rng) -> None:
    """Fit the same problem in every other form that it has; the tree must be the same."""
    variants = [_two_threads]
    if len(case.X) <= 100:
        variants += [_not_costlier]
    if case.name in STREAMED and rng.random() < 0.4:
        variants += [_streamed]
    if case.reference not in SEEDED:
        variants += [_other_storage, _scaled_weights]
        if case.reference in CENTERS:
            variants += [_other_order]
        are_whole = case.weight is not None and (case.weights == np.rint(case.weights)).all()
        if are_whole and case.weights.sum() < 1000:
            variants += [_repeated_rows]
    for check in variants:
        check(case, model, rng)


def _two_threads(case, model, rng):
    other = case.fit(n_jobs=2)
    require(same_tree(model.tree_, other.tree_), "the tree depends on n_jobs")
    require(model.inertia_ == other.inertia_, "inertia_ depends on n_jobs")


def _other_storage(case, model, rng):
    name, given = other_storage(rng, case)
    if hasattr(model.reference, "predict") and not hasattr(model.reference, "cluster_centers_"):
        return
    other = case.fit(X=given)
    if case.reference == "fitted" and (other.reference_labels_ != model.reference_labels_).any():
        return  # the reference itself labels rows between two centers by its rounding errors
    require(same_tree(model.tree_, other.tree_), f"the tree depends on the storage: {name}")
    require(_alike(case, model, other), f"inertia_ depends on the storage: {name}")


STREAMED = ("BSIMM", "EMN", "ExGreedy", "ExKMC", "ExShallow", "ExplainableKMeans", "IMM")
"""Estimators that accept a scan."""


def _streamed(case, model, rng):
    """The tree of the same rows in batches, as arrays whose last columns are weights and labels."""
    can_search = getattr(model, "search", "greedy") == "greedy" or case.name in ("IMM", "EMN")
    if (
        case.objective != "kmeans"
        or getattr(model, "polish", False)
        or case.reference not in ("centers", "rows", "near", "labels")
        or not can_search
    ):
        return
    columns, d = [case.X, case.weights[:, None]], case.X.shape[1]
    if case.y is not None:
        columns.append(np.asarray(case.y, dtype=np.float64)[:, None])
    table = np.concatenate(columns, axis=1)
    ends = np.sort(rng.integers(0, len(table) + 1, int(rng.integers(0, 4))))
    parts = [part for part in np.split(table, ends) if len(part)]
    given = scan(
        lambda: parts,
        [f"x{j}" for j in range(d)],
        weight=f"x{d}" if case.weight is not None else None,
        labels=f"x{d + 1}" if case.y is not None else None,
    )
    other = case.fit(X=given, y=None, weight=None)
    require(same_tree(model.tree_, other.tree_), "the tree of a scan differs")
    require(_alike(case, model, other), "inertia_ of a scan differs")


def _not_costlier(case, model, rng):
    """A search from a tree never returns a costlier one."""
    starts = []
    if polish := getattr(model, "polish", False):
        starts.append(case.fit(polish=polish == "deep"))
    elif case.name == "ExplainableKMeans" and model.depth_penalty == "auto" and case.y is None:
        if model.effort == "best":
            starts.append(case.fit(effort="balanced", faithfulness=model.faithfulness_))
        else:
            method = ExShallow if model.effort == "fast" or rng.random() < 0.5 else ExGreedy
            parameters = {
                name: getattr(model, name)
                for name in ("n_clusters", "reference", "noise", "threshold_style", "random_state")
            }
            start = method(**parameters, n_jobs=1)
            case.n_fits += 1
            starts.append(start.fit(case.given, case.y, sample_weight=case.weight))
    for start in starts:
        if _exceeds_limits(model, start):
            continue
        costs = [_exact_cost(case, tree) for tree in (model, start)]
        if case.name == "ExplainableKMeans":
            costs = [c + _cost_of_mistakes(case, model, t) for c, t in zip(costs, (model, start))]
        about = f"{to_float(costs[0])} against {to_float(costs[1])} of {start}"
        one_group = np.where(positions(model.reference_labels_, model.cluster_names_) >= 0, 0, -1)
        total = partition_cost(case.X, one_group, case.weights, 2)
        slack = costs[1] / 10**9 + total / 2**40 + 2 * cost_tolerance(case)
        require(costs[0] <= costs[1] + slack, f"costlier than the start: {about}")


def _exact_cost(case, model):
    """Exact k-means cost of the rows that a tree was grown for."""
    labels = model.tree_.cluster[route(model.tree_, case.X)]
    noise = positions(model.reference_labels_, model.cluster_names_) < 0
    return partition_cost(case.X, np.where(noise, -1, labels), case.weights, 2)


def _cost_of_mistakes(case, model, tree):
    """What the faithfulness of a model adds to the cost of a tree."""
    own = positions(model.reference_labels_, model.cluster_names_)
    weight = Exact(np.where(own < 0, 0.0, case.weights)).values
    moved = weight[tree.tree_.cluster[route(tree.tree_, case.X)] != own].sum()
    cost = partition_cost(case.X, own, case.weights, 2)
    return Fraction(model.faithfulness_) * cost * Fraction(moved, weight.sum())


def _exceeds_limits(model, start):
    """Whether a model with limits of depth or conditions may not return a tree."""
    n_conditions = conditions_per_leaf(start.tree_).max()
    max_depth, max_conditions = (getattr(model, f"max_{n}", None) for n in ("depth", "conditions"))
    return (max_depth is not None and start.tree_.max_depth > max_depth) or (
        max_conditions is not None and n_conditions > max_conditions
    )


def _other_order(case, model, rng):
    order = rng.permutation(len(case.X))
    other = case.fit(
        X=take_rows(case.given, order),
        y=None if case.y is None else case.y[order],
        weight=None if case.weight is None else case.weights[order],
    )
    require(same_tree(model.tree_, other.tree_), "the tree depends on the order of the rows")
    require(_alike(case, model, other), "inertia_ depends on the order of the rows")


def _repeated_rows(case, model, rng):
    times = case.weights.astype(int)
    rows = np.repeat(np.arange(len(times)), times)
    y = None if case.y is None else case.y[rows]
    other = case.fit(X=take_rows(case.given, rows), y=y, weight=None)
    require(same_tree(model.tree_, other.tree_), "whole weights differ from repeated rows")
    require(_alike(case, model, other), "inertia_ differs from that of repeated rows")


def _scaled_weights(case, model, rng):
    power = int(rng.integers(1, 30)) * (1 if rng.random() < 0.5 else -1)
    scaled = np.ldexp(case.weights, power)
    # Whole weights count copies, of which there may be too many for the same accuracy.
    are_whole = any((weight == np.rint(weight)).all() for weight in (case.weights, scaled))
    # Equal rows may be so near to the centers that costs are below the smallest unit.
    are_equal = not np.ptp(case.X, axis=0).any()
    if are_whole or are_equal or not is_in_domain(case.X, scaled):
        return
    other = case.fit(weight=scaled)
    require(same_tree(model.tree_, other.tree_), f"weights times 2**{power} give another tree")


def _alike(case, model, other):
    """Whether the costs of two fits differ by rounding only."""
    a, b = model.inertia_, other.inertia_
    if abs(a - b) <= 1e-9 * max(abs(a), abs(b)):
        return True
    return abs(a - b) <= to_float(2 * cost_tolerance(case))

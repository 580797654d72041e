"""From a scan to a problem, from a grown tree to what a fit stores, and costs of several trees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from pellucid._core.batches.batch import Batch, Encoder, RawBatch, WeightUnits
from pellucid._core.batches.induced_cost import BatchInducedCost
from pellucid._core.batches.mistakes import BatchBalancedMistakes, BatchMistakes
from pellucid._core.batches.partitions import BatchBins, BatchProblem, Partitions, Task
from pellucid._core.batches.routing import Routing
from pellucid._core.batches.sums import BatchSumCriterion, BatchSurrogateCost
from pellucid._core.batches.tasks import CountTask
from pellucid._core.criteria.induced_cost import InducedCost
from pellucid._core.criteria.mistakes import BalancedMistakes, Mistakes
from pellucid._core.criteria.sums import SumCriterion
from pellucid._core.criteria.surrogate_cost import SurrogateCost
from pellucid._core.data.arrays import MAX_COPIES
from pellucid._core.data.binning import Quantizer
from pellucid._core.data.dataset import unit_of_moments
from pellucid._core.data.group_sums import GroupSums, LargestWeight, Terms
from pellucid._core.data.moments import GroupMoments, bring_to_means, group_moments
from pellucid._core.growers.growing_tree import FitSummary, GrowthResult
from pellucid._utils.notices import InputError
from pellucid._utils.numeric_domain import check_weights
from pellucid.metrics.trees import match_clusters
from pellucid.scale.references import Checked, ScanReference
from pellucid.tree import ThresholdTree, TreeBuilder
from pellucid.tree.measures import feature_importances

BATCH_CRITERIA: dict[type[Any], Callable[..., Any]] = {
    Mistakes: BatchMistakes,
    BalancedMistakes: BatchBalancedMistakes,
    InducedCost: BatchInducedCost,
    SumCriterion: BatchSumCriterion,
    SurrogateCost: BatchSurrogateCost,
}
"""Criteria in memory, and those of the same formula on batches."""

_SAMPLE_ROWS = 4096
"""Rows from which the edges of the bins are chosen. They do not change the tree."""

_N_BINS = 256


class WeightTask(Task):
    """What decides how weights become integers."""

    def __call__(self, raw: RawBatch) -> tuple[int, LargestWeight]:
        """In how many batches some weight is not 1, and what is known of all weights."""
        weight = np.asarray(raw.weight)
        return int((weight != 1).any()), LargestWeight.of(weight)


class ExactWeightTask(Task):
    def __call__(self, raw: RawBatch) -> Fraction:
        return sum(map(Fraction, np.asarray(raw.weight).tolist()), Fraction(0))


def find_weight_units(partitions: Partitions, weight: str | None) -> WeightUnits:
    """How weights become integers; the rule is that of `Weights.of`."""
    if weight is None:
        return WeightUnits()
    found = partitions.map_raw(WeightTask())
    if found is None:
        return WeightUnits()
    n_others, (largest, total, are_integers) = found
    check_weights(np.array([largest]), f"weight in column {weight!r}")
    if not n_others:
        return WeightUnits()
    if are_integers and total <= MAX_COPIES:
        return WeightUnits(1.0, False)
    if np.frexp(total * (1 - 2.0**-30))[1] != np.frexp(total * (1 + 2.0**-30))[1]:
        total = float(partitions.map_raw(ExactWeightTask()))
    return WeightUnits(2.0 ** (51 - np.frexp(total)[1]), False, False)


class FirstSums(NamedTuple):
    """What is known after the first pass: the moments are those about the own centers."""

    n_rows: int
    n_units: int
    is_mixed: np.ndarray
    moments: GroupMoments


@dataclass(frozen=True)
class FirstTask(Task):
    """The first pass over the encoded batches."""

    centers: np.ndarray

    def __call__(self, batch: Batch) -> FirstSums:
        weight = batch.weights.values
        moments = group_moments(batch.X, batch.labels, weight, self.centers)
        return FirstSums(batch.n_rows, int(batch.weights.units.sum()), batch.is_mixed, moments)

    def merge(self, first: FirstSums, second: FirstSums) -> FirstSums:
        is_mixed = first.is_mixed | second.is_mixed
        return super().merge(first, second)._replace(is_mixed=is_mixed)


def make_problem(
    partitions: Partitions, scan: Any, reference: ScanReference
) -> tuple[BatchProblem, FirstSums]:
    """The problem of a scan, after the first pass over its batches."""
    centers = reference.centers
    units = find_weight_units(partitions, scan.weight)
    sample = scan.sample(_SAMPLE_ROWS)
    sample = sample[np.isfinite(sample).all(axis=1)]
    width = max(_N_BINS, 2 * len(centers))
    quantizer = Quantizer.of_sample(sample if len(sample) else centers, centers, width)
    find_labels = Checked(reference.find_labels, scan.columns)
    encoder = Encoder(find_labels, units, quantizer, len(centers))
    first = partitions.map_encoded(FirstTask(centers), encoder)
    if first is None or not first.n_rows:
        raise InputError("the data have no rows of positive weight")
    inside, codes = quantizer.inside(first.is_mixed), quantizer.center_code(centers)
    bins = BatchBins(quantizer.edges, inside, codes)
    unit = unit_of_moments(centers, first.moments)
    per_row = 1.0 if units.are_integers else first.n_units / first.n_rows
    scales = unit, per_row, scan.exact
    return BatchProblem(partitions, encoder, centers, bins, *scales, BATCH_CRITERIA), first


@dataclass(frozen=True)
class MomentTask(Task):
    """Moments of the rows that are not in the `home` leaf of their center, if it has one.

    `origins`, (n_nodes, n_features), are points near the means of the leaves.
    """

    routing: Routing
    origins: np.ndarray
    centers: np.ndarray
    home: np.ndarray

    def __call__(self, batch: Batch) -> tuple[GroupMoments, GroupMoments]:
        """Moments by own center, about the centers, and by leaf, about the origins."""
        leaf, labels = self.routing.leaves(batch), batch.labels
        rows = (leaf != self.home.take(labels)).nonzero()[0]
        X, weight = batch.columns.take(rows, axis=1).T, batch.weights.values.take(rows)
        return (
            group_moments(X, labels.take(rows), weight, self.centers),
            group_moments(X, leaf.take(rows), weight, self.origins),
        )


def _leaf_moments(
    problem: BatchProblem, first: FirstSums, builder: TreeBuilder, units: np.ndarray
) -> tuple[GroupMoments, np.ndarray]:
    """Moments of the leaves about some origins, and the origins of all nodes, by one pass.

    The moments of each center are known. So only rows outside of the leaf that has most of them are
    read, unless rounding errors would count: they are subtracted there and added to their leaves.
    """
    centers, nodes, leaves = problem.centers, builder.nodes, np.array(builder.leaves)
    cluster = np.array([nodes[leaf].cluster for leaf in leaves])
    origins, nowhere = np.zeros((len(nodes), problem.n_features)), np.full(len(centers), -1)
    origins[leaves], home = centers[cluster], nowhere.copy()
    for c in np.unique(cluster):
        of_cluster = leaves[cluster == c]
        largest = of_cluster[units[of_cluster, c].argmax()]
        # If little would remain, it would be mostly rounding errors.
        if 4 * units[largest, c] >= units[:, c].sum():
            home[c] = largest
    task = MomentTask(Routing.of(builder), origins, centers, home)
    removed, moments = problem.map(task)
    has_home = home >= 0
    whole, removed = (
        GroupMoments(*(array[has_home] for array in both)) for both in (first.moments, removed)
    )

    def take(origins: np.ndarray) -> GroupMoments:
        return problem.map(replace(task, origins=origins, home=nowhere))[1]

    if not whole.allows_removal(removed):
        return bring_to_means(take(origins), origins, take)
    for of_leaf, of_center in zip(moments, whole.minus(removed)):
        of_leaf[home[has_home]] += of_center
    return bring_to_means(moments, origins, take)


def summarize(
    problem: BatchProblem,
    first: FirstSums,
    growth: GrowthResult,
    names: Sequence[Any],
    renames: bool = False,
) -> FitSummary:
    """Clusters, counts and costs of a grown tree; `renames` matches them with the reference's."""
    builder, k = growth.builder, problem.n_clusters
    leaves, nodes, routing = builder.leaves, builder.nodes, Routing.of(builder)
    counts, units = problem.map(CountTask(routing, k))
    for leaf, node in growth.leaves.items():
        if nodes[leaf].cluster < 0:
            # Of several centers that no split separates, the one with most weight.
            centers = node.rows.centers
            builder.set_cluster(leaf, int(centers[units[leaf, centers].argmax()]))
    if renames:
        table = np.zeros((k, k), dtype=np.int64)
        np.add.at(table, [nodes[leaf].cluster for leaf in leaves], units[leaves])
        matched = match_clusters(table).tolist()
        for leaf in leaves:
            builder.set_cluster(leaf, matched[nodes[leaf].cluster])
    moments, origins = _leaf_moments(problem, first, builder, units)
    per_weight = problem.weight_units.per_weight
    totals = np.array([counts, units]).sum(axis=2)  # 0 except for leaves
    for number in reversed(range(len(nodes))):
        if number not in leaves:
            totals[:, number] += totals[:, nodes[number].left] + totals[:, nodes[number].right]
        builder.set_counts(number, int(totals[0, number]), float(totals[1, number] / per_weight))
    tree, order = builder.build(), builder.preorder()
    own = {leaf: int(units[leaf, nodes[leaf].cluster]) for leaf in leaves}
    weighed = ((i, leaf, totals[1, leaf]) for i, leaf in enumerate(order) if leaf in own)
    purity = {i: float(own[leaf] / total) for i, leaf, total in weighed if total > 0}
    in_tree = [order[leaf] for leaf in tree.leaves.tolist()]
    weight = moments.weight[in_tree]
    task = MomentTask(routing, origins, problem.centers, np.full(k, -1))

    def take(near: np.ndarray) -> GroupMoments:
        return problem.map(replace(task, centers=near))[0]

    of_centers, _ = bring_to_means(first.moments, problem.centers, take)
    origins, clusters = origins[in_tree], tree.cluster[tree.leaves]
    shifts, within = (array[in_tree] for array in moments.shifts_and_costs())
    centers, inertia = _combine(clusters, weight, origins, shifts, within, problem.centers)
    reference_inertia = float(of_centers.shifts_and_costs()[1].sum())
    importances = feature_importances(tree, weight, origins + shifts)
    separated = int(units.sum()) - sum(own.values())
    mistakes = separated if problem.weight_units.are_integers else separated / per_weight
    costs = inertia, problem.centers, reference_inertia
    return FitSummary(tree, names, centers, *costs, purity, importances, mistakes)


def _combine(
    cluster: np.ndarray,
    weight: np.ndarray,
    origins: np.ndarray,
    shifts: np.ndarray,
    within: np.ndarray,
    empty: np.ndarray,
) -> tuple[np.ndarray, float]:
    """Means of clusters and the cost of all rows, from those of the leaves.

    ``origins + shifts`` would be rounded, so the origin of the cluster is subtracted first.
    """
    centers, cost = empty.copy(), float(within.sum())
    for c in np.unique(cluster):
        of_cluster = (cluster == c) & (weight > 0)
        if of_cluster.any():
            w, origin = weight[of_cluster], origins[of_cluster][0]
            apart = (origins[of_cluster] - origin) + shifts[of_cluster]
            shift = (w @ apart) / w.sum()
            centers[c] = origin + shift
            cost += float(w @ ((apart - shift) ** 2).sum(axis=1))
    return centers, cost


class RowStatistics(NamedTuple):
    """Number of rows, largest absolute value of every column, and largest weight."""

    n_rows: int
    largest: np.ndarray
    weight: LargestWeight


class RowStatisticsTask(Task):
    """What has to be known before sums are exact."""

    def __call__(self, batch: Batch) -> RowStatistics:
        largest = np.abs(batch.X).max(axis=0, initial=0.0).astype(np.float64)
        return RowStatistics(batch.n_rows, largest, LargestWeight.of(batch.weights.values))

    def merge(self, first: RowStatistics, second: RowStatistics) -> RowStatistics:
        return RowStatistics(
            first.n_rows + second.n_rows,
            np.maximum(first.largest, second.largest),
            first.weight.merge(second.weight),
        )


@dataclass(frozen=True)
class TreeSumsTask(Task):
    """Exact sums of the rows by leaf, for several trees."""

    trees: Sequence[ThresholdTree]
    terms: Terms
    n_clusters: int

    def __call__(self, batch: Batch) -> list[tuple[np.ndarray, GroupSums]]:
        """By tree: units of weight by node and own cluster, and sums by node."""
        X, found = np.ascontiguousarray(batch.X, dtype=np.float64), []
        for tree in self.trees:
            leaf, n = tree.apply(X), tree.node_count
            # Units are whole and their total is below 2**52, so that sums of floats are exact.
            place, k = leaf * self.n_clusters + batch.labels, self.n_clusters
            units = np.bincount(place, weights=batch.weights.units, minlength=n * k)
            units = units.astype(np.int64).reshape(n, k)
            found.append((units, GroupSums.of(X, leaf, batch.weights.values, n, self.terms)))
        return found


class TreeValue(NamedTuple):
    """A tree with weights of all rows, the sum of squares between clusters, and its mistakes."""

    tree: ThresholdTree
    between_ss: float
    mistakes: float


def evaluate_trees(
    problem: BatchProblem, trees: Sequence[ThresholdTree], statistics: RowStatistics
) -> list[TreeValue]:
    """Weights and costs of finished trees. They do not depend on the order of the rows."""
    terms = Terms.of(statistics.largest, statistics.weight)
    found = problem.map(TreeSumsTask(trees, terms, problem.n_clusters))
    values, per_weight = list[TreeValue](), problem.weight_units.per_weight
    for tree, (by_cluster, sums) in zip(trees, found):
        units, leaves = by_cluster.sum(axis=1), tree.leaves
        mistakes = 1 - float(by_cluster[leaves, tree.cluster[leaves]].sum() / units.sum())
        weight = units / per_weight
        for node in reversed(np.flatnonzero(~tree.is_leaf)):
            weight[node] = weight[tree.children_left[node]] + weight[tree.children_right[node]]
        weighted = tree.replace(weighted_n_node_samples=weight)
        values.append(TreeValue(weighted, _between(tree, units, sums), mistakes))
    return values


def _between(tree: ThresholdTree, units: np.ndarray, sums: GroupSums) -> float:
    """Between-cluster sum of squares about the mean of all rows."""
    clusters = np.unique(tree.cluster[tree.leaves])
    is_in = tree.cluster[tree.leaves] == clusters[:, None]  # leaves of each cluster
    high, low, weight = (is_in @ part[tree.leaves] for part in (sums.high, sums.low, units))
    of_clusters = GroupSums(high, low, sums.terms).normalized()
    high, low = (part.sum(axis=0, keepdims=True) for part in of_clusters[:2])
    of_all = GroupSums(high, low, sums.terms)
    squares = ((of_clusters.means() - of_all.means()) ** 2).sum(axis=1)
    return float((weight * np.nan_to_num(squares)).sum())

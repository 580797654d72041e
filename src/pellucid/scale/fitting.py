"""From a scan to a problem, and from a grown tree to what a fitted estimator stores."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from pellucid._core.data.binning import Quantizer
from pellucid._core.data.dataset import unit_of_moments
from pellucid._core.data.moments import GroupMoments, group_moments
from pellucid._utils.notices import InputError
from pellucid._utils.numeric_domain import check_weights
from pellucid.scale.batches import Batch, Encoder, RawBatch, WeightUnits
from pellucid.scale.partitions import Partitions
from pellucid.scale.problem import ScaleBins, ScaleProblem
from pellucid.scale.references import Checked, ScanReference
from pellucid.scale.routing import Routing
from pellucid.tree import ThresholdTree, TreeBuilder
from pellucid.tree.importances import feature_importances

_SAMPLE_ROWS = 4096
"""Rows from which the edges of the bins are chosen. They do not change the tree."""

_N_BINS = 256


@dataclass(frozen=True)
class WeightTask:
    """What decides how weights become integers."""

    def __call__(self, raw: RawBatch) -> tuple[bool, bool, float, float]:
        """Whether all weights are 1, and integers; their sum and the largest."""
        weight = np.asarray(raw.weight)
        are_ones = bool((weight == 1).all())
        are_integers = bool((weight == np.rint(weight)).all())
        return are_ones, are_integers, float(weight.sum()), float(weight.max(initial=0.0))

    def merge(self, first: tuple, second: tuple) -> tuple:
        """Of two batches."""
        total, largest = first[2] + second[2], max(first[3], second[3])
        return first[0] and second[0], first[1] and second[1], total, largest


@dataclass(frozen=True)
class ExactWeightTask:
    """The exact sum of the weights."""

    def __call__(self, raw: RawBatch) -> Fraction:
        """Sum of one batch."""
        return sum(map(Fraction, np.asarray(raw.weight).tolist()), Fraction(0))

    def merge(self, first: Fraction, second: Fraction) -> Fraction:
        """Sum of two batches."""
        return first + second


def find_weight_units(partitions: Partitions, weight: str | None) -> WeightUnits:
    """How weights become integers; the rule is that of `Weights.of`."""
    if weight is None:
        return WeightUnits()
    found = partitions.map_raw(WeightTask())
    if found is None:
        return WeightUnits()
    are_ones, are_integers, total, largest = found
    check_weights(np.array([largest]), f"weight in column {weight!r}")
    if are_ones:
        return WeightUnits()
    if are_integers and total < 2.0**52:
        return WeightUnits(1.0, False)
    if np.frexp(total * (1 - 2.0**-30))[1] != np.frexp(total * (1 + 2.0**-30))[1]:
        total = float(partitions.map_raw(ExactWeightTask()))
    return WeightUnits(2.0 ** (51 - np.frexp(total)[1]), False, False)


class FirstSums(NamedTuple):
    """What is known after the first pass over the encoded batches.

    Attributes
    ----------
    n_rows, n_units : int
        Number of rows, and their weight in units.
    is_mixed : ndarray of shape (n_features, n_bins), uint8
    moments : GroupMoments
        Of the rows about their own centers.
    """

    n_rows: int
    n_units: int
    is_mixed: np.ndarray
    moments: GroupMoments


@dataclass(frozen=True)
class FirstTask:
    """The first pass over the encoded batches."""

    centers: np.ndarray

    def __call__(self, batch: Batch) -> FirstSums:
        """Sums of one batch."""
        weight = batch.weights.values
        moments = group_moments(batch.X, batch.labels, weight, self.centers)
        return FirstSums(batch.n_rows, int(batch.weights.units.sum()), batch.is_mixed, moments)

    def merge(self, first: FirstSums, second: FirstSums) -> FirstSums:
        """Sums of two batches."""
        return FirstSums(
            first.n_rows + second.n_rows,
            first.n_units + second.n_units,
            first.is_mixed | second.is_mixed,
            first.moments.plus(second.moments),
        )


def make_problem(
    partitions: Partitions, scan: Any, reference: ScanReference
) -> tuple[ScaleProblem, FirstSums]:
    """The problem of a scan, after the first pass over its batches."""
    centers = reference.centers
    n_clusters = len(centers)
    units = find_weight_units(partitions, scan.weight)
    width = max(_N_BINS, 2 * n_clusters)
    sample = scan.sample(_SAMPLE_ROWS)
    sample = sample[np.isfinite(sample).all(axis=1)]
    quantizer = Quantizer.of_sample(sample if len(sample) else centers, centers, width)
    label_type = next(t for t in (np.int8, np.int16, np.int32) if n_clusters <= np.iinfo(t).max)
    find_labels = Checked(reference.find_labels, scan.columns)
    encoder = Encoder(find_labels, units, quantizer, label_type)
    first = partitions.map_encoded(FirstTask(centers), encoder)
    if first is None or not first.n_rows:
        raise InputError("the data have no rows of positive weight")
    bins = ScaleBins(
        quantizer.edges, quantizer.inside(first.is_mixed), quantizer.center_code(centers)
    )
    unit = unit_of_moments(centers, first.moments)
    per_row = 1.0 if units.are_integers else first.n_units / first.n_rows
    return ScaleProblem(partitions, encoder, centers, bins, unit, per_row), first


@dataclass(frozen=True)
class SummaryTask:
    """Rows, weights and moments of the leaves, in the last pass.

    Attributes
    ----------
    routing : Routing
    origins : ndarray of shape (n_nodes, n_features)
        Points near the means of the leaves.
    n_clusters : int
    """

    routing: Routing
    origins: np.ndarray
    n_clusters: int

    def __call__(self, batch: Batch) -> tuple[np.ndarray, GroupMoments]:
        """Counts and units of weight by leaf and own center, and moments of the leaves."""
        leaf = self.routing.leaves(batch).astype(np.intp)
        n_nodes, k = len(self.origins), self.n_clusters
        place, size = leaf * k + batch.labels, n_nodes * k
        # Weights are whole and their total is below 2**52, so that sums of floats are exact.
        units = np.bincount(place, weights=batch.weights.units, minlength=size).astype(np.int64)
        counts = np.stack([np.bincount(place, minlength=size), units]).reshape(2, n_nodes, k)
        return counts, group_moments(batch.X, leaf, batch.weights.values, self.origins)

    def merge(self, first: tuple, second: tuple) -> tuple:
        """Those of two batches."""
        return first[0] + second[0], first[1].plus(second[1])


class ScanSummary(NamedTuple):
    """What an estimator stores after a fit on a scan.

    Attributes
    ----------
    tree : ThresholdTree
    cluster_centers, inertia
        Means of the clusters of the tree, and the cost of the rows.
    reference_inertia : float
        Cost of the rows in the reference clusters.
    purity : dict of int to float
        By leaf, the share of the weight whose own center is the leaf's.
    importances : ndarray of shape (n_features,)
    """

    tree: ThresholdTree
    cluster_centers: np.ndarray
    inertia: float
    reference_inertia: float
    purity: dict[int, float]
    importances: np.ndarray


def summarize(
    problem: ScaleProblem,
    first: FirstSums,
    builder: TreeBuilder,
    leaf_centers: dict[int, np.ndarray] | None,
) -> ScanSummary:
    """Clusters, counts and costs of a grown tree, by one pass.

    Parameters
    ----------
    problem : ScaleProblem
    first : FirstSums
    builder : TreeBuilder
    leaf_centers : dict of int to ndarray, optional
        Reference centers of each leaf, which then define its cluster; otherwise the builder does.
    """
    k, leaves = len(problem.centers), builder.leaves
    nodes = builder.nodes
    origins = np.zeros((len(nodes), problem.n_features))
    for leaf in leaves:
        center = nodes[leaf].cluster if leaf_centers is None else int(leaf_centers[leaf][0])
        origins[leaf] = problem.centers[center]
    (counts, units), moments = problem.map(SummaryTask(Routing.of(builder), origins, k))
    if leaf_centers is not None:
        for leaf, centers in leaf_centers.items():
            # Of several centers that no split separates, the one with most weight.
            builder.set_cluster(leaf, int(centers[units[leaf, centers].argmax()]))
    per_weight = problem.weight_units.per_weight
    totals = {leaf: (int(counts[leaf].sum()), int(units[leaf].sum())) for leaf in leaves}
    for number in reversed(range(len(nodes))):
        if number not in totals:
            left, right = totals[nodes[number].left], totals[nodes[number].right]
            totals[number] = left[0] + right[0], left[1] + right[1]
        builder.set_counts(number, totals[number][0], totals[number][1] / per_weight)
    tree, order = builder.build(), builder.preorder()
    place = {number: i for i, number in enumerate(order)}
    purity = {
        place[leaf]: float(units[leaf, nodes[leaf].cluster] / units[leaf].sum())
        for leaf in leaves
        if units[leaf].sum() > 0
    }
    in_tree = [order[leaf] for leaf in tree.leaves.tolist()]
    weight = moments.weight[in_tree]
    shift = np.divide(
        moments.sums,
        moments.weight[:, None],
        where=moments.weight[:, None] > 0,
        out=np.zeros_like(moments.sums),
    )
    means = (origins + shift)[in_tree]
    within = moments.squares - moments.weight * (shift**2).sum(axis=1)
    centers, inertia = _combine(
        tree.cluster[tree.leaves], weight, means, within[in_tree], problem.centers
    )
    _, reference_inertia = first.moments.means_and_cost(problem.centers)
    importances = feature_importances(tree, weight, means)
    return ScanSummary(tree, centers, inertia, reference_inertia, purity, importances)


def _combine(
    cluster: np.ndarray,
    weight: np.ndarray,
    means: np.ndarray,
    within: np.ndarray,
    empty: np.ndarray,
) -> tuple[np.ndarray, float]:
    """Means of clusters and the cost of all rows, from those of the leaves."""
    centers, cost = empty.copy(), float(within.sum())
    for c in np.unique(cluster):
        of_cluster = (cluster == c) & (weight > 0)
        if of_cluster.any():
            w, m = weight[of_cluster], means[of_cluster]
            centers[c] = (w @ m) / w.sum()
            cost += float(w @ ((m - centers[c]) ** 2).sum(axis=1))
    return centers, max(cost, 0.0)

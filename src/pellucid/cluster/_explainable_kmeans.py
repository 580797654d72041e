"""ExplainableKMeans: the best tree that several methods and local search find."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import field
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
from sklearn.utils import check_array, check_random_state

from pellucid._core.criteria.problem import Problem
from pellucid._core.data.arrays import Weights
from pellucid._core.data.dataset import Dataset
from pellucid._core.growers.growing_tree import FitSummary, GrowthResult
from pellucid._core.refine.label_search import grow_for_labels
from pellucid._core.refine.local_search import TreeLimits
from pellucid._core.refine.polish import Polished
from pellucid._core.refine.portfolio import (
    Portfolio,
    agreement,
    cost_at_means,
    growth_of,
    most_returning,
    rounded_cost,
)
from pellucid._core.refine.tuning import EFFORTS
from pellucid._utils.estimators import Effort, Noise, is_background
from pellucid._utils.progress import Progress
from pellucid._utils.sklearn_compat import Interval, StrOptions
from pellucid._utils.threads import count_threads
from pellucid.cluster._docs import common_parameters
from pellucid.cluster._space import SpaceTree
from pellucid.metrics import weighted_average_depth, weighted_average_explanation_size
from pellucid.metrics.trees import match_clusters
from pellucid.reference import find_reference
from pellucid.tree import ThresholdTree, TreeBuilder
from pellucid.tree.trade_off import TradeOff, TradeOffPoint

SCAN_SAMPLE_ROWS = 100_000
"""Rows of the sample on which trees are searched if a scan does not fit into memory."""

MAX_LEAVES_OF_DEPTH = 16
"""Leaves of a tree for labels of which `max_depth` alone is given, or twice the clusters."""

AUTO_FAITHFULNESS = 0.3, 2.0
"""Values of `faithfulness` that are tried one after the other.

Measured beside the tree of IMM, ExGreedy or ExShallow that keeps most rows: as many up to 1 % are
kept on 88 % of 50 tables with 0.3 and on 98 % with 2. With both in turn it is 96 % of 56 tables,
and no tree is costlier. The excess cost beside the cheapest published tree is -23 % with 0, -18 %
with 0.3, -4 % with 2 and -7 % with both (nine data sets, one leaf per cluster).
"""

TRADE_OFF_FAITHFULNESS = 0.0, 0.1, 0.3, 1.0, 3.0
"""Values of a trade-off. Convention."""

FEW_VALUES = 10_000
"""Rows times columns times clusters up to which another faithfulness is tried, too. Convention."""

LESS_FAITHFULNESS = 0.1, 0.0
"""Values that are tried in turn, in another space, while the tree costs more than simple ones."""

MAX_LOST_PER_COST = 10.0
"""Share of the rows that a lower value may move, relative to the share of the cost that it saves.

A point of agreement for a tenth of a percent of the cost, which no default should trade.
"""

COST_TIE = 1e-9  # part by which costs must differ to count as different
MAX_LOST = 0.01  # share of the rows by which a tree may keep fewer than that of another method
_COPIES = 8  # copies of the data that a fit in memory may need

_AUTO_PENALTY = 0.03
"""The value that the authors of ExShallow recommend; shallow trees are often cheap as well."""


@common_parameters
class ExplainableKMeans(SpaceTree):
    r"""Clusters that a few short rules describe, at a cost close to that of k-means.

    The leaves of a small threshold tree are the clusters, so that each row has a reason in words
    for its cluster. It is the best of many trees: it costs little, and keeps most rows in the
    cluster of the reference, such as k-means, or of the labels that are given.

    With C the clusters of the reference, n rows and f the `faithfulness`, the kept tree T has the
    least

    .. math:: \frac{\mathrm{cost}(T)}{\mathrm{cost}(C)}
        + f \cdot \frac{\mathrm{mistakes}(T)}{n}, \qquad
        \mathrm{cost}(T) = \sum_{j} \sum_{x \in T_j} \|x - \mathrm{mean}(T_j)\|^2,

    where mistakes are rows outside of their reference cluster, by weight. Equal trees: the shorter
    rules. With labels, ``fit(X, labels)``, only mistakes count. With ``fit(X, space=Z)``, the x of
    this sum are rows of another space, such as principal components.

    Parameters
    ----------
    {n_clusters}
    n_leaves : int, default=None
        Largest number of leaves. None: the number of clusters. A cluster may have several. With
        labels, None is up to twice the number of clusters where one would have no leaf, and, if
        `max_depth` is given, ``2**max_depth`` up to 16 or twice the number of clusters.
    depth_penalty : "auto" or float, default="auto"
        Weight of WAES, the mean number of conditions per row, which is added to the sum above (with
        labels: to the share of mistakes) when trees are compared. ``"auto"``: 0, so that WAES
        decides between equal trees only.
    max_depth : int, default=None
        Largest depth of a leaf.
    max_conditions : int, default=None
        Largest number of conditions in the rule of a leaf, without redundant ones.
    n_references : int, default=None
        Number of k-means clusterings to start from if neither a reference nor labels are given.
        None: 5 with ``effort="best"``, otherwise 1.
    faithfulness : "auto" or float, default="auto"
        What a row outside of its reference cluster costs, relative to the mean cost of a row in the
        reference. 0: only the cost counts. ``"auto"``: 0.3, and if the tree keeps at least 1 % of
        the rows less than that of IMM, ExGreedy or ExShallow, 2. In a `space` it is lowered to 0.1
        or 0 if the tree costs more there than that of SpEx, CART or a regression tree, unless this
        moves more than a tenth of the rows per percent of the cost. It has no effect on
        ``fit(X, labels)`` without a space.
    effort : {"fast", "balanced", "best"}, default="balanced"
        How many trees to try.
    stability : bool, default=False
        Whether to prefer, of all trees whose sum is at most 1 % above the least, the one whose
        clusters return for most rows on 100 draws of the rows. A draw takes each row as often as a
        Poisson distribution of mean 1 says, like a bootstrap; on each, a tree is found as with
        ``effort="fast"``. Needs rows in memory; no effect on ``fit(X, labels)``.
    {common}

    Attributes
    ----------
    n_trees_tried_ : int
        Number of trees that were grown.
    faithfulness_ : float
        The `faithfulness` that was used, if no labels were given.
    disagreement_lower_bound_ : int or float
        With labels in memory: no tree with as many leaves, within `max_depth`, has fewer
        `mistakes_`. If both are equal, the tree is proven to be the best. The proof is tried for
        up to four leaves, or a `max_depth` of up to 3; otherwise it is 0.
    space_loss_ : float
        With a space: the part of its sum of squares that was left out of the search, 0 with up to
        512 columns. `inertia_`, `reference_inertia_`, `cluster_centers_` and
        `feature_importances_` are those of all columns of the space.
    cluster_agreement_ : ndarray of shape (n_clusters,)
        With labels in memory: share of the rows of each cluster whose rule gives their label.
    {attributes}

    Notes
    -----
    ``faithfulness=0`` gives the cheapest tree, whose clusters can be quite different from those of
    the reference. Growth, local search and polishing all minimise the same sum.

    What is tried, for each reference:

    - ``effort="fast"``: ExShallow's tree; unless ``faithfulness=0``, the same by the sum above, and
      IMM's tree. Each is expanded as by ExKMC where more leaves are allowed, and the best of them
      is polished;
    - ``"balanced"``: also the tree of ExGreedy, and, where rows × columns × clusters are at most
      2 million, the same by beam search (10 trees, 5 cuts per leaf) or, with more leaves than
      clusters, CART's. Local search starts from the two best of them. Where it does not use all
      rows, or with `max_depth` or `max_conditions`, also the tree of IMM, and the tree of the local
      search is polished. So is the best of the others if it is better still. Without a local search
      the three best trees are polished, or two of them where rows × columns × leaves² ÷ clusters
      are above 5 million;
    - up to 10,000 rows × columns × clusters: also the best tree for ``faithfulness=0``, or for 0.3
      if it is 0, since a local search of few rows can end too early;
    - ``"best"``: all of this, and the same with wide beams (40 trees, 10 cuts) whatever the size, a
      local search several times as long, and five k-means references. Where the local search does
      not use all rows, all trees are polished.

    With `max_depth` or `max_conditions`, further trees are grown: two with a high depth penalty,
    three whose splits leave no more clusters on a side than the levels below can separate, and the
    tree within the limits that agrees best with the labels of the reference. All is done without
    the limits first, so that a limit that the tree keeps anyway changes nothing.

    Polishing alternates better cuts, better clusters of leaves and centers at the means of the
    clusters while the sum falls. The local search (simulated annealing) changes a part of the tree
    at random (grows it again, moves a leaf, changes a cut, or gives a leaf to another cluster),
    improves all cuts, and continues from there unless the sum has risen too much. With one leaf per
    cluster, trees are also grown again five times from the means of the leaves.

    Of more than 32,768 rows or 524,288 values (rows × columns, sparse data as well), the local
    search uses a sample of that size: different rows, chosen by a hash of their values, with the
    weight of all their copies. There is no local search where the columns are so many that such a
    sample has fewer than ten rows per cluster, nor with a positive `depth_penalty`, with which all
    trees are polished.

    With labels, ``fit(X, labels)``, the tree with the fewest mistakes is searched instead: the
    weight of the rows whose leaf has another label. Equal ones go to the tree with fewer conditions
    per row. A local search starts from CART's tree, so that the result is never worse than
    scikit-learn's ``DecisionTreeClassifier(max_leaf_nodes=n_leaves)``. Of more than 32,768
    different rows or 1,048,576 values, a sample is searched, and its tree and CART's are improved
    on all rows. Costs and centers are information only.

    With a space, ``fit(X, space=Z)``, trees are also grown by the cost in Z alone, as a regression
    tree, by the normalised cut, as SpEx, and by CART, since centers that differ in Z may be at one
    place in the columns of X. With labels, ``fit(X, labels, space=Z)``, the clusters of the labels
    are the reference. Z is dense, and the search needs up to three times its memory; with more than
    512 columns, trees are searched on its first 512 principal components, whose last digits depend
    on the order of the rows.

    On a :func:`pellucid.scan` whose rows fit into its memory, the result is that of `fit` in
    memory, bit for bit. Otherwise trees are searched on a sample of 100,000 different rows, which
    depends on the values of the rows only; the trees are then compared exactly on all rows.

    The amount of work depends on the size of the data and never on time or chance, so results can
    be repeated. "balanced" aims at three times the time of ``KMeans(n_init=10)`` plus two seconds.

    References
    ----------
    Frost, Moshkovitz, Rashtchian (2020). ExKMC: Expanding explainable k-means clustering.
    Laber, Murtinho, Oliveira (2023). Shallow decision trees for explainable k-means clustering.
    Kirkpatrick, Gelatt, Vecchi (1983). Optimization by simulated annealing. Science 220.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pellucid import ExplainableKMeans
    >>> model = ExplainableKMeans(3, random_state=0).fit(load_iris(as_frame=True).data)
    >>> model.n_leaves_
    3
    >>> bool(model.inertia_ < 1.05 * model.reference_inertia_)
    True
    """

    _parameter_constraints = {
        "n_leaves": [Interval(Integral, 1, None, closed="left"), None],
        "depth_penalty": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
        "max_depth": [Interval(Integral, 1, None, closed="left"), None],
        "max_conditions": [Interval(Integral, 1, None, closed="left"), None],
        "n_references": [Interval(Integral, 1, None, closed="left"), None],
        "faithfulness": [StrOptions({"auto"}), Interval(Real, 0, 1e6, closed="both")],
        "effort": [StrOptions(set(EFFORTS))],
        "stability": ["boolean"],
    }
    n_leaves: int | None = None
    depth_penalty: float | Literal["auto"] = "auto"
    max_depth: int | None = None
    max_conditions: int | None = None
    n_references: int | None = None
    faithfulness: float | Literal["auto"] = "auto"
    effort: Effort = "balanced"
    stability: bool = False
    noise: Noise = "background"
    n_trees_tried_: int = field(init=False)
    faithfulness_: float = field(init=False)

    def _max_leaves(self, n_clusters):
        return n_clusters if self.n_leaves is None else self.n_leaves

    def _grow(self, problem, progress):
        if self._keeps_labels:
            return self._grow_for_labels(problem)
        if not problem.is_in_memory:
            if self.stability:
                raise ValueError("stability=True needs rows in memory; this scan has too many")
            return self._grow_on_sample(problem)
        problem = self._searched(problem)
        rank = self._ranking(_reference_cost(problem))
        found = self._search(problem)
        if self.stability:
            best = self._most_stable(problem, found)
            return growth_of(best.tree, best.leaf)
        best = min(found, key=rank)
        if problem.has_space and isinstance(self.faithfulness, str):
            # Cost of the cheapest tree that other methods grow for costs in a space.
            simple, whole = self._fast_portfolio(problem), _reference_cost(problem)
            starts = (s for s in simple.starts_of_space() if simple.limits.allows(s.tree))
            costs = (cost_at_means(start, problem) for start in starts)
            least = min(costs, default=np.inf) * (1 + COST_TIE)
            for value in LESS_FAITHFULNESS:
                if cost_at_means(best, problem) <= least:
                    break
                given = self.faithfulness_
                other = min(self._search(problem, value), key=rank)
                saved = cost_at_means(best, problem) - cost_at_means(other, problem)
                lost = agreement(best, problem) - agreement(other, problem)
                if lost * whole <= MAX_LOST_PER_COST * saved:
                    best = other
                else:
                    self.faithfulness_ = given
        return growth_of(best.tree, best.leaf)

    def _fast_portfolio(self, problem: Problem) -> Portfolio:
        limits, style = self._limits(problem.n_clusters), self.threshold_style
        only_cost = self._penalty == 0
        return Portfolio(problem, EFFORTS["fast"], limits, _AUTO_PENALTY, style, only_cost)

    def trade_off(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        space: Any = None,
        faithfulness: Sequence[float] = TRADE_OFF_FAITHFULNESS,
    ) -> TradeOff:
        """Trees between the cheapest one and the one that keeps most rows.

        The search is repeated with each `faithfulness`, for one reference. The estimator is not
        modified and need not be fitted.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Rows, as in `fit`.
        y : array-like of shape (n_samples,), default=None
            Labels that are the reference.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.
        space : array-like or data frame of shape (n_samples, n_columns), default=None
            The same rows in another space, of which the costs are, as in `fit`.
        faithfulness : sequence of float, default=(0, 0.1, 0.3, 1, 3)
            The values.

        Returns
        -------
        TradeOff
            The best tree of each value, unless another one is as good in cost, agreement and
            conditions per row and better in one; shortest explanations first.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from pellucid import ExplainableKMeans
        >>> print(ExplainableKMeans(3, random_state=0).trade_off(load_iris().data))
        cost ratio  agreement   WAES    WAD  leaves  setting
             1.037      97.3%   1.44   1.67       3  faithfulness 0
        """
        model, points = copy(self), []
        with model._prepare(X, y, sample_weight, space) as (_, _, problem):
            problem = model._searched(problem)
            cost = _reference_cost(problem) or 1.0
            for value in map(float, faithfulness):
                best = min(model._search(problem, value), key=model._ranking(cost))
                own, tree = cost_at_means(best, problem), best.tree
                sizes = weighted_average_explanation_size(tree), weighted_average_depth(tree)
                measures = own, own / cost, *sizes, tree.n_leaves, agreement(best, problem)
                points.append(TradeOffPoint(0.0, (0.0, 0.0), best.tree, *measures, value))
        return TradeOff(points).undominated(("cost", "agreement", "waes"))

    def _most_stable(self, problem: Problem, found: list[Polished]) -> Polished:
        """Of the trees that are almost the best, the one that returns most often."""
        reference_cost = _reference_cost(problem)
        mean = rounded_cost(reference_cost) / problem.weights.total
        posed = problem.with_mistake_cost(self.faithfulness_ * mean)
        portfolio = self._fast_portfolio(posed)

        def grow(drawn: Problem) -> list[Polished]:
            searched = self._fast_portfolio(drawn)
            trees = searched.candidates(list(searched.starts(Progress("", 1, 0))))
            return [tree for tree in trees if searched.limits.allows(tree.tree)]

        def improve(tree: ThresholdTree) -> Iterator[Polished]:
            for rounds in (0, 100):
                yield from portfolio.polish(tree, rounds)

        starts = [start.tree for start in portfolio.starts(Progress("", 1, 0))]
        rank = self._ranking(reference_cost)
        return most_returning(posed, mean, grow, improve, found, starts, rank)

    @property
    def _keeps_labels(self) -> bool:
        return self._has_labels and not self._has_space

    @property
    def _moves_clusters(self) -> bool:
        return not self._keeps_labels

    def _label_leaves(self, n_clusters: int) -> tuple[int, int]:
        """Leaves of a tree for labels, and most leaves if a cluster would have none."""
        if self.n_leaves is not None:
            return self.n_leaves, self.n_leaves
        most = 2 * n_clusters
        if self.max_depth is not None:
            n_leaves = min(2 ** min(self.max_depth, 30), max(most, MAX_LEAVES_OF_DEPTH))
            return n_leaves, n_leaves
        return n_clusters, most

    def _grow_for_labels(self, problem: Any) -> GrowthResult:
        """The tree of fewest mistakes, on a scan that of a sample with leaves named by all rows."""
        n_leaves, most = self._label_leaves(problem.n_clusters)
        limits = TreeLimits(n_leaves, self.max_depth, self.max_conditions)
        rows = problem if problem.is_in_memory else _sample_of_scan(problem)
        self.n_trees_tried_ = 1
        growth, bound = grow_for_labels(
            rows, limits, most, self.effort, self.threshold_style, self._penalty
        )
        if problem.is_in_memory:
            self.disagreement_lower_bound_: int | float = problem.weights.of_units(bound)
            return growth
        from pellucid._core.batches.routing import Routing
        from pellucid._core.batches.tasks import CountTask

        builder = growth.builder
        units = problem.map(CountTask(Routing.of(builder), problem.n_clusters))[1]
        for leaf in builder.leaves:
            builder.set_cluster(leaf, int(units[leaf].argmax()))
        return GrowthResult(builder, [], {})

    def _store_growth(self, problem: Any, growth: GrowthResult, found: FitSummary) -> None:
        if self._keeps_labels and problem.is_in_memory:
            own, units = problem.labels.astype(np.intp), problem.weights.units
            is_right = found.tree.cluster[found.tree.apply(problem.X)] == own
            sums = [np.bincount(own, units * kept, problem.n_clusters) for kept in (is_right, 1)]
            self.cluster_agreement_: np.ndarray = sums[0] / sums[1]

    def _remedy(self) -> str:
        if not self._has_labels:
            return "Use more leaves (n_leaves), a larger faithfulness, or fewer clusters"
        larger = [f"a larger {name}" for name in self._given_limits()]
        options = ", ".join(["more leaves (n_leaves)", *larger])
        found = f"Use {options}{',' * bool(larger)} or fewer clusters"
        if (bound := getattr(self, "disagreement_lower_bound_", 0)) > 0:
            most = 100 * (1 - bound / self.tree_.weighted_n_node_samples[0])
            proven = f"No tree of this size gives more than {most:.1f}% of the rows their label"
            found = f"{proven} (proven). {found}"
        return found

    def held_out_agreement(self, X: Any, labels: Any, cv: int = 5) -> float:
        """Share of the rows whose label is given by the tree of other rows, by cross-validation.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.
        labels : array-like of shape (n_samples,)
            Their labels. Rows of noise that are left out do not count.
        cv : int, default=5
            Number of parts. Each is predicted by the tree of the others; the parts do not depend
            on `random_state`.

        Returns
        -------
        float
            The share.
        """
        from sklearn.base import clone
        from sklearn.model_selection import KFold

        first = clone(self).fit(X, labels)
        noise = "-1" if first.cluster_names_.dtype.kind == "U" else -1
        is_counted = (first.reference_labels_ != noise) | (not is_background(self.noise))
        X, labels, right = check_array(X, accept_sparse="csr"), np.asarray(labels), 0
        for others, held in KFold(cv, shuffle=True, random_state=0).split(is_counted):
            model = clone(self).fit(X[others], labels[others])
            found = model.predict(X[held]) == first.reference_labels_[held]
            right += int(found[is_counted[held]].sum())
        return right / int(is_counted.sum())

    def _limits(self, n_clusters: int) -> TreeLimits:
        n_leaves = self._max_leaves(n_clusters)
        if n_leaves < n_clusters:
            raise ValueError(
                f"n_leaves={n_leaves} is less than the {n_clusters} clusters; each needs "
                "a leaf of its own"
            )
        if self.max_depth is not None and 2**self.max_depth < n_clusters:
            raise ValueError(
                f"max_depth={self.max_depth} is too small: a tree with a leaf for each of the "
                f"{n_clusters} clusters has a depth of at least {(n_clusters - 1).bit_length()}. "
                "Raise max_depth, or use fewer clusters"
            )
        return TreeLimits(n_leaves, self.max_depth, self.max_conditions)

    @property
    def _penalty(self) -> float:
        """Weight of the size when trees are compared."""
        return 0.0 if isinstance(self.depth_penalty, str) else float(self.depth_penalty)

    def _search(self, problem: Problem, *given: float) -> list[Polished]:
        """Trees for the first faithfulness whose best tree keeps as many rows as other methods."""
        reference_cost = _reference_cost(problem)
        self.n_trees_tried_, rank = 0, self._ranking(reference_cost)
        mean = rounded_cost(reference_cost) / problem.weights.total
        is_auto, limits = isinstance(self.faithfulness, str), self._limits(problem.n_clusters)
        values = AUTO_FAITHFULNESS if is_auto else [float(self.faithfulness)]
        plain_trees: dict[Any, GrowthResult] = {}
        for faithfulness in given or values:
            posed, found, kept = problem.with_mistake_cost(faithfulness * mean), [], 0.0
            further = (self._n_references() - 1) * self._portfolios(posed, False, {})
            n_trees = sum(each.n_trees for each in self._portfolios(posed, True, {}) + further)
            progress = Progress("ExplainableKMeans: trees", n_trees, self.verbose)
            for other in self._problems(posed, self._n_references()):
                grown = plain_trees if other is posed else {}
                for portfolio in self._portfolios(other, other is posed, grown):
                    starts = list(portfolio.starts(progress))
                    allowed = [start for start in starts if limits.allows(start.tree)]
                    kept = max([kept, *(agreement(start, problem) for start in allowed)])
                    trees = portfolio.candidates(starts)
                    found += [tree for tree in trees if limits.allows(tree.tree)]
            if problem.n_samples * problem.n_features * problem.n_clusters <= FEW_VALUES:
                other_cost = 0.0 if faithfulness else AUTO_FAITHFULNESS[0] * mean
                found += self._found_otherwise(posed, other_cost)
            if not found:
                within = ", ".join(f"{name}={n}" for name, n in self._given_limits().items())
                raise ValueError(
                    f"no tree for {problem.n_clusters} clusters was found within {within}. Raise "
                    "the limit, or use fewer clusters"
                )
            self.n_trees_tried_ += progress.done
            if agreement(min(found, key=rank), problem) >= kept - MAX_LOST:
                break
        self.faithfulness_ = faithfulness
        return found

    def _found_otherwise(self, problem: Problem, mistake_cost: float) -> Iterator[Polished]:
        """The best tree for another cost of mistakes, improved for that of the problem."""
        other = problem.with_mistake_cost(mistake_cost)
        own, search = (self._portfolios(p, True, {})[-1] for p in (problem, other))
        found = search.candidates(list(search.starts(Progress("", 1, 0))))
        for best in sorted(found, key=lambda tree: rounded_cost(tree.cost))[:1]:
            yield from own.polish(best.tree)

    def _portfolios(
        self, problem: Problem, is_first: bool, plain_trees: dict[Any, GrowthResult]
    ) -> list[Portfolio]:
        """The portfolios of a problem, of which `is_first` is that of the estimator's reference.

        The best effort includes the balanced one, a limit the search without it and with the same
        limit of the other kind, so that its tree is never costlier than theirs.
        """
        penalty = _AUTO_PENALTY if isinstance(self.depth_penalty, str) else self._penalty
        limits, style = self._limits(problem.n_clusters), self.threshold_style
        names = ["balanced"] if self.effort == "best" and is_first else []
        limits_of_search = [limits]
        if (most := limits.safe_depth) is not None:
            n = limits.n_leaves
            others = TreeLimits(n), TreeLimits(n, most), TreeLimits(n, max_conditions=most)
            limits_of_search = [other for other in others if other != limits] + [limits]
        rest = penalty, style, self._penalty == 0, plain_trees
        return [
            Portfolio(problem, EFFORTS[name], limit, *rest)
            for name in [*names, self.effort]
            for limit in limits_of_search
        ]

    def _ranking(self, reference_cost: float) -> Callable[[Any], tuple[float, float]]:
        """The order of trees by cost and size, given the cost of the reference."""
        yardstick = reference_cost or 1.0

        def rank(polished: Any) -> tuple[float, float]:
            size = weighted_average_explanation_size(polished.tree)
            return rounded_cost(polished.cost / yardstick + self._penalty * size), size

        return rank

    def _fit_scan(self, scan: Any, y: Any, sample_weight: Any) -> FitSummary:
        """Fit in memory if the rows fit; otherwise search on a sample, and compare on all rows."""
        if y is not None or sample_weight is not None or scan.rows_in_memory(_COPIES) == 0:
            return super()._fit_scan(scan, y, sample_weight)
        self._check_parameters()
        gathered = scan.gather(scan.rows_in_memory(_COPIES), count_threads(self.n_jobs))
        if gathered.parts is None or not gathered.n_rows:
            return super()._fit_scan(scan, y, sample_weight)
        X, weight, labels = gathered.arrays()
        found = self._fit_rows(scan.named(X), labels, weight)
        # As after any fit on a scan.
        del self.labels_, self.reference_labels_
        return found

    def _grow_on_sample(self, problem: Any) -> GrowthResult:
        """The tree of a sample that is the best one for all rows."""
        from pellucid.scale.fitting import RowStatisticsTask, evaluate_trees

        statistics = problem.map(RowStatisticsTask())
        small = _sample_of_scan(problem, statistics.n_rows)
        trees = [polished.tree for polished in self._search(small)]
        values = evaluate_trees(problem, trees, statistics)
        yardstick = _reference_cost(small) or 1.0
        whole = yardstick * (values[0].tree.weighted_n_node_samples[0] / small.weights.total)

        def rank_of_all(position: int) -> tuple[float, float]:
            value = values[position]
            size = weighted_average_explanation_size(value.tree)
            cost = -value.between_ss / whole + self.faithfulness_ * value.mistakes
            return cost + self._penalty * size, size

        best = trees[min(range(len(trees)), key=rank_of_all)]
        return GrowthResult(TreeBuilder.from_tree(best), [], {})

    def _n_references(self) -> int:
        if self.reference is not None or self._has_labels:
            return 1
        return self.n_references or EFFORTS[self.effort].n_references

    def _problems(self, problem: Problem, n_references: int) -> Iterator[Problem]:
        """The problem itself, and those of further references."""
        from sklearn.cluster import KMeans

        yield problem
        random = check_random_state(self.random_state)
        k = problem.n_clusters
        for seed in random.randint(np.iinfo(np.int32).max, size=n_references - 1):
            kmeans = KMeans(k, n_init=1, random_state=seed)
            other = find_reference(kmeans, problem.space, n_clusters=k, random_state=None)
            if problem.mistake_cost == 0:
                yield problem.explaining(other.centers, other.labels)
                continue
            # Rows keep their own clusters, and each cluster has the center that most of them have.
            table = np.zeros((k, k))
            own = problem.labels.astype(np.intp)
            np.add.at(table, (other.labels, own), problem.weights.units)
            centers = other.centers[np.argsort(match_clusters(table))]
            yield problem.explaining(centers, problem.labels)

    def _given_limits(self) -> dict[str, int]:
        limits = {"max_depth": self.max_depth, "max_conditions": self.max_conditions}
        return {name: limit for name, limit in limits.items() if limit is not None}


def _sample_of_scan(problem: Any, n_rows: int | None = None) -> Problem:
    """The problem of a sample of different rows, which depends on their values alone."""
    from pellucid.scale.fitting import RowStatisticsTask
    from pellucid.scale.sampling import value_sample

    n_rows = problem.map(RowStatisticsTask()).n_rows if n_rows is None else n_rows
    sample = value_sample(problem, SCAN_SAMPLE_ROWS, n_rows)
    weights = Weights.of(sample.weight * sample.copies)
    data = Dataset(np.ascontiguousarray(sample.X), weights)
    return Problem(data, problem.centers, sample.labels, unit_from_labels=True)


def _reference_cost(problem: Problem) -> float:
    """Cost of the reference's clusters at their means, not at centers that may be far away."""
    from pellucid._core.data.moments import means_and_costs

    labels, weight = problem.labels.astype(np.intp), problem.weights.values
    space, centers = problem.space, problem.space_centers
    costs = means_and_costs(space.X, labels, labels, weight, centers, problem.pool)
    return costs[0][1]

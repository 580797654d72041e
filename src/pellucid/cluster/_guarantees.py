"""What is proven about the cost of a tree, beside what it costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sklearn.utils.validation import check_is_fitted


@dataclass(frozen=True)
class Guarantee:
    """A proven upper bound on a ratio, and the ratio of the fitted tree.

    Attributes
    ----------
    bound : float
        The ratio is never above this, whatever the data.
    ratio : float
        The ratio of this tree.
    formula : str
        The bound as a formula, with k clusters and a tree of depth H.
    compared_with : str
        What the cost is divided by.
    source : str
        Where it is proven.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pellucid import IMM
    >>> print(IMM(3, random_state=0).fit(load_iris().data).guarantee_)
    1.04 times the cost of the reference; never more than 50 times (8Hk + 2)
    """

    bound: float
    ratio: float
    formula: str
    compared_with: str
    source: str

    def __str__(self) -> str:
        most = f"never more than {self.bound:,.4g} times ({self.formula})"
        return f"{self.ratio:.3g} times {self.compared_with}; {most}"


_IMM = "Moshkovitz, Dasgupta, Rashtchian, Frost (2020), Theorem 3"
_EXKMC = "Frost, Moshkovitz, Rashtchian (2020), Theorem 3"
_RANDOM = "Gupta, Pittu, Svensson, Yuan (2023)"
_PROVEN_DRAWS = "kmedians", "gamlath"


class GuaranteeMixin:
    """The guarantee of a fitted tree as a property."""

    @property
    def guarantee_(self) -> Guarantee | None:
        """What is proven about the cost, with its constants; None if nothing is.

        Returns
        -------
        Guarantee or None
            For :class:`~pellucid.IMM`, and :class:`~pellucid.ExKMC` from IMM's tree: the k-means
            cost is at most 8Hk + 2 times, the k-medians cost at most 2H + 1 times that of the
            reference. For :class:`~pellucid.RandomThresholds` of k-medians with
            ``method="gamlath"``: the mean cost of a draw is at most 1 + 1 + 1/2 + ... + 1/(k - 1)
            times. For :class:`~pellucid.OptimalTree`: no tree with one leaf per cluster has a value
            of `criterion` below `lower_bound_`.
        """
        check_is_fitted(self)
        model: Any = self
        name = type(self).__name__
        if hasattr(model, "scan_gap_"):  # without exact passes over all rows, nothing is proven
            return None
        if name == "IMM" and model.search == "greedy":
            return _with_depth(model, model.tree_, _IMM)
        if name == "ExKMC" and isinstance(model.base, str):
            return _with_depth(model, next(model.staged_trees()), _EXKMC)
        if name == "RandomThresholds" and (model.objective, model.method) == _PROVEN_DRAWS:
            bound = 1 + sum(1 / j for j in range(1, len(model.cluster_names_)))
            formula = "1 + 1 + 1/2 + ... + 1/(k - 1), on average"
            return _of_reference(model, bound, formula, _RANDOM)
        return _of_optimal_tree(model) if name == "OptimalTree" else None


def _with_depth(model: Any, tree: Any, source: str) -> Guarantee:
    """The bound of IMM for a tree that IMM has grown."""
    k = len(model.cluster_names_)
    # Polishing lowers the cost and may change the depth; no tree of k leaves is deeper than k - 1.
    depth = k - 1 if model.polish else tree.max_depth
    bound, formula = 8 * depth * k + 2, "8Hk + 2"
    if model.objective == "kmedians":
        bound, formula = 2 * depth + 1, "2H + 1"
    return _of_reference(model, bound, formula, source)


def _of_reference(model: Any, bound: float, formula: str, source: str) -> Guarantee:
    cost, reference = float(model.inertia_), float(model.reference_inertia_)
    ratio = cost / reference if reference > 0 else 1.0  # both are 0 then, by the bound
    return Guarantee(bound, ratio, formula, "the cost of the reference", source)


def _of_optimal_tree(model: Any) -> Guarantee | None:
    value, least = float(model.objective_), float(model.lower_bound_)
    if least <= 0 < value:
        return None
    bound = value / least if value > 0 else 1.0
    unit = {"mistakes": "mistakes", "surrogate": "surrogate cost"}[model.criterion]
    compared = f"the least {unit} of any tree with one leaf per cluster"
    return Guarantee(bound, bound, "objective_ / lower_bound_", compared, "branch and bound")

"""EMN: few mistakes for the number of centers that a cut sets apart, greedily."""

from __future__ import annotations

from pellucid._core.criteria.mistakes import BalancedMistakes
from pellucid._core.growers.greedy import grow_greedily
from pellucid.cluster._base import BaseThresholdTree, common_parameters


@common_parameters
class EMN(BaseThresholdTree):
    """A tree with one leaf for each reference cluster, by fewest mistakes a center.

    At each node, the cut with the fewest rows separated from their own center, divided by the
    number of reference centers on the side that has fewer of them. So a cut that shares the
    centers out evenly may make more mistakes, and trees are mostly less deep than those of
    :class:`~pellucid.IMM`. Rows so separated do not count below the cut.

    Parameters
    ----------
    n_clusters : int, default=None
        Number of clusters; that of the reference when left out, or 8 without a reference.
    {common}

    Attributes
    ----------
    {attributes}

    References
    ----------
    Esfandiari, Mirrokni, Narayanan (2022). Almost tight approximation algorithms for explainable
    clustering. SODA.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from pellucid import EMN, IMM
    >>> X = load_digits().data
    >>> [Method(10, random_state=0).fit(X).tree_.max_depth for Method in (IMM, EMN)]
    [9, 4]
    """

    def _grow(self, problem, progress):
        return grow_greedily(BalancedMistakes(problem), self.threshold_style, progress)

"""CART: scikit-learn's decision tree on the labels of the reference."""

from __future__ import annotations

from pellucid._core.growers.cart import grow_cart
from pellucid.baselines._base import BaselineTree
from pellucid.cluster._docs import common_parameters


@common_parameters
class CARTExplainer(BaselineTree):
    """A classification tree that predicts the reference clusters.

    scikit-learn's ``DecisionTreeClassifier(max_leaf_nodes=n_leaves)`` (Gini impurity, best leaf
    first) learns the labels of the reference, and its tree becomes a threshold tree. It counts
    misplaced rows and is blind to what they cost, which is what it is here to show.

    Every training row reaches the leaf in which scikit-learn's tree has it, and each leaf is the
    majority cluster of its rows. scikit-learn looks at the data in single precision; the
    thresholds here are chosen between the values themselves.

    Parameters
    ----------
    {n_clusters}
    n_leaves : int, default=None
        Number of leaves at the most; that of the clusters when left out. A tree that already
        reproduces the reference is not cut any further.
    {common}
        scikit-learn's tree uses it too: it decides between cuts that are equally good.

    Attributes
    ----------
    {attributes}

    See Also
    --------
    pellucid.ExKMC : Trees of any size that do look at the cost.

    References
    ----------
    Breiman, Friedman, Stone, Olshen (1984). Classification and regression trees.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pellucid.baselines import CARTExplainer
    >>> model = CARTExplainer(3, random_state=0).fit(load_iris(as_frame=True).data)
    >>> model.n_leaves_
    3
    >>> print(f"{model.inertia_ / model.reference_inertia_:.3f}")
    1.037
    """

    def _grow(self, problem, progress):
        n_leaves = self._max_leaves(problem.n_clusters)
        return grow_cart(problem, n_leaves, self.threshold_style, progress, self.random_state)

"""CART: scikit-learn's decision tree on the labels of the reference."""

from __future__ import annotations

from pellucid._core.growers.cart import grow_cart
from pellucid.baselines._base import BaselineTree
from pellucid.cluster._docs import common_parameters


@common_parameters
class CARTExplainer(BaselineTree):
    """A classification tree that predicts the reference clusters.

    scikit-learn's ``DecisionTreeClassifier(max_leaf_nodes=n_leaves)`` (Gini impurity, best leaf
    first) is fitted to the labels of the reference and converted to a threshold tree. It counts
    misclassified rows but not their cost, which this baseline is to show.

    Every training row reaches the same leaf as in scikit-learn's tree, and each leaf has the
    majority cluster of its rows. scikit-learn rounds the data to single precision; thresholds here
    are chosen between the original values.

    Parameters
    ----------
    {n_clusters}
    n_leaves : int, default=None
        Largest number of leaves. None: the number of clusters. A tree that reproduces the
        reference is not split further.
    {common}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    pellucid.ExKMC : Trees of any size that minimise the cost.

    Notes
    -----
    `random_state` is also that of scikit-learn's tree, which decides between equally good splits.

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

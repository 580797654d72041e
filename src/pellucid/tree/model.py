"""Methods of every estimator that holds a threshold tree."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from pellucid.tree.threshold_tree import ThresholdTree


class TreeModelMixin:
    """Depth, number of leaves and decision paths, under the names of scikit-learn's trees."""

    tree_: ThresholdTree

    @abstractmethod
    def _tree_input(self, X: Any) -> Any:
        """`X` as the matrix that `tree_` takes."""

    def get_depth(self) -> int:
        """Depth of the tree: the number of splits on the longest path.

        Returns
        -------
        int
            The depth.
        """
        check_is_fitted(self)
        return self.tree_.max_depth

    def get_n_leaves(self) -> int:
        """Number of leaves of the tree.

        Returns
        -------
        int
            The number of leaves.
        """
        check_is_fitted(self)
        return self.tree_.n_leaves

    def decision_path(self, X: Any) -> sparse.csr_array:
        """Nodes that each row passes, as an indicator matrix.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        csr_array of shape (n_samples, node_count)
            Entry (i, j) is 1 if row i passes node j of `tree_`. A row of depth d has d + 1 entries.
        """
        check_is_fitted(self)
        return self.tree_.decision_path(self._tree_input(X))

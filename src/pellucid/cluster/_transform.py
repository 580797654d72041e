"""Distances to the cluster centers as a transformation."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from pellucid._utils.estimators import has_space
from pellucid.tables.frames import refuse_scan


class CenterDistanceMixin(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """The methods of a transformer: `transform`, `fit_transform` and `get_feature_names_out`."""

    cluster_centers_: np.ndarray

    def transform(self, X: Any) -> np.ndarray:
        """Distance of each row to each of `cluster_centers_`.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Rows with the columns of `fit`. If the centers are in another space (`fit` with
            `space`), rows of X have no distances to them: an error.

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
            Euclidean distances, as in :class:`sklearn.cluster.KMeans`, or with
            ``objective="kmedians"`` Manhattan distances. The nearest center need not be that of
            the cluster to which the tree assigns the row.
        """
        check_is_fitted(self)
        if has_space(self):
            raise ValueError(
                "the centers of this model are in the space of fit, not in the columns of X; use "
                "sklearn.metrics.pairwise_distances(Z, model.cluster_centers_) with rows Z there"
            )
        model: Any = self
        numbers = model._tree_input(X)
        distances = center_distances(numbers, self.cluster_centers_, model._objective)
        return distances.astype(numbers.dtype, copy=False)

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> np.ndarray:
        """Fit, and return the distance of each row to each of `cluster_centers_`.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            As in `fit`; a scan is refused.
        y : array-like of shape (n_samples,), default=None
            Labels to explain, as in `fit`.
        **fit_params : dict
            Further parameters of `fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
            As of `transform`.
        """
        refuse_scan(X)
        return super().fit_transform(X, y, **fit_params)

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)


def center_distances(X: Any, centers: np.ndarray, objective: str) -> np.ndarray:
    """Euclidean or Manhattan distances of the rows of a dense or sparse matrix to the centers."""
    metric = "euclidean" if objective == "kmeans" else "cityblock"
    if sparse.issparse(X):
        from sklearn.metrics import pairwise_distances

        return pairwise_distances(X.tocsr(), sparse.csr_array(centers), metric=metric)
    from scipy.spatial.distance import cdist

    return cdist(X, centers, metric)

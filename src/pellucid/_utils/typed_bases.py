"""Base classes of scikit-learn with types.

scikit-learn has no type hints, so that type checkers would know nothing about classes derived from
its own. At run time these are the classes of scikit-learn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:

    class BaseEstimator:
        """An estimator with parameters.

        Some estimators store their parameters in a loop, so that any name may be an attribute.
        """

        def __getattr__(self, name: str) -> Any: ...

        def get_params(self, deep: bool = True) -> dict[str, Any]: ...

        def set_params(self, **params: Any) -> Self: ...

        def __sklearn_tags__(self) -> Any: ...

    class ClusterMixin:
        def fit_predict(self, X: Any, y: Any = None, **options: Any) -> Any: ...

        def __sklearn_tags__(self) -> Any: ...

    class ClassifierMixin:
        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float: ...

        def __sklearn_tags__(self) -> Any: ...

else:
    from sklearn.base import BaseEstimator, ClassifierMixin, ClusterMixin

__all__ = ["BaseEstimator", "ClassifierMixin", "ClusterMixin"]

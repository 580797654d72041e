"""The private names of scikit-learn that the package uses, in one place.

scikit-learn does not document parameter constraints, but every estimator of its own has them, and
they give users the messages they are used to. No other module imports private names of
scikit-learn: ``tests/utils/test_sklearn_compat.py`` checks it.
"""

from __future__ import annotations

from typing import Any

from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

__all__ = ["HasMethods", "Interval", "StrOptions", "input_columns", "validate_parameters"]


def validate_parameters(estimator: Any) -> None:
    """Check the parameters of an estimator against its ``_parameter_constraints``.

    Raises
    ------
    InvalidParameterError
        A `ValueError` that names the parameter and the values it may take.
    """
    estimator._validate_params()


def input_columns(column_transformer: Any, name: str) -> list[int]:
    """Positions of the columns that one part of a fitted ColumnTransformer takes."""
    return list(column_transformer._transformer_to_input_indices[name])

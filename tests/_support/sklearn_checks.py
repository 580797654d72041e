"""The checks of scikit-learn that public estimators fail, with reasons: the only such list.

The documentation has the same list (docs/scikit_learn.md).
"""

from __future__ import annotations

from typing import Any

WEIGHT_CHECKS = (
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
)

CALIBRATION = "the calibration split draws rows regardless of their weight"
ABSTENTION = "rows without a reliable region are not classified"
PRECOMPUTED = "the check passes data instead of distances"


def expected_failures(estimator: Any) -> dict[str, str]:
    """Names of the checks that an estimator fails by its design, with the reason.

    Parameters
    ----------
    estimator : estimator
        Any public estimator, with its parameters.
    """
    name, parameters = type(estimator).__name__, estimator.get_params(deep=False)
    failures: dict[str, str] = {}
    if name in ("EOPClassifier", "ATEOPClassifier"):
        # Constants and stumps are the same for both splits of the few rows of the checks.
        if parameters["calibration"] and parameters["base"] not in ("constant", "stump"):
            failures |= dict.fromkeys(WEIGHT_CHECKS, CALIBRATION)
        if parameters["leftover"] == "abstain":
            checks = ("check_classifiers_one_label", "check_classifiers_train")
            failures |= dict.fromkeys(checks, ABSTENTION)
    if name == "KMedoids" and parameters["metric"] == "precomputed":
        checks = ("check_estimators_nan_inf", "check_clustering")
        failures |= dict.fromkeys(checks, PRECOMPUTED)
    return failures

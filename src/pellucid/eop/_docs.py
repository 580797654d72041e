"""Docstring sections that the EOP classifiers share."""

from __future__ import annotations

from typing import TypeVar

from pellucid._utils.estimators import fill_docstring

_Classifier = TypeVar("_Classifier", bound=type)


def common_parameters(cls: _Classifier) -> _Classifier:
    """Fill ``{first}``, ``{common}``, ``{last}`` and ``{attributes}`` in a class docstring."""
    return fill_docstring(cls, _TEXTS)


_TEXTS = {
    "first": """base : {"constant", "stump", "linear_svm", "logistic", "knn"} or classifier
        Classifier that is fitted on each projection. "constant" (default of EOPClassifier) always
        predicts one class: each level is then one region with mostly rows of this class, and all
        projections and classes compete for it. "stump" (default of ATEOPClassifier) is the single
        threshold with the smallest error. "linear_svm" (squared hinge loss) and "logistic" are
        one-vs-rest linear models on standardized columns. "knn" uses 5 neighbors on standardized
        columns and leave-one-out predictions for the training rows. Any other classifier is cloned
        and fitted on the unscaled columns; its training predictions come from 3-fold
        cross-validation. Projections on which it cannot be fitted are skipped and counted.
    base_penalty : float, default=1.0
        Regularization of "linear_svm" and "logistic" (λ): the weight of the l2 penalty relative
        to the losses, 1 / C in scikit-learn. Other classifiers have their own parameters.
    regions : {"box", "nonparametric", "polyhedron", "ellipse"} or class, default="box"
        Shape of the regions. "box": one interval per column, with rounded ends. "polyhedron":
        convex hulls. "nonparametric": points whose score is at least a threshold t. The score of
        a point p is Σ w_i·[n_i is correctly classified] / Σ w_i over its m nearest training rows
        n_i, with w_i = 1 / d(p, n_i). The threshold starts at t = 1 - ε, and m = ⌈1 / ε⌉ for
        the initial ε; m stays the same (at most 50) when ε is relaxed. Own shapes: a subclass of
        :class:`~pellucid.eop.ShapeFinder` or :class:`~pellucid.eop.Finder`.""",
    "common": """max_dim : int, default=2
        Maximum number of columns in a projection.
    projections : "all" or int, default="all"
        Number of column subsets to try. An integer draws that many at random, which is suited to
        data with thousands of columns. Constant and duplicate columns are ignored.""",
    "last": """n_bootstraps : int, default=0
        Number of bootstrap samples used to make the region boundaries more robust. The median
        over the samples is used for the ends of boxes, the size of polyhedra and ellipses, and
        the threshold of nonparametric regions.
    n_jobs : int, default=None
        Number of threads. None and -1 use all processors. Results do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Controls the calibration split, the sampled projections, the seeds of regions and the
        bootstrap samples.
    verbose : int, default=0
        If not 0, print each level to standard error. Ctrl-C stops the search and keeps the levels
        found so far.""",
    "attributes": """levels_ : list of Level
        The decision list. A :class:`~pellucid.regions.levels.Level` has `features` (column
        indices), `classifier`, `regions` (with `contains`, `which` and `describe`), `error`,
        `held_out_error`, `coverage`, and the training rows that reach it and that it covers.
    n_levels_ : int
        Number of levels.
    coverage_ : float
        Fraction of the training weight that lies in regions. For nonparametric regions, a
        training row is not counted among its own neighbors.
    complexity_ : float
        Expected number of regions that a row is tested against, each multiplied by its number of
        columns. For nonparametric regions: expected number of neighbors times columns, plus 1.
    n_inequalities_ : int
        Number of inequalities that ``explain()`` prints.
    uncovered_classes_ : ndarray
        Classes that are never predicted, because no region with enough support and purity was
        found. A warning names them.
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.
    calibration_rows_ : ndarray of int
        Indices of the held-out rows.
    history_ : list of Calibration
        Regions before and after calibration, for each level and for each rejected attempt: see
        :class:`~pellucid.eop.finders.Calibration`.
    leftover_shares_ : ndarray of shape (n_classes,)
        Class frequencies among the training rows in no region (among all rows, if there are
        none).
    leftover_share_ : float
        Fraction of the training weight that is in no region.
    abstain_label_ : object
        Prediction for a row without an answer: -1 for numeric classes, "unknown" for strings (or
        another unused label, if that is a class).
    n_skipped_projections_ : int
        Number of projections, over all levels, on which the base classifier could not be fitted.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Column names, if `X` has string column names.""",
}

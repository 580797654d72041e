"""What the docstrings of the EOP classifiers have in common."""

from __future__ import annotations


def common_parameters(cls: type) -> type:
    """Fill ``{first}``, ``{common}`` and ``{attributes}`` of a docstring."""
    if cls.__doc__:
        for name, text in _TEXTS.items():
            cls.__doc__ = cls.__doc__.replace(f"{{{name}}}", text)
    return cls


_TEXTS = {
    "first": """base : {"stump", "linear_svm", "logistic", "knn"} or classifier, default="stump"
        What answers inside the regions. A stump is the single threshold of least error; linear
        support vector machines (squared hinge, C = 1) and logistic regressions (C = 1) are
        fitted one class against the rest on scaled columns; k-NN has 5 neighbours on scaled
        columns, and its training rows are judged without themselves. Any other classifier is
        cloned and fitted on the plain columns, and judged on rows that it has not seen, in three
        parts. Projections on which it cannot be fitted are passed over and counted.
    regions : {"box", "nonparametric", "polyhedron", "ellipse"}, default="box"
        Shape of the regions. Boxes are intervals with round ends. Nonparametric: places whose
        ⌈1 / max_error⌉ nearest training rows are rightly classified to at least 1 - max_error,
        counted by closeness; as many are consulted, up to 50, where more errors are allowed
        later. Polyhedra are hulls.""",
    "common": """max_dim : int, default=2
        Columns of a projection at the most.
    projections : "all" or int, default="all"
        Whether to try all subsets of columns, or so many of them drawn at random: the way for
        thousands of columns. Constant columns and copies of others are left out.""",
    "last": """n_bootstraps : int, default=0
        How many times rows are drawn anew to place the ends of boxes (and to choose the size of
        polyhedra and ellipses, and the threshold of nonparametric regions) in the middle of
        what the draws ask for.
    n_jobs : int, default=None
        Threads. None and -1 use all processors; no result depends on it.
    random_state : int, RandomState instance or None, default=None
        Draws the rows that are held out, projections, seeds of regions, and bootstraps.
    verbose : int, default=0
        Whether to report each level on standard error. Ctrl-C ends the search with the levels
        found so far.""",
    "attributes": """levels_ : list of Level
        The decision list. A :class:`~pellucid.eop.decision_list.Level` has `features` (columns),
        `classifier`, `regions` (with `contains`, `which` and `describe`), `error`,
        `held_out_error`, `coverage`, and the training rows that reach it and that it answers.
    n_levels_ : int
        Number of levels.
    coverage_ : float
        Share of the weight of the training rows that lie in regions. Rows that were learned from
        are judged without themselves where regions are nonparametric.
    complexity_ : float
        Expected effort of an answer: regions that a training row is tested against, each as
        often as it has columns; of nonparametric regions the neighbours, and one more.
    classes_ : ndarray of shape (n_classes,)
        Classes in sorted order.
    calibration_rows_ : ndarray of int
        Rows that were held out.
    history_ : list of Calibration
        What the held-out rows made of the regions, level by level, and of those that failed:
        see :class:`~pellucid.eop.shapes.regions.Calibration`.
    leftover_shares_ : ndarray of shape (n_classes,)
        Shares of the classes among the training rows in no region (of all, if there are none).
    leftover_share_ : float
        Share of the training rows in no region.
    abstain_label_ : object
        What stands in place of a class where there is no answer: -1, or "unknown" (or another
        label, if that is a class).
    n_skipped_projections_ : int
        Projections, summed over the levels, on which the base classifier could not be fitted.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if `X` had names that are strings.""",
}

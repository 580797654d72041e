"""`explain_pipeline`: a pipeline that ends in a tree or clusters, by the columns of its data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from pellucid.cluster._explainable_kmeans import ExplainableKMeans
from pellucid.explanation.explanation import Explanation
from pellucid.explanation.restate import UntraceableColumn, restate_model, trace_steps, transformed


def explain_pipeline(pipeline: Any, X: Any = None, *, tree: Any = None) -> Explanation:
    """Explain a pipeline that ends in a tree or a clustering in terms of its input columns.

    The tree of ``make_pipeline(StandardScaler(), IMM(5))`` compares a scaled value with 0.37. The
    explanation compares the column itself, in its own units, with the corresponding threshold, and
    names the categories of one-hot columns. It predicts, prints, draws and exports like any other.

    Behind PCA, or another step that mixes columns, no threshold of a column corresponds to one of
    the tree. Then, and for a clustering such as ``make_pipeline(StandardScaler(), PCA(5),
    KMeans(8))``, a tree is fitted to the clusters of the pipeline: its thresholds are those of the
    columns before that step, and its costs those of the rows that were clustered.

    Parameters
    ----------
    pipeline : fitted sklearn.pipeline.Pipeline
        Its last step is an estimator of this package, or a clustering. The other steps transform
        columns one by one: scalers, OneHotEncoder, SimpleImputer, feature selectors,
        FunctionTransformer of a logarithm or root, and ColumnTransformer, FeatureUnion and Pipeline
        of these. From the first other step on, they make the space of the costs.
    X : data frame or array-like, optional
        The training data. With X, thresholds are chosen between the values on both sides, in the
        estimator's `threshold_style`, such that every row of `X` has the same cluster as in the
        tree. Without X, thresholds are the exact images of the scaled ones: every row of float64
        numbers has the same cluster as in the pipeline, and thresholds have many digits. A tree can
        be fitted with X only.
    tree : ExplainableKMeans, optional
        The estimator if a tree is fitted; it is cloned. Default: ``ExplainableKMeans(n_leaves=n,
        random_state=0)`` with as many leaves as the pipeline has, or one per cluster.

    Returns
    -------
    Explanation
        The tree in the columns of the input table.

    Raises
    ------
    ValueError
        If the tree uses a column that is computed from several columns, and X is not given.

    See Also
    --------
    explain : The same for a table or a file, clustering included.
    Explanation : What is returned.

    Notes
    -----
    Missing values that SimpleImputer replaces are replaced here too (`fill_`). A category that
    OneHotEncoder would reject is treated as none of the known ones. The purity of a rule of a tree
    that was fitted is the share of its rows that are in that cluster of the pipeline.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from pellucid import ExShallow, explain_pipeline
    >>> X = load_wine(as_frame=True).data
    >>> pipeline = make_pipeline(StandardScaler(), ExShallow(3, random_state=0)).fit(X)
    >>> for rule in pipeline[-1].explain():
    ...     print(rule.cluster, rule.text)
    0 x11 > -0.68 and x12 ≤ -0.06
    1 x11 ≤ -0.68
    2 x11 > -0.68 and x12 > -0.06
    >>> for rule in explain_pipeline(pipeline, X).explain():
    ...     print(rule.cluster, rule.text)
    0 od280/od315_of_diluted_wines > 2.13 and proline ≤ 730
    1 od280/od315_of_diluted_wines ≤ 2.13
    2 od280/od315_of_diluted_wines > 2.13 and proline > 730

    Clusters of the first principal components:

    >>> from sklearn.cluster import KMeans
    >>> from sklearn.decomposition import PCA
    >>> clusters = KMeans(3, n_init=10, random_state=0)
    >>> pipeline = make_pipeline(StandardScaler(), PCA(5), clusters).fit(X)
    >>> print(explain_pipeline(pipeline, X).explain()[1].text)
    od280/od315_of_diluted_wines ≤ 2.13
    """
    steps, model = _steps(pipeline)
    if hasattr(model, "threshold_style"):
        try:
            return restate_model(model, steps, X)
        except UntraceableColumn:
            if X is None:
                raise
    elif X is None:
        raise ValueError(
            f"{type(model).__name__} has no threshold tree; pass the data, so that one can be "
            "fitted to its clusters: explain_pipeline(pipeline, X)"
        )
    return _explain_in_space(steps, model, _clusters(pipeline, model, X), X, tree)


def _steps(pipeline: Any) -> tuple[list[Any], Any]:
    """The fitted transformers, without nested pipelines, and the last step."""
    from sklearn.pipeline import Pipeline

    if not isinstance(pipeline, Pipeline):
        raise TypeError(
            f"explain_pipeline takes a fitted Pipeline, not {type(pipeline).__name__}; "
            "for an estimator, call its explain()"
        )

    def flat(steps: list[Any]) -> Iterator[Any]:
        for step in steps:
            if isinstance(step, Pipeline):
                yield from flat([part for _, part in step.steps])
            elif step not in (None, "passthrough"):
                yield step

    model = pipeline.steps[-1][1]
    if not (hasattr(model, "threshold_style") or hasattr(model, "fit_predict")):
        raise TypeError(
            f"the last step of the pipeline is {type(model).__name__}, which has no threshold "
            "tree and no clusters; it must be an estimator of pellucid, such as ExShallow, or a "
            "clustering"
        )
    check_is_fitted(model)
    return list(flat([step for _, step in pipeline.steps[:-1]])), model


def _clusters(pipeline: Any, model: Any, X: Any) -> np.ndarray:
    if hasattr(pipeline, "predict"):
        return np.asarray(pipeline.predict(X))
    labels = np.asarray(model.labels_)
    if len(labels) != len(X):
        raise ValueError(
            f"X has {len(X)} rows, but {type(model).__name__} has labels of {len(labels)} and "
            "cannot predict others; pass the rows of fit"
        )
    return labels


def _explain_in_space(
    steps: list[Any], model: Any, clusters: np.ndarray, X: Any, tree: Any
) -> Explanation:
    """A tree on the columns before the first step that mixes columns, for costs after the last."""
    first = (steps or [model])[0]
    if not hasattr(first, "n_features_in_"):
        raise ValueError(
            f"{type(first).__name__} does not start from the columns of a table; fit a tree on "
            "columns that can be read, such as counts of words: "
            "ExplainableKMeans().fit(columns, clusters, space=pipeline[:-1].transform(X))"
        )
    widths = [int(step.n_features_in_) for step in (*steps, model)]
    n_kept = next(
        n
        for n in range(len(steps), -1, -1)
        if not any(source.problem for source in trace_steps(steps[:n], widths[0], widths[n]))
    )
    rows = transformed(steps[:n_kept], X)
    if tree is None:
        n_leaves = max(getattr(model, "n_leaves_", 1), len(np.unique(clusters)))
        tree = ExplainableKMeans(n_leaves=n_leaves, random_state=0)
        tree.set_params(threshold_style=getattr(model, "threshold_style", "round"))
    elif not isinstance(tree, ExplainableKMeans):
        raise TypeError(f"tree must be an ExplainableKMeans, not {type(tree).__name__}")
    fitted = clone(tree).fit(rows, clusters, space=transformed(steps[n_kept:], rows))
    return restate_model(fitted, steps[:n_kept], X)

"""Pipelines that end in a tree, explained in the units and categories of the data."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from pellucid.explanation.column_provenance import ColumnSource, trace_steps, untraceable_message
from pellucid.explanation.explanation import Explanation
from pellucid.explanation.input_columns import as_numbers, fill_missing
from pellucid.explanation.restate import TreeRestatement
from pellucid.explanation.rules import default_names
from pellucid.tables.columns import Columns
from pellucid.tables.validation import read_X


def explain_pipeline(pipeline: Any, X: Any = None) -> Explanation:
    """Explain a pipeline that ends in a tree in terms of its input columns.

    The tree of ``make_pipeline(StandardScaler(), IMM(5))`` compares a scaled value with 0.37. The
    explanation compares the column itself, in its own units, with the corresponding threshold, and
    names the categories of one-hot columns. It predicts, prints, draws and exports like any other.

    Parameters
    ----------
    pipeline : fitted sklearn.pipeline.Pipeline
        Its last step is an estimator of this package. The other steps transform columns one by
        one: scalers, OneHotEncoder, SimpleImputer, feature selectors, FunctionTransformer of a
        logarithm or root, and ColumnTransformer, FeatureUnion and Pipeline of these.
    X : data frame or array-like, optional
        The training data. With X, thresholds are chosen between the values on both sides, in the
        estimator's `threshold_style`, such that every row of `X` has the same cluster as in the
        pipeline. Without X, thresholds are the exact images of the scaled ones: every row of
        float64 numbers has the same cluster as in the pipeline, and thresholds have many digits.

    Returns
    -------
    Explanation
        The tree in the columns of the input table.

    Raises
    ------
    ValueError
        If the tree uses a column that is computed from several columns, as by PCA.

    Notes
    -----
    Missing values that SimpleImputer replaces are replaced here too (`fill_`). A category that
    OneHotEncoder would reject is treated as none of the known ones.

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
    """
    model = _last_step(pipeline)
    steps = [step for _, step in pipeline.steps if step not in (None, "passthrough")]
    n_columns = int(steps[0].n_features_in_)
    names = getattr(steps[0], "feature_names_in_", default_names(n_columns))
    names = [str(name) for name in names]
    sources = trace_steps(
        steps[:-1], [ColumnSource(i) for i in range(n_columns)], model.n_features_in_
    )
    used = [sources[i] for i in np.unique(model.tree_.feature[~model.tree_.is_leaf])]
    for source in used:
        if source.problem:
            raise ValueError(untraceable_message(source))
    fill = _fills(used, names)
    described = list(dict.fromkeys(s.name(names) for s in sources if not s.problem))
    restatement = TreeRestatement(model.tree_, sources)
    if X is not None:
        Z = pipeline[:-1].transform(X) if steps[:-1] else X
        restatement.find_gaps(read_X(model, Z, reset=False), _values(X, names, fill))
    tree, old_leaf = restatement.build(names, described, model.threshold_style)
    purity = {rule.leaf: rule.purity for rule in model._leaf_rules}
    explanation = Explanation(
        tree,
        names=described,
        clusters=model.cluster_names_.tolist(),
        purity={new: purity[old] for new, old in old_leaf.items() if old in purity},
        columns=names,
        fill=fill,
        method=type(model).__name__,
    )
    if X is not None and not np.array_equal(explanation.predict(X), pipeline.predict(X)):
        raise ValueError(
            "the transformers do not preserve the order of the values in X, so no thresholds on "
            "its columns give the same clusters; unless a transformer is your own, please report "
            "this as a bug of pellucid"
        )
    return explanation


def _last_step(pipeline: Any) -> Any:
    from sklearn.pipeline import Pipeline
    from sklearn.utils.validation import check_is_fitted

    if not isinstance(pipeline, Pipeline):
        raise TypeError(
            f"explain_pipeline takes a fitted Pipeline, not {type(pipeline).__name__}; "
            "for an estimator, call its explain()"
        )
    model = pipeline.steps[-1][1]
    if not hasattr(model, "threshold_style"):
        raise TypeError(
            f"the last step of the pipeline is {type(model).__name__}, which has no threshold "
            "tree; it must be an estimator of pellucid, such as ExShallow"
        )
    check_is_fitted(model)
    return model


def _values(X: Any, names: list[str], fill: dict[str, Any]) -> list[np.ndarray]:
    """The columns of the data, missing values replaced."""
    X = X.toarray() if sparse.issparse(X) else X
    return [
        fill_missing(as_numbers(column), fill[name]) if name in fill else as_numbers(column)
        for name, column in zip(names, Columns.of(X).like(names).values)
    ]


def _fills(sources: list[ColumnSource], names: list[str]) -> dict[str, Any]:
    """Replacement of missing values, by column."""
    fill: dict[str, Any] = {}
    for source in sources:
        name = names[source.column]
        if fill.setdefault(name, source.fill) != source.fill:
            raise ValueError(
                f"missing values of column {name!r} are replaced by {fill[name]!r} in one place "
                f"and by {source.fill!r} in another; replace them once, in the first step"
            )
    return {name: value for name, value in fill.items() if value is not None}

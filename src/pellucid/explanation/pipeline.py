"""A tree behind scalers and encoders, told in the units and categories of the data."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from pellucid.explanation.column_provenance import Source, trace_steps, why_not
from pellucid.explanation.explanation import Explanation
from pellucid.explanation.input_columns import as_numbers, fill_missing
from pellucid.explanation.restate import Cuts
from pellucid.explanation.rules import default_names
from pellucid.tables.columns import Columns
from pellucid.tables.validation import read_X


def explain_pipeline(pipeline: Any, X: Any = None) -> Explanation:
    """Explain a pipeline that ends in a tree by the columns that go into it.

    The tree of ``make_pipeline(StandardScaler(), IMM(5))`` asks whether a scaled value is below
    0.37. The explanation asks the same of the column itself, in its own units, and of one-hot
    columns which category they stand for; it predicts, prints, draws and exports like any other.

    Parameters
    ----------
    pipeline : fitted sklearn.pipeline.Pipeline
        Its last step is an estimator of this package. The steps before it keep columns apart:
        scalers, OneHotEncoder, SimpleImputer, feature selectors, FunctionTransformer of a
        logarithm or root, and ColumnTransformer, FeatureUnion and Pipeline of these.
    X : data frame or array-like, optional
        The training data. With them, thresholds are chosen between the values on both sides, in
        the estimator's `threshold_style`, so that every row of `X` has the cluster that the
        pipeline gives it. Without them they are the exact images of the scaled thresholds: every
        row of float64 numbers has the same cluster, and thresholds have many digits.

    Returns
    -------
    Explanation

    Raises
    ------
    ValueError
        If the tree asks about a column that is made of several, as by PCA.

    Notes
    -----
    Where missing values were filled in by SimpleImputer, the explanation does the same
    (`fill_`). A category that OneHotEncoder would refuse is none of those known.

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
    sources = trace_steps(steps[:-1], [Source(i) for i in range(n_columns)], model.n_features_in_)
    asked = [sources[i] for i in np.unique(model.tree_.feature[~model.tree_.is_leaf])]
    for source in asked:
        if source.problem:
            raise ValueError(why_not(source))
    fill = _fills(asked, names)
    described = list(dict.fromkeys(s.name(names) for s in sources if not s.problem))
    cuts = Cuts(model.tree_, sources)
    if X is not None:
        Z = pipeline[:-1].transform(X) if steps[:-1] else X
        cuts.look_at(read_X(model, Z, reset=False), _values(X, names, fill))
    tree, old_leaf = cuts.rebuild(names, described, model.threshold_style)
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
            "the transformers do not keep the order of the values in X, so no thresholds on its "
            "columns give the same clusters; this is a fault in pellucid unless one of them is "
            "of your own making"
        )
    return explanation


def _last_step(pipeline: Any) -> Any:
    from sklearn.pipeline import Pipeline
    from sklearn.utils.validation import check_is_fitted

    if not isinstance(pipeline, Pipeline):
        raise TypeError(
            f"explain_pipeline takes a fitted Pipeline, not {type(pipeline).__name__}; "
            "call explain() of an estimator itself"
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
    """The columns of the data, filled in."""
    X = X.toarray() if sparse.issparse(X) else X
    return [
        fill_missing(as_numbers(column), fill[name]) if name in fill else as_numbers(column)
        for name, column in zip(names, Columns.of(X).like(names).values)
    ]


def _fills(sources: list[Source], names: list[str]) -> dict[str, Any]:
    """What missing values count as, by column."""
    fill: dict[str, Any] = {}
    for source in sources:
        name = names[source.column]
        if fill.setdefault(name, source.fill) != source.fill:
            raise ValueError(
                f"missing values of column {name!r} count as {fill[name]!r} in one place and as "
                f"{source.fill!r} in another; fill them in once, before all else"
            )
    return {name: value for name, value in fill.items() if value is not None}

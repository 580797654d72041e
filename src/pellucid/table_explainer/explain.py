"""`pellucid.explain`: the rows of a table or of a scan, in memory or in batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import fields, replace
from typing import Any, Literal

from pellucid._utils.estimators import Effort, Objective
from pellucid._utils.notices import notices_to
from pellucid.scale.scan import BatchScan
from pellucid.table_explainer.arguments import ExplainOptions
from pellucid.table_explainer.explainer import (
    TableExplanation,
    as_source,
    explain_source,
    print_notice,
)
from pellucid.table_explainer.streaming import explain_scan


def explain(
    table: Any,
    *,
    k: int | str | tuple[int, int] = "auto",
    labels: str | None = None,
    noise: Literal["background", "cluster"] = "background",
    columns: str | Sequence[str] | None = None,
    include: str | Sequence[str] | None = None,
    exclude: str | Sequence[str] | None = None,
    categorical: str | Sequence[str] | None = None,
    profile: str | Sequence[str] | None = None,
    scale: Literal["auto", "standard", "robust", "log", "rank", "none"] = "auto",
    missing: Literal["auto", "drop", "median", "error"] = "auto",
    outliers: Literal["auto", "keep"] = "auto",
    cleaning: Literal["auto", "keep"] = "auto",
    names: Mapping[Any, str] | str | None = None,
    method: str | None = None,
    leaves: int | None = None,
    objective: Objective = "kmeans",
    polish: Literal["no", "yes", "deep"] = "no",
    depth_penalty: float | None = None,
    max_depth: int | None = None,
    max_conditions: int | None = None,
    faithfulness: float | None = None,
    effort: Effort | None = None,
    random_state: int = 0,
    verbose: bool = True,
) -> TableExplanation:
    """Cluster the rows of a table and explain each cluster by a rule.

    Takes every decision that a table needs: which columns to use and how, what to do with missing
    values, scales, outliers, the number of clusters, and the tree. Every decision is printed with
    the parameter that changes it. The command ``pellucid explain`` does the same.

    Parameters
    ----------
    table : data frame, array-like, path or BatchScan
        A pandas, polars or pyarrow data frame, a two-dimensional array, the path of a file, or what
        `pellucid.scan` returns. Rows that do not fit into the memory of a scan are read in
        batches, of which only columns of numbers are used.
    k : int, "auto" or range, default="auto"
        Number of clusters. ``"auto"`` chooses one from 2 to 10, ``(3, 8)`` or ``"3-8"`` one of
        this range.
    labels : str, optional
        Column that contains the clusters to explain, instead of clustering.
    noise : {"background", "cluster"}, default="background"
        Whether rows with the label -1 are left out, and counted in each rule, or explained as a
        cluster of their own.
    columns : str or sequence of str, optional
        Columns to use. Patterns such as ``"dep_*"`` are possible, here and below.
    include : str or sequence of str, optional
        Columns to cluster on although they would be ignored or only described, as dates, codes,
        results and copies of other columns are.
    exclude : str or sequence of str, optional
        Columns to ignore.
    categorical : str or sequence of str, optional
        Columns to treat as categories.
    profile : str or sequence of str, optional
        Columns that are kept out of the clustering but described in the result.
    scale : {"auto", "standard", "robust", "log", "rank", "none"}, default="auto"
        Scale of numeric columns before clustering. ``"auto"`` standardizes them, skewed
        non-negative ones on a logarithmic scale.
    missing : {"auto", "drop", "median", "error"}, default="auto"
        What to do with rows with a missing number. ``"auto"`` drops them if they are at most
        10% of the rows, or if all columns of numbers have many gaps; otherwise it ignores columns
        with many gaps or fills in the median.
    outliers : {"auto", "keep"}, default="auto"
        Whether rows that are far from all others, and totals, are set apart before clustering.
    cleaning : {"auto", "keep"}, default="auto"
        Whether numbers such as -999 that are far from all others and frequent are missing, and
        spellings of a category that differ by case or blanks are merged.
    names : dict or "suggested", optional
        Names of clusters; see :meth:`TableExplanation.rename`.
    method : str, optional
        Method that builds the tree, such as ``"explainable"``, ``"imm"`` or ``"exkmc"``.
        Default: ``"explainable"``, which finds a tree of low cost that keeps the clusters, or for
        given labels the one that agrees best with them.
    leaves : int, optional
        Number of leaves. Default: that of the clusters, or a few more if less than 90% of the rows
        get their cluster otherwise and no other parameter of the tree is given.
    objective, polish, depth_penalty, max_depth, max_conditions : optional
        Further parameters of the method.
    faithfulness, effort : optional
        Further parameters of ``"explainable"``.
    random_state : int, default=0
        Random seed of k-means. The scores of the numbers of clusters do not depend on it.
    verbose : bool, default=True
        Whether to print the decisions and warnings on standard error.

    Returns
    -------
    TableExplanation
        The rules, the decisions and the warnings.

    See Also
    --------
    ExplainableKMeans : The estimator, for numbers that are ready.
    explain_clusters : Regions of given clusters.
    stability : Whether the tree returns on other rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import pellucid
    >>> flowers = load_iris(as_frame=True).data
    >>> found = pellucid.explain(flowers, k=3, verbose=False)
    >>> found.predict(flowers.iloc[[0, 60, 140]]).tolist() == found.labels[[0, 60, 140]].tolist()
    True
    """
    given = locals()
    values = {each.name: given[each.name] for each in fields(ExplainOptions) if each.name in given}
    options = ExplainOptions(**values, seed=random_state)
    decisions: list[str] = []
    with notices_to(decisions.append), notices_to(print_notice) if verbose else nullcontext():
        if isinstance(table, BatchScan):
            found = explain_scan(table, options)
        else:
            found = explain_source(as_source(table), options)
    found = replace(found, decisions=decisions)
    if verbose:
        for text in found.warnings:
            print_notice(f"warning: {text}")
    return found if names is None else found.rename(names)

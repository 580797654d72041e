"""Warnings about an explanation that should not be trusted without a second look."""

from __future__ import annotations

from pellucid._utils.notices import option
from pellucid._utils.texts import Message
from pellucid.table_explainer import tuning
from pellucid.table_explainer.fitting import FittedTable


def find_problems(fitted: FittedTable) -> list[str]:
    """One sentence per problem, with the option that may help."""
    return [
        *_agreement(fitted),
        *_impure_rules(fitted),
        *_clusters_without_rule(fitted),
        *_small_clusters(fitted),
        *_separation(fitted),
        *_dropped_rows(fitted),
    ]


def _agreement(fitted: FittedTable) -> list[str]:
    agreement = fitted.measures()["agreement"]
    if agreement >= tuning.LOW_AGREEMENT:
        return []
    return [
        Message(
            "lowAgreementOfColumns" if fitted.prepared.labels is None else "lowAgreement",
            share=agreement,
            reference=fitted.clustering.name,
            leaves=option("leaves", 2 * fitted.n_clusters),
            option=option("columns"),
        )
    ]


def _impure_rules(fitted: FittedTable) -> list[str]:
    return [
        Message(
            "impureRule",
            cluster=str(rule.cluster),
            share=rule.purity,
            leaves=option("leaves", 2 * fitted.n_clusters),
        )
        for rule in fitted.explanation.rules_
        if rule.purity < tuning.LOW_PURITY
    ]


def _clusters_without_rule(fitted: FittedTable) -> list[str]:
    found: list[str] = []
    sizes = fitted.reference_sizes()
    for rule in fitted.explanation.rules_:
        if not rule.rules:
            found.append(
                Message(
                    "noRuleForRows" if rule.cluster in sizes else "noRule",
                    cluster=str(rule.cluster),
                    rows=sizes.get(rule.cluster),
                    leaves=option("leaves", 2 * fitted.n_clusters),
                )
            )
    return found


def _small_clusters(fitted: FittedTable) -> list[str]:
    return [
        Message(
            "smallCluster",
            cluster=str(rule.cluster),
            rows=rule.n_samples,
            share=rule.share,
            option=option("k"),
        )
        for rule in fitted.small_rules()
    ]


def _separation(fitted: FittedTable) -> list[str]:
    score = fitted.clustering.silhouette
    is_few = fitted.n_rows < tuning.FEW_ROWS
    if fitted.prepared.labels is not None or is_few or not score < tuning.WEAK:
        return []
    return [Message("overlap", score=score, weak=tuning.WEAK, option=option("columns"))]


def _dropped_rows(fitted: FittedTable) -> list[str]:
    n_rows = fitted.n_table_rows
    if fitted.n_incomplete <= tuning.MANY_DROPPED * n_rows:
        return []
    shown = option("missing", "median")
    return [Message("manyDropped", n=fitted.n_incomplete, rows=n_rows, option=shown)]

"""How well trees explain each number of clusters of a range."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from sklearn.cluster import KMeans

from pellucid._utils.notices import impure_rules_allowed
from pellucid._utils.progress import Progress
from pellucid.cluster import ExplainableKMeans
from pellucid.table_explainer.number_of_clusters import ChosenNumber, NumberScore, sample_rows

_SEED = 0


def with_agreement(number: ChosenNumber, Z: np.ndarray) -> ChosenNumber:
    """The scores of a range with the agreement of a tree with each clustering.

    The trees are fitted on the sample of the rows on which the numbers were compared, with
    ``effort="fast"``. The tree of the chosen number that is shown may agree slightly better.

    Parameters
    ----------
    number : ChosenNumber
    Z : ndarray of shape (n_rows, n_features)
        The clustered data.
    """
    Z = Z[sample_rows(len(Z))]
    progress = Progress("trees", len(number.scores), verbose=0)
    scores = []
    for score in number.scores:
        scores.append(replace(score, agreement=_agreement(score, Z)))
        progress.step()
    return replace(number, scores=tuple(scores))


def _agreement(score: NumberScore, Z: np.ndarray) -> float:
    kmeans = KMeans(score.k, n_init=10, random_state=_SEED).fit(Z)
    with impure_rules_allowed():
        model = ExplainableKMeans(reference=kmeans, effort="fast", random_state=_SEED).fit(Z)
    return float(np.mean(model.labels_ == model.reference_labels_))

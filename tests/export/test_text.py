"""The tree as text."""

import numpy as np
import pytest
from sklearn.datasets import load_wine

from pellucid import IMM, export_text
from pellucid.tree import TreeBuilder


def test_text_of_a_tree():
    builder = TreeBuilder(2)
    left, right = builder.split(0, feature=1, threshold=0.5)
    low, high = builder.split(right, feature=0, threshold=1200.0)
    for node, cluster, count in ((left, 2, 5), (low, 0, 3000), (high, 1, 2)):
        builder.set_cluster(node, cluster)
        builder.set_counts(node, count, float(count))
    assert export_text(builder.build(), feature_names=["age", "income"]) == (
        "|--- income <= 0.5\n"
        "|   |--- cluster 2 (5 rows)\n"
        "|--- income >  0.5\n"
        "|   |--- age <= 1200\n"
        "|   |   |--- cluster 0 (3,000 rows)\n"
        "|   |--- age >  1200\n"
        "|   |   |--- cluster 1 (2 rows)"
    )
    with pytest.raises(ValueError, match="1 feature names for a tree of 2 columns"):
        export_text(builder.build(), feature_names=["age"])
    assert export_text(TreeBuilder(1).build()) == "cluster 0 (0 rows)"


def test_text_of_a_model_uses_its_names():
    wine = load_wine()
    labels = np.array(["dry", "light", "rich"])[wine.target]
    text = export_text(IMM().fit(wine.data, labels))
    assert "cluster dry (" in text
    assert "x12 <= " in text

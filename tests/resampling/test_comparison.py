"""`compare_explanations`: measures of each kind of explanation are those of its predictions."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from sklearn.neighbors import KNeighborsClassifier

from pellucid import RuleSet, SpEx, compare_explanations
from pellucid.eop import EOPClassifier

MODELS = {
    "tree": SpEx(noise="group"),
    "regions": EOPClassifier(max_error=0.05, leftover="abstain", calibration=0),
    "rules": RuleSet(),
}


def test_measures_are_those_of_the_predictions():
    X, y = load_wine(return_X_y=True)
    labels = np.where(np.arange(len(y)) % 5 == 0, -1, y)
    found = {each.name: each for each in compare_explanations(X, labels, MODELS)}
    assert list(found) == list(MODELS)
    known = labels >= 0
    for name, model in MODELS.items():
        if hasattr(model, "noise"):
            fitted = model.set_params(noise="background").fit(X, labels)
        else:
            fitted = model.fit(X[known], labels[known])
        predicted = np.array([-1 if p is None else p for p in fitted.predict(X)])
        right = (predicted == labels) & known
        assert found[name].coverage == right.sum() / known.sum()
        assert found[name].precision == right.sum() / (predicted >= 0).sum()
        assert 0 < found[name].held_out_coverage < 1
        assert 0 < found[name].held_out_precision <= 1
        assert found[name].seconds > 0
    rules = RuleSet().fit(X, labels)
    assert found["rules"].n_rules == len(rules.rules_)
    assert found["rules"].conditions == np.mean([rule.size for rule in rules.rules_])
    assert found["tree"].n_rules == 3
    assert found["rules"].precision > found["tree"].precision  # noise stays unexplained


def test_table_and_plot():
    X, y = load_wine(return_X_y=True)
    found = compare_explanations(X, np.array(["a", "b", None], dtype=object)[y], MODELS)
    frame = found.to_frame(kind="pandas")
    assert frame["name"].tolist() == list(MODELS)
    assert frame["clusters"].tolist() == [2, 2, 2]
    assert str(found).splitlines()[0].split()[:2] == ["coverage", "precision"]
    assert "<th>coverage</th>" in found._repr_html_()
    axes = found.plot()
    assert [text.get_text().split(":")[0] for text in axes.get_legend().get_texts()] == list(MODELS)


def test_categories_and_wrong_input():
    generator = np.random.default_rng(0)
    table = pd.DataFrame(
        {"city": generator.choice(["Bonn", "Kiel"], 200), "age": generator.integers(0, 9, 200)}
    )
    y = (table.city == "Kiel").to_numpy().astype(int)
    for each in compare_explanations(table, y):
        assert each.coverage == each.held_out_precision == 1
    with pytest.raises(ValueError, match="held_out=1.5 must be between 0 and 1"):
        compare_explanations(table, y, held_out=1.5)
    with pytest.raises(ValueError, match="every label is noise"):
        compare_explanations(table, np.full(200, -1))
    with pytest.raises(TypeError, match="KNeighborsClassifier has no rules"):
        compare_explanations(table, y, {"knn": KNeighborsClassifier()})

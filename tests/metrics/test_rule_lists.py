"""Measures of a list of rules against their definitions, row by row."""

from math import inf, isinf, log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

from _support.extended import examples
from pellucid import IMM
from pellucid.metrics import cart_complexity, eop_complexity, level_measures


def plain_measures(level, correct):
    """The formulas of the paper for each level, from counts of rows, and their sum by support."""
    n = len(level)
    found = []
    for i in range(len(correct[0])):
        a = [at == i for at in level]
        b = [row[i] for row in correct]
        n_a, n_b = sum(a), sum(b)
        n_ab = sum(x and y for x, y in zip(a, b))
        if n_a:
            found.append((n_a / n, *plain_rule(n, n_a, n_b, n_ab)))
    return tuple(sum(row[0] * row[1 + m] for row in found) for m in range(4))


def plain_rule(n, n_a, n_b, n_ab):
    if n_b in (0, n):
        factor = 1.0
    elif n_a == n_ab:
        factor = inf
    else:
        factor = (n_ab / n_b) / ((n_a - n_ab) / (n - n_b))
    lift = (n_ab / n_a) / (n_b / n) if n_b else 1.0
    j = 0.0
    for part, whole in ((n_ab, n_b), (n_a - n_ab, n - n_b)):
        if part:
            j += n_a / n * part / n_a * log2((part / n_a) / (whole / n))
    mutual = 0.0
    for part, x, y in (
        (n_ab, n_a, n_b),
        (n_a - n_ab, n_a, n - n_b),
        (n_b - n_ab, n - n_a, n_b),
        (n - n_a - n_b + n_ab, n - n_a, n - n_b),
    ):
        if part:
            mutual += part / n * log2(part * n / (x * y))
    entropy = -sum(x / n * log2(x / n) for x in (n_a, n - n_a) if x)
    return factor, lift, j, mutual / entropy if entropy else 0.0


@st.composite
def lists_of_rules(draw):
    n, n_levels = draw(st.integers(1, 12)), draw(st.integers(1, 4))
    level = draw(st.lists(st.integers(-1, n_levels - 1), min_size=n, max_size=n))
    rows = st.lists(st.booleans(), min_size=n_levels, max_size=n_levels)
    return level, draw(st.lists(rows, min_size=n, max_size=n))


@settings(max_examples=examples(300), deadline=None)
@given(lists_of_rules())
def test_the_measures_are_their_formulas(rules):
    level, correct = rules
    measures = level_measures(level, correct)
    combined = tuple(measures.combined().values())
    assert combined == pytest.approx(plain_measures(level, correct), abs=1e-12)
    assert measures.support == pytest.approx(
        [level.count(i) / len(level) for i in range(len(correct[0]))]
    )
    assert (measures.nmi <= 1 + 1e-12).all()


@settings(max_examples=examples(100), deadline=None)
@given(lists_of_rules(), st.data())
def test_a_whole_weight_is_a_repeated_row(rules, data):
    level, correct = rules
    n = len(level)
    weight = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n).filter(any))
    weighted = level_measures(level, correct, sample_weight=weight).combined()
    repeated = level_measures(np.repeat(level, weight), np.repeat(correct, weight, axis=0))
    assert weighted == pytest.approx(repeated.combined(), abs=1e-12)


def test_the_leaves_of_a_tree_are_rules_too():
    X, y = load_iris(return_X_y=True)
    tree = DecisionTreeClassifier(max_leaf_nodes=3, random_state=0).fit(X, y)
    leaves, level = np.unique(tree.apply(X), return_inverse=True)
    label = tree.classes_[tree.tree_.value[leaves, 0].argmax(axis=1)]
    measures = level_measures(level, y[:, None] == label)
    assert measures.support.sum() == 1
    setosa = label.tolist().index(0)
    assert isinf(measures.bayes_factor[setosa])
    assert measures.lift[setosa] == pytest.approx(3)
    assert measures.nmi[setosa] == pytest.approx(1)
    assert isinf(measures.combined()["bayes_factor"])


def plain_complexity(level, n_tests, region, dims):
    total = 0
    for row, at in enumerate(level):
        for i, (tests, dim) in enumerate(zip(n_tests, dims)):
            if i == at:
                total += dim * (tests if region is None else region[row] + 1)
                break
            total += dim * tests
    return total / len(level)


@settings(max_examples=examples(100), deadline=None)
@given(st.data(), st.booleans())
def test_complexity_counts_the_tests_that_are_made(data, stops_at_the_region):
    n_tests = data.draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    dims = data.draw(st.lists(st.integers(1, 3), min_size=len(n_tests), max_size=len(n_tests)))
    level = data.draw(st.lists(st.integers(-1, len(n_tests) - 1), min_size=1, max_size=10))
    region = None
    if stops_at_the_region:
        region = [data.draw(st.integers(0, n_tests[at] - 1)) if at >= 0 else -1 for at in level]
    found = eop_complexity(level, n_tests, region=region, dims=dims, classification=1)
    assert found == pytest.approx(plain_complexity(level, n_tests, region, dims) + 1)


def test_complexity_with_weights_is_that_of_repeated_rows():
    weighted = eop_complexity([0, 1, -1], [2, 3], sample_weight=[1, 0, 2])
    assert weighted == eop_complexity([0, -1, -1], [2, 3]) == (2 + 5 + 5) / 3


def test_a_tree_is_as_complex_as_it_has_nodes():
    X, y = load_iris(return_X_y=True)
    tree = DecisionTreeClassifier(max_leaf_nodes=4, random_state=0).fit(X, y)
    assert cart_complexity(tree) == cart_complexity(tree.tree_) == 7
    assert cart_complexity(IMM(3, random_state=0).fit(X)) == 5
    with pytest.raises(TypeError, match="list has no tree_ and no node_count"):
        cart_complexity([1])


def test_errors_say_what_is_wrong():
    right = [[True, False], [True, True]]
    with pytest.raises(ValueError, match=r"level must lie between -1 \(none\) and 1"):
        level_measures([0, 2], right)
    with pytest.raises(ValueError, match="level has 1 rows, but correct has 2"):
        level_measures([0], right)
    with pytest.raises(ValueError, match="level has shape .* and type float64"):
        level_measures([0.0, 1.0], right)
    with pytest.raises(ValueError, match="array of booleans"):
        level_measures([0, 1], [[1, 0], [1, 1]])
    with pytest.raises(ValueError, match="at least one row"):
        eop_complexity([], [1])
    with pytest.raises(ValueError, match="both need one number per level"):
        eop_complexity([0], [1, 2], dims=[1])
    with pytest.raises(ValueError, match="between 0 and n_tests - 1"):
        eop_complexity([0, 1], [1, 2], region=[0, 2])
    with pytest.raises(ValueError, match="region has shape"):
        eop_complexity([0, 1], [1, 2], region=[0])

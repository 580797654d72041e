"""What notebooks show of rules and of explanations of rows."""

import re

from sklearn.datasets import load_iris

from pellucid import IMM, EOPClassifier

X, Y = load_iris(return_X_y=True, as_frame=True)


def test_rules_of_clusters_are_the_table_of_the_estimator():
    model = IMM(3, random_state=0).fit(X)
    shown = model.explain()._repr_html_()
    assert shown.count("<tr>") == 4
    assert all(
        rule.alternatives[0].text.replace(">", "&gt;").replace("<", "&lt;") in shown
        for rule in model.rules_
    )
    table = model.to_html()
    start, end = table.index("<table>"), table.index("</table>")
    assert table[start:end] in shown


def test_texts_are_aligned_to_the_left_without_the_style_sheet():
    """Styles of notebooks align cells to the right, and some notebooks drop the style sheet."""
    model = IMM(3, random_state=0).fit(X)
    for shown in (model.to_html(), model.explain()._repr_html_(), model.explain(X)._repr_html_()):
        cells = re.findall(r"<t[hd]( [^>]*)?>", shown.partition("<table>")[2])
        assert len(cells) >= 12
        assert all("text-align: left" in cell or "pellucid-number" in cell for cell in cells)


def test_rows_have_their_cluster_and_its_rule():
    model = IMM(3, random_state=0).fit(X.rename(columns={X.columns[2]: "<petal>"}))
    rows = model.explain(X.rename(columns={X.columns[2]: "<petal>"}))
    shown = rows._repr_html_()
    assert shown.count("<tr>") == 31
    assert "and 120 further rows" in shown
    assert "<petal>" not in shown
    assert "&lt;petal&gt; ≤ 2" in shown


def test_other_rules_are_text():
    rules = EOPClassifier("stump", random_state=0).fit(X, Y).explain()
    assert "level 1" in rules._repr_html_()

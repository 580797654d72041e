"""Plot of the rules of a set: what each of them holds for."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid._utils.estimators import documented
from pellucid.explanation.rules import label_text
from pellucid.plotting.style import cluster_color, new_axes

WRONG, NOISE = "#7a1f1f", "#b0b0b0"


@documented
def plot_rules(model: Any, *, ax: Any = None) -> Any:
    """Draw a bar per rule: rows of its cluster, of other clusters, and of noise.

    Parameters
    ----------
    model : RuleSet
        Fitted rules.
    {ax}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pellucid import RuleSet
    >>> from pellucid.plotting import plot_rules
    >>> axes = plot_rules(RuleSet().fit(*load_iris(return_X_y=True)))
    >>> len(axes.get_yticks())
    3
    """
    check_is_fitted(model)
    rules = list(model.rules_)
    axes = ax or new_axes(9, 1.2 + 0.45 * max(len(rules), 1))
    position = np.arange(len(rules))
    right = np.array([rule.precision * rule.n_samples for rule in rules])
    wrong = np.array([rule.n_samples for rule in rules]) - right
    noise = np.array([rule.n_noise for rule in rules])
    places = {label: i for i, label in enumerate(dict.fromkeys(rule.cluster for rule in rules))}
    colors = [cluster_color(places[rule.cluster]) for rule in rules]
    axes.barh(position, right, color=colors, height=0.6)
    if wrong.any():
        axes.barh(position, wrong, left=right, color=WRONG, height=0.6, label="other clusters")
    if noise.any():
        axes.barh(position, noise, left=right + wrong, color=NOISE, height=0.6, label="noise")
    texts = [f"{label_text(rule.cluster)}: {rule.text}" for rule in rules]
    axes.set_yticks(position, texts)
    axes.invert_yaxis()
    axes.set_xlabel("rows")
    axes.set_title(f"{100 * model.coverage_:.0f}% of the rows explained" if rules else "no rules")
    if wrong.any() or noise.any():
        axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    return axes


@documented
def plot_explanations(comparison: Any, *, ax: Any = None) -> Any:
    """Draw the coverage and the precision of explanations, and both on held-out rows.

    Each explanation has a dot, and a ring where it is on held-out rows.

    Parameters
    ----------
    comparison : ExplanationComparison
        What :func:`pellucid.compare_explanations` returns.
    {ax}
    """
    axes = ax or new_axes(7, 4.5)
    for position, each in enumerate(comparison):
        color = cluster_color(position)
        x = 100 * np.array([each.coverage, each.held_out_coverage])
        y = 100 * np.array([each.precision, each.held_out_precision])
        axes.plot(x, y, "-", color=color, linewidth=1)
        label = f"{each.name}: {each.n_rules} rules of {each.conditions:.1f} conditions"
        axes.plot(x[:1], y[:1], "o", color=color, markersize=8, label=label)
        axes.plot(x[1:], y[1:], "o", color=color, markersize=8, fillstyle="none")
    axes.set_xlabel("rows that get their own cluster (%)")
    axes.set_ylabel("precision (%)")
    axes.set_title("dots: rows of the fit; rings: held-out rows", fontsize="medium")
    axes.margins(0.1)
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    return axes

"""
Rules for the clusters that can be described
============================================

HDBSCAN leaves rows out as noise. A tree would have to place them. A rule set describes what can be
described: each rule is for one cluster, rules may overlap, and rows for which no rule holds stay
unexplained.
"""

import matplotlib.pyplot as plt
from sklearn.cluster import HDBSCAN
from sklearn.datasets import load_digits

from pellucid import RuleSet, SpEx, compare_explanations

X = load_digits(as_frame=True).data
labels = HDBSCAN(min_cluster_size=30, copy=True).fit(X).labels_
rules = RuleSet().fit(X, labels)
print(rules.rules_)

# %%
# A row of noise in a rule costs as much as a row of another cluster, so that few are in a rule.
rules.plot()
plt.show()

# %%
# Of all rows that are given a cluster, how many are in it? Noise is in none; a tree gives it one.
print(compare_explanations(X, labels, {"tree": SpEx(), "rules": rules}))

# %%
# Rules are stricter if mistakes cost more. On rows that were held out, precision is lower.
for cost in (1, 5, 20):
    model = RuleSet(mistake_cost=cost, held_out=0.3, random_state=0).fit(X, labels)
    print(
        f"mistake_cost={cost}: {len(model.rules_)} rules explain {model.coverage_:.0%}, precision "
        f"{model.precision_:.1%}, held out {model.held_out_precision_:.1%}"
    )

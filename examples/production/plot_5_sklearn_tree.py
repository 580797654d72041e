"""
Tools that read trees of scikit-learn
=====================================

``to_sklearn`` gives a fitted ``DecisionTreeClassifier`` of the same tree. SHAP, dtreeviz and
``sklearn.tree`` read it. ``from_sklearn`` goes the other way: rules, exports and a report for a
tree that you have.
"""

import matplotlib.pyplot as plt
from sklearn import tree
from sklearn.datasets import load_wine

from pellucid import ExShallow, from_sklearn

X = load_wine(as_frame=True).data
model = ExShallow(4, random_state=0).fit(X)
classifier = model.to_sklearn(X)
print("same clusters:", (classifier.predict(X) == model.predict(X)).all())

# %%
fig, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
tree.plot_tree(classifier, feature_names=list(X.columns), filled=True, impurity=False, ax=ax)

# %%
# A classifier that was fitted by scikit-learn, as rules:

cart = tree.DecisionTreeClassifier(max_leaf_nodes=4, random_state=0).fit(X, model.labels_)
print(from_sklearn(cart, X).rules_)

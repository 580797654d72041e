"""
Answers only where the error is small
=====================================

``ATEOPClassifier`` answers in regions whose error on held-out rows is at most ``max_error``, with
a given confidence. The other rows get no answer, and a person can look at them.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from pellucid import ATEOPClassifier

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X = X.iloc[:, :10]
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)

limits, answered, wrong = (0.05, 0.1, 0.15, 0.2), [], []
for limit in limits:
    model = ATEOPClassifier(max_error=limit, max_levels=3, random_state=0).fit(X_train, y_train)
    is_answered = ~model.abstained(X_test)
    answers = model.predict(X_test)[is_answered]
    answered.append(100 * is_answered.mean())
    wrong.append(100 * np.mean(answers != y_test[is_answered]) if len(answers) else 0.0)
    print(f"max_error={limit}: {answered[-1]:.1f}% answered, {wrong[-1]:.1f}% of them wrong")

# %%
fig, axes = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained")
axes[0].plot(limits, answered, marker="o")
axes[0].set(xlabel="max_error", ylabel="test rows answered, %", ylim=(0, 105))
axes[1].plot(limits, wrong, marker="o")
axes[1].plot(limits, [100 * limit for limit in limits], ":", color="grey", label="max_error")
axes[1].set(xlabel="max_error", ylabel="wrong answers, %")
axes[1].legend()

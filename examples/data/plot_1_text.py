"""
Text
====

Paragraphs about several data sets, from the descriptions that come with scikit-learn. Each row is
a paragraph, each column a word. The data stay sparse. The rules name the words that decide.
"""

import re

import matplotlib.pyplot as plt
import numpy as np
from sklearn import datasets
from sklearn.feature_extraction.text import TfidfVectorizer

from pellucid import SpEx

names = ("iris", "wine", "breast_cancer", "diabetes", "digits", "linnerud")
paragraphs, topics = [], []
for name in names:
    text = getattr(datasets, f"load_{name}")().DESCR
    for paragraph in re.split(r"\n\s*\n", text):
        if len(paragraph.split()) > 8:
            paragraphs.append(paragraph)
            topics.append(name)

vectorizer = TfidfVectorizer(min_df=3, stop_words="english", token_pattern=r"[a-z]{3,}")
X = vectorizer.fit_transform(paragraphs)
words = vectorizer.get_feature_names_out()
print(f"{X.shape[0]} paragraphs, {X.shape[1]} words, {X.nnz} entries")

# %%
# The topics are explained by twelve leaves. The model has no column names, because the matrix is
# sparse; the functions that print and plot take them.

model = SpEx(n_leaves=12).fit(X, topics)
print(f"{100 * np.mean(model.labels_ == np.array(topics)):.1f}% of the paragraphs have their topic")

# %%
# The words that matter most:

order = np.argsort(model.feature_importances_)[::-1][:10]
fig, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
ax.barh(words[order], model.feature_importances_[order])
ax.invert_yaxis()
ax.set(xlabel="importance", title="words that the tree uses")

"""
Embedded text, explained by words
=================================

Text is clustered in an embedding, here of 20 dimensions by a singular value decomposition. Its axes
mean nothing, so the questions are about words, while the cost is measured in the embedding:
``fit(X, space=Z)``. The texts are posts of 20 Newsgroups if scikit-learn has stored them, otherwise
paragraphs of Python's help on the language.
"""

import re
from pydoc_data.topics import topics

import matplotlib.pyplot as plt
from sklearn.cluster import KMeans
from sklearn.datasets import fetch_20newsgroups
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from pellucid import ExplainableKMeans
from pellucid.plotting import plot_tree

try:
    parts = ("headers", "footers", "quotes")
    texts = fetch_20newsgroups(remove=parts, download_if_missing=False).data[:800]
except OSError:
    print("20 Newsgroups are not stored here; Python's help is used instead")
    paragraphs = [part for page in topics.values() for part in re.split(r"\n\s*\n", page)]
    texts = list(dict.fromkeys(part for part in paragraphs if len(part.split()) > 25))

vectorizer = CountVectorizer(min_df=12, stop_words="english", token_pattern=r"[a-z]{4,}")
counts = vectorizer.fit_transform(texts)
embedding = make_pipeline(TfidfTransformer(), TruncatedSVD(20, random_state=0), Normalizer())
Z = embedding.fit_transform(counts)
clusters = KMeans(5, n_init=10, random_state=0).fit(Z)
print(f"{counts.shape[0]} texts, {counts.shape[1]} words, {Z.shape[1]} dimensions")

# %%
# The columns of the sparse matrix X say whether a word occurs. With one word per condition, few
# leaves cannot keep all rows in their clusters. What this costs is measured in the embedding.

X = (counts > 0).astype(float)
model = ExplainableKMeans(
    n_leaves=8, reference=clusters, effort="fast", threshold_style="midpoint"
).fit(X, space=Z)
kept = (model.labels_ == clusters.labels_).mean()
cost = model.inertia_ / model.reference_inertia_
print(f"{kept:.1%} of the rows kept, cost in the embedding {cost:.3f} times that of k-means")

# %%
fig, ax = plt.subplots(figsize=(11, 6), layout="constrained")
plot_tree(model, feature_names=vectorizer.get_feature_names_out(), ax=ax)

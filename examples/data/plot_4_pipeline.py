"""
Rules in original units behind a pipeline
=========================================

Missing values are filled, numbers are scaled and categories are encoded before the clustering.
:func:`pellucid.explain_pipeline` restates the tree in the columns of the table.
"""

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from pellucid import ExShallow, explain_pipeline, plot_tree

random = np.random.default_rng(0)
n = 300
segment = random.integers(0, 3, n)
table = pd.DataFrame(
    {
        "income": random.normal(np.array([28_000, 45_000, 90_000])[segment], 4_000).round(-2),
        "visits": random.poisson(np.array([20, 4, 6])[segment]).astype(float),
        "region": np.array(["city", "village", "city"])[segment],
    }
)
table.loc[::25, "visits"] = np.nan

pipeline = make_pipeline(
    make_column_transformer(
        (make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), ["income", "visits"]),
        (OneHotEncoder(sparse_output=False), ["region"]),
    ),
    ExShallow(3, random_state=0),
).fit(table)

# %%
# The tree inside the pipeline has thresholds on scaled numbers:

print(pipeline[-1].rules_)

# %%
# The explanation has those of the table, and says which value stands for a missing one.

explanation = explain_pipeline(pipeline, table)
print(explanation.rules_)
print(explanation.to_sql(table="customers"))

# %%
plot_tree(explanation)

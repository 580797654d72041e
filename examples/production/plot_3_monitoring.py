"""
Monitoring
==========

Rules do not change, but data do. A saved model counts rows per cluster, and values that were not
in the training data.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import pellucid

random = np.random.default_rng(0)


def orders(n, big_share, payments):
    """Orders of a month."""
    is_big = random.random(n) < big_share
    return pd.DataFrame(
        {
            "amount": np.where(is_big, random.normal(300, 30, n), random.normal(40, 8, n)).round(2),
            "items": np.where(is_big, random.integers(8, 20, n), random.integers(1, 6, n)),
            "payment": random.choice(payments, n),
        }
    )


found = pellucid.explain(orders(400, 0.3, ["card", "cash"]), k=3, verbose=False)
print(found)

# %%
# The model is stored as JSON. Reading it executes nothing.

saved = found.to_json()
model = pellucid.from_json(saved)

# %%
# Later months: large orders become more frequent, and a new kind of payment appears.

months, shares = ["Jan", "Feb", "Mar", "Apr", "May"], []
for month, big_share in zip(months, (0.3, 0.32, 0.4, 0.5, 0.65)):
    payments = ["card", "cash"] if month != "May" else ["card", "cash", "voucher"]
    table = orders(500, big_share, payments)
    shares.append(pd.Series(model.predict(table)).value_counts(normalize=True).sort_index())
    print(month, shares[-1].round(2).to_dict(), "new values:", model.count_unseen(table))

# %%
fig, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
pd.DataFrame(shares, index=months).plot.bar(stacked=True, ax=ax, rot=0)
ax.set(ylabel="share of the rows")
ax.legend(title="cluster", loc="upper left", bbox_to_anchor=(1, 1))

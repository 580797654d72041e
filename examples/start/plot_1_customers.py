"""
Customers of a shop
===================

A table as it is: numbers, a column of categories, an ID and missing values.
:func:`pellucid.explain` decides what to do with each column, chooses the number of clusters, and
says so.
"""

import numpy as np
import pandas as pd

import pellucid

random = np.random.default_rng(0)
n = 90
customers = pd.concat(
    [
        pd.DataFrame(
            {
                "age": random.normal(age, 5, n).round(),
                "basket_eur": random.lognormal(np.log(basket), 0.3, n).round(2),
                "online_share": random.beta(10 * online, 10 * (1 - online), n).round(2),
                "payment": random.choice(["card", "cash", "invoice"], n, p=payment),
            }
        )
        for age, basket, online, payment in (
            (27, 30, 0.8, (0.8, 0.1, 0.1)),
            (64, 35, 0.1, (0.2, 0.8, 0.0)),
            (45, 180, 0.5, (0.2, 0.0, 0.8)),
        )
    ],
    ignore_index=True,
)
customers.insert(0, "customer_id", np.arange(10_001, 10_001 + len(customers)))
customers.loc[::40, "age"] = np.nan

found = pellucid.explain(customers)

# %%
# The rules are in the units of the table.

print(found)

# %%
# The tree has the same content. ``found.report("report.html")`` writes it to a page, together
# with a card per cluster.

found.plot()

# %%
# Names make the result easier to read. Here they are the suggested ones.

named = found.rename("suggested")
print(named.rules)

# %%
# New rows get their cluster from the rules.

new = pd.DataFrame(
    {"age": [30.0], "basket_eur": [25.0], "online_share": [0.9], "payment": ["card"]}
)
print(named.predict(new))

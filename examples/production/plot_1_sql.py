"""
SQL in a warehouse
==================

The tree as a ``CASE`` expression. The database gives every row its cluster, and needs neither
Python nor a model file. SQLite comes with Python; eight other dialects are available.
"""

import sqlite3

import matplotlib.pyplot as plt
from sklearn.datasets import load_iris

from pellucid import ExplainableKMeans

X = load_iris(as_frame=True).data
X.columns = ["sepal_length", "sepal_width", "petal_length", "petal_width"]
model = ExplainableKMeans(3, random_state=0).fit(X)
sql = model.to_sql(dialect="sqlite", table="flowers")
print(sql)

# %%
# Run it, and compare it with ``predict``.

connection = sqlite3.connect(":memory:")
X.to_sql("flowers", connection, index=False)
rows = connection.execute(sql).fetchall()
clusters = [row[-1] for row in rows]
print("same clusters:", clusters == model.predict(X).tolist())

# %%
# The query can be part of any other one:

query = f"SELECT cluster, COUNT(*), AVG(petal_length) FROM ({sql}) GROUP BY cluster"
sizes = connection.execute(query).fetchall()
for cluster, number, length in sizes:
    print(f"cluster {cluster}: {number} rows, mean petal length {length:.2f} cm")
connection.close()

fig, ax = plt.subplots(figsize=(5, 3), layout="constrained")
ax.bar([str(row[0]) for row in sizes], [row[1] for row in sizes])
ax.set(xlabel="cluster", ylabel="rows in the database")

"""
Spark
=====

``pellucid.spark.Explainer`` is an estimator of Spark ML. It maps Arrow batches to partial sums,
so that the tree is that of all rows. It needs ``pip install "pellucid[spark]"`` and Java.
"""

import os
import shutil
import sys
from importlib.util import find_spec

from sklearn.cluster import KMeans
from sklearn.datasets import load_wine

from pellucid import IMM, plot_tree

columns = ["alcohol", "flavanoids", "proline"]
wine = load_wine(as_frame=True).data[columns]
centers = KMeans(3, n_init=10, random_state=0).fit(wine.to_numpy()).cluster_centers_

if find_spec("pyspark") and shutil.which("java"):
    from pyspark.sql import SparkSession

    from pellucid.spark import Explainer

    os.environ["PYSPARK_PYTHON"] = sys.executable  # workers use the Python of this environment
    settings = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
    spark = SparkSession.builder.master("local[1]").config(map=settings).getOrCreate()
    frame = spark.createDataFrame(wine)
    spark_model = Explainer(method="imm", inputCols=columns, centers=centers).fit(frame)
    model = spark_model.explanation
    spark_model.transform(frame).groupBy("prediction").count().show()
    spark.stop()
else:
    print('Spark is not installed (pip install "pellucid[spark]", and Java).')
    print("This is the tree of the same rows in memory, which is the same.")
    model = IMM(reference=centers).fit(wine)

# %%
print(model.explain())

# %%
plot_tree(model)

"""
MLflow
======

A fitted model is a scikit-learn estimator, so the scikit-learn flavour of MLflow logs it, here
together with its rules and its cost. It needs ``pip install mlflow``.
"""

import tempfile
from importlib.util import find_spec
from pathlib import Path

from sklearn.datasets import load_iris

from pellucid import IMM

X = load_iris(as_frame=True).data
model = IMM(3, random_state=0).fit(X)
cost = model.inertia_ / model.reference_inertia_

if find_spec("mlflow"):
    import mlflow

    folder = Path(tempfile.mkdtemp())
    mlflow.set_tracking_uri(f"sqlite:///{folder / 'mlflow.db'}")
    mlflow.create_experiment("clusters", artifact_location=folder.as_uri())
    mlflow.set_experiment("clusters")
    with mlflow.start_run():
        mlflow.log_metric("cost_compared_with_kmeans", cost)
        mlflow.log_text(str(model.explain()), "rules.txt")
        mlflow.log_text(model.to_sql(table="flowers"), "segment.sql")
        logged = mlflow.sklearn.log_model(
            model, name="clusters", input_example=X[:3], serialization_format="cloudpickle"
        )
    loaded = mlflow.sklearn.load_model(logged.model_uri)
    print("same clusters:", (loaded.predict(X) == model.predict(X)).all())
else:
    print("MLflow is not installed: pip install mlflow")

# %%
# What is logged beside the model:

print(f"cost compared with k-means: {cost:.3f}")
print(model.explain())

# %%
model.plot()

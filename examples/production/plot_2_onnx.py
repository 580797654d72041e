"""
ONNX in production
==================

A model server that runs ONNX can assign clusters. It needs ``pip install "pellucid[onnx]"
onnxruntime``.
"""

from importlib.util import find_spec

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

from pellucid import ExShallow

X = load_wine().data
model = ExShallow(3, random_state=0).fit(X)
predicted = model.predict(X)

if find_spec("onnx") and find_spec("onnxruntime"):
    import onnxruntime

    saved = model.to_onnx().SerializeToString()
    print(f"{len(saved)} bytes")
    session = onnxruntime.InferenceSession(saved, providers=["CPUExecutionProvider"])
    served = session.run(None, {session.get_inputs()[0].name: X})[0]
    print("same clusters:", np.array_equal(served, predicted))
else:
    print('ONNX is not installed: pip install "pellucid[onnx]" onnxruntime')
    served = predicted

# %%
fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.scatter(X[:, 12], X[:, 6], c=served, cmap="tab10", vmax=9, s=16)
ax.set(xlabel="proline", ylabel="flavanoids", title="clusters of the ONNX model")

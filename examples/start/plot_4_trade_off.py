"""
Cost against the length of the rules
====================================

Shorter rules have a higher cost. :meth:`ExShallow.path <pellucid.ExShallow.path>` finds all trees
along the depth penalty that are not dominated, and the picture shows where more conditions stop
to pay off.
"""

from sklearn.datasets import load_digits

from pellucid import ExShallow
from pellucid.plotting import plot_trade_off

X = load_digits(as_frame=True).data
path = ExShallow(10, random_state=0).path(X)
plot_trade_off(path, reference="k-means")

# %%
# The ends of the curve, as numbers:

for point in (path[0], path[-1]):
    print(f"penalty {point.penalty:g}: cost {point.npc:.3f}, {point.waes:.2f} conditions per row")

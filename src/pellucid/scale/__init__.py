"""Data that do not fit into memory: batches of rows, on this machine, Dask or Spark.

Every step of the search for a tree is a *task*: a small object that is sent to all batches of rows,
computes integer sums from each, and merges them. Sums of integers do not depend on how the rows
are divided, so that the tree is the same, bit for bit, as that of the same rows in memory.
"""

from pellucid._utils.imports import lazy_attributes

__getattr__, __dir__ = lazy_attributes(__name__)
__all__ = __dir__()

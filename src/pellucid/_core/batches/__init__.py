"""Rows in batches: the search in passes over files, Dask or Spark partitions."""

"""Explain a table: column roles, preparation, number of clusters, tree and rules.

:func:`pellucid.explain` takes every decision that a table needs before it can be clustered and
explained, and prints each of them. The command line is a layer over it.
"""

"""Exact search for the optimal tree with one leaf per center, by branch and bound."""

"""Exact search for the optimal tree by branch and bound."""

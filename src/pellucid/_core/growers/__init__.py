"""Growers: which node is cut next, and how many alternatives are kept."""

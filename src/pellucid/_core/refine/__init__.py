"""Refinement of finished trees: polish, local search and the portfolio of methods."""

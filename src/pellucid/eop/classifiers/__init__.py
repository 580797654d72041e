"""Base classifiers on the projections."""

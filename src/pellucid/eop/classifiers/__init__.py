"""Base classifiers that are fitted on projections."""

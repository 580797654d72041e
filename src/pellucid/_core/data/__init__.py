"""The rows with their weights, in exact arithmetic: costs, codes, means and medians."""

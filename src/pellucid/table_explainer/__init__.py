"""Explain a table: every decision that it needs before it can be clustered and explained."""

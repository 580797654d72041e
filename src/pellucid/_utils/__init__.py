"""Helpers without knowledge of trees or clusterings."""

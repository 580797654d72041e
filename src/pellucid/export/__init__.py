"""Trees in other forms: one file a format."""

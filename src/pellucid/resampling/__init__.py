"""Trees fitted again on draws of the rows: how often questions and assignments return."""

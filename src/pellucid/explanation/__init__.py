"""Rules of clusters and rows as text, and trees restated in the columns of a table."""

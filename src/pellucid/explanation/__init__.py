"""Rules of clusters and of rows in words, and trees restated in the columns of a table."""

"""Where to cut: the data a cut is sought in, and one file a criterion."""

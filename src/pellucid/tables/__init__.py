"""Data frames, columns, categories, and the validation of input."""

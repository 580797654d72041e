"""Series: long tables and their time axis."""

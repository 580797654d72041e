"""The private engine: nothing in here is public API."""

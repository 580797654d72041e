"""Random cases against exact oracles: ``python -m tests.fuzz --help``."""

"""Helpers of the tests: oracles, strategies, fitting, browsers."""

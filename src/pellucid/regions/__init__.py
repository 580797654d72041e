"""Regions as data: their shapes, the levels of a decision list, and their words."""

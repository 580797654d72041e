"""Criteria: how good is a cut?"""

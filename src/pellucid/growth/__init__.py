"""How to grow: each search takes any criterion and returns a tree builder."""

from pellucid.growth.beam import BeamSearch

__all__ = ["BeamSearch"]

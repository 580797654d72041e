"""How to grow: each search takes any criterion and returns a tree builder."""

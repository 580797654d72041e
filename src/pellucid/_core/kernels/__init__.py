"""The compiled loops: plain arrays in, plain arrays out, one file a theme.

The modules in here import Numba (but for `walk_layout`, which only names places), so they are
imported by the functions that call them and never at the top of a module. Nothing is compiled
until it is called; the machine code is kept on disk for the next process.
"""

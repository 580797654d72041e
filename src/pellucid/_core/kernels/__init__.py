"""The compiled loops: plain arrays in, plain arrays out, one file per caller.

The modules in here import Numba, so they are imported by the functions that call them and never at
the top of a module. The only exception is `pellucid._core.exact`, which is itself imported by the
function that calls it. Nothing is compiled until it is called; the machine code is stored on disk
for the next process.
"""

INFINITE_COST = 2**62
"""Cost of a tree or cut that does not exist, in units: more than any sum of costs (< 2**61)."""

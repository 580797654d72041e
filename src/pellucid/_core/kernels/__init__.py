"""The compiled loops: plain arrays in, plain arrays out, one file per caller.

The modules in here import Numba. Callers import this package and write ``kernels.partition.loop``,
so that a module is imported when it is first used. Only `pellucid._core.exact`, which is itself
imported by the function that calls it, imports modules at its top. Nothing is compiled until it is
called; the machine code is stored on disk for the next process.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

INFINITE_COST = 2**62
"""Cost of a tree or cut that does not exist, in units: more than any sum of costs (< 2**61)."""


def __getattr__(name: str) -> Any:
    if find_spec(f"{__name__}.{name}") is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.{name}")

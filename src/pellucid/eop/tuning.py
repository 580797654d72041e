"""Constants of the search for regions, with what chose them."""

from __future__ import annotations

GRID_BINS = {1: 64, 2: 16}
"""Bins per column of the grids on which boxes of a class are searched."""

MAX_CELLS = 4096
"""Cells of a grid of more columns."""

MIN_ROWS = 3
"""Rows that a region of the rarest class needs at least."""

MIN_SHARE = 0.02
"""A class with this share of the rows has a region, or is the answer of rows in no region."""

RELAX_BY = 1.5
"""Factor on ε when no region is found."""

MAX_RELAXED = 0.5
"""Largest ε to which it is relaxed: at least half of the rows of a region are of its class."""

RESCAN_AT = 0.8
"""All projections are scanned again when less than this share of the rows is left."""

N_RESCANNED = 64
"""Projections that are scanned for each level in between."""

N_OTHERS = 4
"""Boxes of other projections that are tried in place of each box of a list."""

TIE = 8
"""Weight of a row whose correctness depends on a box, relative to that of other rows."""

START_ERROR = 0.2
"""ε of the boxes from which the optimization starts.

Mean accuracy beside CART with as many tests on yeast, mice, robot, waveform, avila, breast tissue
and letter (four splits, one sweep): -0.4 points; -0.7 with 0.1 and -0.5 with 0.25. To choose
between 0.1 and 0.3 by cross-validation takes twice the time and gives -0.6.
"""

MAX_SWEEPS = 1
"""Sweeps of the optimization over all boxes of a list, for each η."""

FINAL_SWEEPS = 4
"""Sweeps over the final list: on the same sets +0.6 instead of -0.4 points, 10 % more time."""

ODDS = (3, 9, 27, 81)
"""Weights of the rows of a class in the search for its only region; further ones are tried until
one is found with enough support."""

KEPT_VALUES = 2**25
"""Booleans that say which rows are in which box, at most, of the boxes used last."""

"""Constants of the search for regions, with what chose them."""

GRID_BINS = {1: 64, 2: 16}  # bins per column of the grids on which boxes of a class are searched
MAX_CELLS = 4096  # cells of a grid of more columns
MIN_ROWS = 3  # rows that a region of the rarest class needs at least
MIN_SHARE = 0.02  # a class with this share of the rows has a region, or is the answer of the rest
RELAX_BY = 1.5  # factor on ε when no region is found
MAX_RELAXED = 0.5  # largest ε to which it is relaxed: half of the rows of a region
RESCAN_AT = 0.8  # all projections are scanned again when less than this share of the rows is left
N_RESCANNED = 64  # projections that are scanned for each level in between
N_OTHERS = 4  # boxes of other projections that are tried in place of each box of a list
TIE = 8  # weight of a row whose correctness depends on a box, relative to that of other rows
# ε of the boxes from which the optimization starts. Mean accuracy beside CART with as many tests on
# yeast, mice, robot, waveform, avila, breast tissue and letter (four splits, one sweep): -0.4
# points; -0.7 with 0.1 and -0.5 with 0.25. To choose between 0.1 and 0.3 by cross-validation takes
# twice the time and gives -0.6.
START_ERROR = 0.2
MAX_SWEEPS = 1  # sweeps of the optimization over all boxes of a list, for each η
# Sweeps over the final list: on the same sets +0.6 instead of -0.4 points, 10 % more time.
FINAL_SWEEPS = 4
# Weights of the rows of a class in the search for its only region; further ones are tried until
# one is found with enough support.
ODDS = (3, 9, 27, 81)
KEPT_VALUES = 2**25  # booleans, at most, that say which rows are in the boxes used last

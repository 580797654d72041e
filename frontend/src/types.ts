// The payload: the JSON that Python writes into the page. The keys must match
// src/pellucid/report/payload.py (trees) and src/pellucid/report/regions.py (regions).

export interface Cluster {
  label: string;
  /** A name that was given with the model, or by a reader who saved the page. */
  name: string | null;
  /** A short description, for example "high income, low spending". */
  suggested: string | null;
  /** Colour of the cluster on a light page, and the colour of text on top of it. */
  light: [string, string];
  /** The same for a dark page. */
  dark: [string, string];
}

interface BaseColumn {
  name: string;
  /** Whether the model uses the column. */
  asked: boolean;
  /** Whether the page has distributions of the column. */
  shown: boolean;
  /** What a missing value is replaced by: a number, or the position of a category. Null if there is no replacement. */
  fill: number | null;
  /** Number of rows per bin or per category, over all rows. */
  all: number[];
}

/** How the numbers of a column are written. Dates and times are days since 1970-01-01. */
export interface NumberFormat {
  kind: "number" | "integer" | "year" | "date" | "datetime";
  /** Text around each number, such as "$" or "%". */
  prefix?: string;
  suffix?: string;
  /** All values of an integer column that has few of them. */
  values?: number[];
}

export interface NumberColumn extends BaseColumn {
  kind: "number";
  format: NumberFormat;
  /** Whether all values are integers. */
  whole: boolean;
  low: number;
  high: number;
  mean: number;
  /** Standard deviation. */
  spread: number;
  /** Standard deviation of the positions on a logarithmic axis; null for a linear axis. */
  axisSpread: number | null;
  /** Edges of the histogram bins, which are also the ends of the axis. */
  edges: number[];
  /** The position of a value on a logarithmic axis is log(1 + value / unit). Null for a linear axis. */
  unit: number | null;
  /** Number of rows below and above the ends of the axis. The outermost bins count them. */
  beyond: [number, number];
}

export interface CategoryColumn extends BaseColumn {
  kind: "category";
  values: string[];
  /** Number of further categories, which are counted together. */
  others: number;
}

export type Column = NumberColumn | CategoryColumn;

/** A node of a tree: a split (with `left` and `right`) or a leaf (with `cluster`). */
export interface TreeNode {
  rows: number;
  // Only in splits. A number goes left if it is at most `threshold`; a category goes right if it is `value`.
  left?: number;
  right?: number;
  column?: number;
  threshold?: number;
  value?: number;
  /** The question without the name of the column, for example "≤ 2021-03-15" or "is red". */
  question?: string;
  /** The conditions of all rows of the node. */
  rule?: string;
  // Only in leaves. `purity` is the share of the rows that have the same cluster in the reference.
  cluster?: number;
  purity?: number | null;
  conditions?: number;
  /** Only in splits: rows of each cluster below, by bin of the column. */
  histogram?: [cluster: number, counts: number[]][];
}

export interface TreeMeasures {
  /** Cost of the tree divided by the cost of the reference. */
  costRatio: number | null;
  /** Share of the rows with the same cluster in the tree and in the reference. */
  agreement: number | null;
  /** Average number of conditions per row, without redundant ones. */
  conditions: number;
  /** Average depth of the leaf of a row. */
  questions: number;
  /** Depth of the tree. */
  mostQuestions: number;
  leaves: number;
  columns: number;
}

/** Statistics of one cluster. All arrays are indexed by the columns that have distributions. */
export interface ClusterStatistics {
  rows: number;
  /** Mean in the cluster minus mean of the other rows, in standard deviations, on the scale of the axis. */
  apart: (number | null)[];
  /**
   * Mean in the cluster and mean of the other rows, and on a logarithmic axis the mean position in the cluster; null for
   * categories.
   */
  means: ([number | null, number | null, (number | null)?] | null)[];
  /** Number of rows per bin or per category. */
  counts: number[][];
  /** Rows near the center of the cluster. */
  typical: (number | string | null)[][];
}

/** How a dialect of SQL writes labels and other strings. */
export interface SqlDialect {
  labels: string[];
  prefix: string;
  /** Whether a backslash begins an escape. */
  hasBackslashes: boolean;
}

/** A model for `pellucid predict`, as to_json writes it. */
export interface ModelFile {
  clusters: (string | number | boolean | null)[];
}

export interface Rule {
  text: string;
  rows: number;
}

export interface Tree {
  /** How an alternative tree was found; null for the tree of the model. */
  kind: string | null;
  /** The depth penalty of a shorter tree, or the number of leaves (of a longer tree: that of its further leaves). */
  amount: number | null;
  nodes: TreeNode[];
  measures: TreeMeasures;
  /** The rules of each cluster, one per leaf, largest leaf first. */
  rules: Rule[][];
  /**
   * SQL by dialect, with the characters U+E000, number, U+E001 for the label of a cluster. A text that is the same in
   * another dialect is the name of that dialect.
   */
  sql: Record<string, string>;
  clusters: ClusterStatistics[];
  /** Cluster of each row of the scatter plot. */
  points: number[];
}

/** Time series of each cluster: the medoid and, if known, the quartiles at each time. */
export interface TimeSeries {
  first: string;
  last: string;
  clusters: { medoid: (number | null)[]; low?: (number | null)[]; high?: (number | null)[] }[];
}

/** A number of clusters that was tried. Values that are not known are null. */
export interface ClusterNumber {
  k: number;
  score: number | null;
  /** Share of the rows in the smallest cluster, or their number. */
  smallest: number | null;
  stability: number | null;
  agreement: number | null;
  /** Cost of a tree relative to that of the clusters. */
  cost: number | null;
  /** The score that decides. */
  total: number | null;
  chosen: boolean;
}

/** What is known about a column of the table. */
export interface ColumnFacts {
  name: string;
  role: "number" | "category" | "date" | "profile" | "label" | "ignored";
  /** Why the column is ignored. */
  reason: string | null;
  /** How the column was scaled for the clustering. */
  scale: string | null;
  /** Number of missing values; null if they were not counted. */
  missing: number | null;
  /** The number that replaces missing values. */
  filled: number | null;
  /** Number of different values; null if they were not counted. */
  values: number | null;
  skew: number | null;
  /** Number of values far beyond the quartiles. */
  extreme: number | null;
}

/** What is known about the table that was clustered. */
export interface TableFacts {
  rowsRead: number;
  rowsUsed: number;
  dropped: { reason: string; rows: number }[];
  columns: ColumnFacts[];
  /** Number of columns that are not in `columns`. */
  furtherColumns: number;
  /** Pairs of columns with the same values. */
  duplicates: [string, string][];
  /** Pairs of columns with their coefficient of correlation. */
  correlated: [string, string, number][];
  silhouette: number | null;
  stability: number | null;
}

/** What was done to the data; part of both payloads. */
export interface DataNotes {
  table: TableFacts | null;
  decisions: string[];
  warnings: string[];
  numberOfClusters: ClusterNumber[];
}

export interface TreePayload extends DataNotes {
  /** "en" or "de". */
  language: string;
  format: number;
  title: string | null;
  method: string | null;
  /** Name of the clustering that is explained, for example "k-means". */
  reference: string;
  rows: number;
  /** Plural noun for the rows, for example "customers". */
  rowsAre: string;
  columnsInData: number;
  clusters: Cluster[];
  columns: Column[];
  /** Names of all columns of the data, in order; empty if there are too many. */
  dataNames: string[];
  /** What the model minimizes: "kmeans" or "kmedians". */
  objective: string;
  sqlDialects: Record<string, SqlDialect>;
  /** The model for `pellucid predict`, as to_json writes it; null if it is too long. */
  model: ModelFile | null;
  /** The tree of the model and its alternatives, from short rules to high agreement. */
  trees: Tree[];
  /** Position of the tree of the model in `trees`. */
  own: number;
  /** The kinds of the alternative trees, and the number of rows that were searched if these are not all. */
  steps: { kinds: string[]; sample: number | null };
  /** Values of the rows of the scatter plot, by column. */
  points: { rows: number; values: (number | null)[][] };
  trends: TimeSeries | null;
  /** What is proven about the cost of the tree; null if nothing is. */
  guarantee: { bound: number; ratio: number; formula: string; comparedWith: string; source: string } | null;
  stability: Stability | null;
  /** Parameters and versions. */
  made: Record<string, string>;
}

/** How often the tree of the model returns when it is fitted again on draws of the rows. */
export interface Stability {
  draws: number;
  /** Whether the reference was fitted again, too. */
  refit: boolean;
  /** Share of the rows in a draw; null for a bootstrap. */
  fraction: number | null;
  /** Mean share of the rows that stay in their cluster. */
  agreement: number;
  ari: number;
  /** Node of a split, number of draws in which it returns, and in which its column is used. */
  questions: [number, number, number][];
  /** Share of the rows of each cluster that stay in it; null for a cluster without rows. */
  clusters: (number | null)[];
}

/** A region as an inequality on the values of its level. A null bound is infinite. */
export type RegionShape =
  | { kind: "box"; lower: (number | null)[]; upper: (number | null)[] }
  /** (x - center)ᵀ shape (x - center) ≤ 1 */
  | { kind: "ellipse"; center: number[]; shape: number[][] }
  /** One row per facet: normal vector, then offset. `tolerance` is that of the rounding of each facet. */
  | { kind: "polyhedron"; equations: number[][]; tolerance: number[] };

/** The classifier that a level applies inside its regions. */
export type LevelClassifier =
  | { kind: "stump"; position: number; threshold: number; atMost: number; above: number }
  | { kind: "linear"; coef: number[][]; intercept: (number | null)[] };

/** The part of a region in which the classifier gives one cluster. */
export interface RegionPart {
  region: number;
  /** The cluster. */
  answer: number;
  text: string;
  rows: number;
  purity: number | null;
  /** Lower and upper bound in each column of the level; null if the part is not a box. */
  bounds: [number | null, number | null][] | null;
}

export interface Level {
  /** Positions in the columns of the page. */
  columns: number[];
  /** Range of the plot in each column. */
  window: [number, number][];
  /** Rows that no earlier level covers. */
  reached: number;
  /** Rows of these that lie in a region of this level. */
  answered: number;
  error: number | null;
  heldOutError: number | null;
  pieces: RegionPart[];
  /** Outlines of the regions; `answer` is null if a region contains several clusters. */
  outlines: { answer: number | null; points: [number, number][] }[];
  /** Sampled rows; the answer is -1 for rows that lie in no region. */
  points: { values: number[][]; answers: number[] };
  /** A grid of clusters, bottom row first. Each row is run-length encoded as cluster, length, cluster, length...
   * Null if the outlines show everything. */
  shades: number[][] | null;
  /** Null if regions can be evaluated in Python only. */
  regions: RegionShape[] | null;
  /** Null if the classifier can be evaluated in Python only. */
  classifier: LevelClassifier | null;
}

export interface RegionsPayload extends DataNotes {
  language: string;
  kind: "regions";
  title: string | null;
  method: string;
  /** Name of the clustering that is explained; null if the labels are classes, not clusters. */
  reference: string | null;
  rows: number;
  /** Plural noun for the rows, for example "customers". */
  rowsAre: string;
  columnsInData: number;
  dataNames: string[];
  clusters: Cluster[];
  columns: Column[];
  facts: ClusterStatistics[];
  levels: Level[];
  /** Rows that lie in a region of any level. */
  answered: number;
  /** How rows in no region are assigned: to one cluster, by their neighbours, or not at all (`answer` is null). */
  leftover: { answer: number | null; byNeighbours: boolean; purity: number };
  measures: { coverage: number; error: number | null; heldOutError: number | null; effort: number };
  /** The text of all levels. */
  rules: string;
  /** The model for `pellucid predict`; null if it cannot be written or is too long. */
  model: ModelFile | null;
  sqlDialects: Record<string, SqlDialect>;
  /** SQL by dialect, as in a tree; empty if the regions cannot be written in SQL. */
  sql: Record<string, string>;
  /** Parameters and versions. */
  made: Record<string, string>;
}

/** The columns that a typed or pasted row can have; part of both payloads. */
export type DataColumns = Pick<TreePayload, "columns" | "columnsInData" | "dataNames">;

/** The values of one row by column: a number, or the position of a category. */
export type Row = Map<number, number>;

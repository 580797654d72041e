// What Python writes into the page; see src/pellucid/report/payload.py.

export interface Cluster {
  label: string;
  /** Colour, and that of text on it, on a light page. */
  light: [string, string];
  dark: [string, string];
}

interface BaseColumn {
  name: string;
  asked: boolean;
  shown: boolean;
  fill: number | null;
  all: number[];
}

export interface NumberColumn extends BaseColumn {
  kind: "number";
  whole: boolean;
  low: number;
  high: number;
  mean: number;
  spread: number;
  edges: number[];
}

export interface CategoryColumn extends BaseColumn {
  kind: "category";
  values: string[];
  others: number;
}

export type Column = NumberColumn | CategoryColumn;

export interface Node {
  rows: number;
  // of a question
  left?: number;
  right?: number;
  column?: number;
  threshold?: number;
  value?: number;
  // of a leaf
  cluster?: number;
  purity?: number | null;
  rule?: string;
  conditions?: number;
}

export interface Measures {
  costRatio: number | null;
  agreement: number | null;
  conditions: number;
  questions: number;
  mostQuestions: number;
  leaves: number;
  columns: number;
}

export interface ClusterFacts {
  rows: number;
  apart: (number | null)[];
  means: ([number | null, number | null] | null)[];
  counts: number[][];
  typical: (number | string | null)[][];
}

export interface Rule {
  text: string;
  rows: number;
}

export interface Tree {
  /** Where it comes from; null if it is the model's own. */
  origin: string | null;
  nodes: Node[];
  measures: Measures;
  /** By cluster, the ways to be in it, the largest first. */
  rules: Rule[][];
  sql: Record<string, string>;
  clusters: ClusterFacts[];
  points: number[];
}

export interface Trends {
  first: string;
  last: string;
  clusters: { medoid: (number | null)[]; low?: (number | null)[]; high?: (number | null)[] }[];
}

export interface Payload {
  format: number;
  title: string | null;
  method: string | null;
  reference: string;
  rows: number;
  /** What the rows are, in the plural. */
  rowsAre: string;
  columnsInData: number;
  clusters: Cluster[];
  columns: Column[];
  dataNames: string[];
  trees: Tree[];
  own: number;
  /** What the trees are, in words. */
  steps: string;
  points: { rows: number; values: (number | null)[][] };
  trends: Trends | null;
  made: Record<string, string>;
}

/** Whether a place is in a region; ends are null where there is none. */
export type Shape =
  | { kind: "box"; lower: (number | null)[]; upper: (number | null)[] }
  | { kind: "ellipse"; center: number[]; shape: number[][] }
  | { kind: "polyhedron"; equations: number[][]; room: number[] };

/** What a level answers inside of its regions. */
export type Classifier =
  | { kind: "stump"; position: number; threshold: number; atMost: number; above: number }
  | { kind: "linear"; coef: number[][]; intercept: (number | null)[] };

export interface Piece {
  region: number;
  answer: number;
  text: string;
  rows: number;
  purity: number | null;
  /** Of boxes, the ends in each column of the level. */
  bounds: [number | null, number | null][] | null;
}

export interface Level {
  /** Positions in the columns of the page. */
  columns: number[];
  window: [number, number][];
  reached: number;
  answered: number;
  error: number | null;
  heldOutError: number | null;
  pieces: Piece[];
  outlines: { answer: number | null; points: [number, number][] }[];
  points: { values: number[][]; answers: number[] };
  /** Rows of cells from the bottom up, each as answer, length, answer, length...; null where shapes tell it all. */
  shades: number[][] | null;
  /** Null where only Python can tell. */
  regions: Shape[] | null;
  classifier: Classifier | null;
}

/** What Python writes for a model of regions; see src/pellucid/report/regions.py. */
export interface RegionsPayload {
  kind: "regions";
  title: string | null;
  method: string;
  reference: string | null;
  rows: number;
  rowsAre: string;
  columnsInData: number;
  dataNames: string[];
  clusters: Cluster[];
  columns: Column[];
  facts: ClusterFacts[];
  levels: Level[];
  answered: number;
  /** What rows in no region are said to be, if anything, or that each is answered by its neighbours; how often that was right. */
  leftover: { answer: number | null; byNeighbours: boolean; purity: number };
  measures: { coverage: number; error: number | null; heldOutError: number | null; effort: number };
  rules: string;
  made: Record<string, string>;
}

/** The columns that a pasted or typed row can have; part of both payloads. */
export type DataColumns = Pick<Payload, "columns" | "columnsInData" | "dataNames">;

/** The values of one row by column: a number, or the position of a category. */
export type Row = Map<number, number>;

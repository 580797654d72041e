// What Python writes into the page; see src/pellucid/report/payload.py.

export interface Cluster {
  label: string;
  color: string;
  ink: string;
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
  columnsInData: number;
  clusters: Cluster[];
  columns: Column[];
  order: number[];
  dataNames: string[];
  trees: Tree[];
  own: number;
  points: { rows: number; values: (number | null)[][] };
  trends: Trends | null;
  made: Record<string, string>;
}

export interface Level {
  names: string[];
  window: [number, number][];
  reached: number;
  answered: number;
  error: number | null;
  pieces: { answer: number; text: string; rows: number; purity: number | null }[];
  shapes: { answer: number | null; outline: [number, number][] }[];
  points: { values: number[][]; answers: number[] };
}

/** What Python writes for a model of regions; see src/pellucid/report/regions.py. */
export interface RegionsPayload {
  kind: "regions";
  title: string | null;
  method: string;
  reference: string | null;
  rows: number;
  columnsInData: number;
  clusters: (Cluster & { rows: number })[];
  levels: Level[];
  answered: number;
  /** What rows in no region are said to be; null if nothing. */
  leftover: number | null;
  made: Record<string, string>;
}

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
  made: Record<string, string>;
}

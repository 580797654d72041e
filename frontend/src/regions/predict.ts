// Predicts the cluster of a row as `predict` does in Python: the first region that contains the row decides.

import type { Level, LevelClassifier, RegionShape, RegionsPayload, Row } from "../types";

export interface Prediction {
  /** The level whose region contains the row; -1 if no region does. */
  level: number;
  region: number;
  /** Null if no cluster is assigned, or if it is not known. */
  cluster: number | null;
  /** Whether the page cannot evaluate `level`, so that the cluster is not known. */
  isUnknown: boolean;
}

export function predict(data: RegionsPayload, row: Row): Prediction {
  for (const [i, level] of data.levels.entries()) {
    if (!canEvaluate(level)) return { level: i, region: -1, cluster: null, isUnknown: true };
    const values = levelValues(level, row);
    const region = level.regions!.findIndex((shape) => contains(shape, values));
    if (region >= 0) return { level: i, region, cluster: classify(level.classifier!, values), isUnknown: false };
  }
  return { level: -1, region: -1, cluster: data.leftover.answer, isUnknown: false };
}

/** Whether the page has all numbers that the level needs. */
export function canEvaluate(level: Level): boolean {
  return level.regions !== null && level.classifier !== null;
}

/** The values of a row in the columns of a level. */
export function levelValues(level: Level, row: Row): number[] {
  return level.columns.map((c) => row.get(c)!);
}

/** A copy of the row with new values in the columns of a level. */
export function withLevelValues(level: Level, row: Row, values: number[]): Row {
  const changed = new Map(row);
  level.columns.forEach((c, i) => changed.set(c, values[i]));
  return changed;
}

function contains(shape: RegionShape, values: number[]): boolean {
  if (shape.kind === "box")
    return values.every((v, i) => v > (shape.lower[i] ?? -Infinity) && v <= (shape.upper[i] ?? Infinity));
  if (shape.kind === "ellipse") {
    const offset = values.map((v, i) => v - shape.center[i]);
    const product = offset.map((_, j) => offset.reduce((sum, o, i) => sum + o * shape.shape[i][j], 0));
    return dot(product, offset) <= 1;
  }
  return shape.equations.every((facet, f) => dot(values, facet) + facet[facet.length - 1] <= shape.tolerance[f]);
}

function classify(classifier: LevelClassifier, values: number[]): number {
  if (classifier.kind === "stump")
    return values[classifier.position] <= classifier.threshold ? classifier.atMost : classifier.above;
  const scores = classifier.coef.map((weights, c) => {
    const intercept = classifier.intercept[c];
    return intercept === null ? -Infinity : dot(values, weights) + intercept;
  });
  return scores.indexOf(Math.max(...scores));
}

/** The sum of products over the positions of the first array. */
function dot(a: number[], b: number[]): number {
  return a.reduce((sum, v, i) => sum + v * b[i], 0);
}

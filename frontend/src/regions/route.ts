// Down the levels with one row, as `predict` does it.

import type { Classifier, Level, RegionsPayload, Row, Shape } from "../types";

export interface Place {
  /** -1 where no level holds the row. */
  level: number;
  region: number;
  /** Null where there is no answer. */
  answer: number | null;
  /** Whether the page could not tell from this level on. */
  isUnknown: boolean;
}

export function consult(data: RegionsPayload, row: Row): Place {
  for (const [i, level] of data.levels.entries()) {
    if (!canTell(level)) return { level: i, region: -1, answer: null, isUnknown: true };
    const at = valuesAt(level, row);
    const region = level.regions!.findIndex((shape) => holds(shape, at));
    if (region >= 0) return { level: i, region, answer: says(level.classifier!, at), isUnknown: false };
  }
  return { level: -1, region: -1, answer: data.leftover.answer, isUnknown: false };
}

export function canTell(level: Level): boolean {
  return level.regions !== null && level.classifier !== null;
}

export function valuesAt(level: Level, row: Row): number[] {
  return level.columns.map((c) => row.get(c)!);
}

export function holds(shape: Shape, at: number[]): boolean {
  if (shape.kind === "box")
    return at.every((v, i) => v > (shape.lower[i] ?? -Infinity) && v <= (shape.upper[i] ?? Infinity));
  if (shape.kind === "ellipse") {
    const away = at.map((v, i) => v - shape.center[i]);
    const leaned = away.map((_, j) => away.reduce((sum, a, i) => sum + a * shape.shape[i][j], 0));
    return leaned.reduce((sum, l, i) => sum + l * away[i], 0) <= 1;
  }
  return shape.equations.every((facet, f) => {
    const offset = facet[facet.length - 1];
    return at.reduce((sum, v, i) => sum + v * facet[i], 0) + offset <= shape.room[f];
  });
}

function says(classifier: Classifier, at: number[]): number {
  if (classifier.kind === "stump")
    return at[classifier.position] <= classifier.threshold ? classifier.atMost : classifier.above;
  const scores = classifier.coef.map((weights, c) => {
    const intercept = classifier.intercept[c];
    return intercept === null ? -Infinity : at.reduce((sum, v, i) => sum + v * weights[i], 0) + intercept;
  });
  return scores.indexOf(Math.max(...scores));
}

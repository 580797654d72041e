// The two columns that separate the clusters best.

import { axisPosition } from "../shared/plot";
import type { TreePayload } from "../types";

/** A column with more different values than this does not have few. */
const MAX_FEW_VALUES = 24;
/** Number of rows that are looked at. */
const MAX_ROWS = 600;

/**
 * The pair of columns of numbers in which most rows are nearest to the mean of their own cluster. Categories are
 * used if there are fewer than two columns of numbers.
 */
export function separatingColumns(data: TreePayload, shown: number[]): [number, number] {
  const isNumber = (i: number) => data.columns[i].kind === "number";
  const numbers = shown.filter(isNumber);
  const others = shown.filter((i) => !isNumber(i));
  if (numbers.length < 2) {
    const order = [...numbers, ...others];
    return [order[0], order[1] ?? order[0]];
  }
  const step = Math.ceil(data.points.rows / MAX_ROWS);
  const rows = Array.from({ length: data.points.rows }, (_, row) => row).filter((row) => row % step === 0);
  const labels = rows.map((row) => data.trees[data.own].points[row]);
  const scaled = new Map(numbers.map((i) => [i, standardized(data, i, rows)]));
  let best: [number, number] = [numbers[0], numbers[1]];
  let bestScore = -Infinity;
  numbers.forEach((first, position) => {
    for (const second of numbers.slice(position + 1)) {
      const score =
        shareNearOwnMean(scaled.get(first)!, scaled.get(second)!, labels, data.clusters.length) +
        bonus(data, first, rows) +
        bonus(data, second, rows);
      // Ties go to the columns that come first, which split most rows.
      if (score > bestScore + 1e-9) [best, bestScore] = [[first, second], score];
    }
  });
  return best;
}

/** Prefers columns of the tree, and columns that are not a year or another number with few values. */
function bonus(data: TreePayload, i: number, rows: number[]): number {
  const nValues = new Set(rows.map((row) => data.points.values[i][row])).size;
  const hasFewValues = nValues <= Math.min(MAX_FEW_VALUES, rows.length / 4);
  const isInTree = data.trees[data.own].nodes.some(({ column }) => column === i);
  return (isInTree ? 0.05 : 0) - (hasFewValues ? 0.15 : 0);
}

/** Values on the axis of a column in standard deviations; missing values are the mean. */
function standardized(data: TreePayload, i: number, rows: number[]): number[] {
  const column = data.columns[i];
  const unit = column.kind === "number" ? column.unit : null;
  const values = rows.map((row) => data.points.values[i][row]).map((v) => (v === null ? null : axisPosition(v, unit)));
  const known = values.filter((v): v is number => v !== null);
  const mean = known.reduce((sum, v) => sum + v, 0) / Math.max(known.length, 1);
  const variance = known.reduce((sum, v) => sum + (v - mean) ** 2, 0) / Math.max(known.length, 1);
  return values.map((v) => (v === null ? 0 : (v - mean) / (Math.sqrt(variance) || 1)));
}

/** The share of rows that are nearest to the mean of their own cluster, averaged over the clusters. */
function shareNearOwnMean(xs: number[], ys: number[], labels: number[], nClusters: number): number {
  const sums = Array.from({ length: nClusters }, () => ({ x: 0, y: 0, n: 0, near: 0 }));
  labels.forEach((label, i) => {
    sums[label].x += xs[i];
    sums[label].y += ys[i];
    sums[label].n += 1;
  });
  const present = sums.filter(({ n }) => n > 0);
  labels.forEach((label, i) => {
    const distance = ({ x, y, n }: (typeof sums)[0]) => (xs[i] - x / n) ** 2 + (ys[i] - y / n) ** 2;
    const own = distance(sums[label]);
    if (present.every((other) => distance(other) >= own)) sums[label].near += 1;
  });
  return present.reduce((sum, { near, n }) => sum + near / n, 0) / Math.max(present.length, 1);
}

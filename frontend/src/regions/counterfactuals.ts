// Changes of a row that lead to another cluster.
//
// For regions that are boxes, the change goes to the nearest point of the box. For other regions, it goes toward
// sampled rows of the other cluster, as far as necessary.

import type { Counterfactual } from "../shared/row-result";
import type { Level, NumberColumn, RegionPart, RegionsPayload, Row } from "../types";
import { canEvaluate, levelValues, predict, withLevelValues } from "./predict";
import { formatThreshold } from "../shared/column-format";
import { t } from "../texts";

interface Candidate extends Counterfactual {
  changedColumns: number;
  distance: number;
}

/** Number of sampled rows of another cluster that are tried. */
const MAX_TARGETS = 30;
/** Number of bisection steps between a row and its target. */
const BISECTION_STEPS = 30;

/** One counterfactual for each other cluster that is found. Few changed columns come first; ties go to the nearest. */
export function findCounterfactuals(
  data: RegionsPayload,
  row: Row,
  currentCluster: number | null,
  fixed: ReadonlySet<number>,
): Counterfactual[] {
  const best = new Map<number, Candidate>();
  const consider = (level: Level, values: number[], cluster: number, isExact: boolean) => {
    if (level.columns.some((c, i) => fixed.has(c) && values[i] !== row.get(c))) return;
    if (predict(data, withLevelValues(level, row, values)).cluster !== cluster) return;
    const candidate = { cluster, ...describeChange(data, level, row, values, isExact) };
    const known = best.get(cluster);
    if (!known || compare(candidate, known) < 0) best.set(cluster, candidate);
  };
  for (const level of data.levels.filter(canEvaluate)) {
    for (const { answer, bounds } of level.pieces)
      if (bounds && answer !== currentCluster)
        consider(level, nearestInBox(bounds, levelValues(level, row)), answer, true);
    data.clusters.forEach((_, cluster) => {
      const hasBox = level.pieces.some((part) => part.answer === cluster && part.bounds);
      if (cluster === currentCluster || hasBox) return;
      for (const target of nearestTargets(data, level, row, cluster))
        consider(level, moveToward(data, level, row, holdFixed(level, row, target, fixed), cluster), cluster, false);
    });
  }
  return [...best.values()].sort(compare);
}

/** The target with the values of the row in the columns that do not change. */
function holdFixed(level: Level, row: Row, target: number[], fixed: ReadonlySet<number>): number[] {
  return level.columns.map((c, i) => (fixed.has(c) ? row.get(c)! : target[i]));
}

function compare(a: Candidate, b: Candidate): number {
  return a.changedColumns - b.changedColumns || a.distance - b.distance;
}

/** The nearest point in a box. Lower bounds are exclusive, upper bounds are inclusive. */
function nearestInBox(bounds: NonNullable<RegionPart["bounds"]>, values: number[]): number[] {
  return values.map((v, i) => {
    const [low, high] = bounds[i];
    if (low !== null && v <= low) return nextAbove(low);
    return high !== null && v > high ? high : v;
  });
}

/** Distance in standard deviations, summed over the columns of the level. */
function distance(data: RegionsPayload, level: Level, row: Row, values: number[]): number {
  const deviation = (c: number) => (data.columns[c] as NumberColumn).spread || 1;
  return level.columns.reduce((sum, c, i) => sum + Math.abs(values[i] - row.get(c)!) / deviation(c), 0);
}

/** Sampled rows that the level assigns to a cluster, nearest first. */
function nearestTargets(data: RegionsPayload, level: Level, row: Row, cluster: number): number[][] {
  const { values, answers } = level.points;
  return answers
    .flatMap((answer, p) => (answer === cluster ? [values.map((column) => column[p])] : []))
    .map((target) => ({ target, distance: distance(data, level, row, target) }))
    .sort((a, b) => a.distance - b.distance)
    .slice(0, MAX_TARGETS)
    .map(({ target }) => target);
}

/** The point nearest to the row, on the line to the target, that has the cluster; rounded if possible. */
function moveToward(data: RegionsPayload, level: Level, row: Row, target: number[], cluster: number): number[] {
  const start = levelValues(level, row);
  const pointAt = (t: number) => start.map((v, i) => v + t * (target[i] - v));
  const hasCluster = (values: number[]) => predict(data, withLevelValues(level, row, values)).cluster === cluster;
  let [low, high] = [0, 1];
  for (let step = 0; step < BISECTION_STEPS; step++) {
    const middle = (low + high) / 2;
    if (hasCluster(pointAt(middle))) high = middle;
    else low = middle;
  }
  for (const t of [high, Math.min(1, 1.05 * high), 1]) {
    const rounded = pointAt(t).map((v, i) => (v === start[i] ? v : Number(v.toPrecision(4))));
    if (hasCluster(rounded)) return rounded;
  }
  return pointAt(high);
}

/** `isExact`: the values are bounds of a box, not just an example. */
function describeChange(
  data: RegionsPayload,
  level: Level,
  row: Row,
  values: number[],
  isExact: boolean,
): Omit<Candidate, "cluster"> {
  const changes = level.columns.flatMap((c, i) => {
    const [from, to] = [row.get(c)!, values[i]];
    if (to === from) return [];
    const column = data.columns[c] as NumberColumn;
    const { name } = column;
    const number = (value: number) => formatThreshold(column, value);
    if (!isExact) return [t.insteadOf(`${name} ${number(to)}`, number(from))];
    // A larger value is the next number above the lower bound of a box.
    return to > from
      ? [t.insteadOf(t.above(name, number(nextBelow(to))), number(from))]
      : [t.insteadOf(t.orLessThan(name, number(to)), number(from))];
  });
  return {
    text: changes.join(t.and),
    changedColumns: changes.length,
    distance: distance(data, level, row, values),
  };
}

/** The next larger floating-point number. */
function nextAbove(value: number): number {
  if (value === 0) return Number.MIN_VALUE;
  const bits = new BigInt64Array(new Float64Array([value]).buffer);
  bits[0] += value > 0 ? 1n : -1n;
  return new Float64Array(bits.buffer)[0];
}

/** The inverse of `nextAbove`. */
function nextBelow(value: number): number {
  const bits = new BigInt64Array(new Float64Array([value]).buffer);
  bits[0] -= value > 0 ? 1n : -1n;
  return value === Number.MIN_VALUE ? 0 : new Float64Array(bits.buffer)[0];
}

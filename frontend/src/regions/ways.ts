// What would have to change for another answer: the nearest places that give it.

import type { WayOut } from "../chip";
import type { Level, NumberColumn, Piece, RegionsPayload, Row } from "../types";
import { canTell, consult, valuesAt } from "./route";

interface Way extends WayOut {
  changed: number;
  size: number;
}

/** Sampled rows of an answer that are tried. */
const TRIED = 30;

export function waysOut(data: RegionsPayload, row: Row, from: number | null): WayOut[] {
  const best = new Map<number, Way>();
  const compare = (a: Way, b: Way) => a.changed - b.changed || a.size - b.size;
  const offer = (level: Level, to: number[], cluster: number, isRough: boolean) => {
    const moved = new Map(row);
    level.columns.forEach((c, i) => moved.set(c, to[i]));
    if (consult(data, moved).answer !== cluster) return;
    const way = { cluster, ...describe(data, level, row, to, isRough) };
    const known = best.get(cluster);
    if (!known || compare(way, known) < 0) best.set(cluster, way);
  };
  for (const level of data.levels.filter(canTell)) {
    for (const piece of level.pieces)
      if (piece.bounds && piece.answer !== from) offer(level, intoBox(piece.bounds, valuesAt(level, row)), piece.answer, false);
    data.clusters.forEach((_, cluster) => {
      if (cluster === from || level.pieces.some((piece) => piece.answer === cluster && piece.bounds)) return;
      for (const point of nearest(data, level, row, cluster)) offer(level, approach(data, level, row, point, cluster), cluster, true);
    });
  }
  return [...best.values()].sort(compare);
}

/** The nearest place in a box; its lower ends do not belong to it. */
function intoBox(bounds: NonNullable<Piece["bounds"]>, at: number[]): number[] {
  return at.map((v, i) => {
    const [low, high] = bounds[i];
    if (low !== null && v <= low) return nextAbove(low);
    return high !== null && v > high ? high : v;
  });
}

function nextAbove(value: number): number {
  if (value === 0) return Number.MIN_VALUE;
  const bits = new BigInt64Array(new Float64Array([value]).buffer);
  bits[0] += value > 0 ? 1n : -1n;
  return new Float64Array(bits.buffer)[0];
}

function spread(data: RegionsPayload, column: number): number {
  return (data.columns[column] as NumberColumn).spread || 1;
}

function distance(data: RegionsPayload, level: Level, row: Row, to: number[]): number {
  return level.columns.reduce((sum, c, i) => sum + Math.abs(to[i] - row.get(c)!) / spread(data, c), 0);
}

/** Sampled rows that a level gives an answer to, the nearest first. */
function nearest(data: RegionsPayload, level: Level, row: Row, cluster: number): number[][] {
  const { values, answers } = level.points;
  const points = answers.flatMap((answer, p) => (answer === cluster ? [values.map((column) => column[p])] : []));
  const far = new Map(points.map((point) => [point, distance(data, level, row, point)]));
  return points.sort((a, b) => far.get(a)! - far.get(b)!).slice(0, TRIED);
}

/** As little of the way to a point as still gives its answer, in round numbers if they do. */
function approach(data: RegionsPayload, level: Level, row: Row, point: number[], cluster: number): number[] {
  const start = valuesAt(level, row);
  const along = (t: number) => start.map((v, i) => v + t * (point[i] - v));
  const isThere = (to: number[]) => {
    const moved = new Map(row);
    level.columns.forEach((c, i) => moved.set(c, to[i]));
    return consult(data, moved).answer === cluster;
  };
  let [low, high] = [0, 1];
  for (let step = 0; step < 30; step++) {
    const middle = (low + high) / 2;
    if (isThere(along(middle))) high = middle;
    else low = middle;
  }
  for (const t of [high, Math.min(1, 1.05 * high), 1]) {
    const round = along(t).map((v, i) => (v === start[i] ? v : Number(v.toPrecision(4))));
    if (isThere(round)) return round;
  }
  return along(high);
}

function describe(data: RegionsPayload, level: Level, row: Row, to: number[], isRough: boolean): Omit<Way, "cluster"> {
  const changes = level.columns.flatMap((c, i) => {
    const now = row.get(c)!;
    if (to[i] === now) return [];
    const { name } = data.columns[c];
    if (isRough) return [`${name} ${to[i]} instead of ${now}`];
    // Into a box from below is just above its lower end.
    return to[i] > now ? [`${name} above ${bottom(to[i])} instead of ${now}`] : [`${name} ${to[i]} or less instead of ${now}`];
  });
  return { words: changes.join(" and "), changed: changes.length, size: distance(data, level, row, to) };
}

/** The end that a number is the next above of. */
function bottom(value: number): number {
  const bits = new BigInt64Array(new Float64Array([value]).buffer);
  bits[0] -= value > 0 ? 1n : -1n;
  return value === Number.MIN_VALUE ? 0 : new Float64Array(bits.buffer)[0];
}

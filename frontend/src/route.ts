// Down the tree with one row, and what would have to change for another cluster.

import type { Column, Tree } from "./types";
import { boundsAt, type Bounds } from "./words";

/** Values by column: a number, or the position of a category. */
export type Row = Map<number, number>;

export function route(tree: Tree, row: Row): number[] {
  const path = [0];
  for (;;) {
    const at = path[path.length - 1];
    const node = tree.nodes[at];
    if (node.left === undefined) return path;
    const value = row.get(node.column!)!;
    const goesLeft = node.value === undefined ? value <= node.threshold! : value !== node.value;
    path.push(goesLeft ? node.left : node.right!);
  }
}

export interface Change {
  column: number;
  words: string;
  size: number;
}

export interface Way {
  cluster: number;
  leaf: number;
  changes: Change[];
}

/** For every other cluster, the leaf that takes the fewest changes, and of these the smallest. */
export function waysOut(tree: Tree, columns: Column[], row: Row, from: number): Way[] {
  const best = new Map<number, Way>();
  const size = (way: Way) => way.changes.reduce((sum, change) => sum + change.size, 0);
  tree.nodes.forEach((node, leaf) => {
    if (node.cluster === undefined || node.cluster === from) return;
    const bounds = boundsAt(tree, leaf);
    if (![...bounds.values()].every(isPossible)) return;
    const changes = [...bounds].flatMap(([c, b]) => change(columns[c], c, row.get(c)!, b) ?? []);
    const way = { cluster: node.cluster, leaf, changes };
    const known = best.get(node.cluster);
    const fewer = known && (changes.length - known.changes.length || size(way) - size(known));
    if (fewer === undefined || fewer < 0) best.set(node.cluster, way);
  });
  return [...best.values()].sort((a, b) => a.changes.length - b.changes.length || size(a) - size(b));
}

function isPossible(bounds: Bounds): boolean {
  return bounds.above < bounds.most && (bounds.is === null || !bounds.not.includes(bounds.is));
}

function change(column: Column, c: number, value: number, bounds: Bounds): Change | null {
  if (column.kind === "category") {
    const now = column.values[value] ?? "something else";
    if (bounds.is !== null && value !== bounds.is)
      return { column: c, words: `${column.name} ${column.values[bounds.is]} instead of ${now}`, size: 1 };
    if (bounds.is === null && bounds.not.includes(value)) return { column: c, words: `${column.name} other than ${now}`, size: 1 };
    return null;
  }
  const scale = column.spread || 1;
  const between = Number.isFinite(bounds.above) && Number.isFinite(bounds.most);
  if (value <= bounds.above) {
    const upTo = between ? ` (up to ${bounds.most})` : "";
    return { column: c, words: `${column.name} above ${bounds.above}${upTo} instead of ${value}`, size: (bounds.above - value) / scale };
  }
  if (value > bounds.most) {
    const downTo = between ? ` (but above ${bounds.above})` : "";
    return { column: c, words: `${column.name} ${bounds.most} or less${downTo} instead of ${value}`, size: (value - bounds.most) / scale };
  }
  return null;
}
